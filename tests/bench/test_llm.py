"""What reading a model's stream costs. Run on demand: `pytest tests/bench/test_llm.py -s`.

Nothing is asserted: figures depend on the machine. What should be seen: below 25 µs of processor time for a
piece that is there already, and about 100 µs for one that comes by itself, mostly in the connection's layers.
"""

# ruff: noqa: T201 - printing is what this is for

import asyncio
import time

import pytest

from chat.llm import LLMSettings, ModelMessage
from chat.llm.openai import OpenAIModel
from tests.provider import END, Pause, Provider, Script, chunk, reply

HELLO = [ModelMessage("user", "Hello")]
MICRO = 1e6
SECONDS = 5
PIECE = "x" * 20


async def read(model: OpenAIModel) -> int:
    count = 0
    async with model.stream(HELLO) as stream:
        async for _ in stream:
            count += 1
    return count


async def test_pieces_that_are_there_already() -> None:
    count = 30_000
    with Provider() as provider:
        model = OpenAIModel(LLMSettings(base_url=provider.base_url, model="m"))
        provider.queue(reply("warm"), reply(PIECE * count, size=len(PIECE)))
        await read(model)
        started = time.thread_time()
        await read(model)
        used = time.thread_time() - started
    print(f"\n{used / count * MICRO:.1f} µs for each of {count} pieces")


@pytest.mark.parametrize("conversations", [1, 10, 100, 300])
async def test_pieces_that_come_by_themselves(conversations: int) -> None:
    rate = 20
    step = [chunk({"content": PIECE}), Pause(1 / rate)]
    with Provider() as provider:
        provider.answer = lambda request: Script([*step * (rate * SECONDS), chunk({}, "stop"), END])
        model = OpenAIModel(LLMSettings(base_url=provider.base_url, model="m"))
        provider.queue(reply("warm"))
        await read(model)
        started, clock = time.thread_time(), time.monotonic()
        count = sum(await asyncio.gather(*(read(model) for _ in range(conversations))))
        used, lasted = time.thread_time() - started, time.monotonic() - clock
    print(
        f"\n{conversations} conversations: {count * len(PIECE) / lasted:,.0f} characters a second, "
        f"{used / count * MICRO:.0f} µs for each piece, {used / lasted:.0%} of a core"
    )
