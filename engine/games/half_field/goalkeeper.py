"""The goalkeeper of half-field offence: a script, compiled.

It stands between ball and goal, ADVANCE from the middle of the goal or nearer, and steps aside to where the ball will
come by once a shot is on its way for REACTION cycles. A ball near it that it reaches before the attacker is taken. It
catches as the soccer server lets goalkeepers: a ball that is within CATCH, in the penalty area, every time. It dashes
with POWER_SHARE of full power; the body stays across the way to the ball, from where both sides are equally near.
These four numbers are its ability, chosen within what the server allows (100 % of power, 1.2 m, no delay) so that a
scripted attacker scores as often as the best one did against Helios' (Hausknecht et al. 2016: 81.4 %;
``engine.bench.half_field`` measures it).
"""

from __future__ import annotations

import math
from typing import Any

from engine.games.chance import compiled
from engine.games.half_field import field
from engine.games.half_field.field import BALL, BALL_DECAY, GOALKEEPER, HALF, LENGTH, PLAYER, POST, STEP

ADVANCE, REACTION, CATCH, POWER_SHARE = 3.0, 3, 1.2, 1.0
CYCLES = 40  # of a shot that it looks ahead
WIDE = 1.0  # how far beside the goal a shot is still taken seriously
NEAR, AIMED = 0.3, 0.2  # metres within which it stands well, radians within which its body does


@compiled
def holds(s: Any) -> bool:
    """Whether it catches the ball where it is now."""
    within = LENGTH - field.AREA_LONG <= s[BALL] <= LENGTH and abs(s[BALL + 1]) <= field.AREA_HALF
    return bool(within and field.gap(s, GOALKEEPER, BALL) <= CATCH)


@compiled
def shot(s: Any) -> bool:
    """Whether the ball is on its way into the goal, or nearly."""
    vx, vy = s[BALL + 2], s[BALL + 3]
    if vx <= 0.0 or s[BALL] + vx / (1.0 - BALL_DECAY) < LENGTH:
        return False
    return bool(abs(s[BALL + 1] + vy / vx * (LENGTH - s[BALL])) <= POST + WIDE)


@compiled
def meeting(s: Any) -> tuple[float, float]:
    """Where on its way the ball can be met first; where it crosses the goal line, if nowhere."""
    x, y, vx, vy = s[BALL], s[BALL + 1], s[BALL + 2], s[BALL + 3]
    for n in range(1, CYCLES):
        x, y, vx, vy = x + vx, y + vy, BALL_DECAY * vx, BALL_DECAY * vy
        if x >= LENGTH or abs(y) > HALF:
            break
        if math.hypot(x - s[GOALKEEPER], y - s[GOALKEEPER + 1]) - field.KICKABLE <= n * POWER_SHARE:
            return x, y
    slope = s[BALL + 3] / s[BALL + 2] if s[BALL + 2] > 0.0 else 0.0
    return LENGTH - 0.5, s[BALL + 1] + slope * (LENGTH - 0.5 - s[BALL])


@compiled
def post_of(s: Any) -> tuple[float, float]:
    """Where it stands: on the line from the ball to the middle of the goal."""
    x, y = s[BALL] - LENGTH, s[BALL + 1]
    far = max(math.hypot(x, y), 1e-12)
    share = min(ADVANCE, 0.5 * far) / far
    return LENGTH + share * x, share * y


@compiled
def wanted(s: Any, since: int) -> tuple[float, float]:
    """Where it wants to be; ``since``: cycles since the attacker kicked last."""
    if shot(s):
        return meeting(s) if since >= REACTION else (s[GOALKEEPER], s[GOALKEEPER + 1])
    own, other = field.gap(s, GOALKEEPER, BALL), field.gap(s, PLAYER, BALL)
    inside = s[BALL] >= LENGTH - field.AREA_LONG and abs(s[BALL + 1]) <= field.AREA_HALF
    if inside and own < other:
        return s[BALL], s[BALL + 1]
    return post_of(s)


@compiled
def step_to(s: Any, direction: float, accel: Any) -> None:
    """Dash, in the direction and with the sign of power that gets it farthest towards a direction."""
    best, chosen = 0.0, 0
    for k in range(-2, 3):
        along = field.dash_rate(STEP * k) * math.cos(direction - s[GOALKEEPER + 4] - STEP * k)
        if abs(along) > abs(best):
            best, chosen = along, k
    power = field.POWER * POWER_SHARE
    field.dash(s, GOALKEEPER, power if best > 0.0 else -power, STEP * chosen, accel)


@compiled
def act(s: Any, since: int, accel: Any, word: Any, k: int) -> None:
    """A cycle of the keeper: a dash, or a turn where it stands well."""
    x, y = wanted(s, since)
    far = math.hypot(x - s[GOALKEEPER], y - s[GOALKEEPER + 1])
    if far > NEAR:
        step_to(s, math.atan2(y - s[GOALKEEPER + 1], x - s[GOALKEEPER]), accel)
        return
    across = math.atan2(s[BALL + 1] - s[GOALKEEPER + 1], s[BALL] - s[GOALKEEPER]) + math.pi / 2.0
    off = field.turned(across - s[GOALKEEPER + 4])
    if abs(off) > AIMED:
        field.turn(s, GOALKEEPER, off, word, k)
