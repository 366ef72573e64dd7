"""Which lineups of a search are replayed: those that stand for a suspect, its shortlist, and what was confirmed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError, StoreError
from engine.indicators import UNDER
from engine.lineups import schema
from engine.lineups.patterns import Patterns
from engine.simulators.contract import GameSpec
from webapp.studies import companion
from webapp.studies import explore_source as source
from webapp.studies.explore_build import Explored, explored
from webapp.studies.explore_shortlist import on_list
from webapp.studies.models import Job
from webapp.suspects.reading import Suspect, fits, read

FOR_A_SUSPECT, MOST = 5, 24
"""Lineups that stand for a suspect, and of one replay."""
SUSPECTS = 12
"""Suspects whose lineups are replayed with newer data, the first."""
LONGEST = 200
"""Letters of a lineup's name."""
Lineups = list[dict[str, Any]]
Rows = list[tuple[int, list[list[int]], list[int]]]
"""Lineups by their numbers, each with its teams, and which of these are the strongest and the weakest."""


def lineups(search: Job, suspect: Suspect | None = None) -> Lineups:
    """The lineups as a study has them: those that stand for the suspect, then the shortlist; none twice. A team that
    holds a piece of the suspect has it in its name; lineups of one name have their numbers in it. Raises StoreError and
    ConfigError where the game is no longer described."""
    spec = source.spec(search)
    standing = _standing(search, spec, suspect) if suspect else []
    return _as_studies(spec, [*standing, *_listed(search)], suspect.line.pieces if suspect else ())


def watched(search: Job) -> Lineups:
    """What is asked of newer data: lineups that stand for each confirmed suspect, the first suspect's first, then the
    whole shortlist; none twice. Raises StoreError and ConfigError where the game is no longer described."""
    spec, listed, named = source.spec(search), _listed(search), suspects(search)
    each = max(1, min(FOR_A_SUSPECT, (MOST - len(listed)) // max(1, len(named))))
    standing = [row for suspect in named for row in _standing(search, spec, suspect)[:each]]
    pieces = [piece for suspect in named for piece in suspect.line.pieces]
    return _as_studies(spec, [*standing, *listed], pieces, len(standing) + len(listed))


def suspects(search: Job) -> list[Suspect]:
    """What the experiment beside a search confirmed, and nobody means to be so."""
    experiment = companion.of(search)
    return read(experiment).named[:SUSPECTS] if experiment is not None and experiment.terminal else []


def found(search: Job) -> Lineups:
    """What a search has to show: the lineups that fresh battles confirmed, the worst first, then its shortlist; none
    twice. Raises StoreError and ConfigError where the game is no longer described."""
    spec = source.spec(search)
    return _as_studies(spec, [*_worst_confirmed(search), *_listed(search)], ())


def _listed(search: Job) -> Rows:
    return [(entry.individual, entry.genome, entry.anchors) for entry in on_list(search)]


def _as_studies(spec: GameSpec, rows: Rows, pieces: Sequence[str], most: int = MOST) -> Lineups:
    made = dict[str, tuple[int, dict[str, Any]]]()
    for number, genome, anchors in rows:
        made.setdefault(repr(genome), (number, _as_study(spec, genome, anchors, pieces)))
    return _named_apart(list(made.values())[:most])


def _worst_confirmed(search: Job) -> Rows:
    try:
        found = explored(search)
    except (StoreError, ConfigError):
        return []
    if not found.core:
        return []
    rows = np.flatnonzero(_confirmed(found))
    worst = rows[np.argsort(-_beyond(search, found)[rows], kind="stable")]
    return _rows(found, worst)


def _rows(found: Explored, places: NDArray[np.int64]) -> Rows:
    anchors = found.lineups["anchor"]
    return [(int(found.core["id"][i]), found.genome[i].tolist(), anchors[i].tolist()) for i in places]


def _named_apart(lineups: Sequence[tuple[int, dict[str, Any]]]) -> Lineups:
    many = Counter(lineup["name"] for _, lineup in lineups)
    for number, lineup in lineups:
        if many[lineup["name"]] > 1:
            mark = f", lineup {number}"
            lineup["name"] = lineup["name"][: LONGEST - len(mark)] + mark
    return [lineup for _, lineup in lineups]


def baselines(search: Job) -> dict[str, Any]:
    """The baseline teams that a search's lineups met, as a study has them; none where they are not known."""
    spec = source.spec(search)
    teams = [{"name": name[:120], "slots": schema.team_slots(spec, row)} for name, row in source.baselines(search)]
    return {"baselines": {"kind": "pasted", "teams": teams}} if teams else {}


def _standing(search: Job, spec: GameSpec, suspect: Suspect) -> Rows:
    """The worst lineups over the line whose strongest team (the weakest, of a suspect that is too weak) holds the
    suspect: those that fresh battles confirmed come first, then those that the search is sure of."""
    try:
        found = explored(search)
    except (StoreError, ConfigError):
        return []
    known = {piece["id"] for piece in found.meta.get("pieces", ())}
    if not found.core or not known.issuperset(suspect.line.pieces) or not fits(search, suspect.pattern):
        return []
    anchors = found.lineups["anchor"]
    rows = np.flatnonzero((anchors[:, 0] >= 0) & (found.core["verdict"] != UNDER))
    if not len(rows):
        return []
    rows = rows[Patterns(spec, [suspect.pattern]).explained(found.genome[rows], anchors[rows])[:, 0]]
    surer = found.core["verdict"][rows].astype(int) + _confirmed(found)[rows]
    worst = rows[np.lexsort((-_beyond(search, found)[rows], -surer))]
    return _rows(found, worst[:FOR_A_SUSPECT])


def _confirmed(found: Explored) -> NDArray[np.bool_]:
    confirmed = [lineup for lineup, fresh in found.fresh.items() if fresh.finding == "confirmed"]
    return np.isin(found.core["id"], confirmed)


def _beyond(search: Job, found: Explored) -> NDArray[np.float64]:
    """How far each lineup is in the first objective with a line, in the direction that counts."""
    objectives = source.objectives(search).objectives
    at = next((j for j, o in enumerate(objectives) if o.threshold is not None), 0)
    return np.asarray(source.signs(objectives)[at] * found.core["value"][at].astype(float))


def _as_study(spec: GameSpec, genome: list[list[int]], anchors: list[int], pieces: Sequence[str]) -> dict[str, Any]:
    teams = [{"slots": schema.team_slots(spec, row)} for row in genome]
    named = zip(genome, teams, strict=True)
    name = " · ".join(_team(spec, schema.team_name(spec, row), team["slots"], pieces) for row, team in named)[:LONGEST]
    return {"name": name, "teams": teams, "anchors": anchors if len(anchors) == 2 and min(anchors) >= 0 else []}


def _team(spec: GameSpec, name: str, slots: Mapping[str, Any], pieces: Sequence[str]) -> str:
    """ "Frost Captain with Warhorn": those of the pieces that the team holds and that its name does not tell."""
    held = [spec.pieces[spec.piece_index()[piece]].name for piece in pieces if piece in slots.values()]
    rest = [each for each in held if each not in name]
    return f"{name} with {' and '.join(rest)}" if rest else name
