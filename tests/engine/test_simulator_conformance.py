"""The conformance check: honest simulators pass, and each kind of lie is found and named."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from engine.errors import SimulatorError
from engine.simulators import checks, protocol
from engine.simulators.client import ExternalSimulator
from engine.simulators.conformance import check, check_simulator, main_check
from engine.simulators.connection import Limits
from engine.simulators.contract import Distinct, GameSpec, LineupSimulator, Rules
from engine.simulators.sampler import random_teams
from tests.contracts.simulator import SimulatorContract
from tests.engine import bad_simulators
from tests.engine.sample_simulators import SPEC, TugOfWar

PAGE = Path(__file__).parents[2] / "engine" / "README.md"
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
    assert any(line.startswith("ok      ending") for line in lines)


@pytest.mark.parametrize(
    ("simulator", "said"),
    [
        (bad_simulators.Moving, "same seeds played again: 16 of 16 battles differ; strength left of battle 0"),
        (bad_simulators.Lopsided, "same seeds one at a time: 4 of 4 battles differ; ticks of battle 0"),
        (bad_simulators.Stubborn, "a patch changes nothing"),
        (bad_simulators.Liar, "slot 'charm-1' takes a piece of category 'charm', and there is none"),
        (bad_simulators.Liar, "metric 'strength': low 1.0 must be below high 1.0"),
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
    findings = list(check(command, battles=8, limits=Limits(request_s=0.1, cancel_s=0.1)))
    assert any("did not answer BATTLES" in f.message for f in findings)
    assert all(f.level != "error" for f in findings if f.check == "handshake")


def test_a_program_that_ends_when_asked_for_a_battle_has_refused_nothing() -> None:
    command = f"command:{sys.executable} -m tests.engine.bad_simulators leave"
    findings = list(check(command, battles=8))
    refusals = [f for f in findings if f.check == "bad input"]
    assert len(refusals) >= 2
    assert all(f.level == "error" and "ends the program" in f.message for f in refusals)
    assert [(f.level, f.message) for f in findings if f.check == "ending"] == [
        ("warning", "not tried: the program had ended before BYE")
    ]


def test_the_module_runs_as_a_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "engine.simulators.conformance", HONEST, "--battles", "8"],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


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


def test_the_simulator_printed_in_the_protocols_page_keeps_the_contract(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    section = page.split("## The simulator protocol, on one page")[1].split("\n## ")[0]
    program = tmp_path / "coins.py"
    program.write_text(section.split("```python\n")[1].split("```")[0], encoding="utf-8")
    findings = list(check(f"command:{sys.executable} {program}"))
    assert [f.message for f in findings if f.level == "error"] == []
    assert any("same results, bit for bit" in f.message for f in findings)


def test_the_protocols_page_names_every_message_and_limit() -> None:
    page = PAGE.read_text(encoding="utf-8")
    section = page.split("## The simulator protocol, on one page")[1]
    for message in protocol.AnyMessage.__args__:
        assert f"`{message.__struct_config__.tag}`" in section
    assert f"at most {protocol.MAX_HEADER_BYTES >> 20} MiB" in section
    assert f"at most {protocol.MAX_FRAME_BYTES >> 20} MiB" in section
    assert all(name in section for name in protocol.DTYPES)
    limits = Limits()
    for said in (
        f"within {limits.handshake_s:g} s",
        f"{limits.request_s:g} s by default",
        f"{limits.silence_s:g} s of",
    ):
        assert said in section
