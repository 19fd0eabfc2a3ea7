"""Kills the server at random moments of replies, starts it again, and checks what must hold.

- No statement runs twice: each counts in the user's memory, under a name of its own.
- A statement that was cut is reported to the model as cut, with what is known of its calls.
- What a page had shown is still shown.

`CRASHES=50` does so fifty times, `CRASH_SEED=<number>` at the same moments as another run.
"""

import asyncio
import contextlib
import json
import os
import random
import re
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from websockets.exceptions import WebSocketException

from tests.clients import Session, confirm, seq_of
from tests.crash.shown import texts
from tests.live import Site
from tests.provider import END, Pause, Provider, Request, Script, Step, chunk, pieces

CRASHES = int(os.environ.get("CRASHES", "4"))
SEED = int(os.environ.get("CRASH_SEED", "20"))
REPLIES = Path(__file__).parent.parent / "replies"
GOLDEN = ("02-form", "03-data", "04-callback", "05-slots", "06-error", "07-wizard", "09-progress")
TALKS = 4  # conversations at a time: each death hits all of them
REPLY_SECONDS = 1.5  # that a reply streams for
LATEST_DEATH = 3.0  # seconds after the start; some replies are over by then, or wait
SETTLE_SECONDS = 60.0
CHANGE = 'await memory_set("{name}", (await memory_get("{name}", 0)) + 1)'
DESCRIBED = {
    "conversation": "state, lease, lease_until, seq",
    "message": "position, role, state, note, finished",
    "statement": "position, kind, state, source, error, calls",
    "wait": "kind, state, deadline",
    "inbox": "kind, state, payload",
    "snapshot": "suspended, version",
}
COUNTED = re.compile(r'memory_set\("([^"]+)"')
ANSWERS: dict[str, str] = {"NumberField": "7", "CheckboxGroup": "red", "Checkbox": "on"}


def golden(name: str) -> str:
    """Return a golden reply as the model would write it."""
    text = (REPLIES / f"{name}.md").read_text()
    return re.sub(r"<!--.*?-->\s*", "", text, count=1, flags=re.DOTALL)


def counting(text: str, talk: str) -> str:
    """Return a reply whose run blocks count that they run: first, in a slow statement, and last."""
    blocks = 0

    def counted(match: re.Match[str]) -> str:
        nonlocal blocks
        blocks += 1
        before = CHANGE.format(name=f"{talk}-{blocks}-before")
        after = CHANGE.format(name=f"{talk}-{blocks}-after")
        during = CHANGE.format(name=f"{talk}-{blocks}-during")
        before += f"\nif True:\n    {during}\n    await sleep(0.8)"
        return f"{match[1]}{before}\n{match[2]}{after}\nprint('end of block {blocks}')\n{match[3]}"

    return re.sub(r"(?ms)^(```python agent\.run\n)(.*?)^(```)", counted, text)


def slowly(text: str) -> Script:
    """Return the script of a reply that streams at a natural rate."""
    parts = pieces(text, 12)
    pause = Pause(REPLY_SECONDS / len(parts))
    steps: list[Step] = [chunk({"role": "assistant", "content": ""})]
    for part in parts:
        steps += [chunk({"content": part}), pause]
    return Script([*steps, chunk({}, "stop"), END])


def answer(request: Request) -> Script:
    """Return what the model says: the reply that the user asks for, and a short word to each feedback."""
    last = request.messages[-1]["content"]
    wanted = re.search(r"play (\S+) as (\S+)$", last.strip())
    if "[feedback]" in last or wanted is None:
        return slowly("I have **seen** that.\n\nIt is noted.\n")
    return slowly(counting(golden(wanted[1]), wanted[2]))


@dataclass
class Talk:
    """A conversation: its id, and what its page has shown."""

    conversation: str
    name: str
    seen: dict[str, str] = field(default_factory=dict)
    have: int = 0

    async def watch(self, session: Session) -> None:
        """Take frames until the server dies, as a page would."""
        page = await asyncio.to_thread(session.get, f"/c/{self.conversation}/")
        self.seen |= texts(page)
        self.have = seq_of(page)
        async with session.socket(self.conversation, self.have) as socket:
            told = asyncio.create_task(confirm(socket, lambda: self.have))
            try:
                async for text in socket:
                    frame = json.loads(text)
                    self.have = frame.get("n", self.have)
                    self.seen |= texts(frame["content"])
            finally:
                told.cancel()


class Database:
    """The site's database, read beside it."""

    def __init__(self, data: Path) -> None:
        (self.path,) = data.glob("*.sqlite3")

    def rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        with contextlib.closing(sqlite3.connect(self.path, timeout=30)) as connection:
            connection.row_factory = sqlite3.Row
            return connection.execute(query, values).fetchall()

    def state(self, talk: Talk) -> str:
        return str(self.rows("SELECT state FROM chat_conversation WHERE id = ?", pk(talk))[0]["state"])

    def queued(self, talk: Talk) -> int:
        query = "SELECT id FROM chat_inbox WHERE conversation_id = ? AND state = 'queued'"
        return len(self.rows(query, pk(talk)))

    def form(self, talk: Talk) -> tuple[int, dict[str, Any]] | None:
        """Return number and tree of the mount that code waits for."""
        found = self.rows(
            "SELECT m.number, m.tree FROM chat_wait w JOIN chat_mount m ON m.id = w.mount_id "
            "WHERE w.conversation_id = ? AND w.state = 'open'",
            pk(talk),
        )
        return (found[0]["number"], json.loads(found[0]["tree"])) if found else None

    def statements(self, talk: Talk) -> list[sqlite3.Row]:
        return self.rows("SELECT * FROM chat_statement WHERE conversation_id = ?", pk(talk))

    def feedback(self, talk: Talk) -> str:
        query = "SELECT text FROM chat_message WHERE conversation_id = ? AND role = 'feedback'"
        return "\n".join(row["text"] for row in self.rows(query, pk(talk)))

    def describe(self, talk: Talk) -> str:
        """Return what is known of a conversation that does not come to rest."""
        words = [talk.name]
        for table, columns in DESCRIBED.items():
            key = "id" if table == "conversation" else "conversation_id"
            rows = self.rows(f"SELECT {columns} FROM chat_{table} WHERE {key} = ?", pk(talk))
            words += [f"  {table}: {dict(row)}" for row in rows]
        return "\n".join(words)

    def counts(self) -> dict[str, int]:
        return {row["key"]: json.loads(row["value"]) for row in self.rows("SELECT * FROM chat_memory")}


def pk(talk: Talk) -> str:
    return UUID(talk.conversation).hex


def nodes(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield tree
    for child in tree.get("n", []):
        yield from nodes(child)


def fill_in(session: Session, database: Database, talk: Talk) -> None:
    """Submit the form that code waits for."""
    found = database.form(talk)
    if found is None:
        return
    number, tree = found
    fields = {
        f"f-{node['p']['name']}": ANSWERS.get(
            node["c"], node["p"]["options"][0] if "options" in node["p"] else "Ada"
        )
        for node in nodes(tree)
        if "name" in node.get("p", {})
    }
    body = session.get(f"/c/{talk.conversation}/")
    token = re.search(rf'id="mount-m{number}".*?name="token" value="([^"]*)"', body, re.DOTALL)
    status, _, _ = session.post(
        f"/c/{talk.conversation}/m/m{number}/submit/", form_name="", token=token[1] if token else "", **fields
    )
    assert status == 204, f"the form of {talk.name} was answered with {status}"


def settle(session: Session, database: Database, talks: list[Talk]) -> None:
    """Answer what is asked until every conversation is quiet."""
    give_up = time.monotonic() + SETTLE_SECONDS
    left = list(talks)
    while left:
        assert time.monotonic() < give_up, "\n".join(map(database.describe, left))
        for talk in list(left):
            match database.state(talk):
                case "waiting" if not database.queued(talk):
                    fill_in(session, database, talk)
                case "idle" if not database.queued(talk):
                    left.remove(talk)
        time.sleep(0.1)


def check(session: Session, database: Database, talk: Talk) -> dict[str, int]:
    """Check the laws for one conversation; returns how many statements are in which state."""
    counts = database.counts()
    feedback = database.feedback(talk)
    states: dict[str, int] = {}
    for row in database.statements(talk):
        state = row["state"]
        states[state] = states.get(state, 0) + 1
        assert state in ("done", "failed", "cut", "dropped"), (talk.name, row["source"], state)
        calls = json.loads(row["calls"])
        if found := COUNTED.search(row["source"]):
            happened = counts.get(found[1], 0)
            known = [call["name"] for call in calls].count("memory_set")
            allowed = {"done": {1}, "cut": {0, 1}, "dropped": {0}, "failed": {0}}[state]
            assert happened in allowed, (talk.name, row["source"], state, happened)
            assert happened <= known, (talk.name, row["source"], state, calls)
        if state == "cut":
            assert "cut off in the middle by a restart" in row["error"]
            assert row["error"] in feedback, (talk.name, row["error"], feedback)
            for call in calls:
                assert f"{call['name']}() {call['state']}" in row["error"]
    for line in re.findall(r"end of block \d+", feedback):
        assert feedback.count(line) == 1, (talk.name, feedback)
    check_shown(texts(session.get(f"/c/{talk.conversation}/")), talk)
    return states


def check_shown(after: dict[str, str], talk: Talk) -> None:
    """Check that a page still shows what it had shown: it may show more."""
    for name, text in talk.seen.items():
        if re.fullmatch(r"b[0-9a-f]{32}-\d+", name):  # a piece of text
            assert after.get(name, "").startswith(text.rstrip("*`_ ")), (
                talk.name,
                name,
                text,
                after.get(name),
            )
        elif re.fullmatch(r"message-[0-9a-f]{32}|b[0-9a-f]{32}|mount-m\d+|s[0-9a-f]{32}", name):
            assert name in after, (talk.name, name, text)
        if re.fullmatch(r"s[0-9a-f]{32}", name) and (found := re.search(r"Output (end of block \d+)", text)):
            assert found[1] in after[name], (talk.name, name, text)


async def until_the_death(session: Session, talks: list[Talk], site: Site, seconds: float) -> None:
    """Watch all pages, and kill the server after some time."""
    watching = [asyncio.create_task(talk.watch(session)) for talk in talks]
    await asyncio.sleep(seconds)
    await asyncio.to_thread(site.kill)
    for result in await asyncio.gather(*watching, return_exceptions=True):
        if result is not None and not isinstance(result, OSError | WebSocketException):
            raise result


@pytest.mark.timeout(60 + CRASHES * 90)
async def test_deaths_at_random_moments(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    totals: dict[str, int] = {}
    with Provider() as provider:
        provider.answer = answer
        variables = {"OPENAI_BASE_URL": provider.base_url, "OPENAI_API_KEY": "none", "OPENAI_MODEL": "m"}
        site = Site(tmp_path, **variables).start()
        session = Session(lambda: site.port)
        await asyncio.to_thread(session.log_in, site.username, site.password)
        database = Database(tmp_path)
        try:
            for number in range(CRASHES):
                names = chance.sample(GOLDEN, TALKS)
                talks = []
                for name in names:
                    talk = f"{number}-{name}"
                    key = await asyncio.to_thread(session.start, f"play {name} as {talk}")
                    talks.append(Talk(key, talk))
                moment = chance.uniform(0, LATEST_DEATH)
                print(f"death {number} after {moment:.2f} s of {names}")  # noqa: T201
                await until_the_death(session, talks, site, moment)
                site = await asyncio.to_thread(Site(tmp_path, port=site.port, **variables).start)
                await asyncio.to_thread(settle, session, database, talks)
                for each in talks:
                    for state, count in check(session, database, each).items():
                        totals[state] = totals.get(state, 0) + count
                print("  in all:", totals)  # noqa: T201
        finally:
            site.kill()
            print(site.output)  # noqa: T201
            log = [line for line in site.lines if "ERROR" in line or "Traceback" in line]
    assert not log, site.output
    assert totals.get("cut"), "no statement was cut: the moments are not what they should be"
    assert totals.get("done"), totals
