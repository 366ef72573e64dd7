"""``python -m engine.bench NAME [--case CASE] [--quick] [--json]``; ``--list`` names them all.

Several cases of one benchmark are a pattern in quotes: ``gossip-time --case 'ale-*'`` plays all six games of Atari.

Prints one row a case: bench, case, value, unit, peer, peer_value, ratio, goal, meets, seeds, cores, detail.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterator, Sequence
from fnmatch import filter as matching
from typing import Any, Protocol

from engine.errors import EngineError
from engine.piping import until_nobody_reads

MODULES = (
    "lineup_battles",
    "balance_loop",
    "engine_overhead",
    "ec",
    "racing",
    "trust",
    "cma_es",
    "asynchrony",
    "evorl",
    "gpu",
    "styles",
    "ale_styles",
    "wuji",
    "pbt",
    "aesrl_time",
    "pbt_peer",
    "aesrl_rules",
    "aesrl_score",
    "gossip",
    "gossip_time",
    "archive",
    "wesnoth_loop",
    "wesnoth_worth",
    "explorer",
    "driver",
    "sampling_builtin",
    "sampling_pendulum",
    "sampling_pong",
    "cpu_use",
    "broadcast",
    "learning",
    "td3",
    "two_seats",
    "arena_navigation",
    "arena_steps",
    "arena_tanks",
    "arena_mixed",
    "arena_evolution",
    "half_field",
    "half_field_starts",
    "platform",
    "commanders",
    "command_styles",
    "commanded",
    "worth",
    "patch",
    "sensitivity",
    "replay_lineups",
    "replay",
)


class Bench(Protocol):
    """What a benchmark module offers."""

    NAME: str
    CASES: tuple[str, ...]

    def run(self, case: str, quick: bool) -> Iterator[dict[str, Any]]:
        """Measure one case; ``quick``: a rough figure in under a minute."""
        ...


def _modules() -> dict[str, Bench]:
    found: list[Any] = [importlib.import_module(f"engine.bench.{name}") for name in MODULES]
    return {module.NAME: module for module in found}


def main(argv: Sequence[str]) -> int:
    """Run benchmarks; 0 when all ran (whether or not they met their goals), 1 when one could not."""
    parser = argparse.ArgumentParser(prog="python -m engine.bench", description=__doc__.split("\n")[0])
    parser.add_argument("name", nargs="?", help="which benchmark; all without it")
    parser.add_argument("--case", help="one case of it, or all that a pattern such as 'ale-*' matches")
    parser.add_argument("--quick", action="store_true", help="a rough figure in under a minute a case")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--list", action="store_true", help="name them all")
    args = parser.parse_args(argv)
    modules = _modules()
    if args.list:
        for name, module in modules.items():
            print(f"{name:<18} {' '.join(module.CASES)}")
        return 0
    if args.name and args.name not in modules:
        parser.error(f"there is no benchmark {args.name!r}; there are {', '.join(modules)}")
    for name in [args.name] if args.name else modules:
        module = modules[name]
        cases = matching(module.CASES, args.case) if args.case else module.CASES
        if not cases:
            parser.error(f"{name} has no case {args.case!r}; it has {', '.join(module.CASES)}")
        for case in cases:
            try:
                for row in module.run(case, args.quick):
                    print(json.dumps(row) if args.json else _line(row), flush=True)
            except EngineError as error:
                print(f"{name} {case} did not run: {error}", file=sys.stderr)
                return 1
    return 0


def _line(row: dict[str, Any]) -> str:
    value = f"{row['value']:.4g} {row['unit']}"
    peer = f" · {row['peer']} {row['peer_value']:.4g}, ratio {row['ratio']:.3g}" if row.get("ratio") is not None else ""
    goal = f" · goal {row['goal']}: {'met' if row['meets'] else 'MISSED'}" if row.get("goal") else ""
    return f"{row['bench']} {row['case']}: {value}{peer}{goal} · {row['detail']}"


if __name__ == "__main__":
    sys.exit(until_nobody_reads(lambda: main(sys.argv[1:])))
