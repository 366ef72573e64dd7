"""The form of evolution with a shared critic, in a real browser."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.factories import Studio

Enter = Callable[..., Page]


def test_a_method_brings_its_usual_way_of_waiting_along_where_the_chosen_one_does_not_fit(
    enter: Enter, team: Studio
) -> None:
    page = enter(team.designer, "/p/herobattle/jobs/new/aes-rl/")

    methods = page.get_by_role("group", name="Method")
    ways = page.get_by_role("group", name="Who waits for whom")

    def chosen(method: str) -> None:
        methods.get_by_role("radio", name=method).check()

    free, turns = ways.get_by_role("radio", name="No individual"), ways.get_by_role("radio", name="Each for the one")
    expect(free).to_be_checked()
    chosen("CEM-RL Rounds of individuals")
    expect(ways.get_by_role("radio", name="All of a round")).to_be_checked()
    turns.check()
    chosen("Cross-entropy method")
    expect(turns).to_be_checked()
    chosen("AES-RL Each individual moves the centre")
    expect(free).to_be_checked()


def test_what_is_wrong_with_a_detail_stands_above_its_explanation_and_covers_nothing(
    enter: Enter, team: Studio
) -> None:
    page = enter(team.designer, "/p/herobattle/jobs/new/aes-rl/")
    page.get_by_role("radio", name="CEM-RL Rounds of individuals").check()
    page.get_by_text("Details for specialists").click()
    page.get_by_label("Share that learns").fill("0.3")
    page.get_by_role("button", name="Start the training").click()
    wrong, explained = page.locator("#id_share_error"), page.locator("#id_share_helptext")
    expect(wrong).to_contain_text("Only AES-RL and ACEM-RL keep such a share")
    above, below = wrong.bounding_box(), explained.bounding_box()
    assert above is not None
    assert below is not None
    assert above["y"] + above["height"] <= below["y"]
