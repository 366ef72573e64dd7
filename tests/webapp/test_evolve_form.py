"""Searching for good training settings: what the form makes, what is wrong at which field, and what the page shows."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from engine.arrays import Bundle
from engine.config import EvolveConfig
from engine.config.evolve import AimConfig
from engine.config.genes import genes
from tests.factories import Studio, search_job, signed_in
from tests.webapp.evolutions import config, evolution, evolved
from tests.webapp.trainings import training
from webapp.lib.storage import store
from webapp.lib.words import measured
from webapp.studies import journal
from webapp.studies.explore_source import half_of
from webapp.studies.journal import TIME_IS_UP, Entry
from webapp.studies.models import Job, Status
from webapp.training import evolve_page, forecast, trials
from webapp.training.evolved import furthest, players_of
from webapp.training.evolving import NO_RANGE, START, EvolveForm, values_of
from webapp.training.models import TrainDraft
from webapp.training.result_rows import Players
from webapp.training.searching import PLAYERS, in_players

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def client(team: Studio) -> Client:
    return signed_in(team.designer)


def form(team: Studio, **typed: str) -> EvolveForm:
    named = {name.replace("__", "."): value for name, value in typed.items()}
    made = EvolveForm({**START, **named}, project=team.project)
    made.is_valid()
    return made


def built(team: Studio, **typed: str) -> EvolveConfig:
    made = form(team, **typed)
    assert made.study is not None, made.errors
    return made.study


def wrong(team: Studio, **typed: str) -> dict[str, list[str]]:
    return {name: [str(e) for e in found] for name, found in form(team, **typed).errors.items()}


def test_what_the_page_offers_is_population_based_training_of_cartpole(team: Studio) -> None:
    found = built(team)
    assert (found.task.game.name, found.algorithm.kind, found.algorithm.population) == ("gym:CartPole-v1", "pbt", 8)
    rate, entropy = genes(found.task)
    assert (rate.place, rate.low, rate.high, rate.log) == ("learner.rate", 1e-4, 1e-2, True)
    assert (entropy.place, entropy.low, entropy.high, entropy.log) == ("learner.entropy_weight", 0, 0.03, False)


@pytest.mark.parametrize("kind", PLAYERS.methods)
def test_every_method_of_the_menu_makes_a_search_from_its_defaults(team: Studio, kind: str) -> None:
    assert built(team, method=kind).algorithm.kind == kind


def test_so_many_decisions_are_proposed_that_episodes_end(team: Studio) -> None:
    assert built(team).task.steps == 5_000
    pong = built(team, game="pong")
    assert pong.task.steps == 6_000 * int(pong.task.environments)


def test_weights_of_rewards_and_battles_may_be_ranges(team: Studio) -> None:
    found = built(team, learner__rewards="score 0.5 to 2 log 0.99\nhit 1 0.9 0.5 to 0.9", environments="8 to 32")
    score, hit = (found.task.learner.rewards[name] for name in ("score", "hit"))
    assert (score.weight, score.discount) == ((0.5, 2, "log"), 0.99)
    assert (hit.weight, hit.discount, hit.trace) == (1, 0.9, (0.5, 0.9))
    assert found.task.environments == (8, 32)
    job = evolution(team.project, found, template="cartpole-ppo")
    again = EvolveForm(values_of(job, team.project), project=team.project)
    assert again.is_valid(), again.errors
    assert again.study == found.model_copy(update={"name": job.title})


@pytest.mark.parametrize("text", ["score", "score much", "score 1 to", "score 2 to 1", "score 1 2 3 4"])
def test_a_line_of_rewards_that_cannot_be_read_is_said_there(team: Studio, text: str) -> None:
    assert "learner.rewards" in wrong(team, learner__rewards=text)


@pytest.mark.parametrize("text", ["0.001 to 0.1", "[0.001, 0.1]", "[0.001, 0.1, log]", "0.001 – 0.1 log"])
def test_a_range_may_be_written_in_several_ways(team: Studio, text: str) -> None:
    rate = genes(built(team, learner__rate=text).task)[0]
    assert (rate.low, rate.high, rate.log) == (0.001, 0.1, True)


@pytest.mark.parametrize(
    ("text", "layers"),
    [
        ("16 to 64 64", ((16, 64), 64)), ("[16, 64] 64", ((16, 64), 64)), ("64 16-64", (64, (16, 64))),
        ("8 – 16 log 32 to 64", ((8, 16, "log"), (32, 64))), ("32 16", (32, 16)),
    ],
)  # fmt: skip
def test_layers_may_be_ranges(team: Studio, text: str, layers: tuple[Any, ...]) -> None:
    sizes = {"learner__network__policy": text, "learner__network__critic": "16", "method": "ga"}
    found = built(team, **sizes, learner__network__sharing="separate")
    assert found.task.learner.network.policy == layers
    job = evolution(team.project, found, template="cartpole-ppo")
    again = EvolveForm(values_of(job, team.project), project=team.project)
    assert again.is_valid(), again.errors
    assert again.study == found.model_copy(update={"name": job.title})


def test_any_number_of_a_network_may_be_a_range_and_the_page_of_the_job_names_it(client: Client, team: Studio) -> None:
    network = {"conv": "16-64K4S2 32K4S2", "lstm": "0 to 64", "policy": "16 to 64", "critic": "16 to 64"}
    typed = {"game": "image-pong", "preset": "ppo-pictures", "method": "random", "learner.rate": "0.001",
             "steps": "100 to 200", **{f"learner.network.{name}": text for name, text in network.items()}}  # fmt: skip
    page = client.post(reverse("training:evolve", args=[team.project.slug]), typed)
    assert page.status_code == 302, page.content.decode()
    job = Job.objects.get(kind="evolve")
    again = EvolveForm(values_of(job, team.project), project=team.project)
    assert again.is_valid(), again.errors
    assert again.study is not None
    assert again.study.model_dump(mode="json") == job.config
    shown = client.get(reverse("studies:job", args=[team.project.slug, job.pk])).content.decode()
    for title, text in (("Layers of the policy", "16 to 64"), ("Convolutions", "16-64K4S2 32K4S2"),
                        ("LSTM units", "0 to 64"), ("Decisions a player, each round", "100 to 200")):  # fmt: skip
        assert f"<dt>{title}</dt><dd>{text}</dd>" in shown


def test_whatever_is_wrong_with_a_search_is_told_in_one_go(team: Studio) -> None:
    typed = {"population": "3", "method": "nsga2", "rounds": "0", "learner__rate": "0.1 to 9", "goal-2": "return"}
    assert set(wrong(team, **typed)) == {"population", "rounds", "learner.rate", "goal-2"}
    layers = wrong(team, learner__network__policy="16 to 64", learner__rate="0.1 to 9")
    assert set(layers) == {"learner.network.policy", "learner.rate"}


@pytest.mark.parametrize(
    ("typed", "field", "says"),
    [
        ({"learner__rate": "a to b"}, "learner.rate", "neither a number nor a range"),
        ({"learner__rate": "0.1 to 0.001"}, "learner.rate", "from low to high"),
        ({"learner__rate": "0.1 to 9"}, "learner.rate", "at most 1"),
        ({"learner__entropy_weight": "0 to 1 log"}, "learner.entropy_weight", "above 0"),
        ({"learner__reuse": "1.5 to 4"}, "learner.reuse", "whole"),
        ({"learner__network__policy": "16 to 64 64"}, "learner.network.policy", "so it is one for all"),
        ({"learner__network__policy": "16 to", "method": "ga"}, "learner.network.policy", "a layer may be a range"),
        ({"learner__network__policy": "0", "method": "ga"}, "learner.network.policy", "at least 1"),
        ({"steps": "9 to 5"}, "steps", "from low to high"),
        ({"population": "7", "method": "cso"}, "population", "even number: here players compete in twos"),
        ({"rounds": "0"}, "rounds", "1"),
        ({"goal-2": "return"}, "goal-2", "chosen already"),
        ({"goal-1-epsilon": "-1"}, "goal-1-epsilon", "at least 0"),
        ({"method": "map-elites", "behaviour-1": "length", "behaviour-2": "length"}, "behaviour-2", "chosen already"),
        ({"method": "map-elites", "map-elites-low": "1 2"}, "map-elites-low", "1 lower and 1 upper"),
        ({"method": "map-elites", "map-elites-quality": "win"}, "map-elites-quality", "of the search’s goals"),
        ({"method": "nsga3", "nsga3-partitions": "20", "goal-2": "length"}, "nsga3-partitions", "has players"),
        ({"pbt-share": "0.7"}, "pbt-share", "more than 0, at most 0.5"),
        ({"method": "ga", "noise-racing": "halving", "noise-most": "20"}, "noise-most", "save nothing"),
        ({"method": "ga", "noise-racing": "tests", "steady": "on", "noise-most": "40"}, "noise-racing", "needs rounds"),
        ({"method": "ga", "noise-racing": "bounds", "noise-most": "40"}, "noise-racing", "a floor and a cap"),
        ({"goal-1-low": "3", "goal-1-high": "3"}, "goal-1-high", "above the floor"),
        ({"stop-steps-most": "0"}, "stop-steps-most", "at least 1"),
        ({"steps": "0"}, "steps", "nothing is learned"),
        ({"networks": "twice"}, "networks", "valid choice"),
        ({"method": "magic"}, "method", "valid choice"),
        ({"game": "gymnasium"}, "gymnasium", "LunarLander-v3"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_its_field(team: Studio, typed: dict[str, str], field: str, says: str) -> None:
    found = wrong(team, **typed)
    assert list(found) == [field or "__all__"]
    assert says in found[field or "__all__"][0]


def test_without_a_range_there_is_nothing_to_search(client: Client, team: Studio) -> None:
    address = reverse("training:evolve", args=[team.project.slug])
    answer = client.post(address, {"learner.rate": "0.002", "learner.entropy_weight": "", "title": "My search"})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert NO_RANGE in page
    assert 'value="0.002"' in page
    assert 'value="My search"' in page
    assert not Job.objects.exists()


def test_start_makes_a_job_and_its_settings_can_be_asked_again(client: Client, team: Studio) -> None:
    address = reverse("training:evolve", args=[team.project.slug])
    typed = {**START, "method": "map-elites", "population": "6", "goal-2": "length", "goal-2-way": "min"}
    answer = client.post(address, {**typed, "learner.clip": "0.1 to 0.3", "learner.network.policy": "32"})
    job = Job.objects.get()
    assert answer.headers["Location"] == reverse("studies:job", args=[team.project.slug, job.pk])
    assert (job.kind, job.ticks, job.title) == ("evolve", 10, "Settings for CartPole")
    again = EvolveForm(values_of(job, team.project), project=team.project)
    assert again.is_valid(), again.errors
    assert again.study is not None
    assert again.study.model_dump(mode="json") == job.config
    client.post(reverse("training:clone", args=[team.project.slug, job.pk]))
    assert 'value="0.1 to 0.3"' in client.get(address).content.decode()


def test_the_page_is_told_what_can_be_chosen_as_the_form_stands(client: Client, team: Studio) -> None:
    address = reverse("training:evolve-preview", args=[team.project.slug])
    told: dict[str, Any] = client.post(address, {**START, "algorithm": "dqn", "population": "4"}).json()
    assert told["errors"] == {}
    assert "Minibatch" in told["html"]["searched"]
    assert 'name="learner.entropy_weight"' not in told["html"]["searched"]
    assert 'name="learner.entropy_weight" value="0 to 0.03"' in told["html"]["details"]
    assert told["trial"] == Job.objects.get().pk
    assert "Training a few seconds" in told["before"]["note"]
    assert [one["name"] for one in told["offers"]["measures"]] == ["return", "score", "win", "length"]
    assert [one["title"] for one in told["offers"]["objectives"]] == ["Return (sum of rewards)"]


def trial(team: Studio, study: EvolveConfig, **row: Any) -> Job:
    """A trial that measured 40 µs of playing and 60 µs of learning a move, in episodes of 20 moves."""
    found = forecast.training_of(study)
    assert found is not None
    pace = {"steps_per_second": 9000.0, "sampling_seconds": 0.4, "learning_seconds": 0.6}
    measured = {**pace, "length": 20.0, "score": 1.0}
    seat = {"rewards": ["score", "hit"], "signals": ["moved"]}
    told = {"policy_description": store().put(json.dumps({"seat": seat}).encode())}
    ended = {"status": Status.STOPPED, "message": TIME_IS_UP, "counters": {"steps": 10_000}, "artifacts": told}
    return training(
        team.project,
        kind="sample",
        config=trials.of(found),
        **{**ended, "summary": {**measured, "score": 1.0}, **row},
    )


def test_goals_are_those_that_the_game_tells_and_an_error_names_them(client: Client, team: Studio) -> None:
    address, typed = reverse("training:evolve", args=[team.project.slug]), {**START, "goal-1": "reward.hit"}
    assert client.post(address, typed).status_code == 302
    waiting = Job.objects.get(kind="evolve")
    assert waiting.message == "Whether this game tells that is being tried."
    Job.objects.all().delete()
    trial(team, built(team))
    told = client.post(reverse("training:evolve-preview", args=[team.project.slug]), typed).json()
    assert [one["name"] for one in told["offers"]["measures"]] == [
        "return", "score", "length", "reward.score", "reward.hit", "moved",
    ]  # fmt: skip
    assert told["errors"] == {}
    typed |= {"goal-2": "win", "method": "map-elites", "behaviour-1": "charm"}
    wrong_ones = client.post(address, typed)
    assert set(wrong(team, **typed)) == {"goal-2", "behaviour-1"}
    assert (
        "CartPole does not tell “win”. It tells return, score, length, reward.score"
        in wrong(team, **typed)["goal-2"][0]
    )
    assert '<option value="win" selected>' in wrong_ones.content.decode()
    assert client.post(address, {**typed, "goal-2": "", "behaviour-1": "moved"}).status_code == 302


def test_as_many_goals_as_the_engine_takes_with_differences_that_matter(team: Studio) -> None:
    trial(team, built(team))
    measures = ["return", "score", "length", "reward.score", "reward.hit", "moved"]
    typed = {f"goal-{i}": name for i, name in enumerate(measures, 1)} | {"goal-3-way": "min", "goal-3-epsilon": "2,5"}
    aims = built(team, method="nsga3", **typed).objectives
    assert [aim.measure for aim in aims] == measures
    assert (aims[2].direction, aims[2].epsilon) == ("min", 2.5)


def test_a_method_s_settings_reach_the_search_and_come_back(team: Studio) -> None:
    typed = {"method": "ga", "ga-tournament": "3", "crossover": "0.8", "mutation": "0.4",
             "settings_crossover": "uniform", "settings_mutation": "uniform", "noise-reevaluate": "2",
             "noise-again": "8", "noise-racing": "bounds", "noise-most": "64", "stop-steps-most": "90000",
             "stop-minutes-most": "7.5", "networks": "single_point", "network_noise": "0.1",
             "learnt_is_inherited": "off", "goal-1": "length", "goal-1-way": "min", "goal-1-epsilon": "3",
             "goal-1-low": "0", "goal-1-high": "200",
             "fresh": "0", "episodes": "12", "title": "Mine", "population": "6"}  # fmt: skip
    found = built(team, **typed)
    algorithm = found.algorithm.model_dump()
    assert (algorithm["tournament"], algorithm["crossover"], algorithm["mutation"]) == (3, 0.8, 0.4)
    assert (algorithm["settings_crossover"], algorithm["settings_mutation"]) == ("uniform", "uniform")
    assert (found.noise.reevaluate, found.noise.racing, found.noise.most) == (2, "bounds", 64)
    assert found.objectives[0].limits == (0, 200)
    assert [rule.kind for rule in found.stop] == ["steps", "minutes"]
    assert (found.networks, found.network_noise, found.learnt_is_inherited) == ("single_point", 0.1, False)
    assert (found.fresh, found.episodes) == (0, 12)
    job = evolution(team.project, found, title="Mine", template="cartpole-ppo")
    again = EvolveForm(values_of(job, team.project), project=team.project)
    assert again.is_valid(), again.errors
    assert again.study == found
    shown = evolve_page.method(again, {})
    assert shown["open"]
    assert not evolve_page.method(form(team), {})["open"]


def test_settings_of_other_methods_do_not_count(team: Studio) -> None:
    typed = {"ga-tournament": "5", "noise-reevaluate": "3", "networks": "best", "behaviour-1": "score"}
    found = built(team, method="pbt", **typed, **{"pbt-ready": "3", "pbt-exploit": "welch", "steady": "on"})
    assert (found.noise.used, found.networks, found.behaviour) == (False, "fresh", ())
    algorithm = found.algorithm.model_dump()
    assert (algorithm["ready"], algorithm["exploit"], algorithm["steady"]) == (3, "welch", True)


def test_where_networks_are_handed_on_no_range_and_no_moves_are_needed(team: Studio) -> None:
    found = built(team, method="ga", networks="best", steps="0", learner__rate="", learner__entropy_weight="")
    assert (found.task.steps, genes(found.task)) == (0, ())


def test_the_menu_speaks_of_players(client: Client, team: Studio) -> None:
    assert in_players("Battles of lineups") == "Episodes of players"
    page = client.get(reverse("training:evolve", args=[team.project.slug])).content.decode()
    menu = page[page.index("data-method") : page.index("data-specialist")]
    assert not re.search(r"\b(lineup|battle|replicate|team|piece|slot)s?\b", menu, re.IGNORECASE)
    for setting in PLAYERS.settings:
        assert f'name="{setting.name}"' in menu


def test_a_trial_tells_how_long_it_takes_as_a_range(client: Client, team: Studio, settings: Any) -> None:
    settings.CPUS = 2
    trial(team, built(team))
    address = reverse("training:evolve-preview", args=[team.project.slug])
    before = client.post(address, START).json()["before"]
    # 8 players on two workers are 40 turns of 5,000 moves at 100 µs. To that come the workers' start, and from 20 to
    # 500 moves an episode that measures.
    assert before["time"] == "35\u00a0s to 1\u00a0min 10\u00a0s"
    assert "8 players × 10 rounds × 5,120 decisions on 2 workers" in before["note"]
    said = "In each round, a player learns from 5,120 decisions and not from 5,000, because it learns from"
    assert said in before["note"]
    client.post(reverse("training:evolve", args=[team.project.slug]), START)
    shown = client.get(reverse("studies:job", args=[team.project.slug, Job.objects.get(kind="evolve").pk]))
    assert said in shown.content.decode()
    longer = client.post(address, {**START, "population": "80", "rounds": "1000"}).json()["before"]
    assert longer["long"]
    clock = client.post(address, {**START, "population": "80", "rounds": "100", "stop-minutes-most": "5"}).json()
    assert "Ends after 5\u00a0min" in clock["before"]["note"]
    assert clock["before"]["time"] == "About 5\u00a0min"


def test_what_is_typed_is_kept_and_a_clone_makes_room(client: Client, team: Studio) -> None:
    page, preview = (reverse(f"training:{name}", args=[team.project.slug]) for name in ("evolve", "evolve-preview"))
    assert client.post(preview, {**START, "population": "9", "keep": "1", "junk": "x"}).json()["kept"]
    assert 'value="9"' in client.get(page).content.decode()
    assert "Search for good settings" in client.get(reverse("projects:home")).content.decode()
    training_page = client.get(reverse("training:new", args=[team.project.slug])).content.decode()
    assert "Start afresh" in training_page
    assert "data-kept hidden" in training_page
    job = evolution(team.project, built(team, population="5"), status=Status.FINISHED)
    client.post(reverse("training:clone", args=[team.project.slug, job.pk]))
    assert "Bring back my earlier draft" in client.get(page).content.decode()
    client.post(reverse("training:evolve-forget", args=[team.project.slug]))
    assert TrainDraft.objects.get().form == {**START, "population": "9"}
    assert client.post(page, {**START, "population": "9"}).status_code == 302
    assert not TrainDraft.objects.exists()


def test_a_trial_that_failed_is_told_at_the_field(client: Client, team: Studio) -> None:
    typed = {**START, "game": "gymnasium", "gymnasium": "NoSuchGame-v0"}
    failed = trial(team, built(team, **typed), status=Status.FAILED, message="No such game.", summary={}, artifacts={})
    journal.append(failed, {}, [Entry("failed", {"message": "-", "places": "game.name: Gymnasium has no such game"})])
    answer = client.post(reverse("training:evolve", args=[team.project.slug]), typed)
    assert answer.status_code == 422
    assert "Gymnasium has no such game" in answer.content.decode()


@pytest.mark.parametrize("kind", ["pbt", "map-elites"])
def test_a_search_that_has_ended_shows_its_players_and_gives_the_best_away(
    client: Client, team: Studio, kind: str
) -> None:
    job = evolved(team.project, config(kind))
    where = [team.project.slug, job.pk]
    page = client.get(reverse("studies:job", args=where)).content.decode()
    assert "Download the best player" in page
    assert not re.search(r"\b(lineup|battle)s?\b", page[page.index("data-job-actions") :])
    told = client.get(reverse("training:players", args=where)).json()
    assert [gene["title"] for gene in told["genes"]] == ["Learning rate", "Weight of the entropy"]
    assert len(told["players"]) == told["count"] == 12
    assert told["fresh"]
    assert told["policy"]
    returns = [one["goals"][0] for one in told["best"]]
    assert returns == sorted(returns, reverse=True)
    assert client.get(reverse("training:policy", args=where)).status_code == 200
    drawn = "lineage" if kind == "pbt" else "grid"
    picture = client.get(reverse(f"studies:{drawn}", args=where), {"tick": 3}).json()
    assert picture["member"] if kind == "pbt" else picture["quality"]["title"] == "Return (sum of rewards)"
    rounds = client.get(reverse("studies:rounds", args=where)).json()
    assert len(rounds["best_return"]) == len(rounds["mean_return"]) == 3


def test_the_edge_of_players_with_several_goals_is_drawn_along_any_two(client: Client, team: Studio) -> None:
    goals = [{"measure": "return"}, {"measure": "length", "direction": "min"}, {"measure": "reward.score"}]
    job = evolved(team.project, config("nsga2", objectives=goals, noise={"reevaluate": 1, "again": 2}))
    where = [team.project.slug, job.pk]
    edge = client.get(reverse("studies:front", args=where), {"of": "fresh"})
    assert edge.json()["x"] == sorted(edge.json()["x"])
    other = client.get(reverse("studies:front", args=where), {"of": "fresh", "x": 2, "y": 1})
    assert other["ETag"] != edge["ETag"]
    assert sorted(other.json()["y"]) == sorted(edge.json()["x"])
    assert client.get(reverse("studies:around", args=where), {"tick": 2, "x": 9, "y": "z"}).json()["count"] >= 4
    page = client.get(reverse("studies:job", args=where)).content.decode()
    assert page.count("data-best-tile>") == 3
    assert "data-typical" not in page
    for name in ("edge", "volume", "settings"):
        assert f'data-tell="{name}"' in page
    assert "<dt>Goals</dt><dd>Return (sum of rewards), more is better; Length of an episode (decisions), less" in page
    assert "<dt>Best ones measured again each round</dt><dd>1</dd>" in page
    told = client.get(reverse("training:players", args=where), {"tick": 2}).json()
    assert len(told["players"]) == 12


def test_population_based_training_is_told_in_a_designer_s_words_with_the_field_s_behind(
    client: Client, team: Studio
) -> None:
    form_page = client.get(reverse("training:evolve", args=[team.project.slug])).content.decode()
    for words in (
        "When a player copies another (exploit)",
        "drawn anew (explore)",
        "Worst copy best (truncation)",
    ):
        assert words in form_page
    job = evolution(team.project, config("pbt", algorithm={"kind": "pbt", "population": 4, "exploit": "truncation"}))
    page = client.get(reverse("studies:job", args=[team.project.slug, job.pk])).content.decode()
    told = "<dt>When a player copies another (exploit)</dt><dd>Worst copy best (truncation)</dd>"
    assert told in page
    assert "<dt>Players</dt><dd>4</dd>" in page


def test_while_it_runs_the_page_shows_those_measured_so_far(client: Client, team: Studio) -> None:
    job = evolved(team.project)
    Job.objects.filter(pk=job.pk).update(artifacts={}, status=Status.RUNNING)
    told = client.get(reverse("training:players", args=[team.project.slug, job.pk]), {"tick": 2}).json()
    assert (len(told["players"]), told["fresh"], bool(told["best"])) == (8, False, True)


def test_players_are_not_called_measured_on_fresh_episodes_by_those_that_pick_them(
    client: Client, team: Studio
) -> None:
    """Everywhere else fresh means that they had no part in the picking."""
    job = evolved(team.project)
    shown = client.get(reverse("studies:job", args=[team.project.slug, job.pk])).content.decode()
    assert "each measured on episodes it did not learn from" in shown
    assert "each measured on fresh" not in shown
    said = EvolveConfig.model_fields["episodes"].title, AimConfig.model_fields["measure"].description
    assert not any("fresh" in str(text).lower() for text in said)


def test_one_goal_has_no_edge(client: Client, team: Studio) -> None:
    job = evolved(team.project, config(objectives=[{"measure": "return"}]))
    for name in ("front", "around"):
        answer = client.get(reverse(f"studies:{name}", args=[team.project.slug, job.pk]), {"tick": 1})
        assert answer.status_code == 404
    page = client.get(reverse("studies:job", args=[team.project.slug, job.pk])).content.decode()
    assert 'data-tell="edge"' not in page


def test_the_furthest_is_the_one_that_the_search_chose_and_not_the_luckiest_of_the_fresh() -> None:
    fresh = [{"id": 3, "goals": [0.9]}, {"id": 5, "goals": [0.4]}]
    everybody = [{"id": 3, "goals": [0.5]}, {"id": 5, "goals": [0.8]}, {"id": 7, "goals": [0.99]}]
    assert furthest(fresh, everybody, 0, 1.0) == fresh[1]
    assert furthest(fresh, everybody, 0, -1.0) == fresh[0]
    assert furthest([], everybody, 0, 1.0) is None


def test_before_its_first_round_a_search_has_no_players(client: Client, team: Studio) -> None:
    job = evolution(team.project, status=Status.QUEUED)
    assert client.get(reverse("studies:job", args=[team.project.slug, job.pk])).status_code == 200
    assert client.get(reverse("training:players", args=[team.project.slug, job.pk])).json()["best"] == []


def test_other_jobs_have_no_players_and_a_search_for_settings_no_lineups(client: Client, team: Studio) -> None:
    other, job = search_job(team.project, rows=10), evolution(team.project)
    assert client.get(reverse("training:players", args=[team.project.slug, other.pk])).status_code == 404
    for name in ("explore", "course"):
        assert client.get(reverse(f"studies:{name}", args=[team.project.slug, job.pk])).status_code == 404
    for page in (reverse("studies:jobs", args=[team.project.slug]), reverse("projects:home")):
        assert client.get(page).status_code == 200
    ended = evolution(team.project, status=Status.FINISHED, tick=3)
    listed = client.get(reverse("studies:jobs", args=[team.project.slug])).content.decode()
    assert f'name="job" value="{ended.pk}"' in listed
    assert reverse("studies:explore", args=[team.project.slug, ended.pk]) not in listed


def test_players_have_the_ranges_that_the_search_left_and_none_where_it_left_none() -> None:
    """Five equal returns do not say what the sixth is: nothing may read ±0. Wins had Student's range, 36 % of them
    wrong."""
    arrays = {
        "id": np.array([4]), "tick": np.array([1]), "status": np.array([0]), "samples": np.array([5]),
        "genome": np.array([[0.5]]), "objective": np.array([[21.0, 0.9]]), "error": np.array([[0.0, 0.1]]),
        "low": np.array([[-np.inf, 0.4]]), "high": np.array([[np.inf, 1.0]]),
    }  # fmt: skip
    bundle = Bundle({"genes": [{"path": "learner.rate"}]}, arrays)
    (row,) = Players(bundle, ["return", "win"], fresh=True).page(0, 1)
    assert row["goals"]["return"] == {"mean": 21.0, "low": None, "high": None}
    assert row["goals"]["win"] == {"mean": 0.9, "low": 0.4, "high": 1.0}
    (shown,) = players_of(bundle, [1.0, 1.0])
    assert shown["half"] == [None, 0.5], "the longer side"
    earlier = Bundle(bundle.meta, {name: arrays[name] for name in arrays if name not in ("low", "high")})
    assert players_of(earlier, [1.0, 1.0])[0]["half"] == [None, None]
    assert not np.isfinite(half_of(earlier.arrays)).any(), "nor on charts of the edge and in comparisons"
    assert measured(21.0, 0.004, 1) == "21.0 ± 0.1"


def test_what_only_papers_call_by_a_letter_stands_under_details(client: Client, team: Studio) -> None:
    page = client.get(reverse("training:evolve", args=[team.project.slug])).content.decode()
    opened, details = page.split('<details class="specialist card')
    for words in ("λ", "c̄", "Clipped traces", "Largest trace"):
        assert words not in opened, words
        assert words in details, words
    assert "Lamarckian" not in page
    assert "The paper" not in page
