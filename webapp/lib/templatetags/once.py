"""The key of a form that makes something. ``{% load once %}``."""

from __future__ import annotations

from secrets import token_urlsafe

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from webapp.lib.once import FIELD

register = template.Library()


@register.simple_tag
def key_of_form() -> SafeString:
    """A hidden field with another key each time the page is made: see ``webapp.lib.once``. A browser that fills in
    fields by itself would bring back an old one."""
    return format_html('<input type="hidden" name="{}" value="{}" autocomplete="off">', FIELD, token_urlsafe(16))
