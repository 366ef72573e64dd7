"""A build's changed numbers: what a file says, and everything that is wrong with it at once, at its cell."""

from __future__ import annotations

import json
from time import process_time

import pytest

from engine.errors import ConfigError
from engine.games.herobattle.spec import game_spec
from engine.gate.numbers import MOST_BYTES, MOST_NUMBERS, read_numbers
from engine.lineups.schema import merged_patch
from tests.engine.sample_simulators import SPEC as TUG
from tests.engine.sample_simulators import RecruitingTugOfWar

SPEC = game_spec()
HORN, DUKE = "warhorn.cost", "marrow-duke.cost"


def read(text: str) -> dict[str, float]:
    return read_numbers(text.encode(), SPEC)


def wrong(text: str | bytes) -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        read_numbers(text if isinstance(text, bytes) else text.encode(), SPEC)
    return {problem.place: problem.message for problem in caught.value.problems}


@pytest.mark.parametrize(
    "text",
    [
        f"path,value\n{HORN},120\n{DUKE},6.4e2\n",
        f"\ufeffValue;Path;Why\r\n120;{HORN};dear\r\n640;{DUKE};\r\n;marrow-duke.hit_points;\r\n",
        f"path\tvalue\n\n{HORN}\t120.0\n{DUKE}\t640\n",
        json.dumps({HORN: 120, "marrow-duke": {"cost": 640}}),
        "Id,Name,Cost\nwarhorn,Warhorn,120\nmarrow-duke,Marrow Duke,640\n",
        "id,cost,text\nwarhorn,120,\nmarrow-duke,640,\n",
    ],
)
def test_a_table_of_paths_json_and_a_table_of_pieces_say_the_same(text: str) -> None:
    assert read(text) == {HORN: 120.0, DUKE: 640.0}


def test_attributes_are_known_by_id_by_title_and_with_their_unit() -> None:
    hero = SPEC.category("hero").attributes[0]
    for head in (hero.id, hero.title, f"{hero.title} ({hero.unit})"):
        assert read(f"id,{head}\nmarrow-duke,{hero.low:g}\n") == {f"marrow-duke.{hero.id}": hero.low}


def test_everything_that_is_wrong_is_said_at_once_at_its_cell() -> None:
    found = wrong(f'path,value\nwarhorn.cots,1\n{HORN},"1,5"\n{DUKE},nan\n,7\n{DUKE},5\nfrost-captain.cost,1e9\n')
    assert "did you mean warhorn.cost" in found["data.B2"]
    assert "decimal point" in found["data.B3"]
    assert "is no number" in found["data.B4"]
    assert "names no number" in found["data.A5"]
    assert "is outside" in found["data.B7"]
    twice = wrong(f"path,value\n{DUKE},500\n{DUKE},510\n")
    assert twice == {"data.B3": f"{DUKE} stands in B2 already"}
    table = wrong("id,cost,range,mystery\nwarhorm,1,,\nmarrow-duke,x,,3\n")
    assert "did you mean warhorn" in table["data.A2"]
    assert "is no number" in table["data.B3"]
    assert "has no number “mystery”" in table["data.D3"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing in it"),
        ("{}", "nothing in it"),
        ("path,value\n", "nothing in it"),
        ('{"a":' * 100_000, "too many tables inside each other"),
        ('{"a": ' + "9" * 5_000 + "}", "a number of thousands of digits"),
        (json.dumps(dict.fromkeys(map(str, range(MOST_NUMBERS + 1)), 1)), "more than 100,000 numbers"),
        ("name,cost\nWarhorn,5\n", "first row must name its columns"),
        ('{"warhorn.cost": ', "not JSON"),
        (b"\xff\xfe\x00x", "no text in UTF-8"),
        (b" " * (MOST_BYTES + 1), "MB is the most"),
        ('path,value\n"warhorn.cost,5\n', "no table of cells"),
    ],
)
def test_a_file_that_cannot_be_read_says_so(text: str | bytes, said: str) -> None:
    assert said in wrong(text)["data"]


@pytest.mark.parametrize("value", ["true", '"5"', "null", "[1]", "1e999", "NaN"])
def test_what_is_no_number_in_json_is_said_at_its_path(value: str) -> None:
    assert "must be a number" in wrong(f'{{"warhorn.cost": {value}}}')["data.warhorn.cost"]


def test_one_number_said_twice_in_json_is_refused() -> None:
    assert "twice" in wrong('{"warhorn.cost": 100, "warhorn.cost": 110}')["data.warhorn.cost"]
    assert "twice" in wrong('{"warhorn.cost": 120, "warhorn": {"cost": 121}}')["data.warhorn.cost"]


def test_a_new_piece_is_taken_where_the_game_takes_new_ones() -> None:
    game = RecruitingTugOfWar().describe()
    assert read_numbers(b"id,cost,power\nhero/new-one,12,40\n", game) == {
        "hero/new-one.cost": 12.0, "hero/new-one.power": 40.0,
    }  # fmt: skip
    with pytest.raises(ConfigError, match="no piece"):
        read_numbers(b"id,cost\nhero/new-one,12\n", TUG)


def test_numbers_lie_on_top_of_a_patch_and_what_is_the_game_s_own_again_leaves_it() -> None:
    own = next(piece.cost for piece in SPEC.pieces if piece.id == "warhorn")
    assert merged_patch(SPEC, {HORN: 1.0, DUKE: 600.0}, {HORN: own}) == {DUKE: 600.0}


def test_of_a_large_file_of_unknown_numbers_only_the_first_ten_get_a_hint_and_it_is_read_at_once() -> None:
    many = {f"{HORN}{number}": 1 for number in range(20_000)}
    tables = "\n".join(("id,cost", *(f"warhorn{number},1" for number in range(20_000))))
    before = process_time()
    for text in (json.dumps(many), "path,value\n" + "\n".join(f"{path},1" for path in many), tables):
        said = list(wrong(text).values())
        assert len(said) == 20_000
        assert ["did you mean" in each for each in said[:11]] == [True] * 10 + [False]
    assert process_time() - before < 20  # seconds; with a hint each it would take many minutes


def test_what_is_repeated_of_a_file_can_be_seen_and_turns_nothing() -> None:
    (place,) = wrong('{"\\u202egnp.exe\\u001b[31mX\\u0000": 1}')
    assert place == "data.�gnp.exeX�"


def test_an_integer_of_four_hundred_digits_is_no_number_of_a_game() -> None:
    assert "must be a number" in wrong(f'{{"{HORN}": {"9" * 400}}}')[f"data.{HORN}"]
