"""What pages of experiments say beside their table: ``{% load worth %}``."""

from __future__ import annotations

from collections.abc import Sequence

from django import template

from webapp.worth.nearly import Near, nearly
from webapp.worth.parts import WorthLine

register = template.Library()


@register.simple_tag
def nearly_proved(lines: Sequence[WorthLine]) -> list[Near]:
    """What looks as if it mattered and is not proved: how many more battles each needs, and of what."""
    return nearly(lines)
