"""Gates judge what a search found strong against the baseline teams that this search met."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from engine.errors import ConfigError
from engine.events import Finished, Paused
from engine.gate.report import GateFinding, Report
from engine.store import FolderStore
from engine.verdicts import baseline_reach
from tests.engine.test_gate import GAME, TEAMS, WINS, commanded, gate, report, run

pytestmark = pytest.mark.usefixtures("played_here")
STRONG, WEAK = TEAMS
MIDDLE = {"slots": {"hero": "hero-2", "soldier": "soldier-1", "soldiers": 3, "charm-1": "charm-0"}}
GAP = {**WINS, "formula": "strongest(win_vs_teams) - weakest(win_vs_teams)"}
STRENGTH = {
    "name": "weakest", "title": "Weakest strength", "unit": "%", "formula": "weakest(strength_vs_baselines)",
    "strength": True,
}  # fmt: skip
LINEUP = {"teams": [STRONG, MIDDLE]}
"""Its weakest team is stronger than WEAK and weaker than STRONG."""


def replaying(*exploits: dict[str, Any], **more: Any) -> Any:
    """A gate that only replays, whose own baseline teams are too strong for the lineup to count."""
    rules = {"teams": 2, "cost_tolerance": None, "baselines": {"kind": "pasted", "teams": [STRONG, STRONG]}}
    met = [{"name": "job 2", "teams": [WEAK, WEAK]}, {"name": "job 7", "teams": [WEAK]}]
    return gate(**{
        "game": GAME, "lineups": rules, "objectives": {"objectives": [GAP, STRENGTH]}, "met": met,
        "exploits": exploits, "screen": None, "search": None, **more,
    })  # fmt: skip


def test_an_exploit_is_judged_against_the_baseline_teams_of_the_search_that_found_it(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    config = replaying({**LINEUP, "name": "Theirs", "met": "job 2"}, {**LINEUP, "name": "Ours"})
    found = report(store, run(config, store)[-1])
    rows = {row.name: row for row in found.rows}
    assert {name: row.verdict for name, row in rows.items()} == {"Theirs": "over", "Ours": "weak"}
    assert found.verdict == "over"
    assert "over the line but weak" in rows["Ours"].words
    assert re.search(r"; Weakest strength [\d.]+ % \([\d.]+ to [\d.]+\), of ", rows["Ours"].words)
    assert [sentence.partition(";")[0] for sentence in found.met] == [
        "Earlier exploits meet the baseline teams that its rules name",
        "Earlier exploits meet the baseline teams that job 2 met",
    ]
    assert found.lines[-1] == found.met[-1]


def test_what_is_too_weak_to_count_leaves_the_build_under_its_line_and_is_not_called_under(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    found: Report = report(store, run(replaying({**LINEUP, "name": "Ours"}), store)[-1])
    assert (found.verdict, [row.verdict for row in found.rows]) == ("under", ["weak"])
    assert "1 earlier exploit, 1 of them too weak to count" in found.sentence


@pytest.mark.parametrize("looks", [2, 3, 5, 6])
def test_wherever_groups_of_exploits_are_interrupted_they_end_with_the_same_verdict(tmp_path: Path, looks: int) -> None:
    config = replaying(
        *({**LINEUP, "name": name, "met": met} for name, met in (("A", "job 2"), ("B", "job 7"), ("C", "")))
    )
    whole = report(whole_in := FolderStore(tmp_path / "whole"), run(config, whole_in)[-1])
    assert [row.name for row in whole.rows] == ["C", "A", "B"]
    store = FolderStore(tmp_path / "cut")
    *_, cut = run(config, store, control=commanded("pause", looks))
    end = cut if isinstance(cut, Finished) else run(config, store, cut.artifacts.get("checkpoint", ""))[-1]
    assert isinstance(cut, Paused | Finished)
    assert report(store, end) == whole


def test_baseline_teams_that_are_not_there_or_not_of_the_game_are_said_at_their_place(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        replaying({**LINEUP, "met": "job 3"}, met=[{"name": "a", "teams": [WEAK]}, {"name": "a", "teams": [WEAK]}])
    assert {each.place for each in caught.value.problems} == {"met.1.name", "exploits.0.met"}
    with pytest.raises(ConfigError) as caught:
        replaying({**LINEUP, "met": "job 3"})
    assert "no name in met" in {each.place: each.message for each in caught.value.problems}["exploits.0.met"]
    (end,) = run(
        replaying(LINEUP, met=[{"name": "a", "teams": [{"slots": {"hero": "nobody"}}]}]), FolderStore(tmp_path)
    )
    assert "met.0.teams.0.slots.hero" in end.message


def test_medians_that_are_used_side_by_side_share_their_error() -> None:
    assert baseline_reach(1.0, 32, 4) > baseline_reach(1.0, 32) == baseline_reach(1.0, 32, 1)


def test_a_report_of_an_earlier_gate_is_still_read() -> None:
    from engine.gate.report import Gate, decoded, encoded, judged

    old = encoded(judged([GateFinding("replay", "A", "under", "under the line")], Gate("G", "Game", 5, {}, ())))
    del old["report"]["met"]
    assert decoded(old).met == ()
