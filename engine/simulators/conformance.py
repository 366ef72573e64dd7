"""Conformance check: tries every promise of the contract on a running simulator and reports it in one line.

``python -m engine check-simulator REFERENCE`` (``check_command``) prints the findings.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence

import msgspec

from engine.errors import ConfigError, EngineError, SimulatorError, shown_faults
from engine.mdp.interface import MDPSpec
from engine.simulators import checks, loaders, protocol
from engine.simulators.client import ExternalSimulator
from engine.simulators.connection import OtherGame, WrongDescription
from engine.simulators.contract import GameSpec, LineupSimulator
from engine.simulators.contract_checks import CHECKS, WRONG_KINDS, Case, Findings, Level
from engine.simulators.conversation import NoConversation, SimulatorLimits, Watch
from engine.simulators.game_client import ExternalGame
from engine.simulators.game_contract_checks import GAME_CHECKS, GameCase

Described = Callable[[GameSpec | MDPSpec], None]


class Finding(msgspec.Struct, frozen=True):
    """One line of the report: the check, its level, and the exact observation."""

    check: str
    level: Level
    message: str


def run(name: str, case: Case) -> Iterator[Finding]:
    """One check of a lineup simulator; an exception from the simulator becomes an error finding and ends the check."""
    return _as_findings(name, CHECKS[name](case))


def _as_findings(name: str, findings: Findings) -> Iterator[Finding]:
    try:
        for level, message in findings:
            yield Finding(name, level, message)
    except NoConversation:
        raise
    except EngineError as error:
        yield Finding(name, "error", str(error))
    except WRONG_KINDS as error:
        yield Finding(name, "error", f"the simulator raised {type(error).__name__}: {error}")


def _in_turn(names: Sequence[str], run_one: Callable[[str], Iterator[Finding]]) -> Iterator[Finding]:
    """Run the checks up to the first one in which the program gave no answer, or an unrequested one."""
    for i, name in enumerate(names):
        try:
            yield from run_one(name)
        except NoConversation as error:
            yield Finding(name, "error", str(error))
            if rest := names[i + 1 :]:
                yield Finding("not tried", "warning", f"{', '.join(rest)}: the conversation broke before")
            return


def check_simulator(
    simulator: LineupSimulator, *, battles: int = 64, seed: int = 1, described: Described | None = None
) -> Iterator[Finding]:
    """All checks on a simulator that is already loaded; ``described`` is called with a valid description."""
    try:
        spec = simulator.describe()
        problems = checks.spec_problems(spec)
        yield from (
            Finding("description", "error", fault.message) for fault in shown_faults(("", each) for each in problems)
        )
        if problems:
            return
        if described is not None:
            described(spec)
        case = Case(simulator, spec, battles, seed)
    except EngineError as error:
        yield Finding("handshake", "error", str(error))
        return
    yield from _in_turn(tuple(CHECKS), lambda name: run(name, case))


def check(
    reference: str,
    *,
    battles: int = 64,
    seed: int = 1,
    limits: SimulatorLimits | None = None,
    described: Described | None = None,
    watch: Watch | None = None,
) -> Iterator[Finding]:
    """Load the referenced simulator, try every promise, end it, and verify that nothing is left running. ``watch`` is
    called for every long wait."""
    try:
        found = loaders.availability(reference)
        if not found.available:
            hint = f". Install it with: {found.install}" if found.install else ""
            yield Finding("installation", "error", f"{found.reason}{hint}")
            return
        simulator = loaders.load(reference, limits=limits)
    except (ConfigError, SimulatorError) as error:
        yield Finding("reference", "error", str(error))
        return
    begun = time.monotonic()
    try:
        if isinstance(simulator, ExternalSimulator):
            simulator.watch = watch
            simulator.describe()
            yield _handshake(begun, simulator.capabilities)
        yield from check_simulator(simulator, battles=battles, seed=seed, described=described)
        if isinstance(simulator, ExternalSimulator):
            yield _ending(simulator)
    except OtherGame:
        assert isinstance(simulator, ExternalSimulator)
        game = ExternalGame(simulator.command, label=simulator.label, limits=limits, transport=simulator.transport)
        game.watch = watch
        yield from _check_game(game, battles, seed, described)
    except EngineError as error:
        yield from _unintroduced(error)
    finally:
        loaders.close(simulator)


def _check_game(game: ExternalGame, battles: int, seed: int, described: Described | None) -> Iterator[Finding]:
    """The checks on a program whose game asks for every decision, up to the first error; then ends the program."""
    begun = time.monotonic()
    with game:
        try:
            case = GameCase(game, battles, seed)
        except EngineError as error:
            yield from _unintroduced(error)
            return
        yield _handshake(begun, game.capabilities)
        if described is not None:
            described(case.spec)
        for finding in _in_turn(tuple(GAME_CHECKS), lambda name: _as_findings(name, GAME_CHECKS[name](case))):
            yield finding
            if finding.level == "error":
                break
        yield _ending(game)


def _unintroduced(error: EngineError) -> Iterator[Finding]:
    """Findings for errors before any promise could be tried, one for each problem of a description."""
    if isinstance(error, WrongDescription):
        yield from (Finding("description", "error", problem) for problem in error.problems)
    else:
        yield Finding("handshake", "error", str(error))


def _handshake(begun: float, capabilities: frozenset[str]) -> Finding:
    able = ", ".join(sorted(capabilities)) or "nothing optional"
    said = f"in {time.monotonic() - begun:.2f} s; offers {able}"
    if unknown := capabilities - protocol.CAPABILITIES:
        known = ", ".join(sorted(protocol.CAPABILITIES))
        return Finding("handshake", "warning", f"{said}; {', '.join(sorted(unknown))} means nothing here: {known} do")
    return Finding("handshake", "ok", said)


def _ending(program: ExternalSimulator | ExternalGame) -> Finding:
    pid = program.pid
    if not pid:
        return Finding("ending", "warning", "not tried: the program had ended before BYE")
    begun = time.monotonic()
    program.close()
    gone = not os.path.exists(f"/proc/{pid}")
    took = time.monotonic() - begun
    if not gone:
        return Finding("ending", "error", f"process {pid} still runs after BYE")
    if took > program.limits.bye_s:
        return Finding("ending", "warning", "the program does not end by itself at BYE and had to be killed")
    return Finding("ending", "ok", f"ends {took:.2f} s after BYE")
