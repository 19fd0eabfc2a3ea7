"""What can be set about models: plain values, with the reasons for their defaults."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds a provider may take; what is over them counts as stalled."""

    first: float = 120.0  # long prompts on small local machines take minutes, hung servers take for ever
    between: float = 45.0  # since the last text; comments that keep a connection alive do not count
    total: float = 900.0  # no reply is worth a quarter of an hour


@dataclass(frozen=True, slots=True)
class BreakerLimits:
    """When calls to a failing provider are refused at once, and for how long."""

    failures: int = 5  # in a row; fewer would punish a hiccup
    seconds: float = 30.0  # then one call is let through to see whether it is back


@dataclass(frozen=True, slots=True)
class LLMSettings:
    """Everything `create_model` needs to know; without key and base URL the demo answers."""

    api_key: str = ""
    base_url: str = ""  # empty: the provider the client library was made for
    model: str = ""
    demo: bool | None = None  # None: when neither key nor base URL is set
    demo_speed: float = 1.0  # 2 is twice as fast, 0 is without delay
    max_output_tokens: int | None = None  # None leaves it to the provider
    max_characters: int = 400_000  # of text and thought in one reply; what is longer is cut there
    max_empty_pieces: int = 5_000  # in a row; servers that hide thoughts may send one per hidden token
    retries: int = 2  # only before anything has streamed
    max_retry_wait: float = 20.0  # a provider that asks for more is reported instead
    deadlines: Deadlines = field(default_factory=Deadlines)
    breaker: BreakerLimits = field(default_factory=BreakerLimits)
