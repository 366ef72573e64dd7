"""What a report says of pieces, amounts and pairs: those that fresh battles proved, and how far the experiment got."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from engine.worth.verdicts import OPEN, UNTESTED
from webapp.lib.words import number
from webapp.studies import companion
from webapp.studies.models import Job, Status
from webapp.studies.table_rows import latest
from webapp.suspects import decisions
from webapp.suspects.models import Decision
from webapp.suspects.reading import Suspect, read
from webapp.worth.parts import WorthLine, lines_of

State = Literal["measured", "going", "ended early", "lost", "none"]


class Pieces(NamedTuple):
    """``faults`` and what is ``intended`` of all that was named, by what was ``decided``. ``lines``: all of the table;
    ``looked_at``: how many pieces, amounts and pairs were looked at; ``largest`` and ``largest_pair``: the largest
    effect of a single piece and of a pair that is left open, in points; ``matters``: from which effect on one was
    looked for; ``reach``: how far bars go to both sides; ``unfinished``: what the game
    did not finish, in words."""

    experiment: Job | None
    state: State
    faults: list[Suspect]
    intended: list[Suspect]
    decided: dict[str, Decision]
    lines: list[WorthLine]
    looked_at: int
    largest: float
    matters: float
    reach: float
    largest_pair: float = 0.0
    unfinished: str = ""

    @property
    def open_pieces(self) -> list[WorthLine]:
        """Single pieces and amounts that are not settled."""
        return [line for line in self.lines if line.verdict == OPEN and len(line.pieces) == 1]

    @property
    def open_pairs(self) -> list[WorthLine]:
        """Pairs that are not settled."""
        return [line for line in self.lines if line.verdict == OPEN and len(line.pieces) > 1]

    @property
    def untested(self) -> list[WorthLine]:
        """Pieces and amounts of which nothing can be said."""
        return [line for line in self.lines if line.verdict == UNTESTED]

    @property
    def tested(self) -> bool:
        """Whether anything is said of any piece."""
        return any(line.verdict != UNTESTED for line in self.lines)

    @property
    def pairs_looked_at(self) -> int:
        """Pairs that teams held often enough to be looked at."""
        return max(0, self.looked_at - sum(len(line.pieces) == 1 for line in self.lines))


def pieces_of(search: Job) -> Pieces:
    """What the experiment beside a search says by now."""
    experiment, decided = companion.of(search), decisions.latest(search)
    if experiment is None:
        return Pieces(None, "none", [], [], decided, [], 0, 0.0, 0.0, 1.0)
    found, bundle = read(experiment), latest(experiment)
    return Pieces(
        experiment,
        _state(experiment, lost=found.lost, proved=found.proved and bundle is not None),
        found.named,
        list(found.intended),
        decided,
        lines_of(bundle) if bundle else [],
        int(experiment.metrics.get("looked_at", 0)) or found.lines,
        abs(found.furthest.points),
        float(experiment.config["matters"]),
        found.reach,
        abs(found.furthest_pair.points),
        found.unfinished,
    )


def _state(experiment: Job, *, lost: bool, proved: bool) -> State:
    if lost:
        return "lost"
    if not experiment.terminal:
        return "going"
    return "measured" if proved and experiment.status == Status.FINISHED else "ended early"


def reported(suspect: Suspect, decision: Decision | None, *, meant: bool = False) -> dict[str, Any]:
    """One suspect, as the report keeps it; ``meant``: to be so. Numbers are in points of the chance to win."""
    line = suspect.line
    return {
        "key": suspect.key,
        "name": line.name,
        "claim": suspect.meant if meant else suspect.claim,
        "effect": suspect.effect,
        "good": suspect.good,
        "worth": line.worth,
        "low": line.low,
        "high": line.high,
        "worth_words": signed(line.worth, line.digits),
        "range_words": f"{number(line.low, line.digits)} to {number(line.high, line.digits)}",
        "battles": line.battles,
        "cost": line.cost,
        "fair": line.fair,
        "unpriced": line.unpriced,
        "fair_low": line.fair_low,
        "or_less": line.or_less,
        "or_more": line.or_more,
        "fair_high": line.fair_high,
        "decision": str(decision) if decision else "",
        "decided_by": str(decision.created_by or "somebody") if decision else "",
    }


def signed(points: float | None, digits: int = 1) -> str:
    """ "+8.2"."""
    return f"{'+' if (points or 0.0) > 0 else ''}{number(points, digits)}"
