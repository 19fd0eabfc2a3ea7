from collections.abc import Iterator

import pytest

from tests.provider import Provider


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        yield server
