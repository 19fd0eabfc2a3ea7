"""Pictures of the main pages. To keep them: SCREENSHOTS=folder uv run pytest tests/e2e/test_screenshots.py"""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import log_in
from tests.live import Site

LOOKS = {
    "light": {"viewport": {"width": 1280, "height": 860}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 860}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}

SHOWN = [
    ("form", "Book a table", "waiting"),
    ("table", "A film table", "idle"),
    ("dashboard", "A sales dashboard", "idle"),
]


@pytest.mark.parametrize("look", LOOKS)
def test_pictures(new_page: Callable[..., Page], site: Site, screenshots: Path, look: str) -> None:
    page = new_page(**LOOKS[look])
    page.goto(f"{site.url}/accounts/login/")
    page.screenshot(path=screenshots / f"login-{look}.png")
    log_in(page, site)
    page.screenshot(path=screenshots / f"list-{look}.png")
    for name, example, state in SHOWN:
        page.goto(site.url)
        page.get_by_role("button", name=example).click()
        expect(page.locator("section.mount").first).to_be_visible(timeout=20_000)
        expect(page.locator("#conversation")).to_have_attribute("data-state", state, timeout=60_000)
        page.screenshot(path=screenshots / f"{name}-{look}.png")
    page.locator("details.run > summary").last.click()
    page.screenshot(path=screenshots / f"code-{look}.png")
    assert len(list(screenshots.glob(f"*-{look}.png"))) == 6
