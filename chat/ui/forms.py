"""Forms from the fields of a tree: validation, answers as JSON, answers as words."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol
from urllib.parse import quote

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from chat.ui import form_fields as answers
from chat.ui.identity import item_ids
from chat.ui.nodes import Node, decode, encode, field_nodes, nodes_in, walk
from chat.ui.shapes import Option, options, words

PREFIX: Final = "f-"

Store = Callable[["UploadedFile[Any]"], Mapping[str, Any]]


class HasFiles(Protocol):
    """What holds the uploads of a request."""

    def getlist(self, key: str) -> list[Any]: ...  # noqa: D102


def html_name(name: str) -> str:
    """Return the name of a field in HTML; prefixed and encoded, so that any name is allowed."""
    return PREFIX + quote(str(name), safe="")


def label_of(node: Node) -> str:
    """Return a field's label, made from its name when it has none."""
    label = words(node.get("label"))
    return label or words(node.get("name")).replace("_", " ").strip().capitalize() or "Value"


def options_of(node: Node) -> list[Option]:
    """Return the options of a field that has some."""
    if node.name == "Rating":
        return [Option(number, str(number)) for number in range(1, int(node.get("max") or 5) + 1)]
    return options(node.get("options") or [])


def _text(kind: type[answers.TextAnswer]) -> Callable[[Node, dict[str, Any]], forms.Field]:
    return lambda node, common: kind(
        min_length=node.get("min_length"),
        max_length=node.get("max_length"),
        pattern=node.get("pattern"),
        **common,
    )


def _range(kind: Callable[..., forms.Field]) -> Callable[[Node, dict[str, Any]], forms.Field]:
    return lambda node, common: kind(low=node.get("min"), high=node.get("max"), **common)


def _number(node: Node, common: dict[str, Any]) -> forms.Field:
    return answers.NumberAnswer(
        low=node.get("min"), high=node.get("max"), step=node.get("step") or None, **common
    )


def _one(node: Node, common: dict[str, Any]) -> forms.Field:
    return answers.ChoiceAnswer(options=options_of(node), **common)


def _many(node: Node, common: dict[str, Any]) -> forms.Field:
    return answers.ManyAnswer(options=options_of(node), widget=answers.ManyWidget, **common)


def _file(node: Node, common: dict[str, Any]) -> forms.Field:
    limit = min(int((node.get("max_size") or 10) * answers.MEGABYTE), settings.MAX_UPLOAD_SIZE)
    return answers.FileAnswer(
        accept=words(node.get("accept")), multiple=bool(node.get("multiple")), max_bytes=limit, **common
    )


_BUILDERS: Final[dict[str, Callable[[Node, dict[str, Any]], forms.Field]]] = {
    "TextField": _text(answers.TextAnswer),
    "TextArea": _text(answers.TextAnswer),
    "EmailField": _text(answers.EmailAnswer),
    "URLField": _text(answers.URLAnswer),
    "NumberField": _number,
    "Slider": _number,
    "Rating": _one,
    "Select": _one,
    "RadioGroup": _one,
    "Checkbox": lambda node, common: answers.CheckAnswer(**common),
    "CheckboxGroup": _many,
    "MultiSelect": _many,
    "DateField": _range(answers.DateAnswer),
    "TimeField": _range(answers.TimeAnswer),
    "DateTimeField": _range(answers.DateTimeAnswer),
    "FileField": _file,
}


def _form_field(node: Node) -> forms.Field:
    common = {"label": label_of(node), "required": bool(node.get("required")), "initial": node.get("value")}
    if node.get("disabled"):  # answers what agent code gave it, whatever a browser sends
        return forms.Field(**{**common, "required": False, "disabled": True})
    return _BUILDERS[node.name](node, common)


class MountForm(forms.Form):
    """The form of a mount; its fields have the names of `html_name`."""

    nodes: list[Node]

    def field_errors(self) -> dict[str, list[str]]:
        """Return the errors by the names that the fields have in the tree."""
        return {
            node.props["name"]: [str(error) for error in self.errors[name]]
            for node in self.nodes
            if (name := html_name(node.props["name"])) in self.errors
        }

    def raw_values(self) -> dict[str, Any]:
        """Return what was entered, by field, to show it again beside the errors; files cannot be shown."""
        return {
            node.props["name"]: self[html_name(node.props["name"])].value()
            for node in self.nodes
            if node.name != "FileField"
        }


def build_form(tree: Node, data: Any, files: HasFiles | None = None, form: str = "") -> MountForm:
    """Return the bound form of the fields of one form in the tree ("" is outside of any Form component)."""
    nodes = field_nodes(tree, form)
    fields = {html_name(node.props["name"]): _form_field(node) for node in nodes}
    made = type("TreeForm", (MountForm,), fields)(data=data, files=files or {})
    made.nodes = nodes
    assert isinstance(made, MountForm)
    return made


def values_json(form: MountForm, store: Store | None = None) -> dict[str, Any]:
    """Return the answers of a valid form as JSON, with tags for dates.

    `store` keeps a file and returns its handle, a dict with `id`, `name`, `size` and `type`.
    """
    values: dict[str, Any] = {}
    for node in form.nodes:
        value = form.cleaned_data[html_name(node.props["name"])]
        if node.name == "FileField":
            handles = [dict(store(file)) for file in value or []] if store else []
            value = handles if node.get("multiple") else (handles[0] if handles else None)
        values[node.props["name"]] = encode(value)
    return values


def from_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return answers as Python values: dates as dates."""
    return {name: decode(value) for name, value in values.items()}


def callback_arguments(tree: Node, callback: str, raw: Any = None) -> list[Any]:
    """Return what a callback is called with, as JSON: a field's new value, a chosen row, or nothing.

    Raises ValidationError when the value is none of the field's, LookupError when the tree has no such
    callback (any more).
    """
    for node in walk(tree):
        for name in ("on_click", "on_change", "on_row"):
            if node.props.get(name) == callback and not node.props.get("disabled"):
                match name:
                    case "on_change":
                        return [encode(_changed(node, raw))]
                    case "on_row":
                        return [encode(_row(node, raw))]
                    case _:
                        return []
    raise LookupError(f"the interface has no callback {callback!r} any more")


def _changed(node: Node, raw: Any) -> Any:
    field = _form_field(node)
    if isinstance(field, answers.TextAnswer):  # while somebody types nothing is wrong yet
        return "" if raw is None else str(raw).replace("\0", "")[: answers.MAX_TEXT]
    field.required = False
    return field.clean(raw)


def _row(node: Node, raw: Any) -> Any:
    rows = node.get("rows") or []
    for ident, row in zip(item_ids(node, "rows"), rows, strict=True):
        if ident == raw:
            return _plain(row)
    raise ValidationError("That row is not there any more.")


def _plain(row: Any) -> Any:
    """Return a row without its nodes, which only the page can show."""
    if isinstance(row, list):
        return [None if any(nodes_in(item)) else item for item in row]
    return {key: value for key, value in row.items() if not any(True for _ in nodes_in(value))}


def answer_text(node: Node, value: Any) -> str:
    """Return an answer as people read it."""
    if value is None or value == "" or value == []:
        return "—"
    if node.name == "FileField":
        handles = value if isinstance(value, list) else [value]
        return ", ".join(str(handle.get("name", "")) for handle in handles if isinstance(handle, Mapping))
    if node.name in ("Select", "RadioGroup", "CheckboxGroup", "MultiSelect"):
        chosen = value if isinstance(value, list) else [value]
        labels = {repr(option.value): option.label for option in options_of(node)}
        return ", ".join(labels.get(repr(item), words(item)) for item in chosen)
    if node.name == "Rating":
        return f"{words(value)} / {words(node.get('max'))}"
    return words(value)


def summary(tree: Node, values: Mapping[str, Any] | None, form: str | None = None) -> list[tuple[str, str]]:
    """Return (label, answer) of each field, for the read-only view; `values` as `from_json` gives them."""
    given = values or {}
    return [
        (label_of(node), answer_text(node, given[node.props["name"]]))
        for node in field_nodes(tree, form)
        if node.props["name"] in given
    ]
