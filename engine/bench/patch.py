"""Whether the smallest change that works is found: ``engine.patches`` on herobattle with planted pieces.

``single``: one piece is planted (5 to 8 points; with every other seed too weak instead of too strong). Of the patches
that are recommended, how many make that piece weaker (stronger), and how many change nothing else; how many an
independent experiment with another seed then names nothing in; and whether a search confirms more unfair lineups than
in the game without a planted piece. ``manual``: beside it, on the same games, the paper's step: of a search's
strongest teams the most used piece is weakened by a tenth (Lamarckian, V-B). ``pair``: two pieces that are too good
only together, named as the suspect, and what each way of mending that does to its halves.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import unpack
from engine.bench.row import row
from engine.bench.worth_experiments import played, signs
from engine.config.patch import PatchConfig
from engine.config.study import SearchConfig
from engine.config.worth import WorthConfig
from engine.errors import EngineError
from engine.events import Failed, Finished
from engine.games.herobattle import HeroBattle
from engine.games.herobattle.planted import EDGE, PAIR, planted_pieces
from engine.lineups.pairing_evaluator import PairingEvaluator
from engine.lineups.pairings import draw
from engine.lineups.rules import compile_rules
from engine.lineups.schema import presence
from engine.patches.finder import Finder
from engine.patches.table import tabled
from engine.rl.learner import on_threads
from engine.rng import combine64, mix64
from engine.simulators.contract import Patch
from engine.store import FolderStore
from engine.studies import load
from engine.study import run as run_study

NAME = "patch"
CASES = ("single", "pair", "manual")
SEEDS, QUICK_SEEDS = 20, 2
TOO_WEAK = -0.06
BATTLES = 400_000
SCREENED = 150_000
"""Battles of the independent experiment."""
MEASURED = 40_000
"""Battles that say whether a piece became weaker."""
SEARCH_SEED = 500
AT_ONCE = 512
ROUNDS, POPULATION = 20, 100
"""Of a search beside it, four replicates each and 16 fresh ones."""
TENTH = 0.9


class Found(NamedTuple):
    """The recommended patch, with its row of the table, and how long the search took."""

    patch: dict[str, Any]
    every: list[dict[str, Any]]
    watched: list[dict[str, Any]]
    seconds: float
    battles: int


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    seeds = range(1, 1 + (QUICK_SEEDS if quick else SEEDS))
    with on_threads(1):
        if case == "single":
            yield from _single(seeds)
        elif case == "pair":
            yield from _pair(seeds if quick else seeds[:5])
        else:
            yield from _manual(seeds)


def planted(seed: int) -> tuple[HeroBattle, str, int]:
    """A game with one piece that is too good (odd seeds) or too weak, that piece, and in which sense."""
    which, sign = (seed - 1) % 4, 1 if seed % 2 else -1
    game = HeroBattle(planted_seed=seed, edge=EDGE if sign > 0 else TOO_WEAK, only=which)
    return game, planted_pieces(seed)[0][which], sign


def found(game: HeroBattle, seed: int, **more: Any) -> Found:
    """Search for changes of a game, in this process."""
    settings = {"kind": "patch", "game": {"simulator": "builtin:herobattle"}, "battles": BATTLES, "seed": seed, **more}
    config, began = load(settings), time.monotonic()
    assert isinstance(config, PatchConfig)
    finder, evaluator = Finder(game.describe(), config), PairingEvaluator(config, game)
    while not finder.done:
        for answer in evaluator.evaluate(finder.ask(AT_ONCE), lambda: False):
            finder.tell(answer)
    meta, _ = tabled(finder.course)
    first = meta["patches"][0] if meta["patches"] else {"words": [], "changes": [], "apart": [], "verdict": "none"}
    return Found(first, meta["patches"], meta["watched"], time.monotonic() - began, finder.played)


def _single(seeds: range) -> Iterator[dict[str, Any]]:
    right, alone, clean, lines, told = 0, 0, 0, list[str](), list[float]()
    for seed in seeds:
        game, piece, sign = planted(seed)
        made = found(game, seed)
        changes = _changes(made.patch)
        apart = made.patch["apart"]
        touched = {change["piece"] for change in made.patch["changes"]} | {p for pair in apart for p in pair}
        mended = piece in touched and _weaker(game, piece, changes, seed) * sign > 0
        named = signs(played(game, SCREENED, 10_000 + seed, changes, apart), game.describe())
        right, alone, clean = right + mended, alone + (mended and touched == {piece}), clean + (not named)
        told.append(made.seconds)
        lines.append(
            f"seed {seed} ({piece}, {'strong' if sign > 0 else 'weak'}): {'; '.join(made.patch['words']) or 'nothing'} "
            f"({made.patch['verdict']}), then named {sorted(named) or 'none'}, {made.seconds:.0f} s"
        )
    n, detail = len(seeds), "; ".join(lines)
    yield row(NAME, "single", right / n, "right piece and sign", goal=">= 0.9", meets=right >= 0.9 * n,
              seeds=tuple(seeds), detail=f"{detail}; median {np.median(told):.0f} s each")  # fmt: skip
    yield row(NAME, "single-alone", alone / n, "nothing else changed", goal=">= 0.7", meets=alone >= 0.7 * n,
              seeds=tuple(seeds))  # fmt: skip
    yield row(NAME, "single-screen", clean / n, "independent screens name nothing", goal=">= 0.9",
              meets=clean >= 0.9 * n, seeds=tuple(seeds), detail=f"{SCREENED:,} battles each")  # fmt: skip


def _changes(patch: dict[str, Any]) -> Patch:
    return {change["path"]: change["after"] for change in patch["changes"]}


def _weaker(game: HeroBattle, piece: str, changes: Patch, seed: int) -> float:
    """By how much less often teams with a piece win after the changes, in points."""
    before, after = (_worth(game, piece, patch, seed) for patch in ({}, changes))
    return 100 * (before - after)


def _worth(game: HeroBattle, piece: str, changes: Patch, seed: int) -> float:
    """How often teams with a piece win in the changed game beyond even."""
    spec = game.describe().patched(changes)
    rules = compile_rules(spec, WorthConfig.model_validate({"game": {"simulator": "builtin:herobattle"}}).pairings)
    keys = mix64(combine64(seed, np.arange(MEASURED, dtype=np.uint64)))
    asked = np.full((MEASURED, 1), spec.piece_index()[piece], np.int32)
    rows, whole = draw(rules, keys, asked, np.ones_like(asked))
    left, right = (np.ascontiguousarray(rows[whole, side]) for side in (0, 1))
    win = [metric.name for metric in spec.side_metrics].index(spec.win)
    return float(game.battles(left, right, keys[whole], changes).side[:, 0, win].mean()) - 0.5


def _searched(reference: str, changes: Patch) -> tuple[int, NDArray[np.int32]]:
    """How many unfair lineups a search confirms on fresh battles, and its strongest teams."""
    config = load({
        "game": {"simulator": reference, "patch": dict(changes)}, "ticks": ROUNDS, "replicates": 4, "fresh": 16,
        "seed": SEARCH_SEED, "algorithm": {"kind": "nsga2", "population": POPULATION}, "pool": {"kind": "local"},
    })  # fmt: skip
    assert isinstance(config, SearchConfig)
    with tempfile.TemporaryDirectory() as folder:
        store, event = FolderStore(folder), None
        for event in run_study(config, store):
            if isinstance(event, Failed):
                raise EngineError(event.message)
        assert isinstance(event, Finished)
        arrays = unpack(store.get(event.artifacts["front"])).arrays
        genome, anchor = np.array(arrays["genome"]), np.array(arrays["anchor"])
        return int(event.summary["confirmed"]), genome[np.arange(len(genome)), anchor[:, 0]]


def _manual(seeds: range) -> Iterator[dict[str, Any]]:
    """The paper's step, on the games whose piece is too good: the costs stay, all that the piece does is a tenth
    less."""
    right, lines, counts = 0, list[str](), list[tuple[int, int, int]]()
    unplanted, _ = _searched("builtin:herobattle", {})
    strong = [seed for seed in seeds if seed % 2]
    for seed in strong:
        game, piece, _ = planted(seed)
        reference = f"builtin:herobattle-planted:{seed}:{(seed - 1) % 4}"
        before, teams = _searched(reference, {})
        used = presence(game.describe(), teams).sum(axis=0)
        chosen = game.describe().pieces[int(used.argmax())]
        tenth = {f"{chosen.id}.{name}": TENTH * value for name, value in chosen.attributes.items() if value > 0}
        made = found(game, seed)
        manual, _ = _searched(reference, tenth)
        own, _ = _searched(reference, _changes(made.patch))
        right += chosen.id == piece
        counts.append((before, manual, own))
        confirmed = f"confirmed {before}, {manual} after it, {own} after"
        lines.append(f"seed {seed} ({piece}): most used {chosen.id}; {confirmed} "
                     f"{'; '.join(made.patch['words']) or 'nothing'}")  # fmt: skip
    detail = f"{'; '.join(lines)}; unplanted {unplanted}"
    yield row(
        NAME, "manual", right / len(strong), "the most used piece is the planted one", seeds=strong, detail=detail
    )
    means = np.array(counts).mean(axis=0)
    yield row(NAME, "search", float(means[2]), "confirmed after the patch", peer="the game without a planted piece",
              peer_value=float(unplanted), goal="<= the unplanted game's", meets=bool(means[2] <= unplanted),
              seeds=strong, detail=f"before {means[0]:.1f}, after the manual step {means[1]:.1f}")  # fmt: skip


def _pair(seeds: range) -> Iterator[dict[str, Any]]:
    """Each way of mending a pair, and what it leaves of the pair and of its halves."""
    works, lines = 0, list[str]()
    for seed in seeds:
        game = HeroBattle(planted_seed=seed, only=PAIR)
        pair, told = set(planted_pieces(seed)[1]), list[str]()
        made = found(game, seed, suspects=[{"pieces": sorted(pair)}])
        for patch in made.every:
            if patch["verdict"] != "unproved":
                told.append(f"{'; '.join(patch['words'])}: {_left(patch, made.watched)} ({patch['verdict']})")
        touched = {change["piece"] for change in made.patch["changes"]} | {
            p for two in made.patch["apart"] for p in two
        }
        works += bool(touched) and touched <= pair
        lines.append(f"seed {seed} ({' + '.join(sorted(pair))}): {' | '.join(told) or 'nothing'}")
    yield row(NAME, "pair", works / len(seeds), "change one of the pair, or keep them apart", seeds=tuple(seeds),
              detail="; ".join(lines))  # fmt: skip


def _left(patch: dict[str, Any], watched: list[dict[str, Any]]) -> str:
    """What is left of each that is watched, in points."""
    pairs = zip(watched, patch["worths"], strict=True)
    return ", ".join(
        f"{each['name']} {'no more' if worth[0] is None else format(100 * worth[0], '+.1f')}" for each, worth in pairs
    )
