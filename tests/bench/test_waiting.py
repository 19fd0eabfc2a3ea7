"""What conversations that wait cost. Run on demand: `pytest tests/bench/test_waiting.py -s -n 0`.

One conversation is brought to its form, then copied in the database: 10 times, and WAITING (10,000) times.
Nothing is asserted but that every submit is answered, and that waiting holds neither worker nor runner:
figures depend on the machine. What should be seen: among 10,000 a submit, and the search for conversations
with something to do, cost what they cost among 10 (50 ms from the click to the changed page, 2 ms); 70 kB for
each.
"""

# ruff: noqa: T201, ASYNC110, ASYNC240 - printing is what this is for; nothing else runs while it waits

import asyncio
import os
import random
import re
import statistics
import time
from pathlib import Path

import pytest

from tests.clients import Session, seq_of
from tests.live import Site
from tests.provider import Provider, Request, Script, reply

WAITING = int(os.environ.get("WAITING", "10000"))
SUBMITS = 30
FORM = """A form.

```python agent.run
guests = []
form = mount(Card(TextField("name", label="Your name"), SubmitButton("Book"), title="Book a table"))
answer = await form.result()
guests.append(answer["name"])
print(guests)
```
"""


def answer(request: Request) -> Script:
    """Return what the model says: a form, and thanks for what was filled in."""
    return reply("Thank you." if "[feedback]" in request.messages[-1]["content"] else FORM)


@pytest.mark.timeout(1800)
async def test_waiting(tmp_path: Path) -> None:
    few = await measured(tmp_path / "few", 10)
    many = await measured(tmp_path / "many", WAITING)
    print("\nfrom few to many:", {name: f"{many[name] / few[name]:.2f} times" for name in few if few[name]})


async def measured(folder: Path, times: int) -> dict[str, float]:
    """Return the figures of a site on which so many conversations wait."""
    folder.mkdir()
    with Provider() as provider:
        provider.answer = answer
        variables = {"OPENAI_BASE_URL": provider.base_url, "OPENAI_API_KEY": "none", "OPENAI_MODEL": "m"}
        site = Site(folder, **variables)
        session = Session(lambda: site.port)
        with site:
            await asyncio.to_thread(session.log_in, site.username, site.password)
            original = await asyncio.to_thread(session.start, "a form please")
            while 'data-state="waiting"' not in await asyncio.to_thread(session.get, f"/c/{original}/"):
                await asyncio.sleep(0.1)
        small = size(folder)
        ids = site.manage(
            "shell", "-c", f"from tests.bench.waiting import clone; clone({original!r}, {times})"
        )
        conversations = re.findall(r"[0-9a-f-]{36}", ids)
        assert len(conversations) == times
        found, milliseconds = in_site(site, "look()").split()[-2:]
        assert found == "0"
        again = Site(folder, port=site.port, **variables)
        started = time.perf_counter()
        with again:
            figures = {"start_s": time.perf_counter() - started, "look_ms": float(milliseconds)}
            assert again.process is not None
            await asyncio.sleep(5)  # three looks
            assert workers(again.process.pid) == 0, "a conversation that waits holds a worker"
            figures["memory_mb"] = memory(again.process.pid)
            chosen = random.Random(1).sample(conversations, min(SUBMITS, times))
            taken = [await submitted(session, conversation) for conversation in chosen]
        figures["first_submit_ms"] = taken[0]
        figures["submit_p50_ms"] = statistics.median(taken[1:])
        figures["submit_worst_ms"] = max(taken[1:])
    print(f"\n{times} waiting conversations, {(size(folder) - small) / times / 1000:.1f} kB each:")
    print("  " + ", ".join(f"{name} {value:.1f}" for name, value in figures.items()))
    return figures


def in_site(site: Site, call: str) -> str:
    """Return what a function of `waiting.py` prints."""
    return site.manage("shell", "-c", f"from tests.bench import waiting; waiting.{call}")


async def submitted(session: Session, conversation: str) -> float:
    """Submit a form; return the milliseconds until the page has its read-only summary."""
    page = await asyncio.to_thread(session.get, f"/c/{conversation}/")
    async with session.socket(conversation, seq_of(page)) as socket, asyncio.timeout(60):
        await socket.recv()  # the queue, or what was lacking
        started = time.perf_counter()
        post = asyncio.create_task(
            asyncio.to_thread(session.post, f"/c/{conversation}/m/m1/submit/", token="", **{"f-name": "Ada"})
        )
        while 'data-state=\\"submitted\\"' not in str(await socket.recv()):
            pass
        taken = (time.perf_counter() - started) * 1000
        status, _, _ = await post
        assert status == 204
    return taken


def size(folder: Path) -> int:
    """Return the bytes of the database."""
    return sum(file.stat().st_size for file in folder.glob("*.sqlite3*"))


def workers(pid: int) -> int:
    """Return how many processes a process has started."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    return len(children.read_text().split())


def memory(pid: int) -> float:
    """Return the megabytes that a process holds."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
