"""Experiments on the site: the form, what they rest on, the table, and who sees it."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from openpyxl import load_workbook

from engine.arrays import pack, unpack
from engine.worth.verdicts import UNFINISHED
from tests.factories import Studio, ready_studio, signed_in, studio
from webapp.api import tokens
from webapp.games.models import Simulator
from webapp.lib.storage import store
from webapp.studies.models import Job, Status
from webapp.worth.asking import BATTLES, MATTERS
from webapp.worth.parts import OPEN, lines_of

ROWS = [
    # piece, second, least, worth, low, high, verdict, battles
    (0, -1, 1, 0.067, 0.041, 0.09, 3, 4000),
    (1, -1, 1, -0.058, -0.08, -0.034, 4, 4000),
    (2, -1, 1, 0.004, -0.01, 0.018, 1, 7000),
    (3, -1, 1, np.nan, np.nan, np.nan, 0, 3),
    (2, -1, 2, 0.01, -0.02, 0.04, 2, 900),
    (2, 3, 1, 0.05, 0.02, 0.08, 2, 3000),
]


@pytest.fixture
def team(db: None) -> Studio:
    return ready_studio()


@pytest.fixture
def designer(team: Studio) -> Client:
    return signed_in(team.designer)


def form(team: Studio) -> str:
    return reverse("studies:ask", args=[team.project.slug, "worth"])


def page(job: Job) -> str:
    return reverse("studies:job", args=[job.project.slug, job.pk])


def script(team: Studio, body: dict[str, Any]) -> Any:
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
    address = f"/api/v1/projects/{team.project.slug}/jobs"
    return client.post(address, json.dumps({"kind": "worth", **body}), content_type="application/json")


@pytest.fixture
def measured(team: Studio, designer: Client) -> Job:
    """An experiment that is over, with a table of its own."""
    designer.post(form(team), {"battles": "2000"})
    job = Job.objects.get(kind="worth")
    columns = list(zip(*ROWS, strict=True))
    arrays = {
        "piece": np.array(columns[:2], np.int32).T,
        "least": np.array(columns[2], np.int32),
        **{name: np.array(columns[3 + i]) for i, name in enumerate(("worth", "low", "high"))},
        "verdict": np.array(columns[6], np.uint8),
        "battles": np.array(columns[7], np.int64),
    }
    names = ("Frost Captain", "<b>Warhorn</b>", "Pikes", "=Bows")
    pieces = [{"id": f"p{i}", "name": name, "category": "hero", "cost": 100.0 + i} for i, name in enumerate(names)]
    table = store().put(pack({"pieces": pieces, "matters": 0.03, "game": "A game", "proved": True}, arrays))
    Job.objects.filter(pk=job.pk).update(
        status=Status.FINISHED,
        artifacts={"table": table},
        finished_at=timezone.now(),
        tick=40,
        counters={"battles": 2000},
    )
    return Job.objects.get(pk=job.pk)


def test_the_numbers_of_a_column_have_equally_many_decimals(designer: Client, measured: Job) -> None:
    table = unpack(store().get(measured.artifacts["table"]))
    for piece, cost in zip(table.meta["pieces"], (12.5, 13.0, 9.25, 410.0), strict=True):
        piece["cost"] = cost
    many = len(table.arrays["least"])
    prices = {"fair": np.full(many, 12.96), "fair_low": np.full(many, 11.0), "fair_high": np.full(many, 14.2)}
    Job.objects.filter(pk=measured.pk).update(
        artifacts={"table": store().put(pack(table.meta, {**table.arrays, **prices}))}
    )
    cells = re.findall(r'<td class="number[^>]*>(.*?)</td>', designer.get(page(measured)).content.decode(), re.DOTALL)
    told = [re.findall(r"−?[\d,]+(?:\.\d+)?", re.sub("<[^>]+>", " ", cell)) for cell in cells]
    columns = [told[k::4] for k in range(4)]
    decimals = [{len(number.partition(".")[2]) for cell in column for number in cell} for column in columns]
    assert decimals == [{2}, {1}, {1}, {0}], "cost, worth, fair price and battles"


def test_a_finished_experiment_has_no_beam_and_a_paused_one_has(designer: Client, measured: Job) -> None:
    assert 'role="progressbar"' not in designer.get(page(measured)).content.decode()
    Job.objects.filter(pk=measured.pk).update(status="paused", counters={"battles": 1_500})
    assert 'role="progressbar"' in designer.get(page(measured)).content.decode()


def test_the_rows_that_are_not_settled_can_be_looked_at_alone(designer: Client, measured: Job) -> None:
    lines = lines_of(unpack(store().get(measured.artifacts["table"])))
    waiting = [line for line in lines if line.verdict == OPEN]
    assert waiting
    assert f"only the {len(waiting)} not settled" in designer.get(page(measured)).content.decode()
    alone = designer.get(page(measured), {"show": "open"}).content.decode()
    assert alone.count('<th scope="row">') == len(waiting)
    assert alone.count("<td>Not settled</td>") == len(waiting)


def test_pairs_that_were_looked_at_and_are_not_in_the_table_are_counted(designer: Client, measured: Job) -> None:
    rows = len(lines_of(unpack(store().get(measured.artifacts["table"]))))
    Job.objects.filter(pk=measured.pk).update(metrics={"looked_at": float(rows + 40)})
    assert "40 other pairs showed too little" in designer.get(page(measured)).content.decode()


def test_what_is_not_tested_says_why_and_a_range_that_the_game_ends_is_open(designer: Client, measured: Job) -> None:
    table = unpack(store().get(measured.artifacts["table"]))
    many = len(table.arrays["least"])
    told = {"fair": 12.9, "fair_low": 11.0, "fair_high": 14.0}
    own = {
        **{name: np.full(many, number) for name, number in told.items()},
        "fair_open": np.full(many, 1, np.uint8),
        "untested": np.where(np.isnan(table.arrays["worth"]), UNFINISHED, 0).astype(np.uint8),
    }
    meta = {**table.meta, "untested_pairs": [30, 0, 0, 0, 0]}
    other = Job.objects.create(
        **{name: getattr(measured, name) for name in ("project", "created_by", "kind", "config", "game_version")},
        title="Again", status="finished",
    )  # fmt: skip
    Job.objects.filter(pk=measured.pk).update(
        artifacts={"table": store().put(pack(meta, {**table.arrays, **own}))}, metrics={"looked_at": float(many + 40)}
    )
    content = designer.get(page(measured)).content.decode()
    assert 'title="not tested: in too few battles that the game finished"' in content
    assert "Not tested: 30 pairs, too rare for this many battles." in content
    assert "10 other pairs showed too little" in content
    assert "11 or less to 14<" in content
    assert "There are 2 experiments on these numbers of the game, and each has its own 5" in content
    other.delete()
    assert "each has its own 5" not in designer.get(page(measured)).content.decode()


def test_a_dash_says_what_it_means(designer: Client, measured: Job) -> None:
    content = designer.get(page(measured)).content.decode()
    assert 'title="not tested"' in content
    assert '<span class="visually-hidden">not tested</span>' in content
    assert "A dash under Worth: not tested; it says why." in content
    read, _, folded = content.partition("How to read the table</summary>")
    assert ("the dashed line is even." in read, "Worth: how many percentage points" in read) == (True, False)
    assert folded.index("Worth: how many percentage points") < folded.index("</details>"), "on a phone it is 25 lines"
    assert content.count(">–<") == content.count('<span aria-hidden="true">–</span>')


def test_single_pieces_only_is_a_tick_and_the_page_says_that_pairs_are_not_tested(
    team: Studio, designer: Client, measured: Job
) -> None:
    assert "Pairs: not tested" not in designer.get(page(measured)).content.decode()
    designer.post(form(team), {"battles": "2000", "singles": "on"})
    job = Job.objects.filter(kind="worth").latest("pk")
    assert job.config["pairs"] is False
    assert "Pairs: not tested" in designer.get(page(job)).content.decode()


def test_how_long_it_takes_is_told_by_what_was_played_and_never_by_another_game(team: Studio, designer: Client) -> None:
    assert "On the built-in game 400,000 battles take one to four minutes" in designer.get(form(team)).content.decode()
    designer.post(form(team), {"battles": "2000"})
    Simulator.objects.update(reference="builtin:wesnoth")
    assert "400,000 battles take is not known" in designer.get(form(team)).content.decode()
    counters = {"battles": 200, "seconds": 10.0}
    Job.objects.update(kind="sample", status=Status.FINISHED, counters=counters)
    content = designer.get(form(team)).content.decode().replace("\xa0", " ")
    assert "400,000 battles take about 5 h 30 min" in content


def test_it_measures_the_game_data_and_the_rules_of_the_project(team: Studio, designer: Client) -> None:
    answer = designer.post(form(team), {"battles": "50000", "matters": "2.5", "title": "Whose fault?"})
    job = Job.objects.get(kind="worth")
    assert answer["Location"] == page(job)
    assert (job.title, job.config["battles"], job.config["matters"]) == ("Whose fault?", 50_000, 2.5)
    assert job.config["game"]["simulator"] == job.game_version.simulator.reference
    assert job.lineup_rules is not None


def test_the_form_says_what_is_taken_where_nothing_is_typed(team: Studio, designer: Client) -> None:
    content = designer.get(form(team)).content.decode()
    assert f'placeholder="{BATTLES:,}"' in content
    assert f'placeholder="{MATTERS}"' in content
    designer.post(form(team), {"title": ""})
    config = Job.objects.get(kind="worth").config
    assert (config["battles"], config["matters"]) == (BATTLES, MATTERS)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"battles": "10"}, "2,000"),
        ({"matters": "0"}, "0.5"),
        ({"battles": "many"}, "number"),
        ({"title": "\u3164"}, "something that one can see"),
    ],
)
def test_what_is_wrong_stands_at_its_field(team: Studio, designer: Client, typed: dict[str, str], said: str) -> None:
    answer = designer.post(form(team), typed)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Job.objects.filter(kind="worth").exists()


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"game": {"simulator": "command:sh -c reboot"}}, "config.game.simulator"),
        ({"game": {"simulator": "python:os:system"}}, "config.game.simulator"),
        ({"battles": 5}, "config.battles"),
        ({"matters": True}, "config.matters"),
        ({"name": " "}, "config.name"),
        ({"lineups": {"budget_high": 1}}, "config.lineups.budget_high"),
        ({"objectives": {}}, "config.objectives"),
    ],
)
def test_a_script_measures_nothing_but_the_project_s_own(team: Studio, config: dict[str, Any], place: str) -> None:
    answer = script(team, {"config": config})
    assert answer.status_code == 422
    assert place in {problem["place"] for problem in answer.json()["problems"]}
    assert script(team, {"config": {"battles": 2000}}).status_code == 201


def test_its_page_tells_its_team_what_stands_out_and_nobody_else(team: Studio, measured: Job) -> None:
    for user, status in ((team.owner, 200), (team.producer, 200), (team.stranger, 404)):
        answer = signed_in(user).get(page(measured))
        assert answer.status_code == status
        if status == 200:
            content = answer.content.decode()
            assert "<b>Frost Captain</b>: too good for its price" in content
            assert "6.7 points more often than teams with the average hero (4.1 to 9.0)" in content
            assert "win 5.8 points less often than" in content
            good, weak = content.partition("<h3>Too good</h3>")[2].split("<h3>Too weak to be used</h3>")
            assert "<b>Frost Captain</b>" in good
            assert "&lt;b&gt;Warhorn&lt;/b&gt;" in weak
            assert "<b>Warhorn</b>" not in content
            assert "Pikes, 2 or more" in content
            assert "Pikes + =Bows" in content
            assert "Not tested" in content


def test_the_list_of_jobs_says_how_many_stand_out_and_how_many_of_them_may_be_false(
    team: Studio, measured: Job, designer: Client
) -> None:
    content = designer.get(reverse("studies:jobs", args=[team.project.slug])).content.decode()
    assert 'data-found="strong"' in content
    assert "2 stand out" in content
    assert "1 in 20 at most is expected to be a false alarm" in content


def test_what_is_nearly_proved_says_how_many_more_battles_it_needs_and_of_what(measured: Job, designer: Client) -> None:
    assert "more battles. " not in designer.get(page(measured)).content.decode(), "its table has no evidence"
    table = unpack(store().get(measured.artifacts["table"]))
    evidence = np.where(table.arrays["verdict"] == OPEN, 2.0, -np.inf)
    kept = store().put(pack(table.meta, {**table.arrays, "evidence": evidence}))
    Job.objects.filter(pk=measured.pk).update(artifacts={"table": kept})
    said = re.sub(r"<[^>]+>", "", designer.get(page(measured)).content.decode())
    assert re.search(r"Pikes \+ =Bows: needs [\d,]+ more battles\. Teams that hold both won 5\.0 points more", said)
    assert "that many more with both would tell whether it is too good" in said
    assert re.search(r"Not settledNeeds [\d,]+ more battles with both to tell whether it is too good", said)
    assert re.search(r"Not settledNeeds [\d,]+ more battles with that many of it to show that it is fine", said)
    lines = list(csv.DictReader(io.StringIO(designer.get(f"{page(measured)}results.csv").content.decode())))
    waiting = [line for line in lines if line["verdict"] == "Not settled"]
    assert [(int(line["missing"]) > 0, line["needs"].partition(" ")[0]) for line in waiting] == [(True, "Needs")] * 2
    assert {line["missing"] + line["needs"] for line in lines if line not in waiting} == {""}


def test_its_page_says_which_teams_everything_is_measured_against(measured: Job, designer: Client) -> None:
    said = "one for all, whatever was looked at more closely: two teams, each drawn at random under the rules"
    text = designer.get(page(measured)).content.decode().replace("\xa0", " ")
    assert f"{said}, whose costs lie within 5 % of each other. " in text
    config = {**measured.config, "lineups": {**measured.config["lineups"], "cost_tolerance": None}}
    Job.objects.filter(pk=measured.pk).update(config=config)
    assert f"{said}. " in designer.get(page(measured)).content.decode()


def test_where_nothing_stands_out_the_page_says_what_is_left_open(measured: Job, team: Studio) -> None:
    table = store().put(pack({"pieces": [{"id": "a", "name": "A", "category": "hero", "cost": 1.0}], "proved": True}, {
        "piece": np.array([[0, -1]], np.int32), "least": np.array([1], np.int32), "worth": np.array([0.01]),
        "low": np.array([-0.012]), "high": np.array([0.034]), "verdict": np.array([2], np.uint8),
        "battles": np.array([500]),
    }))  # fmt: skip
    Job.objects.filter(pk=measured.pk).update(artifacts={"table": table})
    content = signed_in(team.producer).get(page(measured)).content.decode()
    assert (
        "Nothing stands out. The largest effect of a single piece that these battles do not rule out is A’s: +3.4 "
        in content
    )


def test_the_largest_effect_of_a_pair_that_is_left_open_is_told_too(measured: Job, team: Studio) -> None:
    bundle = unpack(store().get(measured.artifacts["table"]))
    settled = {**bundle.arrays, "verdict": np.array([1, 1, 1, 0, 2, 2], np.uint8)}
    other = {"furthest_pair": {"piece": [0, 3], "extra": -0.01, "low": -0.124, "high": 0.1}}
    said = []
    for meta in (bundle.meta, {**bundle.meta, **other}):
        Job.objects.filter(pk=measured.pk).update(artifacts={"table": store().put(pack(meta, settled))})
        content = signed_in(team.producer).get(page(measured)).content.decode()
        said.append(content.partition("Of a pair it is that of ")[2].partition(".</p>")[0])
    assert said == ["Pikes + =Bows: +8.0 points", "Frost Captain + =Bows: −12.4 points"]


def test_how_many_battles_the_game_did_not_finish_stands_above_what_is_told(measured: Job, designer: Client) -> None:
    assert "did not finish" not in designer.get(page(measured)).content.decode()
    meta, arrays = unpack(store().get(measured.artifacts["table"]))
    measured.artifacts["table"] = store().put(pack({**meta, "asked": 2_000, "unfinished": 431}, arrays))
    measured.save()
    assert "The game did not finish 431 of 2,000 battles" in designer.get(page(measured)).content.decode()


def test_what_the_game_did_not_finish_is_told_where_no_number_of_battles_settles_a_piece(
    measured: Job, designer: Client
) -> None:
    meta, arrays = unpack(store().get(measured.artifacts["table"]))
    still = {**arrays, "verdict": np.full(len(arrays["verdict"]), OPEN, np.uint8)}
    still |= {"hidden": np.full(len(arrays["verdict"]), 0.482), "evidence": np.full(len(arrays["verdict"]), 2.0)}
    measured.artifacts["table"] = store().put(pack({**meta, "asked": 2_000, "unfinished": 431}, still))
    measured.save()
    content = designer.get(page(measured)).content.decode()
    hold = "what is told and every range hold whichever way these would have ended"
    assert f"{hold}, but for fair prices." in content
    assert "No number of battles tells: those that the game did not finish may hide 48.2 points" in content
    measured.artifacts["table"] = store().put(pack({**meta, "unfinished": 431, "prices_hold": True}, still))
    measured.save()
    assert f"{hold}." in designer.get(page(measured)).content.decode()


def test_before_the_first_table_and_where_it_was_lost_the_page_says_so(measured: Job, designer: Client) -> None:
    Job.objects.filter(pk=measured.pk).update(artifacts={"table": "0" * 64})
    assert "The table was lost" in designer.get(page(measured)).content.decode()
    Job.objects.filter(pk=measured.pk).update(artifacts={}, status=Status.RUNNING)
    assert "The first table appears when two fifths" in designer.get(page(measured)).content.decode()


def test_a_table_with_prices_shows_the_fair_one_and_what_one_of_many_is_worth(
    team: Studio, measured: Job, designer: Client
) -> None:
    assert "Fair price" not in designer.get(page(measured)).content.decode()
    meta, arrays = unpack(store().get(measured.artifacts["table"]))
    none = np.full(len(ROWS), np.nan)
    first = {"fair": 134.6, "fair_low": 120.2, "fair_high": 151.0, "units": 4.0}
    priced = {name: np.concatenate([[value], none[1:]]) for name, value in first.items()}
    priced["why"] = np.resize(np.array([0, 4, 2, 3, 6, 5], np.uint8), len(ROWS))
    table = store().put(pack(meta, {**arrays, **priced}))
    Job.objects.filter(pk=measured.pk).update(artifacts={"table": table})
    text = designer.get(page(measured)).content.decode()
    assert "Fair price" in text
    assert "135" in text
    assert "120 to 151" in text
    assert "fair price 135 (120 to 151)" in text, "narrow screens have no column for it, and every number has its range"
    worth = ROWS[0][3] * 100
    assert f"({worth / 4:.2f} for each one of it, {worth / 4:.2f} for each 100 of its cost)" in text
    lines = list(csv.DictReader(io.StringIO(designer.get(f"{page(measured)}results.csv").content.decode())))
    assert float(lines[0]["fair"]) == 134.6
    book = load_workbook(io.BytesIO(designer.get(f"{page(measured)}results.xlsx").content))
    heads, first_row, *others = book["Table"].iter_rows(values_only=True)
    assert [*heads] == [*lines[0]]
    assert (first_row[heads.index("fair")], len(others)) == (134.6, len(lines) - 1)
    assert float(lines[0]["per_cost"]) == pytest.approx(worth / 4 / 100)
    assert lines[1]["per_cost"] == ""
    assert lines[0]["unpriced"] == lines[1]["fair"] == ""
    assert lines[1]["unpriced"] == "at such a price hardly any team can field it"
    assert 'title="it is not sure that costs decide who wins"' in text
    assert any(line["unpriced"].startswith("the game did not finish enough battles") for line in lines)
    assert any(line["unpriced"] == "no price that the game permits is ruled out" for line in lines)


def test_a_range_that_ends_beside_what_matters_reads_on_its_side_of_it(measured: Job, designer: Client) -> None:
    table = unpack(store().get(measured.artifacts["table"]))
    low, high = table.arrays["low"].copy(), table.arrays["high"].copy()
    low[:2], high[:2] = (-0.0298, -0.0302), (-0.004, -0.014)
    worth = np.where(np.arange(len(low)) < 2, -0.02, table.arrays["worth"])
    columns = {**table.arrays, "low": low, "high": high, "worth": worth}
    Job.objects.filter(pk=measured.pk).update(artifacts={"table": store().put(pack(table.meta, columns))})
    markup = designer.get(page(measured)).content.decode()
    assert "−2.98 to −0.40" in markup
    assert "−3.02 to −1.40" in markup
    assert "rounding does not put them on the wrong side" in markup


def test_the_table_is_taken_away_as_rows_and_as_csv_without_formulas(team: Studio, measured: Job) -> None:
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.producer, 'ci', None, 30)[1]}"})
    where = f"/api/v1/projects/{team.project.slug}/jobs/{measured.pk}/results"
    rows = client.get(where).json()["rows"]
    assert [row["name"] for row in rows[:2]] == ["Frost Captain", "<b>Warhorn</b>"]
    assert rows[0]["verdict"] == "Too good for its price"
    lines = list(csv.DictReader(io.StringIO(client.get(f"{where}?as=csv").content.decode())))
    assert len(lines) == len(ROWS)
    assert "'=Bows" in {line["name"] for line in lines}


@pytest.mark.parametrize("kind", ["worth", "gate", "patch", "sensitivity"])
def test_a_form_in_a_project_without_a_game_says_that_it_comes_first(db: None, kind: str) -> None:
    """In words of pages, not of scripts."""
    made = studio()
    said = (
        signed_in(made.designer)
        .post(reverse("studies:ask", args=[made.project.slug, kind]), {"title": "First"})
        .content.decode()
    )
    assert "This project has no game data yet: choose its game under Game data first." in said
    assert "GET the project" not in said
