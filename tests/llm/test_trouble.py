"""What providers and connections do wrong, and what a user is told."""

import asyncio
import socket
from collections.abc import Callable

import pytest

from chat.llm import BreakerLimits, Deadlines, ErrorKind, FinishReason, TextPiece
from chat.llm.openai import OpenAIModel
from tests.llm.conftest import HELLO, read
from tests.provider import Cut, Forever, Gate, Provider, Script, Stall, chunk, event, failure, happened, reply

type MakeModel = Callable[..., OpenAIModel]

HALF = [chunk({"role": "assistant"}), chunk({"content": "Hel"})]


async def test_a_cut_connection_keeps_the_text(provider: Provider, make_model: MakeModel) -> None:
    provider.queue(Script([*HALF, Cut()]))
    result = await read(make_model())
    assert result.text == "Hel"
    assert result.error
    assert result.error.kind is ErrorKind.CONNECTION
    assert len(provider.requests) == 1  # never again once something has streamed


async def test_a_connection_cut_before_anything_came_is_tried_again(
    provider: Provider, make_model: MakeModel
) -> None:
    provider.queue(Script([Cut()]), Script([chunk({"role": "assistant"}), Cut()]), reply("Hello"))
    result = await read(make_model())
    assert (result.text, result.error) == ("Hello", None)
    assert len(provider.requests) == 3


async def test_a_connection_cut_after_the_finish_is_no_error(
    provider: Provider, make_model: MakeModel
) -> None:
    provider.queue(Script([*HALF, chunk({}, "stop"), Cut()]))
    result = await read(make_model())
    assert (result.text, result.reason, result.error) == ("Hel", FinishReason.STOP, None)


async def test_server_errors_are_tried_again(provider: Provider, make_model: MakeModel) -> None:
    provider.queue(failure(500), failure(503), reply("Hello"))
    assert (await read(make_model())).text == "Hello"


async def test_server_errors_that_last(provider: Provider, make_model: MakeModel) -> None:
    provider.queue(*[failure(500, "boom")] * 3)
    error = (await read(make_model())).error
    assert error
    assert error.kind is ErrorKind.SERVER
    assert error.retryable
    assert "status 500" in error.message
    assert "again" in error.message
    assert "boom" not in error.message
    assert "boom" in error.detail
    assert len(provider.requests) == 3


async def test_too_many_requests_waits_as_asked(provider: Provider, make_model: MakeModel) -> None:
    provider.queue(failure(429, headers={"Retry-After": "0.01"}), reply("Hello"))
    assert (await read(make_model())).text == "Hello"


async def test_a_long_wait_is_reported(provider: Provider, make_model: MakeModel) -> None:
    provider.queue(failure(429, headers={"Retry-After": "90"}))
    error = (await read(make_model())).error
    assert error
    assert error.kind is ErrorKind.RATE
    assert error.retry_after == 90
    assert "in 90 seconds" in error.message
    assert len(provider.requests) == 1


@pytest.mark.parametrize(
    ("script", "kind", "words"),
    [
        (failure(401, "bad key"), ErrorKind.AUTH, "OPENAI_API_KEY"),
        (failure(403, "no"), ErrorKind.AUTH, "OPENAI_API_KEY"),
        (failure(404, "no model m"), ErrorKind.BAD_REQUEST, "OPENAI_MODEL"),
        (failure(400, "temperature is wrong"), ErrorKind.BAD_REQUEST, "refused the request"),
        (failure(400, "x", code="context_length_exceeded"), ErrorKind.TOO_LONG, "Start a new conversation"),
        (failure(413, "body"), ErrorKind.TOO_LONG, "Start a new conversation"),
        (failure(429, "x", code="insufficient_quota"), ErrorKind.RATE, "no credit"),
    ],
)
async def test_what_trying_again_does_not_help(
    provider: Provider, make_model: MakeModel, script: Script, kind: ErrorKind, words: str
) -> None:
    provider.queue(script)
    error = (await read(make_model())).error
    assert error
    assert (error.kind, error.retryable) == (kind, False)
    assert words in error.message
    assert len(provider.requests) == 1


async def test_nobody_there(make_model: MakeModel) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        error = (await read(make_model(base_url=f"http://127.0.0.1:{unused.getsockname()[1]}/v1"))).error
    assert error
    assert error.kind is ErrorKind.CONNECTION
    assert "OPENAI_BASE_URL" in error.message


async def test_an_error_in_the_stream(provider: Provider, make_model: MakeModel) -> None:
    provider.queue(Script([*HALF, event({"error": {"message": "out of memory", "type": "server_error"}})]))
    result = await read(make_model())
    assert result.text == "Hel"
    assert result.error
    assert result.error.kind is ErrorKind.SERVER
    assert "out of memory" in result.error.detail


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}, ErrorKind.RATE),
        ({"error": {"message": "x", "code": 401}}, ErrorKind.AUTH),
        ({"error": "maximum context length is 8192 tokens"}, ErrorKind.TOO_LONG),
    ],
)
async def test_kinds_of_errors_in_the_stream(
    provider: Provider, make_model: MakeModel, body: object, kind: ErrorKind
) -> None:
    provider.queue(Script([event(body)]))
    result = await read(make_model(retries=0))
    assert result.error
    assert result.error.kind is kind


@pytest.mark.parametrize(
    "bad",
    [
        b"data: {no json\n\n",
        b"data: [1, 2]\n\n",
        b'data: {"choices": "x"}\n\n',
        b'data: {"choices": [{"delta": {"content": 5}}]}\n\n',
        b'data: "text"\n\n',
    ],
)
async def test_malformed_chunks(provider: Provider, make_model: MakeModel, bad: bytes) -> None:
    provider.queue(Script([*HALF, bad]))
    result = await read(make_model())
    assert result.text == "Hel"
    assert result.error
    assert result.error.kind is ErrorKind.BAD_STREAM


async def test_text_before_a_malformed_chunk_is_kept(provider: Provider, make_model: MakeModel) -> None:
    provider.queue(Script([b"".join([*HALF, b"data: {\n\n"])]))
    result = await read(make_model())
    assert result.text == "Hel"
    assert result.error


async def test_a_web_page_in_place_of_a_stream(provider: Provider, make_model: MakeModel) -> None:
    provider.queue(Script([b"\n<!doctype html><p>Welcome"], headers={"Content-Type": "text/html"}))
    error = (await read(make_model())).error
    assert error
    assert error.kind is ErrorKind.BAD_STREAM
    assert "OPENAI_BASE_URL" in error.message


async def test_a_line_without_end(provider: Provider, make_model: MakeModel) -> None:
    provider.queue(Script([*HALF, b"data: ", Forever(b"x" * 60_000)]))
    result = await read(make_model())
    assert result.error
    assert result.error.kind is ErrorKind.BAD_STREAM
    await happened(provider.requests[0].disconnected)


@pytest.mark.parametrize("script", [Script([chunk({"role": "assistant"}), Stall()]), Script(hold=Gate())])
async def test_no_first_token(provider: Provider, make_model: MakeModel, script: Script) -> None:
    provider.queue(script)
    result = await read(make_model(deadlines=Deadlines(first=0.2)))
    assert result.error
    assert result.error.kind is ErrorKind.STALLED
    assert "did not begin to reply for 0.2 seconds" in result.error.message
    await happened(provider.requests[0].disconnected)


async def test_a_stalled_stream_keeps_the_text(provider: Provider, make_model: MakeModel) -> None:
    provider.queue(Script([*HALF, Stall()]))
    result = await read(make_model(deadlines=Deadlines(between=0.2)))
    assert result.text == "Hel"
    assert result.error
    assert result.error.kind is ErrorKind.STALLED
    assert "stopped sending" in result.error.message
    await happened(provider.requests[0].disconnected)


@pytest.mark.parametrize("noise", [b": still here\n\n", chunk({"content": ""})])
async def test_signs_of_life_without_text_do_not_count(
    provider: Provider, make_model: MakeModel, noise: bytes
) -> None:
    provider.queue(Script([*HALF, Forever(noise)]))
    result = await read(make_model(deadlines=Deadlines(between=0.2), max_empty_pieces=10**9))
    assert result.error
    assert result.error.kind is ErrorKind.STALLED


async def test_a_reply_without_end(provider: Provider, make_model: MakeModel) -> None:
    provider.queue(Script([Forever(chunk({"content": "x"}))]))
    result = await read(make_model(deadlines=Deadlines(total=0.3), max_characters=10**9))
    assert result.text
    assert result.error
    assert result.error.kind is ErrorKind.STALLED
    assert "longer than 0.3 seconds" in result.error.message


@pytest.mark.parametrize("empty", [{}, {"content": ""}, {"reasoning": ""}, {"tool_calls": []}])
async def test_a_flood_of_empty_pieces(
    provider: Provider, make_model: MakeModel, empty: dict[str, object]
) -> None:
    provider.queue(Script([*HALF, Forever(chunk(empty))]))
    result = await read(make_model(max_empty_pieces=200))
    assert result.text == "Hel"
    assert result.error
    assert result.error.kind is ErrorKind.FLOOD
    assert "200 empty pieces" in result.error.message
    await happened(provider.requests[0].disconnected)


async def test_leaving_early_closes_the_providers_stream(provider: Provider, make_model: MakeModel) -> None:
    provider.queue(Script([*HALF, Stall()]))
    async with make_model().stream(HELLO) as stream:
        assert await anext(aiter(stream)) == TextPiece("Hel")
    await happened(provider.requests[0].disconnected, 1)


async def test_cancelling_closes_the_providers_stream(provider: Provider, make_model: MakeModel) -> None:
    gate = Gate()
    provider.queue(Script([*HALF, gate, Stall()]))
    task = asyncio.create_task(read(make_model()))
    await happened(gate.reached)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await happened(provider.requests[0].disconnected, 1)


@pytest.mark.parametrize("status", [False, True], ids=["before the status", "after the status"])
async def test_cancelling_before_the_answer_began(
    provider: Provider, make_model: MakeModel, status: bool
) -> None:
    gate = Gate()
    provider.queue(Script([gate]) if status else Script(hold=gate))
    task = asyncio.create_task(read(make_model()))
    await happened(gate.reached)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await happened(provider.requests[0].disconnected, 1)
    provider.say("Hello")
    assert (await read(make_model())).text == "Hello"


async def test_a_provider_that_keeps_failing_gets_a_pause(provider: Provider, make_model: MakeModel) -> None:
    provider.answer = lambda request: failure(500)
    model = make_model(retries=0, breaker=BreakerLimits(failures=2, seconds=600))
    kinds = [error.kind for _ in range(4) if (error := (await read(model)).error)]
    assert kinds == [ErrorKind.SERVER, ErrorKind.SERVER, ErrorKind.CIRCUIT_OPEN, ErrorKind.CIRCUIT_OPEN]
    assert len(provider.requests) == 2


async def test_a_provider_that_is_back_is_used_again(provider: Provider, make_model: MakeModel) -> None:
    provider.queue(failure(500), failure(500), reply("Hello"), reply("Hello"))
    model = make_model(retries=0, breaker=BreakerLimits(failures=2, seconds=0))
    await read(model)
    await read(model)
    assert [(await read(model)).text for _ in range(2)] == ["Hello", "Hello"]
