"""A circuit breaker: calls to a provider that keeps failing are refused at once, until it is back."""

import math
import time
from collections.abc import Callable

from chat.llm.base import ErrorKind, ModelError
from chat.llm.config import BreakerLimits

# Failures that say something about the provider; a refused key or a long conversation does not.
COUNTED = frozenset(
    {
        ErrorKind.CONNECTION,
        ErrorKind.SERVER,
        ErrorKind.STALLED,
        ErrorKind.BAD_STREAM,
        ErrorKind.FLOOD,
    }
)


class Breaker:
    """Closed: calls pass. Open, after failures in a row: they are refused. Then one at a time may probe."""

    def __init__(self, limits: BreakerLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._failures = 0
        self._open_until = -math.inf
        self._probing = False

    def enter(self) -> "Permit":
        """Return the permit for one call; raises `ModelError` while the circuit is open."""
        if self._failures < self._limits.failures:
            return Permit(self, probe=False)
        left = self._open_until - self._clock()
        if left > 0 or self._probing:
            raise ModelError(
                ErrorKind.CIRCUIT_OPEN,
                f"The model server failed {self._failures} times in a row and gets a pause. "
                f"Try again in {max(1, math.ceil(left))} seconds.",
                retry_after=max(1.0, left),
            )
        self._probing = True
        return Permit(self, probe=True)

    def _settle(self, *, probe: bool, good: bool | None) -> None:
        if probe:
            self._probing = False
        if good:
            self._failures = 0
        elif good is False:
            self._failures += 1
            self._open_until = self._clock() + self._limits.seconds


class Permit:
    """The right to make one call; settled once, by what happens first."""

    def __init__(self, breaker: Breaker, *, probe: bool) -> None:
        self._breaker = breaker
        self._probe = probe
        self._settled = False

    def succeed(self) -> None:
        """Say that the provider replied."""
        self._settle(True)

    def fail(self, kind: ErrorKind) -> None:
        """Say how the call failed; only what the provider is to blame for counts."""
        self._settle(False if kind in COUNTED else None)

    def release(self) -> None:
        """Say that the call was given up before it showed anything."""
        self._settle(None)

    def _settle(self, good: bool | None) -> None:
        if not self._settled:
            self._settled = True
            self._breaker._settle(probe=self._probe, good=good)


_breakers: dict[str, Breaker] = {}


def breaker_for(base_url: str, limits: BreakerLimits) -> Breaker:
    """Return the one breaker that all calls of this process to a provider share."""
    return _breakers.setdefault(base_url, Breaker(limits))
