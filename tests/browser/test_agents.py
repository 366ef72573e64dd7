"""Saved agents and their battles in a real browser: kept, changed by keyboard, watched side by side."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from django.conf import settings
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE
from tests.browser.looking import overflow, serious_violations
from tests.factories import Studio
from tests.webapp.agents import kept, trained_at_pong, watched, watched_commanders, watched_in_a_maze
from webapp.agents.models import Agent

Enter = Callable[..., Page]
AT = """() => Number(document.querySelector("[data-moment]").value)"""
DRAWN = """() => [...document.querySelectorAll("canvas")].every((canvas) =>
  new Set(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data).size > 4)"""


def test_an_agent_is_kept_on_the_page_of_its_job_and_edited_and_deleted_and_put_back(
    enter: Enter, team: Studio
) -> None:
    job = trained_at_pong(team.project)
    page = enter(team.designer, f"/p/herobattle/jobs/{job.pk}/")
    page.get_by_role("textbox", name="Name").fill("Ada")
    page.get_by_role("button", name="Keep this agent").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Ada")
    page.get_by_role("textbox", name="Tags").fill("calm")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Undo the last edit").click()
    expect(page.get_by_role("textbox", name="Tags")).to_have_value("")
    page.locator("summary", has_text="Delete").click()
    page.get_by_role("button", name="Delete it").click()
    expect(page.locator("#agents")).to_contain_text("All agents of this project are deleted. Put one back below")
    page.locator("summary", has_text="Deleted agents").click()
    page.get_by_role("button", name="Put back Ada").click()
    expect(page.get_by_role("button", name="Save")).to_be_visible()
    assert Agent.objects.get().deleted_at is None


def test_what_asks_before_it_deletes_an_agent_stays_in_the_window_and_undo_has_one_name(
    enter: Enter, team: Studio
) -> None:
    agent = kept(team.project)
    page = enter(team.designer, f"/p/herobattle/agents/{agent.pk}/")
    page.get_by_role("textbox", name="Tags").fill("calm")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("“Undo the last edit” brings back what was there before.")).to_be_visible()
    for size in (PHONE, {"width": 1400, "height": 900}):
        page.set_viewport_size(size)
        page.goto(f"/p/herobattle/agents/{agent.pk}/")
        page.locator("summary", has_text="Delete").click()
        expect(page.get_by_role("button", name="Delete it")).to_be_in_viewport(ratio=1)
        sheet = page.locator(".menu[open] .menu-sheet").bounding_box()
        assert sheet is not None
        assert sheet["x"] >= 0
        assert sheet["x"] + sheet["width"] <= size["width"]
        assert overflow(page) <= 0


def test_the_way_through_a_maze_is_drawn_as_it_is_walked(enter: Enter, team: Studio) -> None:
    job = watched_in_a_maze(team.project)
    page = enter(team.producer, "/")
    page.goto(f"/p/herobattle/watch/{job.pk}/")
    expect(page.locator("[data-points]")).to_have_text("13 cells entered")
    assert page.evaluate(DRAWN)
    assert not serious_violations(page)


def test_a_commanded_battle_is_drawn_and_told_in_words_on_a_phone_too(enter: Enter, team: Studio) -> None:
    job = watched_commanders(team.project, ("Ada", "Bea"))
    page = enter(team.producer, "/")
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size(PHONE)
    page.goto(f"/p/herobattle/watch/{job.pk}/")
    expect(page.locator("[data-points]").first).to_have_text("100 % : 100 %")
    page.wait_for_function(DRAWN)
    own, other = page.locator("[data-pane=Bea] [data-says]").all()
    expect(own).to_contain_text("team strikes at the hero. The hero advances,")
    expect(own).to_contain_text("is used at once.")
    expect(other).to_contain_text("team fights by itself.")
    boxes = [pane.bounding_box() for pane in page.locator(".battle-window canvas").all()]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["y"] == boxes[1]["y"], "two stand side by side on a phone"
    ended = page.locator("[data-pane=Bea] [data-ended]")
    expect(ended).to_have_text("How it ends is told at the end.")
    page.get_by_label("Moment of the battles").press("End")
    expect(ended).to_contain_text("Bea won against the game’s own player")
    expect(page.locator("[data-points]").last).to_contain_text("0 %")
    assert page.evaluate(DRAWN)
    assert not serious_violations(page)
    assert overflow(page) <= 0


NEAR = """() => {
  const canvas = document.querySelector("[data-pane] canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.reduce((sum, value, i) => sum + (i % 4 === 3 && value > 200 ? 1 : 0), 0);
}"""
"""How much of a picture is drawn on: units are larger the nearer the eye is."""


def test_the_picture_of_a_commanded_battle_goes_near_and_shows_the_whole_field_on_request(
    enter: Enter, team: Studio
) -> None:
    page = enter(team.producer, f"/p/herobattle/watch/{watched_commanders(team.project).pk}/")
    page.get_by_role("button", name="Pause").click()
    page.get_by_label("Moment of the battles").press("End")
    near = page.evaluate(NEAR)
    whole = page.get_by_role("button", name="Whole field")
    whole.press("Enter")
    expect(whole).to_have_attribute("aria-pressed", "true")
    assert page.evaluate(NEAR) < near
    whole.press("Enter")
    assert page.evaluate(NEAR) == near


CAMERA = """async ({ base }) => {
  const { Camera } = await import(`${base}camera.js`);
  const rows = Array.from({ length: 60 }, (_, i) => [i, i < 30 ? -12 : (i - 30) - 12, i < 30 ? 12 : 12 - (i - 30) / 3]);
  const camera = new Camera((row) => row.slice(1).map((x) => ({ x, y: x / 2 })), 1);
  camera.follow(rows);
  return Array.from({ length: 590 }, (_, i) => i / 10).map((at) => {
    const { x, y, across, down } = camera.view(at);
    const row = rows[Math.round(at)];
    const held = row.slice(1).every((spot) => Math.abs(spot - x) < across && Math.abs(spot / 2 - y) < down);
    return [Number(held), x, across];
  });
}"""


def test_the_eye_moves_smoothly_and_never_loses_anybody(enter: Enter, team: Studio) -> None:
    page = enter(team.producer, "/")
    views = page.evaluate(CAMERA, {"base": f"{settings.STATIC_URL}js/watch/"})
    assert all(held for held, _, _ in views)
    for (_, x, across), (_, later, wider) in pairwise(views):
        assert abs(later - x) < 0.15
        assert abs(wider - across) < 0.15
    assert views[0][2] > views[-1][2] + 2.5


NAMES = """async ({ base }) => {
  const { placed } = await import(`${base}commanders.js`);
  const picture = { width: 300, height: 200 };
  const found = [];
  for (let dx = -60; dx <= 60; dx += 10) for (let dy = -190; dy <= 190; dy += 10) {
    const hero = { x: 150, y: 100, radius: 12, left: true };
    const first = placed(hero, 90, picture, []);
    const second = placed({ ...hero, x: 150 + dx, y: 100 + dy, left: false }, 90, picture, [first]);
    const apart = Math.abs(first.x - second.x) >= 90 || Math.abs(first.y - second.y) >= 18;
    found.push(apart && [first, second].every(({ x, y }) => x >= 0 && y >= 0 && x + 90 <= 300 && y + 18 <= 200));
  }
  return found;
}"""


def test_names_of_skills_never_lie_on_each_other(enter: Enter, team: Studio) -> None:
    found = enter(team.producer, "/").evaluate(NAMES, {"base": f"{settings.STATIC_URL}js/watch/"})
    assert len(found) > 400
    assert all(found)


def test_battles_are_watched_side_by_side_by_keyboard(enter: Enter, team: Studio) -> None:
    agents = [kept(team.project, "Ada"), kept(team.project, "Bea")]
    job = watched(team.project, agents)
    page = enter(team.producer, "/")
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"/p/herobattle/watch/{job.pk}/")
    play, moment = page.get_by_role("button", name="Play"), page.get_by_label("Moment of the battles")
    expect(play).to_be_visible()
    page.wait_for_function(DRAWN)
    assert page.evaluate(AT) == 0, "who wants less motion starts it by hand"
    page.locator("h1").click()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(AT) == 10
    moment.press("End")
    expect(page.get_by_role("button", name="Play again")).to_be_visible()
    expect(page.locator("[data-points]").first).to_have_text("1 : 0")
    assert moment.get_attribute("aria-valuetext") == "Decision 45 of 45: Ada 1 : 0, Bea 1 : 0"
    expect(page.locator("[data-clock]")).to_have_text("Decision 45 of 45")
    expect(page.get_by_text("Ada won 1 to 0 against the game’s own player, in 45 decisions.")).to_be_visible()
    page.emulate_media(reduced_motion="no-preference")
    page.reload()
    expect(page.get_by_role("button", name="Play again")).to_be_visible()
    page.get_by_role("button", name="¼×").click()
    page.keyboard.press("Space")
    pause = page.get_by_role("button", name="Pause")
    expect(pause).to_be_focused()
    expect(pause.locator("use:visible")).to_have_attribute("href", re.compile("#player-pause$"))
    page.wait_for_function("""() => Number(document.querySelector("[data-moment]").value) > 2""")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_who_is_ticked_to_play_stays_ticked_after_an_error_and_after_leaving(enter: Enter, team: Studio) -> None:
    for name in ("Ada", "Bea", "Cai"):
        kept(team.project, name)
    page = enter(team.designer, "/p/herobattle/watch/")
    page.get_by_label("Ada").check()
    page.get_by_label("Against").select_option(label="Random")
    page.goto("/help/")
    page.goto("/p/herobattle/watch/")
    expect(page.get_by_label("Ada")).to_be_checked()
    expect(page.get_by_label("Against")).to_have_value("script:random")
    page.get_by_label("Bea").check()
    page.get_by_label("Seed").fill("soon")
    page.get_by_role("button", name="Watch").click()
    expect(page.locator(".field-error").first).to_be_visible()
    page.goto("/p/herobattle/watch/")
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(2)
    page.get_by_label("Seed").fill("4")
    page.get_by_role("button", name="Watch").click()
    page.wait_for_url(re.compile(r"/watch/\d+/$"))
    page.goto("/p/herobattle/watch/")
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(0)


def test_of_many_agents_those_to_watch_are_found_by_their_names(enter: Enter, team: Studio) -> None:
    for i in range(13):
        kept(team.project, f"Ada {i:02}")
    page = enter(team.designer, "/p/herobattle/watch/")
    who = page.get_by_role("group", name="Who plays")
    expect(who.get_by_role("checkbox")).to_have_count(13)
    page.get_by_placeholder("Find a name").fill("ada 07")
    expect(who.get_by_role("checkbox")).to_have_count(1)
    page.get_by_placeholder("Find a name").press("Enter")
    page.get_by_label("Ada 07").check()
    page.get_by_placeholder("Find a name").fill("nobody")
    expect(who).to_contain_text("Nothing is called that.")
    page.get_by_role("button", name="Watch").click()
    page.wait_for_url(re.compile(r"/watch/\d+/$"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("Ada 07")


def test_the_pages_hold_on_a_phone_and_for_everybody(enter: Enter, team: Studio) -> None:
    agents = [kept(team.project, "Ada"), kept(team.project, "Anamewithoutanyroomforbreaking" * 2)]
    job = watched(team.project, agents)
    addresses = ("agents/", f"agents/{agents[0].pk}/", f"watch/?agent={agents[1].pk}", f"watch/{job.pk}/")
    page = enter(team.designer, "/")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for address in addresses:
            page.goto(f"/p/herobattle/{address}")
            assert serious_violations(page) == [], address
    page.set_viewport_size(PHONE)
    for address in addresses:
        page.goto(f"/p/herobattle/{address}")
        assert overflow(page) <= 0, address


def test_figures_against_strangers_can_all_be_read_on_a_phone(enter: Enter, team: Studio) -> None:
    agent = kept(team.project)
    page = enter(team.designer, "/")
    page.set_viewport_size(PHONE)
    page.goto(f"/p/herobattle/agents/{agent.pk}/")
    table = page.get_by_role("region", name="Against opponents it never learned against")
    expect(table.get_by_role("columnheader")).to_have_count(4)
    assert table.evaluate("(wrap) => wrap.scrollWidth - wrap.clientWidth") <= 0


def test_a_poster_of_pong_shows_the_edge_of_its_field(enter: Enter, team: Studio) -> None:
    kept(team.project)
    page = enter(team.designer, "/p/herobattle/agents/")
    page.wait_for_function("""() => {
      const canvas = document.querySelector("[data-clip] canvas");
      const { width, height } = canvas;
      if (width < height + 20) return false;
      const from = Math.round(width / 2 - (height / 2) * 0.94) - 3;
      const row = canvas.getContext("2d").getImageData(from, Math.round(height * 0.95), 6, 1).data;
      return row.some((value) => value > 0);
    }""")


def test_a_clip_on_a_card_stands_still_until_it_is_pressed_and_plays_on(enter: Enter, team: Studio) -> None:
    kept(team.project, "Ada")
    page = enter(team.designer, "/p/herobattle/agents/")
    button = page.locator("[data-clip] button")
    expect(button).to_contain_text("Play some seconds of Ada")
    page.wait_for_function(DRAWN)
    seen = """() => document.querySelector("[data-clip] canvas").toDataURL()"""
    still = page.evaluate(seen)
    assert page.evaluate(seen) == still
    button.press("Enter")
    expect(button).to_contain_text("Pause")
    page.wait_for_function(f"(still) => ({seen})() !== still", arg=still)
    page.mouse.move(0, 0)
    button.press("Enter")
    expect(button).to_contain_text("Play")
    assert not serious_violations(page)
