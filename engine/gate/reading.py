"""The verdict of a gate, by the artifacts of its parts.

What a gate calls over is one list for all of its parts, of which at most 5 % is expected to be false; so on a build
that is under its line in everything, at most 5 % of gates say over, for the noise that ``engine.verdicts`` names and at
every look. Of these 5, one pays for the median baseline team that "strong" is measured by (replay and search meet the
same one), one for what pieces are compared with in the screen, and three for the evidence of all findings together
(``confidence.e_bh``): each part that a gate has may use the same share, divided among what it proves. Shares are fixed
before the battles that prove, so a part that ends later takes nothing from those before it, and no finding is taken
back.

*Under* is a claim about each thing that was looked at. It is wrong only where one of them is over its line, and then
that one's own range must have missed, which happens in at most 5 % of gates; no correction for how many there are is
needed for that (Berger 1982, an intersection-union test). Nothing is promised of what a gate does not meet: a break
that neither was archived, nor shows in a single piece's worth, nor is found by the search, is missed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from engine import confidence
from engine.arrays import Bundle
from engine.config.gate import GateConfig
from engine.gate import lineups, screened
from engine.gate.lineups import Lineups
from engine.gate.report import Gate, Report, Row, judged
from engine.gate.screened import Limits, Screened
from engine.simulators.contract import GameSpec
from engine.verdicts import BASELINE_ERROR, ERROR

OFFSET_ERROR = 0.01
"""Of what pieces are compared with, as ``engine.worth.reading`` spends it (which loads torch; a test compares them)."""
EVIDENCE_ERROR = ERROR - BASELINE_ERROR - OFFSET_ERROR
"""Of the findings of all parts together."""


class Parts(NamedTuple):
    """What is over by now: artifacts by part (the search's: its edge, then what else of its map was played again), the
    ``names`` of the exploits that were replayed, those that are ``barred`` (name and why), how many lineups the search
    ``evaluated``, the ``battles`` in all and those of the screen."""

    found: Mapping[str, Sequence[Bundle]]
    names: Sequence[str]
    barred: Sequence[tuple[str, str]]
    evaluated: int
    battles: int
    screen_battles: int


def read(config: GateConfig, spec: GameSpec, parts: Parts) -> Report:
    """The report by the parts that are over."""
    every: list[Lineups | Screened] = [
        screened.screened(bundle) if part == "screen" else _lineups(config, spec, parts, part, bundle)
        for part, bundles in parts.found.items()
        for bundle in bundles
    ]
    told = confirmed(config, every)
    rows = [Row("replay", name, "barred", f"may not be fielded any more: {why}") for name, why in parts.barred]
    looked = {"replay": len(config.exploits)} if config.exploits else {}
    for each, sure in zip(every, told, strict=True):
        if isinstance(each, Lineups):
            rows += lineups.rows_of(each, sure, spec, config.objectives.objectives)
        else:
            assert config.screen is not None
            limits = Limits(config.screen.matters, config.screen.leaves_open, parts.screen_battles)
            found, looked["screen"] = screened.rows_of(each, sure, limits)
            rows += found
    if "search" in parts.found:
        looked["search"] = parts.evaluated
        if not parts.found["search"]:
            rows.append(
                Row("search", "The search", "open", "it ended with no lineup that could be measured", missing=None)
            )
    unfinished = tuple(part for part in config.parts if part not in parts.found)
    return judged(rows, Gate(config.name, spec.title, parts.battles, looked, unfinished))


def _lineups(config: GateConfig, spec: GameSpec, parts: Parts, part: str, bundle: Bundle) -> Lineups:
    many = sum(len(each.arrays["id"]) for each in parts.found[part])
    share = EVIDENCE_ERROR / (ERROR - BASELINE_ERROR) / len(config.parts) / max(many, 1)
    names = parts.names if part == "replay" else ()
    kind = "replay" if part == "replay" else "search"
    return lineups.lineups_of(kind, bundle, spec, config.objectives.objectives, share, names)  # type: ignore[arg-type]


def confirmed(config: GateConfig, every: Sequence[Lineups | Screened]) -> list[list[bool]]:
    """Which findings of each are confirmed, all of them one list."""
    logs = [log for each in every for log in each.evidence]
    share = 1 / len(config.parts)
    of_search = sum(len(each.evidence) for each in every if isinstance(each, Lineups) and each.part == "search")
    shares = []
    for each in every:
        many = of_search if isinstance(each, Lineups) and each.part == "search" else len(each.evidence)
        shares += [share / many] * len(each.evidence)
    told = iter(confidence.e_bh(np.array(logs), np.array(shares), EVIDENCE_ERROR).tolist() if logs else [])
    return [[next(told, False) for _ in each.evidence] for each in every]
