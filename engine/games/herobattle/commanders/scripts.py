"""Commanders written by hand: the game's own, and twenty that try to beat it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.games.herobattle.commanders import battles
from engine.games.herobattle.layout import (
    ADVANCE,
    ALL_ON_ONE,
    AT_ONCE,
    BY_TRIGGER,
    CLOSE_RANKS,
    FAR_REACHING,
    HELD,
    HOLD,
    MOST_DANGEROUS,
    NEAREST,
    NEARLY_FALLEN,
    ON_HERO,
    ON_SOLDIERS,
    ORDERS,
    SIDE,
    STEP_BACK,
    WITHDRAW,
)
from engine.mdp.interface import SeatSpec
from engine.mdp.trajectory import Batch, Decision

Numbers = NDArray[np.float32]
Choices = NDArray[np.int64] | int
_ARCHER = 0.5  # of the observed reach, which is in units of six paces


class Sight(NamedTuple):
    """A seat's observation taken apart: ``time`` [n]; ``own`` and ``other`` [n, side numbers]; ``units`` and
    ``enemies`` [n, ten, unit numbers], the hero first."""

    time: Numbers
    own: Numbers
    other: Numbers
    units: Numbers
    enemies: Numbers


def sight(battle: Numbers) -> Sight:
    """The parts of observations [n, OBSERVED]."""
    n, side = len(battle), battles.SIDE_NUMBERS
    units = battle[:, 1 + 2 * side :].reshape(n, 2, SIDE, battles.UNIT_NUMBERS)
    return Sight(battle[:, 0], battle[:, 1 : 1 + side], battle[:, 1 + side : 1 + 2 * side], units[:, 0], units[:, 1])


class Order(NamedTuple):
    """An order for n battles, part by part; each a choice for all of them or one for each."""

    focus: Choices = NEAREST
    hero: Choices = ADVANCE
    first: Choices = ADVANCE
    second: Choices = ADVANCE
    skill: Choices = BY_TRIGGER


def _gap(seen: Sight) -> Numbers:
    """Paces along the field between the foremost living units of both sides [n]; none there: far."""
    own = np.where(seen.units[..., 0] > 0, seen.units[..., 3], -9.0).max(axis=1)
    other = np.where(seen.enemies[..., 0] > 0, seen.enemies[..., 3], 9.0).min(axis=1)
    return np.asarray((other - own) * 10.0, np.float32)


def _shooters_back(seen: Sight) -> tuple[Choices, Choices]:
    """Stances that let archers, and only them, step back while they reload: first and second soldiers [n] each."""
    bows = seen.units[:, 1:, 11] > 0
    other = seen.units[:, 1:, 10] + seen.units[:, 1:, 12] > 0
    first = np.argmax(bows | other, axis=1)
    leads = np.take_along_axis(bows, first[:, None], axis=1)[:, 0]
    back = bows.any(axis=1)
    return np.where(back & leads, STEP_BACK, ADVANCE), np.where(back & ~leads, STEP_BACK, ADVANCE)


def _archer_hero(seen: Sight) -> NDArray[np.bool_]:
    return seen.units[:, 0, 8] > _ARCHER


def _skirmish(seen: Sight) -> Order:
    first, second = _shooters_back(seen)
    return Order(NEAREST, np.where(_archer_hero(seen), STEP_BACK, ADVANCE), first, second)


def _ambush(seen: Sight) -> Order:
    """Hold until the enemy is near, then strike together."""
    stance = np.where((_gap(seen) > 4.0) & (seen.time < 0.3), HOLD, ADVANCE)
    return Order(ALL_ON_ONE, stance, stance, stance)


def _careful_hero(seen: Sight) -> Order:
    hurt = (seen.units[:, 0, 1] < 0.5) & (seen.own[:, 1] > 0.15)
    return Order(NEARLY_FALLEN, np.where(hurt, WITHDRAW, ADVANCE))


def _late(seen: Sight) -> Order:
    return Order(skill=np.where(seen.own[:, 0] < 0.5, AT_ONCE, HELD))


def _when_close(seen: Sight) -> Order:
    return Order(skill=np.where(_gap(seen) < 2.0, AT_ONCE, HELD))


def _guarded_archer(seen: Sight) -> Order:
    return Order(MOST_DANGEROUS, np.where(_archer_hero(seen), STEP_BACK, ADVANCE), skill=AT_ONCE)


def _sit_on_a_lead(seen: Sight) -> Order:
    ahead = seen.own[:, 0] > seen.other[:, 0] + 0.15
    stance = np.where(ahead, STEP_BACK, ADVANCE)
    return Order(NEARLY_FALLEN, stance, stance, stance)


def _wave(seen: Sight) -> Order:
    """Fast units wait for slow ones before contact."""
    stance = np.where((_gap(seen) > 6.0) & (seen.time < 0.15), CLOSE_RANKS, ADVANCE)
    return Order(NEARLY_FALLEN, ADVANCE, stance, stance, AT_ONCE)


def _always(*parts: int) -> Callable[[Sight], Order]:
    order = Order(*parts)
    return lambda seen: order


COMMANDERS: dict[str, Callable[[Sight], Order]] = {
    "script": _always(),
    "focus-weakest": _always(NEARLY_FALLEN),
    "focus-strongest": _always(MOST_DANGEROUS),
    "focus-hero": _always(ON_HERO),
    "focus-shooters": _always(FAR_REACHING),
    "focus-soldiers": _always(ON_SOLDIERS),
    "all-on-one": _always(ALL_ON_ONE),
    "skill-at-once": _always(NEAREST, ADVANCE, ADVANCE, ADVANCE, AT_ONCE),
    "skill-late": _late,
    "skill-when-close": _when_close,
    "skill-never": _always(NEAREST, ADVANCE, ADVANCE, ADVANCE, HELD),
    "hold": _always(NEAREST, HOLD, HOLD, HOLD),
    "hit-and-step-back": _always(NEAREST, STEP_BACK, STEP_BACK, STEP_BACK),
    "hero-behind": _always(NEAREST, CLOSE_RANKS),
    "skirmish": _skirmish,
    "ambush": _ambush,
    "careful-hero": _careful_hero,
    "guarded-archer": _guarded_archer,
    "sit-on-a-lead": _sit_on_a_lead,
    "wave": _wave,
    "hunt": _always(ON_HERO, ADVANCE, ADVANCE, ADVANCE, AT_ONCE),
}
"""By name; ``script`` gives no orders: the game fights by itself."""


class Commander:
    """A scripted player. Raises ConfigError for a seat that does not command herobattle."""

    rule = "script"

    def __init__(self, seat: SeatSpec) -> None:
        if [(seen.name, seen.shape) for seen in seat.observations] != [("battle", (battles.OBSERVED,))]:
            raise ConfigError([("player", "this script commands herobattle, and this is another game")])
        self.memory: dict[str, tuple[int, ...]] = {}

    def __call__(self, batch: Batch) -> Decision:
        """The rule's orders."""
        return Decision(orders(self.rule, batch.observations["battle"]))


class HeroHunter(Commander):
    """Sends everybody at the enemy's hero, and uses the skill as soon as it can."""

    rule = "hunt"


def orders(rule: str, battle: Numbers) -> NDArray[np.float32]:
    """Actions float32[n, ORDERS] of one of ``COMMANDERS`` from observations."""
    rows = np.empty((len(battle), ORDERS), np.float32)
    for part, chosen in enumerate(COMMANDERS[rule](sight(battle))):
        rows[:, part] = chosen
    return rows
