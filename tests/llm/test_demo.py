import asyncio
import itertools
from types import SimpleNamespace

import pytest

from chat.llm import FEEDBACK_MARK, Finished, FinishReason, ModelMessage, TextPiece, Usage, demo
from chat.llm.demo import EXAMPLES, NOTHING_TO_ADD, SORRY, DemoModel, choose_reply, split_pieces
from chat.llm.demo_script import FALLBACK, DemoScript, load_scripts, parse_script
from chat.protocol.events import Problem
from chat.protocol.fences import FenceParser
from tests.llm.conftest import read

SCRIPTS = {script.name: script for script in load_scripts()}
BOOKED = "booked {'name': 'Ada', 'guests': 4, 'time': '18:00', 'terrace': False}"


def user(text: str) -> ModelMessage:
    return ModelMessage("user", text)


def feedback(text: str) -> ModelMessage:
    return user(f"{FEEDBACK_MARK}\n{text}")


def after(script: str, last: ModelMessage, turn: int = 0) -> str:
    said = ModelMessage("assistant", SCRIPTS[script].replies[turn].text)
    return choose_reply([user(SCRIPTS[script].prompt), said, last])


@pytest.mark.parametrize(
    "script", [script for script in load_scripts() if script.title], ids=lambda script: script.name
)
def test_examples_play_their_own_script(script: DemoScript) -> None:
    assert script.prompt
    assert script.description
    assert choose_reply([user(script.prompt)]) == script.replies[0].text


def test_the_start_page_offers_them_in_order() -> None:
    assert [example.title for example in EXAMPLES][:4] == [
        "Book a table",
        "A film table",
        "A counter",
        "A sales dashboard",
    ]
    assert len({example.prompt for example in EXAMPLES}) == len(EXAMPLES)


def test_replies_can_be_told_apart() -> None:
    for one, other in itertools.combinations(load_scripts(), 2):
        for reply, elsewhere in itertools.product(one.replies, other.replies):
            assert not elsewhere.wrote(reply.text), (one.name, other.name)
            assert min(len(reply.head), len(elsewhere.head)) >= 12, "a hole that early tells nothing apart"


@pytest.mark.parametrize("script", load_scripts(), ids=lambda script: script.name)
def test_replies_keep_to_the_protocol(script: DemoScript) -> None:
    for reply in script.replies:
        parser = FenceParser()
        events = parser.feed(reply.text) + parser.close()
        assert not [event for event in events if isinstance(event, Problem)]


@pytest.mark.parametrize(
    ("script", "said", "words"),
    [
        ("booking", BOOKED, "**Ada**, 4 at the table, 18:00, inside"),
        ("booking", BOOKED.replace("False", "True"), "out on the terrace"),
        ("booking", BOOKED.replace("'Ada'", '"O\'Hara"'), "**O'Hara**, 4 at"),
        ("booking", "booked by other means", "Your table is reserved"),
        ("counter", "the user wants to talk about 12", "**12**"),
        ("counter", "the user wants to talk about 0", "Zero"),
        ("counter", "the user wants to talk about -3", "Below zero, at **-3**"),
        ("error", "TypeError: Card() got an unexpected keyword argument 'titel'", "spelt right"),
        (
            "wizard",
            "{'name': 'Ada', 'tries': 1, 'colours': ['red']}",
            "**Ada**, and the number at the very first",
        ),
        ("wizard", "{'name': 'Ada', 'tries': 3, 'colours': []}", "took you 3 tries"),
        ("progress", "imported 4 parts and looked at 3 clocks at once", "all 4 parts"),
    ],
)
def test_feedback_starts_a_second_turn(script: str, said: str, words: str) -> None:
    assert words in after(script, feedback(said))


def test_every_later_turn_can_be_reached_again() -> None:
    talk = feedback("the user wants to talk about 5")
    assert "**5**" in after("counter", talk, turn=1)


def test_feedback_never_starts_another_script() -> None:
    assert after("films", feedback("a counter for a table of sales")) == NOTHING_TO_ADD
    assert after("films", feedback("ValueError: no")) == SORRY


def test_a_user_message_beside_feedback_is_heard() -> None:
    counter = SCRIPTS["counter"].replies[0].text
    assert after("booking", feedback("The wait was dismissed.\n\nNow a counter, please")) == counter
    assert after("booking", user(f"A counter!\n\n{FEEDBACK_MARK}\nThe wait was dismissed.")) == counter


def test_a_stopped_reply_and_one_with_other_fences_are_known() -> None:
    text = SCRIPTS["error"].replies[0].text
    wrong = feedback("no parameter titel")
    for said in (text[:25], text.replace("```", "````"), text.partition("Done")[0]):
        assert "spelt right" in choose_reply([user("x"), ModelMessage("assistant", said), wrong])


def test_anything_else_gets_help() -> None:
    assert choose_reply([user("Mumble")]) == SCRIPTS[FALLBACK].replies[0].text
    assert choose_reply([]) == SCRIPTS[FALLBACK].replies[0].text


def test_words_are_whole_and_a_star_is_any_ending() -> None:
    script = parse_script("x", "match: rent, book*\n=== reply\nHi")
    assert [script.score(text) for text in ("Rent!", "parent", "rental", "BOOKING", "rebook")] == [
        1,
        0,
        0,
        1,
        0,
    ]


@pytest.mark.parametrize("text", ["match: x\n", "no colon\n=== reply\nx", "color: red\n=== reply\nx"])
def test_a_bad_script_names_file_and_fault(text: str) -> None:
    with pytest.raises(ValueError, match="demo script broken: "):
        parse_script("broken", text)


def test_pieces_are_like_tokens_and_join_to_the_text() -> None:
    for script in load_scripts():
        for reply in script.replies:
            pieces = list(split_pieces(reply.text))
            assert "".join(pieces) == reply.text
            assert 2 < len(reply.text) / len(pieces) < 8 or len(pieces) < 50


async def test_plays_the_whole_reply() -> None:
    model = DemoModel(speed=0)
    assert model.is_demo
    result = await read(model, [user("a counter")])
    assert result.text == SCRIPTS["counter"].replies[0].text
    assert result.pieces[-1] == Finished(FinishReason.STOP)


async def test_who_asks_late_gets_what_has_come_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += max(0.0, seconds)

    clock = SimpleNamespace(time=lambda: now)
    monkeypatch.setattr(demo, "asyncio", SimpleNamespace(get_running_loop=lambda: clock, sleep=sleep))
    async with DemoModel().stream([user("a counter")]) as stream:
        texts = [await anext(stream), await anext(stream)]
        now += 3600
        texts.append(await anext(stream))
        assert isinstance(await anext(stream), Usage)
    assert "".join(piece.text for piece in texts) == SCRIPTS["counter"].replies[0].text
    assert len(texts[0].text) <= 8
    assert len(texts[2].text) > 100


async def test_stopping_ends_it() -> None:
    async with DemoModel(speed=0).stream([user("a long story")]) as stream:
        assert isinstance(await anext(stream), TextPiece)
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_cancelling_ends_it() -> None:
    task = asyncio.create_task(read(DemoModel(speed=0.001), [user("a long story")]))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
