"""Home, projects and their members."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponseBase
from django.test import Client, RequestFactory
from django.urls import URLResolver, get_resolver, reverse
from django.utils import timezone

from tests.factories import Studio, game_version, person, search_job, signed_in, studio
from webapp.accounts.models import User
from webapp.projects import frame, members
from webapp.projects.access import project_for
from webapp.projects.members import invite, open_invitations
from webapp.projects.models import Invitation, Membership, Project, Role
from webapp.studies.looks import looked
from webapp.studies.models import Job, ShortlistEntry, Status
from webapp.studies.overview import MOST_WAITING, jobs_at_hand, pace

pytestmark = pytest.mark.django_db


def job(project: Project, status: str = Status.FINISHED, **more: object) -> Job:
    fields = {"kind": "search", "title": "Which teams are unfair?", "config": {}, "finished_at": timezone.now()}
    return Job.objects.create(project=project, status=status, **{**fields, **more})


@pytest.mark.parametrize(
    ("need", "who"),
    [
        ("read", {"owner", "designer", "engineer", "producer"}),
        ("write", {"owner", "designer", "engineer"}),
        ("own", {"owner"}),
    ],
)
def test_each_need_is_met_by_its_roles_only(team: Studio, need: str, who: set[str]) -> None:
    met = set()
    for role in Role.values:
        request = RequestFactory().get("/")
        request.user = getattr(team, role)
        try:
            project_for(request, team.project.slug, need)  # type: ignore[arg-type]
        except PermissionDenied:
            continue
        met.add(role)
    assert met == who


def test_a_stranger_cannot_tell_a_project_from_none(team: Studio) -> None:
    request = RequestFactory().get("/")
    request.user = team.stranger
    for slug in (team.project.slug, "nowhere"):
        with pytest.raises(Http404, match="No project of yours"):
            project_for(request, slug)


def test_a_site_operator_who_is_no_member_is_a_stranger_to_a_project(client: Client, team: Studio) -> None:
    client.force_login(person("operator", is_staff=True))
    assert client.get("/p/herobattle/").status_code == 404


def test_whoever_makes_a_project_owns_it(client: Client, team: Studio) -> None:
    client.force_login(team.stranger)
    answer = client.post("/projects/new/", {"name": "  Herobattle "})
    assert answer.headers["Location"] == "/p/herobattle-2/"
    made = Project.objects.get(slug="herobattle-2")
    assert (made.name, made.memberships.get().role) == ("Herobattle", Role.OWNER)


def test_a_name_without_latin_letters_still_gets_an_address(client: Client, team: Studio) -> None:
    client.force_login(team.owner)
    assert client.post("/projects/new/", {"name": "英雄"}).headers["Location"] == "/p/project/"


def test_a_project_without_a_name_is_told_so_at_the_field(client: Client, team: Studio) -> None:
    client.force_login(team.owner)
    answer = client.post("/projects/new/", {"name": "   "})
    assert answer.status_code == 422
    assert b'aria-invalid="true"' in answer.content
    assert Project.objects.count() == 1


def invitations(person: User) -> list[Invitation]:
    return list(open_invitations().filter(person=person))


def answer(person: User, invitation: Invitation, how: str = "accept") -> HttpResponseBase:
    return signed_in(person).post(f"/invitations/{invitation.pk}/", {"answer": how})


def test_an_owner_invites_changes_and_removes_members(client: Client, team: Studio) -> None:
    client.force_login(team.owner)
    client.post("/p/herobattle/members/", {"person": team.stranger.email.upper(), "role": "producer"})
    assert not Membership.objects.filter(user=team.stranger).exists()
    page = client.get("/p/herobattle/members/").content.decode()
    assert team.stranger.email.upper() in page
    assert team.stranger.email not in page  # only what was typed: a stranger's address is not told for their name
    home = signed_in(team.stranger).get("/").content.decode()
    assert "herobattle-owner asks you to be producer" in home
    answer(team.stranger, invitations(team.stranger)[0])
    membership = Membership.objects.get(user=team.stranger)
    assert membership.role == Role.PRODUCER
    client.post(f"/p/herobattle/members/{membership.pk}/", {"role": "designer"})
    membership.refresh_from_db()
    assert membership.role == Role.DESIGNER
    client.post(f"/p/herobattle/members/{membership.pk}/remove/")
    assert not Membership.objects.filter(user=team.stranger).exists()


def test_an_invitation_can_be_declined_and_taken_back(client: Client, team: Studio) -> None:
    client.force_login(team.owner)
    for how in ("decline", "take back"):
        client.post("/p/herobattle/members/", {"person": "herobattle-stranger", "role": "designer"})
        asked = invitations(team.stranger)[0]
        if how == "decline":
            answer(team.stranger, asked, how)
        else:
            client.post(f"/p/herobattle/members/invitations/{asked.pk}/")
        assert answer(team.stranger, asked).status_code == 403
        assert not Membership.objects.filter(user=team.stranger).exists()


def test_nobody_answers_an_invitation_of_somebody_else(team: Studio) -> None:
    asked = invite(team.project, team.stranger, Role.OWNER, team.owner, "stranger")
    for who in (team.owner, team.designer, person("other"), person("operator", is_staff=True)):
        assert answer(who, asked).status_code == 403
        assert answer(who, asked, "decline").status_code == 403
    assert invitations(team.stranger) == [asked]


def test_a_member_is_no_owner_before_they_accept(client: Client, team: Studio) -> None:
    client.force_login(team.owner)
    membership = team.project.memberships.get(user=team.designer)
    page = client.post(f"/p/herobattle/members/{membership.pk}/", {"role": "owner"}, follow=True).content.decode()
    assert "Until they accept on their Home page, they stay designer" in page
    membership.refresh_from_db()
    assert membership.role == Role.DESIGNER
    answer(team.designer, invitations(team.designer)[0])
    membership.refresh_from_db()
    assert membership.role == Role.OWNER


@pytest.mark.parametrize("end", ["steps down", "leaves", "is switched off"])
def test_an_invitation_lapses_with_the_owner_who_sent_it(client: Client, team: Studio, end: str) -> None:
    Membership.objects.filter(user=team.designer).update(role=Role.OWNER)
    asked = invite(team.project, team.stranger, Role.OWNER, team.owner, "stranger")
    client.force_login(team.owner)
    if end == "steps down":
        client.post(f"/p/herobattle/members/{team.project.memberships.get(user=team.owner).pk}/", {"role": "producer"})
    elif end == "leaves":
        client.post("/p/herobattle/members/leave/")
    else:
        User.objects.filter(pk=team.owner.pk).update(is_active=False)
    assert answer(team.stranger, asked).status_code == 403
    assert not Membership.objects.filter(user=team.stranger).exists()


def test_an_owner_changes_no_other_owner(client: Client, team: Studio) -> None:
    Membership.objects.filter(user=team.designer).update(role=Role.OWNER)
    theirs = team.project.memberships.get(user=team.designer)
    client.force_login(team.owner)
    for address, fields in ((f"{theirs.pk}/", {"role": "producer"}), (f"{theirs.pk}/remove/", {})):
        page = client.post(f"/p/herobattle/members/{address}", fields, follow=True).content.decode()
        assert "only they can give that up" in page
    theirs.refresh_from_db()
    assert theirs.role == Role.OWNER
    User.objects.filter(pk=team.designer.pk).update(is_active=False)
    client.post(f"/p/herobattle/members/{theirs.pk}/remove/")
    assert not Membership.objects.filter(pk=theirs.pk).exists()


def test_an_owner_who_cannot_sign_in_is_none_to_leave_a_project_to(client: Client, team: Studio) -> None:
    Membership.objects.filter(user=team.designer).update(role=Role.OWNER)
    User.objects.filter(pk=team.designer.pk).update(is_active=False)
    client.force_login(team.owner)
    page = client.post("/p/herobattle/members/leave/", follow=True).content.decode()
    assert "keeps at least one owner" in page


def test_a_member_may_leave(team: Studio) -> None:
    client = signed_in(team.producer)
    assert "Leave</button>" in client.get("/p/herobattle/members/").content.decode()
    assert client.post("/p/herobattle/members/leave/").headers["Location"] == "/"
    assert client.get("/p/herobattle/").status_code == 404


@pytest.mark.parametrize("what", ["leave", "{}/remove", "{}"])
def test_whoever_is_gone_when_the_turn_comes_is_told_so(
    client: Client, team: Studio, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Another owner takes the designer out while this request waits for the project's row."""
    theirs = team.project.memberships.get(user=team.designer)
    client.force_login(team.designer if what == "leave" else team.owner)
    for change in ("remove", "change_role"):
        real = getattr(members, change)

        def late(membership: Membership, *more: object, real: Callable[..., object] = real) -> object:
            Membership.objects.filter(pk=theirs.pk).delete()
            return real(membership, *more)

        monkeypatch.setattr(members, change, late)
    answer = client.post(f"/p/herobattle/members/{what.format(theirs.pk)}/", {"role": "producer"}, follow=True)
    assert answer.status_code == 200
    assert answer.redirect_chain[-1][0] == ("/" if what == "leave" else "/p/herobattle/members/")
    assert "is no longer a member of this project, so nothing was changed" in answer.content.decode()


@pytest.mark.parametrize(
    ("typed", "problem"),
    [("nobody", "Nobody here goes by this name"), ("herobattle-designer", "is a member already"), ("", "required")],
)
def test_adding_the_wrong_person_is_told_at_the_field(client: Client, team: Studio, typed: str, problem: str) -> None:
    client.force_login(team.owner)
    answer = client.post("/p/herobattle/members/", {"person": typed, "role": "designer"})
    assert answer.status_code == 422
    assert problem in answer.content.decode()
    assert team.project.memberships.count() == 4


def test_a_role_that_is_none_changes_nothing(client: Client, team: Studio) -> None:
    client.force_login(team.owner)
    membership = team.project.memberships.get(user=team.designer)
    answer = client.post(f"/p/herobattle/members/{membership.pk}/", {"role": "king"}, follow=True)
    assert "That is not a role" in answer.content.decode()
    membership.refresh_from_db()
    assert membership.role == Role.DESIGNER


def test_the_last_owner_stays_owner(client: Client, team: Studio) -> None:
    client.force_login(team.owner)
    mine = team.project.memberships.get(user=team.owner)
    for address, fields in ((f"{mine.pk}/", {"role": "designer"}), (f"{mine.pk}/remove/", {})):
        answer = client.post(f"/p/herobattle/members/{address}", fields, follow=True)
        assert "keeps at least one owner" in answer.content.decode()
    mine.refresh_from_db()
    assert mine.role == Role.OWNER


def test_an_owner_may_leave_once_there_is_another(client: Client, team: Studio) -> None:
    client.force_login(team.owner)
    client.post(f"/p/herobattle/members/{team.project.memberships.get(user=team.designer).pk}/", {"role": "owner"})
    mine = team.project.memberships.get(user=team.owner)
    assert client.post(f"/p/herobattle/members/{mine.pk}/remove/").headers["Location"] == "/p/herobattle/members/"
    answer(team.designer, invitations(team.designer)[0])
    assert client.post(f"/p/herobattle/members/{mine.pk}/remove/").headers["Location"] == "/"
    assert client.get("/p/herobattle/").status_code == 404


def test_a_member_of_another_project_cannot_be_changed_from_here(client: Client, team: Studio) -> None:
    other = studio("chess")
    client.force_login(team.owner)
    foreign = other.project.memberships.get(user=other.designer)
    assert client.post(f"/p/herobattle/members/{foreign.pk}/remove/").status_code == 404
    assert Membership.objects.filter(pk=foreign.pk).exists()


def test_home_knows_what_runs_and_what_waits(team: Studio) -> None:
    running, paused = job(team.project, Status.RUNNING), job(team.project, Status.PAUSED)
    waiting, failed = job(team.project), job(team.project, Status.FAILED)
    job(team.project, kind="sample")
    job(team.project, finished_at=timezone.now() - timedelta(days=40))
    decided, again = job(team.project), job(team.project)
    ShortlistEntry.objects.create(job=decided, individual=1, reason="Too rich", genome=[])
    followed_by = job(team.project, Status.QUEUED, parent=again)
    job(studio("chess").project, Status.RUNNING)
    at_hand = jobs_at_hand(team.producer)
    assert {each.pk for each in at_hand.running} == {running.pk, paused.pk, followed_by.pk}
    assert {each.pk for each in at_hand.waiting} == {waiting.pk, failed.pk}
    assert at_hand.next_look == waiting


def test_home_leads_to_what_was_found_behind_many_jobs_without_lineups(client: Client, team: Studio) -> None:
    found = job(team.project, finished_at=timezone.now() - timedelta(hours=1))
    for _ in range(MOST_WAITING):
        job(team.project, kind="train")
    assert jobs_at_hand(team.producer).next_look == found
    client.force_login(team.producer)
    page = client.get("/").content.decode()
    assert re.search(f'class="btn btn-primary" href="/p/herobattle/jobs/{found.pk}/explore/"', page)


def test_home_counts_every_job_that_waits_and_leads_to_those_it_does_not_list(client: Client, team: Studio) -> None:
    listed = [job(team.project) for _ in range(MOST_WAITING)]
    client.force_login(team.producer)
    page = client.get("/").content.decode()
    assert f"{MOST_WAITING} jobs to review" in page
    assert "more of" not in page
    earlier = [job(team.project, finished_at=timezone.now() - timedelta(hours=1)) for _ in range(2)]
    page = client.get("/").content.decode()
    assert f"{MOST_WAITING + 2} jobs to review" in page
    assert f'<a href="/p/herobattle/jobs/">2 more of {team.project}</a>' in page
    assert all(f'id="job-{each.pk}"' in page for each in listed)
    assert not any(f'id="job-{each.pk}"' in page for each in earlier)


def test_a_job_waits_for_each_person_until_that_person_has_looked_at_it(client: Client, team: Studio) -> None:
    searched, trained, running = job(team.project), job(team.project, kind="train"), job(team.project, Status.RUNNING)
    parent = search_job(team.project)
    again = job(team.project, kind="recheck", parent=parent)

    def waiting(person: User) -> set[int]:
        return {each.pk for each in jobs_at_hand(person).waiting}

    assert waiting(team.designer) == {searched.pk, trained.pk, again.pk}
    client.force_login(team.designer)
    for each in (searched, running):
        looked(team.designer, [each])
    assert client.get(f"/p/herobattle/jobs/{parent.pk}/explore/").status_code == 200
    assert waiting(team.designer) == {trained.pk}
    assert waiting(team.producer) == {searched.pk, trained.pk, again.pk}, "a look is one person's"
    Job.objects.filter(pk=searched.pk).update(finished_at=timezone.now() + timedelta(seconds=5))
    assert searched.pk in waiting(team.designer), "it went on, and has ended anew since"


def test_home_of_somebody_in_no_project_says_how_to_get_into_one(client: Client, team: Studio) -> None:
    client.force_login(team.stranger)
    page = client.get("/").content.decode()
    assert "Make a project" in page
    assert "ask the owner" in page


def test_time_left_is_told_only_once_there_is_something_to_go_by(team: Studio) -> None:
    early = job(team.project, Status.RUNNING, tick=2, ticks=100, counters={"seconds": 1.0})
    later = job(team.project, Status.RUNNING, tick=25, ticks=100, counters={"seconds": 10.0})
    assert pace(early).seconds_left is None
    assert pace(later).seconds_left == pytest.approx(30.0)
    assert [pace(each).why for each in (early, later)] == ["too early to say when it ends", ""]
    timed = {"stop": [{"kind": "minutes", "most": 1.0}]}
    by_clock = job(team.project, Status.RUNNING, tick=1, ticks=1000, counters={"seconds": 15.0}, config=timed)
    assert pace(by_clock).seconds_left == pytest.approx(45.0)
    assert pace(job(team.project, Status.QUEUED)).share == 0.0


def test_the_battles_that_play_the_edge_again_count_as_work(team: Studio) -> None:
    search = search_job(team.project, status=Status.RUNNING, tick=100, ticks=100, counters={"seconds": 10.0})
    assert search.config["fresh"]
    assert 0.5 < pace(search).share < 1.0, "all rounds are over, but not what comes after them"
    assert pace(search).seconds_left is None, "how much is played again is not known yet"
    assert pace(search).why == "too early to say when it ends"
    search.counters = {"seconds": 10.0, "battles": 900, "planned": 1_000}
    assert pace(search).share == pytest.approx(0.9)
    assert pace(search).seconds_left is not None


def test_a_round_under_way_counts_in_part(team: Studio) -> None:
    def running(evaluations: int) -> float:
        counters = {"evaluations": evaluations}
        return pace(job(team.project, Status.RUNNING, tick=2, ticks=10, counters=counters, config=config)).share

    config = {"algorithm": {"population": 40}}
    assert running(80) == 0.2
    assert running(100) == 0.25
    assert running(500) == 0.3  # never more than the round under way
    assert running(0) == 0.2


def project_shown(client: Client) -> str:
    """What the bar's menu of projects is called, in words."""
    menu = client.get("/help/").content.decode().split('<details class="menu switcher">')[1]
    words = re.sub(r"<[^>]*>", "", menu[menu.index("<summary>") : menu.index("</summary>")])
    return " ".join(words.split())


def test_the_bar_shows_the_project_last_worked_in_and_its_data(client: Client, team: Studio) -> None:
    game_version(team.project)
    other = Project.objects.create(name="Arena", slug="arena")
    Membership.objects.create(project=other, user=team.designer, role=Role.PRODUCER)
    client.force_login(team.designer)
    assert project_shown(client) == "Project: Arena. Change project"
    client.get("/p/herobattle/")
    assert project_shown(client) == "Project: Herobattle Spring data, version 14. Change project"
    team.project.memberships.get(user=team.designer).delete()
    assert project_shown(client) == "Project: Arena. Change project"


def test_names_are_escaped_wherever_they_stand(client: Client, team: Studio) -> None:
    Project.objects.update(name="<script>alert(1)</script>")
    client.force_login(team.owner)
    for path in ("/", "/p/herobattle/", "/p/herobattle/members/"):
        assert "<script>alert(1)" not in client.get(path).content.decode()


def _marked(client: Client, address: str) -> list[str]:
    html = client.get(address).content.decode()
    places = html[html.index('aria-label="Places"') :]
    return re.findall(r'aria-current="(?:page|true)">([^<]+)</a>', places[: places.index("</nav>")])


def test_the_bar_marks_the_place_of_a_page_and_a_page_that_is_a_place_itself(
    client: Client, team: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(team.owner)
    slug = team.project.slug
    pages = {"Home": "/", "Game data": reverse("games:data", args=[slug]), "Help": reverse("api:help")}
    jobs, compare = reverse("studies:jobs", args=[slug]), reverse("studies:compare", args=[slug])
    for word, address in {**pages, "Jobs": jobs}.items():
        assert _marked(client, address) == [word]
    assert _marked(client, reverse("studies:new", args=[slug])) == ["Jobs"]
    assert _marked(client, reverse("projects:members", args=[slug])) == []
    monkeypatch.setattr(frame, "PLACES", (*frame.PLACES, frame.Place("Compare", "studies:compare")))
    assert _marked(client, compare) == ["Compare"]
    assert _marked(client, jobs) == ["Jobs"]


def test_the_bar_marks_a_place_on_every_page_below_jobs(client: Client, team: Studio) -> None:
    client.force_login(team.owner)
    assert _marked(client, reverse("styles:new", args=[team.project.slug])) == ["Jobs"]
    apps = [one for one in get_resolver().url_patterns if isinstance(one, URLResolver) and one.namespace]
    below = {
        app.namespace
        for app in apps
        for page in app.url_patterns
        if str(page.pattern).startswith("p/<slug:slug>/jobs/")
    }
    assert {"studies", "changes"} <= below
    assert [name for name in below if not any(f"{name}:".startswith(place.pages) for place in frame.PLACES)] == []
