"""Evolution of players in one process: trained candidates, what they hand on, and the same end whatever happens."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from engine.arrays import Bundle, unpack
from engine.catalog import ALGORITHMS
from engine.config import EvolveConfig
from engine.errors import EvaluationError, LeaseLost
from engine.events import AnyEvent, Failed, Finished, Incident, Paused, Progressed, Stopped, decode, encode
from engine.evolution.algorithm import Individual
from engine.evolution.estimates import estimate
from engine.evolution.survival import Survival
from engine.evorl.evaluator import PlayerEvaluator
from engine.evorl.record import KEPT, PlayerRecord, digests, trained
from engine.evorl.trainings import Trainings, key_of, opened
from engine.problem import Evaluation, Request, TrainingContext
from engine.rl.policy import Policy
from engine.rl.training import Training
from engine.store import LEASE_S, FolderStore
from engine.studies import load
from engine.study import run
from engine.study.evolve import apart
from tests.engine.cutting import cut_off

LEARNER: dict[str, Any] = {
    "kind": "ppo", "batch": 32, "fragment": 8, "minibatch": 16, "rate": [1e-3, 1e-1], "entropy_weight": [0.0, 0.1],
    "network": {"policy": [8], "critic": [8]},
}  # fmt: skip
PONG = {"name": "pong", "settings": {"points": 1, "max_ticks": 30}}


def settings(kind: str = "pbt", **more: Any) -> dict[str, Any]:
    """A study of three rounds of four candidates that takes a moment."""
    task = {"game": PONG, "learner": LEARNER, "steps": 64, "environments": 4, "checkpoint_every": 32}
    usual = {"name": "small", "seed": 3, "ticks": 3, "episodes": 4, "fresh": 4, "pool": {"kind": "local"}}
    goals = [{"measure": "return"}, {"measure": "length"}]
    algorithm = {"kind": kind, "population": 4}
    return {"kind": "evolve", "task": task, "objectives": goals, "algorithm": algorithm, **usual, **more}


def study(kind: str = "pbt", **more: Any) -> EvolveConfig:
    config = load(settings(kind, **more))
    assert isinstance(config, EvolveConfig)
    return config


def made(folder: Path) -> Trainings:
    """Trainings in a store of their own."""
    return opened(FolderStore(folder), "study")


def rounds(found: list[AnyEvent]) -> list[Progressed]:
    return [e for e in found if isinstance(e, Progressed)]


def results(found: list[AnyEvent]) -> dict[str, str]:
    assert isinstance(found[-1], Finished), found[-1]
    return {k: v for k, v in found[-1].artifacts.items() if k != "checkpoint"}


def bundle(store: FolderStore, digest: str) -> Bundle:
    return unpack(store.get(digest))


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "store")


def test_population_based_training_leaves_its_lineage_and_a_policy_that_plays(store: FolderStore) -> None:
    algorithm = {"kind": "pbt", "population": 4, "exploit": "truncation", "share": 0.25}
    found = list(run(study(algorithm=algorithm), store))
    left = results(found)
    assert [e.tick for e in rounds(found)] == [1, 2, 3]
    archive = bundle(store, left["archive"])
    assert archive.meta["objectives"] == ["return", "length"]
    assert [gene["path"] for gene in archive.meta["genes"]] == ["learner.rate", "learner.entropy_weight"]
    assert archive.arrays["genome"].shape == (12, 2)
    assert ((archive.arrays["genome"] >= [1e-3, 0]) & (archive.arrays["genome"] <= [1e-1, 0.1])).all()
    assert all(len(digest) == 64 for digest in digests(archive.arrays))
    lineage = bundle(store, left["lineage"]).arrays
    assert lineage["member"].tolist() == [0, 1, 2, 3] * 3
    assert rounds(found)[-1].metrics["copied"] == (lineage["copied"] >= 0).sum() >= 2
    assert (lineage["parent"][4:] >= 0).all()
    policy = Policy.unpack(store.get(left["policy_description"]), store.get(left["policy"]))
    kept = bundle(store, left["policies"]).arrays
    front = bundle(store, left["front"]).arrays
    np.testing.assert_array_equal(kept["id"], front["id"])
    assert any(np.array_equal(policy.weights, row) for row in kept["weights"])
    assert (bundle(store, left["fresh"]).arrays["samples"] == 4).all()
    # Every step is counted: 64 of training each, and each episode that was measured.
    assert found[-1].counters.steps >= 12 * 64 + 12 * 4


def test_the_best_of_episodes_that_came_out_equal_is_told_without_a_range(store: FolderStore) -> None:
    task = {**settings()["task"], "game": {**PONG, "settings": {"points": 1, "max_ticks": 4}}}  # none ends before
    found = rounds(list(run(study(task=task), store)))
    assert found
    for event in found:
        assert decode(encode(event)) == event, "JSON has no infinity"
        assert event.metrics["best_length"] == event.metrics["mean_length"] > 0
        assert not {"best_length_low", "best_length_high"} & event.metrics.keys()


def test_wins_have_a_range_by_their_ends_whatever_is_measured_further(store: FolderStore, tmp_path: Path) -> None:
    """Of goals without ends, episodes that take few different values have none; each episode's value is kept."""
    goals = [{"measure": "win"}, {"measure": "length"}]
    left = results(list(run(study("nsga2", objectives=goals, noise={"reevaluate": 1, "again": 3}), store)))
    arrays = bundle(store, left["archive"]).arrays
    assert set(arrays["samples"].tolist()) > {4}
    low, high = arrays["low"][:, 0], arrays["high"][:, 0]
    assert ((low < arrays["objective"][:, 0]) | (low == 0)).all()
    assert ((high > arrays["objective"][:, 0]) | (high == 1)).all()
    assert (high - low > 0.45).all()
    told = [table[:n] for table, n in zip(arrays["values"], arrays["samples"].tolist(), strict=True)]
    np.testing.assert_allclose([table.mean(axis=0) for table in told], arrays["objective"])


def test_players_measured_longer_than_values_are_kept_have_ranges_by_mean_and_count(tmp_path: Path) -> None:
    players = PlayerEvaluator(study(objectives=[{"measure": "win"}, {"measure": "length"}]), made(tmp_path))
    record = PlayerRecord(players.config, players.problem, cast(Survival, None), FolderStore(tmp_path / "store"))
    values = np.random.default_rng(1).random((KEPT + 1, 2)) < 0.05
    mean, covariance = estimate(values.astype(float))
    metrics = np.zeros(len(record.problem.metrics))
    one = Evaluation(0, mean, covariance, len(values), metrics, values=values.astype(float))
    genome = players.initialize(np.random.default_rng(1))
    arrays = record.arrays([Individual(genome, one, 1)])
    (again,) = record.restored(arrays)
    assert again.evaluation.values is None
    later = record.arrays([again])
    assert arrays["low"][0, 0] <= later["low"][0, 0] + 0.01
    assert 0.02 < later["low"][0, 0] < later["high"][0, 0] < 0.08
    assert not np.isfinite(later["low"][0, 1])


def test_the_range_of_the_best_holds_although_it_is_the_best_of_many(tmp_path: Path) -> None:
    """Ninety-six equals: who looks best is lucky. The first goal has ends; the second has none, and
    a long tail."""
    players = PlayerEvaluator(study(objectives=[{"measure": "win"}, {"measure": "return"}]), made(tmp_path))
    record = PlayerRecord(players.config, players.problem, cast(Survival, None), FolderStore(tmp_path / "store"))
    rng, metrics = np.random.default_rng(7), np.zeros(len(record.problem.metrics))
    record.totals["evaluations"], missed, trials = 96, [0, 0], 100
    true = (0.5, -float(np.exp(0.72)))
    for _ in range(trials):
        drawn = np.stack([rng.beta(5, 5, (96, 60)), -rng.lognormal(0.0, 1.2, (96, 60))], axis=2)
        told = [Evaluation(k, *estimate(values), 60, metrics, values=values) for k, values in enumerate(drawn)]
        best = record.best([Individual(np.empty(0), each, 1) for each in told])
        for j, name in enumerate(("win", "return")):
            missed[j] += not best[f"best_{name}_low"] <= true[j] <= best[f"best_{name}_high"]
    assert max(missed) <= 7, "five in a hundred, and luck; with the range of one it would be fifteen"


def test_weights_are_handed_on_from_step_to_step(tmp_path: Path) -> None:
    """A member's second step goes on where its first ended: counters, optimiser, schedule and all."""
    config, trainings = study(), made(tmp_path)
    players = PlayerEvaluator(config, trainings)
    genome = players.initialize(np.random.default_rng(1))
    (one,) = players.evaluate([Request(0, genome, 0, 4, 3)], lambda: False)
    (two,) = players.evaluate([Request(1, genome, 4, 8, 3, TrainingContext(trained(one)))], lambda: False)
    before, after = (unpack(trainings.lease.get(trained(e))).meta for e in (one, two))
    assert after["learner"]["steps"] == 2 * before["learner"]["steps"] == 128
    assert after["beginning"] > before["beginning"]
    players.close()


@pytest.mark.parametrize("kind", ALGORITHMS)
def test_a_study_with_any_algorithm_is_paused_killed_and_resumed_to_the_same_end(kind: str, store: FolderStore) -> None:
    """Abandoned after its first round, resumed, paused in the middle of a candidate's training, resumed to the end."""
    config = study(kind, task={**settings()["task"], "steps": 32}, behaviour=["score"], fresh=0)
    whole = results(list(run(config, store)))
    killed = next(e for e in run(config, store) if isinstance(e, Progressed))
    asked = 0

    def soon() -> Any:
        nonlocal asked
        asked += 1
        return "pause" if asked > 6 else ""

    paused = list(run(config, store, killed.artifacts["checkpoint"], control=soon))
    assert isinstance(paused[-1], Paused)
    assert results(list(run(config, store, paused[-1].artifacts["checkpoint"]))) == whole


@pytest.mark.parametrize("command", ["pause", "stop"])
@pytest.mark.parametrize("kind", ["pbt", "nsga2"])
def test_every_player_of_the_round_that_is_cut_off_stays_with_its_weights(
    kind: str, command: str, store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = cut_off(study(kind), store, command, 6, monkeypatch)[-1]
    assert isinstance(last, Paused | Stopped)
    assert [i for i, _ in apart(store.get(last.artifacts["arrived_agents"]))] == [4, 5]
    there = bundle(store, last.artifacts["arrived" if command == "pause" else "archive"]).arrays
    assert there["id"].tolist()[-2:] == [4, 5]


def test_players_that_came_back_before_a_pause_stay_where_a_stop_comes_before_they_come_back_again(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    paused = cut_off(study(), store, "pause", 6, monkeypatch)[-1]
    assert isinstance(paused, Paused)
    for lease in store.folder.glob("leases/*/*"):
        os.utime(lease, 2 * (time.time() - 2 * LEASE_S,))
    stopped = cut_off(study(), store, "stop", 0, monkeypatch, paused.artifacts["checkpoint"])[-1]
    assert isinstance(stopped, Stopped)
    assert [i for i, _ in apart(store.get(stopped.artifacts["arrived_agents"]))] == [4, 5]
    assert stopped.counters.steps == paused.counters.steps


@pytest.mark.parametrize("kind", [kind for kind in ALGORITHMS if "steady" in ALGORITHMS[kind].config.model_fields])
def test_without_rounds_candidates_go_on_by_themselves_and_the_study_can_be_resumed(
    kind: str, store: FolderStore
) -> None:
    algorithm = {"kind": kind, "steady": True, "fair": kind == "nsga2", "population": 4}
    task = {**settings()["task"], "steps": 32}
    config = study(algorithm=algorithm, task=task, behaviour=["score"], fresh=0)
    first = next(e for e in run(config, store) if isinstance(e, Progressed))
    found = list(run(config, store, first.artifacts["checkpoint"]))
    assert len(bundle(store, results(found)["archive"]).arrays["id"]) == 12
    assert 0 < rounds(found)[-1].metrics["utilisation"] <= 1


def test_a_worker_that_takes_a_candidate_over_goes_on_where_the_last_one_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped in the middle of a training, a candidate ends as if nothing had happened, and its first half is not
    played again."""
    short = {**PONG, "settings": {**PONG["settings"], "max_ticks": 4}}
    config = study(task={**settings()["task"], "game": short, "steps": 192})
    undisturbed, trainings = made(tmp_path / "a"), made(tmp_path / "b")
    genome = PlayerEvaluator(config, undisturbed).initialize(np.random.default_rng(1))
    request = Request(0, genome, 0, 4, 3)
    (whole,) = PlayerEvaluator(config, undisturbed).evaluate([request], lambda: False)
    first = PlayerEvaluator(config, trainings)
    assert list(first.evaluate([request], after(4))) == []
    first.close()
    reached = trainings.progress(key_of(genome))
    assert reached
    assert 64 <= reached.meta["training"]["learner"]["steps"] < 192
    second = PlayerEvaluator(config, trainings)
    learned: list[int] = []
    update = Training._update
    monkeypatch.setattr(Training, "_update", lambda training: (learned.append(1), update(training))[1])
    (answer,) = second.evaluate([request], lambda: False)
    assert len(learned) < 192 / 32
    assert answer.context == whole.context
    np.testing.assert_array_equal(answer.objectives, whole.objectives)
    assert answer.cost == whole.cost
    (again,) = second.evaluate([request._replace(id=9, first=4, last=8, context=answer.context)], lambda: False)
    assert (again.context, again.samples) == (answer.context, 4)
    second.close()


@pytest.mark.parametrize("battles", [1, 4])
def test_trainings_in_which_no_episode_ended_are_told_once_with_the_reason(battles: int, store: FolderStore) -> None:
    config = study("ga", task={**settings()["task"], "environments": battles})
    told = [e.message for e in run(config, store) if isinstance(e, Incident) and e.what == "short-trainings"]
    assert len(told) == (battles == 4)
    for message in told:
        assert message.startswith("Nobody saw an episode end: each saw 16 decisions of one, and one can last 30.")
        assert message.endswith("Give each 120 decisions or more, or fewer battles at once.")


def after(times: int) -> Callable[[], bool]:
    """True from the ``times``-th time it is asked."""
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked >= times

    return stop


@pytest.mark.parametrize("lamarckian", [True, False])
def test_children_go_on_with_their_parent_s_network_as_it_was_trained_or_as_it_began(
    lamarckian: bool, tmp_path: Path
) -> None:
    config = study("nsga2", networks="best", learnt_is_inherited=lamarckian)
    trainings = made(tmp_path)
    players = PlayerEvaluator(config, trainings)
    genome = players.initialize(np.random.default_rng(1))
    (answer,) = players.evaluate([Request(0, genome, 0, 4, 3)], lambda: False)
    inherit = players.space.can.inherit
    inherited = inherit(genome, answer) if inherit else genome
    learnt = unpack(trainings.lease.get(trained(answer))).arrays["weights"]
    network = players.space.network(inherited)
    assert network is not None
    np.testing.assert_array_equal(network, learnt if lamarckian else players.space.network(genome))
    np.testing.assert_array_equal(players.space.gene_values(inherited), players.space.gene_values(genome))
    assert not np.array_equal(learnt, players.space.network(genome))
    players.close()


@pytest.mark.parametrize(("way", "inherited"), [("uniform", True), ("simulated_binary", False)])
def test_settings_are_combined_as_chosen(way: str, inherited: bool, store: FolderStore) -> None:
    """Uniformly every child has numbers of the first round, and only those."""
    algorithm = {"kind": "ga", "population": 4, "crossover": 1, "mutation": 0, "settings_crossover": way}
    left = results(list(run(study(algorithm=algorithm, objectives=[{"measure": "return"}]), store)))
    bred = bundle(store, left["archive"]).arrays["genome"]
    assert len(bred) == 12
    assert all(bool(np.isin(bred[4:, i], bred[:4, i]).all()) is inherited for i in range(2))


def test_networks_alone_are_bred_without_any_training(store: FolderStore) -> None:
    task = {**settings()["task"], "steps": 0, "learner": {**LEARNER, "rate": 0.001, "entropy_weight": 0.0}}
    for kind in ("ga", "openai-es"):
        left = results(list(run(study(kind, task=task, networks="single_point", network_noise=1.0), store)))
        archive = bundle(store, left["archive"]).arrays
        assert archive["genome"].shape == (12, 0)
        assert len(set(digests(archive))) > 4


def test_the_sizes_of_layers_are_bred_and_each_policy_says_its_own(store: FolderStore) -> None:
    network = {"policy": [[2, 30]], "critic": [[2, 30], [2, 30]]}
    learner = {**LEARNER, "rate": 0.01, "entropy_weight": 0.0, "network": network}
    config = study("nsga2", task={**settings()["task"], "steps": 32, "learner": learner}, noise={"reevaluate": 2})
    left = results(list(run(config, store)))
    archive, kept = bundle(store, left["archive"]), bundle(store, left["policies"])
    assert [g["path"] for g in archive.meta["genes"]] == ["learner.network.policy.0", "learner.network.critic.1"]
    sizes = {i: genome for i, genome in zip(archive.arrays["id"].tolist(), archive.arrays["genome"], strict=True)}
    assert len({tuple(size) for size in sizes.values()}) > 4
    for i, text, size, row in zip(
        kept.arrays["id"].tolist(), kept.meta["descriptions"], kept.arrays["size"], kept.arrays["weights"], strict=True
    ):
        shared, top = sizes[i].astype(int).tolist()
        written = json.loads(text)["network"]
        assert (written["policy"], written["critic"]) == ([shared], [shared, top])
        assert not row[size:].any()
    policy = Policy.unpack(store.get(left["policy_description"]), store.get(left["policy"]))
    assert any(np.array_equal(policy.weights, row[: len(policy.weights)]) for row in kept.arrays["weights"])


def test_a_network_that_does_not_fit_is_one_candidate_s_failure(tmp_path: Path) -> None:
    learner = {"kind": "dqn", "network": {"policy": [8], "critic": [8], "lstm": [0, 4]}}
    config = study("ga", task={**settings()["task"], "learner": learner})
    players = PlayerEvaluator(config, made(tmp_path))
    with pytest.raises(EvaluationError, match=r"do not go together: .*LSTM"):
        list(players.evaluate([Request(0, np.array([4.0]), 0, 4, 3)], lambda: False))
    (fine,) = players.evaluate([Request(1, np.array([0.0]), 0, 4, 3)], lambda: False)
    assert fine.status == "ok"
    players.close()


def test_every_number_of_the_task_is_bred_and_each_candidate_plays_the_game_of_its_own_settings(tmp_path: Path) -> None:
    game = {"name": "pong", "settings": {"points": 1, "max_ticks": [10, 40]}}
    task = {"game": game, "learner": {**LEARNER, "rate": 0.01, "entropy_weight": 0.0, "fragment": [4, 8]},
            "steps": [32, 64], "environments": [2, 6]}  # fmt: skip
    players = PlayerEvaluator(study("nsga2", task=task, objectives=[{"measure": "length"}]), made(tmp_path))
    places = [gene.place for gene in players.space.genes]
    assert places == ["game.settings.max_ticks", "learner.fragment", "steps", "environments"]
    genomes = np.array([[10, 4, 32, 2], [40, 8, 64, 6]], dtype=float)
    requests = [Request(i, genome, 0, 4, 3) for i, genome in enumerate(genomes)]
    found = list(players.evaluate(requests, lambda: False))
    trained_for = [e.cost - int(4 * e.objectives[0]) for e in found]
    assert [e.objectives[0] <= ticks for e, ticks in zip(found, (10, 40), strict=True)] == [True, True]
    assert found[1].objectives[0] > 10
    assert trained_for == [32, 96]
    players.close()


def test_elites_are_measured_again_without_training_and_merge_into_their_candidate(store: FolderStore) -> None:
    noise = {"reevaluate": 2, "again": 4}
    config = study("nsga2", networks="best", noise=noise)
    found = list(run(config, store))
    archive = bundle(store, results(found)["archive"]).arrays
    assert archive["id"].tolist() == list(range(12))
    assert archive["samples"].max() >= 8
    assert rounds(found)[-1].metrics["evaluated"] == 12


def test_a_stop_keeps_the_trainings_and_the_end_leaves_none(store: FolderStore) -> None:
    seen: list[AnyEvent] = []
    for event in run(study(), store, control=lambda: "stop" if rounds(seen) else ""):
        seen.append(event)
    assert isinstance(seen[-1], Stopped)
    assert {"archive", "policy", "policies", "lineage"} <= seen[-1].artifacts.keys()
    assert list(store.leases()), "somebody may go on with it"
    list(run(study(), store, seen[-1].artifacts["checkpoint"]))
    assert not list((store.folder / "leases").iterdir())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"objectives": [{"measure": "beauty"}]},
            "objectives.0.measure: 'beauty' is not measured; the game tells return",
        ),
        ({"behaviour": ["speed"]}, "behaviour.0"),
        ({"task": {**settings()["task"], "game": "chess"}}, "game.name"),
        ({"task": {**settings()["task"], "game": "python:tests.engine.train_games:Locked"}}, "task.game.name: "),
    ],
)
def test_what_cannot_be_evolved_here_is_said_before_anything_starts(
    change: dict[str, Any], said: str, store: FolderStore
) -> None:
    (failed,) = run(study(**change), store)
    assert isinstance(failed, Failed)
    assert failed.permanent
    assert said in failed.message


def test_all_that_the_game_has_against_a_study_is_told_at_once(store: FolderStore) -> None:
    learner = {**LEARNER, "rewards": {"gold": {"weight": 2.0}}}
    task = {**settings()["task"], "learner": learner}
    (failed,) = run(study(task=task, objectives=[{"measure": "beauty"}], behaviour=["speed"]), store)
    assert isinstance(failed, Failed)
    for place in ("objectives.0.measure", "behaviour.0", "task.learner.rewards.gold"):
        assert f"{place}: " in failed.message


def test_settings_with_which_no_network_fits_every_candidate_are_their_candidates_failure(tmp_path: Path) -> None:
    game = {"name": "image-pong", "settings": {"frames": [2, 4], "max_ticks": 30}}
    config = study("ga", task={**settings()["task"], "game": game, "steps": 32}, objectives=[{"measure": "return"}])
    players = PlayerEvaluator(config, made(tmp_path))
    with pytest.raises(EvaluationError, match=r"game\.settings: with frames: 4"):
        list(players.evaluate([Request(0, np.array([np.log(0.01), 0.05, 4.0]), 0, 2, 3)], lambda: False))
    players.close()


def test_the_whole_map_is_measured_again_at_the_end(store: FolderStore) -> None:
    task = {**settings()["task"], "steps": 32}
    algorithm = {"kind": "map-elites", "population": 6, "bins": 4}
    goals = [{"measure": "return"}]
    config = study(algorithm=algorithm, task=task, objectives=goals, behaviour=["length", "score"], fresh=30)
    found = list(run(config, store))
    left = results(found)
    names = ("grid", "front", "fresh", "fresh_elites", "fresh_grid")
    grid, front, edge, others, again = (bundle(store, left[name]).arrays for name in names)
    assert edge["id"].tolist() == front["id"].tolist()
    assert sorted([*edge["id"], *others["id"]]) == sorted(grid["id"])
    assert (edge["samples"] == 30).all()
    assert (others["samples"] == min(30, 3 * 6 * 4 // len(others["id"]))).all()
    assert set(again["id"]) <= set(grid["id"])
    fresh = {i: o for part in (edge, others) for i, o in zip(part["id"].tolist(), part["objective"], strict=True)}
    assert again["quality"].tolist() == [fresh[i][0] for i in again["id"].tolist()]
    last = found[-1]
    assert isinstance(last, Finished)
    assert last.summary["fresh_coverage"] == len(again["id"]) / 16


def test_an_attempt_that_was_taken_over_ends_and_the_later_one_ends_as_if_it_had_been_alone(store: FolderStore) -> None:
    config = study()
    whole = results(list(run(config, FolderStore(store.folder / "alone"))))
    earlier = run(config, store)
    saved = next(e for e in earlier if isinstance(e, Progressed)).artifacts["checkpoint"]
    later = run(config, store, saved)
    found = [next(later)]  # it has taken the trainings over
    with pytest.raises(LeaseLost):
        list(earlier)
    found += later
    assert results(found) == whole
    assert not list(store.leases())


def test_equal_studies_at_the_same_time_do_not_touch_each_other_s_trainings(store: FolderStore) -> None:
    one, two = run(study(), store), run(study(), store)
    first, second = [next(one), next(one)], [next(two), next(two)]
    assert len(list(store.leases())) == 2
    second += two
    first += one
    assert results(first) == results(second)
    assert not list(store.leases())


def test_a_study_that_was_killed_before_its_first_checkpoint_finds_what_it_trained(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    training = PlayerEvaluator._train

    def counted(self: PlayerEvaluator, run: Training, key: str, *more: Any) -> bool:
        begun.append(key)
        return training(self, run, key, *more)

    monkeypatch.setattr(PlayerEvaluator, "_train", counted)
    killed = run(study(ticks=1), store, control=lambda: "pause" if len(begun) > 2 else "")
    assert isinstance(list(killed)[-1], Paused)
    (lease,) = (store.folder / "leases").glob("*/*")
    os.utime(lease, 2 * (time.time() - 2 * LEASE_S,))
    found = list(run(study(ticks=1), store))
    assert isinstance(found[-1], Finished)
    assert [begun.count(key) for key in dict.fromkeys(begun)] == [1, 1, 2, 1], "two were done, the third goes on"


@pytest.mark.parametrize(
    ("goal", "game", "floor"),
    [
        ("length", PONG, True),
        ("return", {"name": "gym:CartPole-v1"}, True),
        ("score", {"name": "gym:CartPole-v1"}, True),
        ("return", {"name": "gym:CartPole-v1", "settings": {"sutton_barto_reward": True}}, False),
        ("return", PONG, False),
    ],
)
def test_a_range_stops_at_what_an_episode_cannot_be_below_where_that_is_known(
    goal: str, game: dict[str, Any], floor: bool, tmp_path: Path
) -> None:
    task = {**settings()["task"], "game": game}
    players = PlayerEvaluator(study(task=task, objectives=[{"measure": goal}]), made(tmp_path))
    record = PlayerRecord(players.config, players.problem, cast(Survival, None), FolderStore(tmp_path / "store"))
    values = np.array([[9.0], [30.0], [41.0], [290.0], [150.0], [77.0], [310.0], [12.0]])
    mean, covariance = estimate(values)
    one = Evaluation(0, mean, covariance, len(values), np.zeros(len(record.problem.metrics)), values=values)
    arrays = record.arrays([Individual(players.initialize(np.random.default_rng(1)), one, 1)])
    assert (arrays["low"][0, 0] >= 0) == floor
    assert np.isfinite(arrays["high"][0, 0])
