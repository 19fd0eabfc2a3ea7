"""The mounts of a conversation: made, updated and closed by its code, answered by its user."""

import json
from typing import Any
from uuid import UUID

from chat.runtime.limits import Limits
from chat.runtime.records import InboxItem, Mount
from chat.runtime.states import MountState
from chat.runtime.store import Store
from chat.ui.nodes import (
    InvalidTree,
    Node,
    TreeLimits,
    callbacks,
    form_names,
    parse_tree,
    stored_tree,
    to_json,
)

# The first line of a mount's error is for people, what follows are details for who wants them.
FAILED = "Something in this interface failed. It shows what it showed before."


class Board:
    """All mounts by name. Trees from the sandbox are validated before they become part of a mount."""

    def __init__(self, store: Store, limits: Limits, mounts: list[Mount]) -> None:
        self.store = store
        self.limits = limits
        self.mounts = {mount.name: mount for mount in mounts}
        self._trees = TreeLimits(nodes=limits.nodes, characters=limits.tree_chars)

    @property
    def live(self) -> list[Mount]:
        """The open mounts whose ui is a function, to be rendered again after each step."""
        return [m for m in self.mounts.values() if m.live and m.state is not MountState.CLOSED]

    def create(
        self, tree: Node, *, message_id: UUID, block_id: UUID | None, live: bool = False, keeps: bool = False
    ) -> Mount:
        """Add a mount at a place in the chat; raises InvalidTree when there are too many."""
        if len(self.mounts) >= self.limits.mounts:
            raise InvalidTree(
                f"This conversation has {len(self.mounts)} mounts, the most that are allowed. "
                "Change an existing mount: give it a function as ui, or a Slot."
            )
        conversation = self.store.conversation
        number = conversation.namespace.get("mounts", 0) + 1
        conversation.namespace = {**conversation.namespace, "mounts": number}
        mount = Mount(
            conversation_id=conversation.id,
            number=number,
            message_id=message_id,
            block_id=block_id,
            created=self.store.now(),
            tree=to_json(tree),
            live=live,
            keeps=keeps,
        )
        self.mounts[mount.name] = mount
        self.store.add(mount)
        self.store.touch(conversation)
        return mount

    def parse(self, tree_json: str) -> Node:
        """Return the tree that code sent; raises InvalidTree with what is wrong and what is accepted."""
        if len(tree_json) > self.limits.tree_chars:
            raise InvalidTree(
                f"The ui is {len(tree_json):,} characters long as data, at most {self.limits.tree_chars:,} "
                "are accepted. Show fewer rows, or a page of them."
            )
        try:
            value = json.loads(tree_json)
        except (ValueError, RecursionError) as error:
            raise InvalidTree(f"The ui can't be read: {error}. Use plain values as props.") from error
        return self.read(value)

    def read(self, value: Any) -> Node:
        """Return the tree in plain data; raises InvalidTree."""
        return parse_tree(value, self._trees)

    def update(self, name: str, tree: Node) -> None:
        """Show another tree in a mount of the code."""
        self.show(self.get(name), tree)

    def show(self, mount: Mount, tree: Node) -> None:
        """Show another tree in a mount."""
        new = to_json(tree)
        if new != mount.tree or mount.error:
            mount.tree = new
            mount.error = ""
            self.store.touch(mount)

    def ask(self, tree: Node, *, message_id: UUID, block_id: UUID | None) -> Mount:
        """Add a card of the site's own, out of the code's reach; raises InvalidTree as `create` does."""
        mount = self.create(tree, message_id=message_id, block_id=block_id)
        conversation = self.store.conversation
        cards = [*conversation.namespace.get("cards", []), mount.name]
        conversation.namespace = {**conversation.namespace, "cards": cards}
        return mount

    def is_card(self, name: str) -> bool:
        """Whether a mount is a card of the site's own, which code can neither change nor close nor await."""
        return name in self.store.conversation.namespace.get("cards", [])

    def get(self, name: str) -> Mount:
        """Return a mount of the code; raises InvalidTree naming the known ones."""
        if name not in self.mounts or self.is_card(name):
            known = ", ".join(filter(lambda known: not self.is_card(known), self.mounts)) or "none yet"
            raise InvalidTree(f"There is no mount {name!r} in this conversation. Known mounts: {known}.")
        return self.mounts[name]

    def take_renders(self, renders_json: str) -> list[str]:
        """Take what ui functions returned during a program; returns their errors, for the model."""
        errors = []
        for name, tree, *failure in json.loads(renders_json) if renders_json else []:
            if failure and failure[0]:
                errors.append(self.fail(name, str(failure[0])))
                continue
            try:
                self.update(name, parse_tree(tree, self._trees))
            except InvalidTree as error:
                errors.append(self.fail(name, str(error)))
        return [error for error in errors if error]

    def fail(self, name: str, error: str) -> str:
        """Show that a ui function failed, with the last good picture kept; returns the words for the model.

        Returns an empty string when the model has been told the same already.
        """
        is_new = self.warn(self.get(name), f"{FAILED}\n{error}")
        return f"The ui function of mount {name} failed: {error}" if is_new else ""

    def warn(self, mount: Mount, error: str) -> bool:
        """Show an error at a mount; returns whether it is new."""
        if mount.error == error:
            return False
        mount.error = error
        self.store.touch(mount)
        return True

    def needs_code(self, mount: Mount) -> bool:
        """Whether there is code behind a mount: it changes by itself, or something can be pressed in it."""
        tree = stored_tree(mount.tree)
        return mount.live or mount.keeps or bool(callbacks(tree) or form_names(tree))

    def has_callback(self, name: str, callback: str) -> bool:
        """Whether the mount's present tree offers this callback."""
        mount = self.mounts.get(name)
        if mount is None or mount.state is MountState.CLOSED:
            return False
        return callback in callbacks(stored_tree(mount.tree))

    def behind(self, where: str) -> Mount | None:
        """Return the mount of that name, or the one whose tree has that callback."""
        if where in self.mounts and not self.is_card(where):
            return self.mounts[where]
        return next((mount for name, mount in self.mounts.items() if self.has_callback(name, where)), None)

    def takes(self, mount: Mount, item: InboxItem) -> bool:
        """Whether a submit still counts: not one of a form that was answered since, in another tab say."""
        if mount.state is MountState.CLOSED:
            return False
        return mount.keeps or item.payload.get("token", mount.token) == mount.token

    def answer(self, mount: Mount, values: dict[str, Any], user_id: int | None) -> None:
        """Record a submit; the mount turns into a summary unless it stays a form."""
        mount.answers = values
        mount.answered_by_id = user_id
        mount.answered_at = self.store.now()
        if not mount.keeps:
            mount.state = MountState.SUBMITTED
        self.store.touch(mount)

    def set_state(self, mount: Mount, state: MountState) -> None:
        """Change whether a mount can be answered."""
        if mount.state is not state:
            mount.state = state
            self.store.touch(mount)
