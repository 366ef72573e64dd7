"""Lineup battles that an agent commands: no side is better, nothing depends on the batch, and studies say who led."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from engine.arrays import unpack
from engine.bench.herobattle_teams import equal_cost_pairs
from engine.config.limits import LimitsConfig
from engine.config.rl import NetworkConfig
from engine.config.study import STUDY, study_hash
from engine.console import line
from engine.errors import ConfigError, StoreError
from engine.events import Counters, Failed, Finished, Started
from engine.games.herobattle import HeroBattle, kernel
from engine.games.herobattle.commanders import HeroBattleCommanders
from engine.games.herobattle.commanders.commanded import CommandedBattles
from engine.games.pong import VectorPong
from engine.lineups.schema import team_slots
from engine.mdp.stored_policy import StoredPolicy
from engine.mdp.trajectory import Batch
from engine.rl.policy import Policy, PolicySpec
from engine.rng import combine64
from engine.simulators import commanded
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from tests.engine.test_saved_agents import kept, untrained

SEAT = HeroBattleCommanders().spec.seats[0]
N = 60
SEEDS = combine64(9, np.arange(N, dtype=np.uint64))
LEFT, RIGHT = equal_cost_pairs(N, 1)
NETWORKS = {
    "plain": NetworkConfig(policy=(24, 9), critic=(24, 9)),
    "tanh": NetworkConfig(policy=(13,), critic=(13,), activation="tanh"),
    "relu": NetworkConfig(policy=(13,), critic=(13,), activation="relu"),
    "memory": NetworkConfig(policy=(16,), critic=(16,), lstm=7),
    "no layers": NetworkConfig(policy=(), critic=()),
}


def policy(network: str = "plain", *, normalise: bool = True) -> Policy:
    """One that was never trained, and orders different things at different moments."""
    spec = PolicySpec(SEAT, NETWORKS[network], normalise=normalise)
    rng = np.random.default_rng(5)
    weights = spec.model().initial(rng)
    weights += 0.3 * rng.standard_normal(len(weights)).astype(np.float32)
    scales = spec.model().scaling.size // 2
    if scales:
        weights[-scales:] = 0.5 + np.abs(weights[-scales:])
    return Policy(spec, weights)


def player(store: FolderStore, network: str = "plain", *, sampled: bool = False, normalise: bool = True) -> Any:
    return StoredPolicy.read(store, kept(policy(network, normalise=normalise), store), sampled)


def seen(n: int) -> Any:
    """Observations of battles that have gone on for a while."""
    game = HeroBattleCommanders(seats=(0, 1))
    step = game.reset(SEEDS[:n])
    for _ in range(6):
        step = game.step([seat.action.idle(n) for seat in game.spec.seats])
    return step.observations[0]["battle"].copy()


@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("network", NETWORKS)
def test_without_its_trainer_a_policy_decides_as_with_it(store: FolderStore, network: str, normalise: bool) -> None:
    live, plain = policy(network, normalise=normalise).actor(False), player(store, network, normalise=normalise)
    state = {name: np.full((N, *shape), 0.3, np.float32) for name, shape in live.memory.items()}
    batch = Batch({"battle": seen(N)}, None, SEEDS, state)
    np.testing.assert_allclose(plain.logits(batch)[0], live.numbers(batch), rtol=1e-4, atol=1e-4)
    a, b = live(batch), plain(batch)
    np.testing.assert_array_equal(a.actions, b.actions)
    for name in live.memory:
        np.testing.assert_allclose(a.state[name], b.state[name], atol=1e-5)
    assert plain.memory == live.memory
    drawn = policy(network, normalise=normalise).actor()(batch).actions
    again = player(store, network, sampled=True, normalise=normalise)(batch).actions
    assert (drawn == again).mean() > 0.99  # a mark may fall between two roundings of the same share
    assert (drawn != a.actions).any()


@pytest.mark.parametrize("network", NETWORKS)
def test_a_decision_is_the_same_in_any_batch_to_the_last_bit(store: FolderStore, network: str) -> None:
    plain, everything = player(store, network), seen(N)
    state = {name: np.full((N, *shape), 0.3, np.float32) for name, shape in plain.memory.items()}
    whole, _ = plain.logits(Batch({"battle": everything}, None, SEEDS, state))
    for some in (np.arange(1), np.arange(7, 13), np.random.default_rng(1).permutation(N)[:33]):
        part = {name: array[some] for name, array in state.items()}
        found, _ = plain.logits(Batch({"battle": everything[some]}, None, SEEDS[some], part))
        np.testing.assert_array_equal(found, whole[some])


@pytest.mark.parametrize(
    ("name", "shape", "number"),
    [
        ("policy.0.weight", (24, 815), 1.0),  # was read beyond the end of what is seen
        ("policy.0.weight", (24, 2**20), 1.0),  # ended the process
        ("policy.0.bias", (1,), 1.0),
        ("action.0.weight", (1, 9), 1.0),
        ("action.0.weight", (25, 9), np.nan),
        ("action.0.bias", (25,), np.inf),
        ("normaliser.battle.spread", None, 0.0),
    ],
)
def test_weights_that_do_not_fit_their_description_or_are_no_numbers_are_refused(
    store: FolderStore, name: str, shape: tuple[int, ...] | None, number: float
) -> None:
    told = json.loads(store.get(kept(policy(), store)))
    tensors = safetensors.numpy.load(store.get(told["sha256"]))
    StoredPolicy(told, tensors, False)
    changed = {key: array for key, array in tensors.items() if key != name}
    if shape is not None:
        changed[name] = np.full(shape, number, np.float32)
    with pytest.raises(StoreError, match=r"Its weights .*" + name.replace(".", r"\.")):
        StoredPolicy(told, changed, False)


def silent() -> Policy:
    """A commander whose likeliest order is none."""
    spec = PolicySpec(SEAT, NETWORKS["plain"])
    model = spec.model()
    tensors = {name: np.zeros_like(part) for name, part in model.tensors(policy().weights).items()
               if not name.startswith("normaliser")}  # fmt: skip
    tensors["action.0.bias"][[0, 7, 12, 17, 22]] = 1.0  # the first choice of each part
    return Policy(spec, model.weights(tensors))


@pytest.mark.parametrize(("every", "battles"), [(1, 8), (4, N), (50, N)])
def test_a_commander_who_orders_nothing_leaves_the_battle_as_it_is_bit_for_bit(
    store: FolderStore, every: int, battles: int
) -> None:
    quiet = StoredPolicy.read(store, kept(silent(), store), False)
    plain, led = HeroBattle(), CommandedBattles(HeroBattle(), quiet, every)
    for patch in ({}, {"battle.field": 6.0}):
        a, b = (game.battles(LEFT[:battles], RIGHT[:battles], SEEDS[:battles], patch) for game in (plain, led))
        np.testing.assert_array_equal(a.side, b.side)
        np.testing.assert_array_equal(a.battle, b.battle)
    assert led.describe() == plain.describe()
    assert led.replay(LEFT[0], RIGHT[0], 7, {}) == plain.replay(LEFT[0], RIGHT[0], 7, {})


WAYS = [("plain", False, None), ("plain", True, None), ("memory", True, LimitsConfig(delay=2, apart=3))]


@pytest.mark.parametrize(("network", "sampled", "limits"), WAYS)
def test_exchanged_teams_and_luck_give_the_exchanged_battle_exactly(
    store: FolderStore, network: str, sampled: bool, limits: LimitsConfig | None
) -> None:
    led = CommandedBattles(HeroBattle(), player(store, network, sampled=sampled), 4, limits)
    first, second = kernel.streams(SEEDS)
    one, other = led.play(LEFT, RIGHT, first, second, {}), led.play(RIGHT, LEFT, second, first, {})
    np.testing.assert_array_equal(one.side, other.side[:, ::-1])
    np.testing.assert_array_equal(one.battle, other.battle)
    assert (one.side != HeroBattle().battles(LEFT, RIGHT, SEEDS, {}).side).any()


@pytest.mark.parametrize(("network", "sampled", "limits"), WAYS)
def test_a_commanded_battle_depends_on_its_own_row_only(
    store: FolderStore, network: str, sampled: bool, limits: LimitsConfig | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    led = CommandedBattles(HeroBattle(), player(store, network, sampled=sampled), 4, limits)
    whole = led.battles(LEFT, RIGHT, SEEDS, {})
    monkeypatch.setattr("engine.games.herobattle.commanders.commanded.TOGETHER", 7)
    some = np.random.default_rng(2).permutation(N)[:23]
    part = led.battles(LEFT[some], RIGHT[some], SEEDS[some], {})
    np.testing.assert_array_equal(part.side, whole.side[some])
    np.testing.assert_array_equal(part.battle, whole.battle[some])


def test_limits_of_a_commander_change_what_it_does(store: FolderStore) -> None:
    free, slow = (
        CommandedBattles(HeroBattle(), player(store), 4, limits).battles(LEFT, RIGHT, SEEDS, {}).side
        for limits in (None, LimitsConfig(delay=5))
    )
    assert (free != slow).any()


def test_a_battle_that_is_watched_ends_as_the_one_that_was_counted(store: FolderStore) -> None:
    led = CommandedBattles(HeroBattle(), player(store, sampled=True), 4)
    played = led.battles(LEFT[:3], RIGHT[:3], SEEDS[:3], {})
    for i in range(3):
        frames = led.replay(LEFT[i], RIGHT[i], int(SEEDS[i]), {})
        assert frames[-1].tick == played.battle[i, 0]
        won = {1.0: "Left wins", 0.0: "Right wins", 0.5: "Draw"}[float(played.side[i, 0, 2])]
        assert frames[-1].events[-1] == won
        life = sum(unit["life"] > 0 for unit in frames[-1].units if unit["side"] == "left")
        assert (life > 0) == (played.side[i, 0, 0] > 0)


STUDIED: dict[str, Any] = {
    "kind": "search", "name": "small", "seed": 3, "ticks": 2, "fresh": 2, "replicates": 2,
    "algorithm": {"kind": "nsga2", "population": 8}, "pool": {"kind": "local", "batch_ms": 20},
    "lineups": {"teams": 2, "baselines": {"kind": "drawn", "count": 2}},
}  # fmt: skip


def game(found: str, **more: Any) -> dict[str, Any]:
    return {"simulator": "builtin:herobattle", "commander": {"policy": found, "title": "Ada"} | more}


def results(store: FolderStore, study: dict[str, Any]) -> dict[str, str]:
    *_, last = run(load(study), store)
    assert isinstance(last, Finished), last
    return {name: digest for name, digest in last.artifacts.items() if name != "checkpoint"}


def test_a_search_that_an_agent_commands_is_the_same_however_it_is_cut_and_another_than_the_script_s(
    store: FolderStore,
) -> None:
    teams = {"kind": "pasted", "teams": [_team(LEFT[2]), _team(RIGHT[2])]}  # to draw them takes 16,000 battles
    study = {**STUDIED, "lineups": {"teams": 2, "baselines": teams}}
    led = {**study, "game": game(kept(policy(), store), sampled=True, every=20)}
    found = results(store, led)
    assert found == results(store, {**led, "pool": {"kind": "local", "batch_ms": 1}, "cache": False})
    assert found != results(store, {**study, "game": {"simulator": "builtin:herobattle"}})


def test_settings_name_the_commander_and_those_without_one_keep_their_hash(store: FolderStore) -> None:
    plain = load({**STUDIED, "game": {"simulator": "builtin:herobattle"}})
    assert "commander" not in plain.model_dump_json()
    policies = [kept(policy(network), store) for network in ("plain", "tanh")]
    told = [load({**STUDIED, "game": game(found)}) for found in policies]
    assert len({study_hash(each) for each in (plain, *told)}) == 3
    assert STUDY.validate_json(told[0].model_dump_json()) == told[0]


def problems(study: dict[str, Any], store: FolderStore) -> str:
    *_, last = run(load(study), store)
    assert isinstance(last, Failed), last
    return last.message


def test_what_cannot_lead_is_told_in_a_sentence(store: FolderStore) -> None:
    gone = problems({**STUDIED, "game": game("ab" * 32)}, store)
    assert "game.commander: what “Ada” learned is not in the store any more: choose another one" in gone
    pong = problems({**STUDIED, "game": game(kept(untrained(), store))}, store)
    assert "“Ada” learned another game" in pong
    other = game(kept(policy(), store)) | {"simulator": "python:tests.engine.sample_simulators:TugOfWar"}
    assert "only herobattle can be led by an agent" in problems({**STUDIED, "game": other}, store)
    with pytest.raises(ConfigError, match="only searches, re-checks, random samples and replays"):
        load({"kind": "worth", "game": game("ab" * 32)})
    with pytest.raises(StoreError, match="does not draw choices by odds"):
        StoredPolicy.read(store, kept(untrained(VectorPong(seats=(0,)).spec.seats[0], kind="q"), store), False)


def test_a_replay_under_an_agent_measures_the_same_lineups_on_both(store: FolderStore) -> None:
    """The script's side is what a replay of a change has, and the agent's what one has under it from the start."""
    agent = {"policy": kept(policy(), store), "title": "Ada"}
    pair = [{"teams": [_team(LEFT[0]), _team(RIGHT[0])]}, {"teams": [_team(LEFT[1]), _team(RIGHT[1])]}]
    base = {"kind": "change", "game": {"simulator": "builtin:herobattle"}, "replayed": pair, "replicates": 8,
            "lineups": {"teams": 2, "baselines": {"kind": "pasted", "teams": [_team(LEFT[2]), _team(RIGHT[2])]}},
            "pool": {"kind": "local"}}  # fmt: skip
    found = unpack(store.get(results(store, base | {"under": agent})["table"]))
    changed = {"change": {"battle.salvage": 19.0}}
    script = unpack(store.get(results(store, base | changed)["table"]))
    led = base | changed | {"game": game(agent["policy"])}
    theirs = unpack(store.get(results(store, led)["table"]))
    np.testing.assert_array_equal(found.arrays["before"], script.arrays["before"])
    np.testing.assert_array_equal(found.arrays["after"], theirs.arrays["before"])
    assert found.meta["commanders"] == ["", "Ada"]
    assert theirs.meta["commanders"] == ["Ada", "Ada"]
    with pytest.raises(ConfigError, match="at least 1 entry, unless somebody else commands"):
        load(base)
    back = base | {"game": game(agent["policy"]), "under": "script"}
    again = unpack(store.get(results(store, back)["table"]))
    np.testing.assert_array_equal(again.arrays["before"], found.arrays["after"])
    np.testing.assert_array_equal(again.arrays["after"], found.arrays["before"])
    assert again.meta["commanders"] == ["Ada", ""], "and back from the agent to the script"
    assert "under: leads both sides already" in problems(base | {"under": {"kind": "script"}}, store)
    both = base | {"game": game(agent["policy"]), "under": agent}
    assert "under: leads both sides already" in problems(both, store)


def _team(row: Any) -> dict[str, Any]:
    return {"slots": team_slots(HeroBattle().describe(), row)}


def test_both_simulators_of_a_replay_are_the_same_one_where_nobody_else_commands(store: FolderStore) -> None:
    study = load({"kind": "change", "game": {"simulator": "builtin:herobattle"}, "change": {"battle.field": 9.0},
                  "replayed": [{"teams": [{"slots": {}}]}]})  # fmt: skip
    with commanded.both_opened(study.game, study.changed, store, lambda: False) as (one, other):
        assert one is other


def test_the_command_line_says_who_leads(store: FolderStore) -> None:
    agent = {"policy": kept(policy(), store), "title": "Ada"}
    searched = load({**STUDIED, "game": game(agent["policy"])}).model_dump(mode="json")
    started = Started(workers=1, pool="local", resumed=False, ticks=2, battles=900, tick=0, at=0.0, counters=Counters())
    assert line(started, searched).endswith("900 battles led by Ada planned")
    replay = {"kind": "change", "game": {"simulator": "builtin:herobattle"}, "replayed": [{"teams": [{"slots": {}}]}]}
    told = load(replay | {"under": agent}).model_dump(mode="json")
    assert line(started, told).endswith("1 lineups, 900 battles at most led by Ada planned")
    back = load(replay | {"game": game(agent["policy"]), "under": "script"}).model_dump(mode="json")
    assert back["under"] == {"kind": "script"}
    assert line(started, back).endswith("900 battles at most led by the game’s own script planned")
    with pytest.raises(ConfigError, match=r"^under\.policy: must"):
        load(replay | {"under": {"policy": 3}})
    with pytest.raises(ConfigError, match=r"^under: its kind must be one of"):
        load(replay | {"under": {"kind": "nobody"}})
