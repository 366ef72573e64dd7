"""How long agents that mix take to learn: PALA (τ = 0), GALA (τ = ∞), and A2C with as many battles on one learner.

``equal``: vector Pong until 40 fresh episodes have a mean score of 0.95, two agents on all processors, five seeds in
turns; the paper finds no difference where both have equal processors (its Fig. 5b). Ratios are geometric means over
seeds, with intervals by Student's t of their logarithms. Time is also split into decisions to the goal and seconds a
decision. Nothing is evaluated while the clock runs: what each round left is played afterwards.
``pinned``: the paper's gain as it was measured: PALA on two processors, as in ``equal``, against GALA whose agents
share one; five seeds.
``order``: the same goal by four agents, so that processors are shared and messages come late: in order (PALA), without
waiting (GALA), without order, and by one learner with as many battles (A2C), which the paper says mixing without order
equals; five seeds.
``agents``, ``steps``, ``actors``: sweeps of the agents, of n in n-step returns, and of the battles of each learner, as
in the paper's Figs. 5, 6, 11 and 12; PALA, one seed. ``rates``, ``order-rates``: of each way's rate in ``equal`` and in
``order``, two seeds that are none of those: the best ones are those that the others have. A training of a sweep makes
5,000,000 decisions at most. All learn as the papers do, from n-step returns (λ = 1).
``ale-NAME``: an Atari game from pictures with a small network, 3,000,000 decisions of each; what its curves end with,
and the curves among what is kept. No claim.

Each training runs in a process of its own, with its Ray, and is kept.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from engine.bench.kept import Kept
from engine.bench.row import row
from engine.config.gossip import GossipConfig
from engine.config.policies import AGENT
from engine.config.train import TrainConfig
from engine.errors import EngineError
from engine.events import AnyEvent, Failed, Progressed
from engine.indicators import half_width
from engine.rl.policy import Policy
from engine.store import FolderStore
from engine.studies import load
from engine.study import run as run_study
from engine.study.evaluation import MeasuredPolicies, evaluate

NAME = "gossip-time"
ATARI = ("pong", "breakout", "beam_rider", "qbert", "seaquest", "space_invaders")
GOAL, STEPS, SWEEP_STEPS, ALE_STEPS = 0.95, 20_000_000, 5_000_000, 3_000_000
SEEDS = {"equal": range(11, 16), "pinned": range(11, 16), "order": range(11, 16)}
NEAR, LESS = 0.05, 0.8
SURE = 10
"""Rounds in a row with the goal's score in an agent's own battles after which a training ends: in a single one, which
few long episodes end in, agents may have it that are far from the goal on fresh episodes."""
ALL = 1024
"""Processors: as many as there are."""
SOURCES = ("rl", "study", "runtime", "mdp", "games/pong", "config")
SMALL = {
    "conv": [{"channels": 16, "kernel": 8, "stride": 4}, {"channels": 32, "kernel": 4, "stride": 2}],
    "policy": [256], "critic": [256], "activation": "relu",
}  # fmt: skip
PONG: dict[str, Any] = {
    "game": "pong", "learner": {"preset": "pong-a3c", "batch": 256}, "environments": 16, "steps": STEPS,
    "checkpoint_every": 100_000, "evaluate_every": 0, "episodes": 40, "pool": {"kind": "ray"},
}  # fmt: skip


def _pong(**learner: Any) -> dict[str, Any]:
    return {"learner": {"preset": "pong-a3c", "batch": 256, "trace": 1.0, **learner}}


WAYS: dict[str, dict[str, Any]] = {
    "PALA": {"kind": "gossip", "agents": 2, "staleness": 0, **_pong(rate=1.7e-2)},
    "GALA": {"kind": "gossip", "agents": 2, "staleness": None, **_pong(rate=1.2e-2)},
    "A2C": {"kind": "train", "samplers": 2, **_pong(batch=512, rate=8.4e-3)},
}
"""With the best rates of ``rates``."""
ORDERS: dict[str, dict[str, Any]] = {
    "PALA": {"kind": "gossip", "agents": 4, "staleness": 0, **_pong(rate=1.7e-2)},
    "GALA": {"kind": "gossip", "agents": 4, "staleness": None, **_pong(rate=1.2e-2)},
    "without order": {"kind": "gossip", "agents": 4, "staleness": None, "ordered": False, **_pong(rate=1.7e-2)},
    "A2C": {"kind": "train", "samplers": 4, **_pong(batch=1024, rate=1.2e-2)},
}
"""With the best rates that ``order-rates`` gave with λ = 0.95; with λ = 1 it has not run yet."""


def _at_rates(ways: Mapping[str, dict[str, Any]], *rates: float) -> dict[str, dict[str, Any]]:
    """Each way with each rate."""
    return {
        f"{name}, rate {rate:g}": {**way, "learner": {**way["learner"], "rate": rate}}
        for name, way in ways.items()
        for rate in rates
    }


RATE = WAYS["PALA"]["learner"]["rate"]
SWEEPS: dict[str, dict[str, dict[str, Any]]] = {
    "agents": {f"{n} agents": {**WAYS["PALA"], "agents": n} for n in (2, 4, 8)},
    "steps": {f"n = {n}": {**WAYS["PALA"], **_pong(fragment=n, batch=16 * n, rate=RATE)}
              for n in (5, 10, 15, 20, 40)},
    "actors": {f"{n} battles": {**WAYS["PALA"], "environments": n, **_pong(batch=16 * n, rate=RATE)}
               for n in (4, 8, 16, 32)},
    "rates": {
        **_at_rates(WAYS, 6e-3, 8.4e-3, 1.2e-2),
        **_at_rates({name: WAYS[name] for name in ("PALA", "GALA")}, 1.7e-2),
    },
    "order-rates": _at_rates(ORDERS, 6e-3, 8.4e-3, 1.2e-2, 1.7e-2),
}  # fmt: skip
SWEPT = {"rates": range(1, 3), "order-rates": range(1, 3)}
"""Their seeds; one elsewhere."""
CASES = ("equal", "pinned", "order", *SWEEPS, *(f"ale-{game}" for game in ATARI))


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    if case in SWEEPS:
        yield from _sweep(case, quick)
    elif case.startswith("ale-"):
        yield from _atari(case, quick)
    else:
        yield from _order(quick) if case == "order" else _times(case, quick)


def trained(settings: dict[str, Any], goal: float | None, processors: int) -> dict[str, Any]:
    """A training on the first so many processors, until fresh episodes of what a round left have the ``goal`` as their
    mean score: the ``seconds`` it took, ``steps``, ``reached`` and ``curve``: rows of decisions, seconds and what fresh
    episodes said, scores where there is a ``goal``, else returns. Raises EngineError for one that fails."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:processors])
    events: list[AnyEvent] = []
    with tempfile.TemporaryDirectory() as folder:
        study, store = load(settings), FolderStore(Path(folder))
        for event in run_study(study, store, control=lambda: "stop" if _sure(events, goal) else ""):
            events.append(event)
        if isinstance(events[-1], Failed):
            raise EngineError(f"A training did not end: {events[-1].message}")
        assert isinstance(study, GossipConfig | TrainConfig)
        training = study.training if isinstance(study, GossipConfig) else study
        curve = []
        for event in events:
            if isinstance(event, Progressed):
                curve.append([event.counters.steps, event.counters.seconds, _examined(training, store, event, goal)])
                if goal is not None and curve[-1][-1] >= goal:
                    break
    steps, _, reached = curve[-1]
    return {"seconds": took(curve), "steps": steps, "reached": reached, "curve": curve}


def _examined(training: TrainConfig, store: FolderStore, event: Progressed, goal: float | None) -> float:
    """What fresh episodes say of the policy that a round left: their mean score, or return without a ``goal``."""
    policy = Policy.unpack(*(store.get(event.artifacts[role]) for role in ("policy_description", "policy")))
    found = evaluate(MeasuredPolicies(training, store, {AGENT: policy}, {}), 0, lambda: "")
    assert found is not None
    (one,) = found[AGENT].values()
    return float(np.mean(one.returns if goal is None else one.score))


def took(curve: Sequence[Sequence[float]]) -> float:
    """Seconds of a training, without those that its processes needed to start: what came after the first round, and as
    much for each decision of that."""
    (first, began, _), (steps, seconds, _) = curve[0], curve[-1]
    return (seconds - began) * steps / (steps - first) if steps > first else seconds


def _sure(events: Sequence[AnyEvent], goal: float | None) -> bool:
    """Whether agents have had the goal's score in their own battles for some rounds."""
    if goal is None:
        return False
    last = [event.metrics for event in events if isinstance(event, Progressed)][-SURE:]
    return len(last) == SURE and all(metrics.get("score", -np.inf) >= goal for metrics in last)


def _kept(case: str, settings: dict[str, Any], seed: int, goal: float | None, processors: int = ALL) -> dict[str, Any]:
    """What a training gave, in a process of its own."""

    def measure() -> dict[str, Any]:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
            return alone.submit(trained, {**settings, "seed": seed}, goal, processors).result()

    kept = Kept(f"{NAME}-{case}", {**settings, "goal": goal, "processors": processors}, SOURCES)
    found: dict[str, Any] = kept.result(seed, measure)
    return found


class WayResults(NamedTuple):
    """What the trainings of one way took with each of these ``seeds``: seconds to the goal, infinitely many where none
    came there, and decisions."""

    seconds: list[float]
    steps: list[int]
    seeds: list[int]


def _found(case: str, ways: Mapping[str, dict[str, Any]], quick: bool) -> dict[str, WayResults]:
    """Trainings in turns. ``quick``: of the same few decisions."""
    seeds, steps = (SEEDS[case][:1], 200_000) if quick else (SEEDS[case], STEPS)
    found = {name: WayResults([], [], list(seeds)) for name in ways}
    for seed in seeds:
        for name, way in ways.items():
            alone = 1 if case == "pinned" and name == "GALA" else ALL
            one = _kept(f"{case}-{name.replace(' ', '-')}", {**PONG, **way, "steps": steps}, seed, GOAL, alone)
            found[name].seconds.append(one["seconds"] if quick or one["reached"] >= GOAL else np.inf)
            found[name].steps.append(one["steps"])
    return found


def _times(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Seconds to the goal beside GALA's."""
    found = _found(case, WAYS, quick)
    times, low, high = ratio(found["PALA"].seconds, found["GALA"].seconds)
    wanted = {"equal": ("within 5 % of GALA", abs(times - 1) <= NEAR), "pinned": (">= 20 % less", times <= LESS)}
    for name, each in found.items():
        goal, meets = wanted[case] if name == "PALA" else ("", None)
        said = f"{_each(each)}; PALA takes {times:.2f} ({low:.2f} to {high:.2f}, 95 %) of GALA's time"
        yield row(NAME, f"{case} {name}", float(np.mean(each.seconds)), f"s to {GOAL}", peer="GALA",
                  seeds=each.seeds, peer_value=float(np.mean(found["GALA"].seconds)), goal=goal, meets=meets,
                  detail=said)  # fmt: skip
    if case == "equal":
        yield from _in_parts(found["PALA"], found["GALA"])


def _in_parts(pala: WayResults, gala: WayResults) -> Iterator[dict[str, Any]]:
    """The ratio of times as that of decisions to the goal and that of seconds a decision."""
    lasting = [[1e6 * s / n for s, n in zip(each.seconds, each.steps, strict=True)] for each in (pala, gala)]
    for what, unit, (these, those) in (
        ("decisions to the goal", "decisions", (pala.steps, gala.steps)),
        ("seconds a million decisions", "s", lasting),
    ):
        times, low, high = ratio(these, those)
        yield row(NAME, f"equal, {what}", float(np.mean(these)), unit, peer="GALA", peer_value=float(np.mean(those)),
                  seeds=pala.seeds, detail=f"PALA's {times:.2f} of GALA's ({low:.2f} to {high:.2f}, 95 %)")  # fmt: skip


def _order(quick: bool) -> Iterator[dict[str, Any]]:
    """Seconds to the goal beside one learner's."""
    found = _found("order", ORDERS, quick)
    for name, each in found.items():
        times, low, high = ratio(each.seconds, found["A2C"].seconds)
        beside = "" if name == "A2C" else f"; {times:.2f} of one learner's time ({low:.2f} to {high:.2f}, 95 %)"
        yield row(NAME, f"order, {name}", float(np.mean(each.seconds)), f"s to {GOAL}", peer="one learner (A2C)",
                  peer_value=float(np.mean(found["A2C"].seconds)), seeds=each.seeds,
                  detail=f"{_each(each)}{beside}")  # fmt: skip


def _each(found: WayResults) -> str:
    seconds, steps = ", ".join(f"{s:.0f}" for s in found.seconds), ", ".join(f"{n / 1e6:.1f}" for n in found.steps)
    return f"each seed {seconds}; millions of decisions {steps}"


def ratio(these: Sequence[float], those: Sequence[float]) -> tuple[float, float, float]:
    """(mean, low, high) of how many times as long these take as those, seed by seed: the geometric mean, and its 95 %
    interval by Student's t of logarithms. Times differ by factors; a bootstrap of five of them covers some 83 %. Of
    five pairs whose logarithms are skewed as an exponential or a lognormal, this covers some 88 and 82 %."""
    pairs = np.array([these, those])
    if not np.isfinite(pairs).all():
        return float("nan"), float("nan"), float("nan")
    logs = np.log(pairs[0] / pairs[1])
    n = len(logs)
    half = float(half_width(np.array([logs.std(ddof=1) / np.sqrt(n)]), n)[0]) if n > 1 else np.inf
    mean = float(logs.mean())
    return float(np.exp(mean)), float(np.exp(mean - half)), float(np.exp(mean + half))


def _sweep(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Seconds to the goal of each setting."""
    seeds = range(1, 2) if quick else SWEPT.get(case, range(1, 2))
    for name, way in list(SWEEPS[case].items())[: 1 if quick else None]:
        whole = {**PONG, **way, "steps": 200_000 if quick else SWEEP_STEPS}
        found = [_kept(case, whole, seed, GOAL) for seed in seeds]
        each = [one["seconds"] if quick or one["reached"] >= GOAL else np.inf for one in found]
        said = "; ".join(f"{one['steps']:,} decisions, score {one['reached']:.3f}" for one in found)
        yield row(NAME, case, float(np.mean(each)), f"s to {GOAL}", seeds=list(seeds), detail=f"{name}: {said}")


def _atari(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """The last evaluation of each way."""
    game, steps = f"ale:{case.removeprefix('ale-')}", 20_000 if quick else ALE_STEPS
    for name, way in WAYS.items():
        learner = {"kind": "a3c", "network": SMALL, "fragment": 15, "batch": 480 if name == "A2C" else 240}
        whole = {**PONG, **way, "game": game, "learner": learner, "steps": steps, "checkpoint_every": steps // 20}
        one = _kept(f"{case}-{name}", {**whole, "episodes": 10}, 1, None)
        yield row(NAME, f"{case} {name}", one["reached"], "return on fresh episodes", seeds=[1],
                  detail=f"{one['steps']:,} decisions in {one['seconds'] / 60:.0f} min")  # fmt: skip
