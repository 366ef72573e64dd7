"""Evolution with a shared critic on the site: the form, what the API takes, and the page with its curves."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.contracts.asked_kind import AskedKindContract, form, page
from tests.engine.test_aesrl import study
from tests.factories import Studio
from tests.webapp.recorded import recorded
from webapp.shared_critic.asking import TogetherForm, spread_of
from webapp.studies.journal import Entry, append
from webapp.studies.models import Job, Status

pytestmark = pytest.mark.django_db

CHOSEN = {"game": "pendulum", "method": "aes-rl", "waiting": "rounds", "steps": "20000", "share": "0.25",
          "mean": "linear", "baseline": "40", "variance": "fixed", "capacity": "5000", "minutes": "2",
          "lessons": "0.25"}  # fmt: skip
LEAST = {"game": "pendulum", "method": "aes-rl", "waiting": "free"}


class TestTogether(AskedKindContract):
    kind = "aes-rl"
    typed = CHOSEN
    least = LEAST
    title = "Evolution and learning: Pendulum"
    becomes = {
        "steps": 20_000, "spread": 1500, "method.learning_share": 0.25, "method.waiting": True, "minutes": 2,
        "game.name": "gym:Pendulum-v1", "method.mean": {"kind": "linear", "range": 40, "backward": 0},
        "method.variance.kind": "fixed", "learner.capacity": 5000, "method.least_lessons": 0.25,
    }  # fmt: skip
    usually = {"steps": 300_000, "method.mean.kind": "relative", "method.waiting": False}
    wrong = (
        ({"game": "gymnasium"}, "gymnasium", "with its version"),
        ({"game": "gymnasium", "gymnasium": "os:Env-v0"}, "gymnasium", "with its version"),
        ({"game": "gymnasium", "gymnasium": "CartPole-v1"}, "game", "One chooses among actions in this game"),
        ({"steps": "5000"}, "steps", "decisions are played by chance: give more than that"),
        ({"mean": "relative", "baseline": "0"}, "baseline", "above 0"),
        ({"mean": "relative", "baseline": "-3"}, "baseline", "above 0"),
        ({"mean": "absolute", "baseline": ""}, "baseline", "Type a score below any"),
        ({"mean": "full-move"}, "baseline", "no such number"),
        ({"method": "cem"}, "mean", "Only AES-RL"),
        ({"mean": "absolute", "baseline": "-20", "variance": "elites"}, "variance", "Elites are those of"),
        ({"explore": "1"}, "explore", "less than 1"),
        ({"workers": "1025"}, "workers", "to 1,024"),
    )
    asks = {"game": "pendulum", "spread": 1000}
    refused = (
        *(({"game": game}, "config.game.name")
          for game in ("command:sh -c id", "python:os:getcwd", "pong", "pong-two-seats")),
        ({"method": {"mean": {"kind": "relative", "baseline": 0}}}, "config.method.mean.baseline"),
    )  # fmt: skip
    games = ("pendulum", "gymnasium")
    not_games = ("cartpole", "pong")

    def played(self, team: Studio) -> Job:
        return recorded(team, study(), "Together")


def test_a_method_gets_only_what_it_knows(team: Studio) -> None:
    typed = TogetherForm({**LEAST, "method": "cem", "population": "6"}, project=team.project, kind="aes-rl")
    assert typed.is_valid(), typed.errors
    assert typed.table()["method"] == {"kind": "cem", "population": 6}


def test_its_first_rounds_tell_how_long_it_takes_and_what_chance_scores(team: Studio, designer: Client) -> None:
    """A baseline above what chance scored there is refused before anything starts, on the form as by the API."""
    before = f"{form(team, 'aes-rl')}before/"
    typed = {**LEAST, "mean": "absolute", "baseline": "-1000", "workers": "4"}
    said = designer.post(before, typed).content.decode()
    assert "A few individuals play and learn" in said
    assert "4 workers share" in said
    trial = Job.objects.for_forms().get()
    assert (trial.config["kind"], trial.config["pool"]["workers"], trial.config["learner"]["warmup"]) == (
        "aes-rl",
        1,
        1000,
    )
    for tick in (1, 2, 3):
        counters = {"steps": 1000 * tick, "seconds": 10.0 * tick}
        metrics = {"worst_by_chance": -1200.0}
        body = {"counters": counters, "metrics": metrics}
        append(trial, {}, [Entry("progressed", body, tick)], tick=tick, metrics=metrics, counters=counters)
    Job.objects.filter(pk=trial.pk).update(status=Status.STOPPED)
    said = designer.post(before, typed).content.decode()
    assert "hance alone scored about −1,200 at worst" in said
    answer = designer.post(form(team, "aes-rl"), typed)
    assert set(answer.context["form"].errors) == {"baseline"}
    said = designer.post(before, {**typed, "baseline": "-2000"}).content.decode()
    assert "100 decisions a second on one processor" in said
    assert "min" in said


def test_its_page_tells_how_they_score_who_moves_the_centre_and_who_waits(team: Studio, designer: Client) -> None:
    nobody = study(method={"kind": "aes-rl", "least_lessons": 1}, chunk=10)
    shown = designer.get(page(recorded(team, nobody, "Together"))).content.decode()
    for words in (
        "How well they play", "the centre on fresh episodes", "those that only evolve", "Who moves the centre",
        "Chance that the next one learns", "Who waits for what", "Waiting otherwise", "The centre scores",
        "σ² on its floor", "nobody begins to play while the critic’s lessons for each decision are below 1: they are",
        "Waiting for the critic to catch up",
    ):  # fmt: skip
        assert words in shown, words
    assert "4 of 4 rounds" in shown


def test_the_spread_of_scores_is_known_of_the_games_of_the_paper() -> None:
    assert spread_of("gym:HalfCheetah-v5") == 12_000
    assert spread_of("pendulum") == spread_of("gym:Pendulum-v1") == 1500
    assert spread_of("gym:Unheard-v0") == 1000
