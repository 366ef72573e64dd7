"""Easier starts on the site: the form, what the API takes, and the page with success, practice and the ranking."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from engine.arrays import Bundle
from engine.catalog import GAMES
from engine.config import parse
from engine.config.agent_games import SETTINGS, of_seat
from engine.config.starts import StartsConfig
from engine.config.train import TrainGame
from engine.console import EasierStarts
from engine.simulators import references
from tests.contracts.asked_kind import AskedKindContract, form, page
from tests.engine.test_starts import cart, study
from tests.factories import Studio
from tests.webapp.recorded import recorded
from webapp.api import tokens
from webapp.games.models import Simulator
from webapp.lib.words import NBSP
from webapp.starts import rows
from webapp.starts.asking import StartsForm
from webapp.starts.figures import figures
from webapp.starts.picture import LEAST, PICTURES, mark_of
from webapp.starts.reading import Practised, StartsResult, by_wins
from webapp.starts.rows import COLUMNS, OFFERED
from webapp.studies import actions, again, estimates, kinds
from webapp.studies.models import Job, Status
from webapp.studies.rounds import evenly
from webapp.studies.table_rows import latest
from webapp.training import curve

pytestmark = pytest.mark.django_db

CHOSEN = {
    "game": "half-field", "learner": "pdqn", "hard": "3", "name1": "At the goal", "ball_x_min1": "0.8",
    "ball_x_max1": "0.9", "apart1": "0", "name2": "Half the way", "ball_x_min2": "0.5", "ball_x_max2": "0,7",
    "name3": "Anywhere", "name4": "Left",
    "scheduler": "exp3", "signal": "td", "waits": "never", "iterations": "5000", "minutes": "30", "battles": "4",
    "actors": "2", "rate": "0.002", "seed": "7", "low": "-1.5", "high": "2",
}  # fmt: skip


def played(team: Studio, **more: Any) -> Job:
    """Three starts of Platform, ended."""
    return recorded(team, study(**more), "Three starts")


class TestEasierStarts(AskedKindContract):
    kind = "starts"
    typed = CHOSEN
    least = {"game": "platform", "learner": "mpdqn", "hard": "1", "scheduler": "exp3", "waits": "step"}
    title = "Easier starts: Half field"
    becomes = {
        "game.name": "half-field", "iterations": 5000, "minutes": 30, "seed": 7, "environments": 4, "actors": 2,
        "scheduler.signal": "td", "scheduler.low": -1.5, "scheduler.high": 2,
        "sampling": "asynchronous", "replay.where": "redis", "learner.kind": "pdqn",
        "learner.rate": 0.002, "learner.network.policy": [256, 128, 64],
        "tasks": [
            {"name": "At the goal", "settings": {"ball_x_min": 0.8, "ball_x_max": 0.9, "apart": 0}, "hard": False},
            {"name": "Half the way", "settings": {"ball_x_min": 0.5, "ball_x_max": 0.7}, "hard": False},
            {"name": "Anywhere", "settings": {}, "hard": True},
        ],
    }  # fmt: skip
    usually = {
        "iterations": 100_000,
        "sampling": "synchronous",
        "replay.where": "memory",
        "scheduler.signal": "progress",
        "scheduler.low": None,
        "scheduler.high": None,
    }
    wrong = (
        ({"ball_x_max1": "0.5"}, "ball_x_max1", "no episode can begin"),
        ({"ball_x_min2": "2"}, "ball_x_min2", "0.98"),
        ({"name2": "At the goal"}, "name2", "Another start has this name"),
        ({"hard": "9"}, "hard", ""),
        ({"game": "pong"}, "game", ""),
        ({"minutes": "0"}, "minutes", "0.1"),
        ({"high": ""}, "high", "Say the largest score, too"),
        ({"low": "2"}, "high", "more than the least"),
    )
    asks = {"game": "platform", "tasks": [{"name": "a", "settings": {"first": 3}}, {"name": "b", "hard": True}]}
    refused = (
        ({"game": "pong"}, "config.game.name"),
        ({"learner": {"kind": "mpdqn", "rewards": {"gold": {"weight": 2}}}}, "config.learner.rewards.gold"),
        ({"game": "command:rm -rf"}, "config.game.name"),
        ({"tasks": [{"name": "a"}]}, "config.tasks"),
        ({"tasks": [{"name": "a", "hard": True, "settings": {"nothing": 1}}]}, "config.tasks.0.settings.nothing"),
        (
            {"replay": {"where": "redis", "address": "redis://10.0.0.1"}, "sampling": "asynchronous"},
            "config.replay.address",
        ),
        ({"start": "e" * 64}, "config.start"),
        ({"learner": {"kind": "dqn"}}, "config.learner.kind"),
    )
    games = ("platform", "goal", "half-field", "half-field-keeper")
    not_games = ("pong", "maze", "gymnasium")

    def played(self, team: Studio) -> Job:
        return played(team)


def test_where_nothing_is_typed_it_lasts_as_long_as_the_hard_start_of_its_game_needs(
    team: Studio, designer: Client
) -> None:
    for game, steps in (("half-field", 400_000), ("half-field-keeper", 1_000_000), ("goal", 100_000)):
        typed = {"game": game, "learner": "mpdqn", "hard": "1", "scheduler": "exp3", "waits": "step"}
        assert designer.post(form(team, "starts"), typed).status_code == 302
        assert Job.objects.latest("pk").config["iterations"] == steps


def test_a_page_tells_how_often_it_succeeds_what_it_practises_and_what_is_hard(team: Studio, designer: Client) -> None:
    job = played(team)
    content = designer.get(page(job)).content.decode()
    for told in ("4 of 4 rounds", "How often it succeeds", "What it practises", "How hard each start is",
                 "The last platform", "the hard one", "Where it learns most"):  # fmt: skip
        assert told in content, told
    bands = content[content.index('"starts-bands"') :]
    assert len(re.findall(r'<path class="start-\d" d="M[^"]+Z"', bands)) == 3, "a band for each start"
    assert content.count('class="starts-mark') == 3
    assert set(StartsResult(job, curve.columns(job, 9), None).success.keys.values()) == {
        "The last platform", "From the second", "All three",
    }, "as they were named"  # fmt: skip
    answer = designer.get(reverse("studies:results", args=[team.project.slug, job.pk]))
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [row["start"] for row in rows] == ["The last platform", "From the second", "All three"]
    assert rows[2]["hard"] == "True"
    assert all(0 <= float(row["low"]) <= float(row["success"]) <= float(row["high"]) <= 1 for row in rows)


def test_success_is_drawn_with_its_ranges_and_each_point_says_of_how_many_episodes(
    team: Studio, designer: Client
) -> None:
    job = played(team)
    chart = StartsResult(job, curve.columns(job, 9), None).success
    columns = curve.columns(job, 9)
    for i, line in enumerate(chart.lines):
        evaluated = [value is not None for value in columns[f"task-{i + 1}/success"]]
        assert len(line.tips) == sum(evaluated) > 0
        assert line.band.count("L") == 2 * sum(evaluated) - 1, "both ends of each"
        assert all(re.search(r": [^(]+% \(\S+ to [^)]+%\), \d+ episodes$", tip.text) for tip in line.tips)
    assert [text for text, _ in chart.levels] == ["0\u00a0%", "50\u00a0%", "100\u00a0%"], "shares of episodes"
    assert chart.heads[:2] == ["Learning steps", "Episodes of each"]
    assert {row[1] for row in chart.rows} <= {"", str(job.config["episodes"])}
    assert str(job.config["episodes"]) in {row[1] for row in chart.rows}
    content = designer.get(page(job)).content.decode()
    for said in (
        "<title>From the second, ",
        "the shade around a line is its 95",
        "episodes that the agent never learns from",
    ):
        assert said in content


def test_specialists_see_reward_length_forecast_and_chance_of_each_start_round_by_round(
    team: Studio, designer: Client
) -> None:
    job = played(team)
    columns = curve.columns(job, 9)
    drawn = {small.title: small.chart for small in figures(StartsResult(job, columns, None))}
    assert list(drawn) == [
        "Reward of an episode", "Decisions of an episode", "Largest reward that it expects",
        "Chance to be practised next",
    ]  # fmt: skip
    for what, chart in zip(("return", "length", "max_q", "chance"), drawn.values(), strict=True):
        known = [sum(value is not None for value in columns[f"task-{i}/{what}"]) for i in (1, 2, 3)]
        assert [len(line.points) for line in chart.lines] == [count for count in known if count]
    units = {title: all(text.endswith("%") for text, _ in chart.levels) for title, chart in drawn.items()}
    assert [title for title, in_per_cent in units.items() if in_per_cent] == ["Chance to be practised next"]
    content = designer.get(page(job)).content.decode()
    details = content[content.index("Details for specialists") :]
    assert all(title in details for title in drawn)


def test_rounds_that_were_told_together_are_said_to_be_fewer_and_longer(team: Studio, designer: Client) -> None:
    apart = designer.get(page(played(team))).content.decode()
    assert "took the place" not in apart
    job = played(team, checkpoint_every=4)
    rounds = job.events.filter(kind="progressed").count()
    assert 1 < rounds < job.tick == 20, "an update has more learning steps than a round"
    assert f"{rounds} longer rounds took the place of 20." in designer.get(page(job)).content.decode()


def test_of_many_rounds_those_are_drawn_that_were_told(team: Studio) -> None:
    job = played(team, checkpoint_every=1, iterations=240, evaluate_every=0)
    ticks = [*job.events.filter(kind="progressed").values_list("tick", flat=True)]
    assert {job.tick} < evenly(job, 3) <= {*ticks}
    assert 2 <= len(evenly(job, 3)) <= 4
    assert evenly(job, 1000) == {*range(1, 241)}


def test_the_beginning_of_a_long_training_is_drawn_by_itself_too(team: Studio) -> None:
    job = played(team)
    columns = {"iterations": [float(10 * i) for i in range(1, 41)], "task-3/return": [0.1 * i for i in range(40)]}
    whole, early = figures(StartsResult(job, columns, None))
    assert early.text == "The same reward in the first 10 rounds."
    assert [len(small.chart.lines[0].points) for small in (whole, early)] == [40, 10]


@pytest.mark.parametrize(
    ("episodes", "told"),
    [(100, ": 99 of 100 episodes must succeed"), (20, ", which 20 episodes are too few to show"), (1000, "")],
)
def test_the_page_says_how_many_episodes_must_succeed_for_a_start_to_be_mastered(episodes: int, told: str) -> None:
    assert by_wins(episodes).mastered == f"A start is mastered once its whole range is at 90{NBSP}% or above{told}"


@pytest.mark.parametrize(
    ("scheduler", "told", "ranked"),
    [
        ({"kind": "exp3"}, "Where it learns most. It goes where its success changes", True),
        ({"kind": "exp3", "signal": "return"}, "Where its success is high. It mostly stays", True),
        ({"kind": "drc", "bar": 0.5}, f"The next is added at 50{NBSP}% success", False),
        ({"kind": "db"}, "No places: only the hard start was practised.", False),
    ],
)
def test_the_page_says_how_starts_were_chosen_and_ranks_them_only_where_that_tells(
    scheduler: dict[str, Any], told: str, ranked: bool, team: Studio, designer: Client
) -> None:
    job = played(team, scheduler=scheduler)
    content = designer.get(page(job)).content.decode()
    assert told in content
    assert ("The hardest first." in content) is ranked
    assert any(row.rank for row in StartsResult(job, curve.columns(job, 300), latest(job)).rows) is ranked


def test_of_very_many_rounds_the_page_says_how_many_are_drawn(team: Studio) -> None:
    job = played(team)
    job.tick = 1000
    columns = {name: [float(n * k) for k in range(1, 251)] for name, n in (("tick", 4), ("iterations", 40))}
    reading = StartsResult(job, columns | {"task-3/return": [0.1] * 250}, None)
    assert reading.thinned == "Of 1,000 rounds, 250 are drawn."
    assert figures(reading)[1].text == "The same reward in the first 248 rounds."


def test_a_page_of_a_game_without_wins_says_what_success_means_in_it(team: Studio, designer: Client) -> None:
    job = recorded(team, cart(), "Cart")
    content = designer.get(page(job)).content.decode()
    for told in ("How well it does", "Share of the way from 0 to 500, higher",
                 "does not tell who wins, so success is how far",
                 "is 90\N{NO-BREAK SPACE}% of the way from 0 to 500, at 450, or further"):  # fmt: skip
        assert told in content, told
    for untrue in ("Share of episodes", "must succeed", "How often it succeeds"):
        assert untrue not in content, untrue
    found = kinds.parts_of("starts").found(job)
    assert found is not None
    assert "of the way from 0 to 500 in fresh episodes" in str(found)
    said = EasierStarts().round(job.metrics, job.config)
    assert re.search(r"one: comes \d+% \(\d+% to \d+%\) of the way from score 0 to 500, \d+% of the minibatches", said)


def test_a_page_that_has_no_round_yet_says_so_and_draws_the_starts(team: Studio, designer: Client) -> None:
    job = actions.submit(team.project, team.designer, study(pool={"kind": "ray"}, actors=9), title="Many")
    content = designer.get(page(job)).content.decode()
    assert content.count("The first round is not complete yet") == 2
    assert "27 players share" in content
    assert content.count('class="starts-mark') == 3


def test_decisions_that_were_lost_are_told(team: Studio, designer: Client) -> None:
    job = played(team)
    job.metrics |= {"missing_unsent": 1200.0, "missing_gone": 34.0, "missing_uncounted": 1.0}
    job.save(update_fields=["metrics"])
    assert "At least 1,234 decisions were lost on their way to the learner" in designer.get(page(job)).content.decode()
    job.metrics |= {"missing_uncounted": 0.0}
    job.save(update_fields=["metrics"])
    content = designer.get(page(job)).content.decode()
    assert "1,234 decisions were lost on their way to the learner" in content
    assert "At least 1,234" not in content
    job.metrics = {"missing_strange": 3.0}
    job.save(update_fields=["metrics"])
    content = designer.get(page(job)).content.decode()
    assert "3 of the messages that arrived are no experience of this study: left out." in content
    assert "decisions were lost" not in content


def test_starts_are_ranked_by_when_they_were_mastered_and_ranges_that_meet_share_places(team: Studio) -> None:
    job = played(team)
    table = Bundle({}, {
        "success": np.array([0.99, 0.97, 0.2]), "low": np.array([0.95, 0.92, 0.1]), "high": np.array([1, 0.99, 0.3]),
        "perhaps": np.array([20, 30, -1]), "surely": np.array([40, 60, -1]), "forgotten": np.array([0, 0, 0.25]),
    })  # fmt: skip
    rows = StartsResult(job, {}, table).rows
    assert [(row.rank, row.name) for row in rows] == [
        ("1", "All three"), ("2 to 3", "From the second"), ("2 to 3", "The last platform"),
    ]  # fmt: skip
    assert [row.reached for row in rows] == ["", "30 to 60", "20 to 40"]
    assert [row.forgotten for row in rows] == ["at least 25\xa0%", "", ""]
    lost = {"iterations": [10.0, 20.0, 30.0], "task-1/forgotten": [0.0, 0.4, 0.25], "task-2/forgotten": [None, 0.1, 0]}
    once = {row.name: row.once for row in StartsResult(job, lost, table).rows}
    assert sorted(once.values()) == ["", "10\xa0% after 20", "40\xa0% after 20"]


def test_bands_of_what_is_practised_add_up_to_everything() -> None:
    found = Practised(["a", "b"], [10.0, 20.0], [[0.25, 1.0], [0.75, 0.0]])
    points = [
        [tuple(map(float, p.split())) for p in re.split("[ML]", band.path.rstrip(" Z"))[1:]] for band in found.bands
    ]
    (a, b) = points
    top, bottom = min(y for _, y in b), max(y for _, y in a)
    assert (top, bottom) == (16.0, 220.0)
    upper_of_a, lower_of_b = a[:4], b[4:]
    assert upper_of_a == list(reversed(lower_of_b)), "one stands on the other"
    assert found.rows == [["10", "25\xa0%", "75\xa0%"], ["20", "100\xa0%", "0\xa0%"]]
    assert not Practised(["a"], [10.0], [[None]]).known


@pytest.mark.parametrize("game", OFFERED)
def test_every_setting_of_a_start_can_be_typed_and_is_drawn_within_the_picture(game: str) -> None:
    model = SETTINGS[game]()
    picture = PICTURES[game]
    for setting in GAMES[game].starts:
        told = COLUMNS[setting]
        assert float(told.usual) == getattr(model, setting), setting
        for value in (told.low, told.high):
            type(model).model_validate({**model.model_dump(), **_paired(setting, int(value) if told.whole else value)})
            (mark,) = picture.marks([("a", _paired(setting, value))])
            assert -LEAST <= mark.x <= picture.width, (setting, value)
            assert -LEAST <= mark.y <= picture.height, (setting, value)


def _paired(setting: str, value: float) -> dict[str, float]:
    """A value of a setting, and the same of the other end of its range."""
    other = setting.replace("_min", "_max") if "_min" in setting else setting.replace("_max", "_min")
    return {setting: value, other: value}


def test_a_form_shows_what_was_typed_wrong_in_its_row(team: Studio, designer: Client) -> None:
    answer = designer.post(form(team, "starts"), {**CHOSEN, "ball_x_max1": "0.5"})
    content = answer.content.decode()
    row = content[content.index('data-start="1"') : content.index('data-start="2"')]
    assert "no episode can begin" in row.lower()


def test_what_is_typed_wrong_for_another_game_does_not_matter_and_is_kept(team: Studio, designer: Client) -> None:
    assert designer.post(form(team, "starts"), {**CHOSEN, "first3": "4"}).status_code == 302
    assert "first" not in Job.objects.get(kind="starts").config["tasks"][2]["settings"]
    answer = designer.post(form(team, "starts"), {**CHOSEN, "first3": "4", "ball_x_min2": "2"})
    content = answer.content.decode()
    assert "1 field needs a look" in content
    assert re.search(r'<input[^>]*name="first3"[^>]*value="4"|<input[^>]*value="4"[^>]*name="first3"', content)
    answer = designer.post(form(team, "starts"), {**CHOSEN, "game": "platform", "first3": "4"})
    assert "Type a number from 1 to 3." in answer.content.decode()


def test_of_more_starts_than_rows_the_hard_one_is_kept_and_what_is_left_out_is_named(team: Studio) -> None:
    easier = [{"name": f"s{i}", "settings": {"apart": i / 10, "max_ticks": 20}} for i in range(1, 7)]
    hard = {"name": "goal of all", "hard": True, "settings": {"apart": 1.0, "max_ticks": 50}}
    half_field: dict[str, Any] = {"game": "half-field"}
    job = played(team, **half_field, tasks=[{"name": "only shorter", "settings": {"max_ticks": 9}}, *easier, hard])
    typed = StartsForm.typed_of(job)
    assert [typed[f"name{i}"] for i in range(1, 6)] == ["s1", "s2", "s3", "s4", "goal of all"]
    assert (typed["hard"], typed["apart5"]) == ("5", 1.0)
    note = again.left_out(StartsForm, job, team.designer)
    assert note.startswith("3 starts left out, for which this form has no row: only shorter, s5, s6. ")
    assert "which change: goal of all: Settings of the game: max_ticks (was 50, here –); " in note
    assert "; s1: Settings of the game: max_ticks (was 20, here –); " in note
    few = played(team, **half_field, tasks=[*easier[:1], {**hard, "settings": {"apart": 1.0}}])
    assert "left out" not in again.left_out(StartsForm, few, team.designer)


@pytest.mark.parametrize(
    ("own", "where", "why"),
    [
        ({"rewards": ["shaped"]}, "rewards shaped", "It is shaped in “a” and score in “b”, and one agent learns"),
        ({"rewards": ["score", "shaped"], "apart": 0}, "rewards score and shaped, player’s distance 0",
         "It is score and shaped in “a” and score in “b”"),
        ({"tackle": True}, "tackle yes", "It is yes in “a” and no in “b”"),
    ],
)  # fmt: skip
def test_starts_for_another_agent_are_refused_at_their_setting_and_written_as_people_do(
    team: Studio, own: dict[str, Any], where: str, why: str
) -> None:
    assert rows.where(own, {}) == where
    (setting, *_) = own
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})

    def asked(**settings: Any) -> Any:
        tasks = [{"name": "a", "hard": True, "settings": own}, {"name": "b", "settings": {"apart": 0.1}}]
        body = {"kind": "starts", "config": {"game": {"name": "half-field", "settings": settings}, "tasks": tasks}}
        return client.post(f"/api/v1/projects/{team.project.slug}/jobs", body, content_type="application/json")

    (problem,) = asked().json()["problems"]
    assert problem["place"] == f"config.tasks.1.settings.{setting}"
    assert why in problem["message"]
    assert asked(**own).status_code == 201


def test_the_settings_that_make_another_agent_of_a_game_are_known() -> None:
    for game in OFFERED:
        usual = SETTINGS[game]().model_dump()
        others = {name: not value if isinstance(value, bool) else value for name, value in usual.items()}
        others |= {"rewards": ["shaped"]} if "rewards" in usual else {}
        for name, value in others.items():
            seats = [references.make(TrainGame(name=game, settings=each), 1).spec.seats for each in ({}, {name: value})]
            assert (seats[0] != seats[1]) == (name in of_seat(game, {})), name


def test_how_long_it_takes_is_known_by_an_earlier_one_or_by_first_rounds_in_step(team: Studio) -> None:
    config = study(sampling="asynchronous", replay={"where": "redis"}, actors=2, seed=5)
    first = kinds.parts_of("starts").first_rounds(config)
    assert isinstance(parse(StartsConfig, first.model_dump(mode="json")), StartsConfig)
    assert (first.sampling, first.replay.where, first.pool.kind) == ("synchronous", "memory", "local")
    assert estimates.estimate(config, None, team.project) is None
    recorded(team, study(sampling="asynchronous", actors=2), "Earlier")
    found = estimates.estimate(config, None, team.project)
    assert found is not None
    assert "one earlier job" in found.note


STARTS = [
    {"name": "x", "low": 0.0, "high": 9.0, "usual": 1.0, "title": "Along", "whole": False},
    {"name": "floor", "low": 1.0, "high": 3.0, "usual": 1.0, "title": "", "whole": True},
]


@pytest.fixture
def program(team: Studio) -> str:
    """A program of the project that says where its episodes begin, beside one that does not."""
    ready = {"kind": "command", "status": Simulator.Status.READY, "by_moves": True}
    other = Simulator.objects.create(name="Still", reference="command:still", **ready)
    row = Simulator.objects.create(name="Tower", reference="command:tower", starts=STARTS, **ready)
    team.project.simulators.add(row, other)
    return row.called


def test_a_program_that_says_where_its_episodes_begin_is_offered_with_its_own_columns(
    team: Studio, designer: Client, program: str
) -> None:
    content = designer.get(form(team, "starts")).content.decode()
    assert f'value="{program}"' in content
    assert "Still" not in content
    assert f'<th scope="col" data-games="{program}">Along</th>' in content
    key = program.replace(":", "-")
    typed = {"game": program, "learner": "dqn", "scheduler": "uniform", "waits": "step", "hard": "2",
             "name1": "Near", f"{key}-0-1": "7.5", f"{key}-1-1": "3", "name2": "Far", "ball_x_min1": "0.5"}  # fmt: skip
    answer = designer.post(form(team, "starts"), typed)
    assert answer.status_code == 302, answer.content.decode()
    job = Job.objects.get(kind="starts")
    assert (job.title, job.config["game"]["name"]) == ("Easier starts: Tower", "command:tower")
    assert [task["settings"] for task in job.config["tasks"]] == [{"x": 7.5, "floor": 3}, {}]
    assert "along 7.5, floor 3" in designer.get(page(job)).content.decode()
    again = StartsForm.typed_of(job)
    assert (again["game"], again[f"{key}-0-1"], again[f"{key}-1-1"], again[f"{key}-0-2"]) == (program, 7.5, 3, "")


def test_what_a_program_s_start_cannot_be_is_told_in_its_box_and_at_its_place(
    team: Studio, designer: Client, program: str
) -> None:
    key = program.replace(":", "-")
    typed = {"game": program, "learner": "dqn", "scheduler": "exp3", "waits": "step", "hard": "1", f"{key}-1-1": "9"}
    content = designer.post(form(team, "starts"), typed).content.decode()
    assert "Type a number from 1 to 3." in content
    body = {"game": program, "learner": {"kind": "dqn"}, "tasks": [
        {"name": "a", "settings": {"x": 10, "y": 1}}, {"name": "b", "hard": True, "settings": {"floor": 1.5}},
    ]}  # fmt: skip
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
    answer = client.post(
        f"/api/v1/projects/{team.project.slug}/jobs",
        {"kind": "starts", "config": body},
        content_type="application/json",
    )
    assert {problem["place"]: problem["message"] for problem in answer.json()["problems"]} == {
        "config.tasks.0.settings.x": "Must be 0 to 9, not 10.",
        "config.tasks.0.settings.y": "There is no such setting. There are x, floor.",
        "config.tasks.1.settings.floor": "Must be a whole number, not 1.5.",
    }


def test_a_job_that_ended_before_its_first_round_says_so_and_gives_no_agent(team: Studio, designer: Client) -> None:
    job = actions.submit(team.project, team.designer, study(pool={"kind": "ray"}), title="Early")
    ended = {"status": Status.STOPPED, "finished_at": timezone.now(), "counters": {"steps": 0}}
    Job.objects.filter(pk=job.pk).update(**ended, artifacts={"policy": "0" * 64, "policy_description": "0" * 64})
    content = designer.get(page(job)).content.decode()
    assert content.count("It ended before its first round was complete") == 2
    assert re.search(r"data-take [^>]* hidden>", content)
    Job.objects.filter(pk=job.pk).update(counters={"steps": 64})
    assert not re.search(r"data-take [^>]* hidden>", designer.get(page(job)).content.decode())


def test_of_more_starts_than_colours_the_hard_one_keeps_its_own_and_the_last_before_it_share_one(team: Studio) -> None:
    assert [mark_of(i, 8) for i in range(8)] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [mark_of(i, 12) for i in range(12)] == [1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7, 8]
    tasks = [{"name": f"Start {i}", "settings": {"max_ticks": 10 + i}} for i in range(1, 12)]
    config = study(tasks=[*tasks, {"name": "The hard one", "hard": True}]).model_dump(mode="json")
    job = Job(project=team.project, kind="starts", config=config, tick=2)
    columns: dict[str, Any] = {f"task-{i}/success": [0.1, 0.2] for i in range(1, 13)} | {"iterations": [1.0, 2.0]}
    keys = StartsResult(job, columns, None).success.keys
    assert (keys["start-1"], keys["start-7"], keys["start-8"]) == ("Start 1", "Start 7 and 4 more", "The hard one")
