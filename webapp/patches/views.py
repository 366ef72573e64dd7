"""A change that was found becomes a version of the game data, and of the lineup rules where it keeps pieces apart."""

from __future__ import annotations

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from engine.errors import ConfigError
from engine.lineups.rules import feasibility
from engine.lineups.schema import merged_patch
from webapp.accounts.models import User
from webapp.accounts.people import signed_in
from webapp.balance import saving
from webapp.balance.models import LineupRules
from webapp.games import versions
from webapp.games.specs import version_spec
from webapp.lib.digits import whole
from webapp.lib.posts import posts_only
from webapp.patches.reading import PatchesResult, PatchRow
from webapp.studies.models import Job
from webapp.studies.pictures import job_for
from webapp.studies.table_rows import latest

LONGEST_NOTE = 2000


class Unsaved(ValueError):
    """A change cannot be saved; the message says why and what to do."""


@posts_only("studies:job", "slug", "pk")
def save(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Save one of the changes that a job found."""
    job, user = job_for(request, slug, pk, "write", kind="patch"), signed_in(request)
    try:
        with transaction.atomic():
            said = _saved(job, _row(job, request.POST.get("number", "")), user)
    except (Unsaved, versions.Stale, saving.Replaced) as refused:
        messages.warning(request, str(refused))
    except ConfigError as error:
        messages.error(request, error.problems[0].message)
    else:
        messages.success(request, said)
    return redirect("studies:job", slug, pk)


def _row(job: Job, text: str) -> PatchRow:
    bundle, number = latest(job), whole(text)
    found = PatchesResult(bundle).of(number) if bundle is not None and number else None
    if found is None:
        raise Unsaved("This is none of the changes that the job found. Load the page again.")
    return found


def _saved(job: Job, row: PatchRow, user: User) -> str:
    """What was saved, in a sentence."""
    told = [
        _numbers(job, row, user) if row.table["changes"] else "",
        _rules(job, row, user) if row.table["apart"] else "",
    ]
    return " ".join(filter(None, told))


def _numbers(job: Job, row: PatchRow, user: User) -> str:
    newest = versions.current(job.project)
    if newest is None or job.game_version is None or newest.simulator_id != job.game_version.simulator_id:
        raise Unsaved("The project’s data is of another game now, so these numbers do not fit.")
    spec, changed = version_spec(newest), {each["path"]: each["after"] for each in row.table["changes"]}
    patch = merged_patch(spec, newest.patch, changed)
    if patch == newest.patch:
        return f"{newest} has these numbers already."
    note = f"{row.title}. Found by job {job.pk}."[:LONGEST_NOTE]
    new = versions.save(job.project, newest.simulator, spec, patch, user=user, note=note, base=newest.number)
    beside = (
        "" if newest == job.game_version else f" It rests on version {newest.number}; the job played on another one."
    )
    return f"Saved as {new}.{beside}"


def _rules(job: Job, row: PatchRow, user: User) -> str:
    """The lineup rules that the job played by, or the project's first, with the pair kept apart."""
    usual, _ = saving.ensure_defaults(job.project, user)
    old = saving.newest(job.lineup_rules or usual)
    config = saving.lineup_config(old)
    known = {frozenset(pair) for pair in config.apart}
    more = tuple((a, b) for a, b in row.table["apart"] if frozenset((a, b)) not in known)
    if not more:
        return f"The lineup rules “{old}” keep them apart already."
    made = config.model_copy(update={"apart": (*config.apart, *more)})
    assert job.game_version is not None
    if wrong := feasibility(version_spec(job.game_version), made):
        raise Unsaved(f"The lineup rules “{old}” cannot keep them apart: {wrong[0][1]}.")
    saving.save(LineupRules, job.project, old.name, made.model_dump(mode="json"), user, old)
    return f"The lineup rules “{old}” keep them apart now."
