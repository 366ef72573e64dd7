"""What the form of styles begins with where somebody writes formulas of one's own: an example to be changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.config.style_reward import STYLE, TIME, WINNING, identifier
from engine.config.style_templates import Template
from engine.styles.preview import Samples
from webapp.styles.goal_fields import CALLED, GOALS
from webapp.styles.scales import OUTCOMES, KnownSignals

GOAL_FIELDS = tuple(f"goal-{i}{end}" for i in range(1, GOALS + 1) for end in ("", "-called"))
OWN_FIELDS = (WINNING, STYLE, *GOAL_FIELDS, "behaviour")
"""Fields in which somebody writes formulas of one's own."""
WRITTEN = "written"
"""Stands for an example where somebody wrote before there was any."""
SAME = 1e-9
"""Share of a measure's spread below which it is the same in every sample episode."""
Texts = dict[str, str]


def mark(texts: Mapping[str, str]) -> str:
    """Tells an example from what somebody made of it."""
    every = json.dumps([texts.get(name, "") for name in OWN_FIELDS])
    return hashlib.sha256(every.encode()).hexdigest()[:16]


def first_scale(game_signals: KnownSignals) -> Template | None:
    """The first scale that a game is known to have what is needed for."""
    fit = (scale.template for scale in game_signals.scales() if game_signals.known and not scale.missing)
    return next(fit, None)


def of_scale(settings: Mapping[str, Any]) -> Texts:
    """The formulas of a scale, as they would be typed."""
    style = settings["task"]["style"]
    goals = {f"goal-{i}": goal["formula"] for i, goal in enumerate(settings["objectives"], 1)}
    called = {f"goal-{i}-called": goal["measure"] for i, goal in enumerate(settings["objectives"], 1)}
    return {WINNING: style["winning"], STYLE: style["style"], **goals, **called}


def of_measures(game_signals: KnownSignals, samples: Samples | None) -> Texts:
    """Much and little of the first measure that says how somebody plays, each beside the score. Nothing while nobody
    knows what the game tells, and where no measure can tell agents apart by sample episodes. Without these nobody knows
    whether an episode's length is more than its score."""
    ways = game_signals.behaviour if game_signals.known else []
    ways = [way for way in ways if samples is not None or way != "length"]
    weighed = ((way, 1.0 if samples is None else _weight(samples, way)) for way in ways)
    way, weight = next(((way, weight) for way, weight in weighed if weight), ("", 0.0))
    if not way:
        return {}
    term = way if weight == 1 else f"{weight:g} * {way}"
    signals = [word.name for word in game_signals.signals if word.name not in (*OUTCOMES, TIME)]
    paid = way if way in signals else next(iter(signals), "")
    return {
        WINNING: "score", STYLE: paid,
        "goal-1": f"score + {term}", "goal-1-called": f"high {way}"[:CALLED],
        "goal-2": f"score - {term}", "goal-2-called": f"low {way}"[:CALLED],
    }  # fmt: skip


def _weight(samples: Samples, way: str) -> float:
    """With so much weight a measure changes a goal about as much as the score does, to one digit; 0 where it is the
    same in all sample episodes, or one of the two goals would be."""
    columns = dict(zip(map(identifier, samples.measure_names), samples.measures.T, strict=True))
    measured = np.stack([columns[name] for name in ("score", way) if name in columns])
    score, own = measured[0], measured[-1]
    if len(measured) < 2 or not len(score) or not np.isfinite(measured).all() or not np.ptp(own):
        return 0.0
    weight = float(f"{np.ptp(score) / np.ptp(own):.1g}") or 1.0
    goals = (score + weight * own, score - weight * own)
    return weight if all(np.ptp(goal) > SAME * weight * np.ptp(own) for goal in goals) else 0.0
