"""What rewards and goals of a style are worth on stored sample episodes, before anything is trained.

``Samples`` are made by ``engine.styles.samples`` and stored by hash; everything here is arithmetic on them, so a page
may call it while somebody types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import pack, unpack
from engine.columns import Arrays
from engine.config.evolve import AimConfig
from engine.config.sound_goals import FEWEST, PREFERS, alike, only_measure
from engine.config.style_reward import STYLE, TIME, WINNING, StyleReward, formula_of, identifier
from engine.errors import ConfigError
from engine.formula import Formula, goal, parse
from engine.text import written

Floats = NDArray[np.float64]
CANCELLED = 1e-6
"""Share of what is paid for winning that may remain of rewards that cancel out: single precision tells no less."""
CANCELS = "pays the same in every decision, for winning and the style cancel out: nothing can be learned from it"
NAMES_NOTHING = "is the same in every decision, for it names no signal: name what the game is to pay for"
POINTS = 64
"""Made-up episodes in which goals are compared with one another."""
WIDEST = 6.0
"""Digits of the largest measure of a made-up episode."""
LARGEST = 1e9
"""Size of a reward of one decision, or of a goal, beyond which nobody can learn from it or be compared by it: networks
reckon with squares of returns in single precision."""


class Samples(NamedTuple):
    """Sample episodes of several ``players``. ``signals`` float32[decisions, S] and ``player`` and ``episode``
    int32[decisions] belong to decisions; ``measures`` float64[episodes, M] and ``whose`` int32[episodes] (a player's
    index) to episodes that ended. ``longest``: decisions in the longest episode (0: unknown)."""

    players: tuple[str, ...]
    signal_names: tuple[str, ...]
    measure_names: tuple[str, ...]
    longest: int
    signals: NDArray[np.float32]
    ticks: NDArray[np.int32]
    player: NDArray[np.int32]
    episode: NDArray[np.int32]
    measures: Floats
    whose: NDArray[np.int32]

    def pack(self) -> bytes:
        """As an artifact; equal samples give equal bytes."""
        meta = {"players": self.players, "signals": self.signal_names, "measures": self.measure_names}
        arrays: Arrays = {
            "signals": self.signals, "ticks": self.ticks, "player": self.player, "episode": self.episode,
            "measures": self.measures, "whose": self.whose,
        }  # fmt: skip
        return pack({**meta, "longest": self.longest}, arrays)

    @classmethod
    def unpack(cls, data: bytes) -> Samples:
        """The inverse of ``pack``. Raises StoreError."""
        meta, arrays = unpack(data)
        players, signals, measures = (tuple(meta[name]) for name in ("players", "signals", "measures"))
        return cls(players, signals, measures, meta["longest"], **arrays)


class Value(NamedTuple):
    """One reward or goal for one player. ``per``: the mean of a decision for rewards, of an episode for goals; ``low``
    and ``high``: the least and the most of an episode; ``episodes``: so many ended (0: low and high are NaN); ``each``:
    their values."""

    player: str
    name: str
    per: float
    low: float
    high: float
    episodes: int
    each: tuple[float, ...] = ()


def values(style: StyleReward, objectives: Sequence[AimConfig], samples: Samples) -> list[Value]:
    """The value of each reward and each goal for each player. Raises ConfigError at ``task.style.NAME`` or
    ``objectives.I.formula`` for every formula that the game's names do not allow."""
    read = _read(style, objectives, samples)
    if read.wrong:
        raise ConfigError(read.wrong)
    return _values(read, samples)


def readable(style: StyleReward, objectives: Sequence[AimConfig], samples: Samples) -> list[Value]:
    """``values`` of those formulas that can be read and give numbers up to ``LARGEST`` everywhere: while somebody
    types, one may not do so yet."""
    read = _read(style, objectives, samples)
    return _values(read._replace(rewards=_sound(read.rewards), goals=_sound(read.goals)), samples)


def _sound(every: Mapping[str, Floats]) -> dict[str, Floats]:
    return {name: each for name, each in every.items() if np.abs(each).max(initial=0.0) <= LARGEST}  # never of a NaN


def _values(read: _Read, samples: Samples) -> list[Value]:
    found: list[Value] = []
    for number, player in enumerate(samples.players):
        own, ended = samples.player == number, samples.whose == number
        for name, paid in read.rewards.items():
            found.append(_value(player, name, paid[own], read.sums[name][ended]))
        found += [_value(player, name, each[ended], each[ended]) for name, each in read.goals.items()]
    return found


def problems(style: StyleReward, objectives: Sequence[AimConfig], samples: Samples) -> list[tuple[str, str]]:
    """(place, sentence) for each formula that names what the game does not have, each reward and goal that is not a
    number or too large somewhere, each reward that is the same in all decisions of sample episodes and adds up to the
    same in each, and each goal that cannot select: whose formula gives one number whatever is measured, or what another
    goal gives. What is learned from is no goal: it does not select."""
    read = _read(style, objectives, samples)
    wrong = list(read.wrong)
    for name, paid in read.rewards.items():
        weight, place = style.w1 if name == WINNING else style.w2, f"task.style.{name}"
        named = formula_of(style.formulas[name], (*samples.signal_names, TIME), place).names
        sentence = _no_number(paid, samples) or _too_large(paid)
        if not sentence and weight != 0:
            sentence = _same(paid, samples) or ("" if named else NAMES_NOTHING)
        wrong.append((place, sentence))
    if not any(sentence for _, sentence in wrong) and _cancels(style, read, samples):
        wrong.append(("task.style", CANCELS))
    for i, aim in enumerate(objectives):
        if (each := read.goals.get(aim.measure)) is not None:
            part = "formula" if aim.formula else "measure"
            wrong.append((f"objectives.{i}.{part}", _no_goal(each) or _too_large(each)))
    wrong += _idle_goals(objectives, samples)
    return [(place, sentence) for place, sentence in wrong if sentence]


def _cancels(style: StyleReward, read: _Read, samples: Samples) -> bool:
    """Whether winning and style together pay the same for every decision, by any weights that an agent may have, and
    nothing or the same for every episode."""
    winning, own = (read.rewards.get(name, np.empty(0)) for name in (WINNING, STYLE))
    if not len(winning) or len(winning) != len(own):
        return False
    pairs = [(w1 * winning, w2 * own) for w1 in _numbers(style.w1) for w2 in _numbers(style.w2)]
    last = _last_alike(samples)
    return all(_lost(a, a + b, last) for a, b in pairs)


def _lost(winning: Floats, whole: Floats, last: bool) -> bool:
    """Whether of what is paid for winning nothing remains that differs; ``last``: all episodes last equally long."""
    size = float(np.ptp(winning) or np.abs(winning[0])) * CANCELLED
    return size > 0 and bool(np.ptp(whole) <= size and (last or np.abs(whole).max() <= size))


def _last_alike(samples: Samples) -> bool:
    """Whether all sample episodes ended, after equally many decisions. Else what pays the same for each decision pays
    more for a longer episode, which can be learned."""
    owns = (samples.player == number for number in range(len(samples.players)))
    lasted = np.concatenate([np.bincount(samples.episode[own]) for own in owns])
    return 0 < len(lasted) == len(samples.measures) and bool(np.ptp(lasted) == 0)


def _numbers(weight: Any) -> list[float]:
    """A weight, or the ends of its range."""
    return [float(w) for w in weight if isinstance(w, int | float)] if isinstance(weight, tuple | list) else [weight]


def _idle_goals(objectives: Sequence[AimConfig], samples: Samples) -> list[tuple[str, str]]:
    """(place, sentence) for each goal that selects nobody, or as another goal does."""
    found, before, drawn = list[tuple[str, str]](), list[tuple[AimConfig, Floats]](), _drawn(samples)
    for i, aim in enumerate(objectives):
        values = _evaluated([(aim.measure, aim.formula, "")], drawn, POINTS, [], goal) if aim.formula else drawn
        place, now = f"objectives.{i}.{'formula' if aim.formula else 'measure'}", values.get(aim.measure)
        if now is None or np.isfinite(now).sum() < FEWEST:
            continue
        now = np.where(np.isfinite(now), now, np.nan)
        if np.nanmax(now) == np.nanmin(now):
            found.append((place, f"is {written(np.nanmax(now) + 0.0, 'g')} whatever happens, so it selects nobody"))
            continue
        now, only = now if aim.direction == "max" else -now, only_measure(aim)
        same = (o.measure for o, then in before if alike(now, then, in_order=only_measure(o) == only != ""))
        found += [(place, PREFERS.format(name)) for name in islice(same, 1)]
        before.append((aim, now))
    return found


def _drawn(samples: Samples) -> dict[str, Floats]:
    """Measures of made-up episodes float64[POINTS] by name: half of them within three times what sample episodes cover,
    half of any size. Those who play at random may show little of a measure: a score of which all lose alike may still
    be won, so a goal is idle only if it is so for any size."""
    rng, found = np.random.default_rng(0), dict[str, Floats]()
    near, far = POINTS // 2, POINTS - POINTS // 2
    for name, column in zip(samples.measure_names, samples.measures.T, strict=True):
        known = column[np.isfinite(column)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
        span = max(high - low, 1.0)
        sizes = 10.0 ** rng.uniform(-1, WIDEST, far) * rng.choice([-1.0, 1.0], far)
        found[name] = np.concatenate([rng.uniform(low - span, high + span, near), sizes])
    return found


class _Read(NamedTuple):
    """Rewards by decision, their ``sums`` by episode, goals by episode, and (place, sentence) of what is misread."""

    rewards: dict[str, Floats]
    sums: dict[str, Floats]
    goals: dict[str, Floats]
    wrong: list[tuple[str, str]]


def _read(style: StyleReward, objectives: Sequence[AimConfig], samples: Samples) -> _Read:
    wrong: list[tuple[str, str]] = []
    signals = dict(zip(samples.signal_names, samples.signals.T.astype(np.float64), strict=True))
    if samples.longest:
        signals.setdefault(TIME, samples.ticks / samples.longest)
    texts = [(name, text, f"task.style.{name}") for name, text in style.formulas.items()]
    rewards = _evaluated(texts, signals, len(samples.signals), wrong)
    sums = {name: _summed(rewards[name], samples) for name in style.formulas if name in rewards}
    measures = dict(zip(samples.measure_names, samples.measures.T, strict=True))
    texts = [(aim.measure, aim.formula, f"objectives.{i}.formula") for i, aim in enumerate(objectives) if aim.formula]
    goals = _evaluated(texts, measures, len(samples.measures), wrong, goal)
    wrong += [
        (f"objectives.{i}.measure", "the game has a measure of this name: give the formula another")
        for i, aim in enumerate(objectives)
        if aim.formula and aim.measure in measures
    ]
    for i, aim in enumerate(objectives):
        if not aim.formula and aim.measure in measures:
            goals[aim.measure] = measures[aim.measure]
        elif not aim.formula:
            sentence = f"{aim.measure!r} is not measured; the game tells {', '.join(measures)}"
            wrong.append((f"objectives.{i}.measure", sentence))
    return _Read(rewards, sums, goals, wrong)


def _evaluated(
    texts: Sequence[tuple[str, str, str]], given: Mapping[str, Floats], n: int, wrong: list[tuple[str, str]],
    read: Callable[..., Formula] = parse,
) -> dict[str, Floats]:  # fmt: skip
    """Formulas (name, text, place) as float64[n] by name; adds to ``wrong`` those that cannot be ``read``."""
    columns = {identifier(name): column[:, None] for name, column in given.items()}
    found: dict[str, Floats] = {}
    for name, text, place in texts:
        try:
            found[name] = np.broadcast_to(formula_of(text, given, place, read).evaluate(columns), n)
        except ConfigError as error:
            wrong += [(problem.place, problem.message) for problem in error.problems]
    return found


def _summed(paid: Floats, samples: Samples) -> Floats:
    """The sum of a reward in each episode that ended."""
    parts = []
    for number in range(len(samples.players)):
        own, ended = samples.player == number, int((samples.whose == number).sum())
        parts.append(np.bincount(samples.episode[own], paid[own], minlength=ended)[:ended])
    return np.concatenate(parts)


def _value(player: str, name: str, each: Floats, episodes: Floats) -> Value:
    mean = float(each.mean()) if len(each) else float("nan")
    ends = (float(episodes.min()), float(episodes.max())) if len(episodes) else (float("nan"),) * 2
    return Value(player, name, mean, *ends, len(episodes), tuple(episodes.tolist()))


def _no_number(paid: Floats, samples: Samples) -> str:
    bad = np.flatnonzero(~np.isfinite(paid))
    if not len(bad):
        return ""
    first = int(bad[0])
    who, tick = samples.players[samples.player[first]], int(samples.ticks[first]) + 1
    pairs = zip(samples.signal_names, samples.signals[first].tolist(), strict=True)
    given = ", ".join(f"{name} = {written(value, 'g')}" for name, value in pairs)
    many = f"in {len(bad):,} of {len(paid):,} decisions of sample episodes"
    return f"is not a number {many}, first in decision {tick} of the player {who}: there {given}"


def _too_large(each: Floats) -> str:
    most = float(np.abs(each).max(initial=0.0))
    return f"is as large as {most:.3g}; {LARGEST:,.0f} is the most: divide it by a number" if most > LARGEST else ""


def _same(paid: Floats, samples: Samples) -> str:
    """Whether a reward never changes, as single precision tells it to who learns, and pays no longer episode more;
    where no episode ended, a change may be yet to come."""
    if not len(samples.measures) or np.ptp(paid.astype(np.float32)) > 0:
        return ""
    if np.float32(paid[0]) != 0 and not _last_alike(samples):
        return ""
    players, where = " and ".join(samples.players), f"in all {len(paid):,} decisions of sample episodes"
    return f"is {written(np.float32(paid[0]), 'g')} {where} ({players}): nothing can be learned from it"


def _no_goal(each: Floats) -> str:
    bad = int((~np.isfinite(each)).sum())
    return f"is not a number in {bad} of {len(each)} sample episodes" if bad else ""
