"""The front explorer in a real browser: linked parts, keyboard, address, files taken away, phone, light and dark."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from tests.browser.conftest import DESKTOP, PHONE, let_in
from tests.browser.looking import overflow, serious_violations
from tests.factories import Studio, archive, bundle, search_job
from webapp.games.models import Simulator
from webapp.lib.storage import store
from webapp.studies import journal
from webapp.studies.journal import Entry
from webapp.studies.models import Job, ShortlistEntry, Status
from workers import tasks

Enter = Callable[..., Page]
ROWS = 3000


@pytest.fixture
def job(team: Studio) -> Job:
    return search_job(team.project, rows=ROWS)


@pytest.fixture
def explore(enter: Enter, team: Studio, job: Job) -> Callable[..., Page]:
    """``explore(query, user)``: the explorer, drawn."""

    def open_at(query: str = "", user: Any = None) -> Page:
        page = enter(user or team.designer, f"/p/herobattle/jobs/{job.pk}/explore/{query}")
        return drawn(page)

    return open_at


def drawn(page: Page) -> Page:
    page.locator("html[data-explorer=painted][data-settled]").wait_for(state="attached")
    return page


def count(page: Page) -> int:
    """How many lineups match, by the table's title."""
    return int(page.locator("[data-count]").inner_text().split(" ")[0].replace(",", ""))


def rows_of(page: Page) -> list[int]:
    """Ids of the lineups on the screen, in order."""
    names: list[str] = page.locator(".lineups tbody tr[id]").evaluate_all("rows => rows.map(row => row.id)")
    return [int(name.removeprefix("lineup-")) for name in names]


def taken(page: Page) -> list[int]:
    """Ids in the CSV file that the page offers now, in order."""
    answer = page.request.get(page.locator("[data-export=csv]").evaluate("link => link.href"))
    assert answer.ok, answer.text()
    return [int(line["Lineup"]) for line in csv.DictReader(io.StringIO(answer.body().decode("utf-8-sig")))]


def marked(page: Page) -> int:
    """Coloured pixels of the large chart's marks: something was drawn."""
    return int(
        page.evaluate(
            "() => { const c = document.querySelector('.panel-large canvas:last-of-type');"
            "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0;"
            "for (let i = 3; i < d.length; i += 4) if (d[i]) n += 1; return n; }"
        )
    )


def place_of(page: Page, lineup: int) -> tuple[float, float]:
    """Where a lineup's mark stands in the large chart, worked out from the axes' labels as a reader would."""
    columns = archive(ROWS)["objective"]
    box = page.locator(".panel-large").bounding_box()
    assert box is not None
    ticks = page.evaluate(
        "() => ['xtick', 'ytick'].map(name => [...document.querySelectorAll('.scatter .panel-axes .' + name + ' text')]"
        ".map(t => { const r = t.getBoundingClientRect();"
        "return [parseFloat(t.textContent), r.left + r.width / 2, r.top + r.height / 2]; }))"
    )
    along = [[(v, x) for v, x, _ in ticks[0]], [(v, y) for v, _, y in ticks[1]]]
    places = []
    for ticks_along, value in zip(along, (columns[lineup, 2], columns[lineup, 0]), strict=True):
        (low, at_low), (high, at_high) = ticks_along[0], ticks_along[-1]
        places.append(at_low + (value - low) * (at_high - at_low) / (high - low))
    return places[0], places[1]


def test_charts_table_and_counts_show_the_job(explore: Callable[..., Page], job: Job) -> None:
    page = explore()
    expect(page.get_by_role("heading", level=1)).to_have_text("Which teams are unfair?")
    over = sum(int(b.replace(",", "")) for b in page.locator("[data-show='2'] b, [data-show='1'] b").all_inner_texts())
    assert count(page) == over == len(taken(page))
    assert rows_of(page)[:8] == taken(page)[:8]
    assert marked(page) > 500
    expect(page.locator(".scatter .panel-axes svg.main-svg").first).to_be_attached()
    expect(page.locator(".scatter .panel-axes")).to_contain_text("Resource advantage (×)  → more unfair")
    expect(page.locator(".panel-words")).to_contain_text(["The line: 2.0×"])


def test_the_console_stays_quiet_at_any_width(explore: Callable[..., Page], page: Page) -> None:
    errors: list[str] = []
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    explore()
    for view in ("Pairs", "Parallel lines"):
        page.get_by_role("button", name=view).click()
        for width in (1, 40, 80, 120, 160, 200, 240, 320, 1400):  # one: what a picture of the whole page passes through
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(150)
    page.screenshot(full_page=True)
    page.get_by_role("button", name="Pairs").click()
    expect(page.locator(".scatter .panel-axes")).to_contain_text("more unfair")
    assert marked(page) > 500
    assert errors == []


def test_a_number_box_filters_charts_table_address_and_files_alike(explore: Callable[..., Page]) -> None:
    page = explore()
    before = count(page), marked(page)
    page.get_by_label("Weakest team’s strength left, at least").fill("24,5")
    expect(page).to_have_url(re.compile("min-weakest=24.5"))
    assert count(page) < before[0]
    assert marked(page) < before[1]
    assert len(taken(page)) == count(page)
    values = archive(ROWS)["objective"][taken(page), 2]
    assert values.min() >= 24.5
    page.get_by_label("Weakest team’s strength left, at least").fill("many")
    expect(page.locator("#wrong-weakest")).to_be_visible()
    page.get_by_role("button", name="Reset").click()
    assert count(page) == before[0]


def test_every_filter_and_sort_means_the_same_on_the_screen_and_in_the_file(explore: Callable[..., Page]) -> None:
    page = explore("?show=under,unsure,strong&piece=coil-bow&max-gap=60&family=0,2&sort=name")
    assert 0 < count(page) == len(taken(page))
    for sort in ("Resource advantage", "Strength gap, pts", "Teams compared together", "How sure"):
        for _ in range(2):
            page.locator("thead").get_by_role("button", name=sort).click()
            page.wait_for_timeout(200)  # the address follows after a moment; the link at once
            assert rows_of(page)[:10] == taken(page)[:10], sort


def test_the_line_is_a_filter_that_one_sees(explore: Callable[..., Page]) -> None:
    page = explore()
    over = count(page)
    expect(page.locator("[data-count]")).to_have_text(f"{over:,} of {ROWS:,} lineups are or may be over the line")
    page.get_by_label("Resource advantage, at least").fill("0")
    matching = f"{over:,} of the {over:,} that are or may be over the line match"
    expect(page.locator("[data-count]")).to_have_text(matching)
    page.get_by_label("On average under the line").check()
    expect(page.locator("[data-count]")).to_have_text(f"{ROWS:,} of {ROWS:,} lineups match")
    expect(page.locator("[data-show='0']")).to_have_attribute("aria-pressed", "true")


def test_the_charts_stay_where_they_are_when_counts_change(explore: Callable[..., Page]) -> None:
    page = explore()
    top = "() => document.querySelector('.scatter').getBoundingClientRect().top"
    before = page.evaluate(top)
    page.get_by_label("Strength gap, at least").fill("70")
    assert page.evaluate(top) == before


class Held:
    """Requests that are held back until they are let go."""

    def __init__(self) -> None:
        self.waiting: list[Route] | None = []

    def take(self, route: Route) -> None:
        if self.waiting is None:
            route.continue_()
        else:
            self.waiting.append(route)

    def let_go(self) -> None:
        waiting, self.waiting = self.waiting or [], None
        for route in waiting:
            route.continue_()


@pytest.mark.parametrize("view", ["", "?view=3d", "?view=lines"])
def test_nothing_moves_as_the_charts_are_drawn(enter: Enter, team: Studio, job: Job, page: Page, view: str) -> None:
    genome = archive(ROWS)["genome"][3].tolist()
    ShortlistEntry.objects.create(job=job, individual=3, genome=genome, reason="Odd")
    tasks.reckon(job.pk)  # as a worker does once it has ended
    places = """() => [".facts", ".chart-head", "[data-charts]", "[data-table-card]"].map(
        (part) => Math.round(document.querySelector(part).getBoundingClientRect().top))"""
    held = Held()
    page.route("**/explore/data/**", lambda route: held.take(route))
    for size in (DESKTOP, PHONE):
        page.set_viewport_size(size)
        held.waiting = []
        enter(team.designer, f"/p/herobattle/jobs/{job.pk}/explore/{view}")
        before = page.evaluate(places)
        held.let_go()
        after = drawn(page).evaluate(places)
        assert after[:3] == before[:3], size
        assert abs(after[3] - before[3]) <= 20, "the note below the charts may take a line more"


def test_a_view_comes_back_from_its_address(explore: Callable[..., Page], context: BrowserContext) -> None:
    query = "?show=strong&min-weakest=22&family=1&rows=2,3&sort=-gap&pick=2&main=gap,weakest&colour=family&fit=1"
    page = explore(query)
    expect(page.locator("#drawer-title")).not_to_be_empty()
    page.get_by_role("button", name="Share view").click()
    page.get_by_label("Only best trade-offs").check()
    page.get_by_label("Only best trade-offs").uncheck()
    page.wait_for_timeout(300)
    words = set(page.url.split("?")[1].split("&"))
    assert words == set(query[1:].split("&"))
    other = context.new_page()
    other.goto(page.url)
    drawn(other)
    assert (count(other), rows_of(other)[:5]) == (count(page), rows_of(page)[:5])
    expect(other.locator("#drawer-title")).to_have_text(page.locator("#drawer-title").inner_text())


def test_the_whole_work_by_keyboard_alone(explore: Callable[..., Page], team: Studio) -> None:
    page = explore()
    first, second = rows_of(page)[:2]
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"rows={second}&pick={first}"))
    expect(page.locator("#drawer-title")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("[data-drawer-card]")).to_be_hidden()
    expect(page.get_by_role("grid")).to_be_focused()
    assert page.get_by_role("grid").get_attribute("aria-activedescendant") == f"lineup-{first}"
    page.keyboard.press("s")
    expect(page.get_by_label("Why shortlist it?")).to_be_focused()
    page.keyboard.type("Rally never wears off / j k x")  # letters are letters in a text box
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("[data-shortlist]")).to_contain_text("Rally never wears off / j k x")
    assert ShortlistEntry.objects.get().individual == first
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("coil")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("piece=coil-bow"))
    page.keyboard.press("Escape")
    page.get_by_role("grid").focus()
    page.keyboard.press("?")
    page.get_by_label("Single letters work as keys").uncheck()
    page.keyboard.press("Escape")
    page.get_by_role("grid").focus()
    page.keyboard.press("/")
    expect(page.get_by_role("grid")).to_be_focused()


def test_the_table_walks_through_all_rows_and_keeps_few_of_them_on_the_page(explore: Callable[..., Page]) -> None:
    page = explore("?show=under,unsure,strong")
    assert page.locator(".lineups tbody tr[id]").count() < 30
    page.get_by_role("grid").focus()
    page.keyboard.press("End")
    last = page.get_by_role("grid").get_attribute("aria-activedescendant")
    row = page.locator(f"#{last}")
    expect(row).to_be_in_viewport()
    assert row.get_attribute("aria-rowindex") == str(ROWS + 1)
    expect(page.locator("[data-rows]")).to_have_text(re.compile(rf"^Lineups [\d,]+ to {ROWS:,} of {ROWS:,}$"))
    page.keyboard.press("Home")
    page.keyboard.press("PageDown")
    assert int(page.locator("tr.active").get_attribute("aria-rowindex") or 0) > 5


def test_a_mark_names_its_lineup_and_opens_it(explore: Callable[..., Page]) -> None:
    page = explore()
    columns = archive(ROWS)["objective"]
    lineup = next(i for i in rows_of(page) if columns[i, 0] > 2.7)
    x, y = place_of(page, lineup)
    page.mouse.move(x - 30, y)
    page.mouse.move(x, y)
    card = page.locator("[data-hover]")
    expect(card).to_be_visible()
    expect(card).to_contain_text("Enter opens it, S shortlists it")
    page.mouse.click(x, y)
    expect(page.locator("#drawer-title")).to_be_visible()
    expect(page.locator("tr.selected")).to_be_attached()
    assert f"{columns[lineup, 0]:.2f}×" in page.locator("[data-drawer] .ranges").inner_text()


def test_a_box_dragged_in_a_chart_fills_the_number_boxes(explore: Callable[..., Page]) -> None:
    page = explore()
    box = page.locator(".panel-large canvas").last.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.1)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] * 0.45, steps=5)
    page.mouse.up()
    low = page.get_by_label("Weakest team’s strength left, at least").input_value()
    high = page.get_by_label("Weakest team’s strength left, at most").input_value()
    assert 0 < float(low) < float(high)
    assert len(taken(page)) == count(page) > 0


def test_3d_is_made_when_it_is_asked_for_and_says_what_it_draws(explore: Callable[..., Page]) -> None:
    page = explore()
    assert page.locator("[data-three-d] canvas").count() == 0
    page.get_by_role("button", name="3-D").click()
    expect(page.locator("[data-three-d] canvas").first).to_be_attached()
    expect(page.locator("[data-chart-note]")).to_contain_text("and a sample of")
    page.get_by_role("button", name="Turn left").click()
    page.go_back()
    expect(page.locator(".panel-large")).to_be_visible()


def test_parallel_lines_draw_some_of_each_verdict_and_say_so(explore: Callable[..., Page]) -> None:
    page = explore("?view=lines&show=under,unsure,strong")
    note = page.locator("[data-chart-note]").inner_text()
    assert re.search(r"over the line and strong (all \d+|160 of [\d,]+)", note)
    assert re.search(r"on average under the line 160 of [\d,]+", note)
    expect(page.locator("[data-lines] .panel-axes")).to_contain_text("more unfair")


def test_another_pair_can_be_shown_large(explore: Callable[..., Page]) -> None:
    page = explore()
    page.get_by_role("button", name="Show Weakest team’s strength left against Strength gap large").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("main=gap,weakest"))
    expect(page.locator(".scatter .panel-axes")).to_contain_text("Weakest team’s strength left (%)  → stronger")


def test_a_running_job_grows_on_the_page_and_keeps_what_is_selected(
    enter: Enter, team: Studio, redis_server: str
) -> None:
    first, second = archive(300), archive(300, seed=2)
    second["id"] = second["id"] + 300
    running = search_job(team.project, rows=4, status=Status.RUNNING, tick=0, ticks=9, artifacts={}, finished_at=None)
    tell(running, 1, first)
    page = drawn(enter(team.designer, f"/p/herobattle/jobs/{running.pk}/explore/?show=under,unsure,strong&pick=7"))
    name = page.locator("#drawer-title").inner_text()
    assert count(page) == 300
    tell(running, 2, second)
    expect(page.locator("[data-count]")).to_contain_text("600 of 600")
    expect(page.locator("[data-live]")).to_contain_text("round 2 of 9")
    assert page.locator("#drawer-title").inner_text() == name


def test_an_explorer_whose_search_goes_on_while_it_loads_shows_the_lineups_of_then(
    enter: Enter, team: Studio, redis_server: str
) -> None:
    rounds = [archive(100, seed=seed) for seed in range(3)]
    for number, columns in enumerate(rounds):
        columns["id"] = columns["id"] + 100 * number
    running = search_job(team.project, rows=4, status=Status.RUNNING, tick=0, ticks=9, artifacts={}, finished_at=None)
    tell(running, 1, rounds[0])
    page, asked = enter(team.designer, "/help/"), list[str]()

    def go_on_first(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) < len(rounds):
            tell(running, 1 + len(asked), rounds[len(asked)])
        route.continue_()

    page.route("**/explore/data/**/core/", go_on_first)
    page.goto(page.url.replace("/help/", f"/p/herobattle/jobs/{running.pk}/explore/?show=under,unsure,strong"))
    drawn(page)
    expect(page.locator("[data-count]")).to_contain_text("300 of 300")
    assert len(set(asked[:3])) == len(set(asked)) == 3, "while it loads, each state is asked for once"


def tell(job: Job, tick: int, columns: dict[str, Any]) -> None:
    """Write a round down as the relay does."""
    best = {name: column[:3] for name, column in columns.items()}
    artifacts = {"chunk": store().put(bundle(columns)), "front": store().put(bundle(best))}
    entry = Entry("progressed", {"artifacts": artifacts, "metrics": {}, "counters": {}}, tick, timezone.now())
    assert journal.append(job, {"status": Status.RUNNING}, [entry], tick=tick)


def test_fresh_battles_come_back_as_a_verdict_beside_the_searchs(
    explore: Callable[..., Page], job: Job, team: Studio
) -> None:
    page = explore()
    lineup = rows_of(page)[0]
    page.keyboard.press("s")
    page.keyboard.type("Too rich")
    page.get_by_role("button", name="Add to shortlist").click()
    page.get_by_role("button", name="Re-check 1: 768 fresh battles").click()
    expect(page.locator("[data-shortlist]")).to_contain_text("Being played again")
    child = job.children.get()
    columns = {name: column[[lineup]] for name, column in archive(ROWS).items()}
    columns["objective"], columns["error"] = np.array([[2.6, 50.0, 28.0]]), np.array([[0.05, 1.0, 1.0]])
    columns["samples"] = np.full(1, 32, dtype=np.int32)
    result = store().put(bundle(columns))
    journal.append(
        child, {}, [Entry("finished", {"artifacts": {"result": result}})],
        status=Status.FINISHED, artifacts={"result": result},
    )  # fmt: skip
    expect(page.locator("[data-shortlist]")).to_contain_text("Confirmed on 768 fresh battles")
    expect(page.locator("[data-drawer]")).to_contain_text("in the search")
    row = page.locator(f"#lineup-{lineup}")
    expect(row).to_contain_text("Confirmed")
    expect(row).to_contain_text("2.60×")  # what fresh battles measured, not what the search had thought
    page.get_by_role("button", name="Re-check 1: 768 more battles").click()
    expect(page.locator("[data-shortlist]")).to_contain_text("Being played again")
    assert job.children.count() == 2


def test_a_producer_explores_but_has_nothing_to_write_with(explore: Callable[..., Page], team: Studio) -> None:
    page = explore("?pick=5", user=team.producer)
    expect(page.locator("#drawer-title")).to_be_visible()
    assert page.get_by_label("Why shortlist it?").count() == 0
    assert page.get_by_role("button", name=re.compile("Re-check")).count() == 0


def test_nothing_over_the_line_says_so_and_offers_the_rest(enter: Enter, team: Studio) -> None:
    columns = archive(200)
    columns["objective"][:, 0] = np.clip(columns["objective"][:, 0], 0, 1.9)
    calm = search_job(team.project, rows=200, artifacts={"archive": store().put(bundle(columns))})
    page = drawn(enter(team.designer, f"/p/herobattle/jobs/{calm.pk}/explore/"))
    expect(page.get_by_text("Nothing is over the line")).to_be_visible()
    page.get_by_role("button", name="Show the other lineups").click()
    assert count(page) == 200


@pytest.mark.parametrize(
    ("kept", "says"),
    [
        ([0], "Found as lineup number"),  # one objective: against the order in which lineups were found
        ([1, 2], "Strength gap (points)"),  # no line: best trade-offs instead of verdicts
    ],
)
def test_fewer_objectives_and_no_line_are_explored_too(
    enter: Enter, team: Studio, job: Job, kept: list[int], says: str
) -> None:
    columns = archive(ROWS)
    for name in ("objective", "error"):
        columns[name] = columns[name][:, kept]
    columns["covariance"] = columns["covariance"][:, kept][:, :, kept]
    job.config["objectives"]["objectives"] = [job.config["objectives"]["objectives"][j] for j in kept]
    job.artifacts["archive"] = store().put(bundle(columns))
    job.save()
    page = drawn(enter(team.designer, f"/p/herobattle/jobs/{job.pk}/explore/?pick=5"))
    expect(page.locator(".scatter .panel-axes")).to_contain_text(says)
    assert marked(page) > 20
    assert len(taken(page)) == count(page) > 0
    page.get_by_role("button", name="Parallel lines").click()
    expect(page.locator("[data-chart-note]")).to_contain_text("best trade-offs" if len(kept) > 1 else "over the line")


def test_a_failed_job_keeps_what_it_found_and_says_what_happened(enter: Enter, team: Studio) -> None:
    message = "The simulator ended in the middle of a battle."
    job = search_job(team.project, rows=80, status=Status.FAILED, message=message)
    page = drawn(enter(team.designer, f"/p/herobattle/jobs/{job.pk}/explore/?show=under,unsure,strong"))
    expect(page.get_by_text(message)).to_be_visible()
    assert count(page) == 80


def test_lost_lineups_are_said_in_the_card_and_the_rest_of_the_page_lives(enter: Enter, team: Studio) -> None:
    job = search_job(team.project, rows=80, artifacts={"archive": "0" * 64})
    page = enter(team.designer, f"/p/herobattle/jobs/{job.pk}/explore/")
    expect(page.get_by_role("alert").filter(has_text="The lineups could not be shown")).to_be_visible()


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_serious(explore: Callable[..., Page], colours: Any) -> None:
    page = explore("?pick=5&rows=3")
    page.emulate_media(color_scheme=colours)
    page.keyboard.press("s")
    page.keyboard.type("Because")
    page.get_by_role("button", name="Add to shortlist").click()
    expect(page.locator("[data-shortlist]")).to_contain_text("Because")
    page.get_by_text("Remark, or take it off").click()
    assert serious_violations(page) == []


def test_dark_restyles_the_charts(explore: Callable[..., Page]) -> None:
    page = explore()
    before = page.locator(".scatter .xtick text").first.evaluate("t => getComputedStyle(t).fill")
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html[data-bs-theme=dark]")).to_be_attached()
    page.wait_for_function(
        "was => getComputedStyle(document.querySelector('.scatter .xtick text')).fill !== was", arg=before
    )


def test_a_phone_has_filters_as_a_sheet_and_details_as_a_page(
    browser: Browser, site: str, team: Studio, job: Job
) -> None:
    context = browser.new_context(base_url=site, viewport=PHONE, has_touch=True, is_mobile=True)
    let_in(context, site, team.designer)
    page = context.new_page()
    page.goto(f"/p/herobattle/jobs/{job.pk}/explore/")
    drawn(page)
    assert overflow(page) == 0
    expect(page.locator("[data-filters]")).to_be_hidden()
    page.get_by_role("button", name="Filters").click()
    page.get_by_label("Strength gap, at least").fill("50")
    page.get_by_role("button", name=re.compile("^Show .* lineups$")).click()
    expect(page.locator("[data-filters]")).to_be_hidden()
    assert count(page) == len(taken(page))
    page.locator(".lineups tbody tr[id]").first.tap()
    expect(page.locator("#drawer-title")).to_be_in_viewport()
    expect(page.get_by_role("button", name="Add to shortlist")).to_be_in_viewport()
    assert overflow(page) == 0
    assert serious_violations(page) == []
    page.go_back()
    expect(page.locator("[data-drawer-card]")).to_be_hidden()
    context.close()


COVERED = """() => [...document.querySelectorAll(".chart")].some((chart) => {
    const plot = chart.querySelector(".nsewdrag").getBoundingClientRect();
    return [...chart.querySelectorAll(".annotation-text")].some((name) => {
        const { left, bottom } = name.getBoundingClientRect();
        return left < plot.right - 1 && bottom > plot.top + 2;
    });
})"""
"""Whether the name of a line lies on the picture instead of above it or at its right."""


def test_the_offline_page_works_without_the_site(
    explore: Callable[..., Page], browser: Browser, job: Job, tmp_path: Path
) -> None:
    simulator = Simulator.objects.get()
    for piece in simulator.spec["pieces"]:
        if piece["category"] == "hero":
            piece["name"] = f"<img src=x onerror=window.hacked=1> {piece['name']}"
    simulator.save()
    page = explore("?min-weakest=22")
    answer = page.request.get(page.locator("[data-export=html]").evaluate("link => link.href"))
    (tmp_path / "lineups.html").write_bytes(answer.body())
    context = browser.new_context(offline=True)
    alone = context.new_page()
    problems: list[str] = []
    alone.on("pageerror", lambda error: problems.append(str(error)))
    alone.on("request", lambda r: r.url.startswith(("http", "ws")) and problems.append(r.url))
    alone.goto((tmp_path / "lineups.html").as_uri())
    expect(alone.locator(".chart .main-svg").first).to_be_attached()
    assert alone.locator(".chart").count() == 3
    expect(alone.locator(".chart .gl-canvas").first).to_be_attached()
    named = alone.locator(".chart").first.locator(".annotation")
    expect(named).to_have_text([re.compile(r"^Median baseline team$"), re.compile(r"^The line:\s*2\.0×$")])
    assert not alone.evaluate(COVERED), "names of lines cover no mark"
    too_wide = "charts => charts.some(c => c.querySelector('.main-svg').clientWidth > c.clientWidth + 1)"
    assert not alone.locator(".chart").evaluate_all(too_wide)
    assert alone.get_by_text("WebGL is not supported").count() == 0
    expect(alone.locator("#place")).to_contain_text(f"of {count(page):,}" if count(page) else "None")
    expect(alone.get_by_text(job.config_hash)).to_be_visible()
    assert alone.locator("td img").count() == 0
    assert alone.evaluate("window.hacked") is None
    alone.get_by_label("Find").fill("no such thing")
    expect(alone.locator("#place")).to_have_text("None")
    assert not problems, problems
    context.close()
