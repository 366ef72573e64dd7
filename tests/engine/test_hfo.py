"""The adapter of the original half-field offence, against a stand-in that speaks its module's API."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.errors import SimulatorError
from engine.games.half_field import HalfField, HalfFieldGoalkeeper
from engine.games.half_field.scripts import Attacker
from engine.mdp.checks import check_batch
from engine.mdp.gym import GymVector
from engine.mdp.trajectory import Batch
from engine.rl.players import RandomPlayer
from engine.simulators.adapters import hfo
from engine.starting import declared
from tests.engine import hfo_stand_in as stand_in

SEEDS = np.array([3, 4], np.uint64)


class Pretended:
    """A server that is none."""

    port, config, closed = 6100, "formations", False

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Pretended:
    monkeypatch.setitem(sys.modules, "hfo", stand_in)
    monkeypatch.setattr(stand_in.HFOEnvironment, "made", [])
    return Pretended()


def made(
    server: Pretended, monkeypatch: pytest.MonkeyPatch, goalkeepers: int, tackle: bool = False
) -> Callable[[], hfo.HalfFieldServer]:
    monkeypatch.setattr(stand_in.HFOEnvironment, "goalkeepers", goalkeepers)
    return lambda: hfo.HalfFieldServer(server, goalkeepers, tackle)


@pytest.mark.parametrize("tackle", [False, True])
@pytest.mark.parametrize(("goalkeepers", "native"), [(0, HalfField), (1, HalfFieldGoalkeeper)])
def test_it_is_played_by_the_features_and_actions_of_our_own_game(
    server: Pretended, monkeypatch: pytest.MonkeyPatch, goalkeepers: int, native: type[HalfField], tackle: bool
) -> None:
    game = GymVector(made(server, monkeypatch, goalkeepers, tackle), label="HFO")
    own = native(tackle=tackle).spec.seats[0]
    seat = game.spec.seats[0]
    assert seat.action == own.action
    assert [(s.name, s.shape, s.low, s.high) for s in seat.observations] == [
        (s.name, s.shape, s.low, s.high) for s in own.observations
    ]
    step, ends = game.reset(SEEDS), 0
    for tick in range(200):
        player = (Attacker, RandomPlayer)[tick % 2](seat)
        step = game.step([player(Batch(step.observations[0], None, SEEDS + np.uint64(tick))).actions])
        check_batch("HFO", game.spec, 2, step)
        for i, env in enumerate(stand_in.HFOEnvironment.made[:2]):
            np.testing.assert_array_equal(step.observations[0]["view"][i], env.now.observations[0]["view"][0])
        ends += 0 if step.ended is None else len(step.ended.battles)
    assert ends > 4
    kinds = {kind for env in stand_in.HFOEnvironment.made for kind, _ in env.given}
    assert (stand_in.TACKLE in kinds) == tackle
    game.close()


def test_every_end_is_told_as_what_it_is(server: Pretended, monkeypatch: pytest.MonkeyPatch) -> None:
    env = made(server, monkeypatch, 0)()
    env.reset()
    told = {}
    for status in (stand_in.GOAL, stand_in.CAPTURED_BY_DEFENSE, stand_in.OUT_OF_BOUNDS, stand_in.OUT_OF_TIME):
        monkeypatch.setattr(stand_in.HFOEnvironment, "step", lambda self, status=status: status)
        _, reward, over, cut, info = env.step((1, np.zeros(2), np.array([30.0]), np.zeros(2)))
        told[status] = (reward, over, cut, info["is_success"])
    assert told == {
        stand_in.GOAL: (5.0, True, False, True), stand_in.CAPTURED_BY_DEFENSE: (0.0, True, False, False),
        stand_in.OUT_OF_BOUNDS: (0.0, True, False, False), stand_in.OUT_OF_TIME: (0.0, False, True, False),
    }  # fmt: skip
    assert stand_in.HFOEnvironment.made[0].given[-1] == (stand_in.TURN, (30.0,))


def test_what_is_seen_at_the_end_is_of_the_episode_that_ended(
    server: Pretended, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By then HFO shows the next one, and an episode that was cut short would be valued by where another one began."""
    env = made(server, monkeypatch, 0)()
    before, _ = env.reset()
    waits = (1, np.zeros(2), np.zeros(1), np.zeros(2))
    for _ in range(60):
        seen, _, over, cut, _ = env.step(waits)
        if over or cut:
            break
        before = seen
    assert cut
    np.testing.assert_array_equal(seen["view"], before["view"])
    again, _ = env.reset()
    assert not np.array_equal(again["view"], seen["view"])


def test_an_episode_under_way_is_idled_to_its_end_before_the_next(
    server: Pretended, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = made(server, monkeypatch, 0)()
    env.reset()
    core = stand_in.HFOEnvironment.made[0]
    assert core.given == [], "the first has just begun"
    env.step((0, np.array([50.0, 0.0]), np.zeros(1), np.zeros(2)))
    env.reset()
    assert {kind for kind, _ in core.given[1:]} == {stand_in.NOOP}
    assert len(core.given) > 50
    assert core.game._ticks[0] == 3, "of the next one, HFO has idled for three cycles"


def test_it_connects_as_the_attackers_and_leaves_before_its_server_ends(
    server: Pretended, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = made(server, monkeypatch, 0)()
    core = stand_in.HFOEnvironment.made[0]
    assert core.connected == (0, "formations", 6100, "localhost", "base_left", False, "")
    env.reset()
    env.close()
    assert core.given[-1] == (stand_in.QUIT, ())
    assert server.closed


def test_a_server_that_goes_down_is_an_error_with_its_battle(
    server: Pretended, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stand_in.HFOEnvironment, "falls", 3)
    game = GymVector(made(server, monkeypatch, 0), label="HFO")
    game.reset(SEEDS)
    idle = game.spec.seats[0].action.idle(2)
    game.step([idle])
    game.step([idle])
    with pytest.raises(SimulatorError, match=r"HFO, battle 0: .* went down"):
        game.step([idle])


def test_too_few_features_are_said(server: Pretended, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stand_in.HFOEnvironment, "goalkeepers", 0)
    with pytest.raises(RuntimeError, match="tells 59 features; 66 are needed"):
        hfo.HalfFieldServer(server, 1)


def test_without_its_folder_it_says_what_must_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for home in ("", str(tmp_path)):
        monkeypatch.setenv(hfo.HOME, home)
        with pytest.raises(RuntimeError, match="HFO_HOME must name the folder"):
            hfo.alone()


@pytest.mark.parametrize(("program", "said"), [("exit 3", "ended at once, with exit code 3"), ("exec sleep 60", "")])
def test_a_server_is_begun_with_ports_of_its_own_and_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str, said: str
) -> None:
    monkeypatch.setitem(sys.modules, "hfo", stand_in)
    monkeypatch.setenv(hfo.HOME, str(tmp_path))
    monkeypatch.setattr(hfo, "WAIT_S", 0.2 if not said else 30.0)
    script = tmp_path / "bin" / "HFO"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\necho $* > {tmp_path}/told\n{program}\n")
    script.chmod(0o755)
    if said:
        with pytest.raises(RuntimeError, match=said):
            hfo.alone()
        return
    env = hfo.alone(ball_x_min=0.6, ball_x_max=0.7, at_ball=1)
    begun = env._server
    assert isinstance(begun, hfo.Launched)
    env.close()
    assert begun._process.poll() is not None
    given = (tmp_path / "told").read_text()
    assert "--ball-x-min=0.6 --ball-x-max=0.7 --ball-y-min=-0.8 --ball-y-max=0.8 --offense-on-ball 1 --port" in given


@pytest.mark.parametrize(
    ("factory", "defenders", "choices"),
    [(hfo.alone, 0, 3), (hfo.against_goalkeeper, 1, 3), (hfo.alone_with_tackles, 0, 4),
     (hfo.against_goalkeeper_with_tackles, 1, 4)],
)  # fmt: skip
def test_each_of_its_games_has_its_goalkeeper_and_its_actions(
    monkeypatch: pytest.MonkeyPatch, factory: Callable[..., hfo.HalfFieldServer], defenders: int, choices: int
) -> None:
    begun: list[int] = []
    monkeypatch.setitem(sys.modules, "hfo", stand_in)
    monkeypatch.setattr(stand_in.HFOEnvironment, "goalkeepers", defenders)
    monkeypatch.setattr(hfo, "Launched", lambda defenders, start: begun.append(defenders) or Pretended())
    env = factory()
    assert begun == [defenders]
    assert env.action_space[0].n == choices
    assert env.observation_space["view"].shape == (58 + 8 * defenders,)


def test_where_its_episodes_begin_is_said_by_the_server_s_own_options() -> None:
    every = (hfo.alone, hfo.against_goalkeeper, hfo.alone_with_tackles, hfo.against_goalkeeper_with_tackles)
    for factory in every:
        assert [(s.name, s.low, s.high, s.usual) for s in declared(factory)] == [
            ("ball_x_min", 0, 0.98, 0), ("ball_x_max", 0, 0.98, 0.2), ("ball_y_min", -0.98, 0.98, -0.8),
            ("ball_y_max", -0.98, 0.98, 0.8), ("at_ball", 0, 1, 0),
        ]  # fmt: skip
    with pytest.raises(ValueError, match="no episode can begin"):
        hfo.alone(ball_x_min=0.5)
