"""How long it takes to see what a change does: 20 lineups of herobattle replayed on both versions, with ranges.

``cost``: the most unfair and strong lineups of a short search of a planted game; the hero that stands in most of their
strongest teams becomes dearer by a quarter, so some must be refitted first. ``number``: the same hero's first attribute
is lowered by a fifth. Seconds from the start of the study to its end on two workers, starting them included (Ray runs
already); verdicts that come early end a lineup's battles, as they do on the site. Beside it the same battles called
straight by two processes that do nothing else and are up already.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle, unpack
from engine.bench.row import row
from engine.config import ChangeConfig
from engine.events import Failed, Finished
from engine.games.herobattle import HeroBattle
from engine.lineups.schema import team_slots
from engine.runtime.cluster import connected
from engine.simulators.contract import GameSpec
from engine.store import FolderStore
from engine.studies import load
from engine.study import run as run_study

NAME = "replay-lineups"
CASES = ("cost", "number")
LINEUPS, SECONDS, SEED = 20, 30, 1
GAME = f"builtin:herobattle-planted:{SEED}"
AT_ONCE = 4096
Rows = NDArray[np.int32]


class EndedReplay(NamedTuple):
    """A study that is over: its table, the seconds and battles it took."""

    table: Bundle
    seconds: float
    battles: int


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    spec = HeroBattle(planted_seed=SEED).describe()
    with connected(workers=2):
        rows, anchors = _unfair()
        study = _study(spec, rows, anchors, case)
        _ended(study.model_copy(update={"replicates": 8}))  # compiled code and Ray's workers are warm
        turns = [_ended(study) for _ in range(1 if quick else 3)]
    seconds, last = median(turn.seconds for turn in turns), turns[-1]
    straight = median(_direct(rows, turn.battles) for turn in turns)
    verdicts = Counter(last.table.meta["words"]["verdict"][v] for v in last.table.arrays["verdict_after"].tolist())
    refitted = int((last.table.arrays["fit"] == 1).sum())
    detail = (
        f"{last.battles:,} battles; turns {' '.join(f'{turn.seconds:.1f}' for turn in turns)}; {refitted} refitted; "
        + ", ".join(f"{count} {word}" for word, count in verdicts.most_common())
    )
    yield row(NAME, case, seconds, "s", peer="two processes calling battles() directly", peer_value=straight,
              goal=f"<= {SECONDS} s", meets=seconds <= SECONDS, seeds=(SEED,), detail=detail)  # fmt: skip


def _unfair() -> tuple[Rows, NDArray[np.int64]]:
    """The most unfair lineups of a short search whose weakest team is strong, too, int32[n, teams, slots], and their
    anchors."""
    config = load({"kind": "search", "seed": SEED, "game": {"simulator": GAME}, "ticks": 20, "fresh": 0,
                   "algorithm": {"kind": "nsga2", "population": 100},
                   "pool": {"kind": "ray", "workers": 2}})  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        store = FolderStore(folder)
        *_, last = run_study(config, store)
        assert isinstance(last, Finished), last
        meta, arrays = unpack(store.get(last.artifacts["archive"]))
    strong = arrays["objective"][:, 2] > meta["median_baseline"]["value"]
    worst = np.lexsort((-arrays["objective"][:, 0], ~strong))[:LINEUPS]
    return np.array(arrays["genome"][worst]), np.array(arrays["anchor"][worst])


def _study(spec: GameSpec, rows: Rows, anchors: NDArray[np.int64], case: str) -> ChangeConfig:
    replayed = [
        {"teams": [{"slots": team_slots(spec, team)} for team in lineup], "anchors": pair.tolist()}
        for lineup, pair in zip(rows, anchors, strict=True)
    ]
    heroes = Counter(int(lineup[pair[0], 0]) for lineup, pair in zip(rows, anchors, strict=True))
    hero = spec.pieces[heroes.most_common(1)[0][0]]
    first = spec.category(hero.category).attributes[0].id
    change = {
        "cost": {f"{hero.id}.cost": 1.25 * hero.cost},
        "number": {f"{hero.id}.{first}": 0.8 * hero.attributes[first]},
    }[case]
    config = load({"kind": "change", "seed": SEED, "game": {"simulator": GAME}, "change": change, "replayed": replayed,
                   "pool": {"kind": "ray", "workers": 2}})  # fmt: skip
    assert isinstance(config, ChangeConfig)
    return config


def _ended(study: ChangeConfig) -> EndedReplay:
    with tempfile.TemporaryDirectory() as folder:
        store, began = FolderStore(folder), time.perf_counter()
        *_, last = run_study(study, store)
        seconds = time.perf_counter() - began
        if isinstance(last, Failed):
            raise RuntimeError(last.message)
        assert isinstance(last, Finished)
        return EndedReplay(unpack(store.get(last.artifacts["table"])), seconds, last.counters.battles)


def _direct(rows: Rows, battles: int) -> float:
    """Seconds in which two processes play so many battles of these teams."""
    context = multiprocessing.get_context("spawn")
    start, queue = context.Barrier(3), context.Queue()
    halves = [battles // 2, battles - battles // 2]
    processes = [context.Process(target=_play, args=(rows, many, start, queue)) for many in halves]
    for process in processes:
        process.start()
    start.wait()
    began = time.perf_counter()
    played = sum(queue.get() for _ in processes)
    seconds = time.perf_counter() - began
    for process in processes:
        process.join()
    assert played == battles
    return seconds


def _play(rows: Rows, battles: int, start: Any, queue: Any) -> None:
    """One process: teams of a lineup against each other, in turns."""
    teams = rows.reshape(-1, rows.shape[-1])
    left = np.resize(teams, (battles, rows.shape[-1]))
    right = np.resize(np.roll(teams, 1, axis=0), left.shape)
    seeds, game = np.arange(battles, dtype=np.uint64), HeroBattle(planted_seed=SEED)
    game.battles(left[:10], right[:10], seeds[:10], {})
    start.wait()
    for at in range(0, battles, AT_ONCE):
        own = slice(at, at + AT_ONCE)
        game.battles(left[own], right[own], seeds[own], {})
    queue.put(battles)
