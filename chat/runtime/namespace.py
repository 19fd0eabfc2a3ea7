"""The namespace of a conversation: opened when code is to run, its live mounts drawn after each step."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from chat.runtime.board import Board
from chat.runtime.host import RuntimeHost
from chat.runtime.records import Mount, Statement
from chat.runtime.states import MountState, ProgramKind
from chat.runtime.store import Store
from chat.runtime.workspace import NamespaceLost, Workspace
from chat.sandbox.base import Failed, Finished, Outcome, Session
from chat.sandbox.prelude import entry_redraw, entry_render
from chat.ui.nodes import InvalidTree

LOST = "The code behind this is lost: what was saved of it can't be used. Ask the agent to make it again."


class Namespace:
    """Runs what is no program: ui functions, and new data. `unless_stopped` guards all sandbox work."""

    def __init__(
        self,
        store: Store,
        board: Board,
        host: RuntimeHost,
        workspace: Workspace,
        unless_stopped: Callable[[Awaitable[Outcome]], Awaitable[Outcome]],
    ) -> None:
        self.store = store
        self.board = board
        self.host = host
        self.workspace = workspace
        self.unless_stopped = unless_stopped

    async def session(self, program: Statement | None) -> Session:
        """Return the session, idle, for a program."""
        if self.workspace.session is None:
            await self._open()
            if program is not None and program.kind is not ProgramKind.STATEMENT:
                await self.render(partial=True)  # callbacks belong to the tree that was rendered last
        return self.workspace.session or await self._open()

    async def render(self, *, partial: bool = False) -> list[str]:
        """Evaluate the ui functions of all live mounts again and show what changed; returns their errors.

        Only when nothing is suspended. With `partial`, a function that fails (on half a row, say) keeps its
        picture.
        """
        errors = []
        for mount in self.board.live:
            session = self.workspace.session or await self._open()
            outcome = await self.unless_stopped(session.run(*entry_render(mount.name)))
            errors.append(self._take_render(mount, outcome, partial))
            if isinstance(outcome, Failed) and outcome.error.fatal:
                mount.live = False  # it used up its time; it would do so after every step
                self.store.touch(mount)
                await self.workspace.discard()
        return [error for error in errors if error]

    async def feed(self, source: str, inputs: Mapping[str, Any]) -> Outcome:
        """Run a small entry point of the prelude that waits for nothing, such as new streamed data."""
        session = await self.session(self.host.program)
        return await self.unless_stopped(session.run(source, inputs))

    async def _open(self) -> Session:
        try:
            session = await self.workspace.ready()
        except NamespaceLost as lost:
            self.lost(str(lost))
            session = await self.workspace.ready()
        await session.run(*entry_redraw())  # what is shown may be newer than what was saved
        return session

    def lost(self, reason: str) -> None:
        """Begin anew: what was saved can't be used any more."""
        for mount in self.board.mounts.values():
            if mount.state is not MountState.SUBMITTED and self.board.needs_code(mount):
                self.board.set_state(mount, MountState.CLOSED)
                self.board.warn(mount, LOST)
        namespace = self.store.conversation.namespace
        self.store.conversation.namespace = {"mounts": namespace.get("mounts", 0)}
        self.store.touch(self.store.conversation)
        self.store.snapshot(None, suspended=False)
        self.store.snapshot(None, suspended=True)
        if self.host.program is not None:
            self.host.note(
                f"All variables and functions of this conversation are lost ({reason}). The namespace is "
                "fresh, and the mounts that need code are closed: define again what you need."
            )

    def _take_render(self, mount: Mount, outcome: Outcome, partial: bool) -> str:
        try:
            match outcome:
                case Finished(str() as tree):
                    self.board.update(mount.name, self.board.parse(tree))
                case Failed(error) if error.fatal or not partial:
                    return self.board.fail(mount.name, error.text())
        except InvalidTree as error:
            return "" if partial else self.board.fail(mount.name, str(error))
        return ""
