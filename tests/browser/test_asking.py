"""The forms of studies without a page of their own, in a real browser."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.factories import Studio, game_version

Enter = Callable[..., Page]


def test_only_players_of_the_chosen_game_are_offered_and_a_tick_comes_back_with_its_game(
    enter: Enter, team: Studio
) -> None:
    page = enter(team.designer, "/p/herobattle/jobs/new/evaluate/")
    follower = page.get_by_role("checkbox", name="Follows the ball")
    follower.check()
    page.get_by_label("Game", exact=True).select_option("connect-four")
    expect(follower).to_be_hidden()
    expect(page.get_by_role("checkbox", name="Random")).to_be_visible()
    assert page.evaluate("new FormData(document.querySelector('main form')).getAll('policies')") == []
    page.get_by_label("Game", exact=True).select_option("pong-two-seats")
    expect(follower).to_be_checked()


def test_what_was_typed_and_not_started_is_offered_until_it_is_started(enter: Enter, team: Studio) -> None:
    address = "/p/herobattle/jobs/new/worth/"
    game_version(team.project)
    page = enter(team.designer, address)
    name, battles, note = page.get_by_label("Name"), page.get_by_label("Battles"), page.get_by_text("Typed earlier")
    expect(note).to_be_hidden()
    page.get_by_text("More settings").click()
    name.fill("Whose fault?")
    battles.fill("12")
    page.goto("/")
    page.goto(address)
    expect(note).to_have_text("Typed earlier, not started")
    expect(name).to_be_visible()
    expect(name).to_have_value("Whose fault?")
    page.get_by_role("button", name="Start the experiment").click()
    expect(page.get_by_text("Type a number from 2,000")).to_be_visible()
    page.goto(address)
    expect(battles).to_have_value("12")
    battles.fill("2000")
    page.get_by_role("button", name="Start the experiment").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Whose fault?")
    page.goto(address)
    expect(name).to_have_value("")
    expect(note).to_be_hidden()


def test_ticks_and_the_game_they_belong_to_are_kept_together(enter: Enter, team: Studio) -> None:
    address = "/p/herobattle/jobs/new/evaluate/"
    page = enter(team.designer, address)
    page.get_by_label("Game", exact=True).select_option("connect-four")
    page.get_by_role("checkbox", name="Random").check()
    page.goto("/")
    page.goto(address)
    expect(page.get_by_label("Game", exact=True)).to_have_value("connect-four")
    expect(page.get_by_role("checkbox", name="Random")).to_be_checked()
    expect(page.get_by_role("checkbox", name="Follows the ball")).to_be_hidden()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("checkbox", name="Random")).not_to_be_checked()
    expect(page.get_by_role("checkbox", name="Follows the ball")).to_be_visible()
