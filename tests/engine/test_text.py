"""Characters that nobody sees are found wherever a name or a title comes from, and names are compared as people do."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.catalog import STUDIES
from engine.config import ObjectiveConfig, TrainConfig, parse
from engine.config.evaluate import EvaluateConfig
from engine.errors import ConfigError
from engine.studies import load
from engine.text import figures, folded, invisible, is_seen, printable, written
from tests.engine.conftest import Engine

TWO = {"a": {"kind": "scripted", "player": "random"}, "b": {"kind": "scripted", "player": "random"}}


@pytest.mark.parametrize("unseen", ["\u200b", "\u202e", "\u2066", "\ufeff", "\U000e0041"])
def test_what_has_no_width_or_turns_text_is_called_by_its_number(unseen: str) -> None:
    assert invisible(f"Pong{unseen}") == f"U+{ord(unseen):04X}"


@pytest.mark.parametrize(
    "text",
    ["Pong", "Ärger 2", "می‌خواهم", "\U0001f469\u200d\U0001f4bb", "بازی", "משחק\u200f", "abc\u200e", "\u061cلعبة"],
)
def test_what_people_write_in_any_language_holds_nothing_invisible(text: str) -> None:
    assert invisible(text) == ""
    assert is_seen(text)


@pytest.mark.parametrize("text", ["", "   ", "\u200d", "\u3164", "\u2800", "\u0301"])
def test_blanks_joiners_and_empty_letters_are_nothing_that_one_can_see(text: str) -> None:
    assert not is_seen(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ärger", "äRGER"), ("Bar", "ＢＡＲ"), ("Foo", "Foo\u200d"), ("A  b", "a b"), ("Straße", "STRASSE")],
)
def test_names_that_look_alike_are_one_name(one: str, other: str) -> None:
    assert folded(one) == folded(other)
    assert folded("Foo") != folded("Fob")


@pytest.mark.parametrize(
    ("name", "words"), [("   ", "something that one can see"), ("a\u200b", "U+200B"), ("\u202egnop", "U+202E")]
)
def test_a_study_and_a_policy_are_not_called_what_nobody_sees(name: str, words: str) -> None:
    with pytest.raises(ConfigError, match=r"name: .*" + words.replace("+", r"\+")):
        parse(TrainConfig, {"name": name, "game": {"name": "pong"}}, new=True)
    policies = {**TWO, "a": {**TWO["a"], "title": name}}
    with pytest.raises(ConfigError, match=r"policies\.a\.title: .*" + words.replace("+", r"\+")):
        parse(EvaluateConfig, {"game": {"name": "pong"}, "policies": policies}, new=True)


@pytest.mark.parametrize("kind", sorted(STUDIES))
@pytest.mark.parametrize("name", ["   ", "\u3164", "a\u200b"])
def test_no_kind_of_study_that_is_written_now_has_a_name_that_nobody_sees(kind: str, name: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load({"kind": kind, "name": name}, new=True)
    assert "name" in [problem.place for problem in raised.value.problems]


@pytest.mark.parametrize("name", ["   ", "a\u200b"])
def test_a_study_that_was_kept_before_names_had_to_be_seen_is_read_as_it_was(name: str) -> None:
    game = {"simulator": "builtin:herobattle"}
    aim = {"name": "a", "title": name, "formula": "mean(strength)"}
    teams = [{"name": name, "slots": {"hero": "x"}}]
    lineups = {"baselines": {"kind": "pasted", "teams": teams}}
    found: Any = load(
        {"kind": "search", "name": name, "game": game, "objectives": {"objectives": [aim]}, "lineups": lineups}
    )
    assert (found.name, found.objectives.objectives[0].title, found.lineups.baselines.teams[0].name) == (name,) * 3
    assert load(found.model_dump(mode="json")) == found


@pytest.mark.parametrize(
    ("value", "words"),
    [(1e6, "1,000,000"), (2**31, "2,147,483,648"), (2**63, "9,223,372,036,854,775,808"), (0.05, "0.05"), (-2.5, "−2.5"),
     (1e-8, "0.00000001"), (1e15, "1,000,000,000,000,000"), (0.0, "0"), (0, "0"),
     (0.1 + 0.2, "0.3"), (1e300, "1e+300"), (12, "12")],
)  # fmt: skip
def test_a_number_has_all_its_digits_and_the_minus_sign_that_people_write(value: float, words: str) -> None:
    assert figures(value) == words


def test_a_number_in_a_sentence_has_a_minus_sign_and_no_hyphen_whatever_its_format() -> None:
    assert [written(-1200.5, form) for form in ("+.1f", ",.10g", ".1e")] == ["−1200.5", "−1,200.5", "−1.2e+03"]
    assert written(4.0, "+.1f") == "+4.0"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": 2**63}, "seed: must be less than 9,223,372,036,854,775,808"),
        ({"steps": 10**20}, "steps: must be"),
        ({"name": "y" * 500}, "name: must have 120 characters at most"),
    ],
)
def test_bounds_are_told_in_full(change: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse(TrainConfig, {"game": {"name": "pong"}, **change})
    assert words in str(raised.value)
    assert "e+" not in str(raised.value)


def test_a_job_that_was_kept_with_a_blank_name_is_run_and_a_file_with_one_is_refused(
    tmp_path: Path, engine: Engine
) -> None:
    small = {"kind": "sample", "count": 10, "replicates": 2, "pool": {"kind": "local"}}
    study = {**small, "name": "\u3164", "game": {"simulator": "builtin:herobattle"}}
    (tmp_path / "study.json").write_text(json.dumps(study))
    assert engine("run", "--job-dir", ".").returncode == 0
    assert '"kind":"finished"' in (tmp_path / "events.jsonl").read_text()
    written = engine("run", "study.json", "--job-dir", "other")
    assert (written.returncode, "something that one can see" in written.stderr) == (2, True)


@pytest.mark.parametrize("end", ["low", "high", "threshold"])
def test_an_objective_takes_no_number_that_formulas_cannot_take_but_what_was_kept_with_one_is_read(end: str) -> None:
    typed = {"name": "gap", "title": "Gap", "formula": "max(win)", end: 1e308 if end != "low" else -1e308}
    with pytest.raises(ConfigError, match="must be between −1,000,000,000,000,000 and"):
        parse(ObjectiveConfig, typed, new=True)
    assert abs(getattr(parse(ObjectiveConfig, typed), end)) == 1e308


RUDE = "\x1b[2J\x1b]0;owned\x07ok\u202e\u200b\n\x9b31mred\ud800"


def test_what_a_program_says_holds_nothing_that_a_terminal_obeys_or_that_turns_text() -> None:
    assert printable(RUDE, 100) == "ok\ufffd\ufffd \ufffd31mred\ufffd"
    assert printable(RUDE, 100, lines=True) == "ok\ufffd\ufffd\n\ufffd31mred\ufffd"
    assert printable("\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\", 100) == "link"


@given(st.text(), st.integers(30, 200), st.booleans(), st.booleans())
def test_it_is_bounded_printable_and_the_same_when_it_is_said_again(
    text: str, most: int, lines: bool, last: bool
) -> None:
    found = printable(text, most, lines=lines, last=last)
    assert len(found) <= most + 2
    assert "\n" not in found or lines
    assert not any(unicodedata.category(each) == "Cc" and each not in "\n\t" for each in found)
    assert printable(found, most + 2, lines=lines, last=last) == found


@pytest.mark.parametrize(("last", "kept"), [(False, "secret0 secret1 …"), (True, "… secret998 secret999")])
def test_of_a_long_text_only_whole_words_stay(last: bool, kept: str) -> None:
    text = " ".join(f"secret{i}" for i in range(1000))
    assert printable(text, 20 if not last else 22, last=last) == kept
    assert printable("x" * 5000, 20, last=last) == "(a word of 5,000 characters)"
