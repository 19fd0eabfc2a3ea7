"""Daphne inside a management command: gentle to stop, and clear about a port that is taken."""

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from daphne.endpoints import build_endpoint_description_strings
from daphne.server import Server
from twisted.internet import reactor

logger = logging.getLogger(__name__)

# The writing thread waits that long for the interpreter after each statement of a busy transaction; Python's
# own 5 ms are longer than the statements take.
SWITCH_SECONDS = 0.0005

# New objects before a collection, and collections before a larger one. A frame makes hundreds of objects that
# are gone at once, so Python's own small numbers mostly find nothing.
COLLECT_AFTER = (20_000, 10, 50)

Hook = Callable[[], Awaitable[None]]


class SiteServer(Server):
    """Serves an ASGI application; `on_start` and `on_stop` run inside its event loop.

    A first SIGTERM or Ctrl+C closes the door, lets `on_stop` finish, then ends the process; a second one ends
    it at once. Nothing relies on this: a killed process leaves the same behind, others only notice it later.
    """

    def __init__(
        self,
        application: Any,
        host: str,
        port: int,
        *,
        on_start: Hook | None,
        on_stop: Hook | None,
        on_ready: Callable[[], None],
        **options: Any,
    ) -> None:
        super().__init__(
            application,
            endpoints=build_endpoint_description_strings(host=host, port=port),
            signal_handlers=False,  # Twisted's own end the process before tasks can finish
            websocket_timeout=-1,  # no end after a day: browsers would not come back from its close code
            ping_interval=20,  # shorter than the idle limits of common proxies
            ping_timeout=30,
            ready_callable=on_ready,
            **options,
        )
        self.on_start, self.on_stop = on_start, on_stop
        self.failure = ""
        self.connections: dict[Any, dict[str, Any]] = {}
        self.doors: list[Any] = []
        self.stopping: asyncio.Task[None] | None = None
        self.starting: asyncio.Task[None] | None = None

    def serve(self) -> str:
        """Serve until told to stop; return why it could not, or ""."""
        sys.setswitchinterval(SWITCH_SECONDS)
        gc.freeze()  # what was imported stays; to look through it again and again halts everybody
        gc.set_threshold(*COLLECT_AFTER)
        loop = reactor._asyncioEventloop
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.signalled)
        reactor.callWhenRunning(self.begin)
        self.run()
        return self.failure

    def begin(self) -> None:
        """Run the start hook; the site ends when that fails, for it would take work that nobody does."""

        async def start() -> None:
            try:
                if self.on_start:
                    await self.on_start()
            except Exception as error:
                logger.exception("The site could not start")
                self.failure = f"The site could not start: {error!r}"
                self.stop()

        self.starting = asyncio.ensure_future(start())

    def signalled(self) -> None:
        """Stop gently; on a second signal at once."""
        if self.stopping:
            self.stop()
        else:
            self.stopping = asyncio.ensure_future(self.wind_down())

    async def wind_down(self) -> None:
        """Take no new connections, let the hook finish, stop."""
        try:
            for door in self.doors:
                door.stopListening()
            if self.on_stop:
                await self.on_stop()
        except Exception:
            logger.exception("The site could not stop gently")
        finally:
            self.stop()

    def stop(self) -> None:
        """Stop now."""
        if reactor.running:
            super().stop()
        else:
            self.abort_start = True

    def listen_success(self, port: Any) -> None:
        """Keep the door, to close it first."""
        super().listen_success(port)
        self.doors.append(port)

    def listen_error(self, failure: Any) -> None:
        """Keep the reason for the command, which says it."""
        self.failure = failure.getErrorMessage()
        self.stop()

    def kill_all_applications(self) -> Any:
        """Cancel what still runs; Daphne trips over connections whose application has ended."""
        self.connections = {
            protocol: details
            for protocol, details in self.connections.items()
            if details.get("application_instance") is not None
        }
        return super().kill_all_applications()
