"""An action that is a choice with numbers of its own: whatever its sizes and bounds, all that meets it agrees."""

from __future__ import annotations

import msgspec
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.mdp.checks import game_problems
from engine.mdp.interface import ArraySpec, Continuous, Discrete, MDPSpec, Parameterised, SeatSpec, action_problem
from engine.mdp.trajectory import Batch
from engine.rl.players import RandomPlayer
from engine.rl.recording import tally

SEEN = (ArraySpec("view", (3,)),)


@st.composite
def actions(draw: st.DrawFn) -> Parameterised:
    sizes = tuple(draw(st.lists(st.integers(0, 3), min_size=1, max_size=5)))
    ends = [sorted(draw(st.tuples(st.floats(-200, 200), st.floats(-200, 200)))) for _ in range(sum(sizes))]
    return Parameterised(sizes, tuple(low for low, _ in ends), tuple(high for _, high in ends))


@given(spec=actions(), seed=st.integers(0, 2**32), n=st.integers(1, 20), data=st.data())
@settings(max_examples=40, deadline=None)
def test_a_random_player_chooses_what_is_legal_and_stays_within_every_bound(
    spec: Parameterised, seed: int, n: int, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    masks = rng.random((n, len(spec.sizes))) < 0.5
    masks[np.arange(n), data.draw(st.integers(0, len(spec.sizes) - 1))] = True
    keys = rng.integers(0, 2**63, n).astype(np.uint64)
    given_ = RandomPlayer(SeatSpec(SEEN, spec))(Batch({"view": np.zeros((n, 3), np.float32)}, masks, keys)).actions
    assert action_problem(spec, given_, n) == ""
    assert masks[np.arange(n), given_[:, 0].astype(int)].all()
    low, high = spec.bounds
    assert (given_[:, 1:] >= low - 1e-3).all()
    assert (given_[:, 1:] <= high + 1e-3).all()
    assert tally(spec, given_) == [int((given_[:, 0] == k).sum()) for k in range(len(spec.sizes))]


@given(spec=actions(), n=st.integers(1, 5))
@settings(max_examples=30, deadline=None)
def test_it_travels_as_json_and_its_idle_row_is_one_that_may_be_played(spec: Parameterised, n: int) -> None:
    game = MDPSpec("game", "1", (SeatSpec(SEEN, spec),))
    assert msgspec.json.decode(msgspec.json.encode(game), type=MDPSpec) == game
    assert game_problems(game) == []
    assert spec.row == (1 + sum(spec.sizes),)
    assert action_problem(spec, spec.idle(n), n) == ""


def test_only_a_single_choice_is_counted() -> None:
    assert tally(Discrete(3), np.array([0, 2, 2])) == [1, 0, 2]
    assert tally(Continuous((0.0,), (1.0,), (1,)), np.zeros((2, 1), np.float32)) == []
