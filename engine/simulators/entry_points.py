"""Games and simulators from a Python factory ``module:function``, which may make any of these:

=========================================  =======================================================================
``VectorMDP`` or ``MDP``                   as it is
``gymnasium.Env``                          the factory is called again for each further battle
``gymnasium.vector.VectorEnv``             the factory takes ``num_envs``, and is called again for another number
``pettingzoo.ParallelEnv``                 the factory is called again for each further battle
``engine.mdp.arena.Arena``                 the factory is called again for each further battle
``describe``, ``battles`` and ``replay``   a ``LineupSimulator``
=========================================  =======================================================================

Parameters of the factory that are marked by ``engine.starting.StartRange`` say where an episode begins; with other
values of them it is called again.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

from engine.errors import SimulatorError
from engine.mdp.adapters import VectorFromMDP
from engine.mdp.interface import MDPSpec
from engine.mdp.vector import VectorMDP
from engine.simulators.contract import LineupSimulator
from engine.starting import StartSetting, declared

Factory = Callable[..., Any]
MAY_RETURN = (
    "a VectorMDP or an MDP (engine.mdp), an environment or vector environment of Gymnasium, a parallel environment "
    "of PettingZoo, one with the AI Arena's lists of observation_spaces and action_spaces, or a simulator of lineups "
    "with the methods describe, battles and replay"
)
_METHODS = ("describe", "battles", "replay")
_LISTS = ("observation_spaces", "action_spaces")
_BY_NUMBER = "num_envs"


def build(entry_point: str, start: Mapping[str, float] | None = None) -> LineupSimulator | VectorMDP:
    """The simulator or game that ``module:function`` makes; games in array form. ``start``: values of its
    ``starts_of``. Raises SimulatorError (permanent) that says what is missing, ConfigError for unsupported spaces, and
    whatever the factory raises."""
    factory = partial(_factory(entry_point), **(start or {}))
    made = factory(**{_BY_NUMBER: 1}) if _takes_a_number(factory) else factory()
    return _as_game(entry_point, factory, made) or _as_simulator(entry_point, made)


def starts_of(entry_point: str) -> tuple[StartSetting, ...]:
    """The parameters of the factory that say where an episode begins (``engine.starting.StartRange``)."""
    return declared(_factory(entry_point))


def _factory(entry_point: str) -> Factory:
    module, _, name = entry_point.partition(":")
    try:
        return cast("Factory", getattr(importlib.import_module(module), name))
    except (ImportError, AttributeError) as error:
        raise SimulatorError(f"{entry_point} cannot be loaded: {error}", permanent=True) from error


def _as_game(entry_point: str, factory: Factory, made: Any) -> VectorMDP | None:
    """The object as a game; None if it is not one."""
    if isinstance(getattr(made, "spec", None), MDPSpec):
        return cast("VectorMDP", made) if hasattr(made, "step") else VectorFromMDP(made)
    if _is_a(made, "gymnasium", "Env"):
        from engine.mdp.gym import GymVector

        return GymVector(_again(entry_point, factory, made))
    if _is_a(made, "gymnasium.vector", "VectorEnv"):
        from engine.mdp.gym_vectors import GymVectorEnvs

        if not _takes_a_number(factory):
            raise SimulatorError(
                f"{entry_point} makes a vector environment for {made.num_envs} battles only; let the function take "
                f"{_BY_NUMBER}, the number of battles to make it for",
                permanent=True,
            )
        return GymVectorEnvs(lambda battles: factory(**{_BY_NUMBER: battles}), made)
    if _is_a(made, "pettingzoo", "ParallelEnv"):
        from engine.mdp.pettingzoo import parallel_mdp

        return VectorFromMDP(parallel_mdp(_again(entry_point, factory, made)))
    if _plays_by_lists(made):
        from engine.mdp.arena import arena_mdp

        return VectorFromMDP(arena_mdp(_again(entry_point, factory, made)))
    return None


def _plays_by_lists(made: Any) -> bool:
    """Whether it has the interface of ``Arena``; PettingZoo's environments have dictionaries of spaces instead."""
    listed = all(isinstance(getattr(made, name, None), list | tuple) for name in _LISTS)
    return listed and callable(getattr(made, "reset", None)) and callable(getattr(made, "step", None))


def _as_simulator(entry_point: str, made: Any) -> LineupSimulator:
    missing = [method for method in _METHODS if not callable(getattr(made, method, None))]
    if len(missing) == len(_METHODS):
        what = "None" if made is None else f"something of type {type(made).__name__}"
        raise SimulatorError(f"{entry_point} returned {what}. It may return {MAY_RETURN}", permanent=True)
    if missing:
        raise SimulatorError(f"what {entry_point} makes has no method {missing[0]}()", permanent=True)
    return cast("LineupSimulator", made)


def _again(entry_point: str, factory: Factory, first: Any) -> Factory:
    """A factory of one environment per battle, which returns the one that was made for inspection first."""
    unused = [first]

    def make() -> Any:
        if unused:
            return unused.pop()
        made = factory()
        if made is first:
            why = f"{entry_point} returned the same environment twice; each battle needs one of its own"
            raise SimulatorError(why, permanent=True)
        return made

    return make


def _takes_a_number(factory: Factory) -> bool:
    with contextlib.suppress(TypeError, ValueError):  # its signature is not available
        return _BY_NUMBER in inspect.signature(factory).parameters
    return False


def _is_a(made: Any, module: str, name: str) -> bool:
    """Whether it is an instance of this class; does not import the class's library."""
    return isinstance(made, getattr(sys.modules.get(module), name, ()))
