"""Games whose sides have several seats: one player takes all seats of its side wherever sides meet."""

from __future__ import annotations

import io
import zipfile

import msgspec
import numpy as np
import pytest

from engine.arrays import unpack
from engine.catalog import STUDIES
from engine.config.rl import ApartConfig
from engine.errors import ConfigError
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


@pytest.mark.parametrize("kind", ["team-squashed", "team-deterministic", "squashed", "deterministic"])
def test_a_group_is_measured_and_watched_on_its_side(store: FolderStore, kind: str) -> None:
    """Its members have networks of their own (MASAC, MADDPG), or all have one (joint SAC, joint TD3)."""
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


def test_a_group_that_is_smaller_than_a_side_is_refused_with_what_would_fit(store: FolderStore) -> None:
    seat = Grouped(Tanks(sides=(0, 1)), [Group((0, 1, 2)), *(Group((i,)) for i in range(3, 10))]).spec.seats[0]
    spec = PolicySpec(seat, ApartConfig(policy=(16,), critic=()), "squashed")
    policy = kept(Policy(spec, spec.model().initial(np.random.default_rng(5))), store)
    game = {"name": "tanks-two-teams", "settings": {"max_ticks": 20}}
    me = {"kind": "frozen", "policy": policy}
    script = {"kind": "scripted", "player": "tanks-static"}
    for study in (
        measurement(policy, game=game, episodes=50, opponent=script),
        load({"kind": "record", "game": game, "agents": [me], "opponent": script}),
        load({"kind": "evaluate", "game": game, "policies": {"me": me, "other": script}, "episodes": 10}),
    ):
        *_, failed = run(study, store)
        assert isinstance(failed, Failed)
        assert "steers 3 entities together, and here it has 5 seats" in failed.message


def test_agents_of_one_seat_and_of_a_whole_team_meet_in_an_evaluation_and_are_watched(store: FolderStore) -> None:
    """SAC and TD3 on each seat, and one large SAC of a team."""
    one, team = Tanks().spec.seats[0], Grouped(Tanks(), [Group(tuple(range(5)))]).spec.seats[0]
    players = {}
    for name, kind, seat in (("sac", "squashed", one), ("td3", "deterministic", one), ("joint", "squashed", team)):
        spec = PolicySpec(seat, ApartConfig(policy=(16,), critic=()), kind)
        policy = Policy(spec, spec.model().initial(np.random.default_rng(5)))
        players[name] = {"kind": "frozen", "policy": kept(policy, store), "title": name}
    game = {"name": "tanks-two-teams", "settings": {"max_ticks": 20}}
    *_, end = run(load({"kind": "evaluate", "game": game, "policies": players, "episodes": 4}), store)
    assert isinstance(end, Finished), end
    study = {"kind": "record", "game": game, "agents": [players["sac"], players["joint"]], "opponent": players["td3"]}
    *_, end = run(load(study), store)
    assert isinstance(end, Finished), end
    assert unpack(store.get(end.artifacts["recording"])).arrays["positions/1"].shape[1] == 126


def test_a_squad_whose_members_differ_is_watched_with_everybody_on_seats_of_their_own(store: FolderStore) -> None:
    """A SAC group of three and a single SAC beside two scripts, against two players of the other side."""
    one = Tanks().spec.seats[0]
    trio = Grouped(Tanks(), [Group((0, 1, 2)), Group((3,)), Group((4,))]).spec.seats[0]
    trained = {}
    for name, seat in (("one", one), ("trio", trio)):
        spec = PolicySpec(seat, ApartConfig(policy=(16,), critic=()), "squashed")
        policy = Policy(spec, spec.model().initial(np.random.default_rng(5)))
        trained[name] = {"kind": "frozen", "policy": kept(policy, store), "title": name}
    still, wild = ({"kind": "scripted", "player": f"tanks-{how}"} for how in ("static", "aggressive"))
    study = {
        "kind": "record", "game": {"name": "tanks-two-teams", "settings": {"max_ticks": 20}}, "seed": 3,
        "agents": [trained["trio"]], "opponent": still,
        "beside": [{"player": trained["one"], "seats": [3]}, {"player": wild, "seats": [4, 9]}],
    }  # fmt: skip
    *_, end = run(load(study), store)
    assert isinstance(end, Finished), end
    places = unpack(store.get(end.artifacts["recording"])).arrays["positions/0"][:, :60].reshape(-1, 12, 5)
    moved = np.abs(np.diff(places[:, :10, :2], axis=0)).max(axis=(0, 2)) > 0
    assert moved[[4, 9]].all(), "who attacks drives, on either side"
    assert not moved[5:9].any(), "who stands still does not"
    for wrong, said in (
        ({"beside": [{"player": wild, "seats": [10]}]}, "this game has 10 seats, the last of which is 9"),
        ({"beside": [{"player": wild, "seats": [4]}]}, "steers 3 entities together, and here it has 4 seats"),
        ({"opponent": None}, "somebody must sit there"),
    ):
        *_, failed = run(load(study | wrong), store)
        assert isinstance(failed, Failed)
        assert said in failed.message
    with pytest.raises(ConfigError, match="somebody sits on seat 4 already"):
        load(study | {"beside": [{"player": wild, "seats": [4]}, {"player": still, "seats": [4]}]})


def test_one_network_of_a_group_decides_by_what_all_see_and_by_who_is_there() -> None:
    """On the seats of a side it does what it does on the group's own seat, also once members are out."""
    plain = Tanks(sides=(0, 1))
    whole = Grouped(Tanks(sides=(0, 1)), [Group(tuple(range(5))), Group(tuple(range(5, 10)))])
    spec = PolicySpec(whole.spec.seats[0], ApartConfig(policy=(16,), critic=()), "squashed")
    policy = Policy(spec, spec.model().initial(np.random.default_rng(5)))
    seeds, keys = np.arange(4, dtype=np.uint64), np.zeros(4, np.uint64)
    together, apart = whole.reset(seeds), plain.reset(seeds)
    attack, out = Aggressive(plain.spec.seats[0]), False
    for _ in range(60):
        own = policy.actor(False)(Batch(together.observations[0], None, keys)).actions
        names = apart.observations[0]
        seen = {name: np.concatenate([apart.observations[i][name] for i in range(5)]) for name in names}
        found = on_seats(policy, policy.actor(False))(Batch(seen, None, np.tile(keys, 5))).actions
        np.testing.assert_array_equal(np.concatenate(np.split(found, 5), axis=1), own)
        others = [attack(Batch(apart.observations[i], None, keys)).actions for i in range(5, 10)]
        moves = [*np.split(found, 5), *others]
        out = out or not apart.alive[:, :5].all()
        together, apart = whole.step([own, np.concatenate(others, axis=1)]), plain.step(moves)
    assert out, "somebody was out"


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
