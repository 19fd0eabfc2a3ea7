"""The code of the golden replies runs, with a host in place of people and skills."""

import json
import re
from pathlib import Path

import pytest

from chat.sandbox.base import Finished, Session
from chat.sandbox.prelude import entry_callback, entry_renders, entry_stream
from tests.sandbox.scripted import ScriptedHost, has, nodes, play, texts

pytestmark = pytest.mark.asyncio(loop_scope="session")

REPLIES = Path(__file__).parent.parent / "replies"
RUN = re.compile(r"^```python agent\.run\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(name: str) -> list[str]:
    text = (REPLIES / f"{name}.md").read_text()
    if name == "08-markdown-in-code":  # the fence in its string hides the end from this simple pattern
        return [text.split("agent.run\n", 1)[1].rsplit("```", 1)[0]]
    return RUN.findall(text)


@pytest.mark.parametrize(
    "name", [path.stem for path in sorted(REPLIES.glob("*.md")) if path.stem[0].isdigit()]
)
async def test_every_block_runs_or_fails_as_told(session: Session, host: ScriptedHost, name: str) -> None:
    for code in blocks(name):
        failure = await play(session, host, code)
        if name == "06-error":
            assert failure is not None
            assert failure.line == 2
            assert "'titel'" in failure.message
            assert "did you mean title?" in failure.message
            assert list(host.trees) == ["m1"]
            break
        assert failure is None, failure.text()
        if name == "03-data":
            assert await session.run(*entry_stream("films", "[]", complete=True)) == Finished("done")


async def test_the_booking_waits_and_prints(session: Session, host: ScriptedHost) -> None:
    host.events = [{"t": "value", "v": {"name": "Ada", "guests": 2, "time": "18:00", "terrace": False}}]
    assert await play(session, host, blocks("02-form")[0]) is None
    assert host.output == "booked {'name': 'Ada', 'guests': 2, 'time': '18:00', 'terrace': False}\n"


async def test_streamed_rows_reach_the_table(session: Session, host: ScriptedHost) -> None:
    first, last = blocks("03-data")
    assert await play(session, host, first) is None
    assert host.targets == ["films"]
    for rows in ([], [{"name": "Dune"}], [{"name": "Dune"}, {"name": "Solaris"}]):
        done = await session.run(*entry_stream("films", json.dumps(rows), complete=len(rows) == 2))
        assert done == Finished("done")
        drawn = await session.run(*entry_renders())
        assert isinstance(drawn, Finished)
        host.rendered(drawn.value)
        assert texts(host.trees["m1"]) == [f"{len(rows)} films so far"]
    assert await play(session, host, last) is None
    assert host.trees["m1"]["p"]["title"] == "Films (2)"
    assert has(host.trees["m1"], "Badge")


async def test_clicks_change_the_counter_without_the_model(session: Session, host: ScriptedHost) -> None:
    assert await play(session, host, blocks("04-callback")[0]) is None
    clicks = [node["p"]["on_click"] for node in nodes(host.trees["m1"]) if node["c"] == "Button"]
    for _ in range(3):
        assert await session.run(*entry_callback(clicks[1])) == Finished("done")
    await session.run(*entry_callback(clicks[2]))
    drawn = await session.run(*entry_renders())
    assert isinstance(drawn, Finished)
    host.rendered(drawn.value)
    assert host.find("m1", "Metric")["value"] == "3"
    assert host.output == "the user wants to talk about 3\n"


async def test_the_wizard_asks_until_the_answer_fits(session: Session, host: ScriptedHost) -> None:
    answers = [{"name": "Ada"}, {"n": 3}, {"n": 9}, {"n": 7}, {"colours": ["red"]}]
    host.events = [{"t": "value", "v": answer} for answer in answers]
    assert await play(session, host, blocks("07-wizard")[0]) is None
    assert host.output == "{'name': 'Ada', 'tries': 3, 'colours': ['red']}\n"


async def test_the_panel_moves_at_every_sleep(session: Session, host: ScriptedHost) -> None:
    seen = []
    host.events = [
        lambda host, call: seen.append(host.find("m1", "Progress")["value"]) or {"t": "value", "v": None}
    ] * 3
    assert await play(session, host, blocks("09-progress")[0]) is None
    assert seen == [1, 2, 3]
    assert host.output == "3 times\n"
