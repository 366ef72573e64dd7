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
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import unpack
from engine.bench.kept import Kept
from engine.bench.row import row
from engine.bench.worth_experiments import played, signs
from engine.config.patch import PatchConfig
from engine.config.study import SearchConfig
from engine.config.worth import WorthConfig
from engine.errors import EngineError
from engine.events import Failed, Finished
from engine.games.herobattle import HeroBattle
from engine.games.herobattle.planted import EDGE, PAIR, planted_pieces
from engine.indicators import wilson
from engine.lineups.pairing_evaluator import PairingEvaluator
from engine.lineups.pairings import draw
from engine.lineups.rules import compile_rules
from engine.lineups.schema import presence
from engine.patches.finder import Finder
from engine.patches.table import tabled
from engine.rl.devices import on_threads
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


class Recommended(NamedTuple):
    """The recommended ``patch``, with its row of the table; ``every`` patch; what is ``watched``; how long the search
    took, and its battles."""

    patch: dict[str, Any]
    every: list[dict[str, Any]]
    watched: list[dict[str, Any]]
    seconds: float
    processor: float
    battles: int

    @property
    def touched(self) -> set[str]:
        """The pieces that the recommended patch is about."""
        return {change["piece"] for change in self.patch["changes"]} | {p for pair in self.patch["apart"] for p in pair}


class Seed(NamedTuple):
    """What became of one planted piece: the patch that was found, whether it ``mended`` the piece, and whom an
    independent experiment ``named`` afterwards."""

    found: Recommended
    mended: bool
    named: list[str]


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case. Every seed is kept once it is measured, for all cases (``engine.bench.kept``)."""
    seeds, kept = range(1, 1 + (QUICK_SEEDS if quick else SEEDS)), Kept(f"{NAME}-seeds", {})
    with on_threads(1):
        if case == "single":
            yield from _single(seeds, kept)
        elif case == "pair":
            yield from _pair(seeds if quick else seeds[:5], kept)
        else:
            yield from _manual(seeds, kept)


def planted(seed: int) -> tuple[HeroBattle, str, int]:
    """A game with one piece that is too good (odd seeds) or too weak, that piece, and in which sense."""
    which, sign = (seed - 1) % 4, 1 if seed % 2 else -1
    game = HeroBattle(planted_seed=seed, edge=EDGE if sign > 0 else TOO_WEAK, only=which)
    return game, planted_pieces(seed)[0][which], sign


def found(game: HeroBattle, seed: int, **more: Any) -> Recommended:
    """Search for changes of a game, in this process."""
    settings = {"kind": "patch", "game": {"simulator": "builtin:herobattle"}, "battles": BATTLES, "seed": seed, **more}
    config, began, processor = load(settings), time.monotonic(), time.process_time()
    assert isinstance(config, PatchConfig)
    finder, evaluator = Finder(game.describe(), config), PairingEvaluator(config, game)
    while not finder.done:
        for answer in evaluator.evaluate(finder.ask(AT_ONCE), lambda: False):
            finder.tell(answer)
    meta, _ = tabled(finder.course)
    first = meta["patches"][0] if meta["patches"] else {"words": [], "changes": [], "apart": [], "verdict": "none"}
    took = time.monotonic() - began, time.process_time() - processor
    return Recommended(first, meta["patches"], meta["watched"], *took, finder.played)


def _measured(seed: int, kept: Kept) -> Seed:
    """The patch that is found where one piece is planted, measured once for all cases."""
    record = kept.result(f"single {seed}", partial(_measure, seed))
    return Seed(Recommended(**record["found"]), record["mended"], record["named"])


def _measure(seed: int) -> dict[str, Any]:
    game, piece, sign = planted(seed)
    made = found(game, seed)
    changes = _changes(made.patch)
    mended = piece in made.touched and _weaker(game, piece, changes, seed) * sign > 0
    named = signs(played(game, SCREENED, 10_000 + seed, changes, made.patch["apart"]), game.describe())
    return {"found": made._asdict(), "mended": mended, "named": sorted(" + ".join(each) for each in named)}


def _single(seeds: range, kept: Kept) -> Iterator[dict[str, Any]]:
    right, alone, clean, lines, seconds = 0, 0, 0, list[str](), list[float]()
    for seed in seeds:
        _, piece, sign = planted(seed)
        made, mended, named = _measured(seed, kept)
        right, alone, clean = right + mended, alone + (mended and made.touched == {piece}), clean + (not named)
        seconds.append(made.processor)
        lines.append(
            f"seed {seed} ({piece}, {'strong' if sign > 0 else 'weak'}): {'; '.join(made.patch['words']) or 'nothing'} "
            f"({made.patch['verdict']}), then named {', '.join(named) or 'none'}"
        )
    n, detail = len(seeds), f"{'; '.join(lines)}; median {np.median(seconds):.0f} s of processor time each"
    yield _share("single", right, n, "right piece and sign", 0.9, seeds, detail)
    yield _share("single-alone", alone, n, "nothing else changed", 0.7, seeds)
    yield _share("single-screen", clean, n, "independent screens name nothing", 0.9, seeds,
                 f"{SCREENED:,} battles each")  # fmt: skip


def _share(case: str, count: int, n: int, what: str, least: float, seeds: range, detail: str = "") -> dict[str, Any]:
    """A share with its range and its goal."""
    low, high = wilson(count, n)
    said = f"{count} of {n} ({low:.2f} to {high:.2f})"
    return row(NAME, case, count / n, what, goal=f">= {least}", meets=count >= least * n, seeds=tuple(seeds),
               detail=f"{said}; {detail}" if detail else said)  # fmt: skip


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


def _manual(seeds: range, kept: Kept) -> Iterator[dict[str, Any]]:
    """The paper's step and the patch that was found, on the same games, by what a search confirms afterwards."""
    unplanted = kept.result("unplanted", lambda: {"confirmed": _searched("builtin:herobattle", {})[0]})["confirmed"]
    strong, right, counts, lines = [seed for seed in seeds if seed % 2], 0, list[list[int]](), list[str]()
    for seed in strong:
        piece, made = planted(seed)[1], _measured(seed, kept).found
        one = kept.result(f"manual {seed}", partial(_step, seed, made))
        right += one["chosen"] == piece
        counts.append(one["confirmed"])
        before, manual, own = one["confirmed"]
        lines.append(f"seed {seed} ({piece}): most used {one['chosen']}; confirmed {before}, {manual} after it, {own} "
                     f"after {'; '.join(made.patch['words']) or 'nothing'}")  # fmt: skip
    detail = f"{'; '.join(lines)}; unplanted {unplanted}"
    yield row(
        NAME, "manual", right / len(strong), "the most used piece is the planted one", seeds=strong, detail=detail
    )
    means = np.array(counts).mean(axis=0)
    yield row(NAME, "search", float(means[2]), "confirmed after the patch", peer="the game without a planted piece",
              peer_value=float(unplanted), goal="<= the unplanted game's", meets=bool(means[2] <= unplanted),
              seeds=strong, detail=f"before {means[0]:.1f}, after the manual step {means[1]:.1f}")  # fmt: skip


def _step(seed: int, made: Recommended) -> dict[str, Any]:
    """Of a search's strongest teams the most used piece, and how many unfair lineups are confirmed: before, where that
    piece is weakened by a tenth, and with the patch that was found."""
    spec, reference = planted(seed)[0].describe(), f"builtin:herobattle-planted:{seed}:{(seed - 1) % 4}"
    before, teams = _searched(reference, {})
    chosen = spec.pieces[int(presence(spec, teams).sum(axis=0).argmax())]
    tenth = {f"{chosen.id}.{name}": TENTH * value for name, value in chosen.attributes.items() if value > 0}
    after = [_searched(reference, patch)[0] for patch in (tenth, _changes(made.patch))]
    return {"chosen": chosen.id, "confirmed": [before, *after]}


def _pair(seeds: range, kept: Kept) -> Iterator[dict[str, Any]]:
    """Each way of mending a pair, and what it leaves of the pair and of its halves."""
    works, lines = 0, list[str]()
    for seed in seeds:
        pair, texts = set(planted_pieces(seed)[1]), list[str]()
        made = Recommended(**kept.result(f"pair {seed}", partial(_mended_pair, seed)))
        for patch in made.every:
            if patch["verdict"] != "unproved":
                texts.append(f"{'; '.join(patch['words'])}: {_left(patch, made.watched)} ({patch['verdict']})")
        works += bool(made.touched) and made.touched <= pair
        lines.append(f"seed {seed} ({' + '.join(sorted(pair))}): {' | '.join(texts) or 'nothing'}")
    yield row(NAME, "pair", works / len(seeds), "change one of the pair, or keep them apart", seeds=tuple(seeds),
              detail="; ".join(lines))  # fmt: skip


def _mended_pair(seed: int) -> dict[str, Any]:
    game, pair = HeroBattle(planted_seed=seed, only=PAIR), sorted(planted_pieces(seed)[1])
    return found(game, seed, suspects=[{"pieces": pair}])._asdict()


def _left(patch: dict[str, Any], watched: list[dict[str, Any]]) -> str:
    """What is left of each that is watched, in points."""
    pairs = zip(watched, patch["worths"], strict=True)
    return ", ".join(
        f"{each['name']} {'no more' if worth[0] is None else format(100 * worth[0], '+.1f')}" for each, worth in pairs
    )
