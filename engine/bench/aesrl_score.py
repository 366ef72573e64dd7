"""AES-RL's score: HalfCheetah-v5 and Walker2d-v5 at 300,000 counted decisions beside CEM-RL, TD3 and
Stable-Baselines3's TD3, with equal replays and networks; the interquartile mean of five seeds, with an interval by
bootstrap. About fifteen core-hours; what each seed reached is kept in ``var/bench``, and a run that was killed goes on
there. ``half-cheetah-large`` and ``walker-large``: one run of each with the papers' layers of (400, 300), whose curves
are kept, too. ``CEM-RL`` divides its variance by the elites, as its released code does; ``CEM-RL-as-printed`` does not.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import trim_mean

from engine.bench.kept import Kept, studied
from engine.bench.peer import measured, peer_python
from engine.bench.row import row
from engine.errors import EngineError
from engine.events import Progressed
from engine.job_folder import events_of
from engine.rng import generator
from engine.studies import load

NAME = "aesrl-score"
GAMES = {"half-cheetah": ("gym:HalfCheetah-v5", 12_000.0, 9.0), "walker": ("gym:Walker2d-v5", 5200.0, 22.0)}
"""By case the game, its spread of scores, and the paper's gain over CEM-RL at equal replays, in percent (table 6)."""
LARGE = "-large"
CASES = (*GAMES, *(f"{game}{LARGE}" for game in GAMES))
STEPS, SEEDS, KEPT = 300_000, range(1, 6), 200_000
QUICK = 12_000
"""Decisions of the quick form: more than chance plays first in rounds of ten."""
SMALL = {"policy": [64, 64], "critic": [64, 64]}
PAPERS = {"policy": [400, 300], "critic": [400, 300]}
SOURCES = (
    "evorl/aes.py", "evorl/aesrl.py", "evorl/cemrl.py", "evorl/erl.py",
    "evorl/individuals.py", "evorl/rollout.py", "evorl/shared_critic.py", "rl/critics.py", "rl/dense.py",
    "rl/heads.py", "rl/learner.py", "rl/networks.py", "rl/normalise.py", "rl/optimisers.py", "rl/policy.py",
    "rl/replay.py", "rl/replayed.py", "rl/sampler.py", "rl/shared_replay.py", "rl/small_layers.py", "rl/td3.py",
    "rl/training.py", "rl/twin.py", "study/aesrl.py",
)  # fmt: skip
"""What decides what a seed reaches, beside all settings of its study."""
PEER = "TD3 of Stable-Baselines3"
_PEER_S = 12 * 3600.0
_DRAWS = 10_000


def reached(settings: dict[str, Any], seed: int, own: Path) -> dict[str, Any]:
    """A run to its end, or on from where it was killed, in a folder of its ``own``, which is then removed: the mean
    score of its last evaluation, the seconds it took, and its ``curve``: decisions and score of each evaluation."""
    end, _ = studied(own, load({**settings, "seed": seed}), own / "store")
    curve = {
        event.counters.steps: event.metrics["evaluation_return"]
        for event in events_of(own)
        if isinstance(event, Progressed) and "evaluation_return" in event.metrics
    }
    shutil.rmtree(own)
    return {"score": end.summary["evaluation_return"], "seconds": end.counters.seconds, "curve": [*curve.items()]}


def whole(settings: dict[str, Any]) -> dict[str, Any]:
    """All settings of a study but its seed, those too that nobody has set."""
    return load(settings).model_dump(mode="json", exclude={"seed"})


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    yield from _large(case.removesuffix(LARGE), quick) if case.endswith(LARGE) else _beside(case, quick)


def _large(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """One run of each with the papers' layers."""
    game, spread, _ = GAMES[case]
    for name, settings in arms(game, spread, QUICK if quick else STEPS, PAPERS, evaluate_every=1).items():
        kept = Kept(f"aesrl-score-{case}{LARGE}-{name}", whole(settings), SOURCES)
        found = kept.result(1, partial(reached, settings, 1, kept.folder(1)))
        points = ", ".join(f"{score:.0f} at {steps:,}" for steps, score in found["curve"])
        yield row(NAME, f"{case}{LARGE} {name}", found["score"], "return on fresh episodes", seeds=[1], detail=points)


def _beside(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    game, spread, gain = GAMES[case]
    steps, seeds = (QUICK, range(1, 2)) if quick else (STEPS, SEEDS)
    scores = {}
    for name, settings in arms(game, spread, steps, SMALL, evaluate_every=0).items():
        kept = Kept(f"aesrl-score-{case}-{name}", whole(settings), SOURCES)
        scores[name] = [
            kept.result(seed, partial(reached, settings, seed, kept.folder(seed)))["score"] for seed in seeds
        ]
    peers, trouble = _peers(case, game, steps, seeds)
    scores |= {PEER: peers} if peers else {}
    if trouble:
        print(f"{PEER}: {trouble}", file=sys.stderr)
    peer = quartiles(scores["CEM-RL"])
    for name, found in scores.items():
        low, high = interval(found)
        mean, said = quartiles(found), ", ".join(f"{x:.0f}" for x in found)
        detail = f"95 % interval {low:.0f} to {high:.0f}; {said}; {steps:,} decisions, networks of (64, 64)"
        mark = peer + abs(peer) * gain / 100
        wanted: dict[str, Any] = {"goal": f">= {mark:.0f} (+{gain:.0f} %)", "meets": mean >= mark}
        goal = wanted if name == "AES-RL" else {}
        less, more = interval(found, scores["CEM-RL"])
        detail += f"; {less:+.0f} to {more:+.0f} % beside CEM-RL" if name != "CEM-RL" else ""
        yield row(NAME, f"{case} {name}", mean, "interquartile mean of returns", peer="CEM-RL", peer_value=peer,
                  seeds=seeds, detail=detail, **goal)  # fmt: skip


def _peers(case: str, game: str, steps: int, seeds: Sequence[int]) -> tuple[list[float], str]:
    """What Stable-Baselines3's TD3 reaches with each seed; none, and why, where it cannot be had."""
    numbers = [steps, _warmup(steps), KEPT]
    kept = Kept(f"aesrl-score-{case}-sb3", {"numbers": numbers}, ("bench/peers/sb3_twin.py",))

    def measure(seed: int) -> dict[str, Any]:
        arguments = ["train", game.removeprefix("gym:"), *map(str, [*numbers, seed])]
        found = measured(peer_python("sb3"), "sb3_twin.py", arguments, _PEER_S)
        if "error" in found:
            raise EngineError(found["error"])
        return found

    try:
        return [kept.result(seed, partial(measure, seed))["score"] for seed in seeds], ""
    except (EngineError, subprocess.CalledProcessError) as error:
        return [], str(getattr(error, "stderr", "") or error)[-300:]


def _warmup(steps: int) -> int:
    return min(10_000, steps // 4)


def arms(
    game: str, spread: float, steps: int, network: dict[str, Any], evaluate_every: int
) -> dict[str, dict[str, Any]]:
    shared = {"game": game, "steps": steps, "episodes": 10, "evaluate_every": evaluate_every}
    learner = {"capacity": KEPT, "warmup": _warmup(steps), "network": network}
    together = {"kind": "aes-rl", "spread": spread, "learner": learner, "pool": {"kind": "ray", "workers": 2}, **shared}
    return {
        "AES-RL": {**together, "method": {"kind": "aes-rl"}},
        "CEM-RL": {**together, "method": {"kind": "cem-rl"}},
        "CEM-RL-as-printed": {**together, "method": {"kind": "cem-rl", "narrow": False}},
        "TD3": {"kind": "train", "learner": {"kind": "td3", **learner}, "samplers": 1, "environments": 1, **shared,
                "pool": {"kind": "local"}},
    }  # fmt: skip


def quartiles(scores: Sequence[float]) -> float:
    """The interquartile mean; of five scores, that of the middle three."""
    return float(trim_mean(scores, 0.25))


def interval(scores: Sequence[float], beside: Sequence[float] = ()) -> tuple[float, float]:
    """The 95 % interval by bootstrap of that mean, or of how many percent it lies above the mean of those ``beside``,
    which is drawn anew, too."""
    rng = generator(1, "bootstrap")
    drawn = [_drawn(np.array(each), rng) for each in (scores, beside) if each]
    found = 100 * (drawn[0] - drawn[1]) / np.abs(drawn[1]) if beside else drawn[0]
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


def _drawn(scores: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """The means of samples that are drawn from these with replacement."""
    samples = scores[rng.integers(len(scores), size=(_DRAWS, len(scores)))]
    return np.asarray(trim_mean(samples, 0.25, axis=1))
