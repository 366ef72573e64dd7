"""The result of a search for changes: the front of patches, what is watched and what proof says, as columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.arrays import Bundle
from engine.columns import Arrays
from engine.lineups.schema import team_costs, team_name, team_parts
from engine.patches.candidates import Candidate, front, standing, words
from engine.patches.course import NOTHING, Course
from engine.patches.proof import FAILS, OPEN, WORKS, Proof, Strongest
from engine.patches.space import Patch
from engine.simulators.contract import GameSpec
from engine.worth import table as worths
from engine.worth.findings_in_words import left_open

UNPROVED = "unproved"
MERIT = {WORKS: 0, OPEN: 1, FAILS: 2}
LEFT = ("worst", "low", "high", "left", "size")
Json = dict[str, Any]


def tabled(course: Course) -> tuple[Json, Arrays]:
    """Meta and columns. Rows are patches, the one that is recommended first, then those that were proved, then the rest
    of the front; the game as it is comes last. Of each in chances to win how far from fair the ``worst`` of what is
    watched is, with its range ``low`` to ``high``, and what is ``left`` beyond what matters; its ``size`` in shares of
    ranges, ``changes`` int32[n] and ``battles`` int64[n]. Meta has the rest of it: ``patches``, ``watched``; where
    nothing is to be mended, ``left_open`` has the largest effects that the experiment leaves open. ``free`` is whether
    anything of what is unfair may change, ``takes`` the battles that would do where there are too few, else 0."""
    rows = _rows(course)
    patches = [_patch(course, candidate, proof) for candidate, proof in rows]
    columns: Arrays = {
        "changes": np.array([candidate.patch.changes for candidate, _ in rows], np.int32),
        "battles": np.array([proof.battles if proof else c.battles for c, proof in rows], np.int64),
    }
    aims = [_aims(course, candidate, proof) for candidate, proof in rows]
    columns |= {name: np.array([aim[k] for aim in aims], np.float64) for k, name in enumerate(LEFT)}
    meta = {
        "patches": patches,
        "watched": _watched(course),
        "matters": course.config.matters / 100,
        "game": course.spec.title,
        "stage": course.stage,
        "proved": bool(course.proofs),
        "present": _strongest(course.spec, course.present),
        "free": course.known is None or bool(course.known.numbers or course.known.pairs),
        "takes": course.takes,
    }
    if course.known is not None and not course.known.watched:
        found = left_open(Bundle(*worths.tabled(course.experiment.analysis, course.spec)))
        meta["left_open"] = {of: end._asdict() for of, end in found.items()}
    return meta, columns


def _rows(course: Course) -> list[tuple[Candidate, Proof | None]]:
    if course.known is None or not course.known.watched:
        return []
    proved = {candidate.patch for candidate, _ in course.proofs}
    rest = [c for c in front(course.candidates, course.response) if c.patch not in proved]
    order = sorted(course.proofs, key=lambda row: MERIT[row[1].verdict])
    return [*order, *((c, None) for c in rest), (Candidate(NOTHING, "", 0), None)]


def _aims(course: Course, candidate: Candidate, proof: Proof | None) -> tuple[float, ...]:
    size = course.response.size(candidate.patch)
    if proof is None:
        return (*standing(candidate, course.response), size)
    known = [worth for worth in proof.worths if not math.isnan(worth[0])]
    worst = max((abs(worth) for worth, _, _ in known), default=0.0)
    high = max((max(abs(low), abs(high)) for _, low, high in known), default=0.0)
    low = max((max(low, -high, 0.0) for _, low, high in known), default=0.0)
    matters = course.config.matters / 100
    return worst, low, high, sum(max(abs(worth) - matters, 0.0) for worth, _, _ in known), size


def _patch(course: Course, candidate: Candidate, proof: Proof | None) -> Json:
    numbers, names = course.trials.numbers, {i: p for i, p in enumerate(course.spec.pieces)}
    known = course.known
    assert known is not None
    return {
        "words": words(candidate.patch, numbers, course.spec),
        "changes": [
            {"path": numbers[p].path, "piece": names[numbers[p].piece].id, "number": numbers[p].title,
             "before": numbers[p].value, "after": numbers[p].at(level), "unit": numbers[p].unit}
            for p, level in candidate.patch.levels
        ],
        "apart": [[names[a].id, names[b].id] for a, b in candidate.patch.apart],
        "way": candidate.way,
        "verdict": proof.verdict if proof else UNPROVED,
        "worths": _worths(course, candidate.patch, proof),
        "named": [names[p].name for t in proof.named for p in known.traits.all[t].pieces] if proof else [],
        "largest": proof.largest if proof else None,
        "unfinished": [proof.unfinished, proof.battles] if proof else None,
        "excess": candidate.excess,
        "strongest": _strongest(course.spec, proof.strongest if proof else None),
        "stronger": bool(proof and proof.stronger),
    }  # fmt: skip


def _worths(course: Course, patch: Patch, proof: Proof | None) -> list[list[float | None]]:
    """[worth, low, high] of each that is watched; None where there is no such team any more."""
    if proof is not None:
        return [[None if math.isnan(end) else end for end in worth] for worth in proof.worths]
    found = list[list[float | None]]()
    for i, watched in enumerate(course.response.watched):
        mean, deviation = course.response.worth(i, patch)
        gone = watched.pieces in patch.apart
        ends: list[float | None] = [mean, mean - 1.96 * deviation, mean + 1.96 * deviation]
        found.append([None, None, None] if gone else ends)
    return found


def _watched(course: Course) -> list[Json]:
    """What is to be fair: names, and whether it is a suspect or a piece of one."""
    if course.known is None:
        return []
    spec, traits, found = course.spec, course.known.traits, []
    for watched in course.known.watched:
        pieces = [spec.pieces[p] for p in watched.pieces]
        least = traits.all[watched.trait].least
        name = " + ".join(piece.name for piece in pieces)
        found.append({
            "name": f"{name}, {least} or more" if least > 1 else name, "pieces": [piece.id for piece in pieces],
            "suspect": watched.trait in course.known.suspects,
        })  # fmt: skip
    return found


def _strongest(spec: GameSpec, found: Strongest | None) -> Json | None:
    if found is None:
        return None
    row = found.best.team.tolist()
    return {
        "name": team_name(spec, row), "parts": team_parts(spec, row), "row": row,
        "cost": float(team_costs(spec, found.best.team)), "share": found.share, "low": found.low, "high": found.high,
    }  # fmt: skip
