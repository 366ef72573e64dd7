"""Tanks with a penalty that grows lesson by lesson, beside the whole penalty from the beginning, for
``engine.bench.arena_tanks`` (Staley et al. 2021, section 5.1).

One PPO plays five tanks against four opponents at once: who stands still, who acts at random, and two PPO that were
trained before, anew for each seed, and play as they are: *aggressive* learned with penalty 0 against a script that
attacks and one that stands still, *passive* learned only not to be hurt and not to hurt friends (reward 0, penalty 1)
against the one that attacks. The paper says neither how its own were trained nor how much.

Four million decisions of its tanks: in seven lessons with penalties 0, 0.05, …, 0.3, or all with 0.3. The learning rate
stays: falling over all lessons, it would leave the last ones, which alone have the whole penalty, next to nothing.
Both policies are judged at 0.3 on the same 1,000 fresh episodes, a quarter against each opponent, who draws its actions
as in training. So do the policies, as what they fire at is in part chance; beside it, what their likeliest actions
give. What a seed gives is kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.bench import kept
from engine.bench.sources import PPO_COURSES
from engine.config.arena import ArenaConfig
from engine.config.study import study_hash
from engine.games.tanks import Tanks
from engine.games.tanks.kernel import SQUAD
from engine.games.tanks.scripts import Static
from engine.means import range_of
from engine.rl.cast import Candidate, Cast
from engine.rl.examine import examine
from engine.rl.players import RandomPlayer
from engine.rl.policy import Policy
from engine.rl.seats import Player
from engine.store import FolderStore
from engine.studies import load

NAME = "arena-penalty"
SOURCES = (*PPO_COURSES, "bench/arena_penalty.py", "games/tanks")
STEPS, BEFORE, EPISODES = 4_000_000, 1_000_000, 1000
PENALTIES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
ARMS = ("staged", "constant")
MEASURES = ("score", "wins", "friendly", "neutral")
BY = {"": True, ", likeliest actions": False}
"""Whether actions are drawn, by what comes behind a measure's name."""
NAMES = tuple(name + by for by in BY for name in MEASURES)
PPO: dict[str, Any] = {
    "kind": "ppo", "batch": 16_384, "minibatch": 1024, "reuse": 4, "rate": 5e-4, "schedule": "constant", "clip": 0.2,
    "entropy_weight": 0.003, "max_gradient": 0.5, "network": {"policy": [128, 128], "critic": [128, 128]},
}  # fmt: skip
_UNSEEN = 1_000_000  # the first seed of these episodes: none of training is among them
_LEAST, _MOST = -10.0, 10.0  # a tank's reward in an episode lies between these
Floats = NDArray[np.float64]


class Judged(NamedTuple):
    """A number's mean over the episodes, with its 95 % range."""

    mean: float
    low: float
    high: float


def measured(seed: int, quick: bool) -> dict[str, dict[str, Judged]]:
    """By arm, what each number of ``NAMES`` is over all episodes."""
    share, nobody = 0.02 if quick else 1.0, {"aggressive": "0" * 64, "passive": "0" * 64}
    courses = [_course(arm, 1, share, nobody) for arm in ARMS] + [_before(name, 1, share) for name in nobody]
    settings = {course.name: course.model_dump(mode="json") for course in courses}
    found = kept.Kept(f"{NAME}{'-quick' * quick}", settings, SOURCES).result(seed, lambda: _measured(seed, share))
    return {arm: {name: Judged(*ends) for name, ends in one.items()} for arm, one in found.items()}


def _measured(seed: int, share: float) -> dict[str, dict[str, Judged]]:
    home = kept.folder(NAME)
    store = FolderStore(home / "store")
    others = {name: _trained(home, _before(name, seed, share), store) for name in ("aggressive", "passive")}
    players = {name: Policy.stored(store, digest) for name, digest in others.items()}
    found = {}
    for arm in ARMS:
        learned = Policy.stored(store, _trained(home, _course(arm, seed, share, others), store))
        many = EPISODES if share == 1.0 else EPISODES // 10
        found[arm] = {
            name + by: _over(name, values)
            for by, explore in BY.items()
            for name, values in _judged(learned, players, seed, many, explore=explore).items()
        }
    return found


def difference(found: dict[str, dict[str, Judged]]) -> dict[str, float]:
    """Staged − constant of each number."""
    return {name: found["staged"][name].mean - found["constant"][name].mean for name in NAMES}


def said(seed: int, found: dict[str, dict[str, Judged]]) -> str:
    """Both arms in words."""
    arms = (
        f"{arm} " + ", ".join(f"{name} {x.mean:.3f} ({x.low:.3f} to {x.high:.3f})" for name, x in one.items())
        for arm, one in found.items()
    )
    return f"seed {seed}: {'; '.join(arms)}"


def _over(name: str, values: Floats) -> Judged:
    low, high = (_LEAST, _MOST) if name == "score" else (0.0, 1.0)
    ends = range_of(values, low, high)
    return Judged(float(values.mean()), ends.low, ends.high)


def _trained(home: Path, config: ArenaConfig, store: FolderStore) -> str:
    """The store hash of the description of what the one policy of a course became."""
    own = home / f"{config.name}-{study_hash(config)[:12]}"
    end, _ = kept.studied(own, config, home / "store")
    return end.artifacts["policy_description"]


def _study(name: str, seed: int, roster: dict[str, Any], lessons: list[dict[str, Any]]) -> ArenaConfig:
    game = {"name": "tanks-two-teams", "settings": {"frame_skip": 6, "max_ticks": 84}}
    more = {"environments": 8, "fragment": 42, "threads": 1, "pool": {"kind": "local"}}
    config = load({"kind": "arena", "name": name, "seed": seed, "game": game, "learner": PPO, "roster": roster,
                   "lessons": lessons, **more})  # fmt: skip
    assert isinstance(config, ArenaConfig)
    return config


def _against(*others: str) -> list[list[str]]:
    return [["pupil"] * SQUAD + [other] * SQUAD for other in others]


def _before(name: str, seed: int, share: float) -> ArenaConfig:
    """How an opponent is trained."""
    roster: dict[str, Any] = {"pupil": {}, "attacks": "tanks-aggressive"}
    settings = {"penalty": 1.0, "reward": 0.0}
    if name == "aggressive":
        roster |= {"still": "tanks-static"}
        settings = {"penalty": 0.0, "reward": 1.0}
    lesson = {"matches": _against(*list(roster)[1:]), "steps": int(share * BEFORE), "settings": settings}
    return _study(name, seed, roster, [lesson])


def _course(arm: str, seed: int, share: float, others: dict[str, str]) -> ArenaConfig:
    roster: dict[str, Any] = {"pupil": {}, "static": "tanks-static", "random": "random"}
    roster |= {name: {"kind": "frozen", "policy": digest} for name, digest in others.items()}
    matches, each = _against(*list(roster)[1:]), int(share * STEPS) // len(PENALTIES)
    penalties = PENALTIES if arm == "staged" else PENALTIES[-1:] * len(PENALTIES)
    lessons = [{"matches": matches, "steps": each, "settings": {"penalty": penalty}} for penalty in penalties]
    return _study(arm, seed, roster, lessons)


def _judged(
    policy: Policy, trained: dict[str, Policy], seed: int, episodes: int, *, explore: bool
) -> dict[str, Floats]:
    """Each number of ``MEASURES`` of every episode at the last penalty."""
    game = Tanks(sides=(0, 1), penalty=PENALTIES[-1])
    seat, whole = game.spec.seats[0], dict[str, list[Floats]]()
    players: dict[str, Player] = {"static": Static(seat), "random": RandomPlayer(seat)}
    players |= {name: one.actor(explore=True) for name, one in trained.items()}
    for i, player in enumerate(players.values()):
        each = episodes // len(players)

        def seated(_: str, player: Player = player) -> Player:
            return player

        cast = Cast([[Candidate("other", learns=True)]] * (2 * SQUAD))
        found = examine(dict.fromkeys(range(SQUAD), policy), game, each, seed, cast=cast, first=_UNSEEN + i * each,
                        players=seated, explore=explore)  # fmt: skip
        first, names = found[0], seat.signals
        numbers = {
            "score": np.mean([found[k].returns[:, 0] for k in range(SQUAD)], axis=0), "wins": first.win,
            "friendly": first.signals[:, names.index("friendly")], "neutral": first.signals[:, names.index("neutral")],
        }  # fmt: skip
        for name, values in numbers.items():
            whole.setdefault(name, []).append(values)
    return {name: np.concatenate(parts) for name, parts in whole.items()}
