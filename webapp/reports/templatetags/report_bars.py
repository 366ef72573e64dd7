"""Drawings of what a report has kept. ``{% load report_bars %}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.safestring import SafeString

from webapp.changes.reading import Measured
from webapp.changes.templatetags.change_bars import BarAxis, before_after, change_axis

register = template.Library()


def _axis(change: Mapping[str, Any]) -> BarAxis:
    return BarAxis(**{**change["axis"], "ticks": [(at, words) for at, words in change["axis"]["ticks"]]})


def _measured(kept: Mapping[str, Any]) -> Measured:
    return Measured(**{name: kept[name] for name in Measured._fields if name in kept})


@register.simple_tag
def kept_bars(change: Mapping[str, Any], row: Mapping[str, Any]) -> SafeString:
    """A lineup before and after the change."""
    line = row.get("line", change["line"])  # of what was too weak it is below even
    return before_after(_axis(change), _measured(row["before"]), _measured(row["after"]), line)


@register.simple_tag
def kept_axis(change: Mapping[str, Any]) -> SafeString:
    """The axis below the bars."""
    return change_axis(_axis(change))
