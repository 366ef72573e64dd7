"""Composing a training: what can be chosen, what is wrong at which field, what is kept, and how long it will take."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from engine.config import TrainConfig, parse, study_hash
from engine.config.rl import PRESETS, NetworkConfig, NumberedConfig, PPOConfig
from tests.factories import Studio, signed_in
from tests.webapp.agents import kept as kept_agent
from tests.webapp.trainings import config, finished, training
from webapp.agents.keeping import opponents
from webapp.agents.models import Agent
from webapp.games.models import Simulator
from webapp.lib.storage import store
from webapp.studies import journal
from webapp.studies.journal import TIME_IS_UP, Entry
from webapp.studies.models import Job, Status
from webapp.training import trials
from webapp.training.beginnings import misfits, unfit
from webapp.training.entrants import limits_of
from webapp.training.form_values import values_of
from webapp.training.forms import TrainForm
from webapp.training.games import OFFERS, title_of
from webapp.training.hands import NO_CLOCK
from webapp.training.methods import ALGORITHMS, PRESET_LIST
from webapp.training.models import TrainDraft
from webapp.training.start_field import NOT_HERE

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def client(team: Studio) -> Client:
    return signed_in(team.designer)


def form(team: Studio, **typed: str) -> TrainForm:
    made = TrainForm({name.replace("__", "."): value for name, value in typed.items()}, project=team.project)
    made.is_valid()
    return made


def wrong(team: Studio, **typed: str) -> dict[str, list[str]]:
    return {name: [str(e) for e in found] for name, found in form(team, **typed).errors.items()}


def built(team: Studio, **typed: str) -> TrainConfig:
    made = form(team, **typed)
    assert made.config is not None, made.errors
    return made.config


def new(team: Studio) -> str:
    return reverse("training:new", args=[team.project.slug])


def asked(client: Client, team: Studio, **typed: str) -> dict[str, Any]:
    address = reverse("training:preview", args=[team.project.slug])
    found: dict[str, Any] = client.post(address, {k.replace("__", "."): v for k, v in typed.items()}).json()
    return found


def trial(team: Studio, of: TrainConfig, **row: Any) -> Job:
    """A trial that measured 40 µs of playing and 60 µs of learning a move."""
    plain = trials.of(of)
    measured = {"steps_per_second": 9000.0, "sampling_seconds": 0.4, "learning_seconds": 0.6}
    ended = {"status": Status.STOPPED, "message": TIME_IS_UP, "counters": {"steps": 10_000}, "summary": measured}
    return training(team.project, kind="sample", config=plain, **{**ended, **row})


def test_nothing_typed_is_a_training_of_cartpole(team: Studio) -> None:
    found = built(team)
    assert (found.game.name, found.learner, found.steps) == ("gym:CartPole-v1", PRESETS["cartpole-ppo"], 100_000)
    assert (found.pool.kind, found.sampling, found.seed) == ("ray", "synchronous", 1)


def test_each_kind_of_game_gets_its_engine_name(team: Studio) -> None:
    command = Simulator.objects.create(name="Our game", kind="command", reference="command:our-game", everybody=True)
    assert built(team, game="pong").game.name == "pong"
    assert built(team, game="atari", atari="breakout").game.name == "ale:breakout"
    assert built(team, game="gymnasium", gymnasium="LunarLander-v3").game.name == "gym:LunarLander-v3"
    assert built(team, game="simulator", simulator=str(command.pk)).game.name == "command:our-game"


def test_one_agent_takes_all_seats_of_its_side(team: Studio) -> None:
    made = built(team, game="navigation")
    assert {name: policy.seats for name, policy in made.policies.items()} == {"team": (0, 1, 2)}
    assert opponents("navigation") == {}, "nobody else is in the game"


def test_on_both_sides_of_pong_an_agent_of_its_own_learns(client: Client, team: Studio) -> None:
    made = built(team, game="pong-two-seats", preset="pong-ppo")
    assert {name: (p.kind, p.seats) for name, p in made.policies.items()} == {
        "left": ("learning", (0,)),
        "right": ("learning", (1,)),
    }
    job = training(team.project, config=made, template="pong-ppo", title=made.name)
    assert built(team, **{n.replace(".", "__"): v for n, v in values_of(job, team.project).items()}) == made
    page = client.get(reverse("training:evolve", args=[team.project.slug])).content.decode()
    assert "both sides" not in page, "a search trains one agent at a time"


@pytest.mark.parametrize("line", ["points 0", "points many", "points 1.5", "rewards beauty", "max_ticks -1"])
def test_a_setting_that_the_game_cannot_have_is_told_at_its_field(team: Studio, line: str) -> None:
    assert set(wrong(team, game="pong", game__settings=line)) == {"game.settings"}


def test_a_simulator_of_another_project_cannot_be_chosen(team: Studio) -> None:
    hidden = Simulator.objects.create(name="Theirs", kind="command", reference="command:theirs")
    assert "simulator" in wrong(team, game="simulator", simulator=str(hidden.pk))


def test_a_game_of_lineups_is_not_offered_and_one_that_failed_its_test_is_refused_with_what_it_said(
    team: Studio,
) -> None:
    rows = {"name": "Ours", "kind": "command", "reference": "command:ours", "everybody": True}
    row = Simulator.objects.create(**rows, spec={"name": "a game of lineups"})
    assert "valid choice" in wrong(team, game="simulator", simulator=str(row.pk))["simulator"][0]
    Simulator.objects.update(by_moves=True, status=Simulator.Status.BROKEN, message="The mask leaves nothing to do.")
    said = wrong(team, game="simulator", simulator=str(row.pk))
    assert said == {"simulator": ["The game cannot be played now. The mask leaves nothing to do."]}


@pytest.mark.parametrize("name", ["", "os:system-v0", "../x-v0", "CartPole", "command:rm -rf", "a b-v1"])
def test_a_gymnasium_name_cannot_import_or_run_anything(team: Studio, name: str) -> None:
    assert set(wrong(team, game="gymnasium", gymnasium=name)) == {"gymnasium"}


def test_dqn_is_refused_where_the_game_is_steered_and_the_page_says_why(client: Client, team: Studio) -> None:
    assert "steered" in wrong(team, game="pendulum", algorithm="dqn")["algorithm"][0]
    assert "steered" in wrong(team, game="gymnasium", gymnasium="Hopper-v5", algorithm="dqn")["algorithm"][0]
    html = asked(client, team, game="pendulum")["html"]["algorithms"]
    able, _, unable = html.partition("<details")
    assert 'value="td3"' in able
    assert 'value="dqn"' not in html, "nobody is offered what cannot learn the game"
    assert "6 other methods cannot learn this game" in unable
    assert "DQN chooses one of several actions, and this game is steered with numbers." in unable
    assert "MASAC steers a team as one, and in this game one plays alone." in unable


@pytest.mark.parametrize("kind", ["td3", "sac"])
def test_an_algorithm_that_only_steers_is_refused_where_moves_are_chosen(team: Studio, kind: str) -> None:
    assert "actions is chosen" in wrong(team, game="cartpole", algorithm=kind)["algorithm"][0]
    assert built(team, game="pendulum", algorithm=kind).learner == PRESETS[f"pendulum-{kind}"]
    assert not wrong(team, game="gymnasium", gymnasium="Unheard-v0", algorithm=kind).get("algorithm")


def test_settings_that_steering_does_not_have_are_not_asked_for(client: Client, team: Studio) -> None:
    html = asked(client, team, game="pendulum", algorithm="td3")["html"]["details"]
    assert "learner.network.policy" in html
    assert not [name for name in ("sharing", "lstm", "log_std") if f"learner.network.{name}" in html]


@pytest.mark.parametrize("kind", ["masac", "maddpg"])
def test_a_team_is_trained_as_one_and_not_where_it_would_have_to_look_at_pictures(team: Studio, kind: str) -> None:
    found = built(team, game="navigation", algorithm=kind)
    assert found.learner == PRESETS[f"navigation-{kind}"]
    assert found.groups == ((0, 1, 2),)
    assert "looks at numbers" in wrong(team, game="image-tanks", algorithm=kind)["algorithm"][0]


def test_every_preset_makes_a_training(team: Studio) -> None:
    from webapp.training.games import OFFERS, does
    from webapp.training.methods import misfit, presets_for

    beside = {"atari": "pong", "gymnasium": "CartPole-v1"}
    seen = set()
    for offer in OFFERS.values():
        if offer.key == "simulator":
            continue
        for kind in ALGORITHMS:
            for preset in presets_for(kind, offer.key, offer.sees):
                if not misfit(kind, does(offer, beside.get(offer.key, "")), offer):
                    seen.add(preset.key)
                    built(team, game=offer.key, algorithm=kind, preset=preset.key, **beside)
    assert set(PRESETS) <= seen


@pytest.mark.parametrize(
    ("game", "kind"),
    [("platform", "mpdqn"), ("half-field", "mpdqn"), ("pendulum", "ppo"), ("cartpole", "ppo"), ("atari", "ppo")],
)
def test_a_game_begins_with_the_algorithm_that_was_tuned_for_it(team: Studio, game: str, kind: str) -> None:
    assert built(team, game=game, atari="pong").learner.kind == kind
    assert built(team, game=game, atari="pong", algorithm="ppo").learner.kind == "ppo"


def test_learners_without_choices_that_have_numbers_say_so() -> None:
    from webapp.training.methods import misfit

    for kind in ("dqn", "td3", "sac"):
        said = misfit(kind, "parameterised")
        assert said.endswith("cannot choose an action and its numbers together, and this game needs both.")
    assert misfit("ppo", "parameterised") == ""


@pytest.mark.parametrize("kind", ["pdqn", "mpdqn", "paddpg"])
def test_learners_of_choices_with_numbers_are_refused_where_choices_have_none(team: Studio, kind: str) -> None:
    for game in ("pong", "pendulum"):
        (said,) = wrong(team, game=game, algorithm=kind)["algorithm"]
        assert said.endswith("needs choices with numbers of their own, and this game has none.")
    found = built(team, game="platform", algorithm=kind, learner__start="3 20 300").learner
    assert found == PRESETS[f"platform-{kind}"].model_copy(update={"start": (3.0, 20.0, 300.0)})


def test_settings_for_half_field_are_not_called_published_but_say_how_they_differ() -> None:
    from webapp.training.methods import PRESET_LIST

    for kind in ("pdqn", "mpdqn", "paddpg"):
        preset = PRESET_LIST[f"half-field-{kind}"]
        assert preset.title == "For half field"
        assert preset.text.startswith("After a published study, with numbers that learn ten times as fast")


@pytest.mark.parametrize("kind", ["pdqn", "mpdqn"])
def test_goal_is_learned_with_the_numbers_to_begin_with_that_follow_the_ball(team: Studio, kind: str) -> None:
    found = built(team, game="goal", algorithm=kind).learner
    assert found == PRESETS[f"goal-{kind}"]
    assert isinstance(found, NumberedConfig)
    assert found.slopes[0][10] == 1.0


def test_table_three_is_number_for_number(team: Studio) -> None:
    found = built(team, game="image-pong", algorithm="ppo", preset="table3-image-pong").learner
    assert found == PRESETS["table3-image-pong"]


def test_details_replace_the_preset_s_settings_one_by_one(team: Studio) -> None:
    found = built(
        team, game="pong", algorithm="ppo", preset="pong-ppo", learner__rate="0.02", learner__network__conv="",
        learner__normalise_advantages="off", learner__schedule="linear", learner__network__policy="64",
        learner__network__critic="64 32", learner__rewards="score 1 0.9\nhit 0.5", environments="3", samplers="5",
        game__settings="points 3\nrewards score hit",
    )  # fmt: skip
    changes = {"rate": 0.02, "normalise_advantages": False, "schedule": "linear"}
    assert {name: getattr(found.learner, name) for name in changes} == changes
    assert (found.learner.network.policy, found.learner.network.critic) == ((64,), (64, 32))
    assert found.learner.reuse == PRESETS["pong-ppo"].reuse  # type: ignore[union-attr]
    assert (found.learner.rewards["score"].discount, found.learner.rewards["hit"].weight) == (0.9, 0.5)
    assert (found.environments, found.samplers) == (3, 5)
    assert found.game.settings == {"points": 3, "rewards": ("score", "hit")}


def test_battles_are_shared_among_the_samplers(team: Studio) -> None:
    assert built(team, samplers="1").environments == 8
    assert built(team, samplers="4").environments == 2


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        ("steps", "none"), ("steps", "0"), ("minutes", "-1"), ("seed", "1.5"), ("episodes", "1"),
        ("max_staleness", "x"), ("learner__rate", "0"), ("learner__rate", "7"), ("learner__discount", "2"),
        ("learner__batch", "many"), ("learner__network__policy", "64 x"), ("learner__network__conv", "32"),
        ("learner__rewards", "score"), ("learner__rewards", "score much"), ("samplers", "0"), ("environments", "-3"),
    ],
)  # fmt: skip
def test_bad_input_is_told_at_its_field(team: Studio, field: str, typed: str) -> None:
    assert set(wrong(team, **{field: typed})) == {field.replace("__", ".")}


def test_whatever_is_wrong_is_told_in_one_go_and_nothing_that_only_follows_from_it(team: Studio) -> None:
    typed = {"seed": "x", "learner__rate": "0", "learner__network__policy": "0", "samplers": "1.5", "atari": "$"}
    found = wrong(team, game="atari", learner__network__lstm="-1", learner__rewards="score much", **typed)
    named = {name.replace("__", ".") for name in typed}
    assert set(found) == {*named, "learner.network.lstm", "learner.rewards"}
    assert all(len(told) == 1 for told in found.values())
    one = wrong(team, learner__network__policy="64 x", learner__network__critic="64 32", learner__rewards="a b c d e")
    assert set(one) == {"learner.network.policy", "learner.rewards"}


def test_an_open_end_is_told_where_the_number_is_typed(team: Studio) -> None:
    fields = form(team).fields
    assert fields["learner.rate"].help_text == "More than 0, at most 1."
    assert fields["learner.clip"].help_text == "How far a probability ratio may count from 1. More than 0, at most 1."
    assert fields["learner.discount"].help_text == "γ, a decision. From 0 to 1."


def test_a_critic_that_does_not_fit_is_told_at_the_critic(team: Studio) -> None:
    found = wrong(team, game="pong", learner__network__policy="64", learner__network__critic="32")
    assert list(found) == ["learner.network.critic"]


def test_all_errors_come_at_once_and_nothing_typed_is_lost(client: Client, team: Studio) -> None:
    answer = client.post(new(team), {"game": "pong", "steps": "lots", "learner.rate": "9", "title": "Mine"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert Job.objects.count() == 0
    for typed in ("lots", "9", "Mine"):
        assert f'value="{typed}"' in page
    assert "2 fields" in page


def test_start_makes_a_job_that_pins_its_settings(client: Client, team: Studio) -> None:
    TrainDraft.objects.create(project=team.project, user=team.designer, form={"game": "pong"})
    answer = client.post(new(team), {"game": "cartpole", "steps": "20000", "title": "My agent", "seed": "7"})
    job = Job.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/p/herobattle/jobs/{job.pk}/")
    assert (job.kind, job.title, job.template, job.ticks) == ("train", "My agent", "cartpole-ppo", 40)
    stored = parse(TrainConfig, job.config)
    assert (stored.steps, stored.seed, stored.learner) == (20_000, 7, PRESETS["cartpole-ppo"])
    assert job.config_hash == study_hash(stored)
    assert not TrainDraft.objects.exists()


def test_a_preview_keeps_the_draft_and_starts_a_trial_of_a_second_process(client: Client, team: Studio) -> None:
    found = asked(client, team, game="pong", steps="50000", learner__rate="0.01", keep="1")
    assert TrainDraft.objects.get().form == {"game": "pong", "steps": "50000", "learner.rate": "0.01"}
    sample = Job.objects.get()
    assert (sample.kind, sample.pk, found["errors"]) == ("sample", found["trial"], {})
    assert sample.config["pool"]["kind"] == "local"
    assert "Training a few seconds" in found["before"]["note"]
    assert 'value="50000"' in client.get(new(team)).content.decode()
    asked(client, team, game="pong", steps="90000", learner__rate="0.02")
    assert Job.objects.count() == 1  # the same work: learning rate and length do not change its pace


def test_a_form_with_errors_starts_no_trial(client: Client, team: Studio) -> None:
    assert set(asked(client, team, steps="x")["errors"]) == {"steps"}
    assert not Job.objects.exists()


def test_a_trial_gives_an_honest_range(client: Client, team: Studio) -> None:
    trial(team, built(team))
    before = asked(client, team)["before"]
    # 100,000 moves: 40 µs of playing shared by two samplers and 60 µs of learning are 8 s. 8 s to start, and 9
    # evaluations of 50 episodes of 500 moves at most are another 9 s.
    assert "decisions a second" in before["note"]
    assert before["time"] == "15\u00a0s to 30\u00a0s"


def test_an_estimate_says_which_other_jobs_run_or_wait_at_that_moment(client: Client, team: Studio) -> None:
    trial(team, built(team))
    jobs = [training(team.project, title=f"Job {i}", status=Status.PAUSED) for i in range(3)]
    alone = "As long as nothing else runs."
    for statuses, said in (
        ("paused finished failed", alone),
        ("running paused finished", "1 other job is running now, so it may take longer."),
        ("queued waiting paused", "2 other jobs are waiting now, so it may take longer."),
        ("running running queued", "2 other jobs are running now and 1 is waiting, so it may take longer."),
    ):
        for job, status in zip(jobs, statuses.split(), strict=True):
            Job.objects.filter(pk=job.pk).update(status=status)
        note = asked(client, team)["before"]["note"]
        assert said in note
        assert (alone in note) == (said == alone)


def test_earlier_trainings_tell_more_than_a_trial(client: Client, team: Studio) -> None:
    job = finished(team.project)
    Job.objects.filter(pk=job.pk).update(config=built(team).model_dump(mode="json"))
    found = asked(client, team, steps="1000000")
    assert found["before"]["note"].startswith("As fast as one earlier training")
    assert found["before"]["time"] == "12\u00a0min to 15\u00a0min"
    assert Job.objects.count() == 1


def test_what_a_trial_finds_wrong_is_told_at_the_field(client: Client, team: Studio) -> None:
    typed = {"game": "gymnasium", "gymnasium": "NoSuchGame-v0", "algorithm": "dqn"}
    failed = trial(team, built(team, **typed), status=Status.FAILED, message="No such game.", summary={})
    places = "game.name: Gymnasium has no 'NoSuchGame-v0'; learner.kind: DQN needs a single choice as action"
    journal.append(failed, {}, [Entry("failed", {"message": "No such game.", "places": places})])
    errors = asked(client, team, **typed)["errors"]
    assert "NoSuchGame-v0" in errors["gymnasium"][0]
    assert "single choice" in errors["algorithm"][0]
    assert client.post(new(team), typed).status_code == 422


def test_a_game_that_a_trial_found_to_work_starts_at_once(client: Client, team: Studio) -> None:
    typed = {"game": "gymnasium", "gymnasium": "LunarLander-v3"}
    trial(team, built(team, **typed))
    assert client.post(new(team), typed).status_code == 302
    assert Job.objects.get(kind="train").status == Status.QUEUED


def test_minutes_alone_need_a_pace_and_get_enough_moves(client: Client, team: Studio) -> None:
    assert built(team, minutes="10").steps == trials.UNSETTLED
    nothing = trial(team, built(team, minutes="10"), summary={})
    refused = client.post(new(team), {"minutes": "10"})
    assert refused.status_code == 422
    assert "Type their number as well" in refused.content.decode()
    nothing.delete()
    trial(team, built(team, minutes="10"))
    assert client.post(new(team), {"minutes": "10"}).status_code == 302
    job = Job.objects.get(kind="train")
    assert job.config["minutes"] == 10
    assert job.config["steps"] == 11_000_000  # 12,500 a second, half as many again as fit


def test_a_clone_asks_for_the_same_training(client: Client, team: Studio) -> None:
    typed = {"game": "pong", "algorithm": "a3c", "preset": "pong-a3c", "learner__rate": "0.02", "samplers": "3",
             "learner__rewards": "score 1 0.9\nhit 0.5", "game__settings": "points 3\nrewards score hit",
             "learner__network__policy": "64", "learner__network__critic": "64", "sampling": "asynchronous",
             "max_staleness": "4", "minutes": "5", "steps": "12345"}  # fmt: skip
    original = built(team, **typed)
    job = training(team.project, config=original, template="pong-a3c")
    again = TrainForm(values_of(job, team.project), project=team.project)
    assert again.is_valid(), again.errors
    assert again.config is not None
    assert study_hash(again.config) == study_hash(original)
    client.post(reverse("training:clone", args=["herobattle", job.pk]))
    assert 'value="12345"' in client.get(new(team)).content.decode()


def test_a_clone_keeps_the_earlier_draft_for_later(client: Client, team: Studio) -> None:
    TrainDraft.objects.create(project=team.project, user=team.designer, form={"game": "pong", "steps": "77"})
    job = training(team.project, config=config(steps=500))
    client.post(reverse("training:clone", args=["herobattle", job.pk]))
    assert TrainDraft.objects.get().form["steps"] == "500"
    client.post(reverse("training:forget", args=["herobattle"]))
    assert TrainDraft.objects.get().form == {"game": "pong", "steps": "77"}
    client.post(reverse("training:forget", args=["herobattle"]))
    assert not TrainDraft.objects.exists()


def test_settings_of_another_algorithm_are_kept_while_one_tries_out(client: Client, team: Studio) -> None:
    html = asked(client, team, algorithm="dqn", learner__clip="0.3", learner__rate="0.004")["html"]["details"]
    assert '<input type="hidden" name="learner.clip" value="0.3">' in html
    assert 'name="learner.rate" id="id_learner.rate" autocomplete="off" value="0.004"' in html


def test_a_draft_takes_only_what_the_form_has(client: Client, team: Studio) -> None:
    asked(client, team, keep="1", game="pong", nonsense="x", before="y", title="z" * 9000)
    kept = TrainDraft.objects.get().form
    assert {name: len(text) for name, text in kept.items()} == {"game": 4, "title": 9000}


def saved(team: Studio) -> Any:
    """A saved agent of Pong."""
    agent = kept_agent(team.project)
    network = {"policy": [8, 8], "critic": [8, 8], "activation": "leaky_relu"}
    told = {"kind": "actor-critic", "network": network, "normalise": False, "sha256": "ab" * 32}
    agent.policy = store().put(json.dumps(told).encode())
    agent.game = {"name": "vector-pong", "settings": {}}
    agent.save()
    return agent


def test_a_training_begins_with_a_saved_agent_in_a_network_as_large_or_larger(team: Studio) -> None:
    agent = saved(team)
    made = built(team, game="pong", start=str(agent.pk))
    assert made.start == agent.policy
    assert made.learner.network.policy == (8, 8), "as the agent has it, where nothing is typed"
    larger = {"learner.network.policy": "16 8", "learner.network.critic": "16 8"}
    assert built(team, game="pong", start=str(agent.pk), **larger).learner.network.policy == (16, 8)
    job = training(team.project, config=made)
    again = values_of(job, team.project)
    assert again["start"] == str(agent.pk)
    assert built(team, **again).learner == made.learner, "run again, it is the same"


def test_a_training_run_again_whose_agent_was_deleted_says_so_and_what_to_do(client: Client, team: Studio) -> None:
    agent = saved(team)
    job = training(team.project, config=built(team, game="pong", start=str(agent.pk)))
    Agent.objects.update(deleted_at=timezone.now())
    page = client.post(reverse("training:clone", args=[team.project.slug, job.pk]), follow=True).content.decode()
    assert f"It began with “{agent.name}”, which was deleted since. Choose another agent" in page
    assert f'<option value="{agent.pk}" selected>{agent.name} (deleted)</option>' in page
    assert "The API" not in page, "the page is where it is mended"
    again = values_of(job, team.project)
    assert wrong(team, **again)["start"] == [
        f"“{agent.name}” was deleted. Choose another agent or “A new network”, or put it back on the page of agents."
    ]
    anew = built(team, **{**again, "start": ""})
    assert (anew.start, anew.learner) == (
        "",
        built(team, game="pong").learner.model_copy(update={"network": job_network(job)}),
    )


def job_network(job: Job) -> NetworkConfig:
    return parse(NetworkConfig, job.config["learner"]["network"])


def test_an_agent_that_the_project_does_not_have_is_refused_in_a_sentence(team: Studio) -> None:
    agent = saved(team)
    assert wrong(team, game="pong", start=f"{agent.pk}99")["start"] == [NOT_HERE]
    agent.delete()
    assert wrong(team, game="pong", start=str(agent.pk or 7))["start"] == [NOT_HERE]


@pytest.mark.parametrize("kind", ["td3", "sac"])
def test_critics_that_are_not_saved_with_an_agent_stay_as_usual(team: Studio, kind: str) -> None:
    agent = kept_agent(team.project)
    learner = PRESETS[f"pendulum-{kind}"]
    told = {"kind": learner.head, "network": {"policy": [8, 8], "critic": [], "activation": "relu",
            "sharing": "separate"}}  # fmt: skip
    agent.policy, agent.game = store().put(json.dumps(told).encode()), {"name": "gym:Pendulum-v1", "settings": {}}
    agent.save()
    asked = {"game": "pendulum", "algorithm": kind, "start": str(agent.pk)}
    assert built(team, **asked).learner.network == learner.network.model_copy(update={"policy": (8, 8)})
    larger = built(team, **asked, **{"learner.network.policy": "16 8", "learner.network.critic": "32"}).learner.network
    assert (larger.policy, larger.critic) == ((16, 8), (32,))
    smaller = wrong(team, **asked, **{"learner.network.policy": "8 4"})
    assert "its layers of the policy have 8, 8 units, and here 8, 4" in " ".join(smaller["start"])


def test_agents_of_several_seats_all_begin_with_the_saved_one(team: Studio) -> None:
    agent = saved(team)
    sides = next(offer.key for offer in OFFERS.values() if offer.sides and "pong" in offer.key)
    made = built(team, game=sides, start=str(agent.pk))
    assert {policy.start for policy in made.policies.values()} == {agent.policy}  # type: ignore[union-attr]
    assert made.start == ""


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        (
            {"learner.network.policy": "8 4", "learner.network.critic": "8 4"},
            "does not fit: its layers of the policy have 8, 8 units, and here 8, 4: give as many layers",
        ),
        ({"learner.network.activation": "relu"}, "the activation of its network is leaky_relu, and here relu"),
        ({"learner.normalise_observations": "on"}, "another choice of scaling observations"),
        ({"algorithm": "dqn"}, "does not fit: PPO, A3C or IMPALA trained it; choose PPO, A3C or IMPALA."),
        ({"game": "cartpole"}, "plays another game. Choose another agent, or a new network."),
    ],
)
def test_a_saved_agent_that_does_not_fit_is_refused_at_its_field(team: Studio, typed: dict[str, str], why: str) -> None:
    agent = saved(team)
    assert why in " ".join(wrong(team, **{"game": "pong", "start": str(agent.pk), **typed})["start"])


@pytest.mark.parametrize("game", ["pong", next(o.key for o in OFFERS.values() if o.sides and "pong" in o.key)])
def test_programs_are_told_where_a_saved_agent_does_not_fit(team: Studio, game: str) -> None:
    agent = saved(team)
    made = built(team, game=game, start=str(agent.pk))
    assert not [*unfit(made, team.project)]
    smaller = made.learner.model_copy(update={"network": NetworkConfig(policy=(4, 4), critic=(4, 4))})
    told = dict(unfit(made.model_copy(update={"learner": smaller}), team.project))
    assert set(told) == {place for place, _ in made.starts.values()}
    assert all("have 8, 8 units, and here 4, 4" in why for why in told.values())


@pytest.mark.parametrize(("head", "who"), [("deterministic", "TD3"), ("squashed", "SAC"), ("q", "DQN")])
def test_who_trained_an_agent_is_named_where_another_algorithm_is_chosen(head: str, who: str) -> None:
    agent = Agent(name="Ada", policy=store().put(json.dumps({"kind": head}).encode()))
    assert list(misfits(agent, "", PPOConfig())) == [f"“Ada” does not fit: {who} trained it; choose {who}."]


def test_who_begins_is_asked_where_somebody_is_saved(team: Studio, client: Client) -> None:
    assert 'name="start"' not in client.get(new(team)).content.decode()
    agent = saved(team)
    shown = client.get(new(team)).content.decode()
    assert f'<option value="{agent.pk}">{agent.name}</option>' in shown
    assert "From where, and how far?" in shown
    assert wrong(team, start="999")["start"]


@pytest.mark.parametrize("page", ["training:new", "styles:new"])
def test_saved_agents_of_several_games_stand_under_the_titles_of_their_games(
    team: Studio, client: Client, page: str
) -> None:
    agent = saved(team)
    other = Agent.objects.create(
        project=team.project, name="Cartwright", policy="c" * 64, game={"name": "gym:CartPole-v1", "settings": {}}
    )
    shown = client.get(reverse(page, args=[team.project.slug])).content.decode()
    for each, name in ((agent, "vector-pong"), (other, "gym:CartPole-v1")):
        group = shown.partition(f'<optgroup label="{title_of(name, team.project)}">')[2].partition("</optgroup>")[0]
        assert f'<option value="{each.pk}">{each.name}</option>' in group


def test_limits_of_a_person_are_typed_held_and_read_back(team: Studio) -> None:
    found = built(team, game="pong", react="200", pace="5")
    assert found.game.limits is not None
    assert (found.game.limits.delay, found.game.limits.apart) == (8, 8), "Pong is shown at 40 decisions a second"
    job = training(team.project, config=found)
    again = values_of(job, team.project)
    assert (again["react"], again["pace"]) == ("200", "5")
    assert limits_of(job) == {"limits": {"delay": 8, "apart": 8}}
    assert wrong(team, game="cartpole", react="9")["react"] == [NO_CLOCK]


def test_what_a_game_or_a_preset_takes_is_told_in_decisions_which_are_the_same_on_every_machine() -> None:
    texts = [each.text for each in (*OFFERS.values(), *PRESET_LIST.values(), *ALGORITHMS.values())]
    assert [text for text in texts if re.search(r"\b(second|minute|hour|day)s?\b", text)] == []
    learned = {preset.steps for preset in PRESET_LIST.values() if preset.games == ("cartpole",)}
    assert OFFERS["cartpole"].text.endswith(f" {max(learned):,} decisions teach it.")
