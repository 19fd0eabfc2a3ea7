"""The sandbox on pydantic-monty: a pool of worker processes, one worker per open session."""

import asyncio
from functools import partial
from typing import Final

from pydantic_monty import (
    AsyncFutureSnapshot,
    AsyncMonty,
    AsyncMontySession,
    MontyError,
    ResourceLimits,
    __version__,
)

from chat.sandbox import prelude as names
from chat.sandbox.base import Host, Prelude, SnapshotError
from chat.sandbox.checker import Checker
from chat.sandbox.limits import SandboxLimits
from chat.sandbox.session import NO_LIMIT, MontySession
from chat.sandbox.slim import slimmed
from chat.sandbox.snapshots import Notes, pack, unpack

# How long the closing pool gets: a process that ends at once after it can abort.
FAREWELL_SECONDS: Final = 0.05
# A new worker takes milliseconds to start; what an old one may have leaked goes with it.
SESSIONS_PER_WORKER: Final = 1_000
PRELUDE_FEED: Final = 0
# Runs names of the prelude and an error inside them.
PROBE: Final = "Data(a=1)['a'], callable(print), every(1, 2)"
PROBE_RESULT: Final = "TypeError: every() needs a function; write its name without a call"


class MontySandbox:
    """Opens sessions in a pool of workers; one per process and event loop."""

    def __init__(self, prelude: Prelude, limits: SandboxLimits | None = None) -> None:
        self._prelude = prelude
        self._limits = limits or SandboxLimits()
        self._checker = Checker(prelude, self._limits)
        self._pool: AsyncMonty | None = None
        self._queue = 0  # those who wait for a worker
        self._fresh: bytes | None = None
        self._starting = asyncio.Lock()

    @property
    def version(self) -> str:
        """Says which snapshots can be loaded."""
        return f"monty {__version__} protocol {names.PROTOCOL}"

    @property
    def crowded(self) -> bool:
        """Whether somebody waits for a worker."""
        return self._queue > 0

    async def open(
        self, host: Host, snapshot: bytes | None = None, *, suspended: bool = False
    ) -> MontySession:
        """Return a session with a fresh namespace, or the one in the snapshot."""
        pool = await self._started()
        if snapshot is None:
            snapshot = self._fresh or await self._made_fresh(pool)
        notes, state = unpack(snapshot)
        if notes.suspended != suspended:
            raise SnapshotError(f"This snapshot is {'' if notes.suspended else 'not '}a suspended program.")
        worker = self._checkout(pool)
        self._queue += 1
        try:
            await worker.__aenter__()
        finally:
            self._queue -= 1
        session = MontySession(worker, host, self._limits, notes, partial(self._checker.check, pool))
        try:
            if suspended:
                at = await worker.load_snapshot(state, print_callback=session._print)
                if not isinstance(at, AsyncFutureSnapshot):
                    raise SnapshotError("This snapshot waits for nothing.")
                session._at = at
            else:
                await worker.load_session(state)
        except BaseException as error:
            await session.close()
            if isinstance(error, MontyError | ValueError | RuntimeError):
                raise SnapshotError(f"This snapshot can't be loaded: {error}.") from error
            raise
        return session

    async def close(self) -> None:
        """End all workers."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await self._checker.close()
            await pool.__aexit__(None, None, None)
            await asyncio.sleep(FAREWELL_SECONDS)

    async def _started(self) -> AsyncMonty:
        async with self._starting:
            if self._pool is None:
                pool = AsyncMonty(
                    max_processes=self._limits.max_processes + 1,  # one is the checker's
                    max_checkouts_per_worker=SESSIONS_PER_WORKER,
                )
                await pool.__aenter__()
                self._pool = pool
            return self._pool

    def _checkout(self, pool: AsyncMonty) -> AsyncMontySession:
        limits: ResourceLimits = {
            "max_turn_duration_secs": self._limits.turn_seconds,
            "max_memory": self._limits.memory_bytes,
            "max_recursion_depth": self._limits.recursion,
            "max_suspensions": NO_LIMIT,  # counted here, per statement
        }
        return pool.checkout(limits=limits)

    async def _made_fresh(self, pool: AsyncMonty) -> bytes:
        """Run the prelude once; every new conversation loads what it left."""
        async with self._checkout(pool) as worker:
            source = names.source(self._prelude, self._limits)
            await worker.feed_run(source, inputs={"_specs": names.specs(self._prelude)})
            state = await worker.dump()
        slim = slimmed(state, f"<python-input-{PRELUDE_FEED}>")
        self._fresh = pack(Notes(feeds=1), slim if await self._works(pool, slim) else state)
        return self._fresh

    async def _works(self, pool: AsyncMonty, state: bytes) -> bool:
        """Whether a slimmed dump behaves; if the interpreter's format has changed, the full one is used."""
        try:
            async with self._checkout(pool) as worker:
                await worker.load_session(state)
                await worker.feed_run(PROBE, inputs={"_printed": 0})
        except MontyError as error:
            return str(error) == PROBE_RESULT
        return False
