"""Three PPO policies of which the best goes on in place of the others, beside one on all environments (Staley et al.
2021, appendix A.1.1), in Pong with numbers against the scripted player.

Nine environments: three for each policy, and 20 lessons of 250,000 decisions of all three, after each of which the best
by the mean of its last 100 episodes replaces the others; or all nine for one policy, as long. Five seeds: what the
best, or the one, scores in 400 fresh episodes at the end (as the game tells it, 0 to 1), and the difference with the
interval of Student's t. The paper reports two of three runs that converge earlier, and claims no gain in the
end. What each training gives is kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import mean, stdev
from typing import Any

from scipy.stats import t as student

from engine.bench import kept
from engine.bench.row import row
from engine.bench.sources import PPO_COURSES
from engine.config.arena import ArenaConfig
from engine.config.study import study_hash
from engine.events import Finished
from engine.means import range_of
from engine.rl.examine import examine
from engine.rl.policy import Policy
from engine.simulators import references
from engine.store import FolderStore
from engine.studies import load

NAME = "arena-evolution"
SOURCES = (*PPO_COURSES, "bench/arena_evolution.py", "games/pong")
CASES = ("pong",)
SEEDS, LESSONS, STEPS, EPISODES = (1, 2, 3, 4, 5), 20, 250_000, 400
AMONG = ("first", "second", "third")
ENVIRONMENTS = 9
_UNSEEN = 1_000_000  # the first seed of these episodes: none of training is among them


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure the case."""
    seeds = SEEDS[:2] if quick else SEEDS
    three, one = ([scored(seed, several=several, quick=quick) for seed in seeds] for several in (True, False))
    apart = [a["score"] - b["score"] for a, b in zip(three, one, strict=True)]
    half = float(student.ppf(0.975, len(apart) - 1)) * stdev(apart) / math.sqrt(len(apart))
    by_seed = "; ".join(f"seed {seed}: {_said(a)} and {_said(b)}" for seed, a, b in zip(seeds, three, one, strict=True))
    detail = f"difference {mean(apart):.3f} ({mean(apart) - half:.3f} to {mean(apart) + half:.3f}); {by_seed}"
    yield row(NAME, case, mean(a["score"] for a in three), "score", peer="one policy",
              peer_value=mean(b["score"] for b in one), seeds=seeds, detail=detail)  # fmt: skip


def scored(seed: int, *, several: bool, quick: bool) -> dict[str, float]:
    """The mean ``score`` of the best policy at the end with its range, ``low`` and ``high``, and the ``seconds`` of
    processor time that the training took; measured now if it is not kept."""
    config = course(seed, several=several, quick=quick)
    settings = config.model_dump(mode="json", exclude={"seed"})
    found: dict[str, float] = kept.Kept(f"{NAME}-{config.name}", settings, SOURCES).result(seed, lambda: _score(config))
    return found


def _said(found: dict[str, float]) -> str:
    ends = f"{found['low']:.3f} to {found['high']:.3f}"
    return f"{found['score']:.3f} ({ends}; {found['seconds'] / 3600:.2f} h)"


def course(seed: int, *, several: bool, quick: bool = False) -> ArenaConfig:
    """Three policies with three environments each, or one with nine."""
    names = AMONG if several else AMONG[:1]
    after = {"best": {"among": list(AMONG), "measure": "return", "of": 100}} if several else {}
    lesson = {"matches": [[name] for name in names], "steps": STEPS // 50 if quick else STEPS, "times": LESSONS,
              "after": after}  # fmt: skip
    config = load({
        "kind": "arena", "name": "three" if several else "one", "seed": seed, "game": "pong", "learner": LEARNER,
        "roster": {name: {} for name in names}, "lessons": [lesson], "environments": ENVIRONMENTS // len(names),
        "fragment": 128, "pool": {"kind": "local"},
    })  # fmt: skip
    assert isinstance(config, ArenaConfig)
    return config


LEARNER: dict[str, Any] = {
    "kind": "ppo", "batch": 1024, "minibatch": 256, "reuse": 4, "rate": 1e-3, "schedule": "linear",
    "entropy_weight": 0.003, "max_gradient": 0.5,
}  # fmt: skip


def _score(config: ArenaConfig) -> dict[str, float]:
    home = kept.folder(NAME)
    own = home / f"{config.name}-{study_hash(config)[:12]}"
    end, seconds = kept.studied(own, config, home / "store")
    policy = Policy.stored(FolderStore(home / "store"), end.artifacts[_role(end)])
    found = examine({0: policy}, references.make(config.game, EPISODES), EPISODES, config.seed, first=_UNSEEN)[0]
    ends = range_of(found.score, 0.0, 1.0)
    return {"score": float(found.score.mean()), "low": ends.low, "high": ends.high, "seconds": seconds}


def _role(end: Finished) -> str:
    """After the last lesson all are the best one."""
    return next(role for role in end.artifacts if role in ("policy_description", f"policy_description/{AMONG[0]}"))
