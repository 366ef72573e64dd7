"""How hard an experiment looked, on its pages: ``{% load sensitivity %}``."""

from __future__ import annotations

from typing import Any

from django import template
from django.urls import reverse
from django.utils.http import urlencode

from webapp.accounts.people import signed_in
from webapp.projects.access import allowed, role_in
from webapp.sensitivity.asking import measurable
from webapp.sensitivity.figures import counted, going, measured
from webapp.sensitivity.reading import innocents
from webapp.studies.models import Job

register = template.Library()


@register.inclusion_tag("sensitivity/summary.html", takes_context=True)
def sensitivity_of(context: template.Context, experiment: Job, nothing: bool = False) -> dict[str, Any]:
    """How often an experiment as long as this one finds breaks, or that nobody measured it and how to do so;
    ``nothing``: it found nothing."""
    person, project = signed_in(context["request"]), experiment.project
    found = measured(experiment)
    cells = counted(found) if found else []
    form = reverse("studies:ask", args=[project.slug, "sensitivity"])
    may = allowed(role_in(person, project), "write") and measurable(experiment)
    return {
        "project": project,
        "measured": found,
        "cells": cells,
        "innocents": innocents(cells),
        "going": None if found else going(experiment),
        "nothing": nothing,
        "begin": f"{form}?{urlencode({'experiment': experiment.pk})}" if may else "",
    }
