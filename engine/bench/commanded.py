"""Lineups led by a trained commander beside those that the script fights: how fast, and what of the verdicts stays.

One commander is trained (``bench/studies/commanders.yaml``, fewer steps). ``speed``: battles a second on one core under
it, beside the script's. ``verdicts``: a search by the script; the worst lineups that its fresh battles confirm are
replayed on other fresh battles under the script and under the commander, with the strength of the same baseline teams
measured under each. ``search``: a short search that the commander plays, in one process and on two workers of Ray,
beside one of the script: how many lineups each confirms.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from engine.arrays import Bundle, unpack
from engine.bench.commanders import trained
from engine.bench.herobattle_teams import equal_cost_pairs
from engine.bench.row import row
from engine.change.table import FINDINGS
from engine.config.study import GameConfig
from engine.errors import EngineError
from engine.events import Finished
from engine.games.herobattle.spec import game_spec
from engine.indicators import STRONG
from engine.lineups.schema import team_slots
from engine.rl.policy import Policy
from engine.rng import combine64
from engine.simulators import commanded
from engine.simulators.contract import LineupSimulator
from engine.store import FolderStore, Store
from engine.studies import load
from engine.study import run as run_study

NAME = "commanded"
CASES = ("speed", "verdicts", "search")
STEPS, REPLAYED = 400_000, 12
SCRIPT = {"simulator": "builtin:herobattle"}
LOCAL = {"kind": "local"}
LINEUPS = {"baselines": {"kind": "drawn", "count": 3, "seed": 5}}


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    with tempfile.TemporaryDirectory() as folder:
        store = FolderStore(Path(folder))
        yield {"speed": _speed, "verdicts": _verdicts, "search": _search}[case](store, quick)


@cache
def _commander(steps: int) -> tuple[bytes, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        policy: Policy = trained(1, FolderStore(Path(folder)), {"steps": steps})
    return policy.pack()


def led(store: Store, quick: bool) -> dict[str, Any]:
    """The game under the trained commander, as studies name it."""
    description, tensors = _commander(STEPS // 4 if quick else STEPS)
    store.put(tensors)
    return {**SCRIPT, "commander": {"policy": store.put(description), "title": "the commander"}}


def _speed(store: Store, quick: bool) -> dict[str, Any]:
    battles = 2000 if quick else 10_000
    games = [GameConfig.model_validate(each) for each in (led(store, quick), SCRIPT)]
    ours, script = (_rate(commanded.load(game, store), battles) for game in games)
    return row(NAME, "speed", ours, "battles/s on one core", peer="script", peer_value=script,
               detail=f"{battles:,} battles of random teams of equal cost; median of three turns")  # fmt: skip


def _rate(game: LineupSimulator, battles: int) -> float:
    left, right = equal_cost_pairs(battles, 1)
    seeds, turns = combine64(3, np.arange(battles, dtype=np.uint64)), []
    game.battles(left[:10], right[:10], seeds[:10], {})
    for _ in range(3):
        began = time.process_time()
        game.battles(left, right, seeds, {})
        turns.append(time.process_time() - began)
    return battles / float(np.median(turns))


def _verdicts(store: Store, quick: bool) -> dict[str, Any]:
    front = _searched(store, SCRIPT, 10 if quick else 60, 60 if quick else 100)
    worst, game = _worst(front), led(store, quick)
    study = {"kind": "change", "game": SCRIPT, "under": game["commander"], "replayed": worst, "seed": 77,
             "lineups": LINEUPS, "pool": LOCAL}  # fmt: skip
    table = unpack(store.get(_end(store, study).artifacts["table"]))
    before, after = ([FINDINGS[v] for v in table.arrays[f"verdict_{when}"].tolist()] for when in ("before", "after"))
    asked = [i for i, verdict in enumerate(before) if verdict == "confirmed"]
    kept = sum(after[i] == "confirmed" for i in asked)
    counts = ", ".join(f"{sum(after[i] == w for i in asked)} {w}" for w in ("refuted", "weak", "more", "close"))
    detail = (
        f"the {len(worst)} worst of {_confirmed(front).sum()} lineups that the script’s search confirmed; {len(asked)} "
        f"of them again confirmed by its fresh battles; of these under the commander {kept} confirmed, {counts}; "
        f"gaps, script then commander: {_gaps(table)}"
    )
    return row(NAME, "verdicts", kept, "verdicts of the script kept", peer="confirmed again by the script",
               peer_value=float(len(asked)) or None, detail=detail)  # fmt: skip


def _search(store: Store, quick: bool) -> dict[str, Any]:
    ticks, game = 5 if quick else 15, led(store, quick)
    mine, again, theirs = (
        _searched(store, game, ticks, 40), _searched(store, game, ticks, 40, {"kind": "ray", "workers": 2}),
        _searched(store, SCRIPT, ticks, 40),
    )  # fmt: skip
    (ours, edge), (script, other) = ((int(_confirmed(f).sum()), len(f.arrays["id"])) for f in (mine, theirs))
    return row(NAME, "search", ours, "lineups confirmed under the commander", peer="under the script",
               peer_value=float(script) or None,
               detail=f"of an edge of {edge}; the script’s of {other}; two workers of Ray find "
               f"{'the same, bit for bit' if _same(mine, again) else 'something else'}")  # fmt: skip


def _searched(
    store: Store, game: dict[str, Any], ticks: int, population: int, pool: Mapping[str, Any] = LOCAL
) -> Bundle:
    """The edge of a search, on fresh battles."""
    study = {"kind": "search", "game": game, "ticks": ticks, "fresh": 8, "seed": 5, "lineups": LINEUPS,
             "algorithm": {"kind": "nsga2", "population": population}, "pool": pool}  # fmt: skip
    return unpack(store.get(_end(store, study).artifacts["fresh"]))


def _same(one: Bundle, other: Bundle) -> bool:
    return one.arrays.keys() == other.arrays.keys() and all(
        array.tobytes() == other.arrays[name].tobytes() for name, array in one.arrays.items()
    )


def _end(store: Store, study: dict[str, Any]) -> Finished:
    *_, last = run_study(load(study), store)
    if not isinstance(last, Finished):
        raise EngineError(f"The study did not finish: {last}")
    return last


def _confirmed(front: Bundle) -> np.ndarray:
    return np.asarray(front.arrays["verdict"] == STRONG)


def _worst(front: Bundle) -> list[dict[str, Any]]:
    """The confirmed lineups of a search, those with the largest first objective first."""
    arrays, spec = front.arrays, game_spec()
    rows = np.flatnonzero(_confirmed(front))
    rows = rows[np.argsort(-arrays["objective"][rows, 0], kind="stable")][:REPLAYED]
    return [
        {"teams": [{"slots": team_slots(spec, row)} for row in arrays["genome"][i].tolist()],
         "anchors": arrays["anchor"][i].tolist()}
        for i in rows
    ]  # fmt: skip


def _gaps(table: Bundle) -> str:
    """The first objective of every lineup under both, with its 95 % range."""
    gaps = []
    for i in range(len(table.arrays["before"])):
        ends = [tuple(float(table.arrays[f"{when}{end}"][i, 0]) for end in ("", "_low", "_high"))
                for when in ("before", "after")]  # fmt: skip
        gaps.append(" → ".join(f"{mean:.2f} ({low:.2f} to {high:.2f})" for mean, low, high in ends))
    return "; ".join(gaps)
