"""However a page came by it, it shows the same: frame by frame, catching up from anywhere, or loaded anew."""

import random
from itertools import zip_longest
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient

from chat.fragments.catch_up import catch_up
from chat.models import Conversation
from chat.runner import lease, loading
from chat.runner.hub import Audience, Hub
from chat.runner.journal import Journal
from chat.runner.store import DjangoStore
from chat.runtime.records import Message, Mount, Statement
from chat.runtime.reply import Reply
from chat.runtime.states import (
    BlockKind,
    BlockState,
    ConversationState,
    MessageState,
    MountState,
    Role,
    StatementState,
)
from tests.runner.dom import Page

TEXTS = [
    "A paragraph that is **bold** and grows",
    " word by word, with `code` and a [link](https://example.com/?a=1&b=2).",
    "\n\n",
    "- one\n- two **strong",
    "** still\n\n",
    "1. first\n2. second\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 |",
    " 4 |\n\n",
    "```\nfor a in b:\n    print('<&>')\n\n",
    "    more()\n```\n\n",
    "> quoted\n> more\n\n# Head",
    "ing\n\nAfter it\n---\n",
    "See [later][ref].\n\nThen.\n\n",
    "[ref]: https://example.com/\n\n",
    "long " * 600 + "\n\n",
    "- item\n" * 400,
    "\n```python agent.run\nx = 1\nprint(x)\n",
    "y = '''a\n```\nb'''\n",
    "```\n",
    '\n```json agent.data => "rows"\n[1, 2]\n```\n',
    "\n```python agent.ran\n```\n",
]


class Watching:
    """A page that gets every frame while it watches, and catches up when it missed some."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.missed = False

    async def show(self, number: int, text: str | None) -> None:
        if number <= self.page.have:
            return
        if text is None or number > self.page.have + 1:
            self.missed = True
        if not self.missed:
            assert text is not None
            self.page.take(text)

    async def restart(self) -> None:
        raise AssertionError("nothing ends here")


class Life:
    """A conversation to which something happens by chance; seeded, so that it happens again."""

    def __init__(self, seed: int, store: DjangoStore, hub: Hub, client: AsyncClient) -> None:
        self.random = random.Random(seed)
        self.store = store
        self.hub = hub
        self.client = client
        self.reply: Reply | None = None
        self.last: Message | None = None
        self.mounts: list[Mount] = []
        self.watching: list[Watching] = []
        self.gone: list[Page] = []

    async def loaded(self) -> Page:
        response = await self.client.get(f"/c/{self.store.conversation.id}/")
        return Page(response.content.decode())

    async def step(self) -> None:
        chances = [
            (6, self.write),
            (6, self.advance),
            (2, self.interface),
            (1, self.note),
            (1, self.end),
            (1, self.state),
        ]
        happens = self.random.choices([what for _, what in chances], [weight for weight, _ in chances])
        happens[0]()
        if self.random.random() < 0.5:
            await self.store.flush()
            await self.look_after()
        if self.random.random() < 0.15:
            await self.come_or_go()

    async def look_after(self) -> None:
        for watching in self.watching:
            if watching.missed:
                await caught_up(watching.page, self.store.conversation.id)
                watching.missed = False

    async def come_or_go(self) -> None:
        if self.watching and self.random.random() < 0.6:
            watching = self.watching.pop(self.random.randrange(len(self.watching)))
            self.hub.leave(self.store.conversation.id, watching)
            self.gone.append(watching.page)
        else:
            watching = Watching(await self.loaded())
            self.hub.join(self.store.conversation.id, watching)
            self.watching.append(watching)

    # What happens

    def message(self, role: Role, **values: Any) -> Message:
        position = self.last.position + 1 if self.last else 1
        message = Message(
            self.store.conversation.id, position=position, role=role, created=self.store.now(), **values
        )
        self.store.add(message)
        self.last = message
        return message

    def write(self) -> None:
        if self.reply is None:
            self.message(Role.USER, text=self.random.choice(TEXTS))
            self.reply = Reply(self.store, self.message(Role.ASSISTANT, state=MessageState.STREAMING))
        text = self.random.choice(TEXTS)
        size = self.random.choice([3, 11, 200, 2000])
        for start in range(0, len(text), size):
            self.reply.feed(text[start : start + size])

    def advance(self) -> None:
        if self.reply is None or (block := self.reply.next_block()) is None:
            return
        match block.kind:
            case BlockKind.TEXT:
                block.state = BlockState.DONE if block.closed else BlockState.RUNNING
            case BlockKind.RUN if (statement := self.reply.next_statement(block)) is not None:
                block.state = BlockState.RUNNING
                self.run(statement)
                if statement.state is StatementState.FAILED:
                    block.state = BlockState.FAILED
                    self.reply.drop()
            case BlockKind.RUN if not block.closed:
                return
            case _:
                block.state = BlockState.DONE
        self.store.touch(block)

    def run(self, statement: Statement) -> None:
        after = {
            StatementState.QUEUED: [StatementState.RUNNING],
            StatementState.RUNNING: [StatementState.WAITING, StatementState.DONE, StatementState.DONE],
            StatementState.WAITING: [StatementState.RUNNING, StatementState.FAILED],
        }
        statement.state = self.random.choice(after[statement.state])
        statement.output += self.random.choice(["", "printed <b>\n"])
        if statement.state is StatementState.FAILED:
            statement.error = "ValueError: no"
        self.store.touch(statement)

    def interface(self) -> None:
        running = self.reply and next((b for b in self.reply.blocks if b.state is BlockState.RUNNING), None)
        if self.mounts and (running is None or self.random.random() < 0.7):
            self.change(self.random.choice(self.mounts))
        elif self.reply is not None:
            block = running.id if running is not None and running.kind is BlockKind.RUN else None
            mount = Mount(
                self.store.conversation.id,
                number=len(self.mounts) + 1,
                message_id=self.reply.message.id,
                block_id=block,
                created=self.store.now(),
                tree=self.tree(),
            )
            self.mounts.append(mount)
            self.store.add(mount)

    def change(self, mount: Mount) -> None:
        match self.random.randrange(4):
            case 0:
                mount.state = self.random.choice(list(MountState))
            case 1:
                mount.error = self.random.choice(["", "NameError: x"])
            case 2:
                mount.answers = {"name": "Ada"}
                mount.answered_at = self.store.now()
                mount.answered_by_id = self.store.conversation.owner_id
            case _:
                mount.tree = self.tree()
        self.store.touch(mount)

    def tree(self) -> dict[str, Any]:
        keys = self.random.sample("abcdefgh", self.random.randrange(5))
        texts = [{"c": "Text", "k": key, "p": {"text": self.random.choice("xyz")}} for key in keys]
        field = {"c": "TextField", "p": {"name": "name", "label": self.random.choice(["Name", "Who"])}}
        rows = [[n, n * n] for n in range(self.random.randrange(3))]
        table = {"c": "Table", "p": {"rows": rows}}
        nodes = [*texts, *self.random.sample([field, table], self.random.randrange(3))]
        return {"c": "Card", "p": {"title": self.random.choice("AB")}, "n": nodes}

    def note(self) -> None:
        if self.reply is not None:
            self.reply.message.reasoning += "Hm. "
            self.store.touch(self.reply.message)

    def end(self) -> None:
        if self.reply is not None:
            self.reply.end()
            if self.random.random() < 0.5:
                self.reply.drop()
            message = self.reply.message
            message.state = self.random.choice(
                [MessageState.DONE, MessageState.INCOMPLETE, MessageState.STOPPED]
            )
            message.note = "cut" if message.state is MessageState.INCOMPLETE else ""
            self.store.touch(message)
            self.reply = None
            if self.random.random() < 0.5:
                self.message(Role.FEEDBACK, text="1")

    def state(self) -> None:
        self.store.conversation.state = self.random.choice(list(ConversationState))
        self.store.touch(self.store.conversation)


def same(page: Page, shown: str) -> None:
    """Compare line by line, so that the difference can be read."""
    for mine, other in zip_longest(page.shown().splitlines(), shown.splitlines()):
        assert mine == other


async def test_a_new_interface_alone_is_caught_up_with(transactional_db: None) -> None:
    """In a message of which nothing else changed, even one that the runner has let go of."""
    owner = await sync_to_async(User.objects.create_user)("ada")
    life = await begun(owner, 0)
    life.write()
    await life.store.flush()
    for number in (1, 2):
        page = await life.loaded()
        life.mounts = []
        life.interface()
        life.mounts[0].number = number
        await life.store.flush()
        await caught_up(page, life.store.conversation.id)
        same(page, (await life.loaded()).shown())
        life.store._messages.clear()


async def caught_up(page: Page, conversation: Any) -> None:
    html, number = await sync_to_async(catch_up)(conversation, page.have)
    page.apply(html)
    page.have = number


async def begun(owner: User, seed: int) -> Life:
    """Return a conversation to which nothing has happened yet."""
    row = await Conversation.objects.acreate(owner=owner, title="By chance")
    token = await sync_to_async(lease.acquire)(row.pk)
    assert token
    hub = Hub()
    record = (await sync_to_async(loading.load)(row.pk)).conversation
    store = DjangoStore(record, token, Journal(), Audience(hub, row.pk), "ada", "none")
    client = AsyncClient()
    await client.aforce_login(owner)
    return Life(seed, store, hub, client)


@pytest.mark.parametrize("seed", range(24))
async def test_every_way_to_a_page_leads_to_the_same(seed: int, transactional_db: None) -> None:
    life = await begun(await sync_to_async(User.objects.create_user)("ada"), seed)
    conversation = life.store.conversation.id
    life.watching.append(Watching(await life.loaded()))
    life.hub.join(conversation, life.watching[0])
    for number in range(70):
        await life.step()
        if number % 10 == 9:  # the truth of this moment, not only of the end
            await life.store.flush()
            await life.look_after()
            shown = (await life.loaded()).shown()
            for watching in life.watching:
                same(watching.page, shown)
    await life.store.flush()
    await life.look_after()
    shown = (await life.loaded()).shown()
    for watching in life.watching:
        same(watching.page, shown)
    for page in life.gone:
        await caught_up(page, conversation)
        same(page, shown)
    life.store.journal.close()
