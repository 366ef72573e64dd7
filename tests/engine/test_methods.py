"""Methods around a shared critic: each keeps the family's promises, and gives the numbers of its golden file."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from engine.catalog import METHODS
from engine.errors import ConfigError
from engine.evorl.aesrl import AESRL
from engine.evorl.cemrl import CEMRL
from engine.evorl.erl import ERL
from tests.contracts.method import WORKERS, Drive, MethodContract, started

GOLDEN = Path(__file__).parents[1] / "golden" / "methods.json"
VARIANTS: dict[str, dict[str, Any]] = {
    **{kind: {"kind": kind, "population": 6} for kind in METHODS},
    "aes-rl, waiting": {"kind": "aes-rl", "population": 6, "waiting": True},
    "cem-rl, one after another": {"kind": "cem-rl", "population": 6, "parallel": False},
    "cem-rl, its equation": {"kind": "cem-rl", "population": 6, "narrow": False},
}


class OfAES(MethodContract):
    parts: ClassVar = {"distribution", "aes-rl"}

    def make(self, seed: int = 1) -> AESRL:
        """With all update ratios noted."""
        made = super().make(seed)
        assert isinstance(made, AESRL)
        update, self.ratios = made.search.update, list[float]()

        def noted(*given: Any) -> float:
            self.ratios.append(update(*given))
            return self.ratios[-1]

        made.search.update = noted  # type: ignore[method-assign]
        return made

    def check(self, method: AESRL) -> None:
        """No variance is below the floor, and ratios sum up."""
        assert (method.search.sigma2 >= method.method.variance.floor).all()  # type: ignore[union-attr]
        assert sum(method.p.values()) == pytest.approx(sum(self.ratios))
        assert all(0 <= ratio <= 1 for ratio in self.ratios)
        assert 0 <= method.metrics()["chance_rl"] <= 1


class TestAESRL(OfAES):
    method: ClassVar = {"kind": "aes-rl"}


class TestAESRLWaiting(OfAES):
    method: ClassVar = {"kind": "aes-rl", "population": 6, "waiting": True}


class TestAESRLWithEpisodesOfTheCentre(OfAES):
    method: ClassVar = {"kind": "aes-rl", "centre": "episodes"}


class TestACEMRL(OfAES):
    method: ClassVar = {"kind": "acem-rl", "population": 6}


class TestACEMRLWaiting(OfAES):
    method: ClassVar = {"kind": "acem-rl", "population": 6, "waiting": True}


class OfCEM(MethodContract):
    parts: ClassVar = {"distribution"}

    def check(self, method: CEMRL) -> None:
        """No variance is below what is added last, and that falls between its ends."""
        given = method.method
        assert given.noise_end <= method.epsilon <= given.noise
        assert (method.Sigma >= given.noise_end).all()


class TestPCEMRL(OfCEM):
    """Side by side."""

    method: ClassVar = {"kind": "cem-rl", "population": 6}


class TestCEMRL(OfCEM):
    method: ClassVar = {"kind": "cem-rl", "population": 6, "parallel": False}


class TestCEM(OfCEM):
    method: ClassVar = {"kind": "cem", "population": 6, "variance_at_first": 0.05}


class TestERL(MethodContract):
    method: ClassVar = {"kind": "erl", "population": 6, "every": 2}
    parts: ClassVar = {"population"}

    def check(self, method: ERL) -> None:
        """The population stays as large as it was, and within bounds."""
        assert method.theta.shape == (6, 20)
        assert np.isfinite(method.theta).all()
        assert np.isfinite(method.agent).all()
        assert np.isfinite(method.best).all()


def test_side_by_side_a_generation_ends_as_one_after_another() -> None:
    side, after = (Drive(started({"kind": "cem-rl", "parallel": parallel})).run().method for parallel in (True, False))
    np.testing.assert_array_equal(side.centre, after.centre)


class Crowded:
    """An order in which the critic is heard only when nobody else is: its processor is everybody's."""

    def __init__(self, drive: Drive) -> None:
        self.drive = drive

    def random(self) -> float:
        """Always ask first."""
        return 1.0

    def randrange(self, n: int) -> int:
        """The first that plays, if any does."""
        roles = [self.drive.method.role(request) for request in self.drive.waiting]
        return next((i for i, role in enumerate(roles) if role != "critic"), 0)


def crowded(method: dict[str, Any]) -> Drive:
    """A method that is not over yet, whose critic gets a processor when nobody plays."""
    drive = Drive(started({"kind": "aes-rl", **method}))
    drive.order = Crowded(drive)  # type: ignore[assignment]
    return drive


@pytest.mark.parametrize("name", ["aes-rl", "acem-rl"])
def test_where_nobody_waits_no_worker_is_ever_free(name: str) -> None:
    """Also while decisions are played by chance, and while the critic has nothing to learn from."""
    drive = Drive(started({"kind": name, "least_lessons": 0}))
    taught = set[bool]()
    while not drive.method.over:
        drive.waiting += drive.method.ask(7)
        if not drive.method.over:
            assert len(drive.waiting) >= WORKERS
            assert sum(drive.method.role(request) == "critic" for request in drive.waiting) <= 1
        taught.add(drive.method.teaching)
        drive.step()
    assert taught == {True, False}


def test_the_centre_is_measured_once_for_each_individual_that_came_however_many_came_at_once() -> None:
    drive = Drive(started({"kind": "aes-rl", "centre": "episodes"}), random.Random(3)).run()
    came = drive.world.answered["es"] + drive.world.answered["rl"]
    assert came - WORKERS <= drive.world.answered["measure"] <= came
    in_rounds = Drive(started({"kind": "aes-rl", "centre": "episodes", "waiting": True}), random.Random(3)).run()
    assert 0 < in_rounds.world.answered["measure"] < in_rounds.world.answered["es"]


def test_an_absolute_baseline_is_held_against_the_last_that_chance_played_too() -> None:
    """Its episode was under way when enough decisions had come, and is the worst of all."""
    method = {"kind": "aes-rl", "mean": {"kind": "absolute", "baseline": -50.0}}
    drive = Drive(started(method))
    while drive.method.steps["start"] < drive.method.config.by_chance:
        drive.step()
    drive.waiting += drive.method.ask(7)
    assert [drive.method.role(request) for request in drive.waiting] == ["start"] * (WORKERS - 1), "nobody begins yet"
    while len(drive.waiting) > 1:
        drive.step()
    (last,) = drive.waiting
    drive.method.tell(drive.world.answer(last)._replace(objectives=np.array([-60.0])))
    with pytest.raises(ConfigError) as wrong:
        drive.method.ask(7)
    assert {problem.place for problem in wrong.value.problems} == {"method.mean.baseline"}


@pytest.mark.parametrize("least", [0.25, 0.5, 1.0])
def test_players_wait_for_a_critic_that_falls_behind_the_least_lessons_for_a_decision(least: float) -> None:
    drive = crowded({"least_lessons": least})
    method, chunk, episode, waited = drive.method, drive.method.config.chunk, 21, 0
    while not method.over:
        drive.step()
        owed = least * (method.played - method.steps["start"]) - method.learned
        assert owed < chunk + least * WORKERS * episode, "who plays already ends that episode"
        waited += method.idle
    assert waited
    assert method.metrics()["individuals_rl"] > 5
    drive.run()
    assert method.done
    assert method.idle == 0


@pytest.mark.parametrize("desired", [0.1, 0.5, 0.9])
def test_of_200_individuals_that_a_method_sends_out_the_desired_share_learns(desired: float) -> None:
    drive = Drive(started({"kind": "aes-rl", "learning_share": desired, "centre": "running"}))
    method: Any = drive.method
    while not method.critic:
        drive.step()
    method.n = {"es": 0, "rl": 0}
    while sum(method.n.values()) < 200:
        method._individual()
    assert abs(method.n["rl"] / 200 - desired) < 0.02


def test_where_nobody_waits_for_the_critic_decisions_run_away_from_it_as_in_the_paper() -> None:
    method = crowded({"least_lessons": 0}).run().method
    assert method.learned <= method.config.chunk < 0.05 * method.played
    assert method.metrics()["individuals_rl"] == 0
    alone = crowded({"learning_share": 0}).run().method
    assert (alone.learned, alone.done) == (0, True), "a critic that nobody has is not waited for"


def test_no_more_lessons_are_waited_for_than_the_critic_may_have() -> None:
    drive = crowded({"least_lessons": 3.0}).run()
    assert drive.method.done
    assert drive.method.learned <= drive.method.played


def golden_run(method: dict[str, Any]) -> dict[str, Any]:
    """What examinations found, how many decisions each role played, and the first weights of the last centre."""
    made = Drive(started(method, 7)).run().method
    centre = [round(float(weight), 6) for weight in made.centre[:6]]
    exams = [[round(number, 6) for number in row[:2]] for row in made.exams]
    return {"exams": exams, "steps": made.steps, "learned": made.learned, "centre": centre}


@pytest.mark.parametrize("name", VARIANTS)
def test_every_method_has_a_golden_result_and_still_gives_it(name: str) -> None:
    golden = json.loads(GOLDEN.read_text())
    assert name in golden, f"record a golden run for {name}"
    found, expected = golden_run(VARIANTS[name]), golden[name]
    assert (found["steps"], found["learned"]) == (expected["steps"], expected["learned"])
    for part in ("exams", "centre"):
        np.testing.assert_allclose(found[part], expected[part], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_centre_that_has_not_moved_is_not_examined(name: str) -> None:
    """While only chance plays, every evaluation would be of the same weights."""
    drive = Drive(started(VARIANTS[name], 7))
    config, first = drive.method.config, drive.method.centre.copy()
    learner = config.learner.model_copy(update={"warmup": 700})
    drive.method.config = config.model_copy(update={"learner": learner})
    while not drive.method.done:
        request = drive.step()
        if drive.method.role(request) == "examine":
            assert not np.array_equal(request.genome, first)
    assert len(drive.method.exams) >= 2


@pytest.mark.parametrize("name", VARIANTS)
def test_a_study_that_chance_played_alone_does_not_end_as_a_success(name: str) -> None:
    """Where the game does not say how long its episodes are, nobody can know it before."""
    drive = Drive(started(VARIANTS[name], 7))
    config = drive.method.config
    drive.method.config = config.model_copy(update={"steps": 61})
    if name == "cem":
        assert drive.run().method.done, "nobody waits for chance there"
        return
    with pytest.raises(ConfigError, match="were played by chance"):
        drive.run()


def test_a_game_that_pays_as_much_as_a_number_can_be_leaves_estimate_and_centre_numbers(monkeypatch: Any) -> None:
    paid = iter([1e308, -1e308] * 10**4)
    monkeypatch.setattr(f"{Drive.__module__}.returned", lambda theta: next(paid))
    method = Drive(started({"kind": "aes-rl", "waiting": True, "population": 6})).run().method
    assert isinstance(method, AESRL)
    assert np.isfinite(method.f.state()).all()
    assert np.isfinite(method.centre).all()
