"""The compiled rules of Pong.

The field is x and y from -1 to 1; seat 0 defends x = -1, seat 1 x = 1. Everything about a side is computed with its
sign, and negating a float is exact, so exchanging the seats and the side of each serve exchanges the battle bit for
bit. A random number is a hash of (episode seed, serve, event) only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from engine.compiling import njit
from engine.splitmix import combine

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile without fast-math: the order of operations is as written, on every machine."""
    return cast(F, njit(cache=True, nogil=True, fastmath=False, error_model="numpy")(function))


LINE = 0.92  # where paddles stand
HALF = 0.15  # half a paddle's length
BALL = 0.03  # half the ball's size
STEP = 0.04  # a paddle's way in a moment
SERVE, FASTER, FASTEST = 0.04, 0.003, 0.07  # the ball's way along x in a moment: at a serve, more each hit, at most
SLICE = 0.055  # its way along y after a hit with the paddle's very end
SERVED_Y, SERVED_SLOPE = 0.5, 0.03  # a serve starts at most this far from the middle, and this steep
NOTICE = 0.25  # the scripted player follows a ball that comes nearer once it is past this x
SLOPPY = 0.75  # it aims to hit with a random part of its paddle, up to this share of the half

STAY, UP, DOWN = 0, 1, 2
# Columns of the state table float64[n, 8].
BALL_X, BALL_Y, SPEED_X, SPEED_Y, PADDLE, MOVE = 0, 1, 2, 3, 4, 6
STATE = 8
# Columns of the count table int64[n, 12]; POINTS, MOVED, STAYED and HITS have one for each seat.
POINTS, TICKS, RALLY, SERVES, MOVED, STAYED, HITS, MOMENTS = 0, 2, 3, 4, 5, 7, 9, 11
COUNTS = 12
# Kinds of reward and of signal.
SCORE_REWARD, MOVED_REWARD, STAYED_REWARD, HIT_REWARD = 0, 1, 2, 3
SIGNALS = 3

_11, _ONE = np.uint64(11), np.uint64(1)


@compiled
def uniform(word: Any) -> float:
    """A number from -1 to 1 from a hash."""
    return float(word >> _11) * (2.0 / 9007199254740992.0) - 1.0


@compiled
def serve(seed: Any, mirror: bool, state: Any, count: Any) -> None:
    """Start the ball in the middle, towards a side drawn for each serve."""
    number = np.uint64(count[SERVES])
    word = combine(seed, number)
    left = (word & _ONE) == _ONE
    sign = -1.0 if left != mirror else 1.0
    state[BALL_X] = 0.0
    state[BALL_Y] = SERVED_Y * uniform(combine(word, np.uint64(1)))
    state[SPEED_X] = sign * SERVE
    state[SPEED_Y] = SERVED_SLOPE * uniform(combine(word, np.uint64(2)))
    count[SERVES] += 1
    count[RALLY] = 0


@compiled
def scripted(seed: Any, side: int, mirror: bool, state: Any, count: Any) -> int:
    """The built-in player: returns to the middle while the ball is away, then follows it with a part of its paddle that
    is drawn for each shot. It never predicts, so a steep shot beats it."""
    sign = -1.0 if side == 0 else 1.0
    aim = 0.0
    if state[SPEED_X] * sign > 0.0 and state[BALL_X] * sign > NOTICE:
        who = np.uint64(side ^ 1) if mirror else np.uint64(side)
        shot = combine(seed, np.uint64(1000 * count[SERVES] + count[RALLY] + 500))
        aim = state[BALL_Y] - SLOPPY * HALF * uniform(combine(shot, who))
    gap = aim - state[PADDLE + side]
    if abs(gap) <= STEP:
        return STAY
    return UP if gap > 0.0 else DOWN


@compiled
def move(side: int, action: int, state: Any, count: Any) -> None:
    """Move a paddle, inside the field."""
    way = STEP if action == UP else (-STEP if action == DOWN else 0.0)
    old = state[PADDLE + side]
    new = min(max(old + way, HALF - 1.0), 1.0 - HALF)
    state[PADDLE + side] = new
    state[MOVE + side] = new - old
    if new != old:
        count[MOVED + side] += 1
    if action == STAY:
        count[STAYED + side] += 1


@compiled
def fly(state: Any, count: Any) -> int:
    """Move the ball by one moment and count hits. Returns the side that lost the point, or -1."""
    side = 0 if state[SPEED_X] < 0.0 else 1
    sign = -1.0 if side == 0 else 1.0
    line = LINE - BALL
    old_x, old_y = state[BALL_X] * sign, state[BALL_Y]
    x, y = old_x + state[SPEED_X] * sign, old_y + state[SPEED_Y]
    hit = False
    if old_x < line <= x:
        crossing = old_y + (line - old_x) / (x - old_x) * (y - old_y)
        offset = (crossing - state[PADDLE + side]) / (HALF + BALL)
        if abs(offset) <= 1.0:
            hit = True
            x = 2.0 * line - x
            count[HITS + side] += 1
            count[RALLY] += 1
            speed = min(SERVE + FASTER * count[RALLY], FASTEST)
            state[SPEED_X] = -sign * speed
            state[SPEED_Y] = SLICE * offset
    wall = 1.0 - BALL
    if y > wall:
        y = 2.0 * wall - y
        state[SPEED_Y] = -abs(state[SPEED_Y])
    elif y < -wall:
        y = -2.0 * wall - y
        state[SPEED_Y] = abs(state[SPEED_Y])
    state[BALL_X], state[BALL_Y] = x * sign, y
    return side if x > 1.0 and not hit else -1


@compiled
def begin(seed: Any, mirror: bool, state: Any, count: Any) -> None:
    """A new episode."""
    state[:] = 0.0
    count[:] = 0
    serve(seed, mirror, state, count)


@compiled
def observe(side: int, state: Any, out: Any) -> None:
    """A seat's observation, as if it always defended the left: ball, its velocity, own paddle, the other's; each about
    -1 to 1."""
    sign = 1.0 if side == 0 else -1.0
    other = 1 - side
    out[0] = state[BALL_X] * sign
    out[1] = state[BALL_Y]
    out[2] = state[SPEED_X] * sign * 16.0
    out[3] = state[SPEED_Y] * 16.0
    out[4] = state[PADDLE + side]
    out[5] = state[MOVE + side] * 25.0
    out[6] = state[PADDLE + other]
    out[7] = state[MOVE + other] * 25.0


@compiled
def moment(seed: Any, mirror: bool, left: int, right: int, state: Any, count: Any) -> int:
    """Move both paddles, then the ball. Returns the side that lost a point, or -1."""
    move(0, left, state, count)
    move(1, right, state, count)
    count[MOMENTS] += 1
    loser = fly(state, count)
    if loser >= 0:
        count[POINTS + 1 - loser] += 1
        serve(seed, mirror, state, count)
    return loser


@compiled
def reward(kinds: Any, side: int, before: Any, count: Any, out: Any) -> None:
    """A seat's rewards for a decision: points won minus points lost, and the shares of its moments moved, stayed,
    hit."""
    moments = count[MOMENTS] - before[MOMENTS]
    for r in range(len(kinds)):
        if kinds[r] == SCORE_REWARD:
            won = count[POINTS + side] - before[POINTS + side]
            out[r] = won - (count[POINTS + 1 - side] - before[POINTS + 1 - side])
        elif kinds[r] == MOVED_REWARD:
            out[r] = (count[MOVED + side] - before[MOVED + side]) / moments
        elif kinds[r] == STAYED_REWARD:
            out[r] = (count[STAYED + side] - before[STAYED + side]) / moments
        else:
            out[r] = count[HITS + side] - before[HITS + side]


@compiled
def play(
    seeds: Any,
    mirror: bool,
    played: Any,
    actions: Any,
    skip: int,
    points: int,
    kinds: Any,
    states: Any,
    counts: Any,
    rewards: Any,
    ends: Any,
) -> None:
    """One decision of every battle: ``actions`` int64[n, 2] of the seats that are ``played`` bool[2]; ``rewards``
    float32[n, 2, R]; ``ends`` bool[n]: one side has enough points."""  # fmt: skip
    before = np.empty(COUNTS, np.int64)
    for i in range(len(seeds)):
        state, count = states[i], counts[i]
        before[:] = count
        ends[i] = False
        for _ in range(skip):
            left = actions[i, 0] if played[0] else scripted(seeds[i], 0, mirror, state, count)
            right = actions[i, 1] if played[1] else scripted(seeds[i], 1, mirror, state, count)
            moment(seeds[i], mirror, left, right, state, count)
            if count[POINTS] >= points or count[POINTS + 1] >= points:
                ends[i] = True
                break
        count[TICKS] += 1
        reward(kinds, 0, before, count, rewards[i, 0])
        reward(kinds, 1, before, count, rewards[i, 1])


@compiled
def observe_rows(side: int, states: Any, battles: Any, out: Any) -> None:
    """Write one seat's observations in these battles into their rows of float32[n, 8]."""
    for i in battles:
        observe(side, states[i], out[i])


@compiled
def restart(battles: Any, seeds: Any, mirror: bool, states: Any, counts: Any) -> None:
    """Begin new episodes in these battles."""
    for i in battles:
        begin(seeds[i], mirror, states[i], counts[i])
