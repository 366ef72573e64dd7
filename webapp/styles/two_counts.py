"""Why the skill band of a style map holds others than a search's table counts as nearly as good as the best."""

from __future__ import annotations

from webapp.styles.evidence import Population
from webapp.styles.map_page import Map

PLAYS = {"win": "share of wins"}
"""What says skill, where that is not the word for it."""


def why(table: Population, fresh: bool, shown: Map) -> str:
    """In a sentence, what the map below a table does otherwise; ``fresh``: the table is of fresh episodes."""
    differences = []
    if shown.trained > len(table.score):
        differences.append("all agents that were trained, not only those that stayed")
    if table.by != "score":
        differences.append(f"by their scores, not by their {PLAYS.get(table.by, table.by)}")
    if fresh:
        differences.append("by the episodes of every round, not by fresh ones")
    differences.append("by their ranges, not by their means")
    return f"The skill band of the map below counts agents in another way: {'; '.join(differences)}."
