"""What updates of an interface cost. Run on demand: `pytest tests/bench/test_ui.py -s`.

Each case says how many bytes go over the wire and how long the server works, beside sending the whole mount
again in the same run. The server's time is from the tree as JSON (as the sandbox gives it) to the frame. The
last case goes the whole way, from a changed state in agent code to the page. Nothing is asserted: figures
depend on the machine. What should be seen: bytes that follow the change, not the mount.
"""

# ruff: noqa: T201 - printing is what this is for

import json
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import median
from typing import Any

import pytest
from playwright.sync_api import expect

from chat.ui.build import namespace
from chat.ui.nodes import Node, parse_tree
from chat.ui.render import Fragment, MountContext, as_frame, render_changes, render_mount_body
from tests.browser import until
from tests.conftest import log_in
from tests.live import Site
from tests.provider import Provider
from tests.ui.harness import Harness

UI = namespace()
CONTEXT = MountContext("m1", url="/c/5f0c3f0e-4d2c-4b43-9a55-8d1c7c6d2f10/m/m1/", token="1")
ROWS = [{"name": f"customer {n}", "city": "Porto", "orders": n % 17, "total": n * 1.25} for n in range(1000)]
MILLI = 1e3


def table(rows: list[Any], **props: Any) -> dict[str, Any]:
    return dict(UI["Card"](UI["Table"](rows), **props))


def panel(step: int) -> dict[str, Any]:
    return dict(
        UI["Card"](
            UI["Progress"](step, max=200),
            UI["Stats"](*[UI["Metric"](name, step * n) for n, name in enumerate(("Read", "Kept", "Failed"))]),
            UI["Row"](UI["Button"]("Stop", on_click="stop"), UI["Badge"]("running")),
            UI["List"]([f"part {n}" for n in range(12)]),
            title="Import",
        )
    )


def states(case: str) -> Iterator[dict[str, Any]]:
    """Yield the trees of a case; each but the first is one update."""
    match case:
        case "one changed cell in 1,000 rows":
            yield table(ROWS)
            yield table([*ROWS[:500], {**ROWS[500], "total": -1}, *ROWS[501:]])
        case "one row appended to 1,000":
            yield table(ROWS)
            yield table([*ROWS, ROWS[3]])
        case "one row of 1,000 moved":
            yield table(ROWS)
            yield table([*ROWS[1:800], ROWS[0], *ROWS[800:]])
        case "new title above 1,000 rows":
            yield table(ROWS, title="a")
            yield table(ROWS, title="b")
        case "500 rows streamed, 20 frames a second":
            # 500 rows are about 40 kB; a model writes them in some 25 s, which makes 500 frames.
            yield table([])
            for count in range(1, 501):
                yield table([*ROWS[: count - 1], {"name": ROWS[count]["name"]}])
            yield table(ROWS[:500])
        case "200 state changes in a row":
            for step in range(201):
                yield panel(step)


CASES = [
    "one changed cell in 1,000 rows",
    "one row appended to 1,000",
    "one row of 1,000 moved",
    "new title above 1,000 rows",
    "500 rows streamed, 20 frames a second",
    "200 state changes in a row",
]


def measured(trees: list[str], send: Callable[[Node, Node], str]) -> tuple[int, float, int]:
    """Return bytes, seconds and number of frames of all updates together."""
    old = parse_tree(json.loads(trees[0]))
    size, frames, started = 0, 0, time.perf_counter()
    for text in trees[1:]:
        new = parse_tree(json.loads(text))
        size += len(send(old, new).encode())
        frames += 1
        old = new
    return size, time.perf_counter() - started, frames


@pytest.mark.parametrize("case", CASES)
def test_server(case: str) -> None:
    trees = [json.dumps(tree) for tree in states(case)]
    render_mount_body(parse_tree(json.loads(trees[0])), CONTEXT)  # loads the templates
    changed, work, frames = measured(trees, lambda old, new: as_frame(render_changes(old, new, CONTEXT)))
    whole, whole_work, _ = measured(trees, lambda old, new: render_mount_body(new, CONTEXT))
    print(
        f"\n{case}: {changed:,} bytes, {work / frames * MILLI:.1f} ms a frame"
        f" | whole mount: {whole:,} bytes, {whole_work / frames * MILLI:.1f} ms a frame"
        f" | {whole / changed:,.0f} times fewer bytes"
    )


@pytest.mark.parametrize("case", CASES)
def test_browser(case: str, page: Any) -> None:
    """How long Chromium takes to apply the same updates."""
    trees = [parse_tree(tree) for tree in states(case)]
    frames = [as_frame(render_changes(old, new, CONTEXT)) for old, new in pairwise(trees)]
    times = {}
    for name, sent in {
        "changes": frames,
        "whole": [
            as_frame([Fragment("m1_body", "outerMorph", render_mount_body(tree, CONTEXT))])
            for tree in trees[1:]
        ],
    }.items():
        with Harness() as harness:
            harness.context = CONTEXT
            harness.tree = trees[0]
            page.goto(harness.url)
            until(page, "!!customElements.get('chat-countdown')")
            times[name] = page.evaluate(
                """async (frames) => {
                    const sourceElement = document.getElementById('socket');
                    const started = performance.now();
                    for (const text of frames) {
                        const ctx = {text, sourceElement, target: '#socket', swap: 'none', transition: false};
                        await htmx.swap(ctx);
                    }
                    document.body.getBoundingClientRect(); // layout belongs to it
                    return (performance.now() - started) / frames.length;
                }""",
                sent,
            )
    print(f"\n{case}: {times['changes']:.2f} ms a frame | whole mount: {times['whole']:.2f} ms a frame")


UPDATES = 60
CODE = f"""Watch:

```python agent.run
data = Data(at="")
mount(lambda: Text(data.at))
for step in range({UPDATES}):
    data.at = (await now()).isoformat()
    await sleep(0.1)
```
"""


def test_from_a_changed_state_to_the_page(page: Any, tmp_path: Any) -> None:
    """The clock of the site stands in the state; the page compares it with its own when the text changes."""
    with Provider() as provider:
        provider.say(CODE)
        variables = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": provider.base_url, "OPENAI_MODEL": "m"}
        with Site(tmp_path, **variables) as site:
            log_in(page, site)
            page.add_init_script(
                """window.delays = [];
                addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
                    const text = document.querySelector(".mount .ui-text")?.textContent;
                    if (text && text !== window.last) {
                        window.delays.push(Date.now() - Date.parse(text));
                        window.last = text;
                    }
                }).observe(document.body, { subtree: true, childList: true, characterData: true }));"""
            )
            page.goto(site.url)
            page.get_by_role("textbox", name="message").first.fill("Watch the clock")
            page.get_by_role("button", name="Send").click()
            expect(page.locator(".mount .ui-text")).to_be_visible(timeout=30_000)
            expect(page.locator("#conversation[data-state=idle]")).to_have_count(1, timeout=30_000)
            delays = sorted(page.evaluate("window.delays"))
            page.close()  # before the site is gone, which it would complain about
    print(
        f"\n{len(delays)} changes of state: {median(delays):.0f} ms in the middle, {delays[-3:]} ms at worst"
    )
