"""The limits of one conversation, each with the reason for its default."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What one conversation may use; seconds, characters and counts."""

    turns: int = 15
    """Model calls per interaction: enough for real work, few enough to notice a loop before it costs much."""

    retries: int = 2
    """Automatic new tries of a turn of which nothing had run; a third failure is no chance any more."""

    mounts: int = 200
    """Mounts per conversation: a page with more is slow to load on a phone."""

    timers: int = 10
    """Timers per conversation: each runs code about once a second while somebody looks."""

    nodes: int = 20_000
    """Nodes per tree: a 1,000-row table with five node cells fits twice."""

    tree_chars: int = 2_000_000
    """Length of a tree's JSON: what a browser takes in one piece without a visible pause."""

    output_chars: int = 20_000
    """Output kept per statement: more is never read, and would crowd the model's context."""

    feedback_chars: int = 40_000
    """Feedback per turn, about 10,000 tokens."""

    history_chars: int = 400_000
    """Conversation text sent to the model, about 100,000 tokens; the oldest messages go first."""

    calls_kept: int = 100
    """Skill calls listed per statement with their arguments; the older ones are counted."""

    skill_seconds: float = 60.0
    """One skill call; longer ones belong to a job system."""

    hold_seconds: float = 2.0
    """Sleeps up to this keep their worker; longer ones are saved and give it back."""

    dismissals: int = 5
    """How often code may catch `Dismissed` and wait again before it is ended."""

    answer_chars: int = 200_000
    """Length of one submit's values: forms are small, files go by upload."""

    linger_seconds: float = 10.0
    """How long a runner stays when nothing happens; long enough for a person to click again."""

    tidy_seconds: float = 1.0
    """What code gets to end by itself after Stop."""
