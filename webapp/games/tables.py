"""Game data laid out for the page: one table a category, one for the settings, changed cells marked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.simulators.contract import Attribute, Category, GameSpec, Parameter, Piece
from webapp.games.exports import PARAMETERS
from webapp.games.numbers import field_text, shown


@dataclass(frozen=True)
class Column:
    title: str
    unit: str = ""
    help: str = ""


@dataclass(frozen=True)
class TableCell:
    """``text`` is what stands there, or what was typed; ``problem``: why it cannot be used."""

    path: str
    text: str
    default: str
    changed: bool
    label: str
    low: str
    high: str
    unit: str
    problem: str = ""

    @property
    def zero(self) -> bool:
        return self.text == "0" and not self.changed


@dataclass(frozen=True)
class TableRow:
    key: str
    name: str
    text: str
    cells: list[TableCell]

    @property
    def changed(self) -> bool:
        return any(cell.changed for cell in self.cells)


@dataclass(frozen=True)
class Table:
    key: str
    title: str
    one: str
    columns: list[Column]
    rows: list[TableRow]
    changed: int = 0


@dataclass(frozen=True)
class Tab:
    key: str
    title: str
    count: int
    changed: int


def tabs(spec: GameSpec, patch: Mapping[str, float]) -> list[Tab]:
    """The categories and the settings, each with how many rows it has and how many of them are changed."""
    touched = {path.rpartition(".")[0] for path in patch}
    found = []
    for category in spec.categories:
        pieces = [p.id for p in spec.pieces if p.category == category.id]
        found.append(Tab(category.id, category.plural, len(pieces), len(touched.intersection(pieces))))
    if spec.parameters:
        changed = sum(p.path in patch for p in spec.parameters)
        found.append(Tab(PARAMETERS, "Settings", len(spec.parameters), changed))
    return found


@dataclass
class TypedNumbers:
    """Texts a designer typed by path, and what is wrong with them."""

    texts: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)


def table(spec: GameSpec, patch: Mapping[str, float], key: str, typed: TypedNumbers | None = None) -> Table:
    """The table of one category, or of the settings. Raises KeyError for a key that is neither."""
    typed = typed or TypedNumbers()
    if key == PARAMETERS:
        rows = [TableRow(p.path, p.title, "", [_cell(p, patch, "Value", typed)]) for p in spec.parameters]
        columns = [Column("Value"), Column("Allowed")]
        return Table(key, "Settings", "Setting", columns, rows, sum(row.changed for row in rows))
    category = next((c for c in spec.categories if c.id == key), None)
    if category is None:
        raise KeyError(key)
    rows = [_row(p, category, patch, typed) for p in spec.pieces if p.category == key]
    columns = [Column("Cost"), *(Column(a.title, _apart(a), a.help) for a in category.attributes)]
    return Table(key, category.plural, category.title, columns, rows, sum(row.changed for row in rows))


def _apart(attribute: Attribute) -> str:
    """The unit of a number, where its name does not end with it ("Hit points")."""
    return "" if attribute.title.lower().endswith(attribute.unit.lower()) else attribute.unit


def row_of(
    spec: GameSpec, patch: Mapping[str, float], key: str, typed: TypedNumbers | None = None
) -> tuple[str, TableRow]:
    """The table's key and the row of one piece (by id) or setting (by path). Raises KeyError."""
    typed = typed or TypedNumbers()
    for piece in spec.pieces:
        if piece.id == key:
            return piece.category, _row(piece, spec.category(piece.category), patch, typed)
    for p in spec.parameters:
        if p.path == key:
            return PARAMETERS, TableRow(p.path, p.title, "", [_cell(p, patch, "Value", typed)])
    raise KeyError(key)


def _row(piece: Piece, category: Category, patch: Mapping[str, float], typed: TypedNumbers) -> TableRow:
    cost = Parameter(f"{piece.id}.cost", "", piece.cost, category.cost_low, category.cost_high)
    cells = [_cell(cost, patch, f"{piece.name}: cost", typed)]
    for a in category.attributes:
        default = piece.attributes.get(a.id, 0.0)
        p = Parameter(f"{piece.id}.{a.id}", "", default, a.low, a.high, a.unit)
        cells.append(_cell(p, patch, f"{piece.name}: {a.title.lower()}", typed))
    return TableRow(piece.id, piece.name, piece.text, cells)


def _cell(p: Parameter, patch: Mapping[str, float], label: str, typed: TypedNumbers) -> TableCell:
    value = patch.get(p.path, p.default)
    return TableCell(
        path=p.path,
        text=typed.texts.get(p.path, field_text(value)),
        default=shown(p.default),
        changed=value != p.default,
        label=label if not p.title else f"{p.title}: {label.lower()}",
        low=shown(p.low),
        high=shown(p.high),
        unit=p.unit,
        problem=typed.problems.get(p.path, ""),
    )
