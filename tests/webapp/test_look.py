"""The look keeps its own rules: icons that exist, colours that can be read, nothing the site's policy would refuse."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from django.conf import settings
from django.template import Context, Template

from webapp.lib import words

ROOT = Path(settings.BASE_DIR)
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
PAGES = [file for file in TEMPLATES if file.name != "offline.html"]  # a file for away from the site: all in one
SCRIPTS = sorted((ROOT / "static" / "js").rglob("*.js"))
NBSP = "\u00a0"


def tokens(theme: str) -> dict[str, str]:
    """Every colour of a theme by its name."""
    sheet = (ROOT / "static/css/tokens.css").read_text()
    block = re.search(rf'\[data-bs-theme="{theme}"\] {{(.*?)\n}}', sheet, re.DOTALL)
    assert block
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block[1]))


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_walls_of_a_maze_are_darker_than_its_floor_in_both_themes() -> None:
    for colour in (tokens("light"), tokens("dark")):
        assert luminance(colour["wall"]) < luminance(colour["floor"])
        assert contrast(colour["wall"], colour["floor"]) >= 3
        assert contrast(colour["accent"], colour["floor"]) >= 3, "who plays in it, and where it has been"


def render(source: str, **context: object) -> str:
    return Template("{% load equipoise %}" + source).render(Context(context))


def test_every_icon_on_a_page_is_in_the_sprite_and_no_other() -> None:
    sprite = (ROOT / "static/vendor/tabler/icons.svg").read_text()
    known = set(re.findall(r'<symbol id="([\w-]+)"', sprite))
    used = {name for file in TEMPLATES for name in re.findall(r'{% icon "([\w-]+)"', file.read_text())}
    used |= {name for file in SCRIPTS for name in re.findall(r'\bicon\("([\w-]+)"', file.read_text())}
    assert used - known == set()
    assert known - used == set()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_and_marks_can_be_told_from_their_ground(theme: str) -> None:
    colour = tokens(theme)
    text = [("ink", "surface"), ("ink", "page"), ("ink", "sunken"), ("muted", "surface"), ("muted", "page"),
            ("muted", "sunken"), ("accent", "surface"), ("accent", "accent-tint"), ("on-accent", "accent"),
            ("on-accent", "accent-hover"), ("over", "surface"), ("over", "over-tint"), ("unsure", "surface"),
            ("ink", "accent-tint"), ("ink", "over-tint"), ("muted", "accent-tint")]  # fmt: skip
    marks = ["control-edge", "unsure-mark", "context-mark", *(f"family-{n}" for n in range(1, 9))]
    weak = [pair for pair in text if contrast(colour[pair[0]], colour[pair[1]]) < 4.5]
    weak += [(name, "surface") for name in marks if contrast(colour[name], colour["surface"]) < 3.0]
    assert not weak


def test_both_themes_name_the_same_colours() -> None:
    assert tokens("light").keys() == tokens("dark").keys()


def test_colours_are_named_once() -> None:
    sheets = [file for file in (ROOT / "static/css").glob("*.css") if file.name != "tokens.css"]
    assert [f"{f.name}: {m}" for f in sheets for m in re.findall(r"[:\s](#[0-9a-fA-F]{3,8})\b", f.read_text())] == []


@pytest.mark.parametrize("template", PAGES, ids=lambda file: str(file.relative_to(ROOT / "templates")))
def test_templates_have_no_script_or_style_of_their_own(template: Path) -> None:
    source = template.read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)", source)
    assert not re.search(r'\s(on[a-z]+|style)="', source)


def test_an_end_of_a_range_that_nobody_knows_is_an_arrow_and_no_stroke() -> None:
    ranges = ((0.5, 2.0), (0.5, math.inf), (-math.inf, 2.0))
    closed, above, below = (render("{% range_bar 1 low high 0 4 %}", low=low, high=high) for low, high in ranges)
    assert [bar.count('y1="6.5"') for bar in (closed, above, below)] == [2, 1, 1]
    assert 'd="M-4 -4 0 0 -4 4"' in above
    assert 'd="M4 -4 0 0 4 4"' in below


def test_the_range_bar_keeps_values_beyond_its_axis_at_its_ends() -> None:
    bar = render('{% range_bar 9 -1 12 0 4 2 "strong" "Resource advantage 9" %}')
    assert 'class="range-bar range-bar-strong" role="img" aria-label="Resource advantage 9"' in bar
    assert '<line class="line" x1="50.00%"' in bar
    assert '<line class="whisker" x1="0.00%" x2="100.00%"' in bar


def test_labels_of_drawings_are_escaped() -> None:
    assert "<b>" not in render("{% mark 'strong' name %}{% family 1 name %}{% icon 'x' 16 name %}", name="<b>")


def test_the_beam_says_in_words_where_it_is() -> None:
    beam = render('{% beam 0.614 "61 % of 19,200,000 battles" "15:02 start" "about 15:07 end" %}')
    assert 'aria-valuenow="61"' in beam
    assert 'aria-valuetext="61 % of 19,200,000 battles"' in beam
    assert 'x="61.40%"' in beam
    assert 'aria-valuenow="100"' in render("{% beam 1.7 %}")


def test_the_loop_links_what_can_be_reached_and_names_the_other_steps() -> None:
    loop = render('{% loop "explore" search="/p/h/jobs/1/" %}')
    assert '<a class="word" href="/p/h/jobs/1/">Search</a>' in loop
    assert re.search(r'<li class="now" aria-current="step">.*?Explore', loop, re.DOTALL)
    assert '<span class="word">Report</span>' in loop


@pytest.mark.parametrize(
    ("value", "text"),
    [(1920000, "1,920,000"), (2.84, "2.8"), (-3, "−3"), (0, "0"), (None, words.UNKNOWN), (float("nan"), words.UNKNOWN)],
)
def test_numbers_in_words(value: float | None, text: str) -> None:
    assert words.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.065, "6.5 %"), (0.39, "39 %"), (0.05, "5 %"), (0, "0 %"), (1, "100 %"), (None, words.UNKNOWN)],
)
def test_shares_in_words(value: float | None, text: str) -> None:
    assert words.percent(value) == text.replace(" %", f"{NBSP}%")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (0.3, "under 1 s"), (14.2, "14 s"), (59.6, "1 min"), (110, "1 min 50 s"), (7500, "2 h 5 min"),
     (90000, "25 h"), (190_000, "2 d 4 h"), (float("inf"), words.UNKNOWN)],
)  # fmt: skip
def test_durations_in_words(seconds: float, text: str) -> None:
    assert words.duration(seconds).replace(NBSP, " ") == text


def test_times_in_words() -> None:
    now = datetime(2026, 11, 21, 15, 2, tzinfo=UTC)
    assert words.when(now - timedelta(minutes=30), now) == "today 14:32"
    assert words.when(now - timedelta(hours=21), now) == "yesterday 18:02"
    assert words.when(now - timedelta(days=9), now) == "12 Nov 15:02"
    assert words.when(now - timedelta(days=400), now) == "17 Oct 2025"
    assert words.when(None) == "not yet"
    assert words.stamp(now) == "2026-11-21 15:02 UTC"
    assert words.stamp(now.astimezone(timezone(timedelta(hours=9)))) == "2026-11-21 15:02 UTC"
    assert words.stamp(None) == "not yet"
    assert words.day(now) == "21 Nov 2026"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(14, "14 s"), (43, "45 s"), (239, "4 min"), (1000, "17 min"), (7500, "2 h"), (9000, "2 h 30 min")],
)
def test_a_time_that_is_a_guess_is_rounded_as_people_say_it(seconds: float, text: str) -> None:
    assert words.about(seconds).replace(NBSP, " ") == text


def test_every_page_says_in_the_same_words_how_many_of_what_is_confirmed_may_be_false() -> None:
    own = re.compile(r"false alarm|expected to be false|1 in 20")
    assert [file.name for file in [*TEMPLATES, *SCRIPTS] if own.search(file.read_text())] == []
    tagged = {file.parent.name for file in TEMPLATES if "{% false_alarms " in file.read_text()}
    assert tagged == {"changes", "explore", "partials", "projects", "reports", "studies", "suspects", "worth"}


def test_what_only_screen_readers_hear_in_a_wide_table_makes_no_page_wider_than_its_window() -> None:
    """It is placed absolutely, so the box that scrolls has to be the one that it is placed in."""
    sheet = (ROOT / "static/css/components.css").read_text()
    rule = re.search(r"^\.table-wrap \{(.*?)\}", sheet, re.MULTILINE)
    assert rule
    assert "position: relative;" in rule[1]
    assert "overflow-x: auto;" in rule[1]


def test_the_legend_of_a_chart_stands_above_it() -> None:
    legend = re.compile(r'<(?:p|div) class="[^"]*(?:lines-key|patch-key|sensitivity-key|\blegend\b)|lines_key\.html')
    chart = re.compile(
        r'class="(?:lines-chart|plot|job-chart|style-chart|hunt-map|gossip-circle)\b|partials/lines\.html"[^%]*small=True'
    )
    seen = 0
    for file in TEMPLATES:
        text = file.read_text()
        legends, charts = ([found.start() for found in kind.finditer(text)] for kind in (legend, chart))
        if legends and charts:
            seen += 1
            assert min(legends) < min(charts), f"{file.name} begins with a chart"
            assert max(legends) < max(charts), f"{file.name} ends with a legend"
    assert seen >= 8
