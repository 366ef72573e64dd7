"""The compiled rules of Goal (Masson, Ranchod and Konidaris 2016, section 5; the numbers are those of the published
``gym-goal``, after the robot soccer server's manual 7.07).

A player with a ball attacks a goal that a keeper guards, on the right half of a pitch: x from 0 to the goal line at
HALF, y from −PITCH to PITCH, y up. A decision is to kick the ball to a point, or to shoot at a height of the goal line,
by two actions for its two sides. It lasts until the ball rests near the player (a kick) or the episode is over (a
shot): each moment the player turns or runs to the ball, or kicks it.

Departures: (1) a random number is a hash of (episode seed, decision, its number) only; (2) who misses below the goal is
as far from it as who misses as far above it (the published distance adds the goal's width there); (3) directions are
kept from −π to π; (4) a decision lasts MOST moments at most, which is longer than any that was seen; (5) a kick goes
to the point (x, y) of its two numbers, as the paper and the bounds of the published action say: ``gym-goal`` as it was
published last hands on the first number alone, so that its ball goes to (x, x).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.games.chance import between, clip, compiled
from engine.splitmix import combine

HALF, PITCH = 20.0, 15.0
POST, DEPTH = 7.01, 2.44  # half the goal's width, and its depth
AREA_LONG, AREA_HALF = 5.5, 9.16  # the goal area: its length, half its width
LONGEST = 40.0  # of a kick: the published bound of its x
PLAYER_RATE, PLAYER_RAND, PLAYER_MOST, PLAYER_DECAY = 0.006, 0.1, 1.0, 0.4
BALL_RATE, BALL_RAND, BALL_MOST, BALL_DECAY = 0.027, 0.05, 2.7, 0.94
PLAYER_SIZE, BALL_SIZE, KICKABLE, CATCHABLE = 0.9, 0.4, 1.6, 2.0
AT_FEET = KICKABLE - 1e-12  # of the ball at the start: rounding must not put it out of reach
INERTIA, POWER = 5.0, 100.0
DASH, CHASE, GUARD = 10.0, 20.0, 8.0  # power of the player, and of the keeper when a shot comes and otherwise
NEAR = math.pi / 8.0  # who looks as near as this faces it
STILL = 0.1  # the speed of a ball that rests
SCORED = 50.0  # reward of a goal; every other end is paid with minus the distance to the goal
KICK, SHOOT_LEFT, SHOOT_RIGHT = 0, 1, 2
# Columns of the state float64[n, 14]: x, y, velocity and direction of player and keeper, x, y and velocity of the ball.
PLAYER, GOALKEEPER, BALL, STATE = 0, 5, 10, 14
GOES_ON, GOAL, CAUGHT, OUT = 0, 1, 2, 3
LATE = 100  # the decision in which nothing happens any more
MOST, PATH = 1000, 16
DRAWS = 12  # numbers of a moment
SCALE = (HALF, 2.0 * PITCH, 2.0, 2.0, 2.0 * math.pi)
SHIFT = (0.0, PITCH, 1.0, 1.0, math.pi)


@compiled
def turned(angle: float) -> float:
    """The same direction from −π to π."""
    return float(angle - 2.0 * math.pi * math.floor((angle + math.pi) / (2.0 * math.pi)))


@compiled
def push(s: Any, at: int, power: float, theta: float, ball: bool, word: Any, k: int) -> None:
    """Accelerate what is at a column of the state, with the published noise of direction and strength."""
    rate, rand, most = (BALL_RATE, BALL_RAND, BALL_MOST) if ball else (PLAYER_RATE, PLAYER_RAND, PLAYER_MOST)
    fastest = BALL_MOST if ball else PLAYER_MOST
    theta *= 1.0 + between(word, k, -rand, rand)
    shake = rand * math.hypot(s[at + 2], s[at + 3])
    x = power * rate * math.cos(theta) + between(word, k + 1, -shake, shake)
    y = power * rate * math.sin(theta) + between(word, k + 2, -shake, shake)
    s[at + 2] = clip(s[at + 2] + clip(x, -most, most), -fastest, fastest)
    s[at + 3] = clip(s[at + 3] + clip(y, -most, most), -fastest, fastest)


@compiled
def gap(s: Any, a: int, b: int) -> float:
    """How far apart two things are."""
    return math.hypot(s[a] - s[b], s[a + 1] - s[b + 1])


@compiled
def towards(s: Any, a: int, x: float, y: float) -> float:
    """The direction from a thing to a point."""
    return math.atan2(y - s[a + 1], x - s[a])


@compiled
def play_ball(s: Any, x: float, y: float, word: Any, k: int) -> None:
    """The player's moment: kick the ball so that it comes to rest at a point, or get to the ball."""
    at_ball = towards(s, PLAYER, s[BALL], s[BALL + 1])
    off = turned(at_ball - s[PLAYER + 4])
    far = gap(s, PLAYER, BALL)
    if far <= KICKABLE:
        share = 1.0 - 0.25 * abs(off) / math.pi - 0.25 * far / KICKABLE
        ax = (1.0 - BALL_DECAY) * (x - s[PLAYER]) - s[BALL + 2]
        ay = (1.0 - BALL_DECAY) * (y - s[PLAYER + 1]) - s[BALL + 3]
        power = min(math.hypot(ax, ay) / (share * BALL_RATE), POWER)
        push(s, BALL, power * share, math.atan2(ay, ax), True, word, k)
    elif abs(off) >= NEAR:
        s[PLAYER + 4] = turned(s[PLAYER + 4] + off / (1.0 + INERTIA * math.hypot(s[PLAYER + 2], s[PLAYER + 3])))
    else:
        push(s, PLAYER, DASH, s[PLAYER + 4], False, word, k)


@compiled
def guard(s: Any, word: Any, k: int) -> None:
    """The keeper's moment: to the nearest point of a shot's way, otherwise to where the ball will rest."""
    x, y = s[BALL] + s[BALL + 2] / (1.0 - BALL_DECAY), s[BALL + 1] + s[BALL + 3] / (1.0 - BALL_DECAY)
    slope = s[BALL + 3] / s[BALL + 2] if s[BALL + 2] != 0.0 else 0.0
    start = s[BALL + 1] - slope * s[BALL]
    power = GUARD
    if x > HALF and abs(slope * HALF + start) <= POST + CATCHABLE and slope != 0.0:
        across = -1.0 / slope
        x = (s[GOALKEEPER + 1] - across * s[GOALKEEPER] - start) / (slope - across)
        y, power = slope * x + start, CHASE
    s[GOALKEEPER + 4] = towards(s, GOALKEEPER, x, y)
    push(s, GOALKEEPER, power, s[GOALKEEPER + 4], False, word, k)


@compiled
def part(s: Any, a: int, b: int, apart: float) -> None:
    """Move two things apart that overlap, and turn their velocities around."""
    overlap = (apart - gap(s, a, b)) / 2.0
    if overlap <= 0.0:
        return
    theta = towards(s, a, s[b], s[b + 1])
    for at, sign in ((a, -1.0), (b, 1.0)):
        s[at] += sign * overlap * math.cos(theta)
        s[at + 1] += sign * overlap * math.sin(theta)
        s[at + 2], s[at + 3] = -s[at + 2], -s[at + 3]


@compiled
def moment(s: Any, x: float, y: float, word: Any, k: int) -> int:
    """A moment of a battle in which the player wants the ball at a point; whether and how the episode ended."""
    play_ball(s, x, y, word, DRAWS * k)
    guard(s, word, DRAWS * k + 3)
    for at, decay in ((PLAYER, PLAYER_DECAY), (GOALKEEPER, PLAYER_DECAY), (BALL, BALL_DECAY)):
        s[at] += s[at + 2]
        s[at + 1] += s[at + 3]
        s[at + 2] *= decay
        s[at + 3] *= decay
    part(s, PLAYER, GOALKEEPER, 2.0 * PLAYER_SIZE)
    part(s, PLAYER, BALL, PLAYER_SIZE + BALL_SIZE)
    part(s, GOALKEEPER, BALL, PLAYER_SIZE + BALL_SIZE)
    if HALF <= s[BALL] <= HALF + DEPTH and abs(s[BALL + 1]) <= POST:
        return GOAL
    if gap(s, GOALKEEPER, BALL) < CATCHABLE:
        return CAUGHT
    return GOES_ON if 0.0 <= s[BALL] <= HALF and abs(s[BALL + 1]) <= PITCH else OUT


@compiled
def distance(s: Any) -> float:
    """How far the ball is from the goal's mouth."""
    return math.hypot(max(HALF - s[BALL], 0.0), max(abs(s[BALL + 1]) - POST, 0.0))


@compiled
def act(s: Any, action: Any, word: Any, way: Any) -> tuple[int, int]:
    """A decision of a battle: how its episode ended, if it did, and how many moments it took. ``way`` float64[MOST, 6]:
    where player, keeper and ball were after each."""
    shoots = int(action[0]) != KICK
    x, y = float(action[1]), float(action[2])
    if shoots:
        x, y = HALF + BALL_SIZE, float(action[2 + int(action[0])])
    for k in range(MOST):
        ended = moment(s, x, y, word, k)
        for j in range(3):
            way[k, 2 * j], way[k, 2 * j + 1] = s[5 * j], s[5 * j + 1]
        rests = math.hypot(s[BALL + 2], s[BALL + 3]) <= STILL and gap(s, PLAYER, BALL) <= KICKABLE
        if ended or (rests and not shoots):
            return ended, k + 1
    return GOES_ON, MOST


@compiled
def play(
    seeds: Any, ticks: Any, actions: Any, states: Any, paths: Any, ends: Any, tallies: Any, paid: Any, over: Any
) -> None:  # fmt: skip
    """One decision of every battle: ``actions`` float32[n, 5]; ``states`` float64[n, 14]; ``paths``
    float64[n, PATH, 6]; ``ends`` int64[n]; ``tallies`` float64[n, 1], kicks to a point; ``paid`` float32[n, 1, 1];
    ``over`` bool[n]."""
    way = np.empty((MOST, 6))
    for i in range(len(states)):
        ends[i], moments = GOES_ON, 0
        if ticks[i] + 1 < LATE:
            word = combine(seeds[i], np.uint64(ticks[i] + 1))
            ends[i], moments = act(states[i], actions[i], word, way)
        tallies[i, 0] += actions[i, 0] == KICK
        for p in range(PATH if moments else 0):
            paths[i, p] = way[(p + 1) * moments // PATH - 1 if moments >= PATH else min(p, moments - 1)]
        over[i] = ends[i] != GOES_ON or ticks[i] + 1 == LATE
        paid[i, 0, 0] = 0.0
        if ends[i] == GOAL:
            paid[i, 0, 0] = SCORED
        elif over[i]:
            paid[i, 0, 0] = -distance(states[i])


@compiled
def restart(
    battles: Any, seeds: Any, low: Any, high: Any, states: Any, paths: Any, ends: Any, tallies: Any
) -> None:  # fmt: skip
    """Begin new episodes in these battles: the player somewhere in the rectangle from ``low`` to ``high`` float64[2],
    the ball before it towards the middle of the goal, and the keeper at the edge of its area, between ball and goal."""
    for i in battles:
        s, word = states[i], combine(seeds[i], np.uint64(0))
        s[:] = 0.0
        s[PLAYER], s[PLAYER + 1] = between(word, 0, low[0], high[0]), between(word, 1, low[1], high[1])
        s[PLAYER + 4] = towards(s, PLAYER, HALF, 0.0)
        s[BALL] = s[PLAYER] + AT_FEET * math.cos(s[PLAYER + 4])
        s[BALL + 1] = s[PLAYER + 1] + AT_FEET * math.sin(s[PLAYER + 4])
        s[GOALKEEPER] = HALF - AREA_LONG
        s[GOALKEEPER + 1] = clip(s[BALL + 1] * AREA_LONG / (HALF - s[BALL]), -AREA_HALF, AREA_HALF)
        s[GOALKEEPER + 4] = towards(s, GOALKEEPER, s[BALL], s[BALL + 1])
        for p in range(PATH):
            for j in range(3):
                paths[i, p, 2 * j], paths[i, p, 2 * j + 1] = s[5 * j], s[5 * j + 1]
        ends[i] = GOES_ON
        tallies[i, 0] = 0.0


@compiled
def observe(battles: Any, states: Any, out: Any) -> None:
    """The published features float32[n, 14], mostly from 0 to 1: the state."""
    for i in battles:
        for j in range(BALL):
            out[i, j] = (states[i, j] + SHIFT[j % 5]) / SCALE[j % 5]
        for j in range(2):
            out[i, BALL + j] = (states[i, BALL + j] + SHIFT[j]) / SCALE[j]
            out[i, BALL + 2 + j] = (states[i, BALL + 2 + j] + 3.0) / 6.0
