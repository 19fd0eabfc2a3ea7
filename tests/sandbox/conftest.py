from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from chat.sandbox.base import Session
from chat.sandbox.limits import SandboxLimits
from chat.sandbox.monty import MontySandbox
from tests.sandbox.scripted import PRELUDE, ScriptedHost


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def sandbox() -> AsyncIterator[MontySandbox]:
    made = MontySandbox(PRELUDE, SandboxLimits(max_processes=4))
    yield made
    await made.close()


@pytest.fixture
def host() -> ScriptedHost:
    return ScriptedHost()


@pytest_asyncio.fixture(loop_scope="session")
async def session(sandbox: MontySandbox, host: ScriptedHost) -> AsyncIterator[Session]:
    made = await sandbox.open(host)
    yield made
    await made.close()
