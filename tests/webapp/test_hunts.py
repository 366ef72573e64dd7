"""Hunts for bugs on the site: the form, the job that it starts, its page, its bugs as files, and who sees them."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from engine import cli
from engine.arrays import pack
from engine.catalog import GAMES
from engine.config.base import parse
from engine.config.evolve import measure_names
from engine.config.hunt import LONGEST, HuntConfig
from engine.config.train import TrainGame
from engine.events import Finished
from engine.rl.recording import drawing_of
from engine.simulators import references
from engine.studies import load
from engine.study import run
from tests.contracts.asked_kind import AllMistakesContract, form, page
from tests.factories import Studio, signed_in
from tests.webapp.first_rounds import counted
from tests.webapp.hunted import hunted
from webapp.accounts.models import User
from webapp.api import tokens
from webapp.hunts import found
from webapp.hunts.asking import OFFERED, HuntForm
from webapp.lib.storage import store
from webapp.studies import estimates, kinds
from webapp.studies.models import Job, Status
from webapp.training import goals

pytestmark = pytest.mark.django_db

TYPED = {"game": "maze", "method": "wuji", "decisions": "100,000", "population": "8", "title": "Bugs", "seed": "4",
         "soonest": "5"}  # fmt: skip


@pytest.fixture
def job(team: Studio) -> Job:
    return hunted(team)


class TestHunts(AllMistakesContract):
    kind = "hunt"
    typed = TYPED
    least = {"game": "maze", "method": "wuji"}
    title = "Bugs"
    becomes = {
        "decisions": 100_000, "seed": 4, "algorithm.population": 8, "task.game.name": "maze",
        "oracles": {"stuck_after": 30, "soonest": 5, "most": None},
    }  # fmt: skip
    usually = {"decisions": 5_000_000, "algorithm.population": 30}
    wrong = (
        ({"game": "command:reboot"}, "game", "Select a valid choice"),
        ({"steps": "10"}, "steps", "1,024"),
        ({"decisions": "0"}, "decisions", "1"),
        ({"decisions": "many"}, "decisions", "number"),
        ({"decisions": "40,000"}, "decisions", "8 agents take up to 77,536 in a round, more than 40,000: give 77,536 "
         "or more, have 4 agents in a round, or let each learn from fewer."),
    )  # fmt: skip
    asks = {"task": {"game": "maze", "steps": 8192}}
    refused = (
        ({"task": {"game": "command:sh -c reboot", "steps": 8192}}, "config.task.game.name"),
        ({"task": {"game": "maze", "steps": 1}}, "config.task.steps"),
        ({"method": "prayer"}, "config.method"),
        ({"decisions": 200_000}, "config.decisions"),
        ({"objectives": [{"measure": "kills"}, {"measure": "places"}]}, "config.objectives.0.measure"),
        (
            {"objectives": [{"measure": "x", "formula": "score / 0"}, {"measure": "places"}]},
            "config.objectives.0.formula",
        ),
        (
            {"objectives": [{"measure": "x", "formula": "0 * score"}, {"measure": "places"}]},
            "config.objectives.0.formula",
        ),
        (
            {"objectives": [{"measure": "x", "formula": "score + kills"}, {"measure": "places"}]},
            "config.objectives.0.formula",
        ),
        ({"behaviour": ["jumps"]}, "config.behaviour.0"),
        ({"task": {"game": "pong-two-seats", "steps": 8192}}, "config.task.game.name"),
    )
    muddled = (
        {"steps": "10", "stuck_after": "soon", "decisions": "40,000", "most": "1e14"},
        {"steps", "stuck_after", "decisions", "most"},
    )
    mixed = (
        {"method": "prayer", "task": {"game": "maze", "steps": 1}, "decisions": 200_000, "behaviour": ["jumps"],
         "oracles": {"soonest": -1, "later": 2}},
        {"config.method", "config.task.steps", "config.decisions", "config.behaviour.0", "config.oracles.soonest",
         "config.oracles.later"},
    )  # fmt: skip
    games = ("maze", "pong")
    not_games = ("pong-two-seats",)

    def played(self, team: Studio) -> Job:
        return hunted(team)


def test_the_form_and_the_page_say_from_how_many_decisions_an_agent_really_learns(
    team: Studio, designer: Client
) -> None:
    said = "learns from 10,240 decisions and not from 10,000, because it learns from 1,024 at a time."
    typed = {**TYPED, "steps": "10000", "decisions": "1,000,000"}
    assert said in designer.post(f"{form(team, 'hunt')}before/", typed).content.decode()
    designer.post(form(team, "hunt"), typed)
    content = designer.get(page(Job.objects.get(kind="hunt"))).content.decode()
    assert said in content
    for more in ({"steps": "8192"}, {"method": "random"}):
        before = designer.post(f"{form(team, 'hunt')}before/", {**typed, **more}).content.decode()
        assert "at a time" not in before


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({}, "5,000,000 decisions buy up to 17 rounds of 30 agents, fewer where many bugs must be shown again."),
        (
            {"decisions": "200,000"},
            "200,000 decisions buy up to 3 rounds of 6 agents, fewer where many bugs must be shown again.",
        ),
        (
            {"decisions": "120000", "population": "10"},
            "120,000 decisions buy up to 1 round of 10 agents. Breeding begins with the second round, so nobody is "
            "bred. Give more decisions, or have fewer agents in a round.",
        ),
        (
            {"decisions": "120000", "population": "10", "method": "learning"},
            "120,000 decisions buy up to 1 round of 10 agents, fewer where many bugs must be shown again.",
        ),
        ({"decisions": "20000"}, "4 agents take up to 38,768 in a round, more than 20,000"),
    ],
)
def test_the_form_says_what_the_decisions_buy_and_has_as_many_agents_as_make_a_few_rounds(
    team: Studio, designer: Client, typed: dict[str, str], said: str
) -> None:
    asked = f"{form(team, 'hunt')}before/"
    assert said in designer.post(asked, {"game": "maze", "method": "wuji", **typed}).content.decode()


def test_what_the_form_says_before_the_start_stands_beside_its_questions(team: Studio, designer: Client) -> None:
    content = designer.get(form(team, "hunt")).content.decode()
    questions, beside = content.split("Before you start")
    assert "columns-side" in questions
    assert all(f'name="{name}"' in questions for name in ("game", "method", "decisions", "population", "most"))
    assert "You can pause or stop at any time. What was found stays." in beside


def test_the_form_says_how_long_it_takes_once_two_agents_have_explored_the_game(team: Studio, designer: Client) -> None:
    before, typed = f"{form(team, 'hunt')}before/", {**TYPED, "decisions": "600,000"}
    assert "Two agents explore the game" in designer.post(before, typed).content.decode()
    trial = Job.objects.for_forms().get()
    first = parse(HuntConfig, trial.config)
    assert (first.algorithm.population, first.task.steps, first.pool.processes) == (2, 2048, 1)
    assert not list(first.too_small(0)), "it may always begin, however long episodes are"
    counted(trial, *({"steps": 5000 * tick, "seconds": 4.0 + 5 * tick} for tick in (1, 2, 3)))
    assert kinds.of(trial).tells_enough(Job.objects.get(pk=trial.pk), {})
    said = designer.post(before, typed).content.decode().replace("\xa0", " ")
    assert "1,000 decisions a second on one processor" in said
    assert "600,000 decisions buy up to" in said, "what the decisions buy is still there"
    asked = parse(HuntConfig, {**trial.config, "decisions": 600_000, "pool": {"kind": "local", "workers": 1}})
    found = estimates.estimate(asked, trial, team.project)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((8 + 0.85 * 600, 8 + 1.5 * 600))


@pytest.mark.parametrize("method", ["wuji", "evolution", "learning", "random"])
def test_the_page_of_a_hunt_that_ended_with_its_first_round_says_whether_that_leaves_something_out(
    job: Job, designer: Client, method: str
) -> None:
    said = "Nobody was bred: breeding begins with the second round, and this hunt had only one."
    Job.objects.filter(pk=job.pk).update(tick=1, config={**job.config, "method": method})
    content = designer.get(page(job)).content.decode()
    assert (said in content) == (method in ("wuji", "evolution"))
    assert re.search(r"; 1.round<", content)
    for change in ({"tick": 2}, {"tick": 1, "status": Status.RUNNING}):
        Job.objects.filter(pk=job.pk).update(**change)
        assert said not in designer.get(page(job)).content.decode()


def test_with_usual_settings_every_battle_of_an_agent_that_learns_ends_three_times(team: Studio) -> None:
    for game in OFFERED:
        typed = HuntForm({"game": game, "method": "wuji"}, project=team.project, kind="hunt")
        assert typed.is_valid()
        task = typed.study().task
        assert task.environments == 1 or task.steps >= 3 * GAMES[game].longest * task.environments


def test_who_learns_alone_is_paid_for_new_ground_as_bred_agents_are_who_weigh_it_themselves(team: Studio) -> None:
    paid = {}
    for method in ("wuji", "learning", "evolution", "random"):
        typed = HuntForm({"game": "maze", "method": method}, project=team.project, kind="hunt")
        assert typed.is_valid()
        task = typed.study().task
        assert ("rewards" in task.game.settings) == (method in ("wuji", "learning"))
        paid[method] = {name: each.weight for name, each in task.learner.rewards.items()}
    assert paid["learning"] == {"ground": 0.05}
    assert paid["wuji"] == {"ground": (0.0, 0.1)}


def test_its_page_lists_each_bug_with_its_replay_and_draws_the_map_for_its_team_alone(team: Studio, job: Job) -> None:
    kept = found.of(job)
    assert kept is not None
    assert kept.bugs
    for user, status in ((team.owner, 200), (team.producer, 200), (team.stranger, 404)):
        client = signed_in(user)
        address = reverse("hunts:bug", args=[team.project.slug, job.pk, 1])
        assert client.get(address).status_code == status
        answer = client.get(page(job))
        assert answer.status_code == status
        if status == 200:
            content = answer.content.decode()
            assert content.count("Download the file of bug") == len(kept.bugs)
            assert f'href="{address}"' in content
            assert f"{kept.places} of {kept.open} cells were entered" in content
            assert content.count('class="bug"') == len(kept.bugs) + 1
            shaded = len(re.findall(r'<rect class="shade-\d" x="\d+" y="\d+" width="1" height="1"/>', content))
            assert shaded == kept.places


def test_a_replay_that_was_downloaded_shows_the_bug_again(
    job: Job, designer: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bug.json"
    file.write_bytes(designer.get(reverse("hunts:bug", args=[job.project.slug, job.pk, 1])).content)
    assert cli.main(["replay-bug", str(file)]) == 0
    said = capsys.readouterr().out
    assert re.search(r"at row \d+, column \d+: .* It showed in 1 of 1 replay, after [\d,]+ decision", said)
    none = reverse("hunts:bug", args=[job.project.slug, job.pk, 99])
    assert designer.get(none).status_code == 404


def _watched(job: Job, number: int, user: User) -> Job:
    """The recording of a bug, made by the engine."""
    answer = signed_in(user).post(reverse("hunts:watch", args=[job.project.slug, job.pk, number]))
    assert answer.status_code == 302
    asked = Job.objects.for_forms().get(parent=job, config__agents__0__title__startswith=f"Bug {number}:")
    assert answer["Location"] == reverse("agents:battles", args=[job.project.slug, asked.pk])
    end = list(run(load(asked.config), store()))[-1]
    assert isinstance(end, Finished)
    Job.objects.filter(pk=asked.pk).update(status=Status.FINISHED, artifacts=end.artifacts, finished_at=timezone.now())
    return Job.objects.get(pk=asked.pk)


def test_a_bug_is_watched_from_its_seed_and_its_decisions_up_to_where_it_shows(team: Studio, job: Job) -> None:
    kept = found.of(job)
    assert kept is not None
    for number, bug in enumerate(kept.bugs, 1):
        asked = _watched(job, number, team.designer)
        address = reverse("agents:battles", args=[team.project.slug, asked.pk])
        content = signed_in(team.producer).get(address).content.decode()
        assert f"At {kept.where(bug['place'])}: {bug['what']}" in content
        assert f"Go to decision {len(bug['moves'])}" in content
        assert page(job) in content
        assert "Another seed" not in content
        told = signed_in(team.owner).get(reverse("agents:battles-data", args=[team.project.slug, asked.pk])).json()
        assert len(told["battles"][0]) == len(bug["moves"]) + 1
        row, column = told["battles"][0][-2 if "fewer than" in bug["what"] else -1][:2]
        assert row * len(told["scenery"]) + column == bug["place"]
    form = signed_in(team.designer).get(reverse("agents:watch", args=[team.project.slug])).content.decode()
    assert "Bug 1" not in form, "the form’s list has battles of agents"


def test_a_bug_that_takes_too_long_to_be_watched_is_said_to_be_and_has_no_button(
    team: Studio, job: Job, designer: Client
) -> None:
    kept = found.of(job)
    assert kept is not None
    long = {**kept.bugs[0], "moves": [0] * (LONGEST + 1)}
    packed = pack({**kept.bundle.meta, "bugs": [long]}, kept.bundle.arrays)
    Job.objects.filter(pk=job.pk).update(artifacts={"found": store().put(packed)})
    content = designer.get(page(job)).content.decode()
    assert "Too long to watch." in content
    assert "Watch it" not in content
    answer = designer.post(reverse("hunts:watch", args=[team.project.slug, job.pk, 1]), follow=True)
    assert answer.redirect_chain == [(page(job), 302)]
    said = "Bug 1 cannot be watched. It takes 20,001 decisions; 20,000 are the most that can be watched."
    assert said in answer.content.decode()


def test_a_bug_whose_game_does_not_take_its_settings_any_more_cannot_be_watched_and_it_is_said_why(
    team: Studio, job: Job, designer: Client
) -> None:
    kept = found.of(job)
    assert kept is not None
    game = {"name": "maze", "settings": {"size": -1}}
    packed = pack({**kept.bundle.meta, "game": game}, kept.bundle.arrays)
    Job.objects.filter(pk=job.pk).update(artifacts={"found": store().put(packed)})
    answer = designer.post(reverse("hunts:watch", args=[team.project.slug, job.pk, 1]), follow=True)
    assert answer.redirect_chain == [(page(job), 302)]
    said = "Bug 1 cannot be watched. The game does not take it any more (game.settings.size: must be 9 to 101, not −1)."
    assert said in answer.content.decode()


def test_only_who_may_write_has_a_bug_recorded_and_only_one_that_was_found(team: Studio, job: Job) -> None:
    address = reverse("hunts:watch", args=[team.project.slug, job.pk, 1])
    assert signed_in(team.producer).post(address).status_code == 403
    assert signed_in(team.stranger).post(address).status_code == 404
    assert signed_in(team.designer).post(address.replace("/1/", "/99/")).status_code == 404
    assert 'aria-label="Watch it: bug 1"' in signed_in(team.designer).get(page(job)).content.decode()
    assert 'aria-label="Watch it: bug 1"' not in signed_in(team.producer).get(page(job)).content.decode()


@pytest.mark.parametrize("name", [name for name, row in GAMES.items() if row.captions])
def test_what_the_catalogue_says_that_episodes_of_a_game_tell_is_what_they_tell(name: str) -> None:
    seat = references.make(TrainGame(name=name), 1).spec.seats[0]
    assert sorted(goals.measures_of({"name": name})) == sorted(measure_names(seat.rewards, seat.signals))


def test_every_game_that_hunts_offer_here_has_a_drawing() -> None:
    for name in OFFERED:
        game = references.make_for_one(TrainGame(name=name), 1)
        assert drawing_of(game), name
        game.close()


def test_the_map_has_a_table_of_every_cell_that_can_be_entered_with_its_bugs(job: Job, designer: Client) -> None:
    kept = found.of(job)
    assert kept is not None
    drawn = kept.map
    assert drawn is not None
    rows = {(place.row, place.column): place for place in drawn.places}
    walls, times = kept.bundle.arrays["walls"], kept.bundle.arrays["visits"]
    assert {(r, c) for r in range(9) for c in range(9) if not walls[r, c]} <= rows.keys()
    assert sum(place.visits for place in drawn.places) == times.sum()
    assert [place.visits for place in drawn.places] == sorted((p.visits for p in drawn.places), reverse=True)
    for number, bug in enumerate(kept.bugs, 1):
        assert number in rows[divmod(bug["place"], 9)].bugs
    content = designer.get(page(job)).content.decode()
    assert 'aria-label="Where agents were, as a table" tabindex="0"' in content
    assert content.count('<th scope="row" class="text-nowrap">row ') == len(drawn.places)


def test_what_was_seen_too_late_to_be_shown_again_is_listed_as_such(job: Job, designer: Client) -> None:
    kept = found.of(job)
    assert kept is not None
    late = {**kept.bugs[0], "what": "Something odd."}
    packed = pack({**kept.bundle.meta, "untried": [late]}, kept.bundle.arrays)
    Job.objects.filter(pk=job.pk).update(artifacts={"found": store().put(packed)})
    content = designer.get(page(job)).content.decode()
    assert "Something odd." in content
    assert "Not shown again: no decisions were left for that." in content
    own = designer.get(reverse("hunts:bug", args=[job.project.slug, job.pk, len(kept.bugs) + 1])).json()
    assert own["what"] == "Something odd."


def test_the_page_says_how_often_the_game_crashed_where_no_replay_showed_it(job: Job, designer: Client) -> None:
    kept = found.of(job)
    assert kept is not None
    said = "and no replay showed those crashes again."
    assert said not in designer.get(page(job)).content.decode()
    crashes = {"lost": {"out of <memory>": 12}, "partial": {"out of <memory>": 7}}
    packed = pack({**kept.bundle.meta, "bugs": [], **crashes}, kept.bundle.arrays)
    Job.objects.filter(pk=job.pk).update(artifacts={"found": store().put(packed)})
    content = designer.get(page(job)).content.decode()
    assert f"The game crashed 12 times with the message “out of &lt;memory&gt;”, {said}" in content
    assert f"{said} After 7 of them, not every battle was replayed." in content


def test_the_number_of_bugs_says_what_is_not_in_it_and_nothing_before_the_first_round(
    job: Job, designer: Client
) -> None:
    kept = found.of(job)
    assert kept is not None
    assert kept.note == "each showed again in its replay"
    late = {**kept.bugs[0], "what": "Something odd."}
    meta = {**kept.bundle.meta, "untried": [late], "unshown": 2}
    both = kept._replace(bundle=kept.bundle._replace(meta=meta))
    assert both.note == (
        "each showed again in its replay; 1 more was seen when no decisions were left for a replay; "
        "2 more did not show again, and were left out"
    )
    none = kept._replace(bundle=kept.bundle._replace(meta={**kept.bundle.meta, "bugs": []}))
    assert none.note == "none has shown"
    Job.objects.filter(pk=job.pk).update(artifacts={}, status=Status.RUNNING, tick=0)
    job.events.all().delete()
    content = designer.get(page(job)).content.decode()
    assert content.count("counted after each round") == 2
    assert "rounded coarsely" not in content, "this game has a map"


def test_the_bugs_are_taken_away_as_rows_and_as_csv(team: Studio, job: Job) -> None:
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.producer, 'ci', None, 30)[1]}"})
    where = f"/api/v1/projects/{team.project.slug}/jobs/{job.pk}/results"
    rows = client.get(where).json()["rows"]
    lines = list(csv.DictReader(io.StringIO(client.get(f"{where}?as=csv").content.decode())))
    assert [line["what"] for line in lines] == [row["what"] for row in rows]
    assert {row["kind"] for row in rows} <= {"Crash", "Stuck", "Broken rule", "Imbalance"}
    assert rows[0]["number"] == 1


def test_lists_say_what_was_found_and_a_running_hunt_how_far_it_is(job: Job) -> None:
    kept, parts = found.of(job), kinds.of(job)
    line = parts.found(job)
    assert kept is not None
    assert line is not None
    assert f"{kept.places} of {kept.open} places" in line.words
    assert parts.work(job) == 1
    job.status, job.counters = Status.RUNNING, {"steps": 5000}
    assert parts.work(job) == 0.25


def test_findings_that_were_lost_are_told_as_lost(job: Job, designer: Client) -> None:
    job.artifacts["found"] = "0" * 64
    job.save()
    assert "What was found was lost" in designer.get(page(job)).content.decode()


def test_cells_inside_walls_are_none_of_the_places_to_be_covered_but_are_said(job: Job, designer: Client) -> None:
    kept = found.of(job)
    assert kept is not None
    arrays = dict(kept.bundle.arrays)
    arrays["place"] = np.arange(81)
    arrays["visits"] = np.ones(81)
    Job.objects.filter(pk=job.pk).update(artifacts={"found": store().put(pack(kept.bundle.meta, arrays))})
    job.refresh_from_db()
    kept = found.of(job)
    assert kept is not None
    assert kept.places == kept.open
    assert kept.inside == 81 - kept.open
    content = designer.get(page(job)).content.decode()
    assert f"{kept.open} of {kept.open}" in content
    assert f"and {kept.inside} cells inside walls" in content
    line = kinds.of(job).found(job)
    assert line is not None
    assert line.words.endswith(f"{kept.open} of {kept.open} places and {kept.inside} cells inside walls covered")
