"""What a search for styles shows of diversity and skill, beside its control: how far apart agents lie, how many of them
play well, and the volume under their edges.

The episodes that chose who stays flatter a search, and not its control, which chose at random. So both are compared by
as many fresh episodes only, on which final populations are measured at the end."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle, unpack
from engine.catalog import built_in
from engine.confidence import Range
from engine.config.style_templates import SCORE as USUALLY
from engine.errors import StoreError
from engine.indicators import hypervolume
from engine.means import widened
from webapp.lib.storage import store
from webapp.lib.words import number
from webapp.studies.models import Job
from webapp.studies.table_rows import newest
from webapp.styles import few_episodes
from webapp.styles.corner import FRESH, Corner

SKILLED = 0.1
"""An agent plays nearly as well as the best that is at most so far below in what says skill."""
ENDS = ("score.low", "score.high")
ERROR = 0.05
Floats = NDArray[np.float64]


class Spread(NamedTuple):
    """One behaviour of a population: its least and its most."""

    low: float
    high: float


class Population(NamedTuple):
    """Agents that stayed after a round: ``score`` float64[n], ``behaviour`` float64[n, d] with its ``ways``, and
    ``goals`` float64[n, m] (more is better); ``ids`` int64[n]; ``ends`` float64[n, 2] of the 95 % ranges of scores
    (infinite: unknown); ``samples``: episodes of each; ``skill`` float64[n]: what says how well they play, the measure
    ``by`` of the game."""

    ways: tuple[str, ...]
    score: Floats
    behaviour: Floats
    goals: Floats
    ids: NDArray[np.int64]
    ends: Floats
    samples: int
    skill: Floats
    by: str

    @property
    def spreads(self) -> list[Spread]:
        """Of each behaviour."""
        return [Spread(float(column.min()), float(column.max())) for column in self.behaviour.T]

    def skilled(self, best: float) -> int:
        """Agents whose skill is nearly this best one."""
        return int((self.skill >= best - SKILLED).sum())

    @property
    def few(self) -> str:
        """What so few episodes leave open, in sentences; empty where they are enough."""
        return few_episodes.words(self.samples, self.ends[:, 0], self.ends[:, 1], SKILLED)

    @property
    def best(self) -> float:
        """The best score."""
        return float(self.score.max())


def of(job: Job) -> Population | None:
    """The agents of the last complete round; None before there is one, and where they are lost."""
    return read(str(job.artifacts.get("population", "")) or newest(job, "population"), _says_skill(job))


def again(job: Job) -> Population | None:
    """The agents of the last round on fresh episodes; None before there are such, and where they are lost."""
    return read(str(job.artifacts.get(FRESH, "")), _says_skill(job))


def _says_skill(job: Job) -> str:
    """The measure that says how well an episode of a job's game went."""
    game = built_in(job.config["task"]["game"]["name"])
    return {**USUALLY, **(game.names if game is not None else {})}["skill"]


def read(digest: str, skill: str = USUALLY["skill"]) -> Population | None:
    """A round's agents by the hash of their artifact; ``skill``: the measure that says how well they play."""
    try:
        return _read(digest, skill) if digest else None
    except StoreError:
        return None


@lru_cache(maxsize=512)
def _read(digest: str, skill: str) -> Population | None:
    """None where nobody could be measured. Raises StoreError."""
    bundle: Bundle = unpack(store().get(digest))
    meta, arrays = bundle.meta, bundle.arrays
    names = list(meta["measures"])
    good = (arrays["status"] == 0) & np.isfinite(arrays["objective"]).all(axis=1)
    if not good.any() or "score" not in names:
        return None
    measure = arrays["measure"][good]
    ways = tuple(name for name in meta["behaviour"] if name in names)
    score, by = measure[:, names.index("score")], skill if skill in names else "score"
    signs = np.array([1.0 if way == "max" else -1.0 for way in meta["directions"]])
    goals = arrays["objective"][good] * signs
    ends = np.stack([measure[:, names.index(e)] if e in names else np.full(len(score), np.nan) for e in ENDS], axis=1)
    behaviour, samples = measure[:, [names.index(w) for w in ways]], int(arrays["samples"][good].min())
    plays = measure[:, names.index(by)]
    return Population(ways, score, behaviour, goals, arrays["id"][good], ends, samples, plays, by)


class Best(NamedTuple):
    """The best score of those that stayed, whose ``agent`` it is, with its 95 % range (None: unknown) by so many
    ``episodes``; ``fresh``: they did not choose it."""

    agent: int
    score: float
    ends: tuple[float, float] | None
    fresh: bool
    episodes: int


def best(job: Job, mine: Population, again: Population | None) -> Best:
    """The agent of the best score: on fresh episodes, where it was measured on such; else with a range that holds for
    everybody measured so far at once, for the best of many is lucky."""
    row = int(mine.score.argmax())
    agent = int(mine.ids[row])
    if again is not None and agent in again.ids:
        at = int(np.flatnonzero(again.ids == agent)[0])
        return Best(agent, float(again.score[at]), _known(again.ends[at]), True, again.samples)
    among = max(int(job.counters.get("evaluations", 0)), len(mine.score))
    score, known = float(mine.score[row]), built_in(job.config["task"]["game"]["name"])
    low, high = known.ends.get("score", (-np.inf, np.inf)) if known is not None else (-np.inf, np.inf)
    wide = widened(score, Range(*mine.ends[row].tolist()), ERROR / among)
    ends = _known(np.clip(wide, low, high)) if np.isfinite(wide).all() else None
    return Best(agent, score, ends, False, mine.samples)


def weak(job: Job) -> tuple[float, float] | None:
    """The ends of the game's scale where even the best score so far is surely below its middle; None where it is not,
    or where nobody knows the ends."""
    found, game = best_of(job), built_in(job.config["task"]["game"]["name"])
    ends = game.ends.get("score") if game is not None else None
    if found is None or ends is None:
        return None
    return ends if (found.ends or (0.0, found.score))[1] < sum(ends) / 2 else None


def _known(ends: Floats) -> tuple[float, float] | None:
    return (float(ends[0]), float(ends[1])) if np.isfinite(ends).all() else None


class Compared(NamedTuple):
    """The latest populations of a search and, once they can be compared, of its control; ``fresh``: by as many episodes
    that had no part in choosing them."""

    mine: Population | None
    control: Population | None
    fresh: bool


def compared(job: Job, run: Job | None) -> Compared:
    """Both only by equally many fresh episodes; without these the search stands alone, by fresh ones where it has such,
    else by those that chose."""
    mine, control = again(job), again(run) if run is not None else None
    if mine is None:
        return Compared(of(job), None, False)
    return Compared(mine, control if control is not None and control.samples == mine.samples else None, True)


def incomparable(job: Job, run: Job | None) -> str:
    """Why a search and its control that has ended cannot be compared, as a sentence; empty where they can be, or where
    the control goes on."""
    if run is None or not run.terminal:
        return ""
    mine, control = again(job), again(run)
    if mine is None or control is None:
        missing = " and ".join(who for who, found in (("this search", mine), ("its control", control)) if found is None)
        has = "have" if mine is None and control is None else "has"
        return f"The two cannot be compared: {missing} {has} not been measured on fresh episodes."
    if mine.samples == control.samples:
        return ""
    each = f"{number(mine.samples)} fresh episodes of each agent, its control by {number(control.samples)}"
    return f"The two cannot be compared: this search was measured by {each}."


class Side(NamedTuple):
    """One of the two columns of the comparison: the search, or its control. ``skilled`` agents play nearly as well as
    the best of both."""

    title: str
    shape: str
    agents: int
    spreads: list[Spread]
    skilled: int
    best: Best | None
    volume: float | None


def sides(pair: Compared, job: Job, run: Job | None, corner: Corner | None) -> list[Side]:
    """The search, and its control where there is one. Both are held against the best skill of both: against its own,
    weak agents would look skilled. The volume under both edges is that beyond their ``corner``."""
    if pair.mine is None:
        return []
    found = [("This search" if job.config["selection"] else "This control", "circle", pair.mine, job)]
    if run is not None and pair.control is not None and pair.control.goals.shape[1] == pair.mine.goals.shape[1]:
        found.append(("Control", "square", pair.control, run))
    worst = corner.at if corner is not None else None
    top = max(most_skilled(whose, p) for _, _, p, whose in found)
    return [
        Side(title, shape, len(p.score), p.spreads, p.skilled(top), best_of(whose), volume(p.goals, worst))
        for title, shape, p, whose in found
    ]


def most_skilled(job: Job, shown: Population) -> float:
    """The skill of the agent that was most skilled by the episodes that chose, on fresh ones where it was measured on
    such; of those that are ``shown`` where that is not known."""
    mine, fresh = of(job), again(job)
    if mine is None:
        return float(shown.skill.max())
    row = int(mine.skill.argmax())
    if fresh is None or mine.ids[row] not in fresh.ids:
        return float(mine.skill[row])
    return float(fresh.skill[np.flatnonzero(fresh.ids == mine.ids[row])[0]])


def nearly_best(job: Job, shown: Population) -> int:
    """Of the agents that are ``shown``, those that play nearly as well as the best of the job."""
    return shown.skilled(most_skilled(job, shown))


def volume(goals: Floats, worst: list[float] | None) -> float | None:
    """How much lies between the edge of agents (``goals`` float64[n, m], more is better) and a corner; None without."""
    return None if worst is None else hypervolume(goals, [1.0] * goals.shape[1], worst)


def best_of(job: Job) -> Best | None:
    """The best score of a search so far."""
    mine = of(job)
    return None if mine is None else best(job, mine, again(job))


def padded(values: Floats) -> tuple[float, float]:
    """Ends of an axis with room around all values; shares stay between 0 and 1."""
    low, high = float(values.min()), float(values.max())
    pad = 0.06 * (high - low) if high > low else 0.5
    if low >= 0 and high <= 1:
        return max(0.0, low - pad), min(1.0, high + pad)
    return low - pad, high + pad
