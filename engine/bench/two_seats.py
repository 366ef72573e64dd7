"""Both sides of Pong learn, one policy each, from the same battles: ``bench/studies/two-seats.yaml``.

``better``: in how many of 400 fresh battles each side's last policy beats what it was after a quarter of its rounds,
which sits on the other side (Pong looks the same from both); the worse of the two sides. Both act as they do where they
are evaluated, without exploring. ``speed``: decisions a second of the whole study, beside those of one policy that
learns on the only seat against the scripted player, with the same learner, samplers and battles.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import yaml

from engine.bench.row import row
from engine.config import TrainConfig
from engine.errors import EngineError
from engine.events import Finished, Progressed
from engine.rl.cast import Candidate, Cast
from engine.rl.examine import examine
from engine.rl.policy import Policy
from engine.simulators import references
from engine.store import FolderStore, Store
from engine.studies import load
from engine.study import run as run_study

NAME = "two-seats"
CASES = ("better", "speed")
STUDY = Path(__file__).parent / "studies" / "two-seats.yaml"
EPISODES, LEAST, SPEED = 400, 0.6, 0.8
_UNSEEN = 1_000_000  # the first seed of these battles: none of training or its evaluations is among them
Policies = dict[str, Policy]


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    yield _better(quick) if case == "better" else _speed(quick)


def _better(quick: bool) -> dict[str, Any]:
    seeds, shares, by_seed = (1,) if quick else (1, 2, 3), [], []
    for seed in seeds:
        config = _study(both=True, seed=seed, steps=800_000 if quick else 8_000_000)
        with tempfile.TemporaryDirectory() as folder:
            store = FolderStore(Path(folder))
            quarter, last = _policies(config, store)
        found = {name: _share(config, last[name], quarter[name], seat) for seat, name in enumerate(config.policies)}
        shares.append(min(found.values()))
        by_seed.append(f"{seed}: " + ", ".join(f"{name} {share:.3f}" for name, share in found.items()))
    return row(NAME, "better", median(shares), "of the battles won by the worse side", goal=f">= {LEAST}",
               meets=median(shares) >= LEAST, seeds=seeds, detail="by seed " + "; ".join(by_seed))  # fmt: skip


def _speed(quick: bool) -> dict[str, Any]:
    seeds, steps = (1,) if quick else (1, 2, 3), 800_000 if quick else 4_000_000
    rates = [[_rate(_study(both=both, seed=seed, steps=steps)) for both in (True, False)] for seed in seeds]
    two, one = (median(rate) for rate in zip(*rates, strict=True))
    shares = ", ".join(f"{a / b:.2f}" for a, b in rates)
    return row(NAME, "speed", two, "decisions a second", peer="one seat learns", peer_value=one,
               goal=f"ratio >= {SPEED}", meets=two / one >= SPEED, seeds=seeds, detail=f"turns {shares}")  # fmt: skip


def _study(*, both: bool, seed: int, steps: int) -> TrainConfig:
    """The study of the file; or the same with the game's own player on the other side."""
    plain = yaml.safe_load(STUDY.read_text(encoding="utf-8")) | {"seed": seed, "steps": steps}
    if not both:
        plain["game"]["name"] = "pong"
        del plain["policies"]
    config = load(plain)
    assert isinstance(config, TrainConfig)
    return config


def _policies(config: TrainConfig, store: Store) -> tuple[Policies, Policies]:
    """What each side was after a quarter of the rounds, and at the end."""
    rounds = [event for event in run_study(config, store) if isinstance(event, Progressed)]
    if not rounds:
        raise EngineError("The training ended before its first round was complete")
    return _stored(config, store, rounds[len(rounds) // 4]), _stored(config, store, rounds[-1])


def _stored(config: TrainConfig, store: Store, of: Progressed) -> Policies:
    return {name: Policy.stored(store, of.artifacts[f"policy_description/{name}"]) for name in config.policies}


def _share(config: TrainConfig, last: Policy, quarter: Policy, seat: int) -> float:
    """Of how many battles the last one wins on its seat; a draw counts half."""
    game = references.make(config.game, EPISODES)
    seats = [[Candidate("last", learns=True)] if i == seat else [Candidate("quarter")] for i in range(config.seats)]
    actor = quarter.actor(False)
    found = examine({seat: last}, game, EPISODES, config.seed, cast=Cast(seats), players=lambda name: actor,
                    first=_UNSEEN)  # fmt: skip
    return float(found[seat].win.mean())


def _rate(config: TrainConfig) -> float:
    """Decisions that were learned from, a second."""
    with tempfile.TemporaryDirectory() as folder:
        *_, last = run_study(config, FolderStore(Path(folder)))
    if not isinstance(last, Finished):
        raise EngineError(f"The training did not finish: {last}")
    return float(last.summary["steps_per_second"])
