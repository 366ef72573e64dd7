"""Battle for Wesnoth as a ``LineupSimulator``: turns team rows into orders for the game, and its results into
metrics."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.errors import Cancelled, SimulatorError
from engine.simulators.adapters.wesnoth import arena
from engine.simulators.adapters.wesnoth.catalog import PATCHED, TURN_LIMIT, Catalog, read
from engine.simulators.adapters.wesnoth.game import Game
from engine.simulators.contract import FAILED, OK, Battles, Frame, GameSpec, Patch

TRIES = 2
MOST_AT_ONCE = 200
HOURS = 6
"""Turns in a day of the default schedule; a battle's seed determines in which one it starts."""


class _Team:
    """One side of one battle: its units in the order in which they are sent, the value of each, and their types."""

    def __init__(self, catalog: Catalog, game: GameSpec, row: NDArray[np.int32]) -> None:
        values = dict(zip((slot.id for slot in game.slots), row.tolist(), strict=True))
        hero, skill, equipment = values["hero"], values["skill"], values["equipment"]
        extras = game.pieces[skill].cost + (game.pieces[equipment].cost if equipment >= 0 else 0.0)
        self.units = [(hero, catalog.names[skill], catalog.names[equipment] if equipment >= 0 else "0")]
        self.worth = [game.pieces[hero].cost + extras]
        kinds = sorted(
            (values[f"soldiers_{k}"], values[f"count_{k}"]) for k in (1, 2, 3) if values[f"soldiers_{k}"] >= 0
        )
        for kind, count in kinds:
            self.units += [(kind, "-", "0")] * count
            self.worth += [game.pieces[kind].cost] * count


class WesnothSimulator:
    """Drives one process of the installed game, started at the first use and restarted when it fails or grows."""

    def __init__(self) -> None:
        self._game: Game | None = None
        self._catalog: Catalog | None = None
        self._cancelled = threading.Event()
        self._changes: tuple[dict[str, float], GameSpec, list[str]] | None = None

    def describe(self) -> GameSpec:
        """The game as installed on this machine."""
        return self._known().spec

    def _known(self) -> Catalog:
        if self._catalog is None:
            self._catalog = read(self._running().catalog)
        return self._catalog

    def _running(self) -> Game:
        if self._game is not None and self._game.worn_out():
            self.close()
        if self._game is None:
            self._game = Game()
        if self._cancelled.is_set():
            raise Cancelled("the battles were cancelled")
        return self._game

    def battles(
        self,
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        seeds: NDArray[np.uint64],
        patch: Patch,
        fidelity: str = "full",
    ) -> Battles:
        """Play the battles; one that fails twice by itself comes back FAILED. Raises Cancelled, SimulatorError."""
        self._cancelled.clear()
        catalog = self._known()
        game, changes = self._patched(catalog, patch)
        teams = [(_Team(catalog, game, a), _Team(catalog, game, b)) for a, b in zip(left, right, strict=True)]
        work = [_orders(i, pair, int(seeds[i]), catalog, changes) for i, pair in enumerate(teams)]
        out = Battles(np.zeros((len(work), 2, 3)), np.ones((len(work), 1)), np.full(len(work), FAILED, np.uint8))
        tries = dict.fromkeys(range(len(work)), TRIES)
        while tries:
            self._attempt(work, teams, tries, out)
        return out

    def _patched(self, catalog: Catalog, patch: Patch) -> tuple[GameSpec, list[str]]:
        """The patched game, and for each piece its changes from the installed game as fields of an order."""
        if self._changes is None or self._changes[0] != dict(patch):
            game = catalog.spec.patched(patch)
            pairs = zip(catalog.spec.pieces, game.pieces, strict=True)
            fields = [
                "\t".join(str(round(new.attributes[k] - old.attributes[k])) if new.attributes else "0" for k in PATCHED)
                for old, new in pairs
            ]
            self._changes = (dict(patch), game, fields)
        return self._changes[1], self._changes[2]

    def _attempt(self, work: list[str], teams: list[tuple[_Team, _Team]], tries: dict[int, int], out: Battles) -> None:
        """Play some of the remaining battles; when the game fails, the battle it was playing loses one of its tries."""
        numbers = sorted(tries)[:MOST_AT_ONCE]
        at = numbers[0]
        game = self._running()
        try:
            for number, fields in game.play("".join(work[i] for i in numbers), len(numbers)):
                _record(out, number, teams[number], fields)
                del tries[number]
                at = next((i for i in numbers if i in tries), -1)
        except SimulatorError as error:
            self.close()
            if self._cancelled.is_set():
                raise Cancelled("the battles were cancelled") from None
            print(error, file=sys.stderr)
            if at in tries:
                tries[at] -= 1
                if not tries[at]:
                    del tries[at]

    def replay(self, left: NDArray[np.int32], right: NDArray[np.int32], seed: int, patch: Patch) -> Sequence[Frame]:
        """None: the game draws its own pictures."""
        return ()

    def cancel(self) -> None:
        """Make a running ``battles`` raise Cancelled; called from another thread."""
        self._cancelled.set()
        game = self._game
        if game is not None:
            game.close()

    def close(self) -> None:
        """End the game."""
        if self._game is not None:
            self._game.close()
            self._game = None


def _orders(number: int, pair: tuple[_Team, _Team], seed: int, catalog: Catalog, changes: list[str]) -> str:
    lines = [f"battle\t{number}\t{1 + seed % HOURS}\t{TURN_LIMIT}"]
    for side, team in enumerate(pair, start=1):
        places = arena.hexes(side, len(team.units) - 1)
        for (piece, trait, artifact), (x, y) in zip(team.units, places, strict=True):
            lines.append(f"unit\t{side}\t{x}\t{y}\t{catalog.names[piece]}\t{trait}\t{artifact}\t{changes[piece]}")
    return "\n".join([*lines, "end", ""])


def _record(out: Battles, number: int, pair: tuple[_Team, _Team], fields: list[str]) -> None:
    turns, standing = int(fields[0]), (int(fields[1]) > 0, int(fields[2]) > 0)
    life = np.array([[float(x) for x in unit.split("/")] for unit in fields[3].split(" ")])
    first = len(pair[0].units)
    for side, (team, hp) in enumerate(zip(pair, (life[:first], life[first:]), strict=True)):
        kept = np.minimum(hp[:, 0], hp[:, 1])
        win = 0.5 if standing[0] == standing[1] else float(standing[side])
        out.side[number, side] = 100.0 * kept.sum() / hp[:, 1].sum(), np.dot(team.worth, hp[:, 0] > 0), win
    out.battle[number, 0] = min(max(turns, 1), TURN_LIMIT)
    out.status[number] = OK


def make() -> WesnothSimulator:
    """The factory ``serve`` calls."""
    return WesnothSimulator()
