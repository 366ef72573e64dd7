"""Decisions/s that PPO with three policies learns from, one for each entity: FC(256, 128), batches of 8,192 of each
policy, one pass, two samplers. Only what was learned from counts, the decisions of all entities.

``rllib``, ``sample-factory``: cooperative navigation, in turns with the peer at its best number of environments.
Peers step the same compiled rules, one battle at a time, as their interfaces ask for; ours steps many battles in one
call. RLlib is its PPO, Sample Factory its APPO, which draws one of three policies for each entity and episode.
``limit``: PettingZoo's simple_spread, ours beside what this machine could do if nothing but stepping, inference and
learning took time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.bench.training_speed import beside_peer, limit_row

NAME = "arena-steps"
CASES = ("limit", "rllib", "sample-factory")
PEERS = {
    "rllib": ("rllib_navigation.py", [], (4, 16, 64)),
    "sample-factory": ("sample_factory_appo.py", ["navigation"], (32, 128, 512)),
}  # fmt: skip
GOAL, LEAST = 5.0, 0.8
STUDY: dict[str, Any] = {
    "game": "navigation", "sampling": "asynchronous", "samplers": 2, "environments": 128, "max_staleness": 2,
    "policies": {"first": {"seats": [0]}, "second": {"seats": [1]}, "third": {"seats": [2]}},
    "learner": {"kind": "ppo", "fragment": 16, "batch": 8192, "network": {"policy": [256, 128], "critic": [256, 128]}},
    "checkpoint_every": 327_680,
}  # fmt: skip
SPREAD = {**STUDY, "game": "python:mpe2.simple_spread_v3:parallel_env", "environments": 256, "checkpoint_every": 49_152}


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case; ``quick``: seconds, and peers only at one number of environments."""
    seconds = 5.0 if quick else 40.0
    if case == "limit":
        yield limit_row(NAME, "spread", SPREAD, seconds, 1 if quick else 3, LEAST)
    else:
        script, first, numbers = PEERS[case]
        yield beside_peer(NAME, case, STUDY, [case, script, *first], numbers, GOAL, seconds, quick)
