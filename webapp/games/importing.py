"""From a sheet with matched columns to the values it sets: every cell that cannot be used is named with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches

from engine.simulators.contract import GameSpec, Parameter, Piece
from webapp.games import numbers
from webapp.games.columns import ID, NAME, VALUE, Field, fields
from webapp.games.errors import CellProblem
from webapp.games.numbers import Mark
from webapp.games.sheets import Sheet

MOST_PROBLEMS = 200
"""More are not looked for: a sheet with so many is the wrong sheet, or its columns are matched wrongly."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


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


@dataclass
class Reading:
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
    def full(self) -> bool:
        """So much is wrong that reading stopped."""
        return len(self.problems) + len(self.doubts) >= MOST_PROBLEMS

    @property
    def usable(self) -> bool:
        return not self.problems and not self.doubts


class _Index:
    """Pieces and settings of a game by what designers call them."""

    def __init__(self, spec: GameSpec) -> None:
        self.by_id: dict[str, Piece | Parameter] = {p.id.casefold(): p for p in spec.pieces}
        self.by_id |= {p.path.casefold(): p for p in spec.parameters}
        kinds = " or ".join(f"{c.id}/new-name" for c in spec.categories[:2])
        self.adding = f" To add a piece, give it an id such as {kinds}." if spec.accepts_pieces else ""
        self.by_name: dict[str, list[Piece | Parameter]] = {}
        for piece in spec.pieces:
            self.by_name.setdefault(piece.name.casefold(), []).append(piece)
        for parameter in spec.parameters:
            self.by_name.setdefault(parameter.title.casefold(), []).append(parameter)

    def find(self, key: str, *, by_id: bool) -> Piece | Parameter | str:
        """The thing of that id or name, or a sentence that says why there is none."""
        folded = key.casefold()
        named = self.by_name.get(folded, [])
        if folded in self.by_id and (by_id or not named):
            return self.by_id[folded]
        if len(named) == 1:
            return named[0]
        if named:
            return f"{len(named)} pieces are called “{key}”. Add a column with their ids."
        near = get_close_matches(folded, {**self.by_name, **self.by_id}, n=1)
        hint = f" Did you mean {self._spelled(near[0])}?" if near else " Check the spelling, or leave the row out."
        return f"is not a piece of this game.{hint}{self.adding}"

    def _spelled(self, folded: str) -> str:
        found = self.by_name.get(folded)
        thing = found[0] if found else self.by_id[folded]
        if isinstance(thing, Piece):
            return thing.name if found else thing.id
        return thing.title if found else thing.path


def read_values(sheet: Sheet, columns: Mapping[int, str], spec: GameSpec, mark: Mark | None = None) -> Reading:
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
        self.reading = Reading()

    def run(self, mark: Mark | None) -> Reading:
        rows = list(self._rows())
        self.reading.matched = len(rows)
        self.reading.mark = mark or self._mark(rows)
        for r, thing in rows:
            for c, f in self.columns.items():
                if f.number and not self.reading.full:
                    self._cell(r, c, f, thing)
        self.reading.problems.sort(key=lambda problem: (problem.row, problem.column))
        if not rows and not self.reading.problems:
            self.reading.problems.append(CellProblem(-1, -1, "", "No row names a piece of this game."))
        return self.reading

    def _rows(self) -> Iterator[tuple[int, Piece | Parameter]]:
        seen: dict[str, int] = {}
        for r in self.sheet.body:
            if self.reading.full:
                return
            found = self._thing(r)
            if isinstance(found, CellProblem):
                self.reading.problems.append(found)
                continue
            if found is None:
                continue
            key = found.id if isinstance(found, Piece) else found.path
            if key in seen:
                name = found.name if isinstance(found, Piece) else found.title
                message = f"{name} stands in row {seen[key] + 1} already. Leave one of the two rows out."
                self.reading.problems.append(CellProblem(r, -1, "", message))
                continue
            seen[key] = r
            yield r, found

    def _thing(self, r: int) -> Piece | Parameter | CellProblem | None:
        """What row r is about; None for a row without numbers, such as a heading between groups."""
        places = {f.key: c for c, f in self.columns.items() if not f.number}
        for key in (ID, NAME):
            column = places.get(key, -1)
            text = str(self.sheet.cell(r, column)).strip() if column >= 0 else ""
            if not text:
                continue
            found = self.index.find(text, by_id=key == ID)
            if isinstance(found, str):
                return None if self._empty(r) else CellProblem(r, column, text, found)
            return found
        column = min(places.values(), default=-1)
        return None if self._empty(r) else CellProblem(r, column, "", "names no piece. Fill it in, or leave it out.")

    def _empty(self, r: int) -> bool:
        return not any(str(self.sheet.cell(r, c)).strip() for c, f in self.columns.items() if f.number)

    def _mark(self, rows: list[tuple[int, Piece | Parameter]]) -> Mark | None:
        """The mark that the cells with one reading prove; None without proof, or with proof of both."""
        texts = []
        for r, thing in rows:
            for c, f in self.columns.items():
                parameter = self._tunable(thing, f)
                cell = self.sheet.cell(r, c)
                if parameter is not None and isinstance(cell, str):
                    texts.append(numbers.split(cell, parameter.unit).number)
        found = numbers.evidence(texts)
        return found.pop() if len(found) == 1 else None

    def _tunable(self, thing: Piece | Parameter, f: Field) -> Parameter | None:
        if not f.number:
            return None
        if isinstance(thing, Parameter):
            return thing if f.key == VALUE else None
        return self.tunables.get(f"{thing.id}.{f.attribute or f.key}")

    def _cell(self, r: int, c: int, f: Field, thing: Piece | Parameter) -> None:
        cell = self.sheet.cell(r, c)
        parameter = self._tunable(thing, f)
        if parameter is not None:
            self.reading.cells[parameter.path] = (r, c)
        if isinstance(cell, str) and not cell.strip():
            return
        known = self.sheet.problems.get((r, c))
        if known is not None:
            self.reading.problems.append(known)
        elif parameter is None:
            self._problem(r, c, str(cell), f"{_kind(self.spec, thing)} have no “{f.title}”. Leave the cell empty.")
        else:
            self._number(r, c, cell, parameter)

    def _number(self, r: int, c: int, cell: str | float, parameter: Parameter) -> None:
        if isinstance(cell, float):
            shown_as_percent = (r, c) in self.sheet.percents and parameter.unit == "%"
            value: float | None = float(Decimal(repr(cell)) * 100) if shown_as_percent else cell
        else:
            value = numbers.value_of(cell, self.reading.mark, parameter.unit)
        if value is None:
            self._unread(r, c, str(cell), parameter)
        elif not parameter.low <= value <= parameter.high:
            self._problem(r, c, str(cell) if isinstance(cell, str) else numbers.shown(value), outside(parameter))
        else:
            self.reading.values[parameter.path] = value

    def _unread(self, r: int, c: int, text: str, parameter: Parameter) -> None:
        found = numbers.readings(text, parameter.unit)
        if len(found) == 2:
            self.reading.doubts.append(Doubt(r, c, text, found["."], found[","]))
        elif text.lstrip().startswith(_FORMULA):
            self._problem(r, c, text, "looks like a formula. Type the number it stands for.")
        else:
            self._problem(r, c, text, f"is not a number. Type one {allowed(parameter)}, or leave the cell empty.")

    def _problem(self, r: int, c: int, text: str, message: str) -> None:
        self.reading.problems.append(CellProblem(r, c, text[:80], message))


def allowed(parameter: Parameter) -> str:
    """``from 1 to 5000 points``."""
    unit = f" {parameter.unit}" if parameter.unit else ""
    return f"from {numbers.shown(parameter.low)} to {numbers.shown(parameter.high)}{unit}"


def outside(parameter: Parameter) -> str:
    """What is said of a value beyond its bounds."""
    return f"is outside what the game allows for “{parameter.title}”: {allowed(parameter)}."


def _kind(spec: GameSpec, thing: Piece | Parameter) -> str:
    return "Settings" if isinstance(thing, Parameter) else spec.category(thing.category).plural
