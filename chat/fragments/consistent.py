"""Several reads that all see the same moment, so that a page and its frame number belong together."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

BEGIN = {
    "sqlite": "BEGIN DEFERRED",  # Django's own would take the write lock
    "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
}


@contextmanager
def consistent() -> Iterator[None]:
    """Hold one state of the database for reading. Inside a transaction that is open it does nothing."""
    if connection.in_atomic_block:
        yield
        return
    connection.ensure_connection()
    with connection.cursor() as cursor:
        cursor.execute(BEGIN[connection.vendor])
        try:
            yield
        finally:
            cursor.execute("COMMIT")
