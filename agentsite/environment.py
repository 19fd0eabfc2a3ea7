"""The environment variables of the site, read once; what is wrong is kept for the system checks."""

import ipaddress
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url

YES = frozenset({"1", "true", "yes", "on"})
NO = frozenset({"0", "false", "no", "off", ""})

LOOPBACK_HOSTS = ("localhost", ".localhost", "127.0.0.1", "[::1]")

DATABASE_SCHEMES = ("sqlite", "postgres", "postgresql")
REDIS_SCHEMES = ("redis", "rediss", "unix")

SQLITE_OPTIONS = {
    # A transaction that reads first and writes later fails at once when another writer came between;
    # IMMEDIATE takes the write lock at the start, and waits for it for `timeout` seconds.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    # WAL lets readers go on while somebody writes; NORMAL is safe with it.
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
}
# An engine that answers nothing: a wrong address must not lead to another database unnoticed.
NO_DATABASE = {"ENGINE": "django.db.backends.dummy"}

POSTGRES_POOL = {
    # Connections are held for one query or transaction, so few serve many conversations.
    "min_size": 1,
    "max_size": 16,
    "timeout": 10,
}


@dataclass(frozen=True)
class Wrong:
    """A setting that can't be used: which one, what is wrong with it, and the remedy."""

    name: str
    message: str
    remedy: str


@dataclass
class Environment:
    """Typed access to environment variables that never raises; `wrong` collects what could not be used."""

    variables: Mapping[str, str]
    wrong: list[Wrong] = field(default_factory=list)

    def note(self, name: str, message: str, remedy: str) -> None:
        """Keep what is wrong with a variable."""
        self.wrong.append(Wrong(name, message, remedy))

    def text(self, name: str, default: str = "") -> str:
        """Return the variable without surrounding space, or the default when it is unset or empty."""
        return self.variables.get(name, "").strip() or default

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return a yes/no variable."""
        word = self.variables.get(name, "").strip().lower()
        if not word:
            return default
        if word in YES or word in NO:
            return word in YES
        self.note(name, f"{word!r} is neither yes nor no.", f"Set {name} to 1 or 0, or unset it.")
        return default

    def number(self, name: str, default: int, *, least: int = 1) -> int:
        """Return a whole number of at least `least`."""
        word = self.text(name)
        if not word:
            return default
        if word.isascii() and word.isdigit() and int(word) >= least:
            return int(word)
        self.note(name, f"{word!r} is not a whole number from {least} up.", f"Set {name} to such a number.")
        return default

    def words(self, name: str) -> list[str]:
        """Return the parts of a comma-separated variable."""
        return [word.strip() for word in self.variables.get(name, "").split(",") if word.strip()]

    def url(self, name: str, schemes: tuple[str, ...], example: str) -> str:
        """Return a URL with one of the schemes, or "" when it is unset or wrong."""
        url = self.text(name)
        if not url:
            return ""
        try:
            parts = urlsplit(url)
            parts.port  # noqa: B018 - reading it is what checks it
            reason = "" if parts.scheme in schemes else f"has the scheme {parts.scheme!r}"
            if not reason and parts.scheme in ("http", "https", "redis", "rediss") and not parts.hostname:
                reason = "names no host"
        except ValueError as error:
            reason = f"can't be parsed: {error}"
        if not reason:
            return url
        accepted = ", ".join(f"{scheme}://" for scheme in schemes)
        self.note(name, f"{without_password(url)!r} {reason}.", f"Use {accepted}, for example {example}")
        return ""


def without_password(url: str) -> str:
    """Return the URL as it may be shown: the part before the host, where passwords stand, is replaced."""
    before, at, after = url.rpartition("@")
    if not at:
        return url
    scheme, separator, _ = before.partition("://")
    return f"{scheme}{separator}…@{after}" if separator else f"…@{after}"


def database(environment: Environment, folder: Path) -> dict[str, Any]:
    """Return Django's configuration of the database: DATABASE_URL, or SQLite in the folder."""
    if not environment.text("DATABASE_URL"):
        # The check of the data folder says why it can't be used.
        file = folder / "db.sqlite3"
        return NO_DATABASE if unusable(folder) else sqlite(file)
    example = "postgresql://user:password@localhost:5432/agentsite"
    url = environment.url("DATABASE_URL", DATABASE_SCHEMES, example)
    if not url:
        return NO_DATABASE
    parsed: dict[str, Any] = {**dj_database_url.parse(url, conn_max_age=0)}
    if not parsed.get("NAME"):
        message = f"{without_password(url)!r} names no database."
        environment.note("DATABASE_URL", message, f"End it with a name, for example {example}")
        return NO_DATABASE
    if url.startswith("sqlite"):
        file = Path(str(parsed["NAME"]))
        reason = unusable(file.parent, file)
        if not reason:
            return sqlite(file)
        message = f"{file} can't be a database: {reason}."
        environment.note("DATABASE_URL", message, "Name a file in a folder that can be written.")
        return NO_DATABASE
    # A pool replaces persistent connections, which Django's documentation advises against under ASGI.
    parsed["OPTIONS"] = {**parsed.get("OPTIONS", {}), "pool": POSTGRES_POOL}
    return parsed


def unusable(folder: Path, file: Path | None = None) -> str:
    """Return why a folder (and a file in it) can't be written, or ""; makes them when they are missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if file:
            file.touch()
    except OSError as error:
        return str(error.strerror).lower()
    return "" if os.access(folder, os.W_OK | os.X_OK) else "permission denied"


def sqlite(path: Path) -> dict[str, Any]:
    """Return the configuration of a SQLite file that many threads and processes write to."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "CONN_MAX_AGE": 0,
        "OPTIONS": SQLITE_OPTIONS,
    }


def secret_key(environment: Environment, folder: Path) -> str:
    """Return SECRET_KEY, or the key kept in the folder, made there when there is none."""
    given = environment.text("SECRET_KEY")
    if given:
        return given
    path = folder / "secret_key"
    remedy = f"Make {folder} writable, or set SECRET_KEY."
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            # Written aside and linked into place, so that two first starts agree on one whole key.
            draft = folder / f".secret_key.{secrets.token_hex(8)}"
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(secrets.token_urlsafe(50))
            try:
                os.link(draft, path)
            except FileExistsError:
                pass
            finally:
                draft.unlink()
        key = path.read_text().strip()
    except OSError as error:
        message = f"No secret key could be kept in {path}: {error.strerror}."
        environment.note("SECRET_KEY", message, remedy)
        return secrets.token_urlsafe(50)
    if not key:
        environment.note("SECRET_KEY", f"{path} is empty.", "Delete the file, or set SECRET_KEY.")
        return secrets.token_urlsafe(50)
    return key


def channel_layer(environment: Environment) -> dict[str, Any]:
    """Return the configuration of the channel layer: Redis by REDIS_URL, or this process's memory."""
    url = environment.url("REDIS_URL", REDIS_SCHEMES, "redis://localhost:6379/0")
    if url:
        # Publish/subscribe: no shared buffer that drops silently, no order by clocks. What is lost while
        # Redis reconnects is noticed by the frame numbers and fetched from the database.
        return {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": [url]}}
    # Overflow drops messages silently; frames in the layer are small, so the room costs little.
    return {"BACKEND": "channels.layers.InMemoryChannelLayer", "CONFIG": {"capacity": 5000}}


def is_public(host: str) -> bool:
    """Return whether an entry of ALLOWED_HOSTS can be reached from other machines."""
    name = host.strip(".[]").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return False
    try:
        return not ipaddress.ip_address(name).is_loopback
    except ValueError:
        return True
