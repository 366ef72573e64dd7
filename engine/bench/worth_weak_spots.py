"""What a designed experiment is weak at: breaks that are small, or rare, or not about one piece or two.

Breaks are planted in outcomes: of the battles that teams with a break lose to teams without it, a share is given to
them. So a break of seven points is one of seven points, whatever the game. Each seed plants one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.bench.kept import Kept
from engine.bench.row import row
from engine.bench.worth_experiments import Ids, played, signs
from engine.games.herobattle import HeroBattle
from engine.indicators import wilson
from engine.lineups.schema import presence
from engine.rng import combine64, generator, mix64
from engine.simulators.contract import Battles, Patch

Rows = NDArray[np.int32]
Marks = NDArray[np.bool_]
BATTLES, SEEDS, QUICK_BATTLES, QUICK_SEEDS = 150_000, 20, 100_000, 1
_GIVEN = 0x91FE
SOURCES = ("worth", "lineups", "games/herobattle", "confidence.py", "rng.py", "bench/worth_experiments.py",
           "bench/worth_weak_spots.py")  # fmt: skip
"""What results depend on: whatever of it changes is measured anew."""


class Kind(NamedTuple):
    """A kind of break: the categories of its pieces, by how many points their teams win more often, the smallest amount
    of its piece, whether only ``against`` teams with one given piece, and what the experiment is told to matter."""

    categories: tuple[str, ...]
    points: float
    amounts: tuple[int, ...] = (1,)
    against: str = ""
    matters: float = 3.0


KINDS = {
    "three-points": Kind(("equipment",), 3.0),
    "three-points-where-1.5-matter": Kind(("equipment",), 3.0, matters=1.5),
    "one-counter": Kind(("hero",), 20.0, against="skill"),
    "triple": Kind(("hero", "skill", "equipment"), 7.0),
    "amount": Kind(("soldier",), 7.0, amounts=(5, 6, 7)),
}


class Break(NamedTuple):
    """A planted break: indices of its ``pieces``, the ``least`` amount of each, the piece that its teams have to meet
    (-1: none), and the share of lost battles that are given to them."""

    pieces: tuple[int, ...]
    least: int
    against: int
    share: float


def planted(kind: Kind, seed: int) -> Break:
    """The break of this kind that a seed plants."""
    spec, rng = HeroBattle().describe(), generator(seed, "weak-spots")
    of = {c.id: [i for i, p in enumerate(spec.pieces) if p.category == c.id] for c in spec.categories}
    pieces = tuple(int(rng.choice(of[c])) for c in kind.categories)
    least = int(rng.choice(kind.amounts))
    against = int(rng.choice(of[kind.against])) if kind.against else -1
    return Break(pieces, least, against, 2 * kind.points / 100)


class BrokenGame(HeroBattle):
    """Herobattle with a break in its outcomes."""

    def __init__(self, planted: Break) -> None:
        super().__init__()
        self.planted = planted

    def battles(
        self, left: Rows, right: Rows, seeds: NDArray[np.uint64], patch: Patch, fidelity: str = "full"
    ) -> Battles:
        """The same battles, some of them with the two sides' results exchanged."""
        answer = super().battles(left, right, seeds, patch, fidelity)
        win = [metric.name for metric in self.describe().side_metrics].index(self.describe().win)
        marks = (mix64(combine64(seeds, _GIVEN)) >> np.uint64(11)).astype(np.float64) / 2**53
        ahead = self.has(left, right).astype(int) - self.has(right, left)
        given = (marks < self.planted.share) & ((answer.side[:, 0, win] - answer.side[:, 1, win]) * ahead < 0)
        answer.side[given] = answer.side[given][:, ::-1]
        return answer

    def has(self, teams: Rows, others: Rows) -> Marks:
        """Which teams have the break when they meet these others."""
        spec, (pieces, least, against, _) = self.describe(), self.planted
        whole = presence(spec, teams)[:, list(pieces)].all(axis=1)
        if least > 1:
            at = {slot.id: s for s, slot in enumerate(spec.slots)}
            counts = [(at[slot.of], s) for s, slot in enumerate(spec.slots) if slot.kind == "count"]
            many = [np.where(teams[:, of] == pieces[0], teams[:, s], 0) for of, s in counts]
            whole &= np.sum(many, axis=0) >= least
        return np.asarray(whole if against < 0 else whole & presence(spec, others)[:, against])


def weak_spots(bench: str, case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """A row for each kind: in how many experiments something that is told holds nothing but pieces of the break."""
    seeds, battles = range(1, 1 + (QUICK_SEEDS if quick else SEEDS)), QUICK_BATTLES if quick else BATTLES
    kept = Kept(f"{bench}-{case}", {"battles": battles}, SOURCES)
    for name, kind in KINDS.items():
        found = [kept.result(f"{name} {seed}", partial(confirmed, kind, seed, battles)) for seed in seeds]
        some = sum(bool(own) for own, _ in found)
        low, high = wilson(some, len(found))
        named = sorted({" + ".join(each) for own, _ in found for each in own})
        beside = sorted({" + ".join(each) for _, others in found for each in others})
        detail = (
            f"{some} of {len(found)} ({low:.2f} to {high:.2f}) with {battles:,} battles; "
            f"told: {', '.join(named) or 'none'}; told beside them: {', '.join(beside) or 'none'}"
        )
        yield row(bench, f"{case} {name}", some / len(found), "of such breaks are named", seeds=seeds, detail=detail)


def confirmed(kind: Kind, seed: int, battles: int) -> tuple[list[Ids], list[Ids]]:
    """What an experiment tells: too good and of nothing but pieces of the break, and the rest."""
    one = planted(kind, seed)
    game = BrokenGame(one)
    spec = game.describe()
    found = signs(played(game, battles, seed, matters=kind.matters), spec)
    pieces = {spec.pieces[p].id for p in one.pieces}
    known = {p.id for p in spec.pieces}
    own = [each for each, sign in found.items() if sign > 0 and set(each) & known <= pieces]
    return own, [each for each in found if each not in own]
