"""Finds what answers the waits of the program that runs: time, people, or something to run inside a wait."""

from typing import Any
from uuid import UUID

from chat.runtime.approvals import APPROVE, decided_tree, edited, shown_values
from chat.runtime.board import Board
from chat.runtime.host import RuntimeHost
from chat.runtime.limits import Limits
from chat.runtime.mailbox import Mailbox
from chat.runtime.records import InboxItem, Mount, Wait
from chat.runtime.states import InboxKind, InboxState, MountState, WaitKind, WaitState
from chat.runtime.store import Store
from chat.runtime.values import to_native
from chat.runtime.waits import Pending, Reaction, event, occurrence, submitted
from chat.sandbox.base import Raise, Settled
from chat.ui.nodes import InvalidTree


class Answers:
    """Matches what arrives with what is waited for, and keeps the rows of waits."""

    def __init__(
        self, store: Store, mailbox: Mailbox, board: Board, host: RuntimeHost, limits: Limits
    ) -> None:
        self.store = store
        self.mailbox = mailbox
        self.board = board
        self.host = host
        self.limits = limits
        self.dismissals = 0  # of the program that runs
        self.redraw = False  # the page shows more than the code knows of, which was cut in something
        self._saved: set[UUID] = set()  # short sleeps never get a row
        self._past: list[Wait] = []  # rows of waits that the program has left behind

    def begin(self) -> None:
        """Another program runs now."""
        self.dismissals = 0
        self._past = []

    def find(self, waits: list[Pending]) -> Reaction | None:
        """Return the answer that is there for one of the waits; None when nothing is."""
        if self.redraw:
            self.redraw = False
            return Reaction({waits[0].call: event("redraw")}, inside=True)
        return self._expired(waits) or self._delivered(waits)

    def settled(self, answers: dict[int, Settled]) -> Reaction:
        """Return these answers; their calls are no longer pending."""
        for call in answers:
            self.host.pending.pop(call, None)
        return Reaction(answers)

    def dismiss(self, waits: list[Pending], text: str = "") -> Reaction:
        """Return the end of all waits, because the user said or did something else."""
        self.dismissals += 1
        item = self.mailbox.find(lambda item: item.kind is InboxKind.MESSAGE)
        said = text or (item.payload["text"] if item else "")
        for pending in waits:
            if pending.wait is not None:
                self.close(pending.wait, WaitState.DISMISSED)
            if pending.mount:
                # Nobody may approve a call that was given up; any other form may still be sent.
                approval = pending.wait is not None and pending.wait.kind is WaitKind.APPROVAL
                state = MountState.CLOSED if approval else MountState.DISMISSED
                self.board.set_state(self.board.mounts[pending.mount], state)
        if self.dismissals > self.limits.dismissals:
            ended = Raise("KeyboardInterrupt", "the code went on waiting and was ended")
            return self.settled({pending.call: ended for pending in waits})
        return self.settled({pending.call: event("dismissed", text=said) for pending in waits})

    def offers(self, item: InboxItem) -> bool:
        """Whether the callback that an item asks for is in the tree that is shown now."""
        return self.board.has_callback(item.payload["mount"], item.payload["callback"])

    # Rows

    def known(self, wait: Wait) -> None:
        """Take a wait that has a row already."""
        self._saved.add(wait.id)

    def save(self, wait: Wait) -> None:
        """Give a wait its row. It takes the place of the program's last one, so that a loop grows nothing."""
        for past in self._past:
            self.store.forget(past)
        self._past = []
        self._saved.add(wait.id)
        self.store.add(wait)

    def close(self, wait: Wait, state: WaitState) -> None:
        """Note how a wait ended."""
        wait.state = state
        wait.settled = self.store.now()
        if wait.id in self._saved:
            self._saved.discard(wait.id)
            self._past.append(wait)
            self.store.touch(wait)

    # What there is

    def _expired(self, waits: list[Pending]) -> Reaction | None:
        now = self.store.now()
        answers: dict[int, Settled] = {}
        for pending in waits:
            if pending.wait is not None and pending.deadline is not None and pending.deadline <= now:
                self.close(pending.wait, WaitState.EXPIRED)
                asleep = pending.wait.kind is WaitKind.SLEEP
                answers[pending.call] = event("value", v=None) if asleep else event("timeout")
        return self.settled(answers) if answers else None

    def _delivered(self, waits: list[Pending]) -> Reaction | None:
        """Return the answer that the oldest fitting item gives; what does not fit stays in the mailbox."""
        if self.mailbox.find(lambda item: item.kind is InboxKind.MESSAGE):
            return self.dismiss(waits)
        for item in list(self.mailbox.items.values()):
            if item.kind is InboxKind.SUBMIT and (answer := self._submit(item, waits)) is not None:
                return answer
            if item.kind is InboxKind.CALLBACK:
                if self.offers(item):
                    return self._inside(item, waits[0])
                self.store.touch(self.mailbox.settle(item, InboxState.WITHDRAWN))
        for timer in list(self.mailbox.ticks):
            del self.mailbox.ticks[timer]
            if timer in self.store.conversation.namespace.get("timers", {}):
                return Reaction({waits[0].call: event("tick", id=timer)}, inside=True)
        return None

    def _submit(self, item: InboxItem, waits: list[Pending]) -> Reaction | None:
        mount = self.board.mounts.get(item.payload["mount"])
        if mount is None or not self.board.takes(mount, item):
            self.store.touch(self.mailbox.settle(item, InboxState.WITHDRAWN))
            return None
        values = item.payload["values"]
        pending = next((p for p in waits if p.mount == mount.name and p.is_open), None)
        if pending is not None and pending.wait is not None:
            self.store.touch(self.mailbox.settle(item))
            if pending.wait.kind is WaitKind.APPROVAL:
                return self._decide(pending, pending.wait, mount, item)
            self.board.answer(mount, values, item.user_id)
            self.close(pending.wait, WaitState.ANSWERED)
            return self.settled({pending.call: submitted(values)})
        if mount.keeps:
            self.board.answer(mount, values, item.user_id)
            return self._inside(item, waits[0])
        return None  # code may still come to await it; else it starts a turn when the reply is done

    def _decide(self, pending: Pending, wait: Wait, mount: Mount, item: InboxItem) -> Reaction | None:
        name = wait.arguments["skill"]
        args, kwargs = to_native(wait.arguments["args"]), to_native(wait.arguments["kwargs"])
        info = self.host.skills.describe(name)
        approved = item.payload["form"] == APPROVE
        values: dict[str, Any] = item.payload["values"] if approved else shown_values(info, args, kwargs)
        try:
            arguments = edited(values, info, args, kwargs)
        except ValueError as error:  # the card stays, with what was entered
            self.board.warn(mount, str(error))
            return None
        self._show_decision(mount, decided_tree(name, info, args, kwargs, approved=approved))
        self.board.answer(mount, values, item.user_id)
        self.close(wait, WaitState.ANSWERED)
        if not approved:
            refusal = Raise("PermissionError", f"The user refused the call of {name}().")
            return self.settled({pending.call: refusal})
        self.host.run_skill(pending, name, *arguments)
        self.mailbox.changed.set()  # look again: this call is a running skill now
        return None

    def _show_decision(self, mount: Mount, tree: dict[str, Any]) -> None:
        try:
            self.board.show(mount, self.board.read(tree))
        except InvalidTree:  # it was just small enough before; the card as it was asked will do
            return

    def _inside(self, item: InboxItem, waiting: Pending) -> Reaction:
        started = self.mailbox.settle(item, InboxState.STARTED)
        answer = occurrence(item, item.payload["mount"])
        return Reaction({waiting.call: answer}, item=started, inside=True)
