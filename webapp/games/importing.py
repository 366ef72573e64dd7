"""From a sheet with matched columns to the values it sets: every cell that cannot be used is named with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches

from engine.simulators.contract import GameSpec, Parameter, Piece
from webapp.games import numbers
from webapp.games.columns import ID, NAME, VALUE, Field, fields
from webapp.games.errors import MOST_PROBLEMS, CellProblem, formula_hint, is_formula
from webapp.games.numbers import Mark
from webapp.games.sheets import Sheet

_LIKE, _LONGEST_NAME = 60, 80
"""How many unknown names are compared with the known ones, and up to which length: it is slow."""

Thing = Piece | Parameter


@dataclass(frozen=True)
class Doubt:
    """A cell with two readings that nothing else in the sheet settles."""

    row: int
    column: int
    text: str
    point: float
    comma: float

    @property
    def place(self) -> str:
        return CellProblem(self.row, self.column, "", "").place

    @property
    def question(self) -> str:
        """What is said of it among cells that are wrong."""
        return (
            f"can mean {numbers.field_text(self.point)} or {numbers.field_text(self.comma)}. Type it as one of these."
        )


@dataclass
class SheetContents:
    """What a sheet says. ``values``: path to number; ``cells``: path to its (row, column), empty cells included;
    ``matched``: pieces and settings found; ``mark``: the decimal mark its numbers are written with, None where it
    makes no difference."""

    values: dict[str, float] = field(default_factory=dict)
    cells: dict[str, tuple[int, int]] = field(default_factory=dict)
    problems: list[CellProblem] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    matched: int = 0
    mark: Mark | None = None

    @property
    def wrong(self) -> int:
        """Cells that need a look."""
        return len(self.problems) + len(self.doubts)

    @property
    def full(self) -> bool:
        """So much is wrong that reading stopped."""
        return self.wrong >= MOST_PROBLEMS

    @property
    def usable(self) -> bool:
        return not self.problems and not self.doubts


@dataclass(frozen=True)
class _Row:
    """A row with numbers. ``thing``: what it is about, None when that cannot be told; ``counts``: its numbers are
    taken, for no row above was about the same."""

    number: int
    thing: Thing | None
    counts: bool


class _Index:
    """Pieces and settings of a game by what designers call them."""

    def __init__(self, spec: GameSpec) -> None:
        self.by_id: dict[str, Thing] = {p.id.casefold(): p for p in spec.pieces}
        self.by_id |= {p.path.casefold(): p for p in spec.parameters}
        kinds = " or ".join(f"{c.id}/new-name" for c in spec.categories[:2])
        self.adding = f" To add a piece, give it an id such as {kinds}." if spec.accepts_pieces else ""
        self.by_name: dict[str, list[Thing]] = {}
        self.compared = 0
        for piece in spec.pieces:
            self.by_name.setdefault(piece.name.casefold(), []).append(piece)
        for parameter in spec.parameters:
            self.by_name.setdefault(parameter.title.casefold(), []).append(parameter)

    def known(self, key: str, *, by_id: bool) -> Thing | None:
        """The thing of that id or name; None when there is none, or more than one."""
        folded = key.casefold()
        named = self.by_name.get(folded, [])
        if folded in self.by_id and (by_id or not named):
            return self.by_id[folded]
        return named[0] if len(named) == 1 else None

    def unknown(self, key: str) -> str:
        """Why no thing is known by that id or name."""
        folded = key.casefold()
        if named := self.by_name.get(folded):
            return f"{len(named)} pieces are called “{key}”. Add a column with their ids."
        return f"is not a piece of this game.{self._hint(folded)}{self.adding}"

    def _hint(self, folded: str) -> str:
        self.compared += 1
        if self.compared <= _LIKE and len(folded) <= _LONGEST_NAME:
            near = get_close_matches(folded, {**self.by_name, **self.by_id}, n=1)
            if near:
                return f" Did you mean {self._spelled(near[0])}?"
        return " Check the spelling, or leave the row out."

    def _spelled(self, folded: str) -> str:
        found = self.by_name.get(folded)
        thing = found[0] if found else self.by_id[folded]
        if isinstance(thing, Piece):
            return thing.name if found else thing.id
        return thing.title if found else thing.path


def read_values(sheet: Sheet, columns: Mapping[int, str], spec: GameSpec, mark: Mark | None = None) -> SheetContents:
    """Every number the sheet sets. ``mark`` answers for cells with two readings; None: the sheet's other cells may."""
    reader = _Reader(sheet, columns, spec)
    return reader.run(mark)


def _ids(sheet: Sheet, columns: Mapping[int, str]) -> list[str]:
    """The paths under which new pieces of a sheet would be known, where the game accepts pieces."""
    places = [c for c, key in columns.items() if key == ID]
    return [f"{str(sheet.cell(r, c)).strip()}.cost" for r in sheet.body for c in places]


class _Reader:
    def __init__(self, sheet: Sheet, columns: Mapping[int, str], spec: GameSpec) -> None:
        known = {f.key: f for f in fields(spec)}
        spec = spec.extended(_ids(sheet, columns))
        self.sheet, self.spec = sheet, spec
        self.columns: dict[int, Field] = {c: known[key] for c, key in columns.items() if key in known}
        self.tunables = spec.tunables()
        self.index = _Index(spec)
        self.reading = SheetContents()

    def run(self, mark: Mark | None) -> SheetContents:
        rows = list(self._rows())
        self.reading.matched = sum(row.counts for row in rows)
        self.reading.mark = mark or self._mark(rows)
        for row in rows:
            if not self.reading.full:
                for c, f in self.columns.items():
                    if f.number:
                        self._cell(row, c, f)
        self.reading.problems.sort(key=lambda problem: (problem.row, problem.column))
        if not rows and not self.reading.problems:
            self.reading.problems.append(CellProblem(-1, -1, "", "No row names a piece of this game."))
        return self.reading

    def _rows(self) -> Iterator[_Row]:
        """The rows with numbers; headings between groups have none. What is wrong with their names is noted."""
        seen: dict[str, int] = {}
        for r in self.sheet.body:
            if self.reading.full:
                return
            thing = self._thing(r)
            if thing is None:
                if not self._empty(r):
                    yield _Row(r, None, False)
                continue
            key = thing.id if isinstance(thing, Piece) else thing.path
            first = seen.setdefault(key, r)
            if first != r:
                name = thing.name if isinstance(thing, Piece) else thing.title
                self._problem(
                    r, -1, self._text(r), f"{name} stands in row {first + 1} already. Leave one of the two out."
                )
            yield _Row(r, thing, first == r)

    def _thing(self, r: int) -> Thing | None:
        """What row r is about; None, and a problem where the row has numbers, when that cannot be told."""
        places = {f.key: c for c, f in self.columns.items() if not f.number}
        for key in (ID, NAME):
            column = places.get(key, -1)
            text = str(self.sheet.cell(r, column)).strip() if column >= 0 else ""
            if not text:
                continue
            known = self.index.known(text, by_id=key == ID)
            if known is None and not self._empty(r):
                self._problem(r, column, text, self.index.unknown(text))
            return known
        if not self._empty(r):
            column = min(places.values(), default=-1)
            self._problem(r, column, "", "names no piece. Fill it in, or leave it out.")
        return None

    def _text(self, r: int) -> str:
        """What the used cells of row r say."""
        cells = (self.sheet.cell(r, c) for c in sorted(self.columns))
        return ", ".join(_shown(cell) for cell in cells if cell != "")

    def _empty(self, r: int) -> bool:
        return not any(str(self.sheet.cell(r, c)).strip() for c, f in self.columns.items() if f.number)

    def _mark(self, rows: list[_Row]) -> Mark | None:
        """The mark that the cells with one reading prove; None without proof, or with proof of both."""
        texts = []
        for row in rows:
            for c, f in self.columns.items():
                parameter = self._tunable(row.thing, f) if row.counts else None
                cell = self.sheet.cell(row.number, c)
                if parameter is not None and isinstance(cell, str):
                    texts.append(numbers.split(cell, parameter.unit).number)
        found = numbers.evidence(texts)
        return found.pop() if len(found) == 1 else None

    def _tunable(self, thing: Thing | None, f: Field) -> Parameter | None:
        if thing is None or not f.number:
            return None
        if isinstance(thing, Parameter):
            return thing if f.key == VALUE else None
        return self.tunables.get(f"{thing.id}.{f.attribute or f.key}")

    def _cell(self, row: _Row, c: int, f: Field) -> None:
        r, cell = row.number, self.sheet.cell(row.number, c)
        parameter = self._tunable(row.thing, f)
        if parameter is not None and row.counts:
            self.reading.cells[parameter.path] = (r, c)
        if isinstance(cell, str) and not cell.strip():
            return
        known = self.sheet.problems.get((r, c))
        if known is not None:
            self.reading.problems.append(known)
        elif parameter is not None:
            self._number(row, c, cell, parameter)
        elif row.thing is not None:
            self._problem(r, c, str(cell), f"{_kind(self.spec, row.thing)} have no “{f.title}”. Leave the cell empty.")
        elif isinstance(cell, str) and not numbers.readings(cell):
            self._unread(r, c, cell, "")

    def _number(self, row: _Row, c: int, cell: str | float, parameter: Parameter) -> None:
        r = row.number
        if isinstance(cell, float):
            shown_as_percent = (r, c) in self.sheet.percents and parameter.unit == "%"
            value: float | None = float(Decimal(repr(cell)) * 100) if shown_as_percent else cell
        else:
            value = numbers.value_of(cell, self.reading.mark, parameter.unit)
        if value is None and len(found := numbers.readings(str(cell), parameter.unit)) == 2:
            self.reading.doubts.append(Doubt(r, c, str(cell), found["."], found[","]))
        elif value is None:
            self._unread(r, c, str(cell), f" {allowed(parameter)}")
        elif not parameter.low <= value <= parameter.high:
            read_as = self._read_as(cell, value, parameter.unit)
            self._problem(r, c, _shown(cell), f"{read_as}{outside(parameter)}")
        elif row.counts:
            self.reading.values[parameter.path] = value

    def _read_as(self, cell: str | float, value: float, unit: str) -> str:
        """Which of two readings of a cell was taken, and why; nothing where there is only one."""
        if not isinstance(cell, str) or not numbers.ambiguous(cell, unit):
            return ""
        mark = "comma" if self.reading.mark == "," else "point"
        return f"is read as {numbers.field_text(value)}, for the {mark} is the decimal mark of this sheet. That "

    def _unread(self, r: int, c: int, text: str, span: str) -> None:
        plain = f"is not a number. Type one{span}, or leave the cell empty."
        self._problem(r, c, text, formula_hint() if is_formula(text) else plain)

    def _problem(self, r: int, c: int, text: str, message: str) -> None:
        self.reading.problems.append(CellProblem(r, c, text[:80], message))


def _shown(cell: str | float) -> str:
    return cell if isinstance(cell, str) else numbers.shown(cell)


def allowed(parameter: Parameter) -> str:
    """``from 1 to 5000 points``."""
    unit = f" {parameter.unit}" if parameter.unit else ""
    return f"from {numbers.shown(parameter.low)} to {numbers.shown(parameter.high)}{unit}"


def outside(parameter: Parameter) -> str:
    """What is said of a value beyond its bounds."""
    return f"is outside what the game allows for “{parameter.title}”: {allowed(parameter)}."


def _kind(spec: GameSpec, thing: Thing) -> str:
    return "Settings" if isinstance(thing, Parameter) else spec.category(thing.category).plural
