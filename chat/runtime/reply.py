"""One reply as it streams in: text becomes blocks, and the code of run blocks becomes statements."""

import asyncio

from chat.protocol.events import (
    DataClosed,
    DataDelta,
    DataOpened,
    Problem,
    RunClosed,
    RunDelta,
    RunOpened,
    TextDelta,
)
from chat.protocol.fences import FenceParser
from chat.protocol.statements import Statement as Source
from chat.protocol.statements import StatementSplitter
from chat.runtime.history import written
from chat.runtime.records import Block, Message, Statement
from chat.runtime.states import BlockKind, BlockState, StatementState
from chat.runtime.store import Store

Event = TextDelta | RunOpened | RunDelta | RunClosed | DataOpened | DataDelta | DataClosed | Problem


class Reply:
    """The blocks and statements of one reply, in order. `progress` is set whenever there is more of it."""

    def __init__(self, store: Store, message: Message, blocks: list[Block] | None = None) -> None:
        self.store = store
        self.message = message
        self.blocks = blocks or []
        self.statements: dict[object, list[Statement]] = {block.id: [] for block in self.blocks}
        self.progress = asyncio.Event()
        self.ended = False
        self._parser = FenceParser()
        self._splitter = StatementSplitter()
        self._pieces: list[str] = []
        self._overlong: Problem | None = None

    def feed(self, text: str) -> None:
        """Take the next piece of the model's stream."""
        self._pieces.append(text)
        for event in self._parser.feed(text):
            self._take(event)
            # Text that is shown already only grows, which is no effect of its own.
            if not isinstance(event, TextDelta) or self.blocks[-1].state is not BlockState.RUNNING:
                self.progress.set()

    def end(self) -> None:
        """Take the end of the stream, wherever it came; an open block is closed as incomplete."""
        if self.ended:
            return
        for event in self._parser.close():
            self._take(event)
        self._close_block()
        self.ended = True
        self.message.text = "".join(self._pieces)
        self.message.finished = self.store.now()
        self.store.touch(self.message)
        self.progress.set()

    def report(self, problem: Problem) -> None:
        """Add a problem that was found outside of the parser."""
        self._take(problem)

    def end_where_it_broke(self) -> None:
        """Close a reply whose stream died with its process; a last statement that was cut is not run."""
        for block in self.blocks:
            if not block.closed:
                block.source = "".join(block.parts)
                block.closed = True
                block.complete = block.kind is BlockKind.TEXT
                self.store.touch(block)
        self.message.text = written(self.blocks)
        self.message.finished = self.store.now()
        self.store.touch(self.message)

    def drop(self) -> None:
        """Give up everything that has not happened yet."""
        for block in self.blocks:
            for statement in self.statements[block.id]:
                if statement.state is StatementState.QUEUED:
                    statement.state = StatementState.DROPPED
                    self.store.touch(statement)
            if block.settled:
                continue
            started = any(s.state is not StatementState.DROPPED for s in self.statements[block.id])
            shown = block.kind is BlockKind.TEXT and block.state is BlockState.RUNNING
            block.state = BlockState.DONE if shown else BlockState.FAILED if started else BlockState.DROPPED
            self.store.touch(block)

    @property
    def has_acted(self) -> bool:
        """Whether code of it ran or data of it was shown, so that it must not simply be tried again."""
        return any(
            block.kind in (BlockKind.RUN, BlockKind.DATA) and block.state is not BlockState.QUEUED
            for block in self.blocks
            if block.state is not BlockState.DROPPED
        )

    @property
    def only_grew(self) -> bool:
        """Whether the newest that came is text, for which nobody but a reader waits."""
        return bool(self.blocks) and self.blocks[-1].kind is BlockKind.TEXT and not self.blocks[-1].closed

    def next_block(self) -> Block | None:
        """Return the first block whose effect is not complete."""
        return next((block for block in self.blocks if not block.settled), None)

    def next_statement(self, block: Block) -> Statement | None:
        """Return the first statement of a run block that has not ended."""
        return next((s for s in self.statements[block.id] if not s.settled), None)

    def _take(self, event: Event) -> None:
        match event:
            case TextDelta(text):
                block = self.blocks[-1] if self.blocks else None
                if block is None or block.kind is not BlockKind.TEXT or block.closed:
                    block = self._open(BlockKind.TEXT)
                self._append(block, text)
            case RunOpened(index):
                self._splitter = StatementSplitter()
                self._open(BlockKind.RUN, index=index)
            case DataOpened(index, target):
                self._open(BlockKind.DATA, index=index, target=target)
            case RunDelta(code):
                self._append(self.blocks[-1], code)
                self._queue(self._splitter.feed(code))
                self._overlong = self._overlong or self._splitter.problem
            case DataDelta(json):
                self._append(self.blocks[-1], json)
            case RunClosed(complete):
                last = self._splitter.close()
                if complete:  # a cut line may mean something else than what it says so far
                    self._queue(last)
                self._close_block(complete)
                if self._overlong is not None:  # the code behind it was not read
                    problem, self._overlong = self._overlong, None
                    self._take(problem)
            case DataClosed(complete):
                self._close_block(complete)
            case Problem(code, message):
                self._open(BlockKind.PROBLEM, error=message, target=code)
                self._close_block(complete=True)

    def _open(self, kind: BlockKind, index: int | None = None, target: str = "", error: str = "") -> Block:
        self._close_block(complete=True)
        block = Block(
            message_id=self.message.id,
            position=len(self.blocks),
            kind=kind,
            index=index,
            target=target[:200],
            error=error,
        )
        self.blocks.append(block)
        self.statements[block.id] = []
        self.store.add(block)
        return block

    def _append(self, block: Block, text: str) -> None:
        block.parts.append(text)
        self.store.append(block, text)

    def _queue(self, sources: list[Source]) -> None:
        block = self.blocks[-1]
        for source in sources:
            statement = Statement(
                conversation_id=self.message.conversation_id,
                position=len(self.statements[block.id]),
                block_id=block.id,
                line=source.line,
                source=source.source,
            )
            self.statements[block.id].append(statement)
            self.store.add(statement)

    def _close_block(self, complete: bool = False) -> None:
        block = self.blocks[-1] if self.blocks else None
        if block is None or block.closed:
            return
        block.source = "".join(block.parts)
        block.closed = True
        block.complete = complete or block.kind is BlockKind.TEXT
        self.store.touch(block)
