"""Saved agents on the site: kept of a job, measured, edited, deleted and put back, taken home and watched."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from engine.arrays import pack, unpack
from engine.catalog import GAMES, Signal
from engine.config.agents import MeasureConfig, RecordConfig
from engine.means import WHY_NOWHERE
from engine.studies import load
from engine.styles.strangers import Moved
from tests.factories import Studio, game_version, signed_in, studio
from tests.webapp.agents import (
    ada,
    copied,
    kept,
    measured,
    recorded,
    trained_at_pong,
    watched,
    watched_commanders,
    watched_in_a_maze,
)
from tests.webapp.trainings import finished, two_sided
from webapp.agents import edits, keeping
from webapp.agents.captions import PLAIN, WHY_UNSEEN, Figures, Measure, _plain, held_words, opponent_in
from webapp.agents.choices import chosen, counted
from webapp.agents.forms import WatchForm
from webapp.agents.models import NAME, Agent
from webapp.agents.playable import OTHER_GAME
from webapp.games.models import GameVersion
from webapp.lib.storage import store
from webapp.studies.models import Job, Status
from webapp.training import games
from workers.collect import references

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Studio:
    return studio()


@pytest.fixture
def designer(team: Studio) -> Client:
    return signed_in(team.designer)


def at(name: str, *more: int) -> str:
    return reverse(f"agents:{name}", args=["herobattle", *more])


def text(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def keep(client: Client, job: Job, **more: str) -> Any:
    return client.post(at("keep", job.pk), {"of": "", "name": "Ada", "chooses": "best", **more}, follow=True)


def test_an_agent_is_kept_of_a_job_that_has_ended_and_its_measurement_begins(team: Studio, designer: Client) -> None:
    job = trained_at_pong(team.project)
    assert "Keep this agent" in text(designer, at("keep", job.pk))
    answer = keep(designer, job)
    agent = Agent.objects.get()
    assert answer.request["PATH_INFO"] == at("agent", agent.pk)
    assert (agent.name, agent.created_by, agent.job) == ("Ada", team.designer, job)
    study = load(Job.objects.get(kind="measure").config)
    assert isinstance(study, MeasureConfig)
    assert study.agent.policy == job.artifacts["policy_description"]
    assert study.opponent is None, "this Pong brings its own player"
    assert study.origin.steps == 100_000
    for page in (at("list"), at("agent", agent.pk)):
        assert "It has not been measured yet. Its measurement waits for its turn." in text(designer, page)
    measurement = Job.objects.get(kind="measure")
    Job.objects.filter(pk=measurement.pk).update(status=Status.WAITING, message="Waits for a free place.")
    waits = text(designer, at("agent", agent.pk))
    assert "Waits for a free place." in waits
    assert f'href="{reverse("studies:job", args=[job.project.slug, measurement.pk])}"' in waits
    Job.objects.filter(pk=measurement.pk).update(status=Status.RUNNING, message="")
    assert "Being measured: 0 of 600 episodes" in text(designer, at("list"))
    keep(designer, job)
    assert (Agent.objects.count(), Job.objects.filter(kind="measure").count()) == (1, 1), "two clicks keep it once"


def test_an_agent_that_went_on_from_another_has_learned_from_its_decisions_too(team: Studio, designer: Client) -> None:
    """Whether somebody keeps that one or not; what nobody knows is not made up."""
    first = trained_at_pong(team.project, "The first")
    begun = first.artifacts["policy_description"]
    second = trained_at_pong(team.project, "On from the first")
    second.config["start"] = begun
    second.save()
    keep(designer, second, name="The second")
    assert Agent.objects.get().origin["steps"] == 200_000
    third = trained_at_pong(team.project, "On from the second")
    third.config["start"] = second.artifacts["policy_description"]
    third.save()
    keep(designer, third, name="The third")
    assert Agent.objects.get(job=third).origin["steps"] == 300_000
    lost = trained_at_pong(team.project, "On from somebody")
    lost.config["start"] = "0" * 64
    lost.save()
    keep(designer, lost, name="Of unknown parents")
    assert Agent.objects.get(job=lost).origin["steps"] == 0


def test_an_agent_that_draws_its_moves_is_another_one_and_one_without_odds_cannot_be(
    team: Studio, designer: Client
) -> None:
    job = trained_at_pong(team.project)
    keep(designer, job)
    keep(designer, job, chooses="chance", name="Ada, by chance")
    assert Agent.objects.filter(sampled=True).get().measuring.config["agent"]["sampled"] is True
    knows = trained_at_pong(team.project, "DQN", kind="q")
    assert "How it chooses" not in text(designer, at("keep", knows.pk))
    assert "has no odds" in keep(designer, knows, chooses="chance").content.decode()
    assert Agent.objects.count() == 2


def test_trainings_that_left_the_same_agent_keep_one_each(team: Studio, designer: Client) -> None:
    first, second = trained_at_pong(team.project), trained_at_pong(team.project)
    keep(designer, first)
    assert "Ada" not in text(designer, at("keep", second.pk)), "another job’s agent is not its own"
    keep(designer, second, name="Bea")
    bea, ada = Agent.objects.all()
    assert [(each.name, each.job) for each in (ada, bea)] == [("Ada", first), ("Bea", second)]
    for each in (ada, bea):
        measured(each)
    job = watched(team.project, [ada, bea])
    page = text(designer, at("battles", job.pk))
    assert [page.count(f'href="{at("agent", each.pk)}"') for each in (ada, bea)] == [1, 1], "each by its own name"
    assert f"agent={ada.pk}&amp;agent={bea.pk}" in page, "and so for those who choose others"


def test_each_agent_of_a_training_of_two_sides_can_be_kept_and_is_measured_against_a_script(
    team: Studio, designer: Client
) -> None:
    job = two_sided(team.project)
    assert text(designer, at("keep", job.pk)).count('name="of"') == 2
    answer = keep(designer, job, of="right")
    assert "numbers are not in the store" in answer.content.decode(), "its description is made up"
    running = trained_at_pong(team.project, status=Status.RUNNING)
    assert "Keep this agent" not in text(designer, at("keep", running.pk))
    assert "no such agent" in keep(designer, running).content.decode()


def test_the_caption_tells_its_own_figures_with_ranges_and_count(team: Studio, designer: Client) -> None:
    agent = kept(team.project, "Calm one")
    page = text(designer, at("list"))
    told = (
        "Moves 12 % of the time [10–14], wins 88 % of episodes [84–91], hits the ball 4.25 times an episode [3.90–4.60]"
    )
    assert told in page
    assert "200 fresh episodes" in page
    assert f'data-clip="{at("clip", agent.pk)}?of={agent.measured.pk}"' in page
    clip = designer.get(at("clip", agent.pk)).json()
    assert (clip["drawing"], clip["pace"], len(clip["positions"])) == ("pong", 40.0, 25)
    page = text(designer, at("agent", agent.pk))
    assert "0.021 ms on one thread" in page
    assert "Lasts" in page
    assert "[range unknown]" in page
    assert "nobody says how far these values can go, so their ranges hold only if no episode goes far beyond" in page
    assert f"a range is unknown where {WHY_NOWHERE}." in page
    assert "Measured against the game’s own player, on" in page, "as on the page where it is watched"


def test_a_tile_says_how_far_ranges_hold_of_what_it_shows_alone(team: Studio, designer: Client) -> None:
    agent = kept(team.project)
    whole, tile = (text(designer, address) for address in (at("agent", agent.pk), at("list")))
    assert "but for those of “hits the ball”: nobody" in tile
    assert "a range is unknown" not in tile, "how long it lasts is not on the tile"
    assert "a range is unknown" in whole
    bundle = unpack(store().get(agent.measured.artifacts["table"]))
    wins = [each for each in bundle.meta["measures"] if each["name"] in ("win", "moved", "length")]
    artifacts = {**agent.measured.artifacts, "table": store().put(pack({**bundle.meta, "measures": wins}, {}))}
    Job.objects.filter(pk=agent.measured.pk).update(artifacts=artifacts)
    assert "200 fresh episodes; 95&nbsp;% ranges. It takes" in text(designer, at("list"))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (7.4e-05, "0.00"), (-7.4e-05, "0.00"), (0.0, "0.00"), (1e-300, "0.00"), (0.0042, "0.0042"),
        (-0.00012, "−0.00012"), (0.5, "0.50"), (250.0, "250"),
    ],
)  # fmt: skip
def test_numbers_near_zero_are_written_as_people_write_them(value: float, said: str) -> None:
    assert _plain(value) == said


def test_returns_of_rewards_are_no_figures_of_an_agent(team: Studio, designer: Client) -> None:
    agent = kept(team.project)
    job = agent.measured
    bundle = unpack(store().get(job.artifacts["table"]))
    returns = {"name": "return:win", "mean": -0.01, "low": None, "high": None}
    bundle.meta["measures"].append(returns)
    Job.objects.filter(pk=job.pk).update(artifacts={**job.artifacts, "table": store().put(pack(bundle.meta, {}))})
    page = text(designer, at("agent", agent.pk))
    assert "Hits the ball" in page
    assert "eturn" not in page.split("All figures")[1].split("</table>")[0]


def test_agents_that_nobody_plays_against_are_measured_against_nobody(team: Studio, designer: Client) -> None:
    job = watched_in_a_maze(team.project)
    assert opponent_in(job) == ""
    agent = Agent.objects.get()
    Job.objects.filter(pk=agent.measured.pk).update(config={**agent.measured.config, "game": job.config["game"]})
    assert "Measured, on episodes that had no part" in text(designer, at("agent", agent.pk))


def test_no_two_measures_of_a_game_are_called_alike() -> None:
    for name, game in GAMES.items():
        words = [signal.words for signal in (*PLAIN.values(), *game.captions.values())]
        assert len(set(words)) == len(words), name
    assert not any(s.words == "loses" for game in GAMES.values() for s in game.captions.values()), "no opposite of wins"


@pytest.mark.parametrize(("game", "keeper"), [("half-field", False), ("half-field-keeper", True)])
def test_a_share_of_episodes_is_told_as_people_say_it_and_nobody_loses_the_ball_to_a_keeper_that_is_not_there(
    game: str, keeper: bool
) -> None:
    captions = GAMES[game].captions
    assert Measure("out", captions["out"], 0.12, 0.10, 0.14).text == "kicks the ball out in 12 % of episodes [10–14]"
    assert ("caught" in captions) is keeper
    assert set(captions) == set(GAMES[game].load()().spec.seats[0].signals)


def test_where_rare_episodes_may_have_gone_unseen_it_cannot_be_told_whether_a_style_holds_and_the_reason_is_given() -> (
    None
):
    found = Moved(0.02, "hits", "Random", 0.0, 3.7, 2700, 0.06, unseen=True)
    words = held_words(found)
    assert words.startswith("Whether its style holds cannot be told yet: against “Random” it changes by 0.02 times the")
    assert f"(0.00 to 0.06). {WHY_UNSEEN} At least about 2,700 fresh episodes would tell" in words
    assert WHY_UNSEEN not in held_words(found._replace(unseen=False))
    large = held_words(Moved(1.1, "hits", "Random", 0.0, 3.7, 500, 1.3, unseen=True, start=0.9))
    assert f"by 1.10 times the spread (0.90 to 1.30). {WHY_UNSEEN} At least about 500 fresh" in large
    before = {name: value for name, value in found._replace(high=0.06)._asdict().items() if name != "unseen"}
    for declared, verdict in ((["win"], "open"), (["win", "hits"], "holds")):
        moved = Figures([], {"declared": declared, "moved": before}, [], ("hits",), "pong").moved
        assert moved is not None
        assert moved.verdict == verdict, "an earlier version did not allow for rare episodes"


def test_an_agent_whose_style_does_not_hold_against_strangers_is_marked_on_the_list_and_on_its_page(
    team: Studio, designer: Client
) -> None:
    holds, fragile = kept(team.project, by=0.1), kept(team.project, "Second", by=0.3)
    listed = designer.get(reverse("agents:list", args=["herobattle"])).content.decode()
    assert listed.count(">Fragile</span>") == 1
    pages = [" ".join(designer.get(reverse("agents:agent", args=["herobattle", each.pk])).content.decode().split())
             for each in (holds, fragile)]  # fmt: skip
    assert "Its style holds: it changes by 0.13 times the spread at most, most against “Random”." in pages[0]
    said = (
        "Against “Random” it moves 42 % of the time instead of 12 %. Its style does not hold: against “Random” it "
        "changes by 0.30 times the spread (0.27 to 0.33), surely more than 0.15. The spread is how far "
    )
    assert said in pages[1]
    assert pages[1].count('<th scope="col" class="number">Follows the ball</th>') == 1
    job = fragile.measurements.get().job
    Job.objects.filter(pk=job.pk).update(config={**job.config, "style": ["hits"]})
    listed = text(designer, at("list"))
    told = "Hits the ball 4.25 times an episode [3.90–4.60], wins 88 % of episodes [84–91]"
    assert told in listed, "its own style comes first"
    study = load(job.config)
    assert [other.player for other in study.strangers] == ["random", "pong-interceptor"]  # type: ignore[attr-defined]
    assert fragile.measurements.get().job.ticks == 12, "as many episodes against each"


def test_the_spread_is_said_to_be_that_of_the_search_only_where_it_was(team: Studio, designer: Client) -> None:
    """Where no agent of the search differed, earlier versions judged by how far the measured episodes lie apart."""
    agent = kept(team.project, by=0.1)
    job = agent.measurements.get().job
    taken = ", by 60 episodes of each; it is taken as it was measured there"
    for known, whose in (
        ({"spans": {"moved": 0.4}, "spans_episodes": 60}, f"agents of its search lie apart{taken}"),
        ({"spans": {"moved": 0.4}}, "agents of its search lie apart"),
        ({"spans": {"moved": 0.0}}, "measured episodes lie apart"),
    ):
        Job.objects.filter(pk=job.pk).update(config={**job.config, "origin": {**job.config["origin"], **known}})
        Agent.objects.update(origin={**agent.origin, **known})
        assert f"The spread is how far the {whose}." in text(designer, at("agent", agent.pk))


def test_an_agent_that_was_bred_for_a_style_that_cannot_be_judged_is_not_called_bred_for_none(
    team: Studio, designer: Client
) -> None:
    agent = kept(team.project)
    job = agent.measurements.get().job
    none = "It was not bred for a style, so nothing is called fragile."
    assert none in text(designer, at("agent", agent.pk))
    for spans, why in (
        ({"moved": 0.0}, "All agents of its search do the same, so no style can shift."),
        ({}, "It did the same in all of these episodes, so its style did not shift."),
    ):
        origin = {**job.config["origin"], "spans": spans}
        Job.objects.filter(pk=job.pk).update(config={**job.config, "style": ["moved"], "origin": origin})
        page = text(designer, at("agent", agent.pk))
        assert why in page
        assert none not in page


def test_an_agent_whose_search_is_gone_is_still_measured_for_the_style_that_it_was_bred_for(team: Studio) -> None:
    agent = kept(team.project)
    agent.job, agent.origin = None, {**agent.origin, "spans": {"moved": 0.4}}
    agent.save()
    assert keeping.measure(agent, team.designer).config["style"] == ["moved"]


def test_a_new_data_version_marks_who_was_measured_on_the_old_one_and_one_click_measures_them_anew(
    team: Studio, designer: Client
) -> None:
    first = game_version(team.project)
    pong, commander = kept(team.project, "Paddle"), kept(team.project, "Commander")
    Agent.objects.filter(pk=commander.pk).update(game={"name": "commanders", "settings": {}})
    designer.post(at("measure", commander.pk))
    assert measured(Agent.objects.get(pk=commander.pk)).game_version == first
    assert "measured on other numbers" not in text(designer, at("list"))
    first.pk, first.number, first.patch = None, 15, {"battle.time_limit": 200}
    first.save()
    newest = GameVersion.objects.get(number=15)
    listed = text(designer, at("list"))
    assert f"1 agent was measured on other numbers than those of {newest}." in listed
    assert listed.count("Measured on old data") == 1
    assert f"those of {newest}: Spring data, version 14." in text(designer, at("agent", commander.pk))
    designer.post(at("measure-old"))
    study = load(Agent.objects.get(pk=commander.pk).measuring.config)  # type: ignore[union-attr]
    assert study.game.settings["changes"] == ("battle.time_limit=200.0",)  # type: ignore[attr-defined]
    assert pong.measurements.count() == 1, "Pong has no data"
    designer.post(at("measure-old"))
    assert commander.measurements.count() == 3, "it is under way"
    assert study.data == str(newest)  # type: ignore[attr-defined]
    measured(Agent.objects.get(pk=commander.pk))
    assert "measured on other numbers" not in text(designer, at("list"))
    Agent.objects.filter(pk=commander.pk).update(origin={**commander.origin, "data": "Spring data, version 14"})
    page = text(designer, at("agent", commander.pk))
    assert f"<dd>trained on Spring data, version 14, measured on {newest}</dd>" in page


def test_name_notes_and_tags_are_edited_undone_and_what_is_wrong_is_said_where_it_was_typed(
    team: Studio, designer: Client
) -> None:
    agent = kept(team.project)
    edited(designer, agent, {"name": "Bea", "notes": "Sleepy", "tags": "calm, level 3, calm"})
    assert Agent.objects.get().texts == {"name": "Bea", "notes": "Sleepy", "tags": ["calm", "level 3"]}
    assert "Bea" in text(designer, f"{at('list')}?tag=calm")
    assert "No agent has this tag" in text(designer, f"{at('list')}?tag=busy")
    edited(designer, agent, {"name": "Bea", "notes": "Sleepy", "tags": "calm, level 3, CALM"})
    assert Agent.objects.get().tags == ["calm", "level 3"], "one tag, whatever the case of its letters"
    answer = edited(designer, agent, {"name": "", "notes": "kept as typed", "tags": "x" * 31})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "kept as typed" in page
    assert "31 characters" in page
    designer.post(at("undo", agent.pk))
    assert Agent.objects.get().texts == {"name": "Pong, first try", "notes": "", "tags": []}
    designer.post(at("undo", agent.pk))
    assert Agent.objects.get().name == "Bea"


def edited(client: Client, agent: Agent, texts: dict[str, str], opened: str | None = None) -> Any:
    """Sends the form of an agent as its page has it now, or as it was where ``opened`` is what it came with."""
    now = Agent.objects.get(pk=agent.pk).text_hashes
    return client.post(at("agent", agent.pk), {**texts, "opened_with": now if opened is None else opened})


def test_of_two_who_edit_an_agent_at_once_the_second_sees_what_the_first_saved(team: Studio, designer: Client) -> None:
    agent = kept(team.project, "Ada")
    opened = agent.text_hashes
    assert f'name="opened_with" value="{opened}"' in text(designer, at("agent", agent.pk))
    edited(designer, agent, {"name": "Ada the calm", "notes": "An hour of notes", "tags": "calm"}, opened)
    stale = edited(signed_in(team.engineer), agent, {"name": "Bea", "notes": "Mine", "tags": "level 3"}, opened)
    page = " ".join(stale.content.decode().split())
    assert stale.status_code == 409
    assert "Somebody has changed this agent since you opened the page" in page
    assert "Saved by now: “An hour of notes”" in page
    assert 'value="level 3"' in page
    saved = {"name": "Ada the calm", "notes": "An hour of notes", "tags": ["calm"]}
    assert Agent.objects.get().texts == saved
    assert f'name="opened_with" value="{Agent.objects.get().text_hashes}"' in page, "saved again it replaces them"
    edited(signed_in(team.engineer), agent, {"name": "Bea", "notes": "Mine", "tags": "level 3"})
    assert (Agent.objects.get().name, Agent.objects.get().before) == ("Bea", saved)


def test_of_two_who_edit_different_texts_of_an_agent_at_once_both_are_saved(team: Studio, designer: Client) -> None:
    agent = kept(team.project, "Ada")
    opened = agent.text_hashes
    edited(designer, agent, {"name": "Ada", "notes": "An hour of notes", "tags": ""}, opened)
    answer = edited(signed_in(team.engineer), agent, {"name": "Ada", "notes": "", "tags": "level 3"}, opened)
    assert answer.status_code == 302
    assert Agent.objects.get().texts == {"name": "Ada", "notes": "An hour of notes", "tags": ["level 3"]}


def test_where_two_clash_what_one_did_not_touch_stands_in_the_form_as_it_is_saved_by_now(
    team: Studio, designer: Client
) -> None:
    agent = kept(team.project, "Ada")
    opened = agent.text_hashes
    edited(designer, agent, {"name": "Ada", "notes": "An hour of notes", "tags": "calm"}, opened)
    answer = edited(signed_in(team.engineer), agent, {"name": "Ada", "notes": "", "tags": "level 3"}, opened)
    page = " ".join(answer.content.decode().split())
    assert answer.status_code == 409
    assert "An hour of notes</textarea>" in page, "saved again, the notes are still there"
    assert "Saved by now: “calm”" in page
    assert "Saved by now: “An hour of notes”" not in page


def test_an_edit_that_is_saved_between_reading_and_writing_is_not_lost(team: Studio) -> None:
    agent = kept(team.project, "Ada")
    Agent.objects.update(notes="An hour of notes", tags=["calm"])
    assert not edits.write(agent, {"name": "Bea", "notes": "", "tags": []})
    assert Agent.objects.get().notes == "An hour of notes"
    assert edits.write(Agent.objects.get(), {"name": "Bea", "notes": "An hour of notes", "tags": ["calm"]})


def test_deleting_asks_first_and_can_be_undone(team: Studio, designer: Client) -> None:
    agent = kept(team.project, "Bea")
    assert "You can put it back later" in text(designer, at("agent", agent.pk))
    designer.post(at("delete", agent.pk), {"choice": "delete"})
    page = text(designer, at("list"))
    assert "Deleted agents (1)" in page
    assert "Moves 12 % of the time" not in page
    designer.post(at("delete", agent.pk), {"choice": "restore"})
    assert "Moves 12 % of the time" in text(designer, at("list"))
    assert designer.post(at("delete", agent.pk), {"choice": "burn"}).status_code == 400


def test_who_was_deleted_is_not_changed_until_it_is_put_back(team: Studio, designer: Client) -> None:
    agent = kept(team.project, "Bea")
    edited(designer, agent, {"name": "Ada", "notes": "", "tags": ""})
    designer.post(at("delete", agent.pk), {"choice": "delete"})
    page = text(designer, at("agent", agent.pk))
    assert "Put it back" in page
    assert not any(name in page for name in (at("undo", agent.pk), at("measure", agent.pk), 'name="notes"'))
    answer = edited(designer, agent, {"name": "Eve", "notes": "Typed for an hour", "tags": ""})
    assert answer.status_code == 422
    assert "was deleted. Put it back, then try again." in answer.content.decode()
    assert "Typed for an hour" in answer.content.decode(), "what was typed is not lost"
    for way in ("undo", "measure"):
        assert "was deleted. Put it back" in designer.post(at(way, agent.pk), follow=True).content.decode()
    assert (Agent.objects.get().name, agent.measurements.count()) == ("Ada", 1)
    designer.post(at("delete", agent.pk), {"choice": "restore"})
    edited(designer, agent, {"name": "Eve", "notes": "", "tags": ""})
    assert Agent.objects.get().name == "Eve"


def test_no_two_agents_that_are_kept_have_one_name(team: Studio, designer: Client) -> None:
    ada, bea = kept(team.project, "Ada"), kept(team.project, "Bea")
    for alike in ("Ａda", "a\u034fda", "Ad\ufe0fa", "ADA"):
        assert edited(designer, bea, {"name": alike, "notes": "", "tags": ""}).status_code == 422, alike
    answer = edited(designer, bea, {"name": "ada", "notes": "mine", "tags": ""})
    assert answer.status_code == 422
    assert "Another agent of this project is called “ada”. Choose another name." in answer.content.decode()
    assert "mine" in answer.content.decode()
    job = trained_at_pong(team.project)
    page = keep(designer, job, name="ADA").content.decode()
    assert "Another agent of this project is called “ADA”" in page, "it is asked for anew"
    keep(designer, job, name="")
    keep(designer, job, name="", chooses="chance")
    usual = [agent.name for agent in Agent.objects.filter(job=job).order_by("pk")]
    assert usual == [job.title, f"{job.title}, 2"], "usual names make way"
    designer.post(at("delete", ada.pk), {"choice": "delete"})
    edited(designer, bea, {"name": "Ada", "notes": "", "tags": ""})
    page = designer.post(at("delete", ada.pk), {"choice": "restore"}, follow=True).content.decode()
    assert "It is called “Ada, 2” now, for another agent has taken its name." in page
    edited(designer, bea, {"name": "Bea", "notes": "", "tags": ""})
    edited(designer, ada, {"name": "Ada", "notes": "", "tags": ""})
    page = designer.post(at("undo", bea.pk), follow=True).content.decode()
    assert "Another agent of this project is called “Ada”" in page
    assert [Agent.objects.get(pk=each.pk).name for each in (ada, bea)] == ["Ada", "Bea"]


def test_those_that_have_shared_a_name_keep_it_until_somebody_writes_another(team: Studio, designer: Client) -> None:
    first, second = kept(team.project, "Ada"), kept(team.project, "Bea")
    Agent.objects.update(name="Ada")
    edited(designer, second, {"name": "Ada", "notes": "calm", "tags": ""})
    assert Agent.objects.get(pk=second.pk).notes == "calm"
    edited(designer, second, {"name": "Bea", "notes": "calm", "tags": ""})
    assert {Agent.objects.get(pk=each.pk).name for each in (first, second)} == {"Ada", "Bea"}


def test_a_name_with_a_number_behind_it_is_no_longer_than_names_may_be() -> None:
    names = edits.numbered("x" * NAME)
    assert [len(next(names)) for _ in range(12)] == [NAME] * 12
    assert next(names).endswith("x, 13")


def test_measured_again_it_shows_the_old_figures_until_the_new_ones_are_there(team: Studio, designer: Client) -> None:
    agent = kept(team.project)
    seed = agent.measured.config["seed"]
    for _ in range(2):
        designer.post(at("measure", agent.pk))
    agent = Agent.objects.get()
    assert agent.measurements.count() == 2, "a second click starts no other one"
    assert agent.measuring.config["seed"] != seed, "its episodes are new ones"
    page = text(designer, at("agent", agent.pk))
    assert "Moves 12 % of the time" in page
    assert "It is to be measured again. Its measurement waits for its turn." in page
    Job.objects.filter(pk=agent.measuring.pk).update(status=Status.RUNNING)
    assert "Measured again: 0 of 600 episodes" in text(designer, at("agent", agent.pk))
    measured(agent, moved=0.5)
    assert "Moves 50 %" in text(designer, at("agent", agent.pk))


def test_it_is_measured_on_as_many_episodes_as_somebody_chooses(team: Studio, designer: Client) -> None:
    agent = kept(team.project)
    assert '<option value="10000">10,000 episodes</option>' in text(designer, at("agent", agent.pk))
    assert designer.post(at("measure", agent.pk), {"episodes": "17"}).status_code == 400
    assert designer.post(at("measure", agent.pk), {"episodes": "2000"}).status_code == 302
    assert Agent.objects.get().measuring.config["episodes"] == 2000
    Job.objects.filter(kind="measure").update(status=Status.RUNNING)
    assert "0 of 6,000 episodes" in text(designer, at("agent", agent.pk)), "those against two strangers among them"


def test_a_project_has_more_agents_than_one_query_can_name(team: Studio, designer: Client) -> None:
    game_version(team.project)
    copied(kept(team.project, "Ada"), 1_100)
    first = text(designer, at("list"))
    assert (first.count('class="card-link"'), "Page 1 of 19" in first) == (60, True)
    assert designer.post(at("measure-old")).headers["Location"] == at("list")


def test_the_agents_of_a_tag_have_pages_of_their_own(team: Studio, designer: Client) -> None:
    more = copied(kept(team.project, "Ada"), 70)
    Agent.objects.filter(pk__in=[each.pk for each in more[:65]]).update(tags=["calm"])
    last = text(designer, f"{at('list')}?tag=calm&page=2")
    assert (last.count('class="card-link"'), "Page 2 of 2" in last) == (5, True)
    assert "?tag=calm&amp;page=1" in last


def test_a_measurement_that_failed_is_told_with_its_reason(team: Studio, designer: Client) -> None:
    keep(designer, trained_at_pong(team.project))
    Job.objects.filter(kind="measure").update(status=Status.FAILED, message="The game went away.")
    assert "The measurement failed. The game went away." in text(designer, at("list"))
    designer.post(at("measure", Agent.objects.get().pk))
    assert "Its measurement waits for its turn." in text(designer, at("list"))


def test_the_download_is_the_file_that_was_measured(team: Studio) -> None:
    agent = kept(team.project, "Zoë / 1")
    answer = signed_in(team.producer).get(at("take-home", agent.pk))
    assert answer.content == b"PK a zip"
    assert f'"zoe-1-{agent.pk}.zip"' in answer["Content-Disposition"]
    Job.objects.filter(kind="measure").update(artifacts={})
    assert signed_in(team.producer).get(at("take-home", agent.pk)).status_code == 404


def test_an_agent_that_was_renamed_is_taken_home_under_its_name_of_now(team: Studio, designer: Client) -> None:
    agent = kept(team.project, "Ada")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("card.json", json.dumps({"name": "Ada", "format": 1}))
        archive.writestr("card.md", "# Ada\n\nWhat it does\n")
        archive.writestr("agent.onnx", b"a network")
    Job.objects.filter(kind="measure").update(artifacts={"take_home": store().put(packed.getvalue())})
    assert designer.get(at("take-home", agent.pk)).content == packed.getvalue()
    edited(designer, agent, {"name": "Bea | <b>", "notes": "", "tags": ""})
    with zipfile.ZipFile(io.BytesIO(designer.get(at("take-home", agent.pk)).content)) as taken:
        assert json.loads(taken.read("card.json")) == {"name": "Bea | <b>", "format": 1}
        assert taken.read("card.md").decode() == "# Bea \\| \\<b\\>\n\nWhat it does\n"
        assert taken.read("agent.onnx") == b"a network"
        assert taken.namelist() == ["card.json", "card.md", "agent.onnx"]


def test_what_an_agent_needs_stays_in_the_store_without_the_job_it_came_from(team: Studio) -> None:
    agent = kept(team.project)
    assert agent.job is not None
    agent.job.delete()
    assert {agent.policy, agent.tensors} <= set(references())
    assert Agent.objects.get().job is None


def watch(client: Client, agents: list[Agent], **more: Any) -> Any:
    return client.post(
        at("watch"), {"agents": [a.pk for a in agents], "opponent": "", "seed": "3", **more}, follow=True
    )


def test_two_agents_are_recorded_on_the_same_seed_and_the_same_wish_is_recorded_once(
    team: Studio, designer: Client
) -> None:
    ada, bea = kept(team.project, "Ada"), kept(team.project, "Bea", sampled=True)
    assert "recorded: 0 of 2 so far" in watch(designer, [ada, bea]).content.decode()
    job = Job.objects.get(config__kind="record")
    study = load(job.config)
    assert isinstance(study, RecordConfig)
    assert (study.seed, study.opponent, study.game.name) == (3, None, "pong")
    assert [agent.sampled for agent in study.agents] == [True, False] or [a.title for a in study.agents] == [
        "Ada",
        "Bea",
    ]
    recorded(job)
    page = watch(designer, [ada, bea]).content.decode()
    assert Job.objects.filter(config__kind="record").count() == 1
    assert "Ada won 1 to 0 against the game’s own player, in 45 decisions." in page
    assert "Another seed" in page
    data = designer.get(at("battles-data", job.pk)).json()
    assert data["drawing"] == "pong"
    assert len(data["battles"][0]) == 46


def test_whose_settings_are_played_is_said_where_agents_learned_with_different_ones(
    team: Studio, designer: Client
) -> None:
    ada, bea, cleo = (kept(team.project, name) for name in ("Ada", "Bea", "Cleo"))
    Agent.objects.filter(pk=bea.pk).update(game={"name": "pong", "settings": {"mirror": True}})
    Agent.objects.filter(pk=cleo.pk).update(game={"name": "pong", "settings": {"points": 3, "rewards": ["moved"]}})
    said = "All battles here are played with points {}, mirror {}. {} learned with points {}, mirror {}."
    for agents, opponent, words in (
        ([ada, bea], "", said.format(3, "no", "Bea", 11, "yes")),
        ([bea, ada], "", said.format(11, "yes", "Ada", 3, "no")),
        ([ada], f"agent:{bea.pk}", said.format(3, "no", "Bea", 11, "yes")),
    ):
        assert words in watch(designer, agents, opponent=opponent).content.decode()
    recorded(Job.objects.filter(config__kind="record").earliest("pk"))
    assert said.format(3, "no", "Bea", 11, "yes") in watch(designer, [ada, bea]).content.decode(), "once it is recorded"
    Agent.objects.filter(pk=ada.pk).update(game={"name": "pong", "settings": {"points": 3, "mirror": False}})
    assert "are played with" not in watch(designer, [ada, cleo]).content.decode(), "what is paid for changes no battle"


def test_a_kept_agent_who_plays_with_other_settings_is_named_whichever_job_has_left_it(
    team: Studio, designer: Client
) -> None:
    """But nobody who was deleted, nor an agent of another job or project with the same network."""
    pong = {"name": "pong", "settings": {"points": 3}}
    own, rival, mate, gone = (kept(team.project, name) for name in ("Ada", "Bea", "Cleo", "Dot"))
    for agent, points in ((rival, 7), (mate, 9), (gone, 5)):
        Agent.objects.filter(pk=agent.pk).update(game=pong | {"settings": {"points": points}})
    edits.delete(gone)
    for project, twin in ((team.project, own), (studio("elsewhere").project, gone)):
        Agent.objects.create(project=project, policy=twin.policy, name="Twin", game=pong | {"settings": {"points": 1}})
    opponent, *others = ({"kind": "frozen", "policy": each.policy, "title": ""} for each in (rival, mate, gone))
    beside = [{"player": player, "seats": [seat]} for seat, player in enumerate(others, 2)]
    job = watched(team.project, [own])
    Job.objects.filter(pk=job.pk).update(parent=own.job, config=job.config | {"opponent": opponent, "beside": beside})
    page = text(designer, at("battles", job.pk))
    said = "All battles here are played with points 3. Bea learned with points 7. Cleo learned with points 9."
    assert f"{said}</p>" in page


@pytest.mark.parametrize(
    ("opponent", "game"), [("script:random", "pong-two-seats"), ("script:pong-follower", "pong-two-seats")]
)
def test_against_a_script_the_game_for_two_is_played(team: Studio, designer: Client, opponent: str, game: str) -> None:
    watch(designer, [kept(team.project)], opponent=opponent)
    config = Job.objects.get(config__kind="record").config
    assert config["game"]["name"] == game
    assert config["game"]["settings"] == {"points": 3}
    assert config["opponent"]["player"] == opponent.partition(":")[2]


def test_battles_to_watch_go_on_while_somebody_fills_in_a_form(team: Studio, designer: Client) -> None:
    """Their page says that it opens them by itself."""
    designer.post(at("watch"), {"agents": [str(kept(team.project).pk)], "opponent": "", "seed": "5"})
    recording = Job.objects.for_forms().get(config__kind="record")
    designer.post(reverse("studies:before", args=["herobattle", "arena"]), {"game": "pong-two-seats", "plan": "league"})
    assert Job.objects.for_forms().filter(config__kind="arena").exists()
    assert Job.objects.for_forms().get(pk=recording.pk).active


def test_agents_play_each_other(team: Studio, designer: Client) -> None:
    ada, bea = kept(team.project, "Ada"), kept(team.project, "Bea")
    watch(designer, [ada], opponent=f"agent:{bea.pk}")
    assert Job.objects.get(config__kind="record").config["opponent"]["title"] == "Bea"


def test_what_cannot_be_watched_is_said_at_its_field(team: Studio, designer: Client) -> None:
    ada = kept(team.project, "Ada")
    pole = Agent.objects.create(project=team.project, policy="a" * 64, game={"name": "gym:CartPole-v1", "settings": {}},
                                name="Pole")  # fmt: skip
    for agents, more, why in (
        ([], {}, "Choose one agent at least"),
        ([ada, pole], {}, "play different games"),
        ([pole], {"opponent": "script:random"}, "has nobody to play against"),
        ([ada], {"opponent": "nobody"}, "has somebody to play against"),
        ([ada], {"opponent": f"agent:{pole.pk}"}, "play different games"),
        ([ada], {"opponent": "script:oracle"}, "not known"),
        ([ada], {"seed": "soon"}, "soon is not a number"),
    ):
        answer = watch(designer, agents, **more)
        assert answer.status_code == 422, why
        assert why in answer.content.decode()
    assert not Job.objects.filter(config__kind="record").exists()


def test_opponents_stand_below_their_game_and_agents_without_other_seats_are_none(team: Studio) -> None:
    ada = kept(team.project, "Ada")
    Agent.objects.create(project=team.project, policy="a" * 64, game={"name": "maze", "settings": {}}, name="Mole")
    (own, _), (nobody, _), (game, rivals) = WatchForm(project=team.project)["opponent"].field.choices
    assert (own, nobody, game) == ("", "nobody", "Pong for two")
    assert [key for key, _ in rivals][-1] == f"agent:{ada.pk}"
    assert "Mole" not in [name for _, name in rivals]


def test_who_plays_is_grouped_by_game_and_who_plays_several_games_stands_once(team: Studio, designer: Client) -> None:
    pong, commands = kept(team.project, "Pia"), ada(team.project, "Cai")
    groups = {game: [pk for pk, _ in who] for game, who in WatchForm(project=team.project)["agents"].field.choices}
    first, second = (games.title_of(name, team.project) for name in ("pong", "commanders"))
    assert groups == {first: [str(pong.pk)], second: [str(commands.pk)]}
    page = text(designer, at("watch"))
    assert [page.count(f">{game}</legend>") for game in groups] == [1, 1]
    assert page.count(">Random</option>") == 1
    assert page.count('type="checkbox" name="agents"') == 2
    answer = watch(designer, [pong, commands])
    assert answer.status_code == 422, "both fields are still boxes to tick"


def test_only_opponents_that_can_play_the_game_of_whoever_is_chosen_are_offered(team: Studio, designer: Client) -> None:
    pong, commands = kept(team.project, "Pia"), ada(team.project, "Cai")
    form = WatchForm(project=team.project, initial={"agents": [str(pong.pk)]})
    offered = {o.data["value"] for o in form["opponent"].subwidgets if not o.data["attrs"].get("disabled")}
    assert f"agent:{pong.pk}" in offered
    assert {"", "script:random", "script:pong-follower"} <= offered
    assert not {f"agent:{commands.pk}"} & offered
    form = WatchForm(project=team.project, initial={"agents": [str(commands.pk)]})
    offered = {o.data["value"] for o in form["opponent"].subwidgets if not o.data["attrs"].get("disabled")}
    assert f"agent:{commands.pk}" in offered
    assert not {f"agent:{pong.pk}", "script:pong-follower"} & offered
    Agent.objects.filter(pk=pong.pk).update(game={"name": "connect-four", "settings": {}})
    form = WatchForm(project=team.project, initial={"agents": [str(pong.pk)], "opponent": ""})
    assert form["opponent"].value() == "script:random", "this game has no player of its own"
    Agent.objects.filter(pk=pong.pk).update(game=pong.game)
    page = text(designer, f"{at('watch')}?agent={pong.pk}")
    assert f'<option value="agent:{commands.pk}" disabled hidden>' in page
    assert watch(designer, [pong], opponent=f"agent:{commands.pk}").status_code == 422, "whatever the page offers"


def test_where_the_agent_is_alone_in_its_game_no_player_of_the_game_is_offered(team: Studio, designer: Client) -> None:
    agent = Agent.objects.create(project=team.project, policy="a" * 64, game={"name": "half-field", "settings": {}},
                                 seat=0, name="Striker")  # fmt: skip
    page = text(designer, f"{at('watch')}?agent={agent.pk}")
    assert '<option value="nobody" selected>Nobody: it is alone in its game</option>' in page
    assert "The game’s own player" not in page
    Agent.objects.filter(pk=agent.pk).update(game={"name": "half-field-keeper", "settings": {}})
    page = text(designer, f"{at('watch')}?agent={agent.pk}")
    assert "The game’s own player" in page
    assert "Nobody" not in page


def test_in_a_maze_nobody_is_played_against_and_its_map_comes_with_the_way(team: Studio, designer: Client) -> None:
    job = watched_in_a_maze(team.project)
    page = text(designer, at("battles", job.pk))
    assert "Ada won, in 45 decisions. Its score is 0.75." in page
    assert "against" not in page
    assert "The still square in the lower right corner is the goal" in page
    data = designer.get(at("battles-data", job.pk)).json()
    assert [data["drawing"], len(data["scenery"]), data["battles"][0][0]] == ["maze", 9, [1.0, 1.0, 1.0]]


def test_commanders_are_drawn_at_the_pace_of_their_game_with_the_names_of_their_pieces(
    team: Studio, designer: Client
) -> None:
    job = watched_commanders(team.project, ("Ada", "Bea"))
    page = text(designer, at("battles", job.pk))
    assert "A line goes from a unit to whom it strikes at" in page
    assert "This game has no drawing here" not in page
    data = designer.get(at("battles-data", job.pk)).json()
    assert (data["drawing"], data["pace"], len(data["battles"])) == ("commanders", 3.0, 2)
    assert [len(row) for row in data["battles"][0][:2]] == [115, 115]
    assert len(data["labels"][1]) == 12


def test_where_no_single_action_is_told_nothing_is_said_of_what_agents_did(
    team: Studio, designer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = watched(team.project, [kept(team.project)], drawing="")
    monkeypatch.setattr("webapp.agents.watching.chosen", lambda counts, game: [])
    assert "This game has no drawing here. Below is how the battles ended." in text(designer, at("battles", job.pk))


def test_a_game_without_a_drawing_shows_moves_and_scores_and_a_sentence(team: Studio, designer: Client) -> None:
    job = watched(team.project, [kept(team.project)], drawing="")
    page = text(designer, at("battles", job.pk))
    assert "This game has no drawing here. Below is what the agents did, and how the battles ended." in page
    assert "Its score is 0.75" in page
    assert "33" in page
    assert designer.get(at("battles-data", job.pk)).status_code == 404


def test_a_recording_that_failed_is_told_and_tried_again(team: Studio, designer: Client) -> None:
    ada = kept(team.project)
    watch(designer, [ada])
    Job.objects.filter(config__kind="record").update(status=Status.FAILED, message="The game went away.")
    first = Job.objects.get(config__kind="record")
    page = text(designer, at("battles", first.pk))
    assert "could not be recorded. The game went away." in page
    assert designer.post(at("another", first.pk), {"seed": "3"}).status_code == 302
    assert Job.objects.filter(config__kind="record").count() == 2


def test_battles_of_agents_that_nobody_kept_are_recorded_on_another_seed_and_lead_back_to_their_map(
    team: Studio, designer: Client
) -> None:
    ada = kept(team.project)
    job = watched(team.project, [ada])
    search = trained_at_pong(team.project)
    Job.objects.filter(pk=search.pk).update(kind="style")
    Job.objects.filter(pk=job.pk).update(parent=search)
    ada.delete()
    page = text(designer, at("battles", job.pk))
    assert f'href="/p/herobattle/jobs/{search.pk}/#style-map"' in page
    assert "Another seed" in page
    assert f'href="/p/herobattle/jobs/{search.pk}/?#style-map">Choose others</a>' in page
    numbered = [{**job.config["agents"][0], "title": "Agent 7"}]
    Job.objects.filter(pk=job.pk).update(config={**job.config, "agents": numbered})
    back = f'href="/p/herobattle/jobs/{search.pk}/?ticked=7#style-map">Choose others</a>'
    page = text(designer, at("battles", job.pk))
    assert back in page, "there they are ticked"
    card = reverse("styles:map-agent", args=["herobattle", search.pk, 7])
    assert f'<h2 id="battle-1"><a href="{card}">' in page
    assert "Keep it or breed on" in page
    read = text(signed_in(team.producer), at("battles", job.pk))
    assert f'<h2 id="battle-1"><a href="{card}">' in read
    assert "Keep it or breed on" not in read, "who only reads keeps nothing"
    Job.objects.filter(pk=job.pk).update(config=job.config)
    answer = designer.post(at("another", job.pk), {"seed": job.config["seed"] + 1})
    new = Job.objects.filter(config__kind="record").latest("pk")
    assert answer["Location"] == at("battles", new.pk)
    assert (new.config, new.parent) == ({**job.config, "seed": job.config["seed"] + 1}, search)
    assert designer.post(at("another", job.pk), {"seed": "soon"}).status_code == 400
    assert signed_in(team.producer).post(at("another", job.pk), {"seed": "5"}).status_code == 403
    assert signed_in(team.stranger).post(at("another", job.pk), {"seed": "5"}).status_code == 404


def test_what_a_job_has_left_is_watched_before_anybody_keeps_it_and_is_kept_from_there(
    team: Studio, designer: Client
) -> None:
    job = trained_at_pong(team.project)
    card, keep_it = text(designer, at("keep", job.pk)), f'href="/p/herobattle/jobs/{job.pk}/#keep"'
    assert f'formaction="{at("watch-left", job.pk)}"' in card
    answer = designer.post(at("watch-left", job.pk), {"of": "", "name": "Ada", "chooses": "chance"})
    recording = Job.objects.for_forms().get()
    assert (answer["Location"], recording.parent) == (at("battles", recording.pk), job)
    study = load(recording.config)
    assert isinstance(study, RecordConfig)
    [agent] = study.agents
    assert (agent.policy, agent.sampled) == (job.artifacts["policy_description"], True)
    assert study.opponent is None, "this Pong brings its own player"
    assert Agent.objects.count() == 0
    recorded(recording)
    page, read = (text(each, at("battles", recording.pk)) for each in (designer, signed_in(team.producer)))
    assert f'<h2 id="battle-1"><a {keep_it}>Pong, first try</a>' in page
    assert f'<a class="btn btn-sm" {keep_it}>' in page
    assert "or breed on" not in page, "it must be kept first"
    assert "Choose others" not in page, "the job has left no other"
    assert "Keep it" not in read
    keep(designer, job, chooses="chance")
    kept_one, page = Agent.objects.get(), text(designer, at("battles", recording.pk))
    assert f'<h2 id="battle-1"><a href="{at("agent", kept_one.pk)}">' in page
    assert f'href="{at("play", kept_one.pk)}"' in page
    assert "Keep it" not in page


def test_of_several_that_a_job_has_left_one_is_watched_and_its_page_leads_to_the_others(
    team: Studio, designer: Client
) -> None:
    job = two_sided(team.project)
    assert text(designer, at("keep", job.pk)).count(f'formaction="{at("watch-left", job.pk)}"') == 2
    designer.post(at("watch-left", job.pk), {"of": "right"})
    recording = recorded(Job.objects.for_forms().get())
    assert recording.config["agents"][0]["policy"] == job.artifacts["policy_description/right"]
    assert recording.config["opponent"], "somebody sits on the other side"
    others = f'<a href="/p/herobattle/jobs/{job.pk}/#keep">Choose others</a>'
    assert others in text(designer, at("battles", recording.pk))


def test_only_what_an_ended_job_has_left_is_watched_and_only_by_those_who_may_keep_it(
    team: Studio, designer: Client
) -> None:
    job, running = trained_at_pong(team.project), trained_at_pong(team.project, status=Status.RUNNING)
    for which, of in ((running, ""), (job, "nobody")):
        answer = designer.post(at("watch-left", which.pk), {"of": of}, follow=True)
        assert "no such agent" in answer.content.decode()
    assert designer.post(at("watch-left", job.pk), {"of": "", "chooses": "well"}).status_code == 400
    producer = signed_in(team.producer)
    assert producer.post(at("watch-left", job.pk), {"of": ""}).status_code == 403
    assert "formaction" not in text(producer, at("keep", job.pk))
    assert not Job.objects.for_forms().exists()


def test_a_kept_agent_that_is_watched_leads_to_its_page_and_to_what_can_be_done_with_it(
    team: Studio, designer: Client
) -> None:
    agent = kept(team.project, "Ada")
    job = watched(team.project, [agent])
    page, read = (text(each, at("battles", job.pk)) for each in (designer, signed_in(team.producer)))
    for shown in (page, read):
        assert f'<a href="{at("agent", agent.pk)}">Ada</a></h2>' in shown
        assert f'href="{at("play", agent.pk)}"' in shown
    breed = f'action="{reverse("styles:breed", args=["herobattle", agent.pk])}"'
    assert breed in page
    assert breed not in read
    Agent.objects.filter(pk=agent.pk).delete()
    assert '<h2 id="battle-1">Ada</h2>' in text(designer, at("battles", job.pk)), "nobody keeps it any more"


def test_a_producer_watches_what_was_recorded_and_starts_nothing(team: Studio) -> None:
    agent = kept(team.project)
    job, producer = watched(team.project, [agent]), signed_in(team.producer)
    assert "Another seed" not in text(producer, at("battles", job.pk))
    assert "Recorded lately" in text(producer, at("watch"))
    assert watch(producer, [agent]).status_code == 403
    assert "Measure it" not in text(producer, at("agent", agent.pk))
    stranger = signed_in(team.stranger)
    for address in (at("list"), at("watch"), at("battles", job.pk), at("agent", agent.pk)):
        assert stranger.get(address).status_code == 404


def test_an_agent_of_another_project_is_none_of_this_one(team: Studio) -> None:
    other = studio("other")
    agent = kept(other.project)
    assert signed_in(team.designer).get(at("agent", agent.pk)).status_code == 404
    assert watch(signed_in(team.designer), [agent]).status_code == 422


def test_a_project_without_agents_says_how_one_is_kept(team: Studio, designer: Client) -> None:
    page = text(designer, at("list"))
    styles, train = (reverse(name, args=["herobattle"]) for name in ("styles:new", "training:new"))
    breeds = f'href="{styles}"><b>Which styles of play can agents have?</b></a><span class="second muted">Breeds agents'
    alone = f'href="{train}"><b>Train an agent</b></a><span class="second muted">Teaches one agent'
    said = page.partition("No agent has been kept yet")[2]
    assert -1 < said.find(breeds) < said.find(alone), "a designer asks for styles first"
    reads = text(signed_in(team.producer), at("list")).partition("No agent has been kept yet")[2]
    assert "Train an agent" not in reads
    assert "nobody to watch" in text(designer, at("watch"))
    job = finished(team.project)
    assert f'hx-get="{at("keep", job.pk)}"' in text(designer, reverse("studies:job", args=["herobattle", job.pk]))


def test_whom_nobody_can_play_against_in_the_page_is_said_with_the_reason(team: Studio, designer: Client) -> None:
    agent = kept(team.project)
    assert "You are on the left" in text(designer, at("play", agent.pk))
    assert "Play against it" in text(designer, at("agent", agent.pk))
    assert designer.get(at("weights", agent.pk)).content == b"numbers of Pong, first try"
    Agent.objects.update(game={"name": "image-pong", "settings": {}})
    page = text(designer, at("play", agent.pk))
    assert OTHER_GAME in page
    assert "Play against it" not in text(designer, at("agent", agent.pk))


def test_a_range_below_zero_is_not_written_with_two_dashes() -> None:
    assert Measure("return", Signal("returns", share=False), -10.0, -10.2, -9.72).ends == "[−10.20 to −9.72]"
    assert Measure("hits", Signal("hits", share=False), 4.0, 3.9, 4.6).ends == "[3.90–4.60]"


def test_each_part_of_an_order_has_a_histogram_of_its_own(team: Studio, designer: Client) -> None:
    job = watched_commanders(team.project, ("Ada", "Bea"))
    page = text(designer, at("battles", job.pk))
    assert page.count("How often it gave each order") == 2
    assert page.count('<table class="actions-table"') == 2, "columns of all parts are in line"
    assert page.count('scope="rowgroup"') == 2 * len(GAMES["commanders"].orders) == 10
    bundle = unpack(store().get(job.artifacts["recording"]))
    attack, *_, skill = bundle.meta["battles"][1]["counts"]
    assert sum(attack) == sum(skill) == bundle.meta["battles"][1]["length"]
    told = chosen(bundle.meta["battles"][1]["counts"], "commanders")
    assert [(name, share) for name, share in told[0].shares if share] == [("the hero", 1.0)]
    assert told[4].shares[2] == ("at once", 1.0)
    assert [each.what for each in chosen([[3, 1], [2, 2]], "gym:Two-v0")] == ["choice 1", "choice 2"]
    assert chosen([3, 1], "gym:One-v0")[0].shares == [("action 1", 0.75), ("action 2", 0.25)]


def test_below_the_histogram_stands_what_it_counts_and_why_measures_may_say_something_else(
    team: Studio, designer: Client
) -> None:
    page = text(designer, at("agent", kept(team.project).pk))
    said = (
        "Counted in 1,000 decisions of its first 50 episodes; the measures above are means of all 200. At the edge of "
        "the field a paddle cannot go on: there, up or down moves nothing."
    )
    assert said in page
    assert "limits hold" not in page
    few = {"check": {"situations": 40}, "episodes": 50}
    assert counted(few, "gym:One-v0", True) == (
        "Counted in 40 decisions of its 50 episodes, of which long ones have more; in the measures above each episode "
        "counts alike. Its limits hold some of its actions back."
    )
    assert "An order is not yet a step" in counted(few, "commanders", False)


def test_choices_have_their_names_also_where_a_setting_leaves_the_last_one_out() -> None:
    (told,) = chosen([1, 1, 2], "half-field")
    assert told.shares == [("dash", 0.25), ("turn", 0.25), ("kick", 0.5)]
    assert [name for name, _ in chosen([1, 1, 1, 1], "half-field")[0].shares] == ["dash", "turn", "kick", "tackle"]


def test_tags_that_differ_only_in_the_case_of_their_letters_are_one_filter(team: Studio, designer: Client) -> None:
    ada = kept(team.project, "Ada")
    (other,) = copied(ada, 1)
    Agent.objects.filter(pk=ada.pk).update(tags=["calm"])
    Agent.objects.filter(pk=other.pk).update(tags=["Calm", "level 3"])
    everybody = text(designer, at("list"))
    assert everybody.count('href="?tag=calm"') + everybody.count('href="?tag=Calm"') == 1
    for tag in ("calm", "Calm"):
        shown = text(designer, f"{at('list')}?tag={tag}")
        assert shown.count('<h2><a class="card-link"') == 2
        assert shown.count('aria-current="true"') == everybody.count('aria-current="true"')
    assert text(designer, f"{at('list')}?tag=level%203").count('<h2><a class="card-link"') == 1
