"""What a matched sheet sets, and what is said about cells that cannot be used."""

from __future__ import annotations

import pytest

from engine.games.herobattle.spec import game_spec
from engine.lineups.schema import merged_patch, spec_from_json, spec_to_json
from engine.simulators.contract import content_hash
from tests.engine.sample_simulators import SPEC as TUG
from tests.engine.sample_simulators import RecruitingTugOfWar
from tests.webapp.games_data import SPEC, workbook
from tests.webapp.raw_workbooks import HEADER, raw_workbook, worksheet
from webapp.games import columns, importing, sheets, versions
from webapp.games.importing import SheetContents


def reading(data: bytes | str, mark: str = "") -> SheetContents:
    sheet = sheets.read(data.encode() if isinstance(data, str) else data)
    matched = columns.suggest(SPEC, sheet)
    assert not columns.problems(SPEC, matched, sheet.columns)
    return importing.read_values(sheet, matched, SPEC, mark or None)  # type: ignore[arg-type]


def said(found: SheetContents) -> list[str]:
    return [f"{p.place} {p.text} {p.message}" for p in found.problems]


def test_a_german_sheet_sets_costs_and_attributes() -> None:
    found = reading("Held;Preis;HP;Speed;Bemerkung\nFrost Captain;470;422;0,6;- weaker\nGale Lancer;;330;;\n")
    assert found.usable
    assert found.mark == ","
    assert found.values == {
        "frost-captain.cost": 470, "frost-captain.hit_points": 422, "frost-captain.speed": 0.6,
        "gale-lancer.hit_points": 330,
    }  # fmt: skip


def test_an_empty_cell_keeps_the_old_value() -> None:
    found = reading("Name,Cost,HP\nFrost Captain,,500\n")
    patch = merged_patch(SPEC, {"frost-captain.cost": 400.0}, found.values)
    assert patch == {"frost-captain.cost": 400.0, "frost-captain.hit_points": 500.0}


def test_a_value_of_the_simulator_leaves_the_patch() -> None:
    assert merged_patch(SPEC, {"pikes.cost": 90.0}, {"pikes.cost": 95.0}) == {}


def test_a_number_with_two_readings_is_asked_and_the_answer_settles_it() -> None:
    text = "Name;HP\nFrost Captain;1,234\nGale Lancer;450\n"
    found = reading(text)
    assert [(d.place, d.text, d.point, d.comma) for d in found.doubts] == [("B2", "1,234", 1234.0, 1.234)]
    assert not found.usable
    assert reading(text, ".").values["frost-captain.hit_points"] == 1234
    assert reading(text, ",").values["frost-captain.hit_points"] == 1.234


def test_another_cell_of_the_sheet_settles_two_readings() -> None:
    found = reading("Name;HP;Speed\nFrost Captain;1,234;0,5\n")
    assert found.usable
    assert found.values["frost-captain.hit_points"] == 1.234


def test_a_value_out_of_bounds_is_an_error_at_its_cell() -> None:
    (sentence,) = said(reading("Name,Cost\nFrost Captain,45000\n"))
    assert sentence.startswith("B2 45000 is outside what the game allows")
    assert "from 50 to 2000" in sentence


def test_a_value_that_only_its_decimal_mark_puts_out_of_bounds_is_told_as_it_was_read() -> None:
    found = reading("Name;Cost;Speed\nFrost Captain;1,234;0,5\nPikes;9,999;\n")
    assert said(found) == [
        "B2 1,234 is read as 1.2340, for the comma is the decimal mark of this sheet. That is outside what the game "
        "allows for “Frost Captain: cost”: from 50 to 2000.",
        "B3 9,999 is read as 9.9990, for the comma is the decimal mark of this sheet. That is outside what the game "
        "allows for “Pikes: cost”: from 10 to 500.",
    ]


def test_bounds_name_their_unit() -> None:
    (sentence,) = said(reading("Name,HP\nFrost Captain,0\n"))
    assert "from 1 to 5000 points" in sentence


def test_an_unknown_piece_is_an_error_with_the_nearest_name() -> None:
    (sentence,) = said(reading("Name,Cost\nFrost Captian,450\nPikes,95\nBows,100\n"))
    assert sentence == "A2 Frost Captian is not a piece of this game. Did you mean Frost Captain?"


def test_a_piece_twice_is_an_error() -> None:
    (sentence,) = said(reading("Name,Cost\nPikes,95\nPikes,96\n"))
    assert sentence == "row 3 Pikes, 96 Pikes stands in row 2 already. Leave one of the two out."


def test_text_formulas_and_attributes_of_other_categories_are_errors_at_their_cells() -> None:
    found = reading("Name,Cost,Rally bonus\nPikes,lots,\nBows,=1+1,\nFrost Captain,450,\nMarrow Duke,1,2\n")
    assert [p.place for p in found.problems] == ["B2", "B3", "B5"]
    assert "is not a number" in found.problems[0].message
    assert "paste them back as values" in found.problems[1].message
    (other,) = said(reading("Name,Cost,Rally bonus\nPikes,95,5\n"))
    assert other == "C2 5 Soldiers have no “Rally bonus”. Leave the cell empty."


def test_all_errors_of_a_row_are_told_at_once() -> None:
    found = reading(
        "Name,Cost,HP,Speed\nFrost Captian,lots,=B2*2,7\nPikes,95,0,much\nPikes,9999,x,1\nBows,100,80,0.6\n"
    )
    assert [(p.place, p.message.split(",")[0].split(".")[0]) for p in found.problems] == [
        ("A2", "is not a piece of this game"),
        ("B2", "is not a number"),
        ("C2", "is a formula"),
        ("C3", "is outside what the game allows for “Pikes: Hit points”: from 1 to 5000 points"),
        ("D3", "is not a number"),
        ("row 4", "Pikes stands in row 3 already"),
        ("B4", "is outside what the game allows for “Pikes: cost”: from 10 to 500"),
        ("C4", "is not a number"),
    ]
    assert found.values == {"bows.cost": 100, "bows.hit_points": 80, "bows.speed": 0.6, "pikes.cost": 95}
    assert found.matched == 2


@pytest.mark.parametrize("text", ["=A1+B2", "+B2", "@SUM(A1:A3)", "-B2", " = 1+1"])
def test_a_formula_gets_a_hint_to_paste_values(text: str) -> None:
    (sentence,) = said(reading(f"Name;Cost\nPikes;{text}\nBows;100\n"))
    assert "is a formula, and only values can be imported" in sentence
    assert "paste them back as values (in Excel: Paste Special, Values)" in sentence


@pytest.mark.parametrize("text", ["- weaker", "-weaker", "-", "lots"])
def test_what_is_no_formula_is_not_called_one(text: str) -> None:
    (sentence,) = said(reading(f"Name;Cost\nPikes;{text}\nBows;100\n"))
    assert "is not a number. Type one from 10 to 500, or leave the cell empty." in sentence


def test_a_formula_of_a_workbook_is_told_with_what_it_gave() -> None:
    row = '<row><c t="str"><v>Pikes</v></c><c><f>A1+B2</f><v>450</v></c></row>'
    (sentence,) = said(reading(raw_workbook(worksheet(HEADER + row))))
    assert sentence.startswith("B2 =A1+B2 is a formula (it gave 450), and only values can be imported.")


def test_a_heading_between_rows_is_skipped() -> None:
    found = reading("Name,Cost\nHeroes of the north,\nFrost Captain,450\nPikes,95\n")
    assert found.usable
    assert found.matched == 2


def test_settings_are_read_by_name_or_path() -> None:
    found = reading("Setting,Value\nTime limit,250\nbattle.luck,35 %\n")
    assert found.values == {"battle.limit": 250, "battle.luck": 35}


def test_a_workbooks_percent_is_the_number_it_shows() -> None:
    from openpyxl import Workbook

    from tests.webapp.games_data import saved

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Name", "Rally bonus"])
    sheet.append(["Frost Captain", 0.29])
    sheet["B2"].number_format = "0%"
    assert reading(saved(book)).values == {"frost-captain.rally": 29.0}


def test_formulas_and_dates_of_a_workbook_are_errors_in_matched_columns_only() -> None:
    import datetime

    data = workbook([
        ["Name", "Cost", "Hit points", "Sum"],
        ["Frost Captain", "=400+50", datetime.date(2026, 1, 5), "=B2*2"],
    ])  # fmt: skip
    found = reading(data)
    assert [(p.place, p.message.split(".")[0]) for p in found.problems] == [
        ("B2", "is a formula, and only values can be imported"),
        ("C2", "was turned into a date or time by the spreadsheet"),
    ]


def test_a_confirmed_header_is_known_again_whatever_its_spelling() -> None:
    assert columns.header_hash(["Name", "Cost (gold)"]) == columns.header_hash(["name ", "COST"])
    assert columns.header_hash(["Name", "Cost"]) != columns.header_hash(["Cost", "Name"])


def test_a_matching_needs_a_name_and_a_number_and_no_field_twice() -> None:
    assert "names or ids" in columns.problems(SPEC, {0: "cost"}, ["A"])[-1]
    assert "numbers" in columns.problems(SPEC, {0: "name"}, ["A"])[-1]
    assert "already" in columns.problems(SPEC, {0: "name", 1: "cost", 2: "cost"}, ["A", "B", "C"])[2]


def test_equal_content_has_equal_hashes() -> None:
    one = versions.version_hash("1.0", "a" * 64, {"x": 1.0, "y": 2.0})
    assert one == versions.version_hash("1.0", "a" * 64, {"y": 2, "x": 1})
    assert one != versions.version_hash("1.1", "a" * 64, {"x": 1.0, "y": 2.0})


def test_a_description_has_the_same_hash_after_a_journey_as_json() -> None:
    spec = game_spec()
    assert content_hash(spec_from_json(spec_to_json(spec))) == content_hash(spec)


def test_a_sheet_may_add_pieces_to_a_game_that_accepts_them() -> None:
    game = RecruitingTugOfWar.spec
    sheet = sheets.read(b"Id,Cost,Power\nhero-1,12,20\nhero/frost-duke,14,33\nduchess,10,10\n")
    matched = columns.suggest(game, sheet)
    found = importing.read_values(sheet, matched, game)
    assert said(found) == [
        "A4 duchess is not a piece of this game. Check the spelling, or leave the row out. To add a piece, give it an "
        "id such as hero/new-name or soldier/new-name."
    ]
    patch = merged_patch(game, {}, found.values)
    assert patch["hero/frost-duke.cost"] == 14
    assert [c.name for c in versions.changes(game, {}, patch)] == ["Hero 1", "Hero 1", "Frost Duke", "Frost Duke"]
    assert merged_patch(game, patch, {"hero/frost-duke.power": 0.0})["hero/frost-duke.power"] == 0


def test_a_sheet_cannot_add_pieces_to_a_game_that_does_not() -> None:
    sheet = sheets.read(b"Id,Cost\nhero-1,12\nhero/frost-duke,14\n")
    found = importing.read_values(sheet, columns.suggest(TUG, sheet), TUG)
    assert said(found) == ["A3 hero/frost-duke is not a piece of this game. Check the spelling, or leave the row out."]
