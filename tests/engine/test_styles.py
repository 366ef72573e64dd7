"""Styles of play: rewards from formulas, sample episodes, breeding by EMOGI."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.arrays import unpack
from engine.config import StylesConfig, TaskConfig, parse
from engine.config.evolve import AimConfig
from engine.config.sound_goals import equal
from engine.config.style_reward import StyleReward, formula_of, identifier
from engine.config.style_templates import TEMPLATES, offered
from engine.config.train import TrainGame
from engine.errors import ConfigError, EvaluationError
from engine.events import AnyEvent, Failed, Finished, Logged, Paused, Progressed, Stopped
from engine.evorl.emogi import EMOGI, Unselected
from engine.evorl.evaluator import PlayerEvaluator
from engine.evorl.trainings import opened
from engine.games.pong import VectorPong
from engine.problem import Evaluation, Request
from engine.rl.policy import Policy
from engine.rng import combine64
from engine.runtime.pool import Pool
from engine.store import LEASE_S, FolderStore
from engine.studies import load
from engine.study import run
from engine.study.evolve import Evolve, apart
from engine.styles import preview
from engine.styles.agents import files_of
from engine.styles.rewards import Styled, with_signals
from engine.styles.samples import EPISODES, sample
from engine.styles.strangers import strangers_of
from tests.engine.coarse_trainings import round_ends
from tests.engine.cutting import cut_off

GOLDEN = Path(__file__).parents[1] / "golden" / "styles.json"
PONG = {"name": "pong", "settings": {"points": 1, "max_ticks": 40}}
LEARNER = {"kind": "ppo", "batch": 32, "fragment": 8, "minibatch": 16, "network": {"policy": [8], "critic": [8]}}
BUSY = {"style": "2 * moved - 1", "w2": [-0.02, 0.02]}
GOALS = [
    {"measure": "busy", "formula": "score + moved", "low": 0, "high": 2},
    {"measure": "calm", "formula": "score + (1 - moved)", "low": 0, "high": 2},
]

STRAIGHT = [{"measure": "moved"}, {"measure": "length"}]
"""Goals of which neither counts the score: whoever scores best may be off the edge."""


def settings(**more: Any) -> dict[str, Any]:
    """Three rounds of four agents that take a moment."""
    task = {"game": PONG, "learner": LEARNER, "steps": 64, "environments": 4, "checkpoint_every": 32, "style": BUSY}
    usual = {"seed": 3, "ticks": 3, "episodes": 4, "fresh": 4, "behaviour": ["moved"], "pool": {"kind": "local"}}
    return {"kind": "style", "task": task, "objectives": GOALS, "algorithm": {"population": 4}, **usual, **more}


def task(**more: Any) -> dict[str, Any]:
    return {**settings()["task"], **more}


def study(**more: Any) -> StylesConfig:
    config = load(settings(**more))
    assert isinstance(config, StylesConfig)
    return config


def results(found: list[AnyEvent]) -> dict[str, str]:
    assert isinstance(found[-1], Finished), found[-1]
    return {role: digest for role, digest in found[-1].artifacts.items() if role != "checkpoint"}


def refused(**more: Any) -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        study(**more)
    return {problem.place: problem.message for problem in caught.value.problems}


@pytest.mark.parametrize("learner", ["goal-mpdqn", {"preset": "goal-mpdqn", "rate": 1e-4}])
def test_a_style_takes_the_place_of_the_rewards_that_a_preset_weighs(learner: Any) -> None:
    wanted = task(game={"name": "goal"}, learner=learner, style={"style": "caught", "w2": 1})
    assert not parse(TaskConfig, wanted).learner.rewards
    own = {"preset": "goal-mpdqn", "rewards": {"score": {"weight": 1}}}
    said = refused(task={**wanted, "learner": own})
    assert "leave this out" in said["task.learner.rewards.score"], said


def failed(folder: Path, **more: Any) -> str:
    (last,) = run(study(**more), FolderStore(folder))
    assert isinstance(last, Failed)
    return last.message


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "store")


@pytest.fixture(scope="module")
def samples() -> preview.Samples:
    wanted = with_signals(parse(TrainGame, PONG))
    return sample(VectorPong(rewards=wanted.settings["rewards"], points=1, max_ticks=40), wanted, 1)


def test_a_style_is_bred_and_every_trained_agent_is_kept(store: FolderStore) -> None:
    found = list(run(study(), store))
    left = results(found)
    archive = unpack(store.get(left["archive"]))
    assert archive.meta["objectives"] == ["busy", "calm"]
    assert [gene["path"] for gene in archive.meta["genes"]] == ["task.style.w2".removeprefix("task.")]
    rounds = [event for event in found if isinstance(event, Progressed)]
    kept = [unpack(store.get(event.artifacts["agents"])) for event in rounds]
    assert np.concatenate([part.arrays["id"] for part in kept]).tolist() == archive.arrays["id"].tolist()
    trained = [row[:n] for part in kept for row, n in zip(part.arrays["weights"], part.arrays["size"], strict=True)]
    assert len({row.tobytes() for row in trained}) == 12
    told = json.loads(kept[-1].meta["descriptions"][0])
    assert told["seat"]["rewards"] == ["style"]
    assert len(unpack(store.get(left["population"])).arrays["id"]) == 4


def test_the_range_of_a_goal_that_is_a_measure_alone_lies_where_the_game_says(store: FolderStore) -> None:
    goals = [{"measure": "score"}, {"measure": "moved"}]
    left = results(list(run(study(objectives=goals, ticks=1), store)))
    archive = unpack(store.get(left["archive"]))
    for end in ("low", "high"):
        columns = [archive.meta["measures"].index(f"{goal['measure']}.{end}") for goal in goals]
        np.testing.assert_array_equal(archive.arrays[end], archive.arrays["measure"][:, columns])
        assert ((archive.arrays[end] >= 0) & (archive.arrays[end] <= 1)).all()


@pytest.mark.parametrize(("goals", "selection"), [(GOALS, True), (GOALS, False), (STRAIGHT, True)])
def test_the_best_agent_is_the_one_that_scored_best_of_those_that_stayed_on_the_edge_or_not(
    goals: list[dict[str, Any]], selection: bool, store: FolderStore
) -> None:
    left = results(list(run(study(objectives=goals, selection=selection, fresh=0), store)))
    stayed = unpack(store.get(left["population"]))
    score = stayed.arrays["measure"][:, stayed.meta["measures"].index("score")]
    best = int(stayed.arrays["id"][score.argmax()])
    known = {number: policy.pack()[0] for number, policy in apart(store.get(left["policies"]))}
    assert known[best] == store.get(left["policy_description"])


def test_who_stayed_is_measured_on_the_same_seeds_against_opponents_that_nobody_learned_against(
    store: FolderStore,
) -> None:
    goals = [GOALS[0], {"measure": "score"}]  # of which some members of a population are worse in both
    found = list(run(study(objectives=goals, algorithm={"population": 6}, ticks=2), store))
    left = results(found)
    stayed = {int(i) for role in ("front", "population") for i in unpack(store.get(left[role])).arrays["id"]}
    names = strangers_of("pong")
    assert names == ("random", "pong-interceptor")
    fresh, *others = (unpack(store.get(left[role])) for role in ("fresh", *(f"against/{name}" for name in names)))
    for other in others:
        assert set(other.arrays["id"].tolist()) == stayed
        assert other.arrays["samples"].tolist() == [4] * len(stayed)
        assert np.isfinite(other.arrays["objective"]).all()
        means = other.arrays["ways"].mean(axis=1)
        np.testing.assert_allclose(means, other.arrays["descriptor"], err_msg="what was done in each episode is kept")
    whole = unpack(store.get(left["fresh_population"]))
    assert set(whole.arrays["id"].tolist()) == set(unpack(store.get(left["population"])).arrays["id"].tolist())
    assert whole.arrays["samples"].tolist() == [4] * len(whole.arrays["id"])
    both, at, here = np.intersect1d(whole.arrays["id"], fresh.arrays["id"], return_indices=True)
    assert len(both) == len(fresh.arrays["id"]) < len(stayed)
    np.testing.assert_array_equal(whole.arrays["measure"][at], fresh.arrays["measure"][here])
    won = fresh.meta["measures"].index("score")
    by_opponent = [b.arrays["measure"][:, won].mean() for b in others]
    assert by_opponent[0] > by_opponent[1], "a random paddle is the weaker one"
    none = results(list(run(study(fresh=0, ticks=1), FolderStore(store.folder / "other"))))
    assert not any(role.startswith(("against/", "fresh")) for role in none)


def test_only_the_first_seat_is_paid_for_a_style() -> None:
    game = Styled(VectorPong(seats=(0, 1), points=1, rewards=("score", "moved")), parse(StyleReward, {**BUSY, "w2": 1}))
    game.reset(np.arange(2, dtype=np.uint64))
    paid = game.step([np.ones(2, np.int64)] * 2).rewards
    assert paid.shape == (2, 2, 1)
    assert paid[:, 0].all()
    assert not paid[:, 1].any()


def test_who_has_come_back_is_told_before_the_round_is_complete(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting: list[Evaluation] = []
    answered = Evolve.finished

    def one_at_a_time(self: Evolve, pool: Pool) -> list[Evaluation]:
        waiting.extend(() if waiting else answered(self, pool))
        return [waiting.pop(0)] if waiting else []

    monkeypatch.setattr(Evolve, "finished", one_at_a_time)
    monkeypatch.setattr("engine.study.progress_throttle.APART_S", 0.0)
    monkeypatch.setattr("engine.study.progress_throttle.SHARE", 0.0)
    found = list(run(study(ticks=2), store))
    told = [unpack(store.get(e.arrived)).arrays for e in found if isinstance(e, Logged) and e.arrived]
    assert [arrays["id"].tolist() for arrays in told][:3] == [[0], [0, 1], [0, 1, 2]]
    first = next(e for e in found if isinstance(e, Progressed))
    chunk = unpack(store.get(first.artifacts["chunk"])).arrays
    np.testing.assert_array_equal(told[2]["measure"], chunk["measure"][:3])
    assert {row.tolist()[0] for row in (arrays["tick"] for arrays in told)} == {1, 2}


@pytest.mark.parametrize("rounds", [0, 1])
def test_every_agent_of_the_round_that_a_stop_cuts_off_stays_with_its_weights(
    rounds: int, store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = [event for event in run(study(), store) if isinstance(event, Progressed)][rounds]
    last = cut_off(study(), FolderStore(store.folder / "stopped"), "stop", 4 * rounds + 3, monkeypatch)[-1]
    assert isinstance(last, Stopped)
    left = FolderStore(store.folder / "stopped")
    there = unpack(left.get(last.artifacts["archive"])).arrays
    assert there["id"].tolist() == list(range(4 * rounds + 3))
    for agent in there["id"][4 * rounds :].tolist():
        found = files_of(left.get(last.artifacts["arrived_agents"]), agent)
        assert found is not None
        assert found == files_of(store.get(whole.artifacts["agents"]), agent)


def test_an_agent_of_the_round_that_a_pause_cuts_off_is_told_with_its_weights_and_its_parents(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = cut_off(study(), store, "pause", 6, monkeypatch)[-1]
    assert isinstance(last, Paused)
    told = unpack(store.get(last.artifacts["arrived"])).arrays
    assert told["id"].tolist() == [4, 5]
    assert {4, 5} <= set(unpack(store.get(last.artifacts["parents"])).arrays["child"].tolist())
    assert all(files_of(store.get(last.artifacts["arrived_agents"]), agent) for agent in (4, 5))
    whole = results(list(run(study(), FolderStore(store.folder / "whole"))))
    again = results(list(run(study(), store, last.artifacts["checkpoint"])))
    assert again == whole
    assert "arrived_agents" not in whole


@pytest.mark.parametrize("rounds", [0, 1])
def test_who_came_back_before_a_pause_stays_where_a_stop_comes_before_it_comes_back_again(
    rounds: int, store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    paused = cut_off(study(), store, "pause", 4 * rounds + 2, monkeypatch)[-1]
    assert isinstance(paused, Paused)
    for lease in store.folder.glob("leases/*/*"):
        os.utime(lease, 2 * (time.time() - 2 * LEASE_S,))
    stopped = cut_off(study(), store, "stop", 0, monkeypatch, paused.artifacts["checkpoint"])[-1]
    assert isinstance(stopped, Stopped)
    assert unpack(store.get(stopped.artifacts["archive"])).arrays["id"].tolist() == list(range(4 * rounds + 2))
    assert stopped.counters.evaluations == paused.counters.evaluations
    assert stopped.counters.steps == paused.counters.steps
    assert files_of(store.get(stopped.artifacts["arrived_agents"]), 4 * rounds + 1)


def test_an_agent_that_could_not_be_trained_leaves_no_weights_and_the_search_goes_on(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = PlayerEvaluator._answer

    def fails(self: PlayerEvaluator, request: Request, should_stop: Any) -> Evaluation | None:
        if request.id == 1:
            raise EvaluationError("It breaks.")
        return answer(self, request, should_stop)

    monkeypatch.setattr(PlayerEvaluator, "_answer", fails)
    first = next(event for event in run(study(), store) if isinstance(event, Progressed))
    assert unpack(store.get(first.artifacts["agents"])).arrays["id"].tolist() == [0, 2, 3]


def test_both_ends_of_a_style_add_up_to_twice_the_score_and_the_weight(store: FolderStore) -> None:
    archive = unpack(store.get(results(list(run(study(), store)))["archive"]))
    score = archive.arrays["measure"][:, archive.meta["measures"].index("score")]
    np.testing.assert_allclose(archive.arrays["objective"].sum(axis=1), 2 * score + 1, atol=1e-12)


def test_score_and_behaviour_have_ranges_that_hold_their_means(store: FolderStore) -> None:
    archive = unpack(store.get(results(list(run(study(), store)))["archive"]))
    column = dict(zip(archive.meta["measures"], archive.arrays["measure"].T, strict=True))
    for name in ("score", "moved"):
        assert (column[f"{name}.low"] <= column[name]).all()
        assert (column[name] <= column[f"{name}.high"]).all()
        assert (column[f"{name}.low"] >= 0).all()
        assert (column[f"{name}.high"] <= 1).all()


@pytest.mark.parametrize("selection", [True, False])
def test_a_study_that_is_paused_and_resumed_ends_bit_for_bit_the_same(selection: bool, store: FolderStore) -> None:
    config = study(selection=selection)
    whole = results(list(run(config, store)))
    events: list[AnyEvent] = []
    for event in run(config, store, control=lambda: "pause" if len(events) > 1 else ""):
        events.append(event)
    assert isinstance(events[-1], Paused)
    again = results(list(run(config, store, events[-1].artifacts["checkpoint"])))
    assert again == whole


def test_a_study_ends_as_its_golden_file_says(store: FolderStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one machine and one set of wheels bit for bit; elsewhere by tolerance, as everything with torch."""
    round_ends(monkeypatch)
    archive = unpack(store.get(results(list(run(study(), store)))["archive"])).arrays
    found = {name: np.round(archive[name], 4).tolist() for name in ("id", "genome", "objective", "edge")}
    golden = json.loads(GOLDEN.read_text())
    assert found["id"] == golden["id"]
    np.testing.assert_allclose(found["genome"], golden["genome"], atol=1e-3)
    np.testing.assert_allclose(found["objective"], golden["objective"], atol=0.05)


def test_workers_that_do_not_wait_select_once_as_many_children_have_arrived(store: FolderStore) -> None:
    found = list(run(study(algorithm={"population": 4, "steady": True}), store))
    assert [event.tick for event in found if isinstance(event, Progressed)] == [1, 2, 3]
    assert len(unpack(store.get(results(found)["population"])).arrays["id"]) == 4


class _Space:
    """Numbers that carry a mark; the second half of a child is its mother's mark."""

    def __init__(self) -> None:
        from engine.problem import Breed, Capabilities

        self.can = Capabilities(Breed(lambda rng, mothers, fathers: mothers + rng.random(mothers.shape) * 1e-9, True))

    def sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.random((n, 1))

    def keys(self, genomes: Any) -> Any:
        return genomes[:, 0].view(np.uint64)


def algorithm(kind: type[EMOGI], costs: list[tuple[float, float]]) -> EMOGI:
    """An algorithm whose population has these costs, both minimised."""
    from engine.problem import Objective, Problem

    problem = Problem(_Space(), (Objective("a", "a", "min"), Objective("b", "b", "min")))
    made = kind(problem, len(costs), 5, 1)
    for request in made.ask(100):
        values = np.array(costs[request.id])
        made.tell(Evaluation(request.id, values, np.zeros((2, 2)), 1, np.empty(0)))
    return made


def test_the_network_is_that_of_the_parent_that_dominates_and_of_either_where_neither_does() -> None:
    made = algorithm(EMOGI, [(0, 3), (3, 0), (1, 1), (2, 2), (4, 4), (0.5, 2)])
    mothers, fathers = made._parents(4000)
    cost = made.P.cost if made.P else np.empty(0)
    beaten = (cost[fathers] <= cost[mothers]).all(axis=1) & (cost[fathers] < cost[mothers]).any(axis=1)
    assert not beaten.any()
    extremes = {tuple(row) for row in cost[np.unique(mothers)].tolist()}
    assert (0, 3) in extremes
    pair = {(0.0, 3.0), (3.0, 0.0)}
    handed = [tuple(cost[m]) for m, f in zip(mothers, fathers, strict=True) if {tuple(cost[m]), tuple(cost[f])} == pair]
    share = handed.count((0.0, 3.0)) / len(handed)
    assert len(handed) > 100
    assert abs(share - 0.5) < 4 * 0.5 / len(handed) ** 0.5


@pytest.mark.parametrize(
    ("name", "written"), [("reward.hit", "reward_hit"), ("pass", "pass_"), ("µ", "μ"), ("1st", "_1st")]
)
def test_every_signal_can_be_written_in_a_formula(name: str, written: str) -> None:
    values = {identifier(name): np.array([[3.0]])}
    assert identifier(name) == written
    assert formula_of(f"2 * {written}", [name, "score"], "style").evaluate(values) == 6


def test_a_name_that_stands_for_two_signals_is_refused_where_it_is_used() -> None:
    with pytest.raises(ConfigError, match=r"^style: hit_x stands for “hit x” and “hit-x”"):
        formula_of("hit_x + score", ["score", "hit x", "hit-x"], "style")
    assert formula_of("score", ["score", "hit x", "hit-x"], "style").names == {"score"}


def test_a_game_s_own_signal_called_time_is_the_one_that_is_meant(samples: preview.Samples) -> None:
    style = StyleReward(winning="hit", style="time", w2=1)
    own = samples._replace(signal_names=("time", *samples.signal_names[1:]))
    told = [value.per for value in preview.values(style, [], own) if value.name == "style"]
    assert told == [own.signals[own.player == i, 0].mean(dtype=float) for i in range(len(own.players))]


def test_the_control_draws_parents_and_survivors_uniformly() -> None:
    made = algorithm(Unselected, [(0, 0), (1, 1), (2, 2), (3, 3)])
    mothers, _ = made._parents(4000)
    assert np.bincount(mothers, minlength=4).min() > 850
    assert made.P is not None
    counts = np.zeros(4)
    for _ in range(2000):
        counts[made._survivors(made.P, 2)] += 1
    assert counts.min() > 850


def test_every_child_of_the_control_has_a_weight_of_its_own(store: FolderStore) -> None:
    quiet = {"population": 4, "crossover": 0, "mutation": 0}
    by_selection = {
        selection: unpack(
            store.get(results(list(run(study(selection=selection, algorithm=quiet), store)))["archive"])
        ).arrays["genome"]
        for selection in (True, False)
    }
    assert np.isin(by_selection[True][4:], by_selection[True][:4]).all()
    assert not np.isin(by_selection[False][4:], by_selection[False][:4]).any()


@given(st.integers(0, 2**32), st.floats(-2, 2), st.sampled_from(["2 * moved - 1", "moved * hit", "time + stayed"]))
def test_what_is_paid_is_the_formula_of_the_game_s_own_signals(seed: int, factor: float, text: str) -> None:
    """Returns of episodes are the sums of what was paid, and the game itself is played as ever."""
    names = ("score", "moved", "stayed", "hit")
    make = lambda: VectorPong(points=1, max_ticks=25, rewards=names)  # noqa: E731
    style = StyleReward(style=text, w1=0.5, w2=factor)
    plain, styled = make(), Styled(make(), style)
    seeds, sums = combine64(seed, np.arange(3, dtype=np.uint64)), np.zeros(3)
    plain.reset(seeds), styled.reset(seeds)
    rng, ticks = np.random.default_rng(seed), np.zeros(3)
    for _ in range(60):
        actions = [rng.integers(0, 3, 3)]
        own, paid = plain.step(actions), styled.step(actions)
        score, moved, stayed, hit = own.rewards[:, 0].T.astype(float)
        given = {"moved": moved, "stayed": stayed, "hit": hit, "time": ticks / 25}
        worth = {"2 * moved - 1": 2 * given["moved"] - 1, "moved * hit": given["moved"] * given["hit"]}
        expected = 0.5 * score + worth.get(text, given["time"] + given["stayed"]) * factor
        np.testing.assert_allclose(paid.rewards[:, 0, 0], expected, rtol=1e-5, atol=1e-6)
        sums, ticks = sums + paid.rewards[:, 0, 0], ticks + 1
        if paid.ended is not None and own.ended is not None:
            ended = paid.ended.battles
            np.testing.assert_allclose(paid.ended.returns[:, 0, 0], sums[ended], rtol=1e-4, atol=1e-4)
            np.testing.assert_array_equal(paid.ended.score, own.ended.score)
            sums[ended], ticks[ended] = 0, 0


def test_sample_episodes_are_the_same_every_time_and_survive_being_stored(samples: preview.Samples) -> None:
    wanted = with_signals(parse(TrainGame, PONG))
    game = VectorPong(rewards=wanted.settings["rewards"], points=1, max_ticks=40)
    assert sample(game, wanted, 1).pack() == samples.pack() == preview.Samples.unpack(samples.pack()).pack()
    assert samples.players == ("random", "pong-follower")
    assert samples.whose.tolist() == [0] * EPISODES + [1] * EPISODES
    assert sample(game, wanted, 2).pack() != samples.pack()


def test_a_reward_is_shown_with_its_value_on_sample_episodes_of_each_player(samples: preview.Samples) -> None:
    told = preview.values(parse(StyleReward, BUSY), study().objectives, samples)
    assert [(v.player, v.name) for v in told][:4] == [
        ("random", "winning"), ("random", "style"), ("random", "busy"), ("random", "calm"),
    ]  # fmt: skip
    moved = samples.signals[samples.player == 0][:, samples.signal_names.index("moved")]
    assert told[1].per == pytest.approx(float((2 * moved - 1).mean()), abs=1e-6)
    assert told[2].low <= told[2].per <= told[2].high
    assert told[2].per + told[3].per == pytest.approx(
        2 * samples.measures[samples.whose == 0, samples.measure_names.index("score")].mean() + 1
    )


@pytest.mark.parametrize(
    ("style", "place", "sentence"),
    [
        ({"style": "dealt", "w2": 1}, "task.style.style", "uses 'dealt', which is not known. Known: hit, moved, score"),
        ({"style": "moved / (1 - moved)", "w2": 1}, "task.style.style", "is not a number in"),
        ({"style": "moved - moved", "w2": 1}, "task.style.style", "is 0 in all"),
        ({"winning": "0 * score", "style": "moved", "w2": 1}, "task.style.winning", "is 0 in all"),
        (
            {"style": "moved * 1e15 ** 3", "w2": 1},
            "task.style.style",
            "is as large as 1e+45; 1,000,000,000 is the most",
        ),
        ({"style": "moved / 1e15 ** 4", "w2": 1}, "task.style.style", "is 0 in all"),
        ({"style": "moved.real", "w2": 1}, "task.style.style", "uses a dot, which is not allowed"),
    ],
)
def test_a_reward_that_cannot_be_learned_from_is_said_before_the_start(
    style: dict[str, Any], place: str, sentence: str, samples: preview.Samples, tmp_path: Path
) -> None:
    told = dict(preview.problems(parse(StyleReward, style), study().objectives, samples))
    assert sentence in told[place]
    assert f"{place}: " in failed(tmp_path, task=task(style=style))


def test_what_is_paid_beyond_the_samples_is_never_too_large_to_learn_from() -> None:
    game = Styled(
        VectorPong(points=1, max_ticks=25, rewards=("moved",)),
        StyleReward(winning="moved * 1e15 ** 3", style="moved", w1=1000, w2=1),
    )
    game.reset(np.arange(3, dtype=np.uint64))
    assert 0 < max(float(game.step([np.full(3, a)]).rewards.max()) for a in (0, 1, 2)) <= 1000 * preview.LARGEST + 1


def test_all_formulas_that_are_wrong_are_said_at_once(tmp_path: Path) -> None:
    goals = [{**GOALS[0], "formula": "score + ran"}, {**GOALS[1], "formula": "log1p(0 - 2 - score)"}]
    said = failed(tmp_path, task=task(style={"style": "dealt", "w2": 1}), objectives=goals)
    assert "task.style.style: The formula uses 'dealt'" in said
    assert "objectives.0.formula: The formula uses 'ran'" in said
    assert f"objectives.1.formula: is not a number in {2 * EPISODES} of {2 * EPISODES} sample episodes" in said


def test_a_goal_that_is_a_number_is_refused(tmp_path: Path) -> None:
    said = failed(tmp_path, objectives=[GOALS[0], {**GOALS[1], "formula": "1"}])
    assert "objectives.1.formula: The formula is the same number for all, so none is better than another" in said


@pytest.mark.parametrize(
    ("goals", "place", "sentence"),
    [
        ([("moved", "score + moved")], "objectives.0.measure", "the game has a measure of this name"),
        ([("none", "score * 0"), ("score", "")], "objectives.0.formula", "is 0 whatever happens"),
        ([("score", ""), ("b", "score")], "objectives.1.formula", "prefers the same episodes as “score”"),
        ([("score", ""), ("b", "2 * score**3 - 1")], "objectives.1.formula", "prefers the same episodes as “score”"),
        (
            [("a", "score + moved"), ("b", "2 * (moved + score) - 1")],
            "objectives.1.formula",
            "prefers the same episodes as “a”",
        ),
    ],
)
def test_a_goal_that_cannot_select_is_said_before_the_start(
    goals: list[tuple[str, str]], place: str, sentence: str, samples: preview.Samples, tmp_path: Path
) -> None:
    style = parse(StyleReward, {"style": "moved", "w2": 1})
    aims = [AimConfig.model_construct(measure=name, formula=formula) for name, formula in goals]
    said = dict(preview.problems(style, aims, samples))
    assert [*said] == [place]
    assert sentence in said[place]
    written = [{"measure": name, "formula": formula} for name, formula in [*goals, ("length", "")][:2]]
    assert f"{place}: " in failed(tmp_path, objectives=written)


@pytest.mark.parametrize(
    ("one", "other"),
    [("score + 0.0001 * moved", "score - 0.0001 * moved"), ("score", "score + 1e-7 * moved"), ("score", "score**2")],
)
def test_goals_that_nearly_agree_are_two(one: str, other: str, samples: preview.Samples) -> None:
    style = parse(StyleReward, {"style": "moved", "w2": 1})
    aims = [AimConfig(measure=name, formula=text) for name, text in (("a", one), ("b", other))]
    assert not preview.problems(style, aims, samples)
    assert not [*equal(aims, {})]


@pytest.mark.parametrize("formula", ["max(score, -15)", "min(score, -5)", "where(score > 0, 1, 0)"])
def test_a_goal_that_only_good_players_move_is_not_refused(formula: str, samples: preview.Samples) -> None:
    measures = samples.measures.copy()
    measures[:, samples.measure_names.index("score")] = -21  # who plays at random loses all alike
    style = parse(StyleReward, {"style": "moved", "w2": 1})
    aims = [AimConfig.model_construct(measure=n, formula=f) for n, f in (("score", ""), ("b", formula))]
    assert not preview.problems(style, aims, samples._replace(measures=measures))


def test_goals_that_differ_only_where_no_sample_episode_went_are_two(samples: preview.Samples) -> None:
    style = parse(StyleReward, {"style": "moved", "w2": 1})
    once = samples._replace(measures=np.repeat(samples.measures[:1], len(samples.measures), axis=0))
    aims = [AimConfig.model_construct(measure=n, formula=f) for n, f in (("a", "score"), ("b", "max(score, 0.5)"))]
    assert not [place for place, _ in preview.problems(style, aims, once) if place.startswith("objectives")]
    backwards = [aims[0], AimConfig.model_construct(measure="b", formula="score", direction="min")]
    assert not [place for place, _ in preview.problems(style, backwards, once) if place.startswith("objectives")]


def test_a_reward_that_names_no_signal_is_refused_where_no_sample_episode_ended(samples: preview.Samples) -> None:
    none = samples._replace(measures=samples.measures[:0], whose=samples.whose[:0])
    found = preview.problems(StyleReward(style="1", w2=1), [], none)
    assert found == [("task.style.style", preview.NAMES_NOTHING)]


def test_a_reward_in_which_winning_and_style_cancel_out_is_refused(samples: preview.Samples) -> None:
    goals = study().objectives
    for weights in ({"w1": 1, "w2": 1}, {"w1": 0.3, "w2": 0.3}):
        style = parse(StyleReward, {"winning": "moved", "style": "0 - moved", **weights})
        assert preview.problems(style, goals, samples) == [("task.style", preview.CANCELS)]
    for weights in ({"w1": 1, "w2": 0.9}, {"w1": 1, "w2": [0.5, 1]}, {"w1": 0, "w2": 1}):
        style = parse(StyleReward, {"winning": "moved", "style": "0 - moved", **weights})
        assert not preview.problems(style, goals, samples)


def lasting(samples: preview.Samples, *lengths: int) -> preview.Samples:
    """Random episodes of so many decisions each in which winning pays 1 for each and a player moves every second."""
    n = sum(lengths)
    ticks = np.concatenate([np.arange(length, dtype=np.int32) for length in lengths])
    columns = {"score": np.ones(n), "moved": ticks % 2, "stayed": (ticks + 1) % 2, "hit": np.zeros(n)}
    measures = np.zeros((len(lengths), len(samples.measure_names)))
    measures[:, samples.measure_names.index("score")] = lengths
    return samples._replace(
        players=("random",), ticks=ticks, player=np.zeros(n, np.int32), measures=measures,
        signals=np.stack([columns[name] for name in samples.signal_names], axis=1).astype(np.float32),
        episode=np.repeat(np.arange(len(lengths), dtype=np.int32), lengths), whose=np.zeros(len(lengths), np.int32),
    )  # fmt: skip


def test_a_reward_for_each_decision_is_refused_only_where_all_episodes_last_equally_long(
    samples: preview.Samples,
) -> None:
    style = parse(StyleReward, {"winning": "score", "style": "moved", "w2": 1})
    apart, alike = lasting(samples, 14, 35), lasting(samples, 14, 14)
    assert not preview.problems(style, [], apart), "who keeps the pole up longer is paid more"
    said = "is 1 in all 28 decisions of sample episodes (random): nothing can be learned from it"
    assert preview.problems(style, [], alike) == [("task.style.winning", said)]
    unended = alike._replace(measures=alike.measures[:1], whose=alike.whose[:1])
    assert not preview.problems(style, [], unended), "an episode that has not ended may last longer"
    nothing = parse(StyleReward, {"winning": "score - 1", "style": "moved", "w2": 1})
    assert "is 0 in all" in dict(preview.problems(nothing, [], apart))["task.style.winning"]


def test_winning_and_style_cancel_out_where_what_remains_is_nothing_or_the_same_for_every_episode(
    samples: preview.Samples,
) -> None:
    apart, alike = lasting(samples, 14, 35), lasting(samples, 14, 14)
    rest = parse(StyleReward, {"winning": "moved", "style": "1 - moved", "w1": 1, "w2": 1})
    assert not preview.problems(rest, [], apart), "1 for each decision is more in a longer episode"
    assert preview.problems(rest, [], alike) == [("task.style", preview.CANCELS)]
    for winning, style in (("moved", "0 - moved"), ("score", "0 - score")):
        none = parse(StyleReward, {"winning": winning, "style": style, "w1": 1, "w2": 1})
        assert preview.problems(none, [], apart) == [("task.style", preview.CANCELS)]


def test_a_reward_without_weight_may_be_constant(samples: preview.Samples) -> None:
    style = parse(StyleReward, {"winning": "0 * score", "style": "moved", "w1": 0, "w2": 1})
    assert not preview.problems(style, study().objectives, samples)


def test_settings_that_train_nobody_or_nothing_are_refused_at_their_fields() -> None:
    assert "one update takes 32 decisions" in refused(task=task(steps=31))["task.steps"]
    assert "0 decisions" in refused(task=task(steps=0))["task.steps"]
    assert "nothing is paid for" in refused(task=task(style={"style": "moved", "w1": 0, "w2": 0}))["task.style"]
    without = {name: value for name, value in task().items() if name != "style"}
    assert "say what is learned from" in refused(task=without)["task.style"]
    weighed = {**LEARNER, "rewards": {"style": {"weight": 2}}}
    assert "w1 and w2" in next(iter(refused(task=task(learner=weighed)).values()))
    assert "objectives" in refused(objectives=GOALS[:1])
    assert "another name" in next(
        iter(refused(objectives=[{"measure": "score", "formula": "moved"}, GOALS[1]]).values())
    )


def test_a_goal_may_not_take_the_name_of_a_measure_of_the_game(tmp_path: Path) -> None:
    goals = [{**GOALS[0], "measure": "moved"}, GOALS[1]]
    assert "objectives.0.measure: the game has a measure of this name" in failed(tmp_path, objectives=goals)


def test_a_style_says_which_signals_count_and_not_the_game_s_settings(tmp_path: Path) -> None:
    game = {"name": "pong", "settings": {"rewards": ["score"]}}
    assert "task.game.settings.rewards: a style learns from all signals" in failed(tmp_path, task=task(game=game))


def test_a_style_leaves_the_hash_of_other_studies_as_it_was() -> None:
    assert "style" not in parse(TaskConfig, {"game": "pong"}).model_dump()


@pytest.mark.parametrize("kind", ["ppo", "a3c", "impala", "dqn"])
def test_every_learner_learns_a_style(kind: str, tmp_path: Path) -> None:
    small = {"kind": kind, "fragment": 8, "network": {"policy": [8], "critic": [8]}}
    more = {"warmup": 16, "minibatch": 8} if kind == "dqn" else {"batch": 32}
    players = PlayerEvaluator(study(task=task(learner={**small, **more})), opened(FolderStore(tmp_path), "study"))
    genome = players.initialize(np.random.default_rng(1))
    (answer,) = players.evaluate([Request(0, genome, 0, 4, 3)], lambda: False)
    assert answer.status == "ok"
    assert np.isfinite(answer.objectives).all()
    players.close()


def test_agents_begin_with_a_trained_policy_and_a_little_noise(store: FolderStore) -> None:
    learned = {"kind": "train", "game": PONG, "learner": LEARNER, "steps": 64, "samplers": 1, "environments": 4,
               "episodes": 2, "pool": {"kind": "local"}}  # fmt: skip
    *_, last = run(load(learned), store)
    assert isinstance(last, Finished)
    policy = Policy.stored(store, last.artifacts["policy_description"])
    theirs = policy.spec.model().tensors(policy.weights)
    left = results(list(run(study(start=last.artifacts["policy_description"], ticks=1), store)))
    kept = unpack(store.get(left["policies"]))
    assert len(kept.arrays["id"])
    fresh = study(start=last.artifacts["policy_description"], start_noise=0.0)
    from engine.evorl.problem import played, problem_of
    from engine.evorl.space import Start

    game = played(fresh.task.model_copy(update={"style": parse(StyleReward, {**BUSY, "w2": 1})}), 1)
    for noise in (0.0, 0.005):
        _, space = problem_of(fresh, game, store, Start(policy, noise))
        rows = space.sample(np.random.default_rng(1), 200)
        mine = [space.spec.model().tensors(np.asarray(space.network(row))) for row in rows]
        gaps = np.array([tensors["policy.0.weight"] - theirs["policy.0.weight"] for tensors in mine])
        assert gaps.std() == pytest.approx(noise, rel=0.05, abs=1e-9)


def test_a_policy_that_does_not_fit_is_refused_where_it_is_named(tmp_path: Path, store: FolderStore) -> None:
    learned = {"kind": "train", "game": PONG, "learner": {**LEARNER, "network": {"policy": [64], "critic": [64]}},
               "steps": 64, "samplers": 1, "environments": 4, "episodes": 2, "pool": {"kind": "local"}}  # fmt: skip
    *_, last = run(load(learned), store)
    assert isinstance(last, Finished)
    (said,) = run(study(start=last.artifacts["policy_description"]), store)
    assert isinstance(said, Failed)
    assert "start: its layers of the policy have 64 units, and here " in said.message
    assert "start: " in failed(tmp_path / "other", start="ab" * 32)


def test_of_more_agents_than_are_kept_those_of_every_second_round_are(store: FolderStore) -> None:
    found = list(run(study(kept=8, ticks=4), store))
    has = [event.tick for event in found if isinstance(event, Progressed) and "agents" in event.artifacts]
    assert has == [2, 4]


def test_a_game_offers_the_styles_whose_signals_it_has() -> None:
    assert [t.key for t in offered(("score", "moved", "stayed", "hit"), ("score", "moved"))] == ["busy-calm"]
    told = {name for template in TEMPLATES.values() for name in (*template.needs, *template.measures)}
    assert [t.key for t in offered(told, told)] == list(TEMPLATES)
    assert not list(offered((), ()))


@pytest.mark.parametrize("key", TEMPLATES)
def test_every_template_is_a_study_and_its_formulas_use_what_it_says_it_needs(key: str) -> None:
    template = TEMPLATES[key]
    given = template.settings()
    config = study(
        task=task(style=given["task"]["style"]), objectives=given["objectives"], behaviour=given["behaviour"]
    )
    assert config.task.style is not None
    shares = np.linspace(0, 1, 7)
    told = {name: shares for name in (*template.needs, *template.measures)}
    n = len(shares)
    made = preview.Samples(
        ("random",), template.needs, ("score", *template.measures), 10, np.stack([told[x] for x in template.needs], 1),
        np.arange(n, dtype=np.int32), np.zeros(n, np.int32), np.arange(n, dtype=np.int32),
        np.stack([shares, *(told[x] for x in template.measures)], 1), np.zeros(n, np.int32),
    )  # fmt: skip
    assert not preview.problems(config.task.style, config.objectives, made)


def test_sample_episodes_are_a_study_of_their_own(store: FolderStore) -> None:
    config = load({"kind": "episodes", "game": PONG})
    first, second = (list(run(config, store))[-1] for _ in range(2))
    assert isinstance(first, Finished)
    assert isinstance(second, Finished)
    assert first.artifacts == second.artifacts
    told = preview.Samples.unpack(store.get(first.artifacts["samples"]))
    assert told.signal_names == ("score", "moved", "stayed", "hit")
    with pytest.raises(ConfigError, match="give a number"):
        load({"kind": "episodes", "game": {"name": "pong", "settings": {"points": [1, 3]}}})


def test_one_agent_is_taken_out_as_the_files_of_its_policy_and_parents_lead_back_to_the_first_round(
    store: FolderStore,
) -> None:
    rounds = [event for event in run(study(), store) if isinstance(event, Progressed)]
    data = store.get(rounds[-1].artifacts["agents"])
    for number, policy in apart(data):
        found = files_of(data, number)
        assert found is not None
        assert tuple(found) == policy.pack()
    assert files_of(data, 0) is None, "an agent of another round"
    parents = unpack(store.get(rounds[-1].artifacts["parents"])).arrays
    assert parents["child"].tolist() == list(range(4, 12)), "everybody but the first round has parents"
    born_later = parents["child"][:, None] // 4 > np.stack([parents["mother"], parents["father"]], axis=1) // 4
    assert born_later.all()
