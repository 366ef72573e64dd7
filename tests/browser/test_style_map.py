"""The style map in a real browser: agents picked, read and watched, by pointer and by keyboard."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE
from tests.browser.looking import overflow, serious_violations
from tests.factories import Studio
from tests.webapp.styles_bred import bred, complete, search
from webapp.studies.models import Job

Enter = Callable[..., Page]
MARKS = """() => document.querySelectorAll("[data-map-chart] .scatterlayer .point").length"""
RINGS = """() => document.querySelectorAll("[data-map-chart] .scatterlayer .trace:last-child .point").length"""

WATCHED = f"""() => {{
    window.seen = new Set();
    window.framesSince = 0;
    const look = () => {{
        const marks = ({MARKS})();
        window.seen.add(`${{marks}} ${{document.querySelector("#map-across").value}}`);
        if (marks > 6) window.framesSince += 1;
        requestAnimationFrame(look);
    }};
    look();
}}"""
"""Notes in each frame how many marks are drawn, and along what."""

ALIKE = """() => {
    const script = document.querySelector("#style-map-data");
    const drawn = JSON.parse(script.textContent);
    drawn.edge.fill(true);
    for (const column of Object.values(drawn.values)) {
        column.mean = column.mean.map((_, i) => (i < 3 ? 0 : i / 20));
        column.low = column.high = column.mean;
    }
    script.textContent = JSON.stringify(drawn);
    return drawn.agents.slice(0, 3);
}"""
"""Three agents are made to do the same, and all others something else; these are the three."""

LONG = "Goal “an end of the scale with a name of forty”, how well it does and how far it goes together and alike"
RENAMED = """(title) => {
    const script = document.querySelector("#style-map-data");
    const drawn = JSON.parse(script.textContent);
    drawn.axes.busy.title = title;
    drawn.axes.calm.title = `${title} = ${"score+moved/2+".repeat(20)}1`;
    script.textContent = JSON.stringify(drawn);
}"""
OUTSIDE = """(chart) => {
    const box = chart.getBoundingClientRect();
    const of = (what) => [...chart.querySelectorAll(what)].map((each) => each.getBoundingClientRect());
    const ticks = of(".xtick text, .ytick text");
    const within = (low, high, first, last) => low >= first - 1 && high <= last + 1;
    const inside = (b) => within(b.left, b.right, box.left, box.right) && within(b.top, b.bottom, box.top, box.bottom);
    const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
    const wrong = of(".xtitle, .ytitle").filter((each) => !inside(each) || !ticks.every((tick) => apart(each, tick)));
    return wrong.map((b) => [b.x - box.x, b.y - box.y, b.width, b.height, box.width, box.height]);
}"""
"""Titles of axes that leave the chart or lie on its numbers."""


def address(job: Job) -> str:
    return f"/p/herobattle/jobs/{job.pk}/"


def test_a_diverse_few_are_picked_ringed_on_the_map_ticked_in_the_table_and_watched(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, address(bred(team.project)))
    page.wait_for_function(f"() => ({MARKS})() === 18")
    page.get_by_label("Pick a diverse few").fill("3")
    page.get_by_role("button", name="Pick them").click()
    expect(page.locator("#style-map-table tr.selected")).to_have_count(3)
    expect(page.locator("[data-map-ticked]")).to_have_text("3 ticked, side by side on the same seed.")
    page.wait_for_function(f"() => ({RINGS})() === 3")
    names = page.locator("#style-map-table tr.selected th a").all_inner_texts()
    page.get_by_role("button", name="Watch the ticked agents").click()
    page.wait_for_url("**/watch/*/")
    assert [agent["title"] for agent in Job.objects.for_forms().get().config["agents"]] == names


def test_an_agent_is_opened_from_the_table_by_keyboard_and_its_parents_from_there(enter: Enter, team: Studio) -> None:
    job = bred(team.project)
    page = enter(team.designer, address(job))
    page.wait_for_function(f"() => ({MARKS})() === 18")
    page.locator("[data-agent-link='17']").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Agent 17")).to_be_focused()
    page.locator("#style-agent").get_by_role("link", name="agent").first.click()
    expect(page.locator("#agent-title")).not_to_have_text("Agent 17")
    page.locator("[data-map-chart] .scatterlayer .point").first.hover(force=True)
    expect(page.locator(".hoverlayer")).to_contain_text("Agent")
    expect(page.locator(".hoverlayer")).to_contain_text("edge")


def test_each_of_the_agents_that_share_a_mark_is_opened_by_pointer_and_by_keyboard(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, address(bred(team.project)))
    page.wait_for_function(f"() => ({MARKS})() === 18")
    alike = page.evaluate(ALIKE)
    page.get_by_role("combobox", name="Across").select_option("moved")
    expect(page.locator("[data-map-chart] .scatterlayer text")).to_have_text(["3"])
    for agent in (*alike, alike[0]):
        page.mouse.move(0, 0)
        page.locator("[data-map-chart] .scatterlayer .point").first.hover(force=True)
        expect(page.locator(".hoverlayer")).to_contain_text("3 agents at this mark")
        page.mouse.down()
        page.mouse.up()
        expect(page.get_by_role("heading", name=f"Agent {agent}", exact=True)).to_be_focused()
    page.get_by_text("Agents that share a mark").focus()
    page.keyboard.press("Enter")
    for agent in alike:
        page.locator("[data-map-shared]").get_by_role("button", name=f"Agent {agent}", exact=True).focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name=f"Agent {agent}", exact=True)).to_be_focused()


def test_ticks_stay_when_a_round_is_complete_and_axes_stay_as_they_were_chosen(enter: Enter, team: Studio) -> None:
    job = bred(team.project, 1)
    page = enter(team.designer, address(job))
    page.wait_for_function(f"() => ({MARKS})() === 6")
    page.get_by_role("combobox", name="Across").select_option("moved")
    page.get_by_label("Tick agent 2").check()
    expect(page.locator("[data-map-chart]")).to_contain_text("calm … busy")
    complete(job, 2)
    page.wait_for_function(f"() => ({MARKS})() === 13")
    expect(page.get_by_label("Tick agent 2")).to_be_checked()
    expect(page.get_by_role("combobox", name="Across")).to_have_value("moved")


def test_the_picture_is_never_blank_while_new_agents_come(enter: Enter, team: Studio) -> None:
    job = bred(team.project, 1)
    page = enter(team.designer, address(job))
    page.wait_for_function(f"() => ({MARKS})() === 6")
    page.get_by_role("combobox", name="Across").select_option("moved")
    page.evaluate(WATCHED)
    complete(job, 2)
    page.wait_for_function(f"() => ({MARKS})() > 6")
    page.wait_for_function("() => window.framesSince > 3")
    assert page.evaluate("() => [...window.seen]") == ["6 moved", "12 moved"], "what each frame showed"


def test_the_console_stays_quiet_while_the_map_asks_for_more_and_is_sorted_and_nobody_is_ticked(
    enter: Enter, team: Studio
) -> None:
    job, errors = bred(team.project, 1), list[str]()
    page = enter(team.designer, address(job))
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    page.wait_for_function(f"() => ({MARKS})() === 6")
    complete(job, 2)
    page.wait_for_function(f"() => ({MARKS})() === 12")
    page.get_by_label("Tick agent 2").check()
    with page.expect_response(lambda answer: "sort=" in answer.url) as answered:
        page.locator("#style-map-table thead a").last.click()
    assert "agent=2" in answered.value.url
    assert "csrf" not in answered.value.url
    expect(page.get_by_label("Tick agent 2")).to_be_checked()
    assert errors == []


def test_the_map_holds_on_a_phone_in_the_dark_and_before_anybody_is_trained(enter: Enter, team: Studio) -> None:
    job, empty = bred(team.project), search(team.project)
    page = enter(team.designer, "/")
    paths = (address(job), address(empty), f"{address(job)}map/17/")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for path in paths:
            page.goto(path)
            assert serious_violations(page) == [], path
    page.set_viewport_size(PHONE)
    for path in paths:
        page.goto(path)
        assert overflow(page) <= 0, path


def test_long_names_of_goals_stay_within_the_chart_and_are_read_whole_where_somebody_points(
    enter: Enter, team: Studio
) -> None:
    page = enter(team.designer, address(bred(team.project)))
    page.wait_for_function(f"() => ({MARKS})() === 18")
    page.evaluate(RENAMED, LONG)
    chart = page.locator("[data-map-chart]")
    for size in ({"width": 1400, "height": 900}, PHONE):
        page.set_viewport_size(size)
        for across, up in (("moved", "busy"), ("busy", "calm")):
            page.get_by_role("combobox", name="Across").select_option(across)
            page.get_by_role("combobox", name="Up").select_option(up)
            shown = LONG if up == "busy" else "score+moved/2+1"
            expect(chart.locator(".ytitle title")).to_contain_text(shown)
            handle = chart.element_handle()
            page.wait_for_function(f"(chart) => !({OUTSIDE})(chart).length", arg=handle)
    expect(chart.locator(".xtitle title")).to_have_text(f"{LONG}:  less good … better")
    expect(chart).to_contain_text("…")
    before = chart.locator("svg").first.evaluate("(svg) => svg.clientWidth")
    page.set_viewport_size({"width": PHONE["width"] - 30, "height": PHONE["height"]})
    page.wait_for_function(
        "([chart, before]) => chart.querySelector('svg').clientWidth < before", arg=[chart.element_handle(), before]
    )
    expect(chart.locator(".xtitle title")).to_have_text(f"{LONG}:  less good … better")


def test_on_a_phone_nothing_covers_the_shade_that_says_that_the_table_goes_on_sideways(
    enter: Enter, team: Studio
) -> None:
    page = enter(team.designer, address(bred(team.project)))
    table = page.locator(".table-wrap:has(#style-map-table)")
    page.set_viewport_size(PHONE)
    assert table.evaluate("box => box.scrollWidth > box.clientWidth"), "there is more beside"
    assert "gradient" in table.evaluate("box => getComputedStyle(box).backgroundImage")
    covers = table.evaluate(
        """box => [...box.querySelectorAll("tr:not(.selected) > *, thead, tbody, table")]
            .map((each) => getComputedStyle(each).backgroundColor)
            .filter((color) => color !== "rgba(0, 0, 0, 0)" && color !== "transparent")"""
    )
    assert covers == []
