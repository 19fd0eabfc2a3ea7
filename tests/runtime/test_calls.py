"""The record of a program's skill calls."""

from chat.runtime.calls import ARGUMENT_CHARS, entry, summary, with_entry
from chat.sandbox.monty import MontySandbox
from tests.runtime.harness import Talk, run


def test_arguments_are_shown_as_they_were_written_and_cut() -> None:
    assert entry("memory_set", ["a", 1], {"more": True})["args"] == "'a', 1, more=True"
    assert len(entry("fetch", ["x" * 10_000], {})["args"]) <= ARGUMENT_CHARS + 1


def test_all_calls_are_counted_and_the_running_ones_kept() -> None:
    first = entry("memory_set", ["first"], {})  # takes longer than all others
    calls = with_entry([], first, 10)
    for number in range(1_000):
        new = entry("memory_set" if number % 2 else "now", [number], {})
        calls = with_entry(calls, new, 10)
        new["state"] = "done"
    assert len(calls) <= 12
    assert first in calls
    assert summary(calls) == "now() done 500 times, memory_set() done 500 times, memory_set() started"
    assert calls[-1]["args"] == "999"


async def test_every_call_that_changes_the_world_is_known_after_a_crash(sandbox: MontySandbox) -> None:
    code = 'for n in range(300):\n    await memory_set("n", n)\nawait now()'
    talk = Talk(sandbox, run(code))
    talk.say()
    talk.skills.hangs_after = 250
    await talk.crash_in(lambda: talk.skills.hanging, *talk.mailbox.items.values())
    talk.skills.hangs_after = None
    await talk.recovered()
    assert len(talk.skills.done) == 250
    assert "memory_set() done 250 times, memory_set() started" in talk.feedback[0]
