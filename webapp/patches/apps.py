"""Searches for the smallest change that works."""

from __future__ import annotations

from django.apps import AppConfig


class Patches(AppConfig):
    name = "webapp.patches"

    def ready(self) -> None:
        from webapp.patches.parts import Patching
        from webapp.studies import kinds

        kinds.register("patch", Patching())
