"""Trainings, and searches for training settings."""

from __future__ import annotations

from django.apps import AppConfig


class Training(AppConfig):
    name = "webapp.training"

    def ready(self) -> None:
        from webapp.projects import home
        from webapp.studies import kinds
        from webapp.training import drafts
        from webapp.training.parts import SettingsSearches, Trainings

        kinds.register("train", Trainings())
        kinds.register("evolve", SettingsSearches())
        home.register(self.label, drafts.home)
