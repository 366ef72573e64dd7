"""How often Ray was too slow to come up: its owner (``deploy.up.ray_owner``) starts it again and again."""

from __future__ import annotations

from django.conf import settings

from webapp.lib.words import plural


def too_slow() -> int:
    """How many tries were since Ray last came up."""
    try:
        return int(settings.RAY_ADDRESS_FILE.with_suffix(".failures").read_text())
    except (OSError, ValueError):
        return 0


def sentences() -> str:
    """Why what needs Ray still waits for it to come up."""
    if tries := too_slow():
        return f"This machine is too busy: {plural(tries, 'try', 'tries')} took too long. The next has more time."
    return "That takes some seconds after a start, and minutes while the machine is busy."
