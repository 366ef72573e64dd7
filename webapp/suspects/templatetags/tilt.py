"""The tilt: a beam that leans by an effect, with a wedge for its range. ``{% load tilt %}``."""

from __future__ import annotations

from math import cos, radians, sin

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

STEEPEST, FULL = 26.0, 8.0
"""Degrees at which the beam stands for an effect of so many points or more."""
X, Y, ARM, REACH = 60.0, 34.0, 46.0, 60.0
"""The fulcrum, half of the beam, and how far the wedge goes."""


def _end(points: float, arm: float = ARM) -> tuple[float, float]:
    """Where the right end of a beam is for an effect."""
    angle = radians(STEEPEST * max(-1.0, min(1.0, points / FULL)))
    return X + arm * cos(angle), Y - arm * sin(angle)


@register.simple_tag
def tilt(worth: float, low: float, high: float, kind: str = "strong") -> SafeString:
    """A drawing of an effect in points; words beside it say the same. ``kind``: ``fair`` where nothing stands out."""
    (x, y), (x1, y1), (x2, y2) = _end(worth), _end(low, REACH), _end(high, REACH)
    heavy = "m0 -5 a5 5 0 1 1 0 10 a5 5 0 1 1 0 -10 Z" if kind == "fair" else "m0 -7 l7 7 -7 7 -7 -7 Z"
    wedge = f"M{X} {Y} L{x1:.1f} {y1:.1f} L{x2:.1f} {y2:.1f} Z"
    return format_html(
        '<svg class="tilt tilt-{7}" viewBox="0 0 120 72" aria-hidden="true">'
        '<line class="even" x1="4" x2="116" y1="{1}" y2="{1}"></line><path class="wedge" d="{2}"></path>'
        '<line class="beam-line" x1="{3}" y1="{4}" x2="{5}" y2="{6}"></line>'
        '<path class="fulcrum" d="M{0} {1} l9 30 h-18 Z"></path><circle class="light" cx="{3}" cy="{4}" r="5"></circle>'
        '<path class="heavy" d="M{5} {6} {8}"></path></svg>',
        X, Y, wedge, *(f"{end:.1f}" for end in (2 * X - x, 2 * Y - y, x, y)), kind, heavy,
    )  # fmt: skip
