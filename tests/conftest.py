"""Fixtures that many tests share: people, the real site in its own process, a browser."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from chat.models import Conversation
from tests.live import Site

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
PASSWORD = "a good enough passphrase"


def needs(what: str, found: Any) -> Any:
    """Return what was found; without it the test is skipped, or fails where everything must be there."""
    if found:
        return found
    reason = f"{what} is missing on this machine"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


# People


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create_user("ada", password=PASSWORD)


@pytest.fixture
def other(db: None) -> User:
    return User.objects.create_user("bob", password=PASSWORD)


@pytest.fixture
def staff(db: None) -> User:
    return User.objects.create_superuser("root", password=PASSWORD)


def client_of(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def user_client(user: User) -> Client:
    return client_of(user)


@pytest.fixture
def other_client(other: User) -> Client:
    return client_of(other)


@pytest.fixture
def staff_client(staff: User) -> Client:
    return client_of(staff)


@pytest.fixture
def conversation(user: User) -> Conversation:
    return Conversation.objects.create(owner=user, title="A table for two")


# Services that `.ci/run` starts; elsewhere set the variables to use your own.


@pytest.fixture(scope="session")
def redis_url(worker_id: str) -> str:
    """A Redis database for tests, which may empty it; each process that runs tests has its own."""
    url = needs("REDIS_URL_TEST, the address of a Redis server,", os.environ.get("REDIS_URL_TEST"))
    return f"{url.rpartition('/')[0]}/{worker_number(worker_id)}"


@pytest.fixture(scope="session")
def postgres_url(worker_id: str) -> str:
    """A PostgreSQL database for tests, which may empty it; each process that runs tests has its own."""
    url = needs(
        "DATABASE_URL_TEST, the address of a PostgreSQL database,", os.environ.get("DATABASE_URL_TEST")
    )
    name = f"agentsite_{worker_number(worker_id)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name}")
    return f"{url.rpartition('/')[0]}/{name}"


def worker_number(worker_id: str) -> int:
    """Return the number of a process that runs tests, 0 when there is only one."""
    return int(worker_id.removeprefix("gw")) if worker_id.startswith("gw") else 0


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return how many processes share the run: two for all of it, none for what somebody looks at."""
    everything = all(Path(argument.partition("::")[0]).is_dir() for argument in config.args)
    return 2 if everything and not any("bench" in argument for argument in config.args) else 0


# The site and the browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site with fresh data, served by `manage.py up`; its administrator is `site.username`."""
    with Site(tmp_path_factory.mktemp("site")) as running:
        yield running


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    return str(needs("Chromium", found))


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """A browser. Of one module only: while it lives, its event loop keeps async tests from running."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def problems() -> list[str]:
    """What pages have logged; a test that provokes an error clears it."""
    return []


@pytest.fixture
def new_page(browser: Browser, problems: list[str]) -> Iterator[Callable[..., Page]]:
    """Opens pages in contexts of their own (separate cookies); fails the test when one logs an error."""
    contexts: list[BrowserContext] = []

    def make(**options: Any) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(f"uncaught: {error}"))
        page.on(
            "console", lambda line: problems.append(line.text) if is_problem(line.type, line.text) else None
        )
        return page

    yield make
    for context in contexts:
        context.close()
    assert problems == []


def is_problem(kind: str, text: str) -> bool:
    """Return whether a console line tells of a mistake; a form's 422 is none, nor is leaving a page early."""
    harmless = ("status of 422", "WebSocket is closed before the connection is established")
    return kind in ("error", "warning") and not any(words in text for words in harmless)


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A page of a desktop's size."""
    return new_page(viewport={"width": 1280, "height": 800})


@pytest.fixture
def phone(new_page: Callable[..., Page]) -> Page:
    """A page of a phone's size."""
    return new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)


def log_in(page: Page, site: Site, username: str = "", password: str = "") -> None:
    """Log in, as the administrator unless told otherwise, and arrive at the list."""
    page.goto(f"{site.url}/accounts/login/")
    page.get_by_label("Username").fill(username or site.username)
    page.get_by_label("Password").fill(password or site.password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{site.url}/")


@pytest.fixture
def screenshots(tmp_path: Path) -> Path:
    """A folder for pictures; set SCREENSHOTS to keep them."""
    folder = Path(os.environ.get("SCREENSHOTS", str(tmp_path)))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
