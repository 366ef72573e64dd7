"""Gates: the verdict follows from the findings, its error is bounded, and no interruption changes it."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from defusedxml import ElementTree
from hypothesis import given
from hypothesis import strategies as st

from engine import confidence
from engine.arrays import Bundle, unpack
from engine.catalog import STUDIES
from engine.config import LineupConfig
from engine.config.gate import GateConfig
from engine.config.patterns import Pattern
from engine.errors import ConfigError
from engine.events import AnyEvent, Failed, Finished, Paused, Progressed, Started, Stopped
from engine.games.herobattle.spec import game_spec
from engine.gate import junit
from engine.gate.lineups import JudgedLineups, lineups_of
from engine.gate.report import EXIT_CODES, HEADS, Gate, GateFinding, decoded, encoded, judged, to_csv
from engine.gate.screened import UNFINISHED as gate_unfinished
from engine.gate.screened import Screened, ScreenLimits, rows_of, screened
from engine.gate.verdict import OFFSET_ERROR, _needed, confirmed
from engine.lineups.encoding import LineupSpace
from engine.lineups.legality import obstacles
from engine.lineups.rules import compile_rules
from engine.rng import generator
from engine.store import FolderStore
from engine.studies import load
from engine.study.gate import Words
from engine.verdicts import Goals, Sample
from engine.worth import analysis as worth_analysis
from engine.worth import changed_prices, expectations, proof
from engine.worth import forecast as forecasts
from engine.worth.verdicts import RARE, UNFINISHED
from tests.engine.broken_rules import violations
from tests.engine.sample_simulators import SPEC

GAME = {"simulator": "python:tests.engine.sample_simulators:TugOfWar"}
WINS = {"name": "wins", "title": "Wins", "formula": "strongest(win) - weakest(win)", "threshold": 0.5}
TEAMS = [
    {"slots": {"hero": "hero-5", "soldier": "soldier-2", "soldiers": 5, "charm-1": "charm-3"}},
    {"slots": {"hero": "hero-0", "soldier": "soldier-0", "soldiers": 1}},
]
SMALL = {"algorithm": {"population": 6}, "ticks": 2, "fresh": 4, "replicates": 2}


def study(**more: Any) -> dict[str, Any]:
    """A gate that takes a moment: two teams that may cost anything, and one exploit that everybody sees."""
    return {
        "kind": "gate", "game": GAME, "pool": {"kind": "local"}, "replicates": 100,
        "lineups": {"teams": 2, "cost_tolerance": None, "baselines": {"kind": "pasted", "teams": TEAMS}},
        "objectives": {"objectives": [WINS]}, "exploits": [{"teams": TEAMS}], "screen": {"battles": 2000},
        "search": SMALL, **more,
    }  # fmt: skip


def gate(**more: Any) -> GateConfig:
    found = load(study(**more), new=True)
    assert isinstance(found, GateConfig)
    return found


def run(config: GateConfig, store: FolderStore, resume: str = "", control: Any = lambda: "") -> list[AnyEvent]:
    return list(STUDIES["gate"].load()(config, store, resume, control))


def report(store: FolderStore, event: Any) -> Any:
    return decoded(unpack(store.get(event.artifacts["table"])).meta)


def commanded(command: str, looks: int) -> Any:
    """Says nothing at so many looks, then the command."""
    quiet = iter(range(looks))
    return lambda: "" if next(quiet, None) is not None else command


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "store")


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer pairings for what forecasts expect, and fewer steps of learning."""
    monkeypatch.setattr(forecasts, "STEPS", (20, 40))
    monkeypatch.setattr(expectations, "EXPECTED", 20_000)
    monkeypatch.setattr(worth_analysis, "EXPECTED", (20_000, 2_000))
    for name in ("CLOSELY", "ROUGHLY"):
        monkeypatch.setattr(worth_analysis, name, 200)
    monkeypatch.setattr(changed_prices, "TURNS", 200)


WHOLE: list[Any] = []


@pytest.fixture
def whole(_quickly: None, tmp_path: Path) -> Any:
    """What an uninterrupted gate says, played once for all tests, in a process of its own."""
    if not WHOLE:
        store = FolderStore(tmp_path / "whole")
        WHOLE.append(report(store, run(gate(), store)[-1]))
    return WHOLE[0]


@pytest.fixture(autouse=True)
def _here(whole: Any, played_here: None) -> None:
    """After ``whole``, games are played in this process."""


def problems(**more: Any) -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        gate(**more)
    return {problem.place: problem.message for problem in caught.value.problems}


def test_exploits_of_a_search_for_single_teams_are_played_again_by_a_gate_for_single_teams(tmp_path: Path) -> None:
    single = {"lineups": {**study()["lineups"], "teams": 1}, "screen": None, "search": None}
    goals = {"objectives": [{**WINS, "formula": "strongest(win_vs_baselines)", "threshold": 0.6}]}
    config = gate(**single, objectives=goals, exploits=[{"teams": TEAMS[:1]}, {"teams": TEAMS[1:]}])
    store = FolderStore(tmp_path)
    end = run(config, store)[-1]
    assert isinstance(end, Finished)
    assert [row.verdict for row in report(store, end).rows] == ["over", "under"]


def test_lineups_that_begin_with_the_same_pieces_are_called_by_what_they_differ_in() -> None:
    spec, lineups = game_spec(), np.full((2, 2, len(game_spec().slots)), -1, np.int32)
    hero, charm = ([s.id for s in spec.slots].index(each) for each in ("hero", "equipment_1"))
    lineups[:, :, hero] = spec.piece_index()["frost-captain"]
    for lineup, held in zip(lineups, ("warhorn", "coil-bow"), strict=True):
        lineup[1, charm] = spec.piece_index()[held]
    meta = {"median_baseline": {"value": 0.0, "error": 0.0, "samples": 0}, "baselines": []}
    none = {"cost": np.empty((0, 2)), "samples": np.empty(0, np.int32)}
    found = lineups_of(
        "search", Bundle(meta, {"genome": lineups, "anchor": np.zeros((2, 2), np.int32), **none}), spec, (), 2, 0.04
    )
    assert found.names == ["Frost Captain · Frost Captain (Warhorn)", "Frost Captain · Frost Captain (Coil Bow)"]


def test_what_cannot_be_asked_is_said_at_its_place() -> None:
    why = problems(exploits=[{"teams": TEAMS[:1]}])["exploits.0.teams"]
    assert "a lineup is 2 teams here, not 1 team" in why
    assert "gate of their own, with lineups.teams 1 and objectives for these" in why
    assert "screen.leaves_open" in problems(screen={"matters": 5, "leaves_open": 4})
    assert "search" in problems(exploits=[], screen=None, search=None)
    assert "search.algorithm.kind" in problems(search={"algorithm": {"kind": "map-elites"}})
    lineless = {"objectives": [{**WINS, "threshold": None}]}
    assert "a gate needs a line" in problems(objectives=lineless)["objectives.objectives.0.threshold"]
    assert gate(objectives=lineless, exploits=[], search=None).parts == ("screen",)
    assert "search.ticks" in problems(search={"ticks": [1, 5]})


def test_all_parts_run_and_the_verdict_is_kept_with_what_it_rests_on(store: FolderStore) -> None:
    events = run(gate(), store)
    started, end = events[0], events[-1]
    assert isinstance(started, Started)
    assert isinstance(end, Finished)
    found = report(store, end)
    assert (found.verdict, end.summary) == ("over", {"verdict": "over", "sentence": found.sentence})
    assert found.sentence.startswith("Over the line: 1 of 1 earlier exploit is still over the line")
    assert {row.part for row in found.rows} == {"replay", "screen", "search"}
    assert found.unfinished == ()
    ticks = [event.tick for event in events if isinstance(event, Progressed)]
    assert ticks == sorted(set(ticks))
    battles = [event.counters.battles for event in events]
    assert battles == sorted(battles)
    assert battles[-1] == found.battles
    assert Words().planned(started, study()).startswith("1 exploits, about ")


@pytest.mark.parametrize(("command", "looks"), [("pause", 2), ("stop", 6), ("pause", 14), ("stop", 60)])
def test_wherever_it_is_interrupted_it_ends_with_the_same_verdict(
    store: FolderStore, whole: Any, command: str, looks: int
) -> None:
    other = store
    *_, cut = run(gate(), other, control=commanded(command, looks))
    assert isinstance(cut, Paused | Stopped | Finished)
    assert looks > 2 or not isinstance(cut, Finished)
    if isinstance(cut, Stopped) and "table" in cut.artifacts:
        assert report(other, cut).verdict in ("over", "open")
        assert report(other, cut).unfinished
    over = isinstance(cut, Finished)  # before the command came
    end = cut if over else run(gate(), other, cut.artifacts.get("checkpoint", ""))[-1]
    assert isinstance(end, Finished)
    assert report(other, end) == whole
    assert end.counters.battles == whole.battles


def test_an_exploit_whose_battles_the_game_does_not_finish_leaves_the_gate_open_and_ends_nothing(
    store: FolderStore,
) -> None:
    game = {"simulator": "python:tests.engine.tugs_of_war:HeroZeroFailing"}
    lineups = {"teams": 2, "cost_tolerance": None, "baselines": {"kind": "pasted", "teams": [TEAMS[0]]}}
    found = report(store, run(gate(game=game, lineups=lineups, screen=None, search=None), store)[-1])
    assert [(row.verdict, row.words) for row in found.rows] == [("open", "its battles could not be played to an end")]
    assert (found.exit_code, found.sentence) == (
        4,
        "Cannot tell: 1 of 1 earlier exploit could not be played to an end.",
    )


def test_an_exploit_that_the_rules_forbid_by_now_is_no_fault_of_the_build(store: FolderStore) -> None:
    end = run(gate(lineups={**study()["lineups"], "banned": ["hero-5"]}, screen=None, search=None), store)[-1]
    found = report(store, end)
    assert (found.verdict, [row.verdict for row in found.rows]) == ("under", ["barred"])
    assert "Hero 5 may not be fielded" in found.rows[0].words
    assert "1 earlier exploit may not be fielded any more" in found.sentence


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"exploits": [{"teams": [TEAMS[0], {"slots": {"hero": "nobody"}}]}]}, "exploits.0.teams.1.slots.hero"),
        ({"game": {**GAME, "patch": {"nothing": 1.0}}}, "game.patch.nothing"),
        ({"objectives": {"objectives": [{**WINS, "threshold": 3.0}]}}, "objectives.objectives.0.threshold"),
    ],
)
def test_what_only_the_game_can_say_is_said_before_anything_is_played(
    store: FolderStore, change: dict[str, Any], place: str
) -> None:
    (end,) = run(gate(**change), store)
    assert isinstance(end, Failed)
    assert place in end.message


def at_the_line(rng: np.random.Generator, many: int) -> JudgedLineups:
    """Lineups whose true value is exactly at their line, of skewed noise: whatever is confirmed is false."""
    samples: list[Sample | None] = []
    for _ in range(many):
        values = np.minimum(rng.exponential(1.0, (64, 1)), 4.0) + (2.0 - (1 - np.exp(-4.0)))
        mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / 8
        ends = np.array([0.0]), np.array([6.0])
        flags = np.array([False]), np.array([True])
        samples.append(Sample(mean, error, 64, values, *ends, *flags, np.array([1]), 0.01))
    rows, goals = np.zeros((many, 2, 5), np.int32), Goals([1.0], [2.0], None, None)
    return JudgedLineups("replay", goals, samples, rows, [""] * many, 6, many)


def even(rng: np.random.Generator, many: int) -> Screened:
    """Finalists whose effect is exactly what matters."""
    logs = []
    for _ in range(many):
        outcomes = np.where(rng.random(400) < 0.53, 0.5, -0.5)
        sides = (confidence.log_evidence(sign * outcomes, -1.0, 1.0, 0.03) for sign in (1, -1))
        logs.append(float(np.logaddexp(*sides)) - np.log(2))
    return Screened(Bundle({}, {}), list(range(many)), logs)


def test_of_gates_on_a_build_that_is_at_its_line_in_everything_few_say_over() -> None:
    rng, config, gates, over = generator(20, "gates"), gate(), 400, 0
    for _ in range(gates):
        searched = at_the_line(rng, 12)._replace(part="search")
        told = confirmed(config, [at_the_line(rng, 8), even(rng, 8), searched])
        over += any(map(any, told))
    assert over / gates <= 0.05


def test_a_screen_that_finds_nothing_worth_proving_says_so_and_takes_nothing_from_the_other_parts() -> None:
    """As in a game of which all battles are drawn, or where the one piece that was proved is intended."""
    nothing = Screened(Bundle({}, {}), [], [])
    strong = at_the_line(generator(3, "gates"), 6)._replace(goals=Goals([1.0], [1.0], None, None))
    assert confirmed(gate(), [nothing]) == [[]]
    assert confirmed(gate(), [strong, nothing]) == [*confirmed(gate(), [strong]), []]


def test_what_the_screen_spends_on_comparisons_is_what_the_gate_reserves_for_it() -> None:
    assert OFFSET_ERROR == proof.OFFSET_ERROR


def test_a_part_that_ends_later_takes_nothing_back() -> None:
    rng, config = generator(3, "gates"), gate()
    first = at_the_line(rng, 6)
    strong = first._replace(goals=Goals([1.0], [1.0], None, None))
    alone = confirmed(config, [strong])[0]
    assert any(alone)
    together = confirmed(config, [strong, even(rng, 8), first._replace(part="search")])[0]
    assert [a for a, b in zip(alone, together, strict=True) if a and not b] == []


ROWS = st.builds(
    GateFinding, st.sampled_from(["replay", "screen", "search"]), st.text(max_size=20),
    st.sampled_from(["over", "under", "open", "weak", "meant", "barred"]), st.text(max_size=40), st.floats(-9, 9),
    st.floats(-9, 0), st.floats(0, 9), st.just(3.0), st.sampled_from(["", "×", "points"]), st.integers(0, 10**6),
    st.one_of(st.none(), st.integers(0, 10**6)), st.tuples(st.text("ab-", min_size=1, max_size=4)),
)  # fmt: skip
GATE = Gate("Build 7", "A game", 1000, {"screen": 3, "search": 9}, ())


@given(st.lists(ROWS, max_size=6), st.sampled_from([(), ("search",)]))
def test_the_verdict_follows_from_the_rows_alone(rows: list[GateFinding], unfinished: tuple[str, ...]) -> None:
    found = judged(rows, GATE._replace(unfinished=unfinished))
    kinds = {row.verdict for row in rows}
    expected = "over" if "over" in kinds else "open" if "open" in kinds or unfinished else "under"
    assert found.verdict == expected
    assert found.exit_code == EXIT_CODES[expected]
    assert found.sentence.endswith(".")
    assert decoded(encoded(found)) == found
    assert judged([row for row in rows if row.verdict != "over"], GATE).verdict != "over"


@given(st.lists(ROWS, max_size=6), st.text(max_size=20))
def test_a_build_server_can_read_any_report(rows: list[GateFinding], name: str) -> None:
    found = judged(rows, GATE._replace(name=name))
    root = ElementTree.fromstring(junit.to_junit(found, 12.5, "2026-11-24T12:00:00"), forbid_dtd=True)
    (suite,) = root
    cases = suite.findall("testcase")
    for key, tag in (("tests", ""), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(suite.get(key)) == (len(cases) if not tag else sum(case.find(tag) is not None for case in cases))
    assert [child.tag for child in suite] == [
        "properties", *["testcase"] * len(cases), "system-out", "system-err",
    ]  # fmt: skip
    assert sum(row.part != "search" for row in rows) + any(row.part == "search" for row in rows) == len(cases)
    assert (found.verdict == "over") == (int(suite.get("failures")) > 0)
    for case in cases:
        assert len(case) <= 1
        assert set(case.attrib) == {"classname", "name", "time"}
    for skipped in suite.iter("skipped"):
        assert set(skipped.attrib) == {"message"}
    for failure in suite.iter("failure"):
        assert set(failure.attrib) == {"message", "type"}


def test_what_would_be_markup_or_no_xml_at_all_is_written_so_that_it_reads_as_it_was() -> None:
    nasty = 'a <b> & "c" \x00\ud800 ]]> \n<!DOCTYPE x>'
    row = GateFinding("replay", nasty, "over", nasty)
    document = junit.to_junit(judged([row], GATE._replace(name=nasty)))
    case = ElementTree.fromstring(document, forbid_dtd=True).find("testsuite/testcase")
    clean = nasty.replace("\x00", "\ufffd").replace("\ud800", "\ufffd")
    assert case.get("name") == clean
    assert case.find("failure").get("message") == clean
    assert case.find("failure").text == clean
    broken = ElementTree.fromstring(junit.broken("g", nasty), forbid_dtd=True)
    assert broken.find("testsuite").get("errors") == "1"


def test_the_csv_begins_with_machine_names_and_no_cell_is_a_formula() -> None:
    rows = [GateFinding("screen", "=1+1", "over", "-x", 7.0, 4.0, 9.0, 3.0, "points", 10, 0, ("a", "b"))]
    lines = list(csv.reader(io.StringIO(to_csv(judged(rows, GATE)).decode())))
    assert tuple(lines[0]) == HEADS
    assert all(head.isidentifier() for head in lines[0])
    assert lines[1][:3] == ["gate", "Build 7", "over"]
    assert lines[2][:4] == ["screen", "'=1+1", "over", "7.0"]
    assert lines[2][HEADS.index("pieces")] == "a b"


def table(*rows: tuple[float, float, float, float]) -> Bundle:
    """A screen's table of single pieces: worth, low, high and log evidence of each, in chances to win."""
    pieces = [{"id": f"p{i}", "name": f"Piece {i}", "category": "hero", "cost": 1.0} for i in range(len(rows))]
    columns = np.array(rows, float).T
    names = ("worth", "low", "high", "evidence")
    place = np.arange(len(rows))
    return Bundle(
        {"pieces": pieces},
        {"piece": np.stack([place, np.full(len(rows), -1)], axis=1), "least": np.ones(len(rows), int),
         "battles": np.full(len(rows), 500), **dict(zip(names, columns, strict=True))},
    )  # fmt: skip


def test_the_screen_tells_what_stands_out_what_may_and_how_much_the_rest_leaves_open() -> None:
    none, limits = -np.inf, ScreenLimits(3.0, 8.0, 10_000, 7.0)
    bundle = table(
        (0.06, 0.04, 0.09, 9.0), (0.05, 0.01, 0.08, 1.0), (0.01, -0.02, 0.04, none), (0.0, -0.05, 0.02, none)
    )
    found = Screened(bundle, [0, 1], [9.0, 1.0])
    rows, tested = rows_of(found, [True, False], limits)
    assert [(row.name, row.verdict) for row in rows] == [
        ("Piece 0", "over"), ("Piece 1", "open"), ("All other pieces", "under"),
    ]  # fmt: skip
    assert tested == 4
    assert rows[1].missing
    left = "nothing stands out; effects of up to 5.0 points stay open (8 are allowed to), the largest of Piece 3"
    assert left in rows[2].words
    (rest,), _ = rows_of(Screened(table((0.01, -0.09, 0.11, none), (0, np.nan, np.nan, none)), [], []), [], limits)
    assert (rest.verdict, rest.name, rest.high) == ("open", "All pieces", pytest.approx(11.0))
    assert rest.missing
    assert "1 piece could not be tested" in rest.words
    assert "too rare" not in rest.words, "its battles may as well have failed"
    (far,), _ = rows_of(Screened(table((0.079, -0.01, 0.17, none)), [], []), [], limits)
    assert far.missing is None, "nobody would play three million battles after ten thousand"
    assert far.words.endswith("; 20 times as many battles of the screen may not narrow that to 8")
    told = judged([GateFinding("screen", name, "open", "may be too good") for name in "ABCDE"], GATE).sentence
    assert (
        told == "Cannot tell: A: may be too good; B: may be too good; C: may be too good; 2 more of the screen "
        "cannot be told either."
    )
    (nothing,), tested = rows_of(Screened(table((0, np.nan, np.nan, none)), [], []), [], limits)
    assert (nothing.verdict, tested) == ("open", 0)


@pytest.mark.parametrize("others", [(), (30.0, 20.0)])
def test_what_a_suspect_is_said_to_need_is_what_the_list_of_the_gate_takes(others: tuple[float, ...]) -> None:
    config, near = gate(), 1e-6
    screen = Screened(table((0.0, -0.1, 0.1, 0.0)), [*range(9)], [*others, *[-math.inf] * (9 - len(others))])
    needed = _needed(config, screen, len(others))

    def told(log: float) -> bool:
        return confirmed(config, [screen._replace(evidence=[*screen.evidence[:-1], log])])[0][-1]

    assert (told(needed - near), told(needed + near)) == (False, True)
    limits, bundle = ScreenLimits(3.0, 8.0, 10_000, needed), table((0.06, 0.02, 0.1, 3.0))
    more = [
        rows_of(Screened(bundle, [0], [3.0]), [False], each)[0][0].missing
        for each in (limits, limits._replace(needed=needed + 2))
    ]
    assert None not in more
    assert more[0] < more[1]  # type: ignore[operator]


def test_battles_that_the_game_does_not_finish_leave_a_build_open_when_they_could_hide_too_much() -> None:
    bundle, limits = table((0.0, -0.05, 0.02, -np.inf)), ScreenLimits(3.0, 8.0, 10_000, 7.0)
    battles = int(bundle.arrays["battles"][0])

    def verdicts(unfinished: int) -> list[str]:
        meta = {**bundle.meta, "asked": 10_000, "unfinished": unfinished}
        return [row.verdict for row in rows_of(Screened(bundle._replace(meta=meta), [], []), [], limits)[0]]

    assert verdicts(0) == verdicts(battles // 50) == ["under"], "5 points and 2 are fewer than 8"
    assert verdicts(battles // 20) == ["under", "open"], "5 points and 5 are more"


def test_a_piece_of_which_the_game_finishes_hardly_any_battle_leaves_a_build_open_unless_it_is_intended() -> None:
    bundle, limits = table((0.0, -0.05, 0.02, -np.inf), (np.nan,) * 3 + (-np.inf,)), ScreenLimits(3.0, 8.0, 10_000, 7.0)
    meta = {**bundle.meta, "asked": 10_000, "unfinished": 40}

    def rows(why: int, intended: tuple[Pattern, ...] = ()) -> list[GateFinding]:
        arrays = {**bundle.arrays, "hidden": np.zeros(2), "untested": np.array([0, why], np.uint8)}
        return rows_of(screened(Bundle(meta, arrays), intended), [], limits)[0]

    rest, battles = rows(UNFINISHED)
    assert (rest.verdict, battles.verdict, battles.name) == ("under", "open", "Battles")
    assert "did not finish 40 of 10,000" in battles.words
    assert battles.words.endswith("of those with Piece 1 it finished hardly any")
    assert [row.verdict for row in rows(RARE)] == ["under"]
    assert "open" not in [row.verdict for row in rows(UNFINISHED, (Pattern(pieces=("p1",)),))]
    assert gate_unfinished == UNFINISHED


def test_a_range_that_battles_which_the_game_did_not_finish_keep_wide_is_narrowed_by_no_number_of_battles() -> None:
    """They are a part of the range (``hidden``), so they are not added once more."""
    limits = ScreenLimits(3.0, 8.0, 10_000, 7.0)
    bundle = table((0.06, -0.02, 0.14, 3.0), (0.0, -0.07, 0.07, -np.inf))
    meta = {**bundle.meta, "asked": 10_000, "unfinished": 1_000}

    def rows(hidden: float, finalists: list[int]) -> list[GateFinding]:
        hides = bundle._replace(meta=meta, arrays={**bundle.arrays, "hidden": np.full(2, hidden)})
        return rows_of(Screened(hides, finalists, [0.5] * len(finalists)), [False] * len(finalists), limits)[0]

    suspect, rest = rows(0.06, [0])
    assert (suspect.missing, rest.verdict) == (None, "under")
    assert rows(0.005, [0])[0].missing
    (everything, battles) = rows(0.06, [])
    assert (everything.missing, everything.verdict, battles.verdict) == (None, "open", "open")


def test_a_build_that_is_over_says_how_many_battles_the_game_did_not_finish() -> None:
    """They may be all that a piece lost, and then it stands out for that alone."""
    bundle, limits = (
        table((0.482, 0.429, 0.523, 90.0), (0.0, -0.05, 0.02, -np.inf)),
        ScreenLimits(3.0, 8.0, 10_000, 7.0),
    )

    def sentence(unfinished: int) -> str:
        meta = {**bundle.meta, "asked": 10_000, "unfinished": unfinished}
        rows, tested = rows_of(Screened(bundle._replace(meta=meta), [0], [90.0]), [True], limits)
        return judged(rows, GATE._replace(looked={"screen": tested})).sentence

    assert "where the game did not finish 1,922 of 10,000, which are left out" in sentence(1_922)
    assert sentence(0) == "Over the line: 1 suspect stood out in the screen, Piece 0 (+48.2 points)."


def test_what_is_intended_is_told_in_the_screen_and_neither_counted_nor_left_open() -> None:
    bundle = table((0.06, 0.04, 0.09, 9.0), (0.01, -0.02, 0.04, -np.inf))
    found = screened(bundle, (Pattern(pieces=("p0",)),))
    assert (found.finalists, found.evidence) == ([], [])
    rows, tested = rows_of(found, [], ScreenLimits(3.0, 5.0, 10_000, 7.0))
    assert [(row.name, row.verdict) for row in rows] == [("All other pieces", "under"), ("Piece 0", "meant")]
    assert tested == 1
    whole = judged(rows, GATE._replace(looked={"screen": tested}))
    assert whole.verdict == "under"
    assert "1 piece, which does not shift the chance to win by more than 4.0 points" in whole.sentence
    assert screened(bundle, (Pattern(pieces=("p0",), least=2),)).finalists == [0], "another amount is not meant"


def test_an_exploit_that_something_intended_explains_is_played_and_not_counted(store: FolderStore) -> None:
    meant = gate(intended=[{"pieces": ["hero-5"]}], screen=None, search=None)
    found = report(store, run(meant, store)[-1])
    assert (found.verdict, [row.verdict for row in found.rows]) == ("under", ["meant"])
    assert "1 earlier exploit, 1 of them meant to be so." in found.sentence
    other = gate(intended=[{"pieces": ["hero-5"], "side": "weakest"}], screen=None, search=None)
    assert report(store, run(other, store)[-1]).verdict == "over", "its weakest team does not hold it"
    both = gate(intended=[{"pieces": ["hero-5"]}])
    assert both.screening(1).intended == both.searching(1).intended == both.intended


@given(st.integers(0, 10**6))
def test_obstacles_are_what_breaks_the_rules(seed: int) -> None:
    rules = compile_rules(SPEC, LineupConfig(teams=2, required=("hero-1",), banned=("charm-3",), cost_tolerance=0.3))
    lineups = LineupSpace(rules).sample(generator(seed, "legal"), 4)
    rng = np.random.default_rng(seed)
    assert not any(obstacles(lineup, rules, SPEC) for lineup in lineups)
    team, slot = rng.integers(0, 2, 4), rng.integers(0, 5, 4)
    high = np.array([6, 9, 6, 13, 13])
    low = np.array([0, 6, 1, 9, 9])
    lineups[np.arange(4), team, slot] = rng.integers(low[slot], high[slot])
    for lineup, broken in zip(lineups, violations(lineups, rules), strict=True):
        assert bool(obstacles(lineup, rules, SPEC)) == bool(broken)
