"""What somebody pastes into a build, for pages about gates: ``{% load gates %}``."""

from __future__ import annotations

from typing import Any

from django import template

from engine.errors import ConfigError, StoreError
from webapp.accounts.people import signed_in
from webapp.games.called import public_config
from webapp.gates import snippets
from webapp.gates.asking import GateIntake
from webapp.studies.intake import Body
from webapp.studies.models import Job

register = template.Library()


@register.inclusion_tag("gates/snippet.html", takes_context=True)
def from_a_build(context: template.Context, job: Job | None = None) -> dict[str, Any]:
    """The step for a build server, and the same without the site: for the study of a ``job``, else for the project as
    it is now; without a study where the project has no game yet."""
    request, project = context["request"], context["project"]
    config = job.config if job is not None else None
    if config is None:
        try:
            study, _ = GateIntake().first(Body("gate", project, signed_in(request), {}, {}, {}))
            config = study.model_dump(mode="json")
        except (ConfigError, StoreError):
            config = {}
    site = request.build_absolute_uri("/").rstrip("/")
    return {
        "script": snippets.script(site, project.slug),
        "study": snippets.yaml_of(public_config(config, project)) if config else "",
        "command": snippets.command("gate.yaml"),
    }
