"""The effects of one reply, one after another in the order in which they stand."""

import asyncio
import json
from collections.abc import Awaitable, Callable

from chat.protocol.data import MIN_INTERVAL_SECONDS, NOTHING, PartialJSON
from chat.protocol.events import Problem
from chat.protocol.problems import unknown_target
from chat.runtime.programs import Parked, Programs
from chat.runtime.records import Block, Statement, Wait
from chat.runtime.reply import Reply
from chat.runtime.states import BlockKind, BlockState, StatementState
from chat.sandbox.base import Failed
from chat.sandbox.prelude import entry_stream

ROOM_SECONDS = 0.5  # how often a reply that streams looks whether its worker is needed elsewhere


class Effects:
    """Shows text, runs statements and applies data, each when all before it is complete."""

    def __init__(
        self,
        programs: Programs,
        reply: Reply,
        *,
        cut: Callable[[], Awaitable[None]],
        meanwhile: Callable[[], Awaitable[bool]],
    ) -> None:
        self.programs = programs
        self.reply = reply
        self.store = programs.store
        self.mailbox = programs.mailbox
        self.cut = cut  # ends the model's stream
        self.meanwhile = meanwhile  # handles callbacks while no code runs; returns whether it did anything
        self._shown: tuple[Block, str] | None = None  # the newest value of a data block under way

    async def run(self) -> None:
        """Return when every block is settled and the stream has ended. Raises Stopped, Parked."""
        while True:
            self.reply.progress.clear()
            block = self.reply.next_block()
            if block is None and self.reply.ended:
                return
            if self.mailbox.leaving and self.reply.has_acted:
                raise Parked  # between two statements; a mere text may come to its end, if it does so in time
            if block is None or not await self._advance(block):
                await self._more()

    async def go_on(self, block: Block, waits: list[Wait]) -> None:
        """Go on with the suspended statement of a block."""
        statement = self.reply.next_statement(block)
        assert statement is not None
        await self.programs.resume(statement, waits, place=(self.reply.message.id, block.id))
        await self._after(statement, block)

    async def _advance(self, block: Block) -> bool:
        """Do the next thing of a block; returns whether there was something to do."""
        match block.kind:
            case BlockKind.TEXT:
                return self._show(block)
            case BlockKind.RUN:
                return await self._run(block)
            case BlockKind.DATA:
                await self._stream_data(block)
            case BlockKind.PROBLEM:
                self._settle(block, BlockState.DONE)
        return True

    def _show(self, block: Block) -> bool:
        if block.state is BlockState.QUEUED:
            self._settle(block, BlockState.RUNNING)
            return True
        if block.closed:
            self._settle(block, BlockState.DONE)
        return block.closed

    async def _run(self, block: Block) -> bool:
        statement = self.reply.next_statement(block)
        if statement is None:
            if block.closed:
                self._settle(block, BlockState.DONE)
            return block.closed
        self._settle(block, BlockState.RUNNING)
        place = (self.reply.message.id, block.id)
        label = f"block {block.index}"
        await self.programs.run(statement, statement.source, place=place, label=label)
        await self._after(statement, block)
        return True

    async def _after(self, statement: Statement, block: Block) -> None:
        if statement.state in (StatementState.FAILED, StatementState.CUT):
            await self.cut()
            self._settle(block, BlockState.FAILED)
            self.reply.drop()
        errors = await self.programs.namespace.render()
        if errors:
            statement.notes = "\n".join(filter(None, [statement.notes, *errors]))
            self.store.touch(statement)

    async def _stream_data(self, block: Block) -> None:
        known = self.store.conversation.namespace.get("targets", [])
        if block.target not in known:
            self._fail_data(block, unknown_target(block.target, known).message)
            return
        self._settle(block, BlockState.RUNNING)
        self._shown = None
        data = PartialJSON()
        taken = 0
        clock = asyncio.get_running_loop().time
        while True:
            self.reply.progress.clear()
            arrived = "".join(block.parts[taken:])
            taken = len(block.parts)
            data.feed(arrived)
            if block.closed:
                break
            if data.due(clock()):
                value = data.value()
                if value is not NOTHING:
                    await self._apply(block, json.dumps(value), complete=False)
            await self._more(MIN_INTERVAL_SECONDS if arrived else None)
        await self._end_data(block, data)
        self._shown = None

    async def _end_data(self, block: Block, data: PartialJSON) -> None:
        """Apply the whole value; of data that was cut or has a mistake, as much as can be shown of it."""
        final = data.close()
        wrong = [] if block.complete else [f"Data block {block.index} was cut off."]
        if isinstance(final, Problem):
            wrong.append(f"Data block {block.index}: {final.message}")
        value = final if not isinstance(final, Problem) and block.complete else data.value()
        if value is not NOTHING:
            await self._apply(block, json.dumps(value), complete=not wrong)
            await self._keep(block)
        if wrong:
            self._fail_data(block, "\n".join(filter(None, [*wrong, block.error])))
        elif not block.settled:
            self._settle(block, BlockState.DONE)

    async def keep_shown(self) -> None:
        """Keep what a data block that its user stopped has shown so far. Raises Stopped."""
        if self._shown is not None:
            (block, text), self._shown = self._shown, None
            await self.programs.namespace.feed(*entry_stream(block.target, text, False))
            await self._keep(block)

    async def _apply(self, block: Block, text: str, *, complete: bool) -> None:
        outcome = await self.programs.namespace.feed(*entry_stream(block.target, text, complete))
        self._shown = (block, text)
        if isinstance(outcome, Failed):
            self._fail_data(block, outcome.error.text())
            if outcome.error.fatal:
                await self.programs.workspace.discard()
        errors = await self.programs.namespace.render(partial=not complete)
        if errors:
            block.error = "\n".join(filter(None, [block.error, *errors]))
            self.store.touch(block)

    async def _keep(self, block: Block) -> None:
        """Save the namespace together with the block's end: what was shown must be there for what follows."""
        workspace = self.programs.workspace
        if workspace.session is not None and (error := await workspace.save()):
            self._fail_data(block, error)

    def _fail_data(self, block: Block, error: str) -> None:
        block.error = error
        self._settle(block, BlockState.FAILED)

    def _settle(self, block: Block, state: BlockState) -> None:
        if block.state is not state:
            block.state = state
            self.store.touch(block)

    async def _more(self, seconds: float | None = None) -> None:
        """Wait for more of the stream; callbacks work meanwhile."""
        if await self.meanwhile():
            return
        await self.programs.workspace.make_room()
        if self.programs.workspace.session is not None:  # others may come to need its worker
            seconds = min(seconds or ROOM_SECONDS, ROOM_SECONDS)
        waiting = [asyncio.ensure_future(e.wait()) for e in (self.reply.progress, self.mailbox.changed)]
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
