"""``python -m engine check-simulator REFERENCE``: prints the findings of a conformance check, line by line."""

from __future__ import annotations

import argparse

import msgspec

from engine.errors import LONGEST_SAID, ConfigError
from engine.mdp.interface import MDPSpec
from engine.simulators import loaders
from engine.simulators.conformance import Finding, check
from engine.simulators.contract import GameSpec
from engine.simulators.conversation import SimulatorLimits
from engine.text import printable

LONGEST = 4 * 2**20
"""Bytes of the longest line of ``--json``."""


def main_check(argv: list[str]) -> int:
    """``check-simulator``: prints one line per finding; 0 if none is an error, 1 otherwise."""
    options = _options(argv)
    lines = _Lines(options.longest)
    broken = False
    for finding in check(
        options.reference,
        battles=options.battles,
        seed=options.seed,
        limits=SimulatorLimits(request_s=options.deadline),
        described=lines.description if options.json else None,
        watch=_tell_wait_json if options.json else _tell_wait,
    ):
        (lines.finding if options.json else _tell)(finding)
        broken |= finding.level == "error"
    broken |= lines.refused
    if not options.json:
        print("The simulator breaks its contract." if broken else "The simulator keeps its contract.")
    return int(broken)


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m engine check-simulator",
        description="Try every promise on a simulator of lineups, or on a game that is played decision by decision.",
        epilog="A reference is one of: " + (loaders.__doc__ or "").split("\n", 2)[2],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("reference", help="for example builtin:herobattle or python:package.module:factory")
    parser.add_argument("--battles", type=int, default=64, help="battles a check (64)")
    parser.add_argument("--seed", type=int, default=1, help="draws the teams (1)")
    parser.add_argument("--deadline", type=float, default=60.0, help="seconds one message may take (60)")
    parser.add_argument(
        "--transport", choices=("ipc", "tcp"), help="what the program dials; tcp is the same as command+tcp:… (ipc)"
    )
    parser.add_argument(
        "--json", action="store_true", help="one JSON object a line: the spec or game, each finding, each long wait"
    )
    parser.add_argument(
        "--longest", type=int, default=LONGEST, help=f"bytes of the longest line of --json ({LONGEST:,})"
    )
    options = parser.parse_args(argv)
    if options.battles < 4:
        parser.error("--battles: at least 4 are needed")
    if options.transport is not None:
        try:
            options.reference = loaders.dialling(options.reference, options.transport)
        except ConfigError as error:
            parser.error(f"--transport: {error}")
    return options


def _tell(finding: Finding) -> None:
    print(f"{finding.level:<8}{finding.check:<13}{_shown(finding).message}", flush=True)


def _shown(finding: Finding) -> Finding:
    """The finding without what a terminal would obey; some of its words may be the program's."""
    return msgspec.structs.replace(finding, message=printable(finding.message, LONGEST_SAID, lines=True))


def _tell_wait(awaited: str, seconds: float) -> None:
    if awaited:
        print(f"{'waiting':<21}for {awaited}; {seconds:.0f} s left", flush=True)


def _tell_json(value: object) -> None:
    print(msgspec.json.encode(value).decode(), flush=True)


def _tell_wait_json(awaited: str, seconds: float) -> None:
    _tell_json({"waiting": awaited, "seconds": seconds})


class _Lines:
    """Lines of JSON; a description is told by its size if its line is longer than ``longest``, its reader's limit."""

    def __init__(self, longest: int) -> None:
        self._longest, self.refused = longest, False

    def finding(self, finding: Finding) -> None:
        """Print a finding."""
        _tell_json(_shown(finding))

    def description(self, spec: GameSpec | MDPSpec) -> None:
        """Print the program's description or, if it is too long, its length."""
        message = {"spec" if isinstance(spec, GameSpec) else "game": spec}
        if (size := len(msgspec.json.encode(message))) <= self._longest:
            _tell_json(message)
            return
        self.refused = True
        self.finding(Finding("description", "error", f"it has {size:,} bytes, and the most is {self._longest:,}"))
