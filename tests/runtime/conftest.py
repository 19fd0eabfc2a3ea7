"""One sandbox pool per test: it belongs to the test's event loop."""

from collections.abc import AsyncIterator

import pytest

from chat.sandbox.monty import MontySandbox
from tests.runtime.harness import make_sandbox


@pytest.fixture
async def sandbox() -> AsyncIterator[MontySandbox]:
    made = make_sandbox()
    yield made
    await made.close()
