"""Population based training, and self-play.

``pong``: vector Pong against its scripted player with the settings of Lamarckian's Table III, of which the learning
rate and the weight of the critic are left to a search, in the table's ranges. A population beside as many fixed
settings, drawn alike, with as many training steps; the score of each best member, and of the median one, on fresh
episodes. Both arms begin alike: the same seed draws the same settings, and the first round of both is the same
training. What each population reached is kept in ``var/bench/pbt``. One departure from the table: of every batch of
8,192 four passes in minibatches of 1,024 are made, 32 steps of the gradient as in the preset ``pong-ppo``. With the
table's one step a batch nobody learns anything in a million decisions, whatever its settings.

``circles``: rock, paper, scissors learned by self-play, against the latest version, any earlier one, or the hardest.
How far from a third of each choice the last version is, and how far the equilibrium of all versions (Nash averaging).
The equilibrium is near a third of any versions that went round: only the last version tells whether playing settled.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from engine.arrays import unpack
from engine.bench.kept import Kept
from engine.bench.peer import ROOT
from engine.bench.row import row
from engine.bench.styles import paired
from engine.columns import Arrays
from engine.config.evolve import EvolveConfig
from engine.config.self_play import SelfPlayConfig
from engine.config.study import study_hash
from engine.errors import EngineError
from engine.events import Finished
from engine.evorl.problem import example, played
from engine.games.rock_paper_scissors import PAYOFF, RockPaperScissors
from engine.mdp.trajectory import Batch
from engine.means import range_of
from engine.metagame.equilibrium import shares
from engine.rl.examine import examine
from engine.rl.policy import Policy
from engine.store import FolderStore
from engine.studies import load
from engine.study import run as run_study
from engine.study.evolve import apart

NAME = "pbt"
CASES = ("pong", "circles")
MEMBERS, NEVER, FRESH_SEED, EPISODES = 8, 10**6, 900_000, 200
TICKS, STEPS = 16, 65_536
LEARNER: dict[str, Any] = {"preset": "table3-vector-pong", "minibatch": 1024, "reuse": 4}
QUICK: dict[str, Any] = {
    "ticks": 2, "episodes": 4, "pool": {"kind": "local"},
    "task": {"game": {"name": "pong", "settings": {"points": 1}}, "learner": LEARNER, "environments": 64,
             "steps": 8192},
}  # fmt: skip
"""Changes for a rough figure: too short to learn anything."""
FOLDER = ROOT / "var" / "bench" / "pbt"
NEAR = 0.05
SOURCES = (
    "evorl", "games/rock_paper_scissors.py", "metagame", "rl", "study/evolve.py", "study/self_play.py",
    "bench/pbt.py",
)  # fmt: skip
"""What the strategies of rock, paper, scissors come from."""


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure the case."""
    yield from _pong(quick) if case == "pong" else _circles(quick)


class Scores(NamedTuple):
    """A population on fresh episodes: the scores of the member that its own search measured best, and everybody's
    mean."""

    best: np.ndarray
    means: np.ndarray


def _pong(quick: bool) -> Iterator[dict[str, Any]]:
    seeds = (1, 2) if quick else (1, 2, 3, 4, 5)
    found = {pbt: [_population(seed, pbt, quick) for seed in seeds] for pbt in (True, False)}
    for which in ("best", "median"):
        mine, theirs = (_values(found[pbt], which) for pbt in (True, False))
        low, mean, high = paired(mine - theirs)
        detail = f"difference {mean:+.3f} ({low:+.3f} to {high:+.3f} over {len(seeds)} seeds); "
        each = "; ".join(f"{a:.3f} − {b:.3f}" for a, b in zip(mine, theirs, strict=True))
        yield row(
            NAME, "pong", float(np.median(mine)), f"normalised score of the {which} member",
            peer=f"{which} of {MEMBERS} fixed settings", peer_value=float(np.median(theirs)), goal="difference > 0",
            meets=bool(low > 0), seeds=seeds, detail=detail + each + (_ends(found) if which == "best" else ""),
        )  # fmt: skip


def _values(found: Sequence[Scores], which: str) -> np.ndarray:
    return np.array([one.best.mean() if which == "best" else np.median(one.means) for one in found])


def _ends(found: dict[bool, list[Scores]]) -> str:
    """The 95 % range of each best one's score."""
    ranges = {pbt: [range_of(one.best, 0.0, 1.0) for one in every] for pbt, every in found.items()}
    return "".join(
        f"; {name} " + ", ".join(f"{ends.low:.2f} to {ends.high:.2f}" for ends in ranges[pbt])
        for pbt, name in ((True, "ranges of the best"), (False, "of the best fixed"))
    )


def _population(seed: int, pbt: bool, quick: bool) -> Scores:
    """Train one population; ``pbt``: members that lag copy others, otherwise each keeps its settings."""
    config = load(
        {
            "kind": "evolve", "seed": seed, "fresh": 0, "objectives": [{"measure": "score"}],
            "task": {"game": "pong", "learner": LEARNER, "environments": 64, "steps": STEPS},
            "ticks": TICKS, "episodes": 20, "pool": {"kind": "ray", "workers": 2},
            "algorithm": {"kind": "pbt", "population": MEMBERS, "ready": 1 if pbt else NEVER},
            **(QUICK if quick else {}),
        }
    )  # fmt: skip
    assert isinstance(config, EvolveConfig)
    kept = FOLDER / f"{study_hash(config)[:16]}.json"
    if quick or not kept.exists():
        found = _trained(config)
        if quick:
            return found
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps({"seed": seed, "pbt": pbt, **{k: v.tolist() for k, v in found._asdict().items()}}))
    saved = json.loads(kept.read_text())
    return Scores(np.array(saved["best"]), np.array(saved["means"]))


def _trained(config: EvolveConfig) -> Scores:
    with tempfile.TemporaryDirectory() as folder:
        store = FolderStore(folder)
        left = _finished(config, store).artifacts
        archive = unpack(store.get(left["archive"])).arrays
        policies = dict(apart(store.get(left["members"])))
    scores = {i: _again(config, policy) for i, policy in policies.items()}
    return Scores(scores[_leader(archive, list(scores))], np.array([score.mean() for score in scores.values()]))


def _leader(archive: Arrays, ids: Sequence[int]) -> int:
    """Whom the search itself measured best."""
    measured = dict(zip(archive["id"].tolist(), archive["objective"][:, 0].tolist(), strict=True))
    return max(ids, key=lambda i: measured[i])


def _again(config: EvolveConfig, policy: Policy) -> np.ndarray:
    """Scores of fresh episodes."""
    game = played(example(config.task), EPISODES)
    try:
        return examine({0: policy}, game, EPISODES, FRESH_SEED + config.seed)[0].score
    finally:
        game.close()


def _finished(config: Any, store: FolderStore) -> Finished:
    *_, last = run_study(config, store)
    if not isinstance(last, Finished):
        raise EngineError(f"The study did not finish: {last}")
    return last


def _circles(quick: bool) -> Iterator[dict[str, Any]]:
    seeds = (1,) if quick else (1, 2, 3, 4, 5)
    found = {
        choice: [_strategies(choice, seed, quick) for seed in seeds] for choice in ("latest", "uniform", "hardest")
    }
    last = {choice: [_away(versions[-1]) for versions in every] for choice, every in found.items()}
    turns = [int((np.diff(versions.argmax(axis=1)) != 0).sum()) for versions in found["latest"]]
    for choice, every in found.items():
        away = [_away(_averaged(versions)) for versions in every]
        yield row(
            NAME, "circles", median(away), f"from a third, at most: equilibrium of all versions ({choice})",
            peer="the last version alone", peer_value=median(last[choice]), goal=f"<= {NEAR}",
            meets=median(away) <= NEAR, seeds=seeds,
            detail=f"against the latest the favourite choice changed {', '.join(map(str, turns))} times; seed by seed "
            + ", ".join(f"{a:.3f} ({b:.3f})" for a, b in zip(away, last[choice], strict=True)),
        )  # fmt: skip


def _away(shares: np.ndarray) -> float:
    return float(np.abs(shares - 1 / 3).max())


def _averaged(versions: np.ndarray) -> np.ndarray:
    return np.asarray(shares(versions @ PAYOFF @ versions.T / 2) @ versions)


def _strategies(choice: str, seed: int, quick: bool) -> np.ndarray:
    """How often every version of the first member chooses each of the three, float64[rounds, 3]; kept in
    ``var/bench``."""
    settings = _circling(choice, 0, quick).model_dump(mode="json")
    kept = Kept(f"{NAME}-circles-{choice}", settings, SOURCES)
    return np.array(kept.result(seed, lambda: _played(_circling(choice, seed, quick))))


def _played(config: SelfPlayConfig) -> list[list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        store = FolderStore(folder)
        policies = dict(apart(store.get(_finished(config, store).artifacts["pool"])))
    return [_odds(policies[i]).tolist() for i in sorted(policies) if i % 2 == 0]


def _circling(choice: str, seed: int, quick: bool) -> SelfPlayConfig:
    learner = {
        "kind": "ppo", "fragment": 4, "batch": 1024, "minibatch": 256, "reuse": 4, "rate": [0.01, 0.02],
        "entropy_weight": 0.0, "network": {"policy": [8], "critic": [8]},
    }  # fmt: skip
    config = load(
        {
            "kind": "self-play", "seed": seed, "ticks": 16 if quick else 60, "episodes": 20, "fresh": 0,
            "task": {"game": "rock-paper-scissors", "learner": learner, "steps": 8192, "environments": 128},
            "opponents": {"choice": choice, "capacity": 500}, "algorithm": {"population": 2, "ready": NEVER},
            "pool": {"kind": "local"},
        }
    )  # fmt: skip
    assert isinstance(config, SelfPlayConfig)
    return config


def _odds(policy: Policy) -> np.ndarray:
    """The chances of its three choices."""
    seen = RockPaperScissors().reset(np.zeros(1, np.uint64)).observations[0]
    logits = policy.actor().numbers(Batch(seen, None, np.zeros(1, np.uint64)))[0].astype(np.float64)
    odds = np.exp(logits - logits.max())
    return np.asarray(odds / odds.sum())
