"""What a site needs before it can serve: tables, static files, somebody who may administer it."""

import fcntl
import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import connection

ADMINISTRATOR = "admin"
PASSWORD_BYTES = 12  # sixteen characters, for a password that is meant to be changed
LOCK_NUMBER = 0x6167656E74  # any number that other users of the database do not lock


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Hold a lock that all processes of the site share, so that two starts at once do not prepare twice."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK_NUMBER])
            try:
                yield
            finally:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK_NUMBER])
    else:
        settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
        with open(settings.DATA_DIR / "up.lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # given back when the file closes, also after a crash
            yield


def migrate() -> None:
    """Bring the tables up to date."""
    call_command("migrate", interactive=False, verbosity=0)


def collect_static() -> None:
    """Collect the static files when any of them changed since the last time."""
    if settings.DEBUG:
        return  # then they are served from where they are
    note: Path = settings.DATA_DIR / "static.sum"
    found = fingerprint()
    if note.exists() and note.read_text() == found and settings.STATIC_ROOT.is_dir():
        return
    call_command("collectstatic", interactive=False, verbosity=0)
    note.write_text(found)


def fingerprint() -> str:
    """Return a digest of the names, sizes and times of all static files."""
    digest = hashlib.sha256(str(settings.STATIC_ROOT).encode())
    for finder in get_finders():
        for path, storage in finder.list([]):
            stat = Path(storage.path(path)).stat()
            digest.update(f"{path} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def make_administrator() -> tuple[str, str] | None:
    """Return the name and password of an administrator made now, or None when there was one already."""
    users = get_user_model().objects
    if users.filter(is_superuser=True, is_active=True).exists():
        return None
    name, number = ADMINISTRATOR, 1
    while users.filter(username__iexact=name).exists():  # somebody may have signed up under it
        number += 1
        name = f"{ADMINISTRATOR}{number}"
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    users.create_superuser(username=name, password=password)
    return name, password
