"""The pages of experiments, and what is taken away from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import median
from typing import Any, ClassVar, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from engine.arrays import Bundle
from engine.worth.findings_in_words import unfinished, untested
from engine.worth.missing import Missing, missing
from engine.worth.verdicts import FINE, OPEN, REASONS, TOO_GOOD, TOO_WEAK, UNPRICED, UNTESTED
from webapp.accounts.models import User
from webapp.lib.figures import exact_digits, price_digits, telling
from webapp.lib.words import lower_first, number
from webapp.studies import patterns
from webapp.studies.kinds import Found, Parts, Rows
from webapp.studies.models import Job, Status
from webapp.studies.table_rows import TableRows, latest
from webapp.worth.asking import WorthForm, WorthIntake
from webapp.worth.furthest import Furthest, furthest, furthest_pair

HIDES = "No number of battles tells: those that the game did not finish may hide {} points"
VERDICTS = {
    UNTESTED: "Not tested",
    FINE: "Fine",
    OPEN: "Not settled",
    TOO_GOOD: "Too good for its price",
    TOO_WEAK: "Too weak for its price",
}
TOGETHER = {TOO_GOOD: "Too good together", TOO_WEAK: "Too weak together"}
"""Of a pair, which has no price of its own."""
MARKS = {TOO_GOOD: "strong", TOO_WEAK: "strong", OPEN: "unsure", FINE: "fair"}
POINTS = 100
ROOM = 1.06
"""Of a bar, beyond the furthest end of a range."""
SHOWN = 25
"""Rows of the table that stand open (also in the template)."""


class WorthLine(NamedTuple):
    """A piece, an amount or a pair: what it is worth in points of the chance to win, with its range (None: none).
    ``pieces``: by their ids; ``least``: the amount from which on it counts; ``fair``: its fair price, with its range;
    ``units``: how many of it teams hold that have any; ``matters``: from how many points on an effect does; ``why`` it
    has no fair price (``engine.worth.verdicts.UNPRICED``); ``alone_fine``: of a pair, whether each of its pieces is
    fine by itself; ``paid``: the round part of costs in this game that worth is told for; ``missing``: what would
    settle it; ``beyond``: whether its fair price may be lower (1) or higher (2) than the game permits; ``reason``: why
    it is not tested (``engine.worth.verdicts``)."""

    name: str
    category: str
    cost: float | None
    worth: float | None
    low: float | None
    high: float | None
    verdict: int
    battles: int
    pieces: tuple[str, ...] = ()
    least: int = 1
    fair: float | None = None
    fair_low: float | None = None
    fair_high: float | None = None
    units: float | None = None
    matters: float | None = None
    why: int = 0
    alone_fine: bool = False
    paid: int = 1
    missing: Missing | None = None
    beyond: int = 0
    reason: int = 0

    @property
    def against(self) -> str:
        """What teams with it are compared with: the same words wherever its points stand. A pair is measured against
        the average pair, and where one of its pieces may matter by itself, against what both bring one by one
        (``engine.worth.analysis``)."""
        if len(self.pieces) > 1:
            usual = "teams with an average pair of the same kinds"
            return usual if self.alone_fine else "the two pieces would explain on their own"
        many = "the average" if self.least == 1 else "as many of the average"
        return f"teams with {many} {lower_first(self.category)}"

    @property
    def unpriced(self) -> str:
        """Why it has no fair price; nothing where it has, and in tables from before that was kept."""
        return UNPRICED.get(self.why, "")

    @property
    def or_less(self) -> bool:
        """Whether its fair price may be lower than the game permits."""
        return self.beyond in (1, 3)

    @property
    def or_more(self) -> bool:
        """Whether its fair price may be higher than the game permits."""
        return self.beyond in (2, 3)

    @property
    def untested(self) -> str:
        """Why it is not tested; empty where it is, and in tables from before that was kept."""
        return REASONS.get(self.reason, "")

    @property
    def key(self) -> str:
        """Its pieces by their ids, and the amount: the same in every experiment on the game."""
        return f"{'+'.join(self.pieces)}{f'*{self.least}' if self.least > 1 else ''}"[:500]

    @property
    def per_unit(self) -> float | None:
        """What one of a piece is worth that comes in amounts."""
        return self.worth / self.units if self.worth is not None and self.units and self.units > 1 else None

    @property
    def per_cost(self) -> float | None:
        """What 1 of its cost buys of a piece that comes in amounts."""
        return self.per_unit / self.cost if self.per_unit is not None and self.cost else None

    @property
    def per_paid(self) -> float | None:
        """The same of so much of its cost as pages tell it for."""
        return self.per_cost * self.paid if self.per_cost is not None else None

    @property
    def digits(self) -> int:
        """Digits after the point of its points: one, or as many as tell its range from where effects matter."""
        ends = None if self.low is None or self.high is None else (self.low, self.high)
        lines = (-self.matters, self.matters) if self.matters and ends else ()
        return telling(self.worth or 0.0, ends, 1, lines)

    @property
    def dearest(self) -> float:
        """Where a picture of its prices ends."""
        return 1.15 * max(self.fair_high or 0.0, self.cost or 0.0)

    @property
    def words(self) -> str:
        """Its verdict."""
        return (TOGETHER if len(self.pieces) > 1 else VERDICTS).get(self.verdict) or VERDICTS[self.verdict]

    @property
    def held(self) -> str:
        """What teams hold that hold it."""
        return "both" if len(self.pieces) > 1 else "it" if self.least == 1 else "that many"

    @property
    def needs(self) -> str:
        """How many more battles of what would settle it, and what they would show; empty where it is settled."""
        if self.missing is None:
            return ""
        if not self.missing.more:
            return HIDES.format(f"{POINTS * self.missing.hidden:.1f}") if self.missing.hidden else "Too close to tell"
        held = f"{self.held} of it" if self.least > 1 else self.held
        side = f"tell whether it is too {'good' if (self.worth or 0.0) > 0 else 'weak'}"
        to = side if self.missing.matters else "show that it is fine"
        return f"Needs {number(self.missing.more)} more battles with {held} to {to}"

    @property
    def mark(self) -> str:
        """How it is drawn."""
        return MARKS.get(self.verdict, "")

    @property
    def sizes(self) -> tuple[float, float, float]:
        """Of what stands out: how large the effect is, and between which sizes."""
        worth, low, high = (number or 0.0 for number in (self.worth, self.low, self.high))
        return (worth, low, high) if worth > 0 else (-worth, -high, -low)

    @property
    def stands_out(self) -> bool:
        """Whether it was told."""
        return self.verdict in (TOO_GOOD, TOO_WEAK)


class Measuring(Parts):
    """Experiments: what each piece is worth."""

    intake = WorthIntake()
    form = WorthForm
    clone = "studies:again"
    question = (
        "What is each piece worth?",
        "Random teams of equal cost play. Names what is too good or too weak, with fair prices.",
    )
    about = (
        "Random teams of equal cost play each other. What each piece, and each pair, brings the teams that hold it is "
        "measured, and what stands out is proved on fresh battles: too good and too weak alike."
    )
    results: ClassVar[tuple[str, ...]] = ("table",)

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """The table as it grows."""
        bundle = latest(job)
        lines = lines_of(bundle) if bundle else []
        meant = {pattern.key for pattern in patterns.meant_by_now(job)}
        reach = max((abs(end) for line in lines for end in (line.low, line.high) if end is not None), default=1.0)
        waiting = [line for line in lines if line.verdict == OPEN]
        shown = waiting if request.GET.get("show") == "open" else lines
        named = [line for line in lines if line.stands_out and line.key not in meant]
        own = {
            "lines": lines,
            "waiting": waiting,
            "shown": shown,
            "rest": len(shown) - SHOWN,
            "unlisted": _unlisted(job, lines, bundle),
            "not_tested": list(untested(bundle)) if bundle else [],
            "runs": _runs(job),
            "named": named,
            "good": [line for line in named if line.verdict == TOO_GOOD],
            "weak": [line for line in named if line.verdict == TOO_WEAK],
            "meant": [line for line in lines if line.stands_out and line.key in meant],
            "reach": (reach := ROOM * max(reach, float(job.config["matters"]))),
            "minus": -reach,
            "furthest": furthest(lines),
            "furthest_pair": furthest_pair(lines, bundle) if bundle else Furthest(),
            "finer": any(line.digits > 1 for line in lines),
            "priced": any(line.fair is not None for line in lines),
            "cost_digits": exact_digits(line.cost for line in lines),
            "fair_digits": price_digits(median([line.cost for line in lines if line.cost is not None] or [0.0])),
            "untested": any(line.worth is None for line in lines),
            "beyond": any(line.beyond for line in lines),
            "nothing": not any(line.stands_out for line in lines),
            "unfinished": unfinished(bundle) if bundle else "",
            "lost": bundle is None and bool(job.artifacts),
            "proved": job.status == Status.FINISHED or bool(bundle and bundle.meta["proved"]),
        }
        return render(request, "worth/job.html", context | own)

    def found(self, job: Job) -> Found | None:
        """How many stand out."""
        bundle = latest(job)
        if bundle is None:
            return None
        meant = {pattern.key for pattern in patterns.meant_by_now(job)}
        count = sum(line.stands_out and line.key not in meant for line in lines_of(bundle))
        if not count:
            none = bool((bundle.arrays["verdict"] == UNTESTED).all())
            return Found("Nothing could be tested" if none else "Nothing stands out")
        return Found(f"{count:,} {'stands' if count == 1 else 'stand'} out", "strong")

    def table(self, job: Job, of: str, user: User) -> Rows:
        """A line for each."""
        return rows_of(latest(job))


def _unlisted(job: Job, lines: list[WorthLine], bundle: Bundle | None) -> int:
    """Pairs that were tested and showed too little to be proved: the table does not have them."""
    untested = sum(bundle.meta.get("untested_pairs", [])) if bundle else 0
    return max(0, int(job.metrics.get("looked_at", 0)) - len(lines) - untested) if lines else 0


def _runs(job: Job) -> int:
    """How many experiments there are on these numbers of the game, this one included."""
    return (
        job.project.jobs.filter(kind=job.kind, game_version=job.game_version, status=Status.FINISHED)
        .exclude(pk=job.pk)
        .count()
        + 1
    )


def lines_of(bundle: Bundle) -> list[WorthLine]:
    """What stands out first, then by how far from fair."""
    meta, columns = bundle
    matters, found = POINTS * float(meta.get("matters", 0.0)), []
    needed = missing(bundle)
    for i, (first, second) in enumerate(columns["piece"].tolist()):
        one, least = meta["pieces"][first], int(columns["least"][i])
        name = one["name"] if second < 0 else f"{one['name']} + {meta['pieces'][second]['name']}"
        worth, low, high = (_points(float(columns[key][i])) for key in ("worth", "low", "high"))
        fair, fair_low, fair_high, units = (_known(columns, k, i) for k in ("fair", "fair_low", "fair_high", "units"))
        found.append(
            WorthLine(
                f"{name}, {least} or more" if least > 1 else name,
                one["category"] if second < 0 else "pair",
                float(one["cost"]) if second < 0 and least == 1 else None,
                worth, low, high, int(columns["verdict"][i]), int(columns["battles"][i]),
                tuple(meta["pieces"][p]["id"] for p in (first, second) if p >= 0), least,
                fair, fair_low, fair_high, units, matters, int(columns["why"][i]) if "why" in columns else 0,
                missing=needed.get(i), beyond=_number(columns, "fair_open", i), reason=_number(columns, "untested", i),
            )
        )  # fmt: skip
    fine = {line.pieces[0] for line in found if line.verdict == FINE and len(line.pieces) == 1 and line.least == 1}
    paid = _round_part([line.cost for line in found if line.cost])
    lines = [
        line._replace(alone_fine=len(line.pieces) > 1 and fine.issuperset(line.pieces), paid=paid) for line in found
    ]
    return sorted(lines, key=lambda line: (not line.stands_out, -abs(line.worth or 0.0), line.name))


def _round_part(costs: list[float]) -> int:
    """1, 10, 100, …: what a usual piece costs, rounded down."""
    return int(10 ** max(0, math.floor(math.log10(median(costs))))) if costs else 1


def _known(columns: Mapping[str, Any], key: str, i: int) -> float | None:
    """A number of a row; None where it is none, and in tables from before there were such numbers."""
    return float(columns[key][i]) if key in columns and math.isfinite(columns[key][i]) else None


def _number(columns: Mapping[str, Any], key: str, i: int) -> int:
    """A whole number of a row; 0 in tables from before there were such numbers."""
    return int(columns[key][i]) if key in columns else 0


def _points(value: float) -> float | None:
    return POINTS * value if math.isfinite(value) else None


HEADS = (
    "name", "category", "pieces", "least", "cost", "worth", "low", "high", "verdict", "battles", "fair", "fair_low",
    "fair_high", "unpriced", "per_unit", "per_cost", "missing", "needs", "or_less", "or_more", "untested",
)  # fmt: skip
"""Columns of the table for programs. ``missing``: battles that would settle what is not settled; 0: none
do. ``or_less``, ``or_more``: the fair price may lie beyond that end of its range, where the game permits no cost.
``untested``: why."""


def rows_of(bundle: Bundle | None) -> TableRows:
    """The table as rows for programs."""
    lines = lines_of(bundle) if bundle is not None else []
    own = ("unpriced", "per_unit", "per_cost", "needs", "or_less", "or_more", "untested")
    extras = ({"verdict": line.words, **{name: getattr(line, name) for name in own}, **_needed(line)} for line in lines)
    return TableRows(HEADS, [{**line._asdict(), **more} for line, more in zip(lines, extras, strict=True)])


def _needed(line: WorthLine) -> dict[str, int | None]:
    return {"missing": None if line.missing is None else line.missing.more}
