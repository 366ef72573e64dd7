"""Game data, lineups, objectives and simulators in a real browser, by mouse and by keyboard."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page, Route, ViewportSize, expect

from engine.games.herobattle.spec import game_spec
from tests.browser.conftest import DESKTOP, Enter
from tests.browser.looking import complaints
from tests.factories import Studio, game_version, studio
from tests.processes import environment
from tests.webapp.games_data import an_import, simulator, with_data
from webapp.accounts import rights
from webapp.balance.models import LineupRules, ObjectiveSet
from webapp.games import versions
from webapp.games.models import GameVersion, SheetImport, Simulator
from webapp.lib.storage import store

DATA, LINEUPS, OBJECTIVES = "/p/herobattle/data/", "/p/herobattle/lineups/", "/p/herobattle/objectives/"
PHONE: ViewportSize = {"width": 390, "height": 844}
UNCOVERED = """field => {
  const { left, top, right, bottom } = field.getBoundingClientRect();
  const corners = [[left + 3, top + 3], [right - 3, top + 3], [left + 3, bottom - 3], [right - 3, bottom - 3]];
  return corners.every(([x, y]) => document.elementFromPoint(x, y) === field);
}"""

LATE_ANSWER = """document.querySelector("[data-typed-form]").addEventListener(
    "submit", () => document.dispatchEvent(new Event("htmx:afterSwap")))"""
"""What the server says of the fields is drawn after they were sent to be saved."""


@pytest.fixture
def team(site: str) -> Studio:
    found = studio()
    with_data(found.project)
    return found


def newest(team: Studio) -> GameVersion:
    found = versions.current(team.project)
    assert found is not None
    return found


def looks_right(page: Page) -> None:
    """No serious axe finding and no sideways scrolling: desktop in light colours, phone in dark ones."""
    assert not complaints(page, DESKTOP, PHONE)
    page.set_viewport_size(DESKTOP)


def test_a_number_is_changed_by_keyboard_reviewed_and_saved(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, DATA)
    name = page.get_by_role("link", name="Frost Captain")
    name.focus()
    page.keyboard.press("Enter")
    field = page.get_by_label("Frost Captain: cost")
    expect(field).to_be_focused()  # a row that opens takes the focus
    field.fill("470,5")
    page.get_by_role("link", name="Gale Lancer").click()
    expect(page.get_by_label("Gale Lancer: cost")).to_be_focused()
    page.get_by_label("Gale Lancer: hit points").fill("many")
    looks_right(page)
    page.get_by_role("button", name="Review the changes").click()
    expect(page.get_by_text("1 number needs a look")).to_be_visible()
    wrong = page.get_by_label("Gale Lancer: hit points")
    expect(wrong).to_have_value("many")
    looks_right(page)
    wrong.fill("330")
    page.get_by_role("button", name="Review the changes").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("2 changes to version 1")
    looks_right(page)
    page.get_by_label("Why, in a few words").fill("After the May playtest")
    page.get_by_role("button", name="Save as version 2").click()
    expect(page.get_by_text("Saved as version 2.")).to_be_visible()
    assert newest(team).patch == {"frost-captain.cost": 470.5, "gale-lancer.hit_points": 330.0}


def test_numbers_that_were_typed_and_not_saved_are_offered_to_whoever_comes_back(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, DATA)
    page.get_by_role("link", name="Frost Captain").click()
    page.get_by_label("Frost Captain: cost").fill("470")
    page.get_by_role("link", name="Lineups", exact=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Lineups and objectives")
    page.goto(f"{DATA}?table=parameters")
    expect(page.get_by_role("navigation", name="Tables")).to_contain_text("1 not saved")
    page.goto(DATA)
    row = page.locator("#row-frost-captain")
    expect(page.get_by_label("Frost Captain: cost")).to_have_value("470")
    expect(row).to_contain_text("Typed earlier, not saved")
    looks_right(page)
    row.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("Frost Captain: cost")).not_to_have_value("470")
    page.goto(DATA)
    expect(row.locator(".row-edit")).to_be_visible()
    expect(row).not_to_have_class("editing")


def test_numbers_are_kept_that_were_typed_in_the_moment_a_row_opens(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, DATA)
    page.evaluate("htmx.config.defaultSettleDelay = 60_000")  # until then the row has the classes of a closed one
    page.get_by_role("link", name="Frost Captain").click()
    page.get_by_label("Frost Captain: cost").fill("470")
    page.goto(f"{DATA}?table=parameters")
    expect(page.get_by_role("navigation", name="Tables")).to_contain_text("1 not saved")


def test_typed_numbers_last_through_the_review_and_end_when_they_are_saved(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, DATA)
    page.get_by_role("link", name="Frost Captain").click()
    page.get_by_label("Frost Captain: cost").fill("470")
    page.get_by_role("button", name="Review the changes").click()
    page.get_by_role("button", name="Change the numbers again").click()
    page.get_by_label("Frost Captain: cost").fill("480")
    page.goto(DATA)
    expect(page.get_by_label("Frost Captain: cost")).to_have_value("480")
    another = {"gale-lancer.cost": 300.0}
    before = newest(team)
    versions.save(team.project, before.simulator, game_spec(), another, user=team.owner, label="", note="", base=1)
    page.goto(DATA)
    expect(page.locator("#row-frost-captain")).to_contain_text("Typed earlier on version 1, not saved")
    page.get_by_role("button", name="Review the changes").click()
    page.get_by_role("button", name="Save as version 3").click()
    expect(page.get_by_text("Saved as version 3.")).to_be_visible()
    assert newest(team).patch["frost-captain.cost"] == 480.0
    page.goto(DATA)
    expect(page.locator("#row-frost-captain .row-edit")).to_be_visible()
    expect(page.locator("tr.editing")).to_have_count(0)


def test_fields_of_one_row_stand_in_line_when_one_of_them_is_wrong(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, f"{DATA}?edit=frost-captain")
    page.get_by_label("Frost Captain: cost").fill("many")
    page.get_by_role("button", name="Review the changes").click()
    expect(page.get_by_text("1 number needs a look")).to_be_visible()
    tops = page.locator(".edit-grid input").evaluate_all(
        "fields => fields.slice(0, 3).map((field) => Math.round(field.getBoundingClientRect().top))"
    )
    assert len(set(tops)) == 1, tops


def test_nothing_covers_the_field_that_somebody_is_at(enter: Enter, team: Studio) -> None:
    game_version(team.project)
    pieces = [piece for piece in game_spec().pieces if piece.category == "equipment"]
    page = enter(team.designer)
    page.emulate_media(reduced_motion="reduce")  # what is focused is in view at once
    for size in (DESKTOP, PHONE):
        page.set_viewport_size(size)
        page.goto(f"{DATA}?table=equipment")
        for piece in (pieces[0], pieces[30], pieces[31], pieces[-1]):
            page.locator(f"#row-{piece.id} .row-edit").focus()
            page.keyboard.press("Enter")
            expect(page.locator("tr.editing input").and_(page.locator(":focus"))).to_have_attribute(
                "aria-label", re.compile(f"^{re.escape(piece.name)}: cost")
            )
        fields = page.locator("tr.editing input")
        order = [*range(fields.count()), *reversed(range(fields.count()))]
        for k in order[:: 7 if size == PHONE else 3]:
            fields.nth(k).focus()
            assert fields.nth(k).evaluate(UNCOVERED), (size, k)
    link = page.locator(f"#row-{pieces[0].id} .row-edit")
    link.focus()
    page.keyboard.press("Enter")
    expect(page.locator(f"#row-{pieces[0].id}.editing")).to_have_count(0)
    expect(link).to_be_focused()


def test_a_row_that_an_address_opens_is_below_the_column_titles(enter: Enter, team: Studio) -> None:
    game_version(team.project)
    piece = [p for p in game_spec().pieces if p.category == "equipment"][40]
    page = enter(team.designer, f"{DATA}?table=equipment&edit={piece.id}#row-{piece.id}")
    assert page.locator(f"#row-{piece.id} input").first.evaluate(UNCOVERED)


def test_rows_are_found_by_name(enter: Enter, team: Studio) -> None:
    page = enter(team.producer, DATA)
    page.get_by_placeholder("Find a name").fill("duke")
    expect(page.get_by_role("row", name="Marrow Duke")).to_be_visible()
    expect(page.get_by_role("row", name="Frost Captain")).to_be_hidden()
    page.get_by_placeholder("Find a name").fill("nobody")
    expect(page.get_by_text("No name contains that.")).to_be_visible()


def test_pasted_cells_are_matched_asked_about_and_saved(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, f"{DATA}import/")
    page.get_by_label("Or cells copied from a spreadsheet").fill("Held\tHP\tPreis\nFrost Captain\t1,234\t470\n")
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What do the columns mean?")
    expect(page.get_by_label("HP")).to_have_value("attribute:hit_points")
    looks_right(page)
    page.get_by_role("button", name="See what would change").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("One question first")
    looks_right(page)
    page.get_by_role("button", name="1234", exact=False).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("2 changes to version 1")
    looks_right(page)
    page.get_by_role("button", name="Save as version 2").click()
    expect(page.get_by_text("Saved as version 2.")).to_be_visible()
    assert newest(team).patch == {"frost-captain.cost": 470.0, "frost-captain.hit_points": 1234.0}
    assert SheetImport.objects.get().version == newest(team)


def test_bad_cells_are_listed_and_the_paste_can_be_corrected(enter: Enter, team: Studio) -> None:
    row = an_import(team.project)
    row.digest = store().put(b"Name,Cost\nFrost Captian,9\nPikes,95000\n")
    row.columns = {"0": "name", "1": "cost"}
    row.save()
    page = enter(team.designer, f"{DATA}import/{row.pk}/")
    expect(page.get_by_text("Did you mean Frost Captain?")).to_be_visible()
    looks_right(page)
    page.get_by_role("link", name="Correct the pasted cells").click()
    expect(page.get_by_label("Or cells copied from a spreadsheet")).to_have_value(
        "Name,Cost\nFrost Captian,9\nPikes,95000\n"
    )


def test_impossible_rules_are_told_while_they_are_typed(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, f"{LINEUPS}new/")
    verdict = page.locator("#verdict")
    expect(verdict).to_contain_text("Nothing speaks against these rules.")
    page.get_by_label("Teams compared together").fill("5")
    expect(verdict).to_contain_text("5 heroes are needed for 5 teams that share none, but only 4 are allowed")
    page.get_by_label("Teams compared together").fill("2")
    expect(verdict).to_contain_text("Nothing speaks against these rules.")
    page.get_by_text("Choose pieces").last.click()
    banned = page.get_by_role("group", name="Banned pieces")
    banned.get_by_placeholder("Find a piece").fill("duke")
    banned.get_by_role("checkbox", name="Marrow Duke").check()
    expect(banned.locator("[data-chosen]")).to_have_text("Marrow Duke")
    expect(verdict).to_contain_text("3 of 4")
    page.get_by_label("My own teams").check()
    page.get_by_label("Your teams").fill("Frost Captain,Pikes,6\nGale Lancer,Bows,40\n")
    expect(verdict).to_contain_text("40 is outside 1 to 9")
    looks_right(page)
    page.get_by_label("Your teams").fill("Frost Captain,Pikes,6\nGale Lancer,Bows,4\n")
    expect(verdict).to_contain_text("2 baseline teams")
    page.get_by_role("textbox", name="Name", exact=True).fill("Duels")
    page.get_by_role("button", name="Save the rules").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Duels")
    saved = LineupRules.objects.get()
    assert (saved.config["banned"], len(saved.config["baselines"]["teams"])) == (["marrow-duke"], 2)


def test_rules_that_were_typed_and_not_saved_are_offered_to_whoever_comes_back(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, f"{LINEUPS}new/")
    page.get_by_label("Teams compared together").fill("2")
    page.get_by_text("Choose pieces").last.click()
    banned = page.get_by_role("group", name="Banned pieces")
    banned.get_by_placeholder("Find a piece").fill("duke")
    banned.get_by_role("checkbox", name="Marrow Duke").check()
    page.goto(LINEUPS)
    page.goto(f"{LINEUPS}new/")
    expect(page.get_by_text("Typed earlier, not saved")).to_be_visible()
    expect(page.get_by_label("Teams compared together")).to_have_value("2")
    expect(banned.locator("[data-chosen]")).to_have_text("Marrow Duke")
    looks_right(page)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("Teams compared together")).not_to_have_value("2")
    expect(banned.locator("[data-chosen]")).to_have_text("None")
    page.get_by_role("textbox", name="Name", exact=True).fill("Duels")
    page.get_by_label("Teams compared together").fill("5")
    with page.expect_event("load"):
        page.get_by_role("button", name="Save the rules").click()
    page.goto(f"{LINEUPS}new/")
    expect(page.get_by_role("textbox", name="Name", exact=True)).to_have_value("Duels")
    page.get_by_label("Teams compared together").fill("2")
    page.evaluate(LATE_ANSWER)
    with page.expect_event("load"):
        page.get_by_role("button", name="Save the rules").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Duels")
    page.goto(f"{LINEUPS}new/")
    expect(page.get_by_role("textbox", name="Name", exact=True)).not_to_have_value("Duels")
    expect(page.get_by_text("Typed earlier, not saved")).to_be_hidden()


def test_a_formula_shows_its_value_while_it_is_typed(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, f"{OBJECTIVES}new/")
    first = page.locator("section.objective").first
    formula, sample = first.get_by_label("Formula"), first.locator(".sample")
    expect(sample).to_contain_text("in the middle")
    formula.fill("strongest(power)")
    expect(sample).to_contain_text("'power', which is not known")
    formula.fill("strongest()")
    formula.press("ArrowLeft")
    page.get_by_role("button", name="strength_vs_baselines", exact=True).click()
    expect(formula).to_have_value("strongest(strength_vs_baselines)")
    expect(sample).to_contain_text("in the middle")
    looks_right(page)


def test_objectives_are_moved_and_removed_without_dragging(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, f"{OBJECTIVES}new/")
    page.locator("section.objective").nth(1).get_by_label("Further right means").fill("much wider")
    page.locator("section.objective").nth(1).get_by_role("button", name="Move up").click()
    expect(page.get_by_role("heading", name="1. Strength gap")).to_be_focused()
    expect(page.locator("section.objective").first.get_by_label("Further right means")).to_have_value("much wider")
    page.locator("section.objective").nth(1).get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="Save the objectives").click()
    expect(page.get_by_text("is saved.")).to_be_visible()
    saved = ObjectiveSet.objects.get().config["objectives"]
    assert [(o["name"], o["toward"], o["strength"]) for o in saved] == [
        ("gap", "much wider", False), ("weakest", "stronger", True),
    ]  # fmt: skip


def test_objectives_that_were_typed_and_not_saved_are_offered_to_whoever_comes_back(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, f"{OBJECTIVES}new/")
    objectives = page.locator("section.objective")
    expect(objectives).to_have_count(3)
    page.get_by_role("button", name="Add an objective").click()
    expect(objectives).to_have_count(4)
    objectives.nth(3).get_by_label("Formula").fill("strongest(strength)")
    page.goto(OBJECTIVES)
    page.goto(f"{OBJECTIVES}new/")
    expect(page.get_by_text("Typed earlier, not saved")).to_be_visible()
    expect(objectives.nth(3).get_by_label("Formula")).to_have_value("strongest(strength)")
    looks_right(page)
    page.get_by_role("button", name="Undo").click()
    expect(objectives).to_have_count(3)
    page.get_by_label("Name of the set").fill("Duels")
    page.get_by_role("button", name="Save the objectives").click()
    expect(page.get_by_text("is saved.")).to_be_visible()
    page.goto(f"{OBJECTIVES}new/")
    expect(page.get_by_label("Name of the set")).not_to_have_value("Duels")
    expect(page.get_by_text("Typed earlier, not saved")).to_be_hidden()


@pytest.fixture
def quick_worker(site: str, redis_server: str, tmp_path: Path) -> Iterator[None]:
    """A worker of the ``quick`` queue on the test's database."""
    options = "-Q quick -n quick@data -c 1 --without-gossip --without-mingle -l WARNING"
    with (tmp_path / "worker.log").open("wb") as log:
        worker = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "workers.app", "worker", *options.split()],
            cwd=settings.BASE_DIR, env=environment(redis_server), stdout=log, stderr=log,
        )  # fmt: skip
    yield
    worker.terminate()
    worker.wait(60)


def test_a_simulator_is_registered_and_its_handshake_answers_on_the_page(
    enter: Enter, team: Studio, quick_worker: None
) -> None:
    rights.grant(team.engineer, None)
    page = enter(team.engineer, "/admin-tools/simulators/new/")
    page.get_by_label("Name").fill("Tug of war")
    page.get_by_label("Python entry point").check()
    page.get_by_label("Entry point or command").fill("tests.engine.sample_simulators:TugOfWar")
    page.get_by_role("checkbox", name="Herobattle").check()
    page.get_by_role("button", name="Register and test the handshake").click()
    card = page.locator("#handshake")
    expect(card).to_contain_text("13 pieces, 5 slots", timeout=120_000)
    expect(card).to_contain_text("each battle has one winner or is drawn")
    expect(card.get_by_text("Ready", exact=True)).to_be_visible(timeout=120_000)
    looks_right(page)
    row = Simulator.objects.get(name="Tug of war")
    assert (row.status, row.version) == (Simulator.Status.READY, "1")
    Simulator.objects.filter(pk=row.pk).update(reference="python:no_such_package:make")
    page.get_by_role("button", name="Test handshake").click()
    expect(card).to_contain_text("No module named 'no_such_package'", timeout=120_000)
    expect(card).to_contain_text("It cannot be used as it is.")


def test_a_game_is_chosen_for_a_new_project(enter: Enter) -> None:
    team = studio()
    simulator()
    page = enter(team.owner, DATA)
    looks_right(page)
    page.get_by_role("button", name="Take this game").click()
    expect(page.get_by_role("row", name="Frost Captain")).to_be_visible()
    assert newest(team).number == 1


def test_a_sheet_that_takes_long_shows_how_far_it_is_and_is_cancelled_and_nothing_typed_is_lost(
    enter: Enter, team: Studio
) -> None:
    page = enter(team.designer, f"{DATA}import/")
    cells, go_on = page.get_by_label("Or cells copied from a spreadsheet"), page.get_by_role("button", name="Go on")
    cells.fill('Name\tCost\n"Pikes\t99')
    go_on.click()
    expect(page.get_by_text("The quotation mark opened in line 2 never closes")).to_be_visible()
    expect(cells).to_be_focused()
    expect(cells).to_have_value('Name\tCost\n"Pikes\t99')
    looks_right(page)
    cells.fill("Name\tCost\nPikes\t99")
    held: list[Route] = []
    page.route("**/data/import/", lambda route: held.append(route))
    page.route("**/data/import/progress/*", lambda route: route.fulfill(json={"share": 40}))
    go_on.press("Enter")
    bar = page.get_by_role("progressbar", name="How far the sheet is read")
    expect(bar).to_be_visible()
    looks_right(page)
    page.get_by_role("button", name="Cancel").click()
    expect(bar).to_be_hidden()
    expect(go_on).to_be_focused()
    expect(cells).to_have_value("Name\tCost\nPikes\t99")
    assert len(held) == 1
    assert not SheetImport.objects.exists()
    page.unroute("**/data/import/")
    go_on.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What do the columns mean?")


def test_a_file_that_is_too_large_is_told_before_it_is_sent_and_stays_chosen(
    enter: Enter, team: Studio, tmp_path: Path
) -> None:
    large = tmp_path / "large.csv"
    large.write_bytes(b"Name,Cost\n" * 600_000)
    page = enter(team.designer, f"{DATA}import/")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    page.get_by_label("A file").set_input_files(large)
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_text("This sheet is 5.7 MB; 5 MB is the most.")).to_be_visible()
    assert "POST" not in sent
    assert page.get_by_label("A file").evaluate("field => field.files.length") == 1


def test_a_file_that_is_refused_stays_chosen_and_a_corrected_one_goes_on(
    enter: Enter, team: Studio, tmp_path: Path
) -> None:
    sheet = tmp_path / "sheet.csv"
    sheet.write_bytes(b"Name,Cost\n" + b"Pikes,99\n" * 20_001)
    page = enter(team.designer, f"{DATA}import/")
    page.get_by_label("A file").set_input_files(sheet)
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_text("This sheet has 20,002 rows; 20,000 rows is the most.")).to_be_visible()
    assert page.get_by_label("A file").evaluate("field => field.files.length") == 1
    sheet.write_bytes(b"Name,Cost\n" + b"Pikes,99\n" * 19_000)
    page.get_by_label("A file").set_input_files(sheet)
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What do the columns mean?")
