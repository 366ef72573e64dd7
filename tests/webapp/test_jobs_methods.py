"""The menu of search methods: each is told, starts from the form as it is filled in, and is refused at its fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from engine.catalog import ALGORITHMS
from engine.config import FAIRNESS, ObjectiveSetConfig, SearchConfig
from engine.events import Finished, Progressed
from engine.store import FolderStore
from engine.study import run
from tests.factories import Studio, ready_studio
from tests.webapp.test_jobs_new import address, client, filled, form_of, ids  # noqa: F401 - client is a fixture
from webapp.balance.models import ObjectiveSet
from webapp.balance.saving import save
from webapp.studies import previews
from webapp.studies.form_values import values_of
from webapp.studies.forms import NewJobForm
from webapp.studies.method_menu import lineups
from webapp.studies.methods import LINEUPS, METHODS
from webapp.studies.models import Job
from webapp.training.searching import PLAYERS

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Studio:
    return ready_studio()


def search_of(form: NewJobForm) -> SearchConfig:
    assert form.is_valid(), form.errors
    return form.search(None)


@pytest.mark.parametrize("kind", METHODS)
def test_every_method_starts_from_the_form_as_it_is_filled_in(team: Studio, kind: str, tmp_path: Path) -> None:
    search = search_of(form_of(team, algorithm=kind))
    assert search.algorithm == ALGORITHMS[kind].config(population=200)
    tiny = {"algorithm": search.algorithm.model_copy(update={"population": 8}), "ticks": 2, "replicates": 2, "fresh": 2}
    local = search.pool.model_copy(update={"kind": "local", "workers": 1})
    events = list(run(search.model_copy(update={**tiny, "pool": local}), FolderStore(tmp_path)))
    assert isinstance(events[-1], Finished), events[-1]
    assert [e.tick for e in events if isinstance(e, Progressed)] == [1, 2]


@pytest.mark.parametrize("kind", METHODS)
def test_a_method_s_text_says_what_it_is_good_for_and_when_not(kind: str) -> None:
    assert METHODS[kind].text.count(".") == 2  # what it is good for, and when not


def test_only_the_method_that_needs_training_is_left_out() -> None:
    assert ALGORITHMS.keys() - METHODS.keys() == {"pbt"}
    assert list(METHODS) == [kind for kind in ALGORITHMS if kind != "pbt"]


def test_every_method_of_a_menu_stands_in_one_of_its_groups() -> None:
    for menu in (LINEUPS, PLAYERS):
        assert {method.group for method in menu.methods.values()} == menu.groups.keys()
    assert PLAYERS.methods.keys() == ALGORITHMS.keys()


def test_nobody_who_leaves_the_menu_closed_gets_anything_but_the_usual(team: Studio) -> None:
    typed = filled(team)
    del typed["algorithm"]
    typed["noise-racing"] = "off"  # as a browser sends a menu that nobody touched
    form = NewJobForm(typed, project=team.project, user=team.designer)
    search = search_of(form)
    assert (search.algorithm.kind, search.noise.used, search.stop) == ("nsga2", False, ())
    assert not lineups(typed, {})["open"]


def test_settings_reach_the_search_and_come_back_in_a_clone(team: Studio) -> None:
    typed = {"algorithm": "ga", "aim": "gap", "measure": "gap", "line": "30", "steady": "on", "fair": "on",
             "crossover": "0,8", "ga-tournament": "3", "noise-reevaluate": "5", "stop-minutes-most": "7.5",
             "stop-plateau-window": "12", "stop-plateau-tolerance": "0.01", "population": "40"}  # fmt: skip
    form = form_of(team, **typed)
    search = search_of(form)
    algorithm = search.algorithm.model_dump()
    assert (algorithm["crossover"], algorithm["tournament"], algorithm["steady"]) == (0.8, 3, True)
    assert [o.name for o in search.objectives.objectives] == ["gap"]
    assert search.noise.reevaluate == 5
    assert [rule.kind for rule in search.stop] == ["plateau", "minutes"]
    job = Job(config=search.model_dump(mode="json"), template="unfair", **ids(form))
    again = NewJobForm(values_of(job), project=team.project, user=team.designer)
    assert search_of(again) == search
    assert lineups(values_of(job), {})["open"]


@pytest.mark.parametrize(
    ("typed", "field", "says"),
    [
        ({"algorithm": "simplex"}, "algorithm", "choice"),
        ({"algorithm": "pbt"}, "algorithm", "choice"),
        ({"crossover": "1.2"}, "crossover", "from 0 to 1"),
        ({"crossover": "often"}, "crossover", "not a number"),
        ({"algorithm": "ga", "ga-tournament": "2.5"}, "ga-tournament", "whole number"),
        ({"algorithm": "cmaes", "cmaes-sigma": "0"}, "cmaes-sigma", "more than 0"),
        ({"algorithm": "cso", "population": "9"}, "population", "even number"),
        ({"algorithm": "map-elites", "map-elites-low": "1"}, "map-elites-low", "2 lower and 2 upper"),
        ({"algorithm": "map-elites", "map-elites-low": "1 two"}, "map-elites-low", "not a number"),
        ({"algorithm": "map-elites", "map-elites-quality": "beauty"}, "map-elites-quality", "objectives"),
        ({"algorithm": "nsga3", "nsga3-partitions": "40"}, "nsga3-partitions", "861 directions"),
        ({"noise-error": "2"}, "noise-error", "more than 0, less than 1"),
        ({"noise-racing": "maybe"}, "noise-racing", "choice"),
        ({"noise-racing": "halving", "steady": "on"}, "noise-racing", "needs rounds"),
        ({"noise-racing": "tests"}, "noise-racing", "by one objective"),
        ({"noise-racing": "bounds"}, "noise-racing", "“Resource advantage” is none"),
        ({"noise-racing": "chance"}, "noise-racing", "choice"),
        ({"fair": "on"}, "fair", "without rounds"),
        ({"stop-plateau-window": "2"}, "stop-plateau-window", "from 4"),
        ({"stop-minutes-most": "0"}, "stop-minutes-most", "more than 0"),
        ({"stop-battles-most": "1.5"}, "stop-battles-most", "whole number"),
    ],
)
def test_what_a_method_does_not_take_is_said_at_its_field(
    team: Studio, typed: dict[str, Any], field: str, says: str
) -> None:
    form = form_of(team, **typed)
    assert not form.is_valid()
    assert says in " ".join(form.errors[field])


def test_a_map_needs_a_second_objective(team: Studio) -> None:
    one = ObjectiveSetConfig(objectives=FAIRNESS.objectives[:1]).model_dump(mode="json")
    own = save(ObjectiveSet, team.project, "One", one, team.designer)
    form = form_of(team, question="own", objectives=own.pk, algorithm="map-elites")
    assert not form.is_valid()
    assert "second one" in form.errors["algorithm"][0]


def test_settings_of_other_methods_do_not_count(team: Studio) -> None:
    typed = {"ga-tournament": "5", "cmaes-sigma": "2", "noise-racing": "halving", "noise-reevaluate": "9"}
    assert search_of(form_of(team, algorithm="pso", **typed)).noise.used is False
    assert search_of(form_of(team, algorithm="nsga3", **typed)).noise.racing == "off"


def test_an_objective_of_another_question_is_no_aim(team: Studio) -> None:
    form = form_of(team, algorithm="cmaes", aim="price")
    assert len(search_of(form).objectives.objectives) == 3


def test_an_aim_is_played_on_the_same_sample(team: Studio) -> None:
    together, alone = form_of(team, algorithm="ga"), form_of(team, algorithm="ga", aim="gap", measure="", line="")
    assert together.is_valid()
    assert alone.is_valid()
    assert together.sample() == alone.sample()


def test_the_page_says_what_differs_from_the_usual(client: Client, team: Studio) -> None:  # noqa: F811
    tested = {"algorithm": "ga", "aim": "advantage", "noise-racing": "tests", "noise-error": "0.1"}
    typed = filled(team, **tested, **{"stop-minutes-most": "5"})
    rows = dict(client.post(address("preview", team), typed).json()["before"]["rows"])
    assert rows["Racing"] == "on, error 10\u00a0%"
    assert rows["Ends early"] == "after 5 min, not reproducible"
    assert rows["Battles"].endswith("and more")
    plain = dict(client.post(address("preview", team), filled(team)).json()["before"]["rows"])
    assert not {"Racing", "Ends early", "Method"} & plain.keys()


def test_what_was_typed_for_a_method_is_kept_with_its_error(client: Client, team: Studio) -> None:  # noqa: F811
    answer = client.post(address("new", team), filled(team, algorithm="cem", **{"cem-tau": "1.7"}))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert 'value="1.7"' in page
    assert 'value="cem" data-title="Cross-entropy method"' in page
    assert "Type a number: at least 0, less than 1." in page
    client.post(address("preview", team), filled(team, algorithm="cem", keep=1, **{"cem-tau": "0.5"}))
    assert 'value="0.5"' in client.get(address("new", team)).content.decode()


def test_every_setting_has_its_own_name_and_words(team: Studio) -> None:
    settings = LINEUPS.settings
    assert len({s.name for s in settings}) == len(settings)
    assert all(s.field.label for s in settings)
    assert previews.errors(form_of(team)) == {}
