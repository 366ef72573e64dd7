"""The engine's side of ``equipoise-sim/1`` against real processes, honest and otherwise."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import Cancelled, SimulatorError
from engine.simulators import conversation, protocol
from engine.simulators.client import ExternalSimulator
from engine.simulators.contract import Battles
from engine.simulators.conversation import SimulatorLimits
from engine.simulators.line import PathLine
from engine.simulators.process import ReapedProcess
from tests.engine.late import late_once
from tests.engine.leftovers import MARK, marked, new_mark, none_left, running
from tests.engine.sample_simulators import SPEC, TugOfWar, team_rows

SAMPLES = "tests.engine.sample_simulators"
QUICK = SimulatorLimits(handshake_s=20.0, request_s=20.0, silence_s=20.0, cancel_s=5.0, bye_s=2.0)
SHORT = SimulatorLimits(handshake_s=3.0, request_s=1.0, silence_s=20.0, cancel_s=1.0, bye_s=1.0)
LEFT, RIGHT, SEEDS = team_rows(300, 1), team_rows(300, 2), np.arange(300, dtype=np.uint64)


def sample(name: str, mark: dict[str, str], limits: SimulatorLimits = QUICK) -> ExternalSimulator:
    return ExternalSimulator.from_entry_point(f"{SAMPLES}:{name}", limits=limits, variables=mark)


def bad(name: str, mark: dict[str, str], limits: SimulatorLimits = QUICK) -> ExternalSimulator:
    command = [sys.executable, "-m", "tests.engine.bad_simulators", name]
    return ExternalSimulator(command, label=f"Simulator {name}", limits=limits, variables=mark)


def test_a_served_simulator_answers_exactly_what_it_answers_in_process() -> None:
    with sample("TugOfWar", new_mark()) as simulator:
        assert simulator.describe() == SPEC
        far, near = (
            simulator.battles(LEFT, RIGHT, SEEDS, {"luck": 9.0}),
            TugOfWar().battles(LEFT, RIGHT, SEEDS, {"luck": 9.0}),
        )
        for a, b in zip(far, near, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
        assert simulator.replay(LEFT[:1], RIGHT[:1], 2**63 + 1, {}) == TugOfWar().replay(LEFT, RIGHT, 0, {})
        assert simulator.starts == 1


def test_an_empty_batch_has_empty_results_of_the_right_shape() -> None:
    with sample("TugOfWar", new_mark()) as simulator:
        results = simulator.battles(LEFT[:0], RIGHT[:0], SEEDS[:0], {})
        assert [a.shape for a in results] == [(0, 2, 3), (0, 1), (0,)]


@pytest.mark.parametrize(
    ("rows", "patch", "named"),
    [
        (np.full((2, 5), 99, np.int32), {}, "slot 'hero': 99"),
        (team_rows(2), {"no.such": 1.0}, "no 'no.such'"),
        (team_rows(2), {"luck": 1e9}, "luck"),
    ],
)
def test_bad_rows_and_patches_are_refused_with_their_place_and_the_process_lives_on(
    rows: np.ndarray, patch: dict[str, float], named: str
) -> None:
    with sample("TugOfWar", new_mark()) as simulator:
        with pytest.raises(SimulatorError, match=named) as caught:
            simulator.battles(rows, rows, SEEDS[:2], patch)
        assert caught.value.permanent
        simulator.battles(LEFT, RIGHT, SEEDS, {})
        assert simulator.starts == 1


BROKEN = {
    "leave": "ended by itself with exit code 3.*out of ammunition",
    "crash": "SIGABRT",
    "wrong_key": "did not repeat the key",
    "wrong_version": r"versions \[7, 9\]",
    "wrong_protocol": "other-protocol",
    "impossible_spec": "'hero-0' is described 2 times.*'might'",
    "not_a_spec": r"spec\.name is 5; it has to be a text; spec\.title is missing",
    "half_a_spec": r"(?s)spec\.pieces\[1\]\.cost is \"11\"; it has to be a number.*hero-0.*described 2 times.*'might'",
    "exit_134": r"ended by itself with exit code 134 \(a shell ends with this code when SIGABRT killed what it ran\)",
    "exit_127": r"ended by itself with exit code 127\.",
    "wrong_id": r"sent RESULTS with id 7 as the answer to BATTLES of 8 battles; that request has id 1",
    "hung_up_early": "connected and hung up before it spoke ZeroMQ",
    "hang_up": "broke its connection",
    "junk_header": "not a message of equipoise-sim/1",
    "deep_header": "not a message of equipoise-sim/1",
    "junk_bytes": "cannot be read|not ZeroMQ",
    "short_frame": "takes 8 bytes, and its frame has 3",
    "objects": "type 'object'",
    "huge_frame": "larger than 32 MiB",
    "huge_beginning": "larger than 32 MiB",
    "flood": "floods the engine",
    "wrong_shape": r"side is float64\[8, 2, 2\]; 8 battles need float64\[8, 2, 3\]",
    "wrong_type": "side is float32",
    "missing_array": "without the array 'status'",
    "nan": "strength of battle 3, right side is nan",
    "infinite": "ticks of battle 0 is inf",
    "out_of_range": "strength of battle 2, left side is 250;",
    "wrong_status": "status 9",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_program_that_breaks_the_protocol_is_named_and_gone(name: str) -> None:
    mark = new_mark()
    simulator = bad(name, mark)
    with pytest.raises(SimulatorError, match=f"(?s){BROKEN[name]}"):
        simulator.battles(LEFT[:8], RIGHT[:8], SEEDS[:8], {})
    assert none_left(mark)


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("silent", "did not say HELLO within 3 s: it never dialled"),
        ("hang", "did not answer BATTLES of 8 battles within 1 s"),
    ],
)
def test_a_program_that_hangs_is_ended_at_its_deadline(name: str, named: str) -> None:
    mark = new_mark()
    with pytest.raises(SimulatorError, match=named):
        bad(name, mark, SHORT).battles(LEFT[:8], RIGHT[:8], SEEDS[:8], {})
    assert none_left(mark)


@pytest.mark.parametrize(
    ("name", "reached", "named"),
    [
        ("mute", "dialled", "did not say HELLO within 30 s: it connected and did not speak ZeroMQ"),
        ("listener", "spoke", "did not say HELLO within 30 s: it connected by ZeroMQ and then sent nothing"),
        ("speechless", "peer", "did not send its SPEC within 30 s"),
    ],
)
def test_how_far_a_silent_program_came_is_told_at_the_one_deadline_of_its_introduction(
    name: str, reached: str, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    late_once(monkeypatch, reached)
    mark = new_mark()
    with pytest.raises(SimulatorError, match=named):
        bad(name, mark, SimulatorLimits()).describe()
    assert none_left(mark)


@pytest.mark.parametrize("limits", [SHORT, SimulatorLimits(handshake_s=20.0, request_s=600.0, silence_s=1.0)])
def test_a_program_that_waits_for_a_processor_has_longer_and_a_stop_is_heard_meanwhile(
    limits: SimulatorLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "LOOK_S", 0.1)
    monkeypatch.setattr("engine.processor_waits.ProcessorWaits.since", lambda waits: float("inf"))
    mark, until = new_mark(), time.monotonic() + 5.0
    simulator = bad("heartless", mark, limits)
    simulator.describe()
    simulator.should_stop = lambda: time.monotonic() > until
    with pytest.raises(Cancelled):
        simulator.battles(LEFT[:8], RIGHT[:8], SEEDS[:8], {})
    simulator.close()
    assert none_left(mark)


def test_a_program_that_promised_heartbeats_and_falls_silent_is_ended_before_its_deadline() -> None:
    mark = new_mark()
    limits = SimulatorLimits(handshake_s=20.0, request_s=600.0, silence_s=1.0, ping_every_s=0.2)
    with pytest.raises(SimulatorError, match="no sign of life for 1 s"):
        bad("heartless", mark, limits).battles(LEFT[:8], RIGHT[:8], SEEDS[:8], {})
    assert none_left(mark)


def test_a_message_without_end_is_cut_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "SWELL_BYTES", 64 * 2**20)
    mark = new_mark()
    with pytest.raises(SimulatorError, match="floods the engine: more than 64 MiB"):
        bad("endless_message", mark).battles(LEFT[:8], RIGHT[:8], SEEDS[:8], {})
    assert none_left(mark)


def test_the_line_of_a_program_that_floods_ends_before_the_program_so_that_no_more_of_it_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[str] = []
    for kind, name, method in ((PathLine, "line", PathLine.close), (ReapedProcess, "program", ReapedProcess.kill)):

        def noted(self: Any, name: str = name, method: Any = method) -> None:
            ended.append(name)
            method(self)

        monkeypatch.setattr(kind, method.__name__, noted)
    with pytest.raises(SimulatorError, match="floods the engine"):
        bad("flood", new_mark()).battles(LEFT[:8], RIGHT[:8], SEEDS[:8], {})
    assert ended[:2] == ["line", "program"]
    largest = len(Battles._fields) * protocol.MAX_FRAME_BYTES
    assert 2 * largest <= conversation.SWELL_BYTES <= 2**28


def test_a_program_that_prints_without_end_still_gets_its_battles_counted() -> None:
    with bad("printer", new_mark()) as simulator:
        assert len(simulator.battles(LEFT[:8], RIGHT[:8], SEEDS[:8], {}).status) == 8


def test_a_program_that_does_not_exist_is_a_permanent_error() -> None:
    with pytest.raises(SimulatorError, match="no-such-game is not a program") as caught:
        ExternalSimulator(["no-such-game"]).describe()
    assert caught.value.permanent


def test_a_file_that_cannot_be_executed_could_not_be_started(tmp_path: Path) -> None:
    program = tmp_path / "game"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    with pytest.raises(SimulatorError, match=r"could not be started\. It printed last: .*No such file"):
        ExternalSimulator([str(program)]).describe()


def test_an_entry_point_that_cannot_be_loaded_says_why() -> None:
    with pytest.raises(SimulatorError, match=r"cannot be loaded.*no_such_module"):
        ExternalSimulator.from_entry_point("no_such_module:make").describe()


def test_children_and_daemons_of_a_program_end_with_it() -> None:
    mark = new_mark()
    with sample("TugOfWarWithHelpers", mark) as simulator:
        simulator.describe()
        assert running(mark, 4) == 4
    assert none_left(mark)
    with pytest.raises(SimulatorError, match="did not answer"):
        bad("daemon", mark, SHORT).battles(LEFT[:8], RIGHT[:8], SEEDS[:8], {})
    assert none_left(mark)


def test_a_killed_program_is_one_error_and_the_next_call_starts_a_fresh_one() -> None:
    mark = new_mark()
    with sample("TugOfWar", mark) as simulator:
        simulator.describe()
        os.kill(simulator.pid, signal.SIGKILL)
        with pytest.raises(SimulatorError, match="SIGKILL") as caught:
            simulator.battles(LEFT, RIGHT, SEEDS, {})
        assert not caught.value.permanent
        np.testing.assert_array_equal(
            simulator.battles(LEFT, RIGHT, SEEDS, {}).side, TugOfWar().battles(LEFT, RIGHT, SEEDS, {}).side
        )
        assert simulator.starts == 2
    assert none_left(mark)


def test_a_program_that_becomes_another_game_at_its_restart_is_refused() -> None:
    simulator = bad("moody", new_mark())
    with pytest.raises(SimulatorError, match="exit code 1"):
        simulator.battles(LEFT[:1], RIGHT[:1], SEEDS[:1], {})
    with pytest.raises(SimulatorError, match="another game"):
        simulator.battles(LEFT[:1], RIGHT[:1], SEEDS[:1], {})


@contextlib.contextmanager
def cancelling(simulator: ExternalSimulator) -> Iterator[None]:
    """Cancels the call in the block from another thread; a cancel that comes before the call is forgotten."""
    over = threading.Event()

    def cancel() -> None:
        while not over.wait(0.2):
            simulator.cancel()

    helper = threading.Thread(target=cancel)
    helper.start()
    try:
        yield
    finally:
        over.set()
        helper.join()


def test_cancel_stops_a_running_call_and_keeps_a_program_that_obeys() -> None:
    with sample("SlowTugOfWar", new_mark()) as simulator:
        simulator.describe()
        with cancelling(simulator), pytest.raises(Cancelled):
            simulator.battles(LEFT, RIGHT, SEEDS, {})
        assert simulator.interrupted
        assert len(simulator.battles(LEFT[:2], RIGHT[:2], SEEDS[:2], {}).status) == 2
        assert simulator.starts == 1


def test_cancel_ends_a_program_that_does_not_obey() -> None:
    mark = new_mark()
    simulator = bad("hang", mark, SimulatorLimits(cancel_s=0.3))
    simulator.describe()
    with cancelling(simulator), pytest.raises(Cancelled):
        simulator.battles(LEFT[:8], RIGHT[:8], SEEDS[:8], {})
    assert none_left(mark)


def test_a_forgotten_simulator_ends_when_it_is_collected() -> None:
    mark = new_mark()
    simulator = sample("TugOfWar", mark)
    simulator.describe()
    del simulator
    assert none_left(mark)


OWNER = """
import os, sys
import numpy as np
from engine.simulators.client import ExternalSimulator
s = ExternalSimulator.from_entry_point("tests.engine.sample_simulators:TugOfWarWithHelpers",
                                       variables={%r: sys.argv[1]})
s.describe()
print(os.listdir("/tmp") and s._held[0]._dir, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_an_engine_that_is_killed(how: signal.Signals) -> None:
    mark = new_mark()
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER % MARK, mark[MARK]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    private_dir = Path(owner.stdout.readline().strip())
    assert private_dir.is_dir()
    assert running(mark, 4) == 4
    owner.send_signal(how)
    owner.communicate()
    assert none_left(mark)
    until = time.monotonic() + 5
    while private_dir.exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert not private_dir.exists()


def test_a_simulator_sees_none_of_the_engines_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", "hush")
    mark = new_mark()
    with sample("TugOfWar", mark) as simulator:
        simulator.describe()
        assert marked(mark)
        for pid in marked(mark):
            assert b"hush" not in Path(f"/proc/{pid}/environ").read_bytes()
