"""Self-play: who meets whom, from which seat and how often; what is handed on; the same end whatever happens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.arrays import Bundle, unpack
from engine.config.self_play import Choice, OpponentsConfig, SelfPlayConfig
from engine.errors import ConfigError
from engine.events import AnyEvent, Failed, Finished, Logged, Paused, Progressed, Stopped
from engine.evorl.opponents import MET, Faced, remembered, restored, shares
from engine.evorl.self_play import SelfPlay
from engine.evorl.self_play_evaluator import SelfPlayEvaluator
from engine.evorl.trainings import opened
from engine.games.rock_paper_scissors import PAYOFF, RockPaperScissors
from engine.mdp.vector import VectorMDP
from engine.metagame.equilibrium import shares as nash
from engine.problem import PLAIN, TRAINED, WEIGHTS, Evaluation, Request, SelfPlayContext, of_kind
from engine.rl.opposition import Opposition
from engine.rng import combine64
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from engine.study.evolve import apart
from engine.study.self_play import ladder_of
from tests.contracts.algorithm import ONE, AlgorithmContract, Task, answer
from tests.contracts.mdp import VectorContract
from tests.engine.coarse_trainings import round_ends
from tests.engine.cutting import cut_off

GOLDEN = Path(__file__).parents[1] / "golden" / "self_play.json"
SEEDS = combine64(5, np.arange(4000, dtype=np.uint64))
LEARNER: dict[str, Any] = {
    "kind": "ppo", "batch": 32, "fragment": 8, "minibatch": 16, "rate": [1e-3, 1e-1], "entropy_weight": 0.0,
    "network": {"policy": [8], "critic": [8]},
}  # fmt: skip
TASK: dict[str, Any] = {
    "game": "rock-paper-scissors", "learner": LEARNER, "steps": 64, "environments": 4, "checkpoint_every": 32,
}  # fmt: skip


def settings(**more: Any) -> dict[str, Any]:
    """Three rounds of three members that take a moment."""
    algorithm = {"population": 3, "exploit": "truncation", "share": 0.34}
    usual = {"ticks": 3, "episodes": 6, "fresh": 4, "pool": {"kind": "local"}, "algorithm": algorithm}
    return {"kind": "self-play", "name": "small", "seed": 3, "task": TASK, **usual, **more}


def study(**more: Any) -> SelfPlayConfig:
    config = load(settings(**more))
    assert isinstance(config, SelfPlayConfig)
    return config


def results(found: list[AnyEvent]) -> dict[str, str]:
    assert isinstance(found[-1], Finished), found[-1]
    return {k: v for k, v in found[-1].artifacts.items() if k != "checkpoint"}


def bundle(store: FolderStore, digest: str) -> Bundle:
    return unpack(store.get(digest))


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "store")


class TestRockPaperScissors(VectorContract):
    def make(self) -> VectorMDP:
        return RockPaperScissors()


class TestSelfPlay(AlgorithmContract):
    """As population based training."""

    of: ClassVar[Task] = ONE

    @staticmethod
    def algorithm(*given: Any, **settings: Any) -> SelfPlay:
        return SelfPlay(*given, opponents=OpponentsConfig(), **settings)


def test_a_battle_says_who_sits_where_and_seats_are_exchanged_from_episode_to_episode() -> None:
    cast = Opposition("agent", {"a": 1, "b": 3})
    first, second = (cast.draw(SEEDS, np.full(len(SEEDS), episode), {}) for episode in (4, 5))
    assert ((first == 0).sum(axis=1) == 1).all(), "one seat learns"
    np.testing.assert_array_equal((first == 0)[:, 0], (second == 0)[:, 1])
    assert 0.47 < (first[:, 0] == 0).mean() < 0.53
    others = np.maximum(first[:, 0], first[:, 1])
    assert 0.72 < (others == 2).mean() < 0.78
    alone = cast.draw(SEEDS[7:8], np.array([4]), {})
    np.testing.assert_array_equal(alone[0], first[7])


def test_where_it_is_measured_it_meets_the_same_opponent_from_either_seat() -> None:
    cast = Opposition("agent", {"a": 0.5, "c": 0.5, "b": 0.0})
    zero = np.zeros(len(SEEDS), np.int64)
    left, right = (cast.facing("me", seat).draw(SEEDS, zero, {}) for seat in (0, 1))
    assert (left[:, 0] == 0).all()
    assert (right[:, 1] == 0).all()
    np.testing.assert_array_equal(left[:, 1], right[:, 0])
    np.testing.assert_array_equal(left[:, 1] - 1, cast.opponents(SEEDS, zero))
    assert set(left[:, 1].tolist()) == {1, 3}


def test_somebody_must_be_there_to_play_against() -> None:
    with pytest.raises(ConfigError, match="nobody to play against"):
        Opposition("agent", {"a": 0.0})


def test_the_latest_the_whole_pool_or_mostly_the_latest_are_drawn() -> None:
    latest, past = ["7", "8"], ["1", "2", "3", "4"]
    assert shares("latest", latest, past, {}) == {"7": 0.5, "8": 0.5}
    assert shares("uniform", latest, past, {}) == pytest.approx(dict.fromkeys([*latest, *past], 1 / 6))
    assert shares("mostly-latest", latest, past, {}) == {"7": 0.4, "8": 0.4, **dict.fromkeys(past, 0.05)}
    assert shares("mostly-latest", latest, [], {}) == {"7": 0.5, "8": 0.5}
    assert shares("hardest", [], [], {}) == {}


def test_the_hardest_are_drawn_most_and_the_unknown_as_often_as_they() -> None:
    """p ∝ (max w - w)^3: 0, 0.3^3 and 0.6^3; who was met too seldom counts as the hardest."""
    faced = {"a": (20.0, 18.0, 20.0), "b": (20, 12, 20), "c": (20, 6, 20), "d": (MET - 1, MET - 1, MET - 1)}
    total = 0.3**3 + 2 * 0.6**3
    expected = {"a": 0.0, "b": 0.3**3 / total, "c": 0.6**3 / total, "d": 0.6**3 / total}
    assert shares("hardest", ["a", "b"], ["c", "d"], faced) == pytest.approx(expected)
    even = {"a": (20.0, 10.0, 20.0), "b": (20.0, 10.0, 20.0)}
    assert shares("hardest", ["a"], ["b"], even) == {"a": 0.5, "b": 0.5}


def test_who_was_met_often_stays_known_though_old_results_are_forgotten() -> None:
    """The share of wins follows the latest results; a checkpoint that did not tell how many there were goes on."""
    faced = remembered({}, {"a": (12.0, 12.0), "b": (4.0, 1.0)})
    for _ in range(2):
        faced = remembered(faced, {"b": (4.0, 1.0)})
    assert faced == {"a": (3.0, 3.0, 12.0), "b": (7.0, 1.75, 12.0)}
    assert shares("hardest", ["a"], ["b"], faced) == {"a": 0.0, "b": 1.0}
    for _ in range(1200):
        faced = remembered(faced, {})
    assert sum(shares("hardest", ["a"], ["b"], faced).values()) == pytest.approx(1), "even where nothing is left"
    assert restored({"a": [3.0, 2.0], "b": [3.0, 2.0, 12.0]}) == {"a": (3.0, 2.0, 3.0), "b": (3.0, 2.0, 12.0)}


def test_a_pool_that_grows_is_still_drawn_by_who_is_hard() -> None:
    """Eight members, each of whom meets 228 opponents a step: those of ten steps ago are beaten in 97 of 100 battles.
    Half the distance between the shares and equal ones is measured, from 0 to 1."""
    rng, pool = np.random.default_rng(1), list[str]()
    faced: Faced = {}
    for step in range(16):
        pool += [f"{step}.{member}" for member in range(8)]
        age = np.repeat(np.arange(step, -1, -1), 8)
        drawn = shares("hardest", pool[-8:], pool[:-8], faced)
        share, beaten = np.array([drawn[name] for name in pool]), np.minimum(0.97, 0.5 + 0.047 * age)
        games = rng.multinomial(228, share)
        rows = zip(pool, games.tolist(), rng.binomial(games, beaten).tolist(), strict=True)
        faced = remembered(faced, {name: (n, won) for name, n, won in rows if n})
    assert np.abs(share - 1 / len(pool)).sum() / 2 > 0.15
    assert share[beaten > 0.9].sum() < 0.7 * (beaten > 0.9).mean()


def learned(choice: Choice, rounds: int = 40) -> NDArray[np.float64]:
    """The strategies [rounds, 3] of one member of rock, paper, scissors that follows the exact gradient of its payoff
    against whom the rule draws, a round at a time."""
    versions: list[NDArray[np.float64]] = []
    theta, against = np.array([0.4, 0.0, -0.2]), np.full(3, 1 / 3)
    faced: dict[str, tuple[float, float, float]] = {}
    for _ in range(rounds):
        if versions:
            names = [str(k) for k in range(len(versions))]
            weights = shares(choice, names[-1:], names[:-1], faced)
            against = sum(weight * versions[int(name)] for name, weight in weights.items())
        for _ in range(60):
            p = np.exp(theta) / np.exp(theta).sum()
            gain = PAYOFF @ against
            theta = np.clip(theta + p * (gain - p @ gain), -4, 4)
        p = np.exp(theta) / np.exp(theta).sum()
        versions.append(p)
        faced = {str(k): (100, 100 * (0.5 + p @ PAYOFF @ q / 2), 100) for k, q in enumerate(versions)}
    return np.array(versions)


def test_against_the_latest_alone_rock_paper_scissors_runs_in_circles() -> None:
    versions = learned("latest")[10:]
    assert set(versions.argmax(axis=1).tolist()) == {0, 1, 2}, "each in turn"
    assert versions.max(axis=1).mean() > 0.8, "and never anything like a third of each"
    gains = np.einsum("ni,ij,nj->n", versions[1:], PAYOFF, versions[:-1])
    assert (gains > 0).all(), "although each is better than the one before"


@pytest.mark.parametrize("choice", ["uniform", "hardest"])
def test_a_pool_and_nash_averaging_come_to_a_third_of_each(choice: Choice) -> None:
    versions = learned(choice)
    mixed = nash(versions @ PAYOFF @ versions.T / 2) @ versions
    np.testing.assert_allclose(mixed, 1 / 3, atol=0.02)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[FolderStore, list[AnyEvent]]:
    """The small study, played once, and its store."""
    store = FolderStore(tmp_path_factory.mktemp("store"))
    return store, list(run(study(), store))


def golden_run(store: FolderStore, found: list[AnyEvent]) -> dict[str, Any]:
    """The ladder, who went on from whom, and decisions."""
    ladder, lineage = (bundle(store, results(found)[role]).arrays for role in ("table", "lineage"))
    numbers = {name: np.round(ladder[name].astype(float), 6).tolist() for name in ("id", "meetings", "rating")}
    return {**numbers, "copied": lineage["copied"].tolist(), "steps": found[-1].counters.steps}


def test_self_play_has_a_golden_result_and_still_gives_it(store: FolderStore, monkeypatch: pytest.MonkeyPatch) -> None:
    round_ends(monkeypatch)
    found, golden = golden_run(store, list(run(study(), store))), json.loads(GOLDEN.read_text())
    np.testing.assert_allclose(found.pop("rating"), golden.pop("rating"), rtol=1e-4, atol=1e-4)
    assert found == golden


def test_a_population_learns_from_itself_and_leaves_a_ladder_its_lineage_and_its_pool(
    small: tuple[FolderStore, list[AnyEvent]],
) -> None:
    store, found = small
    left = results(found)
    ladder = bundle(store, left["table"])
    assert ladder.meta["outside"] == ["random"]
    columns = ladder.arrays
    assert columns["id"].tolist() == [-1, *range(9)]
    assert columns["present"].tolist() == [0] * 7 + [1] * 3
    assert np.isfinite(columns["rating"]).all(), "a chain of meetings connects all"
    assert (columns["rating_low"] < columns["rating"]).all()
    assert (columns["rating"] < columns["rating_high"]).all()
    assert set(columns["beside"][columns["present"] == 0][1:].tolist()) == {0}, "only who stands on it is looked at"
    assert columns["meetings"].sum() == 2 * (9 * 6 + 6 * (1 + 2 + 3)), "in the end the last three met each other"
    assert (columns["meetings"][-3:] > 6).all()
    assert "The 3 members meet one another, about 6 times each." in [e.message for e in found if isinstance(e, Logged)]
    assert abs(columns["rating"][columns["present"] == 1].mean()) < 1e-6
    lineage = bundle(store, left["lineage"]).arrays
    assert (lineage["copied"] >= 0).sum() == 2, "the last one of three goes on from the first in each round"
    for role, ids in (("members", [6, 7, 8]), ("pool", list(range(9)))):
        assert bundle(store, left[role]).arrays["id"].tolist() == ids
    networks = {number: policy.pack()[0] for number, policy in apart(store.get(left["members"]))}
    highest = max(networks, key=lambda number: columns["rating"][columns["id"] == number])
    assert store.get(left["policy_description"]) == networks[highest]
    assert found[-1].counters.steps >= 9 * (64 + 12)
    assert not list((store.folder / "leases").iterdir())


def test_with_a_small_pool_the_oldest_leave_and_the_latest_stay(store: FolderStore) -> None:
    left = results(list(run(study(opponents={"capacity": 2, "choice": "uniform"}, fresh=0), store)))
    assert bundle(store, left["table"]).arrays["id"].tolist() == [-1, 4, 5, 6, 7, 8]


def met_in(request: Request, met: dict[str, tuple[float, float, float]]) -> Evaluation:
    """An answer of a member that met these."""
    context = of_kind(request.context, SelfPlayContext)
    digests = {TRAINED: f"training {request.id}", WEIGHTS: f"weights {request.id}"}
    return answer(request, ONE)._replace(context=msgspec.structs.replace(context, artifacts=digests, met=met))


def test_members_that_won_everything_are_told_apart_once_they_meet_one_another() -> None:
    """Members of a round are measured on those of the round before, and so never on one another."""
    search = TestSelfPlay.algorithm(ONE.problem, 3, 1, 1, 4, PLAIN)
    for request in search.ask(10):
        search.tell(met_in(request, {"random": (4.0, 4.0, 4.0)}))
    assert len(set(ladder_of(search)["rating"][1:].round(6))) == 1
    asked = search.round_robin(1000, 5)
    assert [(r.id, r.first, r.last) for r in asked] == [(0, 1000, 1005), (1, 1000, 1010), (2, 1000, 1015)]
    against = [of_kind(r.context, SelfPlayContext).opponents for r in asked]
    assert [list(each) for each in against] == [["random"], ["0", "random"], ["0", "1", "random"]]
    assert against[2]["1"] == ("weights 1", 0.0, 1 / 3)
    for request, names in zip(asked, against, strict=True):
        search.meet(
            [met_in(request, {name: (5.0, 5.0, 5.0) if name == "random" else (5.0, 0.0, 0.0) for name in names})]
        )
    assert search.results[1] == {"random": [9.0, 9.0, 9.0], "0": [5.0, 0.0, 0.0]}
    first, second, third = ladder_of(search)["rating"][1:]
    assert first > second > third, "as they beat one another"


@pytest.mark.parametrize("choice", ["latest", "hardest"])
def test_it_is_paused_killed_and_resumed_to_the_same_end(choice: str, store: FolderStore) -> None:
    """Abandoned after its first round, resumed, paused in the middle of a member's training, resumed to the end."""
    config = study(opponents={"choice": choice, "others": {"script": {"kind": "scripted", "player": "random"}}})
    whole = results(list(run(config, store)))
    killed = next(e for e in run(config, store) if isinstance(e, Progressed))
    asked: list[int] = []

    def soon() -> Any:
        asked.append(1)
        return "pause" if len(asked) > 6 else ""

    paused = list(run(config, store, killed.artifacts["checkpoint"], control=soon))
    assert isinstance(paused[-1], Paused)
    left = paused[-1].artifacts
    assert [i for i, _ in apart(store.get(left["members"]))], "it may never go on"
    assert {"pool", "policy", "policy_description"} <= left.keys()
    assert results(list(run(config, store, paused[-1].artifacts["checkpoint"]))) == whole


@pytest.mark.parametrize("command", ["pause", "stop"])
def test_every_member_of_the_round_that_is_cut_off_stays_with_its_network(
    command: str, store: FolderStore, small: tuple[FolderStore, list[AnyEvent]], monkeypatch: pytest.MonkeyPatch
) -> None:
    last = cut_off(study(), store, command, 5, monkeypatch)[-1]
    assert isinstance(last, Paused | Stopped)
    left = dict(apart(store.get(last.artifacts["arrived_agents"])))
    whole = dict(apart(small[0].get(results(small[1])["pool"])))
    assert list(left) == [3, 4]
    assert [policy.pack() for policy in left.values()] == [whole[3].pack(), whole[4].pack()]
    lineage = bundle(store, last.artifacts["lineage"]).arrays
    assert lineage["step"][np.isin(lineage["id"], [3, 4])].tolist() == [1, 1], "who they are is known"


def test_each_member_by_itself_needs_no_rounds(store: FolderStore) -> None:
    config = study(algorithm={"population": 3, "steady": True})
    first = next(e for e in run(config, store) if isinstance(e, Progressed))
    left = results(list(run(config, store, first.artifacts["checkpoint"])))
    assert len(bundle(store, left["table"]).arrays["id"]) == 10


def test_a_worker_that_takes_a_member_over_goes_on_where_the_last_one_was(tmp_path: Path) -> None:
    """With all battles counted that were played before."""
    config = study(task={**TASK, "steps": 192})
    kinds = {"random": ("", 1.0, 1.0)}
    answers = []
    for name, stop in (("a", 10**9), ("b", 4)):
        trainings, asked = opened(FolderStore(tmp_path / name), "study"), [0]

        def stopped(asked: list[int] = asked, stop: int = stop) -> bool:
            asked[0] += 1
            return asked[0] == stop

        genome = SelfPlayEvaluator(config, trainings).initialize(np.random.default_rng(1))
        request = Request(0, genome, 0, 4, 3, SelfPlayContext(opponents=kinds))
        found = [e for _ in range(2) for e in SelfPlayEvaluator(config, trainings).evaluate([request], stopped)]
        answers.append(found)
    whole, halves = answers
    assert len(halves) == 1, "stopped once"
    assert halves[0].context == whole[0].context
    assert isinstance(whole[0].context, SelfPlayContext)
    assert whole[0].context.faced["random"][0] > 150
    np.testing.assert_array_equal(halves[0].values, whole[0].values)


def test_members_learn_how_battles_of_pong_end_and_the_pool_counts_them(tmp_path: Path) -> None:
    """A tenth of the training is less than an update, and an update less than an episode of every battle."""
    game = {"name": "pong-two-seats", "settings": {"points": 3, "max_ticks": 250}}
    config = study(task={**TASK, "game": game, "steps": 1536, "environments": 2, "checkpoint_every": 0})
    players = SelfPlayEvaluator(config, opened(FolderStore(tmp_path), "study"))
    genome = players.initialize(np.random.default_rng(1))
    asked = Request(0, genome, 0, 4, 3, SelfPlayContext(opponents={"random": ("", 1.0, 1.0)}))
    (answer,) = players.evaluate([asked], lambda: False)
    players.close()
    assert isinstance(answer.context, SelfPlayContext)
    games, won = answer.context.faced["random"]
    assert games >= 2 * 3, "each battle ends as often as its moves allow"
    assert 0 < won < games


def test_who_trains_against_somebody_else_becomes_somebody_else(tmp_path: Path) -> None:
    config, trainings = study(), opened(FolderStore(tmp_path), "study")
    players = SelfPlayEvaluator(config, trainings)
    genome = players.initialize(np.random.default_rng(1))
    random = SelfPlayContext(opponents={"random": ("", 1.0, 1.0)})
    (one,) = players.evaluate([Request(0, genome, 0, 4, 3, random)], lambda: False)
    mine = one.context.artifacts["weights"]
    itself = SelfPlayContext(opponents={"0": (mine, 1.0, 0.0), "random": ("", 0.0, 1.0)})
    (two,) = players.evaluate([Request(1, genome, 0, 4, 3, itself)], lambda: False)
    assert isinstance(two.context, SelfPlayContext)
    assert two.context.artifacts["weights"] != mine
    assert set(two.context.faced) == {"0"}
    assert two.context.met["random"][0] == 4
    players.close()


def test_saved_agents_and_scripts_play_too_and_are_rated_beside_the_members(store: FolderStore) -> None:
    saved = results(list(run(study(ticks=1, fresh=0), store)))["policy_description"]
    others = {"old": {"kind": "frozen", "policy": saved}, "script": {"kind": "scripted", "player": "random"}}
    found = list(run(study(seed=4, opponents={"others": others, "others_share": 0.5}), store))
    ladder = bundle(store, results(found)["table"])
    assert ladder.meta["outside"] == ["old", "script"]
    assert np.isfinite(ladder.arrays["rating"]).all()
    halfway = next(e for e in found if isinstance(e, Progressed))
    faced = bundle(store, halfway.artifacts["table"]).arrays["faced"]
    assert faced.sum() == pytest.approx(1)
    assert faced[:2].sum() == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"objectives": [{"measure": "length"}]}, "objectives.0.measure"),
        ({"algorithm": {"kind": "ga"}}, "algorithm.kind"),
        ({"networks": "best"}, "networks"),
        ({"task": {**TASK, "steps": [32, 64]}}, "task.steps"),
        ({"task": {**TASK, "steps": 16}}, "task.steps"),
        ({"task": {**TASK, "learner": {**LEARNER, "rate": 0.1}}}, "task"),
        ({"task": {**TASK, "game": {"name": "pong-two-seats", "settings": {"points": [1, 3]}}}},
         "task.game.settings.points"),
        ({"opponents": {"choice": "best"}}, "opponents.choice"),
        ({"opponents": {"others": {"agent": {"kind": "scripted", "player": "random"}}}}, "opponents.others.agent"),
        ({"opponents": {"others": {"A": {"kind": "scripted", "player": "random"}}}}, "opponents.others.A"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_its_place(change: dict[str, Any], place: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        load(settings(**change))
    assert place in {problem.place for problem in wrong.value.problems}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"task": {**TASK, "game": "pong"}}, "a game for two, and pong has 1 seat"),
        ({"task": {**TASK, "game": "connect-four"}}, "they take turns"),
        ({"opponents": {"others": {"follower": {"kind": "scripted", "player": "pong-follower"}}}},
         "opponents.others.follower"),
        ({"opponents": {"others": {"lost": {"kind": "frozen", "policy": "0" * 64}}}}, "opponents.others.lost"),
    ],
)  # fmt: skip
def test_who_cannot_play_is_said_before_anything_begins(change: dict[str, Any], said: str, store: FolderStore) -> None:
    *_, last = run(study(**change), store)
    assert isinstance(last, Failed)
    assert said in last.message
