"""What the site carries. Run on demand: `pytest tests/bench/test_load.py -s`.

A model server on loopback streams 400 characters a second into each of 1, 10, 100 and 300 conversations, and
a socket watches each of them; for 100, also with two processes on Redis (REDIS_URL_TEST). Nothing is asserted
but that all text arrived: figures depend on the machine, and server and clients use up to a core of it.
"""

# ruff: noqa: T201 - printing is what this is for

import asyncio
import itertools
import os
import re
import statistics
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from tests.clients import Session, confirm, seq_of
from tests.live import Site
from tests.provider import END, Gate, Pause, Provider, Request, Script, Step, chunk

RATE = 20  # pieces a second
SIZE = 20  # characters of a piece
STARTING = 2.0  # seconds over which the replies begin
BEGINNING = 5.0  # seconds that are counted by themselves: until then pages connect and replies begin
SECONDS = float(os.environ.get("LOAD_SECONDS", "15"))
PIECES = int(RATE * SECONDS)
MARK = re.compile(r"n(\d{6})n")  # a word like others: signs would cost the Markdown parser more
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Watched:
    """One conversation as a client sees it."""

    identity: str
    sent: list[float] = field(default_factory=list)  # when each piece left the model
    latencies: list[tuple[float, float]] = field(default_factory=list)  # of pieces, with when they left
    received: int = 0  # bytes
    frames: int = 0
    seen: int = 0  # pieces
    have: int = 0


def text_of(number: int) -> str:
    """Return a piece of ordinary text: paragraphs of about 400 characters, some of it bold."""
    mark = f"n{number:06d}n"
    end = "\n\n" if number % 20 == 19 else " "
    word = "**bold** it" if number % 7 == 3 else "some words "
    return (mark + word).ljust(SIZE - len(end), "x")[: SIZE - len(end)] + end


class Load:
    """The model's side: the same text for everybody, each piece stamped when it leaves."""

    def __init__(self) -> None:
        self.gate = Gate()
        self.watched: dict[str, Watched] = {}
        self.pieces = [chunk({"content": text_of(number)}) for number in range(PIECES)]
        self.offsets = itertools.cycle([n / 97 * STARTING for n in range(97)])

    def answer(self, request: Request) -> Script:
        found = re.search(r"load (\S+)", request.messages[-1]["content"])
        assert found
        return Script(self.steps(found[1], next(self.offsets)))

    def steps(self, name: str, offset: float) -> Iterator[Step]:
        yield chunk({"role": "assistant", "content": ""})
        yield self.gate
        watched = self.watched[name]
        begin = time.monotonic() + offset
        for number, piece in enumerate(self.pieces):
            yield Pause(max(0.0, begin + number / RATE - time.monotonic()))
            watched.sent.append(time.monotonic())
            yield piece
        yield chunk({}, "stop")
        yield END


def used(site: Site) -> float:
    """Return the processor seconds of a site's process."""
    assert site.process
    fields = Path(f"/proc/{site.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(site: Site) -> int:
    """Return the bytes of a site's process that are in memory."""
    assert site.process
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{site.process.pid}/status").read_text())
    assert found
    return int(found[1]) * 1024


async def watch(session: Session, watched: Watched, ready: asyncio.Semaphore) -> None:
    """Take the frames of a conversation until its last piece was shown."""
    watched.have = seq_of(await asyncio.to_thread(session.get, f"/c/{watched.identity}/"))
    async with session.socket(watched.identity, watched.have) as socket:
        ready.release()
        confirming = asyncio.create_task(confirm(socket, lambda: watched.have))
        with suppress(ConnectionClosed):
            async for frame in socket:
                now = time.monotonic()
                assert isinstance(frame, str)
                watched.received += len(frame.encode())
                watched.frames += 1
                if found := re.match(r'\{"n": ?(\d+)', frame):
                    watched.have = int(found[1])
                for number in map(int, MARK.findall(frame)):
                    if number >= watched.seen:
                        watched.latencies.append((watched.sent[number], now - watched.sent[number]))
                        watched.seen = number + 1
                if r"data-state=\"idle\"" in frame and watched.seen >= PIECES:
                    break
        confirming.cancel()


async def run(sites: list[Site], provider: Provider, count: int) -> str:
    load = Load()
    provider.answer = load.answer
    ports = itertools.cycle([site.port for site in sites])
    session = Session(lambda: next(ports))
    session.log_in(sites[0].username, sites[0].password)
    base = [memory(site) for site in sites]
    requests = len(provider.requests)
    for number in range(count):
        name = f"{count}-{number}"
        load.watched[name] = Watched("")
        load.watched[name].identity = await asyncio.to_thread(session.start, f"load {name}")
    await asyncio.to_thread(provider.wait_for_request, requests + count, 120)
    ready = asyncio.Semaphore(0)
    async with AsyncExitStack(), asyncio.TaskGroup() as group:
        for watched in load.watched.values():
            group.create_task(watch(session, watched, ready))
        for _ in range(count):
            await ready.acquire()
        await asyncio.sleep(1)
        before, began = sum(map(used, sites)), time.monotonic()
        load.gate.open()
        await asyncio.sleep(SECONDS * 0.9)
        held = [memory(site) for site in sites]
    lasted, spent = time.monotonic() - began, sum(map(used, sites)) - before
    everybody = list(load.watched.values())
    assert all(w.seen == PIECES for w in everybody)
    latencies = [latency for w in everybody for latency in w.latencies]
    begin = sorted(latency for sent, latency in latencies if sent < began + BEGINNING)
    then = sorted(latency for sent, latency in latencies if sent >= began + BEGINNING)
    page = session.get(f"/c/{everybody[0].identity}/")
    html = len(page[page.index('data-role="assistant"') : page.index('id="notice"')].encode())
    characters = count * PIECES * SIZE
    grown = (sum(held) - sum(base)) / count / 1024
    return (
        f"{count:>5} {len(sites):>5} {characters / lasted:>10,.0f} "
        f"{statistics.median(then) * 1000:>7.0f} {then[int(len(then) * 0.99)] * 1000:>7.0f} "
        f"{begin[int(len(begin) * 0.99)] * 1000:>7.0f} "
        f"{statistics.mean(w.received for w in everybody) / html:>7.2f} "
        f"{statistics.mean(w.frames for w in everybody) / SECONDS:>7.1f} "
        f"{grown:>8.0f} {spent / characters * 1e6:>8.2f} {spent / lasted:>6.0%}"
    )


HEAD = (
    "conv. proc.   chars/s  p50 ms  p99 ms   begin  wire/×  fps     kB/conv  ms/1000c   CPU\n"
    "(chars/s carried; from a model's piece to its frame, and its p99 while all replies begin within two\n"
    "seconds; bytes sent per byte of final HTML; memory per conversation; processor time of the site per\n"
    "1,000 characters; of one core in all)"
)


@pytest.mark.timeout(900)
async def test_load(tmp_path: Path) -> None:
    lines = []
    with Provider() as provider:
        model = {"OPENAI_BASE_URL": provider.base_url, "OPENAI_MODEL": "loopback"}
        with Site(tmp_path / "one", **model) as site:
            for count in map(int, os.environ.get("LOAD_COUNTS", "1 10 100 300").split()):
                lines.append(await run([site], provider, count))
                print("\n" + lines[-1])
        redis = os.environ.get("REDIS_URL_TEST")
        if redis:
            more = {**model, "REDIS_URL": redis}
            if database := os.environ.get("DATABASE_URL_TEST"):
                more["DATABASE_URL"] = database
            with ExitStack() as stack:
                sites = [stack.enter_context(Site(tmp_path / "two", **more)) for _ in range(2)]
                sites[1].username, sites[1].password = sites[0].username, sites[0].password
                lines.append(await run(sites, provider, 100))
    print("\n\n" + HEAD)
    print("\n".join(lines))
