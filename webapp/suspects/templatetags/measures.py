"""Values of an objective as pages write them. ``{% load measures %}``."""

from __future__ import annotations

from django import template

from webapp.removal.reading import Tests

register = template.Library()


@register.simple_tag
def measured(value: float, tests: Tests) -> str:
    """A value of what a suspect's tests measure, with its unit."""
    return tests.shown(value)


@register.simple_tag
def measured_ends(low: float, high: float, tests: Tests) -> str:
    """The ends of its range."""
    return tests.ends(low, high)
