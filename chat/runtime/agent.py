"""The agent of one conversation: takes what arrives, calls the model, and lets each reply take effect.

An interaction goes from a user's message, or something else that needs the model, until the agent is quiet:
each turn is one call of the model, and the feedback on its reply starts the next. `work` returns when nothing
is left to do.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

from chat.llm.base import ChatModel
from chat.runtime import feedback
from chat.runtime.board import Board
from chat.runtime.effects import Effects
from chat.runtime.history import model_messages
from chat.runtime.host import Skills
from chat.runtime.limits import Limits
from chat.runtime.mailbox import Mailbox
from chat.runtime.messages import Messages
from chat.runtime.programs import Parked, Programs, Stopped
from chat.runtime.reader import Ending, Reader
from chat.runtime.records import InboxItem, Message, Mount, Statement, Wait
from chat.runtime.reply import Reply
from chat.runtime.states import (
    BlockState,
    ConversationState,
    InboxKind,
    InboxState,
    MessageState,
    MountState,
    ProgramKind,
    Role,
    StatementState,
)
from chat.runtime.store import Store, enter
from chat.runtime.values import to_native
from chat.runtime.waits import callback_args
from chat.sandbox.base import Sandbox
from chat.sandbox.prelude import entry_callback, entry_submit, entry_tick

CUT_OFF = (
    "Your reply was cut off ({why}). What had arrived before took effect. "
    "Go on from there, without repeating it."
)
STOPPED = "You stopped this reply."
RETRY_SECONDS = 0.25


class Agent:
    """Drives one conversation, whose newest message is `last`."""

    def __init__(
        self,
        *,
        store: Store,
        mailbox: Mailbox,
        model: ChatModel,
        sandbox: Sandbox,
        skills: Skills,
        mounts: list[Mount],
        last: Message | None,
        prompt: str,
        limits: Limits,
    ) -> None:
        self.store = store
        self.mailbox = mailbox
        self.model = model
        self.limits = limits
        self.prompt = prompt
        self.messages = Messages(store, last)
        self.board = Board(store, limits, mounts)
        self.programs = Programs(store, mailbox, sandbox, self.board, skills, limits)
        self.programs.may_park = self._may_park
        self.reader: Reader | None = None
        self.unreported: list[Statement] = []  # callbacks that ran while a reply was under way
        self.watched = False  # whether a browser shows the conversation, so that its timers run

    async def work(self) -> None:
        """Handle everything that is there; returns when the agent is quiet. Raises Parked, LeaseLost."""
        while not self.mailbox.leaving:
            self.mailbox.changed.clear()
            try:
                if not await self._handle_next():
                    break
            except Stopped:  # in a callback
                self._stop_callback()
        enter(self.store, ConversationState.IDLE)
        await self.store.flush()

    async def close(self) -> None:
        """Give back what is held; what was not saved is gone."""
        if self.reader is not None:
            await self.reader.leave()
        self.programs.host.release()
        await self.programs.workspace.discard()

    def _stop_callback(self) -> None:
        """Take Stop as done; the model is not told of a callback that its user stopped."""
        self._settle_stops()
        program = self.programs.host.program
        if program is not None and program.block_id is None:
            program.reported = True
            self.store.touch(program)

    def _settle_stops(self) -> None:
        while (stop := self.mailbox.stopped) is not None:
            self.store.touch(self.mailbox.settle(stop))

    def _may_park(self) -> bool:
        timers = self.watched and self.store.conversation.namespace.get("timers")
        return not timers and (self.reader is None or self.reader.reply.ended)

    # What arrives

    async def _handle_next(self) -> bool:
        """Handle the oldest item; returns whether there was one."""
        for item in list(self.mailbox.items.values()):
            match item.kind:
                case InboxKind.STOP:
                    self.store.touch(self.mailbox.settle(item))
                case InboxKind.MESSAGE:
                    await self._user_message(item)
                case InboxKind.RETRY | InboxKind.CONTINUE:
                    await self._again(item)
                case InboxKind.SUBMIT:
                    await self._submit(item)
                case InboxKind.CALLBACK:
                    await self._callback(item)
            return True
        return await self._tick()

    async def _user_message(self, item: InboxItem) -> None:
        self._take_message(item)
        await self.interact()

    def _take_message(self, item: InboxItem) -> None:
        self.store.touch(self.mailbox.settle(item))
        message = self.messages.add(Role.USER, text=str(item.payload["text"]))
        message.interaction += 1
        message.turn = 0

    async def _again(self, item: InboxItem) -> None:
        """Take Retry or Continue, unless what it was meant for has changed meanwhile."""
        last = self.messages.last
        if last is None or not self.messages.offer(item.kind):
            self.store.touch(self.mailbox.settle(item, InboxState.WITHDRAWN))
            return
        self.store.touch(self.mailbox.settle(item))
        last.turn = 0 if item.kind is InboxKind.CONTINUE else max(0, last.turn - 1)
        last.note = ""
        self.store.touch(last)
        await self.interact()

    async def _submit(self, item: InboxItem) -> None:
        """A form that nobody waits for: its function runs, or a turn tells the model."""
        mount = self.board.mounts.get(item.payload["mount"])
        if mount is None or mount.state is MountState.SUBMITTED or not self.board.takes(mount, item):
            self.store.touch(self.mailbox.settle(item, InboxState.WITHDRAWN))
            return
        values = item.payload["values"]
        self.board.answer(mount, values, item.user_id)
        if mount.keeps:
            source, inputs = entry_submit(mount.name, to_native(values))
            await self._program(ProgramKind.SUBMIT, item, source, inputs, mount)
            return
        self.store.touch(self.mailbox.settle(item))
        title = mount.tree.get("p", {}).get("title")
        words = f" ({title!r})" if title else ""
        self.messages.add(
            Role.FEEDBACK,
            text=f"The user submitted the form of mount {mount.name}{words}: {to_native(values)!r}",
        )
        await self.interact()

    async def _callback(self, item: InboxItem) -> None:
        if not self.programs.answers.offers(item):
            self.store.touch(self.mailbox.settle(item, InboxState.WITHDRAWN))
            return
        source, inputs = entry_callback(item.payload["callback"], callback_args(item))
        mount = self.board.mounts[item.payload["mount"]]
        await self._program(ProgramKind.CALLBACK, item, source, inputs, mount)

    async def _tick(self) -> bool:
        timers = self.store.conversation.namespace.get("timers", {})
        for timer in list(self.mailbox.ticks):
            del self.mailbox.ticks[timer]
            if timer in timers:
                await self._program(ProgramKind.TICK, None, *entry_tick(timer), None, timer=timer)
                return True
        return False

    async def _meanwhile(self) -> bool:
        """Run callbacks while a reply streams and no code runs; returns whether one ran. Raises Stopped."""
        self.mailbox.changed.clear()
        if self.mailbox.stopped:
            raise Stopped
        for item in list(self.mailbox.items.values()):
            if item.kind is InboxKind.CALLBACK:
                await self._callback(item)
                return True
            if item.kind is InboxKind.SUBMIT:
                mount = self.board.mounts.get(item.payload["mount"])
                if mount is not None and mount.keeps and mount.state is MountState.OPEN:
                    await self._submit(item)
                    return True
        return await self._tick()

    # Callbacks

    async def _program(
        self,
        kind: ProgramKind,
        item: InboxItem | None,
        source: str,
        inputs: Mapping[str, Any],
        mount: Mount | None,
        *,
        timer: str = "",
    ) -> None:
        """Run a callback; a record of it stays only when there is something to tell."""
        program = Statement(
            conversation_id=self.store.conversation.id, position=0, kind=kind, state=StatementState.RUNNING
        )
        if item is not None and mount is not None:
            program.source = f"# {kind} of mount {mount.name}: {item.payload.get('callback', 'on_submit')}"
        self.store.touch(program)
        if item is not None:  # in one flush with the program, which tells a later runner how far it came
            self.store.touch(self.mailbox.settle(item))
        await self.programs.run(program, source, inputs, place=self._place(mount))
        if program.error and timer:
            self.programs.host.stop_failing(timer)
        await self.after_program(program, mount)

    async def after_program(self, program: Statement, mount: Mount | None = None) -> None:
        """Show and tell what a callback did: a failure at its mount, outputs and errors in their own turn."""
        if self.mailbox.stopped:
            raise Stopped
        errors = await self.programs.namespace.render()
        program.notes = "\n".join(filter(None, [program.notes, *errors]))
        if program.error and mount is not None:
            self.board.fail(mount.name, program.error)
        if program.quiet:
            self.store.forget(program)
        elif self.reader is None:
            await self.report([program])
        else:
            self.unreported.append(program)
        await self.store.flush()

    async def resume_callback(self, program: Statement, waits: list[Wait]) -> None:
        """Go on with a callback that waits, of an earlier process."""
        await self.programs.resume(program, waits, place=self._place(None))
        await self.after_program(program)

    async def report(self, programs: list[Statement]) -> None:
        """Start a turn that tells the model what callbacks printed and how they failed."""
        text = self._told(programs)
        if text:
            self.messages.add(Role.FEEDBACK, text=text)
            await self.interact()

    def _told(self, programs: list[Statement]) -> str:
        for program in programs:
            program.reported = True
            self.store.touch(program)
        text = "\n".join(filter(None, map(feedback.of_program, programs)))
        return feedback.shorten(text, self.limits.feedback_chars)

    def _place(self, mount: Mount | None) -> tuple[Any, Any]:
        if mount is not None:
            return (mount.message_id, None)
        message = self.messages.reply or self.messages.last
        return (message.id if message else None, None)

    # Turns

    async def interact(self) -> None:
        """Call the model, and again with the feedback on its reply, until there is none."""
        enter(self.store, ConversationState.RUNNING)
        retries = 0
        again: Message | None = None
        while self.messages.last is not None:
            if again is None and self.messages.last.turn >= self.limits.turns:
                self._pause()
                return
            if self.mailbox.leaving:
                raise Parked
            reply, ending = await self._turn(again)
            again = None
            if ending.retry and retries < self.limits.retries:
                retries += 1
                again = self._blank(reply)
                if again is None:
                    self._settle_reply(reply, ending)
                await self._pause_before_retry(ending.wait or RETRY_SECONDS * 2**retries)
                continue
            retries = 0
            text = self._settle_reply(reply, ending)
            if not text:
                return
            self._tell(text)

    async def go_on(self, reply: Reply, waits: list[Wait], why: str = "") -> None:
        """Go on with a reply of an earlier process: its suspended statement, queued effects, feedback."""
        enter(self.store, ConversationState.WAITING if waits else ConversationState.RUNNING)
        self.reader = Reader(self.store, reply)
        ending = Ending(why=why)
        block = next((b for b in reply.blocks if b.state in (BlockState.RUNNING, BlockState.WAITING)), None)
        ending = await self._effects(reply, self.reader, ending, waits if block else [])
        text = self._settle_reply(reply, ending)
        if text:
            self._tell(text)
        if text or (why and not ending.stopped and not reply.has_acted):
            await self.interact()

    def _blank(self, reply: Reply) -> Message | None:
        """Return the message for the next try, when nothing of it was shown but thoughts."""
        if reply.blocks:
            return None
        message = reply.message
        message.finished = message.first_token = None
        message.reasoning = ""
        return message

    async def _turn(self, again: Message | None) -> tuple[Reply, Ending]:
        message = again
        if message is None:
            message = self.messages.add(Role.ASSISTANT, state=MessageState.STREAMING)
            message.turn += 1
        message.model = self.model.name
        self.messages.reply = message
        reply = Reply(self.store, message)
        self.reader = Reader(self.store, reply)
        messages = model_messages(self.prompt, await self.store.history(), self.limits)
        self.reader.start(self.model, messages)
        return reply, await self._effects(reply, self.reader, Ending(), [])

    async def _effects(self, reply: Reply, reader: Reader, ending: Ending, waits: list[Wait]) -> Ending:
        effects = Effects(self.programs, reply, cut=reader.cut, meanwhile=self._meanwhile)
        try:
            if waits:
                block = next(b for b in reply.blocks if b.state is BlockState.RUNNING)
                await effects.go_on(block, waits)
            await effects.run()
            if self.mailbox.stopped:
                raise Stopped
        except Stopped:
            await reader.cut()
            reply.drop()
            self._settle_stops()
            with contextlib.suppress(Stopped):
                await effects.keep_shown()
            return Ending(stopped=True)
        except BaseException:  # parked or cancelled: another runner goes on
            await reader.leave()
            raise
        finally:
            if self.reader is reader:
                self.reader = None
        return await reader.ending() if reader.started else ending

    def _settle_reply(self, reply: Reply, ending: Ending) -> str:
        """Give the message its final state; returns the feedback for the next turn."""
        message = reply.message
        text = feedback.of_reply(reply, self.limits)
        if self.unreported:
            text = "\n".join(filter(None, [text, self._told(self.unreported)]))
            self.unreported = []
        message.state = MessageState.DONE
        if ending.stopped:
            message.state, message.note = MessageState.STOPPED, STOPPED
            text = ""
        elif ending.why:
            message.note = ending.why
            message.state = MessageState.INCOMPLETE if reply.blocks else MessageState.FAILED
            if reply.has_acted and not ending.final:
                text = "\n".join(filter(None, [text, CUT_OFF.format(why=ending.why)]))
        self.store.touch(message)
        return text

    async def _pause_before_retry(self, seconds: float) -> None:
        await self.store.flush()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.mailbox.stopped is None and not self.mailbox.leaving:
                    self.mailbox.changed.clear()
                    await self.mailbox.changed.wait()

    def _pause(self) -> None:
        assert self.messages.last is not None
        self.messages.last.note = f"The agent has used its {self.limits.turns} turns for this message."
        self.store.touch(self.messages.last)

    # Messages

    def _tell(self, text: str) -> None:
        """Add feedback for the next turn, and the message that ended the code's wait, if one did."""
        self.messages.add(Role.FEEDBACK, text=text)
        item = self.mailbox.find(lambda item: item.kind is InboxKind.MESSAGE)
        if item is not None and self.programs.answers.dismissals:
            self._take_message(item)
