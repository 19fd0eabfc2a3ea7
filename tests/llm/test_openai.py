"""Replies that go well, in every dialect."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from chat.llm import Finished, FinishReason, LLMSettings, ModelMessage, TextPiece, Usage, create_model
from chat.llm.openai import OpenAIModel
from tests.llm.conftest import HELLO, read
from tests.provider import END, Gate, Provider, Script, Stall, chunk, event, failure, happened, reply, usage

type MakeModel = Callable[..., OpenAIModel]

TEXT = "Hello **wörld** 🎬\n\n```python agent.run\nprint('\u2028\x85é')\n```\nEnd"


@pytest.mark.parametrize("size", [1, 3, 1000])
async def test_reply(provider: Provider, make_model: MakeModel, size: int) -> None:
    provider.say(TEXT, size=size, reasoning="Hm, let me see")
    result = await read(make_model())
    assert result.text == TEXT
    assert result.reasoning == "Hm, let me see"
    assert result.pieces[-2:] == [Usage(11, 7), Finished(FinishReason.STOP)]


@pytest.mark.parametrize("split", [1, 2, 7])
async def test_bytes_may_be_split_anywhere(provider: Provider, make_model: MakeModel, split: int) -> None:
    provider.say(TEXT, size=5, split=split)
    assert (await read(make_model())).text == TEXT


async def test_request(provider: Provider, make_model: MakeModel) -> None:
    provider.say("Hi")
    await read(make_model(api_key="key-1", max_output_tokens=500))
    assert provider.requests[0].body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 500,
    }
    assert provider.requests[0].headers["authorization"] == "Bearer key-1"
    assert provider.requests[0].path == "/v1/chat/completions"


async def test_what_comes_while_nobody_reads_waits_in_the_system(
    provider: Provider, make_model: MakeModel
) -> None:
    """Its pieces cost the event loop nothing; fails when the client library hides its socket elsewhere."""
    gate, sent = Gate(), Gate()
    letters = [chunk({"content": letter}) for letter in "bcd"]
    provider.queue(Script([chunk({"content": "a"}), gate, *letters, sent, chunk({}, "stop"), END]))
    async with make_model().stream([ModelMessage("user", "Hello")]) as stream:
        assert await anext(stream) == TextPiece("a")
        assert stream._tap is not None
        socket = stream._tap.socket
        assert isinstance(socket, asyncio.Transport)
        assert not socket.is_reading()
        gate.open()
        await happened(sent.reached)
        assert await anext(stream) == TextPiece("bcd")
        sent.open()
        assert [piece async for piece in stream] == [Finished(FinishReason.STOP)]
    provider.say("More")
    assert (await read(make_model())).text == "More"
    assert provider.connections == 1  # which reads again


async def test_pieces_that_arrive_together_are_one(provider: Provider, make_model: MakeModel) -> None:
    together = b"".join(chunk({"content": letter}) for letter in "abc")
    provider.queue(Script([together + chunk({}, "stop") + END]))
    result = await read(make_model())
    assert [piece.text for piece in result.pieces[:-1]] == ["abc"]  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_both_names_of_reasoning(provider: Provider, make_model: MakeModel, name: str) -> None:
    provider.say("So.", reasoning="because", reasoning_name=name)
    result = await read(make_model())
    assert (result.reasoning, result.text) == ("because", "So.")


async def test_reasoning_under_both_names_counts_once(provider: Provider, make_model: MakeModel) -> None:
    provider.queue(Script([chunk({"reasoning": "x", "reasoning_content": "x"}), chunk({}, "stop"), END]))
    assert (await read(make_model())).reasoning == "x"


async def test_reasoning_between_tags(provider: Provider, make_model: MakeModel) -> None:
    provider.say("<think>because</think>\n\nSo.", size=2)
    result = await read(make_model())
    assert (result.reasoning, result.text) == ("because", "So.")


async def test_content_in_parts(provider: Provider, make_model: MakeModel) -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "because"}]}
    text = {"type": "text", "text": "So."}
    provider.queue(
        Script([chunk({"content": [thought]}), chunk({"content": [text]}), chunk({}, "stop"), END])
    )
    result = await read(make_model())
    assert (result.reasoning, result.text) == ("because", "So.")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("stop", FinishReason.STOP),
        ("length", FinishReason.LENGTH),
        ("max_tokens", FinishReason.LENGTH),
        ("content_filter", FinishReason.FILTER),
        ("eos_token", FinishReason.STOP),
    ],
)
async def test_finish_reasons(provider: Provider, make_model: MakeModel, said: str, reason: str) -> None:
    provider.say("x", finish=said)
    assert (await read(make_model())).reason == reason


async def test_clean_end_that_says_nothing_may_be_cut(provider: Provider, make_model: MakeModel) -> None:
    provider.say("Hel", finish=None, done=False, tokens=None)
    result = await read(make_model())
    assert (result.text, result.reason) == ("Hel", FinishReason.UNKNOWN)


async def test_the_servers_last_line_counts_as_finish(provider: Provider, make_model: MakeModel) -> None:
    provider.say("Hello", finish=None)
    assert (await read(make_model())).reason == FinishReason.STOP


async def test_an_open_connection_after_the_end_is_no_matter(
    provider: Provider, make_model: MakeModel
) -> None:
    provider.queue(Script([chunk({"content": "x"}), chunk({}, "stop"), END, Stall()]))
    assert (await read(make_model())).reason == FinishReason.STOP


async def test_silence_after_the_finish_reason_ends_it(
    provider: Provider, make_model: MakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat.llm.openai.AFTER_FINISH_SECONDS", 0.05)
    provider.queue(Script([chunk({"content": "x"}), chunk({}, "length"), Stall()]))
    result = await read(make_model())
    assert (result.error, result.reason) == (None, FinishReason.LENGTH)


async def test_usage_in_every_chunk_counts_once(provider: Provider, make_model: MakeModel) -> None:
    counts = [{"prompt_tokens": 5, "completion_tokens": number} for number in (1, 2)]
    steps = [chunk({"content": "ab"[number]}, usage=count) for number, count in enumerate(counts)]
    provider.queue(Script([*steps, chunk({}, "stop"), END]))
    result = await read(make_model())
    assert [piece for piece in result.pieces if isinstance(piece, Usage)] == [Usage(5, 2)]


async def test_no_usage_is_no_error(provider: Provider, make_model: MakeModel) -> None:
    provider.queue(
        Script([chunk({"content": "x"}, usage=None), chunk({}, "stop"), event({"choices": None}), END])
    )
    result = await read(make_model())
    assert result.reason == FinishReason.STOP
    assert not any(isinstance(piece, Usage) for piece in result.pieces)


async def test_comments_and_line_ends(provider: Provider, make_model: MakeModel) -> None:
    stream = b": working\n\n" + chunk({"content": "x"}) + b"event: ping\ndata:\n\n" + chunk({}, "stop")
    provider.queue(Script([stream.replace(b"\n", b"\r\n") + b"data: [DONE]"]))
    assert (await read(make_model())).text == "x"


async def test_an_answer_that_is_not_streamed(provider: Provider, make_model: MakeModel) -> None:
    message = {"role": "assistant", "content": "All at once."}
    body = {
        "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4},
    }
    provider.queue(
        Script([json.dumps(body, indent=1).encode()], headers={"Content-Type": "application/json"}, split=9)
    )
    result = await read(make_model())
    assert result.text == "All at once."
    assert result.pieces[-2:] == [Usage(3, 4), Finished(FinishReason.STOP)]


async def test_empty_reply(provider: Provider, make_model: MakeModel) -> None:
    provider.queue(
        Script([chunk({"role": "assistant", "content": None}), chunk({}, "stop"), usage(4, 0), END])
    )
    assert (await read(make_model())).pieces == [Usage(4, 0), Finished(FinishReason.STOP)]


async def test_a_reply_over_the_limit_of_characters_is_cut(provider: Provider, make_model: MakeModel) -> None:
    provider.queue(Script([*[chunk({"content": "x" * 100})] * 50, Stall()]))
    result = await read(make_model(max_characters=1000))
    assert result.reason == FinishReason.TOO_MUCH
    assert 1000 < len(result.text) <= 5000


@pytest.mark.parametrize(
    "refusal",
    [
        failure(400, "Unknown parameter: 'stream_options'."),
        failure(422, "stream_options.include_usage: extra fields not permitted"),
        Script(
            [b'{"detail": [{"loc": ["body", "x"], "msg": "Extra inputs are not permitted"}]}'], status=422
        ),
        Script([b"unexpected field"], status=400),
    ],
)
async def test_servers_that_refuse_stream_options(
    provider: Provider, make_model: MakeModel, refusal: Script
) -> None:
    provider.queue(refusal, reply("Hi"), reply("Hi"))
    model = make_model()
    assert (await read(model)).text == "Hi"
    assert (await read(model)).text == "Hi"
    assert ["stream_options" in request.body for request in provider.requests] == [True, False, False]


async def test_servers_that_call_the_token_limit_by_another_name(
    provider: Provider, make_model: MakeModel
) -> None:
    provider.queue(failure(400, "Unsupported parameter: use 'max_completion_tokens' instead."), reply("Hi"))
    assert (await read(make_model(max_output_tokens=9))).text == "Hi"
    sent: dict[str, Any] = provider.requests[1].body
    assert sent["max_completion_tokens"] == 9
    assert "max_tokens" not in sent
    assert "stream_options" in sent


async def test_calls_share_a_connection(provider: Provider, make_model: MakeModel) -> None:
    provider.queue(*[reply("Hi")] * 3)
    for _ in range(3):
        await read(make_model())
    assert provider.connections == 1


def test_settings_choose_the_model() -> None:
    assert create_model(LLMSettings()).is_demo
    assert create_model(LLMSettings(api_key="k", demo=True)).is_demo
    assert not create_model(LLMSettings(api_key="k")).is_demo
    local = create_model(LLMSettings(base_url="http://127.0.0.1:1/v1", model="tiny"))
    assert (local.is_demo, local.name) == (False, "tiny")


async def test_messages_may_be_any_sequence(provider: Provider, make_model: MakeModel) -> None:
    provider.say("Hi")
    messages = (*HELLO, ModelMessage("assistant", "Hello"), ModelMessage("user", "Again"))
    assert (await read(make_model(), messages)).text == "Hi"
    assert [message["role"] for message in provider.requests[0].messages] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
