"""More conversations than workers: those that only sleep or listen make room for those that run."""

import asyncio

import pytest

from chat.runtime.limits import Limits
from chat.runtime.records import Block
from chat.runtime.states import InboxKind
from chat.sandbox.limits import SandboxLimits
from chat.sandbox.monty import MontySandbox
from tests.runtime.harness import Talk, make_sandbox, run

POLL = "d = Data(n=0)\nwhile True:\n    await sleep(0.05)\n    d.n += 1"


@pytest.mark.parametrize("end", [f"{run(POLL)}", run("x = 1") + "§gate§ more"], ids=["polls", "streams"])
async def test_others_get_a_worker(end: str) -> None:
    sandbox = make_sandbox(SandboxLimits(max_processes=1))
    long = Talk(sandbox, end, limits=Limits(linger_seconds=30))
    long.model.gates["gate"] = asyncio.Event()
    long.say()
    working = asyncio.create_task(long.work())
    await long.until(lambda: any(statement.state == "done" for statement in long.store.statements))
    for _ in range(2):
        other = Talk(sandbox, run("print('had my turn')"), "Good.")
        other.say()
        await other.work()
        await other.agent.close()
        assert other.feedback == ["had my turn"]
    long.put(InboxKind.STOP)
    await working
    await long.agent.close()
    await sandbox.close()


DATA = """```json agent.data => "films"
["Solaris", "Dune"]
```
"""


async def test_data_that_was_shown_is_kept(sandbox: MontySandbox) -> None:
    """Whoever takes the worker, or the process, after a data block: its value is there for what follows."""
    films = 'films = StreamedData("films")\nmount(lambda: Text(f"{len(films.value or [])} films"))'
    talk = Talk(sandbox, run(films) + DATA + "§gate§", run("print(films.value)"), "Good.")
    talk.model.gates["gate"] = asyncio.Event()
    talk.say()
    working = asyncio.create_task(talk.work())
    await talk.until(lambda: any(b.kind == "data" and b.state == "done" for b in talk.store.all(Block)))
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    await talk.restart()
    assert "['Solaris', 'Dune']" in talk.feedback[-1]
    assert "2 films" in talk.text()
