"""The compiled rules of Platform (Masson, Ranchod and Konidaris 2016, section 5; the numbers are those of the published
``gym-platform``).

Somebody runs, hops and leaps over three platforms, past two enemies that walk to and fro. Lengths are in pixels, x to
the right and y up, and a moment lasts DT seconds. A run lasts MOMENTS moments; a hop and a leap last until somebody
stands again or falls. What is asked for is a speed that is gained each moment (run), or how far to get (hop, leap).
An enemy stands still while the player is on another platform.

Departures: (1) a random number is a hash of (episode seed, decision, its number) only; (2) an action lasts MOST
moments at most, which no action needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.games.chance import clip, compiled, normal
from engine.splitmix import combine

DT, MOMENTS, MOST = 0.05, 20, 400
HEIGHT = 40.0  # of a platform; who is lower has fallen
LEFT, WIDTH = (0.0, 475.0, 985.0), (250.0, 275.0, 50.0)  # of the platforms
GAPS = (225.0, 235.0)
END = 1035.0  # the right edge
WIDE, TALL = 20.0, 30.0  # of the player and of enemies
ENEMY_SPEED, NOISE = 30.0, 0.5
FASTEST, HIGHEST, FASTEST_ON = 100.0, 200.0, 70.0  # speeds: along, up, and along while standing
PUSH, LIFT = (FASTEST - FASTEST_ON) / DT, HIGHEST / DT  # accelerations at most
GRAVITY, DECAY, DEVIATION = 9.8, 0.99, 1.0
HOP_RISE, LEAP_RISE = 35.0, 25.0
RUN, HOP, LEAP = 0, 1, 2
LOW, HIGH = (0.0, 0.0, 0.0), (30.0, 720.0, 430.0)  # of what each action asks for
# Columns of the state float64[n, 8].
X, Y, SPEED, RISE = 0, 1, 2, 3
ENEMY, STATE = 4, 8  # x and speed of each enemy
# How an episode ended.
GOES_ON, FELL, HIT, ARRIVED = 0, 1, 2, 3
SEEN = 9
PATH = 16  # moments of a decision that a drawing shows


@compiled
def platform(x: float) -> int:
    """The platform that somebody at x is on, over the gap behind or beyond."""
    return (x >= LEFT[1]) + (x >= LEFT[2])


@compiled
def stands(x: float, y: float) -> bool:
    """Whether somebody stands on a platform."""
    on = False
    for k in range(3):
        on |= y == HEIGHT and -WIDE <= x - LEFT[k] <= WIDTH[k]
    return on


@compiled
def push(state: Any, action: int, amount: float, word: Any, k: int) -> None:
    """Change the player's speed in a moment of an action; the stream's numbers ``4 k`` to ``4 k + 2`` are its noise."""
    along, up, on = 0.0, -GRAVITY, stands(state[X], state[Y])
    if on and action == RUN:
        along, up = amount / DT, 0.0
    elif on:
        rise = HOP_RISE if action == HOP else LEAP_RISE
        wanted = clip(amount / (2.0 * rise / GRAVITY + 1.0) - state[SPEED], -PUSH, HIGHEST - rise)
        along = (wanted - DEVIATION * abs(normal(word, 4 * k + 1))) / DT
        up = (rise - DEVIATION * abs(normal(word, 4 * k + 2))) / DT
    slowed = abs(normal(word, 4 * k)) * NOISE * DT
    speed = state[SPEED] + clip(along, -PUSH, PUSH) * DT - slowed
    state[SPEED] = clip(speed, 0.0, FASTEST_ON if on else FASTEST)
    state[RISE] = clip(state[RISE] + clip(up, -LIFT, LIFT) * DT, -HIGHEST, HIGHEST)


@compiled
def walk(state: Any, e: int, noise: float) -> None:
    """A moment of an enemy: it turns around at the ends of its platform."""
    right = LEFT[e] + WIDTH[e] - WIDE
    speed = state[ENEMY + 2 * e + 1]
    if not LEFT[e] < state[ENEMY + 2 * e] < right:
        speed = -speed
    speed = clip(speed + NOISE * DT * noise, -ENEMY_SPEED, ENEMY_SPEED)
    state[ENEMY + 2 * e + 1] = speed
    state[ENEMY + 2 * e] = clip(state[ENEMY + 2 * e] + speed * DT, LEFT[e], right)


@compiled
def land(state: Any) -> None:
    """Take the player out of a platform that it is in: up where it came from above, else to the side."""
    for k in range(3):
        x, y = state[X], state[Y]
        if not (LEFT[k] - WIDE < x < LEFT[k] + WIDTH[k] and -TALL < y < HEIGHT):
            continue
        aside = x
        if x < LEFT[k]:
            aside = LEFT[k] - WIDE
        elif x > LEFT[k] + WIDTH[k] - WIDE:
            aside = LEFT[k] + WIDTH[k]
        if y <= HEIGHT - TALL or (aside != x and abs(x - aside) < HEIGHT - y):
            state[X] = aside
        else:
            state[RISE], state[Y] = 0.0, HEIGHT
        state[SPEED] = 0.0


@compiled
def moment(state: Any, action: int, amount: float, word: Any, k: int) -> int:
    """A moment of a battle. Returns whether and how its episode ended."""
    push(state, action, amount, word, k)
    awake = 1 if state[X] >= LEFT[1] else 0
    state[X] = clip(state[X] + state[SPEED] * DT, 0.0, END)
    state[Y] += state[RISE] * DT
    state[SPEED] *= DECAY
    walk(state, awake, normal(word, 4 * k + 3))
    land(state)
    if state[X] >= END:
        return ARRIVED
    for e in range(2):
        if abs(state[X] - state[ENEMY + 2 * e]) < WIDE and HEIGHT - TALL < state[Y] < HEIGHT + TALL:
            return HIT
    return FELL if state[Y] < HEIGHT else GOES_ON


@compiled
def act(state: Any, action: int, amount: float, word: Any, way: Any) -> tuple[int, int]:
    """A decision of a battle: how its episode ended, if it did, and how many moments it took. ``way`` float64[MOST, 4]:
    where the player (x, y) and the enemies (x) were after each."""
    for k in range(MOST):
        ended = moment(state, action, amount, word, k)
        way[k, 0], way[k, 1] = state[X], state[Y]
        way[k, 2], way[k, 3] = state[ENEMY], state[ENEMY + 2]
        last = k == MOMENTS - 1 if action == RUN else stands(state[X], state[Y])
        if ended or last:
            return ended, k + 1
    return GOES_ON, MOST


@compiled
def play(
    seeds: Any, ticks: Any, actions: Any, states: Any, paths: Any, ends: Any, tallies: Any, paid: Any, over: Any
) -> None:  # fmt: skip
    """One decision of every battle: ``actions`` float32[n, 4]; ``states`` float64[n, 8]; ``paths`` float64[n, PATH, 4];
    ``ends`` int64[n]; ``tallies`` float64[n, 3], how often each action was chosen; ``paid`` float32[n, 1, 1], the way
    gained as a share of the whole; ``over`` bool[n]."""
    way = np.empty((MOST, 4))
    for i in range(len(states)):
        action, before = int(actions[i, 0]), states[i, X]
        word = combine(seeds[i], np.uint64(ticks[i] + 1))
        ends[i], moments = act(states[i], action, float(actions[i, 1 + action]), word, way)
        for p in range(PATH):
            paths[i, p] = way[(p + 1) * moments // PATH - 1 if moments >= PATH else min(p, moments - 1)]
        tallies[i, action] += 1.0
        paid[i, 0, 0] = (states[i, X] - before) / END
        over[i] = ends[i] != GOES_ON


@compiled
def restart(battles: Any, first: int, states: Any, paths: Any, ends: Any, tallies: Any) -> None:
    """Begin new episodes in these battles, on the left edge of platform ``first``; enemies are at the right edges."""
    for i in battles:
        states[i, X], states[i, Y], states[i, SPEED], states[i, RISE] = LEFT[first], HEIGHT, 0.0, 0.0
        for e in range(2):
            states[i, ENEMY + 2 * e], states[i, ENEMY + 2 * e + 1] = LEFT[e] + WIDTH[e] - WIDE, -ENEMY_SPEED
        for p in range(PATH):
            paths[i, p, 0], paths[i, p, 1] = states[i, X], HEIGHT
            paths[i, p, 2], paths[i, p, 3] = states[i, ENEMY], states[i, ENEMY + 2]
        ends[i] = GOES_ON
        tallies[i, :] = 0.0


@compiled
def observe(battles: Any, states: Any, out: Any) -> None:
    """The published features float32[n, 9], mostly from 0 to 1: x and speed of the player and of the enemy of its
    platform, width of its platform and of the next one, the gap between them, where its platform begins, and how much
    higher the next one is, which is 0 here."""
    for i in battles:
        x, on = states[i, X], platform(states[i, X])
        e = ENEMY + 2 if x >= LEFT[1] else ENEMY
        out[i, 0], out[i, 1] = (x + WIDE) / (END + WIDE), states[i, SPEED] / FASTEST
        out[i, 2], out[i, 3] = states[i, e] / END, (states[i, e + 1] + ENEMY_SPEED) / (2.0 * ENEMY_SPEED)
        out[i, 4], out[i, 5], out[i, 6] = WIDTH[on] / WIDTH[1], 0.0, 0.0
        if on < 2:
            out[i, 5], out[i, 6] = WIDTH[on + 1] / WIDTH[1], GAPS[on] / GAPS[1]
        out[i, 7], out[i, 8] = LEFT[on] / END, 0.0
