"""Somebody who uses the site by its addresses, without a browser; and pages made alike, to be compared."""

import asyncio
import re
import uuid
from collections.abc import Callable
from typing import Any

from asgiref.sync import sync_to_async
from django.test import AsyncClient
from django.urls import reverse

from chat.models import Conversation, Inbox, Message, Mount
from chat.runtime.states import ConversationState, InboxState, MessageState, MountState, Role
from chat.ui.forms import html_name
from chat.ui.nodes import parse_tree, walk
from tests.provider import Provider

LONG = 30.0  # seconds after which a test gives up
HTMX = {"HX-Request": "true"}
# Whether it had arrived when the stream was cancelled depends on the machine.
DROPPED = (
    r'<div class="part" id="\w+">\s*<details class="run" id="\S+" data-state="dropped"'
    r".*?</details>.*?</div>\s*</div>"
)


class Visitor:
    """Somebody who uses the site by its addresses, as a browser does."""

    def __init__(self, client: AsyncClient, provider: Provider) -> None:
        self.client = client
        self.provider = provider
        self.key = uuid.uuid4()

    async def begin(self, text: str = "Hello") -> None:
        """Start a conversation."""
        self.key = uuid.uuid4()
        response = await self.client.post("/start/", {"key": self.key, "text": text})
        assert response.status_code == 302

    async def post(self, action: str, *more: Any, **data: Any) -> None:
        """Do something in the conversation; the site must take it."""
        address = reverse(action, args=[self.key, *more])
        response = await self.client.post(address, {"key": uuid.uuid4(), **data}, headers=HTMX)
        assert response.status_code == 204, response.content

    async def submit(self, entered: dict[str, Any]) -> None:
        """Send the form that waits."""
        await self.until(self._waits_for_person)
        mount = await Mount.objects.filter(conversation=self.key, state=MountState.OPEN).alatest("number")
        values = {html_name(name): value for name, value in entered.items()}
        await self.post("submit", mount.name, token=mount.token, **values)
        await self.until(self._took_everything)

    async def click(self, label: str) -> None:
        """Press a button of the newest interface."""
        mount = await Mount.objects.filter(conversation=self.key).alatest("number")
        button = next(node for node in walk(parse_tree(mount.tree)) if node.get("label") == label)
        await self.post("callback", mount.name, callback=button.get("on_click"))
        await self.until(self._took_everything)

    async def until(self, so: Callable[[], bool]) -> None:
        """Return once something is so in the database."""
        async with asyncio.timeout(LONG):
            while not await sync_to_async(so)():  # noqa: ASYNC110 - a database sends no events
                await asyncio.sleep(0.02)

    async def quiet(self, replies: int = 1) -> None:
        """Return once the agent has nothing more to do, after so many replies."""
        await self.until(lambda: self._is_idle(replies))

    def _is_idle(self, replies: int) -> bool:
        state = Conversation.objects.get(pk=self.key).state
        found = Message.objects.filter(conversation=self.key, role=Role.ASSISTANT)
        return (
            state == ConversationState.IDLE
            and self._took_everything()
            and found.count() >= replies
            and not found.filter(state=MessageState.STREAMING).exists()
        )

    def _took_everything(self) -> bool:
        open_states = (InboxState.QUEUED, InboxState.STARTED)
        return not Inbox.objects.filter(conversation=self.key, state__in=open_states).exists()

    def _waits_for_person(self) -> bool:
        asked = Mount.objects.filter(conversation=self.key, state=MountState.OPEN)
        return Conversation.objects.get(pk=self.key).state == ConversationState.WAITING and asked.exists()

    async def page(self) -> str:
        """Return the page's timeline and notice, with ids, times and what was dropped made alike."""
        response = await self.client.get(f"/c/{self.key}/")
        page = response.content.decode()
        return normal(page[page.index('<div id="timeline"') : page.index("<footer")])

    async def replies(self) -> list[tuple[str, str]]:
        """Return state and note of each reply."""
        found = Message.objects.filter(conversation=self.key, role=Role.ASSISTANT).order_by("position")
        return [(message.state, message.note) async for message in found]

    async def texts(self) -> list[str]:
        """Return the text of each reply."""
        found = Message.objects.filter(conversation=self.key, role=Role.ASSISTANT).order_by("position")
        return [message.text async for message in found]


def normal(page: str) -> str:
    """Return HTML with numbered ids, without times, and without what stood behind a failure."""
    ids: dict[str, str] = {}
    page = re.sub(
        r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{12,}",
        lambda found: ids.setdefault(found[0], f"id{len(ids)}"),
        page,
    )
    page = re.sub(r"<time.*?</time>", "<time>", page, flags=re.DOTALL)
    page = re.sub(r"\d{4}-\d\d-\d\dT[\d:.+]+", "when", page)
    page = re.sub(r'data-callback="[\d-]+:', 'data-callback="', page)
    page = re.sub(DROPPED, "", page, flags=re.DOTALL)
    page = re.sub(r'<div class="text"[^>]*hidden[^>]*>\s*</div>', "", page)
    return re.sub(r"\s+", " ", page)
