"""Validity checks of specs, team rows and results, in one place for every way to reach a game.

Each function returns sentences (empty: no problem), so the handshake, the server and the conformance check report the
same mistake in the same words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from engine.mdp.checks import text_problems
from engine.simulators.contract import FAILED, NEW_PIECE, OK, Battles, GameSpec, Metric, Patch, Slot
from engine.simulators.sizes import too_large
from engine.text import figures


def spec_problems(spec: GameSpec) -> list[str]:
    """All problems of a game description; if it is too large, nothing else is reported."""
    return [*too_large(spec)] or [
        *_names(spec), *text_problems(spec, "spec"), *_repeats(spec), *_categories(spec), *_pieces(spec),
        *_slots(spec), *_rules(spec), *_metrics(spec), *_parameters(spec),
    ]  # fmt: skip


def _names(spec: GameSpec) -> Iterator[str]:
    if not spec.name:
        yield "the game has no name"
    if not spec.version:
        yield f"{spec.name or 'the game'} has no version; results are cached by it"
    for what, things in (("pieces", spec.pieces), ("slots", spec.slots), ("side metrics", spec.side_metrics)):
        if not things:
            yield f"the game has no {what}"
    if not spec.fidelities or spec.fidelities[0].name != "full":
        yield "the first fidelity must be named 'full'"
    for fidelity in spec.fidelities:
        if not fidelity.cost > 0:
            yield f"fidelity {fidelity.name!r} costs {fidelity.cost}; it must be above 0"


def _repeats(spec: GameSpec) -> Iterator[str]:
    for what, ids in (
        ("category", [c.id for c in spec.categories]),
        ("piece", [p.id for p in spec.pieces]),
        ("slot", [s.id for s in spec.slots]),
        ("parameter", [p.path for p in spec.parameters]),
        ("metric", [m.name for m in (*spec.side_metrics, *spec.battle_metrics)]),
        ("fidelity", [f.name for f in spec.fidelities]),
    ):
        for name, times in Counter(ids).items():
            if times > 1:
                yield f"{what} {name!r} is described {times} times; each needs a name of its own"
            if not name:
                yield f"a {what} has an empty name"
    if spec.accepts_pieces:
        for piece in spec.pieces:
            if NEW_PIECE.fullmatch(piece.id):
                yield f"piece {piece.id!r} is named like one that a patch adds; leave the stroke out"


def _categories(spec: GameSpec) -> Iterator[str]:
    for i, category in enumerate(spec.categories):
        place = f"spec.categories[{i}]"
        if category.cost_low > category.cost_high:
            ends = f"cost_low {category.cost_low} is above cost_high {category.cost_high}"
            yield f"{place}: category {category.id!r}: {ends}"
        for j, a in enumerate(category.attributes):
            at = f"{place}.attributes[{j}]: attribute {category.id}.{a.id}"
            if not a.low < a.high:
                yield f"{at}: low {figures(a.low)} must be below high {figures(a.high)}"
            if a.id == "cost":
                yield f"{at}: 'cost' is every piece's price already; name it differently"


def _pieces(spec: GameSpec) -> Iterator[str]:
    categories = {c.id: c for c in spec.categories}
    for i, piece in enumerate(spec.pieces):
        place = f"spec.pieces[{i}]"
        home = categories.get(piece.category)
        if home is None:
            yield f"{place}.category: piece {piece.id!r} is of category {piece.category!r}, which is not described"
            continue
        costs = f"{figures(home.cost_low)} to {figures(home.cost_high)}"
        if not home.cost_low <= piece.cost <= home.cost_high:
            yield f"{place}.cost: piece {piece.id!r} costs {figures(piece.cost)}, outside {costs}"
        bounds = {a.id: a for a in home.attributes}
        for name, value in piece.attributes.items():
            if name not in bounds:
                why = f"piece {piece.id!r} has {name!r}, which category {home.id!r} does not describe"
                yield f"{place}.attributes: {why}"
            elif not bounds[name].low <= value <= bounds[name].high:
                ends = f"{figures(bounds[name].low)} to {figures(bounds[name].high)}"
                why = f"{piece.id}.{name} is {figures(value)}, outside {ends}"
                yield f"{place}.attributes: {why}"


def _slots(spec: GameSpec) -> Iterator[str]:
    slots = {s.id: s for s in spec.slots}
    filled = {p.category for p in spec.pieces}
    counted = Counter(s.of for s in spec.slots if s.kind == "count")
    for i, slot in enumerate(spec.slots):
        place = f"spec.slots[{i}]"
        if slot.kind == "piece":
            if slot.category not in filled:
                takes = f"slot {slot.id!r} takes a piece of category {slot.category!r}"
                yield f"{place}.category: {takes}, and there is none"
            continue
        target = slots.get(slot.of)
        if target is None or target.kind != "piece":
            yield f"{place}.of: count slot {slot.id!r} counts slot {slot.of!r}, which is not a piece slot"
        if not 1 <= slot.low <= slot.high:
            yield f"{place}: count slot {slot.id!r}: needs 1 <= low <= high, has {slot.low} to {slot.high}"
    for name, times in counted.items():
        if times > 1:
            yield f"spec.slots: slot {name!r} is counted by {times} slots"
    yield from _groups(spec.slots)


def _groups(slots: Iterable[Slot]) -> Iterator[str]:
    kinds: dict[str, set[tuple[str, str]]] = {}
    for slot in slots:
        if slot.group:
            kinds.setdefault(slot.group, set()).add((slot.kind, slot.category))
    for group, members in kinds.items():
        if len({m for m in members if m[0] == "piece"}) > 1:
            yield f"spec.slots: group {group!r} mixes piece slots of different categories; they cannot change places"


def _rules(spec: GameSpec) -> Iterator[str]:
    rules, known = spec.rules, {p.id for p in spec.pieces}
    categories = {c.id for c in spec.categories}
    for what, ids in (("required", rules.required), ("banned", rules.banned)):
        for name in ids:
            if name not in known:
                yield f"spec.rules.{what}: piece {name!r} is not among the pieces"
    for distinct in rules.distinct:
        if distinct.category not in categories:
            yield f"spec.rules.distinct: pieces of {distinct.category!r} must not repeat, and there is no such category"
    if rules.budget_low > rules.budget_high:
        yield f"spec.rules: budget_low {rules.budget_low} is above budget_high {rules.budget_high}"
    if rules.units_low > rules.units_high:
        yield f"spec.rules: units_low {rules.units_low} is above units_high {rules.units_high}"


def _metrics(spec: GameSpec) -> Iterator[str]:
    sides = {m.name: m for m in spec.side_metrics}
    for role in ("strength", "resources", "win"):
        name = getattr(spec, role)
        if name not in sides:
            yield f"spec.{role} is said to be side metric {name!r}, which is not described"
    for place, metric in _metrics_at(spec):
        if metric.low is not None and metric.high is not None and not metric.low < metric.high:
            low, high = figures(metric.low), figures(metric.high)
            yield f"{place}: metric {metric.name!r}: low {low} must be below high {high}"


def _metrics_at(spec: GameSpec) -> Iterator[tuple[str, Metric]]:
    for kind in ("side_metrics", "battle_metrics"):
        for i, metric in enumerate(getattr(spec, kind)):
            yield f"spec.{kind}[{i}]", metric


def _parameters(spec: GameSpec) -> Iterator[str]:
    for i, p in enumerate(spec.parameters):
        at, low, high = f"spec.parameters[{i}]: parameter {p.path!r}", figures(p.low), figures(p.high)
        if not p.low < p.high:
            yield f"{at}: low {low} must be below high {high}"
        elif not p.low <= p.default <= p.high:
            yield f"{at}: default {figures(p.default)} is outside {low} to {high}"


def row_problems(spec: GameSpec, rows: NDArray[np.int32], side: str = "team") -> list[str]:
    """Problems of team rows int32[n, slots]: the first offending row of each slot. Rules such as budgets are checked by
    the engine, not here."""
    if rows.ndim != 2 or rows.shape[1] != len(spec.slots):
        return [f"{side}: rows of shape {list(rows.shape)}; {spec.name} has {len(spec.slots)} slots, so [n, it]"]
    found: list[str] = []
    category_of = np.array([p.category for p in spec.pieces])
    column = {s.id: i for i, s in enumerate(spec.slots)}
    for i, slot in enumerate(spec.slots):
        values = rows[:, i]
        if slot.kind == "piece":
            known = (values >= 0) & (values < len(spec.pieces))
            fits = known & (category_of[np.where(known, values, 0)] == slot.category)
            bad = ~(fits | (slot.optional & (values == -1)))
            need = f"a piece of {slot.category!r}" + (" or -1" if slot.optional else "")
        else:
            filled = rows[:, column[slot.of]] >= 0
            bad = np.where(filled, (values < slot.low) | (values > slot.high), values != 0)
            need = f"{slot.low} to {slot.high}, or 0 when slot {slot.of!r} is empty"
        if bad.any():
            row = int(np.argmax(bad))
            found.append(f"{side} row {row}, slot {slot.id!r}: {int(values[row])} does not fit; it takes {need}")
    return found


def patch_problems(spec: GameSpec, patch: Patch) -> list[str]:
    """Problems of a patch: unknown paths, values that are not numbers or out of bounds."""
    table = spec.extended(patch).tunables() if patch else {}
    found = []
    for path, value in patch.items():
        p = table.get(path)
        if p is None:
            found.append(f"patch: {spec.name} has no {path!r}")
        elif not math.isfinite(value) or not p.low <= value <= p.high:
            found.append(f"patch: {path} = {figures(value)} is outside {figures(p.low)} to {figures(p.high)}")
    return found


def result_problems(spec: GameSpec, n: int, results: Battles) -> list[str]:
    """Problems of the results of n battles: shapes, types, status values, then the numbers of OK rows."""
    shapes = {
        "side": (np.float64, (n, 2, len(spec.side_metrics))),
        "battle": (np.float64, (n, len(spec.battle_metrics))),
        "status": (np.uint8, (n,)),
    }
    found = []
    for name, (dtype, shape) in shapes.items():
        array = getattr(results, name, None)
        if not isinstance(array, np.ndarray):
            found.append(f"{name} is missing or not an array")
        elif array.dtype != dtype or array.shape != shape:
            found.append(f"{name} is {array.dtype}{list(array.shape)}; {n} battles need {np.dtype(dtype)}{list(shape)}")
    return found or _values(spec, results)


def _values(spec: GameSpec, results: Battles) -> list[str]:
    found = []
    odd = (results.status != OK) & (results.status != FAILED)
    if odd.any():
        row = int(np.argmax(odd))
        found.append(f"battle {row} has status {int(results.status[row])}; it is 0 (ok) or 1 (failed)")
    ok = results.status == OK
    for k, metric in enumerate(spec.side_metrics):
        ends = _WON if metric.name == spec.win else (-np.inf, np.inf)
        found += _metric_values(metric, results.side[:, :, k], ok[:, None], ends)
    for k, metric in enumerate(spec.battle_metrics):
        found += _metric_values(metric, results.battle[:, k : k + 1], ok[:, None])
    return found or _winners(spec, results.side[ok], np.flatnonzero(ok))


_WON = 0.0, 1.0
"""Between what a win lies, whatever range a game declares for it: all that is said of chances to win rests on that."""


WINS = "it is 1 and 0, 0 and 1, or 0.5 and 0.5"
"""What the two sides of a battle may be said to have won: no more than one of them wins, and one loses what the other
wins."""


def _winners(spec: GameSpec, side: NDArray[np.float64], rows: NDArray[np.intp]) -> list[str]:
    """The first of these battles of which both sides, or neither, are said to have won."""
    wins = side[:, :, [m.name for m in spec.side_metrics].index(spec.win)]
    bad = np.abs(wins.sum(axis=1) - 1) > 1e-6
    if not bad.any():
        return []
    at = int(np.argmax(bad))
    left, right = map(figures, wins[at].tolist())
    return [f"{spec.win} of battle {rows[at]} is {left} for the left side and {right} for the right side; {WINS}"]


def _metric_values(
    metric: Metric, values: NDArray[np.float64], ok: NDArray[np.bool_], ends: tuple[float, float] = (-np.inf, np.inf)
) -> list[str]:
    low = max(ends[0], -np.inf if metric.low is None else metric.low)
    high = min(ends[1], np.inf if metric.high is None else metric.high)
    slack = 1e-9 * max(1.0, *(abs(b) for b in (low, high) if math.isfinite(b)), 1.0)
    with np.errstate(invalid="ignore"):
        good = np.isfinite(values) & (values >= low - slack) & (values <= high + slack)
    bad = ~good & ok
    if not bad.any():
        return []
    row, side = (int(i) for i in np.argwhere(bad)[0])
    where = f", {('left', 'right')[side]} side" if values.shape[1] == 2 else ""
    value = float(values[row, side])
    return [f"{metric.name} of battle {row}{where} is {figures(value)}; " + _allowed(low, high)]


def _allowed(low: float, high: float) -> str:
    if math.isfinite(low) and math.isfinite(high):
        return f"it must be a number from {figures(low)} to {figures(high)}"
    if math.isfinite(low):
        return f"it must be a number of at least {figures(low)}"
    if math.isfinite(high):
        return f"it must be a number of at most {figures(high)}"
    return "it must be a finite number"
