"""Waiting for what only a script in the page can tell."""

import time
from typing import Any

from playwright.sync_api import Page

LONG = 20.0  # seconds; a busy machine takes a few
LOOK_MILLISECONDS = 20


def until(page: Page, expression: str, argument: Any = None) -> None:
    """Wait until an expression is true in the page.

    Each look is an evaluation of its own. Playwright's `wait_for_function` looks again from inside the page,
    where the content security policy forbids it.
    """
    give_up = time.monotonic() + LONG
    while not page.evaluate(expression, argument):
        assert time.monotonic() < give_up, f"never true: {expression}"
        page.wait_for_timeout(LOOK_MILLISECONDS)
