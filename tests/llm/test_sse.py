from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.llm.sse import MAX_LINE, EventLines, LineTooLongError

STREAM = (
    ': a comment\r\ndata: {"a": "é🎬\u2028\x85"}\r\n\r\nevent: x\nid: 7\ndata:no space\n\ndata: \ndata: last'
).encode()
PAYLOADS = ['{"a": "é🎬\u2028\x85"}'.encode(), b"no space", b"last"]


def payloads(parts: list[bytes]) -> list[bytes]:
    lines = EventLines()
    return [payload for part in parts for payload in lines.feed(part)] + lines.close()


def test_whole() -> None:
    assert payloads([STREAM]) == PAYLOADS


def test_byte_by_byte() -> None:
    assert payloads([STREAM[place : place + 1] for place in range(len(STREAM))]) == PAYLOADS


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_any_split_gives_the_same(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    assert payloads([STREAM[start:end] for start, end in pairwise(edges)]) == PAYLOADS


def test_a_line_without_end_is_refused() -> None:
    lines = EventLines()
    with pytest.raises(LineTooLongError):
        lines.feed(b"x" * (MAX_LINE + 1))
