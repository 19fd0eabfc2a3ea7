"""Code of the kind that models write: none of it may be refused, and all of it runs."""

from pathlib import Path

import pytest

from chat.sandbox.base import Session
from tests.sandbox.scripted import ScriptedHost, play

pytestmark = pytest.mark.asyncio(loop_scope="session")

FOLDER = Path(__file__).parent / "ordinary"
SNIPPETS = [
    pytest.param(code, id=f"{path.stem}-{number}")
    for path in sorted(FOLDER.glob("*.txt"))
    for number, code in enumerate(path.read_text().split("####\n"), start=1)
]


async def test_there_are_enough() -> None:
    assert len(SNIPPETS) >= 200


@pytest.mark.parametrize("code", SNIPPETS)
async def test_it_runs(session: Session, host: ScriptedHost, code: str) -> None:
    failure = await play(session, host, code)
    assert failure is None, f"{failure.text()}\n\n{code}"
    assert not host.reports
