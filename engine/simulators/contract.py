"""The lineup simulator contract: the one interface that an engineer implements for balance work.

A team is one row of ``int32[slots]``. A *piece* slot holds the index of a piece in ``GameSpec.pieces`` or -1 (empty);
a *count* slot holds how many of the piece in the slot it names (0 when that slot is empty).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

Better = Literal["higher", "lower", "neutral"]
Patch = Mapping[str, float]

NEW_PIECE = re.compile(r"([^/.]+)/([a-z0-9][a-z0-9-]{0,59})")
"""The id of a piece that a patch adds: its category and its own name. A game's own ids never have this form."""

OK, FAILED = 0, 1
"""Battle status: OK, or FAILED (the simulator could not finish this battle; its numbers are ignored)."""


class Attribute(msgspec.Struct, frozen=True):
    """A tunable number of every piece in a category; the bounds apply to imports and patches."""

    id: str
    title: str
    low: float
    high: float
    unit: str = ""
    help: str = ""


class Category(msgspec.Struct, frozen=True):
    """A kind of piece: heroes, soldiers, skills, equipment."""

    id: str
    title: str
    plural: str
    attributes: tuple[Attribute, ...] = ()
    cost_low: float = 0.0
    cost_high: float = 1e6


class Piece(msgspec.Struct, frozen=True):
    """A piece that teams can contain. ``id`` is stable across versions; ``name`` is for people."""

    id: str
    name: str
    category: str
    cost: float
    attributes: dict[str, float] = {}
    text: str = ""


class Slot(msgspec.Struct, frozen=True):
    """One column of a team. ``kind='piece'``: a piece of ``category``. ``kind='count'``: how many of the piece in
    slot ``of`` (``low`` to ``high`` when that slot is filled, 0 when it is empty; a filled slot without a count slot
    counts once). Slots that share a ``group`` are interchangeable: their order has no meaning."""

    id: str
    title: str
    kind: Literal["piece", "count"] = "piece"
    category: str = ""
    of: str = ""
    optional: bool = False
    low: int = 1
    high: int = 1
    group: str = ""


class Distinct(msgspec.Struct, frozen=True):
    """Pieces of ``category`` do not repeat within one team, or within the whole lineup."""

    category: str
    scope: Literal["team", "lineup"] = "lineup"


class Rules(msgspec.Struct, frozen=True):
    """The simulator's own rules; a project's lineup rules may narrow them. Budgets are costs of one team; units is
    the sum of all count slots of one team."""

    distinct: tuple[Distinct, ...] = ()
    required: tuple[str, ...] = ()
    banned: tuple[str, ...] = ()
    budget_low: float = 0.0
    budget_high: float = 1e9
    units_low: int = 0
    units_high: int = 1_000_000


class Parameter(msgspec.Struct, frozen=True):
    """A tunable number of the game; ``path``: its name in patches."""

    path: str
    title: str
    default: float
    low: float
    high: float
    unit: str = ""


class Metric(msgspec.Struct, frozen=True):
    """A number measured at the end of a battle. ``low``, ``high``: its range, if it has one (for axes and checks)."""

    name: str
    title: str
    unit: str = ""
    better: Better = "neutral"
    low: float | None = None
    high: float | None = None
    help: str = ""


class Fidelity(msgspec.Struct, frozen=True):
    """A fidelity of battles: full, or cheaper and rougher. ``cost`` is relative to the full one (1.0)."""

    name: str
    title: str
    cost: float = 1.0


class GameSpec(msgspec.Struct, frozen=True):
    """Everything that the engine and the pages know about a game. ``strength`` and ``resources`` name the side metrics
    for how strong, and how rich, a team is after a battle; ``win`` names the one that is 1, 0.5 or 0. ``chance`` is
    false if a battle of the same two teams always ends in the same way, so that one battle suffices."""

    name: str
    title: str
    version: str
    categories: tuple[Category, ...]
    pieces: tuple[Piece, ...]
    slots: tuple[Slot, ...]
    side_metrics: tuple[Metric, ...]
    battle_metrics: tuple[Metric, ...] = ()
    rules: Rules = Rules()
    parameters: tuple[Parameter, ...] = ()
    strength: str = "strength"
    resources: str = "resources"
    win: str = "win"
    reproducible: bool = True
    accepts_pieces: bool = False
    fidelities: tuple[Fidelity, ...] = (Fidelity("full", "Full battle"),)
    about: str = ""
    chance: bool = True

    def piece_index(self) -> dict[str, int]:
        """Index in ``pieces`` (the number in a team row) by piece id."""
        return {piece.id: i for i, piece in enumerate(self.pieces)}

    def category(self, category_id: str) -> Category:
        """The category with this id. Raises KeyError."""
        return {category.id: category for category in self.categories}[category_id]

    def extended(self, paths: Iterable[str]) -> GameSpec:
        """The game with the new pieces that a patch's paths name, if it accepts pieces: ``hero/frost-duke.cost``
        belongs to a hero with id ``hero/frost-duke``. New pieces follow the game's own ones in the order of their ids,
        with the lowest cost, and attributes at (or nearest to) 0, unless the patch sets them."""
        if not self.accepts_pieces:
            return self
        known, categories = {p.id for p in self.pieces}, {c.id: c for c in self.categories}
        ids = sorted({path.rpartition(".")[0] for path in paths} - known)
        new = []
        for piece in ids:
            found = NEW_PIECE.fullmatch(piece)
            category = categories.get(found[1]) if found else None
            if found and category:
                numbers = {a.id: min(max(0.0, a.low), a.high) for a in category.attributes}
                name = found[2].replace("-", " ").title()
                new.append(Piece(piece, name, category.id, category.cost_low, numbers))
        return msgspec.structs.replace(self, pieces=(*self.pieces, *new)) if new else self

    def own(self) -> GameSpec:
        """The game without pieces added by patches."""
        own = tuple(p for p in self.pieces if not NEW_PIECE.fullmatch(p.id))
        return (
            msgspec.structs.replace(self, pieces=own) if self.accepts_pieces and len(own) < len(self.pieces) else self
        )

    def tunables(self) -> dict[str, Parameter]:
        """Every number that a patch may set, by path: ``<piece>.cost``, ``<piece>.<attribute>`` and ``parameters``."""
        table = {p.path: p for p in self.parameters}
        by_id = {c.id: c for c in self.categories}
        for piece in self.pieces:
            category = by_id[piece.category]
            path = f"{piece.id}.cost"
            table[path] = Parameter(path, f"{piece.name}: cost", piece.cost, category.cost_low, category.cost_high)
            for a in category.attributes:
                path = f"{piece.id}.{a.id}"
                default = piece.attributes.get(a.id, 0.0)
                table[path] = Parameter(path, f"{piece.name}: {a.title}", default, a.low, a.high, a.unit)
        return table

    def patched(self, patch: Patch) -> GameSpec:
        """The same game with the patch's values in its pieces and parameters, and its new pieces. Unknown paths are
        ignored here; ``engine.lineups.schema.check_patch`` reports them."""
        if not patch:
            return self
        game = self.extended(patch)
        pieces = tuple(
            msgspec.structs.replace(
                piece,
                cost=patch.get(f"{piece.id}.cost", piece.cost),
                attributes={k: patch.get(f"{piece.id}.{k}", v) for k, v in piece.attributes.items()},
            )
            for piece in game.pieces
        )
        parameters = tuple(msgspec.structs.replace(p, default=patch.get(p.path, p.default)) for p in self.parameters)
        return msgspec.structs.replace(self, pieces=pieces, parameters=parameters)


def canonical_json(value: Any) -> bytes:
    """A struct's or plain value's JSON with sorted keys: equal content, equal bytes. A description's integers are
    written as floats, whether its simulator wrote 12 or 12.0, so that a round trip through JSON does not change it."""
    if isinstance(value, GameSpec):
        value = msgspec.to_builtins(msgspec.convert(msgspec.to_builtins(value), GameSpec))
        if value["chance"]:
            del value["chance"]  # descriptions older than this field keep their hash
    return msgspec.json.encode(value, order="sorted")


def content_hash(value: Any) -> str:
    """sha256 of the value's canonical JSON: equal content, equal hash."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


class Battles(NamedTuple):
    """Results of n battles: ``side`` float64[n, 2, side metrics] (left, right), ``battle`` float64[n, battle
    metrics], ``status`` uint8[n] (OK or FAILED)."""

    side: NDArray[np.float64]
    battle: NDArray[np.float64]
    status: NDArray[np.uint8]


class Frame(msgspec.Struct, frozen=True):
    """One moment of a battle, for drawing: time in ticks, and per unit its side, name, place and life in [0, 1]."""

    tick: int
    units: tuple[dict[str, Any], ...]
    events: tuple[str, ...] = ()


class LineupSimulator(Protocol):
    """The interface that an engineer implements for balance work."""

    def describe(self) -> GameSpec:
        """The game, unpatched. The same for the life of the process."""
        ...

    def battles(
        self,
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        seeds: NDArray[np.uint64],
        patch: Patch,
        fidelity: str = "full",
    ) -> Battles:
        """Play n battles: ``left``, ``right`` int32[n, slots], ``seeds`` uint64[n]. If the spec is ``reproducible``,
        row i depends only on row i of the arguments. Raises SimulatorError."""
        ...

    def replay(self, left: NDArray[np.int32], right: NDArray[np.int32], seed: int, patch: Patch) -> Sequence[Frame]:
        """One battle as frames that a browser can draw; empty if the game has none."""
        ...
