"""The pages about the API: a token is made, shown once and revoked; every example of the help page really works."""

from __future__ import annotations

import json
import re
import shlex
import urllib.error
import urllib.request
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from engine.config.arena import ArenaConfig
from engine.config.genes import genes
from engine.config.overrides import overridden, placed
from engine.studies import load
from tests.factories import Studio, game_version, person, studio
from webapp.api import reference, tokens
from webapp.api.models import Token
from webapp.api.v1 import v1
from webapp.projects.models import Project
from webapp.studies.kinds import begun
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db
TOKENS = "/account/tokens/"
README = Path(__file__).parents[2] / "engine" / "README.md"


@pytest.fixture
def team() -> Studio:
    made = studio()
    game_version(made.project)
    return made


@pytest.fixture
def designer(team: Studio, client: Client) -> Client:
    client.force_login(team.designer)
    return client


def form(**more: object) -> dict[str, object]:
    return {"name": "nightly build", "project": "", "days": "90", **more}


def shown(page: str) -> str:
    found = re.search(r"<code data-token>(.*?)</code>", page)
    return found[1] if found else ""


def opens(text: str) -> int:
    return Client(headers={"Authorization": f"Bearer {text}"}).get("/api/v1/projects").status_code


def test_a_token_is_shown_once_and_opens_the_api_until_it_is_revoked(team: Studio, designer: Client) -> None:
    answer = designer.post(TOKENS, form(project=team.project.pk), follow=True)
    text = shown(answer.content.decode())
    assert "no-store" in answer["Cache-Control"]
    token = Token.objects.get()
    assert (token.user, token.project, token.name) == (team.designer, team.project, "nightly build")
    assert timedelta(days=89) < token.expires_at - timezone.now() < timedelta(days=91)
    assert opens(text) == 200
    again = designer.get(TOKENS).content.decode()
    assert text not in again
    assert text not in str(dict(designer.session))
    assert "Last used" in again
    designer.post(f"{TOKENS}{token.pk}/revoke/")
    assert opens(text) == 401
    assert "Revoked" in designer.get(TOKENS).content.decode()


def test_reloading_the_page_with_a_new_token_makes_no_other(team: Studio, designer: Client) -> None:
    answer = designer.post(TOKENS, form())
    assert (answer.status_code, answer["Location"]) == (302, TOKENS)
    designer.head(TOKENS)  # shows nothing, so it uses nothing up
    assert shown(designer.get(TOKENS).content.decode())
    assert not shown(designer.get(TOKENS).content.decode())
    assert Token.objects.count() == 1


def test_what_is_typed_wrong_is_said_at_its_field_and_kept(team: Studio, designer: Client) -> None:
    elsewhere = Project.objects.create(name="Other", slug="other")
    for wrong in ({"name": ""}, {"days": "100000"}, {"project": elsewhere.pk}):
        answer = designer.post(TOKENS, form(**wrong))
        assert answer.status_code == 422
        assert b"needs a look" in answer.content
    assert not Token.objects.exists()


def test_nobody_has_more_tokens_than_anybody_can_watch(
    team: Studio, designer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "MOST", 1)
    assert designer.post(TOKENS, form()).status_code == 302
    assert b"Revoke one first" in designer.post(TOKENS, form()).content


def test_a_site_operator_sees_and_revokes_everybody_s_tokens_others_their_own(team: Studio, client: Client) -> None:
    token, text = tokens.make(team.designer, "left on a train", None, 30)
    client.force_login(team.owner)
    assert "left on a train" not in client.get(TOKENS).content.decode()
    assert client.post(f"{TOKENS}{token.pk}/revoke/").status_code == 403
    assert opens(text) == 200
    client.force_login(person("operator", is_staff=True))
    assert "left on a train" in client.get(TOKENS).content.decode()
    client.post(f"{TOKENS}{token.pk}/revoke/")
    assert opens(text) == 401


def test_the_help_page_lists_every_address_of_the_description(designer: Client) -> None:
    page = unescape(designer.get("/help/api/").content.decode())
    paths = v1.get_openapi_schema()["paths"]
    assert len(reference.places()) == sum(map(len, paths.values()))
    assert all(path in page for path in paths)
    assert "status=&kind=&page=&size=" in page


def test_both_help_pages_say_which_line_a_script_s_search_has(designer: Client) -> None:
    for address in ("/help/", "/help/api/"):
        page = " ".join(unescape(designer.get(address).content.decode()).split())
        assert "the line that its newest search was started with" in page
        assert "or else the question’s usual" in page
        assert re.search("(scripts do|a script does) not wait for random lineups", page)


def commands(page: str) -> list[list[str]]:
    """The words of each example on the page, as a shell would read them but for the variables."""
    found = re.findall(r"<code data-command>(.*?)</code>", page, re.DOTALL)
    return [shlex.split(unescape(text).replace("\\\n", " ")) for text in found]


def test_the_command_line_s_example_is_the_study_that_the_api_s_starts(team: Studio, designer: Client) -> None:
    page = designer.get("/help/api/").content.decode()
    (alone,) = re.findall(r"<code data-alone>(.*?)</code>", page, re.DOTALL)
    written, command = (shlex.split(line) for line in unescape(alone).replace("\\\n", " ").splitlines())
    assert (written[::2], command[:5]) == (["echo", ">"], ["python", "-m", "engine", "run", written[-1]])
    study = overridden(json.loads(written[1]), command[6::2])
    (sent,) = (words for words in commands(page) if '"kind": "evolve"' in " ".join(words))
    body = json.loads(sent[sent.index("-d") + 1])
    assert study == placed({"kind": body["kind"], **body["config"]}, body["set"].items())
    assert {gene.place for gene in genes(load(study))} == set(body["set"])


def run(words: list[str], variables: dict[str, str]) -> bytes:
    """What curl would do with these words."""
    for name, value in variables.items():
        words = [word.replace(f"${name}", value) for word in words]
    headers, data, method, rest = {}, None, None, iter(words[1:])
    address = ""
    for word in rest:
        if word == "-H":
            name, _, value = next(rest).partition(": ")
            headers[name] = value
        elif word == "-d":
            data = next(rest).encode()
        elif word in ("-X", "-o"):
            method = next(rest) if word == "-X" else next(rest) and method
        elif not word.startswith("-"):
            address = word
    with urllib.request.urlopen(urllib.request.Request(address, data, headers, method=method)) as answer:
        return bytes(answer.read())


@pytest.mark.django_db(transaction=True)
def test_every_example_of_the_help_page_works(live_server: LiveServer, redis_server: str) -> None:
    team = studio()
    game_version(team.project)
    client = Client(headers={"host": live_server.url.removeprefix("http://")})
    client.force_login(team.designer)
    _, text = tokens.make(team.designer, "examples", team.project, 7)
    variables, kinds = {"TOKEN": text}, []
    content = client.get("/help/api/").content.decode()
    assert all(f"<code>{kind}</code>" in content for kind in begun())
    for words in commands(content):
        answer = run(words, variables)
        found = {} if "-o" in words else json.loads(answer)
        if "plan" in found:
            assert any(line.startswith("Tournament: ") for line in found["plan"])
        if "job" in found:
            variables["JOB"] = str(found["job"])
            kinds.append(found["kind"])
    assert kinds == ["search", "arena", *["evolve"] * 4]  # the last: started, watched, stopped, cloned
    made = sorted(Job.objects.values_list("kind", flat=True))
    assert made == ["arena", "evolve", "evolve", "search", "worth"], "a search brings an experiment of its own"
    course = load(Job.objects.get(kind="arena").config)
    assert isinstance(course, ArenaConfig)
    assert (course.count, course.roster["past"].recalls) == (4, ("main",))


@pytest.mark.django_db(transaction=True)
def test_an_example_without_a_token_is_refused_in_the_shape_that_the_page_shows(live_server: LiveServer) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        run(["curl", f"{live_server.url}/api/v1/projects"], {})
    assert json.loads(refused.value.read()).keys() == {"message", "problems"}


def test_the_error_on_the_page_is_one_that_the_api_gives(team: Studio, designer: Client) -> None:
    (shown_there,) = re.findall(
        r"<code data-error>(.*?)</code>", designer.get("/help/api/").content.decode(), re.DOTALL
    )
    script = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'x', None, 7)[1]}"})
    body = {"kind": "search", "config": {"ticks": 0}, "set": {"algorithm.popluation": 50}}
    answer = script.post("/api/v1/projects/herobattle/jobs", body, content_type="application/json")
    assert answer.json() == json.loads(unescape(shown_there))


def test_the_readme_s_script_for_builds_is_the_page_s(designer: Client) -> None:
    script = reference.script("https://balance.example.org", "my-game")
    assert script.strip() in README.read_text(encoding="utf-8")


def test_the_description_says_in_which_units_a_volume_is() -> None:
    metrics = v1.get_openapi_schema()["components"]["schemas"]["JobShape"]["properties"]["metrics"]["description"]
    assert "hypervolume: what the edge beats, in units of what its first round spans" in metrics
