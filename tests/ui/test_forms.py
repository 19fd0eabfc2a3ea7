import datetime
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from hypothesis import given
from hypothesis import strategies as st

from chat.ui.build import namespace
from chat.ui.forms import build_form, callback_arguments, from_json, html_name, summary, values_json
from chat.ui.nodes import InvalidTree, parse_tree

UI = namespace()
D, T, DT = datetime.date, datetime.time, datetime.datetime


def answered(field, *given, files=None):
    """Return the form after the texts were posted for the field."""
    tree = parse_tree(UI["Card"](field))
    data = QueryDict(mutable=True)
    data.setlist(html_name(field["p"]["name"]), list(given))
    return build_form(tree, data, files)


def value_of(field, *given, files=None):
    form = answered(field, *given, files=files)
    assert form.is_valid(), form.field_errors()
    return from_json(values_json(form, lambda file: {"id": "1", "name": file.name}))[field["p"]["name"]]


def error_of(field, *given, files=None):
    form = answered(field, *given, files=files)
    assert not form.is_valid()
    (errors,) = form.field_errors().values()
    return errors[0]


def make(kind, **props):
    return UI[kind]("x", **props)


VALUES = [
    (make("TextField"), ["  Ada \r\n"], "Ada"),
    (make("TextField", required=False), [""], ""),
    (make("TextArea"), ["a\r\nb"], "a\nb"),
    (make("TextField", pattern="[a-z]{3}"), ["abc"], "abc"),
    (make("EmailField"), ["ada@example.com"], "ada@example.com"),
    (make("URLField"), ["example.com/x"], "https://example.com/x"),
    (make("NumberField", step=1), ["7"], 7),
    (make("NumberField", step=1), ["7.0"], 7),
    (make("NumberField"), ["7"], 7),
    (make("NumberField"), ["7.0"], 7.0),
    (make("NumberField"), ["-0.5"], -0.5),
    (make("NumberField", step=0.1), ["0.3"], 0.3),
    (make("NumberField", step=0.5), ["2"], 2.0),
    (make("NumberField", min=1, step=3), ["7"], 7),
    (make("NumberField", required=False), [""], None),
    (make("Slider", min=0, max=10), ["3"], 3),
    (make("Slider", min=0, max=1, step=0.25), ["0.75"], 0.75),
    (make("Rating"), ["4"], 4),
    (make("Select", options=["a", "b"]), ["b"], "b"),
    (make("Select", options=[1, 2]), ["2"], 2),
    (make("Select", options=[(1.5, "x"), (None, "none")]), ["1.5"], 1.5),
    (make("Select", options=[1, "1"]), ["1·"], "1"),
    (make("Select", options=[True, False]), ["no"], False),
    (make("Select", options={"a": "Apple"}), ["a"], "a"),
    (make("Select", options=[{"value": 3, "label": "three"}]), ["3"], 3),
    (make("Select", options=["a"], required=False), [""], None),
    (make("RadioGroup", options=["a", "b"]), ["a"], "a"),
    (make("Checkbox"), ["true"], True),
    (make("Checkbox"), [], False),
    (make("CheckboxGroup", options=["a", "b", "c"]), ["c", "a"], ["a", "c"]),
    (make("CheckboxGroup", options=["a"]), [], []),
    (make("MultiSelect", options=[1, 2, 3]), ["3", "1"], [1, 3]),
    (make("DateField"), ["2026-01-31"], D(2026, 1, 31)),
    (make("TimeField"), ["18:30"], T(18, 30)),
    (make("DateTimeField"), ["2026-01-31T18:30"], DT(2026, 1, 31, 18, 30)),
    (make("DateField", required=False), [""], None),
]


@pytest.mark.parametrize(("field", "given", "expected"), VALUES)
def test_answers_have_their_types(field, given, expected):
    value = value_of(field, *given)
    assert value == expected
    assert type(value) is type(expected)


ERRORS = [
    (make("TextField"), ["   "], "Fill this in."),
    (make("TextField", min_length=2), ["A"], "Enter at least 2 characters."),
    (make("TextField", max_length=3), ["Adam"], "Enter at most 3 characters; these are 4."),
    (make("TextField", pattern="[a-z]+"), ["abc1"], "This does not have the expected form."),
    (make("TextField"), ["x" * 20_001], "at most 20000 characters"),
    (make("EmailField"), ["ada"], "such as name@example.com"),
    (make("URLField"), ["javascript:alert(1)"], "Enter a web address"),
    (make("URLField"), ["ftp://example.com"], "Enter a web address"),
    (make("NumberField"), ["many"], "Enter a number."),
    (make("NumberField"), ["NaN"], "Enter a number."),
    (make("NumberField"), ["1e999"], "Enter a number."),
    (make("NumberField"), ["9" * 60], "Enter a number."),
    (make("NumberField", min=1), ["0"], "Enter 1 or more."),
    (make("NumberField", max=12), ["13"], "Enter 12 or less."),
    (make("NumberField", step=1), ["1.5"], "Enter a whole number."),
    (make("NumberField", step=0.5), ["0.7"], "steps of 0.5, such as 0.5 or 1.0"),
    (make("NumberField", min=1, step=3), ["5"], "such as 4 or 7"),
    (make("Select", options=["a"]), ["b"], "b is not one of the options."),
    (make("Select", options=["a"]), [""], "Choose one."),
    (make("RadioGroup", options=["a"]), [], "Choose one."),
    (make("Rating", max=3), ["4"], "not one of the options"),
    (make("Checkbox", required=True), [], "Tick this to go on."),
    (make("CheckboxGroup", options=["a"], required=True), [], "Choose at least one."),
    (make("MultiSelect", options=["a"]), ["a", "b"], "b is not one of the options."),
    (make("DateField"), ["31.1.2026"], "such as 2026-01-31"),
    (make("DateField", min=D(2026, 1, 1)), ["2025-12-31"], "Choose 2026-01-01 or later."),
    (make("TimeField", max=T(20, 0)), ["21:00"], "Choose 20:00 or earlier."),
    (make("DateTimeField"), ["tomorrow"], "Enter a date and time"),
    (make("FileField"), [], "Choose a file."),
]


@pytest.mark.parametrize(("field", "given", "message"), ERRORS)
def test_errors_say_what_to_do(field, given, message):
    assert message in error_of(field, *given)


def upload(name="a.png", content=b"data", kind="image/png"):
    return SimpleUploadedFile(name, content, content_type=kind)


def test_a_file_becomes_a_handle():
    files = MultiValueDict({html_name("x"): [upload()]})
    assert value_of(make("FileField"), files=files) == {"id": "1", "name": "a.png"}
    both = MultiValueDict({html_name("x"): [upload(), upload("b.png")]})
    assert [f["name"] for f in value_of(make("FileField", multiple=True), files=both)] == ["a.png", "b.png"]
    assert value_of(make("FileField", required=False)) is None


@pytest.mark.parametrize(
    ("props", "files", "message"),
    [
        ({"max_size": 0.001}, [upload(content=b"x" * 2000)], "0.0 MB are accepted"),
        ({"accept": ".pdf"}, [upload()], "a.png is of another kind; accepted: .pdf."),
        ({"accept": "image/*"}, [upload("a.html", kind="image/png")], "another kind"),
        ({"accept": "image/*"}, [upload("a.png", kind="text/html")], "another kind"),
        ({}, [upload(), upload()], "Choose one file only."),
        ({}, [upload(content=b"")], "a.png is empty."),
    ],
)
def test_files_are_limited(props, files, message):
    assert message in error_of(make("FileField", **props), files=MultiValueDict({html_name("x"): files}))


def test_a_disabled_field_answers_its_value_whatever_is_sent():
    assert value_of(make("NumberField", value=3, max=2, disabled=True), "99") == 3
    assert value_of(make("FileField", disabled=True)) is None


def test_only_declared_fields_are_taken():
    form = answered(make("TextField"), "a")
    assert list(form.fields) == ["f-x"]
    assert form.is_valid()
    assert list(values_json(form)) == ["x"]


names = st.text(min_size=1, max_size=12) | st.sampled_from(
    [
        "value",
        "error",
        "__class__",
        "csrfmiddlewaretoken",
        "id",
        "form",
        "token",
        "errors",
        "fields",
        "nodes",
        "data",
    ]
)


@given(st.lists(names, min_size=1, max_size=5, unique=True))
def test_any_name_is_allowed(wanted):
    tree = parse_tree(UI["Card"](*[UI["TextField"](name) for name in wanted]))
    wanted = [node.props["name"] for node in tree.children]
    data = {html_name(name): f"answer {index}" for index, name in enumerate(wanted)}
    form = build_form(tree, data)
    assert form.is_valid(), form.errors
    assert values_json(form) == {name: f"answer {index}" for index, name in enumerate(wanted)}
    empty = build_form(tree, {})
    assert set(empty.field_errors()) == set(wanted)


def test_one_form_of_several():
    tree = parse_tree(
        UI["Stack"](UI["TextField"]("a"), UI["Form"](UI["TextField"]("a"), UI["TextField"]("b"), name="two"))
    )
    assert list(build_form(tree, {}, form="").fields) == ["f-a"]
    assert list(build_form(tree, {}, form="two").fields) == ["f-a", "f-b"]


def test_a_pattern_that_python_would_never_finish_is_harmless():
    assert "form" in error_of(make("TextField", pattern="(a+)+b"), "a" * 5000)
    with pytest.raises(InvalidTree, match="TextField: pattern must be a regular expression without"):
        parse_tree(make("TextField", pattern="(?=a)b"))


def test_what_was_entered_comes_back_beside_the_errors():
    form = answered(make("NumberField", max=3), "40")
    assert not form.is_valid()
    assert form.raw_values() == {"x": "40"}


def test_a_callback_gets_what_belongs_to_it():
    tree = parse_tree(
        UI["Card"](
            UI["Button"]("b", on_click="click"),
            UI["NumberField"]("n", step=1, on_change="number"),
            UI["TextField"]("t", min_length=5, on_change="text"),
            UI["CheckboxGroup"]("c", options=[1, 2], on_change="many"),
            UI["DateField"]("d", on_change="day"),
            UI["DataTable"]([{"id": 1, "b": UI["Text"]("x")}, {"id": 2, "b": "y"}], on_row="row"),
            UI["Button"]("off", on_click="off", disabled=True),
        )
    )
    assert callback_arguments(tree, "click", "ignored") == []
    assert callback_arguments(tree, "number", "7") == [7]
    assert callback_arguments(tree, "number", None) == [None]
    assert callback_arguments(tree, "text", "ab") == ["ab"]
    assert callback_arguments(tree, "many", ["2"]) == [[2]]
    assert callback_arguments(tree, "day", "2026-01-31") == [{"$date": "2026-01-31"}]
    assert callback_arguments(tree, "row", "k-1") == [{"id": 1}]
    for callback, raw in [
        ("number", "x"),
        ("many", ["9"]),
        ("day", "soon"),
        ("row", "k-9"),
        ("number", {"a": [1]}),
    ]:
        with pytest.raises(ValidationError):
            callback_arguments(tree, callback, raw)
    for callback in ("off", "other", ""):
        with pytest.raises(LookupError):
            callback_arguments(tree, callback)


def test_a_summary_shows_words():
    tree = parse_tree(
        UI["Card"](
            UI["Select"]("size", options={"s": "Small"}),
            UI["Checkbox"]("terms"),
            UI["CheckboxGroup"]("more", options=[(1, "One"), (2, "Two")]),
            UI["DateField"]("day"),
            UI["FileField"]("file"),
            UI["TextField"]("none"),
        )
    )
    values = {
        "size": "s",
        "terms": True,
        "more": [1, 2],
        "day": D(2026, 1, 31),
        "file": {"name": "a"},
        "none": "",
    }
    assert summary(tree, values) == [
        ("Size", "Small"), ("Terms", "yes"), ("More", "One, Two"), ("Day", "2026-01-31"), ("File", "a"),
        ("None", "—"),
    ]  # fmt: skip


@given(st.decimals(min_value=-1000, max_value=1000, places=3), st.sampled_from([1, 0.5, 0.1, 0.25, 0.01, 2]))
def test_steps_are_exact(number, step):
    field = make("NumberField", step=step)
    fits = number % Decimal(str(step)) == 0
    assert answered(field, str(number)).is_valid() == fits
