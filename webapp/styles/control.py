"""The control of a search for styles: the same trainings with selection switched off."""

from __future__ import annotations

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest
from django.urls import reverse

from engine.config import parse
from engine.config.styles import StylesConfig
from engine.errors import ConfigError
from webapp.accounts.people import signed_in
from webapp.projects.models import Project
from webapp.studies import actions
from webapp.studies.models import Job, Status
from webapp.studies.pictures import job_for

TITLE = "Control: "
ALL_STAY = "Everybody stays after a first round, and this search has no other: there is no choice to leave to chance."


def chose(job: Job) -> bool:
    """Whether a search has selected anybody, or will: not after its first round, the only one of some."""
    return int(job.tick if job.terminal else job.config["ticks"]) > 1


def chosen_by(job: Job) -> str:
    """What has decided which of a job's agents stay: the ``episodes`` that measured them, or ``chance``; empty while
    nobody has had to leave, as after a first round."""
    if job.tick < 2:
        return ""
    return "episodes" if job.config["selection"] else "chance"


def of(job: Job) -> Job | None:
    """The control of a search: the latest that was not stopped and did not fail; none where nobody was selected."""
    if not chose(job):
        return None
    runs = Job.objects.filter(parent=job, kind="style", config__selection=False)
    return runs.exclude(status__in=(Status.STOPPED, Status.FAILED)).order_by("-pk").first()


def begun(request: HttpRequest, slug: str, pk: int) -> str:
    """The address of the control, which is started where there is none; of the search where that is not possible."""
    job = job_for(request, slug, pk, "write", kind="style")
    if not job.config["selection"]:
        raise Http404("This job is a control itself.")
    user = signed_in(request)
    try:
        if not chose(job):
            raise actions.Refused(ALL_STAY)
        study = parse(StylesConfig, {**job.config, "selection": False, "name": f"{TITLE}{job.title}"[:120]})
        with transaction.atomic():
            # Of two at once, the second finds what the first began.
            Project.objects.select_for_update(no_key=True).get(pk=job.project_id)
            found = of(job) or actions.submit(
                job.project, user, study, title=study.name, template=job.template, parent=job
            )
    except (ConfigError, actions.Refused) as error:
        messages.warning(request, str(error))
        found = job
    return reverse("studies:job", args=[slug, found.pk])
