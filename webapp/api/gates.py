"""Starting a gate: a build's numbers come with the request, and the answer is the job that will have a verdict."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from ninja import Header, Router
from pydantic import Field

from engine.config import parse
from webapp.accounts.models import User
from webapp.accounts.people import signed_in
from webapp.api import body
from webapp.api.auth import project_of
from webapp.api.body import BadBody
from webapp.api.jobs import BEGINNING, begun, sends
from webapp.api.shapes import Keyed
from webapp.api.starting import Changes, Number
from webapp.games import build_data, versions
from webapp.games.specs import version_spec
from webapp.games.uploads import TOO_LARGE, too_large
from webapp.gates.asking import DATA, GateIntake
from webapp.lib.once import Kept
from webapp.projects.models import Project
from webapp.studies import actions
from webapp.studies.intake import Body
from webapp.studies.models import Job

router = Router(tags=["Gates"])
FORM = "multipart/form-data"
FILE, STUDY = "data", "study"
"""The parts of a form: the build's numbers, and all else as JSON."""


class Wanted(Changes):
    """A gate to start."""

    config: dict[str, Any] = Field(
        default_factory=dict, title="The study",
        description="As in a gate’s YAML file; GET /api/v1/schema/gate describes it. Exploits that it leaves out are "
        "the lineups that the project’s newest searches have on their shortlists or confirmed.",
    )  # fmt: skip
    data: dict[str, float] = Field(
        default_factory=dict, max_length=100_000, title="Changed numbers of the build",
        description="Path to value, such as {“warhorn.cost”: 120}, on top of the game data; in a form also a file: "
        "CSV, XLSX or JSON.",
    )  # fmt: skip
    save: bool = Field(
        False, strict=True, title="Keep the data",
        description="As a new version of the project’s game data. Otherwise the gate alone plays it.",
    )  # fmt: skip
    note: str = Field("", max_length=2000, title="Note", description="Of that version.")
    game_version: Number | None = Field(None, title="Version of the game data", description="By default the newest.")
    lineup_rules: Number | None = Field(None, title="Lineup rules", description="By default the project’s first.")
    objective_set: Number | None = Field(None, title="Objectives", description="By default those of the question.")
    question: str = Field(
        "", max_length=40, title="Question", description="By default unfair: it says where the line is."
    )


@router.post(
    "/projects/{slug:project}/gates", response=BEGINNING, url_name="gates", summary="Start a gate",
    openapi_extra=sends(Wanted, {"set": {"name": "Build 1042"}, "data": {"warhorn.cost": 120}}),
)  # fmt: skip
def create(request: HttpRequest, project: str, response: HttpResponse, header: Header[Keyed]) -> Any:
    """May this build go out? The job’s exit_code says so once it is over: 0 under the line, 3 over it, 4 cannot tell, 1
    and 2 where it failed; summary.sentence says why. JSON, or a form with the file “data” (CSV, XLSX or JSON) and the
    rest as JSON in “study”. The project’s game data does not change unless save says so."""
    found, user = project_of(request, project, "write"), signed_in(request)
    sent = _sent(request, found)
    return begun(request, response, header, found, sent, lambda kept: _start(found, user, parse(Wanted, sent), kept))


def _sent(request: HttpRequest, project: Project) -> dict[str, Any]:
    """The body as a table; of a form, with the numbers of its file. Raises BadBody, ConfigError."""
    if request.content_type != FORM:
        return body.table(request)
    files = request.FILES  # read now: a file that is too large is dropped on the way
    if too_large(request):
        raise BadBody(TOO_LARGE, 413)
    strange = [*({*files} - {FILE}), *({*request.POST} - {FILE, STUDY})]
    if strange or len(files.getlist(FILE)) > 1:
        raise BadBody("A form has one file, “data”, and beside it “study” with the rest as JSON.")
    sent = body.read_table(request.POST.get(STUDY, "").encode())
    file = next(iter(files.getlist(FILE)), None)
    if file is None and FILE not in request.POST:
        return sent
    content = request.POST[FILE].encode() if file is None else file.read()
    version = versions.current(project)
    if number := sent.get("game_version"):
        version = project.versions.filter(number=number).first() if isinstance(number, int) else None
    return sent if version is None else {**sent, DATA: build_data.read(content, version)}


def _start(project: Project, user: User, wanted: Wanted, kept: Kept) -> Job:
    """The job, on its way, and the version that was to be kept. Raises ConfigError with all that is wrong."""
    names = ("game_version", "lineup_rules", "objective_set", "question", DATA)
    beside = {name: value for name in names if (value := getattr(wanted, name)) not in (None, "", {})}
    study, refers = GateIntake().first(Body("gate", project, user, wanted.config, wanted.set, beside))
    with transaction.atomic():
        if wanted.save and wanted.data:
            base = refers["game_version"]
            config: Any = study
            note = wanted.note.strip() or f"Sent with the gate “{study.name}”"
            refers["game_version"] = versions.save(
                project, base.simulator, version_spec(base), config.game.patch, user=user, note=note
            )
        return actions.submit(project, user, study, title=study.name, **refers, **kept)
