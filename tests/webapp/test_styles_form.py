"""Breeding styles of play: what the form makes, what is wrong at which field, and what sample episodes show."""

from __future__ import annotations

import html
import math
import re
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from engine.config.evolve import measure_names
from engine.config.style_reward import StyleReward
from engine.config.styles import StylesConfig
from engine.config.train import TrainGame
from engine.config.whole_updates import learned
from engine.simulators import references
from engine.studies import load
from engine.styles.preview import Samples, Value
from tests.factories import Studio, game_version, signed_in, studio
from tests.webapp.bred import GAME, SHORT, breeding, config, sampled
from tests.webapp.trainings import training
from webapp.api import tokens
from webapp.games.models import GameVersion, Simulator
from webapp.studies import pending, playable
from webapp.studies.journal import TIME_IS_UP
from webapp.studies.models import Job, Status
from webapp.studies.took import took_words
from webapp.styles import pictures, scales, weighing
from webapp.styles.example import OWN_FIELDS, WRITTEN, of_measures
from webapp.styles.forms import StyleForm
from webapp.styles.map_words import gene_text
from webapp.styles.reward_form import NOT_WRITTEN, TOO_FEW_GOALS
from webapp.styles.scales import OFFERS, KnownSignals, strange
from webapp.styles.starting import ANEW
from webapp.styles.typed import values_of
from webapp.styles.unchecked import words
from webapp.styles.views import CORRECT
from webapp.training import forecast, hands, trials
from webapp.training.models import TrainDraft

pytestmark = pytest.mark.django_db(transaction=True)
PONG = {"game": "pong", "game.settings": SHORT}
OWN = {**PONG, "scale": "own", "style": "moved", "goal-1": "score + hits", "goal-1-called": "hits the ball",
       "goal-2": "score"}  # fmt: skip
EXAMPLE = "These formulas are an example."


@pytest.fixture
def client(team: Studio) -> Client:
    return signed_in(team.designer)


def form(team: Studio, **typed: str) -> StyleForm:
    made = StyleForm(typed, project=team.project)
    made.is_valid()
    return made


def built(team: Studio, **typed: str) -> StylesConfig:
    made = form(team, **typed)
    assert made.study is not None, made.errors
    return made.study


def wrong(team: Studio, **typed: str) -> dict[str, list[str]]:
    return {name: [str(e) for e in found] for name, found in form(team, **typed).errors.items()}


def test_in_a_short_training_fewer_battles_are_played_so_that_no_more_is_learned_from_than_was_typed(
    team: Studio,
) -> None:
    usual = built(team, **PONG, scale="busy-calm").task
    short = built(team, **PONG, scale="busy-calm", steps="3000", **{"learner.batch": "1000"}).task
    assert (usual.environments, short.environments) == (64, 16)
    assert learned(short) == 4096 < 2 * 3000
    none = wrong(team, **PONG, scale="busy-calm", steps="100", **{"learner.batch": "100"})
    assert "nobody can learn from only 100" in none["steps"][0]
    assert "fragments of at most 100 decisions" in none["steps"][0]


def post(client: Client, team: Studio, name: str = "new", **typed: str) -> Any:
    return client.post(reverse(f"styles:{name}", args=[team.project.slug]), typed)


def test_a_designers_own_games_come_first_and_the_course_games_last() -> None:
    order = list(scales.OFFERS)
    assert order[:3] == ["commanders", "pong", "image-pong"]
    assert order.index("cartpole") > order.index("simulator")
    assert "pong-two-seats" not in order


def test_what_the_page_offers_at_once_is_busy_and_calm(team: Studio) -> None:
    study = built(team, game="pong")
    assert study.task.style is not None
    assert (study.task.style.style, study.task.style.w1, study.task.style.w2) == ("2 * moved - 1", 1.0, (-0.01, 0.01))
    assert [aim.formula for aim in study.objectives] == ["score + moved", "score + (1 - moved)"]
    assert (study.behaviour, study.algorithm.population, study.ticks) == (("moved",), 12, 8)
    assert study.task.steps == 250_000


def test_a_commander_is_bred_with_the_names_of_his_own_game(team: Studio) -> None:
    study = built(team, game="commanders", scale="busy-calm")
    assert study.task.style is not None
    assert (study.task.style.style, study.behaviour) == ("2 * walked - 1", ("walked",))
    assert [aim.formula for aim in study.objectives] == ["win + walked", "win + (1 - walked)"], "scores lie too close"
    assert study.task.style.w2 == (-0.05, 0.05), "a battle has thirty orders, so a hundredth each hardly counts"
    assert study.task.steps == 98_304, "with the usual 24,576 those who walk much win less"
    study = built(team, game="commanders", scale="aggressive-cautious")
    assert study.behaviour == ("forward",)
    assert built(team, game="commanders", scale="brawler-dodger").behaviour == ("dealt", "taken")
    assert not [scale.title for scale in scales.known_signals("commanders", None).scales() if scale.missing]
    ways = {key: built(team, game="commanders", scale=key).behaviour for key in ("rusher-builder", "explorer-camper")}
    assert ways == {"rusher-builder": ("first_attack",), "explorer-camper": ("explored",)}


def test_commanders_are_bred_on_the_projects_newest_data(team: Studio, client: Client) -> None:
    version = game_version(team.project)
    GameVersion.objects.filter(pk=version.pk).update(patch={"battle.time_limit": 200})
    made = form(team, game="commanders")
    assert made.version == version
    assert built(team, game="commanders").task.game.settings == {"changes": ("battle.time_limit=200.0",)}
    assert built(team, game="pong").task.game.settings == {}
    post(client, team, game="commanders")
    job = Job.objects.get(kind="style")
    assert job.game_version == version
    assert not playable.obstacle(job)
    assert "changes" not in values_of(job, team.project).get("game.settings", "")


def test_a_scale_that_a_game_cannot_offer_says_why(team: Studio, client: Client) -> None:
    offered = {each.template.key: each.missing for each in scales.known_signals("pong", None).scales()}
    assert offered == {
        "busy-calm": "", "aggressive-cautious": "how far forward a player stands",
        "brawler-dodger": "what damage a player deals and takes",
        "rusher-builder": "when a player attacks first", "explorer-camper": "how much ground a player covers",
    }  # fmt: skip
    page = post(client, team, "preview", game="pong").json()["html"]["reward"]
    assert "This game does not tell when a player attacks first." in page
    assert "does not tell when" in wrong(team, game="pong", scale="rusher-builder")["scale"][0]


@pytest.mark.parametrize(("place", "ends"), [("0", (-0.001, 0.001)), ("5", (-0.01, 0.01)), ("10", (-0.1, 0.1))])
def test_the_slider_says_how_much_the_style_matters(team: Studio, place: str, ends: tuple[float, float]) -> None:
    study = built(team, game="pong", matters=place)
    assert study.task.style is not None
    assert study.task.style.w2 == ends


def test_what_the_slider_means_is_said_in_words_that_grow_with_it(team: Studio) -> None:
    assert weighing.balance(form(team, **PONG)).endswith(weighing.LATER)
    sampled(team.project)
    left, right = (weighing.balance(form(team, **PONG, matters=place)) for place in ("0", "10"))
    assert "To those drawn most strongly, that counts about" in left
    assert left != right
    assert not any(digit in left + right for digit in "0123456789"), "numbers stand in the details"
    assert "drawn to the style, all alike" in weighing.balance(form(team, **{**OWN, "w2": "0.3"}))
    assert "drawn to calm, some strongly" in weighing.balance(form(team, **PONG, w2="-0.5 to -0.1"))
    assert "Winning makes no difference" in weighing.balance(form(team, **PONG, w1="0"))


def test_weights_may_be_numbers_or_ranges(team: Studio) -> None:
    style = built(team, game="pong", w1="0.5 to 2", w2="0.3", matters="9").task.style
    assert style is not None
    assert (style.w1, style.w2) == ((0.5, 2), 0.3)
    assert "nothing is paid for" in wrong(team, game="pong", w1="0", w2="0")["w2"][0]
    for typed in ("much", "0,5", "1,000", "1.000,5"):
        assert "neither a number nor a range" in wrong(team, game="pong", w2=typed)["w2"][0], typed


def test_limits_are_typed_in_milliseconds_and_actions_a_second_and_kept_in_moves_of_the_game(team: Studio) -> None:
    game = built(team, game="pong", react="200", pace="5").task.game
    assert game.limits is not None
    assert (game.limits.delay, game.limits.apart) == (8, 8), "Pong is shown at 40 moves a second"
    assert hands.typed(game.model_dump()) == {"react": "200", "pace": "5"}
    assert hands.words(game.model_dump()) == (
        "reacts 0.2 s after what it sees and does something else at most 5 times a second"
    )
    slow = built(team, game="commanders", pace="1").task.game.limits
    assert slow is not None
    assert (slow.delay, slow.apart) == (0, 3), "a commander decides three times a second"
    assert built(team, game="pong", react="0").task.game.limits is None
    job = breeding(team.project, built(team, **PONG, react="50", pace="7"))
    assert built(team, **values_of(job, team.project)).task.game == load(job.config).task.game  # type: ignore[attr-defined]
    assert wrong(team, game="cartpole", scale="own", react="9")["react"] == [hands.NO_CLOCK]


def test_formulas_of_ones_own_make_a_search(team: Studio) -> None:
    sampled(team.project)
    study = built(team, **OWN)
    assert [(aim.measure, aim.formula) for aim in study.objectives] == [
        ("hits the ball", "score + hits"), ("score", ""),
    ]  # fmt: skip
    assert study.behaviour == ("hits",)
    assert built(team, **OWN, behaviour="hits").behaviour == ("hits",)


def test_formulas_of_ones_own_that_begin_with_a_scale_make_the_same_job(team: Studio, client: Client) -> None:
    sampled(team.project)
    for typed in ({**PONG, "scale": "busy-calm"}, {**PONG, "scale": "busy-calm", "matters": "8", "w1": "0.5 to 2"}):
        page = post(client, team, "preview", **typed).json()["html"]["reward"]
        filled = {name: html.unescape(text) for name, text in re.findall(r' data-fill-(\S+)="([^"]*)"', page)}
        assert built(team, **{**typed, **filled, "scale": "own"}).task.style == built(team, **typed).task.style
        own = built(team, **{**typed, **filled, "scale": "own"})
        scale = built(team, **typed)
        assert own.behaviour == scale.behaviour
        assert [(a.measure, a.formula) for a in own.objectives] == [(a.measure, a.formula) for a in scale.objectives]


def test_agents_are_set_apart_by_what_goals_name_whether_or_not_samples_are_played(
    team: Studio, client: Client
) -> None:
    goals = {
        "game": "commanders",
        "scale": "own",
        "style": "forward",
        "goal-1": "score + forward",
        "goal-2": "1 − taken",
    }
    assert form(team, **goals).ways == ["forward", "taken"]
    assert form(team, **PONG, scale="own", **{"goal-1": "score + moved"}).ways == ["moved"]
    sampled(team.project)
    assert form(team, **PONG, scale="own", **{"goal-1": "score + moved"}).ways == ["moved"]
    assert form(team, **PONG, scale="own", **{"goal-1": "score"}).ways == ["moved", "stayed"], "goals name no way"
    assert post(client, team, "preview", **PONG, scale="own", **{"goal-1": "hits"}).json()["ways"] == "hits"


def test_run_again_with_changes_keeps_the_weight_of_a_style_of_ones_own(team: Studio) -> None:
    sampled(team.project)
    study = built(team, **OWN, w2="-0.01 to 0.01")
    again = built(team, **values_of(breeding(team.project, study), team.project))
    assert again.task.style == study.task.style


def test_every_mistake_of_ones_own_formulas_is_told_at_its_field(team: Studio) -> None:
    sampled(team.project)
    found = wrong(team, **{**OWN, "style": "speed + 1", "goal-1": "score + jumps", "behaviour": "luck"})
    assert "speed" in found["style"][0]
    assert "jumps" in found["goal-1"][0]
    assert "does not measure luck" in found["behaviour"][0]
    assert "is what is paid for" in wrong(team, **{**OWN, "goal-1-called": "style"})["goal-1"][0]
    found = wrong(team, **PONG, scale="own", example=WRITTEN)
    assert (found["style"], found["goal-1"]) == ([NOT_WRITTEN], [TOO_FEW_GOALS])
    found = wrong(team, **PONG, scale="own", style="2 * moved - 1", **{"goal-1": "1/0"})
    assert found["goal-2"] == [TOO_FEW_GOALS]
    assert "the same number for all" in found["goal-1"][0], "and not how many goals there must be"


def test_what_the_game_does_not_have_is_told_before_anything_is_played(team: Studio) -> None:
    found = wrong(team, **{**OWN, "style": "speed", "goal-1": "score + jumps", "behaviour": "luck"})
    assert "speed" in found["style"][0]
    assert "jumps" in found["goal-1"][0]
    assert "does not measure luck" in found["behaviour"][0]


@pytest.mark.parametrize("played", [False, True])
def test_of_rewards_only_the_one_that_is_paid_tells_agents_apart(team: Studio, played: bool) -> None:
    if played:
        sampled(team.project)
    for name in ("reward.foo", "returns", "reward.score"):
        assert f"does not measure {name}" in wrong(team, **{**OWN, "behaviour": name})["behaviour"][0]
        plain = {**config().model_dump(mode="json"), "behaviour": [name]}
        answer = api(team, {"kind": "style", "config": plain})
        assert answer.status_code == 422, answer.content
        assert "config.behaviour.0" in answer.content.decode()
    assert not Job.objects.filter(kind="style").exists()
    paid = built(team, **{**OWN, "behaviour": "return, reward.style, moved"})
    assert paid.behaviour == ("return", "reward.style", "moved")


def test_a_reward_that_names_no_signal_is_refused_before_anything_is_played(team: Studio) -> None:
    found = wrong(team, **{**OWN, "style": "1"})
    assert found["style"][0].startswith("What is paid for the style is the same in every decision")


@pytest.mark.parametrize(
    ("style", "why"),
    [
        ("moved - moved", "What is paid for the style is 0 in all"),
        ("1 / moved", "What is paid for the style is not a number"),
        ("exp(700 * moved)", "What is paid for the style is as large as"),
    ],
)
def test_what_nobody_can_learn_from_is_refused_at_its_field_and_the_page_stays_alive(
    team: Studio, client: Client, style: str, why: str
) -> None:
    sampled(team.project)
    answer = post(client, team, "preview", **{**OWN, "style": style}).json()
    assert why in answer["errors"]["style"][0]
    assert "winning" in answer["pictures"]


def test_a_budget_too_small_to_train_once_is_told_at_its_field(team: Studio) -> None:
    assert "one update takes" in wrong(team, game="pong", steps="10")["steps"][0].lower()


def test_pictures_show_each_reward_and_each_goal_for_both_players(team: Studio) -> None:
    assert pictures.pictures(form(team, **PONG)) == {}
    sampled(team.project)
    drawn = pictures.pictures(form(team, **PONG))
    assert drawn.keys() == {"winning", "style", "goal-1", "goal-2"}
    lines = drawn["style"].lines
    assert [(line.player, line.shape) for line in lines] == [("Random", "circle"), ("Follows the ball", "square")]
    assert all(len(line.places) and all(0 <= place <= 100 for place in line.places) for line in lines)
    assert "an episode" in lines[0].words
    one = Value("Random", "style", 0.5, 3.0, 3.0, 1, (3.0,))
    assert pictures._words(one) == "3 in the one episode that ended"
    drawn = pictures.pictures(form(team, **{**OWN, "style": "speed"}))
    assert drawn.keys() == {"winning", "goal-1", "goal-2"}


def test_who_starts_sees_that_what_is_paid_for_is_not_checked_yet_and_why(team: Studio, client: Client) -> None:
    playing = post(client, team, "preview", **PONG).json()["before"]["long"]
    assert playing == (
        "What is paid for has not been checked on sample episodes yet: they are being played. If you start now, the "
        "job waits for them."
    )
    sampled(team.project)
    assert "not been checked" not in post(client, team, "preview", **PONG).json()["before"]["long"]
    (played,) = [job for job in Job.objects.for_forms() if "samples" in job.artifacts]
    Job.objects.filter(pk=played.pk).update(artifacts={"samples": "0" * 64})
    assert "not in the store any more" in words(form(team, **PONG), Job.objects.get(pk=played.pk))


def test_where_nobody_knows_what_a_game_tells_rewards_are_still_judged_as_far_as_they_can_be() -> None:
    unknown = KnownSignals((), (), False, {})

    def wrong_with(style: str) -> list[str]:
        return [
            why for _, why in strange(StyleReward.model_construct(winning="score", style=style, w1=1, w2=1), unknown)
        ]

    assert wrong_with("2 * speed + max(hits, 0)") == [], "what it tells may have these names"
    assert "names no signal" in wrong_with("max(2, 3)")[0]
    assert "cannot be read" in wrong_with("2 * (speed")[0]


def test_the_preview_plays_sample_episodes_first_and_then_measures_the_pace(team: Studio, client: Client) -> None:
    answer = post(client, team, "preview", **PONG, keep="1").json()
    assert answer["before"]["note"] == "Playing sample episodes …"
    played = Job.objects.get(pk=answer["trial"])
    assert (played.kind, played.config["kind"]) == ("sample", "episodes")
    assert TrainDraft.objects.get().form["game.settings"] == SHORT
    played.delete()
    sampled(team.project)
    answer = post(client, team, "preview", **PONG).json()
    assert Job.objects.get(pk=answer["trial"]).config["kind"] == "train"
    assert "Follows the ball" in answer["pictures"]["style"]
    assert answer["balance"].startswith("Each agent is drawn to one of two ends, busy or calm: some strongly")
    assert answer["weights"].startswith("Winning counts 1, the style −0.01 to 0.01: each agent has weights of its own.")


def test_an_estimate_says_how_long_it_takes_and_of_what_that_consists(team: Studio, client: Client) -> None:
    sampled(team.project)
    plain = forecast.training_of(built(team, **PONG))
    assert plain is not None
    pace = {"steps_per_second": 9000.0, "sampling_seconds": 0.4, "learning_seconds": 0.6, "length": 20.0}
    ended = {"status": Status.STOPPED, "message": TIME_IS_UP, "counters": {"steps": 10_000}, "summary": pace}
    training(team.project, kind="sample", config=trials.of(plain), **ended)
    answer = post(client, team, "preview", **PONG).json()
    assert answer["trial"] is None
    assert answer["before"]["note"].startswith("12 agents × 8 rounds × 253,952 decisions on ")
    assert "min" in answer["before"]["time"] or "h" in answer["before"]["time"]
    assert "were learned from when that was tried, today " in answer["before"]["note"]
    ended = {"status": Status.FINISHED, "counters": {"seconds": 454.0}}
    breeding(team.project, built(team, **PONG), **ended)
    breeding(team.project, built(team, game="commanders"), **(ended | {"counters": {"seconds": 9e9}}))
    again = post(client, team, "preview", **PONG).json()["before"]
    assert again["time"] == "7 min to 8 min".replace(" min", "\u00a0min")
    assert "The last search in this game took 7\u00a0min 34\u00a0s" in again["note"]
    twice = post(client, team, "preview", **PONG, rounds="16").json()["before"]["time"]
    assert twice == "13 min to 17 min".replace(" min", "\u00a0min")
    done = Job.objects.get(kind="style", counters__seconds=454.0)
    began = done.created_at
    Job.objects.filter(pk=done.pk).update(started_at=began, finished_at=began + timedelta(seconds=478), attempt=1)
    done.refresh_from_db()
    by_its_page = post(client, team, "preview", **PONG).json()["before"]["note"]
    assert f"The last search in this game took {took_words(done)};" in by_its_page
    assert took_words(done) == "7\u00a0min 58\u00a0s"


def test_sample_episodes_that_took_too_long_say_so_and_can_be_tried_again(team: Studio, client: Client) -> None:
    post(client, team, "preview", **PONG)
    Job.objects.filter(kind="sample").update(status=Status.STOPPED, message=TIME_IS_UP)
    answer = post(client, team, "preview", **PONG).json()
    said = "What is paid for has not been checked on sample episodes yet: playing them took too long"
    assert answer["before"]["long"].startswith(said), "beside the start button"
    assert "the job plays them once more, and checks what is paid for itself" in answer["before"]["long"]
    assert answer["failed"]
    assert post(client, team, "preview", **PONG, again="1").json()["trial"] is not None


def test_a_job_whose_sample_episodes_took_too_long_waits_until_they_are_played_anew(
    team: Studio, client: Client
) -> None:
    post(client, team, "preview", **PONG)
    Job.objects.filter(kind="sample").update(status=Status.STOPPED, message=TIME_IS_UP)
    late = Job.objects.for_forms().latest("pk")
    post(client, team, **PONG)
    job = Job.objects.get(kind="style")
    assert job.awaits is not None
    assert job.awaits.active
    assert job.awaits != late
    assert job.asked["why"] == ANEW
    Job.objects.filter(pk=job.awaits.pk).update(status=Status.STOPPED, message=TIME_IS_UP)
    pending.settle_all()
    job.refresh_from_db()
    assert (job.status, job.asked, job.message) == (Status.QUEUED, {}, ""), "it begins, as it said"
    plain = config().model_dump(mode="json")
    plain["task"]["game"] = job.config["task"]["game"]
    assert api(team, {"kind": "style", "config": plain}).status_code == 201
    assert Job.objects.filter(kind="style").latest("pk").asked["why"] == ANEW, "a program is told the same"


def test_a_budget_in_which_no_episode_may_end_is_told_before_the_start(team: Studio, client: Client) -> None:
    sampled(team.project)
    small = {"learner.batch": "640", "learner.fragment": "10", "learner.minibatch": "64"}
    few = post(client, team, "preview", **PONG, **small, steps="640").json()["before"]["long"]
    assert few.startswith("Each agent would see 10 decisions of an episode that lasts about ")
    assert "can last 120, so it may never see one end. Give each 7,680 decisions or more." in few
    assert "may never" not in post(client, team, "preview", **PONG, **small, steps="7680").json()["before"]["long"]
    assert "may never" not in post(client, team, "preview", **PONG).json()["before"]["long"], "as it is offered"


def test_without_sample_episodes_the_longest_episode_of_the_game_says_whether_one_may_end(team: Studio) -> None:
    small = {"learner.batch": "640", "learner.fragment": "10", "learner.minibatch": "64"}
    few = form(team, **PONG, **small, steps="640").too_few
    assert few == (
        "Each agent would see 10 decisions of an episode that can last 120, so it may never see one end. Give each "
        "7,680 decisions or more."
    )
    assert form(team, **PONG, **small, steps="7680").too_few == ""
    more = form(team, **PONG, **small, steps="650").too_few
    assert more.startswith("Each agent would see 20 decisions of"), "it learns from 640 at a time, so from 1,280"


@pytest.mark.parametrize("game", [offer.key for offer in OFFERS.values() if offer.name])
def test_no_game_as_it_is_offered_is_warned_of(team: Studio, game: str) -> None:
    made = form(team, game=game, scale="own", style="score", **{"goal-1": "length", "goal-2": "score"})
    assert made.study is not None, made.errors
    assert made.too_few == ""


def test_sample_episodes_of_a_built_in_game_serve_every_project(team: Studio, client: Client) -> None:
    sampled(studio("other").project)
    assert form(team, **PONG).samples is not None


def test_start_makes_a_job_and_forgets_the_draft(team: Studio, client: Client) -> None:
    sampled(team.project)
    post(client, team, "preview", **PONG, keep="1")
    answer = post(client, team, **PONG, rounds="3")
    job = Job.objects.get(kind="style")
    assert answer.url == reverse("studies:job", args=[team.project.slug, job.pk])
    assert (job.ticks, job.config["task"]["game"]["settings"], job.status) == (3, GAME["settings"], Status.QUEUED)
    assert not TrainDraft.objects.exists()


def test_what_is_wrong_is_refused_and_nothing_typed_is_lost(team: Studio, client: Client) -> None:
    sampled(team.project)
    answer = post(client, team, **{**OWN, "style": "3", "population": "7", "title": "Mine"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert not Job.objects.filter(kind="style").exists()
    for kept in ('value="3"', 'value="7"', 'value="Mine"', 'value="hits the ball"'):
        assert kept in page
    assert "names no signal: name what the game is to pay for" in page


def test_a_job_whose_sample_episodes_are_not_played_waits_and_is_refused_before_it_starts(
    team: Studio, client: Client
) -> None:
    post(client, team, **{**OWN, "style": "moved - moved"})
    job = Job.objects.get(kind="style")
    assert job.awaits is not None
    assert job.asked["why"] == "What is paid for is being tried on sample episodes."
    done = sampled(team.project)
    Job.objects.filter(pk=job.awaits.pk).update(status=done.status, artifacts=done.artifacts)
    pending.settle_all()
    job.refresh_from_db()
    assert (job.status, job.attempt) == (Status.FAILED, 0)
    assert "nothing can be learned from it" in job.message


def cloned(team: Studio, client: Client, job: Job) -> str:
    """The page that "Run again with changes" leads to."""
    answer = client.post(reverse("training:clone", args=[team.project.slug, job.pk]), follow=True)
    return " ".join(html.unescape(answer.content.decode()).split())


def test_run_again_with_changes_opens_the_form_as_it_was(team: Studio, client: Client) -> None:
    for selection in (True, False):
        job = breeding(team.project, config(selection=selection))
        study = built(team, **values_of(job, team.project))
        assert (study.task.style, study.objectives) == (config().task.style, config().objectives)
        assert (study.ticks, study.algorithm.population, study.seed) == (2, 4, 3)
        assert study.selection == selection
        page = cloned(team, client, job)
        assert ('name="control" id="id_control" checked' in page) == (not selection)
    assert TrainDraft.objects.get().page == TrainDraft.Page.STYLE
    again = values_of(breeding(team.project, built(team, **OWN)), team.project)
    assert {name: again[name].split() for name in OWN} == {name: text.split() for name, text in OWN.items()}


def test_run_again_with_changes_says_which_settings_the_form_cannot_hold(team: Studio, client: Client) -> None:
    made = built(team, game="pong")
    assert "has no room" not in cloned(team, client, breeding(team.project, made))
    more = {"networks": "single_point", "start_noise": 0.5, "kept": 7}
    own = StylesConfig.model_validate(made.model_dump(mode="json") | more)
    page = cloned(team, client, breeding(team.project, own))
    assert "(was First layers of one parent, the rest of the other’s, here As the better parent has it)" in page
    assert "Noise on the first networks (was 0.5, here 0.005)" in page
    assert "Trained agents kept (was 7, here 1,000)" in page


def api(team: Studio, body: dict[str, Any], beside: str = "") -> Any:
    token = tokens.make(team.designer, "ci", None, 30)[1]
    address = f"/api/v1/projects/{team.project.slug}/jobs{beside}"
    return Client(headers={"Authorization": f"Bearer {token}"}).post(address, body, content_type="application/json")


def test_the_api_refuses_what_sample_episodes_show_to_be_wrong(team: Studio) -> None:
    sampled(team.project)
    plain = config().model_dump(mode="json")
    plain["task"]["style"]["style"] = "3"
    answer = api(team, {"kind": "style", "config": plain})
    assert answer.status_code == 422, answer.content
    assert "names no signal: name what the game is to pay for" in answer.content.decode()
    assert "config.task.style.style" in answer.content.decode()
    plain["behaviour"] = ["luck"]
    plain["task"]["style"]["style"] = "moved"
    assert "config.behaviour.0" in api(team, {"kind": "style", "config": plain}).content.decode()
    plain["behaviour"] = ["moved"]
    assert api(team, {"kind": "style", "config": plain}).status_code == 201
    assert Job.objects.get(kind="style").awaits is None


def test_the_api_lets_a_job_wait_for_sample_episodes(team: Studio) -> None:
    plain = config().model_dump(mode="json")
    plain["task"]["style"]["style"] = "speed"
    assert "speed" in api(team, {"kind": "style", "config": plain}).content.decode()
    plain["task"]["style"]["style"] = "hit - hit"
    assert api(team, {"kind": "style", "config": plain}).status_code == 201
    job = Job.objects.get(kind="style")
    assert job.awaits is not None
    done = sampled(team.project)
    Job.objects.filter(pk=job.awaits.pk).update(status=done.status, artifacts=done.artifacts)
    pending.settle_all()
    job.refresh_from_db()
    assert (job.status, job.attempt) == (Status.FAILED, 0)
    assert "nothing can be learned from it" in job.message


def asked(game: str, **more: Any) -> dict[str, Any]:
    """A body that asks for styles of play in a game, as it is without settings."""
    plain = config().model_dump(mode="json")
    plain["task"]["game"] = {"name": game}
    return {"kind": "style", "config": plain | more}


@pytest.mark.parametrize("game", ["pong", "gym:CartPole-v1", "gym:LunarLander-v3", "ale:breakout"])
def test_the_api_refuses_at_once_what_a_known_game_does_not_tell(team: Studio, game: str) -> None:
    goals = [{"measure": "angry", "formula": "score + anger"}, {"measure": "luck"}, {"measure": "score"}]
    body = asked(game, objectives=goals, behaviour=["luck"])
    body["config"]["task"]["style"]["style"] = "2 * speed"
    answer = api(team, body)
    assert answer.status_code == 422, answer.content
    found = {each["place"]: each["message"] for each in answer.json()["problems"]}
    places = ("task.style.style", "objectives.0.formula", "objectives.1.measure", "behaviour.0")
    assert set(found) == {f"config.{place}" for place in places}
    assert "uses 'anger', which is not known. Known: " in found["config.objectives.0.formula"]
    assert all("score" in message for message in found.values())
    assert not Job.objects.exists()


@pytest.mark.parametrize("name", ["gym:CartPole-v1", "ale:breakout"])
def test_games_of_gymnasium_and_atari_tell_what_the_page_says_before_anybody_plays_them(name: str) -> None:
    known = scales.known_signals(name, None)
    made = references.make(TrainGame(name=name), 1)
    seat, longest = made.spec.seats[0], made.spec.max_ticks
    made.close()
    assert longest
    assert [word.name for word in known.signals] == [*seat.rewards, "time"]
    assert [word.name for word in known.measures] == [*measure_names((), seat.signals)[1:]]


def test_of_a_game_that_nobody_played_the_api_notes_what_is_looked_for_and_the_job_fails_before_it_trains(
    team: Studio,
) -> None:
    rows = {"kind": "command", "reference": "command:ours", "everybody": True, "by_moves": True}
    ours = Simulator.objects.create(name="Ours", status=Simulator.Status.READY, **rows)
    goals = [{"measure": "angry", "formula": "score + anger"}, {"measure": "calm", "formula": "score - moved * 1e3"}]
    answer = api(team, asked(f"simulator:{ours.pk}", objectives=goals, behaviour=["luck"]))
    assert answer.status_code == 201, answer.content
    (note,) = answer.json()["notes"]
    assert "is checked once sample episodes have been played, before any training: moved, anger, luck. If" in note
    job = Job.objects.get(kind="style")
    assert api(team, {}, f"/{job.pk}/clone").json()["notes"] == [note]
    done = sampled(team.project)
    Job.objects.filter(pk=job.awaits_id).update(status=done.status, artifacts=done.artifacts)
    pending.settle_all()
    job.refresh_from_db()
    assert (job.status, job.attempt) == (Status.FAILED, 0)
    said = "objectives.0.formula: The formula uses 'anger', which is not known. Known: hits, length, moved, score"
    assert said in job.message
    assert "behaviour.0: This game does not measure it; it measures score, win, length, moved" in job.message
    assert "objectives.1" not in job.message
    assert job.events.filter(kind="failed", body__message=job.message).exists()
    again = api(team, asked(f"simulator:{ours.pk}", objectives=goals))
    assert "config.objectives.0.formula" in {each["place"] for each in again.json()["problems"]}, "it was played by now"


def test_values_from_a_thousand_on_are_whole_numbers_as_the_form_and_the_map_tell_them() -> None:
    nothing, nobody = np.empty((0, 0), np.float32), np.empty(0, np.int32)
    lengths = np.array([[603.0], [3070.4]])
    samples = Samples(("Random",), (), ("length",), 0, nothing, nobody, nobody, nobody, lengths, np.zeros(2, np.int32))
    assert [word.seen for word in scales.known_signals("", samples).measures] == ["603 to 3,070"]
    assert [gene_text(value) for value in (0.00031, 24_576.0)] == ["0.00031", "24,576"]


def test_a_measure_that_was_no_number_in_sample_episodes_is_said_to_be_none() -> None:
    samples = seen(score=[14.0, 35.0], win=[math.nan, math.nan], falls=[math.nan, 2.0])
    words = {word.name: word.seen for word in scales.known_signals("cartpole", samples).measures}
    assert words == {"score": "14 to 35", "win": "no number", "falls": "2 or no number"}


def test_what_is_not_written_yet_is_no_mistake_before_anything_is_typed_or_a_start_is_tried(
    team: Studio, client: Client
) -> None:
    unknown = {"game": "cartpole", "scale": "own"}  # until sample episodes are played there is nothing to begin with
    opened = post(client, team, "preview", **unknown).json()
    assert not {"style", "goal-1"} & opened["errors"].keys()
    assert EXAMPLE not in opened["html"]["reward"]
    assert (opened["before"]["time"], CORRECT in opened["before"]["note"]) == ("…", True)
    for more in ({"goal-2": "score"}, {"start_tried": "1"}):
        found = post(client, team, "preview", **unknown, **more).json()["errors"]
        goal = "goal-2" if "goal-2" in more else "goal-1"
        assert (found["style"], found[goal]) == ([NOT_WRITTEN], [TOO_FEW_GOALS])
    refused = post(client, team, "new", **unknown).content.decode()
    assert '<input type="hidden" name="start_tried" value="1">' in refused


def own_fields(made: StyleForm) -> dict[str, str]:
    """What the page would send back of fields for formulas of one's own."""
    return {name: str(made.data[name]) for name in (*OWN_FIELDS, "example") if made.data.get(name)}


def test_formulas_of_ones_own_begin_with_an_example_that_can_be_started(team: Studio, client: Client) -> None:
    example = form(team, **PONG, scale="own")
    assert own_fields(example) | {"example": ""} == {
        "winning": "score", "style": "2 * moved - 1", "goal-1": "score + moved", "goal-1-called": "busy",
        "goal-2": "score + (1 - moved)", "goal-2-called": "calm", "example": "",
    }  # fmt: skip
    assert example.study is not None
    assert example.study.behaviour == ("moved",)
    page = post(client, team, "preview", **PONG, scale="own").json()
    assert EXAMPLE in page["html"]["reward"]
    assert 'value="score + moved"' in page["html"]["reward"]
    assert f'name="example" value="{example.data["example"]}"' in page["html"]["reward"]
    assert EXAMPLE not in post(client, team, "preview", **OWN).json()["html"]["reward"], "it is somebody's own"
    scale = post(client, team, "preview", **PONG, scale="busy-calm", **own_fields(example)).json()["html"]["reward"]
    assert EXAMPLE not in scale


def test_an_example_that_nobody_changed_follows_the_game_and_one_that_somebody_changed_stays(team: Studio) -> None:
    sent = own_fields(form(team, **PONG, scale="own"))
    assert form(team, game="commanders", scale="own", **sent).data["style"] == "2 * walked - 1"
    assert form(team, game="commanders", scale="own", **{**sent, "winning": "win"}).data["style"] == "2 * moved - 1"
    unknown = own_fields(form(team, game="cartpole", scale="own"))
    assert unknown.keys() == {"example"}
    assert own_fields(form(team, **PONG, scale="own", **unknown)) == sent


def test_fields_that_somebody_cleared_stay_clear(team: Studio, client: Client) -> None:
    for began in (own_fields(form(team, **PONG, scale="own")), own_fields(form(team, **OWN))):
        cleared = {**PONG, "scale": "own", "example": began["example"]}
        assert own_fields(form(team, **cleared)) == {"example": began["example"]}
        answer = post(client, team, "preview", **cleared, keep="1").json()
        assert (answer["errors"]["style"], answer["errors"]["goal-1"]) == ([NOT_WRITTEN], [TOO_FEW_GOALS])
        assert TrainDraft.objects.get().form["example"] == began["example"], "and in the draft"
        assert own_fields(form(team, **{**cleared, "scale": "busy-calm"})) == {"example": began["example"]}


def seen(**measures: list[float]) -> Samples:
    """Sample episodes with these measures, in a game that tells of each decision only whether it is a jump."""
    columns = np.array(list(measures.values())).T
    nobody, jump = np.zeros(1, np.int32), np.ones((1, 1), np.float32)
    whose = np.zeros(len(columns), np.int32)
    return Samples(("Random",), ("jump",), tuple(measures), 0, jump, nobody, nobody, nobody, columns, whose)


@pytest.mark.parametrize(
    ("measures", "goals"),
    [
        ({"score": [0.0, 0.5, 0.4], "jumps": [7.0, 1.0, 11.0]}, ("score + 0.05 * jumps", "score - 0.05 * jumps")),
        ({"score": [0.0, 0.0, 0.0], "jumps": [7.0, 1.0, 11.0]}, ("score + jumps", "score - jumps")),
        ({"score": [0.0, 0.5, 0.4], "lives": [3.0, 3.0, 3.0], "falls": [0.0, 0.5, 0.1]},
         ("score + falls", "score - falls")),
        ({"score": [0.1, 0.2, 0.4], "length": [10.0, 20.0, 40.0]}, None),
        ({"score": [0.1, 0.2, 0.4], "jumps": [math.nan, 2.0, 1.0]}, None),
    ],
)  # fmt: skip
def test_where_no_scale_fits_an_example_is_much_and_little_of_what_tells_agents_apart(
    measures: dict[str, list[float]], goals: tuple[str, str] | None
) -> None:
    samples = seen(**measures)
    filled = of_measures(scales.known_signals("", samples), samples)
    assert (filled["goal-1"], filled["goal-2"], filled["style"]) == (*goals, "jump") if goals else filled == {}


def test_no_estimate_stands_beside_the_start_button_while_a_formula_is_wrong(team: Studio, client: Client) -> None:
    sampled(team.project)
    answer = post(client, team, "preview", **{**OWN, "style": "movd * 2"}).json()
    assert "style" in answer["errors"]
    assert (answer["before"]["time"], answer["before"]["note"]) == ("…", CORRECT)
