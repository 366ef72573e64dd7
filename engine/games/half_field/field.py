"""What moves on the half field, and how: the movement and kick model of the RoboCup soccer server (its manual and its
published parameters; those of the version that half-field offence runs on, Hausknecht et al. 2016), compiled.

Lengths are in metres; x goes from the halfway line (0) to the goal line (LENGTH), y to the right of who attacks (down
in drawings), and angles turn from x to y. A cycle is a tenth of a second. Velocities are metres a cycle.

Departures: (1) nobody tires; (2) everybody knows where everything is, without noise; (3) a random number is a hash of
(episode seed, cycle, its number) only; (4) goal posts are not hit; (5) what lies exactly on top of each other is parted
along x, by the server in any direction; (6) nobody is fouled.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.games.chance import between, clip, compiled

LENGTH, WIDTH = 52.5, 68.0
HALF = WIDTH / 2.0
POST, POST_RADIUS = 7.01, 0.06  # half the goal's width
AREA_LONG, AREA_HALF = 16.5, 20.16  # the penalty area: its length, half its width
PLAYER_SIZE, PLAYER_DECAY, PLAYER_RAND, PLAYER_SPEED, PLAYER_ACCEL = 0.3, 0.4, 0.1, 1.05, 1.0
BALL_SIZE, BALL_DECAY, BALL_RAND, BALL_SPEED, BALL_ACCEL = 0.085, 0.94, 0.05, 3.0, 2.7
DASH_RATE, KICK_RATE, KICK_RAND, MARGIN, INERTIA, POWER = 0.006, 0.027, 0.1, 0.7, 5.0, 100.0
TACKLE_RAND = 2.0 * KICK_RAND  # the published tackle_rand_factor (version 14), of a kick's noise
TOUCH = PLAYER_SIZE + BALL_SIZE
KICKABLE = TOUCH + MARGIN
STEP, SIDE, BACK = math.pi / 4.0, 0.4, 0.6  # directions of a dash, and its strength to the side and to the back
BOUNCE = -0.1  # what is left of a velocity after a collision
# Columns of the state float64[n, 14]: x, y, velocity and body of player and keeper; x, y and velocity of the ball.
PLAYER, GOALKEEPER, BALL, STATE = 0, 5, 10, 14
AHEAD, ASIDE, STEEPNESS = 2.0, 1.25, 6.0  # how far a tackle reaches
STUCK = 9  # cycles after its own in which a tackle is felt: of the server's 10 its own is the first
PARTED, APART = 10, 1e-10  # how often what overlaps is parted in a cycle, and by how much more
DASH, TURN, KICK, TACKLE = 0, 1, 2, 3


@compiled
def turned(angle: float) -> float:
    """The same direction from −π to π."""
    return float(angle - 2.0 * math.pi * math.floor((angle + math.pi) / (2.0 * math.pi)))


@compiled
def gap(s: Any, a: int, b: int) -> float:
    """How far apart two things are."""
    return math.hypot(s[a] - s[b], s[a + 1] - s[b + 1])


@compiled
def dash_rate(direction: float) -> float:
    """The strength of a dash in a direction relative to the body, from −π to π."""
    aside = abs(direction) / (math.pi / 2.0)
    return SIDE + (1.0 - SIDE) * (1.0 - aside) if aside <= 1.0 else SIDE + (BACK - SIDE) * (aside - 1.0)


@compiled
def dash(s: Any, at: int, power: float, direction: float, accel: Any) -> None:
    """Add what a dash gives to the acceleration float64[2] of who is at a column. Less than no power goes the other
    way at the full strength of its direction."""
    direction = STEP * round(turned(direction) / STEP)
    strength = power * dash_rate(direction) * DASH_RATE
    accel[0] += strength * math.cos(s[at + 4] + direction)
    accel[1] += strength * math.sin(s[at + 4] + direction)


@compiled
def turn(s: Any, at: int, moment: float, word: Any, k: int) -> None:
    """Turn a body: the less the faster it moves."""
    share = 1.0 + between(word, k, -PLAYER_RAND, PLAYER_RAND)
    s[at + 4] = turned(s[at + 4] + share * moment / (1.0 + INERTIA * math.hypot(s[at + 2], s[at + 3])))


@compiled
def kick(s: Any, at: int, power: float, direction: float, accel: Any, word: Any, k: int) -> bool:
    """Add what a kick gives to the ball's acceleration float64[2]; False where the ball cannot be kicked."""
    far = gap(s, at, BALL)
    if far > KICKABLE:
        return False
    off = abs(turned(math.atan2(s[BALL + 1] - s[at + 1], s[BALL] - s[at]) - s[at + 4])) / math.pi
    off += max(far - TOUCH, 0.0) / MARGIN
    strength = power * KICK_RATE * (1.0 - 0.25 * off)
    most = KICK_RAND * power / POWER * (0.5 + 0.25 * off + fast(s))
    give(strength, s[at + 4] + direction, most, accel, word, k)
    return True


@compiled
def fast(s: Any) -> float:
    """How much the ball's speed adds to the noise of a kick or a tackle: 0.5 to 1."""
    return 0.5 + 0.5 * math.hypot(s[BALL + 2], s[BALL + 3]) / (BALL_SPEED * BALL_DECAY)


@compiled
def give(strength: float, direction: float, most: float, accel: Any, word: Any, k: int) -> None:
    """Add a strength in a direction to an acceleration, and noise of so much at most in any direction."""
    noise, astray = between(word, k, 0.0, most), between(word, k + 1, -math.pi, math.pi)
    accel[0] += strength * math.cos(direction) + noise * math.cos(astray)
    accel[1] += strength * math.sin(direction) + noise * math.sin(astray)


@compiled
def tackle(s: Any, at: int, direction: float, accel: Any, word: Any, k: int) -> bool:
    """Add what a tackle gives to the ball's acceleration float64[2]; False where it misses: always behind the player,
    and the more often the farther off the ball is. It has no strength backwards, and noise in every direction: the less
    the farther off the ball is, the more the faster it is. Takes numbers k to k + 2."""
    body, x, y = s[at + 4], s[BALL] - s[at], s[BALL + 1] - s[at + 1]
    x, y = x * math.cos(body) + y * math.sin(body), y * math.cos(body) - x * math.sin(body)
    misses = (abs(x) / AHEAD) ** STEEPNESS + (abs(y) / ASIDE) ** STEEPNESS
    if x <= 0.0 or between(word, k, 0.0, 1.0) < misses:
        return False
    direction = turned(direction)
    strength = POWER * (1.0 - abs(direction) / math.pi) * KICK_RATE * (1.0 - 0.5 * abs(math.atan2(y, x)) / math.pi)
    give(strength, body + direction, TACKLE_RAND * (0.5 + 0.5 * (1.0 - misses) + fast(s)), accel, word, k + 1)
    return True


@compiled
def move(s: Any, at: int, accel: Any, ball: bool, word: Any, k: int) -> None:
    """A cycle of who or what is at a column: accelerate, add noise, move, slow down."""
    most, fastest, rand, decay = PLAYER_ACCEL, PLAYER_SPEED, PLAYER_RAND, PLAYER_DECAY
    if ball:
        most, fastest, rand, decay = BALL_ACCEL, BALL_SPEED, BALL_RAND, BALL_DECAY
    share = min(most / max(math.hypot(accel[0], accel[1]), 1e-12), 1.0)
    x, y = s[at + 2] + share * accel[0], s[at + 3] + share * accel[1]
    share = min(fastest / max(math.hypot(x, y), 1e-12), 1.0)
    x, y = share * x, share * y
    noise, astray = between(word, k, 0.0, rand * math.hypot(x, y)), between(word, k + 1, -math.pi, math.pi)
    x, y = x + noise * math.cos(astray), y + noise * math.sin(astray)
    s[at] += x
    s[at + 1] += y
    s[at + 2], s[at + 3] = decay * x, decay * y


@compiled
def touch(s: Any, a: int, b: int, apart: float, ways: Any, times: Any) -> bool:
    """Whether two things overlap; if so, each is to go half of the way that parts them: added to ``ways`` float64[14],
    and counted in ``times`` float64[14], at their columns."""
    near = gap(s, a, b)
    if near >= apart:
        return False
    x, y = (s[b] - s[a]) / max(near, 1e-12), (s[b + 1] - s[a + 1]) / max(near, 1e-12)
    if near == 0.0:
        x = 1.0
    way = 0.5 * (apart - near + APART)
    for at, to in ((a, -way), (b, way)):
        ways[at] += to * x
        ways[at + 1] += to * y
        times[at] += 1.0
    return True


@compiled
def collisions(s: Any, guarded: bool) -> tuple[bool, bool]:
    """Part all that overlap: who overlaps with two goes to the middle of both places, and what overlaps then is parted
    in turn. Each is left with a tenth of its speed, backwards. Says whether the player ran into the ball, and into the
    keeper."""
    ways, times, ran = np.zeros(STATE), np.zeros(STATE), np.zeros(STATE)
    ball = other = False
    for _ in range(PARTED):
        ways[:], times[:] = 0.0, 0.0
        if touch(s, PLAYER, BALL, TOUCH, ways, times):
            ball = True
        if guarded:
            touch(s, GOALKEEPER, BALL, TOUCH, ways, times)
            if touch(s, PLAYER, GOALKEEPER, 2.0 * PLAYER_SIZE, ways, times):
                other = True
        if times.sum() == 0.0:
            break
        for at in (PLAYER, GOALKEEPER, BALL):
            if times[at] > 0.0:
                s[at] += ways[at] / times[at]
                s[at + 1] += ways[at + 1] / times[at]
                ran[at] = 1.0
    for at in (PLAYER, GOALKEEPER, BALL):
        if ran[at] > 0.0:
            s[at + 2], s[at + 3] = BOUNCE * s[at + 2], BOUNCE * s[at + 3]
    return ball, other


@compiled
def bounded(power: float) -> float:
    """The nearest power that a dash may have."""
    return clip(power, -POWER, POWER)
