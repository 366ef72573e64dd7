"""The page on which lineups of a search are replayed under somebody else: are those that the script's battles find
unfair under good play, too, and those of an agent's battles under the script?"""

from __future__ import annotations

from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from engine.config.commander import Leader, ScriptCommander
from engine.errors import ConfigError, StoreError
from webapp.accounts.people import signed_in
from webapp.balance.forms import sentence
from webapp.changes import picking, starting
from webapp.changes.reading import read
from webapp.lib.once import once_by_form
from webapp.projects.access import allowed, role_in
from webapp.studies import actions, commanders, playable
from webapp.studies.models import Job
from webapp.studies.pictures import job_for

WRONG, SHOWN = 422, 10
NOTHING = "Nothing on its shortlist, and nothing that fresh battles confirm: there is no lineup to replay."
CHOOSE = "Choose an agent that the project keeps."
CHOOSE_OTHER = "Choose the script, or an agent that the project keeps and that did not lead this search."


class Choice(NamedTuple):
    """Who may lead instead: as the form has it, as people see it in a list and in a sentence, and for the study."""

    key: str
    name: str
    called: str
    leader: Leader


def choices(search: Job) -> list[Choice]:
    """Everybody but who led the search: the script first, then agents, the latest first."""
    agents = [Choice(each.key, each.name, each.name, each.config) for each in commanders.offered(search.project)]
    if not commanders.name_in(search.config):
        return agents
    script = Choice("script", commanders.SCRIPT, commanders.BY_NAME, ScriptCommander())
    return [script, *(each for each in agents if each.key != commanders.key_of(search))]


@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Under whom; POST starts the replay."""
    search = job_for(request, slug, pk, "write" if request.method == "POST" else "read", kind="search")
    if request.method != "POST":
        return _shown(request, search)
    chosen = {each.key: each for each in choices(search)}.get(request.POST.get("agent", ""))
    if chosen is None:
        return _shown(request, search, CHOOSE_OTHER if commanders.name_in(search.config) else CHOOSE)
    try:
        lineups = picking.found(search)
        if not lineups:
            return _shown(request, search, NOTHING)
        user = signed_in(request)
        job, _ = once_by_form(
            request,
            search.project.jobs.filter(created_by=user),
            lambda kept: starting.start_under(search, user, chosen.leader, chosen.called, lineups, kept),
        )
    except ConfigError as error:
        return _shown(request, search, sentence(error.problems[0].message))
    except (StoreError, actions.Refused) as error:
        return _shown(request, search, str(error))
    assert job is not None
    return redirect("studies:job", slug, job.pk)


def _shown(request: HttpRequest, search: Job, refused: str = "") -> HttpResponse:
    context = {
        "job": search,
        "project": search.project,
        "refused": refused,
        "choices": choices(search),
        "led_by": commanders.name_in(search.config),
        "may_try": allowed(role_in(signed_in(request), search.project), "write"),
        **_lineups(search),
        "earlier": [{"job": each, "found": read(each)} for each in _earlier(search)],
    }
    return render(request, "changes/under.html", context, status=WRONG if refused else 200)


def _lineups(search: Job) -> dict[str, Any]:
    """How many are replayed, or why none can be."""
    if reason := playable.obstacle(search):
        return {"obstacle": reason, "replayed": 0}
    if not commanders.may_be_led(search):
        return {"obstacle": commanders.OTHER_GAME, "replayed": 0}
    try:
        return {"obstacle": "", "replayed": len(picking.found(search))}
    except (StoreError, ConfigError) as error:
        return {"obstacle": str(error), "replayed": 0}


def _earlier(search: Job) -> list[Job]:
    """The latest replays of its lineups under somebody else."""
    jobs = Job.objects.filter(parent=search, kind="change", config__under__isnull=False)
    return list(jobs.select_related("project", "game_version__simulator").order_by("-pk")[:SHOWN])
