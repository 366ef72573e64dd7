"""Reports: what they say follows from what was proved, they never change, and who may judge them does."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import numpy as np
import pytest
from django.core.cache import cache
from django.urls import reverse

from engine.arrays import pack, unpack
from engine.worth.verdicts import ANYWHERE, UNFINISHED
from tests.factories import Studio, search_job, signed_in, studio
from tests.webapp.experiments import CAPTAIN, DUKE, FINE, HORN, NOTHING, OPEN, ROWS, TOO_GOOD, experiment, table
from tests.webapp.published import OVER, UNDER, UNSURE, played_again, report
from webapp.games.models import GameVersion
from webapp.lib.storage import store
from webapp.projects.models import Membership, Role
from webapp.reports.content import content, hash_of
from webapp.reports.models import Comment, Report, ReportDraft, Verdict
from webapp.studies.models import Job, ShortlistEntry, Status
from webapp.suspects import decisions

pytestmark = pytest.mark.django_db

SETTLED = [row for row in NOTHING if row[5] == FINE]
PAIR = f"{CAPTAIN}+{HORN}"
TYPED = {"title": "Spring balance", "release": "spring release", "words": "The captain must wait.", "once": "a-key"}


@pytest.fixture
def team() -> Studio:
    cache.clear()
    return studio()


@pytest.fixture
def search(team: Studio) -> Job:
    return search_job(team.project, rows=200)


def words_of(answer: Any) -> str:
    """What a page says, without its markup."""
    plain = re.sub(r"<(style|script)\b.*?</\1>", " ", answer.content.decode(), flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", plain)).replace("\xa0", " ").split())


def at(name: str, made: Report, *more: Any) -> str:
    return reverse(f"reports:{name}", args=[made.project.slug, made.pk, *more])


def compose(search: Job, name: str = "compose") -> str:
    return reverse(f"reports:{name}", args=[search.project.slug, search.pk])


def verdict(search: Job) -> dict[str, Any]:
    found: dict[str, Any] = content(search)["verdict"]
    return found


def test_several_suspects_are_counted_and_the_worst_is_told_with_its_range(search: Job) -> None:
    experiment(search)
    found = verdict(search)
    assert found["words"] == "Not fair yet. Four suspects are confirmed."
    assert found["more"][0].startswith("Frost Captain + Warhorn are too good together. Alone, each is fine;")
    assert (found["mark"], found["sure"]) == ("strong", "confirmed, 5,000 fresh battles, 1 in 20 at most a false alarm")
    assert found["tilt"] == pytest.approx([8.2, 6.0, 10.4])


def test_one_suspect_is_named_in_the_verdict_itself(search: Job) -> None:
    experiment(search, [row for row in ROWS if row[0] == (DUKE,) or row[5] == FINE])
    assert verdict(search)["words"] == "Not fair yet. Marrow Duke is too good."


def test_a_range_that_ends_beside_what_matters_reads_as_on_the_page_of_the_suspect(team: Studio, search: Job) -> None:
    experiment(search, [((DUKE,), 1, 0.067, 0.0304, 0.09, TOO_GOOD, 4000)])
    told = content(search)["suspects"][0]
    assert (told["worth_words"], told["range_words"]) == ("+6.70", "3.04 to 9.00")
    page = signed_in(team.designer).get(reverse("suspects:page", args=[search.project.slug, search.pk]))
    assert told["range_words"] in page.content.decode()


def test_lineups_alone_make_it_unfair_and_the_furthest_is_told_against_the_line(search: Job) -> None:
    experiment(search, SETTLED)
    played_again(search, [3, 5], OVER)
    found = verdict(search)
    assert found["words"] == "Not fair yet. Two lineups are over the line."
    assert re.search(
        r" is at 2\.6.*× \(2\.\d+ to 2\.\d+\): resource advantage\. The line is 2\.0×\.$", found["more"][0]
    )
    assert found["tilt"] is None


def test_what_only_the_search_itself_puts_over_the_line_makes_nothing_unfair(search: Job) -> None:
    experiment(search, SETTLED)
    found = content(search)
    assert found["verdict"]["words"] == "Cannot tell yet: no lineup was played again on fresh battles."
    assert any("by the search’s own battles, which flatter" in said for said in found["untested"])


def test_fair_is_said_as_far_as_one_looked_with_the_largest_effect_left_open(search: Job) -> None:
    experiment(search, SETTLED)
    played_again(search, [3, 5], UNDER)
    found = verdict(search)
    assert (found["kind"], found["words"]) == ("fair", "Fair as far as we looked.")
    assert "none of 2 lineups that were played again is over the line and strong." in found["more"][0]
    assert found["more"][1] == "Effects of a single piece of up to 1.5 points are not excluded."
    assert found["tilt"] == pytest.approx([0.0, -1.5, 1.5])


@pytest.mark.parametrize(
    ("rows", "changes", "mean", "says"),
    [
        (NOTHING, {}, UNDER, "one piece or amount is not settled."),
        (SETTLED, {}, UNSURE, "one lineup is not settled."),
        (SETTLED, {"status": Status.RUNNING}, UNDER, "the experiment on what each piece is worth is still going on."),
        (SETTLED, {"status": Status.STOPPED}, UNDER, "the experiment on what each piece is worth ended before it was"),
        (SETTLED, {"artifacts": {"table": "0" * 64}}, UNDER, "what the experiment on pieces found is lost."),
        (None, {}, UNDER, "what each piece is worth was not measured."),
    ],
)
def test_what_is_left_open_is_never_called_fair(
    search: Job, rows: list[Any] | None, changes: dict[str, Any], mean: list[float], says: str
) -> None:
    if rows is not None:
        experiment(search, rows, **changes)
    played_again(search, [3], mean, 0.1)
    found = verdict(search)
    assert found["kind"] == "open"
    assert found["words"].startswith(f"Cannot tell yet: {says}")
    assert found["tilt"] is None


def test_without_a_line_no_lineup_is_judged(search: Job) -> None:
    for objective in search.config["objectives"]["objectives"]:
        objective["threshold"] = None
    search.save()
    experiment(search, SETTLED)
    played_again(search, [3], OVER)
    assert verdict(search)["words"] == "Cannot tell yet: the search has no line to judge lineups by."


def test_what_is_intended_is_a_decision_and_no_fault(team: Studio, search: Job) -> None:
    experiment(search, [row for row in ROWS if row[0] == (CAPTAIN, HORN) or row[5] == FINE])
    played_again(search, [3, 5], UNDER)
    decisions.decide(search, PAIR, "Frost Captain + Warhorn", team.designer, "intended", "It is the theme")
    found = content(search)
    assert found["verdict"]["words"] == "Fair as far as we looked, but for what is intended."
    assert not found["suspects"]
    assert found["intended"][0]["decision"] == "Intended: “It is the theme”"


def test_why_a_piece_was_not_tested_and_whose_fair_price_may_lie_beyond_its_bounds_are_told(
    team: Studio, search: Job
) -> None:
    rows = [(("coil-bow",), 1, float("nan"), float("nan"), float("nan"), 0, 3), *ROWS]
    meta, columns = unpack(store().get(table(rows)))
    alone = np.array([row[0] == ("marrow-duke",) for row in rows])
    reasons = np.where(np.isnan(columns["worth"]), UNFINISHED, 0).astype(np.uint8)
    whole = {**columns, "untested": reasons, "fair_open": np.where(alone, 2, 0).astype(np.uint8)}
    digest = store().put(pack({**meta, "untested_pairs": [0] * 5}, whole))
    experiment(search, artifacts={"table": digest})
    found = content(search)
    assert "Not tested, in too few battles that the game finished: Coil Bow." in found["untested"]
    duke = next(each for each in found["suspects"] if each["name"] == "Marrow Duke")
    assert (duke["or_more"], duke["or_less"]) == (True, False)
    made = report(search, team.designer)
    assert re.search(
        r"a fair price is \d+ \(\d+ to \d+ or more\)", words_of(signed_in(team.designer).get(made.get_absolute_url()))
    )


def test_that_a_fair_price_cannot_be_measured_is_told_and_why(team: Studio, search: Job) -> None:
    meta, columns = unpack(store().get(table()))
    none, why = np.full(len(ROWS), np.nan), np.full(len(ROWS), ANYWHERE, np.uint8)
    experiment(search, artifacts={"table": store().put(pack(meta, {**columns, "fair": none, "why": why}))})
    said = words_of(signed_in(team.designer).get(report(search, team.designer).get_absolute_url()))
    assert "its fair price cannot be measured: no price that the game permits is ruled out." in said
    assert said.count("cannot be measured") == 1, "amounts and pairs have none anyway"


def test_what_was_not_tested_follows_from_the_data(team: Studio, search: Job) -> None:
    nothing = (float("nan"), float("nan"), float("nan"), 0, 3)
    untested = [(("coil-bow",), 1, *nothing), (("riders",), 9, *nothing), *ROWS]
    experiment(search, untested, metrics={"looked_at": 542.0})
    played_again(search, [3], [2.2, 50.0, 14.0])
    newer = GameVersion.objects.get()
    newer.pk, newer.number = None, 15
    newer.save()
    found = " ".join(content(search)["untested"])
    assert "Not tested: Coil Bow; Riders, 9 or more." in found, "a table from before reasons were kept"
    assert "Not settled: Coil Bow." in found
    assert re.search(r"Of pairs, \d+ were looked at", found)
    assert "Effects of less than 3 points were not looked for." in found
    assert f"{newer} is newer than the data that was tested." in found
    Job.objects.filter(accompanies=search).update(metrics={"looked_at": 6.0})
    assert "Pairs were not tested." in content(search)["untested"]


def test_what_the_game_did_not_finish_is_told(search: Job) -> None:
    made = experiment(search, ROWS)
    assert "did not finish" not in " ".join(content(search)["untested"])
    meta, arrays = unpack(store().get(made.artifacts["table"]))
    made.artifacts["table"] = store().put(pack({**meta, "asked": 2_000, "unfinished": 431}, arrays))
    made.save()
    assert "The game did not finish 431 of 2,000 battles" in " ".join(content(search)["untested"])


def test_decisions_and_the_shortlist_are_set_apart_with_who_made_them(team: Studio, search: Job) -> None:
    experiment(search)
    decisions.decide(search, PAIR, "Frost Captain + Warhorn", team.designer, "fix")
    decisions.decide(search, PAIR, "Frost Captain + Warhorn", team.owner, "none")
    ShortlistEntry.objects.create(
        job=search, individual=3, genome=[[0] * 8], reason="It never ends", created_by=team.engineer
    )
    said = content(search)
    made, listed = said["decisions"], said["shortlisted"]
    assert (made["count"], made["people"]) == (2, 2)
    assert {row["words"] for row in made["rows"]} == {"Fix", "Taken back"}
    assert [row["words"] for row in listed["rows"]] == ["Shortlisted: “It never ends”"]
    page = words_of(signed_in(team.designer).get(compose(search)))
    assert "Decisions 2, by 2 people" in page
    assert "Shortlist 1, by one person" in page


def test_where_it_comes_from_is_told_whole(search: Job) -> None:
    made = experiment(search)
    facts = dict(map(tuple, content(search)["provenance"]))
    assert facts["Seed of the search"] == str(search.config["seed"])
    assert facts["Seed of the experiment"] == str(made.config["seed"])
    assert search.game_version is not None
    assert search.game_version.content_hash[:12] in facts["Game data"]
    assert "builtin:herobattle" in facts["Simulator"]
    assert "the line at 2 ×" in facts["Objective: Resource advantage"]
    assert facts.keys() >= {"Rules of lineups", "Battles of the search", "Battles of the experiment", "Re-checks",
                            "Code of the engine when published", "Settings of the search"}  # fmt: skip


def test_a_designer_publishes_what_the_preview_showed(team: Studio, search: Job) -> None:
    experiment(search)
    browser = signed_in(team.designer)
    assert "Not fair yet. Four suspects are confirmed." in words_of(browser.get(compose(search)))
    answer = browser.post(compose(search), TYPED)
    made = Report.objects.get()
    assert answer["Location"] == made.get_absolute_url()
    page = words_of(browser.get(made.get_absolute_url()))
    assert "Not fair yet. Four suspects are confirmed." in page
    assert "In the words of herobattle-designer The captain must wait." in page
    assert "Herobattle, spring release" in page


def test_sent_twice_it_is_one_report_and_changed_it_is_another(team: Studio, search: Job) -> None:
    browser = signed_in(team.designer)
    for _ in range(2):
        assert browser.post(compose(search), TYPED).status_code == 302
    assert Report.objects.count() == 1
    browser.post(compose(search), {**TYPED, "words": "Or not."})
    assert Report.objects.count() == 2


def test_a_report_stays_as_it_was_whatever_becomes_of_its_search(team: Studio, search: Job) -> None:
    experiment(search)
    made = report(search, team.designer)
    before = words_of(signed_in(team.owner).get(made.get_absolute_url()))
    Job.objects.filter(accompanies=search).update(artifacts={"table": table(NOTHING)})
    decisions.decide(search, PAIR, "Frost Captain + Warhorn", team.designer, "intended", "Theme")
    played_again(search, [3], OVER)
    kept = Report.objects.get()
    assert hash_of(kept.content) == kept.content_hash == made.content_hash
    assert words_of(signed_in(team.owner).get(made.get_absolute_url())) == before
    Job.objects.filter(accompanies=search).delete()
    Report.objects.filter(pk=made.pk).update(search=None)
    assert "Four suspects are confirmed" in words_of(signed_in(team.owner).get(made.get_absolute_url()))


def test_a_newer_edition_takes_the_place_of_one_and_only_one(team: Studio, search: Job) -> None:
    first = report(search, team.designer)
    browser = signed_in(team.designer)
    assert f'<option value="{first.pk}" selected>' in browser.get(compose(search)).content.decode()
    browser.post(compose(search), {**TYPED, "replaces": first.pk})
    second = Report.objects.exclude(pk=first.pk).get()
    assert (second.edition, second.replaces) == (2, first)
    assert "Edition 2 took the place of this one." in words_of(browser.get(first.get_absolute_url()))
    late = browser.post(compose(search), {**TYPED, "words": "Late", "replaces": first.pk})
    assert late.status_code == 422
    assert "That report has a newer edition by now." in words_of(late)
    assert "Late" in late.content.decode()
    assert Report.objects.count() == 2
    listed = words_of(browser.get(reverse("reports:list", args=["herobattle"])))
    assert listed.index("edition 2") < listed.index("Replaced by newer editions") < listed.rindex("edition 1")


def test_whoever_was_not_told_that_a_report_is_published_and_sends_it_again_is_led_to_it(
    team: Studio, search: Job
) -> None:
    first, browser = report(search, team.designer), signed_in(team.designer)
    filled = {**TYPED, "replaces": first.pk}
    browser.post(compose(search), filled)  # its answer came too late
    made = Report.objects.exclude(pk=first.pk).get()
    assert browser.post(compose(search), filled)["Location"] == made.get_absolute_url()
    assert "Edition 2 is published , today" in words_of(browser.get(compose(search)))
    assert Report.objects.count() == 2


def test_a_preview_that_arrives_after_its_form_was_published_leaves_no_draft(team: Studio, search: Job) -> None:
    browser = signed_in(team.designer)
    page = browser.get(compose(search)).content.decode()
    once = re.search(r'name="once" value="([^"]+)"', page)
    assert once is not None
    filled = {**TYPED, "once": once[1]}
    browser.post(compose(search), filled)
    assert browser.post(compose(search, "preview"), filled).status_code == 200
    assert not ReportDraft.objects.exists()
    browser.post(compose(search, "preview"), {**filled, "words": "The next edition."})
    assert ReportDraft.objects.get().typed["words"] == "The next edition."


def test_decisions_of_one_minute_stand_in_one_order_the_newest_first(team: Studio, search: Job) -> None:
    for choice in ("fix", "intended", "none"):
        decisions.decide(search, PAIR, "Frost Captain + Warhorn", team.designer, choice, "Because")
    told = content(search)["decisions"]
    assert [row["words"] for row in told["rows"]] == ["Taken back: “Because”", "Intended: “Because”", "Fix: “Because”"]
    assert "3, by one person, the newest first" in words_of(signed_in(team.designer).get(compose(search)))


def test_what_is_typed_is_kept_until_it_is_published_or_given_up(team: Studio, search: Job) -> None:
    browser = signed_in(team.designer)
    shown = browser.post(compose(search, "preview"), {**TYPED, "title": "<b>Hm</b>", "release": ""})
    assert "&lt;b&gt;Hm&lt;/b&gt;" in shown.content.decode()
    page = browser.get(compose(search)).content.decode()
    assert 'value="&lt;b&gt;Hm&lt;/b&gt;"' in page
    assert "The captain must wait." in page
    assert "b&gt;Hm&lt;" not in signed_in(team.owner).get(compose(search)).content.decode()
    refused = browser.post(compose(search), {**TYPED, "release": " "})
    assert refused.status_code == 422
    assert "Say which release it is for." in words_of(refused)
    browser.post(compose(search), TYPED)
    assert not ReportDraft.objects.exists()
    browser.post(compose(search, "preview"), TYPED)
    browser.post(compose(search, "forget"))
    assert not ReportDraft.objects.exists()


def test_a_search_that_goes_on_has_no_report_yet(team: Studio, search: Job) -> None:
    Job.objects.filter(pk=search.pk).update(status=Status.RUNNING)
    browser = signed_in(team.designer)
    assert "once the search has ended" in words_of(browser.get(compose(search)))
    browser.post(compose(search), TYPED)
    assert not Report.objects.exists()
    assert "Make a report" not in browser.get(reverse("suspects:page", args=["herobattle", search.pk])).content.decode()


def test_the_ways_to_a_report_are_on_the_pages_of_its_search(team: Studio, search: Job) -> None:
    for name in ("suspects:page", "studies:job", "studies:explore"):
        address = reverse(name, args=["herobattle", search.pk])
        page = signed_in(team.designer).get(address).content.decode()
        assert page.count(f'href="{compose(search)}"') == 2, name  # the loop and a button
        assert signed_in(team.producer).get(address).content.decode().count(f'href="{compose(search)}"') == 1, name


def test_a_producer_is_led_from_the_loop_to_the_newest_report(team: Studio, search: Job) -> None:
    browser = signed_in(team.producer)
    assert browser.get(compose(search))["Location"] == reverse("reports:list", args=["herobattle"])
    made = report(search, team.designer)
    assert browser.get(compose(search))["Location"] == made.get_absolute_url()


def judge(user: Any, made: Report, choice: str, reason: str = "") -> Any:
    return signed_in(user).post(at("judge", made), {"choice": choice, "reason": reason})


def test_verdicts_are_added_the_last_counts_and_the_same_sent_twice_is_one(team: Studio, search: Job) -> None:
    made = report(search, team.designer)
    for _ in range(2):
        assert judge(team.producer, made, "back", "The Duke is missing").status_code == 302
    judge(team.owner, made, "accept")
    said = list(Verdict.objects.values_list("choice", "created_by"))
    assert said == [("back", team.producer.pk), ("accept", team.owner.pk)]
    page = words_of(signed_in(team.designer).get(made.get_absolute_url()))
    assert "Sent back: “The Duke is missing”" in page
    assert page.index("Accepted herobattle-owner") < page.index("Sent back: “The Duke")
    listed = words_of(signed_in(team.designer).get(reverse("reports:list", args=["herobattle"])))
    assert "Accepted by herobattle-owner" in listed


def test_sending_back_needs_a_reason_and_keeps_what_was_typed(team: Studio, search: Job) -> None:
    made = report(search, team.designer)
    refused = judge(team.producer, made, "back", "  ")
    assert (refused.status_code, "Write a few words on what is missing" in words_of(refused)) == (422, True)
    assert "x" * 2001 in judge(team.producer, made, "back", "x" * 2001).content.decode()
    assert judge(team.producer, made, "burn").status_code == 422
    assert not Verdict.objects.exists()


def test_an_edition_that_was_replaced_is_judged_no_more(team: Studio, search: Job) -> None:
    made = report(search, team.designer)
    report(search, team.designer, replaces=made)
    assert "Edition 2 took the place of this one." in words_of(judge(team.producer, made, "accept"))
    assert not Verdict.objects.exists()


@pytest.mark.parametrize(
    ("role", "judges", "shares", "writes"),
    [
        ("owner", 302, 302, 200),
        ("producer", 302, 302, 302),
        ("designer", 403, 302, 200),
        ("engineer", 403, 403, 200),
        ("stranger", 404, 404, 404),
    ],
)
def test_each_role_may_do_what_is_its_own(
    team: Studio, search: Job, role: str, judges: int, shares: int, writes: int
) -> None:
    made = report(search, team.designer)
    user = getattr(team, role)
    browser = signed_in(user)
    reads = 404 if role == "stranger" else 200
    assert browser.get(made.get_absolute_url()).status_code == reads
    assert judge(user, made, "accept").status_code == judges
    assert browser.post(at("share", made), {"days": 14}).status_code == shares
    assert browser.get(compose(search)).status_code == writes
    assert browser.post(at("comment", made), {"text": "Hm"}).status_code == (404 if role == "stranger" else 302)
    if reads == 200:
        page = browser.get(made.get_absolute_url()).content.decode()
        assert (at("judge", made) in page) == (judges == 302)
        assert (at("share", made) in page) == (shares == 302)


def test_comments_are_text_and_the_same_sent_twice_is_one(team: Studio, search: Job) -> None:
    made = report(search, team.designer)
    browser = signed_in(team.engineer)
    for _ in range(2):
        browser.post(at("comment", made), {"text": "<script>alert(1)</script>"})
    assert Comment.objects.count() == 1
    assert "&lt;script&gt;alert(1)" in browser.get(made.get_absolute_url()).content.decode()
    assert browser.post(at("comment", made), {"text": " "}).status_code == 422
    assert "y" * 4001 in browser.post(at("comment", made), {"text": "y" * 4001}).content.decode()


def test_home_shows_a_producer_what_waits_for_them_and_a_designer_what_came_back(team: Studio, search: Job) -> None:
    made = report(search, team.designer)
    waits = words_of(signed_in(team.producer).get("/"))
    assert waits.index("Waiting for your verdict") < waits.index("Latest edge"), "it comes first, on a phone too"
    assert "Waiting for your verdict" not in words_of(signed_in(team.owner).get("/"))
    judge(team.producer, made, "back", "The Duke is missing")
    assert "Waiting for your verdict" not in words_of(signed_in(team.producer).get("/"))
    home = words_of(signed_in(team.designer).get("/"))
    assert "Sent back to you" in home
    assert "The Duke is missing" in home
    report(search, team.designer, replaces=made)
    assert "Sent back to you" not in words_of(signed_in(team.designer).get("/"))
    assert "Waiting for your verdict" in words_of(signed_in(team.producer).get("/"))


def test_an_owner_judges_where_there_is_no_producer(team: Studio, search: Job) -> None:
    report(search, team.designer)
    Membership.objects.filter(project=team.project, role=Role.PRODUCER).delete()
    assert "Waiting for your verdict" in words_of(signed_in(team.owner).get("/"))
    assert "Waiting for your verdict" not in words_of(signed_in(team.producer).get("/"))


def test_a_report_of_another_project_is_not_found_below_this_one(team: Studio, search: Job) -> None:
    other = studio("other")
    made = report(search, team.designer)
    for user in (other.owner, team.owner):
        assert signed_in(user).get(reverse("reports:page", args=["other", made.pk])).status_code == 404
    foreign = report(search_job(other.project, rows=40), other.designer)
    answer = signed_in(team.designer).post(compose(search), {**TYPED, "replaces": foreign.pk})
    assert answer.status_code == 422


def test_the_rows_of_an_experiment_that_are_open_are_told(search: Job) -> None:
    experiment(search, [*ROWS, ((DUKE, HORN), 1, 0.03, 0.0, 0.06, OPEN, 700)])
    assert "Pairs that are not settled: Marrow Duke + Warhorn." in content(search)["untested"]
