"""Drives an agent without a site: the real runtime and sandbox, records in memory, scripted replies."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from chat.llm.base import Finished, FinishReason, ModelMessage, Piece, TextPiece, Usage
from chat.runtime.agent import Agent
from chat.runtime.approvals import SkillInfo
from chat.runtime.limits import Limits
from chat.runtime.mailbox import Mailbox
from chat.runtime.programs import Parked
from chat.runtime.records import Block, Conversation, InboxItem, Message, Mount, Record, Statement, Wait
from chat.runtime.recovery import Unfinished, recover
from chat.runtime.states import (
    BlockKind,
    InboxKind,
    InboxState,
    MessageState,
    Role,
    StatementState,
    WaitState,
)
from chat.sandbox.base import Prelude, Raise, Settled, Value
from chat.sandbox.limits import SandboxLimits
from chat.sandbox.monty import MontySandbox
from chat.skills import SKILLS
from chat.ui.components import CATALOGUE
from chat.ui.signatures import spec, stub

LONG = 30.0  # seconds after which a test gives up waiting


def make_sandbox(limits: SandboxLimits | None = None) -> MontySandbox:
    """Return the sandbox as the site has it."""
    return MontySandbox(
        Prelude(
            specs=tuple(spec(component) for component in CATALOGUE.values()),
            stubs=tuple(stub(component) for component in CATALOGUE.values()),
            skills={name: skill.stub for name, skill in SKILLS.items()}
            | {"now": "async def now() -> str: ..."},
        ),
        limits,
    )


class MemoryStore:
    """Keeps records in memory; `flushed` is set at each flush, so that tests can wait for something."""

    def __init__(self) -> None:
        self.conversation = Conversation(id=uuid4(), owner_id=1)
        self.records: dict[int, Record] = {}
        self.snapshots: dict[bool, bytes] = {}
        self.flushes = 0
        self.before_flush: Callable[[], None] = lambda: None

    def now(self) -> datetime:
        return datetime.now(UTC)

    def add(self, record: Record) -> None:
        self.records[id(record)] = record

    touch = add

    def forget(self, record: Record) -> None:
        self.records.pop(id(record), None)

    def append(self, block: Block, text: str) -> None:
        pass

    def snapshot(self, data: bytes | None, *, suspended: bool) -> None:
        if data is None:
            self.snapshots.pop(suspended, None)
        else:
            self.snapshots[suspended] = data

    async def load_snapshot(self, *, suspended: bool) -> bytes | None:
        return self.snapshots.get(suspended)

    async def history(self) -> list[tuple[Message, list[Block]]]:
        return [(message, self.blocks(message)) for message in self.messages]

    async def pace(self) -> None:
        pass

    async def flush(self) -> None:
        self.before_flush()
        self.flushes += 1

    def all[R](self, kind: type[R]) -> list[R]:
        return [record for record in self.records.values() if isinstance(record, kind)]

    @property
    def messages(self) -> list[Message]:
        return sorted(self.all(Message), key=lambda message: message.position)

    def blocks(self, message: Message) -> list[Block]:
        return sorted(
            (block for block in self.all(Block) if block.message_id == message.id), key=lambda b: b.position
        )

    @property
    def mounts(self) -> list[Mount]:
        return sorted(self.all(Mount), key=lambda mount: mount.number)

    @property
    def statements(self) -> list[Statement]:
        return [
            statement
            for message in self.messages
            for block in self.blocks(message)
            for statement in sorted(self.all(Statement), key=lambda s: s.position)
            if statement.block_id == block.id
        ]


class ScriptedModel:
    """Answers with texts in turn, in pieces of a size; a `gate` in a text waits until the test opens it."""

    name = "scripted"
    is_demo = True

    def __init__(self, replies: Sequence[str], size: int = 7) -> None:
        self.replies = list(replies)
        self.size = size
        self.calls: list[Sequence[ModelMessage]] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.open = 0
        self.reason = FinishReason.STOP
        self.error: Exception | None = None
        self.usage: Usage | None = None

    @asynccontextmanager
    async def stream(self, messages: Sequence[ModelMessage]) -> AsyncIterator[AsyncIterator[Piece]]:
        self.calls.append(messages)
        self.open += 1
        try:
            yield self._pieces(self.replies.pop(0) if self.replies else "")
        finally:
            self.open -= 1

    async def close(self) -> None:
        pass

    async def _pieces(self, text: str) -> AsyncIterator[Piece]:
        for part in text.split("§"):  # gates stand between § signs
            if part in self.gates:
                await self.gates[part].wait()
                continue
            for start in range(0, len(part), self.size):
                yield TextPiece(part[start : start + self.size])
                await asyncio.sleep(0)
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        if self.usage is not None:
            yield self.usage
        yield Finished(self.reason)


class FakelessSkills:
    """Skills that tests need: `now`, and one that notes what it did."""

    def __init__(self) -> None:
        self.done: list[Any] = []
        self.options: list[dict[str, Any]] = []
        self.hang = False
        self.hangs_after: int | None = None
        self.hanging = False
        self.gate: asyncio.Event | None = None
        self.approval: set[str] = set()

    def needs_approval(self, name: str) -> bool:
        return name in self.approval

    def describe(self, name: str) -> SkillInfo:
        return SkillInfo("Remember a value.", ("key", "value"))

    def changes_world(self, name: str) -> bool:
        return name == "memory_set"

    async def run(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Settled:
        if self.hang or self.hangs_after == len(self.done):
            self.hanging = True
            await asyncio.Event().wait()
        if self.gate is not None:
            await self.gate.wait()
        if name == "now":
            return Value("2026-01-31T12:00:00")
        if name == "memory_set":
            self.done.append(args)
            self.options.append(kwargs)
            return Value(None)
        return Raise("RuntimeError", f"no skill {name}")


class Talk:
    """One conversation: say something, wait for what must happen, look at the records."""

    def __init__(
        self, sandbox: MontySandbox, *replies: str, size: int = 7, limits: Limits | None = None
    ) -> None:
        self.store = MemoryStore()
        self.mailbox = Mailbox()
        self.model = ScriptedModel(replies, size)
        self.skills = FakelessSkills()
        self.sandbox = sandbox
        self.limits = limits or Limits(linger_seconds=0.05)
        self.agent = self._agent()
        self.items = 0

    def _agent(self) -> Agent:
        return Agent(
            store=self.store,
            mailbox=self.mailbox,
            model=self.model,
            sandbox=self.sandbox,
            skills=self.skills,
            mounts=self.store.mounts,
            last=self.store.messages[-1] if self.store.messages else None,
            prompt="system",
            limits=self.limits,
        )

    def put(self, kind: InboxKind, **payload: Any) -> InboxItem:
        self.items += 1
        item = InboxItem(self.items, kind, payload, user_id=1)
        self.mailbox.refresh([*self.mailbox.items.values(), item])
        return item

    def say(self, text: str = "hello") -> InboxItem:
        return self.put(InboxKind.MESSAGE, text=text)

    def submit(self, mount: str, /, form: str = "", **values: Any) -> InboxItem:
        return self.put(InboxKind.SUBMIT, mount=mount, form=form, values=values)

    def click(self, label: str, mount: Mount | None = None) -> InboxItem:
        mount = mount or self.store.mounts[-1]
        callback = find(mount.tree, lambda n: n["p"].get("label") == label)["p"]["on_click"]
        return self.put(InboxKind.CALLBACK, mount=mount.name, callback=callback)

    async def work(self) -> bool:
        """Work until nothing is left to do; returns whether the agent parked with a program that waits."""
        async with asyncio.timeout(LONG):
            try:
                await self.agent.work()
            except Parked:
                await self.agent.close()
                return True
        return False

    async def restart(self, *, crash: bool = False) -> bool:
        """Begin again with nothing but what was saved."""
        await self.agent.close()
        self.mailbox = Mailbox()
        left = self.left()
        self.agent = self._agent()
        async with asyncio.timeout(LONG):
            try:
                await recover(self.agent, self.store, left)
            except Parked:
                await self.agent.close()
                return True
        return await self.work()

    async def recovered(self, *items: InboxItem) -> bool:
        """Begin again as `restart`, with items that came meanwhile."""
        await self.agent.close()
        self.mailbox = Mailbox()
        self.mailbox.refresh(items)
        left = self.left()
        self.agent = self._agent()
        async with asyncio.timeout(LONG):
            try:
                await recover(self.agent, self.store, left)
                await self.agent.work()
            except Parked:
                await self.agent.close()
                return True
        return False

    async def crash_in(self, happened: Callable[[], bool], *items: InboxItem) -> None:
        """Go on with items, and die once something is so."""
        work = asyncio.create_task(self.recovered(*items))
        await self.until(happened)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)

    def left(self) -> Unfinished:
        streaming = [m for m in self.store.messages if m.state is MessageState.STREAMING]
        message = streaming[-1] if streaming else None
        blocks = self.store.blocks(message) if message else []
        ids = {block.id for block in blocks}
        statements = [
            s
            for s in self.store.all(Statement)
            if s.block_id in ids or (s.block_id is None and not (s.settled and s.reported))
        ]
        waits = [wait for wait in self.store.all(Wait) if wait.state is WaitState.OPEN]
        started = [item for item in self.store.all(InboxItem) if item.state is InboxState.STARTED]
        return Unfinished(message, blocks, statements, waits, started, suspended=True in self.store.snapshots)

    async def until(self, happened: Callable[[], bool]) -> None:
        """Wait until something is so; not all that happens is followed by a flush, so it looks often."""
        async with asyncio.timeout(LONG):
            while not happened():  # noqa: ASYNC110
                await asyncio.sleep(0.005)

    # What there is

    @property
    def replies(self) -> list[Message]:
        return [message for message in self.store.messages if message.role is Role.ASSISTANT]

    @property
    def feedback(self) -> list[str]:
        return [message.text for message in self.store.messages if message.role is Role.FEEDBACK]

    def shown(self, message: Message) -> str:
        """The text of a reply that has appeared."""
        return "".join(
            block.text
            for block in self.store.blocks(message)
            if block.kind is BlockKind.TEXT and block.state in ("running", "done")
        )

    @property
    def states(self) -> list[StatementState]:
        return [statement.state for statement in self.store.statements]

    def text(self, mount: Mount | None = None) -> str:
        """All texts of a mount's tree."""
        return " ".join(texts((mount or self.store.mounts[-1]).tree))


def run(code: str, after: str = "") -> str:
    """Return a reply with a run block."""
    return f"Text before.\n\n```python agent.run\n{code.strip()}\n```\n{after}"


def find(tree: dict[str, Any], wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Return the first node of a tree that is wanted."""
    for node in nodes(tree):
        if wanted({"p": {}, **node}):
            return node
    raise AssertionError("no such node")


def nodes(tree: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all nodes of a tree."""
    return [tree, *(node for child in tree.get("n", []) for node in nodes(child))]


def texts(tree: dict[str, Any]) -> list[str]:
    """Return the texts in a tree."""
    return [str(value) for node in nodes(tree) for value in node.get("p", {}).values()]
