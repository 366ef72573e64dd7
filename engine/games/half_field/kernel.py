"""The compiled rules of half-field offence (Hausknecht, Mupparaju, Subramanian, Kalyanakrishnan and Stone 2016): one
attacker on the half field of ``engine.games.half_field.field``, alone or against a goalkeeper.

An episode ends with a goal, when the whole ball is behind the line; with a ball that lay outside the half field a cycle
ago, as HFO looks at it; once the keeper has it (it catches the ball, or could kick it); and is cut short after a number
of cycles, or of cycles in which nobody could kick the ball. Ball and player begin as HFO places them: the ball in a
rectangle, the player around it, the keeper in the middle of the goal.

Departures, beside those of the movements: (7) the referee sees that the keeper has the ball when the cycle is over,
HFO's one cycle later; (8) the player begins looking anywhere (HFO: as it looked at the end of the last episode), and
half a metre behind the ball where HFO begins with the ball at its feet (10 cm, where both overlap); (9) of equation 6
the term 1[kick], of which the paper says no more, is paid once an episode, when the player can kick the ball for the
first time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.games.chance import between, clip, compiled
from engine.games.half_field import field, goalkeeper
from engine.games.half_field.field import BALL, GOALKEEPER, HALF, LENGTH, PLAYER, POST, STATE
from engine.mdp.choosing import uniform
from engine.splitmix import combine

SCORE, SHAPED, APPROACHED, REACHED, ADVANCED = range(5)
"""Kinds of reward."""
GOES_ON, GOAL, OUT, CAUGHT, LATE = range(5)
"""How an episode ended."""
UNTOUCHED, SINCE, KICKS, HAD, ENDED, FELT, COUNTS = range(7)
"""Columns of counts int64[n, 6]: cycles in which nobody could kick the ball and since the last kick, kicks, whether the
player could ever kick it, how the episode ended, cycles in which the player still feels a tackle and does nothing."""
HIT_BALL, HIT_PLAYER, FROZEN = 1, 2, 4
"""Bits of what the player ran into, and of whether it does nothing."""
FARTHEST = math.hypot(LENGTH, 2.0 * HALF)
UNIT = FARTHEST / 2.0
"""The unit of distances in rewards: HFO's features are from −1 to 1 over the longest way."""
PAY = 5.0
SPREAD, FEET, BEHIND = 10.5, 0.5, -0.1  # metres: of HFO's places around the ball, how near is at it, their least x
LINE = LENGTH + field.BALL_SIZE  # where the middle of the ball is once all of it is behind the goal line
ASIDE = np.array([(-1, -1), (-1, 1), (1, 1), (1, -1), (0, 2), (0, -2), (-2, -2), (-2, 2), (2, 2), (2, -2)], np.float64)
"""HFO's corners of places around the ball, in SPREADs."""
# Numbers of a cycle's stream: what each is for.
_TURN, _KICK, _OWN, _ITS, _BALL, _GOALKEEPER, _TACKLE = 0, 1, 3, 5, 7, 9, 10  # a tackle takes three


@compiled
def command(s: Any, counts: Any, action: Any, accel: Any, push: Any, word: Any) -> bool:
    """The player's action float32[6] or float32[7]: dash (power, direction), turn, kick (power, direction), tackle, in
    degrees. Says whether it kicked."""
    kind, degree = int(action[0]), math.pi / 180.0
    if counts[FELT] > 0:
        counts[FELT] -= 1
    elif kind == field.TACKLE:
        counts[FELT] = field.STUCK
        return field.tackle(s, PLAYER, float(action[6]) * degree, push, word, _TACKLE)
    elif kind == field.DASH:
        field.dash(s, PLAYER, float(action[1]), float(action[2]) * degree, accel)
    elif kind == field.TURN:
        field.turn(s, PLAYER, float(action[3]) * degree, word, _TURN)
    else:
        return field.kick(s, PLAYER, float(action[4]), float(action[5]) * degree, push, word, _KICK)
    return False


@compiled
def cycle(s: Any, counts: Any, action: Any, guarded: bool, word: Any) -> int:
    """A cycle of a battle: everybody acts on what was, then everything moves. Returns what the player ran into, and
    whether it does nothing next."""
    own, its, push = np.zeros(2), np.zeros(2), np.zeros(2)
    if guarded and goalkeeper.holds(s):
        counts[ENDED] = CAUGHT
        return 0
    kicked = command(s, counts, action, own, push, word)
    counts[KICKS] += kicked
    counts[SINCE] = 0 if kicked else counts[SINCE] + 1
    if guarded:
        goalkeeper.act(s, counts[SINCE], its, word, _GOALKEEPER)
    field.move(s, PLAYER, own, False, word, _OWN)
    x, y = s[BALL], s[BALL + 1]
    field.move(s, BALL, push, True, word, _BALL)
    if guarded:
        field.move(s, GOALKEEPER, its, False, word, _ITS)
    ball, other = field.collisions(s, guarded)
    if x <= LINE < s[BALL] and inside(x, y, s):
        counts[ENDED] = GOAL
    elif not (0.0 <= x <= LENGTH and abs(y) <= HALF):
        counts[ENDED] = OUT
    hit: int = HIT_BALL * ball + HIT_PLAYER * other + FROZEN * (counts[FELT] > 0)
    return hit


@compiled
def inside(x: float, y: float, s: Any) -> bool:
    """Whether a ball that came from (x, y) went between the posts."""
    width = POST + field.POST_RADIUS
    if x > LENGTH and abs(y) > width:
        return False  # round a post
    return bool(abs(y + (s[BALL + 1] - y) * (LINE - x) / (s[BALL] - x)) <= width)


@compiled
def judge(s: Any, counts: Any, guarded: bool) -> bool:
    """See whether and how an episode ended; returns whether the player can kick the ball for the first time in it."""
    could = field.gap(s, PLAYER, BALL) <= field.KICKABLE
    takes = guarded and field.gap(s, GOALKEEPER, BALL) <= field.KICKABLE
    if counts[ENDED] == GOES_ON and takes:
        counts[ENDED] = CAUGHT
    counts[UNTOUCHED] = 0 if could or takes else counts[UNTOUCHED] + 1
    first = could and counts[HAD] == 0
    counts[HAD] |= could
    return bool(first)


@compiled
def distances(s: Any, out: Any) -> None:
    """Distances float64[2] from player to ball and from ball to the middle of the goal, in UNITs."""
    out[0] = field.gap(s, PLAYER, BALL) / UNIT
    out[1] = math.hypot(LENGTH - s[BALL], s[BALL + 1]) / UNIT


@compiled
def pay(kinds: Any, gained: Any, first: bool, goal: bool, out: Any) -> None:
    """The rewards float32[R] of a decision: 5 for a goal (Li and Ji 2021, equation 5), and its shaped form (6): what
    the player got nearer to the ball, 1 when it can kick it for the first time, 3 times what the ball got nearer to the
    goal, and 5 for a goal. The first three also come by themselves, without weights."""
    for r in range(len(kinds)):
        if kinds[r] == SCORE:
            out[r] = PAY * goal
        elif kinds[r] == SHAPED:
            out[r] = gained[0] + first + 3.0 * gained[1] + PAY * goal
        elif kinds[r] == REACHED:
            out[r] = first
        else:
            out[r] = gained[0] if kinds[r] == APPROACHED else gained[1]


@compiled
def play(
    seeds: Any, ticks: Any, actions: Any, guarded: bool, kinds: Any, untouched: int, states: Any, counts: Any,
    hits: Any, paid: Any, over: Any, cut: Any,
) -> None:  # fmt: skip
    """One decision of every battle: ``actions`` float32[n, 6 or 7]; ``states`` float64[n, 14]; ``counts`` int64[n, 6];
    ``hits`` int64[n]; ``paid`` float32[n, 1, R]; ``over`` and ``cut`` bool[n]."""
    before, after = np.empty(2), np.empty(2)
    for i in range(len(states)):
        distances(states[i], before)
        hits[i] = cycle(states[i], counts[i], actions[i], guarded, combine(seeds[i], np.uint64(ticks[i] + 1)))
        first = judge(states[i], counts[i], guarded)
        distances(states[i], after)
        pay(kinds, before - after, first, counts[i, ENDED] == GOAL, paid[i, 0])
        over[i] = counts[i, ENDED] != GOES_ON
        cut[i] = not over[i] and counts[i, UNTOUCHED] > untouched
        if cut[i]:
            counts[i, ENDED] = LATE


@compiled
def restart(
    battles: Any, seeds: Any, guarded: bool, low: Any, high: Any, apart: float, states: Any, counts: Any, hits: Any
) -> None:  # fmt: skip
    """Begin new episodes in these battles: the ball in the rectangle from ``low`` to ``high`` float64[2], in shares of
    the field's length and half its width; ``apart``: see ``engine.config.agent_games``."""
    for i in battles:
        s, word = states[i], combine(seeds[i], np.uint64(0))
        s[:STATE] = 0.0
        s[BALL], s[BALL + 1] = LENGTH * between(word, 0, low[0], high[0]), HALF * between(word, 1, low[1], high[1])
        corner = ASIDE[int(uniform(word, 2) * len(ASIDE))]
        x, y = SPREAD * (corner[0] + uniform(word, 3)), SPREAD * (corner[1] + uniform(word, 4))
        s[PLAYER], s[PLAYER + 1] = s[BALL] - FEET, s[BALL + 1]
        if apart > 0.0:
            s[PLAYER] = clip(s[BALL] + apart * x, BEHIND, LENGTH)
            s[PLAYER + 1] = clip(s[BALL + 1] + apart * y, -0.8 * HALF, 0.8 * HALF)
        s[PLAYER + 4] = between(word, 5, -math.pi, math.pi)
        s[GOALKEEPER], s[GOALKEEPER + 4] = LENGTH, math.pi
        if not guarded:
            s[GOALKEEPER + 1] = -2.0 * HALF  # nowhere near
        field.collisions(s, guarded)
        counts[i, :] = 0
        counts[i, HAD] = field.gap(s, PLAYER, BALL) <= field.KICKABLE
        hits[i] = 0
