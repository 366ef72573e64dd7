"""What is taken away from a training: the policy, its ONNX graph, and the curve; and trainings side by side."""

from __future__ import annotations

import io
import zipfile
from pathlib import PurePosixPath

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from engine.errors import StoreError
from webapp.lib.queries import choice
from webapp.lib.storage import store
from webapp.projects.access import project_for
from webapp.studies import kinds
from webapp.studies.compare.trainings import MOST
from webapp.studies.compare.views import asked
from webapp.studies.models import Job
from webapp.studies.pictures import job_for
from webapp.studies.progress import to_csv
from webapp.training.comparison import TIME, TrainingsComparison
from webapp.training.pages import learning

NO_FILE = "This job gives no such file. Keep its agent: what is downloaded of a saved agent holds an ONNX graph."
_FILES = {"policy.safetensors": "policy", "policy.json": "policy_description"}


def _trained(request: HttpRequest, slug: str, pk: int, file: str) -> Job:
    """A job of the project that gives such a file. Raises Http404 for one of another kind."""
    job = job_for(request, slug, pk)
    files = kinds.of(job).files
    if file not in files:
        raise Http404(NO_FILE if "policy.zip" in files else "This job trains no agent.")
    return job


def _artifact(job: Job, role: str) -> bytes:
    digest = job.artifacts.get(role, "")
    if not digest:
        raise Http404("This training has not got that far yet.")
    try:
        return store().get(digest)
    except StoreError as error:
        raise Http404(str(error)) from error


def _of(role: str, policy: str) -> str:
    """A policy's artifact, by its role alone where only one learns."""
    return f"{role}/{policy}" if policy else role


def _file(data: bytes | str, name: str, kind: str) -> HttpResponse:
    answer = HttpResponse(data, content_type=kind)
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    answer["Cache-Control"] = "no-store"
    return answer


@require_safe
def policy(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The newest policy, or the best player of a search for settings: its tensors and their description. Where several
    learn, those of all, or of the one that ``of`` names."""
    job = _trained(request, slug, pk, "policy.zip")
    several = [role.partition("/")[2] for role in job.artifacts if role == "policy" or role.startswith("policy/")]
    chosen = choice(request, "of", ["", *several])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for of in [chosen] if chosen else several or [""]:
            for name, role in _FILES.items():
                archive.writestr(str(PurePosixPath(of, name)), _artifact(job, _of(role, of)))
    return _file(packed.getvalue(), f"{_name(job, chosen)}.zip", "application/zip")


def _name(job: Job, of: str, what: str = "policy") -> str:
    return "-".join(part for part in (what, str(job.pk), of) if part)


@require_safe
def onnx(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The policy as an ONNX graph, made when the training ends; where several learn, ``of`` says which."""
    job = _trained(request, slug, pk, "policy.onnx")
    of = choice(request, "of", learning(job) or [""])
    return _file(_artifact(job, _of("onnx", of)), f"{_name(job, of)}.onnx", "application/octet-stream")


@require_safe
def members(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The policies of a team's members, each to be played by itself; where several teams learn, ``of`` says which."""
    job = _trained(request, slug, pk, "members.zip")
    of = choice(request, "of", learning(job) or [""])
    return _file(_artifact(job, _of("members", of)), f"{_name(job, of, 'members')}.zip", "application/zip")


@require_safe
def curve(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Every number of every round."""
    job = job_for(request, slug, pk)
    return _file(to_csv(job), f"curve-{job.pk}.csv", "text/csv; charset=utf-8")


@require_safe
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """``?job=3&job=5``: those trainings, over decisions or, with ``along=time``, over minutes; without any, the choice
    of them."""
    project = project_for(request, slug)
    found = TrainingsComparison(project, asked(request.GET), choice(request, "along", ["", TIME]))
    return render(request, "training/compare.html", {"project": project, "found": found, "most": MOST})
