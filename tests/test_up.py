"""`manage.py up`, in a process of its own: from an empty folder to a site, and gently down again."""

import signal
import socket
import urllib.request
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat.management import preparation
from chat.management.commands.up import address_line, model_line, names_of, port_number
from tests.live import Site, free_port


def status(site: Site, path: str, *, host: str = "") -> int:
    """Return the status of an answer, without following it."""
    connection = HTTPConnection("127.0.0.1", site.port, timeout=10)
    try:
        connection.request("GET", path, headers={"Host": host or f"127.0.0.1:{site.port}"})
        return connection.getresponse().status
    finally:
        connection.close()


def test_from_nothing_to_a_site(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Site(data) as site:
        assert "The demo model answers" in site.output
        assert f"The site is at {site.url}/" in site.output
        assert (site.username, len(site.password)) == ("admin", 16)
        assert status(site, "/") == 302
        assert status(site, "/", host="example.com") == 400
        assert status(site, "/accounts/login/") == 200
        with urllib.request.urlopen(f"{site.url}/accounts/login/") as page:
            assert "/static/chat/site." in page.read().decode()  # names with a digest, to be cached for good
        check = f"print(User.objects.get().check_password({site.password!r}))"
        assert site.manage("shell", "--verbosity=0", "-c", check).strip() == "True"
        which = "from twisted.internet import reactor; print(type(reactor._asyncioEventloop).__module__)"
        assert site.manage("shell", "--verbosity=0", "-c", which).strip() == "uvloop"
        assert site.stop() == 0
    assert (data / "db.sqlite3").exists()

    first_key = (data / "secret_key").read_text()
    with Site(data) as again:
        assert "administrator" not in again.output  # it is there, and its password is not shown again
        assert (data / "secret_key").read_text() == first_key
        assert again.stop(signal.SIGINT) == 0


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        site = Site(tmp_path, port=taken.getsockname()[1])
        with pytest.raises(AssertionError, match="Choose another port with --port"):
            site.start()


def test_wrong_settings_are_named_before_anything_happens(tmp_path: Path) -> None:
    site = Site(tmp_path / "data", MAX_TURNS="many", DATABASE_URL="mysql://localhost/site")
    with pytest.raises(AssertionError, match="did not start") as failure:
        site.start()
    assert "MAX_TURNS: 'many' is not a whole number" in str(failure.value)
    assert "DATABASE_URL: 'mysql://localhost/site' has the scheme 'mysql'" in str(failure.value)
    assert "Traceback" not in str(failure.value)


def test_a_database_that_does_not_answer(tmp_path: Path) -> None:
    url = f"postgresql://nobody@127.0.0.1:{free_port()}/nothing"
    site = Site(tmp_path, DATABASE_URL=url)
    with pytest.raises(AssertionError, match=r"The database can't be used: .* Is DATABASE_URL right\?"):
        site.start()


def test_a_real_model_is_named(tmp_path: Path) -> None:
    with Site(tmp_path, OPENAI_BASE_URL="http://127.0.0.1:9/v1", OPENAI_MODEL="tiny") as site:
        assert "Replies come from tiny at http://127.0.0.1:9/v1." in site.output


@pytest.mark.parametrize(
    ("host", "names"),
    [
        ("127.0.0.1", ["127.0.0.1"]),
        ("chat.example.com", ["chat.example.com"]),
        ("192.0.2.7", ["192.0.2.7"]),
        ("::1", ["[::1]"]),
        ("[::1]", ["[::1]"]),
    ],
)
def test_names_of_one_host(host: str, names: list[str]) -> None:
    assert names_of(host) == names


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_names_of_all_addresses(host: str) -> None:
    names = names_of(host)
    assert socket.gethostname() in names
    assert host not in names


def test_addresses_to_open() -> None:
    assert address_line("127.0.0.1", 8000) == "http://127.0.0.1:8000/"
    assert address_line("0.0.0.0", 80) == "http://localhost:80/"
    assert address_line("::1", 8000) == "http://[::1]:8000/"


def test_ports() -> None:
    assert port_number("0") == 0
    for wrong in ["-1", "65536", "http"]:
        with pytest.raises(ValueError, match=wrong):
            port_number(wrong)


def test_the_line_about_the_model(settings: Any) -> None:
    settings.OPENAI_API_KEY = "sk-1"
    assert model_line() == "Replies come from the default model at OpenAI."


def test_an_administrator_is_made_once(db: None) -> None:
    made = preparation.make_administrator()
    assert made
    assert User.objects.get(is_superuser=True).check_password(made[1])
    assert preparation.make_administrator() is None


def test_an_administrator_under_another_name(db: None) -> None:
    for name in ["Admin", "admin2"]:
        User.objects.create_user(name)  # signed up by somebody
    made = preparation.make_administrator()
    assert made
    assert made[0] == "admin3"


def test_static_files_are_collected_when_they_changed(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR, settings.STATIC_ROOT = tmp_path, tmp_path / "static"
    settings.STATICFILES_DIRS = [tmp_path / "source"]
    source = tmp_path / "source" / "new.txt"
    source.parent.mkdir()
    source.write_text("one")
    preparation.collect_static()
    assert (settings.STATIC_ROOT / "new.txt").read_text() == "one"
    (settings.STATIC_ROOT / "new.txt").unlink()
    preparation.collect_static()
    assert not (settings.STATIC_ROOT / "new.txt").exists()  # nothing had changed
    source.write_text("other")
    preparation.collect_static()
    assert (settings.STATIC_ROOT / "new.txt").read_text() == "other"
