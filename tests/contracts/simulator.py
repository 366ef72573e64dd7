"""The contract of a lineup simulator as tests: inherit ``SimulatorContract`` and give it a simulator."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from engine.simulators import checks
from engine.simulators.conformance import run
from engine.simulators.contract import GameSpec, LineupSimulator, content_hash
from engine.simulators.contract_checks import CHECKS, Case

SLOW = ("speed",)


class SimulatorContract:
    """Every promise of ``LineupSimulator``. Subclasses override the fixture ``simulator`` (class scope)."""

    battles = 24

    @pytest.fixture(scope="class")
    @classmethod
    def simulator(cls) -> Iterator[LineupSimulator]:
        raise NotImplementedError("give the contract a simulator")

    @pytest.fixture(scope="class")
    @classmethod
    def case(cls, simulator: LineupSimulator) -> Case:
        return Case(simulator, simulator.describe(), cls.battles, seed=7)

    def test_the_description_has_no_contradictions(self, simulator: LineupSimulator) -> None:
        assert checks.spec_problems(simulator.describe()) == []

    def test_the_description_survives_the_wire(self, simulator: LineupSimulator) -> None:
        spec = simulator.describe()
        again = msgspec.json.decode(msgspec.json.encode(spec), type=GameSpec)
        assert content_hash(again) == content_hash(spec)

    @pytest.mark.parametrize("check", [name for name in CHECKS if name not in SLOW])
    def test_a_promise_is_kept(self, case: Case, check: str) -> None:
        findings = list(run(check, case))
        assert [f.message for f in findings if f.level == "error"] == []
        assert findings or check == "fidelity"
