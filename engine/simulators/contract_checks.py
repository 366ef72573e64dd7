"""The promises of the lineup simulator contract, one function each, tried on a loaded simulator.

A check yields (level, message) lines: ``ok``, ``warning`` or ``error``. An exception from the simulator is an error of
that check (``engine.simulators.conformance`` runs the checks and makes the report).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from engine.errors import Cancelled, SimulatorError
from engine.rng import generator
from engine.simulators import checks
from engine.simulators.client import ExternalSimulator
from engine.simulators.contract import OK, Battles, GameSpec, LineupSimulator, Patch
from engine.simulators.random_teams import random_teams
from engine.text import figures, written

Level = Literal["ok", "warning", "error"]
SPEED_S = 1.0
CANCEL_AFTER_S = 0.5
MORE_S = 0.25
"""How long a second answer to the first request is waited for: one that comes later is met by the next check."""
PATCHES_TRIED = 8
WRONG_KINDS = (ArithmeticError, LookupError, TypeError, ValueError, RuntimeError)
"""Exceptions that Python code raises by itself; a simulator should raise SimulatorError with a sentence."""


class Case:
    """A simulator with random valid teams and their results; ``play`` plays rows of them again."""

    def __init__(self, simulator: LineupSimulator, spec: GameSpec, battles: int, seed: int) -> None:
        self.simulator, self.spec = simulator, spec
        self.rng = generator(seed, "conformance")
        teams = random_teams(spec, 2 * battles, self.rng)
        self.left, self.right = teams[:battles], teams[battles:]
        self.seeds = self.rng.integers(0, 2**64, battles, np.uint64)
        self._first: Battles | None = None

    def play(self, rows: NDArray[np.intp] | slice = slice(None), patch: Patch | None = None) -> Battles:
        """Play these rows. Raises SimulatorError, also for invalid results."""
        return self.fight(self.left[rows], self.right[rows], self.seeds[rows], patch)

    def fight(
        self,
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        seeds: NDArray[np.uint64],
        patch: Patch | None = None,
        fidelity: str = "full",
    ) -> Battles:
        """Play any battles and check the results."""
        results = self.simulator.battles(left, right, seeds, patch or {}, fidelity)
        problems = checks.result_problems(self.spec, len(seeds), results)
        if problems:
            raise SimulatorError("the results cannot be used: " + "; ".join(problems[:3]))
        return results

    def first(self) -> Battles:
        """The results of all rows, played once."""
        if self._first is None:
            self._first = self.play()
        return self._first


Findings = Iterator[tuple[Level, str]]
Check = Callable[[Case], Findings]


def _description(case: Case) -> Findings:
    spec = case.spec
    again = case.simulator.describe()
    if again != spec:
        yield "error", "describe() gives another game the second time"
    yield (
        "ok",
        f"{spec.title} {spec.version}: {len(spec.pieces)} pieces, {len(spec.slots)} slots, "
        f"{len(spec.side_metrics)} side metrics, {len(spec.tunables())} tunable numbers",
    )


def _results(case: Case) -> Findings:
    results = case.first()
    if isinstance(case.simulator, ExternalSimulator):
        case.simulator.look_for_more(MORE_S)
    n, failed = len(results.status), int((results.status != OK).sum())
    if failed == n:
        yield "error", f"all {n} battles came back as failed"
    elif failed:
        yield "warning", f"{failed} of {n} battles came back as failed"
    yield "ok", f"{n} battles of random valid teams: shapes, types, finite numbers and declared ranges are right"


def _wins(case: Case) -> Findings:
    results, spec = case.first(), case.spec
    wins = results.side[results.status == OK][:, :, [m.name for m in spec.side_metrics].index(spec.win)]
    odd = ~np.isin(wins, (0.0, 0.5, 1.0)).all(axis=1)
    if odd.any():
        left, right = wins[int(np.argmax(odd))]
        yield "error", f"{spec.win} is {written(left, 'g')} and {written(right, 'g')} in one battle; {checks.WINS}"
    else:
        yield "ok", "each battle has one winner or is drawn"


def _empty_batch(case: Case) -> Findings:
    case.play(slice(0, 0))
    yield "ok", "an empty batch gives empty results"


def _empty_slots(case: Case) -> Findings:
    if not any(slot.optional for slot in case.spec.slots):
        yield "ok", "no slot is optional"
        return
    bare = random_teams(case.spec, 4, case.rng, empty_optional=True)
    case.fight(bare, case.left[:4][: len(bare)], case.seeds[:4])
    yield "ok", "teams with every optional slot empty can fight"


def _reproducible(case: Case) -> Findings:
    if not case.spec.reproducible:
        yield "ok", "the game says that it is not reproducible; repeats with intervals do the work"
        return
    first, n = case.first(), len(case.seeds)
    backwards = np.arange(n)[::-1]
    halves = [case.play(slice(0, n // 2)), case.play(slice(n // 2, n))]
    few = range(min(n, 4))
    trials: list[tuple[str, NDArray[np.intp], Battles]] = [
        ("played again", np.arange(n), case.play()),
        ("in the opposite order", backwards, case.play(backwards)),
        ("in two smaller batches", np.arange(n), _joined(halves)),
        ("one at a time", np.arange(len(few)), _joined([case.play(slice(i, i + 1)) for i in few])),
    ]
    for how, rows, again in trials:
        yield from _same(case.spec, how, rows, first, again)


def _joined(parts: list[Battles]) -> Battles:
    return Battles(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _same(spec: GameSpec, how: str, rows: NDArray[np.intp], first: Battles, again: Battles) -> Findings:
    was, now = _flat(first)[rows], _flat(again)
    differs = (was != now) & ~((was[:, :1] != OK) & (now[:, :1] != OK))
    if not differs.any():
        yield "ok", f"same seeds {how}: same results, bit for bit"
        return
    i, k = (int(x) for x in np.argwhere(differs)[0])
    names = ["status", *(f"{m.name} {side}" for side in ("left", "right") for m in spec.side_metrics)]
    names += [m.name for m in spec.battle_metrics]
    battles = f"{int(differs.any(axis=1).sum())} of {len(rows)} battles differ"
    values = f"was {float(was[i, k])!r} and is {float(now[i, k])!r}"
    yield (
        "error",
        f"same seeds {how}: {battles}; {names[k]} of battle {int(rows[i])} {values}. "
        "Say reproducible=false, or let a battle depend on its own row only",
    )


def _flat(results: Battles) -> NDArray[np.float64]:
    """One row per battle: status, left side, right side, battle metrics."""
    n = len(results.status)
    return np.concatenate([results.status[:, None], results.side.reshape(n, -1), results.battle], axis=1)


def _one_match(case: Case, n: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    return np.repeat(case.left[:1], n, axis=0), np.repeat(case.right[:1], n, axis=0)


def _seeds_matter(case: Case) -> Findings:
    n = 32 if case.spec.reproducible else 8
    results = case.fight(*_one_match(case, n), case.rng.integers(0, 2**64, n, np.uint64))
    if (results.side == results.side[0]).all() and (results.battle == results.battle[0]).all():
        yield "warning", f"one match-up on {n} seeds always ends the same; repeats are wasted if nothing is random"
    else:
        yield "ok", f"one match-up on {n} seeds ends differently"


def _patches(case: Case) -> Findings:
    tried = _tunables_of(case)
    if not tried:
        yield "warning", "nothing in these teams can be patched; the game describes no number with a range"
        return
    # With randomness of its own a game can hide a small effect in few battles, so play more before blaming it.
    for n in (8,) if case.spec.reproducible else (16, 64, 160):
        left, right = _one_match(case, n)
        seeds = case.rng.integers(0, 2**64, n, np.uint64)
        base = case.fight(left, right, seeds)
        changed = {path: _changed(case, base, case.fight(left, right, seeds, {path: v})) for path, v in tried.items()}
        idle = [path for path, differs in changed.items() if not differs]
        if len(idle) < len(tried):
            break
    if len(idle) == len(tried):
        yield "error", f"a patch changes nothing: tried {', '.join(f'{p} = {figures(v)}' for p, v in tried.items())}"
    else:
        yield "ok", f"{len(tried) - len(idle)} of {len(tried)} patched numbers changed the results"
        if idle:
            said = ", ".join(f"{p} = {figures(tried[p])}" for p in idle)
            yield "warning", f"without effect in this match-up: {said}"
    if case.spec.reproducible and _changed(case, base, case.fight(left, right, seeds)):
        yield "error", "after patched battles the unpatched game gives other results; a patch is for its own call only"


def _tunables_of(case: Case) -> dict[str, float]:
    """Tunables of the first match-up's pieces (costs first), each with its bound that is farther from the default."""
    spec, table = case.spec, case.spec.tunables()
    columns = [i for i, slot in enumerate(spec.slots) if slot.kind == "piece"]
    present = [spec.pieces[i].id for i in (*case.left[0, columns], *case.right[0, columns]) if i >= 0]
    costs = [f"{name}.cost" for name in present]
    others = [p for name in dict.fromkeys(present) for p in table if p.startswith(f"{name}.") and p not in costs]
    most = PATCHES_TRIED if spec.reproducible else PATCHES_TRIED // 2  # such games are slow and need repeats
    paths = list(dict.fromkeys(costs))[:2] + others[: most - 3] + [p.path for p in spec.parameters[:1]]
    far = {
        p: table[p].high if table[p].high - table[p].default > table[p].default - table[p].low else table[p].low
        for p in paths
    }
    return {p: min(v, 10 * abs(table[p].default) + 10) if v > table[p].default else v for p, v in far.items()}


def _changed(case: Case, base: Battles, again: Battles) -> bool:
    """Whether a patch had an effect: any difference if the game is reproducible, otherwise one beyond four standard
    errors."""
    ok = (base.status == OK) & (again.status == OK)
    a, b = _flat(base)[ok], _flat(again)[ok]
    if case.spec.reproducible:
        return bool((a != b).any())
    spread = np.sqrt((a.var(axis=0) + b.var(axis=0)) / max(len(a), 1)) + 1e-12
    return bool((np.abs(a.mean(axis=0) - b.mean(axis=0)) > 4.0 * spread).any())


def _bad_rows(case: Case) -> Findings:
    wrong = {"an unknown piece": len(case.spec.pieces) + 7, "a piece of the wrong kind": -9}
    column = next(i for i, slot in enumerate(case.spec.slots) if slot.kind == "piece")
    for what, value in wrong.items():
        rows = case.left[:1].copy()
        rows[0, column] = value
        yield _refusal(case, what, rows, {})
    counted = next((i for i, slot in enumerate(case.spec.slots) if slot.kind == "count"), None)
    if counted is not None:
        rows = case.left[:1].copy()
        rows[0, counted] = 1_000_000_000
        yield _refusal(case, "a count of a billion", rows, {})
    yield _refusal(case, "a patch of an unknown number", case.left[:1], {"no piece.no number": 1.0})


def _refusal(case: Case, what: str, rows: NDArray[np.int32], patch: Patch) -> tuple[Level, str]:
    try:
        results = case.simulator.battles(rows, case.right[:1], case.seeds[:1], patch)
    except WRONG_KINDS as error:
        return "error", f"{what} raises {type(error).__name__} ({error}); raise SimulatorError with what was wrong"
    except SimulatorError as error:
        if not _running(case.simulator):
            return "error", f"{what} ends the program: {error}"
        return "ok", f"{what} is refused: {str(error)[:200]}"
    if (results.status != OK).all():
        return "ok", f"{what} comes back as a failed battle"
    return "error", f"{what} is played as if it were right; refuse it with an ERROR"


def _running(simulator: LineupSimulator) -> bool:
    return simulator.pid != 0 if isinstance(simulator, ExternalSimulator) else True


def _fidelities(case: Case) -> Findings:
    for fidelity in case.spec.fidelities[1:]:
        case.fight(case.left[:8], case.right[:8], case.seeds[:8], None, fidelity.name)
        yield "ok", f"fidelity {fidelity.name!r} plays"


def _offers(simulator: LineupSimulator, capability: str) -> bool:
    return not isinstance(simulator, ExternalSimulator) or capability in simulator.capabilities


def _replays(case: Case) -> Findings:
    if not _offers(case.simulator, "replay"):
        yield "ok", "the program does not offer replays, so none was asked for"
        return
    frames = case.simulator.replay(case.left[:1], case.right[:1], int(case.seeds[0]), {})
    ticks = [frame.tick for frame in frames]
    if ticks != sorted(ticks):
        yield "error", "the frames of a replay are not in the order of their ticks"
    yield "ok", f"a replay has {len(ticks)} frames" if ticks else "asked for a replay of this battle, it gives none"


def _cancelling(case: Case) -> Findings:
    simulator = case.simulator
    if not isinstance(simulator, ExternalSimulator):
        yield "ok", "runs inside the engine: batches are short, nothing to cancel"
        return
    if not _offers(simulator, "cancel"):
        yield "ok", "the program does not offer cancel: a search that is stopped ends it, and starts it again later"
        return
    many = np.resize(np.arange(len(case.seeds)), 1_000_000)
    left, right, seeds = case.left[many], case.right[many], case.seeds[many]
    over = threading.Event()
    helper = threading.Thread(target=_cancel_until, args=(over, simulator), daemon=True)
    begun = time.monotonic()
    helper.start()
    try:
        simulator.battles(left, right, seeds, {})
        yield "ok", "a million battles were over before CANCEL came"
    except Cancelled:
        took = time.monotonic() - begun - CANCEL_AFTER_S
        if simulator.interrupted:
            yield "ok", f"CANCEL stopped a million battles; the program was free again after {took:.1f} s"
        elif _running(simulator):
            yield "ok", f"at CANCEL the program played what it was asked for to its end: it was free after {took:.1f} s"
        else:
            yield "warning", "CANCEL was not obeyed in time; the program was ended and starts again at its next use"
    finally:
        over.set()
        helper.join()


def _cancel_until(over: threading.Event, simulator: ExternalSimulator) -> None:
    """Cancel repeatedly, because a cancel before the call has begun has no effect."""
    over.wait(CANCEL_AFTER_S)
    while not over.wait(0.05):
        simulator.cancel()


def _speed(case: Case) -> Findings:
    case.first()
    begun, n, batch = time.monotonic(), 0, len(case.seeds)
    while time.monotonic() - begun < SPEED_S:
        rows = np.resize(np.arange(len(case.seeds)), batch)
        case.play(rows)
        n, batch = n + batch, min(batch * 2, 50_000)
    yield "ok", f"{n / (time.monotonic() - begun):,.0f} battles/s in one process"


def _new_pieces(case: Case) -> Findings:
    """If the game accepts pieces: a piece that a patch adds can be in a team."""
    if not case.spec.accepts_pieces:
        yield "ok", "the game keeps to its own pieces"
        return
    column = next(i for i, slot in enumerate(case.spec.slots) if slot.kind == "piece")
    category = case.spec.category(case.spec.slots[column].category)
    patch = {f"{category.id}/new-piece.cost": category.cost_low}
    patch |= {f"{category.id}/new-piece.{a.id}": min(max(1.0, a.low), a.high) for a in category.attributes}
    left = case.left[:4].copy()
    left[:, column] = len(case.spec.pieces)
    results = case.fight(left, case.right[:4], case.seeds[:4], patch)
    if (results.status != OK).all():
        yield "error", f"battles with the new piece {category.id}/new-piece all failed; see accepts_pieces"
    else:
        yield "ok", "a piece that a patch adds can be played"


CHECKS: dict[str, Check] = {
    "description": _description,
    "results": _results,
    "wins": _wins,
    "empty batch": _empty_batch,
    "empty slots": _empty_slots,
    "same seed": _reproducible,
    "other seeds": _seeds_matter,
    "patch": _patches,
    "new pieces": _new_pieces,
    "bad input": _bad_rows,
    "fidelity": _fidelities,
    "replay": _replays,
    "speed": _speed,
    "cancel": _cancelling,
}
