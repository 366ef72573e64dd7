"""Values of what agents do, as the map of styles writes them. ``{% load measures_of_styles %}``."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString

from webapp.projects.templatetags.equipoise import none
from webapp.styles.evidence import Spread
from webapp.styles.map_words import MeasureAxis

register = template.Library()


@register.filter
def along(value: float | None, axis: MeasureAxis) -> str | SafeString:
    """ "62" for a share in per cent, "1.48" else."""
    return none("not measured") if value is None else axis.text(value)


@register.filter
def apart(spread: Spread, axis: MeasureAxis) -> str:
    """ "3 to 91 (88 apart)": the difference of what is written."""
    low, high, times = *spread, 100 if axis.share else 1
    digits = 0 if axis.share else 2
    between = round(times * high, digits) - round(times * low, digits)
    return f"{axis.text(low)} to {axis.text(high)} ({axis.text(between / times)} apart)"
