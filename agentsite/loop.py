"""The event loop of the site's processes."""

from contextlib import suppress


def install() -> None:
    """Let the server run on uvloop, which needs less processor time; where there is none, on Python's own.

    To be called before anything imports Daphne, which takes the loop that is there.
    """
    with suppress(ModuleNotFoundError):
        import uvloop
        from twisted.internet import asyncioreactor

        asyncioreactor.install(uvloop.new_event_loop())
