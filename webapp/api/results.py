"""What is taken away from a job: its lineups or players as rows, the numbers of its rounds, its policy. The files are
those that the pages give."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from ninja import Query, Router

from engine.errors import ConfigError, StoreError
from webapp.accounts.people import signed_in
from webapp.api.auth import job_of, project_of
from webapp.api.shapes import REFUSALS, WRITING, FormQuery, Results, ResultsQuery
from webapp.lib.words import one_of
from webapp.studies import kinds, progress
from webapp.studies.models import Job
from webapp.training import views

router = Router(tags=["Results"])
JOB = "/projects/{slug:project}/jobs/{int:number}"


def there(job: Job) -> list[str]:
    """What can be fetched of a job now, by the last part of its address."""
    parts = kinds.of(job)
    made = {role.partition("/")[0] for role in job.artifacts}
    files = [name for name, role in parts.files.items() if role in made]
    return [*(("results",) if parts.results else ()), "rounds", *files]


def _instead(job: Job) -> str:
    """What can be fetched in their place."""
    return f"There is {' and '.join(f'…/{name}' for name in there(job))}."


def _csv(content: bytes | str, name: str) -> HttpResponse:
    answer = HttpResponse(content, content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return answer


def _junit(content: bytes | None, job: Job, name: str) -> HttpResponse:
    if content is None:
        raise Http404(f"{job.study.label}: this kind of job has no JUnit XML; gates have it.")
    answer = HttpResponse(content, content_type="application/xml; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}.xml"'
    return answer


@router.get(
    f"{JOB}/results",
    response={200: Results, **REFUSALS, 422: WRITING[422], 503: WRITING[422]},
    url_name="results",
    summary="What a search found",
)
def results(request: HttpRequest, project: str, number: int, query: Query[ResultsQuery]) -> Any:
    """The front (nothing that was tried beats one of these in every number), everything evaluated, or the shortlist of
    a search for lineups, with 95 % ranges; as JSON page by page, or all of it as CSV. While the job runs: as far as it
    is. What fresh battles say of a lineup is its finding: confirmed, weak, refuted, more or close (they leave it open),
    measured (there is no line) or meant (to be so). Its verdict is strong, unsure or under, where there is a line;
    under means on average: only a finding of refuted has the whole range there. How sure it is stands beside it, in the
    words of the question."""
    job = job_of(request, project, number)
    parts = kinds.of(job)
    if not parts.results:
        raise Http404(f"{job.study.label}: this kind of job has no results. {_instead(job)}")
    of = query.of or parts.results[0]
    if of not in parts.results:
        raise Http404(f"{job.study.label}: this kind of job has no {of}; it has {one_of(parts.results)}.")
    try:
        found = parts.table(job, of, signed_in(request))
    except ConfigError as error:
        raise StoreError(str(error)) from error
    if query.form == "junit":
        return _junit(parts.junit(job), job, f"{project}-job-{number}")
    if query.form == "csv":
        return _csv(found.csv(), f"{project}-job-{number}-{of}")
    page = found.page(query.offset, query.limit)
    return {"of": of, "rows": page, "count": found.count, "offset": query.offset}


@router.get(
    f"{JOB}/rounds", response={200: dict[str, Any], **REFUSALS, 422: WRITING[422]}, url_name="rounds",
    summary="The numbers of each round",
)  # fmt: skip
def rounds(request: HttpRequest, project: str, number: int, query: Query[FormQuery]) -> Any:
    """As columns, at most some hundred rounds of them, evenly spread; or every round as CSV."""
    job = job_of(request, project, number)
    return _csv(progress.to_csv(job), f"{project}-job-{number}-rounds") if query.form == "csv" else progress.rounds(job)


@router.get(f"{JOB}/policy.zip", response={200: None, **REFUSALS}, url_name="policy", summary="The agent, as a file")
def policy(request: HttpRequest, project: str, number: int) -> Any:
    """The newest policy of a training, or of the best player of a search for settings: tensors (safetensors) and their
    description (JSON) in a ZIP file."""
    project_of(request, project)
    return views.policy(request, project, number)


@router.get(f"{JOB}/policy.onnx", response={200: None, **REFUSALS}, url_name="onnx", summary="The agent, as ONNX")
def onnx(request: HttpRequest, project: str, number: int) -> Any:
    """The policy of a training as an ONNX graph; it is made when the training ends."""
    project_of(request, project)
    return views.onnx(request, project, number)


@router.get(f"{JOB}/members.zip", response={200: None, **REFUSALS}, url_name="members", summary="A team’s members")
def members(request: HttpRequest, project: str, number: int) -> Any:
    """The policies of a team’s members, each with a folder of its own in a ZIP file: tensors, their description and an
    ONNX graph. It is made when the training ends."""
    project_of(request, project)
    return views.members(request, project, number)
