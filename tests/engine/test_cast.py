"""Who sits where: casts as pure functions, and what several policies on the seats of one sampler leave."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from engine.catalog import PLAYERS
from engine.channel import Weights
from engine.config.rl import NetworkConfig, PPOConfig
from engine.errors import ConfigError
from engine.games.atari_pong import AtariPong
from engine.games.connect_four import connect_four
from engine.games.goal import Goal
from engine.games.half_field import HalfField
from engine.games.herobattle.commanders import HeroBattleCommanders
from engine.games.navigation import Navigation
from engine.games.platform import Platform
from engine.games.pong import ImagePong, VectorPong
from engine.games.tanks import Tanks
from engine.mdp.adapters import VectorFromMDP
from engine.mdp.interface import Continuous, Discrete, Hybrid, Parameterised, SeatSpec
from engine.mdp.trajectory import Batch, Trajectory, join
from engine.mdp.vector import episode_seeds
from engine.rl.actor_critic import forward_all
from engine.rl.cast import Candidate, Cast
from engine.rl.examine import examine
from engine.rl.policy import Policy, PolicySpec
from engine.rl.ppo import PPO
from engine.rl.sampler import Episode, Sampler
from engine.rl.seats import Player
from engine.rng import battle_seeds
from tests.engine.rl_game import Signals
from tests.engine.sample_games import fallers

SMALL = NetworkConfig(policy=(8,), critic=(8,))
MEMORY = NetworkConfig(policy=(8,), critic=(8,), lstm=4)
SEATS = (0, 1)
POOL = {"agent": ("a" * 64, "b" * 64, "c" * 64)}


def mixed() -> Cast:
    """A policy that learns, itself as it was, and a script: any of them on either seat."""
    seat = [Candidate("agent", 2, learns=True), Candidate("past", 1, of="agent"), Candidate("random", 1)]
    return Cast([seat, seat])


def pong() -> VectorPong:
    return VectorPong(seats=SEATS, points=1, max_ticks=40)


def its_game(script: str) -> Any:
    """A short game, played from all its seats, that a script knows."""
    match script.partition("-")[0]:
        case "hero" | "herobattle":
            return HeroBattleCommanders(seats=SEATS)
        case "tanks":
            return Tanks(sides=SEATS, max_ticks=40)
        case "navigation":
            return Navigation(max_ticks=40)
        case "platform":
            return Platform(max_ticks=40)
        case "goal":
            return Goal()
        case "half":
            return HalfField(max_ticks=40, untouched=25)
        case "atari":
            return AtariPong(max_ticks=40)
    return pong()


def numbers(spec: PolicySpec, seed: int) -> np.ndarray:
    return spec.model().initial(np.random.default_rng(seed))


def players(spec: PolicySpec) -> Any:
    """Whoever does not learn: the catalogue's scripts, and policies as they once were, each by a seed of its own."""

    def player(policy: str) -> Player:
        if policy in PLAYERS:
            made: Player = PLAYERS[policy].load()(spec.seat)
            return made
        return Policy(spec, numbers(spec, sum(policy.encode()))).actor()

    return player


def sampler(game: Any, cast: Cast, network: NetworkConfig = SMALL, battles: int = 4, length: int = 10) -> Sampler:
    spec = PolicySpec(game.spec.seats[0], network)
    made = Sampler(game, {p: spec.model() for p in cast.learning}, battles, length, 3, cast=cast, players=players(spec))
    for i, policy in enumerate(cast.learning):
        made.load(Weights(policy, 0, 0, 5, {"actor": numbers(spec, i)}, POOL["agent"]))
    return made


def test_a_cast_depends_on_battle_episode_and_pool_alone() -> None:
    cast = mixed()
    battles, episodes = np.arange(200, dtype=np.uint64) * 977, np.arange(200) % 7
    drawn, names = cast.draw(battles, episodes, POOL), cast.names(POOL)
    for i in np.random.default_rng(1).permutation(200).tolist():
        again = mixed()(int(battles[i]), int(episodes[i]), POOL)
        assert again == tuple(names[k] for k in drawn[i])
    other = [cast(int(b), int(e), {"agent": POOL["agent"][:1]}) for b, e in zip(battles, episodes, strict=True)]
    same = [[("@" in a, a) if "@" not in a else True for a in row] for row in other]
    before = [[("@" in names[k], names[k]) if "@" not in names[k] else True for k in row] for row in drawn]
    assert same == before, "a longer pool changes which snapshot plays, and nothing else"


def test_shares_say_how_often_and_every_snapshot_is_as_likely() -> None:
    drawn = Counter(name for b in range(4000) for name in mixed()(b, 0, POOL))
    alone = 0.25 * 2 * 0.5  # episodes where nobody learned, in which one seat was given to the agent
    assert drawn["agent"] / 8000 == pytest.approx(0.5 + alone / 2, abs=0.03)
    past = [drawn[f"agent@{digest}"] for digest in POOL["agent"]]
    assert sum(past) / 8000 == pytest.approx(0.25 - alone / 4, abs=0.03)
    assert max(past) < 1.3 * min(past)


def test_no_episode_is_played_without_anybody_who_learns() -> None:
    rare = [Candidate("agent", 0.01, learns=True), Candidate("random")]
    casts = [Cast([rare, [Candidate("random")]])(b, e, {}) for b in range(50) for e in range(5)]
    assert set(casts) == {("agent", "random")}


def test_a_policy_without_a_past_plays_itself() -> None:
    cast = Cast([[Candidate("agent", learns=True)], [Candidate("past", of="agent")]])
    assert cast(7, 0, {}) == cast(7, 0, {"agent": ()}) == ("agent", "agent")
    assert cast(7, 0, {"agent": ("d" * 64,)}) == ("agent", "agent@" + "d" * 64)
    assert cast.places("agent") == (0, 1)


def test_a_seat_for_nobody_and_a_cast_in_which_nobody_learns_are_refused() -> None:
    with pytest.raises(ConfigError, match="nobody sits on seat 1"):
        Cast([[Candidate("agent", learns=True)], []])
    with pytest.raises(ConfigError, match="none of the policies learns"):
        Cast([[Candidate("random")]])
    with pytest.raises(ConfigError, match=r"policies\.agent\.seats: all its seats must see"):
        sampler(Two(), Cast([[Candidate("agent", learns=True)]] * 2))


class Two(VectorPong):
    """One of its seats sees less."""

    def __init__(self) -> None:
        super().__init__(seats=SEATS)
        seat = self.spec.seats[0]
        blind = SeatSpec(seat.observations, Discrete(2), seat.rewards, seat.signals)
        self.spec = type(self.spec)(self.spec.name, "1", (seat, blind), 100)


def test_two_policies_that_learn_leave_what_each_leaves_when_the_other_is_frozen() -> None:
    both = Cast([[Candidate("left", learns=True)], [Candidate("right", learns=True)]])
    made = sampler(pong(), both)
    spec = made.actors["left"].model.spec
    fragments = [made.sample() for _ in range(6)]
    assert all(set(found) == {"left", "right"} for found in fragments)
    for i, (policy, rival) in enumerate((("left", "right"), ("right", "left"))):
        cast = Cast([[Candidate(name, learns=name == policy)] for name in ("left", "right")])
        frozen = {rival: Policy(spec, numbers(spec, 1 - i)).actor()}
        alone = Sampler(pong(), {policy: spec.model()}, 4, 10, 3, cast=cast, players=frozen.__getitem__)
        alone.load(Weights(policy, 0, 0, 5, {"actor": numbers(spec, i)}))
        for found in fragments:
            one, other = found[policy], alone.sample()[policy]
            assert (one.policy, one.others) == (policy, ((rival,),))
            for field in ("actions", "log_probs", "rewards", "terminated", "versions"):
                np.testing.assert_array_equal(getattr(one, field), getattr(other, field), field)
    for episode in made.finished():
        assert episode.policy == ("left", "right")[episode.seat]


def told(made: Sampler, fragments: int) -> tuple[list[Trajectory], list[Episode]]:
    return [made.sample()["agent"] for _ in range(fragments)], made.finished()


def test_who_sat_where_in_each_episode_is_what_the_cast_says() -> None:
    made = sampler(pong(), mixed())
    fragments, episodes = told(made, 30)
    seeds = battle_seeds(3, np.array([0], np.uint64), 0, 4)[0].tolist()
    starts = {}
    for battle in seeds:
        for number in range(60):
            key = int(episode_seeds(np.array([battle], np.uint64), np.array([number]))[0])
            starts[key] = mixed()(battle, number, POOL)
    assert len(episodes) > 50
    assert len({episode.others for episode in episodes}) == 5
    for episode in episodes:
        cast = starts[episode.seed]
        assert (episode.policy, cast[episode.seat]) == ("agent", "agent")
        assert episode.others == (cast[1 - episode.seat],)
    expected = sum(e.length for e in episodes)
    assert expected <= sum(f.steps for f in fragments) <= expected + 8 * 40


def test_a_battle_plays_the_same_whatever_is_played_beside_it() -> None:
    (alone, _), (many, _) = told(sampler(pong(), mixed(), battles=1), 40), told(sampler(pong(), mixed(), battles=6), 40)
    ours = [row for f in alone for row in _played(f)]
    theirs = {tuple(row) for f in many for row in _played(f)}
    assert len(ours) > 100
    assert all(tuple(row) in theirs for row in ours)


def _played(f: Trajectory) -> list[list[float]]:
    """What was seen and done in decisions that count."""
    valid = np.ones(f.ended.shape, np.bool_) if f.valid is None else f.valid
    return np.concatenate([f.observations["field"][:-1][valid], f.actions[valid][:, None]], axis=1).tolist()


def test_each_decision_names_who_it_was_taken_against() -> None:
    fragments, episodes = told(sampler(pong(), mixed()), 30)
    met = Counter[str]()
    for f in fragments:
        valid = np.ones(f.ended.shape, np.bool_) if f.valid is None else f.valid
        against = np.zeros(f.ended.shape, np.int32) if f.against is None else f.against
        met.update({f.others[k][0]: int(c) for k, c in enumerate(np.bincount(against[valid], minlength=len(f.others)))})
    over = Counter[str]()
    for episode in episodes:
        over[episode.others[0]] += episode.length
    assert met.keys() == over.keys()
    assert all(over[name] <= met[name] <= over[name] + 8 * 40 for name in over)


def test_what_others_did_is_not_learned_from_and_streams_without_the_policy_are_left_out() -> None:
    rare = [Candidate("agent", 0.2, learns=True), Candidate("random")]
    fragments, _ = told(sampler(pong(), Cast([rare, rare]), battles=16), 12)
    assert any(f.streams < 32 for f in fragments)
    for f in fragments:
        if f.valid is not None:
            assert f.valid.any(axis=0).all()
            assert not f.log_probs[~f.valid].any()
    joined = join(fragments)
    assert joined.others == (("random",), ("agent",)) or set(joined.others) <= {("random",), ("agent",)}
    again, _ = Trajectory.decode([bytes(frame) for frame in joined.encode()])
    assert (again.policy, again.others) == ("agent", joined.others)
    assert again.against is not None
    np.testing.assert_array_equal(again.against, joined.against)


@pytest.mark.parametrize("network", [SMALL, MEMORY])
def test_learners_recompute_what_a_policy_did_between_episodes_of_others(network: NetworkConfig) -> None:
    """Its memory is its own, and begins afresh with each of its episodes; so too where seats die early."""
    seat = [Candidate("agent", learns=True), Candidate("random"), Candidate("past", of="agent")]
    game = VectorFromMDP(fallers())
    made = sampler(game, Cast([seat] * len(game.spec.seats)), network, battles=8, length=40)
    learner = PPO(game.spec.seats[0], PPOConfig(network=network), 1, 100)
    learner.start_from(numbers(made.actors["agent"].model.spec, 0))
    made.sample()
    seen = made.sample()["agent"]
    assert seen.valid is not None
    batch, parts = learner.batch(seen), learner.model.network.parts(learner.theta)
    found = forward_all(learner.model, parts, batch)
    log_pi = learner.model.distribution.log_prob(found.policy, None, batch.actions, None).detach().numpy()
    count = seen.valid.ravel()
    assert 50 < count.sum() < len(count)
    np.testing.assert_allclose(log_pi[count], seen.log_probs.ravel()[count], rtol=1e-4, atol=1e-5)
    assert np.isfinite(list(learner.update(seen).values())).all()


def test_an_opponent_with_memory_remembers_in_an_examination() -> None:
    game = VectorPong(seats=SEATS, points=1, max_ticks=60)
    spec = PolicySpec(game.spec.seats[0], MEMORY)
    one, other = (Policy(spec, 3 * numbers(spec, seed)) for seed in (1, 2))
    seats = [[Candidate("one", learns=True)], [Candidate("other", learns=True)]]
    left = examine({0: one}, game, 20, 5, cast=Cast(seats), players=lambda _: other.actor(False))[0]
    right = examine({1: other}, game, 20, 5, cast=Cast(seats), players=lambda _: one.actor(False))[1]
    np.testing.assert_array_equal(left.win, 1 - right.win)
    np.testing.assert_array_equal(left.lengths, right.lengths)
    assert (left.win < 1).any()


@pytest.mark.parametrize("network", [SMALL, MEMORY])
@pytest.mark.parametrize("game", [VectorPong(seats=SEATS, points=2, max_ticks=200), connect_four()])
def test_two_policies_examined_in_the_same_battles_do_what_each_does_alone(game: Any, network: NetworkConfig) -> None:
    spec = PolicySpec(game.spec.seats[0], network)
    both = {seat: Policy(spec, 3 * numbers(spec, seat)) for seat in SEATS}
    cast = Cast([[Candidate(str(seat), learns=True)] for seat in SEATS])
    more: dict[str, Any] = {"cast": cast, "players": lambda name: both[int(name)].actor(False), "first": 7}
    together = examine(both, game, 30, 5, **more)
    for seat, policy in both.items():
        (alone,) = examine({seat: policy}, game, 30, 5, **more).values()
        for what, same in zip(together[seat], alone, strict=True):
            np.testing.assert_array_equal(what, same, strict=True)
    assert not np.array_equal(together[0].returns, together[1].returns)


@pytest.mark.parametrize("name", list(PLAYERS))
def test_every_script_plays_a_game(name: str) -> None:
    game = its_game(name)
    seat = game.spec.seats[0]
    agent = PolicySpec(seat, SMALL)
    own = max(len(game.spec.seats) // 2, 1)
    others = len(game.spec.seats) - own
    cast = Cast([[Candidate("agent", learns=True)]] * own + [[Candidate(name)]] * others)
    found = examine({0: Policy(agent, numbers(agent, 1))}, game, 50, 5, cast=cast, players=players(agent))[0]
    assert np.isfinite(found.returns).all()
    if len(game.spec.seats) > game.spec.squad:  # otherwise nobody wins
        assert 0 <= found.win.mean() <= 1
    if name in ("pong-follower", "pong-interceptor"):
        assert found.win.mean() < 0.3
        with pytest.raises(ConfigError, match="eight numbers"):
            PLAYERS[name].load()(ImagePong().spec.seats[0])


def test_the_random_player_does_all_that_is_legal_and_nothing_else() -> None:
    line, keys = Continuous((-2.0,), (5.0,), (1,)), np.arange(3000, dtype=np.uint64) * 7919
    for action in (Discrete(3), line, Hybrid((Discrete(3), line)), Parameterised((1, 0, 2))):
        player = PLAYERS["random"].load()(Signals(action).spec.seats[0])
        masks = None
        if action.legal:
            masks = np.ones((3000, action.legal), np.bool_)
            masks[:, 1] = False
        rows = player(Batch({}, masks, keys)).actions.reshape(3000, -1)
        if action.choices:
            shares = np.bincount(rows[:, 0].astype(int), minlength=3) / 3000
            assert shares == pytest.approx([0.5, 0, 0.5], abs=0.05)
        low, high = action.bounds
        parameters = rows[:, len(action.choices) :]
        assert (low <= parameters).all()
        assert (parameters <= high).all()
        assert parameters.mean(axis=0) == pytest.approx((low + high) / 2, abs=0.2)


@pytest.mark.parametrize(
    "seats",
    [
        [{"a": 1.0, "past": 1.0}, {"a": 1.0, "past": 1.0}],
        [{"a": 0.25, "past": 0.75}, {"past": 1.0}],
        [{"a": 0.1, "past": 0.9}, {"b": 0.3, "past": 0.9}],
        [{"a": 1.0, "b": 3.0}, {"a": 2.0, "past": 5.0}],
    ],
)
def test_policies_sit_as_often_as_is_expected_of_them_also_where_nobody_else_learns(
    seats: list[dict[str, float]],
) -> None:
    cast = Cast([[Candidate(name, share, learns=name != "past") for name, share in seat.items()] for seat in seats])
    n = 40_000
    drawn = np.array(cast.names({}))[cast.draw(np.arange(n, dtype=np.uint64), np.zeros(n, np.int64), {})]
    for name in cast.learning:
        assert (drawn == name).sum() / n == pytest.approx(cast.expected(name), abs=0.02)
