"""A build that breaks off the battles of an unfair lineup does not pass the search of a gate."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from defusedxml import ElementTree

from engine.config import LineupConfig
from engine.config.gate import GateConfig
from engine.events import Finished, Paused
from engine.evolution.record import Record
from engine.gate.junit import to_junit
from engine.gate.report import BATTLES, Gate, GateFinding, judged, to_csv
from engine.gate.verdict import Parts, read
from engine.lineups.encoding import LineupSpace
from engine.lineups.rules import compile_rules
from engine.problem import Objective, Problem, Request, failed
from engine.runtime.ledger import Condemned
from engine.runtime.outcomes import Verdicts
from engine.store import FolderStore
from tests.engine.sample_simulators import SPEC
from tests.engine.test_gate import TEAMS, WINS, commanded, gate, report, run

SEARCH: dict[str, Any] = {"algorithm": {"population": 8}, "ticks": 3, "fresh": 100, "replicates": 2}
LEFT_OUT = "the game did not finish battles of 7 of 1,200 lineups, which are left out"
WHOLE = Gate("Build 7", "A game", 1000, {"search": 1200}, ())


def searched(game: str, exploits: Sequence[Any] = (), **more: Any) -> GateConfig:
    """A gate of a search and these exploits, on a game of ``tugs_of_war``, whose line draws are far under."""
    baselines = {"kind": "pasted", "teams": TEAMS[1:]}
    return gate(
        game={"simulator": f"python:tests.engine.tugs_of_war:{game}"}, exploits=[*exploits], screen=None, search=SEARCH,
        lineups={"teams": 2, "cost_tolerance": None, "baselines": baselines},
        objectives={"objectives": [{**WINS, "threshold": 0.9, **more}]},
    )  # fmt: skip


@pytest.fixture(autouse=True)
def _here(played_here: None) -> None:
    """Games are played in this process."""


def test_a_search_whose_battles_the_game_breaks_off_cannot_tell_wherever_it_was_interrupted(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    (end,) = run(searched("HeroFiveHidden"), store)[-1:]
    assert isinstance(end, Finished)
    found = report(store, end)
    (left,) = [row for row in found.rows if row.name == BATTLES]
    assert (found.exit_code, left.part, left.verdict) == (4, "search", "open")
    assert {row.verdict for row in found.rows if row is not left} == {"under"}, "all that it could measure"
    assert f"Cannot tell: in the search, {left.words}." == found.sentence
    *_, cut = run(searched("HeroFiveHidden"), store, control=commanded("pause", 6))
    assert isinstance(cut, Paused)
    for checkpoint in (cut.artifacts["checkpoint"], end.artifacts["checkpoint"]):
        assert report(store, run(searched("HeroFiveHidden"), store, checkpoint)[-1]) == found


def test_a_search_that_can_measure_no_lineup_leaves_open_what_it_looked_for_and_the_rest_as_it_was(
    tmp_path: Path,
) -> None:
    store, many = FolderStore(tmp_path), SEARCH["algorithm"]["population"]
    events = run(searched("HalfHidden", exploits=[{"teams": TEAMS[:2]}]), store)
    end = events[-1]
    assert isinstance(end, Finished)
    found = report(store, end)
    assert (found.exit_code, found.looked) == (4, {"replay": 1, "search": many})
    assert found.sentence.endswith(
        "; the search ended with no lineup that could be measured; in the search, the game did not finish battles of "
        f"{many} of {many} lineups, which are left out."
    )
    assert found.rows[0].part == "replay", "it still counts"
    assert found.battles == end.counters.battles >= many * SEARCH["replicates"]
    assert any(f"All {many} lineups failed. The first one" in getattr(event, "message", "") for event in events)
    saved = end.artifacts["checkpoint"]
    assert report(store, run(searched("HalfHidden", exploits=[{"teams": TEAMS[:2]}]), store, saved)[-1]) == found


def test_what_baseline_teams_left_unfinished_is_told_where_it_may_move_what_is_strong(tmp_path: Path) -> None:
    def told(*objectives: dict[str, Any]) -> bool:
        config = searched("HalfHidden")
        goals = config.objectives.model_validate({"objectives": [WINS, *objectives]})
        events = run(config.model_copy(update={"objectives": goals}), FolderStore(tmp_path))
        return any("battles of the baseline teams; each of these" in getattr(e, "message", "") for e in events)

    assert told({"name": "power", "title": "Power", "formula": "strongest(win_vs_baselines)", "strength": True})
    assert not told()


def test_a_search_of_which_nothing_is_left_out_says_nothing_of_it(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    found = report(store, run(searched("Drawn"), store)[-1])
    assert (found.exit_code, {row.verdict for row in found.rows}) == (0, {"under"})
    assert BATTLES not in [row.name for row in found.rows]


@pytest.mark.parametrize(("formula", "why"), [
    ("strongest(win) - weakest(win)", ""),
    ("strongest(win) / weakest(win)", " (or a formula divides by zero for them)"),
])  # fmt: skip
def test_a_formula_that_may_divide_by_zero_may_be_why_a_lineup_is_left_out(formula: str, why: str) -> None:
    found = read(searched("Drawn", formula=formula), SPEC, Parts({"search": []}, [], [], [], 3, 60, 0, 1))
    assert found.rows[1].words == f"the game did not finish battles of 1 of 3 lineups{why}, which is left out"


@pytest.mark.parametrize(("failed", "given_up", "words"), [
    (7, 0, LEFT_OUT),
    (1, 1, "1 of 1,200 lineups was given up and left out, because three attempts in a row failed while it was played "
           "alone"),
    (7, 7, "7 of 1,200 lineups were given up and left out, because three attempts in a row failed while each was "
           "played alone"),
    (9, 2, f"{LEFT_OUT}; 2 more were given up, because three attempts in a row failed while each was played alone"),
])  # fmt: skip
def test_lineups_that_were_given_up_are_told_from_those_whose_battles_the_game_did_not_finish(
    failed: int, given_up: int, words: str
) -> None:
    parts = Parts({"search": []}, [], [], [], 1200, 60, 0, failed, given_up)
    assert read(searched("Drawn"), SPEC, parts).rows[1].words == words


def test_a_record_counts_what_was_given_up_apart_also_after_it_was_saved(tmp_path: Path) -> None:
    problem = Problem(LineupSpace(compile_rules(SPEC, LineupConfig())), (Objective("gap", "Gap"),))
    record, again = (Record(problem, FolderStore(tmp_path)) for _ in range(2))
    requests = [Request(i, np.zeros(1, np.int32), 0, 1, 1) for i in range(2)]
    verdicts = Verdicts(succeeded=True)
    (lost,) = verdicts.condemn([Condemned(requests[1], "It was killed.")], 1, 0)
    for request, answer in zip(requests, (failed(requests[0], "No.", 1, 0), lost), strict=True):
        record.add(request, answer, 1)
    assert (record.totals["failed"], record.given_up) == (2, 1)
    record.close_chunk()
    again.load(json.loads(json.dumps(record.state())))
    assert (again.totals["failed"], again.given_up) == (2, 1)


def test_what_a_search_left_out_is_in_the_sentence_the_table_and_for_build_servers() -> None:
    left, under = (
        GateFinding("search", BATTLES, "open", LEFT_OUT, missing=None),
        GateFinding("search", "A", "under", "under the line"),
    )
    found = judged([under, left], WHOLE)
    assert (found.exit_code, found.sentence) == (4, f"Cannot tell: in the search, {LEFT_OUT}.")
    assert found.lines == [f"open    {BATTLES}: {LEFT_OUT}"]
    (case,) = ElementTree.fromstring(to_junit(found), forbid_dtd=True).iter("testcase")
    assert case.find("skipped").get("message") == f"{BATTLES}: {LEFT_OUT}"
    assert LEFT_OUT in [row["words"] for row in csv.DictReader(io.StringIO(to_csv(found).decode()))]
    unsure = GateFinding("search", "B", "open", "needs more", 0.9, missing=10)
    assert "1 of 2 lineups that the search ended with" in judged([under, unsure, left], WHOLE).sentence


def test_a_search_that_is_over_says_what_it_left_out_too() -> None:
    rows = [
        GateFinding("search", "A", "over", "confirmed"),
        GateFinding("search", BATTLES, "open", LEFT_OUT, missing=None),
    ]
    found = judged(rows, WHOLE)
    assert (found.exit_code, found.sentence) == (
        3, f"Over the line: the search found 1 lineup over the line, where {LEFT_OUT}.",
    )  # fmt: skip
