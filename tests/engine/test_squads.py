"""Games whose sides have several seats: one player takes all seats of its side wherever sides meet."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import msgspec
import numpy as np
import pytest

from engine.arrays import unpack
from engine.catalog import STUDIES
from engine.config.rl import ApartConfig
from engine.events import Failed, Finished
from engine.games.navigation import Navigation
from engine.games.navigation.scripts import Optimal
from engine.games.tanks import Tanks
from engine.games.tanks.scripts import Aggressive
from engine.mdp.checks import game_problems
from engine.mdp.groups import Group, Grouped
from engine.mdp.trajectory import Batch
from engine.rl.policy import Policy, PolicySpec
from engine.rl.recording import record
from engine.rl.squads import on_seats
from engine.store import FolderStore
from engine.studies import load
from tests.engine.test_saved_agents import kept, measurement, run, untrained

COVER = {"name": "navigation", "settings": {"max_ticks": 20}}


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path)


def test_who_is_watched_takes_all_seats_of_its_side() -> None:
    game = Navigation()
    whole = record(game, Optimal(game.spec.seats[0]), None, seed=4)
    assert whole.score > 0.95, "alone it would cover one of three"
    assert whole.positions.shape == (301, 15)
    assert whole.moves.shape == (300, 2)
    assert whole.positions[-1, 12:].all()


def test_an_agent_of_a_side_is_measured_and_watched_on_all_its_seats(store: FolderStore) -> None:
    policy = kept(untrained(Navigation().spec.seats[0]), store)
    *_, end = run(measurement(policy, game=COVER, episodes=50), store)
    assert isinstance(end, Finished), end
    told = {m["name"]: m["mean"] for m in unpack(store.get(end.artifacts["table"])).meta["measures"]}
    assert told["score"] == pytest.approx(told["return:score"] / 20, abs=1e-6)
    assert "win" not in told
    agents = [{"kind": "frozen", "policy": policy, "title": "Ada"}]
    *_, end = run(load({"kind": "record", "game": COVER, "agents": agents, "seed": 9}), store)
    assert isinstance(end, Finished), end
    rows = unpack(store.get(end.artifacts["recording"])).arrays["positions/0"][:, :6].reshape(-1, 3, 2)
    assert np.ptp(rows, axis=0).any(axis=1).all(), "everybody moves"


def test_one_policy_learns_on_all_seats_of_a_side(store: FolderStore) -> None:
    study = load({
        "kind": "train", "game": COVER, "policies": {"team": {"seats": [0, 1, 2]}}, "steps": 192, "samplers": 1,
        "environments": 4, "learner": {"kind": "ppo", "batch": 96, "minibatch": 48, "fragment": 8}, "episodes": 2,
        "checkpoint_every": 96, "pool": {"kind": "local"},
    })  # fmt: skip
    *_, end = STUDIES["train"].load()(study, store, "", lambda: "")
    assert isinstance(end, Finished), end
    assert end.counters.steps == 192


def test_two_teams_are_evaluated_squad_against_squad(store: FolderStore) -> None:
    names = ("tanks-static", "tanks-aggressive")
    study = load({
        "kind": "evaluate", "game": {"name": "tanks-two-teams", "settings": {"max_ticks": 40}}, "episodes": 20,
        "policies": {name: {"kind": "scripted", "player": name} for name in names},
    })  # fmt: skip
    *_, end = run(study, store)
    assert isinstance(end, Finished), end
    share = unpack(store.get(end.artifacts["table"])).arrays["share"]
    assert share[1, 0] > 0.9, "all five attack, from either side"


def test_an_agent_of_a_team_meets_strangers_with_its_whole_team(store: FolderStore) -> None:
    policy = kept(untrained(Tanks().spec.seats[0]), store)
    game = {"name": "tanks", "settings": {"max_ticks": 20, "opponent": "static", "obstacles": 0}}
    stranger = {"kind": "scripted", "player": "tanks-aggressive", "title": "Attacks"}
    *_, end = run(measurement(policy, game=game, episodes=50, strangers=[stranger]), store)
    assert isinstance(end, Finished), end
    told = unpack(store.get(end.artifacts["table"])).meta
    own = {m["name"]: m["mean"] for m in told["measures"]}
    met = {m["name"]: m["mean"] for m in told["against"][0]["measures"]}
    assert own["lost"] == pytest.approx(own["friendly"], abs=1e-6), "who stands still hurts nobody"
    assert met["lost"] > own["lost"] + 0.2
    whole = record(Tanks(opponent="static"), Aggressive(Tanks().spec.seats[0]), None, seed=4)
    assert whole.win == 1
    assert whole.positions.shape == (len(whole.moves) + 1, 126)


def test_sides_that_do_not_fill_the_seats_of_a_program_are_refused() -> None:
    spec = msgspec.structs.replace(Navigation().spec, squad=2)
    assert list(game_problems(spec)) == ["it has 3 seats, and sides of 2 seats do not fill them"]


@pytest.mark.parametrize("kind", ["team-squashed", "team-deterministic"])
def test_a_group_whose_members_play_apart_is_measured_and_watched_on_its_side(store: FolderStore, kind: str) -> None:
    seat = Grouped(Navigation(), [Group((0, 1, 2))]).spec.seats[0]
    spec = PolicySpec(seat, ApartConfig(policy=(16,), critic=()), kind)
    policy = kept(Policy(spec, spec.model().initial(np.random.default_rng(5))), store)
    *_, end = run(measurement(policy, game=COVER, episodes=50), store)
    assert isinstance(end, Finished), end
    taken = zipfile.ZipFile(io.BytesIO(store.get(end.artifacts["take_home"])))
    assert "agent.onnx" in taken.namelist()
    agents = [{"kind": "frozen", "policy": policy, "title": "Ada"}]
    *_, end = run(load({"kind": "record", "game": COVER, "agents": agents, "seed": 9}), store)
    assert isinstance(end, Finished), end
    other = {"name": "navigation", "settings": {"max_ticks": 20, "entities": 2}}
    (failed,) = run(measurement(policy, game=other, episodes=50), store)
    assert isinstance(failed, Failed)
    assert "sees or does something else" in failed.message


def test_each_member_of_a_group_plays_its_own_seat_by_its_own_network() -> None:
    game = Navigation(max_ticks=9)
    seat = Grouped(Navigation(), [Group((0, 1, 2))]).spec.seats[0]
    spec = PolicySpec(seat, ApartConfig(policy=(16,), critic=()), "team-squashed")
    whole = Policy(spec, spec.model().initial(np.random.default_rng(5)) * 3)
    step, n = game.reset(np.arange(4, dtype=np.uint64)), 4
    seen = {"view": np.concatenate([each["view"] for each in step.observations])}
    batch = Batch(seen, None, np.arange(3 * n, dtype=np.uint64))
    found = on_seats(whole, whole.actor(explore=False))(batch).actions
    for i, member in enumerate(whole.members()):
        rows = slice(i * n, (i + 1) * n)
        alone = member.actor(explore=False)(Batch({"view": seen["view"][rows]}, None, batch.keys[rows])).actions
        np.testing.assert_allclose(found[rows], alone, rtol=0, atol=1e-6)
    assert len(np.unique(found.round(4), axis=0)) == 3 * n
