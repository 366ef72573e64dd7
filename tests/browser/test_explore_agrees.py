"""What the explorer draws, lists and counts agree with each other: rows, marks, tints, names and digits."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_explore import ROWS, drawn
from tests.browser.test_explore_hands import box
from tests.browser.test_explore_words import OPEN, explorer, fresh, with_columns
from tests.factories import Studio, archive, search_job
from webapp.studies.models import Job

Enter = Callable[..., Page]

WHOLE_ROWS = """part => {
  const [from, to] = [part.querySelector("th.name-cell"), part].map((one) => one.getBoundingClientRect().bottom);
  return [...part.querySelectorAll("tbody tr[id]")].filter((row) => {
    const { top, bottom } = row.getBoundingClientRect();
    return top >= from - 1.5 && bottom <= to + 1.5;
  }).map((row) => Number(row.getAttribute("aria-rowindex")) - 1);
}"""
"""Places, from 1, of the rows that stand wholly under the heads and over the lower edge."""


def one_team(team: Studio, rows: int = 60) -> Job:
    """A search for single teams that are all called alike."""
    columns = archive(rows)
    columns["genome"][:, 0, 0] = columns["genome"][0, 0, 0]
    for name in ("genome", "cost", "team_strength"):
        columns[name] = columns[name][:, :1]
    columns["anchor"] = np.zeros((rows, 2), dtype=np.int32)
    job = with_columns(team, columns)
    job.config["lineups"]["teams"] = 1
    job.save()
    return job


def along(canvas: dict[str, float], share: float) -> tuple[float, float]:
    """A point of the rising diagonal of a chart whose canvas is 14 px wider on each side, with 4 % free at its ends."""
    inner = {side: canvas[side] - 28 for side in ("width", "height")}
    part = (0.04 + share) / 1.08
    return canvas["x"] + 14 + part * inner["width"], canvas["y"] + 14 + (1 - part) * inner["height"]


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (1100, 900), (390, 844)])
def test_the_foot_of_the_table_counts_the_rows_that_are_wholly_seen(
    enter: Enter, team: Studio, width: int, height: int
) -> None:
    page = explorer(enter, team, search_job(team.project, rows=ROWS), OPEN)
    page.set_viewport_size({"width": width, "height": height})
    scroller = page.locator(".lineups-scroll")
    for scrolled in (0, 20, 530, 5321):
        scroller.evaluate("(part, top) => { part.scrollTop = top; }", scrolled)
        page.wait_for_timeout(200)
        whole = scroller.evaluate(WHOLE_ROWS)
        assert len(whole) >= 4
        expect(page.locator("[data-rows]")).to_have_text(f"Lineups {whole[0]:,} to {whole[-1]:,} of {ROWS:,}")
        heights = scroller.locator("tbody tr[id]").evaluate_all("rows => rows.map((row) => row.offsetHeight)")
        assert len(set(heights)) == 1, "a row is higher than those that scroll by"


def test_rows_of_single_teams_show_all_pieces_and_keep_off_their_lines(enter: Enter, team: Studio) -> None:
    page = explorer(enter, team, one_team(team), OPEN)
    page.set_viewport_size({"width": 1400, "height": 900})
    names = page.locator(".lineups tbody tr[id] td.name-cell > span")
    expect(names.first).to_be_visible()
    cut = names.evaluate_all(
        "all => all.filter((one) => one.scrollHeight > one.clientHeight).map((one) => one.textContent)"
    )
    assert cut == []
    room = """all => all.map((one) => {
      const [text, cell] = [one, one.parentElement].map((each) => each.getBoundingClientRect());
      return Math.min(text.top - cell.top, cell.bottom - text.bottom);
    })"""
    assert min(names.evaluate_all(room)) >= 3


def test_what_fresh_battles_leave_open_under_the_line_is_counted_as_open(enter: Enter, team: Studio) -> None:
    job = search_job(team.project, rows=ROWS)
    over = int((archive(ROWS)["objective"][:, 0] >= 2.0).sum())
    strong = int(np.flatnonzero(archive(ROWS)["objective"][:, 0] > 3.0)[0])
    fresh(job, [strong], [1.97, 50.0, 28.0], [0.05, 1.0, 1.0])
    page = explorer(enter, team, job)
    expect(page.locator("[data-count]")).to_have_text(f"{over:,} of {ROWS:,} lineups are or may be over the line")
    said = page.locator("[data-line-said]")
    expect(said).to_contain_text(
        f"On average {over - 1:,} of {ROWS:,} lineups that the search played are over the line ("
    )
    expect(said).to_contain_text("Fresh battles have not settled 1 more.")
    expect(page.locator("[data-show='1']")).to_contain_text("Over or close, weak or unsure")
    page.get_by_label("Weakest team’s strength left, at least").fill("27.9")
    expect(page.locator("[data-count]")).to_contain_text(f"of the {over:,} that are or may be over the line match")


def test_a_list_in_which_no_range_is_over_the_line_says_that_its_lineups_may_be(enter: Enter, team: Studio) -> None:
    columns = archive(ROWS)
    columns["error"][:, 0] = 5.0
    job = with_columns(team, columns)
    over = int((columns["objective"][:, 0] >= 2.0).sum())
    page = explorer(enter, team, job)
    expect(page.locator("[data-count]")).to_have_text(f"{over:,} of {ROWS:,} lineups may be over the line")
    expect(page.locator("[data-line-said]")).to_contain_text(", none of them across the whole 95 % range")
    page.get_by_role("button", name="3-D").click()
    expect(page.locator("[data-chart-note]")).to_contain_text("matching lineups that may be over the line")
    page.goto(page.url.split("?")[0] + "?show=under")
    drawn(page).locator(".lineups tbody tr[id]").first.click()
    expect(page.locator("[data-drawer] .advice")).to_contain_text("the 95 % range reaches across the line")


def test_only_what_is_over_the_line_and_strong_is_tinted(enter: Enter, team: Studio) -> None:
    page = explorer(enter, team, search_job(team.project, rows=ROWS))
    tints = page.locator(".scatter .panel-axes .shapelayer path")
    expect(page.locator(".panel-small")).to_have_count(2)
    expect(tints).to_have_count(1)
    tint, canvas = box(tints.first), box(page.locator(".panel-large canvas").last)
    assert tint["x"] > canvas["x"] + 40, "weak teams over the line stand in the tint"


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("teams", [1, 3])
def test_no_name_of_the_table_is_cut_off(enter: Enter, team: Studio, teams: int, width: int) -> None:
    job = one_team(team) if teams == 1 else search_job(team.project, rows=ROWS)
    page = explorer(enter, team, job, OPEN)
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_timeout(300)
    cut = page.locator(".lineups td.name-cell > span").evaluate_all(
        "names => names.filter(n => n.scrollHeight > n.clientHeight + 1 || n.scrollWidth > n.clientWidth + 1)"
        ".map(n => n.innerText)"
    )
    assert cut == []
    rows = page.locator(".lineups tbody tr[id]").evaluate_all("rows => rows.map((row) => row.offsetHeight)")
    assert len(set(rows)) == 1, "a row is higher than those that scroll by"


def test_single_teams_that_are_called_alike_are_set_apart_by_their_other_pieces(enter: Enter, team: Studio) -> None:
    page = explorer(enter, team, one_team(team), OPEN)
    names = page.locator(".lineups tbody tr[id] .name-cell > span").all_inner_texts()
    assert len({name.split(",")[0] for name in names}) == 1
    assert len(set(names)) == len(names)
    assert all(re.search(r"\xa0×\d", name) for name in names)


def test_columns_whose_ranges_are_alike_have_one_number_of_digits(enter: Enter, team: Studio) -> None:
    columns = archive(60)
    columns["objective"][:, 0] = np.concatenate([np.linspace(2.469, 2.41, 30), np.linspace(1.0, 2.0, 30)])
    columns["error"][:, 0] = 0.035
    job = with_columns(team, columns)
    job.config["objectives"]["objectives"][0]["threshold"] = 2.37  # one decimal tells it from some of them
    job.save()
    page = explorer(enter, team, job, OPEN)
    values = page.locator(".lineups tbody tr[id] .range-value b").all_inner_texts()
    assert len(values) > 6
    assert {len(value.split(".")[1]) for value in values} == {len("47×")}, values


def test_the_table_says_that_each_range_is_for_its_lineup_alone(enter: Enter, team: Studio) -> None:
    page = explorer(enter, team, search_job(team.project, rows=60))
    expect(page.locator("[data-table-card]")).to_contain_text(
        "95 % ranges, not corrected for how many lineups are listed"
    )


def test_the_list_says_how_many_of_its_confirmed_lineups_are_expected_to_be_false(enter: Enter, team: Studio) -> None:
    job = search_job(team.project, rows=ROWS)
    fresh(job, [5], [2.6, 50.0, 28.0], [0.02, 1.0, 1.0])
    page = explorer(enter, team, job)
    told = page.locator("[data-table-card]").get_by_text("1 in 20 at most is expected to be a false alarm")
    expect(told).to_be_visible()
    page.goto(page.url.partition("?")[0] + "?line-advantage=2.9")
    drawn(page)
    expect(told).to_be_hidden()


def test_no_verdict_of_the_list_is_cut_off(enter: Enter, team: Studio) -> None:
    job = search_job(team.project, rows=ROWS)
    fresh(job, [5], [2.6, 50.0, 28.0], [0.02, 1.0, 1.0])
    page = explorer(enter, team, job)
    chip = page.locator(".lineups .sure-cell .chip").first
    chip.evaluate("chip => { chip.lastChild.textContent = 'Close in strength'; }")
    for width in (1400, 1000):
        page.set_viewport_size({"width": width, "height": 900})
        cell = "chip => [chip, chip.closest('td')].map((one) => one.getBoundingClientRect().right)"
        end, room = chip.evaluate(cell)
        assert end <= room


def test_the_words_of_the_line_stand_where_they_hide_the_fewest_marks(enter: Enter, team: Studio) -> None:
    columns = archive(400)
    columns["objective"][:, 0] = np.linspace(1.0, 2.6, 400)
    columns["objective"][:, 2] = np.where(np.arange(400) % 100 == 0, 80.0, np.linspace(0.0, 40.0, 400) % 20)
    page = explorer(enter, team, with_columns(team, columns))
    note = box(page.locator(".panel-words .note-y"))
    canvas = box(page.locator(".panel-large canvas").last)
    assert note["x"] > canvas["x"] + 0.3 * canvas["width"], "the left of the line is where the marks are"
    other = box(page.locator(".panel-words .note-x"))
    apart = note["x"] > other["x"] + other["width"] or note["x"] + note["width"] < other["x"]
    assert apart or note["y"] > other["y"] + other["height"] or note["y"] + note["height"] < other["y"]


def test_the_hover_card_covers_no_other_chart(enter: Enter, team: Studio) -> None:
    columns = archive(600)
    columns["objective"][:, 0] = np.linspace(1.0, 3.0, 600)
    columns["objective"][:, 2] = np.linspace(0.0, 60.0, 600)  # one number follows the other: the corners are free
    page = explorer(enter, team, with_columns(team, columns), OPEN)
    edge = box(page.locator(".panels-small"))["x"]
    canvas = box(page.locator(".panel-large canvas").last)
    for share in np.linspace(0.1, 0.95, 12):
        page.mouse.move(5, 5)
        page.mouse.move(*along(canvas, share))
        expect(page.locator("[data-hover]")).to_be_visible()
        card = box(page.locator("[data-hover]"))
        assert card["x"] + card["width"] <= edge + 1
