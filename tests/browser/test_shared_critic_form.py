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

    nobody, turns = ways.get_by_role("radio", name="Nobody"), ways.get_by_role("radio", name="Each for the one")
    expect(nobody).to_be_checked()
    chosen("CEM-RL Rounds of individuals")
    expect(ways.get_by_role("radio", name="All of a round")).to_be_checked()
    turns.check()
    chosen("Cross-entropy method")
    expect(turns).to_be_checked()
    chosen("AES-RL Nobody waits")
    expect(nobody).to_be_checked()
