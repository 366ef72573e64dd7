"""The compiled rules of tanks (AI Safety TanksWorld: Rivera et al. 2020; Staley et al. 2021, section 5.1).

Five red tanks (0 to 4) begin opposite five blue ones (5 to 9), on sides that are drawn; two neutral ones (10 and 11)
drive about between them and never shoot. A tank drives, turns and shoots. A shell detonates at whatever it meets, or
where its range ends, and hurts everybody within BLAST metres, the less the farther away: enemies, friends, neutral
tanks, and whoever shot it. Dead tanks are taken away. Obstacles, placed anew for each episode, stop tanks and shells.

What the original's documents say is kept: 100 metres, 20 m/s, shells of 50 m/s with a range of 40.6 m and a blast of
5 m, 100 points of life, one shell of each tank in the air, shooting above a half, the reward of each tank. Departures:
(1) a moment lasts a twentieth of a second, a tank turns by 6 degrees in it, reloads for 12 of them, and a shell takes
DAMAGE points at its very point: the documents do not tell these. (2) Flat: shells fly straight, tanks and obstacles are
discs, nobody is pushed away by a blast. (3) Everybody hurt by a shell counts for its shooter; the original counts one.
(4) A random number is a hash of (episode seed, purpose, number) only.
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


SQUAD, FIGHTERS, TANKS = 5, 10, 12
HALF = 50.0  # metres from the middle to a wall
DRIVE, TURN = 1.0, np.pi / 30.0  # metres and radians in a moment, at most
SHELL, RANGE, BLAST, DAMAGE = 2.5, 40.6, 5.0, 60.0
RELOAD = 12  # moments from shot to shot, at least
BODY, MUZZLE = 1.1, 1.6  # a tank's radius; where its shells begin
LIFE = 100.0
WANDER = 0.4  # a neutral tank's share of the speed
# Columns of tanks float64[n, 12, 5] (angles grow against the clock), of shells float64[n, 10, 4] (LEFT: metres to go,
# 0: there is none), and of obstacles float64[n, K, 3].
X, Y, ANGLE, HEALTH, WAIT = range(5)
LEFT = 3
RADIUS = 2
# Columns of the tallies float64[n, 10, 8] of fighters since the episode began: damage to enemies, friends (itself
# too) and neutral tanks; damage taken and survived; enemies killed, others killed; whether it died; shots.
DEALT, FRIENDLY, NEUTRAL, TAKEN, KILLS, WRONGS, DIED, SHOTS = range(8)
TALLIES = 8
# Kinds of reward.
SCORE_REWARD, DEALT_REWARD, FRIENDLY_REWARD, NEUTRAL_REWARD, TAKEN_REWARD, WIN_REWARD = range(6)
# What random numbers are for.
SIDES, STARTS, STONES, WANDERS = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)

_11, _ONE = np.uint64(11), np.uint64(1)


@compiled
def uniform(seed: Any, purpose: Any, number: int) -> float:
    """A number from -1 to 1 from a hash."""
    word = combine(combine(seed, purpose), np.uint64(number))
    return float(word >> _11) * (2.0 / 9007199254740992.0) - 1.0


@compiled
def begin(seed: Any, tanks: Any, stones: Any) -> None:
    """Place everybody: both teams in lines that face each other, neutral tanks and obstacles between them."""
    left = 0 if (combine(seed, SIDES) & _ONE) == _ONE else 1
    for i in range(TANKS):
        tanks[i, HEALTH], tanks[i, WAIT] = LIFE, 0.0
        along, across = uniform(seed, STARTS, 2 * i), uniform(seed, STARTS, 2 * i + 1)
        if i < FIGHTERS:
            side = -1.0 if i // SQUAD == left else 1.0
            tanks[i, X] = side * (38.0 + 3.0 * along)
            tanks[i, Y] = -20.0 + 10.0 * (i % SQUAD) + 2.0 * across
            tanks[i, ANGLE] = 0.0 if side < 0.0 else np.pi
        else:
            tanks[i, X], tanks[i, Y] = 20.0 * along, 40.0 * across
            tanks[i, ANGLE] = np.pi * uniform(seed, STARTS, 2 * i + 100)
    for k in range(len(stones)):
        stones[k, X], stones[k, Y] = 28.0 * uniform(seed, STONES, 3 * k), 45.0 * uniform(seed, STONES, 3 * k + 1)
        stones[k, RADIUS] = 2.0 + uniform(seed, STONES, 3 * k + 2)


@compiled
def wander(seed: Any, tick: int, i: int, out: Any) -> None:
    """What a neutral tank does in a decision: on, and a little to one side."""
    out[0] = WANDER
    out[1] = uniform(seed, WANDERS, 2 * tick + i - FIGHTERS)
    out[2] = -1.0


@compiled
def barred(i: int, x: float, y: float, tanks: Any, before: Any) -> bool:
    """Whether another living tank is in the way that was not nearer before. Both may drive in the same moment, so that
    they keep one way apart."""
    for j in range(TANKS):
        if j != i and tanks[j, HEALTH] > 0.0:
            there = (x - before[j, X]) ** 2 + (y - before[j, Y]) ** 2
            here = (before[i, X] - before[j, X]) ** 2 + (before[i, Y] - before[j, Y]) ** 2
            if there < (2.0 * BODY + DRIVE) ** 2 and there < here:
                return True
    return False


@compiled
def drive(orders: Any, tanks: Any, before: Any, stones: Any) -> None:
    """A moment's way of all living tanks, from where all were ``before`` float64[12, 5]: along walls and obstacles,
    but not through other tanks."""
    before[:] = tanks
    for i in range(TANKS):
        if tanks[i, HEALTH] <= 0.0:
            continue
        pace = min(max(float(orders[i, 0]), -1.0), 1.0) * DRIVE
        turn = min(max(float(orders[i, 1]), -1.0), 1.0) * TURN
        angle = tanks[i, ANGLE] - turn
        tanks[i, ANGLE] = angle - 2.0 * np.pi * np.floor((angle + np.pi) / (2.0 * np.pi))
        x, y = tanks[i, X] + pace * np.cos(tanks[i, ANGLE]), tanks[i, Y] + pace * np.sin(tanks[i, ANGLE])
        for k in range(len(stones)):
            gap = np.sqrt((x - stones[k, X]) ** 2 + (y - stones[k, Y]) ** 2)
            reach = stones[k, RADIUS] + BODY
            if 0.0 < gap < reach:
                x = stones[k, X] + (x - stones[k, X]) * reach / gap
                y = stones[k, Y] + (y - stones[k, Y]) * reach / gap
        x, y = min(max(x, BODY - HALF), HALF - BODY), min(max(y, BODY - HALF), HALF - BODY)
        if not barred(i, x, y, tanks, before):
            tanks[i, X], tanks[i, Y] = x, y


@compiled
def shoot(orders: Any, tanks: Any, shells: Any, tally: Any) -> None:
    """Fighters that want to, are loaded and have no shell in the air begin one."""
    for i in range(FIGHTERS):
        if tanks[i, HEALTH] <= 0.0:
            continue
        tanks[i, WAIT] = max(tanks[i, WAIT] - 1.0, 0.0)
        if orders[i, 2] > 0.5 and tanks[i, WAIT] == 0.0 and shells[i, LEFT] == 0.0:
            angle = tanks[i, ANGLE]
            shells[i, X] = tanks[i, X] + MUZZLE * np.cos(angle)
            shells[i, Y] = tanks[i, Y] + MUZZLE * np.sin(angle)
            shells[i, ANGLE], shells[i, LEFT] = angle, RANGE
            tanks[i, WAIT] = RELOAD
            tally[i, SHOTS] += 1.0


@compiled
def met(x: float, y: float, across: float, up: float, way: float, at_x: float, at_y: float, radius: float) -> float:
    """How far along a way (a unit vector and a length) a disc is met; the way itself where it is not."""
    gap_x, gap_y = at_x - x, at_y - y
    along = gap_x * across + gap_y * up
    beside = gap_x * gap_x + gap_y * gap_y - along * along
    if beside >= radius * radius:
        return way
    first = along - np.sqrt(radius * radius - beside)
    if first < 0.0:
        return 0.0 if gap_x * gap_x + gap_y * gap_y < radius * radius else way
    return float(min(first, way))


@compiled
def fly(i: int, tanks: Any, shells: Any, stones: Any) -> bool:
    """A moment's flight of a shell. Returns whether it detonates, at its new place."""
    x, y, across, up = shells[i, X], shells[i, Y], np.cos(shells[i, ANGLE]), np.sin(shells[i, ANGLE])
    whole = min(SHELL, shells[i, LEFT])
    way = whole
    for j in range(TANKS):
        if j != i and tanks[j, HEALTH] > 0.0:
            way = min(way, met(x, y, across, up, whole, tanks[j, X], tanks[j, Y], BODY))
    for k in range(len(stones)):
        way = min(way, met(x, y, across, up, whole, stones[k, X], stones[k, Y], stones[k, RADIUS]))
    shells[i, X], shells[i, Y] = x + way * across, y + way * up
    outside = abs(shells[i, X]) >= HALF or abs(shells[i, Y]) >= HALF
    shells[i, LEFT] -= way
    return bool(way < whole or outside or shells[i, LEFT] <= 0.0)


@compiled
def blast(i: int, tanks: Any, shells: Any, tally: Any) -> None:
    """What the shell of fighter ``i`` does to everybody near."""
    for j in range(TANKS):
        if tanks[j, HEALTH] <= 0.0:
            continue
        gap = np.sqrt((tanks[j, X] - shells[i, X]) ** 2 + (tanks[j, Y] - shells[i, Y]) ** 2)
        if gap >= BLAST:
            continue
        damage = min(DAMAGE * (1.0 - gap / BLAST), tanks[j, HEALTH])
        tanks[j, HEALTH] -= damage
        dead = tanks[j, HEALTH] <= 0.0
        enemy = j < FIGHTERS and j // SQUAD != i // SQUAD
        tally[i, DEALT if enemy else (NEUTRAL if j >= FIGHTERS else FRIENDLY)] += damage
        if dead:
            tally[i, KILLS if enemy else WRONGS] += 1.0
        if j < FIGHTERS:
            if dead:
                tally[j, DIED] = 1.0
            else:
                tally[j, TAKEN] += damage
    shells[i, LEFT] = 0.0


@compiled
def moment(number: int, orders: Any, tanks: Any, before: Any, shells: Any, stones: Any, tally: Any) -> None:
    """Everybody drives and shoots, then all shells fly; which team's shells come first alternates."""
    drive(orders, tanks, before, stones)
    shoot(orders, tanks, shells, tally)
    for k in range(FIGHTERS):
        i = (k + SQUAD * (number % 2)) % FIGHTERS
        if shells[i, LEFT] > 0.0 and fly(i, tanks, shells, stones):
            blast(i, tanks, shells, tally)


@compiled
def health(side: int, tanks: Any) -> float:
    """A team's life, as a share of the whole."""
    total = 0.0
    for i in range(side * SQUAD, (side + 1) * SQUAD):
        total += max(tanks[i, HEALTH], 0.0)
    return total / (SQUAD * LIFE)


@compiled
def won(side: int, tanks: Any) -> float:
    """1 for the team with more life left, 0 for the other one, 0.5 where both have as much."""
    own, other = health(side, tanks), health(1 - side, tanks)
    return 0.5 if own == other else (1.0 if own > other else 0.0)


@compiled
def pay(kinds: Any, good: float, bad: float, gone: bool, tanks: Any, before: Any, tally: Any, out: Any) -> None:
    """The rewards float32[10, R] of fighters for a decision, from their tallies before and after it; ``gone``: whether
    a team is. Who wins when time is up is no reward: there values go on, and would add up such rewards without end."""
    for i in range(FIGHTERS):
        gain = tally[i] - before[i]
        for r in range(len(kinds)):
            if kinds[r] == SCORE_REWARD:
                wrong = (gain[FRIENDLY] + gain[NEUTRAL] + gain[TAKEN]) / LIFE + gain[WRONGS] + gain[DIED]
                out[i, r] = good * (gain[DEALT] / LIFE + gain[KILLS]) - bad * wrong
            elif kinds[r] == DEALT_REWARD:
                out[i, r] = gain[DEALT] / LIFE
            elif kinds[r] == FRIENDLY_REWARD:
                out[i, r] = gain[FRIENDLY] / LIFE
            elif kinds[r] == NEUTRAL_REWARD:
                out[i, r] = gain[NEUTRAL] / LIFE
            elif kinds[r] == TAKEN_REWARD:
                out[i, r] = gain[TAKEN] / LIFE + gain[DIED]
            else:
                out[i, r] = 2.0 * won(i // SQUAD, tanks) - 1.0 if gone else 0.0


@compiled
def play(
    seeds: Any, orders: Any, ticks: Any, skip: int, kinds: Any, good: float, bad: float, tanks: Any,
    shells: Any, stones: Any, tallies: Any, alive: Any, rewards: Any, ends: Any,
) -> None:  # fmt: skip
    """One decision of every battle: ``orders`` float32[n, 12, 3] (those of neutral tanks are written here); ``ticks``
    int64[n]; ``alive`` bool[n, 10]: who lived before and, from now on, who lives; ``rewards`` float32[n, 10, R], 0 for
    who was dead; ``ends`` bool[n]: a team is gone."""
    places, before = np.empty((TANKS, 5)), np.empty((FIGHTERS, TALLIES))
    for n in range(len(seeds)):
        before[:] = tallies[n]
        for i in range(FIGHTERS, TANKS):
            wander(seeds[n], ticks[n], i, orders[n, i])
        ends[n] = False
        for m in range(skip):
            moment(ticks[n] * skip + m, orders[n], tanks[n], places, shells[n], stones[n], tallies[n])
            if health(0, tanks[n]) == 0.0 or health(1, tanks[n]) == 0.0:
                ends[n] = True
                break
        ticks[n] += 1
        pay(kinds, good, bad, ends[n], tanks[n], before, tallies[n], rewards[n])
        for i in range(FIGHTERS):
            if not alive[n, i]:
                rewards[n, i] = 0.0
            alive[n, i] = tanks[n, i, HEALTH] > 0.0


@compiled
def restart(
    battles: Any, seeds: Any, tanks: Any, shells: Any, stones: Any, tallies: Any, ticks: Any, alive: Any
) -> None:  # fmt: skip
    """Begin new episodes in these battles."""
    for n in battles:
        begin(seeds[n], tanks[n], stones[n])
        shells[n] = 0.0
        tallies[n] = 0.0
        ticks[n] = 0
        alive[n] = True
