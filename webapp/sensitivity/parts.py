"""The pages of sensitivities, and what is taken away from them."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from engine.config.sensitivity import SensitivityConfig
from webapp.accounts.models import User
from webapp.lib.words import number
from webapp.sensitivity.asking import SensitivityForm, SensitivityIntake
from webapp.sensitivity.reading import PLURALS, beside, cells_of, dots, innocents, rows_of, sizes_along, unfinished
from webapp.studies.kinds import Found, Parts, Rows
from webapp.studies.models import Job
from webapp.studies.table_rows import TableRows, latest

HEADS = (
    "planting", "pieces", "name", "wanted", "effect", "low", "high", "planted", "through", "number", "value", "chance",
    "found", "innocent",
)  # fmt: skip
"""Columns of the plantings for programs."""


SHARES = [("0%", "100\u00a0%"), ("50%", "50\u00a0%"), ("100%", "0\u00a0%")]
"""Where the chart's axis names a share, from the top."""


class Planting(Parts):
    """Sensitivities: how hard did we look?"""

    intake = SensitivityIntake()
    form = SensitivityForm
    clone = "studies:again"
    question = "How hard did we look?", "Plants breaks of known size and counts how many are found."
    about = (
        "Breaks of known size are planted, one for each experiment, and how many of them such "
        "experiments find is counted. Then “nothing found” says what it leaves out."
    )
    results: ClassVar[tuple[str, ...]] = ("table",)

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """How many were found, as far as it is."""
        bundle, config = latest(job), SensitivityConfig.model_validate(job.config)
        cells = cells_of(bundle) if bundle else []
        own = {
            "cells": cells,
            "planted": [cell for cell in cells if cell.planted],
            "innocents": innocents(cells),
            "beside": beside(bundle) if bundle else [],
            "unfinished": unfinished(bundle),
            "dots": dots(cells),
            "sizes": sizes_along(cells).items(),
            "shares": SHARES,
            "kinds": [(kind, PLURALS[kind]) for kind in config.planted],
            "lost": bundle is None and bool(job.artifacts.get("table")),
            "plantings": config.many,
            "most": config.most,
        }
        return render(request, "sensitivity/job.html", context | own)

    def found(self, job: Job) -> Found | None:
        """How many of all."""
        bundle = latest(job)
        cells = [cell for cell in cells_of(bundle) if cell.planted] if bundle else []
        if not cells:
            return None
        return Found(f"{number(sum(c.found for c in cells))} of {number(sum(c.planted for c in cells))} breaks found")

    def table(self, job: Job, of: str, user: User) -> Rows:
        """A line for each planting."""
        return TableRows(HEADS, rows_of(latest(job)))
