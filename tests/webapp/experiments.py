"""Experiments for tests: tables as the engine writes them, of battles that nobody played."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from django.utils import timezone

from engine.arrays import pack
from engine.config.worth import WorthConfig
from engine.games.herobattle.spec import game_spec
from engine.lineups.companion import seed
from engine.simulators.contract import GameSpec
from webapp.lib.storage import store
from webapp.studies import actions
from webapp.studies.models import Job, Status
from webapp.suspects import removals
from webapp.worth.parts import FINE, OPEN, TOO_GOOD, TOO_WEAK

CAPTAIN, HORN, DUKE, RIDERS = "frost-captain", "warhorn", "marrow-duke", "riders"
ROWS = [
    # pieces, least, worth, low, high, verdict, battles
    ((CAPTAIN,), 1, 0.002, -0.01, 0.015, FINE, 7000),
    ((HORN,), 1, -0.001, -0.015, 0.013, FINE, 7000),
    ((DUKE,), 1, 0.067, 0.041, 0.09, TOO_GOOD, 4000),
    (("coil-bow",), 1, 0.02, -0.01, 0.05, OPEN, 900),
    ((CAPTAIN, HORN), 1, 0.082, 0.06, 0.104, TOO_GOOD, 5000),
    ((CAPTAIN, DUKE), 1, -0.051, -0.07, -0.032, TOO_WEAK, 5000),
    (("coil-bow",), 2, -0.058, -0.08, -0.034, TOO_WEAK, 4000),
]
FAIR = {DUKE: (385.4, 352.0, 431.0)}
"""Fair prices with their ranges; of the others there is none."""
NOTHING = [row for row in ROWS if row[5] in (FINE, OPEN)]


def table(rows: Sequence[Any] = ROWS, *, proved: bool = True, spec: GameSpec | None = None) -> str:
    """The table of these rows, in the store."""
    spec = spec or game_spec()
    place = spec.piece_index()
    pairs = [([place[piece] for piece in row[0]] + [-1])[:2] for row in rows]
    fair = [FAIR.get(row[0][0] if len(row[0]) == 1 else "", (math.nan,) * 3) for row in rows]
    columns = {
        "piece": np.array(pairs, np.int32).reshape(-1, 2),
        "least": np.array([row[1] for row in rows], np.int32),
        **{name: np.array([row[2 + i] for row in rows]) for i, name in enumerate(("worth", "low", "high"))},
        **{name: np.array([prices[i] for prices in fair]) for i, name in enumerate(("fair", "fair_low", "fair_high"))},
        "verdict": np.array([row[5] for row in rows], np.uint8),
        "battles": np.array([row[6] for row in rows], np.int64),
    }
    pieces = [{"id": p.id, "name": p.name, "category": p.category, "cost": p.cost} for p in spec.pieces]
    return store().put(pack({"pieces": pieces, "matters": 0.03, "game": spec.title, "proved": proved}, columns))


def experiment(search: Job, rows: Sequence[Any] = ROWS, **changes: Any) -> Job:
    """The experiment beside a search, over unless ``changes`` say otherwise."""
    config = WorthConfig(seed=seed(search.config["seed"]), game=search.config["game"], battles=150_000)
    made = actions.accompany(search, search.created_by, config)
    over = {"status": Status.FINISHED, "tick": 40, "counters": {"battles": 149_952}, "finished_at": timezone.now(),
            "message": "", "metrics": {"looked_at": 542.0}, "artifacts": {"table": table(rows)}}  # fmt: skip
    Job.objects.filter(pk=made.pk).update(**{**over, **changes})
    return Job.objects.get(pk=made.pk)


EVERYTHING = {"replayed": 16, "confirmed": 14, "furthest": [3.1, 2.8, 3.4], "battles": 12_288}
WITHOUT = {"replayed": 16, "confirmed": 0, "furthest": [1.6, 1.4, 1.8], "battles": 12_288}


def _row(swaps: list[list[str]], value: list[float], change: list[float]) -> dict[str, Any]:
    return {
        "swaps": swaps,
        "lineups": 25,
        "battles": 19_200,
        "value": value,
        "before": [2.6, 2.4, 2.8],
        "change": change,
    }


def removal(search: Job, **changes: Any) -> Job:
    """The tests of the suspects of a search, over unless ``changes`` say otherwise: of the pair and of one piece."""
    config = removals.planned(search)
    assert config is not None
    made = actions.accompany(search, search.created_by, config)
    swaps = [
        _row([], [2.6, 2.4, 2.8], [0.0, 0.0, 0.0]),
        _row([[HORN, "drum-of-haste"]], [1.4, 1.2, 1.6], [-1.2, -1.4, -1.0]),
        _row([], [1.2, 1.1, 1.4], [-1.4, -1.6, -1.2]),
    ]
    suspects = [
        {"key": f"{CAPTAIN}+{HORN}", "name": "Frost Captain + Warhorn", "rows": swaps, "lineups": 25, "impossible": "",
         "alone": [[CAPTAIN, "nothing of its kind costs as much"]], "without": WITHOUT},
        {"key": DUKE, "name": "Marrow Duke", "rows": [], "alone": [], "lineups": 0, "without": None,
         "impossible": "The rules want it in every lineup."},
    ]  # fmt: skip
    objective = {"name": "advantage", "title": "Resource advantage", "unit": "×", "toward": "more unfair",
                 "direction": "max", "threshold": 2.0, "low": 0.0, "high": 4.0}  # fmt: skip
    names = {piece.id: piece.name for piece in game_spec().pieces}
    meta = {"game": "Hero battle", "objective": objective, "suspects": suspects, "names": names,
            "everything": EVERYTHING, "rounds": 12, "searched": 288}  # fmt: skip
    keys = [each["pattern"] for each in made.config["suspects"]]
    at = str(next(i for i, pattern in enumerate(keys) if pattern["pieces"] == [DUKE]))
    example = {"units": [{"side": "left", "name": "Duke", "role": "hero"}], "ticks": [0, 5], "names": ["Duke", "Cap"],
               "events": [[], ["Left wins"]]}  # fmt: skip
    places = np.array([[[0.0, 1.0, 1.0]], [[2.0, 1.0, 0.5]]], np.float32)
    artifacts = {"table": store().put(pack(meta, {})),
                 "examples": store().put(pack({at: example}, {f"places_{at}": places}))}  # fmt: skip
    over = {"status": Status.FINISHED, "tick": 5, "ticks": 5, "counters": {"battles": 90_000}, "message": "",
            "finished_at": timezone.now(), "artifacts": artifacts}  # fmt: skip
    Job.objects.filter(pk=made.pk).update(**{**over, **changes})
    return Job.objects.get(pk=made.pk)
