"""Whether statistical promises are kept: error rates and coverage on noise that is hard for usual tests, mostly over
5,000 runs. One module for each family of promises; a case is named after its family (``racing-lognormal``).

A case meets its goal when what it counts is no more than promised, but for three standard errors of the count itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.bench.trust import examinations, ladders, racing, ratios, strangers, undeclared, verdicts

NAME = "trust"
FAMILIES = (racing, verdicts, undeclared, ratios, examinations, ladders, strangers)
CASES = tuple(case for family in FAMILIES for case in family.CASES)


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case; ``quick``: over a tenth of the runs."""
    for family in FAMILIES:
        if case in family.CASES:
            yield from family.run(case, quick)
