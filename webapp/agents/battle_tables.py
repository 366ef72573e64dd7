"""The numbers of herobattle as the page fights battles with them (``static/js/watch/herobattle``)."""

from __future__ import annotations

from typing import Any

from engine.simulators.contract import GameSpec

CATEGORIES = ("hero", "skill", "equipment", "soldier")


def tables(spec: GameSpec) -> dict[str, Any]:
    """``Tables`` of ``teams.js``: ``pieces``, a row of equal length for each: what it costs, then its category's
    attributes in their order; ``names`` of the pieces; ``parameters``; ``groups``, (first piece, how many) of each of
    ``CATEGORIES``; ``most`` soldiers of a kind; ``budget`` and ``soldiers``, lowest and highest, of a team."""
    attributes = {each.id: [attribute.id for attribute in each.attributes] for each in spec.categories}
    longest = max(map(len, attributes.values()))
    rows = [[piece.cost, *(piece.attributes.get(name, 0.0) for name in attributes[piece.category])]
            for piece in spec.pieces]  # fmt: skip
    kinds, rules = [piece.category for piece in spec.pieces], spec.rules
    return {
        "pieces": [row + [0.0] * (1 + longest - len(row)) for row in rows],
        "names": [piece.name for piece in spec.pieces],
        "parameters": [parameter.default for parameter in spec.parameters],
        "groups": [[kinds.index(category), kinds.count(category)] for category in CATEGORIES],
        "most": max(slot.high for slot in spec.slots if slot.kind == "count"),
        "budget": [rules.budget_low, rules.budget_high],
        "soldiers": [rules.units_low, rules.units_high],
    }
