"""The game data pages: choosing a game, editing, importing, versions, taking away."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from openpyxl import Workbook, load_workbook

from engine.simulators.contract import Piece
from tests.factories import Studio, signed_in, studio
from tests.webapp.games_data import SPEC, saved, simulator, with_data, workbook
from webapp.games import exports, limits, versions
from webapp.games.models import GameVersion, SheetImport, SheetMapping, Simulator
from webapp.games.specs import keep

pytestmark = pytest.mark.django_db
DATA = "/p/herobattle/data/"


@pytest.fixture
def team() -> Studio:
    found = studio()
    with_data(found.project)
    return found


def newest(team: Studio) -> GameVersion:
    found = versions.current(team.project)
    assert found is not None
    return found


def upload(client: Client, data: bytes, name: str = "heroes.csv") -> SheetImport:
    answer = client.post(f"{DATA}import/", {"file": SimpleUploadedFile(name, data)})
    assert answer.status_code == 302, answer.content.decode()
    return SheetImport.objects.get(pk=int(answer["Location"].rstrip("/").split("/")[-1]))


def page_of(row: SheetImport) -> str:
    return f"{DATA}import/{row.pk}/"


def confirm(client: Client, row: SheetImport, **columns: str) -> None:
    answer = client.post(page_of(row), {"action": "columns", **{k.replace("_", "-"): v for k, v in columns.items()}})
    assert answer.status_code == 302, answer.content.decode()


def save(client: Client, row: SheetImport, base: int) -> None:
    answer = client.post(page_of(row), {"action": "save", "base": base, "label": "Spring data", "note": "May"})
    assert answer.status_code == 302, answer.content.decode()


# Choosing a game


def test_a_project_without_data_chooses_a_game_and_gets_rules_to_start_with() -> None:
    team = studio()
    game = simulator()
    client = signed_in(team.designer)
    type(game).objects.filter(pk=game.pk).update(name="Nightly build")
    content = client.get(DATA).content.decode()
    assert "Which game is this?" in content
    assert "<b>Nightly build</b>" in content, "as it was registered: several may be versions of one game"
    client.post(f"{DATA}choose/", {"simulator": game.pk})
    version = newest(team)
    assert (version.number, version.patch, version.content_hash) == (
        1, {}, versions.version_hash("1.0", keep(SPEC), {}),
    )  # fmt: skip
    assert team.project.lineup_rules.count() == team.project.objective_sets.count() == 1


def test_a_game_that_is_granted_to_others_cannot_be_chosen() -> None:
    team = studio()
    game = simulator(everybody=False)
    client = signed_in(team.designer)
    client.post(f"{DATA}choose/", {"simulator": game.pk})
    assert not team.project.versions.exists()
    game.projects.add(team.project)
    client.post(f"{DATA}choose/", {"simulator": game.pk})
    assert team.project.versions.count() == 1


def test_an_untested_game_says_so_and_cannot_be_chosen() -> None:
    team = studio()
    game = simulator(spec={}, spec_hash="", status=Simulator.Status.UNTESTED)
    client = signed_in(team.designer)
    assert "not tested yet" in client.get(DATA).content.decode()
    client.post(f"{DATA}choose/", {"simulator": game.pk})
    assert not team.project.versions.exists()


@pytest.mark.parametrize("status", [Simulator.Status.BROKEN, Simulator.Status.OFF, Simulator.Status.MISSING])
def test_a_game_that_cannot_be_played_any_more_says_why_and_cannot_be_chosen(status: str) -> None:
    team = studio()
    told = f"It ends with an error ({status})."
    game = simulator(status=status, message=told)
    client = signed_in(team.designer)
    page = client.get(DATA).content.decode()
    assert told in page
    assert "disabled" in page.partition(f'name="simulator" value="{game.pk}"')[2].partition(">")[0]
    assert "No game is ready yet." in page
    assert told in client.post(f"{DATA}choose/", {"simulator": game.pk}, follow=True).content.decode()
    assert not team.project.versions.exists()


def test_a_version_that_rests_on_no_other_is_saved_though_another_is_saved_at_the_same_moment(
    team: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As two builds that keep their data do."""
    first = newest(team)
    versions.save(team.project, first.simulator, SPEC, {"pikes.cost": 90.0}, user=None)
    seen, real = [first], versions.current
    monkeypatch.setattr(versions, "current", lambda project: seen.pop() if seen else real(project))
    made = versions.save(team.project, first.simulator, SPEC, {"pikes.cost": 80.0}, user=None)
    assert (made.number, made.patch) == (first.number + 2, {"pikes.cost": 80.0})
    seen.append(first)
    with pytest.raises(versions.Stale):
        versions.save(team.project, first.simulator, SPEC, {"pikes.cost": 70.0}, user=None, base=first.number)


# The tables


def test_the_page_shows_pieces_settings_and_what_differs_from_the_games_own(designer: Client, team: Studio) -> None:
    version = newest(team)
    versions.save(team.project, version.simulator, SPEC, {"frost-captain.cost": 470.0}, user=team.designer)
    page = designer.get(DATA).content.decode()
    assert "Frost Captain" in page
    assert "changed from 450" in page
    assert "Pikes" in designer.get(f"{DATA}?table=soldier").content.decode()
    assert "Time limit" in designer.get(f"{DATA}?table=parameters").content.decode()
    earlier = designer.get(f"{DATA}?version=1").content.decode()
    assert "changed from 450" not in earlier
    assert "This is an earlier version" in earlier


@pytest.mark.parametrize("query", ["table=nothing", "version=99", "version=x", "version=99999999999999999999"])
def test_an_unknown_table_or_version_is_not_found(designer: Client, query: str) -> None:
    assert designer.get(f"{DATA}?{query}").status_code == 404


def test_a_producer_sees_the_data_and_no_way_to_change_it(team: Studio) -> None:
    page = signed_in(team.producer).get(DATA).content.decode()
    assert "Frost Captain" in page
    assert "Import a sheet" not in page
    assert "row-edit" not in page


# Editing by hand


def test_a_row_opens_with_fields_and_closes_again(designer: Client) -> None:
    opened = designer.get(f"{DATA}row/?row=frost-captain&open=1").content.decode()
    assert 'name="v:frost-captain.cost" value="450"' in opened
    closed = designer.get(f"{DATA}row/?row=frost-captain").content.decode()
    assert "<input" not in closed
    assert 'name="v:battle.limit"' in designer.get(f"{DATA}row/?row=battle.limit&open=1").content.decode()
    assert 'name="v:pikes.cost"' in designer.get(f"{DATA}?table=soldier&edit=pikes,bows").content.decode()


def test_an_edit_is_shown_as_changes_before_it_becomes_a_version(designer: Client, team: Studio) -> None:
    typed = {"v:frost-captain.cost": "470", "v:frost-captain.speed": "0,6", "v:gale-lancer.cost": "410", "base": "1"}
    review = designer.post(f"{DATA}edit/", {**typed, "action": "review"}).content.decode()
    assert "2 changes to version 1" in review
    assert newest(team).number == 1
    designer.post(f"{DATA}edit/", {**typed, "action": "save", "note": "Cheaper to write", "label": "Spring data"})
    version = newest(team)
    assert version.patch == {"frost-captain.cost": 470.0, "frost-captain.speed": 0.6}
    assert (version.number, version.note, version.label) == (2, "Cheaper to write", "Spring data")


def test_a_bad_value_is_an_error_at_its_field_and_nothing_typed_is_lost(designer: Client, team: Studio) -> None:
    typed = {"v:frost-captain.cost": "99999", "v:pikes.hit_points": "many", "v:bows.hit_points": "1,234", "base": "1"}
    answer = designer.post(f"{DATA}edit/", {**typed, "action": "save"})
    page = answer.content.decode()
    assert answer.status_code == 422
    for text in ("99999", 'value="many"', 'value="1,234"', "from 50 to 2000", "can mean 1234 or 1.234"):
        assert text in page
    assert newest(team).number == 1


def test_a_formula_typed_by_hand_gets_a_hint_and_every_wrong_cell_of_the_row_is_told(designer: Client) -> None:
    typed = {"v:pikes.cost": "=A1+B2", "v:pikes.hit_points": "many", "v:pikes.speed": "9", "base": "1"}
    page = designer.post(f"{DATA}edit/", {**typed, "action": "save"}).content.decode()
    for words in (
        "This is a formula, and nothing is calculated here. Type the number it gives, from 10 to 500.",
        "This is not a number. Type one from 1 to 5000 points.",
        "9 is outside what the game allows",
        "3 numbers need a look",
        'value="=A1+B2"',
    ):
        assert words in page


def test_an_empty_value_is_the_games_own(designer: Client, team: Studio) -> None:
    versions.save(team.project, newest(team).simulator, SPEC, {"pikes.cost": 90.0}, user=None)
    designer.post(f"{DATA}edit/", {"v:pikes.cost": "", "base": "2", "action": "save"})
    assert newest(team).patch == {}


def test_a_colleagues_version_in_the_meantime_is_shown_before_saving(designer: Client, team: Studio) -> None:
    versions.save(team.project, newest(team).simulator, SPEC, {"pikes.cost": 90.0}, user=team.owner)
    answer = designer.post(f"{DATA}edit/", {"v:bows.cost": "120", "base": "1", "action": "save"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "saved version 2 in the meantime" in page
    assert 'name="base" value="2"' in page
    assert newest(team).number == 2
    designer.post(f"{DATA}edit/", {"v:bows.cost": "120", "base": "2", "action": "save"})
    assert newest(team).patch == {"bows.cost": 120.0, "pikes.cost": 90.0}


# Importing

HP, SPEED = "attribute:hit_points", "attribute:speed"
GERMAN = (
    "\ufeffHeld;Preis;HP;Tempo;Notiz\r\nFrost Captain;470;422;0,6;- schwächer\r\nGale Lancer;;330;1,05;\r\n".encode()
)


def test_a_sheet_is_matched_once_previewed_and_saved(designer: Client, team: Studio) -> None:
    row = upload(designer, GERMAN)
    page = designer.get(page_of(row)).content.decode()
    assert "What do the columns mean?" in page
    confirm(
        designer, row, column_0="name", column_1="cost", column_2="attribute:hit_points", column_3="attribute:speed"
    )
    preview = designer.get(page_of(row)).content.decode()
    assert "3 changes to version 1" in preview
    assert "decimal comma" in preview
    assert newest(team).number == 1
    save(designer, row, 1)
    version = newest(team)
    assert version.patch == {"frost-captain.cost": 470.0, "frost-captain.speed": 0.6, "gale-lancer.hit_points": 330.0}
    assert (version.note, version.created_by) == ("May", team.designer)


def test_a_matching_is_remembered_for_the_next_sheet_with_that_header(designer: Client, team: Studio) -> None:
    row = upload(designer, GERMAN)
    confirm(designer, row, column_0="name", column_1="cost")
    again = upload(designer, GERMAN.replace(b"470", b"480"))
    assert "1 change to version 1" in designer.get(page_of(again)).content.decode()
    assert SheetMapping.objects.get().columns == {"0": "name", "1": "cost"}


def test_pasted_cells_come_back_for_correction(designer: Client) -> None:
    text = "Name\tCost\nFrost Captian\t450\nPikes\t95\n"
    answer = designer.post(f"{DATA}import/", {"text": text})
    row = SheetImport.objects.get()
    assert answer["Location"] == page_of(row)
    confirm(designer, row, column_0="name", column_1="cost")
    page = designer.get(page_of(row)).content.decode()
    assert "Did you mean Frost Captain?" in page
    assert f"?again={row.pk}" in page
    assert "Frost Captian" in designer.get(f"{DATA}import/?again={row.pk}").content.decode()


def test_a_sheet_with_problems_cannot_be_saved(designer: Client, team: Studio) -> None:
    row = upload(designer, b"Name,Cost\nPikes,95000\n")
    confirm(designer, row, column_0="name", column_1="cost")
    answer = designer.post(page_of(row), {"action": "save", "base": 1})
    assert answer.status_code == 422
    assert "B2" in answer.content.decode()
    assert newest(team).number == 1


def test_a_cell_with_two_readings_stands_among_the_others_that_need_a_look(designer: Client) -> None:
    row = upload(designer, b"Name;HP;Speed\nFrost Captain;1,234;fast\n")
    confirm(designer, row, column_0="name", column_1="attribute:hit_points", column_2="attribute:speed")
    page = designer.get(page_of(row)).content.decode()
    assert "2 cells need a look" in page
    assert "Can mean 1234 or 1.2340. Type it as one of these." in page


def test_a_number_with_two_readings_is_asked_once(designer: Client, team: Studio) -> None:
    row = upload(designer, b"Name;HP\nFrost Captain;1,234\n")
    confirm(designer, row, column_0="name", column_1="attribute:hit_points")
    page = designer.get(page_of(row)).content.decode()
    assert "can be read in two ways" in page
    assert designer.post(page_of(row), {"action": "save", "base": 1}).status_code == 422
    designer.post(page_of(row), {"action": "mark", "mark": ","})
    save(designer, row, 1)
    assert newest(team).patch == {"frost-captain.hit_points": 1.234}


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [
        (b"\x00\x01", "a.csv", "characters that no table has"),
        (b"PK\x03\x04 no zip", "a.xlsx", "cannot be read"),
        (b"one column\nonly\n", "a.csv", "Only one column"),
        (b"x" * (limits.MOST_BYTES + 1), "a.csv", "larger than 5 MB"),
    ],
)
def test_a_bad_file_is_an_error_at_its_field(designer: Client, data: bytes, name: str, words: str) -> None:
    answer = designer.post(f"{DATA}import/", {"file": SimpleUploadedFile(name, data), "text": ""})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not SheetImport.objects.exists()


def test_a_bad_paste_stays_in_its_field(designer: Client) -> None:
    answer = designer.post(f"{DATA}import/", {"text": 'Name\tCost\n"Pikes\t95\n'})
    assert answer.status_code == 422
    assert "never closes" in answer.content.decode()
    assert "&quot;Pikes" in answer.content.decode()


def test_a_wrong_matching_is_an_error_at_its_column(designer: Client) -> None:
    row = upload(designer, b"Name,A,B\nPikes,95,96\n")
    answer = designer.post(
        page_of(row), {"action": "columns", "column-0": "name", "column-1": "cost", "column-2": "cost"}
    )
    assert answer.status_code == 422
    assert "is Cost already" in answer.content.decode()


def test_a_sheet_can_be_read_differently(designer: Client) -> None:
    row = upload(designer, b"Title,of,it\nName;Cost\nPikes;95\n")
    designer.post(page_of(row), {"action": "read", "delimiter": ";", "header": "2"})
    row.refresh_from_db()
    assert (row.delimiter, row.header) == (";", 1)
    assert "Pikes" in designer.get(page_of(row)).content.decode()


def test_a_worksheet_can_be_chosen(designer: Client, team: Studio) -> None:
    book = Workbook()
    first = book.active
    assert first is not None
    first.append(["Read", "me"])
    first.append(["no", "data"])
    second = book.create_sheet("Numbers")
    second.append(["Name", "Cost"])
    second.append(["Pikes", 99])
    row = upload(designer, saved(book), "balance.xlsx")
    designer.post(page_of(row), {"action": "read", "worksheet": "Numbers"})
    confirm(designer, row, column_0="name", column_1="cost")
    save(designer, row, 1)
    assert newest(team).patch == {"pikes.cost": 99.0}


def test_a_saved_import_cannot_be_saved_twice(designer: Client, team: Studio) -> None:
    row = upload(designer, b"Name,Cost\nPikes,99\n")
    confirm(designer, row, column_0="name", column_1="cost")
    save(designer, row, 1)
    answer = designer.post(page_of(row), {"action": "save", "base": 2})
    assert answer["Location"].endswith("/versions/2/")
    assert newest(team).number == 2


# Versions


def test_two_versions_are_compared_and_an_earlier_one_restored(designer: Client, team: Studio) -> None:
    game = newest(team).simulator
    versions.save(team.project, game, SPEC, {"pikes.cost": 90.0}, user=None)
    versions.save(team.project, game, SPEC, {"pikes.cost": 80.0, "bows.cost": 110.0}, user=None)
    page = designer.get(f"{DATA}versions/3/").content.decode()
    assert "2 changes since version 2" in page
    assert "2 changes since version 1" in designer.get(f"{DATA}versions/3/?against=1").content.decode()
    designer.post(f"{DATA}versions/2/restore/", {"restore": 2})
    version = newest(team)
    assert (version.number, version.patch, version.note) == (4, {"pikes.cost": 90.0}, "Version 2 restored")
    assert version.content_hash == team.project.versions.get(number=2).content_hash


def test_changes_move_to_a_newer_game_and_those_that_do_not_fit_are_named(designer: Client, team: Studio) -> None:
    import msgspec

    from engine.lineups.schema import spec_to_json

    versions.save(team.project, newest(team).simulator, SPEC, {"pikes.cost": 90.0, "bows.cost": 110.0}, user=None)
    newer = msgspec.structs.replace(
        SPEC,
        version="1.1",
        pieces=(
            *[
                msgspec.structs.replace(p, cost=500) if p.id == "marrow-duke" else p
                for p in SPEC.pieces
                if p.id != "bows"
            ],
            Piece("slings", "Slings", "soldier", 70),
        ),
    )
    assert "As far as the site knows, this data fits" in designer.get(f"{DATA}adopt/").content.decode()
    Simulator.objects.update(spec=spec_to_json(newer), spec_hash=keep(newer), version="1.1")
    page = designer.get(DATA).content.decode()
    assert "The game itself has moved on" in page
    assert f'href="{DATA}adopt/"' in page
    preview = designer.get(f"{DATA}adopt/").content.decode()
    for words in ("1 number would differ from version 2", "Marrow Duke", "490", "500", "Slings", "Bows", "bows.cost"):
        assert words in preview
    assert newest(team).number == 2
    assert designer.post(f"{DATA}adopt/", {"action": "save", "base": "1"}).status_code == 409
    assert designer.post(f"{DATA}adopt/", {"action": "save"}).status_code == 409  # it does not say what was looked at
    assert newest(team).number == 2
    page = designer.post(f"{DATA}adopt/", {"action": "save", "base": "2"}, follow=True).content.decode()
    assert "bows.cost" in page
    assert newest(team).patch == {"pikes.cost": 90.0}
    assert newest(team).spec_hash == keep(newer)
    assert "Bows" in designer.get(f"{DATA}?version=2&table=soldier").content.decode()


def test_data_moves_once_and_not_at_all_while_its_game_is_the_same(designer: Client, team: Studio) -> None:
    import msgspec

    from engine.lineups.schema import spec_to_json

    first = newest(team).number
    assert designer.post(f"{DATA}adopt/", {"action": "save", "base": str(first)}).status_code == 409
    assert newest(team).number == first
    newer = msgspec.structs.replace(SPEC, version="1.1")
    Simulator.objects.update(spec=spec_to_json(newer), spec_hash=keep(newer), version="1.1")
    assert designer.post(f"{DATA}adopt/", {"action": "save", "base": str(first)}).status_code == 302
    again = designer.post(f"{DATA}adopt/", {"action": "save", "base": str(first)})
    assert again.status_code == 409
    assert "As far as the site knows, this data fits" in again.content.decode()
    assert newest(team).number == first + 1


def test_whoever_moves_data_that_somebody_else_changed_is_told(designer: Client, team: Studio) -> None:
    import msgspec

    from engine.lineups.schema import spec_to_json

    newer = msgspec.structs.replace(SPEC, version="1.1")
    Simulator.objects.update(spec=spec_to_json(newer), spec_hash=keep(newer), version="1.1")
    looked_at = newest(team)
    versions.save(team.project, looked_at.simulator, SPEC, {"pikes.cost": 90.0}, user=team.owner)
    answer = designer.post(f"{DATA}adopt/", {"action": "save", "base": str(looked_at.number)})
    assert answer.status_code == 409
    assert f"saved version {looked_at.number + 1} in the meantime" in answer.content.decode()
    assert newest(team).number == looked_at.number + 1


def test_a_simulator_whose_game_changed_unseen_can_be_asked_again(
    designer: Client, team: Studio, redis_server: str
) -> None:
    assert designer.post(f"{DATA}adopt/", {"action": "ask"})["Location"] == f"{DATA}adopt/"
    assert newest(team).simulator.test == Simulator.Test.ASKED
    page = designer.get(f"{DATA}adopt/").content.decode()
    assert "The simulator is asked" in page
    assert 'hx-trigger="every 2s"' in page


# Taking away


def export(client: Client, query: str) -> bytes:
    answer = client.get(f"{DATA}export/?{query}")
    assert answer.status_code == 200
    assert "attachment" in answer["Content-Disposition"]
    return b"".join(answer) if answer.streaming else answer.content


def test_the_designers_own_csv_comes_back_with_only_the_changed_cells_changed(designer: Client, team: Studio) -> None:
    row = upload(designer, GERMAN.replace(b"- schw", b"schw"))
    confirm(
        designer, row, column_0="name", column_1="cost", column_2="attribute:hit_points", column_3="attribute:speed"
    )
    save(designer, row, 1)
    same = export(designer, f"sheet={row.pk}")
    assert same == GERMAN.replace(b"- schw", b"schw")
    patch = {**newest(team).patch, "frost-captain.speed": 0.55, "gale-lancer.cost": 415.5}
    versions.save(team.project, newest(team).simulator, SPEC, patch, user=None)
    changed = export(designer, f"sheet={row.pk}")
    expected = same.replace(b"0,6;", b"0,55;").replace(b"Gale Lancer;;", b"Gale Lancer;415,5;")
    assert changed == expected


def test_the_designers_own_workbook_comes_back_with_only_the_changed_cells_changed(
    designer: Client, team: Studio
) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for cells in (["Hero", "Cost", "Rally bonus", "Twice"], ["Frost Captain", 450, 0.3, "=B2*2"]):
        sheet.append(cells)
    sheet["C2"].number_format = "0%"
    row = upload(designer, saved(book), "balance.xlsx")
    confirm(designer, row, column_0="name", column_1="cost", column_2="attribute:rally")
    assert "Every number in this sheet is the same" in designer.get(page_of(row)).content.decode()
    SheetImport.objects.update(version=newest(team))
    versions.save(team.project, newest(team).simulator, SPEC, {"frost-captain.rally": 29.0}, user=None)
    table = load_workbook(io.BytesIO(export(designer, f"sheet={row.pk}")))["Sheet"]
    assert [c.value for c in table[2]] == ["Frost Captain", 450, 0.29, "=B2*2"]


def test_every_worksheet_that_was_imported_is_read_once_on_the_way_out(
    designer: Client, team: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = upload(designer, workbook([["Name", "Cost"], ["Pikes", 99]]), "a.xlsx")
    confirm(designer, row, column_0="name", column_1="cost")
    save(designer, row, 1)
    for _ in range(20):
        SheetImport.objects.create(project=team.project, name="b.xlsx", digest=row.digest, version=newest(team))
    read: list[int] = []
    real = exports.read_import

    def counted(found: SheetImport) -> Any:
        read.append(found.pk)
        return real(found)

    monkeypatch.setattr(exports, "read_import", counted)
    export(designer, f"sheet={row.pk}")
    assert read == [row.pk]


def test_formula_like_cells_are_escaped_on_the_way_out(designer: Client, team: Studio) -> None:
    row = upload(designer, b"Name,Cost,Note\nPikes,99,=cmd|' /C calc'!A0\nBows,100,-20\n")
    confirm(designer, row, column_0="name", column_1="cost")
    save(designer, row, 1)
    assert b"Pikes,99,'=cmd|' /C calc'!A0\n" in export(designer, f"sheet={row.pk}")
    assert b"Bows,100,-20\n" in export(designer, f"sheet={row.pk}")


def test_a_table_and_everything_can_be_taken_away_and_imported_again(designer: Client, team: Studio) -> None:
    patch = {"frost-captain.cost": 470.0, "battle.luck": 35.0}
    versions.save(team.project, newest(team).simulator, SPEC, patch, user=None)
    table = export(designer, "table=hero").decode("utf-8-sig")
    assert table.splitlines()[:2] == [
        "Id,Name,Cost,Hit points (points),Speed (paces a tick),Rally bonus (%)",
        "frost-captain,Frost Captain,470,422,0.57,30",
    ]
    book = load_workbook(io.BytesIO(export(designer, "format=xlsx")))
    assert book.sheetnames == ["Heroes", "Soldiers", "Settings", "About"]
    assert book["Settings"]["C3"].value == 35
    designer.post(f"{DATA}versions/1/restore/", {"restore": 1})
    row = upload(designer, export(designer, "version=2&table=hero"))
    keys = ["id", "name", "cost", "attribute:hit_points", "attribute:speed", "attribute:rally"]
    assert row.columns == {str(i): key for i, key in enumerate(keys)}, "the site knows the header it wrote"
    save(designer, row, 3)
    assert newest(team).patch == {"frost-captain.cost": 470.0}


def test_a_sheet_of_another_project_cannot_be_taken_away(designer: Client, team: Studio) -> None:
    other = studio("other")
    with_data(other.project)
    theirs = signed_in(other.designer)
    answer = theirs.post("/p/other/data/import/", {"text": "Name\tCost\nPikes\t99\n"})
    row = SheetImport.objects.get()
    assert answer.status_code == 302
    assert designer.get(page_of(row)).status_code == 404
    SheetImport.objects.update(version=other.project.versions.get())
    assert designer.get(f"{DATA}export/?sheet={row.pk}").status_code == 404
    assert designer.get(reverse("games:version", args=["other", 1])).status_code == 404


def test_a_workbook_of_numbers_is_imported(designer: Client, team: Studio) -> None:
    row = upload(designer, workbook([["Unit", "Cost"], ["Pikes", 99]]), "a.xlsx")
    confirm(designer, row, column_0="name", column_1="cost")
    save(designer, row, 1)
    assert newest(team).patch == {"pikes.cost": 99.0}


def test_an_import_before_a_game_is_chosen_leads_to_the_choice() -> None:
    team, client = studio("nothing-yet"), Client()
    client.force_login(team.designer)
    answer = client.get(reverse("games:import", args=["nothing-yet"]), follow=True)
    assert answer.redirect_chain == [("/p/nothing-yet/data/", 302)]
    assert "Choose the game first" in answer.content.decode()


def test_the_site_s_own_workbook_comes_back_worksheet_by_worksheet(designer: Client, team: Studio) -> None:
    book = load_workbook(io.BytesIO(export(designer, "format=xlsx")))
    titles = [title for title in book.sheetnames if title != "About"]
    changed = {}
    for title in titles[:2]:
        cell = book[title].cell(2, cost_of(book[title]))
        cell.value = changed[title] = cell.value + 1
    row = upload(designer, saved(book), "everything.xlsx")
    page = designer.get(page_of(row)).content.decode()
    assert f"Only “{titles[0]}” is read here" in page
    for number, title in enumerate(titles[:2], 1):
        assert 'name="column-0"' not in page, "the site knows the header it wrote"
        answer = designer.post(page_of(row), {"action": "save", "base": str(number)}, follow=True)
        page = answer.content.decode()
        row = SheetImport.objects.order_by("-pk")[0]
        if title == titles[0]:
            assert f"Next in everything.xlsx: the worksheet “{titles[1]}”" in page
            assert row.worksheet == titles[1]
    assert len(newest(team).patch) == 2
    taken = SheetImport.objects.filter(version__isnull=False).order_by("-pk")[0]
    back = load_workbook(io.BytesIO(export(designer, f"sheet={taken.pk}")))
    assert {title: back[title].cell(2, cost_of(back[title])).value for title in changed} == changed


def cost_of(sheet: Any) -> int:
    return next(cell.column for cell in sheet[1] if cell.value in {"Cost", "Value"})


def test_the_sample_of_a_changed_number_is_shown_only_where_there_is_one_and_is_no_number(
    designer: Client, team: Studio
) -> None:
    assert "changed-key" not in designer.get(DATA).content.decode()
    versions.save(team.project, newest(team).simulator, SPEC, {"pikes.cost": 90.0}, user=None)
    page = designer.get(DATA).content.decode()
    sample = page.partition('class="changed-key">')[2].partition("<")[0]
    assert "1 changed number" in page
    assert sample
    assert not any(sign.isdigit() for sign in sample)
