import gzip
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chat.skills import SKILLS, HttpPolicy, SkillContext, SkillError
from tests.skills.stores import Files, Memory
from tests.skills.web import Answer, Web, resolve_as

LOOPBACK = ("127.0.0.1/32",)


@pytest.fixture
def web() -> Iterator[Web]:
    with Web() as server:
        yield server


async def fetch(*args: Any, skill: str = "fetch", networks: tuple[str, ...] = LOOPBACK, **policy: Any) -> Any:
    headers = policy.pop("headers", None)
    context = SkillContext(Memory(), Files(), HttpPolicy(networks=networks, **policy))
    return await SKILLS[skill].call(context, args, {"headers": headers} if headers else {})


async def test_a_page(web: Web) -> None:
    web.pages["/a?b=c"] = Answer(
        "grün".encode("latin-1"), headers={"Content-Type": "text/html; charset=latin-1"}
    )
    page = await fetch(web.url("/a?b=c"))
    assert page["status"] == 200
    assert page["text"] == "grün"
    assert page["url"] == web.url("/a?b=c")
    assert page["headers"]["content-type"] == "text/html; charset=latin-1"


async def test_any_status_is_returned(web: Web) -> None:
    page = await fetch(web.url("/missing"))
    assert (page["status"], page["text"]) == (404, "nothing here")


async def test_json(web: Web) -> None:
    web.pages["/"] = Answer(b'{"a": [1, null]}')
    assert await fetch(web.url(), skill="fetch_json") == {"a": [1, None]}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(b"<p>no", 200), "did not answer with JSON.*begins with: <p>no"),
        (Answer(b'{"error": 1}', 500), "status 500: {"),
        (Answer(b"[" * 100_000), "did not answer with JSON"),
    ],
)
async def test_what_is_not_json(web: Web, answer: Answer, words: str) -> None:
    web.pages["/"] = answer
    with pytest.raises(SkillError, match=words):
        await fetch(web.url(), skill="fetch_json")


async def test_headers(web: Web) -> None:
    await fetch(web.url(), headers={"X-Token": "t", "user-agent": "mine"})
    assert web.asked[0].headers["x-token"] == "t"
    assert web.asked[0].headers["user-agent"] == "mine"
    assert web.asked[0].headers["host"] == f"127.0.0.1:{web.port}"


@pytest.mark.parametrize(
    "headers", [{"Host": "x"}, {"a": 1}, {"a": "b\r\nc: d"}, {"Transfer-Encoding": "chunked"}]
)
async def test_headers_that_are_refused(web: Web, headers: dict[str, Any]) -> None:
    with pytest.raises(SkillError):
        await fetch(web.url(), headers=headers)
    assert web.asked == []


NUMBERS = """
http://127.0.0.1/ http://127.1/ http://2130706433/ http://0x7f000001/ http://0x7f.0.0.1/ http://017700000001/
http://0177.0.0.1/ http://127.0.0.1./ http://0/ http://0.0.0.0/ http://[::1]/ http://[::]/ http://[::ffff:127.0.0.1]/
http://[::ffff:7f00:1]/ http://[0:0:0:0:0:ffff:127.0.0.1]/ http://[64:ff9b::7f00:1]/ http://[2002:7f00:1::]/
http://169.254.169.254/latest/meta-data/ http://[fe80::1]/ http://[fd00::1]/ http://10.0.0.1/ http://192.168.0.1/
http://100.64.0.1/ http://224.0.0.1/ http://localhost/ http://localhost./ http://LOCALHOST/ http://ip6-localhost/
https://127.0.0.1/
"""


@pytest.mark.parametrize("url", NUMBERS.split())
async def test_addresses_that_are_not_public(url: str) -> None:
    with pytest.raises(SkillError, match=r"not on the open internet|was not found|is no URL"):
        await fetch(url, networks=())


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("file:///etc/passwd", "must start with https:// or http://"),
        ("ftp://example.com/", "must start with https:// or http://"),
        ("gopher://example.com/", "must start with"),
        ("javascript:alert(1)", "must start with"),
        ("//example.com/", "must start with"),
        ("example.com", "must start with"),
        ("http://", "must start with"),
        ("", "must start with"),
        ("http://user:word@example.com/", "user name or password"),
        ("http://127.0.0.1@example.com/", "user name or password"),
        ("http://exa mple.com/", "is no URL|was not found"),
        ("http://example.com:99999/", "is no URL|was not found|not be fetched"),
        ("http://[::1/", "is no URL"),
        ("http://１２７.０.０.１/", "is no URL|not on the open internet"),
        ("http://a/" + "x" * 5000, "4000 are accepted"),
        (5, "must be a text"),
        (None, "must be a text"),
    ],
)
async def test_urls_that_are_refused(url: Any, words: str) -> None:
    with pytest.raises(SkillError, match=words):
        await fetch(url, networks=())


async def test_names_that_lead_inside(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_as({"inside.test": ["127.0.0.1"], "both.test": ["8.8.8.8 127.0.0.1"]}, monkeypatch)
    for host in ("inside.test", "both.test"):
        with pytest.raises(SkillError, match=f"{host} is at 127.0.0.1"):
            await fetch(web.url(host=host), networks=())
    assert web.asked == []


async def test_a_name_is_resolved_once_and_the_connection_goes_where_it_was_checked(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Rebinding: the first answer passes the check, any further one would be an address inside.
    web.pages["/"] = Answer(b"here")
    asked = resolve_as({"rebind.test": ["127.0.0.1", "127.0.0.2"]}, monkeypatch)
    page = await fetch(web.url(host="rebind.test"))
    assert page["text"] == "here"
    assert asked == ["rebind.test"]
    assert web.asked[0].headers["host"] == f"rebind.test:{web.port}"


async def test_the_next_address_is_tried(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    web.pages["/"] = Answer(b"here")
    resolve_as({"two.test": ["127.0.0.9 127.0.0.1"]}, monkeypatch)
    page = await fetch(web.url(host="two.test"), networks=("127.0.0.0/8",))
    assert page["text"] == "here"


async def test_redirects(web: Web) -> None:
    web.pages["/a"] = Answer(status=302, headers={"Location": "/b?x=1"})
    web.pages["/b?x=1"] = Answer(status=308, headers={"Location": web.url("/c")})
    web.pages["/c"] = Answer(b"there")
    page = await fetch(web.url("/a"), headers={"X-Token": "t"})
    assert (page["text"], page["url"]) == ("there", web.url("/c"))
    assert web.asked[-1].headers["x-token"] == "t"


async def test_a_redirect_to_another_host_gets_no_headers_of_the_first(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_as({"one.test": ["127.0.0.1"], "two.test": ["127.0.0.1"]}, monkeypatch)
    web.pages["/a"] = Answer(status=301, headers={"Location": web.url("/b", "two.test")})
    await fetch(web.url("/a", "one.test"), headers={"Authorization": "secret"})
    assert [asked.headers.get("authorization") for asked in web.asked] == ["secret", None]


@pytest.mark.parametrize(
    "location",
    ["http://127.0.0.2/", "http://127.2/", "http://[::1]/", "http://0x7f.2/", "file:///etc/passwd"],
)
async def test_redirects_that_lead_inside(web: Web, location: str) -> None:
    web.pages["/"] = Answer(status=302, headers={"Location": location})
    with pytest.raises(SkillError, match=r"not on the open internet|must start with"):
        await fetch(web.url())
    assert len(web.asked) == 1


async def test_redirects_without_end(web: Web) -> None:
    web.pages["/"] = Answer(status=302, headers={"Location": "/"})
    with pytest.raises(SkillError, match="more than 3 times"):
        await fetch(web.url(), max_redirects=3)
    assert len(web.asked) == 4


async def test_lists_of_hosts_hold_for_redirects_too(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = resolve_as({"good.test": ["127.0.0.1"], "bad.test": ["127.0.0.1"]}, monkeypatch)
    web.pages["/"] = Answer(status=302, headers={"Location": web.url("/x", "bad.test")})
    with pytest.raises(SkillError, match=r"bad\.test is not on this site's list of hosts: good\.test"):
        await fetch(web.url(host="good.test"), allow=("good.test",))
    with pytest.raises(SkillError, match="must not be reached"):
        await fetch(web.url(host="BAD.test"), deny=("bad.test",))
    assert asked == ["good.test"]


async def test_a_body_that_is_too_long(web: Web) -> None:
    web.pages["/"] = Answer(b"x" * 10_000, endless=True)
    with pytest.raises(SkillError, match="longer than 50,000 bytes"):
        await fetch(web.url(), max_bytes=50_000)


async def test_compressed(web: Web) -> None:
    web.pages["/"] = Answer(gzip.compress(b"small" * 100), headers={"Content-Encoding": "gzip"})
    assert (await fetch(web.url()))["text"] == "small" * 100


async def test_a_bomb(web: Web) -> None:
    bomb = gzip.compress(b"\x20" * 50_000_000)
    assert len(bomb) < 50_000
    web.pages["/"] = Answer(bomb, headers={"Content-Encoding": "gzip"})
    with pytest.raises(SkillError, match="longer than 100,000 bytes"):
        await fetch(web.url(), max_bytes=100_000)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(b"no gzip", headers={"Content-Encoding": "gzip"}), "could not be fetched"),
        (Answer(b"x", headers={"Content-Encoding": "br"}), "encoding 'br'"),
        (Answer(b"\x89PNG", headers={"Content-Type": "image/png"}), "not text but image/png"),
        (Answer(b"a\0b", headers={}), "not text but binary data"),
        (Answer(b"x", headers={"Content-Length": "5"}), "could not be fetched"),
    ],
)
async def test_bodies_that_are_refused(web: Web, answer: Answer, words: str) -> None:
    web.pages["/"] = answer
    with pytest.raises(SkillError, match=words):
        await fetch(web.url())


async def test_an_unknown_character_set(web: Web) -> None:
    web.pages["/"] = Answer("é".encode(), headers={"Content-Type": "text/plain; charset=klingon"})
    assert (await fetch(web.url()))["text"] == "é"


@pytest.mark.parametrize("answer", [Answer(hang=True), Answer(b"x", endless=True)])
async def test_time_is_limited_for_all_of_it(web: Web, answer: Answer) -> None:
    web.pages["/"] = answer
    with pytest.raises(SkillError, match=r"within 0\.3 seconds"):
        await fetch(web.url(), seconds=0.3, max_bytes=10**12)


async def test_nobody_there() -> None:
    with Web() as web:
        url = web.url()
    with pytest.raises(SkillError, match="could not be fetched"):
        await fetch(url)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with key and certificate for secure.test."""
    path = tmp_path_factory.mktemp("tls") / "secure.pem"
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=secure.test"
    )
    files = ["-addext", "subjectAltName=DNS:secure.test", "-keyout", str(path), "-out", str(path) + ".crt"]
    subprocess.run([*command.split(), *files], check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + Path(f"{path}.crt").read_bytes())
    return path


async def test_the_certificate_must_be_the_hosts(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(certificate)
    trusting = ssl.create_default_context(cafile=str(certificate))
    monkeypatch.setattr("chat.skills.http.client._tls", lambda: trusting)
    resolve_as({"secure.test": ["127.0.0.1"], "other.test": ["127.0.0.1"]}, monkeypatch)
    with Web(tls=serving) as web:
        web.pages["/"] = Answer(b"secret")
        assert (await fetch(web.url(host="secure.test")))["text"] == "secret"
        with pytest.raises(SkillError, match="certificate"):
            await fetch(web.url(host="other.test"))
        with pytest.raises(SkillError, match="certificate"):
            await fetch(web.url())


async def test_an_untrusted_certificate(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(certificate)
    resolve_as({"secure.test": ["127.0.0.1"]}, monkeypatch)
    with Web(tls=serving) as web, pytest.raises(SkillError, match="certificate"):
        await fetch(web.url(host="secure.test"))
