"""Threads for the short database work of runners and sockets.

Each request has a thread of its own and gives it back; conversations live long, and a thread and a connection
for each of hundreds would be most of their memory. A few threads serve all of them.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.db import DatabaseError, InterfaceError, connections

# More would only wait for each other: for SQLite's one writer, or for the interpreter.
THREADS = 4

_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="database")


async def in_thread[**P, R](function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Return what a function that touches the database returns."""
    return await asyncio.get_running_loop().run_in_executor(
        _threads, lambda: with_connection(function, *args, **kwargs)
    )


def with_connection[**P, R](function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function in a thread of our own, and leave its connections usable for the next one."""
    try:
        return function(*args, **kwargs)
    except (DatabaseError, InterfaceError):
        connections.close_all()  # it may be broken; a new one costs little
        raise
    finally:
        give_back()


def give_back() -> None:
    """Return pooled connections to their pool. SQLite's stay open: opening one costs more than a query."""
    for connection in connections.all(initialized_only=True):
        if connection.vendor != "sqlite" and not connection.in_atomic_block:
            connection.close()


def close_pools() -> None:
    """Close PostgreSQL's connection pools, for whose threads an ending interpreter waits seconds each."""
    for connection in connections.all(initialized_only=True):
        if close_pool := getattr(connection, "close_pool", None):
            connection.close()
            close_pool()
