import copy
import datetime
import logging

import pytest

from chat.ui.build import namespace
from chat.ui.components import CATALOGUE
from chat.ui.examples import examples
from chat.ui.nodes import InvalidTree, parse_tree
from chat.ui.props import PropType
from chat.ui.render import MountContext, as_frame, render_changes, render_error, render_mount_body
from tests.ui.injections import INJECTIONS, assert_harmless
from tests.ui.trees import bare, good_node, standing, tree

UI = namespace()
URL = "/c/5f0c3f0e-4d2c-4b43-9a55-8d1c7c6d2f10/m/m1/"
STATES = ("open", "submitted", "dismissed", "closed")


def body(node, **context):
    return render_mount_body(node, MountContext("m1", url=URL, **context))


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", list(CATALOGUE))
def test_every_component_renders_in_every_state(name, state):
    for node in (good_node(name), bare(name)):
        html = body(tree(node), state=state)
        assert "cannot be shown" not in html
        assert_harmless(html)
        assert "style=" not in html
        assert html.count('id="m1"') == 1


@pytest.mark.parametrize("name", list(CATALOGUE))
def test_ids_are_unique(name):
    html = body(tree(good_node(name)))
    ids = [part.partition('"')[0] for part in html.split(' id="')[1:]]
    assert len(ids) == len(set(ids))


# Props that refuse such texts, and say so.
STRICT = {
    PropType.NUMBER, PropType.INTEGER, PropType.BOOLEAN, PropType.CHOICE, PropType.DATE, PropType.TIME,
    PropType.DATETIME, PropType.NODE,
}  # fmt: skip


def shapes(text, kind):
    """Return what an injection can look like in a prop of the type."""
    match kind:
        case PropType.OPTIONS:
            return [[text], [[text, text]], {text: text}]
        case PropType.COLUMNS:
            return [[text], [[text, text]], {text: text}]
        case PropType.ROWS:
            return [[{text: text, "id": text}], [[text, {text: text}, [text]]]]
        case PropType.ITEMS:
            return [
                [text],
                [{"title": text, "text": text, "time": text, "kind": text}],
                [{"$n": {"c": "Text", "p": {"text": text}}}],
            ]
        case PropType.PAIRS:
            return [{text: text}, [[text, [text]]]]
        case PropType.ANY:
            return [text, {text: [text, {text: text}]}, [text]]
        case PropType.FILE:
            return [text, {"id": text, "name": text, "type": text}]
        case PropType.SERIES:
            return [text, [text, text]]
        case _:
            return [text]


@pytest.mark.parametrize("name", list(CATALOGUE))
def test_nothing_that_is_given_becomes_markup(name):
    component = CATALOGUE[name]
    for text in INJECTIONS:
        for prop in component.props:
            for value in shapes(text, prop.type):
                node = copy.deepcopy(good_node(name))
                node["p"] = {**node.get("p", {}), prop.name: value}
                try:
                    shown = parse_tree(standing(node))
                except InvalidTree:
                    continue  # refused, which is as good
                assert prop.type not in STRICT, (name, prop.name, value)
                for state in ("open", "submitted"):
                    assert_harmless(body(shown, state=state, answers=answers(shown, text)))
        assert_harmless(body(tree({**good_node(name), "k": text})))


def answers(shown, text):
    return {str(node.props.get("name")): [text, {"id": text, "name": text}] for node in [shown]}


@pytest.mark.parametrize("text", INJECTIONS)
def test_errors_entries_and_names_are_no_markup(text):
    node = parse_tree(
        UI["Card"](UI["TextField"](text), UI["TextArea"]("area"), UI["Select"]("s", options=["a"]))
    )
    name = node.children[0].props["name"]
    values = {name: text, "area": text, "s": text}
    errors = {name: [text], "area": [text]}
    assert_harmless(body(node, values=values, errors=errors, token=text, answered_by=text))
    assert_harmless(
        body(
            node,
            state="submitted",
            answers=values,
            answered_by=text,
            answered_at=datetime.datetime.now(datetime.UTC),
        )
    )
    assert_harmless(render_error(text, ident="m1", details=text))


@pytest.mark.parametrize("text", INJECTIONS)
def test_a_frame_holds_nothing_but_partials(text):
    old = parse_tree(UI["Card"](UI["Table"]([{"a": 1}]), UI["List"](["a"])))
    new = parse_tree(
        UI["Card"](
            UI["Table"]([{"a": text}]), UI["List"]([text, "b"]), UI["Text"](text, key=text), title=text
        )
    )
    frame = as_frame(render_changes(old, new, MountContext("m1", url=URL)))
    assert frame.count("<hx-partial ") == frame.count("</hx-partial>") == frame.count("<hx-")
    for part in frame.split("</hx-partial>")[:-1]:
        assert part.startswith('<hx-partial hx-target="#m1')
        assert_harmless(part.partition(">")[2])


def test_a_fault_in_one_component_leaves_the_others(monkeypatch, caplog):
    def broken(*args):
        raise RuntimeError("a fault")

    monkeypatch.setitem(__import__("chat.ui.present", fromlist=["PRESENTERS"]).PRESENTERS, "Metric", broken)
    with caplog.at_level(logging.ERROR):
        html = body(parse_tree(UI["Card"](UI["Metric"]("a", 1), UI["Text"]("still here"))))
    assert "Metric cannot be shown" in html
    assert "still here" in html
    assert "a fault" not in html
    assert "a fault" in caplog.text


def fragments(old, new, **context):
    before = MountContext("m1", url=URL)
    after = MountContext("m1", url=URL, **context)
    return render_changes(parse_tree(old), parse_tree(new), after, before)


ROWS = [{"name": f"row {n}", "n": n} for n in range(1000)]


def test_a_new_title_does_not_send_the_rows_again():
    old, new = (UI["Card"](UI["Table"](ROWS), title=title) for title in ("Films", "Films (1000)"))
    (fragment,) = fragments(old, new)
    assert len(fragment.html) < 500
    assert "row 1" not in fragment.html


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (ROWS, [*ROWS, {"name": "new", "n": 1}]),
        (ROWS, [{"name": "new", "n": 1}, *ROWS]),
        (ROWS, [*ROWS[:500], {"name": "new", "n": 1}, *ROWS[501:]]),
        (ROWS, [*ROWS[1:700], ROWS[0], *ROWS[700:]]),
        (ROWS, ROWS[1:]),
    ],
)
def test_a_changed_row_sends_that_row(old, new):
    sent = as_frame(fragments(UI["Card"](UI["Table"](old)), UI["Card"](UI["Table"](new))))
    assert len(sent) < 400


def test_nothing_changed_is_nothing_sent():
    assert fragments(UI["Card"]("a"), UI["Card"]("a")) == []


def test_a_new_token_is_sent_alone():
    (fragment,) = fragments(UI["TextField"]("a"), UI["TextField"]("a"), token="2")
    assert fragment.target == "m1_form_token"


def test_a_new_state_sends_the_mount():
    (fragment,) = fragments(
        UI["TextField"]("a"), UI["TextField"]("a"), state="submitted", answers={"a": "Ada"}
    )
    assert fragment.target == "m1_body"
    assert "Ada" in fragment.html


def test_client_attributes_match_the_validation():
    html = body(
        parse_tree(
            UI["Card"](
                UI["TextField"]("name", min_length=2, max_length=9, pattern="[a-z]+", autocomplete="name"),
                UI["NumberField"]("guests", min=1, max=12, step=1),
                UI["NumberField"]("any", required=False),
                UI["EmailField"]("email"),
                UI["DateField"]("day", min=datetime.date(2026, 1, 1)),
            )
        )
    )
    for part in (
        'required type="text" autocomplete="name" minlength="2" maxlength="9" pattern="[a-z]+"',
        'required type="number" inputmode="numeric" min="1" max="12" step="1"',
        'type="number" inputmode="decimal" step="any"',
        'type="email" inputmode="email" autocomplete="email"',
        'type="date" min="2026-01-01"',
    ):
        assert part in html
    assert html.count(" required") == 4


def test_a_text_area_keeps_its_first_newline():
    assert ">\n\nsecond line</textarea>" in body(parse_tree(UI["TextArea"]("a", value="\nsecond line")))


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.source[:40])
def test_examples_render(example):
    html = body(parse_tree(example.tree))
    assert "cannot be shown" not in html
    assert_harmless(html)
