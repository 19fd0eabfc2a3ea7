import pytest

from chat.ui.components import CATALOGUE
from chat.ui.nodes import InvalidTree, callbacks, parse_tree, to_json
from chat.ui.props import PropType
from chat.ui.signatures import signature, spec, stub, stubs
from tests.ui.trees import bare, good_node, standing, tree

# What the agent may rely on; a component that goes breaks conversations that are stored.
NAMES = """
Card Row Stack Heading Text Markdown Badge Alert Table List Metric Progress Spinner Skeleton Divider Link Code
Button SubmitButton TextField TextArea NumberField Select Checkbox CheckboxGroup RadioGroup DateField Slot
Grid Tabs Accordion Callout Quote KeyValue Json Image Chart Timeline Steps Tree DataTable EmailField URLField
TimeField DateTimeField Slider Rating MultiSelect FileField Form Confirm Menu Tooltip CopyButton Countdown
Stats Avatar Tab Section
"""

every_component = pytest.mark.parametrize("name", list(CATALOGUE))


def test_the_catalogue_is_complete():
    assert sorted(CATALOGUE) == sorted(NAMES.split())


@every_component
def test_a_node_with_all_props_survives_the_way_to_json_and_back(name):
    json = standing(good_node(name))
    assert to_json(parse_tree(json)) == json
    assert parse_tree(to_json(parse_tree(json))) == parse_tree(json)


@every_component
def test_required_props_are_enough(name):
    assert tree(bare(name))


@every_component
def test_missing_props_are_named(name):
    for prop in CATALOGUE[name].props:
        if prop.required:
            node = good_node(name)
            del node["p"][prop.name]
            with pytest.raises(InvalidTree, match=f"{name} needs {prop.name}"):
                tree(node)


@every_component
def test_an_unknown_prop_is_refused_with_what_there_is(name):
    node = good_node(name)
    node["p"] = {**node.get("p", {}), "colour": "red"}
    with pytest.raises(InvalidTree) as error:
        tree(node)
    assert f"{name} has no prop 'colour'" in str(error.value)
    assert all(prop.name in str(error.value) for prop in CATALOGUE[name].props)


@every_component
def test_a_wrong_value_is_refused_with_prop_value_and_what_is_accepted(name):
    wrong = {"what": ["even", {"is": "this"}]}
    for prop in CATALOGUE[name].props:
        if prop.type in (PropType.ANY, PropType.PAIRS, PropType.OPTIONS, PropType.COLUMNS):
            continue  # anything goes, or a dict does
        node = good_node(name)
        node["p"][prop.name] = wrong
        with pytest.raises(InvalidTree) as error:
            tree(node)
        assert name in str(error.value)
        assert prop.name in str(error.value)
        assert "'what'" in str(error.value)


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"c": "Crad"}, "there is no component 'Crad'; there are Card, Row"),
        (
            {"c": "Card", "p": {"titel": "Mail"}},
            "Card has no prop 'titel'; did you mean title\\? it takes title, help, key",
        ),
        ({"c": "Badge", "p": {"text": "x", "kind": "green"}}, "kind must be one of 'neutral', 'info'"),
        ({"c": "Heading", "p": {"text": "x", "level": 9}}, "level must be one of 1, 2, 3, 4, not 9"),
        ({"c": "Text", "p": {"text": ["a"]}}, "Text: text must be text, not \\['a'\\]"),
        ({"c": "Progress", "p": {"value": "half"}}, "Progress: value must be a number, not 'half'"),
        ({"c": "Link", "p": {"text": "x", "url": "javascript:alert(1)"}}, "starts with https://"),
        ({"c": "Text", "p": {"text": "x"}, "n": [{"c": "Text"}]}, "Text takes no children"),
        ({"c": "Tab", "p": {"title": "x"}}, "Tab belongs directly into Tabs"),
        ({"c": "Tabs", "n": [{"c": "Divider"}]}, "Tabs takes only Tab, not Divider"),
        ({"c": "Table", "p": {"rows": [{"a": 1}, [2]]}}, "all alike"),
        ({"c": "Table", "p": {"rows": {"a": [1]}}}, "rows are a list of dicts"),
        ({"c": "Select", "p": {"name": "s", "options": [["a", "b", "c"]]}}, "pairs or a dict"),
        ({"c": "Timeline", "p": {"items": [{"when": 1}]}}, "an item may have title, time, text, kind"),
        ({"c": "Card", "k": ["x"]}, "key must be text"),
        ({"c": "DateField", "p": {"name": "d", "min": "2026-01-01"}}, "min must be a datetime.date"),
        ({"c": "Slider", "p": {"name": "s", "min": 200}}, "min must not be above max, but 200 is above 100"),
        (
            {"c": "TextField", "p": {"name": "t", "min_length": 9, "max_length": 3}},
            "min_length must not be above max_length, but 9 is above 3",
        ),
        (
            {
                "c": "DateField",
                "p": {"name": "d", "min": {"$date": "2026-02-01"}, "max": {"$date": "2026-01-01"}},
            },
            "2026-02-01 is above 2026-01-01",
        ),
        ({"c": "DateField", "p": {"name": "d", "min": {"$date": "soon"}}}, "ISO"),
        ("just text", "a node is a component, text, a number or None"),
        ({"c": "Card", "n": [{"c": "TextField", "p": {"name": "a"}}] * 2}, "two fields named 'a'"),
        ({"c": "Card", "n": [{"c": "Slot", "p": {"name": "a"}}] * 2}, "two slots named 'a'"),
        ({"c": "Card", "n": [{"c": "Form"}] * 2}, "give each its own name"),
    ],
)
def test_errors_say_what_is_wrong_and_what_is_accepted(node, message):
    with pytest.raises(InvalidTree, match=message):
        parse_tree(node)


@every_component
def test_stub_and_signature_name_every_prop(name):
    component = CATALOGUE[name]
    assert stub(component).startswith(f"def {name}(")
    for prop in component.props:
        assert prop.name in signature(component)
        assert f"{prop.name}: " in stub(component)
        assert spec(component)["props"][prop.name]["required"] == prop.required


def test_the_stubs_are_python():
    compile(stubs(), "stubs", "exec")


@every_component
def test_a_stub_takes_what_the_tree_takes(name):
    namespace: dict[str, object] = {}
    exec(stubs(), namespace)
    component = spec(CATALOGUE[name])
    constructor = namespace[name]
    assert callable(constructor)
    required = {n: p for n, p in component["props"].items() if p["required"]}
    positional = ["x"] if component["children"] else [n for n in component["positional"] if n in required]
    constructor(*positional, **{n: 1 for n in required if n not in positional}, key="k")


@every_component
def test_docs_are_there(name):
    assert CATALOGUE[name].doc.endswith(".")
    assert CATALOGUE[name].group


def test_disabled_components_have_no_callbacks():
    button = {"c": "Button", "p": {"label": "x", "on_click": "m1:x:on_click"}}
    assert callbacks(parse_tree(button)) == {"m1:x:on_click"}
    button["p"]["disabled"] = True
    assert callbacks(parse_tree(button)) == frozenset()
