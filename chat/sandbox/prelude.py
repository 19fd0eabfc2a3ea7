"""The sandbox's own names, as source: constructors from the component specs, mounts, waits, skills.

Also the entry points by which the runtime calls into an idle session; each returns what `Session.run` takes.

The names inside call these host functions, answered at once unless it says "later":

    _mount(tree, live, keeps) -> name      a new mount; the tree is JSON text (`chat.ui.nodes`)
    _update(name, tree, live)              its tree has changed; live as for _mount
    _close(name)                           it is to be closed
    _stream(target)                        there is streamed data of this name
    _every(timer, seconds)                 call `entry_tick` as often, while somebody looks
    _stop_timer(timer)
    _report(where, type, message)          a callback failed while code waits
    _wait(request, renders)                later: {"kind": "form", "mount", "timeout", "wait"} or
                                           {"kind": "sleep", "seconds", "wait"}
    _skill(name, args, kwargs, renders)    later: the skill's result

`renders` is what `entry_renders` gives. `_wait` is answered with an event. {"t": "value", "v"},
{"t": "timeout"} and {"t": "dismissed", "text"} end the wait. {"t": "callback", "id", "args"},
{"t": "submit", "mount", "values"} and {"t": "tick", "id"} call a function of the agent, after which the same
wait (the same "wait" number) is asked for again, with "again": True. A wait that is not asked for again
before the program's next stop is over: a callback has ended it, as a click ends `choose`.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from chat.sandbox.base import Prelude
from chat.sandbox.limits import SandboxLimits

INSIDE: Final = Path(__file__).parent / "inside"

# Changes when what the runtime and the names inside a saved session say to each other changes: a session
# saved before brings its own names along.
PROTOCOL: Final = 1

ENTRY: Final = "_entries["
NAMES: Final = (
    "mount", "ask", "choose", "sleep", "every", "Data", "StreamedData", "print",
)  # fmt: skip

Program = tuple[str, dict[str, Any]]


def _spec(spec: Mapping[str, Any]) -> list[Any]:
    """Return what a constructor needs of a component's spec, kept short: it is part of every snapshot."""
    props = spec["props"]
    types = {name: [prop["type"], list(prop.get("choices") or ())] for name, prop in props.items()}
    required = [name for name, prop in props.items() if prop.get("required")]
    return [bool(spec["children"]), list(spec["positional"]), types, required]


def specs(prelude: Prelude) -> dict[str, str]:
    """Return the constructors' table, by component, each as JSON text."""
    return {str(spec["name"]): json.dumps(_spec(spec), separators=(",", ":")) for spec in prelude.specs}


def source(prelude: Prelude, limits: SandboxLimits) -> str:
    """Return the sandbox Python that a fresh namespace runs first; it needs `specs` as its input `_specs`."""
    lines = [
        (INSIDE / "nodes.monty").read_text(),
        (INSIDE / "mounts.monty").read_text(),
        (INSIDE / "helpers.monty").read_text(),
        "_printed = 0",
        f"_built = _build_nodes(_specs, {limits.nodes}, {limits.depth})",
        "_component = _built[1]",
        *(f"{spec['name']} = _component({str(spec['name'])!r})" for spec in prelude.specs),
        f"{', '.join(NAMES)}, _made_skill, _entries = _build_mounts(_built, {limits.output_chars}, "
        f"{limits.tree_chars})",
        *(f"{name} = _made_skill({name!r})" for name in prelude.skills),
        "_provide, _import, _import_from, _delete, _method, callable = _build_helpers(sleep)",
        "Dismissed = KeyboardInterrupt",
        "_specs = _built = _build_nodes = _build_mounts = _build_helpers = _component = _made_skill = None",
    ]
    return "\n".join(lines) + "\n"


def entry_render(mount: str) -> Program:
    """The mount's tree as JSON text, or None when it is unchanged or not live; raises what its ui raises."""
    return '_entries["render"](_in)', {"_in": mount}


def entry_renders() -> Program:
    """JSON text: `[name, tree]` or `[name, null, error]` for every open live mount that changed."""
    return '_entries["renders"]()', {}


def entry_callback(callback: str, args: Sequence[Any] = ()) -> Program:
    """Calls a callback of the current tree: "done", or "gone" when it is in none."""
    return 'await _entries["callback"](_in)', {"_in": {"t": "callback", "id": callback, "args": list(args)}}


def entry_submit(mount: str, values: Mapping[str, Any]) -> Program:
    """Calls the mount's `on_submit`: "done", or "gone" when it has none."""
    return 'await _entries["callback"](_in)', {"_in": {"t": "submit", "mount": mount, "values": dict(values)}}


def entry_tick(timer: str) -> Program:
    """Calls a timer's function: "done", or "gone" when it was stopped."""
    return 'await _entries["callback"](_in)', {"_in": {"t": "tick", "id": timer}}


def entry_redraw() -> Program:
    """Forgets which trees were sent: the next renders return them all."""
    return 'await _entries["callback"](_in)', {"_in": {"t": "redraw"}}


def entry_stream(target: str, text: str, complete: bool) -> Program:
    """Sets a streamed data's value from JSON text: "done", or "gone" when there is no such target."""
    return '_entries["stream"](*_in)', {"_in": [target, text, complete]}


def entry_close(mount: str) -> Program:
    """Forgets a mount that the host has closed: its callbacks and its ui are never called again."""
    return '_entries["close"](_in)', {"_in": mount}


def is_entry(program: str) -> bool:
    """Whether this source is one of the entry points, not the agent's code."""
    return program.removeprefix("await ").startswith(ENTRY)
