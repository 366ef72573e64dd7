"""Objectives: formulas checked at their fields, live sample values, buttons instead of dragging, versions."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from engine.arrays import pack
from engine.config import FAIRNESS, SampleConfig
from engine.config.study import GameConfig
from engine.errors import ConfigError
from engine.store import FolderStore
from tests.factories import Studio, signed_in, studio
from tests.webapp.games_data import SPEC, with_data
from webapp.balance import samples
from webapp.balance.models import ObjectiveSet
from webapp.balance.objectives import ObjectiveSetForm, checked, fairness, short_name
from webapp.studies.models import Job, Status

OBJECTIVES = "/p/herobattle/objectives/"
ONE = {"title": "Gap", "formula": "strongest(strength) - weakest(strength)", "direction": "max", "unit": "points"}


@pytest.fixture
def team(db: None) -> Studio:
    found = studio()
    with_data(found.project)
    return found


def form(*objectives: dict[str, str], **more: str) -> dict[str, str]:
    fields = {f"o{i}-{key}": text for i, o in enumerate(objectives) for key, text in o.items()}
    return {"set_name": "Mine", "count": str(len(objectives)), "constraints": "", "strength": "", **fields, **more}


def post(client: Client, fields: dict[str, str], action: str = "save") -> Any:
    return client.post(f"{OBJECTIVES}new/", {**fields, "action": action})


def test_a_new_set_begins_with_fairness_and_saves_as_it_is(designer: Client) -> None:
    page = designer.get(f"{OBJECTIVES}new/").content.decode()
    for objective in FAIRNESS.objectives:
        assert objective.title.replace("'", "&#x27;") in page
    wanted = ObjectiveSetForm.of(FAIRNESS, SPEC, 3, "Fairness")
    post(designer, form(*wanted.raw, set_name="Fairness", strength="2"))
    row = ObjectiveSet.objects.get()
    assert row.config == FAIRNESS.model_dump(mode="json")


def test_fairness_speaks_the_names_of_the_game() -> None:
    import msgspec

    metrics = tuple(msgspec.structs.replace(m, name={"strength": "life", "resources": "gold"}.get(m.name, m.name))
                    for m in SPEC.side_metrics)  # fmt: skip
    spec = msgspec.structs.replace(SPEC, side_metrics=metrics, strength="life", resources="gold")
    for objective in fairness(spec).objectives:
        assert checked(objective.formula, spec, 3)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"formula": "strength.real"}, "a dot"),
        ({"formula": "__import__('os').system('x')"}, "may only call the listed functions"),
        ({"formula": "strongest(power)"}, "not known"),
        ({"formula": "strongest(strength"}, "cannot be read"),
        ({"formula": "strength"}, "one number for each team"),
        ({"formula": "9**9**9"}, "**"),
        ({"formula": "1 / (strongest(cost) - strongest(cost))"}, "gives no number"),
        ({"formula": "nan"}, "not known"),
        ({"formula": ""}, "required"),
        ({"title": ""}, "required"),
        ({"low": "4", "high": "2"}, "must be below the cap"),
        ({"threshold": "high"}, "is not a number"),
        ({"threshold": "nan"}, "is not a number"),
        ({"name": "Not A Name"}, "lower-case letters"),
        ({"direction": "sideways"}, "valid choice"),
    ],
)
def test_a_bad_objective_is_an_error_at_its_field_and_nothing_typed_is_lost(
    designer: Client, changes: dict[str, str], words: str
) -> None:
    answer = post(designer, form({**ONE, "toward": "wider by far", **changes}))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert words in page.replace("&#x27;", "'")
    assert "wider by far" in page
    assert not ObjectiveSet.objects.exists()


def test_a_set_needs_a_name_an_objective_and_distinct_short_names(designer: Client) -> None:
    assert "At least one objective" in post(designer, form()).content.decode()
    assert "Give the set a name" in post(designer, form(ONE, set_name="")).content.decode()
    wrong = {**ONE, "threshold": "two", "low": "9", "high": "1,5"}
    page = post(designer, form(ONE, wrong, set_name="")).content.decode()
    assert "Objective 1 has this short name" in page  # and everything else that is wrong, at once
    assert "The floor (9) must be below the cap (1.5)." in page
    assert "two is not a number" in page
    assert "Give the set a name" in page


def test_what_must_hold_is_checked_line_by_line(designer: Client) -> None:
    page = post(designer, form(ONE, constraints="min(strength) - 10\nmax(nothing)\n0 / 0")).content.decode()
    assert "Line 3: The formula gives no number" in page
    assert "Line 2: " in page
    post(designer, form(ONE, constraints="min(strength) - 10\n\n"))
    assert ObjectiveSet.objects.get().config["constraints"] == ["min(strength) - 10"]


def test_objectives_are_added_removed_and_moved_by_buttons(designer: Client) -> None:
    two = {**ONE, "title": "Other"}
    added = post(designer, form(ONE), "add").content.decode()
    assert "New objective" in added
    moved = post(designer, form(ONE, two, strength="0"), "down:0").content.decode()
    assert moved.index("1. Other") < moved.index("2. Gap")
    assert 'name="strength" value="1" checked' in moved
    removed = post(designer, form(ONE, two), "remove:0").content.decode()
    assert "1. Other" in removed
    assert "Gap" not in removed.split("1. Other")[1].split("Numbers of a battle")[0]
    part = designer.post(f"{OBJECTIVES}new/", {**form(ONE), "action": "add"}, headers={"HX-Request": "true"})
    assert part.content.decode().lstrip().startswith('<div id="objective-set"')


def test_a_change_is_a_new_version_and_a_colleagues_is_not_overwritten(designer: Client, team: Studio) -> None:
    post(designer, form(ONE))
    first = ObjectiveSet.objects.get()
    page = f"{OBJECTIVES}{first.pk}/"
    signed_in(team.owner).post(page, {**form({**ONE, "unit": "pts"}), "action": "save", "base": first.pk})
    answer = designer.post(page, {**form({**ONE, "unit": "%"}), "action": "save", "base": first.pk})
    assert answer.status_code == 422
    assert "in the meantime" in answer.content.decode()
    newest = ObjectiveSet.objects.get(replaced_by=None)
    designer.post(page, {**form({**ONE, "unit": "%"}), "action": "save", "base": newest.pk})
    assert ObjectiveSet.objects.get(replaced_by=None).config["objectives"][0]["unit"] == "%"
    assert ObjectiveSet.objects.count() == 3


def sample(client: Client, **fields: str) -> str:
    return client.post(f"{OBJECTIVES}sample/?part=0", form({**ONE, **fields})).content.decode()


def test_a_sample_value_is_shown_while_typing(designer: Client) -> None:
    page = sample(designer, threshold="20")
    assert "in the middle" in page
    assert "200 made-up lineups" in page
    assert "reach the line" not in page
    assert "None of them reaches the line" in sample(designer, threshold="200")
    assert "All of them reach the line" in sample(designer, threshold="-200")
    assert "not known" in sample(designer, formula="strongest(power)")
    assert "gives no number" in sample(designer, formula="1 / (strongest(cost) - strongest(cost))")
    assert "appears here" in sample(designer, formula="")
    assert "2 points" in sample(designer, formula="2 + 0 * mean(cost)")
    assert "the same number for all" in sample(designer, formula="2")


def test_a_sample_value_comes_from_the_lineups_really_played_where_there_are_some(team: Studio) -> None:
    config = SampleConfig(name="sample", game=GameConfig(simulator="python:skirmish:make")).model_dump(mode="json")
    values = np.linspace(0.0, 4.0, 101)
    columns = {"objective": np.stack([values, values, values], axis=1)}
    digest = FolderStore(settings.STORE_DIR).put(pack({}, columns))
    Job.objects.create(
        project=team.project, kind="sample", title="Sample", config=config, config_hash="", artifacts={
            "sample": digest}, status=Status.FINISHED,
    )  # fmt: skip
    found = samples.on_played(team.project, FAIRNESS.objectives[0])
    assert found is not None
    assert (found.played, found.lineups, found.middle, found.over) == (True, 101, 2.0, 51)
    assert found.line.startswith("51 of 101 reach the line (50")
    other = FAIRNESS.objectives[0].model_copy(update={"formula": "mean(cost)"})
    assert samples.on_played(team.project, other) is None


def test_made_up_lineups_know_every_variable_and_stay_within_declared_ranges() -> None:
    from engine.lineups.schema import variables

    values = samples.made_up(SPEC, 3)
    team, lineup = variables(SPEC, 3)
    assert {*team, *lineup} <= values.keys()
    assert values["strength"].min() >= 0
    assert values["strength"].max() <= 100
    assert values["duration"].shape == (samples.LINEUPS, 1)


WORDS = (
    "strength cost duration win_first strongest( weakest( mean( max( where( ) , + - * / ** % < == "
    "0 2 0.5 1e9 ( . [ 'a' nan if else and not"
)
PARTS = st.sampled_from([f" {word} " if word.isalpha() else word for word in WORDS.split()])


@given(st.lists(PARTS, max_size=12).map("".join))
def test_no_formula_breaks_the_sample(text: str) -> None:
    with contextlib.suppress(ConfigError):
        found = samples.on_made_up(checked(text, SPEC, 2), None, SPEC, 2)
        assert found.odd < found.lineups


def test_a_short_name_is_made_from_the_title() -> None:
    assert short_name("Weakest team’s strength left") == "weakest_teams_strength_left"
    assert short_name("2× the gold") == "objective_2_the_gold"
    assert short_name("差") == "objective"


def test_a_producer_reads_objectives_and_cannot_change_them(team: Studio, designer: Client) -> None:
    post(designer, form(ONE))
    row = ObjectiveSet.objects.get()
    page = signed_in(team.producer).get(f"{OBJECTIVES}{row.pk}/").content.decode()
    assert "disabled" in page
    assert "Save as a new version" not in page
