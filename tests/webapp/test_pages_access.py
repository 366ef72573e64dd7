"""Owner, team-mate, stranger (also one with projects of their own), signed out: what each may open, for every address
of the site.

A new address fails ``test_every_address_has_a_row`` until it has one here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import OperationalError, connection, transaction
from django.http import HttpResponseBase
from django.test import Client, override_settings
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from engine.config.gate import GateConfig
from engine.config.study import GameConfig
from tests.factories import PASSWORD, Studio, maker, person, search_job, signed_in, studio
from tests.webapp.agents import kept as kept_agent
from tests.webapp.agents import trained_at_pong, watched
from tests.webapp.bred import breeding
from tests.webapp.changes import search_for_changes
from tests.webapp.evolutions import evolution
from tests.webapp.experiments import DUKE, experiment, removal
from tests.webapp.hunted import hunted
from tests.webapp.published import link_to, report
from tests.webapp.rounds import grid_artifact, lineage_artifact
from tests.webapp.styles_bred import bred
from tests.webapp.test_arena import held
from tests.webapp.test_self_play import played as population
from tests.webapp.trainings import finished, of_a_team
from webapp.accounts import rights
from webapp.accounts.models import User
from webapp.api import tokens
from webapp.balance.saving import ensure_defaults
from webapp.games.models import SheetImport, Simulator
from webapp.lib.storage import store
from webapp.projects.members import invite
from webapp.projects.models import Role
from webapp.studies import companion, explore_source
from webapp.studies.models import Job, Status
from webapp.suspects import removals

pytestmark = pytest.mark.django_db

STRANGERS = frozenset({"stranger", "maker", "registrar", "operator"})
EVERYBODY = ("owner", "designer", "engineer", "producer", *sorted(STRANGERS), "nobody")
MEMBERS = frozenset({"owner", "designer", "engineer", "producer"})
WRITERS = frozenset({"owner", "designer", "engineer"})
JUDGES = frozenset({"owner", "producer"})
SHARERS = frozenset({"owner", "designer", "producer"})
SIGNED_IN = MEMBERS | STRANGERS
OPEN = SIGNED_IN | {"nobody"}
NOWHERE = re.compile(r'<a\b(?=[^>]*\shref(?:=""|=\'\'|\s|>))[^>]*>')
FORM = re.compile(r"(<form\b[^>]*>)(.*?)</form>", re.DOTALL)
KEEPS = re.compile(r" data-(keep|typed-form|typed-numbers|new-job|train)\b")
"""What keeps the words of a form: the browser's own store, or a draft on the site."""
WORDS = re.compile(r'<textarea\b[^>]*>|<input\b(?=[^>]*type="(?:text|email)")(?![^>]*inputmode)[^>]*>')
SIGNING_IN = {"accounts:sign-in", "accounts:password"}
PROJECT = "herobattle"


@dataclass(frozen=True)
class Row:
    """Who gets in with a GET and with a POST; nobody where it is None: that method must be refused to everybody (a GET
    where only POST does something leads to the page it belongs to).

    ``of_project``: a stranger is told that there is nothing, for a project's existence is not revealed. ``by_token``:
    being signed in opens nothing; who gets in with a token is in ``test_api_access.py``.
    """

    name: str
    get: frozenset[str] | None = None
    post: frozenset[str] | None = None
    of_project: bool = False
    arguments: Callable[[Studio], dict[str, Any]] = field(default=lambda team: {})
    query: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    by_token: bool = False


def of_project(name: str, get: frozenset[str] | None, post: frozenset[str] | None = None, **more: Any) -> Row:
    """A row whose address begins with the project's."""
    extra = more.pop("arguments", lambda team: {})
    return Row(name, get, post, True, lambda team: {"slug": PROJECT, **extra(team)}, **more)


def _tested(team: Studio) -> dict[str, Any]:
    """A search whose suspects were tested, so that there is a battle to watch."""
    search = team.project.jobs.get(kind="search")
    if removals.of(search) is None:
        experiment(search)
        removal(search)
    return {"pk": search.pk}


def _member(team: Studio) -> dict[str, Any]:
    return {"pk": team.project.memberships.get(user=team.producer).pk}


def _invitation(team: Studio) -> dict[str, Any]:
    return {"pk": invite(team.project, team.stranger, Role.OWNER, team.owner, "stranger").pk}


def _job(team: Studio) -> dict[str, Any]:
    return {"pk": team.project.jobs.get().pk}


def _measured(team: Studio) -> dict[str, Any]:
    search = team.project.jobs.get(kind="search")
    return {"pk": (companion.of(search) or experiment(search)).pk}


def _change(team: Studio) -> dict[str, Any]:
    job = team.project.jobs.get()
    config = {**job.config, "kind": "change", "change": {"marrow-duke.cost": 400.0}, "replayed": [], "tried": 0}
    return {"pk": Job.objects.create(project=team.project, kind="change", title="A try", config=config, parent=job,
                                     game_version=job.game_version, status=Status.FINISHED).pk}  # fmt: skip


def _recheck(team: Studio) -> dict[str, Any]:
    job = team.project.jobs.get()
    config = {**job.config, "kind": "recheck", "genomes": [[[0] * 8] * 3], "anchors": [[0, 1]], "first": 1_000_016}
    again = {"kind": "recheck", "parent": job, "status": "finished", "config": config}
    return {"pk": team.project.jobs.create(title="Re-check", game_version=job.game_version, **again).pk}


def _gate(team: Studio) -> dict[str, Any]:
    job = team.project.jobs.get()
    config = GateConfig(game=GameConfig(simulator="builtin:herobattle")).model_dump(mode="json")
    again = {"kind": "gate", "status": "finished", "config": config, "summary": {"verdict": "under"}}
    return {"pk": team.project.jobs.create(title="Build 7", game_version=job.game_version, **again).pk}


def _round(team: Studio) -> dict[str, Any]:
    job = team.project.jobs.get()
    body = {"artifacts": {"chunk": job.artifacts["archive"]}}
    job.events.create(sequence=1, kind="progressed", tick=1, at=job.finished_at, body=body)
    return {"pk": job.pk}


def _drawn(team: Studio) -> dict[str, Any]:
    """A round with a map and a lineage."""
    job = team.project.jobs.get()
    body = {"artifacts": {"grid": grid_artifact(), "lineage": lineage_artifact()}}
    job.events.create(sequence=1, kind="progressed", tick=1, at=job.finished_at, body=body)
    return {"pk": job.pk}


def _explored(team: Studio) -> dict[str, Any]:
    job = team.project.jobs.get()
    return {"pk": job.pk, "state": explore_source.key(job), "part": "core"}


def _sheet(team: Studio) -> dict[str, Any]:
    digest = store().put(b"id,cost\nmarrow-duke,640\n")
    return {"pk": SheetImport.objects.create(project=team.project, name="sheet.csv", digest=digest).pk}


def _rules(team: Studio) -> dict[str, Any]:
    return {"pk": ensure_defaults(team.project, team.owner)[0].pk}


def _objectives(team: Studio) -> dict[str, Any]:
    return {"pk": ensure_defaults(team.project, team.owner)[1].pk}


def _simulator(team: Studio) -> dict[str, Any]:
    return {"pk": Simulator.objects.get(reference="builtin:herobattle").pk}


def _agent(team: Studio) -> dict[str, Any]:
    return {"pk": kept_agent(team.project).pk}


def _to_keep(team: Studio) -> dict[str, Any]:
    return {"pk": trained_at_pong(team.project).pk}


def _bred(team: Studio) -> dict[str, Any]:
    return {"pk": bred(team.project, 1).pk}


def _hunt(team: Studio) -> dict[str, Any]:
    return {"pk": hunted(team).pk}


def _hunted(team: Studio) -> dict[str, Any]:
    return {"pk": hunted(team).pk, "number": 1}


def _population(team: Studio) -> dict[str, Any]:
    return {"pk": population(team).pk, "version": 0}


def _style_agent(team: Studio) -> dict[str, Any]:
    return {**_bred(team), "agent": 0}


def _course(team: Studio) -> dict[str, Any]:
    return {"pk": held(team).pk, "place": 1}


def _held(team: Studio) -> dict[str, Any]:
    return {"pk": held(team).pk}


def _watched(team: Studio) -> dict[str, Any]:
    return {"pk": watched(team.project, [kept_agent(team.project)]).pk}


def _training(team: Studio) -> dict[str, Any]:
    return {"pk": finished(team.project).pk}


def _team(team: Studio) -> dict[str, Any]:
    return {"pk": of_a_team(team.project).pk}


def _evolution(team: Studio) -> dict[str, Any]:
    return {"pk": evolution(team.project).pk}


def _breeding(team: Studio) -> dict[str, Any]:
    return {"pk": breeding(team.project).pk}


def _changes(team: Studio) -> dict[str, Any]:
    return {"pk": search_for_changes(team.project, team.designer).pk}


def _newest(team: Studio) -> dict[str, Any]:
    return {"number": 14}


def _token(team: Studio) -> dict[str, Any]:
    return {"pk": tokens.make(team.owner, "a build", None, 30)[0].pk}


def _report(team: Studio) -> dict[str, Any]:
    return {"pk": report(team.project.jobs.get(), team.designer).pk}


def _link(team: Studio) -> dict[str, Any]:
    made = report(team.project.jobs.get(), team.designer)
    return {"pk": made.pk, "link": link_to(made, team.designer)[0].pk}


def _shared(team: Studio) -> dict[str, Any]:
    return {"text": link_to(report(team.project.jobs.get(), team.designer), team.designer)[1].split("/")[2]}


def _published(team: Studio) -> dict[str, Any]:
    return {"project": PROJECT, "number": _report(team)["pk"]}


def _below(team: Studio) -> dict[str, Any]:
    return {"project": PROJECT}


def _its_job(team: Studio) -> dict[str, Any]:
    return {"project": PROJECT, "number": team.project.jobs.get().pk}


API: tuple[tuple[str, Callable[[Studio], dict[str, Any]]], ...] = (
    ("api-root", lambda team: {}),
    ("projects", lambda team: {}),
    ("schema", lambda team: {"kind": "search"}),
    ("project", _below),
    ("gates", _below),
    ("check", _below),
    *(("jobs", _below),) * 2,
    *((name, _its_job) for name in ("job", "stop", "pause", "resume", "clone", "recheck", "events", "results", "rounds",
                                    "policy", "onnx", "members")),
    ("reports", _below),
    ("report", _published),
    ("report-file", lambda team: {**_published(team), "kind": "html"}),
)  # fmt: skip
OPERATORS, OWNERS, REGISTRARS = frozenset({"operator"}), frozenset({"owner"}), frozenset({"registrar", "operator"})
ROWS = (
    Row("health", OPEN),
    Row("metrics", OPERATORS),
    Row("accounts:sign-in", OPEN, OPEN),
    Row("accounts:sign-out", None, SIGNED_IN),
    Row("accounts:password", SIGNED_IN, SIGNED_IN),
    Row("accounts:people", OPERATORS),
    Row("accounts:person-new", OPERATORS, OPERATORS),
    Row("accounts:person", OPERATORS, OPERATORS, arguments=lambda team: {"pk": team.stranger.pk}),
    Row(
        "games:code-right", None, OPERATORS, arguments=lambda team: {"pk": team.stranger.pk}, data={"right": "withdraw"}
    ),
    Row("projects:home", SIGNED_IN),
    Row("projects:help", SIGNED_IN),
    Row("projects:create", SIGNED_IN, SIGNED_IN),
    of_project("projects:detail", MEMBERS),
    of_project("projects:members", MEMBERS, OWNERS),
    of_project("projects:member-change", None, OWNERS, arguments=_member),
    of_project("projects:member-remove", None, OWNERS, arguments=_member),
    of_project("projects:leave", None, MEMBERS),
    of_project("projects:invitation-back", None, OWNERS, arguments=_invitation),
    Row("projects:invitation", None, frozenset({"stranger"}), arguments=_invitation, data={"answer": "accept"}),
    of_project("games:data", MEMBERS),
    of_project("games:choose", None, WRITERS),
    of_project("games:row", WRITERS, query="?row=marrow-duke"),
    of_project("games:edit", None, WRITERS),
    of_project("games:import", WRITERS, WRITERS),
    of_project("games:import-progress", WRITERS, WRITERS),
    of_project("games:sheet", WRITERS, WRITERS, arguments=_sheet),
    of_project("games:version", MEMBERS, arguments=_newest),
    of_project("games:restore", None, WRITERS, arguments=_newest),
    of_project("games:adopt", WRITERS, WRITERS, data={"action": "save"}),
    of_project("games:export", MEMBERS),
    Row("games:simulators", REGISTRARS),
    Row("games:simulator-new", REGISTRARS, REGISTRARS),
    Row("games:simulator", REGISTRARS, arguments=_simulator),
    Row("games:simulator-change", OPERATORS, OPERATORS, arguments=_simulator),
    Row("games:simulator-switch", None, OPERATORS, arguments=_simulator, data={"switch": "off"}),
    Row("games:simulator-test", None, REGISTRARS, arguments=_simulator),
    Row("games:simulator-stop", None, REGISTRARS, arguments=_simulator),
    of_project("balance:lineups", MEMBERS),
    of_project("balance:lineup-new", WRITERS, WRITERS),
    of_project("balance:lineup-check", None, WRITERS),
    of_project("balance:lineup-edit", MEMBERS, WRITERS, arguments=_rules),
    of_project("balance:objectives", MEMBERS),
    of_project("balance:objective-new", WRITERS, WRITERS),
    of_project("balance:objective-sample", None, WRITERS, query="?part=0"),
    of_project("balance:objective-edit", MEMBERS, WRITERS, arguments=_objectives),
    Row("studies:events", MEMBERS, None, True, query=f"?project={PROJECT}&poll=1"),
    of_project("studies:jobs", MEMBERS),
    of_project("studies:new", WRITERS, WRITERS),
    of_project("studies:results", MEMBERS, arguments=_job),
    of_project("studies:book", MEMBERS, arguments=_measured),
    of_project("studies:ask", WRITERS, WRITERS, arguments=lambda team: {"kind": "evaluate"}),
    of_project("studies:before", None, WRITERS, arguments=lambda team: {"kind": "hunt"}),
    of_project("studies:preview", None, WRITERS),
    of_project("studies:forget", None, WRITERS),
    of_project("studies:ask-again", None, WRITERS, arguments=_newest),
    of_project("studies:job", MEMBERS, arguments=_job),
    of_project("studies:compare", MEMBERS),
    of_project("studies:compare-csv", MEMBERS),
    of_project("studies:stop", None, WRITERS, arguments=_job),
    of_project("studies:pause", None, WRITERS, arguments=_job),
    of_project("studies:resume", None, WRITERS, arguments=_job),
    of_project("studies:clone", None, WRITERS, arguments=_job),
    of_project("studies:again", None, WRITERS, arguments=_hunt),
    of_project("studies:front", MEMBERS, arguments=_job),
    of_project("studies:around", MEMBERS, arguments=_round, query="?tick=1"),
    of_project("studies:course", MEMBERS, arguments=_job),
    of_project("studies:grid", MEMBERS, arguments=_drawn, query="?tick=1"),
    of_project("studies:lineage", MEMBERS, arguments=_drawn, query="?tick=1"),
    of_project("studies:rounds", MEMBERS, arguments=_job),
    of_project("studies:checked", MEMBERS, arguments=_recheck),
    of_project("training:new", WRITERS, WRITERS),
    of_project("training:preview", None, WRITERS),
    of_project("training:forget", None, WRITERS),
    of_project("training:evolve", WRITERS, WRITERS),
    of_project("training:evolve-preview", None, WRITERS),
    of_project("training:evolve-forget", None, WRITERS),
    of_project("styles:new", WRITERS, WRITERS),
    of_project("styles:preview", None, WRITERS),
    of_project("styles:forget", None, WRITERS),
    of_project("styles:control", None, WRITERS, arguments=_breeding),
    of_project("training:players", MEMBERS, arguments=_evolution),
    of_project("training:clone", None, WRITERS, arguments=_training),
    of_project("training:policy", MEMBERS, arguments=_training),
    of_project("training:onnx", MEMBERS, arguments=_training),
    of_project("training:members", MEMBERS, arguments=_team),
    of_project("training:curve", MEMBERS, arguments=_training),
    of_project("agents:list", MEMBERS),
    of_project("agents:keep", MEMBERS, WRITERS, arguments=_to_keep),
    of_project("agents:watch-left", None, WRITERS, arguments=_to_keep),
    of_project("agents:agent", MEMBERS, WRITERS, arguments=_agent),
    of_project("agents:undo", None, WRITERS, arguments=_agent),
    of_project("agents:delete", None, WRITERS, arguments=_agent, data={"choice": "delete"}),
    of_project("agents:measure", None, WRITERS, arguments=_agent),
    of_project("agents:measure-old", None, WRITERS),
    of_project("agents:take-home", MEMBERS, arguments=_agent),
    of_project("agents:clip", MEMBERS, arguments=_agent),
    of_project("agents:play", MEMBERS, arguments=_agent),
    of_project("agents:weights", MEMBERS, arguments=_agent),
    of_project("agents:watch", MEMBERS, WRITERS),
    of_project("agents:battles", MEMBERS, arguments=_watched),
    of_project("agents:battles-data", MEMBERS, arguments=_watched),
    of_project("agents:another", None, WRITERS, arguments=_watched, data={"seed": "4"}),
    of_project("hunts:bug", MEMBERS, arguments=_hunted),
    of_project("hunts:watch", None, WRITERS, arguments=_hunted),
    of_project("self-play:watch", None, WRITERS, arguments=_population),
    of_project("starts:compare", MEMBERS),
    of_project("training:compare", MEMBERS),
    of_project("self-play:keep", None, WRITERS, arguments=_population),
    of_project("styles:map", MEMBERS, arguments=_bred),
    of_project("styles:map-agent", MEMBERS, arguments=_style_agent),
    of_project("styles:map-difficulties", MEMBERS, arguments=_style_agent),
    of_project("styles:map-keep", None, WRITERS, arguments=_style_agent),
    of_project("styles:breed", None, WRITERS, arguments=lambda team: {"pk": kept_agent(team.project).pk}),
    of_project("arena:watch", None, WRITERS, arguments=_course),
    of_project("arena:watch-past", None, WRITERS, arguments=_held, data={"lesson": "1", "match": "0"}),
    of_project("styles:map-watch", None, WRITERS, arguments=_bred, data={"agent": "0"}),
    of_project("studies:explore", MEMBERS, arguments=_job),
    of_project("studies:explore-data", MEMBERS, arguments=_explored),
    of_project("studies:explore-state", MEMBERS, arguments=_job),
    of_project("studies:explore-line", None, WRITERS, arguments=_job),
    of_project("studies:explore-shortlist", None, WRITERS, arguments=_job),
    of_project("studies:explore-recheck", None, WRITERS, arguments=_job),
    of_project("studies:export-csv", MEMBERS, arguments=_job),
    of_project("studies:export-xlsx", MEMBERS, arguments=_job),
    of_project("studies:export-html", MEMBERS, arguments=_job),
    of_project("suspects:page", MEMBERS, arguments=_job),
    of_project("suspects:decide", None, WRITERS, arguments=_job, data={"choice": "fix"}),
    of_project("suspects:measure", None, WRITERS, arguments=_job),
    of_project("gates:history", MEMBERS),
    of_project("gates:junit", MEMBERS, arguments=_gate),
    of_project("reports:compose", MEMBERS, WRITERS, arguments=_job),
    of_project("reports:preview", None, WRITERS, arguments=_job),
    of_project("reports:forget", None, WRITERS, arguments=_job),
    of_project("reports:list", MEMBERS),
    of_project("reports:page", MEMBERS, arguments=_report),
    of_project("reports:judge", None, JUDGES, arguments=_report, data={"choice": "accept"}),
    of_project("reports:comment", None, MEMBERS, arguments=_report, data={"text": "Hm"}),
    of_project("reports:share", None, SHARERS, arguments=_report, data={"days": 14}),
    of_project("reports:take-back", None, SHARERS, arguments=_link),
    of_project("reports:html", MEMBERS, arguments=_report),
    of_project("reports:pdf", MEMBERS, arguments=_report),
    of_project("reports:printing", MEMBERS, arguments=_report),
    of_project("reports:xlsx", MEMBERS, arguments=_report),
    Row("reports:shared", OPEN, arguments=_shared),
    of_project("patches:save", None, WRITERS, arguments=_changes, data={"number": "1"}),
    of_project("changes:page", MEMBERS, WRITERS, arguments=_job),
    of_project("changes:under", MEMBERS, WRITERS, arguments=_job),
    of_project("changes:trial", MEMBERS, arguments=_change),
    of_project("changes:save", None, WRITERS, arguments=_change),
    of_project("changes:search", None, WRITERS, arguments=_change),
    of_project("suspects:test", None, WRITERS, arguments=_job),
    of_project("suspects:battle", MEMBERS, arguments=_tested, query=f"?suspect={DUKE}"),
    Row("api:tokens", SIGNED_IN, SIGNED_IN),
    Row("api:revoke", None, OWNERS | OPERATORS, arguments=_token),
    Row("api:help", SIGNED_IN),
    Row("api:description", OPEN),
    *(Row(f"api-v1:{name}", by_token=True, arguments=arguments) for name, arguments in API),
)


def addresses(patterns: list[URLPattern | URLResolver], space: str = "") -> Iterator[str]:
    """The name of every address, with its namespace."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{space}{pattern.namespace}:" if pattern.namespace else space
            yield from addresses(pattern.url_patterns, inner)
        else:
            yield f"{space}{pattern.name or pattern.pattern}"


@pytest.fixture
def team() -> Studio:
    made = studio(PROJECT)
    search_job(made.project, rows=40)
    return made


@pytest.fixture
def people(team: Studio) -> dict[str, User | AnonymousUser]:
    roles = {role: getattr(team, role) for role in (*MEMBERS, "stranger")}
    registrar, operator = maker("registrar"), person("operator", is_staff=True)
    rights.grant(registrar, operator)
    return {**roles, "maker": maker(), "registrar": registrar, "operator": operator, "nobody": AnonymousUser()}


def client_of(user: User | AnonymousUser) -> Client:
    return signed_in(user) if isinstance(user, User) else Client()


def verdict(row: Row, who: str, allowed: frozenset[str] | None, answer: HttpResponseBase) -> str:
    """Empty when the answer is as the row says; otherwise what is wrong."""
    code, location = answer.status_code, answer.headers.get("Location", "")
    to_sign_in = location.startswith("/sign-in/?next=") or (code == 401 and row.name.startswith("api"))
    if row.by_token:
        good = code in {401, 404, 405}
    elif allowed is None and row.get is None and who != "nobody" and code == 302:  # shown the page it belongs to
        good = not to_sign_in
    elif who == "nobody" and "nobody" not in (allowed or frozenset()):
        good = to_sign_in or code in {404, 405}
    elif row.of_project and who in STRANGERS:
        good = code in {404, 405}
    elif allowed is None:
        good = code == 405
    elif who in allowed:
        good = row.name == "health" or (code not in {401, 403, 404, 405} and code < 500 and not to_sign_in)
    else:
        good = code == 403
    return "" if good else f"{who}: {code} {location}"


def kept(who: str, answer: HttpResponseBase) -> str:
    """Empty when no browser keeps the answer for whoever goes back after its reader signed out; pictures and data,
    which no page of a browser's history is, may be kept by its reader's browser."""
    said = answer.headers.get("Cache-Control", "")
    page = answer.headers.get("Content-Type", "").startswith("text/html")
    return "" if "no-store" in said or ("private" in said and not page) else f"{who}: may be kept: {said!r}"


def parameter(row: Row) -> Any:
    """The event stream reads in threads of its own, which see only what is committed."""
    marks = [pytest.mark.django_db(transaction=True)] if row.name == "studies:events" else []
    return pytest.param(row, id=row.name, marks=marks)


@pytest.mark.parametrize("row", [parameter(row) for row in ROWS])
def test_only_those_who_may_get_in(
    row: Row, team: Studio, people: dict[str, User | AnonymousUser], redis_server: str
) -> None:
    address = reverse(row.name, kwargs=row.arguments(team)) + row.query
    wrong = []
    # The owner last: what others are refused must still be there to be refused.
    clients = {who: client_of(people[who]) for who in sorted(EVERYBODY, key=lambda who: who == "owner")}
    for method, allowed in (("get", row.get), ("post", row.post)):
        for who, client in clients.items():
            answer = getattr(client, method)(address, row.data)
            told = verdict(row, who, allowed, answer), "" if who == "nobody" or row.by_token else kept(who, answer)
            wrong += [f"{method} {each}" for each in told if each]
    assert not wrong, wrong


def page_of(row: Row, team: Studio, people: dict[str, User | AnonymousUser]) -> str:
    """The page of a row; empty where it has none. What the row writes is taken back."""
    with transaction.atomic():
        who = next(who for who in ("owner", "operator", "stranger") if who in (row.get or ()))
        answer = client_of(people[who]).get(reverse(row.name, kwargs=row.arguments(team)) + row.query)
        transaction.set_rollback(True)
    html = answer.headers.get("Content-Type", "").startswith("text/html") and not answer.streaming
    return answer.content.decode() if html else ""


def lost_text(page: str) -> list[str]:
    """The fields for words of a page's forms that nothing keeps until they are sent."""
    forms = [form for form in FORM.findall(page) if 'method="post"' in form[0] and not KEEPS.search(form[0])]
    return [field for _, inner in forms for field in WORDS.findall(inner) if "data-ctrl-enter" not in field]


def test_no_link_of_any_page_leads_nowhere_and_what_is_typed_on_it_is_kept(
    team: Studio, people: dict[str, User | AnonymousUser], redis_server: str
) -> None:
    pages = [row for row in ROWS if row.get and not row.by_token and row.name != "studies:events"]
    shown = {row.name: page_of(row, team, people) for row in pages}
    assert not {name: found for name, page in shown.items() if (found := NOWHERE.findall(page))}
    lost = {name: found for name, page in shown.items() if name not in SIGNING_IN and (found := lost_text(page))}
    assert not lost


def test_the_buttons_of_a_job_and_of_its_explorer_lead_to_one_another(team: Studio, redis_server: str) -> None:
    job = team.project.jobs.get()
    Job.objects.filter(pk=job.pk).update(status=Status.FAILED, message="The store is full.")
    client = client_of(team.designer)
    here, there = (reverse(name, args=[PROJECT, job.pk]) for name in ("studies:job", "studies:explore"))
    button = re.search(r'<a class="btn[^"]*" data-explore href="([^"]*)"', client.get(here).content.decode())
    assert button is not None
    assert button[1] == there
    assert f'<a href="{here}">Look at the job</a>' in client.get(button[1]).content.decode()


def test_every_address_has_a_row() -> None:
    found = sorted(addresses(get_resolver().url_patterns))
    assert found == sorted(row.name for row in ROWS)


class Unwritable:
    """A database without room. ``refused``: of something else than sessions, which are dropped."""

    def __init__(self) -> None:
        self.refused = False

    def __call__(self, execute: Callable[..., Any], sql: str, *given: Any) -> Any:
        if sql.startswith(("INSERT", "UPDATE", "DELETE")):
            self.refused |= "django_session" not in sql
            raise OperationalError("database or disk is full")
        return execute(sql, *given)


def answered_without_room(row: Row, team: Studio, people: dict[str, User | AnonymousUser]) -> str:
    """What a POST is answered whose changes cannot be written; empty where it says so, or would change nothing."""
    with transaction.atomic():
        who = next(who for who in ("owner", "operator", "stranger") if who in (row.post or ()))
        address, client = reverse(row.name, kwargs=row.arguments(team)) + row.query, client_of(people[who])
        full = Unwritable()
        with connection.execute_wrapper(full), override_settings(DISK_RESERVE=2**60):
            answer = client.post(address, FILLED.get(row.name, row.data))
        transaction.set_rollback(True)
    return f"{row.name}: {answer.status_code}" if full.refused and answer.status_code < 400 else ""


FILLED: dict[str, dict[str, Any]] = {
    "projects:create": {"name": "Arena"},
    "projects:members": {"person": "stranger", "role": "designer"},
    "projects:member-change": {"role": "designer"},
    "accounts:sign-in": {"username": "herobattle-owner", "password": PASSWORD},
    "accounts:person-new": {"username": "late", "email": "late@example.org", "password": "a long pass phrase"},
    "accounts:person": {"username": "stranger", "email": "other@example.org", "is_active": "on"},
    "games:simulator-new": {"name": "Late", "kind": "builtin", "target": "herobattle"},
    "balance:lineup-new": {"name": "Late", "teams": "3"},
    "api:tokens": {"name": "a build", "days": "30"},
    "studies:explore-shortlist": {"action": "add", "lineup": "12", "reason": "Odd"},
    "reports:compose": {"title": "Late", "words": "Late"},
}
"""Forms whose row sends an empty one."""


def test_no_answer_says_done_where_nothing_could_be_written(
    team: Studio, people: dict[str, User | AnonymousUser], redis_server: str
) -> None:
    rows = [row for row in ROWS if row.post and not row.by_token]
    assert [found for row in rows if (found := answered_without_room(row, team, people))] == []
