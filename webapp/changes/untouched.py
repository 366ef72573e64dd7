"""Which lineups a change cannot touch: neither they nor the teams that they meet hold a piece that it changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

EXACTLY = "not touched by the change"
"""In place of the range of a difference that is none: both versions played the same battles."""


def apart(teams: Sequence[Sequence[str]], changed: Sequence[str]) -> bool:
    """Whether no team holds one of the pieces that are changed, all by their names; never where numbers of the game
    itself are (an empty name)."""
    held = {part.partition(" ×")[0] for team in teams for part in team}
    return bool(changed) and "" not in changed and held.isdisjoint(changed)


def met_by_it(config: Mapping[str, Any]) -> bool:
    """Whether a team that lineups of this study meet holds what is changed, or may: where nobody says who they meet,
    they are drawn."""
    changed = {path.rpartition(".")[0] for path in config["change"]}
    met = config["lineups"]["baselines"]
    held = {str(piece) for team in met.get("teams", ()) for piece in team["slots"].values()}
    return met.get("kind") != "pasted" or not held.isdisjoint(changed)
