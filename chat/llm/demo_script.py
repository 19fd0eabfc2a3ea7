"""The demo's scripts: files of replies with the words that call for them.

    title: Book a table               what the start page shows; without a title it is no example
    prompt: Book a table for tonight
    description: A form …
    order: 1                          of examples, and of scripts that fit equally well
    match: book, table, reserv*       words in a user's message that call for this script

    === reply
    The first reply, as a model would write it.

    === when: booked.*'name': '(?P<name>[^']+)'
    Plays when feedback contains the pattern; {{name}} is what a group of it found.

Adding one touches one file in `demo_replies/`.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "demo_replies"
DIVIDER = re.compile(r"^=== (reply|when: *(?P<when>.+)) *\n", re.MULTILINE)
FALLBACK = "help"  # the script that plays when no other fits
# Enough of a reply's beginning to tell which one it was, also when it was stopped or cut after that.
HEAD = 40


@dataclass(frozen=True)
class Reply:
    """One turn of a script; the first has no condition."""

    when: re.Pattern[str] | None
    text: str

    def wrote(self, text: str) -> bool:
        """Return whether a message is this reply, or the beginning of it."""
        head, said = self.head, _plain(text)
        return bool(said) and (said.startswith(head) or head.startswith(said))

    @property
    def head(self) -> str:
        """The beginning that tells this reply from all others."""
        return _plain(self.text.partition("{{")[0])[:HEAD]


@dataclass(frozen=True)
class DemoScript:
    """A scripted conversation."""

    name: str
    title: str
    prompt: str
    description: str
    order: int
    words: tuple[re.Pattern[str], ...]
    replies: tuple[Reply, ...]

    def score(self, message: str) -> int:
        """Return how many of the script's words a user's message has."""
        return sum(bool(word.search(message)) for word in self.words)

    def answer(self, feedback: str) -> str | None:
        """Return the later turn that feedback calls for, None when there is none."""
        for reply in self.replies:
            if reply.when is not None and (found := reply.when.search(feedback)):
                return _filled(reply.text, found.groupdict(""))
        return None


@dataclass(frozen=True)
class Example:
    """What the start page offers."""

    title: str
    prompt: str
    description: str


def parse_script(name: str, text: str) -> DemoScript:
    """Return the script in a file's text; raises `ValueError` that names file and fault."""
    first = DIVIDER.search(text)
    if first is None or first["when"]:
        raise ValueError(f"demo script {name}: the header must be followed by a line '=== reply'")
    head: dict[str, str] = {}
    for line in text[: first.start()].splitlines():
        if line.strip():
            key, colon, value = line.partition(":")
            if not colon:
                raise ValueError(f"demo script {name}: {line!r} is no header line of the form 'name: value'")
            head[key.strip()] = value.strip()
    unknown = head.keys() - {"title", "prompt", "description", "order", "match"}
    if unknown:
        raise ValueError(f"demo script {name}: unknown header {', '.join(sorted(unknown))}")
    marks = list(DIVIDER.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    replies = tuple(
        Reply(when=re.compile(mark["when"], re.DOTALL) if mark["when"] else None, text=f"{body}\n")
        for mark, end in zip(marks, ends, strict=True)
        if (body := text[mark.end() : end].strip("\n"))
    )
    return DemoScript(
        name=name,
        title=head.get("title", ""),
        prompt=head.get("prompt", ""),
        description=head.get("description", ""),
        order=int(head.get("order", "1000")),
        words=tuple(_word(word.strip()) for word in head.get("match", "").split(",") if word.strip()),
        replies=replies,
    )


def _filled(text: str, values: dict[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda hole: values.get(hole[1], hole[0]), text)


def _plain(text: str) -> str:
    # The history may write a fence with other backticks than the reply had.
    return re.sub(r"[`\s]+", "", text)


def _word(word: str) -> re.Pattern[str]:
    """Return a pattern for a whole word or phrase; a star at its end stands for any ending."""
    stem, star = word.removesuffix("*"), word.endswith("*")
    return re.compile(rf"(?<!\w){re.escape(stem)}" + ("" if star else r"(?!\w)"), re.IGNORECASE)


@cache
def load_scripts() -> tuple[DemoScript, ...]:
    """Return all scripts in their order."""
    scripts = [parse_script(path.stem, path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.md")]
    return tuple(sorted(scripts, key=lambda script: (script.order, script.name)))


def examples() -> tuple[Example, ...]:
    """Return the scripts that have a title, as the start page offers them."""
    return tuple(
        Example(script.title, script.prompt, script.description) for script in load_scripts() if script.title
    )
