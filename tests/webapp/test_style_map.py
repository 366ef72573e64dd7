"""The style map of a search for styles: what it draws and tells, whom it picks, and what people take from it."""

from __future__ import annotations

import hashlib
import html
import json
import re
from typing import Any

import numpy as np
import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from engine.arrays import Bundle, unpack
from engine.config import StylesConfig
from engine.config.agents import MeasureConfig, RecordConfig
from engine.config.limits import LimitsConfig
from engine.events import Finished
from engine.rl.policy import Policy
from engine.studies import load
from engine.study import run
from engine.study.evolve import apart
from engine.styles.agents import files_of
from tests.factories import Studio, signed_in
from tests.webapp.agents import recorded
from tests.webapp.bred import sampled
from tests.webapp.styles_bred import bred, complete, search
from webapp.agents.models import Agent
from webapp.lib.storage import store
from webapp.studies.models import Job, Status
from webapp.styles import evidence, map_page
from webapp.styles.forms import StyleForm
from webapp.styles.learned import learned_by, learned_from, trainings
from webapp.styles.map_agents import Agents, Estimates, _edge, agents_in, agents_of, parents_of
from webapp.styles.map_levels import levels
from webapp.styles.map_reach import ANYWHERE, reach_of
from webapp.styles.map_strangers import held, met
from webapp.styles.map_taken import usual_name
from webapp.styles.map_words import axes
from webapp.styles.starting import StylesIntake
from webapp.training.games import title_of
from webapp.training.learned import leader
from webapp.training.models import TrainDraft

pytestmark = pytest.mark.django_db


def at(name: str, job: Job, *more: int) -> str:
    return reverse(f"styles:{name}", args=["herobattle", job.pk, *more])


def text(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer.status_code
    return html.unescape(" ".join(answer.content.decode().split()))


def page(client: Client, job: Job, query: str = "") -> str:
    return text(client, reverse("studies:job", args=["herobattle", job.pk]) + query)


def drawn(shown: str) -> dict[str, Any]:
    found = re.search(r'<script id="style-map-data" type="application/json">(.*?)</script>', shown)
    assert found is not None
    told: dict[str, Any] = json.loads(found[1])
    return told


def made_up(scores: list[float], moved: list[float], half: float = 0.02) -> Agents:
    """Agents of these scores that move so much."""

    def measured(values: list[float]) -> Estimates:
        mean = np.array(values)
        return Estimates(mean, mean - half, mean + half)

    n = len(scores)
    goals = {"busy": [s + m for s, m in zip(scores, moved, strict=True)],
             "calm": [s + 1 - m for s, m in zip(scores, moved, strict=True)]}  # fmt: skip
    measures = {"score": measured(scores), "moved": measured(moved), **{k: measured(v) for k, v in goals.items()}}
    return Agents(
        np.arange(n), np.ones(n, np.int64), np.ones(n, np.bool_), np.ones(n, np.bool_), ("busy", "calm"), ("moved",),
        measures, ("score", "moved"), (), np.empty((n, 0)), 20,
    )  # fmt: skip


def test_the_chart_and_the_table_tell_the_same_agents_in_the_same_order_with_the_same_numbers(
    team: Studio, designer: Client
) -> None:
    job = bred(team.project)
    shown = page(designer, job)
    told, agents = drawn(shown), agents_of(job)
    assert agents is not None
    in_table = [int(number) for number in re.findall(r'<tr[^>]* data-agent="(\d+)"', shown)]
    assert in_table == told["agents"]
    assert sorted(in_table) == agents.id.tolist()
    for place, number in enumerate(in_table):
        row = agents.row(number)
        assert row is not None
        cells = re.findall(r'<td class="number">([^<]*)<span', shown.split(f'data-agent="{number}"')[1])
        known = list(axes(job.config).values())
        assert cells[: len(known)] == [axis.text(told["values"][axis.name]["mean"][place]) for axis in known]
        assert told["edge"][place] == bool(agents.edge[row])


@pytest.mark.parametrize("within", [0.0, 0.05, 0.2, 1.0])
def test_picking_never_leaves_the_skill_band(team: Studio, designer: Client, within: float) -> None:
    told = drawn(page(designer, bred(team.project), f"?within={within}&k=6&pick=1&show=all"))
    picked = [i for i, place in enumerate(told["picked"]) if place]
    assert picked
    assert all(told["able"][i] for i in picked)
    score = told["values"]["score"]
    best = max(score["mean"])
    assert all(max(score["mean"][i], score["high"][i] or 0) >= best - within for i in picked)


def test_the_strongest_is_picked_first_then_whoever_differs_most_among_the_able() -> None:
    agents = made_up([0.9, 0.88, 0.87, 0.3], [0.5, 0.1, 0.45, 1.0])
    assert agents.pick(0.1, 2).rows.tolist() == [0, 1], "the busiest one does not play well enough"
    assert agents.pick(1.0, 2).rows.tolist() == [0, 3]


def test_the_band_and_the_edge_are_filters_and_what_is_wrong_is_said_at_its_field(
    team: Studio, designer: Client
) -> None:
    job = bred(team.project)
    assert all(drawn(page(designer, job, "?show=band&within=0.01"))["able"])
    assert all(drawn(page(designer, job, "?show=edge"))["edge"])
    shown = page(designer, job, "?within=plenty&k=99")
    assert 'value="plenty"' in shown
    assert 'value="99"' in shown
    assert shown.count("field-invalid") == 2
    assert len(drawn(shown)["agents"]) == 18, "the map is there all the same"
    shown = page(designer, job, "?within=0&k=50&pick=1")
    assert "“Pick a diverse few”: Type a number from 2 to 12. Until then the map is that of the skill band 0" in shown
    assert not any(drawn(shown)["picked"])
    shown = text(designer, f"{at('map', job)}?within=-1&k=abc&pick=1")
    assert "“Skill band”: Type a number from 0 to 1,000,000. “Pick a diverse few”: abc is not a number." in shown


def test_axes_say_in_words_which_way_is_which_and_in_which_unit(team: Studio) -> None:
    known = axes(bred(team.project).config)
    assert known["moved"].along == "Moves (% of the time): calm … busy"
    assert known["score"].along == "Score (0 to 1): plays worse … plays better"
    goals = [{"measure": "score", "formula": "", "direction": "max"}]
    said = axes({"task": {"game": {"name": "commanders"}}, "objectives": goals, "behaviour": ["dealt", "explored"]})
    assert [said[name].title for name in ("dealt", "explored")] == [
        "Deals (% of the other team’s life)", "Covers (% of the field)",
    ]  # fmt: skip
    assert known["busy"].along == "Goal “Busy”, score and style together: less good … better"
    own = {**bred(team.project).config, "objectives": [{**goals[0], "measure": "mine", "formula": "score * moved"}]}
    assert axes(own)["mine"].title == "Goal “Mine” = score × moved"


def test_the_menus_of_the_axes_call_goals_by_their_names_and_cut_formulas_without_one(
    team: Studio, designer: Client
) -> None:
    job = bred(team.project)
    formula = "score + moved / 2 + " * 20 + "1"
    whole = [("busy", "score * moved + 1"), ("calm", ""), ("goal 3", formula), ("goal 4", "score * 2")]
    goals = [{"measure": name, "formula": text, "direction": "max"} for name, text in whole]
    known = axes({**job.config, "objectives": goals})
    assert [known[name].brief for name, _ in whole] == [
        "Goal “Busy”", "Goal “Calm”", "Goal 3: score + moved / 2 + score +…", "Goal 4: score × 2",
    ]  # fmt: skip
    assert known["goal 3"].title == f"Goal “Goal 3” = {formula}", "the axis has room for more"
    assert known["moved"].brief == "Moves (% of the time)"
    shown = page(designer, job)
    title = "Goal “Busy”, score and style together"
    assert shown.count(f'<option value="busy" title="{title}"') == 2
    assert shown.count(">Goal “Busy”</option>") == 2


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("score**3", "score³"),
        ("2 * (score + moved) ** 2 - 1", "2 × (score + moved)² − 1"),
        ("score××12", "score¹²"),
        ("score ** -1", "score to the power of −1"),
        ("score**0.5 * moved", "score to the power of 0.5 × moved"),
    ],
)
def test_a_power_in_a_goal_is_printed_as_one(team: Studio, formula: str, said: str) -> None:
    goals = [{"measure": "mine", "formula": formula, "direction": "max"}]
    task = {"game": {"name": "pong"}}
    known = axes({"task": task, "objectives": goals, "behaviour": ["moved"]})
    assert known["mine"].title == f"Goal “Mine” = {said}"


def test_where_both_ends_count_alike_the_head_says_that_the_edge_proves_nothing(team: Studio, designer: Client) -> None:
    said = "the edge by itself proves nothing"
    job = bred(team.project)
    assert said in page(designer, job)
    assert 'href="#evidence-title"' in page(designer, job), "where spread, skill and the control stand"


def test_map_table_and_card_say_whose_style_does_not_hold_against_strangers(team: Studio, designer: Client) -> None:
    job = bred(team.project)
    shown = page(designer, job)
    told = drawn(shown)
    judged = [(n, verdict) for n, verdict in zip(told["agents"], told["held"], strict=True) if verdict is not None]
    assert len(judged) >= 6, "everybody who stayed"
    assert "also met Random and Looks ahead, against whom nobody learned" in shown
    for mark, verdict in (
        (">fragile</span>", "fragile"),
        ("<td>holds</td>", "holds"),
        (">cannot tell yet</span>", "open"),
    ):
        assert shown.count(mark) == sum(each == verdict for _, each in judged)
    assert "open" in dict(judged).values(), "of so few episodes"
    assert shown.count(">not met</span>") == len(told["agents"]) - len(judged)
    number = next(n for n, verdict in judged if verdict == "open")
    card = text(designer, at("map-agent", job, number))
    assert "Whether its style holds cannot be told yet: against" in card
    assert "The spread rests on only 6 episodes of each agent, and no style is judged by fewer than 20." in card
    assert "1 would be as far as all agents of this search lie apart, by 6 episodes of each; it is taken as" in card
    assert not any(verdict in ("fragile", "holds") for _, verdict in judged), "so few do not tell"
    assert card.count('<th scope="row">Looks ahead</th>') == 1
    gone = next(n for n, each in zip(told["agents"], told["held"], strict=True) if each is None)
    assert "It did not stay to the end" in text(designer, at("map-agent", job, gone))
    assert not any(drawn(page(designer, bred(team.project, 1)))["held"])


def test_where_all_agents_do_the_same_those_who_met_strangers_are_not_said_to_have_met_none(
    team: Studio, designer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = bred(team.project)
    met_somebody = sum(each is not None for each in drawn(page(designer, job))["held"])
    monkeypatch.setattr(Agents, "spans", property(lambda agents: dict.fromkeys(agents.behaviour, 0.0)))
    shown = page(designer, job)
    assert "how far their style shifts cannot be told, for all do the same" in shown
    assert shown.count(">all do the same</span>") == met_somebody
    assert shown.count(">not met</span>") == len(drawn(shown)["agents"]) - met_somebody


def test_shifts_are_told_by_the_differences_between_episodes_on_the_same_seeds_where_these_were_kept(
    team: Studio,
) -> None:
    job = bred(team.project)
    known, agents = met(job), agents_of(job)
    assert agents is not None
    assert known.own is not None
    assert set(known.shifts) == set(known.own.id.tolist()), "the edge and the population"
    number, found = next(iter(known.shifts.items()))
    for each in found:
        other = known.others[each.opponent]
        rows = other.row(number), known.own.row(number)
        there, here = (who.measures["moved"].mean[row] for who, row in zip((other, known.own), rows, strict=True))
        assert each.mean == pytest.approx(there - here)
    row = agents.row(number)
    assert row is not None
    earlier = known._replace(shifts={})
    by_pairs, by_means = held(agents, row, known), held(agents, row, earlier)
    assert by_pairs is not None
    assert by_means is not None
    assert by_pairs.by == pytest.approx(by_means.by), "searches of earlier versions go on as they were"
    assert (by_pairs.high or 0) < (by_means.high or np.inf)


def test_the_population_of_the_control_is_drawn_beside(team: Studio, designer: Client) -> None:
    job = bred(team.project)
    assert "control" not in drawn(page(designer, job))
    bred(team.project, selection=False, parent=job)
    assert len(drawn(page(designer, job))["control"]["moved"]) == 6
    assert "Latest population of the control" in page(designer, job)


def test_a_search_under_way_says_when_agents_appear_and_sends_the_map_anew_only_when_a_round_is_complete(
    team: Studio, designer: Client
) -> None:
    empty = search(team.project)
    assert "Each agent appears here as soon as it is trained" in page(designer, empty)
    job = bred(team.project, 1)
    assert len(drawn(page(designer, job))["agents"]) == 6
    assert designer.get(f"{at('map', job)}?seen={map_page.key(job)}").status_code == 204
    seen = map_page.key(job)
    complete(job, 2)
    assert len(drawn(text(designer, f"{at('map', job)}?seen={seen}"))["agents"]) == 12
    stopped = search(team.project, status=Status.STOPPED)
    assert "ended before anybody was trained" in page(designer, stopped)


def test_children_appear_one_by_one_and_can_be_taken_once_their_round_is_complete(
    team: Studio, designer: Client
) -> None:
    job, whole = bred(team.project, 1), bred(team.project)
    before = map_page.key(job)
    chunk = whole.events.get(kind="progressed", tick=2).body["artifacts"]["chunk"]
    Job.objects.filter(pk=job.pk).update(
        artifacts={**job.artifacts, "arrived": chunk}, counters={"evaluations": 9, "seconds": 12.0}
    )
    job.refresh_from_db()
    shown = text(designer, f"{at('map', job)}?seen={before}")
    assert len(drawn(shown)["agents"]) == 12
    assert "12 agents on this map" in shown
    assert "in training" not in shown, "one place says how far the round is: two that are asked at other times disagree"
    page = " ".join(text(designer, reverse("studies:job", args=[job.project.slug, job.pk])).split())
    said = "of round 2, 3 of 6 agents are trained and measured, [12] in training; about 12 s until all are"
    assert len(re.findall(said, page)) == page.count("in training") == 1
    young = max(drawn(shown)["agents"])
    assert "Once its round is complete it can be watched, kept and bred on from." in text(
        designer, at("map-agent", job, young)
    )
    answer = designer.post(at("map-keep", job, young), {"then": ""}, follow=True)
    assert f"Agent {young} has just been trained." in html.unescape(answer.content.decode())
    assert not Agent.objects.exists()


@pytest.mark.parametrize("status", [Status.PAUSED, Status.STOPPED])
def test_an_agent_of_the_round_that_a_pause_or_a_stop_cut_off_is_watched_and_kept(
    team: Studio, designer: Client, status: Status
) -> None:
    job, whole = bred(team.project, 1), bred(team.project)
    round_two = whole.events.get(kind="progressed", tick=2).body["artifacts"]
    left = {"arrived": round_two["chunk"], "arrived_agents": round_two["agents"]}
    Job.objects.filter(pk=job.pk).update(artifacts={**job.artifacts, **left}, status=status)
    young = max(drawn(text(designer, at("map", job)))["agents"])
    card = text(designer, at("map-agent", job, young))
    assert "Keep this agent" in card
    assert "Watch it" in card
    assert "Breed on from this one" in card
    designer.post(at("map-watch", job), {"agent": [str(young)]})
    assert Job.objects.for_forms().exists()
    designer.post(at("map-keep", job, young), {"then": ""})
    found = files_of(store().get(round_two["agents"]), young)
    assert found is not None
    assert Agent.objects.get().policy == hashlib.sha256(found.description).hexdigest()


def test_an_agent_that_a_crash_took_says_so_and_offers_nothing(team: Studio, designer: Client) -> None:
    job, whole = bred(team.project, 1), bred(team.project)
    chunk = whole.events.get(kind="progressed", tick=2).body["artifacts"]["chunk"]
    Job.objects.filter(pk=job.pk).update(artifacts={**job.artifacts, "arrived": chunk}, status=Status.FAILED)
    card = text(designer, at("map-agent", job, 11))
    assert "its search ended abruptly, before the round was complete." in card
    assert "Keep it to have it measured" not in card


def test_the_card_of_an_agent_has_ranges_weights_parents_and_fresh_numbers(team: Studio, designer: Client) -> None:
    job = bred(team.project)
    child, (mother, father) = next(iter(parents_of(job).items()))
    shown = text(designer, at("map-agent", job, child))
    assert f"agent {mother}</a>, whose network it went on with" in shown
    assert mother == father or f"agent {father}</a>" in shown
    assert re.search(r"<dt>Drawn to</dt><dd>(busy|calm), \d+ %</dd>", shown)
    assert "<dt>Winning matters</dt><dd>the same for all</dd>" in shown
    assert shown.index("As numbers") < shown.index("<dt>Winning matters</dt><dd>1</dd>")
    assert "trainings, one after the other" in shown
    first = text(designer, at("map-agent", job, 0))
    assert "its training began with a new network, 64 decisions in all" in first
    agents = agents_of(job)
    assert agents is not None
    edge = map_page.context(job, QueryDict())["map"]
    assert edge.edge == int(agents.edge.sum())
    again = [n for n in agents.id.tolist() if "fresh episodes</th>" in text(designer, at("map-agent", job, n))]
    assert again, "the final edge was measured again"


def test_trainings_are_counted_along_the_mothers_whose_networks_were_handed_on() -> None:
    plain, parents = {"networks": "best"}, {7: (3, 1), 3: (0, 2)}
    assert trainings(plain, 7, parents) == [7, 3, 0]
    assert trainings(plain, 0, parents) == [0]
    assert trainings({"networks": "fresh"}, 7, parents) == [7], "each begins with a new network"
    assert trainings({**plain, "learnt_is_inherited": False}, 7, parents) == [7], "with the one its mother began with"
    assert trainings(plain, 5, {5: (4, 1), 4: (5, 1)}) == [5, 4]


def test_decisions_learned_from_are_those_of_whole_updates(team: Studio, designer: Client) -> None:
    """Of 4 battles and 8 decisions each: 70 are typed, and the third update brings 96."""
    job = bred(team.project, 2)
    child, (mother, father) = next(iter(parents_of(job).items()))
    task = job.config["task"]
    job.config["task"] = {**task, "steps": 70}
    assert learned_by(job, child) == 2 * 96
    job.config["task"] = {**task, "environments": [4, 8]}
    assert learned_by(job, child) == 0, "nobody noted how many battles each played"
    with_genes = agents_of(job)
    assert with_genes is not None
    own = with_genes._replace(paths=("environments",), genes=np.where(with_genes.id == child, 8.0, 4.0)[:, None])
    job.config["task"] = {**task, "environments": [4, 8], "steps": 65}
    assert learned_from(job, own, child, {child: (mother, father)}) == 128 + 96, "each by its own settings"


def test_what_the_search_began_with_had_learned_counts_too(team: Studio, designer: Client) -> None:
    first = bred(team.project, 2)
    number = next(iter(parents_of(first)))
    designer.post(at("map-keep", first, number), {"then": ""})
    begun = Agent.objects.get()
    assert begun.origin["steps"] == 128
    job = bred(team.project, 1)
    job.config["start"] = begun.policy
    job.save()
    told = "its training began with the agent that the search began with, 192 decisions in all"
    assert told in text(designer, at("map-agent", job, 0))
    parents_and_more = text(designer, at("map-agent", first, number))
    assert "Its network has learned in 2 trainings, one after the other, 128 decisions in all" in parents_and_more
    left = first.artifacts | {"policy_description": "e" * 64}
    Job.objects.filter(pk=first.pk).update(artifacts=left)
    job.config["start"] = "f" * 64
    job.save()
    assert "began with the agent that the search began with." in text(designer, at("map-agent", job, 0)), (
        "what nobody knows is not told"
    )


def test_the_best_agent_is_kept_from_the_page_of_its_search_with_what_it_learned_and_not_what_all_did(
    team: Studio, designer: Client
) -> None:
    job = bred(team.project)
    number = leader(job)
    agents = evidence.of(job)
    assert number is not None
    assert agents is not None
    assert number == agents.ids[agents.score.argmax()] == getattr(evidence.best_of(job), "agent", None)
    assert f"of agent {number}, which scored best of those that stayed; here on 6 fresh" in page(designer, job)
    shown = text(designer, reverse("agents:keep", args=["herobattle", job.pk]))
    assert f"It is agent {number} of the map: of those that stayed after the last round, it scored best then." in shown
    assert f'value="Busy and calm: agent {number}"' in shown
    Job.objects.filter(pk=job.pk).update(counters={"steps": 10**6})
    designer.post(reverse("agents:keep", args=["herobattle", job.pk]), {"of": ""})
    assert Agent.objects.get().origin["steps"] == learned_by(job, number) in (64, 128, 192)


def test_what_an_earlier_version_left_as_the_best_by_the_first_goal_is_called_so(
    team: Studio, designer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = bred(team.project)
    monkeypatch.setattr(evidence, "best_of", lambda job: evidence.Best(99, 0.5, None, True, 6))
    shown = text(designer, reverse("agents:keep", args=["herobattle", job.pk]))
    assert f"It is agent {leader(job)} of the map: nobody is better by the first goal, “Busy”." in shown


def test_a_card_says_that_no_other_difficulty_exists(team: Studio, designer: Client) -> None:
    job = bred(team.project)
    agents = agents_of(job)
    assert agents is not None
    alone = [int(agents.id[row]) for row in range(len(agents.id)) if len(levels(agents, row)) < 2]
    for place in ("map-agent", "map-difficulties"):
        assert "None is known: of no other agent of this search" in text(designer, at(place, job, alone[0]))


def test_an_agent_is_kept_once_with_what_its_network_learned_from_and_can_be_measured(
    team: Studio, designer: Client
) -> None:
    job = bred(team.project, 2)
    child = next(iter(parents_of(job)))
    for _ in range(2):
        answer = designer.post(at("map-keep", job, child), {"name": "Ada", "then": ""}, follow=True)
    agent = Agent.objects.get()
    assert answer.request["PATH_INFO"] == reverse("agents:agent", args=["herobattle", agent.pk])
    assert (agent.name, agent.job, agent.sampled) == ("Ada", job, False)
    assert agent.origin["steps"] == 64 * len(trainings(job.config, child, parents_of(job)))
    page = text(designer, reverse("agents:agent", args=["herobattle", agent.pk]))
    assert f'<a href="{at("map-agent", job, child)}">Agent {child}: its parents, and what it was paid for</a>' in page
    assert f'hx-get="{at("map-difficulties", job, child)}"' in page
    study = load(Job.objects.get(kind="measure").config)
    assert isinstance(study, MeasureConfig)
    assert study.agent.policy == agent.policy
    assert study.style == ("moved",)
    assert study.origin.spans_episodes == 6, "of each agent, by which the search knows how far they lie apart"
    assert [other.title for other in study.strangers] == ["Random", "Looks ahead"]
    assert "Kept as" in text(designer, at("map-agent", job, child))


def test_searches_that_bred_the_same_agent_keep_one_each_and_watch_their_own(team: Studio, designer: Client) -> None:
    """As searches of one seed do whose first networks are the same: each says what its own agent was bred for."""
    first, second = bred(team.project, title="Busy and calm"), bred(team.project, title="Rusher and builder")
    designer.post(at("map-keep", first, 4), {"name": "Ada", "then": ""})
    assert "Kept as" in text(designer, at("map-agent", first, 4))
    assert "Kept as" not in text(designer, at("map-agent", second, 4)), "another search’s agent is not its own"
    seen = [designer.post(at("map-watch", job), {"agent": ["4"]})["Location"] for job in (first, second)]
    parents = [Job.objects.for_forms().get(pk=place.split("/")[-2]).parent for place in seen]
    assert parents == [first, second], "battles are gone on with from the map that they were asked for on"
    found = recorded(Job.objects.for_forms().get(parent=second))
    battles = text(designer, reverse("agents:battles", args=["herobattle", found.pk]))
    assert at("map-agent", second, 4) in battles
    assert "Ada" not in battles
    designer.post(at("map-keep", second, 4), {"name": "Bea", "then": ""})
    ada, bea = Agent.objects.order_by("pk")
    assert ada.policy == bea.policy
    assert [(each.name, each.job) for each in (ada, bea)] == [("Ada", first), ("Bea", second)]
    assert [each.origin["job"] for each in (ada, bea)] == [f"Job {job.pk}: {job.title}" for job in (first, second)]


def test_the_card_of_a_kept_agent_says_how_far_its_measurement_is(team: Studio, designer: Client) -> None:
    job = bred(team.project)
    designer.post(at("map-keep", job, 4), {"name": "Ada", "then": ""})
    agent, under_way = Agent.objects.get(), "It is being measured; then its page has the file to download."
    again = 'action="' + reverse("agents:measure", args=["herobattle", agent.pk])
    for status, said, ended in (
        (Status.RUNNING, under_way, False),
        (Status.PAUSED, "Its measurement was paused, so there is no file to download yet. Let <a", False),
        (Status.STOPPED, "Its measurement was stopped, so there is no file to download yet. Have it measured", True),
        (Status.FAILED, "Its measurement has failed, so there is no file to download yet. Have it measured", True),
    ):
        Job.objects.filter(kind="measure").update(status=status)
        card = text(designer, at("map-agent", job, 4))
        assert said in card
        assert (under_way in card) == (status == Status.RUNNING)
        assert (again in text(designer, reverse("agents:agent", args=["herobattle", agent.pk]))) == ended
    agent.measurements.all().delete()
    assert "It has not been measured, so there is no file to download yet." in text(designer, at("map-agent", job, 4))


def test_an_agent_keeps_the_limits_that_it_learned_with(team: Studio, designer: Client) -> None:
    job = bred(team.project)
    job.config["task"]["game"]["limits"] = {"delay": 8, "apart": 8}
    job.save()
    designer.post(at("map-keep", job, 0), {"then": ""})
    agent = Agent.objects.get()
    study = load(agent.measurements.get().job.config)
    assert isinstance(study, MeasureConfig)
    assert study.agent.limits == LimitsConfig(delay=8, apart=8)
    assert study.game.limits is None, "they are the agent’s, not the game’s"
    shown = text(designer, reverse("agents:agent", args=["herobattle", agent.pk]))
    assert "It reacts 0.2 s after what it sees and does something else at most 5 times a second, wherever" in shown
    designer.post(at("map-watch", job), {"agent": ["0", "1"]})
    recording = load(Job.objects.for_forms().get().config)
    assert isinstance(recording, RecordConfig)
    assert [agent.limits for agent in recording.agents] == [LimitsConfig(delay=8, apart=8)] * 2  # type: ignore[union-attr]
    played = text(designer, reverse("agents:play", args=["herobattle", agent.pk]))
    assert '"delay": 8, "apart": 8' in played or '"delay":8,"apart":8' in played


def test_the_usual_name_says_near_which_end_an_agent_was_measured_and_not_to_which_it_was_drawn(team: Studio) -> None:
    job = search(team.project)
    agents = made_up([0.9, 0.1, 0.5, 0.5, 0.3], [0.96, 0.80, 0.51, 0.45, 0.20])
    drawn_to_calm = agents._replace(paths=("style.w2",), genes=np.full((5, 1), -0.4))
    for found in (agents, drawn_to_calm):
        names = [usual_name(job, found, row) for row in range(5)]
        assert names == ["Busy 0", "Busy 1", "Agent 2", "Calm 3", "Calm 4"]
    alike = made_up([0.9, 0.1], [0.5, 0.5])
    assert usual_name(job, alike, 0) == "Agent 0", "nobody is calmer than the others"


def test_the_usual_name_is_unlike_all_others(team: Studio, designer: Client) -> None:
    job = bred(team.project)
    found = agents_of(job)
    assert found is not None
    first = usual_name(job, found, 0)
    designer.post(at("map-keep", job, int(found.id[1])), {"name": first})
    assert usual_name(job, found, 0) == f"{first}, job {job.pk}"
    designer.post(at("map-keep", job, int(found.id[2])), {"name": f"{first}, job {job.pk}"})
    assert usual_name(job, found, 0) == f"{first}, job {job.pk}, 2"
    own = [{**goal, "formula": "score"} for goal in job.config["objectives"]]
    job.config = {**job.config, "objectives": own}
    assert usual_name(job, found, 0) == f"Agent {int(found.id[0])}", "formulas of one’s own have no ends with names"


def test_breeding_on_keeps_the_agent_and_opens_the_form_filled_in_with_its_search_and_it_as_the_start(
    team: Studio, designer: Client
) -> None:
    job = bred(team.project)
    answer = designer.post(at("map-keep", job, 4), {"then": "breed"}, follow=True)
    assert answer.request["PATH_INFO"] == reverse("styles:new", args=["herobattle"])
    agent = Agent.objects.get()
    assert re.fullmatch("(Busy|Calm|Agent) 4", agent.name), "the end of the scale that it is near, and its number"
    shown = html.unescape(answer.content.decode())
    assert f'<option value="{agent.pk}" selected>{agent.name}</option>' in shown
    typed = TrainDraft.objects.get().form
    assert typed["title"] == f"{agent.name}, bred on"
    TrainDraft.objects.all().delete()
    designer.post(reverse("styles:breed", args=["herobattle", agent.pk]))
    assert TrainDraft.objects.get().form == typed, "its own page breeds on from it just so"
    Agent.objects.update(job=None)
    designer.post(reverse("styles:breed", args=["herobattle", agent.pk]))
    assert TrainDraft.objects.get().form.items() >= {"game": "pong", "start": str(agent.pk)}.items()
    form = StyleForm(typed, project=team.project)
    assert form.is_valid() or set(form.errors) <= {"scale"}, form.errors
    assert form._data(form.cleaned_data)["start"] == agent.policy
    other = StyleForm({**typed, "game": "commanders"}, project=team.project)
    assert "plays another game" in str(other.errors.get("start"))


def test_agents_to_begin_with_are_listed_by_their_games(team: Studio, designer: Client) -> None:
    job = bred(team.project)
    for number in (4, 5):
        designer.post(at("map-keep", job, number), {"then": "", "name": f"Agent {number}"})
    first, second = Agent.objects.order_by("pk")
    listed = StyleForm({"game": "pong"}, project=team.project).fields["start"].choices
    pong, commanders = (title_of(name, team.project) for name in ("pong", "commanders"))
    assert listed[0] == ("", "New networks")
    ((game, both),) = listed[1:]
    assert (game, set(both)) == (pong, {(str(first.pk), "Agent 4"), (str(second.pk), "Agent 5")})
    Agent.objects.filter(pk=second.pk).update(game={"name": "commanders", "settings": {}})
    listed = StyleForm({"game": "pong"}, project=team.project).fields["start"].choices
    assert dict(listed[1:]) == {pong: [(str(first.pk), "Agent 4")], commanders: [(str(second.pk), "Agent 5")]}


def test_agents_with_equal_goals_that_nobody_beats_are_all_on_the_edge() -> None:
    goals = np.array([[1.0, 0.0], [0.5, 0.4], [1.0, 0.0], [0.0, 1.0], [0.4, 0.4], [0.5, 0.4]])
    assert _edge(goals, (1.0, 1.0)).tolist() == [True, True, True, True, False, True]


def test_nobody_breeds_on_from_an_agent_that_was_deleted(team: Studio, designer: Client) -> None:
    job = bred(team.project)
    designer.post(at("map-keep", job, 4), {"then": "breed", "name": "Calm one"})
    agent = Agent.objects.get()
    Agent.objects.update(deleted_at=timezone.now())
    page = html.unescape(designer.get(reverse("styles:new", args=["herobattle"])).content.decode())
    assert f'<option value="{agent.pk}" selected>Calm one (deleted)</option>' in page, "nor from the draft of before"
    form = StyleForm(TrainDraft.objects.get().form, project=team.project)
    assert form.errors["start"] == [
        "“Calm one” was deleted. Choose another agent or “New networks”, or put it back on the page of agents."
    ]
    TrainDraft.objects.all().delete()
    answer = designer.post(reverse("styles:breed", args=["herobattle", agent.pk]), follow=True)
    assert "“Calm one” was deleted: put it back, then breed on from it." in answer.content.decode()
    assert not TrainDraft.objects.exists()


@pytest.mark.parametrize("name", ["\u3164", "\u2800\u2800", "\U0010ffff"])
def test_an_agent_is_kept_by_a_name_that_one_can_see(team: Studio, designer: Client, name: str) -> None:
    job = bred(team.project)
    answer = designer.post(at("map-keep", job, 4), {"name": name}, follow=True)
    assert "Write something that one can see." in answer.content.decode()
    assert not Agent.objects.exists()


def test_who_keeps_an_agent_again_by_another_name_is_told_its_name(team: Studio, designer: Client) -> None:
    job = bred(team.project)
    first, same, other = (
        designer.post(at("map-keep", job, 4), {"name": name}, follow=True).content.decode()
        for name in ("Ada", " Ada ", "Bea")
    )
    assert "It was kept before, as “Ada”." in other
    assert "kept before" not in first + same


def test_a_search_bred_on_from_an_agent_begins_with_copies_of_it(team: Studio, designer: Client) -> None:
    job = bred(team.project)
    sampled(team.project, **job.config["task"]["game"]["settings"])
    designer.post(at("map-keep", job, 4), {"then": "breed"})
    typed = TrainDraft.objects.get().form
    answer = designer.post(reverse("styles:new", args=["herobattle"]), {**typed, "rounds": "1", "steps": "32"})
    assert answer.status_code == 302, html.unescape(answer.content.decode())
    begun = Job.objects.filter(kind="style").latest("pk")
    agent = Agent.objects.get()
    assert (begun.config["start"], begun.title) == (agent.policy, f"{agent.name}, bred on")
    *_, end = run(load({**begun.config, "pool": {"kind": "local"}}), store())
    assert isinstance(end, Finished), end
    start = Policy.stored(store(), agent.policy).weights
    near = [float(np.abs(policy.weights - start).mean()) for _, policy in apart(store().get(end.artifacts["policies"]))]
    far = [float(np.abs(policy.weights - start).mean()) for _, policy in apart(store().get(job.artifacts["policies"]))]
    assert max(near) < 0.02 < max(far), "new networks lie elsewhere"


def test_ticked_agents_are_recorded_side_by_side_and_nobody_or_too_many_are_refused_with_a_sentence(
    team: Studio, designer: Client
) -> None:
    job = bred(team.project)
    answer = designer.post(at("map-watch", job), {"agent": ["3", "0", "7"]})
    recording = Job.objects.for_forms().get()
    assert answer.headers["Location"] == reverse("agents:battles", args=["herobattle", recording.pk])
    study = load(recording.config)
    assert isinstance(study, RecordConfig)
    assert [agent.title for agent in study.agents] == ["Agent 3", "Agent 0", "Agent 7"]
    assert study.opponent is None, "this Pong brings its own player"
    wrong = (([], "Nobody is ticked"), (["0", "1", "2", "3", "4"], "4 play side by side"), (["999"], "not in this job"))
    for chosen, sentence in wrong:
        answer = designer.post(at("map-watch", job), {"agent": chosen}, follow=True)
        content = answer.content.decode()
        assert sentence in content
        ticked = re.findall(r'value="(\d+)" id="tick-\d+" aria-label="[^"]*" checked', content)
        assert sorted(ticked) == [each for each in chosen if each != "999"], "ticks are not lost"
    assert Job.objects.for_forms().count() == 1


def test_a_producer_reads_everything_and_takes_nothing_and_a_stranger_finds_nothing(team: Studio) -> None:
    job = bred(team.project)
    producer, stranger = signed_in(team.producer), signed_in(team.stranger)
    shown = page(producer, job)
    assert "Watch the ticked agents" not in shown
    assert 'type="checkbox"' not in shown
    assert "Designers, engineers and owners can" in text(producer, at("map-agent", job, 0))
    posts = (at("map-keep", job, 0), at("map-watch", job))
    assert [producer.post(address).status_code for address in posts] == [403, 403]
    reads = (at("map", job), at("map-agent", job, 0))
    assert [stranger.get(address).status_code for address in reads] == [404, 404]
    assert [stranger.post(address).status_code for address in posts] == [404, 404]
    assert Agent.objects.count() == 0


def test_an_agent_that_there_is_not_and_another_kind_of_job_are_not_found(team: Studio, designer: Client) -> None:
    job = bred(team.project, 1)
    assert designer.get(at("map-agent", job, 999)).status_code == 404
    Job.objects.filter(pk=job.pk).update(kind="evolve")
    assert designer.get(at("map", job)).status_code == 404


def test_a_program_may_begin_a_search_with_the_project_s_own_policies_only(team: Studio) -> None:
    job = bred(team.project)
    own = StylesConfig.model_validate({**job.config, "start": job.artifacts["policy_description"]})
    assert dict(StylesIntake().tried(own, team.project)).keys() <= {"task.style.style"}
    foreign = own.model_copy(update={"start": "0" * 64})
    assert dict(StylesIntake().tried(foreign, team.project)).keys() == {"start"}


def test_of_many_agents_the_table_has_a_page_and_the_picture_all(
    team: Studio, designer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(map_page, "ROWS", 5)
    job = bred(team.project)
    shown = page(designer, job, "?sort=moved&page=2&agent=3")
    assert "Page 2 of 4, 18 agents" in shown
    assert len(drawn(shown)["agents"]) == 18
    first = page(designer, job, "?sort=moved&agent=3")
    in_table = [int(number) for number in re.findall(r'<tr[^>]* data-agent="(\d+)"', first)]
    assert len(in_table) == 5
    assert in_table[0] == 3, "who is ticked stands first, on whatever page it would be"
    assert re.search(r'value="3" id="tick-3" aria-label="[^"]*" checked', first)
    moved = dict(zip(drawn(first)["agents"], drawn(first)["values"]["moved"]["mean"], strict=True))
    assert [moved[n] for n in in_table[1:]] == sorted((m for n, m in moved.items() if n != 3), reverse=True)[:4]
    picked = page(designer, job, "?pick=1&k=2&within=1&agent=3&page=99")
    assert "Page 4 of 4" in picked


def test_a_range_of_a_goal_of_ones_own_ends_where_its_formula_does(team: Studio, designer: Client) -> None:
    ends = {"score": (0.0, 1.0), "forward": (0.0, 1.0)}
    assert reach_of("score + forward", ends) == (0.0, 2.0)
    assert reach_of("score - 2 * forward / 4", ends) == (-0.5, 1.0)
    assert reach_of("-(score * (1 - forward))", ends) == (-1.0, 0.0)
    assert reach_of("score + paces", ends) == ANYWHERE
    assert reach_of("score / forward", ends) == ANYWHERE
    job = bred(team.project)
    axis = axes(job.config)["busy"]._replace(reach=(0.0, 2.0))
    agents = made_up([0.01, 0.9], [0.0, 1.0], half=0.5)
    cell = map_page.cell_of(agents, 0, axis)
    assert cell.ends == "0.00 to 0.51"


def test_a_goal_that_is_a_measure_alone_has_the_range_of_that_measure(team: Studio) -> None:
    job = bred(team.project)
    meta, arrays = unpack(store().get(job.artifacts["archive"]))
    said, n = {**meta, "objectives": ["score", "moved"]}, len(arrays["id"])
    wide = {"low": np.full((n, 2), -0.2), "high": np.full((n, 2), 1.2)}  # as if nobody knew between what they lie
    job.config["objectives"] = [{"measure": name, "direction": "max"} for name in said["objectives"]]
    agents = agents_in(Bundle(said, {**arrays, **wide}), job)
    assert agents is not None
    ends = arrays["measure"][:, meta["measures"].index("moved.high")]
    assert agents.measures["moved"].high.tolist() == ends.tolist()
    assert 0 <= agents.score.low.min() <= agents.score.high.max() <= 1, "the skill band goes by these"
    assert axes(job.config)["moved"].reach == (0, 1)


def test_it_is_said_when_ranges_are_too_wide_for_the_skill_band(team: Studio, designer: Client) -> None:
    job = bred(team.project)
    found = map_page.context(job, QueryDict("within=0"))["map"]
    assert found.wide == (found.able > found.close and (found.able == 18 or found.able >= 2 * found.close))
    assert ("By their mean scores alone" in page(designer, job, "?within=0")) == found.wide
    assert not found._replace(able=4, close=4).wide
    assert found._replace(able=18, close=2).wide


def test_a_network_that_the_mother_did_not_hand_on_is_not_called_hers(team: Studio, designer: Client) -> None:
    job = bred(team.project)
    child = next(iter(parents_of(job)))
    Job.objects.filter(pk=job.pk).update(config={**job.config, "networks": "single_point"})
    shown = text(designer, at("map-agent", job, child))
    assert "<dt>Bred from</dt>" in shown
    assert "whose network it went on with" not in shown


def test_a_range_of_values_without_declared_ends_is_not_called_one_of_95_percent(
    team: Studio, designer: Client
) -> None:
    job = bred(team.project)
    assert "Lines are 95 % ranges by 6 episodes." in page(designer, job).replace("\xa0", " ")
    goals = [{"measure": "mine", "formula": "score + moved", "direction": "max"}, *job.config["objectives"][1:]]
    own = axes({**job.config, "objectives": goals})
    assert [name for name, axis in own.items() if not axis.declared] == ["mine"]
    assert own["mine"].reach == (0.0, 2.0)
    won = axes({**job.config, "behaviour": ["win"]})["win"]
    assert won.title == "Wins (% of episodes, a draw as half)"
