"""The experiment that the command line runs after a search for lineups."""

from __future__ import annotations

from engine.config.study import SearchConfig
from engine.config.worth import WorthConfig
from engine.errors import ConfigError, SimulatorError
from engine.lineups import companion
from engine.lineups.rules import feasibility
from engine.simulators.contract import GameSpec
from engine.simulators.loaders import opened


def planned(search: SearchConfig) -> tuple[WorthConfig | None, str]:
    """The experiment, or why there is none (empty: none is wanted). Raises ConfigError for one that was asked for and
    cannot be."""
    spec = None if search.experiment == 0 else _described(search)
    if spec is None:
        return None, ""
    found, why = companion.planned(search, spec, search.experiment)
    if why and search.experiment:
        raise ConfigError([("experiment", why)])
    return found, why


def _described(search: SearchConfig) -> GameSpec | None:
    """The game as it is played; None where the search itself cannot begin, and says why."""
    try:
        with opened(search.game.simulator) as simulator:
            spec = simulator.describe().patched(search.game.patch)
    except (ConfigError, SimulatorError):
        return None
    return None if feasibility(spec, search.lineups) else spec
