from collections.abc import Iterator

import pytest

from tests.ui.harness import Harness


@pytest.fixture
def harness() -> Iterator[Harness]:
    with Harness() as running:
        yield running
