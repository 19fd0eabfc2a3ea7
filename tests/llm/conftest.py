from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from chat.llm import Finished, LLMSettings, ModelError, ModelMessage, Piece, ReasoningPiece, TextPiece
from chat.llm.base import ChatModel
from chat.llm.openai import OpenAIModel
from tests.provider import Provider

HELLO = [ModelMessage("system", "Be kind."), ModelMessage("user", "Hello")]


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        yield server


@pytest.fixture
def make_model(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> Callable[..., OpenAIModel]:
    """Return a maker of models that talk to the provider, with settings that a test changes."""
    # The order of tries is tested, not how long they are apart.
    monkeypatch.setattr("chat.llm.openai.FIRST_RETRY_SECONDS", 0)

    def make(**settings: Any) -> OpenAIModel:
        return OpenAIModel(LLMSettings(**{"base_url": provider.base_url, "model": "m", **settings}))

    return make


class Reply:
    """What a model's stream gave, and how it ended."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.error: ModelError | None = None

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces if isinstance(piece, TextPiece))

    @property
    def reasoning(self) -> str:
        return "".join(piece.text for piece in self.pieces if isinstance(piece, ReasoningPiece))

    @property
    def reason(self) -> str | None:
        return self.pieces[-1].reason if self.pieces and isinstance(self.pieces[-1], Finished) else None


async def read(model: ChatModel, messages: Sequence[ModelMessage] = HELLO) -> Reply:
    """Return all of one reply; an error is kept in it."""
    reply = Reply()
    try:
        async with model.stream(messages) as stream:
            async for piece in stream:
                reply.pieces.append(piece)
    except ModelError as error:
        reply.error = error
    return reply
