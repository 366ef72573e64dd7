"""Filters of the data pages: exact numbers and changes. ``{% load gamedata %}``."""

from __future__ import annotations

from django import template

from webapp.games import numbers
from webapp.games.versions import Change

register = template.Library()


@register.filter
def exact(value: float | str) -> str:
    """A number in full, as short as it can be, with a true minus sign: 0.57, −20, 1500."""
    text = value if isinstance(value, str) else numbers.shown(value)
    return text.replace("-", "−")


@register.filter
def change_share(change: Change) -> str:
    """By how much a number changed, in per cent of the old one: "+5 %"; "" from zero."""
    if change.share is None:
        return ""
    size = abs(change.share)
    digits = 1 if size < 10 and round(size, 1) != round(size) else 0
    return f"{'+' if change.share > 0 else '−'}{size:,.{digits}f}\u00a0%"


@register.filter
def item(mapping: dict[object, object], key: object) -> object:
    """``mapping[key]``, or nothing."""
    return mapping.get(key, "")


@register.filter
def short(value: float) -> str:
    """About three figures: 1.84, 23.5, 1,480."""
    size = abs(value)
    digits = 0 if size >= 100 or value == round(value) else 1 if size >= 10 else 2
    return f"{value:,.{digits}f}".replace("-", "−")
