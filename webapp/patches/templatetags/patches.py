"""Template tags of searches for changes."""

from __future__ import annotations

from django import template

from webapp.patches.saved import saved

register = template.Library()
register.simple_tag(saved, name="kept_as")
