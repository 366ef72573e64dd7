"""How much a game of lineups may describe: what is larger is refused when it introduces itself, before anything else
looks at it, for pages and searches could not keep up with it. A real game stays far below."""

from __future__ import annotations

from collections.abc import Iterator

from engine.mdp.sizes import longer
from engine.simulators.contract import GameSpec

MOST_PIECES = 5_000
MOST = {
    "categories": 200, "pieces": MOST_PIECES, "slots": 100, "side_metrics": 200, "battle_metrics": 200,
    "parameters": MOST_PIECES, "fidelities": 50,
}  # fmt: skip
"""Entries of each list."""
MOST_RULES = {"distinct": 500, "required": MOST_PIECES, "banned": MOST_PIECES}
MOST_ATTRIBUTES = 200
"""Of a category."""


def too_large(spec: GameSpec) -> Iterator[str]:
    """What a game has too many of."""
    yield from longer(spec, MOST, "spec")
    yield from longer(spec.rules, MOST_RULES, "spec.rules")
    for i, category in enumerate(spec.categories[: MOST["categories"]]):
        yield from longer(category, {"attributes": MOST_ATTRIBUTES}, f"spec.categories[{i}]")
