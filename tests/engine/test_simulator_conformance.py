"""The conformance check: honest simulators pass, and each kind of lie is found and named."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from engine.arrays import unpack
from engine.config import SampleConfig
from engine.errors import SimulatorError
from engine.events import Finished
from engine.simulators import checks, contract, protocol
from engine.simulators.check_command import main_check
from engine.simulators.client import ExternalSimulator
from engine.simulators.conformance import check, check_simulator
from engine.simulators.contract import Distinct, GameSpec, LineupSimulator, Rules
from engine.simulators.conversation import SimulatorLimits
from engine.simulators.line import PathLine, Transport
from engine.simulators.port_line import PortLine
from engine.simulators.process import KEPT_VARIABLES
from engine.simulators.random_teams import random_teams
from engine.store import FolderStore
from engine.studies import load
from engine.study.lineups import sample
from tests.contracts.simulator import SimulatorContract
from tests.engine import bad_simulators
from tests.engine.sample_simulators import SPEC, TugOfWar, team_rows

PAGE = Path(__file__).parents[2] / "engine" / "PROTOCOL.md"
HONEST = "python:tests.engine.sample_simulators:TugOfWar"


class TestAServedSimulator(SimulatorContract):
    @pytest.fixture(scope="class")
    @classmethod
    def simulator(cls) -> Iterator[LineupSimulator]:
        with ExternalSimulator.from_entry_point(HONEST.removeprefix("python:")) as simulator:
            yield simulator


class TestASimulatorInThisProcess(SimulatorContract):
    battles = 8

    @pytest.fixture(scope="class")
    @classmethod
    def simulator(cls) -> LineupSimulator:
        return Validated()


class Validated(TugOfWar):
    """In this process nobody checks rows for it, so it does so itself."""

    def battles(self, left, right, seeds, patch, fidelity="full"):  # type: ignore[no-untyped-def]
        problems = checks.row_problems(SPEC, left) + checks.patch_problems(SPEC, patch)
        if problems:
            raise SimulatorError(problems[0], permanent=True)
        return super().battles(left, right, seeds, patch, fidelity)


def test_the_check_of_an_honest_simulator_prints_no_error_and_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main_check([HONEST, "--battles", "16"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "The simulator keeps its contract."
    assert not [line for line in lines if line.startswith("error")]
    assert any("battles/s" in line for line in lines)
    assert any(line.split()[1:2] == ["ending"] for line in lines), "on a busy machine the end may come too late"


@pytest.mark.parametrize(
    ("simulator", "said"),
    [
        (bad_simulators.Moving, "same seeds played again: 16 of 16 battles differ; strength left of battle 0"),
        (bad_simulators.Lopsided, "same seeds one at a time: 4 of 4 battles differ; ticks of battle 0"),
        (bad_simulators.Stubborn, "a patch changes nothing"),
        (bad_simulators.Liar, "slot 'charm-1' takes a piece of category 'charm', and there is none"),
        (bad_simulators.Liar, "metric 'strength': low 1 must be below high 1"),
        (TugOfWar, "an unknown piece raises IndexError"),
    ],
)
def test_a_lie_is_found_and_named(simulator: type[TugOfWar], said: str) -> None:
    errors = [f.message for f in check_simulator(simulator(), battles=16) if f.level == "error"]
    assert any(said in message for message in errors), errors


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("nonsense", "a simulator is named like"),
        ("command:no-such-game --fast", "no-such-game is not a program"),
        (f"command:{sys.executable} -m tests.engine.bad_simulators wrong_key", "did not repeat the key"),
        (f"command:{sys.executable} -m tests.engine.bad_simulators leave", "exit code 3"),
        (f"command:{sys.executable} -m tests.engine.bad_simulators nan", "is nan"),
    ],
)
def test_a_broken_program_is_reported_and_the_exit_code_is_1(
    reference: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main_check([reference, "--deadline", "5"]) == 1
    out = capsys.readouterr().out
    assert said in out
    assert out.splitlines()[-1] == "The simulator breaks its contract."


def test_a_program_that_hangs_does_not_hang_the_check() -> None:
    command = f"command:{sys.executable} -m tests.engine.bad_simulators hang"
    findings = list(check(command, battles=8, limits=SimulatorLimits(request_s=0.1, cancel_s=0.1)))
    assert any("did not answer BATTLES" in f.message for f in findings)
    assert all(f.level != "error" for f in findings if f.check == "handshake")


def test_a_program_that_hangs_is_waited_for_once_and_the_wait_is_told_while_it_lasts() -> None:
    told: list[tuple[str, float]] = []
    command = f"command:{sys.executable} -m tests.engine.bad_simulators hang"
    limits = SimulatorLimits(request_s=2.0, cancel_s=0.1)
    findings = list(check(command, battles=8, limits=limits, watch=lambda what, left: told.append((what, left))))
    assert [f.check for f in findings if f.level == "error"] == ["results"]
    assert [f.message for f in findings if f.check == "not tried"] == [
        "wins, empty batch, empty slots, same seed, other seeds, patch, new pieces, bad input, fidelity, replay, "
        "speed, cancel: the conversation broke before"
    ]
    awaited = [(what, left) for what, left in told if what not in ("HELLO", "")]  # a slow machine starts it slowly
    assert [what for what, _ in awaited] == ["the answer to BATTLES of 8 battles"]
    assert 0 < awaited[0][1] < limits.request_s


def test_answers_that_are_sent_twice_are_found() -> None:
    command = f"command:{sys.executable} -m tests.engine.bad_simulators echo"
    errors = [f.message for f in check(command, battles=16) if f.level == "error"]
    assert len(errors) == 1
    assert "answered request 1 twice: RESULTS with id 1 came again where the answer to BATTLES of 8" in errors[0]


def test_an_answer_that_is_sent_twice_is_told_of_the_request_that_it_answers() -> None:
    command = f"command:{sys.executable} -m tests.engine.bad_simulators echo"
    errors = [f for f in check(command, battles=8) if f.level == "error"]
    assert [(f.check, "request 1 twice: RESULTS with id 1 came again; every" in f.message) for f in errors] == [
        ("results", True)
    ]


def test_every_fault_of_a_description_is_a_finding_of_its_own() -> None:
    command = f"command:{sys.executable} -m tests.engine.bad_simulators half_a_spec"
    found = [(f.check, f.level, f.message) for f in check(command, battles=8)]
    assert found == [
        ("description", "error", 'spec.pieces[1].cost is "11"; it has to be a number'),
        ("description", "error", "piece 'hero-0' is described 2 times; each needs a name of its own"),
        ("description", "error", "spec.strength is said to be side metric 'might', which is not described"),
    ]


def test_nothing_is_claimed_of_what_a_program_does_not_offer() -> None:
    command = f"command:{sys.executable} -m tests.engine.bad_simulators plain"
    found = {f.check: (f.level, f.message) for f in check(command, battles=8)}
    assert found["cancel"] == (
        "ok",
        "the program does not offer cancel: a search that is stopped ends it, and starts it again later",
    )
    assert found["replay"] == ("ok", "the program does not offer replays, so none was asked for")
    level, said = found["handshake"]
    assert level == "warning"
    assert said.endswith("cancle means nothing here: cancel, heartbeat, replay do")


def test_a_program_that_cannot_break_off_what_it_plays_is_not_said_to_stop_at_cancel() -> None:
    reference = "python:tests.engine.sample_simulators:UnstoppableTugOfWar"
    found = {f.check: (f.level, f.message) for f in check(reference, battles=8, limits=SimulatorLimits(cancel_s=60.0))}
    level, said = found["cancel"]
    assert level == "ok"
    assert said.startswith("at CANCEL the program played what it was asked for to its end")


def test_a_program_that_ends_when_asked_for_a_battle_has_refused_nothing() -> None:
    command = f"command:{sys.executable} -m tests.engine.bad_simulators leave"
    findings = list(check(command, battles=8))
    refusals = [f for f in findings if f.check == "bad input"]
    assert len(refusals) >= 2
    assert all(f.level == "error" and "ends the program" in f.message for f in refusals)
    assert [(f.level, f.message) for f in findings if f.check == "ending"] == [
        ("warning", "not tried: the program had ended before BYE")
    ]


def _cost(spec: GameSpec, row: np.ndarray) -> float:
    counter = {s.of: i for i, s in enumerate(spec.slots) if s.kind == "count"}
    return sum(
        spec.pieces[row[i]].cost * (row[counter[s.id]] if s.id in counter else 1)
        for i, s in enumerate(spec.slots)
        if s.kind == "piece" and row[i] >= 0
    )


def _ruled(rules: Rules) -> GameSpec:
    return msgspec.structs.replace(SPEC, rules=rules)


def test_random_teams_keep_budget_units_bans_and_requirements() -> None:
    rules = Rules(
        distinct=(Distinct("hero"), Distinct("charm", "team")), required=("charm-3",), banned=("hero-0", "soldier-2"),
        budget_low=24.0, budget_high=27.0, units_low=2, units_high=3,
    )  # fmt: skip
    spec = _ruled(rules)
    rows = random_teams(spec, 500, np.random.default_rng(3))
    index = spec.piece_index()
    assert all(24.0 <= _cost(spec, row) <= 27.0 for row in rows)
    assert ((rows[:, 2] >= 2) & (rows[:, 2] <= 3)).all()
    assert (rows[:, 0] != index["hero-0"]).all()
    assert (rows[:, 1] != index["soldier-2"]).all()
    assert (rows[:, 3:] == index["charm-3"]).any(axis=1).all()
    assert ((rows[:, 3] != rows[:, 4]) | (rows[:, 3] == -1)).all()
    assert len(np.unique(rows, axis=0)) > 20


def test_rules_that_leave_no_team_are_told() -> None:
    with pytest.raises(SimulatorError, match="no team was found that keeps the rules"):
        random_teams(_ruled(Rules(budget_low=500.0)), 1, np.random.default_rng(0))
    with pytest.raises(SimulatorError, match="has no free slot"):
        random_teams(_ruled(Rules(required=("hero-1", "hero-2"))), 1, np.random.default_rng(0))


@pytest.fixture
def printed(tmp_path: Path) -> str:
    """The command of the simulator that is printed in the protocol's page."""
    page = PAGE.read_text(encoding="utf-8")
    program = tmp_path / "coins.py"
    program.write_text(page.split("```python\n")[1].split("```")[0], encoding="utf-8")
    return f"{sys.executable} {program}"


@pytest.mark.parametrize("kind", ["command", "command+tcp"])
def test_the_simulator_printed_in_the_protocols_page_keeps_the_contract(printed: str, kind: str) -> None:
    findings = list(check(f"{kind}:{printed}"))
    assert [f.message for f in findings if f.level == "error"] == []
    assert any("same results, bit for bit" in f.message for f in findings)
    assert [f.level for f in findings if f.check == "ending"] == ["ok"]


def test_the_printed_simulator_s_losers_end_near_nothing_so_that_lineups_differ(printed: str, tmp_path: Path) -> None:
    """Where losers keep what they had, every lineup has a resource advantage of 1."""
    config = load(
        {"kind": "sample", "name": "coins", "game": {"simulator": f"command:{printed}"}, "count": 175,
         "replicates": 16, "pool": {"kind": "local"}}
    )  # fmt: skip
    assert isinstance(config, SampleConfig)
    store = FolderStore(tmp_path)
    *_, last = sample(config, store)
    assert isinstance(last, Finished)
    found = unpack(store.get(last.artifacts["sample"]))
    advantage = found.arrays["objective"][:, list(found.meta["objectives"]).index("advantage")]
    assert advantage.max() > 1.5 * np.median(advantage)
    assert len(np.unique(advantage.round(3))) > 20


@pytest.mark.parametrize("transport", ["ipc", "tcp"])
def test_the_printed_simulator_ends_by_itself_when_its_connection_does(
    printed: str, transport: Transport, tmp_path: Path
) -> None:
    line = PortLine() if transport == "tcp" else PathLine(tmp_path)
    given = {"EQUIPOISE_ENDPOINT": line.endpoint, "EQUIPOISE_KEY": "key"}
    program = subprocess.Popen(printed.split(), env=os.environ | given)
    try:
        hello = line.receive(60_000)
        assert hello is not None
        line.admit(hello)
        line.send(protocol.Hello())
        assert line.receive(60_000) is not None
    finally:
        line.close()
    assert program.wait(60) == 0


OBJECTS = {
    "`spec`": GameSpec, "a category": contract.Category, "an attribute": contract.Attribute, "a piece": contract.Piece,
    "a slot": contract.Slot, "a metric": contract.Metric, "`rules`": Rules, "one of `distinct`": Distinct,
    "a parameter": contract.Parameter, "a fidelity": contract.Fidelity,
}  # fmt: skip


def told_keys(row: str) -> dict[str, object]:
    """The keys in a row of the page's table: with the JSON value behind =, or REQUIRED."""
    text = re.sub(r"\([^)]*\)", "", row)
    keys = [(found[1], text[found.end() :]) for found in re.finditer(r"`(\w+)`", text)]
    read = json.JSONDecoder().raw_decode
    return {key: read(rest[1:])[0] if rest.startswith("=") else REQUIRED for key, rest in keys}


REQUIRED = object()


@pytest.mark.parametrize("name", OBJECTS)
def test_the_protocols_page_says_which_keys_of_a_description_are_required_and_what_the_others_are(name: str) -> None:
    section = PAGE.read_text(encoding="utf-8").split("**The game** (`spec`)")[1]
    row = next(line for line in section.splitlines() if line.startswith(f"| {name} | "))
    told = told_keys(row.removeprefix(f"| {name} | "))
    fields = {field.name: field for field in msgspec.structs.fields(OBJECTS[name])}
    assert told.keys() == fields.keys()
    for key, field in fields.items():
        assert (told[key] is REQUIRED) == field.required, key
        if not field.required:
            empty = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
            assert msgspec.convert(told[key], field.type) == empty, key


def test_the_protocols_page_names_every_variable_that_a_program_sees() -> None:
    page = PAGE.read_text(encoding="utf-8")
    environment = page.split("**Environment.**")[1].split("\n\n")[0]
    mine = ("EQUIPOISE_ENDPOINT", "EQUIPOISE_KEY", "TMPDIR", "PYTHONPATH", "PYTHONUNBUFFERED")
    assert set(re.findall(r"`([A-Z_]+)`", environment)) == {*KEPT_VARIABLES, *mine}


def test_the_protocols_page_names_every_message_and_limit() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for message in protocol.AnyMessage.__args__:
        assert f"`{message.__struct_config__.tag}`" in page
    assert f"at most {protocol.MAX_HEADER_BYTES >> 20} MiB" in page
    assert f"at most {protocol.MAX_FRAME_BYTES >> 20} MiB" in page
    assert all(name in page for name in protocol.DTYPES)
    limits = SimulatorLimits()
    for said in (
        f"within {limits.handshake_s:g} s",
        f"{limits.request_s:g} s by default",
        f"{limits.silence_s:g} s of",
    ):
        assert said in page


@pytest.mark.parametrize("program", ["rude_beginning", "rude_answer"])
@pytest.mark.parametrize("how", [[], ["--json"]])
def test_nothing_that_a_program_says_is_obeyed_by_a_terminal(
    program: str, how: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    reference = f"command:{sys.executable} -m tests.engine.bad_simulators {program}"
    assert main_check([*how, "--battles=8", "--deadline=1", reference]) == 1
    lines = capsys.readouterr().out.split("\n")
    shown = "\n".join(json.loads(line).get("message", "") if how and line else line for line in lines)
    assert "no\ufffddice" in shown
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e]", shown)


def test_a_win_lies_between_0_and_1_whatever_range_a_game_declares_for_it() -> None:
    for low, high in ((None, None), (0.0, 100.0)):
        win = contract.Metric("win", "Won", "", "higher", low, high)
        spec = msgspec.structs.replace(SPEC, side_metrics=(*SPEC.side_metrics[:2], win))
        played = TugOfWar().battles(team_rows(4, 1), team_rows(4, 2), np.arange(4, dtype=np.uint64), {})
        assert checks.result_problems(spec, 4, played) == []
        played.side[2, 1, 2] = 100.0
        said = "win of battle 2, right side is 100; it must be a number from 0 to 1"
        assert checks.result_problems(spec, 4, played) == [said]
        played.status[2] = 1
        assert checks.result_problems(spec, 4, played) == [], "what was not finished says nothing"


@pytest.mark.parametrize(("both", "said"), [(1.0, "1"), (0.0, "0")])
def test_a_battle_that_both_sides_won_or_both_lost_is_refused(both: float, said: str) -> None:
    played = TugOfWar().battles(team_rows(4, 1), team_rows(4, 2), np.arange(4, dtype=np.uint64), {})
    played.status[0], played.side[0, :, 2] = 1, 9.0
    played.side[2, :, 2] = both
    about = f"win of battle 2 is {said} for the left side and {said} for the right side"
    assert checks.result_problems(SPEC, 4, played) == [f"{about}; it is 1 and 0, 0 and 1, or 0.5 and 0.5"]
    played.side[2, :, 2] = 0.5
    assert checks.result_problems(SPEC, 4, played) == [], "a draw is none of either"
