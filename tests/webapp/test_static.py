"""Static files: addresses that change with the content, kept by browsers for good."""

from __future__ import annotations

import re
from pathlib import Path

import plotly
import pytest
from django.conf import settings
from django.templatetags.static import static
from django.test import Client
from pytest_django.fixtures import Settings

from webapp.lib.finders import unwrapped
from webapp.studies.explore_page import modules

SCRIPTS = Path(settings.BASE_DIR, "static", "js")


@pytest.fixture(autouse=True)
def files_are_listed_at_the_start(settings: Settings) -> None:
    settings.WHITENOISE_AUTOREFRESH = False


def imported(script: Path, seen: set[Path]) -> set[Path]:
    """``script`` and everything it imports, directly or not."""
    if script not in seen:
        seen.add(script)
        for name in re.findall(r'^import .*?"(\..*?)";$', script.read_text(encoding="utf-8"), re.MULTILINE):
            imported((script.parent / name).resolve(), seen)
    return seen


def test_no_stylesheet_asks_how_a_device_is_held() -> None:
    """Axe's rule css-orientation-lock asks the same of each page again."""
    sheets = list(SCRIPTS.parent.rglob("*.css"))
    assert SCRIPTS.parent / "css" / "base.css" in sheets
    assert [sheet.name for sheet in sheets if "orientation" in sheet.read_text(encoding="utf-8")] == []


def test_the_explorers_page_names_up_front_exactly_the_scripts_it_imports() -> None:
    named = [SCRIPTS.parent / name for name in modules()]
    assert len(set(named)) == len(named)
    assert set(named) == imported(SCRIPTS / "explore" / "main.js", set())


@pytest.mark.parametrize("page", ["job.js", "newjob.js", "jobs.js", "home.js"])
def test_other_pages_import_nothing_of_the_explorer(page: str) -> None:
    assert not [script for script in imported(SCRIPTS / page, set()) if script.parent.name == "explore"]


def test_a_static_file_is_whole_and_kept_for_good(client: Client) -> None:
    answer = client.get(static("plotly/plotly.min.js"))
    package = Path(plotly.__file__).parent.joinpath("package_data", "plotly.min.js").read_text(encoding="utf-8")
    assert answer.content.decode() == unwrapped(package)
    assert "immutable" in answer["Cache-Control"]
    assert answer["Content-Type"].startswith("text/javascript")


def test_plotly_loses_its_wrapper_and_keeps_its_licence() -> None:
    package = Path(plotly.__file__).parent.joinpath("package_data", "plotly.min.js").read_text(encoding="utf-8")
    bare = unwrapped(package)
    assert len(package) - 2000 < len(bare) < len(package)
    assert bare.startswith("/**\n* plotly.js")
    assert "window.Plotly = Plotly;" in bare[-200:]
    assert unwrapped("another build") == "another build"


def test_a_part_of_a_static_file_can_be_asked_for(client: Client) -> None:
    answer = client.get(static("plotly/plotly.min.js"), headers={"Range": "bytes=4-12"})
    assert (answer.status_code, answer.content) == (206, b"* plotly.")
    assert answer["Content-Range"].startswith("bytes 4-12/")


def test_nothing_else_of_the_plotly_package_is_served(client: Client) -> None:
    assert client.get(static("plotly/widgetbundle.js")).status_code == 404
    assert client.get(static("plotly/../settings.py")).status_code == 404


def test_a_head_request_has_no_content(client: Client) -> None:
    answer = client.head(static("plotly/plotly.min.js"))
    assert answer.status_code == 200
    assert answer.content == b""
