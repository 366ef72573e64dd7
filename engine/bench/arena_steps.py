"""Decisions/s that PPO with three policies learns from, one for each entity: FC(256, 128), batches of 8,192 of each
policy, one pass, two samplers. Only what was learned from counts, the decisions of all entities.

``rllib``, ``sample-factory``: cooperative navigation, in turns with the peer at its best number of environments.
Peers step the same compiled rules, one battle at a time, as their interfaces ask for; ours steps many battles in one
call. RLlib is its PPO, Sample Factory its APPO, which draws one of three policies for each entity and episode.
``limit``: PettingZoo's simple_spread, ours beside what this machine could do if nothing but stepping, inference and
learning took time.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

from engine.bench.peer import peer_python
from engine.bench.row import row
from engine.bench.training_speed import beside_limit, beside_peer, speed

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
        most, mine, said = beside_limit("spread", SPREAD, seconds, 1 if quick else 3)
        share = mine.steps_per_second / most.steps_per_second
        yield row(
            NAME, case, mine.steps_per_second, "steps/s", peer="limit", peer_value=most.steps_per_second,
            goal=f">= {LEAST} of the limit", meets=share >= LEAST, seeds=[1], detail=said,
        )  # fmt: skip
        return
    script, first, numbers = PEERS[case]
    try:
        python = peer_python(case)
    except subprocess.CalledProcessError as error:
        yield row(NAME, case, speed(STUDY, seconds).steps_per_second, "steps/s", peer=case,
                  detail=f"the peer could not be installed: {(error.stderr or '').strip()[-300:]}")  # fmt: skip
        return
    yield beside_peer(NAME, case, STUDY, [str(python), script, *first], numbers, GOAL, seconds, quick)
