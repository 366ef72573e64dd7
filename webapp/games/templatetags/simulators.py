"""Simulators on the pages of other apps. ``{% load simulators %}``."""

from __future__ import annotations

from django import template

from webapp.games.simulators import registered_by

register = template.Library()
register.simple_tag(registered_by)
