"""What begins by itself once something has ended. An app puts its step here when the site starts (``AppConfig.ready``);
the reconciler takes all of them every few seconds, so a step must be quick where there is nothing to do."""

from __future__ import annotations

from collections.abc import Callable

Step = Callable[[], None]
STEPS: dict[str, Step] = {}


def register(app: str, step: Step) -> None:
    """Take this step from now on."""
    STEPS[app] = step


def begin() -> None:
    """Begin all that is due."""
    for step in STEPS.values():
        step()
