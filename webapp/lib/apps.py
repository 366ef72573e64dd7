"""What every other app of the site leans on."""

from django.apps import AppConfig


class LibConfig(AppConfig):
    """Registers the system checks; it has no models."""

    name = "webapp.lib"

    def ready(self) -> None:
        from webapp.lib import checks  # noqa: F401  (importing registers them)
