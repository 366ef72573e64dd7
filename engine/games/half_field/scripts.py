"""A script that plays half-field offence from what the attacker sees: the yardstick of learners."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.games.half_field import field, sight
from engine.games.half_field.kernel import FARTHEST
from engine.mdp.interface import SeatSpec
from engine.mdp.trajectory import Batch, Decision

Numbers = NDArray[np.float64]
SHOOTS, INSIDE, DRIBBLES = 20.0, 1.2, 1.2
"""How near the goal it shoots and how far inside the post it aims, in metres; how fast it sends the ball ahead, in
metres a cycle."""
LOOKS, REACH, AIMED = 40, 0.8, 0.3
"""Cycles that it thinks ahead, how near the ball it wants to get, and from which angle on it turns before it runs."""


class Seen(NamedTuple):
    """What it makes of its features, each [n] or [n, 2], in metres, cycles and radians: where it is, its body, its own
    speed; where the ball is, seen from it, and its velocity; where the keeper is (none: NaN)."""

    at: Numbers
    body: Numbers
    speed: Numbers
    ball: Numbers
    flight: Numbers
    goalkeeper: Numbers


def _far(feature: Numbers, most: float) -> Numbers:
    return (1.0 - feature) / 2.0 * most


def _aside(view: Numbers, first: int, body: Numbers) -> Numbers:
    """Where something is, seen from the player."""
    angle, far = np.arctan2(view[:, first], view[:, first + 1]) + body, _far(view[:, first + 2], FARTHEST)
    return np.asarray(far[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1))


def seen(view: Numbers) -> Seen:
    """From features float64[n, 58] or [n, 66]."""
    at = np.stack(
        [_far(view[:, sight.EDGES], sight.FAR_X), _far(view[:, sight.EDGES + 2], sight.FAR_Y) - field.HALF], 1
    )
    body = np.arctan2(view[:, sight.BODY], view[:, sight.BODY + 1])
    speed = (view[:, sight.SPEED] + 1.0) / 2.0 * sight.FASTEST_SELF
    swift = (view[:, sight.BALL_SPEED] + 1.0) / 2.0 * sight.FASTEST_BALL
    flight = swift[:, None] * view[:, [sight.BALL_SPEED + 2, sight.BALL_SPEED + 1]]
    goalkeeper = np.full_like(at, np.nan)
    if view.shape[1] > sight.ALONE:
        goalkeeper = at + _aside(view, sight.ALONE, body)
    return Seen(at, body, speed, _aside(view, sight.THE_BALL + 1, body), flight, goalkeeper)


def _angle(way: Numbers) -> Numbers:
    return np.arctan2(way[:, 1], way[:, 0])


def _turned(angle: Numbers) -> Numbers:
    return np.asarray((angle + np.pi) % (2.0 * np.pi) - np.pi)


def meeting(s: Seen) -> Numbers:
    """Where it can meet the ball first, seen from it [n, 2]."""
    cycles = np.arange(1, LOOKS + 1)
    gone = (1.0 - field.BALL_DECAY**cycles) / (1.0 - field.BALL_DECAY)
    places = s.ball[:, None] + s.flight[:, None] * gone[None, :, None]
    late = np.hypot(places[..., 0], places[..., 1]) - REACH > cycles - 1.0
    first = np.where(late.all(axis=1), LOOKS - 1, late.argmin(axis=1))
    return np.asarray(places[np.arange(len(first)), first])


def aim(s: Seen) -> Numbers:
    """Where in the goal it shoots [n, 2]: beside the post that is farther from the keeper, or from the player where
    there is none."""
    ball = s.at + s.ball
    posts = np.array([-1.0, 1.0]) * (field.POST - INSIDE)
    ways = np.arctan2(posts - ball[:, 1:], field.LENGTH - ball[:, :1])
    shy = np.where(np.isnan(s.goalkeeper), s.at, s.goalkeeper)
    off = np.abs(_turned(ways - _angle(shy - ball)[:, None]))
    return np.stack([np.full(len(ball), field.LENGTH), posts[off.argmax(axis=1)]], 1)


def kicks(s: Seen) -> tuple[Numbers, Numbers]:
    """Power and direction, in degrees, of its kicks: a shot near the goal, otherwise the ball sent ahead."""
    ball, target = s.at + s.ball, aim(s)
    goal = np.array([field.LENGTH, 0.0]) - ball
    shoots = np.hypot(*goal.T) <= SHOOTS
    way = np.where(shoots[:, None], target - ball, goal)
    pace = np.where(shoots, field.BALL_SPEED, DRIBBLES)
    push = way * (pace / np.maximum(np.hypot(*way.T), 1e-9))[:, None] - s.flight
    far, off = np.hypot(*s.ball.T), np.abs(_turned(_angle(s.ball) - s.body))
    share = 1.0 - 0.25 * off / np.pi - 0.25 * np.maximum(far - field.TOUCH, 0.0) / field.MARGIN
    power = np.minimum(np.hypot(*push.T) / (field.KICK_RATE * share), field.POWER)
    return power, np.degrees(_turned(_angle(push) - s.body))


class Attacker:
    """Runs to the ball, sends it ahead towards the goal, and shoots when it is near. Raises ConfigError for a seat that
    does not see half-field offence."""

    def __init__(self, seat: SeatSpec) -> None:
        features = [(each.name, each.shape) for each in seat.observations]
        if features not in ([("view", (sight.ALONE,))], [("view", (sight.ALONE + sight.EACH,))]):
            raise ConfigError([("player", "this script attacks on the half field, and this is another game")])
        self.memory: dict[str, tuple[int, ...]] = {}
        self._width = seat.action.row[0]

    def __call__(self, batch: Batch) -> Decision:
        """Its decisions."""
        view = batch.observations["view"].astype(np.float64)
        s = seen(view)
        rows = np.zeros((len(view), self._width), np.float32)
        off = _turned(_angle(meeting(s)) - s.body)
        rows[:, 0] = np.where(np.abs(off) > AIMED, field.TURN, field.DASH)
        rows[view[:, sight.CAN] > 0.0, 0] = field.KICK
        rows[:, 1], rows[:, 3] = field.POWER, np.degrees(off * (1.0 + field.INERTIA * s.speed))
        rows[:, 4], rows[:, 5] = kicks(s)
        return Decision(rows)
