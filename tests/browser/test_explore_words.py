"""What the explorer says: numbers that are told from the line, and words that speak of the line that holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.looking import DRAWN
from tests.browser.test_explore import ROWS, count, drawn, rows_of
from tests.browser.test_explore_hands import line_box
from tests.factories import Studio, archive, boundless, bundle, search_job
from tests.figures import SHOWN
from tests.webapp.rounds import played
from webapp.lib.storage import store
from webapp.studies import journal
from webapp.studies.explore_build import build
from webapp.studies.journal import Entry
from webapp.studies.models import Job, ShortlistEntry, Status

Enter = Callable[..., Page]
DOTTED = """() => {
    const styles = getComputedStyle(document.documentElement);
    const rgb = (name) => styles.getPropertyValue(name).trim().match(/\\w\\w/g).map((pair) => parseInt(pair, 16));
    const [red, light] = [rgb("--over"), rgb("--surface")];
    return [...document.querySelectorAll("canvas")].filter((one) => one.checkVisibility() && one.width).some((one) => {
        const { data } = one.getContext("2d").getImageData(0, 0, one.width, one.height);
        const is = (at, colour) => data[at + 3] > 250 && colour.every((part, k) => Math.abs(data[at + k] - part) < 40);
        const across = [[9, 0], [0, 9], [6, 6], [6, -6]].flatMap(([x, y]) => [[x, y], [-x, -y]]);
        const around = across.map(([x, y]) => 4 * (x + y * one.width));
        for (let at = 0; at < data.length; at += 4) {
            if (is(at, light) && around.every((by) => is(at + by, red))) return true;
        }
        return false;
    });
}"""  # fmt: skip
"""Whether a mark in a picture, four pixels to a CSS pixel, is a filled one in the colour of what is over the line, with
a light dot inside."""
OPEN = "?show=under,unsure,strong"


def explorer(enter: Enter, team: Studio, job: Job, query: str = "") -> Page:
    return drawn(enter(team.designer, f"/p/herobattle/jobs/{job.pk}/explore/{query}"))


def with_columns(team: Studio, columns: dict[str, Any]) -> Job:
    rows = len(columns["id"])
    return search_job(team.project, rows=rows, artifacts={"archive": store().put(bundle(columns))})


def fresh(job: Job, rows: list[int], mean: list[float], error: list[float]) -> None:
    """A re-check of these lineups that came out like this for each."""
    columns = {name: column[rows] for name, column in archive(ROWS).items()}
    columns["objective"], columns["error"] = np.tile(mean, (len(rows), 1)), np.tile(error, (len(rows), 1))
    columns["samples"] = np.full(len(rows), 32, dtype=np.int32)
    Job.objects.create(
        project=job.project, kind="recheck", title="Re-check", parent=job, status=Status.FINISHED,
        config={"genomes": columns["genome"].tolist(), "replicates": 32, "first": 1_000_016},
        artifacts={"result": store().put(bundle(columns))},
    )  # fmt: skip


def listed(job: Job, team: Studio, lineup: int) -> None:
    genome = archive(ROWS)["genome"][lineup].tolist()
    ShortlistEntry.objects.create(
        job=job, individual=lineup, action="add", reason="Rich", genome=genome, anchors=[0, 1], created_by=team.designer
    )


# ---- numbers ----


def test_a_range_that_is_wide_because_of_few_replicates_says_how_few(enter: Enter, team: Studio) -> None:
    columns = archive(ROWS)
    first = int(np.argmax(columns["objective"][:, 0]))
    columns["samples"][:], columns["error"][:, 0] = 4, 0.1
    columns["error"][first, 0] = 3.0
    page = explorer(enter, team, with_columns(team, columns), OPEN)
    page.locator(".range-cell .sort").click()
    cells = page.locator(".lineups tbody tr[id] td.range-cell")
    expect(page.locator(f"#lineup-{first} td.range-cell")).to_contain_text(", of 4 replicates")
    assert sum("replicates" in words for words in cells.all_inner_texts()) == 1


def test_the_pages_count_digits_as_the_server_does(enter: Enter, team: Studio) -> None:
    job = search_job(team.project, rows=50)
    page = explorer(enter, team, job)
    name = page.locator("link[rel=modulepreload][href*='charts/format']").get_attribute("href")
    counted = page.evaluate(
        "async ([name, cases]) => { const { telling } = await import(name);"
        "return cases.map(([value, ends, digits, lines]) => telling(value, ends, digits, lines)); }",
        [name, [case[:4] for case in SHOWN]],
    )
    assert counted == [case[4] for case in SHOWN]


def test_a_range_without_an_end_is_said_in_words_and_the_explorer_opens(enter: Enter, team: Studio) -> None:
    job = search_job(team.project, rows=ROWS)
    boundless(job)
    fresh(job, [12], [9.0, 60.0, 60.0], [0.0, 1.0, 1.0])
    page = explorer(enter, team, job, f"{OPEN}&sort=-advantage&pick=12")
    expect(page.locator(".lineups tbody tr[id]").first).to_contain_text("no range")
    expect(page.get_by_text("(range not known)").first).to_be_visible()


def test_a_lineup_over_the_line_never_reads_as_on_it_nor_a_range_as_one_number(enter: Enter, team: Studio) -> None:
    columns = archive(60)
    columns["objective"][:, 0] = 1.5
    columns["objective"][:4, 0] = [2.003, 2.04, 1.996, 1.68]
    columns["error"][:, 0] = [0.012, 0.012, 0.0006, 0.003] * 15
    job = with_columns(team, columns)
    Job.objects.filter(pk=job.pk).update(
        artifacts=dict.fromkeys(("archive", "front", "fresh"), job.artifacts["archive"])
    )
    page = explorer(enter, team, job, OPEN)
    shown = {}
    for lineup in range(4):
        cell = page.locator(f"#lineup-{lineup} .range-cell").inner_text().split()
        shown[lineup] = [float(text.rstrip("×")) for text in cell if text != "to"]
    for lineup, (value, low, high) in shown.items():
        assert (value > 2.0) == (columns["objective"][lineup, 0] > 2.0), shown
        assert low < value < high, shown
    page.locator("#lineup-0").click()
    expect(page.locator("[data-drawer] .ranges")).to_contain_text(re.compile(r"2\.003× \(\d\.\d{3} to \d\.\d{3}\)"))
    page.goto(f"/p/herobattle/jobs/{job.pk}/")
    page.get_by_text("The edge as a table").click()
    cells = page.locator("[data-table-body] td:first-child")
    expect(cells.first).to_be_visible()
    assert "2.0×" not in cells.all_inner_texts()


def test_a_range_stops_where_its_numbers_do_and_is_written_out(enter: Enter, team: Studio) -> None:
    columns = archive(60)
    columns["objective"][:, 2] = 0.0
    columns["error"][:, 2] = 20.0
    page = explorer(enter, team, with_columns(team, columns), OPEN)
    cells = page.locator(".lineups tbody tr[id] .number-cell:nth-child(5)").all_inner_texts()
    assert cells
    assert all(re.fullmatch(r"0\.0\s+0\.0 to \d+\.\d", text) for text in cells), cells
    assert "±" not in page.locator("main").inner_text()


def test_how_sure_is_not_cut_off(enter: Enter, team: Studio) -> None:
    page = explorer(enter, team, search_job(team.project, rows=ROWS), OPEN)
    for width in (1400, 1100, 800, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.locator(".lineups tbody tr[id]").first.evaluate("row => row.classList.add('selected')")  # in bold
        page.wait_for_timeout(200)
        cut = page.locator(".lineups td.sure-cell, .lineups td.range-cell").evaluate_all(
            "cells => cells.filter(c => c.scrollWidth > c.clientWidth || c.scrollHeight > c.clientHeight + 1)"
            ".map(c => c.innerText)"
        )
        assert cut == [], width


def test_what_is_counted_stands_behind_its_name(enter: Enter, team: Studio) -> None:
    page = explorer(enter, team, search_job(team.project, rows=60), OPEN + "&pick=5")
    parts = page.locator("[data-drawer] .team-parts").all_inner_texts()
    assert parts
    for text in parts:
        assert re.search(r"[A-Z]\w+\xa0×\d", text), text
        assert not re.search(r"\b\d+ [A-Z]", text), text


# ---- the line that holds ----


def test_head_and_shortlist_follow_a_moved_line_and_say_so(enter: Enter, team: Studio) -> None:
    job = search_job(team.project, rows=ROWS)
    fresh(job, [5], [2.6, 50.0, 28.0], [0.05, 1.0, 1.0])
    listed(job, team, 5)
    page = explorer(enter, team, job)
    head, shortlist = page.locator("[data-judged]"), page.locator("[data-shortlist]")
    expect(shortlist).to_contain_text("Confirmed on 768 fresh battles")
    expect(head).to_contain_text("over the line and strong: 1 confirmed on fresh battles (of 1 played again)")
    own = head.inner_text()
    legend = page.locator("[data-show='2'] b")
    assert own.startswith(f"; {legend.inner_text()} over the line and strong")
    line_box(page).fill("2.9")
    expect(head).to_contain_text(f"; by the moved line {legend.inner_text()} over the line and strong: 0 on fresh")
    assert "confirmed" not in page.locator(".facts").inner_text().lower()
    expect(shortlist).to_contain_text("On average under the line by the moved line, on 768 fresh battles")
    expect(shortlist).to_contain_text("A re-check is judged by the job’s own, 2.0×.")
    expect(shortlist.locator(".vm-under")).to_be_visible()
    assert "Confirmed" not in shortlist.inner_text()
    expect(shortlist.locator("[data-list-settled]")).to_have_text(
        "By the job’s own line, every lineup here has a verdict."
    )
    expect(page.locator("[data-recheck]")).to_have_attribute(
        "title", re.compile("^By the job’s own line, every lineup of")
    )
    expect(page.locator("[data-families-by]")).to_contain_text("the job’s own line")
    line_box(page).fill("2.3")
    expect(shortlist).to_contain_text("Over the line and strong by the moved line, on 768 fresh battles")
    expect(page.locator("#lineup-5 .sure-cell")).to_have_text("On fresh battles")
    page.locator("[data-line-moved]").get_by_role("button", name="Back to the job’s line").click()
    expect(shortlist).to_contain_text("Confirmed on 768 fresh battles")
    expect(shortlist.locator("[data-list-line]")).to_be_hidden()
    expect(shortlist.locator("[data-list-settled]")).to_have_text("Every lineup here has a verdict.")
    assert head.inner_text() == own


def test_the_random_lineups_of_the_search_are_set_apart_from_those_of_new_job(enter: Enter, team: Studio) -> None:
    page = explorer(enter, team, search_job(team.project, rows=ROWS))
    said = page.locator("[data-line-said]").first
    expect(said).to_contain_text("random ones it began with (a different sample from the one on New job):")


def test_every_confirmed_lineup_has_a_mark_of_its_own_in_the_picture(enter: Enter, team: Studio) -> None:
    job = search_job(team.project, rows=ROWS)
    fresh(job, [5, 6, 7], [2.6, 50.0, 28.0], [0.02, 1.0, 1.0])
    page = explorer(enter, team, job)
    sharp = {"width": 1280, "height": 800, "deviceScaleFactor": 4, "mobile": False}
    page.context.new_cdp_session(page).send("Emulation.setDeviceMetricsOverride", sharp)
    key = page.locator("[data-confirmed]")
    expect(key).to_have_text("Confirmed 3")
    for view in ("Pairs", "3-D", "Parallel lines"):
        page.get_by_role("button", name=view).click()
        page.wait_for_function(DOTTED)
        expect(key).to_have_text("Confirmed 3")
    page.goto(page.url.partition("?")[0] + "?line-advantage=2.9")
    drawn(page)
    expect(key).to_be_hidden()
    for view in ("Pairs", "3-D", "Parallel lines"):
        page.get_by_role("button", name=view).click()
        page.evaluate(DRAWN)
        assert not page.evaluate(DOTTED), view


def test_why_neighbours_have_ranges_of_unlike_width_is_said(enter: Enter, team: Studio) -> None:
    job = search_job(team.project, rows=ROWS)
    page = explorer(enter, team, job)
    said = f"They rest on {job.config['replicates']} replicates as a rule, so a range is wide or narrow partly by luck"
    expect(page.locator(".across-note").last).to_contain_text(said)
    expect(page.locator(".across-note").last).to_contain_text("values close to the line have more digits")


def test_a_moved_line_in_the_address_is_followed_from_the_start(enter: Enter, team: Studio) -> None:
    job = search_job(team.project, rows=ROWS)
    listed(job, team, 5)
    page = explorer(enter, team, job, "?line-advantage=2.9")
    expect(page.locator("[data-judged]")).to_contain_text("by the moved line")
    expect(page.locator("[data-shortlist]")).to_contain_text("by the moved line, on the search’s battles")


def test_a_re_check_that_ends_while_the_line_is_moved_is_told_by_that_line(enter: Enter, team: Studio) -> None:
    job = search_job(team.project, rows=ROWS)
    listed(job, team, 5)
    fresh(job, [5], [2.6, 50.0, 28.0], [0.05, 1.0, 1.0])
    child = job.children.get()
    found, child.artifacts, child.status = child.artifacts, {}, Status.RUNNING
    child.save()
    page = explorer(enter, team, job, "?line-advantage=2.9")
    expect(page.locator("[data-shortlist]")).to_contain_text("Being played again on fresh battles")
    ended = [Entry("finished", {"artifacts": found})]
    journal.append(child, {}, ended, status=Status.FINISHED, artifacts=found)
    told = "On average under the line by the moved line, on 768 fresh battles"
    expect(page.locator("[data-shortlist]")).to_contain_text(told)


def test_an_exact_number_has_no_range_beside_it(enter: Enter, team: Studio) -> None:
    columns = archive(60)
    columns["error"][:, 1] = 0.0
    job = with_columns(team, columns)
    job.config["objectives"]["objectives"][1]["formula"] = "mean(cost)"  # chance has no part in a price
    job.save()
    page = explorer(enter, team, job, OPEN + "&pick=5")
    assert re.fullmatch(r"\d+", page.locator(".lineups tbody tr[id] .number-cell").first.inner_text())
    expect(page.locator("[data-drawer] .ranges")).to_contain_text("(exact)")


def test_every_family_listed_has_lineups(enter: Enter, team: Studio) -> None:
    page = explorer(enter, team, search_job(team.project, rows=ROWS), "?min-advantage=3.4")
    assert count(page) < 200
    counts = page.locator("[data-families] .family-count").all_inner_texts()
    assert counts
    assert all(int(text.replace(",", "")) > 0 for text in counts)


@pytest.mark.parametrize(
    ("at_the_end", "mean", "says"),
    [
        (0, [2.6, 50.0, 28.0], "the only one played again, confirmed on fresh battles"),
        (1, [1.7, 30.0, 28.0], "the one played again is not confirmed on fresh battles"),
    ],
)
def test_the_figures_of_a_search_agree_on_what_is_confirmed_by_now(
    enter: Enter, team: Studio, at_the_end: int, mean: list[float], says: str
) -> None:
    job = played(team.project, 6)
    numbers = {"strong": 8.0, "evaluated": 180.0, "replayed": 88.0, "confirmed": float(at_the_end), "worst": 2.5}
    job.metrics, job.status = {**numbers, "worst_low": 2.4, "worst_high": 2.6}, Status.FINISHED
    job.save()
    fresh(job, [5], mean, [0.05, 1.0, 1.0])
    page = enter(team.designer, f"/p/herobattle/jobs/{job.pk}/")
    expect(page.locator("[data-compared]")).to_contain_text(f"{1 - at_the_end} confirmed on fresh battles, ")
    expect(page.locator("[data-sure]")).to_have_text(says)
    expect(page.locator("[data-worst]")).to_contain_text("–" if at_the_end else "2.60×")
    expect(page.locator("[data-worst-name]")).to_have_text("Most unfair confirmed")


# ---- the button ----


def test_a_re_check_of_an_empty_shortlist_is_not_offered_and_says_what_is_missing(enter: Enter, team: Studio) -> None:
    job = search_job(team.project, rows=ROWS)
    page = explorer(enter, team, job)
    button = page.get_by_role("button", name="Re-check the shortlist")
    expect(button).to_be_disabled()
    expect(button).not_to_have_class(re.compile("btn-primary"))
    expect(button).to_have_accessible_description("Shortlist a lineup first")
    expect(page.locator("[data-recheck-hint]")).to_be_visible()
    button.click(force=True)
    note = page.locator("#toasts .toast-note")
    expect(note).to_contain_text("Open a lineup, say why it matters")
    expect(note.locator("use[href*='circle-check']")).to_have_count(0)
    lineup = rows_of(page)[0]
    page.locator(f"#lineup-{lineup}").click()
    page.get_by_label("Why shortlist it?").fill("Too rich")
    page.get_by_role("button", name="Add to shortlist").click()
    button = page.get_by_role("button", name="Re-check 1: 768 fresh battles")
    expect(button).to_be_enabled()
    expect(button).to_have_class(re.compile("btn-primary"))
    expect(page.locator("[data-recheck-hint]")).to_have_text("")
    expect(page.locator("#toasts .toast-note").last.locator("use[href*='circle-check']")).to_have_count(1)


@pytest.mark.parametrize(
    ("mean", "error", "short", "says"),
    [
        ([2.5, 99.0, 4.0], [0.02, 1.0, 0.3], "Over, weak", "Over the line, but weak"),
        ([2.5, 99.0, 4.0], [0.5, 1.0, 0.3], "Near, weak", "On average over the line, not sure yet; and weak"),
        ([2.5, 99.0, 20.0], [0.02, 1.0, 9.0], "Not sure yet", "Over the line, but not sure yet whether it is strong"),
        ([2.5, 99.0, 20.0], [0.5, 1.0, 9.0], "Not sure yet", "On average over the line, but not sure yet"),
    ],
)
def test_what_the_search_is_sure_of_and_what_not_is_set_apart(
    enter: Enter, team: Studio, mean: list[float], error: list[float], short: str, says: str
) -> None:
    columns = archive(60)
    columns["objective"][7], columns["error"][7] = mean, error
    columns["covariance"][7] = np.diag(np.square(error))
    job = with_columns(team, columns)
    page = explorer(enter, team, job, f"{OPEN}&sort=-gap&pick=7")
    expect(page.locator("[data-drawer] .advice b")).to_have_text(says)
    row = page.locator(".lineups tbody tr[id] .sure-cell").first
    expect(row).to_have_text(short)
    assert build(job).how_sure(7) == short
