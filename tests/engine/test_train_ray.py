"""Samplers as Ray actors: weights reach them through the tree, and whatever is killed, training goes on."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from engine.channel import Weights, encode_weights
from engine.errors import EngineError, SimulatorError
from engine.events import AnyEvent, Finished, Incident, Progressed, decode
from engine.evorl.shared_critic import SharedCritic
from engine.rl.policy import Policy
from engine.runtime.members import WorkerLimits
from engine.runtime.pool import open_pool
from engine.runtime.ray_workers import RayWorkers
from engine.store import FolderStore
from engine.study import checkpoint, run
from engine.study.pools import PATIENCE
from tests.contracts.evaluators import SLOW, dangerous, requests
from tests.contracts.pool import check, collect
from tests.contracts.ray_server import RayServer, all_gone, eventually, gone, ray_server
from tests.engine import test_arena as arena
from tests.engine import test_train_groups as groups
from tests.engine import test_turns as turns
from tests.engine.rounds_told import curve
from tests.engine.test_aesrl import LEARNER, METHODS
from tests.engine.test_aesrl import study as individuals
from tests.engine.test_evolve import settings as evolution_settings
from tests.engine.test_evolve import study as evolution
from tests.engine.test_styles import study as styles
from tests.engine.test_train import HOME, STEERING, asynchronous_a3c, events, lines, settings, study
from tests.engine.test_train_policies import LEAGUE, pong
from tests.engine.test_train_policies import curve as policies_curve

PATIENCE_S = 180
TD3: dict[str, Any] = {
    "game": "pendulum", "learner": {"kind": "td3", "network": {"policy": [16], "critic": [16]}, **STEERING}
}  # fmt: skip


@pytest.fixture(scope="module")
def ray() -> Iterator[RayServer]:
    """One Ray for all tests of this file."""
    with ray_server(cpus=4) as server:
        yield server


def actors(ray: RayServer, name: str) -> list[psutil.Process]:
    """The processes of actors of a kind."""
    found = ray.daemon("raylet").children()
    return [process for process in found if not gone(process) and name in " ".join(process.cmdline())]


def echoes(
    samplers: int = 2, hosts: int = 1, trouble: str = "", flat: bool = False, progress_s: float = 60.0,
    factory: str = "build",
) -> RayWorkers:  # fmt: skip
    """Echoes, on the one machine named several times."""

    def payload(number: int, life: int) -> bytes:
        return json.dumps({"number": number, "life": life, "trouble": trouble}).encode()

    return RayWorkers(
        f"tests.contracts.echo_samplers:{factory}", payload, samplers, policies=("left", "right"), allowed=("tests.",),
        flat=flat, title="Sampler", limits=WorkerLimits(**{**PATIENCE, "progress_s": progress_s}),
        hosts=lambda cluster: cluster.hosts * hosts,
    )  # fmt: skip


def heard(running: RayWorkers, version: int, wanted: set[int]) -> dict[int, int]:
    """Publish a version until all wanted samplers have told that they got it; the life of each."""
    for policy in ("left", "right"):
        running.publish(encode_weights(Weights(policy, 0, 0, version, {"actor": np.ones(1000, np.float32)})))
    found: dict[int, int] = {}
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        running.lost()
        for one in running.gather(1.0):
            _, life, got = json.loads(bytes(one.frames[1]))
            if got == version:
                found[one.worker] = life
        if found.keys() == wanted:
            return found
    raise AssertionError(f"of {wanted} only {found.keys()} got version {version}")


@pytest.mark.parametrize("flat", [False, True])
def test_weights_reach_every_host_and_whoever_is_killed_is_replaced(ray: RayServer, flat: bool) -> None:
    rng = random.Random(int(flat))
    with echoes(samplers=4, hosts=4, flat=flat) as running:
        versions = range(1, 9)
        kills = {rng.randint(2, 4): "RelayActor", rng.randint(5, 7): "WorkerActor"}
        for version in versions:
            heard(running, version, {0, 1, 2, 3})
            if kind := kills.get(version):
                victim = rng.choice(actors(ray, kind))
                victim.kill()
                assert all_gone([victim])
        lives = heard(running, 9, {0, 1, 2, 3})
        assert sum(lives.values()) >= 2
        told = [trouble.message for trouble in running.incidents()]
        assert any("relay of host" in message for message in told)
        assert any(message.startswith("Sampler") for message in told)
    assert eventually(lambda: not actors(ray, "Actor"))


@pytest.mark.usefixtures("ray")
def test_a_sampler_that_hangs_or_fails_is_replaced_and_a_hopeless_one_is_told() -> None:
    for trouble, said in (("hang", "no progress for 4 s"), ("fail", "the referee has left")):
        with echoes(trouble=trouble, progress_s=4.0) as running:
            assert heard(running, 1, {0, 1}) == {0: 0, 1: 0}
            assert heard(running, 2, {0, 1}) == {0: 1, 1: 0}
            assert any(said in trouble.message for trouble in running.incidents())
    with echoes(trouble="permanent") as running:
        heard(running, 1, {0, 1})
        with pytest.raises(SimulatorError, match="the referee has left"):
            heard(running, 2, {0, 1})
    with echoes(trouble="unbuildable") as running, pytest.raises(EngineError, match="there is no pitch"):
        heard(running, 1, {0, 1})


def test_one_worker_answers_requests_and_streams_and_whoever_is_killed_both_go_on(ray: RayServer) -> None:
    asked = requests(300)
    asked[299] = dangerous(asked[299], SLOW, 3000)
    with echoes(factory="build_answering") as running:
        running.submit(asked[:100])
        check(collect(running, 100), asked[:100])
        assert heard(running, 1, {0, 1}) == {0: 0, 1: 0}
        running.submit(asked[100:])
        victim = actors(ray, "WorkerActor")[0]
        victim.kill()
        assert all_gone([victim])
        check(collect(running, 200), asked[100:])
        assert sum(heard(running, 2, {0, 1}).values()) == 1
        assert [trouble.what for trouble in running.incidents()] == ["lost-worker"]


def killed(
    ray: RayServer, found: Iterator[AnyEvent], seed: int, ticks: int, victims: int = 1
) -> tuple[list[AnyEvent], list[psutil.Process]]:
    """The events of a study some of whose samplers are killed at a moment between a fifth and four fifths of it."""
    rng = random.Random(seed)
    at, delay = rng.randint(ticks // 5, ticks * 3 // 4), rng.random() * 0.05
    told: list[AnyEvent] = []
    chosen: list[psutil.Process] = []
    for event in found:
        told.append(event)
        if isinstance(event, Progressed) and event.tick >= at and not chosen:
            chosen = rng.sample(actors(ray, "WorkerActor"), victims)
            for victim in chosen:
                threading.Timer(delay, victim.kill).start()
    assert all_gone(chosen)
    return told, chosen


@pytest.mark.parametrize("learner", [{}, TD3])
def test_in_step_a_killed_sampler_changes_nothing_of_the_curve(
    ray: RayServer, tmp_path: Path, learner: dict[str, Any]
) -> None:
    """Without a learner named, PPO; TD3 learns from a replay in which all that samplers play is kept once."""
    more: dict[str, Any] = {"steps": 2048, "checkpoint_every": 256, "evaluate_every": 0, **learner}
    here = events(study(**more), FolderStore(tmp_path))
    there = run(study(**more, pool={"kind": "ray"}), FolderStore(tmp_path))
    told, _ = killed(ray, there, 1, 8)

    def kept(found: list[AnyEvent]) -> list[tuple[Any, ...]]:
        return [(*row[:3], {k: v for k, v in row[3].items() if k != "lost"}) for row in curve(found)]

    assert kept(told) == kept(here)
    assert any(isinstance(e, Incident) and e.what == "lost-worker" for e in told)
    assert isinstance(told[-1], Finished)
    assert told[-1].summary["lost"] >= 1
    rounds = [e.metrics for e in told if isinstance(e, Progressed)]
    assert learner or all(m["staleness_mean"] == m["staleness_max"] == 1 for m in rounds)


def test_in_step_policies_that_meet_leave_the_same_on_any_pool_whoever_is_killed(
    ray: RayServer, tmp_path: Path
) -> None:
    """They also meet snapshots, which samplers get from the store by their hash. Below, two learn at once: in turns
    and in a course."""
    more: dict[str, Any] = {"steps": 2048, "checkpoint_every": 256, "evaluate_every": 0}
    here = events(pong(LEAGUE, **more), FolderStore(tmp_path))
    told, _ = killed(ray, run(pong(LEAGUE, **more, pool={"kind": "ray"}), FolderStore(tmp_path)), 6, 8)

    def kept(found: list[AnyEvent]) -> list[tuple[Any, ...]]:
        return [(*row[:3], {k: v for k, v in row[3].items() if k != "lost"}) for row in policies_curve(found)]

    assert isinstance(told[-1], Finished)
    assert kept(told) == kept(here)
    assert told[-1].summary["lost"] >= 1


def test_in_step_battles_in_turns_leave_the_same_on_any_pool_whoever_is_killed(ray: RayServer, tmp_path: Path) -> None:
    more: dict[str, Any] = {"steps": 2048, "checkpoint_every": 256, "evaluate_every": 0}
    here = turns.events(turns.study(policies=turns.EACH, **more), FolderStore(tmp_path))
    there = run(turns.study(policies=turns.EACH, **more, pool={"kind": "ray"}), FolderStore(tmp_path))
    told, _ = killed(ray, there, 2, 6)

    def kept(found: list[AnyEvent]) -> list[tuple[Any, ...]]:
        return [(*row[:3], {k: v for k, v in row[3].items() if k != "lost"}) for row in policies_curve(found)]

    assert isinstance(told[-1], Finished)
    assert kept(told) == kept(here)
    assert told[-1].summary["lost"] >= 1


def test_in_step_a_course_leaves_the_same_on_any_pool_whoever_is_killed(ray: RayServer, tmp_path: Path) -> None:
    """A group of two, and in its second lesson earlier selves, which copies get from the store by their hash."""
    rare = {**arena.SAC["learner"], "updates": 0.1}
    team, old = {"learner": {**rare, "kind": "masac"}}, {"kind": "pool", "of": ["solo"], "choice": "hardest"}
    roster = {"team": team, "solo": {"learner": rare}, "old": old}
    both, earlier = [["team", "team"], "solo"], [["team", "team"], "old"]
    lessons = [arena.lesson(both, steps=1536, after={"pool": ["solo"]}), arena.lesson(earlier, both, steps=1024)]
    game = {"name": "navigation", "settings": {"max_ticks": 8}}
    more: dict[str, Any] = {"copies": 2, "checkpoint_every": 256, "game": game}
    here = list(run(arena.course(roster, lessons, **more), FolderStore(tmp_path)))
    there = run(arena.course(roster, lessons, **more, pool={"kind": "ray"}), FolderStore(tmp_path))
    told, _ = killed(ray, there, 3, 8)

    def kept(found: list[AnyEvent]) -> list[tuple[Any, ...]]:
        return [(*row[:3], {k: v for k, v in row[3].items() if k != "lost"}) for row in policies_curve(found)]

    assert isinstance(told[-1], Finished), told[-1]
    assert kept(told) == kept(here)
    assert told[-1].summary["lost"] >= 1


def test_a_group_has_the_same_critics_whoever_plays_and_no_worker_has_any(ray: RayServer, tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    more: dict[str, Any] = {"samplers": 2, "steps": 2048, "evaluate_every": 0}
    config = groups.study(**more)
    here = events(config, store)[-1]
    found, _ = killed(ray, run(groups.study(**more, pool={"kind": "ray"}), store), 1, 4)
    assert isinstance(found[-1], Finished), found[-1]
    assert found[-1].summary["lost"] >= 1
    one, other = (checkpoint.read(config, end.artifacts["checkpoint"], store).parts for end in (here, found[-1]))
    critics = ("phi", "phi_target", "critic_optimiser.m")
    for name in critics:
        np.testing.assert_array_equal(one["learner/agent"].arrays[name], other["learner/agent"].arrays[name])
    assert np.abs(one["learner/agent"].arrays["critic_optimiser.m"]).max() > 0, "they have learned"
    sent = Policy.stored(store, here.artifacts["policy_description"])
    assert sent.weights.shape == one["learner/agent"].arrays["weights"].shape, "actors, and nothing beside"


@pytest.mark.usefixtures("ray")
def test_asynchronous_battles_are_sampled_out_of_step_by_actors(tmp_path: Path) -> None:
    config = turns.study(
        steps=4096, checkpoint_every=1024, sampling="asynchronous", evaluate_every=0, pool={"kind": "ray"}
    )
    told = list(run(config, FolderStore(tmp_path)))
    assert isinstance(told[-1], Finished)
    assert told[-1].counters.steps >= 4096
    assert told[-1].summary["lost"] == 0


def test_out_of_step_training_goes_on_when_a_sampler_is_killed(ray: RayServer, tmp_path: Path) -> None:
    config = study(
        steps=16_000, checkpoint_every=1_600, sampling="asynchronous", max_staleness=3, evaluate_every=0,
        pool={"kind": "ray"},
    )  # fmt: skip
    told, _ = killed(ray, run(config, FolderStore(tmp_path)), 2, 10)
    rounds = [e for e in told if isinstance(e, Progressed)]
    assert isinstance(told[-1], Finished)
    assert told[-1].counters.steps >= 16_000
    assert max(e.metrics["staleness_max"] for e in rounds) <= 3
    assert told[-1].summary["lost"] >= 1


def test_out_of_step_training_survives_the_loss_of_all_its_samplers_at_once(ray: RayServer, tmp_path: Path) -> None:
    config = study(
        steps=16_000, checkpoint_every=1_600, sampling="asynchronous", max_staleness=3, evaluate_every=0,
        pool={"kind": "ray"},
    )  # fmt: skip
    told, victims = killed(ray, run(config, FolderStore(tmp_path)), 4, 10, victims=2)
    assert len(victims) == config.samplers
    assert isinstance(told[-1], Finished)
    assert told[-1].counters.steps >= 16_000
    incidents = [event.message for event in told if isinstance(event, Incident)]
    assert {message.partition(" was lost")[0] for message in incidents} >= {"Sampler 1", "Sampler 2"}


def test_asynchronous_a3c_goes_on_from_its_samplers_gradients_when_one_is_killed(
    ray: RayServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("engine.rl.learner.BaseLearner.update")  # here; samplers are other processes
    config = asynchronous_a3c(
        game="cartpole", steps=16_000, checkpoint_every=1_600, max_staleness=0, evaluate_every=0, pool={"kind": "ray"}
    )
    told, _ = killed(ray, run(config, FolderStore(tmp_path)), 3, 10)
    rounds = [e for e in told if isinstance(e, Progressed)]
    assert isinstance(told[-1], Finished)
    assert told[-1].summary["updates"] * 4 * 8 == told[-1].counters.steps >= 16_000, "one for each gradient"
    assert told[-1].summary["lost"] >= 1
    assert any(isinstance(e, Incident) and "Another one takes its place" in e.message for e in told)
    assert all(1 <= e.metrics["staleness_mean"] <= e.metrics["staleness_max"] for e in rounds)
    assert max(e.metrics["staleness_max"] for e in rounds) > 1, "gradients that were on their way while another came"
    assert all(np.isfinite(e.metrics["gradient"]) for e in rounds)


def test_a_killed_study_takes_its_samplers_along_and_goes_on_with_the_same_curve(
    ray: RayServer, tmp_path: Path
) -> None:
    """TD3 goes on with its replay, too; that PPO goes on is shown without Ray."""
    data = settings(steps=2048, checkpoint_every=256, evaluate_every=0, episodes=2, pool={"kind": "ray"}, **TD3)
    folder = tmp_path / "job"
    (tmp_path / "study.yaml").write_text(json.dumps(data))
    command = [sys.executable, "-m", "engine"]
    rounds = random.Random(5).randint(2, 5)
    with subprocess.Popen([*command, "run", str(tmp_path / "study.yaml"), "--job-dir", str(folder)], cwd=HOME,
                          stdout=subprocess.PIPE, text=True) as first:  # fmt: skip
        assert first.stdout
        assert any(f"round {rounds}:" in line for line in first.stdout)
        samplers = actors(ray, "WorkerActor")
        first.kill()
    assert len(samplers) == 2
    assert all_gone(samplers)
    subprocess.run([*command, "resume", str(folder)], cwd=HOME, check=True, capture_output=True)
    found = [decode(line) for line in lines(folder / "events.jsonl")]
    here = curve(events(study(**{**data, "pool": {"kind": "local"}}), FolderStore(tmp_path / "here")))
    assert isinstance(found[-1], Finished)
    assert list({tick: row for tick, *row in curve(found)}.values()) == [row for _, *row in here]


def test_evolution_ends_the_same_when_a_worker_is_killed_in_the_middle_of_a_training(
    ray: RayServer, tmp_path: Path
) -> None:
    """The candidate goes on from its own checkpoint on another worker, and what all leave is that of one process."""
    task = {**evolution_settings()["task"], "steps": 2048, "checkpoint_every": 256}
    here = evolution(task=task, ticks=2)
    (whole,) = [e for e in run(here, FolderStore(tmp_path / "here")) if isinstance(e, Finished)]
    store = FolderStore(tmp_path / "there")
    leases = store.folder / "leases"
    victims: list[psutil.Process] = []

    def kill_one() -> None:
        assert eventually(lambda: any(leases.glob("*/*/candidates/??/*")), PATIENCE_S)
        victims.append(actors(ray, "WorkerActor")[0])
        victims[0].kill()

    killer = threading.Thread(target=kill_one)
    killer.start()
    told = list(run(evolution(task=task, ticks=2, pool={"kind": "ray", "workers": 2}), store))
    killer.join()
    assert all_gone(victims[:1])
    assert any(isinstance(e, Incident) and e.what == "lost-worker" for e in told)
    (end,) = [e for e in told if isinstance(e, Finished)]
    for role in ("archive", "front", "fresh", "lineage", "policies"):
        assert end.artifacts[role] == whole.artifacts[role], role


def test_styles_that_ray_actors_breed_are_those_of_one_process(ray: RayServer, tmp_path: Path) -> None:
    """Who trains where and who is back first decides nothing: children are selected once all of a round are there."""
    ends = []
    pools: list[dict[str, Any]] = [{"kind": "local"}, {"kind": "ray", "workers": 2}]
    for pool in pools:
        told = list(run(styles(pool=pool), FolderStore(tmp_path / pool["kind"])))
        ends += [event for event in told if isinstance(event, Finished)]
    here, there = (end.artifacts for end in ends)
    for role in ("archive", "front", "population", "policies", "fresh", "against/random"):
        assert there[role] == here[role], role


@pytest.mark.parametrize("method", ["cem-rl", "free"])
def test_evolution_with_a_critic_goes_on_when_a_worker_is_killed_and_in_rounds_to_the_same_end(
    ray: RayServer, tmp_path: Path, method: str
) -> None:
    chosen = {"kind": "aes-rl"} if method == "free" else METHODS[method]
    pool = {"kind": "ray", "workers": 3}
    store, told, killed = FolderStore(tmp_path / "there"), list[AnyEvent](), False
    for event in run(individuals(method=chosen, pool=pool, steps=600), store):
        told.append(event)
        if isinstance(event, Progressed) and not killed:
            actors(ray, "WorkerActor")[0].kill()
            killed = True
    end = told[-1]
    assert isinstance(end, Finished), end
    assert any(isinstance(e, Incident) and e.what == "lost-worker" for e in told)
    assert end.counters.steps >= 600
    if method != "free":
        *_, whole = run(individuals(method=chosen, steps=600), FolderStore(tmp_path / "here"))
        assert isinstance(whole, Finished)
        assert [end.artifacts[role] for role in ("policy", "table")] == [
            whole.artifacts[role] for role in ("policy", "table")
        ]


def test_a_critic_whose_worker_is_killed_goes_on_from_what_it_had_learned(
    ray: RayServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its chunk goes to another worker, and no lesson is lost or counted twice."""
    pools: list[RayWorkers] = []

    def noted(*given: Any, **more: Any) -> Any:
        pools.append(open_pool(*given, **more))  # type: ignore[arg-type]
        return pools[-1]

    monkeypatch.setattr("engine.study.session.open_pool", noted)
    config = individuals(
        method={"kind": "aes-rl", "least_lessons": 1}, pool={"kind": "ray", "workers": 3}, steps=1000, chunk=200,
        checkpoint_every=20, learner={**LEARNER, "minibatch": 200},
    )  # fmt: skip
    told, killed = list[AnyEvent](), False
    for event in run(config, FolderStore(tmp_path)):
        told.append(event)
        killed = killed or (isinstance(event, Progressed) and end_the_critic_s(pools[0]))
    end = told[-1]
    assert killed
    assert isinstance(end, Finished), end
    assert [e.what for e in told if isinstance(e, Incident)] == ["lost-worker"]
    assert end.counters.steps >= 1000
    assert end.summary["critic_steps"] % 200 == 0
    assert 600 <= end.summary["critic_steps"] <= end.counters.steps
    assert end.summary["individuals_rl"] > 0


def end_the_critic_s(pool: RayWorkers) -> bool:
    """Kill the worker that teaches the critic now, if one does."""
    for name, member in pool._members.items():
        if any(SharedCritic.role(r) == "critic" for batch in pool._ledger.holds(name)[:1] for r in batch.requests):
            signal.pidfd_send_signal(member.hired._process, signal.SIGKILL)  # type: ignore[attr-defined]
            return True
    return False
