"""The verdict of a gate, by the artifacts of its parts.

What a gate calls over is one list for all of its parts, of which at most 5 % is expected to be false; so on a build
that is under its line in everything, at most 5 % of gates say over, for the noise that ``engine.verdicts`` names and at
every look. Of these 5, one pays for the medians of the baseline teams that "strong" is measured by (each search's that
found exploits, and the gate's own, share it), one for what pieces are compared with in the screen, and three for the
evidence of all findings together (``confidence.e_bh``): each part that a gate has may use the same share, divided among
what it proves. Shares are fixed before the battles that prove, so a part that ends later takes nothing from those
before it, and no finding is taken back.

*Under* is a claim about each thing that was looked at. It is wrong only where one of them is over its line, and then
that one's own range must have missed, which happens in at most 5 % of gates; no correction for how many there are is
needed for that (Berger 1982, an intersection-union test). Nothing is promised of what a gate does not meet: a break
that neither was archived, nor shows in a single piece's worth, nor is found by the search, is missed. What is intended
is known beforehand, and is none of the findings.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from engine import confidence
from engine.arrays import Bundle
from engine.config.gate import GateConfig
from engine.config.lineups import DrawnBaselines
from engine.gate import lineups, screened
from engine.gate.exploits import ExploitGroup
from engine.gate.lineups import JudgedLineups
from engine.gate.report import BATTLES, NOTHING, Gate, GateFinding, Report, judged, many
from engine.gate.screened import Screened, ScreenLimits
from engine.simulators.contract import GameSpec
from engine.verdicts import BASELINE_ERROR, ERROR

OFFSET_ERROR = 0.01
"""Of what pieces are compared with, as ``engine.worth.proof`` spends it (which loads torch; a test compares them)."""
EVIDENCE_ERROR = ERROR - BASELINE_ERROR - OFFSET_ERROR
"""Of the findings of all parts together."""


class Parts(NamedTuple):
    """What is known by now: artifacts by part (the replay's: one of each of its ``groups`` that is over; the search's:
    its edge, then what else of its map was played again), the exploits that are ``barred`` (name and why), the parts
    that are ``unfinished``, how many lineups the search ``evaluated``, the ``battles`` in all and those of the
    screen, how many lineups of the search ``failed``, and how many of these were ``given_up``, because processes
    ended that played them."""

    found: Mapping[str, Sequence[Bundle]]
    groups: Sequence[ExploitGroup]
    barred: Sequence[tuple[str, str]]
    unfinished: Sequence[str]
    evaluated: int
    battles: int
    screen_battles: int
    failed: int = 0
    given_up: int = 0


def read(config: GateConfig, spec: GameSpec, parts: Parts) -> Report:
    """The report by the parts that are over."""
    every: list[JudgedLineups | Screened] = [
        screened.screened(bundle, config.intended) if part == "screen" else _lineups(config, spec, parts, part, i)
        for part, bundles in parts.found.items()
        for i, bundle in enumerate(bundles)
    ]
    flags = confirmed(config, every)
    rows = [GateFinding("replay", name, "barred", f"may not be fielded any more: {why}") for name, why in parts.barred]
    looked = {"replay": len(config.exploits)} if config.exploits else {}
    for each, sure in zip(every, flags, strict=True):
        if isinstance(each, JudgedLineups):
            rows += lineups.rows_of(each, sure, spec, config.objectives.objectives)
        else:
            assert config.screen is not None
            needed = _needed(config, each, sum(map(sum, flags)))
            limits = ScreenLimits(config.screen.matters, config.screen.leaves_open, parts.screen_battles, needed)
            found, looked["screen"] = screened.rows_of(each, sure, limits)
            rows += found
    if "search" in parts.found:
        looked["search"] = parts.evaluated
        rows += _unmeasured(config, parts)
    by = tuple(dict.fromkeys(_met_by(config, each) for each in every if isinstance(each, JudgedLineups)))
    gate = Gate(config.name, spec.title, parts.battles, looked, tuple(parts.unfinished), tuple(filter(None, by)))
    return judged(rows, gate)


def _unmeasured(config: GateConfig, parts: Parts) -> Iterator[GateFinding]:
    """What a search that is over could not measure. A build that breaks off the battles of an unfair lineup would hide
    it so."""
    if not parts.found["search"]:
        yield GateFinding("search", NOTHING, "open", "ended with no lineup that could be measured", missing=None)
    if parts.failed:
        yield GateFinding("search", BATTLES, "open", _left_out(config, parts), missing=None)


def _left_out(config: GateConfig, parts: Parts) -> str:
    """How many lineups the search left out, and why."""
    broken, given_up, of = parts.failed - parts.given_up, parts.given_up, many(parts.evaluated, "lineup")
    why = f"because three attempts in a row failed while {'each' if given_up > 1 else 'it'} was played alone"
    if not broken:
        return f"{given_up:,} of {of} {'was' if given_up == 1 else 'were'} given up and left out, {why}"
    divides = any("/" in objective.formula for objective in config.objectives.objectives)
    also = " (or a formula divides by zero for them)" if divides else ""
    left = (
        f"the game did not finish battles of {broken:,} of {of}{also}, which {'is' if broken == 1 else 'are'} left out"
    )
    return f"{left}; {given_up:,} more {'was' if given_up == 1 else 'were'} given up, {why}" if given_up else left


def _lineups(config: GateConfig, spec: GameSpec, parts: Parts, part: str, i: int) -> JudgedLineups:
    """Of the artifact ``i`` of a part. Shares count what is still to be played: a later group takes nothing back."""
    bundles, objectives, meant = parts.found[part], config.objectives.objectives, config.intended
    share = EVIDENCE_ERROR / (ERROR - BASELINE_ERROR) / len(config.parts)
    own = bool(config.search) or any(not group.met for group in parts.groups)
    medians = own + sum(bool(group.met) for group in parts.groups)
    if part == "replay":
        group, of = parts.groups[i], sum(len(each.names) for each in parts.groups)
        return lineups.lineups_of(
            "replay", bundles[i], spec, objectives, of, share, medians, group.names, group.met, meant
        )
    of = sum(len(each.arrays["id"]) for each in bundles)
    return lineups.lineups_of("search", bundles[i], spec, objectives, of, share, medians, intended=meant)


def _met_by(config: GateConfig, each: JudgedLineups) -> str:
    drawn = isinstance(config.lineups.baselines, DrawnBaselines)
    return lineups.met_by(each, drawn, config.objectives.objectives)


def _needed(config: GateConfig, screen: Screened, others: int) -> float:
    """Log of the evidence that confirms one more finding of the screen, beside so many ``others``."""
    share = EVIDENCE_ERROR / len(config.parts) / max(len(screen.evidence), 1)
    return -math.log(share * (others + 1))


def confirmed(config: GateConfig, every: Sequence[JudgedLineups | Screened]) -> list[list[bool]]:
    """Which findings of each are confirmed, all of them one list."""
    logs = [log for each in every for log in each.evidence]
    share = 1 / len(config.parts)
    shares = []
    for each in every:
        many = each.of if isinstance(each, JudgedLineups) else len(each.evidence)
        shares += [share / max(many, 1)] * len(each.evidence)
    reported = iter(confidence.e_bh(np.array(logs), np.array(shares), EVIDENCE_ERROR).tolist() if logs else [])
    return [[next(reported, False) for _ in each.evidence] for each in every]
