"""A program is loaded before its answer is taken: what is taken and that code goes on are saved together."""

import pytest

from chat.runtime.records import Wait
from chat.runtime.states import InboxKind, InboxState, MountState, WaitState
from chat.sandbox.monty import MontySandbox
from tests.runtime.harness import Talk

CODE = """```python agent.run
print(await ask(Card(TextField("name"), SubmitButton("Go"))))
```
"""


class Died(BaseException):
    """The process ends here."""


async def waiting(sandbox: MontySandbox) -> Talk:
    talk = Talk(sandbox, CODE, "Thanks.")
    talk.say()
    assert await talk.work()
    return talk


async def test_a_process_that_dies_while_it_loads_the_program_loses_no_answer(sandbox: MontySandbox) -> None:
    talk = await waiting(sandbox)
    item = talk.submit("m1", name="Ada")
    load, loads = talk.store.load_snapshot, []

    async def dies(*, suspended: bool) -> bytes | None:
        loads.append(suspended)
        if len(loads) == 2:  # the first tells what the program waits for
            raise Died
        return await load(suspended=suspended)

    talk.store.load_snapshot = dies  # type: ignore[method-assign]
    with pytest.raises(Died):
        await talk.recovered(item)
    assert item.state is InboxState.QUEUED
    assert talk.store.mounts[0].state is MountState.OPEN
    assert [wait.state for wait in talk.store.all(Wait)] == [WaitState.OPEN]
    assert not await talk.recovered(item)
    assert talk.feedback == ["{'name': 'Ada'}"]


async def test_what_does_not_fit_holds_no_worker(sandbox: MontySandbox) -> None:
    talk = await waiting(sandbox)
    stale = talk.put(InboxKind.CALLBACK, mount="m1", callback="m1:gone")
    assert await talk.recovered(stale)
    assert stale.state is InboxState.WITHDRAWN
    assert talk.agent.programs.workspace.session is None
    assert not await talk.recovered(talk.submit("m1", name="Ada"))
    assert talk.feedback == ["{'name': 'Ada'}"]
