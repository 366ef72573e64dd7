"""How often an experiment finds what is planted, by the study that the site runs: ``engine.sensitivity``.

``pieces``: pieces of herobattle are made 5 and 8 points too strong or too weak in the game's numbers, a hundred of each
size; each experiment has 150,000 battles. Prints the share that is found with its range, what it took, and how often an
innocent was confirmed. The study is kept: whoever kills this goes on with the plantings that are left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.bench.kept import ended
from engine.bench.row import row
from engine.runtime.cluster import connected
from engine.studies import load

NAME = "sensitivity"
CASES = ("pieces",)
BATTLES, PLANTINGS, SIZES, SEED = 150_000, 100, (5.0, 8.0), 1
QUICK_BATTLES, QUICK_PLANTINGS = 20_000, 4
WORKERS = 2


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    battles, plantings = (QUICK_BATTLES, QUICK_PLANTINGS) if quick else (BATTLES, PLANTINGS)
    with connected(workers=WORKERS):
        study = load({
            "kind": "sensitivity", "seed": SEED, "game": {"simulator": "builtin:herobattle"}, "battles": battles,
            "plantings": plantings, "sizes": SIZES, "pool": {"kind": "ray", "workers": WORKERS},
        })  # fmt: skip
        over = ended(NAME, study, "table")
    for cell in over.found.meta["cells"]:
        yield row(NAME, f"{case}-{cell['size']:g}", cell["share"] or 0.0, "of the planted are found", seeds=[SEED],
                  detail=_said(cell, battles))  # fmt: skip
    took = f"{over.battles:,} battles; {over.processor / 60:.1f} min of processor time in the attempt that ended it"
    yield row(NAME, case, over.seconds / 60, "min", seeds=[SEED], detail=took)


def _said(cell: dict[str, Any], battles: int) -> str:
    """How many, with the range; how large the breaks were by battles of their own; innocents."""
    innocent = cell["innocent"]
    beside = "innocents not known" if innocent is None else f"{innocent} experiments confirmed an innocent"
    if not cell["planted"]:
        return f"none of {cell['lost']} could be planted"
    return (
        f"{cell['found']} of {cell['planted']} ({cell['low']:.2f} to {cell['high']:.2f}), {battles:,} battles each; "
        f"the breaks are {100 * cell['effect']:.1f} points on average; {beside}"
    )
