"""Saved sessions as bytes, and what is cut from the fresh one."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.sandbox.base import SnapshotError
from chat.sandbox.slim import slimmed
from chat.sandbox.snapshots import MAGIC, Notes, pack, unpack

NOTES = Notes(7, {3: ("block 1", 4)}, True, {"m": "mount__"}, ["json"])


def test_what_is_packed_comes_out_again() -> None:
    for dump in (b"", b"\0" * 10_000, bytes(range(256))):
        assert unpack(pack(NOTES, dump)) == (NOTES, dump)


@given(st.binary(max_size=200))
def test_other_bytes_are_refused(data: bytes) -> None:
    for given_bytes in (
        data,
        MAGIC + data,
        MAGIC + zlib.compress(data),
        MAGIC + zlib.compress(b"\0\0\0\2{}" + data)[:-3],
    ):
        try:
            notes, _ = unpack(given_bytes)
        except SnapshotError:
            continue
        assert isinstance(notes, Notes)


def test_notes_of_another_shape_are_refused() -> None:
    with pytest.raises(SnapshotError):
        unpack(MAGIC + zlib.compress(b"\0\0\0\x0b" + b'{"other":1}' + b"dump"))


def test_a_bomb_is_refused_without_being_unpacked() -> None:
    with pytest.raises(SnapshotError, match="too large"):
        unpack(MAGIC + zlib.compress(b"\0" * (1 << 20), 9), most=1 << 16)


@given(st.binary(max_size=300))
def test_a_dump_of_another_format_is_left_alone(data: bytes) -> None:
    result = slimmed(b"MONTY\0\x0e\0" + data, "<python-input-0>")
    assert result == b"MONTY\0\x0e\0" + data or len(result) < len(data) + 8


def test_positions_and_the_source_are_cut_and_nothing_else() -> None:
    functions = b"\xa1ifunctions\x81\xa2aL\x82\x01\x02aN\x05"  # {"functions": [{"L": [1, 2], "N": 5}]}
    sources = b"gsources\xa2p<python-input-0>ctexp<python-input-1>ctex"
    dump = b"MONTY\0\x0e\0" + b"\xa3" + functions[1:] + b"aL\x81\x03" + sources
    expected = b"MONTY\0\x0e\0" + b"\xa3" + b"ifunctions\x81\xa2aL\x80aN\x05" + b"aL\x81\x03"
    assert (
        slimmed(dump, "<python-input-0>")
        == expected + b"gsources\xa2p<python-input-0>\x60p<python-input-1>ctex"
    )
