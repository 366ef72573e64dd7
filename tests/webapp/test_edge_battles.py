"""What the New job page says of the battles at a search's end, against what such searches play."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.arrays import unpack
from engine.config import LineupConfig
from engine.events import Finished, Progressed
from engine.games.herobattle import HeroBattle
from engine.lineups.schema import battles_of_lineup
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from tests.factories import game_version, studio
from webapp.studies import plans, previews
from webapp.studies.form_values import first_values
from webapp.studies.forms import NewJobForm
from webapp.studies.methods import LINEUPS
from webapp.studies.questions import QUESTIONS, with_line

POPULATION, ROUNDS = 40, 8


def searched(store: FolderStore, question: str, **algorithm: Any) -> tuple[int, dict[str, str], LineupConfig, int]:
    """The battles after a search's last round, its artifacts, its rules, and how many objectives it had."""
    asked = QUESTIONS[question]
    objectives, rules = asked.objectives(HeroBattle().describe()), asked.lineups(LineupConfig())
    for objective in objectives.objectives:  # without a line nothing is left open, and played further
        objectives = with_line(objectives, objective.name, None)
    study: dict[str, Any] = {
        "kind": "search", "name": question, "game": {"simulator": "builtin:herobattle-planted:1"}, "ticks": ROUNDS,
        "replicates": 2, "fresh": plans.FRESH, "lineups": rules.model_dump(), "objectives": objectives.model_dump(),
        "algorithm": {"population": POPULATION, **algorithm}, "pool": {"kind": "local", "batch_ms": 50},
    }  # fmt: skip
    found = list(run(load(study), store, ""))
    end, last = found[-1], [event for event in found if isinstance(event, Progressed)][-1]
    assert isinstance(end, Finished), end
    return end.counters.battles - last.counters.battles, end.artifacts, rules, len(objectives.objectives)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_edge_takes_about_what_is_told_of_its_question_and_never_more_than_the_most(
    tmp_path: Path, question: str
) -> None:
    store, plan = FolderStore(tmp_path), plans.Plan(POPULATION, ROUNDS, 2)
    played, artifacts, rules, objectives = searched(store, question, kind="nsga2")
    each, edge = battles_of_lineup(rules, plans.FRESH), plans.edge_of(question, objectives)
    assert played == each * len(unpack(store.get(artifacts["fresh"])).arrays["id"])
    assert 0.4 < plans.edge_battles(plan, rules, plans.FRESH, edge) / played < 2.5
    assert played <= plans.most_edge_battles(plan, rules, plans.FRESH, edge) == POPULATION * each


@pytest.mark.parametrize(("question", "bins"), [("price", 16), ("price", 5), ("useless", 16)])
def test_of_a_map_all_that_it_holds_is_counted_and_never_more_than_its_cells(
    tmp_path: Path, question: str, bins: int
) -> None:
    plan = plans.Plan(POPULATION, ROUNDS, 2)
    played, _, rules, objectives = searched(FolderStore(tmp_path), question, kind="map-elites", bins=bins)
    edge = plans.edge_of(question, objectives, bins)
    assert 0.6 < plans.edge_battles(plan, rules, plans.FRESH, edge) / played < 1.6
    most = plans.most_edge_battles(plan, rules, plans.FRESH, edge)
    assert played <= most == battles_of_lineup(rules, plans.FRESH) * min(bins ** (objectives - 1), plan.lineups)


@pytest.mark.django_db
def test_the_page_tells_the_usual_and_the_largest_edge_and_no_guess_as_a_bound() -> None:
    team = studio()
    game_version(team.project)
    NewJobForm(None, project=team.project, user=team.designer)
    typed = {**first_values(team.project), "question": "price", "measure": "", "line": ""}
    numbers = {"population": "200", "rounds": "10", "replicates": "2", "fresh": "16"}
    form = NewJobForm({**typed, **numbers}, project=team.project, user=team.designer)
    said = dict(previews.preview(form, None)["before"]["rows"])["Fresh battles at the end"]
    assert said == [
        ("The edge again", "about 1,300, at most 19,200"),
        ("Each lineup of it", "96"),
    ], "no line, so nothing can be left open"
    mapped = NewJobForm({**typed, **numbers, LINEUPS.choice: "map-elites"}, project=team.project, user=team.designer)
    told = dict(dict(previews.preview(mapped, None)["before"]["rows"])["Fresh battles at the end"])
    assert told["Each of the others of its map"] == "at most 96"
    assert told["The edge again"].endswith(", at most 24,576")  # 16 × 16 cells


@pytest.mark.django_db
def test_battles_for_what_the_edge_leaves_open_come_on_top_of_the_most_that_the_edge_takes() -> None:
    team = studio()
    game_version(team.project)
    NewJobForm(None, project=team.project, user=team.designer)
    typed = {**first_values(team.project), "question": "unfair", "line": "2"}
    numbers = {"population": "200", "rounds": "10", "replicates": "2", "fresh": "16"}
    form = NewJobForm({**typed, **numbers}, project=team.project, user=team.designer)
    said = dict(dict(previews.preview(form, None)["before"]["rows"])["Fresh battles at the end"])
    assert said["The edge again"].endswith(", at most 76,800")
    assert said["Each lineup of it"] == "384"
    assert said["Extra battles for undecided lineups"] == "at most 614,400 (3,072 each)"
