"""``HeroBattle``: the compiled game behind the lineup simulator contract."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.errors import SimulatorError
from engine.games.herobattle import kernel, layout
from engine.games.herobattle.check import check_rows, slot_ranges
from engine.games.herobattle.planted import EDGE, hidden_edges
from engine.games.herobattle.replay import frames
from engine.games.herobattle.spec import game_spec
from engine.simulators.contract import Battles, Frame, GameSpec, Patch
from engine.text import figures

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
U64 = NDArray[np.uint64]

_PATCHES_KEPT = 32


class Tables(NamedTuple):
    """The numbers of one patched game: ``pieces`` float64[pieces, layout.COLUMNS], ``parameters`` float64[p]."""

    pieces: F64
    parameters: F64


class TalliedBattles(NamedTuple):
    """Battles and their work: ``tallies`` int64[n, 2]: unit-ticks, and ticks in which a unit attacked."""

    battles: Battles
    tallies: NDArray[np.int64]


def compile_tables(spec: GameSpec) -> Tables:
    """The kernel's arrays from a (patched) spec."""
    pieces = np.zeros((len(spec.pieces), layout.COLUMNS))
    for i, piece in enumerate(spec.pieces):
        pieces[i, 0] = piece.cost
        pieces[i, 1 : 1 + len(piece.attributes)] = list(piece.attributes.values())
    # Where all are whole they would be integers, and compiled loops would be compiled anew for the first that is not.
    return Tables(pieces, np.array([p.default for p in spec.parameters], np.float64))


def only_full(fidelity: str) -> None:
    """Raises SimulatorError for a fidelity that the game does not have."""
    if fidelity != "full":
        raise SimulatorError(f"herobattle has no fidelity {fidelity!r}; it has 'full'.", permanent=True)


class HeroBattle:
    """The built-in lineup game. ``planted_seed`` hides five broken pieces in it (``planted.planted_pieces``), each by
    ``edge``; or ``only`` one of these, by its place (``planted.hidden_edges``)."""

    def __init__(self, planted_seed: int | None = None, edge: float = EDGE, only: int | None = None) -> None:
        self._spec = game_spec()
        if planted_seed is not None:  # its battles differ, so caches must tell it apart by version and hash
            version = f"{self._spec.version}+planted-{planted_seed}" + (f"-{edge:g}" if edge != EDGE else "")
            version += "" if only is None else f"-{only}"
            self._spec = msgspec.structs.replace(self._spec, version=version)
        self._ranges = slot_ranges(self._spec)
        self._edges, self._pair = hidden_edges(planted_seed, edge, only)
        self._soldiers = next(i for i, p in enumerate(self._spec.pieces) if p.category == "soldier")
        self._tables: OrderedDict[tuple[tuple[str, float], ...], Tables] = OrderedDict()

    def describe(self) -> GameSpec:
        """The game, unpatched. A planted game differs from the plain one only in its version."""
        return self._spec

    @property
    def hidden(self) -> tuple[F64, I32, int]:
        """What ``kernel.play`` takes besides a patch's tables: planted edges, the planted pair, the first soldier."""
        return self._edges, self._pair, self._soldiers

    def tables(self, patch: Patch) -> Tables:
        """The compiled tables of a patch; the last few are kept. Raises SimulatorError for an unknown path."""
        key = tuple(sorted((path, float(value)) for path, value in patch.items()))
        found = self._tables.get(key)
        if found is None:
            self._check_patch(key)
            found = compile_tables(self._spec.patched(patch))
            self._tables[key] = found
            if len(self._tables) > _PATCHES_KEPT:
                self._tables.popitem(last=False)
        self._tables.move_to_end(key)
        return found

    def _check_patch(self, items: tuple[tuple[str, float], ...]) -> None:
        tunables = self._spec.tunables()
        for path, value in items:
            known = tunables.get(path)
            if known is None:
                message = f"herobattle has no number called {path!r}. Check the spelling against the game data."
                raise SimulatorError(message, permanent=True)
            if not known.low <= value <= known.high:
                ends = f"{figures(known.low)} to {figures(known.high)}"
                message = f"{path}: {figures(value)} is outside {ends}. Choose a value inside."
                raise SimulatorError(message, permanent=True)

    def checked(self, left: I32, right: I32, n: int) -> tuple[I32, I32]:
        """The teams of n battles as compiled loops take them. Raises SimulatorError for an invalid one."""
        left, right = np.ascontiguousarray(left, dtype=np.int32), np.ascontiguousarray(right, dtype=np.int32)
        check_rows(self._spec, self._ranges, left, right, n)
        return left, right

    def battles(self, left: I32, right: I32, seeds: U64, patch: Patch, fidelity: str = "full") -> Battles:
        """Play n battles: ``left``, ``right`` int32[n, 8], ``seeds`` uint64[n]. Row i depends on row i only.
        Raises SimulatorError with row and slot for an invalid team."""
        only_full(fidelity)
        first, second = kernel.streams(np.ascontiguousarray(seeds, dtype=np.uint64))
        return self.play(left, right, first, second, patch, tally=False).battles

    def play(
        self, left: I32, right: I32, first: U64, second: U64, patch: Patch, *, tally: bool = True
    ) -> TalliedBattles:
        """Battles with a random stream for each side, uint64[n] each, as ``kernel.streams`` derives them from seeds.
        Exchanging teams and streams exchanges the results exactly. Raises SimulatorError."""
        left, right = self.checked(left, right, len(first))
        tables = self.tables(patch)
        n = len(left)
        result = Battles(np.empty((n, 2, 3)), np.empty((n, 1)), np.zeros(n, np.uint8))
        tallies = np.empty((n if tally else 0, 2), np.int64)
        kernel.play(
            left, right, first, second, tables.pieces, tables.parameters, self._edges, self._pair, self._soldiers,
            result.side, result.battle, tallies, kernel.NO_TRACE, kernel.NO_CASTS,
        )  # fmt: skip
        return TalliedBattles(result, tallies)

    def replay(self, left: I32, right: I32, seed: int, patch: Patch) -> Sequence[Frame]:
        """One battle, tick by tick, as ``battles`` plays it with this seed. ``left``, ``right`` int32[8]."""
        left, right = self.checked(np.reshape(left, (1, -1)), np.reshape(right, (1, -1)), 1)
        first, second = kernel.streams(np.array([seed], dtype=np.uint64))
        tables = self.tables(patch)
        ticks = int(tables.parameters[layout.TIME_LIMIT])
        trace, casts = np.zeros((ticks + 1, layout.UNITS, 3)), np.zeros((ticks + 1, 2), np.uint8)
        side, duration = np.empty((1, 2, 3)), np.empty((1, 1))
        kernel.play(
            left, right, first, second, tables.pieces, tables.parameters, self._edges, self._pair, self._soldiers,
            side, duration, np.empty((0, 2), np.int64), trace, casts,
        )  # fmt: skip
        return frames(self._spec, left[0], right[0], trace, casts, int(duration[0, 0]), side[0])
