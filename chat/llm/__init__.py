"""Models that answer: any server that speaks chat completions, and a demo that needs none."""

from chat.llm.base import (
    FEEDBACK_MARK,
    ChatModel,
    ErrorKind,
    Finished,
    FinishReason,
    ModelError,
    ModelMessage,
    Piece,
    ReasoningPiece,
    TextPiece,
    Usage,
)
from chat.llm.config import BreakerLimits, Deadlines, LLMSettings

__all__ = [
    "FEEDBACK_MARK",
    "BreakerLimits",
    "ChatModel",
    "Deadlines",
    "ErrorKind",
    "FinishReason",
    "Finished",
    "LLMSettings",
    "ModelError",
    "ModelMessage",
    "Piece",
    "ReasoningPiece",
    "TextPiece",
    "Usage",
    "create_model",
]


def create_model(settings: LLMSettings) -> ChatModel:
    """Return the model that the settings ask for."""
    demo = not (settings.api_key or settings.base_url) if settings.demo is None else settings.demo
    # Imported here: a demo site need not load the client library, nor a real one the scripts.
    if demo:
        from chat.llm.demo import DemoModel

        return DemoModel(speed=settings.demo_speed)
    from chat.llm.openai import OpenAIModel

    return OpenAIModel(settings)
