"""What a measurement says of an agent, in words with ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from engine.arrays import unpack
from engine.catalog import Signal, built_in
from engine.errors import StoreError
from engine.styles.strangers import FRAGILE, Moved
from engine.text import written
from webapp.lib.figures import worth_one_more
from webapp.lib.storage import store
from webapp.lib.words import number
from webapp.studies.models import Job

MOST = 2
"""Signals that a caption tells."""
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
        return f"{self.words.words} {self.value} {self.ends}".strip()

    @property
    def value(self) -> str:
        """ "12 % of the time" or "3.4 times an episode"."""
        told = f"{number(100 * self.mean, self._digits)} %" if self.words.share else _plain(self.mean)
        return f"{told} {self.words.per}".strip()

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
    if 0 < abs(value) < 0.01:
        return written(value, ".2g")
    return number(value, 2 if abs(value) < 100 else 0)


class Figures(NamedTuple):
    """The figures of one measurement. ``abroad``: strangers, by what they are called, with the same measures against
    them; ``style``: measures of the style that it was bred for; ``game``: as studies call it."""

    measures: list[Measure]
    meta: dict[str, Any]
    abroad: list[tuple[str, list[Measure]]]
    style: tuple[str, ...]
    game: str

    @classmethod
    def of(cls, job: Job | None) -> Figures | None:
        """Those of a measurement that has ended well; None where there are none, or they are lost."""
        digest = "" if job is None else job.artifacts.get("table", "")
        if job is None or not digest:
            return None
        try:
            meta = unpack(store().get(digest)).meta
        except StoreError:
            return None
        game = built_in(job.config["game"]["name"])
        known = {**PLAIN, **(game.captions if game else {})}
        found = [_measure(each, known) for each in meta["measures"]]
        others = [(o["opponent"], [_measure(each, known) for each in o["measures"]]) for o in meta.get("against", ())]
        return cls(found, meta, others, tuple(job.config.get("style", ())), job.config["game"]["name"])

    @property
    def caption(self) -> str:
        """ "moves 12 % of the time [10–14], wins 88 % of episodes [84–91]": the style that it was bred for, or else the
        game's signals, and how it does."""
        by_name = {each.name: each for each in self.measures}
        told = [by_name[name] for name in self._ways if name in by_name]
        best = by_name.get("win") or by_name.get("score")
        words = ", ".join(each.text for each in (*told[:1], *([best] if best else []), *told[1:]))
        return words[:1].upper() + words[1:] if words else "Measured"

    @property
    def undeclared(self) -> bool:
        """Whether some ranges are of values without declared ends: they cannot cover what no episode showed."""
        return any(each.low is not None and not each.words.share for each in self.measures)

    @property
    def _ways(self) -> tuple[str, ...]:
        """Measures that tell how it plays."""
        every = [m.name for m in self.measures if m.name not in PLAIN and not m.name.startswith("return:")]
        return self.style or tuple(every[:MOST])

    @property
    def moved(self) -> Moved | None:
        """How far its style shifts against strangers at most; None where that cannot be said."""
        told = self.meta.get("moved")
        return None if told is None else Moved(**told)

    @property
    def moved_words(self) -> str:
        """Whether its style holds, in sentences; empty where that cannot be said."""
        moved = self.moved
        words = next((m.words.words for m in self.measures if moved and m.name == moved.measure), "")
        return held_words(moved, f"“{words}” against “{moved.opponent}”") if moved else ""

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
        told: dict[str, Any] = self.meta.get("clip") or self.meta.get("poster") or {}
        return told

    @property
    def actions(self) -> list[Chosen]:
        """Its choices in the situations that go along, as shares."""
        return chosen(self.meta["moves"], self.game)


def held_words(moved: Moved, what: str) -> str:
    """Whether a style holds, in sentences; ``what``: of what the shift is, and against whom."""
    high = f"{moved.high:.2f}" if moved.high is not None else ""
    ends = f" ({moved.low:.2f} to {high})" if high else ""
    if moved.fragile:
        return (
            f"Its style does not hold: {what} it shifts by {moved.by:.2f}{ends}, which is surely more than {FRAGILE:g}."
        )
    if moved.verdict == "holds":
        return (
            f"Its style holds: it shifts by no more than {high}, most {what}. Beyond {FRAGILE:g} it would be fragile."
        )
    told = f"Whether its style holds cannot be told yet: {what} it shifts by {moved.by:.2f}{ends}."
    if moved.episodes:
        return f"{told} About {number(moved.episodes)} fresh episodes would tell whether that is more than {FRAGILE:g}."
    return f"{told} Measure it on more episodes."


def _measure(each: dict[str, Any], known: dict[str, Signal]) -> Measure:
    plain = each["name"].replace("return:", "returns of ").replace("_", " ")
    words = known.get(each["name"], Signal(plain, share=False))
    return Measure(each["name"], words, each["mean"], each["low"], each["high"])


class Chosen(NamedTuple):
    """How often each choice was made, by its name, as shares of all; ``what`` was chosen, empty where an action is a
    single choice."""

    what: str
    shares: list[tuple[str, float]]


def chosen(counts: list[Any], game: str) -> list[Chosen]:
    """How often each action was chosen, or each choice where an action is several at once (a list of counts for each);
    nothing where there were none."""
    known = built_in(game)
    if not counts or isinstance(counts[0], int):
        return [_shares("", counts, known.actions if known else ())] if counts else []
    orders = list(known.orders.items()) if known else []
    named = orders if len(orders) == len(counts) else [(f"choice {i + 1}", ()) for i in range(len(counts))]
    return [_shares(what, each, names) for each, (what, names) in zip(counts, named, strict=True)]


def _shares(what: str, counts: list[int], named: Sequence[str]) -> Chosen:
    names = named[: len(counts)] if len(named) >= len(counts) else [f"action {i + 1}" for i in range(len(counts))]
    total = max(1, sum(counts))
    return Chosen(what, [(name, count / total) for name, count in zip(names, counts, strict=True)])
