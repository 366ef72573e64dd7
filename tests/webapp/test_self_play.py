"""Self-play on the site: the form, what the API takes, and the page with the ladder."""

from __future__ import annotations

import csv
import io
import math
import re

import numpy as np
import pytest
from django.conf import settings as settings_of_site
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from engine.arrays import Bundle
from engine.catalog import GAMES
from engine.config import TaskConfig, parse
from engine.config.self_play import SelfPlayConfig
from engine.config.whole_updates import learned
from engine.errors import ConfigError
from engine.studies import load
from tests.contracts.asked_kind import AllMistakesContract, form, page
from tests.engine.test_self_play import settings
from tests.factories import Studio
from tests.webapp.agents import kept
from tests.webapp.first_rounds import counted
from tests.webapp.recorded import recorded
from tests.webapp.trainings import config, training
from webapp.agents.models import Agent
from webapp.self_play.asking import SelfPlayForm
from webapp.self_play.drawing import StrengthCurves
from webapp.self_play.parts import Playing
from webapp.self_play.reading import SelfPlayResult
from webapp.studies import estimates
from webapp.studies.models import Job, Status
from webapp.training.learned import leader, learned_step_by_step

pytestmark = pytest.mark.django_db

CHOSEN = {"game": "pong-two-seats", "opponents": "mostly-latest", "policies": ["pong-follower"], "population": "4",
          "rounds": "3", "steps": "20000", "episodes": "10", "rate": "0.0001 to 0.01", "entropy": "0.003"}  # fmt: skip


TOLD = (
    "Who is strongest", "Member 1", "Member 3", "Anything", "does not learn", "How they learned",
    "Earlier members they can meet", "6 earlier members",
    "2 times a member went on from one that had done better in the meetings of the round before.",
    "The range of who stands highest lies rather too high, for luck helps the best of many.",
)  # fmt: skip
"""What its page says."""


def study() -> SelfPlayConfig:
    """Three members of rock, paper, scissors, three rounds, beside a script."""
    others = {"script": {"kind": "scripted", "player": "random", "title": "Anything"}}
    found = load(settings(opponents={"others": others}))
    assert isinstance(found, SelfPlayConfig)
    return found


def played(team: Studio, rounds: int | None = None) -> Job:
    """That study, ended; or so many rounds of it."""
    return recorded(team, study(), "Three of them", rounds)


class TestSelfPlay(AllMistakesContract):
    kind = "self-play"
    typed = CHOSEN
    least = {"game": "commanders-two-seats", "opponents": "hardest"}
    title = "Self-play: Pong for two"
    becomes = {
        "ticks": 3, "algorithm.population": 4, "task.learner.rate": [0.0001, 0.01], "episodes": 10,
        "task.learner.entropy_weight": 0.003, "task.steps": 20_000, "opponents.choice": "mostly-latest",
        "opponents.others.pong-follower.player": "pong-follower",
    }  # fmt: skip
    usually = {"ticks": 20, "algorithm.population": 8, "episodes": 30, "task.learner.entropy_weight": [0, 0.03]}
    wrong = (
        ({"rate": "0.01"}, "rate", "One of the two must be a range"),
        ({"rate": "fast"}, "rate", "neither a number nor a range"),
        ({"population": "1"}, "population", "2"),
        ({"game": "connect-four"}, "game", "Select a valid choice"),
        ({"game": "commanders-two-seats"}, "policies", "plays another game"),
        ({"steps": "10"}, "steps", ""),
    )
    asks = {key: value for key, value in settings().items() if key not in ("kind", "pool")}
    refused = (
        ({"task": {**settings()["task"], "game": "command:reboot"}}, "config.task.game.name"),
        ({"task": {**settings()["task"], "game": "pong"}}, "config.task.game.name"),
        ({"task": {**settings()["task"], "game": "connect-four"}}, "config.task.game.name"),
        ({"opponents": {"others": {"a": {"kind": "frozen", "policy": "a" * 64}}}}, "config.opponents.others.a.policy"),
    )
    muddled = (
        {"population": "1", "steps": "10", "rate": "0.01", "game": "commanders-two-seats", "title": "a" * 130},
        {"population", "steps", "rate", "policies", "title"},
    )  # fmt: skip
    mixed = (
        {
            "task": {**settings()["task"], "steps": 1, "environments": 0},
            "opponents": {"choice": "best", "others": {"a": {"kind": "frozen", "policy": "a" * 64}}},
            "objectives": [{"measure": "length"}],
        },
        {"config.task.steps", "config.task.environments", "config.opponents.choice",
         "config.opponents.others.a.policy", "config.objectives.0.measure"},
    )  # fmt: skip
    games = ("pong-two-seats", "commanders-two-seats", "rock-paper-scissors")
    not_games = ("connect-four",)

    def played(self, team: Studio) -> Job:
        return played(team)


def test_with_usual_settings_every_battle_of_a_member_ends_three_times_however_long_it_is(team: Studio) -> None:
    for game in ("pong-two-seats", "commanders-two-seats", "rock-paper-scissors"):
        typed = SelfPlayForm({"game": game, "opponents": "hardest"}, project=team.project, kind="self-play")
        assert typed.is_valid()
        task = typed.table()["task"]
        assert task["steps"] >= 3 * GAMES[game].longest * task["environments"]
        assert task["environments"] >= 8


def test_agents_that_trainings_have_left_play_too(team: Studio, designer: Client) -> None:
    agent = training(team.project, title="Old hand", status=Status.FINISHED, config=config(game={"name": "pong"}),
                     artifacts={"policy_description": "c" * 64})  # fmt: skip
    saved = f"job-{agent.pk}"
    designer.post(form(team, "self-play"), {**CHOSEN, "policies": ["pong-follower", saved]})
    assert Job.objects.get(kind="self-play").config["opponents"]["others"][saved]["policy"] == "c" * 64


def test_saved_agents_such_as_styles_play_too_in_their_own_game(team: Studio, designer: Client) -> None:
    """Also those whom a search for styles has bred, whose policies stand in no job's results."""
    agent = kept(team.project, "Calm")
    Agent.objects.filter(pk=agent.pk).update(policy="d" * 64)
    name = f"agent-{agent.pk}"
    assert "Calm, saved agent of Pong, numbers" in designer.get(form(team, "self-play")).content.decode()
    refused = designer.post(form(team, "self-play"), {**CHOSEN, "game": "rock-paper-scissors", "policies": [name]})
    assert "“Calm” plays another game" in refused.content.decode()
    designer.post(form(team, "self-play"), {**CHOSEN, "policies": [name]})
    (job,) = Job.objects.filter(kind="self-play")
    told = {"kind": "frozen", "policy": "d" * 64, "title": "Calm", "sampled": False}
    assert job.config["opponents"]["others"] == {name: told}
    Agent.objects.update(game={**agent.game, "limits": {"delay": 10, "apart": 8}}, sampled=True)
    designer.post(form(team, "self-play"), {**CHOSEN, "policies": [name]})
    (late,) = Job.objects.filter(kind="self-play").latest("pk").config["opponents"]["others"].values()
    assert (late["limits"], late["sampled"]) == ({"delay": 10, "apart": 8}, True), "as it does wherever it plays"


def test_the_form_and_the_page_say_from_how_many_decisions_a_member_really_learns(
    team: Studio, designer: Client
) -> None:
    before = designer.post(f"{form(team, 'self-play')}before/", CHOSEN).content.decode()
    said = re.search(r"In each round, a member learns from ([\d,]+) decisions and not from 20,000, because", before)
    assert said
    designer.post(form(team, "self-play"), CHOSEN)
    job = Job.objects.get(kind="self-play")
    assert int(said[1].replace(",", "")) == learned(parse(TaskConfig, job.config["task"]))
    assert said[0] in designer.get(page(job)).content.decode()


def test_run_again_says_which_opponent_was_deleted_and_what_to_do_about_it(team: Studio, designer: Client) -> None:
    agent = kept(team.project, "Calm")
    Agent.objects.filter(pk=agent.pk).update(policy="d" * 64)
    designer.post(form(team, "self-play"), {**CHOSEN, "policies": ["pong-follower", f"agent-{agent.pk}"]})
    (job,) = Job.objects.filter(kind="self-play")
    Agent.objects.update(deleted_at=timezone.now())
    answer = designer.post(reverse("studies:again", args=[team.project.slug, job.pk]), follow=True)
    page = answer.content.decode()
    assert "“Calm” was deleted since. Choose others under “Also against”, or put it back on the page of agents." in page
    assert "The API" not in page
    assert answer.context["form"].initial["policies"] == ["pong-follower"]


def test_what_a_training_with_limits_has_left_plays_as_late_as_it_learned(team: Studio, designer: Client) -> None:
    game = {"name": "pong", "limits": {"delay": 4, "apart": 1}}
    agent = training(team.project, title="Late hand", status=Status.FINISHED, config=config(game=game),
                     artifacts={"policy_description": "c" * 64})  # fmt: skip
    designer.post(form(team, "self-play"), {**CHOSEN, "policies": [f"job-{agent.pk}"]})
    (other,) = Job.objects.get(kind="self-play").config["opponents"]["others"].values()
    assert other["limits"] == game["limits"]


def test_its_page_tells_who_is_strongest_and_who_went_on_from_whom(team: Studio, designer: Client) -> None:
    job = played(team)
    content = designer.get(page(job)).content.decode()
    for text in TOLD:
        assert text in content.replace("\xa0", " "), text
    assert len(re.findall(r'<path class="(?:first|other)"', content)) == 3, "a line for each member"
    decisions = f"{int(job.counters['steps']):,} decisions"
    assert f"3 members, {decisions}, meetings included" in content
    jobs = designer.get(reverse("studies:jobs", args=[job.project.slug])).content.decode()
    assert f"{decisions}, meetings included" in jobs
    for jargon in ("PFSP", "exploit", "lineage", "hypervolume"):
        assert jargon not in content.partition("Details for specialists")[0]


def test_details_for_specialists_say_in_words_who_copies_whom_and_call_settings_as_forms_do(team: Studio) -> None:
    job = played(team)
    job.config["task"] |= {"steps": 40_000, "learner": {**job.config["task"]["learner"], "rate": [0.0001, 0.01, "log"]}}
    job.config["algorithm"] |= {"exploit": "both", "share": 0.2, "level": 0.05}
    said = {name: str(text).replace("\xa0", " ") for name, text in Playing().specialist(job)}
    assert said["Decisions a member, each round"] == "40,000"
    assert said["Learning rate"] == "0.0001 to 0.01 log"
    assert said["Copying"] == (
        "the lowest 20 % copy one of the highest 20 %; others copy a rival drawn at random where it is surely better "
        "(Welch’s t-test, chance of error below 5 %)"
    )


def test_the_form_tells_how_long_it_takes_once_two_members_have_played(team: Studio, designer: Client) -> None:
    before = f"{form(team, 'self-play')}before/"
    assert before in designer.get(form(team, "self-play")).content.decode(), "the page asks for it"
    typed = {**CHOSEN, "steps": "100000", "episodes": "30", "population": "5"}
    assert "Two members train and meet" in designer.post(before, typed).content.decode()
    trial = Job.objects.for_forms().get()
    first = parse(SelfPlayConfig, trial.config)
    assert (first.algorithm.population, first.fresh, first.pool.processes) == (2, 0, 1)
    learned = first.task.steps
    assert learned >= 2 * first.task.learner.least_batch
    assert first.episodes == max(2, round(30 * learned / 100_000)), "as much is measured as in the whole"
    counted(trial, *({"evaluations": 2 * tick, "seconds": 9.0 + 2 * tick} for tick in (1, 2, 3)))
    said = designer.post(before, typed).content.decode()
    assert f"{float(f'{learned:.1e}'):,.0f} decisions learned from a second on one processor" in said
    asked = load({**first.model_dump(mode="json"), "ticks": 3, "pool": {"workers": 2},
                  "algorithm": {"kind": "pbt", "population": 5}})  # fmt: skip
    found = estimates.estimate(asked, trial, team.project)
    assert found is not None
    turns = 3 * 6  # the third turn of a round has work for one of two workers
    assert found.low == pytest.approx(8 + 0.85 * turns / min(2, settings_of_site.CPUS))


def test_before_and_after_the_first_round_it_says_what_there_is(team: Studio, designer: Client) -> None:
    assert "The first round is not complete yet" in designer.get(page(played(team, 0))).content.decode()
    content = designer.get(page(played(team, 1))).content.decode()
    assert "the first appear after the second round" in content


def test_everybody_is_a_row_for_programs(team: Studio, designer: Client) -> None:
    job = played(team)
    text = designer.get(reverse("studies:results", args=[team.project.slug, job.pk])).content.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["player"] for row in rows[:2]] == ["Anything", "Member 1"]
    assert len(rows) == 10
    assert sum(int(row["present"]) for row in rows) == 3
    assert sum(bool(row["copied_from"]) for row in rows) == 2
    ends = [(row["rating_low"], row["rating"], row["rating_high"]) for row in rows]
    assert all(float(low or "-inf") < float(middle) < float(high or "inf") for low, middle, high in ends)


def test_nobody_from_outside_is_called_like_a_member_or_like_another_one(team: Studio) -> None:
    script = {"kind": "scripted", "player": "random"}
    titles = {"a": "Member 1", "b": "Anything", "c": "Anything", "d": "member 12"}
    others = {name: {**script, "title": title} for name, title in titles.items()}
    config = load(settings(opponents={"others": others}))
    reading = SelfPlayResult.of(recorded(team, config, "Four outside", 1))
    assert reading is not None
    outside = [player.name for player in reading.players if not player.round]
    assert outside == ["Member 1 (from outside)", "Anything", "Anything (2)", "member 12 (from outside)"]
    assert len({player.name for player in reading.standing}) == len(reading.standing)


def test_the_strongest_leads_only_as_far_as_differences_tell(team: Studio) -> None:
    reading = SelfPlayResult.of(played(team))
    assert reading is not None
    first, *rest = reading.members
    assert all(first.rating >= member.rating for member in rest)
    for beside, said in (
        ([-1, 0], f"{first.name} leads, but 1 other may be as strong"), ([-1, -1], f"{first.name} is the strongest"),
    ):  # fmt: skip
        reading.members = [
            first, *(m._replace(beside=b, rating=first.rating - 3) for m, b in zip(rest, beside, strict=True)),
        ]  # fmt: skip
        reading.standing = list(reading.members)
        assert reading.sentence.startswith(said)
    told = reading.members
    reading.members = [m._replace(beside=0, rating=0.2) for m in reading.members]
    reading.standing = list(reading.members)
    assert reading.sentence == "Nobody leads: the meetings do not tell who is strongest.", "all stand at 0"
    reading.members = told
    outsider = next(player for player in reading.players if not player.round)
    for beside_, how in ((0, "seems"), (1, "is surely")):
        reading.standing = [outsider._replace(rating=first.rating + 1, beside=beside_), *reading.members]
        assert (
            reading.sentence
            == f"{outsider.name}, who does not learn, {how} stronger than {first.name}, the best member."
        )
    course = StrengthCurves(reading, 3)
    assert course.lines[-1].member == first.name
    assert all(before.x < after.x for before, after in course.jumps)
    assert len(course.jumps) == 2


def test_what_its_meetings_leave_open_is_not_told(team: Studio) -> None:
    """Who won everything is at least so strong; who met nobody that is rated cannot be compared."""
    reading = SelfPlayResult.of(played(team))
    assert reading is not None
    some, none = reading.members[0], math.nan
    for change, said in (
        ({"low": 350.2, "high": math.inf}, ("at least +350", "no upper end known")),
        ({"low": -math.inf, "high": -350.2}, ("at most −350", "no lower end known")),
        ({"low": -math.inf, "high": math.inf}, ("–", "range not known")),
        ({"rating": 12.3, "low": -20.0, "high": 40.0}, ("+12", "−20 to +40")),
    ):
        player = some._replace(**change)
        assert (player.strength, player.range_words) == said
        reading.standing = [player]
        assert all(math.isfinite(end) for end in reading.ends)
    assert some._replace(rating=none, low=none, high=none).strength == "not comparable"


def test_it_says_which_member_is_kept_and_that_one_knows_what_it_learned_from(team: Studio, designer: Client) -> None:
    """Three rounds of 64 decisions, whoever it copied."""
    job = played(team)
    number, reading = leader(job), SelfPlayResult.of(job)
    assert number is not None
    assert reading is not None
    row = reading.lineage["id"].tolist().index(number)
    name = f"Member {reading.lineage['member'][row] + 1}"
    keep = reverse("agents:keep", args=[team.project.slug, job.pk])
    shown = " ".join(designer.get(keep).content.decode().split())
    said = f"It is {name} as it is after round 3: who stands first on the ladder above."
    assert said in shown
    assert f'value="Three of them: {name.lower()}"' in shown
    best = reading.best(job.config, number)
    assert best is not None
    others = [member for member in reading.members if member.name != name]
    mine = [member for member in reading.members if member.name == name]
    for members, more in (([*mine, *others], False), ([*others, *mine], True)):
        reading.members = members
        best = reading.best(job.config, number)
        assert best is not None
        assert (f" {members[0].name} stands first on the ladder" in best.words) == more
    designer.post(keep, {"of": ""})
    agent = Agent.objects.get()
    assert (agent.name, agent.origin["steps"]) == (f"Three of them: {name.lower()}", 3 * 64)
    assert reading.best(job.config, 999) is None


def test_a_member_s_decisions_are_those_of_the_steps_that_it_went_through(team: Studio) -> None:
    """Member 2 went on from member 1: with batches of their own each update of theirs is another."""
    meta = {"genes": [{"path": "learner.batch"}]}
    columns = {"id": [0, 1, 2, 3], "parent": [-1, -1, 0, 0], "genome": [[32.0], [40.0], [32.0], [40.0]]}
    lineage = Bundle(meta, {name: np.array(column) for name, column in columns.items()})
    task = {**study().task.model_dump(mode="json"), "steps": 70}
    task["learner"] = {**task["learner"], "batch": [32, 64]}
    assert learned_step_by_step(task, lineage, 2) == 96 + 96
    assert learned_step_by_step(task, lineage, 3) == 96 + 128, "an update of 40 takes 64"


def test_a_training_that_would_learn_from_more_than_it_is_given_is_refused(team: Studio) -> None:
    """A round of a member is at least one fragment of all its battles."""
    task = {**settings()["task"], "environments": 100_000}
    with pytest.raises(ConfigError) as wrong:
        load(settings(task=task), new=True)
    (problem,) = wrong.value.problems
    assert problem.place == "task.steps"
    assert "give 800,000 or more, or at most 8 battles" in problem.message
    old = load(settings(task=task))
    assert isinstance(old, SelfPlayConfig), "what was saved is read as before"
    assert Playing().amount(old) == 3 * 3 * 800_000, "and its work is what it is"
