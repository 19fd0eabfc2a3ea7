"""Runs the type checker in a worker of its own, for all conversations of the process."""

import ast
import asyncio
import contextlib
import time
from collections.abc import Mapping
from typing import Final

from pydantic_monty import AsyncMonty, AsyncMontySession, MontyError, MontyTypingError

from chat.sandbox import modules, stubs, typecheck
from chat.sandbox.base import Prelude
from chat.sandbox.limits import SandboxLimits

# A worker keeps what it parsed; after this many checks a new one takes over.
CHECKS_PER_WORKER: Final = 2_000
MEASURED: Final = 10
"""Checks before their mean cost counts: the first ones warm the checker up."""


class Budget:
    """What checking may cost one session; once it is spent, checking stays off for it."""

    def __init__(self, limits: SandboxLimits) -> None:
        self._limits = limits
        self._spent = 0.0
        self._checks = 0
        self.off = not limits.check

    def spend(self, seconds: float) -> None:
        """Count a check."""
        self._spent += seconds
        self._checks += 1
        if self._checks >= MEASURED and self._spent / self._checks > self._limits.check_seconds:
            self.off = True


class Checker:
    """Says which statements are certainly wrong."""

    def __init__(self, prelude: Prelude, limits: SandboxLimits) -> None:
        self._limits = limits
        self._stubs = stubs.text(prelude)
        functions = stubs.signatures(self._stubs)
        known = frozenset(str(spec["name"]) for spec in prelude.specs) | modules.AMBIENT
        self._judge = typecheck.Judge(functions, known)
        self._worker: AsyncMontySession | None = None
        self._left = 0
        self._one_at_a_time = asyncio.Lock()

    async def check(
        self, pool: AsyncMonty, source: str, tree: ast.Module, names: Mapping[str, str], budget: Budget
    ) -> tuple[tuple[int, str, str] | None, dict[str, str]]:
        """Return the first certain mistake, and what may be relied on about the names it defines."""
        if budget.off or len(source) > typecheck.MAX_CHARS:
            return None, {}
        asked = typecheck.question(source, tree, names, modules.AMBIENT)
        async with self._one_at_a_time:
            started = time.monotonic()
            try:
                async with asyncio.timeout(self._limits.check_most_seconds):
                    report = await self._report(pool, asked.source)
            except (TimeoutError, MontyError):
                await self._close()
                return None, {}
            except BaseException:
                await self._close()
                raise
            finally:
                budget.spend(time.monotonic() - started)
        found = typecheck.findings(report, asked.offset)
        mistake = self._judge.verdict(found, source, tree, names)
        return mistake, typecheck.kinds(found, asked, source.count("\n") + 1)

    async def close(self) -> None:
        """Give the worker back."""
        async with self._one_at_a_time:
            await self._close()

    async def _report(self, pool: AsyncMonty, source: str) -> str:
        if self._worker is None or self._left <= 0:
            await self._close()
            worker = pool.checkout(
                limits={"max_turn_duration_secs": self._limits.check_most_seconds},
                type_check=True,
                type_check_stubs=self._stubs,
                type_check_format="json",
            )
            await worker.__aenter__()
            self._worker, self._left = worker, CHECKS_PER_WORKER
        self._left -= 1
        try:
            await self._worker.feed_start(source)
        except MontyTypingError as error:
            return error.display()
        # Not refused, so it was started: give that worker up rather than let it go on.
        await self._close()
        return "[]"

    async def _close(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            with contextlib.suppress(MontyError):
                await worker.__aexit__(None, None, None)
