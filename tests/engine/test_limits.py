"""Reaction delay and pace of players: one mechanism in training, measuring, watching, and around the exported agent."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.arrays import unpack
from engine.catalog import STUDIES
from engine.config import TaskConfig, parse
from engine.config.limits import LimitsConfig
from engine.config.train import TrainGame
from engine.errors import ConfigError
from engine.events import AnyEvent, Finished
from engine.evorl.problem import against_strangers
from engine.games.connect_four import connect_four
from engine.games.pong import VectorPong
from engine.mdp.interface import Continuous, Discrete, Hybrid
from engine.mdp.limits import Hands, Limited, limited
from engine.mdp.vector import VectorMDP, VectorStep
from engine.rl.onnx_acting import acting
from engine.rl.recording import Drawable, record
from engine.rl.take_home import session
from engine.rng import battle_seeds
from engine.simulators import references
from engine.store import FolderStore
from engine.studies import load
from engine.study import meetings
from tests.contracts.mdp import VectorContract
from tests.engine.test_saved_agents import SHORT, kept, measurement, untrained
from tests.engine.test_styles import BUSY, PONG, settings, task

SLOW = LimitsConfig(delay=3, apart=5)
LIMITS = {"limits": SLOW.model_dump()}


class Forbidding(VectorPong):
    """Pong that says what is legal."""

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        return super().reset(seeds)._replace(masks=(np.ones((len(seeds), 3), np.bool_),))


class TestLimitedPong(VectorContract):
    rounds = 120

    def make(self) -> VectorMDP:
        return Limited(VectorPong(seats=(0, 1), points=1, max_ticks=40), SLOW, (1,))


def test_without_limits_a_game_is_itself() -> None:
    game = VectorPong()
    assert limited(game, None) is game
    assert limited(game, LimitsConfig()) is game
    assert isinstance(limited(game, SLOW), Drawable), "it can be drawn as before"


@given(st.integers(0, 2**32), st.integers(0, 4), st.integers(1, 6))
def test_a_late_game_is_the_plain_one_in_which_late_and_rare_actions_are_played(
    seed: int, delay: int, apart: int
) -> None:
    """Each battle by a queue and a counter of its own, which its episodes begin anew."""
    n, rng = 3, np.random.default_rng(seed)
    plain, late = VectorPong(points=1, max_ticks=17), VectorPong(points=1, max_ticks=17)
    slow = Limited(late, LimitsConfig(delay=delay, apart=apart), (0,))
    seeds = rng.integers(0, 2**63, n).astype(np.uint64)
    plain.reset(seeds), slow.reset(seeds)
    waiting = [deque([0] * delay) for _ in range(n)]
    now, since = [0] * n, [apart] * n
    for _ in range(50):
        wanted = rng.integers(0, 3, n)
        for b in range(n):
            waiting[b].append(int(wanted[b]))
            due = waiting[b].popleft()
            if due != now[b] and since[b] >= apart:
                now[b], since[b] = due, 0
            since[b] += 1
        own, held = plain.step([np.array(now)]), slow.step([wanted])
        np.testing.assert_array_equal(own.observations[0]["field"], held.observations[0]["field"])
        for b in own.ended.battles.tolist() if own.ended is not None else ():
            waiting[b], now[b], since[b] = deque([0] * delay), 0, apart


def test_hands_take_actions_of_every_shape() -> None:
    action = Hybrid((Discrete(3), Continuous((-1.0,), (1.0,), (1,))))
    hands = Hands(action, 2, LimitsConfig(delay=1, apart=2))
    rows = np.array([[1, 0.5], [2, -0.5]], np.float32)
    assert hands.do(rows).tolist() == [[0, 0], [0, 0]]
    assert hands.do(rows + 0).tolist() == rows.tolist()
    hands.restart(np.array([1]))
    assert hands.do(rows).tolist() == [rows[0].tolist(), [0, 0]]


def test_who_cannot_be_late_is_refused_with_a_sentence() -> None:
    with pytest.raises(ConfigError, match="wait for each other's turns"):
        limited(connect_four(), SLOW)
    with pytest.raises(ConfigError, match="forbids actions now and then"):
        limited(Forbidding(), SLOW).reset(np.arange(2, dtype=np.uint64))  # type: ignore[union-attr, call-arg]
    with pytest.raises(ConfigError, match="limits: its players wait"):
        references.make(TrainGame(name="connect-four", limits=SLOW), 1)
    with pytest.raises(ConfigError, match="delay"):
        load({**settings(), "task": task(game={**PONG, "limits": {"delay": -1}})})


def test_limits_leave_the_hash_of_other_studies_as_it_was() -> None:
    assert "limits" not in TrainGame(name="pong").model_dump()
    assert "limits" not in measurement("ab" * 32).agent.model_dump()


def run(config: Any, store: FolderStore) -> AnyEvent:
    return list(STUDIES[config.kind].load()(config, store, "", lambda: ""))[-1]


def test_a_style_is_bred_by_players_with_limits(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    ends = [run(load(settings(task=task(game={**PONG, **more}), ticks=1)), store) for more in ({}, LIMITS)]
    assert all(isinstance(end, Finished) for end in ends), ends
    plain, held = (unpack(store.get(end.artifacts["archive"])).arrays for end in ends if isinstance(end, Finished))
    assert (plain["genome"] == held["genome"]).all()
    assert not np.array_equal(plain["measure"], held["measure"])


def test_strangers_react_at_once() -> None:
    wanted = parse(TaskConfig, task(game={**PONG, "limits": {"delay": 5}}, style={**BUSY, "w2": 1}))
    game = against_strangers(wanted, 1)
    game.reset(np.array([1], np.uint64))
    game.step([np.ones(1, np.int64)] * 2)
    own, other = game.game.game.positions(0)[2:4]  # type: ignore[attr-defined]
    assert own == 0 != other


def test_an_agent_is_measured_and_recorded_as_late_as_it_learned(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    agent = kept(untrained(), store)
    plain = measurement(agent, episodes=50).model_dump(mode="json")
    free, late = (
        run(load({**plain, "agent": {**plain["agent"], **more}}), store) for more in ({}, {"limits": {"delay": 200}})
    )
    moved = [
        {m["name"]: m["mean"] for m in unpack(store.get(e.artifacts["table"])).meta["measures"]}["moved"]
        for e in (free, late)
        if isinstance(e, Finished)
    ]
    assert moved[0] > 0 == moved[1]
    assert isinstance(late, Finished)
    with zipfile.ZipFile(io.BytesIO(store.get(late.artifacts["take_home"]))) as taken:
        card, words = json.loads(taken.read("card.json")), taken.read("card.md").decode()
        told = {p.key: p.value for p in onnx.load_from_string(taken.read("agent.onnx")).metadata_props}
    assert card["limits"] == {"delay": 200, "apart": 1, "idle": 0}
    assert "what it decides happens 200 decisions later" in words
    assert (told["reaction_delay_decisions"], told["decisions_between_actions"]) == ("200", "1")
    pair = [{"kind": "frozen", "policy": agent, "limits": {"delay": d}} for d in (0, 200)]
    done = run(load({"kind": "record", "game": {"name": "pong", "settings": SHORT}, "agents": pair}), store)
    assert isinstance(done, Finished), done
    told_arrays = unpack(store.get(done.artifacts["recording"])).arrays
    paddles = [np.ptp(told_arrays[f"positions/{i}"][:, 2]) for i in (0, 1)]
    assert paddles[0] > 0 == paddles[1], "side by side each has its own limits"


def test_in_an_evaluation_each_is_as_late_as_it_learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, games = FolderStore(tmp_path), list[Any]()
    agent = {"kind": "frozen", "policy": kept(untrained(), store)}
    pair = {"quick": agent, "late": {**agent, "limits": {"delay": 200}}}
    game = {"name": "pong-two-seats", "settings": {"points": 1, "max_ticks": 50}}
    plain = meetings.first_by_decision
    monkeypatch.setattr(meetings, "first_by_decision", lambda game, *more: games.append(game) or plain(game, *more))
    end = run(load({"kind": "evaluate", "game": game, "policies": pair, "episodes": 2}), store)
    assert isinstance(end, Finished), end
    held = [(each._seats, each._limits.delay) for each in games]
    assert held == [((1,), 200), ((0,), 200)], "on whichever seat it sits, and nobody else"
    kept_as = load({"kind": "evaluate", "game": game, "policies": {"a": agent, "b": agent}}).model_dump_json()
    assert '"limits":{' not in kept_as, "the hash of evaluations without limits stays"


def test_the_exported_agent_held_back_in_the_same_way_plays_the_same_battle() -> None:
    policy = untrained()
    game = limited(VectorPong(points=2, max_ticks=300), SLOW)
    found = record(game, policy.actor(False), None, seed=4)
    model, plain = session(acting(policy, False, SLOW)), VectorPong(points=2, max_ticks=300)
    hands = Hands(plain.spec.seats[0].action, 1, SLOW)
    step = plain.reset(battle_seeds(4, np.array([0xE7A5], np.uint64), 0, 1)[0])
    places = []
    while step.ended is None:
        places.append(plain.positions(0))
        seen = {**step.observations[0], "legal": np.ones((1, 3), np.bool_)}
        step = plain.step([hands.do(model.run(["action"], seen)[0])])
    np.testing.assert_array_equal(np.array(places, np.float32), found.positions[:-1])


def checked_at_home(home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-I", "check.py"], cwd=home, capture_output=True, text=True, check=False)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """What is taken home of an agent with limits, unpacked."""
    store = FolderStore(tmp_path / "store")
    plain = measurement(kept(untrained(), store), episodes=50).model_dump(mode="json")
    end = run(load({**plain, "agent": {**plain["agent"], **LIMITS}}), store)
    assert isinstance(end, Finished), end
    with zipfile.ZipFile(io.BytesIO(store.get(end.artifacts["take_home"]))) as taken:
        taken.extractall(tmp_path / "home")
    return tmp_path / "home"


def test_what_is_taken_home_holds_an_agent_back_as_the_engine_did_and_its_card_says_the_rule(home: Path) -> None:
    done = checked_at_home(home)
    assert done.returncode == 0, done
    assert "of the hands are the same" in done.stdout
    with np.load(home / "vectors.npz") as file:
        decided, held = file["played.decision"], file["played.done"]
        assert file["played.begins"].sum() == 3
    assert (decided != held).any(), "something is held back"
    assert len(set(held.tolist())) > 1, "and something is done"
    words = (home / "card.md").read_text()
    assert "Its hands are idle, which is the action 0, until its first decision arrives." in words
    assert "dropped and not queued" in words
    assert "All begins anew with an episode." in words


@pytest.mark.parametrize(
    ("right", "broken"),
    [
        ("* self._delay)", "* (self._delay + 1))"),
        ("self._since >= self._apart and", "self._since > self._apart and"),
        ("        self._now, self._since = self._idle, self._apart", "        self._now, self._since = self._idle, 0"),
        ("self._since >= self._apart and ", ""),
    ],
)
def test_hands_that_hold_back_otherwise_are_caught(home: Path, right: str, broken: str) -> None:
    file = home / "hands.py"
    assert right in file.read_text()
    file.write_text(file.read_text().replace(right, broken))
    done = checked_at_home(home)
    assert done.returncode == 1, done
