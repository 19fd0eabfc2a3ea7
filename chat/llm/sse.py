"""The provider's bytes as payloads of server-sent events; pure, any chunking gives the same payloads."""

# One event of a sane server is below a few kilobytes; more without a line end is no event stream.
MAX_LINE = 2_000_000


class LineTooLongError(ValueError):
    """More than `MAX_LINE` bytes came without a line end."""


class EventLines:
    """Splits bytes into lines and gives the payload of each `data:` line.

    Each payload of the chat-completions stream is one line, so events are not gathered over lines. Splitting
    bytes, not text, keeps characters whole that arrive in halves, and leaves U+2028 and NEL inside payloads.
    """

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Return the payloads of the lines that `data` completes; raises `LineTooLongError`."""
        lines = (self._rest + data).split(b"\n") if self._rest else data.split(b"\n")
        self._rest = lines.pop()
        if len(self._rest) > MAX_LINE:
            raise LineTooLongError(f"a line of more than {MAX_LINE} bytes")
        return [payload for line in lines if (payload := _payload(line))]

    def close(self) -> list[bytes]:
        """Return the payload of a last line that had no line end."""
        payload = _payload(self._rest)
        self._rest = b""
        return [payload] if payload else []


def _payload(line: bytes) -> bytes:
    # Comments (":"), event names and ids carry nothing that we need.
    return line[5:].strip() if line.startswith(b"data:") else b""
