"""Does a simulator keep the contract? Every promise is tried on the real thing and reported in one line.

``python -m engine check-simulator REFERENCE`` prints the findings; the exit code is 1 when one of them is an error.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator

import msgspec

from engine.errors import ConfigError, EngineError, SimulatorError
from engine.mdp.interface import MDPSpec
from engine.simulators import checks, loaders
from engine.simulators.client import ExternalSimulator
from engine.simulators.connection import Limits, OtherGame
from engine.simulators.contract import GameSpec, LineupSimulator
from engine.simulators.game_client import ExternalGame
from engine.simulators.game_promises import GAME_CHECKS, GameCase
from engine.simulators.promises import CHECKS, WRONG_KINDS, Case, Findings, Level

Described = Callable[[GameSpec | MDPSpec], None]


class Finding(msgspec.Struct, frozen=True):
    """One line of the report: which check, how it went, and what exactly was seen."""

    check: str
    level: Level
    message: str


def run(name: str, case: Case) -> Iterator[Finding]:
    """One check of a simulator of lineups; what it raises in it is an error finding, and the check ends there."""
    return _told(name, CHECKS[name](case))


def _told(name: str, findings: Findings) -> Iterator[Finding]:
    try:
        for level, message in findings:
            yield Finding(name, level, message)
    except EngineError as error:
        yield Finding(name, "error", str(error))
    except WRONG_KINDS as error:
        yield Finding(name, "error", f"the simulator raised {type(error).__name__}: {error}")


def check_simulator(
    simulator: LineupSimulator, *, battles: int = 64, seed: int = 1, described: Described | None = None
) -> Iterator[Finding]:
    """Every check on a simulator that is loaded already; ``described`` is called with a valid description."""
    try:
        spec = simulator.describe()
        problems = checks.spec_problems(spec)
        yield from (Finding("description", "error", problem) for problem in problems)
        if problems:
            return
        if described is not None:
            described(spec)
        case = Case(simulator, spec, battles, seed)
    except EngineError as error:
        yield Finding("handshake", "error", str(error))
        return
    for name in CHECKS:
        yield from run(name, case)


def check(
    reference: str,
    *,
    battles: int = 64,
    seed: int = 1,
    limits: Limits | None = None,
    described: Described | None = None,
) -> Iterator[Finding]:
    """Load what the reference names, try every promise, end it, and see that nothing of it is left running."""
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
            simulator.describe()
            yield _handshake(begun, simulator.capabilities)
        yield from check_simulator(simulator, battles=battles, seed=seed, described=described)
        if isinstance(simulator, ExternalSimulator):
            yield _ending(simulator)
    except OtherGame:
        assert isinstance(simulator, ExternalSimulator)
        game = ExternalGame(simulator.command, label=simulator.label, limits=limits)
        yield from _check_game(game, battles, seed, described)
    except EngineError as error:
        yield Finding("handshake", "error", str(error))
    finally:
        loaders.close(simulator)


def _check_game(game: ExternalGame, battles: int, seed: int, described: Described | None) -> Iterator[Finding]:
    """The checks on a program whose game is played move by move, up to the first that is not kept; ends it."""
    begun = time.monotonic()
    with game:
        try:
            case = GameCase(game, battles, seed)
        except EngineError as error:
            yield Finding("handshake", "error", str(error))
            return
        yield _handshake(begun, game.capabilities)
        if described is not None:
            described(case.spec)
        for name, promise in GAME_CHECKS.items():
            found = list(_told(name, promise(case)))
            yield from found
            if any(finding.level == "error" for finding in found):
                break
        yield _ending(game)


def _handshake(begun: float, capabilities: frozenset[str]) -> Finding:
    able = ", ".join(sorted(capabilities)) or "nothing optional"
    return Finding("handshake", "ok", f"in {time.monotonic() - begun:.2f} s; offers {able}")


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


def main_check(argv: list[str]) -> int:
    """``check-simulator``: prints one line a finding; 0 when none is an error, 1 otherwise."""
    parser = argparse.ArgumentParser(
        prog="python -m engine check-simulator",
        description="Try every promise on a simulator of lineups, or on a game that is played move by move.",
        epilog="A reference is one of: " + (loaders.__doc__ or "").split("\n", 2)[2],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("reference", help="for example builtin:herobattle or python:package.module:factory")
    parser.add_argument("--battles", type=int, default=64, help="battles a check (64)")
    parser.add_argument("--seed", type=int, default=1, help="draws the teams (1)")
    parser.add_argument("--deadline", type=float, default=60.0, help="seconds one message may take (60)")
    parser.add_argument(
        "--json", action="store_true", help="one JSON object a line: the spec or game, then each finding"
    )
    options = parser.parse_args(argv)
    if options.battles < 4:
        parser.error("--battles: at least 4 are needed")
    worst = 0
    limits = Limits(request_s=options.deadline)
    described = _print_spec if options.json else None
    for finding in check(
        options.reference, battles=options.battles, seed=options.seed, limits=limits, described=described
    ):
        line = f"{finding.level:<8}{finding.check:<13}{finding.message}"
        print(_json(finding) if options.json else line, flush=True)
        worst = max(worst, int(finding.level == "error"))
    if options.json:
        return worst
    print("The simulator breaks its contract." if worst else "The simulator keeps its contract.")
    return worst


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _print_spec(spec: GameSpec | MDPSpec) -> None:
    print(_json({"spec" if isinstance(spec, GameSpec) else "game": spec}), flush=True)


if __name__ == "__main__":
    sys.exit(main_check(sys.argv[1:]))
