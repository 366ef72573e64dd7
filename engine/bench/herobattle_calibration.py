"""Bring every piece to an even marginal win rate and write the CSV files (``python -m`` this module).

Random valid teams of equal cost fight; the win rate of the teams that contain a piece should be 50 %. Where it is
not, the piece's numbers are scaled: hit points and damage of heroes and soldiers, the effects of skills and
equipment. How much a piece answers to scaling is learned from one round to the next. Soldiers as a whole are scaled so
that, at equal cost, more of them is neither better nor worse.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.bench.herobattle_teams import Marginals, equal_cost_pairs, marginals
from engine.games.herobattle import kernel
from engine.games.herobattle.simulator import HeroBattle, Tables
from engine.games.herobattle.spec import CATEGORIES, DATA, FILES, game_spec
from engine.games.herobattle.teams import roster
from engine.piping import until_nobody_reads
from engine.simulators.contract import Piece

F64 = NDArray[np.float64]

SCALED = {
    "hero": ("hit_points", "damage"),
    "skill": ("strike", "shield", "guard", "rally", "weaken", "slow"),
    "equipment": (
        "hero_hit_points", "hero_damage", "soldier_hit_points", "soldier_damage", "haste", "speed", "edge_guard",
        "point_guard", "hex_guard", "thorns", "opening_damage", "opening_guard", "last_stand", "grudge",
    ),
    "soldier": ("hit_points", "damage"),
}  # fmt: skip
"""The attributes that calibration scales, by category."""

_ANSWER = {"hero": 70.0, "skill": 14.0, "equipment": 9.0, "soldier": 60.0}
"""First guess of the win-rate points that scaling by e would bring."""

_FARTHEST = 2.0  # in logarithms, from where a run of the program started
_ROUGHEST = {"hit_points": 0, "damage": 2}  # decimals; all other attributes have one more than designers type
_DECIMALS = 2


class Balance:
    """The state of a calibration: how far each piece is scaled (``power``, logarithms) and how it answers."""

    def __init__(self) -> None:
        spec = game_spec()
        self.spec = spec
        self.base = HeroBattle().tables({})
        self.columns = [self._columns(piece) for piece in spec.pieces]
        self.answer = np.array([_ANSWER[p.category] for p in spec.pieces])
        self.guess = self.answer.copy()
        self.power = np.zeros(len(spec.pieces))
        self.soldiers = np.array([p.category == "soldier" for p in spec.pieces])
        self._last: tuple[F64, F64] | None = None

    @staticmethod
    def _columns(piece: Piece) -> list[int]:
        ids = list(piece.attributes)
        return [1 + ids.index(a) for a in SCALED[piece.category]]

    def tables(self) -> Tables:
        """The base tables with every piece scaled, inside the attributes' bounds."""
        pieces = self.base.pieces.copy()
        by_id = {c.id: c for c in CATEGORIES}
        for i, piece in enumerate(self.spec.pieces):
            for column in self.columns[i]:
                bounds = by_id[piece.category].attributes[column - 1]
                pieces[i, column] = np.clip(pieces[i, column] * np.exp(self.power[i]), bounds.low, bounds.high)
        return Tables(pieces, self.base.parameters)

    def step(self, measured: Marginals, crowd: float) -> None:
        """One correction from measured win rates; ``crowd`` is what one more soldier brings, in points."""
        points = 100.0 * (measured.rate - 0.5)
        error = 50.0 / np.sqrt(np.maximum(measured.teams, 1))
        if self._last is not None:
            moved, came = self.power - self._last[0], points - self._last[1]
            telling = (np.abs(moved) * self.guess > 8.0 * error) & ~self.soldiers
            seen = np.clip(came / np.where(telling, moved, 1.0), 0.4 * self.guess, 3.0 * self.guess)
            self.answer = np.where(telling, 0.5 * (self.answer + seen), self.answer)
        self._last = self.power.copy(), points
        self.power = np.clip(self.power - 0.7 * points / self.answer, -_FARTHEST, _FARTHEST)


def measure(tables: Tables, pairs: int, seed: int) -> tuple[Marginals, float]:
    """Marginal win rates over random equal-cost pairings, and the points that one more soldier brings."""
    left, right = equal_cost_pairs(pairs, seed)
    side, duration = np.empty((pairs, 2, 3)), np.empty((pairs, 1))
    first, second = kernel.streams(np.arange(pairs, dtype=np.uint64) + np.uint64(seed << 32))
    edges, pair = np.zeros(len(tables.pieces) + 1), np.full(2, -2, np.int32)
    kernel.play(
        left, right, first, second, tables.pieces, tables.parameters, edges, pair, int(roster().groups[3, 0]),
        side, duration, np.empty((0, 2), np.int64), kernel.NO_TRACE, kernel.NO_CASTS,
    )  # fmt: skip
    more = (left[:, 5] + left[:, 7] - right[:, 5] - right[:, 7]).astype(float)
    crowd = 100.0 * float(more @ (side[:, 0, 2] - 0.5)) / float(more @ more)
    return marginals(len(tables.pieces), left, right, side[:, :, 2]), crowd


def _text(attribute: str, value: float) -> str:
    return f"{round(value, _ROUGHEST.get(attribute, _DECIMALS)):.10g}"


def write_tables(tables: Tables, folder: Path = DATA) -> None:
    """Write the four CSV files with the numbers of ``tables``."""
    spec = game_spec()
    for file, category in FILES:
        ids = [a.id for a in category.attributes]
        with (folder / file).open("w", newline="", encoding="utf-8") as handle:
            rows = csv.writer(handle, lineterminator="\n")
            rows.writerow(["id", "name", "cost", *ids, "text"])
            for i, piece in enumerate(spec.pieces):
                if piece.category == category.id:
                    cells = [_text(a, tables.pieces[i, 1 + c]) for c, a in enumerate(ids)]
                    rows.writerow([piece.id, piece.name, f"{piece.cost:g}", *cells, piece.text])


def report(round_: int, balance: Balance, measured: Marginals, crowd: float) -> str:
    """One line on how far from even the pieces of each category are."""
    points = 100.0 * (measured.rate - 0.5)
    parts = []
    for category in CATEGORIES:
        mine = np.array([p.category == category.id for p in balance.spec.pieces])
        worst = int(np.argmax(np.abs(np.where(mine, points, 0.0))))
        parts.append(f"{category.id} ±{np.abs(points[mine]).max():.2f} ({balance.spec.pieces[worst].id})")
    return f"round {round_}: {', '.join(parts)}; one more soldier {crowd:+.2f} points"


def main() -> int:
    """Calibrate and write; ``--dry`` only measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=14, help="rounds of measuring and correcting")
    parser.add_argument("--pairs", type=int, default=1_000_000, help="battles of the last rounds; the first have fewer")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dry", action="store_true", help="measure once, change nothing")
    options = parser.parse_args()
    balance = Balance()
    for turn in range(1 if options.dry else options.rounds):
        share = 1.0 if options.dry else min(1.0, 0.15 + 1.2 * turn / options.rounds)
        measured, crowd = measure(balance.tables(), int(options.pairs * share), options.seed * 1000 + turn)
        print(report(turn, balance, measured, crowd), flush=True)
        if not options.dry:
            balance.step(measured, crowd)
    if not options.dry:
        write_tables(balance.tables())
    return 0


if __name__ == "__main__":
    sys.exit(until_nobody_reads(main))
