"""When a search ends before its last tick: a plateau of the hypervolume, a budget, or an exhausted small space. Checked
when a tick completes.

The plateau is noise-aware: the search goes on while, over the window's last ticks, the mean volume of the later half
exceeds that of the earlier half by more than the tolerance, and by more than the volume's own noise: the standard
deviation over parametric bootstrap draws of the front from its members' means and covariances.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.config.noise import MinutesRule, PlateauRule, StopRule
from engine.events import Counters
from engine.evolution.algorithm import Individual
from engine.rng import generator

Volume = Callable[[list[Individual]], float]
DRAWS = 50
_NOUNS = {"steps": "decisions"}
"""What people call what a budget counts, where that is not its name."""


class Termination:
    """``reason``: why the search ends, empty while it goes on. ``volumes``: (hypervolume, its noise) tick by tick, kept
    only where a rule needs them."""

    def __init__(self, rules: Sequence[StopRule] = (), seed: int = 0) -> None:
        self.rules, self.seed = tuple(rules), seed
        self.volumes: list[tuple[float, float]] = []
        self.reason = ""

    def look(self, counters: Counters, front: list[Individual], volume: Volume) -> str:
        """The reason after one more tick; once set it stays. ``volume`` measures a front from a fixed reference."""
        if self.reason:
            return self.reason
        if any(isinstance(rule, PlateauRule) for rule in self.rules):
            rng = generator(self.seed, "plateau", len(self.volumes))
            self.volumes.append((volume(front), noise(front, volume, rng)))
        self.reason = next((why for rule in self.rules if (why := self._holds(rule, counters))), "")
        return self.reason

    def end(self, reason: str) -> None:
        """End the search with this tick whatever the rules say; an earlier reason stays."""
        self.reason = self.reason or reason

    def _holds(self, rule: StopRule, counters: Counters) -> str:
        if isinstance(rule, PlateauRule):
            flat = plateau(self.volumes, rule.window, rule.tolerance)
            return f"The front's volume has not grown for {rule.window} rounds." if flat else ""
        if isinstance(rule, MinutesRule):
            over = counters.seconds >= 60 * rule.most
            return f"{rule.most:g} minutes are over (not reproducible: it depends on the machine)." if over else ""
        spent = int(getattr(counters, rule.kind))
        beyond = f": with what was under way, {spent:,}" if spent > rule.most else ""
        used = f"The {rule.most:,} {_NOUNS.get(rule.kind, rule.kind)} are used up{beyond}."
        return used if spent >= rule.most else ""

    def state(self) -> dict[str, Any]:
        """As JSON."""
        return {"volumes": [list(pair) for pair in self.volumes], "reason": self.reason}

    def load(self, state: dict[str, Any]) -> None:
        """The inverse of ``state``."""
        self.volumes, self.reason = [(v, s) for v, s in state["volumes"]], state["reason"]


def plateau(volumes: Sequence[tuple[float, float]], window: int, tolerance: float) -> bool:
    """Whether the last ``window`` volumes, each with its noise, show no growth beyond both."""
    if len(volumes) < window:
        return False
    recent = np.array(volumes[-window:])
    half = window // 2
    growth = recent[-half:, 0].mean() - recent[:half, 0].mean()
    return bool(growth <= max(tolerance * abs(recent[-1, 0]), recent[-half:, 1].mean()))


def noise(front: list[Individual], volume: Volume, rng: np.random.Generator) -> float:
    """Standard deviation of the front's volume over draws from its members' means and covariances; 0 where their noise
    is unknown."""
    covariance = np.array([i.evaluation.covariance for i in front])
    if not len(front) or not np.isfinite(covariance).all() or not covariance.any():
        return 0.0
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    shaken = rng.standard_normal((DRAWS, len(front), covariance.shape[1]))
    moved = np.einsum("nij,dnj->dni", root, shaken)
    found = []
    for draw in moved:
        members = [
            i._replace(evaluation=i.evaluation._replace(objectives=i.evaluation.objectives + step))
            for i, step in zip(front, draw, strict=True)
        ]
        found.append(volume(members))
    return float(np.std(found))
