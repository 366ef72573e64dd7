"""Half-field offence learned from easier starts (DPCER: Li and Ji 2021, section 5): the two of DPCER beside the paper's
baselines, with equal networks (256, 128, 64), minibatches of 32, replay ratio and exploration, and the sparse reward.

``alone``: without a keeper, 400,000 minibatches, three seeds a method. ``goalkeeper``: with one, 1,000,000; of DBC and
DRC one seed. ``shaped``: the hard start alone with the paper's shaped reward (equation 6), MP-DQN and PA-DDPG, 400,000.
The value is the share of goals from the hard start in 1,000 fresh episodes of each seed; beside it the scripted
attacker in 20,000: of fewer its own range would reach beyond the mark. A method's range is over its seeds: the 95 %
interval of Student's t of their shares, which are taken to differ at least by the chance of 1,000 episodes; one seed
has none. The episodes of one seed are one agent's: pooled, they would say how good these agents are, not how good the
method is. Marks: both of DPCER above the script and above DB, no ranges that meet. Published: 0.995 in 68 steps, 0.985
in 89. Each row says in how many steps goals were scored, and after how many minibatches each start was surely mastered,
its whole range of success at 0.9 or above (in an evaluation of 400 episodes: 379 of them; −1: never). ``alone`` also
has a row on difficulty: each start's distance from the goal beside the minibatches until 0.9 was reached, more than a
least and at most a largest number, and whether the order of both is the same.

Settings were chosen by what EXP3 reached with seed 1, and all starts equally often with 21 and 22, for all methods
alike; so these seeds are not among those here. Each start has a replay with room for 500,000 decisions, as published,
so DB has a quarter of the others' room. An easier start's episode is cut off when the ball lies out of reach for 10, 20
or 40 decisions, not 100: who acts by chance soon loses it, and from the easiest start has it in reach in 0.06 of all
decisions with 100, in 0.30 with 10. A cut is no end: what is foreseen counts. A stage of DBC and DRC is passed at 0.8,
for chance still decides one in twenty decisions of those who play it. ``shaped`` has the settings that Bester et al.
(2019) published for each of its learners; the paper's figures for these are of 2,000,000 and 3,000,000 minibatches.

There are three actions, as in Bester et al. (2019) and in the script: of the paper's four the tackle is left out.
Whoever tackles does nothing for the nine cycles after it: of decisions by chance nearly seven in ten would do nothing,
and little is learned.

What each seed gives is kept with its rounds, from which Figures 3 to 8 are drawn (``engine.bench.half_field_figures``).
A run that was killed goes on with the next call. ``--quick``: EXP3 and DB, 400 minibatches, which teach nothing.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from engine.bench.half_field import played
from engine.bench.half_field_figures import Rounds, draw, rounds
from engine.bench.kept import FOLDER, Kept, ended, folder
from engine.bench.row import row
from engine.bench.sources import STARTS
from engine.catalog import GAMES, PLAYERS
from engine.confidence import Range
from engine.config.agent_games import HalfFieldSettings
from engine.config.starts import StartsConfig
from engine.config.study import study_hash
from engine.events import Finished
from engine.games.half_field.field import LENGTH, WIDTH
from engine.indicators import half_width
from engine.job_folder import last_events
from engine.means import range_of
from engine.rl.policy import Policy
from engine.rng import generator
from engine.store import FolderStore
from engine.studies import load

NAME = "half-field-starts"
CASES = ("alone", "goalkeeper", "shaped")
TASKS: tuple[dict[str, Any], ...] = (
    {"name": "at the goal", "settings": {
        "ball_x_min": 0.8, "ball_x_max": 0.9, "ball_y_min": -0.15, "ball_y_max": 0.15, "apart": 0.0, "untouched": 10}},
    {"name": "near", "settings": {
        "ball_x_min": 0.6, "ball_x_max": 0.9, "ball_y_min": -0.4, "ball_y_max": 0.4, "apart": 0.1, "untouched": 20}},
    {"name": "halfway", "settings": {
        "ball_x_min": 0.2, "ball_x_max": 0.8, "ball_y_min": -0.6, "ball_y_max": 0.6, "apart": 0.4, "untouched": 40}},
    {"name": "as usual", "hard": True},
)  # fmt: skip
PUBLISHED = {
    ("alone", "exp3"): (0.995, 68), ("goalkeeper", "exp3"): (0.985, 89),
    ("shaped", "mpdqn"): (0.913, 99), ("shaped", "paddpg"): (0.923, 112),
}  # fmt: skip
"""The share of goals and the steps to a goal that the paper has, by case and method (its tables 1 and 2)."""
ALL = ("exp3", "uniform", "db", "dbc", "drc")
SEEDS, FRESH, SCRIPTED = (11, 12, 13), 1000, 20_000
BAR = 0.8
"""Success from which the next stage of DBC and DRC begins."""
ROOM = 500_000
"""Decisions of a replay: the preset's fifth is easier on disks, which keep all of them at every round."""
_AS_PUBLISHED = {"schedule": "constant", "fragment": 500, "explore": 0.05, "epsilon": 0.1}
PUBLISHED_SETTINGS = {
    "mpdqn": {**_AS_PUBLISHED, "numbers_rate": 1e-5}, "paddpg": {**_AS_PUBLISHED, "numbers_rate": 1e-3},
}  # fmt: skip
"""What the published code has otherwise, its returns up to an episode's end among it. PA-DDPG's actor, which also makes
the choice, learns as fast as its critic."""
SOURCES = (
    *STARTS, "bench/half_field.py", "bench/half_field_starts.py", "games/chance.py", "games/half_field",
    "games/one_seat.py",
)  # fmt: skip


class FromHardStart(NamedTuple):
    """What a study's agent does from the hard start: ``wins`` float64[n], ``steps`` of those; and after how many
    minibatches each start, the easiest first, was ``mastered``: surely so many, and more than ``perhaps`` (−1:
    never)."""

    wins: np.ndarray
    steps: np.ndarray
    perhaps: list[int]
    mastered: list[int]


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case: a row for each method."""
    plan = planned(case)
    if quick:
        plan = {method: seeds[:1] for method, seeds in plan.items() if method in ("exp3", "db", "mpdqn")}
    studies = {method: [kept(case, method, seed, quick) for seed in seeds] for method, seeds in plan.items()}
    if case != "shaped":
        into = FOLDER / f"{NAME}-figures" / ("quick" if quick else "whole") / case
        seen = [each for studied in studies.values() for _, each in studied]
        print(*draw(case, seen, [task["name"] for task in TASKS], into), sep="\n", file=sys.stderr)
    script = _script(case, 100 if quick else SCRIPTED)
    found = {method: [one for one, _ in studied] for method, studied in studies.items()}
    for method, each in found.items():
        yield _row(case, method, each, script, found.get("db", []))
    if case == "alone":
        yield _difficulty([one for method in ("exp3", "uniform") for one in found.get(method, [])])


def planned(case: str) -> dict[str, tuple[int, ...]]:
    """The seeds of each method."""
    if case == "shaped":
        return {"mpdqn": SEEDS, "paddpg": SEEDS}
    return {method: SEEDS[:1] if case == "goalkeeper" and method in ("dbc", "drc") else SEEDS for method in ALL}


def config(case: str, method: str, seed: int, quick: bool) -> StartsConfig:
    """The study of a method and seed. Raises ConfigError."""
    shaped = case == "shaped"
    iterations = 400 if quick else 1_000_000 if case == "goalkeeper" else 400_000
    game = {"name": _game(case), "settings": {"rewards": ["shaped" if shaped else "score"]}}
    learner = {"preset": f"half-field-{method if shaped else 'mpdqn'}", "capacity": ROOM}
    made = load({
        "kind": "starts", "name": f"{case} {method}", "seed": seed, "game": game, "tasks": TASKS,
        "scheduler": {"kind": "db" if shaped else method} | ({"bar": BAR} if method in ("dbc", "drc") else {}),
        "iterations": iterations, "sampling": "asynchronous",
        "learner": learner | (PUBLISHED_SETTINGS[method] if shaped else {}),
        "episodes": 20 if quick else 400, "evaluate_every": 1, "pool": {"kind": "local"},
    })  # fmt: skip
    assert isinstance(made, StartsConfig)
    return made


def _game(case: str) -> str:
    return "half-field-keeper" if case == "goalkeeper" else "half-field"


def kept(case: str, method: str, seed: int, quick: bool) -> tuple[FromHardStart, Rounds]:
    """What a seed gave, measured now if it is not kept."""
    study = config(case, method, seed, quick)
    settings = study.model_dump(mode="json", exclude={"seed"})

    def measure() -> dict[str, Any]:
        one, each = _found(study), rounds(method, seed, _own(study), len(TASKS))
        steps = [int(step) for step in one.steps]
        return {"episodes": len(one.wins), "steps": steps, "perhaps": one.perhaps, "mastered": one.mastered,
                "rounds": each.numbers()}  # fmt: skip

    one = Kept(f"{NAME}-{case}-{method}", settings, SOURCES).result(seed, measure)
    steps = np.array(one["steps"], np.float64)
    wins = (np.arange(one["episodes"]) < len(steps)).astype(np.float64)
    found = FromHardStart(wins, steps, one["perhaps"], one["mastered"])
    return found, Rounds.of(method, seed, one["rounds"])


def _own(study: StartsConfig) -> Path:
    return folder(NAME) / f"{study.kind}-{study_hash(study)[:12]}"


def _found(study: StartsConfig) -> FromHardStart:
    table = ended(NAME, study, "table").found.arrays
    own = _own(study)
    end = last_events(own)["end"]
    assert isinstance(end, Finished)
    policy = Policy.stored(FolderStore(own / "store"), end.artifacts["policy_description"])
    episodes = played(GAMES[study.game.name].load()(**study.game.settings), policy.actor(explore=False), FRESH)
    return FromHardStart(episodes.win, episodes.length[episodes.win == 1.0],
                         table["perhaps"].tolist(), table["surely"].tolist())  # fmt: skip


def _script(case: str, episodes: int) -> np.ndarray:
    game = GAMES[_game(case)].load()()
    return played(game, PLAYERS[GAMES[_game(case)].scripted].load()(game.spec.seats[0]), episodes).win


def over_seeds(each: list[FromHardStart]) -> Range:
    """95 % range of a method's share of goals, from that of each seed; everything for one seed."""
    shares = np.array([one.wins.mean() for one in each])
    chance = np.mean([_variance(one.wins) for one in each])
    error = np.sqrt(max(float(shares.var(ddof=1)) if len(shares) > 1 else 0.0, float(chance)) / len(shares))
    half = float(half_width(np.array([error]), len(shares))[0])
    return Range(max(0.0, float(shares.mean()) - half), min(1.0, float(shares.mean()) + half))


def _variance(wins: np.ndarray) -> float:
    """That of a share of so many episodes by chance alone, also where all of them went alike."""
    n = len(wins)
    share = (wins.sum() + 0.5) / (n + 1)
    return float(share * (1 - share) / n)


def _row(
    case: str, method: str, each: list[FromHardStart], script: np.ndarray, db: list[FromHardStart]
) -> dict[str, Any]:
    wins = np.concatenate([one.wins for one in each])
    mine, theirs, steps = over_seeds(each), range_of(script, 0.0, 1.0), np.concatenate([e.steps for e in each])
    marked = method in ("exp3", "uniform")
    least = max([theirs.high, *(over_seeds(db).high for _ in db[:1])])
    published = PUBLISHED.get((case, method))
    over = f"over seeds {mine.low:.4f} to {mine.high:.4f}" if len(each) > 1 else "one seed, so no range over seeds"
    detail = f"{method}: {over}; by seed " + ", ".join(f"{e.wins.mean():.3f}" for e in each)
    said = f" (published {published[1]})" if published else ""
    detail += f"; {steps.mean():.1f} steps to goal{said}" if len(steps) else ""
    detail += "; surely mastered after " + " | ".join(" ".join(map(str, one.mastered)) for one in each)
    return row(
        NAME, case, wins.mean(), "goals", peer="published" if published else "the script",
        peer_value=published[0] if published else script.mean(),
        goal=f"more than {least:.3f}" if marked else "", meets=bool(mine.low > least) if marked else None,
        seeds=tuple(planned(case)[method][: len(each)]), detail=detail,
    )  # fmt: skip


def _difficulty(each: list[FromHardStart]) -> dict[str, Any]:
    """The share of pairs of starts of which the one further from the goal surely took longer to master, of those pairs
    where either surely took longer."""
    away, agree, known = distances(), 0, 0
    for one in each:
        ends = [(low if low >= 0 else np.inf, high if high >= 0 else np.inf)
                for low, high in zip(one.perhaps, one.mastered, strict=True)]  # fmt: skip
        for near, far in itertools.permutations(range(len(TASKS)), 2):
            if away[near] < away[far]:
                longer, shorter = ends[far][0] >= ends[near][1], ends[near][0] >= ends[far][1]
                known, agree = known + (longer != shorter), agree + (longer and not shorter)
    said = "; ".join(
        f"{task['name']} ({metres:.0f} m) " + ", ".join(f"{one.perhaps[i]} to {one.mastered[i]}" for one in each)
        for i, (task, metres) in enumerate(zip(TASKS, away, strict=True))
    )
    detail = f"minibatches until 0.9 (−1: never), EXP3, then uniform: {said}; {known} pairs are sure"
    share = agree / known if known else float("nan")
    return row(NAME, "alone, difficulty", share, "of pairs of starts in the order of their distances", detail=detail)


def distances(episodes: int = 10_000) -> list[float]:
    """Metres from the ball to the goal's middle where each task's episodes begin, their mean."""
    rng, found = generator(1, "distances"), []
    for task in TASKS:
        game = HalfFieldSettings(**task.get("settings", {}))
        x = LENGTH * (1.0 - rng.uniform(game.ball_x_min, game.ball_x_max, episodes))
        y = WIDTH / 2.0 * rng.uniform(game.ball_y_min, game.ball_y_max, episodes)
        found.append(float(np.hypot(x, y).mean()))
    return found
