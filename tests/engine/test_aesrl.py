"""Evolution with a shared critic: every decision is counted, the end does not depend on who was faster, and it comes to
that end whatever happens."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from engine.arrays import unpack
from engine.config.aes_rules import AbsoluteConfig
from engine.config.aesrl import AESRLConfig
from engine.config.chance import all_by_chance
from engine.config.study import study_hash
from engine.errors import ConfigError
from engine.events import AnyEvent, Failed, Finished, Incident, Logged, Paused, Progressed, Started, decode, encode
from engine.evorl.cemrl import CEMRL
from engine.evorl.individuals import CRITIC, LEARNT, PLAYED, IndividualEvaluator, as_json, build
from engine.mdp.trajectory import Batch
from engine.problem import IndividualContext, Request, of_kind
from engine.rl.policy import Actor, Policy
from engine.rl.replay import ReplayBuffer
from engine.rl.shared_replay import SharedReplay
from engine.runtime.pool import Pool
from engine.store import FolderStore, Lease
from engine.studies import load
from engine.study import checkpoint, run
from engine.study.aesrl import too_many
from engine.study.session import PoolSession

LEARNER: dict[str, Any] = {
    "warmup": 60, "minibatch": 8, "capacity": 400, "network": {"policy": [8], "critic": [8]},
}  # fmt: skip
METHODS: dict[str, dict[str, Any]] = {
    "aes-rl": {"kind": "aes-rl", "waiting": True, "population": 4},
    "acem-rl": {"kind": "acem-rl", "waiting": True, "population": 4},
    "cem-rl": {"kind": "cem-rl", "population": 4},
    "cem": {"kind": "cem", "population": 4},
    "erl": {"kind": "erl", "population": 4, "every": 2},
}
"""Every method, in rounds."""


def settings(**more: Any) -> dict[str, Any]:
    """Episodes of Pendulum that are cut off after 20 decisions."""
    usual = {"longest": 20, "steps": 400, "checkpoint_every": 100, "evaluate_every": 2, "episodes": 2, "chunk": 20}
    small = {"kind": "aes-rl", "name": "small", "seed": 5, "game": "pendulum", "learner": LEARNER, "spread": 60.0}
    return {**small, **usual, "pool": {"kind": "local"}, **more}


def study(**more: Any) -> AESRLConfig:
    config = load(settings(**more), new=True)
    assert isinstance(config, AESRLConfig)
    return config


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "store")


def ended(config: AESRLConfig, store: FolderStore, resume: str = "", control: Callable[[], Any] = lambda: "") -> Any:
    """Its last event."""
    return list(run(config, store, resume, control))[-1]


def after(looks: int) -> Callable[[], Any]:
    """A command to pause from so many looks on."""
    counted = iter(range(10**9))
    return lambda: "pause" if next(counted) >= looks else ""


def policy(event: AnyEvent) -> str:
    assert isinstance(event, Finished), event
    return event.artifacts["policy"]


@pytest.mark.parametrize("method", METHODS)
def test_in_rounds_a_study_that_was_paused_anywhere_ends_like_one_that_was_not(method: str, store: FolderStore) -> None:
    config = study(method=METHODS[method])
    whole = list(run(config, store))
    ends, resume = [], ""
    for at in (60, 9, 31):
        ends.append(ended(config, store, resume, after(at)))
        if isinstance(ends[-1], Finished):
            break
        assert isinstance(ends[-1], Paused), ends[-1]
        resume = ends[-1].artifacts["checkpoint"]
    last = ends[-1] if isinstance(ends[-1], Finished) else ended(config, store, resume)
    assert policy(last) == policy(whole[-1])
    assert last.counters.steps == whole[-1].counters.steps
    assert last.artifacts["table"] == whole[-1].artifacts["table"]
    assert not any((store.folder / "leases").glob("*/*")), "nothing is left of what workers shared"


@pytest.mark.parametrize("method", [*METHODS, "free"])
def test_every_decision_is_counted_once_and_examinations_apart(method: str, store: FolderStore) -> None:
    chosen = {"kind": "aes-rl"} if method == "free" else METHODS[method]
    found = list(run(study(method=chosen), store))
    assert isinstance(found[-1], Finished), found[-1]
    assert [decode(encode(event)) for event in found] == found, "no round tells what is no number"
    rounds = [event for event in found if isinstance(event, Progressed)]
    assert [event.tick for event in rounds][-1] == 4
    last = rounds[-1].metrics
    counted = sum(value for name, value in last.items() if name.startswith("steps_") and name != "steps_per_second")
    assert counted == found[-1].counters.steps
    assert 400 <= counted < 520
    assert counted % 20 == 0, "whole episodes"
    assert last["examined"] >= 2 * 2 * 20, "two evaluations of two episodes"
    table = unpack(store.get(found[-1].artifacts["table"])).arrays
    assert len(table["mean"]) >= 2
    assert (table["low"] >= -16.28 * 20).all(), "no range is wider than what Pendulum can pay in 20 decisions"
    assert (table["high"] <= 0).all()
    assert (table["low"] < table["mean"]).all()
    assert table["steps"][-1] == counted
    assert last["critic_steps"] <= counted
    assert last["critic_steps_a_decision"] == last["critic_steps"] / (counted - last.get("steps_start", 0))
    assert ("steps_start" in last) == (method != "cem"), "chance plays only for somebody who learns from it"
    assert (last["critic_steps"] > 0) == (method != "cem")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[Request]]:
    """What each pool was asked, by pools."""
    pools: dict[int, list[Request]] = {}
    found: list[list[Request]] = []
    submit = PoolSession.submit

    def noted(self: PoolSession, pool: Pool, requests: Sequence[Request]) -> None:
        if id(self) not in pools:
            pools[id(self)] = []
            found.append(pools[id(self)])
        pools[id(self)] += requests
        submit(self, pool, requests)

    monkeypatch.setattr(PoolSession, "submit", noted)
    return found


def test_where_nobody_waits_a_paused_study_first_asks_again_for_what_was_outstanding(
    asked: list[list[Request]], store: FolderStore
) -> None:
    config = study(method={"kind": "aes-rl"})
    paused = ended(config, store, control=after(80))
    assert isinstance(paused, Paused), paused
    assert 0 < paused.counters.steps < 400
    left = checkpoint.read(config, paused.artifacts["checkpoint"], store).parts["course"]
    numbers = [number for number, *_ in left.meta["outstanding"]]
    assert numbers, "a worker had something to do"
    end = ended(config, store, paused.artifacts["checkpoint"])
    assert isinstance(end, Finished), end
    assert 400 <= end.counters.steps < 520
    before, again = ({request.id: request for request in one} for one in asked)
    assert list(again)[: len(numbers)] == numbers
    for number in numbers:
        assert_array_equal(again[number].genome, before[number].genome)
        mine, its = (of_kind(one[number].context, IndividualContext) for one in (before, again))
        assert (its.role, its.minibatches) == (mine.role, mine.minibatches)


@pytest.mark.parametrize("evaluate_every", [0, 2])
def test_a_training_whose_evaluation_breaks_off_says_so_and_keeps_what_it_learned(
    evaluate_every: int, store: FolderStore
) -> None:
    config = study(game="python:tests.engine.crashing_game:Slope", episodes=50, evaluate_every=evaluate_every)
    events = list(run(config, store))
    end = events[-1]
    assert isinstance(end, Finished), end
    assert Policy.stored(store, end.artifacts["policy_description"]).version > 0
    assert "evaluation_return" not in end.summary
    assert not len(unpack(store.get(end.artifacts["table"])).arrays["mean"])
    told = [event.message for event in events if isinstance(event, Incident)]
    (last,) = {message for message in told if message.startswith("An evaluation was left out. ")}
    assert "one in five ends here" in last
    assert not any(str(1 << 40)[:6] in message for message in told), "nobody knows such a number"


def test_what_an_attempt_left_that_was_killed_is_removed_by_the_one_that_goes_on(store: FolderStore) -> None:
    config = study(steps=120)
    left = store.lease(f"{study_hash(config)}-1")
    assert left is not None
    left.put(b"a replay")
    (folder,) = (store.folder / "leases").glob("*/*")
    for event in run(config, store):
        if isinstance(event, Started):
            assert len([*(store.folder / "leases").glob("*/*")]) == 2, "it may still be at work"
            os.utime(folder, (0, 0))
    assert not any((store.folder / "leases").glob("*/*"))


@contextlib.contextmanager
def evaluator_of(config: AESRLConfig, store: FolderStore) -> Iterator[tuple[IndividualEvaluator, Lease]]:
    """A worker's, with what its replay begins with: 64 transitions."""
    lease = store.lease("mine-1")
    assert lease is not None
    replay = SharedReplay(lease.shared("replay"), config.learner.capacity, np.random.default_rng())
    evaluator = IndividualEvaluator(config, lease, lease.shared("replay"), writes=False)
    theta = evaluator.initialize(np.random.default_rng(1))
    asked = [Request(i, theta, 0, 1, 5, IndividualContext(role="start")) for i in range(4)]
    for answer in evaluator.evaluate(asked, lambda: False):
        replay.add(unpack(lease.get(answer.context.artifacts[PLAYED])).arrays)
    try:
        yield evaluator, lease
    finally:
        evaluator.close()
        replay.close()


@pytest.mark.parametrize(("kind", "noisy"), [("cem-rl", False), ("cem", False), ("acem-rl", True), ("aes-rl", True)])
def test_who_evolves_plays_with_the_noise_that_the_method_says(kind: str, noisy: bool, store: FolderStore) -> None:
    with evaluator_of(study(method=METHODS[kind]), store) as (evaluator, _):
        theta = evaluator.initialize(np.random.default_rng(1))
        asked = [Request(9, theta, 0, 1, 5, IndividualContext(role=role)) for role in ("es", "centre")]
        own, centre = (answer.objectives[0] for answer in evaluator.evaluate(asked, lambda: False))
    assert (own != centre) == noisy


@pytest.mark.parametrize("waiting", [True, False])
def test_where_individuals_are_compared_with_one_another_only_the_centre_does_not_play(
    waiting: bool, store: FolderStore
) -> None:
    found = list(run(study(method={"kind": "acem-rl", "population": 4, "waiting": waiting}), store))
    assert isinstance(found[-1], Finished), found[-1]
    last = [event.metrics for event in found if isinstance(event, Progressed)][-1]
    assert "steps_centre" not in last
    assert "return_estimate" not in last
    assert last["steps_es"] + last["steps_rl"] + last["steps_start"] == found[-1].counters.steps
    compared = [*run(study(method={"kind": "acem-rl", "variance": {"kind": "success"}}), store)]
    assert "return_estimate" in compared[-2].metrics, "the rule of successes asks who is better than the centre"  # type: ignore[union-attr]
    assert refused(method={"kind": "acem-rl", "centre": "episodes"}) == {"method.centre"}


def test_cem_rl_s_variance_is_divided_by_the_elites_as_released_or_is_that_of_the_paper(store: FolderStore) -> None:
    z = np.random.default_rng(4).standard_normal((5, 7))
    weight = np.log(6 / np.arange(1, 6))
    weight /= weight.sum()
    for narrow, divisor in ((True, 5), (False, 1)):
        first = np.zeros(7, np.float32)
        config = study(method={"kind": "cem-rl", "population": 10, "narrow": narrow, "noise": 1e-3})
        search = CEMRL(config, first, 1, store, ReplayBuffer(10, np.random.default_rng(1)))
        search._step(z)
        assert search.Sigma == pytest.approx((weight[:, None] * z**2).sum(0) / divisor + 1e-3)
        assert search.mu == pytest.approx((weight[:, None] * z).sum(0))


def test_an_agent_begins_with_the_policy_that_it_is_first_asked_with(store: FolderStore) -> None:
    """Of a study that begins with a trained one, workers know nothing but the request."""
    with evaluator_of(study(method=METHODS["erl"]), store) as (evaluator, lease):
        theta = evaluator.initialize(np.random.default_rng(2)) + np.float32(0.5)
        asked = [Request(9, theta, 0, 1, 5, IndividualContext(role="agent", minibatches=2))]
        (answer,) = evaluator.evaluate(asked, lambda: False)
        learnt = unpack(lease.get(answer.context.artifacts[LEARNT])).arrays["theta"]
        kept = unpack(lease.get(answer.context.artifacts[CRITIC])).arrays["theta"]
    rate = evaluator.config.learner.rate
    assert 0 < np.abs(learnt - theta).max() <= 1.01 * rate, "one step of Adam, for the policy learns every other time"
    assert np.abs(kept[1] - theta).max() < rate, "its target follows from there, too"


def test_individuals_who_play_alike_each_leave_what_they_played_and_learned(store: FolderStore) -> None:
    """In a game that always begins alike a whole generation may do the same, and who reads an artifact removes it."""
    with evaluator_of(study(method=METHODS["cem-rl"]), store) as (evaluator, lease):
        evaluator._seeds = lambda request, role: np.array([7], np.uint64)  # type: ignore[method-assign]
        theta = evaluator.initialize(np.random.default_rng(1))
        asked = [Request(i, theta, 0, 1, 5, IndividualContext(role="es")) for i in (1, 2)]
        played = [answer.context.artifacts[PLAYED] for answer in evaluator.evaluate(asked, lambda: False)]
    first, second = (unpack(lease.get(digest)).arrays for digest in played)
    assert all(np.array_equal(first[name], second[name]) for name in first)
    lease.discard([played[0]])
    assert lease.has(played[1])


def test_where_nobody_waits_workers_write_what_they_played_into_the_replay_and_leave_nothing_else(
    store: FolderStore,
) -> None:
    with evaluator_of(study(), store) as (evaluator, _):
        evaluator.writes, before = True, evaluator.replay.written
        theta = evaluator.initialize(np.random.default_rng(1))
        asked = [Request(i, theta, 0, 1, 5, IndividualContext(role=role)) for i, role in enumerate(("es", "measure"))]
        played, measured = evaluator.evaluate(asked, lambda: False)
        assert played.cost == evaluator.replay.written - before > 0, "nothing is kept of what measures the centre"
        assert not {*played.context.artifacts, *measured.context.artifacts}
        rewards = evaluator.replay.columns["reward"][before : evaluator.replay.written]
    assert rewards.sum() == pytest.approx(played.objectives[0])


def test_a_worker_on_another_machine_is_refused_before_it_maps_a_replay_of_its_own(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = store.lease("mine-1")
    assert lease is not None
    asked = as_json(study(), lease, "replay", writes=True)
    monkeypatch.setattr("engine.evorl.individuals.machine", lambda: "another")
    with pytest.raises(ConfigError, match=r"pool\.address: its workers share a replay in memory"):
        build(asked)
    assert not lease.shared("replay").exists()


def test_a_study_holds_its_lease_while_it_waits(store: FolderStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers may take longer to start than a lease lasts."""
    monkeypatch.setattr("engine.store.LEASE_S", 0.06)
    found = run(study(steps=120), store)
    assert isinstance(next(found), Started)
    (folder,) = (store.folder / "leases").glob("*/*")
    os.utime(folder, (0, 0))
    while not folder.stat().st_mtime:
        time.sleep(0.01)
    assert isinstance(list(found)[-1], Finished)


def test_the_only_worker_is_never_said_to_wait_for_the_critic_that_it_teaches(store: FolderStore) -> None:
    method = {"kind": "aes-rl", "least_lessons": 1}
    last = [e for e in run(study(method=method, chunk=10), store) if isinstance(e, Progressed)][-1].metrics
    assert last["held"] == 0
    busy = sum(share for name, share in last.items() if name.startswith("busy_"))
    assert 0 < busy <= 1


def test_one_after_the_other_or_side_by_side_a_generation_ends_alike(store: FolderStore) -> None:
    ends = [ended(study(method={**METHODS["cem-rl"], "parallel": parallel}), store) for parallel in (True, False)]
    assert policy(ends[0]) == policy(ends[1])


def test_five_episodes_of_the_centre_after_each_individual_are_counted(store: FolderStore) -> None:
    method = {**METHODS["aes-rl"], "waiting": False, "centre": "episodes"}
    last = [e for e in run(study(method=method, steps=800), store) if isinstance(e, Progressed)][-1].metrics
    individuals = last["individuals_es"] + last["individuals_rl"]
    assert last["steps_measure"] in (100 * individuals, 100 * (individuals - 1))  # the last one may end it
    assert last["steps_centre"] == 5 * 20


def refused(**more: Any) -> set[str]:
    with pytest.raises(ConfigError) as wrong:
        study(**more)
    return {problem.place for problem in wrong.value.problems}


def test_what_does_not_go_together_is_refused_at_its_field() -> None:
    assert refused(method={"mean": {"kind": "relative", "baseline": 0}}) == {"method.mean.baseline"}
    assert refused(spread=None) == {"method.mean.baseline"}
    assert refused(spread=None, method={"mean": {"kind": "linear"}}) == {"method.mean.range"}
    assert refused(method={"mean": {"kind": "linear", "range": 5e-324}}) == {"method.mean.range"}
    assert refused(method={"mean": {"kind": "relative", "baseline": 5e-324}}) == {"method.mean.baseline"}
    assert refused(method={"variance": {"kind": "elites"}}) == {"method.variance.kind"}
    assert refused(steps=60) == {"steps"}
    assert refused(learner={**LEARNER, "delay": 3}) == {"learner.delay"}
    assert refused(method=METHODS["cem-rl"], learner={**LEARNER, "updates": 0.5, "explore": 0.2}) == {
        "learner.updates", "learner.explore",
    }  # fmt: skip
    assert refused(method={"waiting": True, "least_lessons": 0.2}) == {"method.least_lessons"}
    assert refused(method={"learning_share": 0, "gain": 3}) == {"method.gain"}
    assert refused(method={"variance_at_first": 1e-9}) == {"method.variance_at_first"}
    assert study(method={"variance_at_first": 1e-9, "variance": {"kind": "constant"}})
    assert study(method=METHODS["erl"], learner={**LEARNER, "updates": 0.5, "explore": 0.2, "delay": 3})
    assert refused(learner={**LEARNER, "capacity": 4, "normalise_observations": True}) == {
        "learner.capacity", "learner.normalise_observations",
    }  # fmt: skip


def failure(store: FolderStore, **more: Any) -> str:
    last = ended(study(**more), store)
    assert isinstance(last, Failed)
    assert last.permanent
    return last.message


def test_what_does_not_suit_the_game_is_said_at_its_field(store: FolderStore) -> None:
    assert failure(store, game="cartpole").startswith("game.name: one chooses")
    assert failure(store, game="pong-two-seats").startswith("game.name: ")
    low = {"kind": "aes-rl", "mean": {"kind": "absolute", "baseline": -1.0}}
    assert failure(store, method=low).startswith("method.mean.baseline: chance alone scored about −")
    small = {**LEARNER, "capacity": LEARNER["minibatch"]}
    assert failure(store, learner=small).startswith("learner.capacity: an episode can last 20 decisions")


def acted(store: FolderStore, event: AnyEvent) -> Any:
    """What the policy that a study left does in fifty places."""
    assert isinstance(event, Finished), event
    policy = Policy.stored(store, event.artifacts["policy_description"])
    actor, (seen,) = Actor(policy.spec.model()), policy.spec.seat.observations
    actor.load(policy.weights, 0)
    places = np.random.default_rng(1).normal(size=(50, *seen.shape)).astype(np.float32)
    return actor(Batch({seen.name: places}, None, np.arange(50, dtype=np.uint64))).actions


def test_it_begins_with_a_trained_policy_and_ends_when_its_minutes_are_over(store: FolderStore) -> None:
    first = ended(study(), store)
    assert isinstance(first, Finished)
    began = study(start=first.artifacts["policy_description"], minutes=1e-6, seed=6)
    events = list(run(began, store))
    last = events[-1]
    assert isinstance(last, Finished)
    assert last.counters.steps < began.steps
    assert last.tick == 1, "no round is counted that never was"
    told = f"Time is up: {last.counters.steps:,} of {began.steps:,} decisions were played. All were played by chance, "
    assert [e.message for e in events if isinstance(e, Logged)][-1] == f"{told}so the agent has learned nothing."
    centre = [Policy.stored(store, event.artifacts["policy_description"]).weights for event in (first, last)]
    assert np.array_equal(*centre), "nothing was learned in that time"
    more = {**LEARNER, "network": {"policy": [24], "critic": [16]}}
    grown = ended(study(learner=more, start=first.artifacts["policy_description"], minutes=1e-6, seed=6), store)
    np.testing.assert_allclose(*(acted(store, event) for event in (first, grown)), rtol=1e-5)
    larger = {**LEARNER, "network": {"policy": [4], "critic": [8]}}
    wrong = ended(study(learner=larger, start=first.artifacts["policy_description"]), store)
    assert isinstance(wrong, Failed)
    assert "start: its layers of the policy have 8 units, and here 4" in wrong.message


def test_more_workers_than_processors_are_warned_of() -> None:
    assert too_many(4, 4) == ""
    assert "about 1.67 times as long" in too_many(5, 3)
    assert too_many(6, 4) == ("6 workers share 4 processors: each takes about 1.5 times as long as on one of its own.")


def test_after_full_moves_the_spread_follows_successes_unless_something_else_is_said() -> None:
    """By the adaptive rule, n = 1 and μ' = z, one of them would leave nothing of it."""
    full: dict[str, Any] = {"mean": {"kind": "full-move"}}
    rules = [study(method=method).method.variance.kind for method in (full, full | {"variance": {"kind": "fixed"}})]  # type: ignore[union-attr]
    assert rules == ["success", "fixed"]
    assert study(method={}).method.variance.kind == "adaptive"  # type: ignore[union-attr]


def test_the_range_of_a_rule_is_a_sixth_of_the_spread() -> None:
    config = study()
    assert config.mean_rule(config.method.mean).baseline == 10  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("worst", "said"), [(-1346.23097586632, "−1,347"), (0.0, "0"), (0.012345, "0.01234"), (21.0, "21")]
)
def test_what_chance_scored_is_told_in_four_digits_below_which_a_baseline_may_lie(worst: float, said: str) -> None:
    assert AbsoluteConfig(baseline=50.0).too_high(worst) == (
        f"chance alone scored about {said} at worst, and the baseline must lie below that"
    )
    assert AbsoluteConfig(baseline=worst - 2).too_high(worst) == ""


@pytest.mark.parametrize(
    ("more", "most"),
    [
        ({"method": {"kind": "cem-rl", "population": 40}, "steps": 800}, "800"),
        ({"method": {"kind": "aes-rl", "waiting": True, "population": 4}, "steps": 80}, "80"),
        ({"method": {"kind": "aes-rl"}, "steps": 100, "pool": {"kind": "ray", "workers": 3}}, "100"),
        (
            {"method": {"kind": "aes-rl", "waiting": True, "mean": {"kind": "absolute", "baseline": -10}},
             "steps": 150}, "200",
        ),
    ],
)  # fmt: skip
def test_a_study_that_chance_may_play_alone_is_refused_at_its_field(
    more: dict[str, Any], most: str, store: FolderStore
) -> None:
    """Decisions by chance come in whole rounds, so that more are played than the least."""
    assert all_by_chance(study(**more), 20)
    (end,) = run(study(**more), store)
    assert isinstance(end, Failed)
    assert end.message.startswith("steps: ")
    assert f"give more than {most}" in end.message
    assert not all_by_chance(study(**{**more, "steps": int(most) + 1}), 20)
