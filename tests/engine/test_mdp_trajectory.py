"""Fragments of exact length that go on across episodes, and their journey as frames."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import EngineError
from engine.mdp.adapters import VectorFromMDP
from engine.mdp.interface import ArraySpec, Continuous, Discrete, Hybrid, MDPSpec, Parameterised, SeatSpec
from engine.mdp.recorder import Recorder
from engine.mdp.trajectory import Decision, Trajectory, join
from engine.mdp.vector import VectorStep, episode_seeds, seat_ends
from tests.contracts.mdp import by_arrays, flat
from tests.engine.sample_games import ORCHARD, orchard

SEAT = SeatSpec((ArraySpec("x", (2,)), ArraySpec("y", (), "uint8")), Discrete(3), ("a", "b"))


class Stream:
    """B made-up streams whose every number says where it comes from."""

    def __init__(self, streams: int, ends: list[set[int]], cuts: list[set[int]]) -> None:
        self.B, self.ends, self.cuts = streams, ends, cuts

    def seen(self, t: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
        x = np.array([[t, b] for b in range(self.B)], np.float32)
        return {"x": x, "y": np.full(self.B, t % 250, np.uint8)}, np.array([[1, t % 2, 1]] * self.B, np.bool_)

    def step(self, recorder: Recorder, t: int) -> Trajectory | None:
        terminated = np.array([t in self.ends[b] for b in range(self.B)])
        truncated = np.array([t in self.cuts[b] and t not in self.ends[b] for b in range(self.B)])
        over = np.flatnonzero(terminated | truncated)
        last = {"x": np.array([[-t, b] for b in over], np.float32).reshape(-1, 2), "y": np.full(len(over), 7, np.uint8)}
        decision = Decision(
            np.full(self.B, t % 3), np.full(self.B, -t, np.float32), np.full((self.B, 2), t, np.float32),
            {"h": np.full((self.B, 1), t + 1, np.float32)},
        )  # fmt: skip
        rewards = np.array([[t, b] for b in range(self.B)], np.float32)
        masks = np.ones((len(over), 3), np.bool_)
        return recorder.step(decision, t, rewards, terminated, truncated, *self.seen(t + 1), finals=(over, last, masks))


@given(
    length=st.integers(1, 7),
    streams=st.integers(1, 3),
    total=st.integers(1, 30),
    data=st.data(),
)
@settings(max_examples=40, deadline=None)
def test_fragments_have_exactly_their_length_and_lose_nothing(
    length: int, streams: int, total: int, data: st.DataObject
) -> None:
    moments = st.sets(st.integers(0, total), max_size=6)
    ends, cuts = ([data.draw(moments) for _ in range(streams)] for _ in range(2))
    stream = Stream(streams, ends, cuts)
    recorder = Recorder(SEAT, streams, length, values=True)
    recorder.begin(*stream.seen(0), {"h": np.zeros((streams, 1), np.float32)})
    found = [f for t in range(total) if (f := stream.step(recorder, t)) is not None]
    assert len(found) == total // length
    for k, f in enumerate(found):
        first = k * length
        assert (f.length, f.streams, f.steps) == (length, streams, length * streams)
        ticks = np.arange(first, first + length)
        for b in range(streams):
            np.testing.assert_array_equal(f.observations["x"][:, b, 0], np.append(ticks, first + length))
            np.testing.assert_array_equal(f.rewards[:, b, 0], ticks)
            np.testing.assert_array_equal(f.actions[:, b], ticks % 3)
            np.testing.assert_array_equal(f.versions[:, b], ticks)
            assert f.masks is not None
            np.testing.assert_array_equal(f.masks[:, b, 1], np.append(ticks, first + length) % 2 == 1)
            np.testing.assert_array_equal(f.terminated[:, b], [t in ends[b] for t in ticks])
            np.testing.assert_array_equal(f.truncated[:, b], [t in cuts[b] - ends[b] for t in ticks])
            over = first - 1 in ends[b] | cuts[b] or first == 0
            assert f.initial_state["h"][b, 0] == (0.0 if over else first), "a new episode begins with zeros"
        where = [(t, b) for t, b in f.final_index.tolist()]
        assert sorted(where) == sorted((t - first, b) for b in range(streams) for t in cuts[b] - ends[b] if t in ticks)
        for (t, b), seen in zip(where, f.final_observations["x"].tolist(), strict=True):
            assert seen == [-(t + first), b]


@pytest.fixture(scope="module")
def fragments() -> list[list[Trajectory]]:
    return by_arrays(VectorFromMDP(orchard()), np.arange(3, dtype=np.uint64), 80, 20)


def same(a: Trajectory, b: Trajectory) -> None:
    for one, other in zip(a, b, strict=True):
        if isinstance(one, dict):
            assert one.keys() == other.keys()
            for name in one:
                assert one[name].dtype == other[name].dtype
                np.testing.assert_array_equal(one[name], other[name])
        elif one is None:
            assert other is None
        elif isinstance(one, str | tuple):
            assert one == other
        else:
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


def test_a_trajectory_survives_its_journey_and_is_not_copied(fragments: list[list[Trajectory]]) -> None:
    for seat in fragments:
        frames = seat[1].encode({"sampler": 3})
        assert np.shares_memory(np.frombuffer(frames[1], np.uint8), seat[1].observations["place"])
        arrived = [bytearray(frame) for frame in frames]
        again, meta = Trajectory.decode(arrived)
        same(seat[1], again)
        assert meta == {"sampler": 3}
        assert np.shares_memory(np.frombuffer(arrived[1], np.uint8), again.observations["place"])


def test_what_arrived_is_fit_for_torch_wherever_it_lay(fragments: list[list[Trajectory]]) -> None:
    """Small messages lie anywhere in a receive buffer, and bytes may not be written to."""
    frames = fragments[0][0].encode()
    shifted = [memoryview(bytearray(b"." + bytes(frame)))[1:] for frame in frames]
    for arrived in ([bytes(frame) for frame in frames], shifted):
        again, _ = Trajectory.decode(arrived)
        same(fragments[0][0], again)
        for array in (again.rewards, again.versions, again.observations["place"]):
            assert array.flags.aligned
            assert array.flags.writeable


def test_only_truncated_episodes_are_bootstrapped(fragments: list[list[Trajectory]]) -> None:
    for seat in fragments:
        for f in seat:
            np.testing.assert_array_equal(np.argwhere(f.truncated), f.final_index[np.lexsort(f.final_index.T[::-1])])
            assert not (f.truncated & f.terminated).any()
            assert (f.valid is None) == (f.steps == f.length * f.streams)
    assert any(f.valid is not None for f in fragments[1])


def test_joined_trajectories_are_their_streams_side_by_side(fragments: list[list[Trajectory]]) -> None:
    one, other = fragments[1][0], fragments[1][1]
    both = join([one, other])
    assert both.streams == 6
    for b in range(6):
        mine, theirs = flat([both], b), flat([one, other][b // 3 : b // 3 + 1], b % 3)
        for name in mine:
            np.testing.assert_array_equal(mine[name], theirs[name])
    with pytest.raises(EngineError, match="cannot be joined"):
        join([one, one._replace(rewards=one.rewards[:-1])])


@pytest.mark.parametrize(
    "frames",
    [[], [b"{"], [b'{"arrays":[["rewards","","<f4",[2,2]]]}', b"abc"],
     [b'{"arrays":[["rewards","","|O8",[1]]]}', b"a" * 8],
     [b'{"arrays":[["gold","","<f4",[1]]]}', b"abcd"], [b'{"arrays":[]}'], [b'{"arrays":[]}', b"more"],
     [b'{"arrays":[["rewards","","<f4",[-1]]]}', b""]],
)  # fmt: skip
def test_frames_that_are_no_trajectory_are_refused(frames: list[bytes]) -> None:
    with pytest.raises(EngineError, match="should be a trajectory"):
        Trajectory.decode(frames)


def test_descriptions_survive_as_json() -> None:
    assert msgspec.json.decode(msgspec.json.encode(ORCHARD), type=MDPSpec) == ORCHARD


@pytest.mark.parametrize(
    ("spec", "row", "choices", "idle"),
    [
        (Discrete(4), (), (4,), 0),
        (Continuous((-1.0, 1.0), (1.0, 2.0), (2,)), (2,), (), [0.0, 1.0]),
        (Hybrid((Continuous((-1.0,), (1.0,), (1,)), Discrete(3), Discrete(2))), (3,), (3, 2), [0.0, 0.0, 0.0]),
        (Parameterised((2, 0, 1)), (4,), (3,), [0.0] * 4),
    ],
)
def test_actions_are_laid_out_as_documented(spec: Any, row: Any, choices: Any, idle: Any) -> None:
    assert (spec.row, spec.choices, spec.legal) == (row, choices, sum(choices))
    assert spec.idle(2).tolist() == [idle, idle]
    assert spec.idle(2).dtype == spec.dtype


def test_the_first_episode_has_the_battle_s_own_seed_and_later_ones_a_hash() -> None:
    seeds = np.array([5, 5, 6], np.uint64)
    first, second = episode_seeds(seeds, np.zeros(3, np.int64)), episode_seeds(seeds, np.array([1, 2, 1]))
    assert first.tolist() == [5, 5, 6]
    assert len({*first.tolist(), *second.tolist()}) == 5


def test_a_seat_that_goes_out_while_its_battle_goes_on_has_terminated() -> None:
    before = np.array([[True, True], [True, True], [True, False], [True, True]])
    step = VectorStep(
        (), (), np.zeros((4, 2, 1), np.float32), np.array([False, True, False, False]),
        np.array([False, False, False, True]), np.array([[True, False], [True, True], [True, False], [True, True]]),
    )  # fmt: skip
    ends = seat_ends(before, step, 1)
    assert ends.terminated.tolist() == [True, True, False, False]
    assert ends.truncated.tolist() == [False, False, False, True]
    assert ends.valid.tolist() == [True, True, False, True]
