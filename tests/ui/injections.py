"""What somebody could try to make text become markup, attribute, script, style or htmx instruction."""

from html.parser import HTMLParser
from typing import Any

from chat.ui.checks import safe_url

INJECTIONS = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    '"><script>alert(1)</script>',
    "'><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)" x="',
    "' onfocus='alert(1)' autofocus='",
    "` onclick=alert(1) `",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<style>*{display:none}</style>",
    '<b style="position:fixed;inset:0">x</b>',
    '<div hx-get="/accounts/logout/" hx-trigger="load"></div>',
    '<div id="timeline" hx-swap-oob="true">gone</div>',
    '<hx-partial hx-target="#timeline" hx-swap="innerHTML">gone</hx-partial>',
    "</hx-partial><hx-partial hx-target=body>gone</hx-partial>",
    '<template hx type="partial" hx-target="body">gone</template>',
    "<title>renamed</title>",
    "<head><title>renamed</title></head>",
    "<form action=//evil.example><input name=password>",
    "</textarea><script>alert(1)</script>",
    "</title></select></option><script>alert(1)</script>",
    "<base href=//evil.example>",
    "<meta http-equiv=refresh content=0>",
    "<a href=javascript:alert(1)>x</a>",
    "javascript:alert(1)",
    " javascript:alert(1)",
    "java\tscript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "//evil.example/x",
    'https://ok.example/" onclick="alert(1)',
    "{% debug %}{{ settings.SECRET_KEY }}{# x #}",
    "{{ 7|add:7 }}",
    "${alert(1)} #{alert(1)}",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "<!--><script>alert(1)</script>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "\u2028<script>alert(1)</script>\u2029",
    "\x00<script\x00>alert(1)</script>",
    "ｊavascript:alert(1) ＜script＞",
    "../../../../etc/passwd",
    "__class__",
    "csrfmiddlewaretoken",
    "#timeline, body",
    "x]; } </style> *{color:red}",
]

# What our own templates may write. Anything else in the output came from data.
_TAGS = """
a article aside blockquote br button caption circle code col colgroup dd defs del desc details
dialog div dl dt ellipse em fieldset figcaption figure footer form g h1 h2 h3 h4 h5 h6 header hr img
input label legend li line mark meter nav ol optgroup option output p path polygon polyline pre
progress rect s search section select small span strong summary sup svg table tbody td text textarea
tfoot th thead time tr tspan ul use chat-calls chat-code chat-countdown chat-confirm chat-multiselect
chat-table chat-tabs chat-tooltip
"""
TAGS = set(_TAGS.split())
NEVER = {"style", "srcdoc", "autofocus", "formaction", "background", "ping", "action", "srcset", "poster"}
HTMX = {
    "hx-post",
    "hx-swap",
    "hx-target",
    "hx-status:422",
    "hx-sync",
    "hx-encoding",
    "hx-morph-skip",
    "hx-ignore",
}


class _Checker(HTMLParser):
    def __init__(self, images: str) -> None:
        super().__init__(convert_charrefs=True)
        self.images = images
        self.problems: list[str] = []
        self.in_svg = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        self.in_svg = tag == "svg" or self.in_svg
        if tag not in TAGS and not (tag == "title" and self.in_svg):  # a title elsewhere renames the page
            self.problems.append(f"<{tag}>")
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.problems.append(f"attribute twice in <{tag}>: {names}")
        for name, value in attrs:
            if name in NEVER or name.startswith("on"):
                self.problems.append(f"{name}={value!r} in <{tag}>")
            if name.startswith(("hx-", "data-hx-")) and name not in HTMX:
                self.problems.append(f"{name}={value!r} in <{tag}>")
            if name in ("href", "xlink:href") and not (safe_url(value) or value.startswith("/c/")):
                self.problems.append(f"{name}={value!r} in <{tag}>")
            if name == "src" and not value.startswith(self.images):
                self.problems.append(f"{name}={value!r} in <{tag}>")
            if name == "id" and not value.replace("-", "").replace("_", "").isalnum():
                self.problems.append(f"{name}={value!r} in <{tag}>")

    def handle_endtag(self, tag: str) -> None:
        self.in_svg = self.in_svg and tag != "svg"

    def handle_comment(self, data: str) -> None:
        self.problems.append(f"comment {data!r}")

    def handle_pi(self, data: str) -> None:
        self.problems.append(f"instruction {data!r}")

    def handle_decl(self, decl: str) -> None:
        self.problems.append(f"declaration {decl!r}")


def assert_harmless(html: str, images: str = "/c/") -> None:
    """Fail unless the HTML holds nothing but what our templates write."""
    checker = _Checker(images)
    checker.feed(html)
    checker.close()
    assert checker.problems == [], f"{checker.problems} in {html}"
