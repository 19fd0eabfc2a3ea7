"""What agent code may use, each with the reason for its default."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SandboxLimits:
    """Limits of one session; seconds, bytes, characters and counts."""

    turn_seconds: float = 5.0
    """Execution between two host calls: `while True: pass` ends here, honest loops are shorter."""

    statement_seconds: float = 20.0
    """Execution of one statement in all, waits not counted: what people accept while it says "running"."""

    ui_seconds: float = 1.0
    """One drawing of one mount: it happens after every statement and callback, so it must feel instant."""

    memory_bytes: int = 64 * 1024 * 1024
    """Heap of one session: 100 times what usual code holds, small enough for dozens on one machine."""

    recursion: int = 1_000
    """Depth of calls, as in CPython; a worker's own stack bears far more."""

    host_calls: int = 1_000
    """Host calls between two waits: more in one go is a loop that should print or fetch less."""

    output_chars: int = 200_000
    """Characters printed by one statement; page and model see far less, the rest is a runaway loop."""

    nodes: int = 20_000
    """Nodes and tagged values in one mount."""

    depth: int = 60
    """Levels of a tree or value: no page is deeper, and a value that contains itself ends here."""

    tree_chars: int = 2_000_000
    """Length of a tree's JSON: what a browser takes in one piece without a visible pause."""

    value_bytes: int = 1_000_000
    """Rough size of a host call's arguments: skills take texts and rows, not archives."""

    source_chars: int = 100_000
    """Length of one statement: parsing more would hold up the process for others."""

    snapshot_bytes: int = 4_000_000
    """Size of a saved session: above it, saving after each statement would be what a user waits for."""

    check: bool = True
    """Whether statements are checked before they run."""

    check_seconds: float = 0.03
    """Mean cost of a check above which a session does without: more would be felt between the statements."""

    check_most_seconds: float = 1.0
    """One check; code that needs more is made to."""

    max_processes: int = 32
    """Worker processes at once; a worker is held only while code runs or a reply streams."""
