"""System checks of what came from the environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register()
def environment_values(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """One error for each environment variable whose value cannot be used."""
    return [Error(problem, id="equipoise.E001") for problem in settings.ENVIRONMENT_PROBLEMS]
