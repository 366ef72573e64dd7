"""Links to reports: whoever has one reads that report and nothing else, until it ends or is taken back."""

from __future__ import annotations

import io
import json
import logging
import re
from datetime import timedelta
from logging.config import DictConfigurator
from typing import Any

import pytest
import structlog
from django.conf import settings
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.factories import Clock, Studio, search_job, signed_in
from tests.webapp.published import link_to, report
from webapp.accounts import throttle
from webapp.accounts.models import Attempts
from webapp.lib.words import day
from webapp.reports import links
from webapp.reports.judging import comment, judge
from webapp.reports.models import Link, Report

pytestmark = pytest.mark.django_db
ADDRESS = re.compile(r"http://testserver(/r/[0-9a-f]{12}-[\w-]+/)")


@pytest.fixture
def made(team: Studio) -> Report:
    return report(search_job(team.project, rows=200), team.designer, "Spring <balance>")


def opened(address: str) -> HttpResponse:
    """As somebody without an account."""
    answer: HttpResponse = Client().get(address)
    return answer


def test_whoever_has_it_reads_the_report_without_verdicts_comments_or_ways_into_the_site(
    team: Studio, made: Report
) -> None:
    judge(made, team.producer, "back", "A secret reason")
    comment(made, team.engineer, "A secret remark")
    answer = opened(link_to(made, team.designer)[1])
    page = answer.content.decode()
    assert answer.status_code == 200
    assert made.content["verdict"]["words"] in page
    assert "Spring &lt;balance&gt;" in page
    assert "secret" not in page
    assert "href=" not in page
    assert "csrf" not in page
    assert not answer.cookies


def test_whoever_has_it_is_told_that_the_report_was_sent_back_accepted_or_replaced(team: Studio, made: Report) -> None:
    def said() -> str:
        return opened(address).content.decode().partition('<p class="report-standing"><b>')[2].partition("</b>")[0]

    address, today = link_to(made, team.designer)[1], day(timezone.now())
    assert said() == ""
    judge(made, team.producer, "back", "More battles")
    assert said() == f"This report was sent back on {today}. Something in it must change."
    judge(made, team.producer, "accept")
    assert said() == f"This report was accepted on {today}."
    report(made.search, team.designer, "Summer", replaces=made)
    accepted = f"This report was accepted on {today}."
    assert said() == f"{accepted} Edition 2 took its place on {today}; ask for that one."


def test_a_browser_keeps_and_tells_nothing_of_it_and_no_robot_lists_it(team: Studio, made: Report) -> None:
    address = link_to(made, team.designer)[1]
    for where in (address, "/r/0123456789ab-wrong/"):
        answer = opened(where)
        assert answer["Cache-Control"] == "private, no-store"
        assert answer["Referrer-Policy"] == "no-referrer"
        assert answer["X-Robots-Tag"].startswith("noindex")


def test_links_that_open_nothing_all_have_the_same_page_and_tell_no_name(team: Studio, made: Report) -> None:
    over, revoked = link_to(made, team.designer), link_to(made, team.designer)
    Link.objects.filter(pk=over[0].pk).update(expires_at=timezone.now())
    links.revoke(revoked[0], team.owner)
    good = link_to(made, team.designer)[1]
    cases = [
        (over[1], 410),
        (revoked[1], 410),
        (f"{good[:-2]}!/", 404),
        (f"{good[:15]}{'x' * 43}/", 404),
        ("/r/0123456789ab-made-up/", 404),
        ("/r/anything at all/", 404),
        (f"/r/{'0' * 12}-{'é' * 43}/", 404),
    ]
    pages = set()
    for where, code in cases:
        answer = opened(where)
        assert answer.status_code == code, where
        pages.add(answer.content)
    assert len(pages) == 1
    page = pages.pop().decode()
    for name in (team.project.name, "Spring", "herobattle-designer", "spring release"):
        assert name not in page


def test_the_log_keeps_no_address_of_a_link(team: Studio, made: Report) -> None:
    link, address = link_to(made, team.designer)
    links.revoke(link, team.owner)
    written, plain = io.StringIO(), settings.LOGGING["formatters"]["plain"]
    handler = logging.StreamHandler(written)
    handler.setFormatter(DictConfigurator(settings.LOGGING).configure_formatter({**plain}))
    for name in ("django.request", "django.security.csrf", "a part of the site"):
        logging.getLogger(name).addHandler(handler)
    try:
        assert opened(address).status_code == 410
        assert Client(enforce_csrf_checks=True).post(address).status_code == 403
        structlog.get_logger("a part of the site").warning("body refused", path=address)
    finally:
        for name in ("django.request", "django.security.csrf", "a part of the site"):
            logging.getLogger(name).removeHandler(handler)
    told = written.getvalue()
    assert (told.count("/r/…/"), link.key in told) == (3, False)


def test_it_opens_no_other_page(team: Studio, made: Report) -> None:
    browser, (_, address) = Client(), link_to(made, team.designer)
    assert browser.get(address).status_code == 200
    for name in ("page", "html", "pdf", "xlsx"):
        answer = browser.get(reverse(f"reports:{name}", args=["herobattle", made.pk]))
        assert answer["Location"].startswith("/sign-in/")
    assert browser.post(address).status_code == 405


def test_only_a_hash_of_it_is_kept_and_its_page_shows_the_address_once(team: Studio, made: Report) -> None:
    browser, page = signed_in(team.producer), made.get_absolute_url()
    browser.post(reverse("reports:share", args=["herobattle", made.pk]), {"days": 7})
    link = Link.objects.get()
    assert timedelta(days=6.9) < link.expires_at - timezone.now() < timedelta(days=7.1)
    first, second = (browser.get(page).content.decode() for _ in range(2))
    address = first.partition('aria-label="The address"><code>')[2].partition("<")[0]
    assert opened(address.removeprefix("http://testserver")).status_code == 200
    assert "Copy this address now" not in second
    secret = address.rstrip("/").partition(f"{link.key}-")[2]
    assert len(secret) > 40
    assert secret not in json.dumps(list(Link.objects.values()), default=str)


def test_who_made_it_how_often_it_was_opened_and_who_took_it_back_is_told(team: Studio, made: Report) -> None:
    link, address = link_to(made, team.designer)
    for _ in range(3):
        opened(address)
    page = signed_in(team.producer).get(made.get_absolute_url()).content.decode()
    assert "made by herobattle-designer" in page
    assert "opened 3 times" in page
    where = reverse("reports:take-back", args=["herobattle", made.pk, link.pk])
    assert signed_in(team.engineer).post(where).status_code == 403
    assert signed_in(team.stranger).post(where).status_code == 404
    assert signed_in(team.producer).post(where).status_code == 302
    assert opened(address).status_code == 410
    page = signed_in(team.engineer).get(made.get_absolute_url()).content.decode()
    assert "by herobattle-producer" in page
    link.refresh_from_db()
    assert (link.opened, link.revoked_by) == (3, team.producer)


def test_the_link_of_another_report_is_not_taken_back_below_this_one(team: Studio, made: Report) -> None:
    other = report(made.search, team.designer, "Another")
    link, address = link_to(other, team.designer)
    where = reverse("reports:take-back", args=["herobattle", made.pk, link.pk])
    assert signed_in(team.owner).post(where).status_code == 404
    assert opened(address).status_code == 200


def test_guessing_is_slowed_down_and_closes_no_right_link(
    team: Studio, made: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(throttle, "_now", clock)
    address = link_to(made, team.designer)[1]
    for number in range(throttle.LINKS.most):
        assert opened(f"/r/{number:012x}-guess/").status_code == 404
    answer = opened("/r/0123456789ab-guess/")
    assert answer.status_code == 429
    assert int(answer["Retry-After"]) == 30
    assert opened(address).status_code == 200
    clock.forward(timedelta(seconds=30))
    assert opened("/r/0123456789ab-guess/").status_code == 404


def test_a_link_that_ended_does_not_count_as_a_guess(team: Studio, made: Report) -> None:
    link, address = link_to(made, team.designer)
    links.revoke(link, team.owner)
    for _ in range(3):
        opened(address)
    assert not Attempts.objects.exists()


def test_how_long_it_lasts_is_chosen_from_a_list_and_no_report_has_many(team: Studio, made: Report) -> None:
    browser, where = signed_in(team.owner), reverse("reports:share", args=["herobattle", made.pk])
    assert browser.post(where, {"days": 4000}).status_code == 422
    assert not Link.objects.exists()
    for _ in range(links.MOST):
        browser.post(where, {"days": 1})
    full = browser.post(where, {"days": 1})
    assert full.status_code == 422
    assert "Take one back first" in full.content.decode()


def test_two_clicks_make_one_link_and_both_are_told_its_address(team: Studio, made: Report) -> None:
    client, place = signed_in(team.designer), reverse("reports:page", args=[team.project.slug, made.pk])
    told = set()
    for _ in range(2):
        client.post(f"{place}links/", {"days": "14", "once": "a page"})
        told.add(ADDRESS.findall(client.get(place).content.decode())[0])
    link = Link.objects.get()
    assert [Client().get(address).status_code for address in told] == [200]
    links.revoke(link, team.designer)
    client.post(f"{place}links/", {"days": "14", "once": "a page"})
    anew = ADDRESS.findall(client.get(place).content.decode())[0]
    assert anew not in told
    assert Client().get(anew).status_code == 200
    client.post(f"{place}links/", {"days": "14", "once": "another page"})
    assert Link.objects.count() == 3


def test_nobody_works_out_a_link_from_the_form_that_made_it(team: Studio, made: Report, settings: Any) -> None:
    place = reverse("reports:page", args=[team.project.slug, made.pk])
    for user in (team.designer, team.owner):
        signed_in(user).post(f"{place}links/", {"days": "14", "once": "a page"})
    settings.SECRET_KEY = "another site"
    signed_in(team.designer).post(f"{place}links/", {"days": "14", "once": "a page"})
    assert Link.objects.values("key").distinct().count() == 3
