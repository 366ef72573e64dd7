"""Pictures of agents: some moments of one of their battles."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()
LINE, HALF, THICK, BALL = 0.92, 0.15, 0.03, 0.03
"""Where the paddles of Pong stand, half their length and thickness, half the ball; as in
``static/js/watch/pong.js``."""
FIRST, UNITS, PARTS = 15, 20, 5
"""Where the units of commanders begin in a row, how many there are, and the numbers of each."""


@register.filter
def percent_of(share: float) -> str:
    """A share as the width of a bar: "12.5%"."""
    return f"{100 * share:.1f}%"


@register.simple_tag
def poster(told: dict[str, Any], name: str) -> SafeString | str:
    """A picture of an agent on the left; nothing for games without a drawing."""
    return DRAWINGS[told["drawing"]](told["positions"], name) if told.get("drawing") in DRAWINGS else ""


def _pong(positions: list[list[float]], name: str) -> SafeString:
    """The field with the paddles of the last moment, and the way that the ball took there."""
    seen = [[round(value, 3) for value in row[:4]] for row in positions]
    jumps = [i for i in range(1, len(seen)) if abs(seen[i][0] - seen[i - 1][0]) > 0.2]
    trail = seen[jumps[-1] :] if jumps else seen
    x, y, left, right = seen[-1]
    dots = format_html_join(
        "", '<circle class="poster-trail" cx="{}" cy="{}" r="0.02"></circle>', ((row[0], -row[1]) for row in trail[:-1])
    )
    paddle = '<rect class="{}" x="{}" y="{}" width="{}" height="{}"></rect>'
    size = (2 * THICK, 2 * HALF)
    return format_html(
        '<svg class="poster" viewBox="-1.04 -1.04 2.08 2.08" role="img" aria-label="A moment of a battle of {}">'
        '<rect class="poster-field" x="-1" y="-1" width="2" height="2"></rect>{}{}{}'
        '<rect class="poster-ball" x="{}" y="{}" width="{}" height="{}"></rect></svg>',
        name, dots, format_html(paddle, "poster-own", -LINE - THICK, -left - HALF, *size),
        format_html(paddle, "poster-other", LINE - THICK, -right - HALF, *size),
        x - BALL, -y - BALL, 2 * BALL, 2 * BALL,
    )  # fmt: skip


def _commanders(positions: list[list[float]], name: str) -> SafeString:
    """The units that live at the last moment: circles on the left side, squares on the right, heroes larger. What
    stands where in a row: ``static/js/watch/commanders.js``."""
    row = positions[-1]
    units = [(i < UNITS // 2, *row[at : at + PARTS]) for i, at in enumerate(range(FIRST, FIRST + UNITS * PARTS, PARTS))]
    living = [(left, 0.45 + 0.2 * (kind == 0), x, y) for left, kind, x, y, life, _ in units if life > 0]
    across, down = (1.2 + max((abs(each[k]) for each in living), default=1.0) for k in (2, 3))
    circles = format_html_join(
        "", '<circle class="poster-own" cx="{}" cy="{}" r="{}"></circle>',
        ((round(x, 2), round(y, 2), size) for left, size, x, y in living if left),
    )  # fmt: skip
    squares = format_html_join(
        "", '<rect class="poster-other" x="{}" y="{}" width="{}" height="{}"></rect>',
        ((round(x - size, 2), round(y - size, 2), 2 * size, 2 * size) for left, size, x, y in living if not left),
    )  # fmt: skip
    box = f"{-across:.2f} {-down:.2f} {2 * across:.2f} {2 * down:.2f}"
    return format_html(
        '<svg class="poster" viewBox="{}" role="img" aria-label="A moment of a battle of {}">{}{}</svg>',
        box, name, circles, squares,
    )  # fmt: skip


DRAWINGS = {"commanders": _commanders, "pong": _pong}
