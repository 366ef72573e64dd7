"""A learner of several starts when what their actors play does not all arrive: it goes on with what it has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.channel import Weights, encode_weights
from engine.experience import Parcel
from engine.rl.dpcer import Exp3, scheduler
from engine.rl.task_learner import TaskLearner
from engine.rng import generator
from engine.store import FolderStore
from engine.study.starts import SLICE, TaskTraining, _Starts
from tests.engine.test_starts import actor_of, study


def training(store: FolderStore, **more: Any) -> tuple[TaskTraining, Parcel]:
    """An agent that nobody waits for, and what an actor of the first of its three starts has played."""
    made = _Starts(study(sampling="asynchronous", **more), store, lambda: "")
    made._prepare(begun=False)
    actor, end = actor_of(made.config, store)
    end.subscriber = Networks(made.agent)
    for _ in range(3):
        actor.look()
        actor.play()
    actor.close()
    parcels = list(end.parcels)
    columns = {name: np.concatenate([p.columns[name] for p in parcels]) for name in parcels[0].columns}
    return made.agent, parcels[0]._replace(columns=columns)


class Networks:
    """Gives an actor the network of an agent."""

    def __init__(self, agent: TaskTraining) -> None:
        self.agent = agent

    def newest(self, timeout_s: float) -> bytes:
        return encode_weights(Weights("agent", 0, 0, 0, self.agent.vectors))


def practised(tasks: TaskLearner, parcel: Parcel, count: int) -> list[int]:
    """The tasks of all minibatches, from when the parcel comes and then nothing more, at most so many updates long."""
    found = [task for task, _ in tasks.update([parcel]).minibatches]
    for _ in range(count):
        found += [task for task, _ in tasks.update([], at_least=SLICE, at_most=SLICE).minibatches]
    return found


@pytest.mark.parametrize("kind", ["dbc", "drc"])
def test_one_start_after_the_other_ends_though_only_of_the_first_decisions_ever_arrive(
    kind: str, store: FolderStore
) -> None:
    agent, parcel = training(store, scheduler={"kind": kind}, iterations=300)
    assert practised(agent.tasks, parcel, 20) == [0] * 300
    assert agent.tasks.scheduler.active == (kind == "drc", kind == "drc", True), "the stages went on"


@pytest.mark.parametrize("kind", ["uniform", "exp3"])
def test_a_start_without_decisions_waits_and_holds_up_no_other(kind: str, store: FolderStore) -> None:
    agent, parcel = training(store, scheduler={"kind": kind}, iterations=300)
    tasks = agent.tasks
    due = tasks.learner.config.updates * parcel.size
    assert [task for task, _ in tasks.update([parcel, parcel._replace(task=2)]).minibatches].count(1) == 0
    assert tasks.iterations == int(2 * due), "all that were due are made"
    assert tasks.owed < 1


def test_a_task_without_decisions_leaves_its_probability_to_the_others() -> None:
    chosen = Exp3(3, generator(1, "p"), signal="return", gamma=0.3)
    chosen.ln_w = [0.0, -1.0, 2.0]
    p = chosen.p[:2] / chosen.p[:2].sum()
    found = np.bincount([chosen.choose([True, True, False]) for _ in range(20_000)], minlength=3)
    assert found[2] == 0
    assert found[:2] / 20_000 == pytest.approx(p, abs=0.01)
    chosen.played(0, 0.5)
    before = chosen.ln_w[0] - chosen.ln_w[1]
    chosen.learned(0, 0)
    assert chosen.ln_w[0] - chosen.ln_w[1] - before == pytest.approx(0.3 * 0.5 / (p[0] * 3)), "as in (4b), with this p"


def test_a_stage_without_decisions_goes_on_with_the_newest_before_it_that_has_some() -> None:
    chosen = scheduler("dbc", 4, generator(1), T=400)
    for _ in range(250):
        chosen.learned(chosen.choose(), 0)
    assert chosen.active == (False, False, True, False)
    assert chosen.choose([True, True, True, True]) == 2
    assert chosen.choose([True, True, False, True]) == 1
    assert chosen.choose([True, False, False, True]) == 0
    assert not chosen.among([False, False, False, True]).any(), "a later one has never been learned"


def test_rates_and_exploration_fall_to_their_end_though_most_decisions_are_lost(store: FolderStore) -> None:
    falls = {"schedule": "linear", "explore": 1.0, "epsilon": 0.1}
    agent, parcel = training(store, learner=falls, iterations=300)
    tasks, learner = agent.tasks, agent.tasks.learner
    tasks.update([parcel])
    arrived = learner.steps / agent.config.steps
    assert 1 - learner.left == pytest.approx(arrived, abs=0.01)
    while tasks.iterations < 200:
        tasks.update([], at_least=SLICE, at_most=200 - tasks.iterations)
    assert arrived < 0.1
    assert learner.left == pytest.approx(1 / 3, abs=0.01)
    assert learner.epsilon == pytest.approx(0.4, abs=0.01)
    again, _ = training(store, learner=falls, iterations=300)
    again.load(agent.parts())
    assert again.learner.left == learner.left, "also from a checkpoint on"
    while tasks.iterations < 300:
        tasks.update([], at_least=SLICE)
    assert (learner.left, learner.eta, learner.epsilon) == pytest.approx((0, 0, 0.1), abs=0.01)


def test_rates_follow_decisions_where_all_of_them_arrive(store: FolderStore) -> None:
    agent, parcel = training(store, learner={"schedule": "linear", "warmup": 1}, iterations=300)
    for _ in range(5):
        agent.tasks.update([parcel])
    assert agent.learner.left == pytest.approx(1 - 5 * parcel.size / agent.config.steps, abs=0.001)
