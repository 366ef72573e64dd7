"""Whether a style holds against opponents that an agent never learned against; light enough for a page.

A style that is an answer to one opponent is no style. So agents are measured against two strangers, too. How far a
style shifts is told as a share of its *span*: how far apart agents of its search lie in that measure, or, where there
are none, the episodes that were measured. The formal range of a share, 0 to 1, says nothing of a measure that no agent
brings above 0.1. An agent is fragile where a shift is surely larger than ``FRAGILE``, and holds its style where every
shift surely is not; ranges of all shifts hold at once. Between, nobody can tell yet, and it is said how many episodes
would.

No range holds for a measure without declared ends whatever its distribution is (Bahadur and Savage 1956, "The
nonexistence of certain statistical procedures in nonparametric problems"): what n episodes did not show may still
happen in log(1 / error) / n of them (the rule of three: Hanley and Lippman-Hand 1983, "If nothing goes wrong, is
everything all right?"). So a style holds in such a measure, or is fragile, only if it would be although episodes as
rare as that go ``FAR`` spans beyond, to either side. What resembles the episodes played has the range that these give
(``means.range_of_like``): where all shift by the same number it is that number, and the allowance alone decides.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.catalog import built_in, of_two
from engine.confidence import Range, bounds_once
from engine.config.train import TrainGame
from engine.means import range_of_like, widened

FRAGILE = 0.15
ENOUGH = 20
"""Episodes of each agent: a span that rests on fewer is too rough to judge by. One that rests on more is taken as it
was measured, though chance has a part in it."""
ERROR = 0.05
"""Probability that any of an agent's shifts lies outside its range."""
FAR = 100.0
"""Spans by which an episode that none resembled may change a measure without declared ends."""
SURE = 2
"""Standard errors that a mean must lie off the line before it can be said how many episodes would tell."""
MOST = 10_000_000
"""Episodes that nobody plays: where as many are needed, no number is told."""


class Shift(NamedTuple):
    """How far a ``measure`` is from what it is against the usual opponent, by the means of so many ``episodes``, and
    its range (infinite: unknown), in the measure's unit. ``error``: the standard error of the mean (None: not known),
    and ``tends``: what half the range's width comes to with many episodes, times the root of their number (0: as it is
    now). ``unseen``: the share of episodes that may be like none that was played (0: ends are declared, and the range
    allows for them)."""

    measure: str
    opponent: str
    mean: float
    low: float
    high: float
    episodes: int
    error: float | None = None
    tends: float = 0.0
    unseen: float = 0.0


class Mean(NamedTuple):
    """A measure's mean and the ends of its 95 % range (infinite: unknown)."""

    mean: float
    low: float
    high: float


class Moved(NamedTuple):
    """The shift that decides whether a style holds, as a share of the measure's span: ``by``, which ``measure``,
    against whom; it is at least ``low``, and no shift is larger than ``high`` (None: nobody knows). ``episodes``: about
    how many would tell where these do not; 0: no number is known. ``start`` and ``end``: this shift's own range.
    ``unseen``: that range alone would say whether the style holds, but the measure has no declared ends, and these are
    too few episodes to rule out rare ones far beyond. ``few``: episodes of each agent that the span rests on, where
    they are too few to judge by it; 0: they are enough, or not known. What earlier versions measured knows no range."""

    by: float
    measure: str
    opponent: str
    low: float = 0.0
    high: float | None = None
    episodes: int = 0
    end: float | None = None
    unseen: bool = False
    start: float | None = None
    few: int = 0

    @property
    def verdict(self) -> Literal["fragile", "holds", "open"]:
        """``open``: nobody can tell yet."""
        if self.few:
            return "open"
        if self.low > FRAGILE:
            return "fragile"
        return "holds" if self.high is not None and self.high <= FRAGILE else "open"

    @property
    def fragile(self) -> bool:
        """Whether it surely shifts too far."""
        return self.verdict == "fragile"


def strangers_of(game: str) -> tuple[str, ...]:
    """Scripts that nobody learns against in a game, and that can sit on its other seat."""
    known = built_in(game)
    return known.strangers if known is not None and of_two(game) else ()


def facing_strangers(game: TrainGame) -> TrainGame:
    """The same game with its other seat played from outside, for one that has ``strangers_of``."""
    return game.model_copy(update={"name": of_two(game.name)})


def shifts_of_means(
    own: Mapping[str, Mean], others: Mapping[str, Mapping[str, Mean]], style: Iterable[str], episodes: int,
    declared: Container[str],
) -> list[Shift]:  # fmt: skip
    """From means and ranges alone: ``own`` by measure against the usual opponent, those against ``others`` by their
    names, of so many ``episodes`` each; ``declared``: measures with declared ends. A difference lies within those of
    all values of two ranges. For what was measured before each episode was kept: ``paired`` tells far more."""
    pairs = [(who, name) for name in style for who, by in others.items() if name in by and name in own]
    found = []
    for who, name in pairs:
        each = others[who][name], own[name]
        error = ERROR / (2 * len(pairs)) if name in declared else ERROR / (4 * len(pairs))
        here, there = (widened(m.mean, Range(m.low, m.high), error) for m in each)
        mean, unseen = each[0].mean - each[1].mean, 0.0 if name in declared else 2 * _unseen(episodes, error)
        found.append(Shift(name, who, mean, here.low - there.high, here.high - there.low, episodes, unseen=unseen))
    return found


def _unseen(episodes: int, error: float) -> float:
    """The largest share of episodes of which so many show none with more than this probability of ``error``."""
    return math.log(1 / error) / episodes


def paired(
    measure: str, opponent: str, change: NDArray[np.float64], ends: tuple[float, float] | None, error: float
) -> Shift:
    """From the ``change`` [episodes] against an opponent of each episode on the same seed, of a number of episodes that
    was fixed before the first: one look. ``ends``: between which the measure lies (None: not declared; such a range
    holds at every look, and is wider for it); ``error``: the probability that the range misses, or the share ``unseen``
    is larger."""
    width = math.inf if ends is None else ends[1] - ends[0]
    once = math.isfinite(width) and bool(np.isfinite(change).all())
    n, mean = len(change), float(change.mean())
    if not once:
        return Shift(measure, opponent, mean, *range_of_like(change, error / 2), n, unseen=_unseen(n, error / 2))
    spread = float(change.std())
    found = bounds_once(change, -width, width, error)
    return Shift(measure, opponent, mean, *found, n, spread / math.sqrt(n), spread * math.sqrt(2 * math.log(2 / error)))


def moved(found: Sequence[Shift], spans: Mapping[str, float], rests: int = 0) -> Moved | None:
    """What shifts whose ranges hold at once say of a style; ``spans``: how far apart agents lie in each measure, by
    ``rests`` episodes of each agent (0: not known). None where nothing of it can be judged."""
    said = _said(found, spans)
    return said if said is None or not 0 < rests < ENOUGH else said._replace(few=rests, episodes=0)


def _said(found: Sequence[Shift], spans: Mapping[str, float]) -> Moved | None:
    judged = [_moved(each, spans[each.measure]) for each in found if spans.get(each.measure, 0.0) > 0]
    if not judged:
        return None
    highs = [math.inf if each.high is None else each.high for each in judged]
    most = max(highs) if math.isfinite(max(highs)) else None
    surely = max(judged, key=lambda each: each.low)
    if surely.fragile:
        return surely._replace(high=most, episodes=0)
    unsure = [each for each in judged if each.verdict == "open"]
    farthest = max(unsure or judged, key=lambda each: each.by)
    needed = [farthest.episodes] if farthest.by > FRAGILE else [each.episodes for each in unsure]
    return farthest._replace(high=most, episodes=max(needed, default=0) if all(needed) else 0)


def who_lie_apart(measure: str, spans: Mapping[str, float]) -> str:
    """Whose distance the span of a measure is that a style was judged by, in words; ``spans``: those of its search.
    Where one was 0, earlier versions took that of the episodes."""
    return "the agents of its search" if spans.get(measure) else "the measured episodes"


def why_unjudged(style: Sequence[str], measured: Container[str], spans: Mapping[str, float]) -> str:
    """Why nothing is said of a style (``moved`` gives None), in a sentence; ``measured``: what was measured against
    everybody, ``spans``: those of its search."""
    if not style:
        return "It was not bred for a style, so nothing is called fragile."
    known = [name for name in style if name in measured]
    if not known:
        return "What its style is judged by was not measured here, so nobody can say whether it holds."
    if all(name in spans for name in known):
        return "All agents of its search do the same, so no style can shift."
    return "It did the same in all of these episodes, so its style did not shift."


def _moved(shift: Shift, span: float) -> Moved:
    """One shift by itself."""
    by, beyond = abs(shift.mean) / span, FAR * shift.unseen
    least = max(shift.low, -shift.high) / span
    end = max(abs(shift.low), abs(shift.high)) / span
    low, high = max(least - beyond, 0.0), end + beyond
    if not math.isfinite(end):
        return Moved(by, shift.measure, shift.opponent, low)
    unseen = end <= FRAGILE < high or low <= FRAGILE < least
    start = max(least, 0.0)
    found = Moved(by, shift.measure, shift.opponent, low, high, end=end, unseen=unseen, start=start)
    if found.verdict != "open" or by == FRAGILE:
        return found
    needed = _needed(shift, abs(by - FRAGILE) * span, beyond * span)
    digits = 10 ** max(len(f"{needed:.0f}") - 2, 0)  # two of them are enough to plan with
    return found._replace(episodes=math.ceil(needed / digits) * digits if needed < MOST else 0)


def _needed(shift: Shift, room: float, beyond: float) -> float:
    """About how many episodes make a range so narrow that half of it, and what may lie ``beyond`` it, fit into this
    ``room``, between a mean and the line. One part of its width falls with the root of their number, ``shift.tends``,
    and all else with the number itself. Infinite where the mean may as well lie on the line."""
    half, n = (shift.high - shift.low) / 2, shift.episodes
    if shift.error is not None and room < SURE * shift.error:
        return math.inf
    tends = shift.tends or math.sqrt(n) * half
    rest = max(0.0, n * half - math.sqrt(n) * tends) + n * beyond
    root = (tends + math.sqrt(tends**2 + 4 * room * rest)) / (2 * room)
    return root**2
