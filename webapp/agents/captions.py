"""What a measurement says of an agent, in words with ranges."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import unpack
from engine.catalog import Signal, built_in, declared_ends
from engine.errors import StoreError
from engine.means import WHY_NOWHERE
from engine.styles.strangers import ENOUGH, FRAGILE, Moved, who_lie_apart, why_unjudged
from engine.text import written
from webapp.agents.choices import Chosen, chosen, counted
from webapp.lib.figures import worth_one_more
from webapp.lib.storage import store
from webapp.lib.words import number, plural
from webapp.studies.models import Job

MOST = 2
"""Signals that a caption tells."""
LEAST = 1e-4
"""What is nearer to 0 is written as 0.00."""
WHY_UNSEEN = (
    "The game does not say how far this measure can go, and so few episodes do not rule out rare ones that go far "
    "beyond those played."
)
"""Why a range alone does not say whether a style holds."""
PLAIN = {
    "win": Signal("wins", unit="of episodes"), "score": Signal("scores", share=False),
    "length": Signal("lasts", False, "decisions"),
}  # fmt: skip


class Measure(NamedTuple):
    """One measure: its name in words, its mean and its 95 % range (None: unknown); ``share``: told in percent."""

    name: str
    words: Signal
    mean: float
    low: float | None
    high: float | None

    @property
    def text(self) -> str:
        """ "moves 12 % of the time [10–14]"."""
        return f"{self.words.does} {self.value} {self.ends}".strip()

    @property
    def value(self) -> str:
        """ "12 % of the time" or "3.4 times an episode"."""
        return f"{self.amount} {self.words.per}".strip()

    @property
    def amount(self) -> str:
        """ "12 %" or "3.4"."""
        return f"{number(100 * self.mean, self._digits)} %" if self.words.share else _plain(self.mean)

    @property
    def _digits(self) -> int:
        """Of a share in per cent."""
        known = self.low is not None and self.high is not None
        return int(known and worth_one_more([50 * (float(self.high or 0.0) - float(self.low or 0.0))], 0))

    def _end(self, end: float) -> str:
        return number(100 * end, self._digits) if self.words.share else _plain(end)

    @property
    def ends(self) -> str:
        """ "[10–14]", below zero "[−10.20 to −9.72]"; what is missing where the range is unknown."""
        if self.low is None or self.high is None:
            return "[range unknown]"
        low, high = (self._end(end) for end in (self.low, self.high))
        return f"[{low} to {high}]" if self.low < 0 else f"[{low}–{high}]"


def _plain(value: float) -> str:
    """A number in two digits after the point, or in two that tell something; what is nearly nothing as "0.00"."""
    if LEAST <= abs(value) < 0.01:
        return written(value, ".2g")
    return number(value if abs(value) >= LEAST else 0.0, 2 if abs(value) < 100 else 0)


class MeasureList(NamedTuple):
    """Measures that stand somewhere with their ranges."""

    measures: Sequence[Measure]
    declared: Container[str]

    @property
    def undeclared(self) -> list[str]:
        """Those with a range but without ``declared`` ends, in words: such a range is no 95 % range, for it does not
        cover a value far beyond those played."""
        return [each.words.words for each in self.measures if each.low is not None and each.name not in self.declared]

    @property
    def unknown(self) -> str:
        """Why some range is not known; empty where all are."""
        return WHY_NOWHERE if any(each.low is None or each.high is None for each in self.measures) else ""


class Figures(NamedTuple):
    """The figures of one measurement. ``abroad``: strangers, by what they are called, with the same measures against
    them; ``style``: measures of the style that it was bred for; ``game``: as studies call it; ``limited``: it has
    limits of its own; ``spans``: how far apart the agents of its search lie in each measure of the style, by
    ``spans_episodes`` of each (0: not recorded)."""

    measures: list[Measure]
    meta: dict[str, Any]
    abroad: list[tuple[str, list[Measure]]]
    style: tuple[str, ...]
    game: str
    limited: bool = False
    spans: Mapping[str, float] = MappingProxyType({})
    spans_episodes: int = 0

    @classmethod
    def of(cls, job: Job | None) -> Figures | None:
        """Those of a measurement that has ended well; None where there are none, or they are lost."""
        digest = "" if job is None else job.artifacts.get("table", "")
        if job is None or not digest:
            return None
        try:
            meta, arrays = unpack(store().get(digest))
        except StoreError:
            return None
        game = built_in(job.config["game"]["name"])
        known = {**PLAIN, **(game.captions if game else {})}
        if meta.get("draws") or half_won(arrays["values"][:, 0] if "values" in arrays else np.empty(0)):
            known["win"] = known["win"]._replace(unit=f"{known['win'].unit}, a draw as half a win")
        found = _measures(meta["measures"], known)
        others = [(o["opponent"], _measures(o["measures"], known)) for o in meta.get("against", ())]
        limited, style = bool(job.config["agent"].get("limits")), tuple(job.config.get("style", ()))
        origin = job.config.get("origin", {})
        spans, rests = origin.get("spans", {}), origin.get("spans_episodes", 0)
        return cls(found, meta, others, style, job.config["game"]["name"], limited, spans, rests)

    @property
    def caption(self) -> str:
        """ "moves 12 % of the time [10–14], wins 88 % of episodes [84–91]": the style that it was bred for, or else the
        game's signals, and how it does."""
        words = ", ".join(each.text for each in self.captioned.measures)
        return words[:1].upper() + words[1:] if words else "Measured"

    @property
    def captioned(self) -> MeasureList:
        """The measures of the caption."""
        by_name = {each.name: each for each in self.measures}
        signals = [by_name[name] for name in self._ways if name in by_name]
        best = by_name.get("win") or by_name.get("score")
        return MeasureList([*signals[:1], *([best] if best else []), *signals[1:]], self._declared)

    @property
    def every(self) -> MeasureList:
        """All measures."""
        return MeasureList(self.measures, self._declared)

    @property
    def _declared(self) -> Container[str]:
        """Measures with declared ends; measurements of earlier versions do not say which have."""
        declared: Container[str] = self.meta.get("declared", declared_ends(self.game))
        return declared

    @property
    def _ways(self) -> tuple[str, ...]:
        """Measures that tell how it plays."""
        every = [m.name for m in self.measures if m.name not in PLAIN]
        return self.style or tuple(every[:MOST])

    @property
    def moved(self) -> Moved | None:
        """How far its style shifts against strangers at most; None where that cannot be said. Earlier versions did not
        allow for rare episodes in measures without declared ends, so what they called the most is not known."""
        shift = self.meta.get("moved")
        if shift is None:
            return None
        known = "unseen" in shift or all(name in self._declared for name in self.style)
        return Moved(**shift) if known else Moved(**shift)._replace(high=None)

    @property
    def moved_words(self) -> str:
        """What it does otherwise against a stranger, and whether its style holds, in sentences; or why that cannot be
        said."""
        moved = self.moved
        if moved is None:
            everywhere = [self.measures, *(measures for _, measures in self.abroad)]
            measured = set.intersection(*({each.name for each in measures} for measures in everywhere))
            return why_unjudged(self.style, measured, self.spans)
        stranger = next((measures for who, measures in self.abroad if who == moved.opponent), [])
        here, there = (next((m for m in of if m.name == moved.measure), None) for of in (self.measures, stranger))
        change = ""
        if here is not None and there is not None:
            change = f"Against “{moved.opponent}” it {there.words.does} {there.value} instead of {here.amount}. "
        spread = f"The spread is how far {who_lie_apart(moved.measure, self.spans)} lie apart"
        return f"{change}{held_words(moved)} {spread}{rests_words(self.spans_episodes)}."

    @property
    def compared(self) -> list[list[Measure]]:
        """Its style and how well it plays, a row for each measure: against the usual opponent, then against each
        stranger. Without a style of its own, what captions tell."""
        wanted = (*self._ways, "score", "win")
        columns = [self.measures, *(measures for _, measures in self.abroad)]
        by_name = [{m.name: m for m in column} for column in columns]
        return [[each[name] for each in by_name] for name in wanted if all(name in each for each in by_name)]

    @property
    def clip(self) -> dict[str, Any]:
        """Some seconds of a battle, to be drawn; nothing where its game has no drawing. Measurements of earlier
        versions have some moments."""
        stored: dict[str, Any] = self.meta.get("clip") or self.meta.get("poster") or {}
        return stored

    @property
    def actions(self) -> list[Chosen]:
        """Its choices in the situations that go along, as shares."""
        return chosen(self.meta["moves"], self.game)

    @property
    def counted(self) -> str:
        """Which decisions these are, and why measures may say something else."""
        return counted(self.meta, self.game, self.limited)


def by_itself(game: str) -> bool:
    """Whether nobody else is in a game."""
    known = built_in(game)
    return game.startswith("gym:") or (known is not None and known.alone)


def opponent_in(job: Job | None) -> str:
    """Against whom agents play in a measurement or a recording; empty where nobody else is in the game."""
    if job is None:
        return ""
    other, name = job.config.get("opponent"), job.config["game"]["name"]
    if other:
        return str(other["title"] or "an agent")
    return "" if by_itself(name) else "the game’s own player"


def held_words(moved: Moved) -> str:
    """Whether a style holds, in sentences; what stands around them says of what its spread is."""
    whom, high = f"against “{moved.opponent}”", f"{moved.high:.2f}" if moved.high is not None else ""
    start = moved.low if moved.start is None else moved.start
    own = f" ({start:.2f} to {moved.end:.2f})" if moved.end is not None else ""
    change = f"{moved.by:.2f} times the spread{own}"
    if moved.fragile:
        return f"Its style does not hold: {whom} it changes by {change}, surely more than {FRAGILE:g}."
    if moved.verdict == "holds":
        most = f"it changes by {high} times the spread at most, most {whom}"
        return f"Its style holds: {most}. Beyond {FRAGILE:g} it would be fragile."
    sentence = f"Whether its style holds cannot be told yet: {whom} it changes by {change}."
    if moved.few:
        rests = plural(moved.few, "episode")
        return (
            f"{sentence} The spread rests on only {rests} of each agent, and no style is judged by fewer than {ENOUGH}."
        )
    if moved.unseen:
        sentence += f" {WHY_UNSEEN}"
    if moved.episodes:
        episodes = number(moved.episodes)
        return f"{sentence} At least about {episodes} fresh episodes would tell whether that is more than {FRAGILE:g}."
    return f"{sentence} Measure it on more episodes."


def rests_words(episodes: int) -> str:
    """On how many episodes of each agent the spread of a search rests; empty where that was not recorded."""
    return f", by {plural(episodes, 'episode')} of each; it is taken as it was measured there" if episodes else ""


def half_won(wins: NDArray[np.float64]) -> bool:
    """Whether some episodes were neither won nor lost."""
    return bool(((wins > 0) & (wins < 1)).any())


def _measures(found: Sequence[dict[str, Any]], known: dict[str, Signal]) -> list[Measure]:
    """Without returns of rewards: they are for learning, and say nothing of how an agent plays."""
    shown = [each for each in found if not each["name"].startswith("return:")]
    words = [known.get(each["name"], Signal(each["name"].replace("_", " "), share=False)) for each in shown]
    return [Measure(m["name"], said, m["mean"], m["low"], m["high"]) for m, said in zip(shown, words, strict=True)]
