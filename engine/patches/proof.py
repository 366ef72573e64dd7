"""What fresh battles say of a patch: an independent screen of every piece, and closer looks at what was to be mended.

These battles had no part in finding the patch. A piece is *named* where it is beyond what matters with evidence that
holds for all pieces together (e-BH, 4 %); what is watched has ranges that hold together (4 %). Worths are compared with
the patched game (``compared``); 1 %, split over all of these comparisons, pays for the error of that. Where several
finals are proved, one of them is recommended because it works, so they share both errors.

An adversary that began anew has its word, too: a patch does not work under which the strongest team it found surely
wins more than the one it found in the game as it is. Their ranges hold together with those of the other finals (5 %).
Forecasts are those of the experiment: fitted to battles that are none of these.

A battle that the game does not finish may have ended in any way, so ranges and evidence hold whichever way these would
have (``engine.worth.hidden``), also those of what pieces are compared with: a patch that works because the game breaks
off battles under it is none.
"""

from __future__ import annotations

import math
from collections.abc import Set
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from engine import confidence
from engine.confidence import Range
from engine.patches.adversary import Best
from engine.patches.candidates import Candidate
from engine.patches.compared import Others, others
from engine.patches.response import Watched
from engine.patches.trials import Trials
from engine.worth.hidden import LOST, Ways, hidden, ways
from engine.worth.proof import ERROR, OFFSET_ERROR, possible
from engine.worth.screen import SIDES, WIN

Floats = NDArray[np.float64]
WORKS, FAILS, OPEN = "works", "fails", "open"
"""Verdicts: nothing is beyond what matters; something surely is; more battles would tell."""
FEWEST = 30


class Strongest(NamedTuple):
    """The strongest team that an adversary found, its share of wins against fresh opponents, and its range."""

    best: Best
    share: float
    low: float
    high: float


class Proof(NamedTuple):
    """``worths`` of what is watched with their ranges (not a number: there is no such team any more), pieces by their
    trait that are ``named``, and the ``largest`` effect of another piece that is not excluded; all in chances to
    win. ``stronger``: whether the ``strongest`` team surely wins more than that of the game as it is. ``unfinished``:
    how many of its ``battles`` the game did not finish."""

    verdict: str
    worths: list[tuple[float, float, float]]
    named: list[int]
    largest: float
    battles: int
    strongest: Strongest | None = None
    stronger: bool = False
    unfinished: int = 0


def judged(
    candidate: Candidate, watched: list[Watched], trials: Trials, matters: float, any_team: Floats,
    closer: dict[int, Floats], at_random: int, purpose: int, intended: Set[int] = frozenset(), finals: int = 1,
) -> Proof:  # fmt: skip
    """By the outcomes of random pairings and, by the place of what is watched, of pairings that hold it. ``at_random``
    and ``purpose`` say which pairings these are (``Trials.draw``); traits that are ``intended`` are not named. So many
    ``finals`` share the error."""
    values, compared = _at_random(candidate, trials, any_team, at_random)
    expected, singles = trials.reference(candidate.patch), range(len(values))
    known = np.isfinite(expected.variance) & (compared.share > 0)
    tested = [t for t in singles if t not in intended and len(values[t].rest) >= FEWEST and known[t]]
    errors = _errors(finals, len(tested), len(watched))
    means, variances = expected.mean.tolist(), expected.careful.tolist()
    lines = {t: _line(compared, t, (means[t], variances[t]), errors) for t in tested}
    logs = np.array([_evidence(values[t], lines[t], matters) if t in lines else -math.inf for t in singles])
    named = np.flatnonzero(confidence.e_bh(logs, np.full(len(logs), 1 / len(logs)), errors.one)).tolist()
    worths = [_watched(candidate, w, trials, closer.get(i), purpose, compared, errors) for i, w in enumerate(watched)]
    seen = {w.trait for w in watched}
    ends = [_within(values[t], line, errors.one) for t, line in lines.items() if t not in seen]
    few = [t for t, own in enumerate(values) if len(own.lost) >= FEWEST > len(own.rest)]
    ends += [SIDES for t in few if t not in (seen | intended)]
    largest = max((max(abs(low), abs(high)) for low, high in ends), default=0.0)
    every = np.concatenate([any_team, *closer.values()])
    unfinished = int(np.isnan(every[:, WIN]).sum())
    verdict = _verdict(worths, named, matters)
    return Proof(verdict, worths, named, largest, len(every), unfinished=unfinished)


def met_by(proof: Proof, strongest: Strongest, present: Strongest, matters: float) -> Proof:
    """The proof with the ``strongest`` team of an adversary that began anew, against that of the ``present`` game: a
    patch under which it is surely stronger does not work or, where that may be by less than what matters, is open."""
    beyond = strongest.low - present.high
    verdict = FAILS if beyond > matters else OPEN if beyond > 0 and proof.verdict == WORKS else proof.verdict
    return proof._replace(verdict=verdict, strongest=strongest, stronger=beyond > 0)


def share_of(best: Best, wins: Floats, error: float) -> Strongest:
    """A team's share of wins by outcomes beyond even, against opponents drawn for this alone."""
    share, off = wins + 0.5, ~np.isfinite(wins)
    every = Ways(share, np.where(off, 0.0, share), np.where(off, 1.0, share)).at(np.ones(len(wins), np.bool_))
    ends = every.range(0.0, 1.0, error, confidence.bounds_once)
    return Strongest(best, float(every.rest.mean()) if len(every.rest) else math.nan, ends.low, ends.high)


class _Errors(NamedTuple):
    """``one``: the error of a list, or of a range by itself; ``each``: of the ranges that hold together; ``doubt``: so
    many standard errors are allowed to each of what these are compared with."""

    one: float
    each: float
    doubt: float


class _Line(NamedTuple):
    """What residuals are compared with: a worth is a ``share`` of their distance from ``at``, known up to ``doubt``."""

    at: float
    doubt: float
    share: float


def _errors(finals: int, tested: int, watched: int) -> _Errors:
    one, lines = (ERROR - OFFSET_ERROR) / finals, finals * (tested + watched)
    return _Errors(one, one / max(watched, 1), NormalDist().inv_cdf(1 - OFFSET_ERROR / (2 * max(lines, 1))))


def _at_random(candidate: Candidate, trials: Trials, ahead: Floats, purpose: int) -> tuple[list[Ways], Others]:
    """Of each piece the residuals of teams that hold it, in random battles, and what it is compared with."""
    rows = trials.draw(candidate.patch, -1, len(ahead), purpose).rows
    first = ways(trials.screen.left, rows, ahead)
    held = trials.traits.held(np.concatenate([rows[:, 0], rows[:, 1]]))
    both = Ways(*map(np.concatenate, zip(first, first.turned, strict=True)))
    columns = held[:, : len(trials.traits.single)].tocsc()
    found = [both.at(own) for own in np.split(columns.indices, columns.indptr[1:-1])]
    expected = trials.reference(candidate.patch)
    return found, others(trials.screen.group, held, first.rest, expected, _hidden(held, both))


def _hidden(held: sparse.csr_matrix, every: Ways) -> Floats:
    """By piece and amount, how far battles that were not finished may have moved the mean of its residuals; ``held``
    [2 n, traits] and ``every`` [2 n] of the first teams, then of the second ones."""
    good = np.isfinite(every.rest)
    many = np.asarray(held[good].sum(axis=0), np.float64).ravel()
    mean = np.asarray(held[good].T @ every.rest[good]) / np.maximum(many, 1)
    return hidden(held[~good], LOST - every.lost[~good], mean, many)


def _line(compared: Others, trait: int, expected: tuple[float, float], errors: _Errors) -> _Line:
    """For residuals of teams with a trait; ``expected``: what forecasts say of these, and the variance of that."""
    mean, variance, share, hides = compared.of(trait)
    return _Line(mean - expected[0], errors.doubt * math.sqrt(variance + expected[1]) + hides, share)


def _watched(
    candidate: Candidate, watched: Watched, trials: Trials, ahead: Floats | None, purpose: int, compared: Others,
    errors: _Errors,
) -> tuple[float, float, float]:  # fmt: skip
    """The worth of something that is watched, and a range that holds for all of these together; where no battle was
    finished, the middle of it."""
    if ahead is None:
        return math.nan, math.nan, math.nan
    rows = trials.draw(candidate.patch, watched.trait, len(ahead), purpose).rows
    every = ways(trials.screen.left, rows, ahead).at(np.ones(len(rows), np.bool_))
    line = _line(compared, watched.trait, trials.expectation(candidate.patch, watched.trait), errors)
    ends, good = _within(every, line, errors.each), every.rest
    middle = float(np.mean(ends))
    return line.share * (float(good.mean()) - line.at) if len(good) else middle, ends.low, ends.high


def _evidence(values: Ways, line: _Line, matters: float) -> float:
    """Log of the evidence that a worth is further than ``matters`` from none, above or below."""
    (low, high), far = SIDES, matters / line.share + line.doubt
    above = min(confidence.log_evidence(rest, low, high, line.at + far) for rest in values.least)
    below = min(confidence.log_evidence(-rest, -high, -low, far - line.at) for rest in values.most)
    return float(np.logaddexp(above, below)) - math.log(2)


def _within(values: Ways, line: _Line, error: float) -> Range:
    ends = values.range(*SIDES, error, confidence.bounds_once)
    least, most = (side - line.at + sign * line.doubt for side, sign in zip(ends, (-1, 1), strict=True))
    return Range(*possible(line.share * np.array([least, most])).tolist())


def _verdict(worths: list[tuple[float, float, float]], named: list[int], matters: float) -> str:
    known = [each for each in worths if not math.isnan(each[0])]
    if named or any(low > matters or high < -matters for _, low, high in known):
        return FAILS
    return WORKS if all(-matters < low and high < matters for _, low, high in known) else OPEN
