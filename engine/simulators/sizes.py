"""Size limits of a lineup game: larger descriptions are refused at the handshake, before anything else reads them,
because pages and searches could not handle them. Real games stay far below."""

from __future__ import annotations

from collections.abc import Iterator

from engine.mdp.sizes import longer
from engine.simulators.contract import GameSpec

MOST_PIECES = 5_000
MOST = {
    "categories": 200, "pieces": MOST_PIECES, "slots": 100, "side_metrics": 200, "battle_metrics": 200,
    "parameters": MOST_PIECES, "fidelities": 50,
}  # fmt: skip
"""Largest number of entries in each list."""
MOST_RULES = {"distinct": 500, "required": MOST_PIECES, "banned": MOST_PIECES}
MOST_ATTRIBUTES = 200
"""Largest number of attributes of a category."""


def too_large(spec: GameSpec) -> Iterator[str]:
    """The limits that a game exceeds, as sentences."""
    yield from longer(spec, MOST, "spec")
    yield from longer(spec.rules, MOST_RULES, "spec.rules")
    for i, category in enumerate(spec.categories[: MOST["categories"]]):
        yield from longer(category, {"attributes": MOST_ATTRIBUTES}, f"spec.categories[{i}]")
