"""Shares as widths of bars."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def percent_of(share: float) -> str:
    """A share as the width of a bar: "12.5%"."""
    return f"{100 * share:.1f}%"
