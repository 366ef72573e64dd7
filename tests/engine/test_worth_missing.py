"""How many more battles what is not settled needs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from engine import confidence
from engine.arrays import Bundle
from engine.worth.missing import ALLOWED, MOST, Missing, missing, settling
from engine.worth.verdicts import FINE, OPEN, UNTESTED

OTHERS = 19
MATTERS = 3.0
SPREAD = 0.42
Values = NDArray[np.float64]


def evidence(values: Values) -> float:
    """Log of the evidence that the effect is beyond what matters, above or below."""
    sides = [confidence.log_evidence(side * values, -1.0, 1.0, MATTERS / 100) for side in (1, -1)]
    return float(np.logaddexp(*sides)) - math.log(2)


def table(
    log: float, battles: int, worth: float, half: float = 2.0, *, doubt: float = 0.0, error: float = math.nan
) -> Bundle:
    """Of one row that is not settled, effects in points, beside others that were taken to the proof."""

    def column(first: float, rest: float) -> Values:
        return np.array([first, *[rest] * OTHERS]) / 100

    columns = {
        "evidence": np.array([log, *[0.0] * OTHERS]),
        "battles": np.array([battles, *[1_000] * OTHERS]),
        "verdict": np.array([OPEN, *[FINE] * OTHERS], np.uint8),
        "worth": column(worth, 0.0), "low": column(worth - half, -1.0), "high": column(worth + half, 1.0),
        "doubt": column(doubt, 0.0), "error": column(error, math.nan),
    }  # fmt: skip
    return Bundle({"matters": MATTERS / 100, "proved": True}, columns)


def more(*given: float, **other: float) -> int:
    """The battles that are said to be missing, 0 where it is too close to tell."""
    return missing(table(*given, **other))[0].more  # type: ignore[arg-type]


def drawn(rng: np.random.Generator, true: float, battles: int) -> Values:
    return np.clip(true + SPREAD * rng.standard_normal(battles), -1, 1)


def enough_for_three_of_four(enough: list[bool]) -> bool:
    return 0.75 - 3 * math.sqrt(0.75 * 0.25 / len(enough)) <= float(np.mean(enough)) <= 0.97


def test_what_is_said_to_be_missing_to_be_told_is_enough_for_three_of_four() -> None:
    rng, enough, needed = np.random.default_rng(5), list[bool](), math.log((OTHERS + 1) / ALLOWED)
    while len(enough) < 80:
        true, battles = rng.uniform(0.0, 0.08), 1_000
        values = drawn(rng, true, battles)
        log, worth = evidence(values), 100 * float(values.mean())
        if log < needed and worth > MATTERS and (said := more(log, battles, worth)):
            enough.append(evidence(np.append(values, drawn(rng, true, said))) >= needed)
    assert enough_for_three_of_four(enough)


def test_what_is_said_to_be_missing_for_the_stricter_list_of_a_gate_is_enough_for_three_of_four() -> None:
    rng, enough, needed = np.random.default_rng(7), list[bool](), math.log(3 * (OTHERS + 1) / 0.03)
    while len(enough) < 80:
        true, battles = rng.uniform(0.0, 0.15), int(rng.integers(200, 1_500))
        values = drawn(rng, true, battles)
        log, worth = evidence(values), 100 * float(values.mean())
        if log >= needed or worth <= MATTERS:
            continue
        if said := settling(table(log, battles, worth), 0, MATTERS / 100, needed).more:
            enough.append(evidence(np.append(values, drawn(rng, true, said))) >= needed)
    assert enough_for_three_of_four(enough)


def test_what_is_said_to_be_missing_to_be_fine_is_enough_for_three_of_four() -> None:
    rng, enough = np.random.default_rng(6), list[bool]()
    while len(enough) < 80:
        true, battles = rng.uniform(-0.05, 0.05), 1_000
        values = drawn(rng, true, battles)
        worth, ends = 100 * float(values.mean()), confidence.bounds_once(values, -1, 1, ALLOWED)
        half, error = 50 * (ends.high - ends.low), 100 * float(values.std()) / math.sqrt(battles)
        if abs(worth) + half < MATTERS or abs(worth) > MATTERS:
            continue
        if said := more(-math.inf, battles, worth, half, error=error):
            later = confidence.bounds_once(np.append(values, drawn(rng, true, said)), -1, 1, ALLOWED)
            enough.append(max(abs(later.low), abs(later.high)) < MATTERS / 100)
    assert enough_for_three_of_four(enough)


def test_what_was_not_played_in_the_proof_needs_what_is_enough_for_three_of_four() -> None:
    rng, enough, needed = np.random.default_rng(7), list[bool](), math.log((OTHERS + 1) / ALLOWED)
    while len(enough) < 80:
        true, battles = rng.uniform(0.03, 0.1), 2_000
        seen = drawn(rng, true, battles)
        worth, error = 100 * float(seen.mean()), 100 * float(seen.std()) / math.sqrt(battles)
        if worth > MATTERS and (said := more(-math.inf, battles, worth, 3 * error, error=error)):
            enough.append(evidence(drawn(rng, true, said)) >= needed)
    assert enough_for_three_of_four(enough)


def test_the_surer_it_is_the_fewer_are_missing_and_what_hardly_moves_is_too_close_to_tell() -> None:
    said = [more(log, 1_000, 6.0) for log in (-1.5, 2.0, 4.0, 6.0)]
    assert said[0] == 0
    assert all(said[1:])
    assert said[1:] == sorted(said[1:], reverse=True)


def test_the_nearer_to_what_matters_the_more_are_missing_from_either_side() -> None:
    below = [more(-math.inf, 1_000, worth, 4.0) for worth in (0.0, 0.3, 0.6, 2.9)]
    above = [more(0.0, 0, worth, math.nan, error=0.5) for worth in (9.0, 7.0, 5.5, 3.2)]
    for said in (below, above):
        assert said[-1] == 0, "too close to tell"
        assert all(said[:-1])
        assert said[:-1] == sorted(said[:-1])


def test_finalists_that_were_not_played_share_the_error_too() -> None:
    played = table(2.0, 1_000, 6.0)
    others = Bundle({**played.meta, "finalists": 3 * (OTHERS + 1)}, played.arrays)
    pace = 2.0 + math.log(8) - math.sqrt(2 * (2.0 + math.log(8)))
    further = 1_000 * math.log(3) / pace
    assert missing(others)[0].more - missing(played)[0].more == pytest.approx(further, abs=200)


def test_a_doubt_that_no_battle_takes_away_may_leave_it_too_close_to_tell() -> None:
    assert 0 < more(-math.inf, 1_000, 0.3, 4.0) < more(-math.inf, 1_000, 0.3, 4.0, doubt=0.2)
    assert more(-math.inf, 1_000, 1.0, 4.0, doubt=2.1) == 0


def test_it_never_asks_for_more_than_so_many_times_the_battles_that_were_played() -> None:
    said = [more(-math.inf, 1_000, 0.0, half) for half in (3.5, 5.0, 10.0, 20.0)]
    assert all(each <= MOST * 1_000 for each in said)
    assert said[-1] == 0


@pytest.mark.parametrize(("worth", "matters"), [(6.0, True), (-6.0, True), (2.0, False), (-2.0, False)])
def test_it_says_what_they_would_settle(worth: float, matters: bool) -> None:
    assert missing(table(2.0, 1_000, worth))[0].matters is matters


def test_only_what_is_not_settled_needs_any_once_there_is_a_proof_and_old_tables_say_nothing() -> None:
    bundle = table(2.0, 1_000, 6.0)
    assert not missing(Bundle({**bundle.meta, "proved": False}, bundle.arrays)), "the experiment goes on"
    assert list(missing(bundle)) == [0]
    assert isinstance(missing(bundle)[0], Missing)
    settled = {**bundle.arrays, "verdict": np.full(OTHERS + 1, UNTESTED)}
    assert not missing(Bundle(bundle.meta, settled))
    old = {name: column for name, column in bundle.arrays.items() if name != "evidence"}
    assert not missing(Bundle(bundle.meta, old))
