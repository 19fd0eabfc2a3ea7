"""Retry and Continue: one more try, once, and only where the page offers it."""

from chat.llm.base import ErrorKind, ModelError
from chat.runtime.limits import Limits
from chat.runtime.states import InboxKind, InboxState, MessageState
from chat.sandbox.monty import MontySandbox
from tests.runtime.harness import Talk

REFUSED = ModelError(ErrorKind.AUTH, "The key was refused.")


async def test_retry_calls_the_model_once_however_often_it_is_pressed(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, "", "All is well.")
    talk.model.error = REFUSED
    talk.say()
    await talk.work()
    assert [(reply.state, reply.note) for reply in talk.replies] == [("failed", "The key was refused.")]
    presses = [talk.put(InboxKind.RETRY) for _ in range(3)]
    await talk.work()
    assert [reply.state for reply in talk.replies] == ["failed", "done"]
    assert len(talk.model.calls) == 2
    assert [press.state for press in presses] == [InboxState.DONE, InboxState.WITHDRAWN, InboxState.WITHDRAWN]


async def test_retry_and_continue_without_a_reason_do_nothing(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, "Hello.")
    for kind in (InboxKind.RETRY, InboxKind.CONTINUE):
        talk.put(kind)
    await talk.work()
    talk.say()
    await talk.work()
    for kind in (InboxKind.RETRY, InboxKind.CONTINUE):
        talk.put(kind)
    await talk.work()
    assert len(talk.model.calls) == 1


async def test_the_last_turn_can_be_tried_again(sandbox: MontySandbox) -> None:
    talk = Talk(sandbox, "", "All is well.", limits=Limits(turns=1, linger_seconds=0.05))
    talk.model.error = REFUSED
    talk.say()
    await talk.work()
    talk.put(InboxKind.RETRY)
    await talk.work()
    assert [reply.state for reply in talk.replies] == [MessageState.FAILED, MessageState.DONE]
