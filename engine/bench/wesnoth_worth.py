"""From "what is each piece worth?" to the fix in a real game: Battle for Wesnoth on two processes.

``loop``: an experiment on every unit, trait and artifact (single pieces only: there are too many pairs for so few
battles); the suspects that it names; a change that gives each of them its fair price; a short search, and its unfair
lineups that the suspects explain replayed on both versions; and an experiment with other battles on the changed game,
which says whether they are fair then. Every study is kept, so whoever kills this goes on where it was.

Rows: the minutes, each unit with its worth and its fair price, and what held on the fresh battles.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.arrays import Bundle
from engine.bench.kept import KeptStudy, ended
from engine.bench.row import row
from engine.config.patterns import Pattern
from engine.errors import EngineError
from engine.lineups.patterns import Patterns
from engine.lineups.schema import team_slots
from engine.runtime.cluster import connected
from engine.simulators.contract import GameSpec
from engine.simulators.loaders import opened
from engine.studies import load
from engine.worth.verdicts import OPEN, TOO_GOOD, TOO_WEAK, UNPRICED, UNTESTED

NAME = "wesnoth-worth"
CASES = ("loop",)
SIMULATOR = "builtin:wesnoth"
MINUTES, UNITS, SEED = 30, 60, 1
OF_UNITS = ("hero", "soldier")
BATTLES, AFTER, ROUNDS, POPULATION, LINEUPS, REPLICATES = 12_000, 4_000, 4, 16, 4, 16
"""Battles of the first experiment and of the one on the changed game; the search; what is replayed, and how often at
most."""
QUICK = 2_000, 2_000, 2, 8, 2, 8
TWO = {"teams": 2, "baselines": {"kind": "drawn", "count": 2}}
"""Rules of the lineups: two teams, so that a replicate is ten battles."""
WORDS = {UNTESTED: "not tested", OPEN: "not settled", TOO_GOOD: "too good", TOO_WEAK: "too weak"}


class TableLine(NamedTuple):
    """A piece, or an amount of it, as an experiment's table has it; points and gold, NaN where there is none."""

    piece: str
    name: str
    category: str
    least: int
    cost: float
    worth: float
    low: float
    high: float
    verdict: int
    battles: int
    fair: float
    fair_low: float
    fair_high: float
    why: int

    @property
    def confirmed(self) -> bool:
        return self.verdict in (TOO_GOOD, TOO_WEAK)

    @property
    def called(self) -> str:
        return f"{self.name}, {self.least} or more" if self.least > 1 else self.name

    @property
    def pattern(self) -> Pattern:
        side = "strongest" if self.verdict == TOO_GOOD else "weakest"
        return Pattern(pieces=(self.piece,), least=self.least, side=side)

    @property
    def words(self) -> str:
        """Its worth and its range."""
        return f"{self.worth:+.1f} ({self.low:+.1f} to {self.high:+.1f})"


class Loop(NamedTuple):
    """The four studies; ``lines`` of the two experiments, and the ``change`` between them. Where there is nothing to
    change or no lineup to replay, there is no study of that."""

    first: KeptStudy
    lines: list[TableLine]
    search: KeptStudy
    change: dict[str, float]
    replay: KeptStudy | None
    again: KeptStudy | None
    after: dict[tuple[str, int], TableLine]


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """The whole loop, then a row for each thing it says."""
    with opened(SIMULATOR) as simulator:
        spec = simulator.describe()
    with connected(workers=2):
        found = _loop(spec, quick)
    yield _time(found, quick)
    units = [line for line in found.lines if line.category in OF_UNITS and line.least == 1]
    tested = [line for line in units if line.verdict != UNTESTED]
    priced = sum(math.isfinite(line.fair) for line in units)
    yield row(NAME, "units", len(tested), "have a worth", goal=f">= {UNITS}", meets=len(tested) >= UNITS, seeds=[SEED],
              detail=f"of {len(units)}; {priced} of them with a fair price; pairs: not tested")  # fmt: skip
    for line in sorted(found.lines, key=lambda line: -line.worth if math.isfinite(line.worth) else math.inf):
        if line.least == 1 and line.verdict != UNTESTED:
            yield row(NAME, line.piece, line.worth, "points", seeds=[SEED], detail=_said(line))
    yield _held(found)
    yield _replayed(found)


def _loop(spec: GameSpec, quick: bool) -> Loop:
    battles, later, rounds, population, most, replicates = (
        QUICK if quick else (BATTLES, AFTER, ROUNDS, POPULATION, LINEUPS, REPLICATES)
    )
    first = _study("worth", "table", battles=battles, pairs=False)
    lines = _lines(first.found)
    suspects = [line for line in lines if line.confirmed]
    search = _study("search", "archive", ticks=rounds, replicates=2, fresh=0, lineups=TWO,
                    algorithm={"kind": "nsga2", "population": population})  # fmt: skip
    change = {
        f"{line.piece}.cost": float(round(line.fair))
        for line in suspects
        if line.least == 1 and math.isfinite(line.fair) and round(line.fair) != line.cost
    }
    if not change:
        return Loop(first, lines, search, change, None, None, {})
    replayed = _unfair(spec, search.found, suspects, most)
    replay = again = None
    if replayed:
        replay = _study("change", "table", change=change, replayed=replayed, replicates=replicates, lineups=TWO)
    again = _study("worth", "table", seed=SEED + 1, battles=later, pairs=False, patch=change)
    return Loop(first, lines, search, change, replay, again, {(x.piece, x.least): x for x in _lines(again.found)})


def _study(kind: str, artifact: str, patch: dict[str, float] | None = None, **settings: Any) -> KeptStudy:
    game = {"simulator": SIMULATOR, "patch": patch or {}}
    pool = {"kind": "ray", "workers": 2}
    return ended(NAME, load({"kind": kind, "seed": SEED, "game": game, "pool": pool, **settings}), artifact)


def _lines(table: Bundle) -> list[TableLine]:
    """Pieces and amounts."""
    meta, columns = table
    found = []
    for i, (piece, second) in enumerate(columns["piece"].tolist()):
        if second >= 0:
            raise EngineError("an experiment on single pieces told of a pair")
        one = meta["pieces"][piece]
        worth, low, high = (100 * float(columns[name][i]) for name in ("worth", "low", "high"))
        fair, cheapest, dearest = (float(columns[name][i]) for name in ("fair", "fair_low", "fair_high"))
        verdict, battles, least, why = (int(columns[name][i]) for name in ("verdict", "battles", "least", "why"))
        who = one["id"], one["name"], one["category"], least, float(one["cost"])
        found.append(TableLine(*who, worth, low, high, verdict, battles, fair, cheapest, dearest, why))
    return found


def _unfair(spec: GameSpec, archive: Bundle, suspects: Sequence[TableLine], most: int) -> list[dict[str, Any]]:
    """The most unfair lineups of a search that a suspect explains."""
    arrays = archive.arrays
    good = np.flatnonzero((arrays["status"] == 0) & (arrays["anchor"][:, 0] >= 0))
    genome, anchor = arrays["genome"][good], arrays["anchor"][good]
    explained = Patterns(spec, [line.pattern for line in suspects]).explained(genome, anchor)
    order = np.argsort(-arrays["objective"][good, 0], kind="stable")
    return [
        {"teams": [{"slots": team_slots(spec, team)} for team in genome[i]], "anchors": anchor[i].tolist()}
        for i in order[np.asarray(explained.any(axis=1))[order]][:most]
    ]


def _time(found: Loop, quick: bool) -> dict[str, Any]:
    parts = {"experiment": found.first, "search": found.search, "replay": found.replay, "experiment after": found.again}
    played = {name: part for name, part in parts.items() if part is not None}
    minutes = sum(part.seconds for part in played.values()) / 60
    said = [
        f"{name} {part.battles:,} battles in {part.seconds / 60:.1f} min, {part.processor / 60:.1f} of processor time"
        for name, part in played.items()
    ]
    return row(NAME, "loop", minutes, "min", goal=f"<= {MINUTES} min", meets=quick or minutes <= MINUTES, seeds=[SEED],
               detail="; ".join(said))  # fmt: skip


def _said(line: TableLine) -> str:
    price = f"no fair price ({UNPRICED.get(line.why, '')})"
    if math.isfinite(line.fair):
        price = f"fair price {line.fair:.0f} ({line.fair_low:.0f} to {line.fair_high:.0f})"
    verdict = WORDS.get(line.verdict, "fine")
    return (
        f"{line.name}, {line.category}, costs {line.cost:g}; worth {line.words}; {price}; {verdict}; "
        f"{line.battles:,} battles"
    )


def _held(found: Loop) -> dict[str, Any]:
    """Of the suspects whose price was changed, how many are nearer to fair on fresh battles of the changed game."""
    changed, nearer, lines = 0, 0, list[str]()
    for line in (line for line in found.lines if line.confirmed):
        now = found.after.get((line.piece, line.least))
        price = found.change.get(f"{line.piece}.cost")
        if now is None or not math.isfinite(now.worth):
            lines.append(f"{line.called} {line.words}, not measured again")
            continue
        if price is not None:
            changed, nearer = changed + 1, nearer + (abs(now.worth) < abs(line.worth))
        cost = f"{line.cost:g} gold" if price is None else f"{line.cost:g} gold, then {price:g}"
        lines.append(f"{line.called}, {cost}: {line.words}, then {now.words}, {WORDS.get(now.verdict, 'fine')}")
    fresh = [line.called for line in found.after.values() if line.confirmed]
    detail = f"{'; '.join(lines) or 'no suspect'}. Told in the changed game: {', '.join(fresh) or 'nothing'}"
    return row(NAME, "held", nearer / max(changed, 1), "of the changed suspects are nearer to fair on fresh battles",
               seeds=[SEED, SEED + 1], detail=f"{nearer} of {changed}; {detail}")  # fmt: skip


def _replayed(found: Loop) -> dict[str, Any]:
    """What became of the unfair lineups."""
    if found.replay is None:
        return row(NAME, "replay", 0, "lineups", seeds=[SEED], detail="no unfair lineup that a suspect explains")
    meta, columns = found.replay.found
    words, title = meta["words"]["verdict"], meta["objectives"][0]["title"].lower()
    before, after = (Counter(words[v] for v in columns[f"verdict_{at}"].tolist()) for at in ("before", "after"))
    said = [
        ", ".join(f"{many} {word or 'without a verdict'}" for word, many in each.items()) for each in (before, after)
    ]
    was, now = (float(np.nanmean(columns[at][:, 0])) for at in ("before", "after"))
    refitted, unfit = (int((columns["fit"] == fit).sum()) for fit in (1, 2))
    return row(NAME, "replay", now, f"mean {title} after the change", peer="before", peer_value=was, seeds=[SEED],
               detail=f"{len(columns['fit'])} lineups: before {said[0]}; after {said[1]}; {refitted} refitted to the "
               f"new prices, {unfit} cannot be")  # fmt: skip
