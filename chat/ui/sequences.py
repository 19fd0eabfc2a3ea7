"""The smallest edits that turn one sequence of identified items into another."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Set[T]:
    """The item with that identity becomes another one, at the same place."""

    ident: str
    new_ident: str
    item: T


@dataclass(frozen=True)
class Remove:
    """The item goes."""

    ident: str


@dataclass(frozen=True)
class Insert[T]:
    """A new item comes behind another one, or to the start."""

    after: str | None
    ident: str
    item: T


@dataclass(frozen=True)
class Move:
    """An item goes behind another one, or to the start."""

    ident: str
    after: str | None


Edit = Set[T] | Remove | Insert[T] | Move


def sequence_edits[T](
    old: Sequence[tuple[str, T]],
    new: Sequence[tuple[str, T]],
    *,
    pair: bool = True,
    same: Callable[[T, T], bool] = lambda one, other: bool(one == other),
) -> list[Edit[T]]:
    """Return edits that, applied in order, turn old into new.

    With `pair` an item that went and one that came at the same place are one Set.
    """
    start, old_end, new_end = _common_ends(old, new)
    sets: list[Edit[T]] = []
    for index in range(start):
        _note_change(old[index], new[index], sets, same)
    for one, other in zip(old[old_end:], new[new_end:], strict=True):
        _note_change(one, other, sets, same)
    removes: list[Edit[T]] = []
    places: list[Edit[T]] = []
    middle_old, middle_new = old[start:old_end], new[start:new_end]
    old_items = dict(middle_old)
    new_idents = {ident for ident, _ in middle_new}
    kept = _longest_kept([ident for ident, _ in middle_old], [ident for ident, _ in middle_new])
    partners = _partners(middle_old, middle_new, kept) if pair else {}
    taken = set(partners.values())
    removes += [Remove(ident) for ident, _ in middle_old if ident not in new_idents and ident not in taken]
    after = new[start - 1][0] if start else None
    for ident, item in middle_new:
        if ident in partners:
            sets.append(Set(partners[ident], ident, item))
        elif ident not in old_items:
            places.append(Insert(after, ident, item))
        else:
            if ident not in kept:
                places.append(Move(ident, after))
            _note_change((ident, old_items[ident]), (ident, item), sets, same)
        after = ident
    return [*sets, *removes, *places]


def apply_edits[T](old: Sequence[tuple[str, T]], edits: Sequence[Edit[T]]) -> list[tuple[str, T]]:
    """Return what the edits make of the sequence."""
    result = list(old)
    for edit in edits:
        match edit:
            case Set(ident, new_ident, item):
                result[_index(result, ident)] = (new_ident, item)
            case Remove(ident):
                del result[_index(result, ident)]
            case Insert(after, ident, item):
                result.insert(_index(result, after) + 1, (ident, item))
            case Move(ident, after):
                moved = result.pop(_index(result, ident))
                result.insert(_index(result, after) + 1, moved)
    return result


def _index[T](items: list[tuple[str, T]], ident: str | None) -> int:
    if ident is None:
        return -1
    return next(index for index, (name, _) in enumerate(items) if name == ident)


def _note_change[T](
    old: tuple[str, T], new: tuple[str, T], sets: list[Edit[T]], same: Callable[[T, T], bool]
) -> None:
    if not same(old[1], new[1]):
        sets.append(Set(old[0], new[0], new[1]))


def _common_ends[T](old: Sequence[tuple[str, T]], new: Sequence[tuple[str, T]]) -> tuple[int, int, int]:
    """Return where the sequences start to differ, and where they are alike again."""
    shorter = min(len(old), len(new))
    start = 0
    while start < shorter and old[start][0] == new[start][0]:
        start += 1
    tail = 0
    while tail < shorter - start and old[-1 - tail][0] == new[-1 - tail][0]:
        tail += 1
    return start, len(old) - tail, len(new) - tail


def _longest_kept(old: Sequence[str], new: Sequence[str]) -> set[str]:
    """Return the most identities that can stay where they are (longest increasing subsequence)."""
    places = {ident: index for index, ident in enumerate(old)}
    common = [ident for ident in new if ident in places]
    ends: list[int] = []  # the smallest place that ends a run of each length
    tails: list[int] = []  # its index in common
    before: list[int] = []
    for index, ident in enumerate(common):
        length = bisect_left(ends, places[ident])
        before.append(tails[length - 1] if length else -1)
        if length == len(ends):
            ends.append(places[ident])
            tails.append(index)
        else:
            ends[length] = places[ident]
            tails[length] = index
    kept: set[str] = set()
    index = tails[-1] if tails else -1
    while index >= 0:
        kept.add(common[index])
        index = before[index]
    return kept


def _partners[T](
    old: Sequence[tuple[str, T]], new: Sequence[tuple[str, T]], kept: set[str]
) -> dict[str, str]:
    """Return {new identity: old identity} for what came and what went between the same kept neighbours."""
    old_idents, new_idents = {ident for ident, _ in old}, {ident for ident, _ in new}
    partners: dict[str, str] = {}
    for gone, came in zip(_gaps(old, kept, new_idents), _gaps(new, kept, old_idents), strict=True):
        partners.update(zip(came, gone, strict=False))
    return partners


def _gaps[T](items: Sequence[tuple[str, T]], kept: set[str], others: set[str]) -> list[list[str]]:
    gaps: list[list[str]] = [[]]
    for ident, _ in items:
        if ident in kept:
            gaps.append([])
        elif ident not in others:
            gaps[-1].append(ident)
    return gaps
