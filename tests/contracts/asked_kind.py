"""What every kind of study promises that is started by the form of the page that all such kinds share: it is offered,
the form and the API start it and say what is wrong at its place, its page is its team's, and it runs again with
changes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.test import Client
from django.urls import reverse

from tests.factories import Studio, game_version, signed_in
from webapp.api import tokens
from webapp.studies import kinds
from webapp.studies.models import Job


def form(team: Studio, kind: str) -> str:
    return reverse("studies:ask", args=[team.project.slug, kind])


def page(job: Job) -> str:
    return reverse("studies:job", args=[job.project.slug, job.pk])


def told(config: Mapping[str, Any], place: str) -> Any:
    """What a study says at a place."""
    found: Any = config
    for part in place.split("."):
        found = found[part]
    return found


class AskedKindContract:
    """``typed``: what somebody types; ``least``: what has to be there; ``becomes``: what the study then says, by place;
    ``wrong``: (what is typed instead, the field that says so, what it says); ``asks``: settings for the API;
    ``refused``: (settings instead, where the API says so); ``games`` are offered, ``not_games`` are not."""

    kind: ClassVar[str]
    typed: ClassVar[Mapping[str, Any]]
    least: ClassVar[Mapping[str, Any]]
    title: ClassVar[str]
    becomes: ClassVar[Mapping[str, Any]]
    usually: ClassVar[Mapping[str, Any]] = {}
    wrong: ClassVar[Sequence[tuple[Mapping[str, Any], str, str]]]
    asks: ClassVar[Mapping[str, Any]]
    refused: ClassVar[Sequence[tuple[Mapping[str, Any], str]]]
    games: ClassVar[Sequence[str]]
    not_games: ClassVar[Sequence[str]]

    def played(self, team: Studio) -> Job:
        """One that has ended."""
        raise NotImplementedError("give the contract a job that has ended")

    def test_it_is_offered_and_offers_its_games(self, team: Studio, designer: Client) -> None:
        new = reverse("studies:new", args=[team.project.slug])
        assert form(team, self.kind) in designer.get(new).content.decode(), "without data"
        game_version(team.project)
        assert form(team, self.kind) in designer.get(new).content.decode()
        content = designer.get(form(team, self.kind)).content.decode()
        for game in self.games:
            assert f'value="{game}"' in content
        for game in self.not_games:
            assert f'value="{game}"' not in content

    def test_it_starts_what_was_typed(self, team: Studio, designer: Client) -> None:
        answer = designer.post(form(team, self.kind), self.typed)
        job = Job.objects.get(kind=self.kind)
        assert answer["Location"] == page(job)
        assert job.title == self.title
        for place, value in self.becomes.items():
            assert told(job.config, place) == value, (place, told(job.config, place))
        assert "The first round is not complete yet" in designer.get(page(job)).content.decode()

    def test_with_nothing_typed_it_is_as_usual(self, team: Studio, designer: Client) -> None:
        assert designer.post(form(team, self.kind), self.least).status_code == 302
        config = Job.objects.get(kind=self.kind).config
        for place, value in self.usually.items():
            assert told(config, place) == value, (place, told(config, place))

    def test_it_runs_again_with_changes(self, team: Studio, designer: Client) -> None:
        designer.post(form(team, self.kind), self.typed)
        first = Job.objects.get(kind=self.kind)
        answer = designer.post(reverse("studies:again", args=[team.project.slug, first.pk]))
        filled = designer.get(answer["Location"]).context["form"].initial
        designer.post(answer["Location"], {name: value for name, value in filled.items() if value is not None})
        second = Job.objects.filter(kind=self.kind).latest("pk")
        assert second.pk != first.pk
        assert second.config == first.config

    def test_what_is_wrong_stands_at_its_field_and_nothing_starts(self, team: Studio, designer: Client) -> None:
        for change, field, why in self.wrong:
            answer = designer.post(form(team, self.kind), {**self.typed, **change})
            assert answer.status_code == 422, change
            said = answer.context["form"].errors
            assert set(said) == {field}, (change, said)
            assert why in " ".join(said[field]), said
            before = designer.post(f"{form(team, self.kind)}before/", {**self.typed, **change}).content.decode()
            assert "field-error" in before, change
        assert not Job.objects.listed().filter(kind=self.kind).exists()

    def test_a_program_starts_it_or_is_told_what_is_wrong_at_its_place(self, team: Studio) -> None:
        client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})

        def ask(more: Mapping[str, Any]) -> Any:
            body = json.dumps({"kind": self.kind, "config": {**self.asks, **more}})
            return client.post(f"/api/v1/projects/{team.project.slug}/jobs", body, content_type="application/json")

        for more, place in self.refused:
            answer = ask(more)
            assert answer.status_code == 422, more
            assert place in {problem["place"] for problem in answer.json()["problems"]}, answer.json()
        assert ask({}).status_code == 201

    def test_only_its_team_sees_it_and_what_it_left_can_be_kept(self, team: Studio) -> None:
        job = self.played(team)
        for user, status in ((team.owner, 200), (team.producer, 200), (team.stranger, 404)):
            assert signed_in(user).get(page(job)).status_code == status
        parts = kinds.of(job)
        if parts.gives:
            keep = signed_in(team.designer).get(reverse("agents:keep", args=[team.project.slug, job.pk]))
            assert "Keep" in keep.content.decode()
        assert parts.work(job) == 1


class AllMistakesContract(AskedKindContract):
    """Also one whose form and API say mistakes of every kind at once. ``muddled``: what is typed with several, and all
    fields that say so; ``mixed``: the same for the API."""

    muddled: ClassVar[tuple[Mapping[str, Any], set[str]]]
    mixed: ClassVar[tuple[Mapping[str, Any], set[str]]]

    def test_mistakes_of_every_kind_are_said_at_once_and_nothing_that_was_typed_is_lost(
        self, team: Studio, designer: Client
    ) -> None:
        change, fields = self.muddled
        answer = designer.post(form(team, self.kind), {**self.typed, **change})
        assert answer.status_code == 422
        assert set(answer.context["form"].errors) == fields, answer.context["form"].errors
        assert all(answer.context["form"][name].value() == value for name, value in change.items())
        client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
        more, places = self.mixed
        body = json.dumps({"kind": self.kind, "config": {**self.asks, **more}})
        said = client.post(f"/api/v1/projects/{team.project.slug}/jobs", body, content_type="application/json")
        assert {problem["place"] for problem in said.json()["problems"]} == places, said.json()
        assert not Job.objects.listed().filter(kind=self.kind).exists()
