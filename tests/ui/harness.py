"""A page with one mount on loopback, without the rest of the site: what components do in a real browser."""

import json
import threading
import time
from collections.abc import Callable
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl

from django.contrib.staticfiles import finders
from django.http import QueryDict
from django.utils.html import format_html

from chat.ui.build import namespace
from chat.ui.forms import build_form, callback_arguments, from_json, values_json
from chat.ui.nodes import Node, parse_tree
from chat.ui.render import MountContext, as_frame, render_changes, render_mount_body
from tests.browser import LONG, until

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'"
)
CONFIG = '{"includeIndicatorCSS": false, "defaultSettleDelay": 0, "noSwap": [204, 304, "4xx", "5xx"]}'
PAGE = """<!doctype html><html lang="en"><head><title>Mount</title><meta charset="utf-8">
<meta name="htmx-config" content='{}'>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/static/chat/style.css">
<script src="/static/django_htmx/htmax-4.js" defer></script>
<script src="/static/chat/components.js" defer></script><script src="/static/chat/elements.js" defer></script>
</head><body><main><h1>Page</h1><section class="mount" id="mount-m1">{}</section>
<textarea id="elsewhere" aria-label="Elsewhere"></textarea></main><div id="socket"></div></body></html>"""

Component = Callable[..., Any]
UI = namespace()


class Harness:
    """Serves the mount; `update` sends what changed, as the site's socket does."""

    def __init__(self) -> None:
        self.context = MountContext("m1", url="/m/m1/", token="1")
        self.tree: Node = parse_tree(UI["Card"]())
        self.submits: list[dict[str, Any]] = []
        self.calls: list[tuple[str, list[Any]]] = []
        self.posts: list[dict[str, str]] = []
        self.gate = threading.Event()  # requests wait for it
        self.gate.set()
        self.status = 204
        self.sent = 0
        harness = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                harness.get(self)

            def do_POST(self) -> None:
                harness.post(self)

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *args: object) -> None:
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()

    # What the browser asks for

    def get(self, request: BaseHTTPRequestHandler) -> None:
        path = request.path.partition("?")[0]
        if path.startswith("/static/"):
            found = finders.find(path.removeprefix("/static/"))
            kind = "text/css" if path.endswith(".css") else "text/javascript"
            with open(str(found), "rb") as file:
                answer(request, 200, file.read(), kind)
        else:
            body = format_html(PAGE, CONFIG, render_mount_body(self.tree, self.context))
            answer(request, 200, body.encode(), "text/html; charset=utf-8")

    def post(self, request: BaseHTTPRequestHandler) -> None:
        data = posted(request)
        self.posts.append(data.dict())
        self.gate.wait(20)
        if self.status >= 500:
            answer(request, self.status, b"down", "text/plain")
        elif request.path.endswith("submit/"):
            name = data.get("form", "")
            form = build_form(self.tree, data, form=name)
            if form.is_valid():
                self.submits.append(from_json(values_json(form)))
                answer(request, 204, b"", "text/plain")
            else:
                context = MountContext(
                    "m1",
                    url="/m/m1/",
                    token="1",
                    form=name,
                    errors=form.field_errors(),
                    values=form.raw_values(),
                )
                body = render_mount_body(self.tree, context)
                answer(request, 422, body.encode(), "text/html; charset=utf-8")
        else:
            raw = json.loads(data["value"]) if "value" in data else None
            self.calls.append((data["callback"], callback_arguments(self.tree, data["callback"], raw)))
            answer(request, 204, b"", "text/plain")

    # What the test does

    def show(self, page: Any, tree: Any) -> None:
        """Open the page with the tree."""
        self.tree = parse_tree(tree)
        page.goto(self.url)
        until(page, "!!customElements.get('chat-countdown')")
        # The last listener of htmx is there when a form is wired.
        until(page, "!document.querySelector('form') || !!document.querySelector('form').dataset.htmxPowered")

    def update(self, page: Any, tree: Any, context: MountContext | None = None) -> str:
        """Send what changed; return the frame."""
        new = parse_tree(tree)
        after = context or self.context
        frame = as_frame(render_changes(self.tree, new, after, self.context))
        self.tree, self.context = new, after
        self.sent += len(frame)
        page.evaluate(
            """html => htmx.swap({
                text: html, sourceElement: document.getElementById('socket'), target: '#socket', swap: 'none',
                transition: false,
            })""",
            frame,
        )
        return frame

    def until(self, reached: Callable[[], object]) -> None:
        """Wait for what the server has to see."""
        give_up = time.monotonic() + LONG
        while not reached():
            assert time.monotonic() < give_up, "it did not come to that"
            time.sleep(0.01)

    def same_as_reload(self, page: Any) -> None:
        """Fail unless the mount in the page is what a reload would show."""
        shown, fresh = page.evaluate(
            """html => {
                const clean = (root) => {
                    for (const element of root.querySelectorAll('*')) {
                        for (const name of ['data-htmx-powered', 'data-keep', 'class', 'hidden']) {
                            if (name !== 'class' || !element.className) element.removeAttribute(name);
                        }
                        if (element.matches('[hx-morph-skip]')) element.textContent = '';
                        const names = element.getAttributeNames().sort();
                        const values = names.map((name) => element.getAttribute(name));
                        for (const name of names) element.removeAttribute(name);
                        names.forEach((name, index) => element.setAttribute(name, values[index]));
                    }
                    root.normalize();
                    return root.innerHTML.replace(/\\s+/g, ' ').replaceAll('> <', '><');
                };
                const live = document.querySelector('.ui-body').cloneNode(true);
                const other = new DOMParser().parseFromString(html, 'text/html').querySelector('.ui-body');
                return [clean(live), clean(other)];
            }""",
            render_mount_body(self.tree, self.context),
        )
        assert shown == fresh


def answer(request: BaseHTTPRequestHandler, status: int, body: bytes, kind: str) -> None:
    request.send_response(status)
    request.send_header("Content-Type", kind)
    request.send_header("Content-Length", str(len(body)))
    request.send_header("Content-Security-Policy", POLICY)
    request.end_headers()
    request.wfile.write(body)


def posted(request: BaseHTTPRequestHandler) -> QueryDict:
    """Return the fields of a posted form."""
    body = request.rfile.read(int(request.headers["Content-Length"]))
    kind = request.headers["Content-Type"]
    data = QueryDict(mutable=True)
    if kind.startswith("multipart/"):
        message = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {kind}\r\n\r\n".encode() + body)
        for part in message.iter_parts():
            name = part.get_param("name", header="content-disposition")
            data.appendlist(str(name), part.get_payload(decode=True).decode())
    else:
        for name, value in parse_qsl(body.decode(), keep_blank_values=True):
            data.appendlist(name, value)
    return data
