"""Names of lineups that can be told apart, where several lineups have teams of the same first pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

Teams = Sequence[Sequence[str]]
"""The pieces of each team of a lineup, in words."""
SHOWN = 2
"""Pieces that tell a lineup from others of its name."""


def distinct_names(lineups: Sequence[Teams]) -> list[str]:
    """A name for each lineup, none twice: the first pieces of its teams; where others have these too, also the first
    pieces that not all of them hold, and where that does not help, a number."""
    common: dict[str, set[str]] = {}
    for teams in lineups:
        name, held = _name(teams), set(chain(*teams))
        common[name] = common.get(name, held) & held
    named = [f"{_name(teams)}{_unlike(teams, common[_name(teams)])}" for teams in lineups]
    seen, found = Counter[str](), list[str]()
    for name in named:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


def _name(teams: Teams) -> str:
    return " · ".join(team[0] for team in teams)


def _unlike(teams: Teams, common: set[str]) -> str:
    """ " (Warhorn, Pikes ×4)": what it holds beside what all lineups of its name have in ``common``."""
    own = dict.fromkeys(piece for piece in chain(*teams) if piece not in common)
    return f" ({', '.join(list(own)[:SHOWN])})" if own else ""
