"""Have numba compile what most tests run, so that it is on disk: Herobattle, for teams and for commanders, the drawing
of teams, searches, experiments on what pieces are worth, Pong, mazes, cooperative navigation, tanks, Platform, Goal,
half-field offence and what learners compute.

``make test`` runs it before the tests: of several processes that begin together each would compile it for itself,
for a minute and more. Meanwhile another process collects the tests, so that what they import, and the tests themselves,
are there as byte code, too. Where nothing has changed since, there is nothing to do.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numba
import numpy as np

from engine import compiling
from engine.bench.herobattle_teams import equal_cost_pairs
from engine.catalog import STUDIES
from engine.config import LineupConfig
from engine.events import Finished
from engine.games.goal import Goal
from engine.games.half_field import HalfFieldGoalkeeper
from engine.games.herobattle import HeroBattle
from engine.games.herobattle.commanders import HeroBattleCommanders
from engine.games.herobattle.commanders.scripts import orders
from engine.games.herobattle.spec import game_spec
from engine.games.navigation import Navigation
from engine.games.platform import Platform
from engine.games.tanks import Tanks, TanksPictures
from engine.lineups import groups, pairings
from engine.lineups.encoding import LineupSpace
from engine.lineups.rules import compile_rules
from engine.rng import combine64
from engine.store import FolderStore
from engine.studies import load
from engine.worth.traits import Traits

COLLECT = (sys.executable, "-m", "pytest", "--collect-only", "-q")
BATTLES, MANY = 8, 1000
HERE = {"pool": {"kind": "local"}}
HEROBATTLE = {"game": {"simulator": "builtin:herobattle"}, **HERE}
SMALL = {"policy": [8], "critic": [8]}
FEW = {"batch": 32, "fragment": 8, "network": SMALL}
REPLAYED = {"warmup": 32, "minibatch": 16, "capacity": 512, "fragment": 8, "n_step": 3, "network": SMALL}


def training(game: dict[str, Any], learner: dict[str, Any]) -> dict[str, Any]:
    """A training of a moment."""
    short = {"steps": 128, "samplers": 1, "environments": 4, "checkpoint_every": 64, "evaluate_every": 1, "episodes": 2}
    return {"kind": "train", "game": game, "learner": learner, **short, **HERE}


PONG = {"name": "pong", "settings": {"points": 1, "max_ticks": 60}}
MAZE = {"name": "maze", "settings": {"size": 9, "layout": 22, "max_ticks": 60}}
SHORT = (
    {"kind": "search", "ticks": 2, "fresh": 2, "algorithm": {"kind": "nsga2", "population": 10}, **HEROBATTLE},
    training(PONG, {"kind": "ppo", "minibatch": 16, **FEW}),
    training(PONG, {"kind": "impala", **FEW}),
    training(PONG, {"kind": "dqn", **REPLAYED}),
    training(MAZE, {"kind": "ppo", "minibatch": 16, **FEW}),
)


def play() -> None:
    """Play a few battles for teams and for commanders."""
    seeds = combine64(5, np.arange(BATTLES, dtype=np.uint64))
    left, right = equal_cost_pairs(BATTLES, 1)
    HeroBattle().battles(left, right, seeds, {})
    game = HeroBattleCommanders(seats=(0, 1))
    step = game.begin_with(left, right, seeds)
    game.step([orders("hunt", seen["battle"]) for seen in step.observations])


def cover_and_drive() -> None:
    """Play a moment of the games whose sides have several seats; the first of tanks is led by the game, too. Then of
    those whose choices have numbers."""
    squads = (Navigation(hard=True), Tanks(opponent="passive"), Tanks(sides=(0, 1)), TanksPictures())
    for game in (*squads, Platform(), Goal(), HalfFieldGoalkeeper()):
        game.reset(np.arange(2, dtype=np.uint64))
        game.step([seat.action.idle(2) for seat in game.spec.seats])


def draw() -> None:
    """Draw pairings and lineups of Herobattle, also some that hold more of a piece than any random one, breed some, and
    look at what they hold. The rules of all games are arrays of the same kinds."""
    rules, rng = compile_rules(game_spec(), LineupConfig(teams=2, cost_tolerance=0.05)), np.random.default_rng(5)
    seeds, free = combine64(5, np.arange(BATTLES, dtype=np.uint64)), np.full((BATTLES, 1), -1, np.int32)
    for scarce in (pairings.draw, groups.teams):
        scarce(rules, seeds, free + 1, free + MANY)
    Traits(rules).held(pairings.draw(rules, seeds, free, free).rows[:, 0])
    pairings.PairingSpace(rules).sample(rng, BATTLES)
    groups.meetings(rules, groups.teams(rules, seeds, free, free), 2, 2)
    space = LineupSpace(rules._replace(teams=1, required=np.empty(0, np.int32)))
    lineups = space.sample(rng, BATTLES)
    space.offspring(rng, lineups, lineups)


def study(settings: dict[str, Any]) -> None:
    """Run a study to its end."""
    with tempfile.TemporaryDirectory() as folder:
        *_, end = STUDIES[settings["kind"]].load()(load(settings), FolderStore(Path(folder)), "", lambda: "")
    assert isinstance(end, Finished), end


def main() -> None:
    """Everything, unless this numba has compiled it since its files changed last."""
    done = compiling.ENGINE / "__pycache__" / "compiled-first"
    now = f"{compiling.stamp(compiling.ENGINE).read_text()} {numba.__version__}"
    if done.exists() and done.read_text() == now:
        return
    with subprocess.Popen(COLLECT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL):
        play()
        cover_and_drive()
        draw()
        for settings in SHORT:
            study(settings)
    done.write_text(now)


if __name__ == "__main__":
    main()
