"""The explorer under a designer's hands: the line that moves, drafts, the hover card, 3-D, parallel lines, a phone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Locator, Page, Route, expect

from engine.games.herobattle.spec import game_spec
from tests.browser.conftest import PHONE, let_in
from tests.browser.looking import overflow, serious_violations
from tests.browser.test_explore import ROWS, count, drawn, place_of, rows_of, taken
from tests.factories import Studio, archive, bundle, search_job
from webapp.balance.models import KeptLine
from webapp.lib.storage import store
from webapp.studies.models import Job, ShortlistEntry
from webapp.studies.questions import QUESTIONS, with_line

Enter = Callable[..., Page]
Explore = Callable[..., Page]


@pytest.fixture
def job(team: Studio) -> Job:
    return search_job(team.project, rows=ROWS)


@pytest.fixture
def explore(enter: Enter, team: Studio, job: Job) -> Explore:
    """``explore(query, user)``: the explorer, drawn."""

    def open_at(query: str = "", user: Any = None) -> Page:
        return drawn(enter(user or team.designer, f"/p/herobattle/jobs/{job.pk}/explore/{query}"))

    return open_at


@pytest.fixture
def phone(browser: Browser, site: str, team: Studio) -> Iterator[Page]:
    context = browser.new_context(base_url=site, viewport=PHONE, has_touch=True, is_mobile=True)
    let_in(context, site, team.designer)
    yield context.new_page()
    context.close()


def asking(team: Studio, question: str, line: tuple[str, float], kept: list[int], **more: Any) -> Job:
    """A job that asked another question: its objectives are columns of the usual archive."""
    objectives = with_line(QUESTIONS[question].objectives(game_spec()), *line)
    columns = archive(600)
    for name in ("objective", "error"):
        columns[name] = columns[name][:, kept]
    columns["covariance"] = columns["covariance"][:, kept][:, :, kept]
    job = search_job(team.project, rows=600, template=question, title=QUESTIONS[question].title, **more)
    job.config["objectives"] = objectives.model_dump(mode="json")
    job.artifacts["archive"] = store().put(bundle(columns))
    job.save()
    return job


def box(part: Locator) -> dict[str, float]:
    found = part.bounding_box()
    assert found is not None
    return dict(found)


def line_box(page: Page) -> Locator:
    return page.get_by_label("The line of Resource advantage", exact=True)


# ---- the line ----


def test_a_moved_line_moves_marks_counts_table_share_address_and_files(explore: Explore) -> None:
    page = explore()
    before, first = count(page), page.locator("[data-show='2'] b").inner_text()
    line_box(page).fill("2,6")
    expect(page.locator("[data-line-moved]")).to_contain_text("moved to 2.6×; the job’s own is 2.0×")
    expect(page.locator(".panel-words")).to_contain_text(["The line, moved: 2.6×"])
    expect(page).to_have_url(re.compile("line-advantage=2.6"))
    over = int((archive(ROWS)["objective"][:, 0].astype(np.float32) >= 2.6).sum())
    assert count(page) == over < before
    expect(page.locator("[data-count]")).to_have_text(
        f"{over:,} of {ROWS:,} lineups are or may be over the line by the moved line"
    )
    expect(page.locator("[data-line-said]")).to_contain_text(f"{over:,} of {ROWS:,}")
    expect(page.locator("[data-line-said]")).to_contain_text(f"({100 * over / ROWS:.1f}\xa0%)")
    assert page.locator("[data-show='2'] b").inner_text() != first
    assert taken(page)[:8] == rows_of(page)[:8]
    assert len(taken(page)) == over
    page.reload()
    drawn(page)
    assert count(page) == over
    page.locator("[data-line-moved]").get_by_role("button", name="Back to the job’s line").click()
    assert count(page) == before
    expect(page.locator("[data-line-moved]")).to_be_hidden()
    expect(page).not_to_have_url(re.compile("line-"))


def test_the_line_moves_by_keyboard_and_by_a_slider_without_a_drag(explore: Explore) -> None:
    page = explore()
    page.keyboard.press("l")
    expect(line_box(page)).to_be_focused()
    page.keyboard.type("3")
    expect(page).to_have_url(re.compile("line-advantage=3"))
    page.keyboard.press("Tab")
    slider = page.get_by_label("The line of Resource advantage, as a slider")
    expect(slider).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(line_box(page)).to_have_value("2.99")
    line_box(page).fill("far")
    expect(page.locator("[data-line-wrong]")).to_be_visible()
    expect(page).to_have_url(re.compile("line-advantage=2.99"))


def test_moved_verdicts_are_the_jobs_own_when_the_line_stands_where_it_stood(explore: Explore) -> None:
    page = explore("?show=under,unsure,strong")
    served = page.locator("[data-show] b").all_inner_texts()
    line_box(page).fill("2.0000001")  # judged in the browser now
    expect(page.locator("[data-line-moved]")).to_be_visible()
    assert page.locator("[data-show] b").all_inner_texts() == served


def test_a_designer_keeps_a_moved_line_for_later_searches_and_this_job_keeps_its_own(
    explore: Explore, team: Studio, job: Job
) -> None:
    page = explore("?line-advantage=2.65")
    page.get_by_role("button", name="Keep it for later searches").click()
    expect(page.locator("#toasts")).to_contain_text("begin with a line at 2.65 ×")
    kept = KeptLine.objects.get()
    assert (kept.project, kept.question, kept.line, kept.kept_by) == (team.project, "unfair", 2.65, team.designer)
    job.refresh_from_db()
    assert job.config["objectives"]["objectives"][0]["threshold"] == 2.0
    page.goto("/p/herobattle/jobs/new/")
    expect(page.locator("#id_line")).to_have_value("2.65")


def test_a_producer_may_move_the_line_but_not_keep_it(explore: Explore, team: Studio) -> None:
    page = explore("?line-advantage=2.6", user=team.producer)
    expect(page.locator("[data-line-moved]")).to_be_visible()
    expect(page.get_by_role("button", name="Keep it for later searches")).to_have_count(0)


# ---- reasons ----


def test_a_reason_that_was_typed_survives_closing_choosing_another_and_reload(explore: Explore) -> None:
    page = explore("?pick=5")
    reason = page.get_by_label("Why shortlist it?")
    reason.fill("The horn never ends")
    expect(page.get_by_text("Not added yet: kept on this device as a draft.")).to_be_visible()
    page.get_by_role("button", name="Close the details").click()
    expect(page.get_by_role("button", name="Close the details")).to_be_hidden()
    page.locator(".lineups tbody tr[id]").first.click()
    expect(page).not_to_have_url(re.compile(r"pick=5(&|$)"))
    expect(page).to_have_url(re.compile("pick="))
    expect(reason).to_have_value("")
    page.reload()
    drawn(page)
    page.goto(page.url.split("?")[0] + "?pick=5")
    drawn(page)
    expect(reason).to_have_value("The horn never ends")
    page.get_by_role("button", name="Add to shortlist").click()
    expect(page.locator("[data-shortlist]")).to_contain_text("The horn never ends")
    assert not page.evaluate("Object.keys(localStorage).some(key => key.startsWith('equipoise-draft'))")


def test_the_keyboard_goes_back_to_the_row_once_the_reason_is_sent_and_t_leads_to_the_table(explore: Explore) -> None:
    page = explore()
    page.keyboard.press("t")
    expect(page.locator(".lineups")).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("s")
    reason = page.get_by_label("Why shortlist it?")
    expect(reason).to_be_focused()
    reason.fill("Too rich")
    reason.press("Control+Enter")
    expect(page.locator("[data-shortlist]")).to_contain_text("Too rich")
    expect(page.locator(".lineups")).to_be_focused()
    expect(page.locator(".lineups tr.active")).to_have_class(re.compile("selected"))


def test_ctrl_enter_twice_sends_the_reason_once_and_what_is_typed_meanwhile_stays(explore: Explore) -> None:
    page = explore("?pick=5")
    held: list[Route] = []
    page.route("**/shortlist/", lambda route: held.append(route))
    reason = page.get_by_label("Why shortlist it?")
    reason.fill("Too rich")
    reason.press("Control+Enter")
    reason.press("Control+Enter")
    reason.fill("Too rich by far")
    page.wait_for_timeout(300)
    assert len(held) == 1
    held[0].continue_()
    expect(page.locator("[data-shortlist]")).to_contain_text("Too rich")
    assert reason.input_value() == "Too rich by far"


def test_ctrl_enter_adds_the_reason_and_says_so_and_a_remark_likewise(explore: Explore) -> None:
    page = explore("?pick=5")
    reason = page.get_by_label("Why shortlist it?")
    expect(reason).to_have_accessible_description("Ctrl + Enter adds it.")
    reason.fill("Too rich")
    reason.press("Control+Enter")
    expect(page.locator("[data-shortlist]")).to_contain_text("Too rich")
    page.get_by_text("Remark, or take it off").click()
    remark = page.get_by_label(re.compile("Words about"))
    remark.fill("Seen in the playtest")
    page.reload()
    drawn(page)
    expect(remark).to_have_value("Seen in the playtest")
    remark.press("Control+Enter")
    expect(page.locator("[data-shortlist]")).to_contain_text(": Seen in the playtest")
    assert list(ShortlistEntry.objects.values_list("action", flat=True)) == ["add", "remark"]


def test_a_draft_is_gone_from_the_device_when_its_author_signs_out_and_stays_while_they_do_not(
    explore: Explore, team: Studio
) -> None:
    page = explore("?pick=5")
    page.get_by_label("Why shortlist it?").fill("The horn never ends")
    drafts = "Object.keys(localStorage).filter(key => key.startsWith('equipoise-draft')).length"
    asked: list[str] = []

    def sign_out(answer: bool) -> None:
        page.once(
            "dialog", lambda dialog: (asked.append(dialog.message), dialog.accept() if answer else dialog.dismiss())
        )
        page.locator("summary", has=page.locator(".initials")).click()
        page.get_by_role("button", name="Sign out").click()

    sign_out(answer=False)
    assert page.evaluate(drafts) == 1
    page.locator("summary", has=page.locator(".initials")).click()
    page.context.clear_cookies()  # the session ends by itself
    page.goto("/sign-in/")
    assert page.evaluate(drafts) == 1
    page = explore("?pick=5")
    expect(page.get_by_label("Why shortlist it?")).to_have_value("The horn never ends")
    sign_out(answer=True)
    expect(page).to_have_url(re.compile("sign-in"))
    assert page.evaluate(drafts) == 0
    assert len(asked) == 2


def test_a_draft_is_gone_from_the_device_once_somebody_else_is_signed_in_there(explore: Explore, team: Studio) -> None:
    page = explore("?pick=5")
    page.get_by_label("Why shortlist it?").fill("The horn never ends")
    page.context.clear_cookies()
    page = explore("", team.engineer)
    assert not page.evaluate("Object.keys(localStorage).some(key => key.startsWith('equipoise-draft'))")


# ---- charts ----


def test_a_row_opens_at_a_click_in_whose_midst_the_table_scrolls_or_is_drawn_anew(explore: Explore) -> None:
    page = explore()
    scroller = page.locator(".lineups-scroll")
    drawn_anew = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
    scroll = f"(each, by) => {{ each.scrollTop += by; return {drawn_anew}; }}"
    scroller.scroll_into_view_if_needed()
    scroller.evaluate(scroll, 300)
    for by in (1, 53):
        pressed = page.locator(".lineups tbody tr[id]").nth(7).get_attribute("id")
        box = page.locator(f"#{pressed} .name-cell > span").bounding_box()
        assert box
        page.mouse.move(box["x"] + 5, box["y"] + box["height"] / 2)
        page.mouse.down()
        scroller.evaluate(scroll, by)
        page.mouse.move(box["x"] + 5, box["y"] + box["height"] / 2 - by)
        page.mouse.up()
        expect(page.locator(f"#{pressed}")).to_have_class(re.compile(r"\bselected\b"))
        page.keyboard.press("Escape")


def test_the_hover_card_stands_beside_its_point_and_a_line_leads_there(explore: Explore) -> None:
    page = explore()
    columns = archive(ROWS)["objective"]
    for lineup in [i for i in rows_of(page) if columns[i, 0] > 2.4][:4]:
        x, y = place_of(page, lineup)
        page.mouse.move(5, 5)
        page.mouse.move(x, y)
        expect(page.locator("[data-hover]")).to_be_visible()
        expect(page.locator("[data-hover-leader]")).to_be_visible()
        card = box(page.locator("[data-hover]"))
        beside = [max(card["x"] - x, x - card["x"] - card["width"]), max(card["y"] - y, y - card["y"] - card["height"])]
        assert max(beside) >= 8, "the card lies on its point"
        assert max(beside) <= 125, "the card stands far from its point"
        ring = box(page.locator(".hover-ring"))
        assert abs(ring["x"] + ring["width"] / 2 - x) < 6, "the ring is not around the point"
        assert abs(ring["y"] + ring["height"] / 2 - y) < 6
    page.mouse.move(5, 5)
    expect(page.locator(".hover-ring")).to_be_hidden()
    expect(page.locator("[data-hover-leader]")).to_be_hidden()


def cloud_3d(page: Page) -> Locator:
    page.locator("[data-three-d][data-drawn]").wait_for()
    return page.locator("[data-plot]")


def test_a_point_in_3d_shows_its_card_and_opens_at_a_click(explore: Explore) -> None:
    page = explore("?view=3d&show=strong")
    plot = cloud_3d(page)
    area = box(plot)
    found = page.evaluate(
        "() => { const c = document.querySelector('[data-plot] canvas'); const k = c.width / c.clientWidth;"
        "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        "for (let y = 0; y < c.height; y += 1) for (let x = 0; x < c.width; x += 1) { const i = 4 * (y * c.width + x);"
        "if (d[i] === 0xbf && d[i + 1] === 0x2f && d[i + 2] === 0x1c) return [x / k, y / k]; } return null; }"
    )
    assert found, "nothing is drawn in the colour of what is over the line"
    x, y = area["x"] + found[0], area["y"] + found[1] + 2
    page.mouse.move(x, y)
    expect(page.locator("[data-hover]")).to_be_visible()
    name = page.locator("[data-hover] b").first.inner_text()
    page.mouse.click(x, y)
    expect(page.locator("#drawer-title")).to_have_text(name)


def test_3d_is_walked_turned_and_opened_by_keyboard(explore: Explore) -> None:
    page = explore("?view=3d")
    plot = cloud_3d(page)
    first = rows_of(page)[0]
    plot.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    expect(page.locator("[data-hover]")).to_be_visible()
    expect(page.locator("#explore-said")).to_contain_text("·")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"pick={first}"))
    expect(page.locator("#drawer-title")).to_be_focused()


def test_parallel_lines_can_be_set_apart_and_dragging_leaves_the_rest_behind_faint(explore: Explore) -> None:
    page = explore("?view=lines&show=under,unsure,strong")
    canvas = "document.querySelector('[data-lines] canvas')"
    solid = (
        f"() => {{ const c = {canvas}; const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        "let n = 0; for (let i = 3; i < d.length; i += 4) if (d[i] > 240) n += 1; return n / (d.length / 4); }"
    )
    assert page.evaluate(solid) < 0.12  # thousands of lines at full strength would be one solid area
    page.get_by_label("Strength gap, at least").fill("45")
    expect(page.locator("[data-chart-note]")).to_contain_text("Faint: some that do not match")
    point = page.locator("[data-lines] canvas").last
    area = box(point)
    for step in range(8, 60):
        page.mouse.move(area["x"] + area["width"] * 0.25, area["y"] + area["height"] * step / 64)
        if page.locator("[data-hover]").is_visible():
            break
    expect(page.locator("[data-hover]")).to_be_visible()


# ---- words and numbers ----


def test_an_objective_has_one_name_on_every_axis_and_in_the_table(enter: Enter, team: Studio) -> None:
    job = search_job(team.project, rows=300)
    job.config["objectives"]["objectives"][0]["title"] = "Win gap"
    job.save()
    page = drawn(enter(team.designer, f"/p/herobattle/jobs/{job.pk}/explore/"))
    expect(page.locator(".scatter .panel-axes")).to_contain_text("Win gap (×)")
    for view in ("Parallel lines", "Pairs"):
        page.get_by_role("button", name=view).click()
        assert "Advantage" not in page.locator("main").inner_text()
    assert "Advantage" not in page.locator(".panel-axes").all_inner_texts()[0]


def test_no_value_in_the_table_is_cut_off(enter: Enter, team: Studio) -> None:
    columns = archive(300)
    columns["objective"][:, 1:] = 12_345.6 + 9.9 * columns["objective"][:, 1:] / 100
    columns["error"][:, 1:] = 88.8
    job = search_job(team.project, rows=300, artifacts={"archive": store().put(bundle(columns))})
    page = drawn(enter(team.designer, f"/p/herobattle/jobs/{job.pk}/explore/?show=under,unsure,strong"))
    for width in (1400, 1100, 800):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(200)
        cut = page.locator(".lineups td.number-cell, .lineups td.range-cell").evaluate_all(
            "cells => cells.filter(c => c.offsetParent"
            " && (c.scrollWidth > c.clientWidth || c.scrollHeight > c.clientHeight + 1))"
            ".map(c => c.innerText)"
        )
        assert cut == [], width


def test_what_is_useless_speaks_of_useless_teams_only(enter: Enter, team: Studio) -> None:
    job = asking(team, "useless", ("left", 20.0), [2, 1])
    page = drawn(enter(team.designer, f"/p/herobattle/jobs/{job.pk}/explore/"))
    expect(page.locator("[data-show='2']")).to_contain_text("Found useless")
    expect(page.locator("[data-count]")).to_contain_text(re.compile("are or may be useless|may be useless|are useless"))
    page.locator(".lineups tbody tr[id]").first.click()
    expect(page.locator("[data-drawer] .advice")).to_contain_text("Found by the search: useless")
    words = page.locator("main").inner_text()
    for wrong in ("over the line", "Over the line", "and strong", "beats a typical one", "unfair"):
        assert wrong not in words, wrong
    page.goto(f"/p/herobattle/jobs/{job.pk}/")
    expect(page.locator(".figures")).to_contain_text("Found useless")


def test_the_head_and_the_table_count_the_same_lineups(enter: Enter, team: Studio) -> None:
    columns = archive(500)
    columns["violation"][100:] = 1.0
    job = search_job(team.project, rows=500, artifacts={"archive": store().put(bundle(columns))})
    job.config["objectives"]["constraints"] = ["min(strength) - 10"]
    job.save()
    page = drawn(enter(team.designer, f"/p/herobattle/jobs/{job.pk}/explore/"))
    expect(page.locator(".facts")).to_contain_text(
        "100 lineups of three teams compared together; 400 more are left out"
    )
    expect(page.locator("[data-count]")).to_contain_text("of 100 lineups")


@pytest.mark.parametrize(
    ("took", "speed", "note"),
    [
        (140, "4,400", "battles a second: 609,792 in 2\xa0min 20\xa0s, start and end included"),
        (14, "–", "battles: 609,792 in 14\xa0s, too short for a speed"),
    ],
)
def test_the_speed_of_a_job_is_its_battles_over_the_time_they_took_and_a_short_one_has_none(
    enter: Enter, team: Studio, took: int, speed: str, note: str
) -> None:
    counters = {"evaluations": 6000, "battles": 609_792, "cached": 0, "steps": 0, "seconds": took - 3.0}
    ended = timezone.now()
    job = search_job(team.project, counters=counters, started_at=ended - timedelta(seconds=took), finished_at=ended)
    page = enter(team.designer, f"/p/herobattle/jobs/{job.pk}/")
    expect(page.locator("[data-speed-note]")).to_have_text(note)
    expect(page.locator("[data-speed]")).to_have_text(speed)


# ---- reach ----


def test_titles_of_parallel_lines_are_whole_on_a_phone(phone: Page, job: Job) -> None:
    phone.goto(f"/p/herobattle/jobs/{job.pk}/explore/?view=lines")
    titles = phone.locator("[data-lines] .annotation, .parallel .annotation, .panel-axes .annotation").filter(
        has_text="↑"
    )
    expect(titles.first).to_be_visible()
    tops = titles.evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect().top - one.closest('svg').getBoundingClientRect().top)"
    )
    assert len(tops) == 3
    assert min(tops) >= 0, tops


def test_the_shortlist_of_a_phone_is_one_tap_away(phone: Page, job: Job) -> None:
    phone.goto(f"/p/herobattle/jobs/{job.pk}/explore/")
    drawn(phone)
    opener = phone.get_by_role("button", name="Shortlist", exact=True)
    expect(opener).to_be_in_viewport()
    opener.tap()
    expect(phone.locator("[data-shortlist] h2")).to_be_in_viewport()
    expect(phone.get_by_role("button", name="Close the shortlist")).to_be_focused()
    assert serious_violations(phone) == []
    phone.keyboard.press("Escape")
    expect(opener).to_be_focused()
    phone.locator(".lineups tbody tr[id]").first.tap()
    phone.get_by_label("Why shortlist it?").fill("Too rich")
    phone.get_by_role("button", name="Add to shortlist").tap()
    phone.get_by_role("button", name="Close the details").tap()
    phone.get_by_role("button", name="Shortlist (1)").tap()
    phone.locator("[data-shortlist] .shortlist-name").tap()
    expect(phone.locator("#drawer-title")).to_be_in_viewport()
    assert overflow(phone) == 0


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_in_any_view_nor_after_scrolling(explore: Explore, colours: Any) -> None:
    page = explore("?show=under,unsure,strong&pick=5&line-advantage=2.4")
    page.emulate_media(color_scheme=colours)
    page.locator(".lineups-scroll").evaluate("part => { part.scrollTop = 9000; }")
    page.wait_for_timeout(200)
    assert serious_violations(page) == []
    for view in ("3-D", "Parallel lines"):
        page.get_by_role("button", name=view).click()
        page.wait_for_timeout(300)
        assert serious_violations(page) == []
