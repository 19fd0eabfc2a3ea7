"""How the tests read a reply: cut into pieces, parsed, and folded into one list per block."""

import random
from collections.abc import Iterable, Iterator
from itertools import pairwise

from hypothesis import strategies as st

from chat.protocol.events import (
    DataClosed,
    DataDelta,
    DataOpened,
    Event,
    Problem,
    RunClosed,
    RunDelta,
    RunOpened,
    TextDelta,
)
from chat.protocol.fences import FenceParser

PIECE_LENGTHS = (1, 1, 2, 3, 4, 5, 8, 13, 40)


def fold(events: Iterable[Event]) -> list[list[object]]:
    """The events in the form of cases.jsonl, adjacent deltas merged; checks their order on the way."""
    folded: list[list[object]] = []
    index = 0
    opened: str | None = None
    for event in events:
        match event:
            case TextDelta(text):
                assert opened is None
                assert text
                if folded and folded[-1][0] == "text":
                    folded[-1][1] += text  # type: ignore[operator]
                else:
                    folded.append(["text", text])
            case RunOpened(number) | DataOpened(number, _):
                assert opened is None
                assert number == index
                index += 1
                opened = "run" if isinstance(event, RunOpened) else "data"
                target = [event.target] if isinstance(event, DataOpened) else []
                folded.append([opened, *target, "", None])
            case RunDelta(content) | DataDelta(content):
                assert opened == ("run" if isinstance(event, RunDelta) else "data")
                assert content
                assert "\r" not in content
                folded[-1][-2] += content  # type: ignore[operator]
            case RunClosed(complete) | DataClosed(complete):
                assert opened == ("run" if isinstance(event, RunClosed) else "data")
                opened = None
                folded[-1][-1] = complete
            case Problem(code, message):
                assert opened is None
                assert message
                folded.append(["problem", str(code)])
    assert opened is None
    return folded


def parse(pieces: Iterable[str]) -> list[Event]:
    """All events of a reply that arrives in these pieces."""
    parser = FenceParser()
    events = [event for piece in pieces for event in parser.feed(piece)]
    return events + parser.close()


def read(pieces: Iterable[str]) -> list[list[object]]:
    """All folded events of a reply that arrives in these pieces."""
    return fold(parse(pieces))


def cut(text: str, length: int) -> list[str]:
    """The text in pieces of one length."""
    return [text[start : start + length] for start in range(0, len(text), length)]


def cut_at_random(text: str, rng: random.Random) -> Iterator[str]:
    """The text in pieces of changing length, some of them empty."""
    start = 0
    while start < len(text):
        length = rng.choice(PIECE_LENGTHS)
        yield text[start : start + length]
        if rng.random() < 0.05:
            yield ""
        start += length


def many_cuts(text: str, rounds: int = 20) -> Iterator[list[str]]:
    """The text whole, character by character, and in random pieces; the same ones in every run."""
    yield [text]
    yield cut(text, 1)
    for seed in range(rounds):
        yield list(cut_at_random(text, random.Random(seed)))


def texts_of(fragments: Iterable[str], max_size: int = 40) -> st.SearchStrategy[str]:
    """Texts made of telling fragments, with some arbitrary text in between."""
    fragment = st.sampled_from(sorted(fragments)) | st.text(max_size=4)
    return st.lists(fragment, max_size=max_size).map("".join)


@st.composite
def cuts_of(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> tuple[str, list[str]]:
    """A text, and the same in pieces."""
    text = draw(texts)
    places = draw(st.lists(st.integers(0, len(text)), max_size=12))
    bounds = [0, *sorted(places), len(text)]
    return text, [text[start:end] for start, end in pairwise(bounds)]
