"""A page as a browser keeps it: enough of a document, and of htmx's swaps, to apply frames to."""

import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "path", "circle", "line", "rect"})
PARTIAL = re.compile(
    r'<hx-partial hx-target="([^"]+)" hx-swap="(\w+)">(.*?)</hx-partial>', re.DOTALL
)  # they are never inside of each other


@dataclass(eq=False)
class Element:
    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list["Element | str"] = field(default_factory=list)

    def elements(self) -> list["Element"]:
        return [child for child in self.children if isinstance(child, Element)]

    def find(self, identity: str) -> "Element | None":
        if self.attributes.get("id") == identity:
            return self
        return next((found for child in self.elements() if (found := child.find(identity))), None)

    def parent_of(self, wanted: "Element") -> "Element":
        if wanted in self.children:
            return self
        for child in self.elements():
            if child.tag and (found := child._parent_of(wanted)):
                return found
        raise LookupError(wanted)

    def _parent_of(self, wanted: "Element") -> "Element | None":
        try:
            return self.parent_of(wanted)
        except LookupError:
            return None

    def text(self) -> str:
        """Return the element as HTML in which white space and the order of attributes do not matter."""
        own = {name: value for name, value in self.attributes.items() if name != "data-keep"}
        attributes = "".join(f' {name}="{value}"' for name, value in sorted(own.items()))
        inside = "".join(child if isinstance(child, str) else child.text() for child in self.children)
        return f"<{self.tag}{attributes}>{re.sub(r'\s+', ' ', inside).strip()}</{self.tag}>\n"


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("root")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parsed(html: str) -> Element:
    """Return the elements of some HTML below one root."""
    builder = _Builder()
    builder.feed(html)
    builder.close()
    assert len(builder.open) == 1, f"<{builder.open[-1].tag}> is not closed"
    return builder.root


class Page:
    """An open page: loaded, then changed by frames."""

    def __init__(self, html: str) -> None:
        self.have = int(re.search(r'data-seq="(\d+)"', html)[1])  # type: ignore[index]
        self.root = parsed(re.sub(r"<!DOCTYPE[^>]*>", "", html, flags=re.IGNORECASE))

    def take(self, frame: str) -> None:
        """Apply a frame as it comes through the socket."""
        content = json.loads(frame)
        self.have = content.get("n", self.have)
        self.apply(content["content"])

    def apply(self, html: str) -> None:
        """Apply fragments; each must find its target, which no other fragment of the frame has made."""
        assert PARTIAL.sub("", html).strip() == "", "only partials may stand in a frame"
        # All targets are looked up before anything is swapped, as htmx does it.
        swaps = [(self._target(target), swap, html) for target, swap, html in PARTIAL.findall(html)]
        for target, swap, inner in swaps:
            self._swap(target, swap, parsed(inner).children)

    def _target(self, selector: str) -> Element:
        identity, *steps = selector.removeprefix("#").replace("&gt;", ">").split(" > ")
        target = self.root.find(identity)
        assert target is not None, f"no element has the id {identity}"
        for step in steps:
            assert step == ":last-child"
            target = target.elements()[-1]
        return target

    def _swap(self, target: Element, swap: str, new: list[Element | str]) -> None:
        if swap == "beforeend":
            target.children += new
            return
        if swap == "afterbegin":
            target.children[:0] = new
            return
        if swap == "innerMorph":
            target.children = new
            return
        if swap == "outerMorph":
            (element,) = [node for node in new if isinstance(node, Element)]
            _morph(target, element)
            return
        parent = self.root.parent_of(target)
        place = parent.children.index(target)
        match swap:
            case "outerHTML":
                parent.children[place : place + 1] = new
            case "delete":
                del parent.children[place]
            case "beforebegin":
                parent.children[place:place] = new
            case "afterend":
                parent.children[place + 1 : place + 1] = new
            case _:
                raise AssertionError(swap)

    def shown(self) -> str:
        """Return what a person sees of the conversation."""
        parts = [self.root.find(name) for name in ("timeline", "notice", "conversation")]
        assert all(parts)
        return re.sub(r"\s*(</?)", r"\n\1", "".join(part.text() for part in parts if part))


def _morph(old: Element, new: Element) -> None:
    """Make the old element what the new one is; elements with ids stay the same elements."""
    assert old.tag == new.tag, f"<{old.tag}> can't become <{new.tag}>"
    old.attributes = new.attributes
    if {"hx-morph-skip-children", "data-keep"} & new.attributes.keys():
        return
    before = {element.attributes.get("id"): element for element in old.elements()}
    children: list[Element | str] = []
    for child in new.children:
        same = before.get(child.attributes.get("id", "")) if isinstance(child, Element) else None
        if isinstance(child, Element) and same is not None and same.tag == child.tag:
            _morph(same, child)
            children.append(same)
        else:
            children.append(child)
    old.children = children
