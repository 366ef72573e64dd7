"""Values of an objective as pages write them. ``{% load measures %}``."""

from __future__ import annotations

from django import template

from webapp.removal.reading import Tests

register = template.Library()


@register.simple_tag
def measured(value: float, tests: Tests, *beside: float) -> str:
    """A value of what a suspect's tests measure, with its unit; ``beside``: what has as many digits."""
    return tests.shown(value, *beside)
