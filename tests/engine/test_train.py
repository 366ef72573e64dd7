"""Training studies in one process: rounds, stop, pause, kill, resume, staleness, and errors that name the field."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.bench.trust import examinations
from engine.catalog import LEARNERS
from engine.cli import main
from engine.config import TrainConfig
from engine.config.rl import PRESETS, TrainingConfig
from engine.errors import ConfigError
from engine.events import AnyEvent, Failed, Finished, Logged, Paused, Progressed, Started, Stopped, decode
from engine.means import range_of
from engine.rl.collector import Arrival, pack, unpack
from engine.rl.examine import Examination, examine
from engine.rl.gradient import Gradient
from engine.rl.policy import Policy
from engine.rl.sampler import Episode
from engine.rl.td3 import TD3
from engine.rl.training import Training
from engine.simulators.conversation import SimulatorLimits
from engine.simulators.references import make
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from engine.study.curve import Curve, PolicyCurve, policy_curve, too_short
from tests.engine.rounds_told import curve

HOME = Path(__file__).parents[2]


def settings(**more: Any) -> dict[str, Any]:
    """A study of four rounds, two updates each, that takes a second."""
    small = {"policy": [16], "critic": [16]}
    learner = {"kind": "ppo", "batch": 128, "fragment": 16, "minibatch": 64, "network": small}
    game = {"name": "pong", "settings": {"points": 1, "max_ticks": 60}}
    return {
        "kind": "train", "game": game, "learner": learner, "steps": 1024, "samplers": 2, "environments": 4,
        "checkpoint_every": 256, "evaluate_every": 2, "episodes": 4, "pool": {"kind": "local"}, **more,
    }  # fmt: skip


def study(**more: Any) -> TrainConfig:
    config = load(settings(**more))
    assert isinstance(config, TrainConfig)
    return config


def events(config: TrainConfig, store: FolderStore, **more: Any) -> list[AnyEvent]:
    return list(run(config, store, **more))


def test_a_study_tells_its_rounds_and_leaves_a_policy_with_its_graph(store: FolderStore) -> None:
    found = events(study(), store)
    assert isinstance(found[0], Started)
    assert found[0].ticks == 4
    rounds = [e for e in found if isinstance(e, Progressed)]
    assert [e.tick for e in rounds] == [1, 2, 3, 4]
    assert [e.counters.steps for e in rounds] == [256, 512, 768, 1024]
    assert all(e.metrics["staleness_mean"] == e.metrics["staleness_max"] == 1 for e in rounds)
    assert ["evaluation_return" in e.metrics for e in rounds] == [False, True, False, True]
    last = rounds[-1].metrics
    assert last["evaluation_win_low"] <= last["evaluation_win"] <= last["evaluation_win_high"]
    assert {"return", "score", "steps_per_second", "updates"} <= last.keys()
    end = found[-1]
    assert isinstance(end, Finished)
    assert set(end.artifacts) == {"policy", "policy_description", "onnx", "checkpoint"}
    policy = Policy.unpack(store.get(end.artifacts["policy_description"]), store.get(end.artifacts["policy"]))
    assert policy.version == 8


def test_one_sampler_in_step_is_the_training_loop_of_one_process(store: FolderStore) -> None:
    config = study(samplers=1, episodes=2)
    found = events(config, store)
    game = make(config.game, 4)
    learner = LEARNERS["ppo"].load()(game.spec.seats[0], config.learner, config.seed, config.steps)
    plan = TrainingConfig(algorithm=config.learner, steps=1024, environments=4, checkpoint_every=256, episodes=0)
    list(Training(plan, game, learner).run())
    end = found[-1]
    assert isinstance(end, Finished)
    policy = Policy.unpack(store.get(end.artifacts["policy_description"]), store.get(end.artifacts["policy"]))
    np.testing.assert_array_equal(policy.weights, learner.weights())


def test_the_clock_ends_a_study_with_a_whole_round_and_its_evaluation(store: FolderStore) -> None:
    found = events(study(steps=10**9, minutes=1e-9, evaluate_every=0), store)
    rounds = [e for e in found if isinstance(e, Progressed)]
    assert [e.tick for e in rounds] == [1]
    assert "evaluation_return" in rounds[0].metrics
    assert isinstance(found[-1], Finished)
    again = events(study(steps=10**9, minutes=1e-9, evaluate_every=0), store, resume=rounds[0].artifacts["checkpoint"])
    assert [type(e) for e in again] == [Started, Finished]


def test_an_evaluation_whose_episodes_came_out_equal_has_no_range() -> None:
    """All equal says nothing of the next one; wins have ends, so their count says how many losses there may be."""
    nothing = np.zeros((50, 0))
    found = Examination(np.full((50, 1), 123456.7), np.full(50, np.nan), np.ones(50), nothing, np.full(50, 9))
    curve = PolicyCurve(("score",), (1.0,), ())
    curve.examined({"": found})
    told = curve.evaluation
    assert told == {"evaluation_return": pytest.approx(123456.7), "evaluation_win": 1.0,
                    "evaluation_win_low": told["evaluation_win_low"], "evaluation_win_high": 1.0}  # fmt: skip
    assert 0.8 < told["evaluation_win_low"] < 0.95
    assert 30 < found.mean(np.arange(50.0))[1].high < 36


def test_the_range_of_an_evaluation_stops_at_a_return_that_no_episode_is_below() -> None:
    returns = np.array([9.0, 30.0, 41.0, 290.0, 150.0, 77.0, 310.0, 12.0])
    found = Examination(returns[:, None], returns, np.full(8, np.nan), np.zeros((8, 0)), np.full(8, 9))
    lows = []
    for weight, least in ((1.0, 0.0), (1.0, -np.inf), (-1.0, 0.0)):
        curve = PolicyCurve(("score",), (weight,), (), least)
        curve.examined({"": found})
        lows.append(curve.evaluation["evaluation_return_low"])
    assert lows[0] >= 0 > lows[1]
    assert lows[2] < -returns.mean()


@pytest.mark.parametrize("command", ["stop", "pause"])
def test_a_command_ends_a_long_update_between_two_minibatches(
    command: str, store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With many battles an update has hundreds of minibatches, and a site ends who does not answer for long."""
    made, learn = [0], TD3._minibatch

    def counted(learner: TD3) -> Any:
        made[0] += 1
        return learn(learner)

    monkeypatch.setattr(TD3, "_minibatch", counted)
    small = {"network": {"policy": [8], "critic": [8]}, "warmup": 64, "minibatch": 8, "fragment": 64}
    config = study(game="gym:Pendulum-v1", learner={"kind": "td3", **small}, environments=8, steps=1024)
    *_, last = run(config, store, control=lambda: command if made[0] >= 20 else "")
    assert made[0] == 20
    assert isinstance(last, Stopped if command == "stop" else Paused)
    monkeypatch.setattr(TD3, "_minibatch", learn)
    again = list(run(config, store, last.artifacts["checkpoint"]))
    whole = list(run(config, store))
    assert isinstance(again[-1], Finished)
    assert isinstance(whole[-1], Finished)
    assert again[-1].artifacts["policy"] == whole[-1].artifacts["policy"], "in step, it goes on as if nothing had been"


def test_no_range_of_a_game_whose_rules_say_how_far_returns_go_goes_beyond_them() -> None:
    """A pendulum that swings up at once in some episodes: the range of their mean may not go above what is possible."""
    found = Examination(-np.array([0.0, 0.1, 0.1, 240.0, 120.0, 0.2] * 4)[:, None], *[np.full(24, np.nan)] * 2,
                        np.zeros((24, 0)), np.full(24, 200))  # fmt: skip
    config = study(game="gym:Pendulum-v1", learner="pendulum-td3")
    seat = make(config.game, 1).spec.seats[0]
    curve = policy_curve(config.game, config.learner, seat, 200)
    curve.examined({"": found})
    assert curve.evaluation["evaluation_return_high"] <= 0
    assert curve.evaluation["evaluation_return_low"] < -60


@pytest.mark.parametrize("episodes", examinations.EPISODES)
@pytest.mark.parametrize("case", examinations.CASES)
def test_an_evaluation_s_range_holds_or_is_not_told(case: str, episodes: int) -> None:
    """Wins of 5 % were outside Student's range in 36 % of evaluations of 20 episodes, scores of 0 and 1 likewise."""
    wrong = [examinations.examined(case, np.random.default_rng(seed), episodes)[0] for seed in range(300)]
    assert np.mean(wrong) <= 0.05 + 3 * (0.05 * 0.95 / 300) ** 0.5


def test_scores_that_take_few_values_have_no_range_as_nobody_says_their_ends() -> None:
    assert range_of((np.arange(100) < 5) * 1.0) == (-np.inf, np.inf)
    assert range_of(np.full(100, 3.0)) == (-np.inf, np.inf)
    known = range_of((np.arange(100) < 5) * 1.0, 0.0, 1.0)
    assert 0 < known.low < 0.05 < known.high < 0.2


def test_an_evaluation_tells_each_named_reward(store: FolderStore) -> None:
    game = {"name": "pong", "settings": {"points": 1, "max_ticks": 60, "rewards": ["score", "hit"]}}
    last = [e for e in events(study(game=game), store) if isinstance(e, Progressed)][-1].metrics
    for name in ("return_score", "return_hit"):
        mean = last[f"evaluation_{name}"]
        low, high = (last.get(f"evaluation_{name}{end}", mean) for end in ("_low", "_high"))
        assert low <= mean <= high
    assert last["evaluation_return"] == pytest.approx(last["evaluation_return_score"] + last["evaluation_return_hit"])


@pytest.mark.parametrize("sampling", ["synchronous", "asynchronous"])
def test_the_same_study_gives_the_same_curve(store: FolderStore, sampling: str) -> None:
    one = curve(events(study(sampling=sampling), store))
    assert len(one) == 4
    assert curve(events(study(sampling=sampling), store)) == one
    assert curve(events(study(sampling=sampling, seed=2), store)) != one


def test_asynchronous_samples_are_older_and_never_older_than_allowed(store: FolderStore) -> None:
    rounds = [e for e in events(study(sampling="asynchronous"), store) if isinstance(e, Progressed)]
    assert max(e.metrics["staleness_max"] for e in rounds) == 2
    assert rounds[-1].metrics["dropped"] == 0
    strict = [e for e in events(study(sampling="asynchronous", max_staleness=1), store) if isinstance(e, Progressed)]
    assert {e.metrics["staleness_max"] for e in strict} == {1.0}
    assert strict[-1].metrics["dropped"] > 0


def asynchronous_a3c(**more: Any) -> TrainConfig:
    network = {"policy": [16], "critic": [16]}
    learner = {"kind": "a3c", "fragment": 8, "network": network, **more.pop("learner", {})}
    return study(sampling="asynchronous", learner=learner, **more)


def test_asynchronous_a3c_computes_its_gradients_in_the_samplers(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("engine.rl.a3c.A3C._learn")
    one = events(asynchronous_a3c(), store)
    rounds = [e for e in one if isinstance(e, Progressed)]
    assert isinstance(one[-1], Finished)
    assert [e.counters.steps for e in rounds] == [256, 512, 768, 1024]
    assert rounds[-1].metrics["updates"] == 1024 / (4 * 8), "one for each fragment of a sampler's four battles"
    assert max(e.metrics["staleness_max"] for e in rounds) == 3, "two samplers, each a fragment ahead"
    assert {"policy_loss", "entropy", "gradient", "return"} <= rounds[-1].metrics.keys()
    assert curve(events(asynchronous_a3c(), store)) == curve(one)
    strict = [e for e in events(asynchronous_a3c(max_staleness=2), store) if isinstance(e, Progressed)]
    assert max(e.metrics["staleness_max"] for e in strict) == 2
    assert strict[-1].metrics["dropped"] > 0


def test_a_gradient_survives_its_journey() -> None:
    work = Gradient(np.arange(5, dtype=np.float32), 7, 40, {"entropy": 0.5})
    episode = Episode(0, 2**64 - 1, 9, np.array([1.5]), float("nan"), 2.0, np.empty(0), "left", ("right", "bot"))
    frames = pack(Arrival(-1, "left", 1, 6, 2, work, [episode], 0.25))
    again = unpack(3, [memoryview(bytes(frame)) for frame in frames])
    assert (again.number, again.policy, again.epoch, again.version) == (3, "left", 1, 6)
    assert (again.place, again.seconds) == (2, 0.25)
    assert isinstance(again.work, Gradient)
    np.testing.assert_array_equal(again.work.numbers, work.numbers)
    assert again.work[1:] == work[1:]
    assert again.work.oldest == 7
    np.testing.assert_equal(again.episodes, [episode])


def control(command: str, after: int) -> Callable[[], str]:
    """Commands it at the ``after``-th time it is asked."""
    asked = 0

    def ask() -> str:
        nonlocal asked
        asked += 1
        return command if asked >= after else ""

    return ask


STEERING = {"fragment": 16, "minibatch": 16, "warmup": 100, "capacity": 500, "updates": 0.25}
"""Settings of TD3 and SAC for a study of a second."""


def test_returns_of_more_steps_than_a_fragment_has_are_refused() -> None:
    """A return ends with its fragment: of one decision each, five steps were one, without a word."""
    learner = {"kind": "td3", **STEERING, "fragment": 1, "n_step": 5}
    with pytest.raises(ConfigError, match=r"learner\.n_step: a return ends with its fragment, which has 1"):
        study(game="gym:Pendulum-v1", learner=learner)
    study(game="gym:Pendulum-v1", learner={**learner, "fragment": 5})


def test_without_waiting_a_learner_with_a_replay_drops_nothing(store: FolderStore) -> None:
    """It learns from old data anyway; with small fragments nineteen of twenty were thrown away."""
    settings = {"sampling": "asynchronous", "max_staleness": 1, "samplers": 4, "environments": 2}
    config = study(game="gym:Pendulum-v1", learner={"kind": "td3", **STEERING, "updates": 1.0}, **settings)
    rounds = [e for e in events(config, store) if isinstance(e, Progressed)]
    assert rounds[-1].metrics["dropped"] == 0
    assert rounds[-1].metrics["staleness_max"] > 1


def test_time_that_passed_until_a_sampler_was_lost_still_counts() -> None:
    curve = Curve({"agent": PolicyCurve(("reward",), [1.0], ())})
    saved = curve.state()
    curve.began -= 30
    curve.lost = 2
    curve.go_back(lambda: curve.load(saved))
    assert (curve.lost, round(curve.counters(0).seconds)) == (2, 30)


@pytest.mark.parametrize("kind", ["ppo", "a3c", "impala", "dqn", "td3", "sac"])
def test_a_study_that_was_paused_anywhere_goes_on_with_the_same_curve(store: FolderStore, kind: str) -> None:
    replayed = {"warmup": 100, "capacity": 500}
    own = {"dqn": replayed, "td3": STEERING, "sac": STEERING}.get(kind, {"batch": 128})
    small = {"policy": [16], "critic": [16]}
    config = study(learner={"kind": kind, "fragment": 16, "network": small, "scale_rewards": kind == "ppo",
                            "normalise_observations": True, **own},
                   **({"game": "pendulum"} if own is STEERING else {}))  # fmt: skip
    whole = curve(events(config, store))
    before = events(config, store, control=control("pause", random.Random(kind).randint(3, 14)))
    end = before[-1]
    assert isinstance(end, Paused)
    after = events(config, store, resume=end.artifacts["checkpoint"])
    assert isinstance(after[0], Started)
    assert after[0].resumed
    assert curve(before) + curve(after) == whole


@pytest.mark.parametrize("evaluation", [1, 2])
def test_a_command_interrupts_an_evaluation_and_going_on_repeats_it(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch, evaluation: int
) -> None:
    """The second is the last one of all."""
    whole, begun = curve(events(study(), store)), 0

    def counted(*args: Any, **more: Any) -> dict[int, Examination]:
        nonlocal begun
        begun += 1
        return examine(*args, **more)

    monkeypatch.setattr("engine.study.evaluation.examine", counted)
    before = events(study(), store, control=lambda: "pause" if begun == evaluation else "")
    end = before[-1]
    assert isinstance(end, Paused)
    assert [tick for tick, *_ in curve(before)] == [1, 2, 3][: 2 * evaluation - 1]
    again = events(study(), store, resume=end.artifacts["checkpoint"], control=lambda: "pause")
    assert isinstance(again[-1], Paused)
    assert [end.tick, again[0].tick, again[-1].tick] == [curve(before)[-1][0] if curve(before) else 0] * 3
    after = events(study(), store, resume=again[-1].artifacts["checkpoint"])
    assert curve(before) + curve(again) + curve(after) == whole


def test_a_stop_within_an_evaluation_leaves_a_training_after_the_last_round_that_it_told(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    monkeypatch.setattr("engine.study.train.evaluate", lambda *_: begun.append(1))
    found = events(study(evaluate_every=2), store, control=lambda: "stop" if begun else "")
    assert isinstance(found[-1], Stopped)
    assert [tick for tick, *_ in curve(found)] == [1]
    assert found[-1].tick == 1, "the second is evaluated"


def test_rounds_of_no_given_length_last_several_episodes_of_every_battle(store: FolderStore) -> None:
    """In step battles begin afresh at a round's end: where that would cut every episode, none would ever be counted."""
    config = study(steps=9600, checkpoint_every=0, evaluate_every=0)
    assert config.every == 240, "30 decisions a battle, of episodes of up to 60"
    told = events(config, store)
    assert not [e for e in told if isinstance(e, Logged) and e.message], "nothing to warn of"
    found = [e for e in told if isinstance(e, Progressed)]
    played = np.diff([0, *(e.metrics["episodes"] for e in found)])
    assert len(found) >= 3
    assert (played[:-1] >= 24).all()
    whole = curve(found)
    after = curve(events(config, store, resume=found[1].artifacts["checkpoint"]))
    assert whole[:2] + after == whole


@pytest.mark.parametrize("sampling", ["synchronous", "asynchronous"])
def test_rounds_too_short_for_an_episode_are_said_to_be(store: FolderStore, sampling: str) -> None:
    """Only in step, where battles begin afresh at a round's end."""
    game = {"name": "pong", "settings": {"points": 21, "max_ticks": 600}}
    found = events(study(game=game, sampling=sampling, steps=512, evaluate_every=0, episodes=2), store)
    assert not any("return" in e.metrics for e in found if isinstance(e, Progressed))
    said = [e.message for e in found if isinstance(e, Logged) and e.message]
    if sampling == "asynchronous":
        assert not said
        return
    (message,) = said
    assert "No episode ended in this round" in message
    assert "32 decisions of each were too few" in message
    assert "Make rounds longer, now 256 decisions: several episodes of all 8 battles, 4,800 decisions or" in message


def test_what_a_training_without_a_whole_episode_says_has_no_names_of_settings() -> None:
    for every, advice in (
        (0, "longer, which a longer training does: several"),
        (256, "longer, now 256 decisions: several"),
    ):
        said = too_short(study(checkpoint_every=every), 512, 0)
        assert advice in said
        assert "_" not in said
    assert "now 256 minibatches: several" in too_short(study(checkpoint_every=256), 512, 0, "actors", "minibatches")


def test_a_training_of_both_seats_counts_decisions_of_each_and_needs_twice_as_many_in_a_round() -> None:
    sides = {"left": {"seats": [0]}, "right": {"seats": [1]}}
    both = study(game="pong-two-seats", policies=sides, samplers=2, environments=32)
    said = too_short(both, 163_840, 6_000)
    assert "1,280 decisions of each of their 2 seats were too few" in said
    assert "several episodes of all 64 battles, 768,000 decisions or more (an episode can last 6,000)" in said


@pytest.mark.usefixtures("played_here")
@pytest.mark.parametrize("kind", [kind for kind, entry in LEARNERS.items() if "discrete" in entry.config.actions])
@pytest.mark.parametrize("sampling", ["synchronous", "asynchronous"])
def test_updates_with_nothing_to_learn_from_are_said_once_and_counted(
    store: FolderStore, kind: str, sampling: str
) -> None:
    learner = {"kind": kind, "fragment": 16, "network": {"policy": [16], "critic": [16]}}
    small = {"batch": 128, "warmup": 16, "minibatch": 16}
    learner |= {name: value for name, value in small.items() if name in LEARNERS[kind].config.model_fields}
    game = "python:tests.engine.train_games:Absent"
    config = study(game=game, learner=learner, sampling=sampling, steps=320, checkpoint_every=0, evaluate_every=0)
    found = events(config, store)
    finished = found[-1]
    assert isinstance(finished, Finished), finished
    (message,) = [e.message for e in found if isinstance(e, Logged) and "skipped" in e.message]
    assert "the agent was out of its battle" in message
    assert finished.summary["skipped"] > 1
    assert finished.counters.steps >= 320
    assert np.isfinite(
        Policy.unpack(*(store.get(finished.artifacts[k]) for k in ("policy_description", "policy"))).weights
    ).all()


def test_a_training_without_anything_to_learn_from_ends_with_a_sentence(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.rl.learner.IDLE", 20)
    failed = events(study(game="python:tests.engine.train_games:Gone"), store)[-1]
    assert isinstance(failed, Failed)
    assert "out of its battle in 20 batches in a row" in failed.message
    assert failed.permanent


def test_a_stop_keeps_what_was_learned(store: FolderStore) -> None:
    found = events(study(), store, control=control("stop", 8))
    end = found[-1]
    assert isinstance(end, Stopped)
    assert {"policy", "onnx", "checkpoint"} <= end.artifacts.keys()
    assert 0 < end.counters.steps < 1024


@pytest.mark.parametrize("sampling", ["synchronous", "asynchronous"])
def test_a_pause_tells_what_is_kept_and_going_on_begins_there(store: FolderStore, sampling: str) -> None:
    """In step that is the last round; otherwise all that was learned."""
    found = events(study(sampling=sampling), store, control=control("pause", 8))
    end, rounds = found[-1], [e for e in found if isinstance(e, Progressed)]
    assert isinstance(end, Paused)
    again = events(study(sampling=sampling), store, resume=end.artifacts["checkpoint"], control=lambda: "pause")
    assert again[0].counters.steps == end.counters.steps
    learned = max(e.counters.steps for e in found)
    said = [e.message for e in found if isinstance(e, Logged) and e.message]
    if sampling == "asynchronous":
        assert end.counters.steps == learned > rounds[-1].counters.steps
        assert not said
    else:
        assert end.counters.steps == rounds[-1].counters.steps
        assert "goes on from its last round" in said[-1]


def test_a_checkpoint_of_another_study_is_refused(store: FolderStore) -> None:
    end = events(study(), store, control=control("pause", 8))[-1]
    assert isinstance(end, Paused)
    (failed,) = events(study(seed=2), store, resume=end.artifacts["checkpoint"])
    assert isinstance(failed, Failed)
    assert "other settings" in failed.message


def test_a_killed_study_goes_on_from_the_command_line_with_the_same_curve(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = settings(steps=6_400, evaluate_every=0, episodes=2)
    config, folder = load(data), tmp_path / "job"
    assert isinstance(config, TrainConfig)
    (tmp_path / "study.yaml").write_text(json.dumps(data))
    rounds = random.Random(7).randint(5, 20)
    command = [sys.executable, "-m", "engine"]
    first = subprocess.Popen([*command, "run", str(tmp_path / "study.yaml"), "--job-dir", str(folder)], cwd=HOME,
                             stdout=subprocess.PIPE, text=True)  # fmt: skip
    assert first.stdout
    told = next(line for line in first.stdout if f"round {rounds}:" in line)
    assert "decisions" in told
    first.kill()
    first.stdout.close()
    assert first.wait() == -signal.SIGKILL
    subprocess.run([*command, "resume", str(folder)], cwd=HOME, check=True, capture_output=True)
    found = [decode(line) for line in lines(folder / "events.jsonl")]
    assert isinstance(found[-1], Finished)
    rest = {tick: tuple(row) for tick, *row in curve(found)}
    whole = curve(events(config, FolderStore(tmp_path / "whole")))
    assert {tick: tuple(row) for tick, *row in whole} == rest
    saved = [event.artifacts["checkpoint"] for event in found if getattr(event, "artifacts", {}).get("checkpoint")]
    store, newest = FolderStore(folder / "store"), list(dict.fromkeys(saved))[-2:]
    assert len(set(saved)) > 5
    assert [digest for digest in dict.fromkeys(saved) if store.has(digest)] == newest, "each may be very large"
    capsys.readouterr()
    assert main(["list", str(tmp_path)]) == 0
    listed = capsys.readouterr().out
    assert "finished" in listed
    assert "6,400 decisions" in listed


def lines(path: Path) -> Iterator[bytes]:
    """The whole lines of a file whose last one may be torn."""
    for line in path.read_bytes().splitlines():
        if line.endswith(b"}"):
            yield line


@pytest.mark.parametrize(
    ("rate", "said"), [("abc", "must be a number"), ([0.1, 0.001], "must be one number: this is one")]
)
def test_a_training_is_offered_no_range(rate: Any, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        study(learner={"kind": "ppo", "rate": rate})
    ((place, message),) = caught.value.problems
    assert place == "learner.rate"
    assert message.startswith(said)
    assert "range" not in message


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"lerning": 1}, "lerning"),
        ({"steps": 0}, "steps"),
        ({"samplers": 0}, "samplers"),
        ({"learner": {"kind": "ppo", "clip": 2.0}}, "learner.clip"),
        ({"learner": {"kind": "ppo", "speed": 2.0}}, "learner.speed"),
        ({"learner": {"kind": "sarsa"}}, "learner"),
        ({"learner": "no-such-preset"}, "learner"),
        ({"pool": {"kind": "moon"}}, "pool.kind"),
        ({"game": {"name": "pong", "colour": "red"}}, "game.colour"),
        ({"game": {"name": "pong", "settings": {"points": 0}}}, "game.settings.points"),
        ({"game": {"name": "builtin:image-pong", "settings": {"frames": "many"}}}, "game.settings.frames"),
        ({"game": {"name": "pong", "settings": {"rewards": ["score"] * 1000}}}, "game.settings.rewards"),
        ({"game": {"name": "connect-four", "settings": {"opening": 7}}}, "game.settings.opening"),
        (
            {"sampling": "asynchronous", "learner": {"kind": "a3c", "normalise_observations": True}},
            "learner.normalise_observations",
        ),
    ],
)
def test_a_bad_setting_is_named_when_it_is_read(change: dict[str, Any], place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(settings(**change))
    assert place in [problem.place for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"game": "gym:Pendulum-v1", "learner": {"kind": "dqn"}}, "learner.kind: DQN needs a single choice"),
        ({"learner": {"kind": "td3", "warmup": 100}}, "learner.kind: TD3 needs numbers as action"),
        ({"learner": {"kind": "sac", "warmup": 100}}, "learner.kind: SAC needs numbers as action"),
        (
            {"game": "platform", "learner": {"kind": "dqn"}},
            "learner.kind: DQN needs a single choice as action, and here it is a choice with numbers of its own",
        ),
        ({"learner": {"kind": "dqn", "network": {"policy": [8], "critic": [8], "lstm": 4}}}, "learner.network.lstm"),
        ({"learner": {"kind": "ppo", "network": {"conv": [{}]}}}, "learner.network.conv"),
        ({"learner": {"kind": "ppo", "rewards": {"beauty": {}}}}, "learner.rewards.beauty: the game gives no such"),
        (
            {"game": "chess"},
            "game.name: there is no game 'chess'. There are pong, pong-two-seats, image-pong, commanders, "
            "commanders-two-seats, rock-paper-scissors, connect-four, maze, navigation, navigation-choices, tanks, "
            "tanks-two-teams, image-tanks, image-tanks-two-teams, platform, goal, half-field, half-field-keeper, "
            "atari-pong, atari-pong-pictures, vector-pong, cartpole, pendulum, gym:ID",
        ),
        ({"game": "cart-pole"}, "game.name: there is no game 'cart-pole'. The nearest names: cartpole"),
        ({"game": "gym:"}, "game.name: there is no game 'gym:'"),
        ({"game": "gym:NoSuchGame-v3"}, "game.name: Gymnasium has no 'NoSuchGame-v3'"),
        ({"game": {"name": "ale:pong", "settings": {"speed": 3}}}, "game.settings.speed: there is no such setting"),
        ({"game": "python:no_such_module:game"}, "game.name: The game “no_such_module:game” cannot begin: no_such_mod"),
        ({"game": "python:tests.engine.sample_factories:nobody"}, "has no attribute 'nobody'"),
        ({"game": "python:tests.engine.sample_factories:raising"}, "RuntimeError: the licence has run out"),
        ({"game": "command:no-such-game"}, "game.name: no-such-game is not a program on this machine"),
    ],
)
def test_what_does_not_fit_the_game_is_named_before_anything_starts(
    store: FolderStore, change: dict[str, Any], said: str
) -> None:
    (failed,) = events(study(**change), store)
    assert isinstance(failed, Failed)
    assert (failed.error, failed.permanent) == ("ConfigError", True)
    assert said in failed.message


def test_presets_are_learners_by_name_and_settings_may_differ_from_them() -> None:
    assert study(learner="pendulum-ppo").learner == PRESETS["pendulum-ppo"]
    changed = study(learner={"preset": "pendulum-ppo", "reuse": 3}).learner
    assert changed == PRESETS["pendulum-ppo"].model_copy(update={"reuse": 3})
    with pytest.raises(ConfigError, match="is a range"):
        study(learner="table3-vector-pong")


@pytest.mark.parametrize(
    ("game", "said"),
    [("Throwing", "the referee has left"), ("NotANumber", "rewards"), ("WrongShape", "rewards")],
)
def test_a_game_that_misbehaves_ends_the_study_with_what_it_did(store: FolderStore, game: str, said: str) -> None:
    found = events(study(game=f"python:tests.engine.train_games:{game}"), store)
    assert isinstance(found[-1], Failed)
    assert said in found[-1].message


@pytest.mark.parametrize(("game", "said"), [("Locked", "the gate is locked"), ("Blurred", "observation 'signal' is")])
def test_a_game_that_does_not_begin_as_it_should_ends_the_study_before_it_starts(
    store: FolderStore, game: str, said: str
) -> None:
    (failed,) = events(study(game=f"python:tests.engine.train_games:{game}"), store)
    assert isinstance(failed, Failed)
    assert failed.message.startswith("game.name: ")
    assert said in failed.message
    assert failed.permanent, "asked again it would begin no better"


def test_a_game_that_hangs_ends_the_study_once_its_time_is_over(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.simulators.program.SimulatorLimits", lambda: SimulatorLimits(request_s=2.0))
    found = events(study(game="python:tests.engine.train_games:Hanging"), store)
    assert isinstance(found[-1], Failed)
    assert "did not answer ACTIONS of 4 battles within 2 s" in found[-1].message
