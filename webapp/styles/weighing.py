"""How much winning and the style matter, in words; the numbers behind the words stand where somebody asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from engine.config.style_reward import STYLE, WINNING, StyleReward
from engine.config.style_templates import Template
from webapp.styles import scales
from webapp.styles.forms import StyleForm

LATER = "How much that counts beside winning is known once sample episodes are played."
_BESIDE = (
    (0.07, "a twentieth of what winning does, or less"), (0.15, "a tenth of what winning does"),
    (0.27, "a fifth of what winning does"), (0.42, "a third of what winning does"),
    (0.75, "half of what winning does"), (1.5, "as much as winning"), (2.5, "twice as much as winning"),
    (4.0, "three times as much as winning"), (7.5, "five times as much as winning"),
)  # fmt: skip
_MORE = "ten times as much as winning, or more"
Weights = tuple[float, float]


class Ends(NamedTuple):
    """What the two ends of a style are called in a sentence."""

    one: str
    other: str


def ends_of(template: Template | None) -> Ends:
    """Those of a scale, or of formulas of one's own."""
    return Ends(template.one.lower(), template.other.lower()) if template else Ends("the style", "its opposite")


def balance(form: StyleForm) -> str:
    """What the place of the slider means."""
    w1, w2 = (span(form.reward[name]) for name in ("w1", "w2"))
    drawn = _drawn(w2, ends_of(form.template))
    sizes = scales.sizes(plain(form), form.samples)
    if sizes is None:
        return f"{drawn} {LATER}"
    winning, style = sizes[0] * max(map(abs, w1)), sizes[1] * max(map(abs, w2))
    if not style:
        return f"{drawn} Between sample episodes it makes no difference."
    if not winning:
        return f"{drawn} Winning makes no difference to what is paid."
    beside = next((words for most, words in _BESIDE if style / winning < most), _MORE)
    strongest = "To those drawn most strongly" if w2[0] != w2[1] else "To each of them"
    return f"{drawn} {strongest}, that counts about {beside}, by the sample episodes."


def _drawn(w2: Weights, ends: Ends) -> str:
    """Where agents are drawn."""
    low, high = w2
    if low < 0 < high:
        return f"Each agent is drawn to one of two ends, {ends.one} or {ends.other}: some strongly, some hardly."
    if low == high == 0:
        return "The style counts for nothing: no agent is drawn to it."
    end = ends.one if high > 0 else ends.other
    return f"Each agent is drawn to {end}{', some strongly, some hardly' if low != high else ', all alike'}."


def numbers(form: StyleForm) -> str:
    """The weights as numbers, and what they amount to in sample episodes."""
    w1, w2 = (span(form.reward[name]) for name in ("w1", "w2"))
    sentence = f"Winning counts {_range(w1)}, the style {_range(w2)}"
    sentence += ": each agent has weights of its own." if w1[0] != w1[1] or w2[0] != w2[1] else "."
    sizes = scales.sizes(plain(form), form.samples)
    if sizes is None:
        return sentence
    winning, style = sizes[0] * max(map(abs, w1)), sizes[1] * max(map(abs, w2))
    weighs = f"winning changes the reward by up to {scales.figure(winning)}, the style by {scales.figure(style)}"
    return f"{sentence} Between sample episodes {weighs}."


def plain(form: StyleForm) -> StyleReward:
    """The reward as it is typed, whatever its weights."""
    reward = form.reward
    return StyleReward.model_construct(winning=reward[WINNING], style=reward[STYLE], w1=1.0, w2=1.0)


def span(weight: Any) -> Weights:
    """The least and the most of a weight, as it was typed."""
    found = [float(v) for v in weight if isinstance(v, int | float)] if isinstance(weight, list | tuple) else [weight]
    return min(found), max(found)


def _range(ends: Iterable[float]) -> str:
    low, high = ends
    return scales.figure(low) if low == high else f"{scales.figure(low)} to {scales.figure(high)}"


def taste(style: Mapping[str, Any], name: str, value: float, ends: Ends) -> tuple[str, str] | None:
    """(title, words) of an agent's own weight called ``name``, as a share of the largest that an agent may have; None
    where no agent may have any."""
    most = max(map(abs, span(style[name])))
    if not most:
        return None
    share = f"{100 * abs(value) / most:.0f}\u00a0%"
    if name == "w1":
        return "Winning matters", share
    return "Drawn to", f"{ends.one if value >= 0 else ends.other}, {share}"
