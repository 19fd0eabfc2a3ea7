"""The tokens of the style sheet give enough contrast, in both themes (WCAG 2.2 AA)."""

import re
from pathlib import Path

import pytest

from chat import ui

SHEET = Path(ui.__file__).parent.parent / "static/chat/style.css"
TOKENS = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", SHEET.read_text(encoding="utf-8")
    )
}


def luminance(colour):
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


TEXT = [
    *[(text, ground) for text in ("ink", "soft") for ground in ("page", "surface", "raised")],
    *[(text, ground) for text in ("brand", "info", "good", "busy", "bad") for ground in ("page", "surface")],
    *[("ink", f"{tone}-tint") for tone in ("brand", "info", "good", "busy", "bad")],
    *[(tone, f"{tone}-tint") for tone in ("brand", "info", "good", "busy", "bad")],
    ("brand-ink", "brand"),
    ("bad-ink", "bad"),
]
SHAPES = [
    *[("edge", ground) for ground in ("page", "surface")],
    *[(f"series-{number}", ground) for number in range(8) for ground in ("surface", "page")],
]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXT)
def test_text_can_be_read(text, ground, theme):
    assert contrast(TOKENS[text][theme], TOKENS[ground][theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("shape", "ground"), SHAPES)
def test_edges_and_shapes_can_be_seen(shape, ground, theme):
    assert contrast(TOKENS[shape][theme], TOKENS[ground][theme]) >= 3


def test_the_sheet_loads_nothing():
    text = SHEET.read_text(encoding="utf-8")
    assert "url(" not in text
    assert "@import" not in text
