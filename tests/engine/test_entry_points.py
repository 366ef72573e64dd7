"""What a Python factory may return, and what it is told when it returns something else."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from engine.errors import SimulatorError
from engine.mdp.checks import check_batch
from engine.mdp.interface import MDPSpec
from engine.simulators.entry_points import MAY_RETURN, build
from tests.engine.sample_simulators import TugOfWar

SAMPLES = "tests.engine.sample_factories"


@pytest.mark.parametrize(
    ("entry_point", "seats"),
    [
        ("tests.engine.sample_games:orchard", 4),
        ("tests.engine.rl_game:Signals", 1),
        (f"{SAMPLES}:single", 1),
        (f"{SAMPLES}:vector", 1),
        ("tests.engine.test_mdp_adapters:Spread", 3),
        ("tests.engine.test_mdp_adapters:Lists", 2),
    ],
)
def test_every_known_form_of_a_game_becomes_arrays_for_any_number_of_battles(entry_point: str, seats: int) -> None:
    game = build(entry_point)
    assert isinstance(game.spec, MDPSpec)
    assert len(game.spec.seats) == seats
    try:
        for battles in (1, 4, 2):
            check_batch(entry_point, game.spec, battles, game.reset(np.arange(battles, dtype=np.uint64)))
            for _ in range(40):
                step = game.step([seat.action.idle(battles) for seat in game.spec.seats])
                check_batch(entry_point, game.spec, battles, step)
    finally:
        game.close()


def test_single_and_vector_environments_of_one_game_play_the_same_battles() -> None:
    single, vector = build(f"{SAMPLES}:single"), build(f"{SAMPLES}:vector")
    seeds = np.arange(3, dtype=np.uint64)
    one, other = single.reset(seeds), vector.reset(seeds)
    np.testing.assert_array_equal(one.observations[0]["observation"], other.observations[0]["observation"])
    single.close(), vector.close()


def test_a_simulator_of_lineups_is_left_as_it_is() -> None:
    assert isinstance(build("tests.engine.sample_simulators:TugOfWar"), TugOfWar)


@pytest.mark.parametrize(
    ("entry_point", "said"),
    [
        (f"{SAMPLES}:nothing", f"returned None. It may return {MAY_RETURN}"),
        (f"{SAMPLES}:number", f"returned something of type int. It may return {MAY_RETURN}"),
        (f"{SAMPLES}:Half", "has no method battles()"),
        (f"{SAMPLES}:fixed", "makes a vector environment for 3 battles only; let the function take num_envs"),
        (f"{SAMPLES}:nobody", "cannot be loaded: module 'tests.engine.sample_factories' has no attribute 'nobody'"),
        ("no_such_module:game", "cannot be loaded: No module named 'no_such_module'"),
    ],
)
def test_whoever_wrote_the_factory_is_told_what_is_wrong_with_it(entry_point: str, said: str) -> None:
    with pytest.raises(SimulatorError) as caught:
        build(entry_point)
    assert caught.value.permanent
    assert said in str(caught.value)


def test_a_factory_that_returns_the_same_environment_twice_is_told_so() -> None:
    game = build(f"{SAMPLES}:shared")
    game.reset(np.zeros(1, np.uint64))
    with pytest.raises(SimulatorError, match="returned the same environment twice"):
        game.reset(np.zeros(2, np.uint64))


def test_looking_at_what_a_factory_made_loads_no_library_it_did_not_load() -> None:
    code = (
        "import sys; from engine.simulators.entry_points import build;"
        "build('tests.engine.sample_simulators:TugOfWar');"
        "assert not {'gymnasium', 'pettingzoo'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
