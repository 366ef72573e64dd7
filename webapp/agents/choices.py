"""How often an agent makes each of its choices, and why that is not always what it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from engine.catalog import built_in
from engine.config.agents import PART
from webapp.lib.words import number, plural

HELD_BACK = "Its limits hold some of its actions back."


class Chosen(NamedTuple):
    """How often each choice was made, by its name, as shares of all; ``what`` was chosen, empty where an action is a
    single choice."""

    what: str
    shares: list[tuple[str, float]]


def chosen(counts: list[Any], game: str) -> list[Chosen]:
    """How often each action was chosen, or each choice where an action is several at once (a list of counts for each);
    nothing where there were none."""
    known = built_in(game)
    if not counts or isinstance(counts[0], int):
        return [_shares("", counts, known.actions if known else ())] if counts else []
    orders = list(known.orders.items()) if known else []
    named = orders if len(orders) == len(counts) else [(f"choice {i + 1}", ()) for i in range(len(counts))]
    return [_shares(what, each, names) for each, (what, names) in zip(counts, named, strict=True)]


def _shares(what: str, counts: list[int], named: Sequence[str]) -> Chosen:
    names = named[: len(counts)] if len(named) >= len(counts) else [f"action {i + 1}" for i in range(len(counts))]
    total = max(1, sum(counts))
    return Chosen(what, [(name, count / total) for name, count in zip(names, counts, strict=True)])


def counted(meta: Mapping[str, Any], game: str, limited: bool) -> str:
    """Which decisions of a measurement are counted, and why measures of the same episodes may say something else: in
    sentences. ``limited``: the agent has limits of its own."""
    decisions, episodes = plural(meta["check"]["situations"], "decision"), meta["episodes"]
    if episodes > PART:
        which = f"Counted in {decisions} of its first {PART} episodes; the measures above are means of all"
        which += f" {number(episodes)}."
    else:
        which = f"Counted in {decisions} of its {number(episodes)} episodes, of which long ones have more; in the"
        which += " measures above each episode counts alike."
    known = built_in(game)
    return " ".join(filter(None, (which, known.between if known else "", HELD_BACK if limited else "")))
