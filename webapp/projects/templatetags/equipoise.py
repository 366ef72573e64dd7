"""Template tags and filters of the look: icons, verdict marks, family shapes, range bar, progress beam, loop, fields.

``{% load equipoise %}``. Drawings are inline SVG in percent, so they fit any width without a script;
``static/js/marks.js`` draws the same marks for what a page builds itself.
"""

from __future__ import annotations

import math
from datetime import datetime
from itertools import islice
from typing import Any

from django import forms, template
from django.forms.boundfield import BoundField, BoundWidget
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from webapp.lib import figures, words
from webapp.lib.page_json import embedded

register = template.Library()
register.simple_tag(words.measured, name="with_half")
register.simple_tag(figures.share_text)
register.filter("number", words.number)
register.filter("percent", words.percent)
register.filter("progress", words.progress)
register.filter("duration", words.duration)
register.filter("about", words.about)
register.filter("plural", words.plural)
register.filter("price", figures.price)
register.filter("sized", figures.sized)
register.filter("lower_first", words.lower_first)
register.filter("unbroken", words.unbroken)
register.filter("page_json", embedded)

DIAMOND = "M8 1.2 14.8 8 8 14.8 1.2 8Z"
MARKS = {
    "strong": DIAMOND,
    "unsure": "M8 2.2 13.8 8 8 13.8 2.2 8Z",
    "under": "M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6Z",
    "fair": "M8 2.2a5.8 5.8 0 1 1 0 11.6A5.8 5.8 0 0 1 8 2.2Z",
}
FAMILIES = (
    "M8 1.6a6.4 6.4 0 1 1 0 12.8A6.4 6.4 0 0 1 8 1.6Z",
    "M2.4 2.4h11.2v11.2H2.4Z",
    "M8 1.6 15 14H1Z",
    "M5.6 1.4h4.8v4.2h4.2v4.8h-4.2v4.2H5.6v-4.2H1.4V5.6h4.2Z",
    "M4.4 1.8h7.2L15.2 8l-3.6 6.2H4.4L.8 8Z",
    "M8 14.4 1 2h14Z",
    "M2 1.6h12L9.6 8l4.4 6.4H2L6.4 8Z",
    "M8 .8l2.1 4.7 5.1.6-3.8 3.4 1 5L8 12l-4.4 2.5 1-5L.8 6.1l5.1-.6Z",
)
OTHER_FAMILY = "M8 3.2a4.8 4.8 0 1 1 0 9.6 4.8 4.8 0 0 1 0-9.6Z"
SEARCHED = 12
"""A list of more boxes than these has a box to find among them."""
STEPS = (
    ("search", "Search"),
    ("explore", "Explore"),
    ("explain", "Explain"),
    ("change", "Change"),
    ("report", "Report"),
)


def _naming(label: str) -> SafeString:
    """What tells screen readers about a drawing: its name, or that words beside it say the same."""
    return format_html('role="img" aria-label="{}"', label) if label else mark_safe('aria-hidden="true"')


@register.simple_tag
def icon(name: str, size: int = 18, label: str = "") -> SafeString:
    """A Tabler outline icon of the sprite, 16 or 18 px; ``label`` only where no word stands beside it."""
    css = "icon" if size == 18 else f"icon icon-{size}"
    sheet = static("vendor/tabler/icons.svg")
    return format_html('<svg class="{}" {}><use href="{}#{}"></use></svg>', css, _naming(label), sheet, name)


@register.simple_tag
def none(why: str) -> SafeString:
    """A dash where a table has no number, and why, for who points at it or listens."""
    return format_html(
        '<span class="muted" title="{0}"><span aria-hidden="true">–</span>'
        '<span class="visually-hidden">{0}</span></span>',
        why,
    )


@register.simple_tag
def mark(kind: str, label: str = "") -> SafeString:
    """A verdict mark: ``strong`` (over the line and strong), ``unsure`` (over or close, weak or unsure), ``under`` or
    ``fair``."""
    return format_html(
        '<svg class="vm vm-{}" viewBox="0 0 16 16" {}><path d="{}"></path></svg>', kind, _naming(label), MARKS[kind]
    )


@register.simple_tag
def family(number: int, label: str = "") -> SafeString:
    """The shape of family 1 to 8; any other number is the ring of "other"."""
    known = 1 <= number <= len(FAMILIES)
    return format_html(
        '<svg class="fam fam-{}" viewBox="0 0 16 16" {}><path d="{}"></path></svg>',
        number if known else "other",
        _naming(label),
        FAMILIES[number - 1] if known else OTHER_FAMILY,
    )


@register.simple_tag
def shape(number: int, x: float, y: float) -> SafeString:
    """The shape of family 1 to 8 within a drawing, in its colours, with its middle at a place; nothing for any other
    number."""
    if not 1 <= number <= len(FAMILIES):
        return mark_safe("")
    return format_html(
        '<g class="shape" transform="translate({} {})">'
        '<path transform="scale(0.65) translate(-8 -8)" d="{}"></path></g>',
        f"{x:.1f}", f"{y:.1f}", FAMILIES[number - 1],
    )  # fmt: skip


def _place(value: float, low: float, high: float) -> str:
    """Where ``value`` lies on the axis, as an SVG percentage; values outside stand at its end."""
    share = (value - low) / (high - low) if high > low else 0.5
    return f"{100 * min(1.0, max(0.0, share)):.2f}%"


def _cap(end: float, place: str) -> SafeString:
    """The end of a range: a stroke across, or an arrow where nobody knows how far it goes."""
    if math.isfinite(end):
        return format_html('<line class="whisker" x1="{0}" x2="{0}" y1="6.5" y2="13.5"></line>', place)
    back = -4 if end > 0 else 4
    return format_html(
        '<svg x="{}" y="10" overflow="visible"><path class="whisker" d="M{} -4 0 0 {} 4"></path></svg>',
        place,
        back,
        back,
    )


@register.simple_tag
def range_bar(
    value: float,
    low: float,
    high: float,
    axis_low: float,
    axis_high: float,
    line: float | None = None,
    kind: str = "",
    label: str = "",
) -> SafeString:
    """A value with its 95 % range on a hairline track from ``axis_low`` to ``axis_high``, the line as a dashed tick.
    An end that nobody knows is an arrow."""

    def at(number: float) -> str:
        return _place(number, axis_low, axis_high)

    tick = "" if line is None else format_html('<line class="line" x1="{0}" x2="{0}" y1="1" y2="19"></line>', at(line))
    caps = format_html_join("", "{}", ((_cap(end, at(end)),) for end in (low, high)))
    shape = "M0-5.2 5.2 0 0 5.2-5.2 0Z" if kind in {"strong", "unsure"} else "M0-4a4 4 0 1 1 0 8 4 4 0 0 1 0-8Z"
    return format_html(
        '<svg class="range-bar range-bar-{}" {}><line class="track" x1="0" x2="100%" y1="10" y2="10"></line>{}'
        '<line class="whisker" x1="{}" x2="{}" y1="10" y2="10"></line>{}'
        '<svg x="{}" y="10" overflow="visible"><path class="point" d="{}"></path></svg></svg>',
        kind or "plain",
        _naming(label),
        tick,
        at(low),
        at(high),
        caps,
        at(value),
        shape,
    )


@register.inclusion_tag("partials/beam.html")
def beam(share: float, label: str = "", start: str = "", end: str = "", name: str = "Progress") -> dict[str, Any]:
    """The progress beam, ``share`` in [0, 1]: the fulcrum stands at now and carries ``label``."""
    now = min(1.0, max(0.0, share))
    anchor = "start" if now < 0.12 else "end" if now > 0.88 else "middle"
    return {
        "place": f"{100 * now:.2f}%",
        "percent": int(100 * now),
        "anchor": anchor,
        "label": label,
        "name": name,
        "start": start,
        "end": end,
        "start_covered": now < 0.25,
        "end_covered": now > 0.75,
    }


@register.inclusion_tag("partials/beam_small.html")
def beam_small(share: float, name: str = "Progress") -> dict[str, Any]:
    """Progress in one line of a list: no fulcrum, no words."""
    now = min(1.0, max(0.0, share))
    return {"place": f"{100 * now:.2f}%", "percent": int(100 * now), "name": name}


@register.inclusion_tag("partials/loop.html")
def loop(current: str, **links: str) -> dict[str, Any]:
    """The loop with the fulcrum under ``current``; a step is a link where its address is given (``search=url``)."""
    names = [step for step, _ in STEPS]
    here = names.index(current)
    steps = []
    for position, (step, word) in enumerate(STEPS):
        link = links.get(step, "")
        state = "now" if position == here else "done" if position < here else ""
        steps.append({"word": word, "state": state, "link": "" if state == "now" else link})
    return {"steps": steps}


@register.simple_tag
def when(at: datetime | None) -> SafeString:
    """A time in the words of the page; frame.js rewrites it in the reader's own time zone."""
    if at is None:
        return mark_safe("not yet")
    return format_html('<time datetime="{}" data-when>{}</time>', at.isoformat(), words.when(at))


@register.inclusion_tag("partials/field.html")
def field(bound: BoundField, unit: str = "", placeholder: str = "") -> dict[str, Any]:
    """One form field: label, control with its unit inside the box, help, and what is wrong, at the field."""
    widget = bound.field.widget
    checkbox = isinstance(widget, forms.CheckboxInput)
    several = isinstance(widget, (forms.RadioSelect, forms.CheckboxSelectMultiple))
    boxes = checkbox or several
    css = "form-check-input" if boxes else "form-select" if isinstance(widget, forms.Select) else "form-control"
    attrs: dict[str, str | bool] = {"class": f"{widget.attrs.get('class', '')} {css}".strip()}
    if placeholder:
        attrs["placeholder"] = placeholder
    groups = _groups(bound) if several else []
    return {
        "field": bound,
        "control": bound.as_widget(attrs=attrs),
        "unit": unit or getattr(bound.field, "unit", ""),
        "checkbox": checkbox,
        "several": several,
        "groups": groups,
        "many": sum(len(choices) for _, choices in groups) > SEARCHED,
        "marked": _marked(bound),
    }


def _marked(bound: BoundField) -> bool:
    """Whether a mark says that a field must be filled in: where the form has others that need not be."""
    return _must(bound) and any(_may(each) for each in bound.form.visible_fields())


def _must(bound: BoundField) -> bool:
    """Whether somebody has to fill it in; not where something is always chosen, as in a menu without an empty line."""
    widget = bound.field.widget
    boxes = isinstance(widget, forms.CheckboxSelectMultiple)
    asks = widget.use_required_attribute(bound.initial) and not isinstance(widget, forms.RadioSelect)
    return bool(bound.field.required and (boxes or asks))


def _may(bound: BoundField) -> bool:
    """Whether it may stay empty; a box to tick is never empty."""
    return not (bound.field.required or isinstance(bound.field.widget, forms.CheckboxInput))


def _groups(bound: BoundField) -> list[tuple[str, list[BoundWidget]]]:
    """The boxes of a field by the group of their choices; those without a group have an empty name."""
    boxes = iter(bound.subwidgets)
    groups: list[tuple[str, list[BoundWidget]]] = []
    for value, label in bound.field.widget.choices:
        inner = isinstance(label, (list, tuple))
        if inner or not groups or groups[-1][0]:
            groups.append((str(value) if inner else "", []))
        groups[-1][1].extend(islice(boxes, len(label) if inner else 1))
    return groups


@register.inclusion_tag("partials/form_head.html")
def form_head(form: forms.BaseForm) -> dict[str, Any]:
    """What stands above a form: what is wrong with it as a whole, how many fields need a look, and, where any field is
    marked, what the mark means."""
    shown = form.visible_fields()
    wrong, marked = [each for each in shown if each.errors], any(_marked(each) for each in shown)
    return {"form": form, "whole": form.non_field_errors(), "fields": wrong, "marked": marked}
