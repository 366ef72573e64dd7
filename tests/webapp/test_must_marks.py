"""Fields that must be filled in are marked, on every form alike; what the mark means stands once above them."""

from __future__ import annotations

import re

import pytest
from django import forms
from django.template import engines
from django.test import Client
from django.urls import reverse

from tests.factories import Studio, person, ready_studio, signed_in
from tests.webapp.agents import kept
from webapp.studies import kinds

pytestmark = pytest.mark.django_db
NOTE = 'Fields marked <span class="must-mark">*</span> must be filled in.'
PROJECT = "/p/herobattle/"


@pytest.fixture
def team() -> Studio:
    return ready_studio()


class Mixed(forms.Form):
    """Of each sort of field one that must be filled in, and one that need not."""

    title = forms.CharField(label="Title")
    words = forms.CharField(label="Words", required=False)
    way = forms.ChoiceField(label="Way", choices=[("a", "A")])
    open_way = forms.ChoiceField(label="Open way", choices=[("", "Choose one"), ("a", "A")])
    other_way = forms.ChoiceField(label="Other way", choices=[("", "Any"), ("a", "A")], required=False)
    one = forms.ChoiceField(label="One", choices=[("a", "A")], initial="a", widget=forms.RadioSelect)
    several = forms.MultipleChoiceField(label="Several", choices=[("a", "A")], widget=forms.CheckboxSelectMultiple)
    tick = forms.BooleanField(label="Tick", required=False)


class Whole(forms.Form):
    """Each of its fields must be filled in; a box to tick is never empty."""

    title = forms.CharField(label="Title")
    tick = forms.BooleanField(label="Tick", required=False)


def drawn(form: forms.Form) -> str:
    source = "{% load equipoise %}{% form_head form %}{% for each in form %}{% field each %}{% endfor %}"
    return engines["django"].from_string(source).render({"form": form})


def marked(page: str) -> list[str]:
    """The labels with a mark."""
    return [
        " ".join(label.split()) for label in re.findall(r'<(?:label|legend)\b[^>]*>([^<]*)<span class="must-', page)
    ]


def test_where_some_fields_may_stay_empty_those_are_marked_that_must_be_filled_in() -> None:
    page = drawn(Mixed())
    assert marked(page) == ["Title", "Open way", "Several"]
    assert page.count(NOTE) == 1


def test_a_form_of_which_all_must_be_filled_in_has_no_marks() -> None:
    page = drawn(Whole())
    assert marked(page) == []
    assert "must be filled in" not in page


def test_a_screen_reader_hears_what_the_mark_says_and_not_the_mark() -> None:
    page = drawn(Mixed())
    labels = re.findall(r"<(?:label|legend)\b.*?</(?:label|legend)>", page, re.DOTALL)
    marks = [label for label in labels if "must-mark" in label]
    assert all('<span class="must-mark" aria-hidden="true"> *</span>' in label for label in marks)
    assert all(re.search(rf'name="{name}"[^>]* required', page) for name in ("title", "open_way"))
    assert "(must be filled in)" in marks[-1], "a group of boxes has no attribute for it"


@pytest.mark.parametrize(
    ("address", "labels"),
    [
        ("/account/password/", []),
        (f"{PROJECT}members/", []),
        ("/projects/new/", []),
        ("/account/tokens/", ["Name"]),
        (f"{PROJECT}lineups/new/", ["Name", "Teams compared together"]),
        (f"{PROJECT}watch/", ["Who plays"]),
        (f"{PROJECT}agents/{{agent}}/", ["Name"]),
        (f"{PROJECT}jobs/new/evaluate/", ["Who plays"]),
    ],
)
def test_every_page_marks_by_the_same_rule(team: Studio, address: str, labels: list[str]) -> None:
    address = address.format(agent=kept(team.project).pk)
    page = signed_in(team.owner).get(address).content.decode()
    assert "<form" in page
    assert marked(page) == labels
    assert page.count(NOTE) == bool(labels)


@pytest.mark.parametrize(
    ("address", "labels"),
    [("people", ["User name", "Email", "First password"]), ("simulators", ["Name", "Entry point or command"])],
)
def test_forms_of_an_operator_mark_by_that_rule_too(client: Client, address: str, labels: list[str]) -> None:
    client.force_login(person("operator", is_staff=True, is_superuser=True))
    page = client.get(f"/admin-tools/{address}/new/").content.decode()
    assert marked(page) == labels
    assert page.count(NOTE) == 1


def test_a_set_of_objectives_explains_its_marks_once_however_many_it_has(team: Studio, designer: Client) -> None:
    page = designer.get(f"{PROJECT}objectives/new/").content.decode()
    assert marked(page)[:3] == ["Name of the set", "Title", "Formula"]
    assert page.count(NOTE) == 1


@pytest.mark.parametrize("kind", sorted(kinds.asked()))
def test_no_new_job_form_calls_fields_optional_and_none_explains_marks_that_it_does_not_have(
    team: Studio, designer: Client, kind: str
) -> None:
    page = designer.get(reverse("studies:ask", args=["herobattle", kind])).content.decode()
    assert "(optional)" not in page
    assert page.count(NOTE) == bool(marked(page))
