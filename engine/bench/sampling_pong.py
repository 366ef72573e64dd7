"""Environment steps/s that a learner consumes on image Pong: ALE, four pictures of 84 × 84, four moments a decision,
four convolutions of kernel 4 and stride 2 and a layer of 256, batches of 8,192, one pass. Ours makes one optimiser step
a batch, whose gradient is added up in parts; the limit and the peers make one for each minibatch of 256.

``limit``: ours beside what this machine could do if nothing but stepping, inference and learning took time.
``rllib``: RLlib's PPO with two runners, the best of several numbers of environments a runner. ``sample-factory``: its
APPO with two workers, the best of several numbers of environments a worker, with the same convolutions as a custom
encoder. Peers make the game by Gymnasium with its Atari wrappers, as their manuals say; ours is ALE's vector
environment, which does the same preprocessing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.bench.training_speed import beside_peer, limit_row

NAME = "sampling-pong"
CASES = ("limit", "rllib", "sample-factory")
PEERS = {"rllib": ("rllib_ppo.py", (4, 16, 32)), "sample-factory": ("sample_factory_appo.py", (8, 16, 32))}
GOALS = {"rllib": 3.0, "sample-factory": 1.0}
LEAST = 0.8
STUDY: dict[str, Any] = {
    "game": "ale:pong", "sampling": "asynchronous", "samplers": 2, "environments": 16, "max_staleness": 4,
    "threads": 2, "checkpoint_every": 1,
    "learner": {"preset": "table3-image-pong", "fragment": 32, "minibatch": 0},
}  # fmt: skip


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case; ``quick``: smaller batches, and peers only for seconds."""
    study = study_of(quick)
    seconds = 5.0 if quick else 80.0
    if case == "limit":
        yield limit_row(NAME, "pong", study, seconds, 1 if quick else 3, LEAST)
    else:
        script, numbers = PEERS[case]
        yield beside_peer(NAME, case, study, [case, script, "pong"], numbers, GOALS[case], seconds, quick)


def study_of(quick: bool) -> dict[str, Any]:
    """The study, with smaller batches when quick."""
    learner = {**STUDY["learner"], **({"batch": 1024} if quick else {})}
    return {**STUDY, "learner": learner}
