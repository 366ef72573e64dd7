"""Array files, the store, randomness, events and configuration: the leaves everything stands on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from engine import arrays as container
from engine import events, rng
from engine.errors import ConfigError, StoreError
from engine.store import FolderStore
from engine.studies import load

DTYPE = st.sampled_from(sorted(container.DTYPES))


@given(
    array=DTYPE.flatmap(lambda d: arrays(np.dtype(d), array_shapes(min_dims=0, min_side=0))),
    text=st.text(max_size=9).filter(lambda name: name != "b"),
)
@settings(max_examples=200, deadline=None)
def test_arrays_survive_their_file(array: np.ndarray, text: str) -> None:
    found = container.unpack(container.pack({"x": text}, {text: array, "b": np.arange(3)}))
    assert found.meta == {"x": text}
    assert found.arrays[text].shape == array.shape
    assert found.arrays[text].tobytes() == array.tobytes()


@given(data=st.binary(max_size=200))
@settings(max_examples=300, deadline=None)
def test_junk_is_no_array_file(data: bytes) -> None:
    for junk in (data, container.MAGIC + data):
        with pytest.raises(StoreError, match="not a readable array file"):
            container.unpack(junk)


def test_a_cut_array_file_is_noticed() -> None:
    whole = container.pack({}, {"a": np.arange(100)})
    for cut in range(0, len(whole) - 1, 37):
        with pytest.raises(StoreError):
            container.unpack(whole[:cut])


def test_objects_cannot_be_stored() -> None:
    with pytest.raises(StoreError, match="cannot be stored"):
        container.pack({}, {"a": np.array([object()])})


def test_a_file_that_carries_a_hash_s_name_is_whole(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    digest = store.put(b"x" * 1000)
    assert store.put(b"x" * 1000) == digest
    assert store.get(digest) == b"x" * 1000
    assert list(store) == [digest]
    store.discard([digest, digest])
    assert not store.has(digest)
    with pytest.raises(StoreError, match="missing"):
        store.get(digest)


@pytest.mark.parametrize("name", ["../../etc/passwd", "x" * 64, "A" * 64, ""])
def test_only_hashes_name_artifacts(name: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not an artifact's hash"):
        FolderStore(tmp_path).get(name)


def test_a_full_disk_says_so_and_leaves_no_half_file(tmp_path: Path) -> None:
    """A real full disk: a file size limit of the process, which the kernel reports on writing."""
    code = (
        "import resource, signal, sys; sys.path.insert(0, sys.argv[2]); from engine.store import FolderStore\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "FolderStore(sys.argv[1]).put(b'x' * 10000)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), str(Path(__file__).parents[2])], capture_output=True, text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, check=False,
    )  # fmt: skip
    assert "StoreError" in done.stderr
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_a_battle_s_seed_depends_on_study_match_and_replicate_alone() -> None:
    keys = np.array([5, 9, 5], dtype=np.uint64)
    seeds = rng.battle_seeds(1, keys, 0, 4)
    assert (seeds[0] == seeds[2]).all()
    np.testing.assert_array_equal(rng.battle_seeds(1, keys[1:2], 2, 4), seeds[1:2, 2:4])
    assert len(set(seeds[:2].ravel().tolist()) | set(rng.battle_seeds(2, keys[:2], 0, 4).ravel().tolist())) == 16


def test_seeds_are_spread_evenly() -> None:
    seeds = rng.battle_seeds(1, np.arange(2000, dtype=np.uint64), 0, 8).ravel()
    assert len(np.unique(seeds)) == 16_000
    bits = (seeds[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 0.02


def test_generators_of_other_purposes_are_other_streams() -> None:
    draws = {rng.generator(1, *path).integers(2**62) for path in (("a",), ("b",), ("a", 1), ("a", "1"), ())}
    assert len(draws) == 5
    assert rng.generator(1, "a").integers(2**62) == rng.generator(1, "a").integers(2**62)


def test_an_event_survives_its_line() -> None:
    event = events.Progressed(metrics={"front": 3.0}, artifacts={"front": "00"}, tick=4, job=7, attempt=2)
    assert events.decode(events.encode(event)) == event
    assert b"\n" not in events.encode(events.Logged(message="a\nb"))
    with pytest.raises(ValueError, match="Invalid value"):
        events.decode(b'{"kind": "surprise"}')


def test_every_problem_of_a_configuration_is_told_at_once_with_its_place() -> None:
    with pytest.raises(ConfigError) as error:
        load(
            {
                "game": {"simulator": ""},
                "seed": -1,
                "sped": 1,
                "algorithm": {"kind": "nsga2", "population": 3},
                "lineups": {"budget_low": 9, "budget_high": 3},
            }
        )
    places = {p.place for p in error.value.problems}
    assert places == {"game.simulator", "seed", "sped", "algorithm.population", "lineups"}


@pytest.mark.parametrize("data", [[], "text", None, {"kind": "dream"}])
def test_a_study_that_is_no_table_of_settings_is_a_clear_error(data: object) -> None:
    with pytest.raises(ConfigError):
        load(data)  # type: ignore[arg-type]
