"""Evolution of players as data: ranges are genes wherever they stand, and what cannot be evolved is said in words."""

from __future__ import annotations

from typing import Any

import pytest

from engine.catalog import ALGORITHMS
from engine.config import EvolveConfig, TaskConfig
from engine.config.genes import Evolvable, express, genes
from engine.config.self_play import SelfPlayConfig
from engine.errors import ConfigError
from engine.studies import load, reading


def settings(**more: Any) -> dict[str, Any]:
    task = {"game": "cartpole", "learner": {"preset": "cartpole-ppo", "rate": [1e-4, 1e-2]}}
    return {"kind": "evolve", "task": task, **more}


WIDE = {"kind": "ppo", "network": {"policy": [[8, 64]], "critic": [[8, 64]]}}


def test_every_range_of_the_task_is_a_gene() -> None:
    learner = {"preset": "table3-vector-pong", "rewards": {"reward": {"weight": [0.0, 2.0]}}}
    config = load(settings(task={"game": "pong", "learner": learner}))
    assert isinstance(config, EvolveConfig)
    places = [gene.place for gene in genes(config.task)]
    assert places == ["learner.rate", "learner.rewards.reward.weight", "learner.critic_weight"]
    assert load(config.model_dump(mode="json")) == config


def test_layers_are_genes_and_what_critic_and_policy_share_is_one() -> None:
    network = {"policy": [[8, 64], 32], "critic": [[8, 64], 32, [4, 16, "log"]], "lstm": [0, 8], "log_std": [-2, 0]}
    conv = [{"channels": [8, 32], "kernel": [2, 4], "stride": 2}]
    learner = {"kind": "ppo", "network": {**network, "conv": conv}}
    config = load(settings(task={"game": "image-pong", "learner": learner}, algorithm={"kind": "ga"}))
    assert isinstance(config, EvolveConfig)
    found = {gene.place.removeprefix("learner.network."): gene for gene in genes(config.task)}
    assert list(found) == ["conv.0.channels", "conv.0.kernel", "policy.0", "critic.2", "lstm", "log_std"]
    assert load(config.model_dump(mode="json")) == config
    values = {gene.place: gene.high for gene in found.values()}
    made = express(config.task, values).learner.network
    assert (made.policy, made.critic, made.lstm, made.log_std) == ((64, 32), (64, 32, 16), 8, 0)
    assert (made.conv[0].channels, made.conv[0].kernel, made.conv[0].stride) == (32, 4, 2)
    apart = {**network, "sharing": "separate", "lstm": 0}
    alone = load(settings(task={"game": "pong", "learner": {**learner, "network": apart}}, algorithm={"kind": "ga"}))
    assert isinstance(alone, EvolveConfig)
    assert sum(gene.path[2] in ("policy", "critic") for gene in genes(alone.task)) == 3


def test_how_long_with_what_and_in_which_game_a_candidate_is_trained_are_genes_too() -> None:
    game = {"name": "pong", "settings": {"points": [1, 5], "speed": [0.5, 1.5], "rewards": ["score"], "mirror": True}}
    task = {"game": game, "steps": [100, 10_000], "environments": [4, 8, "linear"], "checkpoint_every": [50, 100]}
    config = load(settings(task=task))
    assert isinstance(config, EvolveConfig)
    found = {gene.place: gene for gene in genes(config.task)}
    numbers = {"game.settings.points": 3, "game.settings.speed": 1.25, "steps": 1000, "environments": 5,
               "checkpoint_every": 60}  # fmt: skip
    assert found.keys() == numbers.keys()
    assert (found["steps"].log, found["steps"].whole) == (True, True)
    assert (found["game.settings.points"].whole, found["game.settings.speed"].whole) == (True, False)
    assert load(config.model_dump(mode="json")) == config
    made = express(config.task, numbers)
    assert made.game.settings == {"points": 3, "speed": 1.25, "rewards": ("score",), "mirror": True}
    assert (made.steps, made.environments, made.checkpoint_every) == (1000, 5, 60)


def test_population_based_training_is_what_is_taken_when_nothing_is_said() -> None:
    config = load(settings(algorithm={"population": 6}))
    assert isinstance(config, EvolveConfig)
    assert (config.algorithm.kind, config.algorithm.population) == ("pbt", 6)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"task": {"game": "pong", "learner": "pong-ppo"}}, "task: there is nothing to evolve"),
        ({"networks": "best"}, "networks: population based training hands networks on"),
        ({"task": {**settings()["task"], "steps": 0}}, "task.steps: with 0 decisions"),
        ({"task": {**settings()["task"], "steps": [0, 50]}}, "task.steps: with 0 decisions"),
        ({"objectives": [{}, {}]}, "objectives.1.measure: each goal needs a measure of its own"),
        ({"behaviour": ["length", "length"]}, "behaviour.1: this measure is named twice"),
        ({"algorithm": {"kind": "map-elites"}}, "algorithm.kind: MAP-Elites needs a second goal"),
        ({"objectives": []}, "objectives: must have at least 1"),
        ({"task": {"game": "pong", "learner": {"kind": "ppo", "rate": [0.1, 0.01]}}}, "task.learner.rate"),
        ({"task": {"game": "pong", "learner": "no-such"}}, "task.learner: there is no preset"),
        ({"episodes": 1}, "episodes: must be 2 or more"),
        ({"algorithm": {"kind": "ga", "swapping": 0.5}}, "algorithm.swapping: varies lineups, and here settings of"),
        ({"task": {"game": "pong", "learner": WIDE}}, "task.learner.network.policy.0: candidates hand this on"),
        (
            {"task": {"game": "pong", "learner": WIDE}, "algorithm": {"kind": "ga"}, "networks": "best"},
            "task.learner.network.policy.0: .* set networks to fresh",
        ),
        ({"task": {"game": "pong", "learner": {"kind": "dqn", "capacity": [9, 99]}}}, "task.learner.capacity: cand"),
    ],
)
def test_what_cannot_be_evolved_is_said_in_words(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load(settings(**change))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"objectives": [{"measure": "win", "low": 2, "high": 3}]}, "objectives.0.low: no episode reaches a floor"),
        ({"objectives": [{"measure": "win", "high": 7}]}, "objectives.0.high: no episode reaches a cap of 7"),
        ({"objectives": [{"measure": "win", "low": 1}]}, "objectives.0.low: every episode counts as 1"),
        ({"objectives": [{"measure": "length", "low": -5}]}, "objectives.0.low: no episode reaches a floor of −5"),
        ({"objectives": [{"measure": "score"}, {"measure": "b", "formula": "-2 * score", "direction": "min"}]},
         "objectives.1.formula: prefers the same episodes as “score”"),
        ({"objectives": [{"measure": "score"}, {"measure": "b", "formula": "score**3"}]},
         "objectives.1.formula: prefers the same episodes as “score”"),
        ({"objectives": [{"measure": "length"}, {"measure": "b", "formula": "length**2"}]},
         "objectives.1.formula: prefers the same episodes as “length”"),
        ({"task": {"game": "pong", "steps": [99, 999]},
          "objectives": [{"measure": "score"}, {"measure": "b", "formula": "score**2"}]},
         "objectives.1.formula: prefers the same episodes as “score”"),
        ({"objectives": [{"measure": "b", "formula": "3 - score"}, {"measure": "score", "direction": "min"}]},
         "objectives.1.measure: prefers the same episodes as “b”"),
        ({"task": {"game": "maze", "steps": [99, 999]}, "objectives": [{"measure": "moved", "low": 3}]},
         "objectives.0.low: no episode reaches a floor of 3: moved is from 0 to 1"),
        ({"objectives": [{"measure": "a", "formula": "score / 0"}]}, "objectives.0.formula: is never a number"),
        ({"objectives": [{"measure": "a", "formula": "sqrt(-1 - abs(score))"}]}, "objectives.0.formula: is never a"),
        ({"objectives": [{"measure": "a", "formula": "0 * score"}]}, "objectives.0.formula: is 0 whatever happens"),
        ({"objectives": [{"measure": "a", "formula": "1 + win - win"}]}, "objectives.0.formula: is 1 whatever happens"),
    ],
)  # fmt: skip
def test_goals_that_prefer_nobody_and_bounds_that_nobody_reaches_are_refused(change: dict[str, Any], said: str) -> None:
    study = settings(**{"algorithm": {"kind": "nsga2"}, **change})
    with pytest.raises(ConfigError, match=said):
        load(study, new=True)
    assert load(study), "what was saved earlier can be read"


def test_goals_that_pull_apart_are_two_goals() -> None:
    goals: list[dict[str, Any]] = [
        {"measure": "score"},
        {"measure": "b", "formula": "-score"},
        {"measure": "c", "formula": "score + length"},
    ]
    goals.append({"measure": "win", "low": 0, "high": 1})
    assert load(settings(objectives=goals, algorithm={"kind": "nsga2"}), new=True)


@pytest.mark.parametrize(
    "formula",
    ["win == 1", "max(0, length - 100)", "length == 137", "score > 0.999", "sqrt(score)", "log1p(-2 - score)",
     "where(win == 0.5, length > 40, 0)", "1 / (score - 0.5)", "length > 90000"],
)  # fmt: skip
def test_a_goal_that_tells_some_apart_is_one_however_seldom(formula: str) -> None:
    assert load(settings(objectives=[{"measure": "a", "formula": formula}], algorithm={"kind": "ga"}), new=True)


@pytest.mark.parametrize(
    ("change", "place", "said"),
    [
        ({"algorithm": {"population": [4, 8]}}, "algorithm.population", "a search cannot choose its own settings"),
        ({"ticks": [2, 4]}, "ticks", "a search cannot choose its own settings"),
        ({"noise": {"reevaluate": [1, 2]}}, "noise.reevaluate", "a search cannot choose its own settings"),
        ({"stop": [{"kind": "steps", "most": [1, 2]}]}, "stop.0.most", "a search cannot choose its own settings"),
        ({"seed": [1, 9]}, "seed", "where all are measured alike"),
        ({"episodes": [10, 20]}, "episodes", "where all are measured alike"),
        ({"objectives": [{"epsilon": [0, 1]}]}, "objectives.0.epsilon", "where all are measured alike"),
        ({"pool": {"workers": [1, 2]}}, "pool.workers", "changes no result"),
    ],
)
def test_a_range_where_none_may_be_is_refused_with_the_reason(change: dict[str, Any], place: str, said: str) -> None:
    ((where, message),) = wrong(settings(**change))
    assert where == place
    assert message.startswith("must be one number: ")
    assert said in message


def wrong(data: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(ConfigError) as caught:
        load(data)
    return [tuple(problem) for problem in caught.value.problems]


def test_everything_that_does_not_go_together_is_told_at_once_with_everything_else() -> None:
    algorithm = {"kind": "map-elites", "steady": True, "quality": "win", "low": [0, 1], "high": [1]}
    learner = {"preset": "cartpole-ppo", "rate": [0.1, 0.01]}
    noise = {"racing": "tests", "most": 20}
    goals = [{"measure": "return"}, {"measure": "length"}, {"measure": "return"}]
    found = dict(wrong(settings(
        algorithm={"kind": "ga", "steady": True, "population": 1}, ticks=0, objectives=goals, noise=noise,
        behaviour=["length", "length"], task={"game": "pong", "learner": learner},
    )))  # fmt: skip
    assert found.keys() == {
        "algorithm.population", "ticks", "objectives.2.measure", "behaviour.1", "task.learner.rate", "noise.racing",
        "noise.most",
    }  # fmt: skip
    mixed = wrong(settings(algorithm={"kind": "ga", "steady": True}, ticks=0, objectives=goals[:2], noise=noise))
    assert [place for place, _ in mixed] == ["ticks", "noise.racing", "noise.racing", "noise.most"]
    assert ["needs rounds" in mixed[1][1], "one goal" in mixed[2][1], "anyway" in mixed[3][1]] == [True] * 3
    mapped = dict(wrong(settings(algorithm=algorithm, noise=noise, episodes=1)))
    assert mapped.keys() == {"algorithm.kind", "algorithm.quality", "episodes"}
    mapped = dict(wrong(settings(algorithm=algorithm, behaviour=["length"])))
    assert mapped.keys() == {"algorithm.low", "algorithm.quality"}


@pytest.mark.parametrize(
    ("kind", "change", "place"),
    [
        ("evolve", {"algorithm": {"kind": "ga", "fair": True}}, "algorithm.fair"),
        ("evolve", {"algorithm": {"kind": "pso"}, "noise": {"reevaluate": 1}}, "noise"),
        ("evolve", {"algorithm": {"kind": "nsga3"}, "noise": {"racing": "halving"}}, "noise.racing"),
        (
            "evolve",
            {"algorithm": {"kind": "map-elites", "low": [2], "high": [1]}, "behaviour": ["win"]},
            "algorithm.low",
        ),
        ("search", {"algorithm": {"steady": True}, "noise": {"racing": "halving"}}, "noise.racing"),
        ("search", {"noise": {"racing": "tests"}}, "noise.racing"),
        ("evolve", {"algorithm": {"kind": "ga"}, "noise": {"racing": "bounds"}}, "noise.racing"),
        ("evolve", {"algorithm": {"kind": "ga"}, "objectives": [{"low": 3, "high": 3}]}, "objectives.0"),
        ("search", {"noise": {"racing": "halving"}, "replicates": 32}, "noise.most"),
        ("search", {"algorithm": {"kind": "nsga3", "partitions": 99}}, "algorithm.partitions"),
        ("search", {"algorithm": {"kind": "map-elites", "quality": "fun"}}, "algorithm.quality"),
    ],
)
def test_what_does_not_go_together_is_refused_at_its_place(kind: str, change: dict[str, Any], place: str) -> None:
    search = {"game": {"simulator": "builtin:herobattle"}, **change}
    assert [where for where, _ in wrong(settings(**change) if kind == "evolve" else search)] == [place]


@pytest.mark.parametrize("kind", ALGORITHMS)
def test_an_algorithm_reads_the_settings_of_its_row_in_the_catalog(kind: str) -> None:
    assert ALGORITHMS[kind].load().Settings is ALGORITHMS[kind].config


def lineups(baselines: dict[str, Any]) -> dict[str, Any]:
    return {"game": {"simulator": "builtin:herobattle"}, "lineups": {"baselines": baselines}}


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (settings(task={"game": "pong", "learner": {"preset": "pong-ppo", "rate": "fast"}}), "task.learner.rate"),
        ({"kind": "train", "game": "pong", "learner": {"preset": "pong-ppo", "clipp": 1}}, "learner.clipp"),
        (settings(algorithm={"populatoin": 4}), "algorithm.populatoin"),
        (settings(stop=[{"kind": "steps", "most": 0}]), "stop.0.most"),
        (settings(stop=[{"kind": "minutes"}, {"kind": "battles"}]), "stop.1.kind"),
        ({"game": {"simulator": "builtin:herobattle"}, "stop": [{"kind": "steps"}]}, "stop.0.kind"),
        (lineups({"kind": "drawn", "count": 0}), "lineups.baselines.count"),
        (lineups({"kind": "pasted", "teams": [{"slots": {"hero": [1]}}]}), "lineups.baselines.teams.0.slots.hero"),
        (settings(task={"game": {"name": "pong", "settings": {"points": {}}}}), "task.game.settings.points"),
        (settings(objectives=[{"measure": 5}]), "objectives.0.measure"),
    ],
)  # fmt: skip
def test_a_place_is_what_was_written_and_nothing_is_told_twice(data: dict[str, Any], place: str) -> None:
    assert [where for where, _ in wrong(data)] == [place]


def test_a_list_that_really_is_too_short_is_said() -> None:
    assert wrong(settings(objectives=[])) == [("objectives", "must have at least 1")]


def test_every_number_below_the_task_may_be_a_range() -> None:
    numbers = {name: field for name, field in TaskConfig.model_fields.items() if field.annotation in (int, float)}
    assert numbers.keys() == {"steps", "environments", "checkpoint_every"}
    assert all(any(isinstance(mark, Evolvable) for mark in field.metadata) for field in numbers.values())


def test_players_race_by_bounds_where_their_goals_have_limits() -> None:
    goals = [{"measure": "win"}, {"measure": "return", "low": 0, "high": 500}]
    found = load(settings(algorithm={"kind": "ga"}, objectives=goals, noise={"racing": "bounds"}))
    assert isinstance(found, EvolveConfig)
    assert [goal.limits for goal in found.objectives] == [(0, 1), (0, 500)]
    assert load(found.model_dump(mode="json")) == found
    assert "low" not in load(settings(algorithm={"kind": "ga"})).model_dump(mode="json")["objectives"][0]


def test_what_is_wrong_with_settings_together_is_told_beside_what_is_wrong_with_one_alone() -> None:
    """Each mistake is of another layer: one value, a table, two settings of the training, settings of the whole."""
    task: dict[str, Any] = {"game": "pong", "steps": 1, "colour": "red"}
    task["learner"] = {"preset": "cartpole-ppo", "rate": "fast", "entropy_weight": [0, 0.1]}
    opponents = {"choice": "best", "others": {"a": {"kind": "frozen", "policy": "a" * 64}, "agent": {}}}
    asked = {"kind": "self-play", "task": task, "opponents": opponents, "objectives": [{"measure": "length"}]}
    study, found = reading(asked, new=True)
    assert {place for place, _ in found} == {
        "task.learner.rate", "task.colour", "task.steps", "opponents.choice", "opponents.others.agent",
        "objectives.0.measure",
    }  # fmt: skip
    assert isinstance(study, SelfPlayConfig), "with usual settings in these places, to be looked at further"
    assert [*study.opponents.others] == ["a"], "what is right stays as it is"


@pytest.mark.parametrize(
    ("data", "places"),
    [
        ([], [""]),
        ({"kind": "prayer"}, ["kind"]),
        ({"kind": "self-play"}, ["task"]),
        ({"kind": 3, "seed": "x"}, ["kind"]),
    ],
)
def test_where_nothing_can_be_left_out_the_first_mistakes_are_told(data: Any, places: list[str]) -> None:
    study, found = reading(data, new=True)
    assert study is None
    assert [place for place, _ in found] == places


def test_a_mistake_that_stays_about_the_whole_study_ends_the_reading() -> None:
    """Agents that are not bred go on round by round: that is wrong with the whole hunt, at no place of its own."""
    asked = {"kind": "hunt", "task": {"game": "maze", "steps": 8192}, "method": "random", "decisions": "many"}
    study, found = reading({**asked, "algorithm": {"steady": True}, "episodes": 1}, new=True)
    assert study is None
    assert [place for place, _ in found] == ["episodes", "decisions", ""]
