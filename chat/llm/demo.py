"""A model that needs no key: scripted replies, played in pieces as a real model would send them."""

import asyncio
import random
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager

from chat.llm.base import FEEDBACK_MARK, Finished, FinishReason, ModelMessage, Piece, TextPiece, Usage
from chat.llm.demo_script import FALLBACK, DemoScript, examples, load_scripts

EXAMPLES = examples()
PIECES_PER_SECOND = 45
FIRST_PIECE_SECONDS = 0.4  # about what a quick hosted model takes
# Like a model's tokens: a word with the space before it, in parts of at most six characters, or one sign.
PIECE = re.compile(r"\s*\w{1,6}|\s+|[^\w\s]")
CHARACTERS_PER_TOKEN = 4  # the usual rule of thumb; the demo counts nothing
NOTHING_TO_ADD = "Noted.\n"
# A demo that answered every error with something that fails again would never be quiet.
SORRY = "That did not work as scripted, and a demo cannot repair it. Try one of the other examples.\n"


class DemoModel:
    """Plays scripts, chosen by what the user says last and by the feedback to the reply before."""

    name = "demo"
    is_demo = True

    def __init__(self, speed: float = 1.0) -> None:
        self._speed = speed

    @asynccontextmanager
    async def stream(self, messages: Sequence[ModelMessage]) -> AsyncIterator[AsyncIterator[Piece]]:
        """Return a context that gives the pieces of one reply."""
        pieces = self._play(messages)
        try:
            yield pieces
        finally:
            await pieces.aclose()  # type: ignore[attr-defined]

    async def close(self) -> None:
        """Nothing is held."""

    async def _play(self, messages: Sequence[ModelMessage]) -> AsyncIterator[Piece]:
        text = choose_reply(messages)
        # The same reply always has the same rhythm, so what a test saw once it sees again.
        rhythm = random.Random(len(text))  # noqa: S311 - no secret
        loop = asyncio.get_running_loop()
        due = loop.time() + self._lasting(FIRST_PIECE_SECONDS)
        ready = ""
        for piece in split_pieces(text):
            if due > loop.time():
                if ready:
                    yield TextPiece(ready)
                    ready = ""
                await asyncio.sleep(due - loop.time())
            ready += piece
            due += self._lasting(rhythm.uniform(0.4, 1.6) / PIECES_PER_SECOND)
        yield TextPiece(ready)
        sent = sum(len(message.content) for message in messages)
        yield Usage(sent // CHARACTERS_PER_TOKEN, len(text) // CHARACTERS_PER_TOKEN)
        yield Finished(FinishReason.STOP)

    def _lasting(self, seconds: float) -> float:
        return seconds / self._speed if self._speed else 0.0


def split_pieces(text: str) -> Iterator[str]:
    """Return the text in parts of about a token each; joined they are the text."""
    return (match[0] for match in PIECE.finditer(text))


def choose_reply(messages: Sequence[ModelMessage]) -> str:
    """Return the reply to a history: a later turn of the script that plays, or the first of one that fits."""
    before, mark, feedback = (messages[-1].content if messages else "").rpartition(FEEDBACK_MARK)
    if not mark:
        return (_script_for(feedback) or _named(FALLBACK)).replies[0].text
    playing = _playing(messages)
    later = playing.answer(feedback) if playing else None
    if later is not None:
        return later
    # Messages of one role that follow each other are sent as one: the user may have written before or after.
    _, gap, after = feedback.rstrip().rpartition("\n\n")
    script = _script_for(after if gap else "") or _script_for(before)
    if script is not None:
        return script.replies[0].text
    return SORRY if "Error" in feedback else NOTHING_TO_ADD


def _script_for(message: str) -> DemoScript | None:
    """Return the script that fits a user's message best, None when none does."""
    best = max(load_scripts(), key=lambda script: script.score(message))
    return best if best.score(message) else None


def _named(name: str) -> DemoScript:
    return next(script for script in load_scripts() if script.name == name)


def _playing(messages: Sequence[ModelMessage]) -> DemoScript | None:
    """Return the script that the last reply in the history came from."""
    said = next((message.content for message in reversed(messages) if message.role == "assistant"), "")
    return next(
        (script for script in load_scripts() if any(reply.wrote(said) for reply in script.replies)), None
    )
