"""Environment variables and system checks: what is wrong is named, with a remedy, and nothing raises."""

import stat
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks

from agentsite.environment import (
    LOOPBACK_HOSTS,
    NO_DATABASE,
    Environment,
    channel_layer,
    database,
    is_public,
    secret_key,
    without_password,
)

# Reading the environment


@pytest.mark.parametrize(
    ("word", "flag"),
    [("", False), ("1", True), ("yes", True), (" On ", True), ("0", False), ("FALSE", False)],
)
def test_flags(word: str, flag: bool) -> None:
    environment = Environment({"DEBUG": word})
    assert environment.flag("DEBUG") is flag
    assert environment.wrong == []


def test_a_flag_that_is_none_keeps_the_default() -> None:
    environment = Environment({"SIGNUP_OPEN": "maybe"})
    assert environment.flag("SIGNUP_OPEN", default=True) is True
    assert "'maybe' is neither yes nor no" in environment.wrong[0].message
    assert "SIGNUP_OPEN" in environment.wrong[0].remedy


@pytest.mark.parametrize("word", ["0", "-1", "1.5", "many", "²"])
def test_a_number_that_is_none_keeps_the_default(word: str) -> None:
    environment = Environment({"MAX_TURNS": word})
    assert environment.number("MAX_TURNS", 15) == 15
    assert repr(word) in environment.wrong[0].message


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://example.com", "has the scheme 'ftp'"),
        ("example.com/v1", "has the scheme ''"),
        ("http://", "names no host"),
        ("http://[::1", "can't be parsed"),
        ("http://example.com:port", "can't be parsed"),
    ],
)
def test_an_address_that_is_none(url: str, reason: str) -> None:
    environment = Environment({"OPENAI_BASE_URL": url})
    assert environment.url("OPENAI_BASE_URL", ("http", "https"), "http://localhost/v1") == ""
    assert reason in environment.wrong[0].message
    assert "http://localhost/v1" in environment.wrong[0].remedy


def test_passwords_are_not_shown(tmp_path: Path) -> None:
    environment = Environment({"DATABASE_URL": "mysql://ada:secret@db/site"})
    assert database(environment, tmp_path) == NO_DATABASE
    assert "secret" not in str(environment.wrong)
    assert "mysql://…@db/site" in environment.wrong[0].message
    assert without_password("ada:secret@db") == "…@db"


def test_sqlite_is_the_default(tmp_path: Path) -> None:
    found = database(Environment({}), tmp_path / "new")
    assert found["NAME"] == str(tmp_path / "new" / "db.sqlite3")
    assert found["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in found["OPTIONS"]["init_command"]


def test_a_file_elsewhere(tmp_path: Path) -> None:
    found = database(Environment({"DATABASE_URL": f"sqlite:///{tmp_path}/other.db"}), tmp_path)
    assert (found["NAME"], found["CONN_MAX_AGE"]) == (f"{tmp_path}/other.db", 0)


def test_postgresql_has_a_pool(tmp_path: Path) -> None:
    url = "postgresql://ada:secret@db:5433/site"
    found = database(Environment({"DATABASE_URL": url}), tmp_path)
    assert found["ENGINE"] == "django.db.backends.postgresql"
    assert (found["HOST"], found["PORT"], found["NAME"], found["CONN_MAX_AGE"]) == ("db", 5433, "site", 0)
    assert found["OPTIONS"]["pool"]["max_size"] > 1


def test_postgresql_without_a_name(tmp_path: Path) -> None:
    environment = Environment({"DATABASE_URL": "postgresql://ada:secret@db"})
    assert database(environment, tmp_path) == NO_DATABASE
    assert "names no database" in environment.wrong[0].message


def test_a_file_that_can_be_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    environment = Environment({"DATABASE_URL": f"sqlite:///{tmp_path}/file/db.sqlite3"})
    assert database(environment, tmp_path) == NO_DATABASE
    assert "can't be a database" in environment.wrong[0].message


def test_redis_or_memory() -> None:
    assert channel_layer(Environment({}))["BACKEND"] == "channels.layers.InMemoryChannelLayer"
    layer = channel_layer(Environment({"REDIS_URL": "redis://localhost:6379/1"}))
    assert layer["BACKEND"].startswith("channels_redis.")
    assert layer["CONFIG"]["hosts"] == ["redis://localhost:6379/1"]


def test_the_secret_key_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    first, second = secret_key(Environment({}), folder), secret_key(Environment({}), folder)
    assert first == second
    assert len(first) > 50
    assert stat.S_IMODE((folder / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in folder.iterdir()] == ["secret_key"]


def test_a_given_secret_key_wins(tmp_path: Path) -> None:
    assert secret_key(Environment({"SECRET_KEY": "given"}), tmp_path) == "given"
    assert list(tmp_path.iterdir()) == []


def test_a_secret_key_that_can_not_be_kept(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    environment = Environment({})
    assert len(secret_key(environment, tmp_path / "file")) > 50
    assert "No secret key could be kept" in environment.wrong[0].message


def test_an_empty_secret_key_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "secret_key").touch()
    environment = Environment({})
    assert len(secret_key(environment, tmp_path)) > 50
    assert "is empty" in environment.wrong[0].message


@pytest.mark.parametrize(
    "host", ["localhost", ".localhost", "chat.localhost", "127.0.0.1", "127.1.2.3", "[::1]"]
)
def test_own_hosts(host: str) -> None:
    assert not is_public(host)


@pytest.mark.parametrize(
    "host", ["example.com", ".example.com", "192.168.0.7", "[2001:db8::7]", "localhost.com"]
)
def test_public_hosts(host: str) -> None:
    assert is_public(host)


# The checks


def found_by_checks(*, deploy: bool = False) -> dict[str, str]:
    """Return the ids and texts of what our own checks say."""
    messages = run_checks(include_deployment_checks=deploy)
    return {
        str(found.id): f"{found.msg} {found.hint}" for found in messages if str(found.id).startswith("chat.")
    }


def test_all_is_well_by_default(settings: Any, db: None) -> None:
    settings.ALLOWED_HOSTS = [*LOOPBACK_HOSTS]  # the test client has added its own
    assert found_by_checks(deploy=True) == {}


def test_wrong_variables_are_reported(settings: Any, db: None) -> None:
    environment = Environment({"DEBUG": "maybe"})
    environment.flag("DEBUG")
    settings.CONFIGURATION_ERRORS = environment.wrong
    assert found_by_checks() == {
        "chat.E001": "DEBUG: 'maybe' is neither yes nor no. Set DEBUG to 1 or 0, or unset it."
    }


@pytest.mark.parametrize(
    ("names", "identifier", "words"),
    [
        ({"ALLOWED_HOSTS": ["*"]}, "chat.E004", "Name the hosts"),
        ({"ALLOWED_HOSTS": ["https://example.com"]}, "chat.E005", "'https://example.com' is not a host name"),
        ({"ALLOWED_HOSTS": ["example.com:8000"]}, "chat.E005", "Leave out scheme, port and path"),
        ({"DEBUG": True, "ALLOWED_HOSTS": ["example.com"]}, "chat.E006", "Unset DEBUG"),
        ({"SECRET_KEY": "short"}, "chat.E007", "has 5 characters"),
        ({"OPENAI_API_KEY": "“sk-123”"}, "chat.E008", "Copy the key again"),
        ({"OPENAI_API_KEY": "sk 123"}, "chat.E008", "Copy the key again"),
        ({"OPENAI_BASE_URL": "http://localhost/v1"}, "chat.W003", "Set OPENAI_MODEL"),
    ],
)
def test_each_mistake_is_named(
    settings: Any, db: None, names: dict[str, Any], identifier: str, words: str
) -> None:
    for name, value in names.items():
        setattr(settings, name, value)
    assert words in found_by_checks()[identifier]


def test_a_data_folder_that_can_not_be_written(settings: Any, db: None, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings.DATA_DIR = tmp_path / "file" / "data"
    assert "Make it writable" in found_by_checks()["chat.E002"]


def test_one_process_is_all_that_memory_connects(
    settings: Any, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "django.db.backends.postgresql")
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    assert "Set REDIS_URL" in found_by_checks()["chat.W002"]


def test_passwords_in_the_open(settings: Any, db: None) -> None:
    settings.ALLOWED_HOSTS = ["chat.example.com"]
    assert "set HTTPS=1" in found_by_checks(deploy=True)["chat.W001"]
    settings.HTTPS = True
    assert found_by_checks(deploy=True) == {}


def test_missing_packages(settings: Any, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chat.checks.find_spec", lambda name: None)
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer"}}
    assert "uv sync --extra redis" in found_by_checks()["chat.E003"]
