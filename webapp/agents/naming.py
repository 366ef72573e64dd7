"""How an agent that somebody keeps gets its name: as it was typed, as usual, or asked for anew."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from webapp.agents import edits
from webapp.agents.edits import NameTaken
from webapp.agents.forms import KeepForm
from webapp.agents.models import Agent
from webapp.studies.actions import Refused
from webapp.studies.models import Job

WRONG = 422


def keep_named(
    request: HttpRequest, job: Job, keep: Callable[[str], Agent], back: str, **beside: str
) -> Agent | HttpResponse:  # fmt: skip
    """The agent of a job that ``keep`` keeps under the name that was typed (empty: as usual); or else the page that
    asks for another name, with what else was sent (``beside``), and where keeping is refused the way ``back``."""
    form = KeepForm(request.POST)
    if not form.is_valid():
        return _ask_anew(request, job, form, beside)
    name = form.cleaned_data["name"]
    try:
        kept = keep(name)
    except NameTaken as taken:
        form.add_error("name", str(taken))
        return _ask_anew(request, job, form, beside)
    except Refused as refused:
        messages.warning(request, str(refused))
        return redirect(back)
    if said := edits.kept_before(kept, name):
        messages.info(request, said)
    return kept


def page_of(kept: Agent | HttpResponse) -> HttpResponse:
    """The page of an agent that was kept; whatever else is answered as it is."""
    return redirect("agents:agent", kept.project.slug, kept.pk) if isinstance(kept, Agent) else kept


def _ask_anew(request: HttpRequest, job: Job, form: KeepForm, beside: dict[str, str]) -> HttpResponse:
    """A page that asks for another name, with what is wrong with the one that was typed."""
    context = {"project": job.project, "job": job, "form": form, "beside": beside.items()}
    return render(request, "agents/name.html", context, status=WRONG)
