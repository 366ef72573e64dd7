"""The replay that many processes share: what it draws, what a writer leaves that dies, and many at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import ConfigError, StoreError
from engine.rl.replay import ReplayBuffer
from engine.rl.shared_replay import SharedReplay

ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from pathlib import Path
import numpy as np
from engine.rl.shared_replay import SharedReplay
from tests.engine.test_shared_replay import rows
replay = SharedReplay(Path(sys.argv[1]), 500, np.random.default_rng(0))
for i in range(300):
    replay.add(rows(int(sys.argv[2]) + 100 * i, 100))
"""

FILLER = """
import subprocess, sys
from pathlib import Path
import numpy as np
from engine.errors import DiskFull
from engine.rl.shared_replay import SharedReplay
from tests.engine.test_shared_replay import alike, rows
disk = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=True)
(disk / "other").write_bytes(bytes(500_000))
replay, n = SharedReplay(disk / "replay", 10_000, np.random.default_rng(0)), 0
try:
    while True:
        replay.add(rows(n, 100))
        n += 100
except DiskFull as error:
    assert "free some space, then resume" in str(error), error
assert 0 < n < 10_000
assert replay.written == n
assert alike(replay.sample(1000).columns)
(disk / "other").unlink()
replay.add(rows(n, 100))
assert replay.written == n + 100
"""


def rows(first: int, n: int) -> dict[str, Any]:
    """Transitions whose columns all tell the same number."""
    numbers = np.arange(first, first + n)
    return {"s.x": np.repeat(numbers[:, None], 40, axis=1).astype(np.float32), "action": numbers.astype(np.int64)}


def shared(path: Path, seed: int = 0, capacity: int = 500) -> SharedReplay:
    return SharedReplay(path / "replay", capacity, np.random.default_rng(seed))


def alike(columns: dict[str, Any]) -> bool:
    return bool((columns["s.x"] == columns["action"][:, None]).all())


def test_whoever_has_never_read_keeps_what_others_wrote_all_the_same(tmp_path: Path) -> None:
    """The first checkpoint of a study had no replay: when it was killed then, its critic had nothing to learn from."""
    keeper, writer = shared(tmp_path), shared(tmp_path)
    writer.add(rows(0, 120))
    arrays, meta = keeper.state()
    assert (len(arrays["action"]), meta["size"]) == (120, 120)
    assert alike(arrays)


def test_it_draws_what_a_ring_of_one_process_draws(tmp_path: Path) -> None:
    ring, writer, reader = ReplayBuffer(500, np.random.default_rng(7)), shared(tmp_path), shared(tmp_path, 7)
    for i in range(8):
        for replay in (ring, writer):
            np.testing.assert_array_equal(replay.add(rows(90 * i, 90)), (90 * i + np.arange(90)) % 500)
        one, other = ring.sample(64), reader.sample(64)
        np.testing.assert_array_equal(one.rows, other.rows)
        assert {k: v.tolist() for k, v in one.columns.items()} == {k: v.tolist() for k, v in other.columns.items()}
    assert (reader.size, reader.at) == (ring.size, ring.at) == (500, 220)


def test_a_reader_that_came_first_sees_what_others_write_later(tmp_path: Path) -> None:
    reader = shared(tmp_path)
    assert reader.size == 0
    shared(tmp_path).add(rows(0, 3))
    assert reader.size == 3
    assert set(reader.sample(100).columns["action"]) == {0, 1, 2}


def test_what_a_writer_left_that_died_in_the_middle_is_never_read(tmp_path: Path) -> None:
    dying, others = shared(tmp_path), shared(tmp_path)
    dying.add(rows(0, 500))
    broken = rows(500, 50)
    broken["action"] = np.full((50, 2), "x")  # the second column cannot be put where numbers belong
    dying._create = lambda columns: None  # type: ignore[method-assign]
    with pytest.raises(ValueError, match=r"shape|convert|broadcast"):
        dying.add(broken)
    assert (dying.columns["s.x"][:50, 0] == np.arange(500, 550)).all(), "half of it is there"
    drawn = [others.sample(256).columns for _ in range(40)]
    assert all(alike(columns) for columns in drawn)
    seen = set(np.concatenate([columns["action"] for columns in drawn]).tolist())
    assert seen == set(range(50, 500)), "rows that may be torn are left out, and no other"
    others.add(rows(600, 20))
    again = SharedReplay(tmp_path / "again", 500, np.random.default_rng(0))
    again.load(*others.state())
    for replay in (others, again):
        seen = set(np.concatenate([replay.sample(256).columns["action"] for _ in range(40)]).tolist())
        assert seen == {*range(50, 500), *range(600, 620)}


def test_a_writer_that_died_as_it_wrote_all_that_the_replay_holds_keeps_nobody_from_learning(tmp_path: Path) -> None:
    dying, others = shared(tmp_path, capacity=50), shared(tmp_path, capacity=50)
    dying.add(rows(0, 50))
    broken = rows(50, 50)
    broken["action"] = np.full((50, 2), "x")
    dying._create = lambda columns: None  # type: ignore[method-assign]
    with pytest.raises(ValueError, match=r"shape|convert|broadcast"):
        dying.add(broken)
    assert len(others.sample(20).rows) == 20
    others.add(rows(100, 10))
    assert set(others.sample(400).columns["action"].tolist()) == set(range(100, 110))


def test_minibatches_are_whole_while_processes_write(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "replay")]
    writers = [subprocess.Popen([*command, str(first)]) for first in (0, 1_000_000)]
    reader, seen = shared(tmp_path, 1), set()
    while any(writer.poll() is None for writer in writers):
        if reader.size:
            columns = reader.sample(256).columns
            assert alike(columns)
            seen.add(int(columns["action"].max()))
    assert [writer.returncode for writer in writers] == [0, 0]
    assert reader.written == 2 * 300 * 100
    assert len(seen) > 10, "it read while they wrote"


def test_what_does_not_fit_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    replay = shared(tmp_path)
    replay.add(rows(0, 500))
    with pytest.raises(ConfigError, match="capacity"):
        replay.add(rows(500, 501))
    with pytest.raises(StoreError, match=r"keeps s\.x, action, and these transitions have action"):
        replay.add({"action": np.zeros(1, np.int64)})
    with pytest.raises(StoreError, match="keeps 500 transitions, not 400"):
        shared(tmp_path, capacity=400)
    seen = set(np.concatenate([replay.sample(256).columns["action"] for _ in range(40)]).tolist())
    assert seen == set(range(500))


def test_a_full_disk_is_said_and_costs_nothing_of_what_is_there(tmp_path: Path) -> None:
    """A disk of its own, small: a write into memory for which there is no block would kill the process."""
    command = ["unshare", "--map-root-user", "--mount", sys.executable, "-c", FILLER, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
