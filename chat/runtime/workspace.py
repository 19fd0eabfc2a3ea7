"""The sandbox session of a conversation: opened to run code, saved after each step, given back when idle."""

from chat.runtime.store import Store
from chat.sandbox.base import Host, Sandbox, SandboxError, Session, SnapshotError


class NamespaceLost(Exception):
    """The saved state can't be loaded; a fresh namespace is used from here on."""


class Workspace:
    """Holds at most one session. State is saved through the store, in one flush with what it belongs to."""

    def __init__(self, store: Store, sandbox: Sandbox, host: Host) -> None:
        self.store = store
        self.sandbox = sandbox
        self.host = host
        self.session: Session | None = None

    async def ready(self) -> Session:
        """Return the session, idle; raises NamespaceLost once when what was saved can't be loaded."""
        if self.session is None:
            try:
                saved = await self.store.load_snapshot(suspended=False)
                self.session = await self.sandbox.open(self.host, saved)
            except SnapshotError as error:
                self.store.snapshot(None, suspended=False)
                self.session = await self.sandbox.open(self.host, None)
                raise NamespaceLost(str(error)) from error
        return self.session

    async def reopen_suspended(self) -> Session:
        """Return the session of the suspended program; raises NamespaceLost when it can't be loaded."""
        if self.session is None:
            try:
                saved = await self.store.load_snapshot(suspended=True)
                if saved is None:
                    raise SnapshotError("the saved program is missing")
                self.session = await self.sandbox.open(self.host, saved, suspended=True)
            except SnapshotError as error:
                self.store.snapshot(None, suspended=True)
                raise NamespaceLost(str(error)) from error
        return self.session

    async def save(self) -> str:
        """Save the idle namespace with the next flush; returns an error for the model when it is too big."""
        assert self.session is not None
        try:
            self.store.snapshot(await self.session.dump(), suspended=False)
        except SandboxError as error:  # too large, or no memory left to write it down
            await self.discard()
            return f"{error} The changes of this statement are undone. Keep less in variables."
        return ""

    async def suspend(self) -> None:
        """Save the suspended program with the next flush and give the worker back; raises SandboxError."""
        assert self.session is not None
        try:
            self.store.snapshot(await self.session.dump(), suspended=True)
        finally:
            await self.discard()

    async def make_room(self) -> None:
        """Give the worker back when others wait for one; only when all is saved."""
        if self.sandbox.crowded:
            await self.discard()

    async def discard(self) -> None:
        """Give the worker back; what was not saved is gone."""
        session, self.session = self.session, None
        if session is not None:
            await session.close()
