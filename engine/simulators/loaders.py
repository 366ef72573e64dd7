"""From a reference to a simulator, in one place.

=====================================  ==========================================================================
``builtin:herobattle``                 the built-in game; runs inside this process
``builtin:herobattle-planted:SEED``    the same with five broken pieces drawn by SEED
``builtin:herobattle-planted:SEED:N``  the same with the N-th of these alone: 0 to 3 a piece, 4 the pair
``builtin:wesnoth``                    Battle for Wesnoth 1.16 through our adapter, in a process of its own
``python:package.module:factory``      a Python simulator, in a process of its own
``command:PROGRAM ARGUMENT ...``       any program that speaks ``equipoise-sim/1`` (shell quoting or a JSON list)
=====================================  ==========================================================================

``command+tcp:`` and ``python+tcp:`` give the program a TCP address of this machine in place of an ``ipc://`` one, for
ZeroMQ libraries that cannot dial the latter (JeroMQ, NetMQ).
"""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
from collections.abc import Iterator
from typing import Literal

import msgspec

from engine.errors import ConfigError, SimulatorError
from engine.problem import ShouldStop
from engine.simulators.client import ExternalSimulator
from engine.simulators.contract import LineupSimulator
from engine.simulators.conversation import SimulatorLimits
from engine.simulators.line import Transport

BUILTINS = ("herobattle", "wesnoth")
_ENTRY_POINT = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_EXAMPLES = (
    "builtin:herobattle, builtin:wesnoth, python:package.module:factory or command:program argument; "
    "command+tcp: where the program dials tcp:// instead of ipc://"
)


class Reference(msgspec.Struct, frozen=True):
    """A parsed reference. ``target``: the built-in game, the entry point or the program; ``in_process``: the
    simulator's code runs inside the engine's own processes; ``summary``: one line for people."""

    reference: str
    kind: Literal["builtin", "python", "command"]
    target: str
    summary: str
    argv: tuple[str, ...] = ()
    transport: Transport = "ipc"
    seed: int | None = None
    only: int | None = None
    in_process: bool = False


class Availability(msgspec.Struct, frozen=True):
    """Whether a simulator can be started here; if not, why, and the command that installs what is missing."""

    available: bool
    reason: str = ""
    install: str = ""


def describe_reference(reference: str) -> Reference:
    """Parse a reference without starting anything. Raises ConfigError that explains the format."""
    head, _, rest = reference.strip().partition(":")
    kind, plus, transport = head.partition("+")
    if plus and (transport != "tcp" or kind not in ("python", "command")):
        raise _wrong(reference, "behind + stands tcp, and only command+tcp: and python+tcp: are known")
    dialled: Transport = "tcp" if plus else "ipc"
    own = "in a process of its own" + (" that dials TCP" if plus else "")
    if kind == "builtin":
        return _builtin(reference, rest)
    if kind == "python":
        if not _ENTRY_POINT.fullmatch(rest):
            raise _wrong(reference, "a Python simulator is named python:package.module:factory")
        return Reference(reference, "python", rest, f"Python simulator {rest}, {own}", transport=dialled)
    if kind == "command":
        argv = _argv(reference, rest)
        return Reference(reference, "command", argv[0], f"program {argv[0]}, {own}", argv, dialled)
    raise _wrong(reference, f"a simulator is named like {_EXAMPLES}")


def dialling(reference: str, transport: Transport) -> str:
    """A reference to the same program that dials over this transport. Raises ConfigError if it names no program."""
    kind = describe_reference(reference).kind
    if kind == "builtin":
        raise _wrong(reference, "a built-in game dials nothing; only programs (python: and command:) have a transport")
    rest = reference.strip().partition(":")[2]
    return f"{kind}{'+tcp' if transport == 'tcp' else ''}:{rest}"


def availability(reference: str) -> Availability:
    """Whether everything that the reference needs is installed. Starts nothing. Raises ConfigError for a malformed
    reference."""
    parsed = describe_reference(reference)
    if (parsed.kind, parsed.target) == ("builtin", "wesnoth"):
        from engine.simulators.adapters.wesnoth import installation

        missing = installation.missing()
        return Availability(not missing, missing, installation.INSTALL if missing else "")
    if parsed.kind == "command" and shutil.which(parsed.target) is None:
        return Availability(False, f"{parsed.target} is not a program on this machine")
    return Availability(True)


def load(reference: str, *, limits: SimulatorLimits | None = None) -> LineupSimulator:
    """The simulator of a reference. External ones start their process at the first use and have ``close()``.

    Raises ConfigError for a malformed reference, SimulatorError (permanent) when something is not installed.
    """
    parsed = describe_reference(reference)
    found = availability(reference)
    if not found.available:
        hint = f". Install it with: {found.install}" if found.install else ""
        raise SimulatorError(f"{reference}: {found.reason}{hint}", permanent=True)
    if parsed.kind == "command":
        return ExternalSimulator(
            parsed.argv, label=label("simulator", parsed.argv), limits=limits, transport=parsed.transport
        )
    if parsed.kind == "python":
        return ExternalSimulator.from_entry_point(parsed.target, limits=limits, transport=parsed.transport)
    if parsed.target == "wesnoth":
        entry_point = "engine.simulators.adapters.wesnoth.simulator:make"
        return ExternalSimulator.from_entry_point(entry_point, label="Battle for Wesnoth", limits=limits)
    from engine.games.herobattle import HeroBattle

    game: LineupSimulator = HeroBattle(planted_seed=parsed.seed, only=parsed.only)
    return game


def label(what: str, argv: tuple[str, ...]) -> str:
    """A program's name in messages: only its file name, because its folders and arguments may contain data that only
    those who registered it may read."""
    return f"The {what} “{argv[0].rpartition('/')[2]}”"


def close(simulator: LineupSimulator) -> None:
    """End the simulator's process, if it has one."""
    if isinstance(simulator, ExternalSimulator):
        simulator.close()


def heed(simulator: LineupSimulator, should_stop: ShouldStop) -> LineupSimulator:
    """Make the start and the battles of an external program raise Cancelled once ``should_stop`` returns True, because
    they may take long; for a simulator in this process there is no need. Gives the simulator."""
    if isinstance(simulator, ExternalSimulator):
        simulator.should_stop = should_stop
    return simulator


@contextlib.contextmanager
def opened(reference: str, should_stop: ShouldStop = lambda: False) -> Iterator[LineupSimulator]:
    """``load`` and ``heed`` as a context manager that ends everything it started."""
    simulator = heed(load(reference), should_stop)
    try:
        yield simulator
    finally:
        close(simulator)


def _builtin(reference: str, rest: str) -> Reference:
    name, _, argument = rest.partition(":")
    if name == "herobattle-planted" and (found := re.fullmatch(r"([0-9]{1,9})(?::([0-4]))?", argument)):
        summary = f"built-in game herobattle with broken pieces planted by seed {found[1]}"
        only = int(found[2]) if found[2] else None
        return Reference(reference, "builtin", "herobattle", summary, seed=int(found[1]), only=only, in_process=True)
    if name == "herobattle" and not argument:
        return Reference(reference, "builtin", "herobattle", "built-in game herobattle", in_process=True)
    if name == "wesnoth" and not argument:
        return Reference(reference, "builtin", "wesnoth", "Battle for Wesnoth 1.16, the installed game")
    raise _wrong(
        reference, f"built-in games are {', '.join(BUILTINS)} and herobattle-planted:SEED with a whole number as seed"
    )


def _argv(reference: str, rest: str) -> tuple[str, ...]:
    try:
        argv = msgspec.json.decode(rest, type=list[str]) if rest.lstrip().startswith("[") else shlex.split(rest)
    except (ValueError, msgspec.DecodeError) as error:
        raise _wrong(reference, f"the command cannot be read: {error}") from None
    if not argv or not argv[0]:
        raise _wrong(reference, "the command is empty; it is command:program argument")
    return tuple(argv)


def _wrong(reference: str, message: str) -> ConfigError:
    return ConfigError([("simulator", f"{reference[:200]!r}: {message}")])
