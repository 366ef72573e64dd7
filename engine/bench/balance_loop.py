"""The main job, timed and graded: population 200, 100 generations, 3 teams, 3 baselines, 4 replicates, both seats.

``wall``: the whole search on Ray actors, checkpoints on, memory of battles off, Ray already started.
``direct``: from the end of the first round, when all workers are up, beside the same battles called straight by two
processes that do nothing else and are up as well.
``memory``: what remembering battles saves.
``recall``: of the five pieces planted by each seed, how many are among the ten single pieces (the pair: among the ten
pairs) most over-represented in the strongest teams of the final population.
``recall-random``: the same for random search with the same battles.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from statistics import mean, median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import unpack
from engine.bench.row import row
from engine.config import SearchConfig
from engine.events import Failed, Finished
from engine.games.herobattle import HeroBattle
from engine.games.herobattle.planted import planted_pieces
from engine.indicators import representation
from engine.lineups.encoding import LineupSpace, team_keys
from engine.lineups.rules import compile_rules
from engine.lineups.schema import presence
from engine.rng import battle_seeds, combine64
from engine.runtime.cluster import connected
from engine.store import FolderStore
from engine.studies import load
from engine.study import run as run_study

NAME = "balance-loop"
CASES = ("wall", "direct", "memory", "recall", "recall-random")
SEEDS = (1, 2, 3, 4, 5)
BACKGROUND = 4_000
TOP = 10
LINEUPS, EACH = 200, 96
"""Lineups in a round, and battles of each."""


class Search(NamedTuple):
    """A finished search: seconds from its start event to its end (``seconds``) and from the end of its first round to
    its end (``steady``: Ray needs a moment to start the actors), the lineups of its last population and of all that it
    played, how much memory answered."""

    seconds: float
    steady: float
    population: dict[str, NDArray[Any]]
    archive: dict[str, NDArray[Any]]
    baselines: NDArray[np.int32]
    battles: int
    cached: int


def study(generations: int, **changes: Any) -> SearchConfig:
    """The figure's study."""
    base: dict[str, Any] = {
        "game": {"simulator": "builtin:herobattle"}, "ticks": generations, "replicates": 4, "fresh": 0,
        "lineups": {"teams": 3, "baselines": {"kind": "drawn", "count": 3}},
        "algorithm": {"kind": "nsga2", "population": LINEUPS}, "pool": {"kind": "ray", "workers": 2}, "cache": False,
    }  # fmt: skip
    config = load(base | changes)
    assert isinstance(config, SearchConfig)
    return config


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    if case.startswith("recall"):
        yield _recall(case, quick)
        return
    generations = 20 if quick else 100
    with connected(workers=2):
        pool = {"kind": "ray", "workers": 2}
        search(study(2, pool=pool))  # compiled code and Ray's workers are warm before anything is timed
        turns = [_turn(case, generations, pool) for _ in range(1 if quick else 3)]
    seconds = [a for a, _ in turns]
    if case == "wall":
        battles = generations * LINEUPS * EACH
        yield row(NAME, case, median(seconds), "s", goal="<= 30 s", meets=quick or median(seconds) <= 30,
                  seeds=[1], detail=f"{battles:,} battles; turns " + " ".join(f"{s:.1f}" for s in seconds))  # fmt: skip
        return
    peers = [b for _, b in turns]
    ratio = median(a / b for a, b in turns)
    detail = "turns " + " ".join(f"{a:.1f}/{b:.1f}" for a, b in turns)
    peer, goal, meets = "", "", None
    if case == "direct":
        peer, goal, meets = "two processes calling battles() directly", "ratio <= 1.25", ratio <= 1.25
    else:
        peer = "the same with memory off"
    yield row(NAME, case, median(seconds), "s", peer=peer, peer_value=median(peers), goal=goal, meets=meets,
              seeds=[1], detail=detail)  # fmt: skip


def _turn(case: str, generations: int, pool: dict[str, Any]) -> tuple[float, float]:
    found = search(study(generations, pool=pool))
    if case == "wall":
        return found.seconds, found.seconds
    if case == "direct":
        return found.steady, direct(found)
    remembered = search(study(generations, pool=pool, cache=True))
    return remembered.seconds, found.seconds


def search(config: SearchConfig) -> Search:
    """Run a search in a store of its own."""
    with tempfile.TemporaryDirectory() as folder:
        store, began, first = FolderStore(folder), 0.0, 0.0
        for event in run_study(config, store):
            began = began or time.perf_counter()
            first = first or (time.perf_counter() if event.tick == 1 else 0.0)
            if isinstance(event, Failed):
                raise RuntimeError(event.message)
        ended = time.perf_counter()
        assert isinstance(event, Finished)
        archive = unpack(store.get(event.artifacts["archive"]))
        checkpoint = unpack(store.get(event.artifacts["checkpoint"])).arrays
        last = np.isin(archive.arrays["id"], checkpoint[f"algorithm/{config.algorithm.kind}/P:id"])
        rows = np.array([b["row"] for b in archive.meta["baselines"]], dtype=np.int32)
        arrays = {k: np.array(v) for k, v in archive.arrays.items()}
        population = {k: v[last] for k, v in arrays.items()}
        return Search(
            ended - began, ended - first, population, arrays, rows, event.counters.battles, event.counters.cached
        )


def direct(found: Search) -> float:
    """Seconds that two processes need for the battles of all rounds but the first, in batches of 4,096."""
    genomes = found.archive["genome"][found.archive["tick"] > 1]
    halves = [genomes[i::2] for i in range(2)]
    context = multiprocessing.get_context("spawn")
    start, queue = context.Barrier(3), context.Queue()
    processes = [context.Process(target=_play, args=(h, found.baselines, start, queue)) for h in halves]
    for process in processes:
        process.start()
    start.wait()
    began = time.perf_counter()
    played = sum(queue.get() for _ in processes)
    seconds = time.perf_counter() - began
    for process in processes:
        process.join()
    assert played == len(genomes) * EACH
    return seconds


def _play(genomes: NDArray[np.int32], baselines: NDArray[np.int32], start: Any, queue: Any) -> None:
    """One process: every pairing of every lineup from both seats, four times."""
    left, right = [], []
    for t in range(genomes.shape[1]):
        for u in range(t + 1, genomes.shape[1]):
            left += [genomes[:, t], genomes[:, u]]
            right += [genomes[:, u], genomes[:, t]]
        for base in baselines:
            other = np.broadcast_to(base, genomes[:, t].shape)
            left += [genomes[:, t], other]
            right += [other, genomes[:, t]]
    a, b = (np.repeat(np.concatenate(side), 4, axis=0) for side in (left, right))
    seeds = battle_seeds(1, combine64(team_keys(np.concatenate(left)), team_keys(np.concatenate(right))), 0, 4).ravel()
    simulator = HeroBattle()
    simulator.battles(a[:10], b[:10], seeds[:10], {}, "full")
    start.wait()
    for k in range(0, len(seeds), 4096):
        simulator.battles(a[k : k + 4096], b[k : k + 4096], seeds[k : k + 4096], {}, "full")
    queue.put(len(seeds))


def _recall(case: str, quick: bool) -> dict[str, Any]:
    kind = "random" if case == "recall-random" else "nsga2"
    seeds = SEEDS[:1] if quick else SEEDS
    found = [recall(seed, kind) for seed in seeds]
    detail = "; ".join(f"seed {s}: {sum(hits)}/5" for s, hits in zip(seeds, found, strict=True))
    value = mean(sum(hits) / len(hits) for hits in found)
    goal, meets = (">= 0.9", value >= 0.9) if kind == "nsga2" else ("", None)
    return row(NAME, case, value, "of planted pieces", goal=goal, meets=meets, seeds=seeds, detail=detail)


def recall(seed: int, kind: str, rounds: int = 100) -> list[bool]:
    """Which of the planted single pieces, and then the pair, a search of so many rounds brings to the top."""
    game = {"simulator": f"builtin:herobattle-planted:{seed}"}
    algorithm = {"kind": kind, "population": LINEUPS}
    found = search(study(rounds, seed=seed, game=game, algorithm=algorithm, pool={"kind": "local"}, cache=True))
    spec = HeroBattle(planted_seed=seed).describe()
    rows = found.population["genome"]
    strongest = rows[np.arange(len(rows)), found.population["anchor"][:, 0]]
    valid = LineupSpace(compile_rules(spec, study(1).lineups)).sample(np.random.default_rng(seed), BACKGROUND)
    top, background = presence(spec, strongest), presence(spec, valid.reshape(-1, valid.shape[-1]))
    singles, pair = planted_pieces(seed)
    index = spec.piece_index()
    ranked = [r.pieces for r in representation(top, background)[:TOP]]
    pairs = [set(r.pieces) for r in representation(top, background, pairs=True)[:TOP]]
    return [(index[s],) in ranked for s in singles] + [{index[p] for p in pair} in pairs]
