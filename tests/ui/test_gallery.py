import pytest
from axe_playwright_python.sync_playwright import Axe

from chat.ui.components import CATALOGUE
from chat.ui.examples import examples
from tests.browser import until
from tests.conftest import log_in


@pytest.fixture(scope="module")
def session(site, browser):
    """The cookies of the site's administrator."""
    context = browser.new_context()
    log_in(context.new_page(), site)
    cookies = context.cookies()
    context.close()
    return cookies


def open_gallery(page, site, session):
    page.context.add_cookies(session)
    page.goto(f"{site.url}/gallery/")
    until(page, "!!customElements.get('chat-countdown')")


def test_every_component_has_an_example():
    assert {example.component for example in examples()} == set(CATALOGUE)


def test_the_gallery_is_for_staff(client, user_client, staff_client):
    assert client.get("/gallery/").status_code in (302, 404)
    assert user_client.get("/gallery/").status_code == 404
    answer = staff_client.get("/gallery/")
    assert answer.status_code == 200
    text = answer.content.decode()
    assert "cannot be shown" not in text
    for name in CATALOGUE:
        assert f'id="component-{name}"' in text


def test_one_component_can_be_asked_for(staff_client):
    text = staff_client.get("/gallery/?component=Card").content.decode()
    assert 'id="component-Card"' in text
    assert 'id="component-Row"' not in text


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(site, session, page, theme, screenshots):
    page.emulate_media(color_scheme=theme)
    open_gallery(page, site, session)
    page.screenshot(path=screenshots / f"gallery-{theme}.png", full_page=True)
    found = Axe().run(page, options={"resultTypes": ["violations"]})
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("width", [320, 390])
def test_nothing_is_wider_than_a_phone(site, session, new_page, width, screenshots):
    page = new_page(viewport={"width": width, "height": 800})
    open_gallery(page, site, session)
    page.screenshot(path=screenshots / f"gallery-{width}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
