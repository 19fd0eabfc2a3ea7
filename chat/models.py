"""What the site remembers: conversations and everything in them, as rows.

A row that the page shows carries `changed`, the number of the frame that last changed it; a browser that says
the last number it has is brought up to date by rendering the rows with a higher one.
"""

import uuid
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from chat.runtime.states import (
    BlockKind,
    BlockState,
    ConversationState,
    InboxKind,
    InboxState,
    MessageState,
    MountState,
    ProgramKind,
    Role,
    StatementState,
    WaitKind,
    WaitState,
)


def choices(states: type[StrEnum]) -> list[tuple[str, str]]:
    """Return the (value, label) pairs of a string enum, for a model field."""
    return [(state.value, state.value) for state in states]


class Conversation(models.Model):
    """A conversation of one owner with the agent."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conversations"
    )
    title = models.CharField(max_length=200, blank=True)
    state = models.CharField(
        max_length=10, choices=choices(ConversationState), default=ConversationState.IDLE
    )
    created = models.DateTimeField(auto_now_add=True)
    updated = models.DateTimeField(auto_now_add=True, db_index=True)
    seq = models.PositiveBigIntegerField(default=0, help_text=_("number of the last frame"))
    lease = models.CharField(max_length=64, blank=True, help_text=_("token of the runner that drives it"))
    lease_until = models.DateTimeField(null=True, blank=True, db_index=True)
    namespace = models.JSONField(
        default=dict, blank=True, help_text=_("targets, timers and counters of its code")
    )

    class Meta:
        ordering = ["-updated"]
        indexes = [models.Index(fields=["owner", "-updated"]), models.Index(fields=["state"])]

    def __str__(self) -> str:
        return self.title or str(_("New conversation"))

    def get_absolute_url(self) -> str:
        return reverse("conversation", args=[self.pk])

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Delete it with all that belongs to it. A runner that saves meanwhile waits, and finds it gone."""
        with transaction.atomic():  # around the search for what belongs to it, or that misses what comes then
            Conversation.objects.select_for_update().filter(pk=self.pk).first()
            return super().delete(*args, **kwargs)


class Message(models.Model):
    """One user message, one reply of the model, or the feedback that went back to it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="messages")
    position = models.PositiveIntegerField()
    role = models.CharField(max_length=10, choices=choices(Role))
    state = models.CharField(max_length=10, choices=choices(MessageState), default=MessageState.DONE)
    text = models.TextField(blank=True, help_text=_("what was written, exactly"))
    reasoning = models.TextField(blank=True)
    note = models.TextField(blank=True, help_text=_("what the page says about its state"))
    interaction = models.PositiveIntegerField(default=0, help_text=_("counts the user's messages"))
    turn = models.PositiveIntegerField(default=0, help_text=_("counts the model calls of one interaction"))
    model = models.CharField(max_length=200, blank=True)
    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    created = models.DateTimeField()
    first_token = models.DateTimeField(null=True, blank=True)
    finished = models.DateTimeField(null=True, blank=True)
    appeared = models.PositiveBigIntegerField(default=0)
    changed = models.PositiveBigIntegerField(default=0)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["conversation", "position"], name="message_position")]

    def __str__(self) -> str:
        return f"{self.role} {self.position}"


class Block(models.Model):
    """A text, run or data part of a reply."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="blocks")
    position = models.PositiveIntegerField(help_text=_("counts all blocks of the reply"))
    index = models.PositiveIntegerField(null=True, blank=True, help_text=_("counts its run and data blocks"))
    kind = models.CharField(max_length=10, choices=choices(BlockKind))
    state = models.CharField(max_length=10, choices=choices(BlockState), default=BlockState.QUEUED)
    source = models.TextField(blank=True)
    target = models.CharField(max_length=200, blank=True)
    error = models.TextField(blank=True, help_text=_("what is wrong with its data or its fence"))
    closed = models.BooleanField(default=False, help_text=_("its end has arrived"))
    complete = models.BooleanField(default=False, help_text=_("it ended with its closing line"))

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["message", "position"], name="block_position")]

    def __str__(self) -> str:
        return f"{self.kind} block {self.position}"


class Piece(models.Model):
    """A part of a block's source that streamed in; joined into the block when it closes.

    Kept apart so that saving a growing text costs what was added, not the whole text again.
    """

    block = models.ForeignKey(Block, on_delete=models.CASCADE, related_name="pieces")
    text = models.TextField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.text


class Statement(models.Model):
    """One statement of a run block, or one run of a callback, with what came of it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="statements")
    block = models.ForeignKey(
        Block, on_delete=models.CASCADE, null=True, blank=True, related_name="statements"
    )
    kind = models.CharField(max_length=10, choices=choices(ProgramKind), default=ProgramKind.STATEMENT)
    position = models.PositiveIntegerField()
    line = models.PositiveIntegerField(default=1)
    source = models.TextField(blank=True)
    state = models.CharField(max_length=10, choices=choices(StatementState), default=StatementState.QUEUED)
    output = models.TextField(blank=True)
    error = models.TextField(blank=True)
    notes = models.TextField(blank=True, help_text=_("errors beside it: of callbacks and of mounts' ui"))
    calls = models.JSONField(default=list, blank=True, help_text=_("host calls that were made"))
    started = models.DateTimeField(null=True, blank=True)
    finished = models.DateTimeField(null=True, blank=True)
    reported = models.BooleanField(default=False, help_text=_("the model was told what came of it"))

    class Meta:
        ordering = ["position"]
        indexes = [models.Index(fields=["state"])]

    def __str__(self) -> str:
        return f"{self.kind} {self.position}"


class Mount(models.Model):
    """A user interface in the chat."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="mounts")
    number = models.PositiveIntegerField(help_text=_("m<number> is its name for code and page"))
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="mounts")
    block = models.ForeignKey(Block, on_delete=models.CASCADE, null=True, blank=True, related_name="mounts")
    tree = models.JSONField()
    state = models.CharField(max_length=10, choices=choices(MountState), default=MountState.OPEN)
    live = models.BooleanField(default=False, help_text=_("its ui is a function"))
    keeps = models.BooleanField(default=False, help_text=_("it has on_submit, so it stays a form"))
    answers = models.JSONField(null=True, blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    answered_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True)
    created = models.DateTimeField()
    changed = models.PositiveBigIntegerField(default=0)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["conversation", "number"], name="mount_number")]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The id that code and page know it by, such as `m3`."""
        return f"m{self.number}"

    @property
    def token(self) -> str:
        """Changes with each answer, so that a submit of an older state can be told."""
        return self.answered_at.isoformat() if self.answered_at else ""


class Wait(models.Model):
    """A suspended program's wait for a person, a time or an approval; settled once."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="waits")
    statement = models.ForeignKey(Statement, on_delete=models.CASCADE, related_name="waits")
    call = models.PositiveBigIntegerField(help_text=_("the host call that waits"))
    kind = models.CharField(max_length=10, choices=choices(WaitKind))
    mount = models.ForeignKey(Mount, on_delete=models.CASCADE, null=True, blank=True, related_name="waits")
    wait = models.CharField(
        max_length=40, help_text=_("the code's own name for it, kept when it waits again")
    )
    arguments = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=10, choices=choices(WaitState), default=WaitState.OPEN)
    deadline = models.DateTimeField(null=True, blank=True)
    created = models.DateTimeField()
    settled = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created"]
        indexes = [  # of open waits only: the others are many, and nobody looks for their ends
            models.Index(fields=["deadline"], condition=models.Q(settled=None), name="wait_open_deadline")
        ]

    def __str__(self) -> str:
        return f"{self.kind} wait {self.pk}"


class Snapshot(models.Model):
    """The saved state of a conversation's sandbox: its namespace, or a suspended program."""

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="snapshots")
    suspended = models.BooleanField(default=False)
    version = models.CharField(max_length=100)
    data = models.BinaryField()
    signature = models.CharField(max_length=64)
    saved = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["conversation", "suspended"], name="snapshot_kind")]

    def __str__(self) -> str:
        return "suspended program" if self.suspended else "namespace"


class Inbox(models.Model):
    """What reached a conversation from outside, in the order in which it came."""

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="inbox")
    key = models.UUIDField(help_text=_("made by the client, so that a repeat is harmless"))
    kind = models.CharField(max_length=10, choices=choices(InboxKind))
    payload = models.JSONField(default=dict, blank=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    state = models.CharField(max_length=10, choices=choices(InboxState), default=InboxState.QUEUED)
    created = models.DateTimeField(auto_now_add=True)
    settled = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "inbox"
        constraints = [models.UniqueConstraint(fields=["conversation", "key"], name="inbox_key")]
        indexes = [
            models.Index(fields=["conversation", "state", "id"]),
            # What waits to be handled, in all conversations: few rows of very many.
            models.Index(fields=["conversation"], condition=models.Q(settled=None), name="inbox_unsettled"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


def upload_path(upload: "Upload", filename: str) -> str:
    """Return where a file is kept; the user's file name never becomes part of a path."""
    return f"uploads/{upload.conversation_id}/{upload.pk}"


class Upload(models.Model):
    """A file that belongs to one conversation and is served to its owner only."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="uploads")
    file = models.FileField(upload_to=upload_path, max_length=200)
    name = models.CharField(max_length=255)
    content_type = models.CharField(max_length=100)
    size = models.PositiveBigIntegerField()
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created"]

    def __str__(self) -> str:
        return self.name


class Memory(models.Model):
    """Something the agent noted about a user, kept over conversations."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memories")
    key = models.CharField(max_length=200)
    value = models.JSONField()
    updated = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["key"]
        verbose_name_plural = "memories"
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="memory_key")]

    def __str__(self) -> str:
        return self.key
