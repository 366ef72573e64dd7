"""A site made by an earlier version opens after its database was migrated.

The site in the archive was made by the code of commit 6e1c47b: the demo's people and game; a search of 5 rounds of 16
lineups with a lineup on its shortlist and that one's re-check; a search put aside in its middle and one before its
first round; and two short trainings in CartPole, one of them put aside. Passwords were taken out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ARCHIVE = ROOT / "tests" / "golden" / "site_of_6e1c47b.tar.xz"
SEARCH, PAUSED_SEARCH, PAUSED_TRAINING, NOT_BEGUN = "1", "3", "5", "6"
WHY_NOT = (
    "Resume: this checkpoint was written by an earlier version of the engine, and this version cannot go on from it: "
    "start the study anew. What it left can still be read."
)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a designer sees of that site."""
    folder = tmp_path_factory.mktemp("site")
    with tarfile.open(ARCHIVE) as packed:
        packed.extractall(folder, filter="data")
    other = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    environment = {
        **other,
        "DJANGO_SETTINGS_MODULE": "webapp.settings",
        "EQUIPOISE_VAR": str(folder),
        "REDIS_URL": f"unix://{folder}/away.sock?db=0",
    }
    for line in (["manage.py", "migrate", "-v", "0"], ["-m", "tests.webapp.old_site"]):
        told = subprocess.run([sys.executable, *line], cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(told.stdout)
    return found


def test_every_page_that_a_link_leads_to_opens(seen: dict[str, Any]) -> None:
    pages = seen["pages"]
    assert {f"/p/herobattle/jobs/{job}/" for job in range(1, 7)} <= pages.keys()
    # A training that is not over has no such file, and its page hides the link.
    assert {path for path, status in pages.items() if status != 200} == {"/p/herobattle/jobs/5/policy.onnx"}


def test_its_searches_explore_and_their_exports_and_the_shortlist_are_there(seen: dict[str, Any]) -> None:
    for job in (SEARCH, PAUSED_SEARCH):
        files = seen["explored"][job]["files"]
        assert files == dict.fromkeys(("core", "lineups", "csv", "xlsx", "html"), 200)
    nothing_yet = seen["explored"][NOT_BEGUN]["files"]
    assert [nothing_yet[kind] for kind in ("csv", "xlsx", "html")] == [404] * 3
    (listed,) = seen["explored"][SEARCH]["listed"].values()
    assert listed["on"]
    assert listed["reason"] == "Two frost captains end every battle by the third round."
    assert listed["words"].endswith("on 768 fresh battles")


def test_the_api_tells_of_every_job(seen: dict[str, Any]) -> None:
    assert len(seen["api"]) == 24
    assert set(seen["api"].values()) == {200}


@pytest.mark.parametrize("job", [PAUSED_SEARCH, PAUSED_TRAINING])
def test_a_study_paused_in_its_middle_says_why_it_cannot_go_on(seen: dict[str, Any], job: str) -> None:
    ended = seen["gone on"][job]
    assert (ended["status"], ended["message"]) == ("failed", WHY_NOT)
    assert ended["told"], "its page says so"
    assert ended["tick"] > 0, "and what it had done stays"


def test_a_search_paused_before_its_first_round_goes_on_to_its_end(seen: dict[str, Any]) -> None:
    ended = seen["gone on"][NOT_BEGUN]
    assert (ended["status"], ended["tick"], ended["message"]) == ("finished", 3, "")


def test_its_histories_still_say_when_somebody_asked_for_a_pause(seen: dict[str, Any]) -> None:
    assert seen["commands"] == ["pause", "pause"]
