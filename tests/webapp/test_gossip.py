"""Training side by side on the site: the form, what the API takes, and the page with curves and links."""

from __future__ import annotations

import csv
import io
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from engine.arrays import Bundle, pack
from engine.config.gossip import MOST, GossipConfig, Topology
from engine.rl.gossip import LINKS, neighbours
from engine.studies import load
from tests.contracts.asked_kind import AskedKindContract, form, page
from tests.engine.test_gossip_study import study
from tests.factories import Studio
from tests.webapp.recorded import recorded
from webapp.api import tokens
from webapp.gossip.asking import TOPOLOGIES, WAITS, GossipForm
from webapp.gossip.drawing import Circle
from webapp.gossip.parts import SideBySide, _curves
from webapp.lib.storage import store
from webapp.studies import actions, checks
from webapp.studies.journal import Entry, append
from webapp.studies.lines import BOTTOM, TAG, TOP
from webapp.studies.models import Job, Status
from webapp.training.learning import crowded

pytestmark = pytest.mark.django_db

CHOSEN = {"game": "pong", "agents": "6", "topology": "tree", "waits": "never", "steps": "200000", "rate": "0.001",
          "minutes": "30", "battles": "8", "fragment": "5", "trace": "1", "batch": "40", "seed": "7",
          "policy": "32 16"}  # fmt: skip


def played(team: Studio, staleness: int | None = 0, **more: Any) -> Job:
    """Four agents, ended."""
    return recorded(team, study(staleness=staleness, evaluate_every=0, **more), "Four of them")


class TestSideBySide(AskedKindContract):
    kind = "gossip"
    typed = CHOSEN
    least = {"game": "pong", "topology": "ring", "waits": "step"}
    title = "Side by side: Pong, numbers"
    becomes = {
        "agents": 6, "topology": "tree", "staleness": None, "steps": 200_000, "minutes": 30, "seed": 7,
        "learner.rate": 0.001, "learner.kind": "a3c", "learner.fragment": 5, "learner.trace": 1, "learner.batch": 40,
        "environments": 8, "checkpoint_every": 0,
        "learner.network.policy": [32, 16], "learner.network.critic": [32, 16],
    }  # fmt: skip
    usually = {"agents": 4, "steps": 5_000_000, "staleness": 0, "learner.batch": 512, "checkpoint_every": 384_000}
    wrong = (
        ({"agents": "1"}, "agents", f"from 2 to {checks.most_workers()}"),
        ({"steps": "10"}, "steps", "in their first update"),
        ({"game": "x"}, "game", ""),
        ({"game": "gymnasium", "gymnasium": "CartPole"}, "gymnasium", "with its version"),
        ({"minutes": "0"}, "minutes", "0.1"),
        ({"rate": "0"}, "rate", "more than 0"),
        ({"fragment": "0"}, "fragment", "from 1"),
        ({"behind": "3"}, "behind", "let them wait for neighbours they have long not heard from"),
        ({"critic": "9 9"}, "critic", "must begin with the policy"),
    )
    asks = {"game": "pong"}
    refused = (
        ({"learner": {"kind": "a3c", "rewards": {"gold": {"weight": 2}}}}, "config.learner.rewards.gold"),
        ({"game": "pong-two-seats"}, "config.game.name"),
        ({"game": "command:rm -rf"}, "config.game.name"),
        ({"agents": 1}, "config.agents"),
        ({"agents": 4 * settings.CPUS + 1}, "config.agents"),
        ({"ordered": False}, "config.staleness"),
        ({"start": "e" * 64}, "config.start"),
    )
    games = ("pong", "maze", "gym:CartPole-v1", "gymnasium", "atari")
    not_games = ("pong-two-seats", "connect-four")

    def played(self, team: Studio) -> Job:
        return played(team)


def test_a_page_tells_how_well_they_play_who_takes_over_and_how_far_apart_they_are(
    team: Studio, designer: Client
) -> None:
    job = played(team)
    content = designer.get(page(job)).content.decode()
    for told in ("4 of 4 rounds", "How well they play", "Who takes over from whom", "They wait for each other",
                 "of their size. They take over enough", "the average of all agents had a return of"):  # fmt: skip
        assert told in content, told
    assert content.count("marker-end") == 4
    assert dict(designer.get(page(job)).context["specialist"])["β of the topology"] == "0.707", "cos(π/4) of a ring"
    named = [content.index(f">Agent {i}<") for i in range(1, 5)]
    assert named == sorted(named), "in the table of the curves, too, agents stand in their order"
    free = designer.get(page(played(team, staleness=None))).content.decode()
    assert "so nothing says how far they can be apart" in free
    answer = designer.get(reverse("studies:results", args=[team.project.slug, job.pk]))
    links = [["4", "1"], ["1", "2"], ["2", "3"], ["3", "4"]]
    rows = list(csv.reader(io.StringIO(answer.content.decode())))
    assert rows == [["sender", "taker", "age", "behind"], *([*link, "0", "0"] for link in links)]


def test_an_agent_that_is_kept_says_that_it_is_the_average_of_all(team: Studio, designer: Client) -> None:
    job = played(team)
    keep = reverse("agents:keep", args=[team.project.slug, job.pk])
    content = designer.post(keep, {"chooses": "best"}, follow=True).content.decode()
    assert "A3C, the average of 4 agents" in content
    assert "Only a search for styles of play keeps every agent that it trains" in content


@pytest.mark.parametrize(("agents", "tagged"), [(4, 4), (8, 8), (9, 0)])
def test_the_curve_of_each_agent_ends_with_its_number_and_no_number_covers_another(agents: int, tagged: int) -> None:
    columns: dict[str, list[float | None]] = {"steps": [0.0, 100.0], "return": [0.0, 1.0]}
    chart = _curves(columns | {f"agent-{i + 1}/return": [0.0, 1 - 0.001 * i] for i in range(agents)})
    assert sorted(tag.text for tag in chart.tags) == [str(i + 1) for i in range(tagged)]
    heights = [tag.y for tag in chart.tags]
    assert all(below - above >= TAG for above, below in pairwise(heights))
    assert all(TOP <= y <= BOTTOM for y in heights)
    assert [tag.text for tag in chart.tags] == sorted(tag.text for tag in chart.tags), "the best is on top"


def test_each_agent_has_its_own_shape_along_its_line_and_its_name_above_the_chart(
    team: Studio, designer: Client
) -> None:
    rounds: list[float | None] = [1.0 * i for i in range(20)]
    columns: dict[str, list[float | None]] = {"steps": rounds, "return": rounds}
    chart = _curves(columns | {f"agent-{i}/return": rounds for i in range(1, 10)})
    assert [line.shape for line in chart.apart] == [1, 2, 3, 4, 5, 6, 7, 8, 0]
    spots = [spot for line in chart.apart[:4] for spot in line.spots]
    assert len(spots) == len({*spots}) == 20, "where all lines are one, four shapes do not cover each other"
    assert chart.keys == {"first": "all agents"}
    content = designer.get(page(played(team))).content.decode()
    assert re.findall(r'<button type="button" class="lines-name[^>]* data-line="(Agent \d)"', content) == [
        f"Agent {i}" for i in range(1, 5)
    ]


def test_how_far_apart_they_are_is_told_as_a_share_of_the_weights(team: Studio, designer: Client) -> None:
    job = played(team)
    metrics = {"distance": 0.0482, "distance_bound": 0.1, "size": 20.0, "evaluation_return": 3.5}
    metrics |= {"evaluation_return_low": 3.0, "evaluation_return_high": 4.0}
    counters = {"steps": 99, "seconds": 9.0}
    body = {"counters": counters, "metrics": metrics}
    append(job, {}, [Entry("progressed", body, 5)], tick=5, metrics=metrics, counters=counters)
    content = designer.get(page(job)).content.decode()
    assert "had a return of 3.5 (95\N{NO-BREAK SPACE}% range 3 to 4) after 99 decisions" in content
    assert "apart by <b>0.241\N{NO-BREAK SPACE}%</b> of their size" in content
    assert [chart.levels[0][0] for chart in [designer.get(page(job)).context["apart"]]] == ["0\N{NO-BREAK SPACE}%"]
    assert "that it can be 0.5\N{NO-BREAK SPACE}% at most" in content


@pytest.mark.parametrize(("agents", "topology"), [(2, "ring"), (4, "full")])
def test_of_agents_that_are_always_alike_no_distance_is_drawn(
    team: Studio, designer: Client, agents: int, topology: str
) -> None:
    content = designer.get(page(played(team, agents=agents, topology=topology))).content.decode()
    assert "They are always alike" in content
    assert "Distance, as a share" not in content
    assert "of their time waiting for each other" in content


def told(job: Job, tick: int, metrics: dict[str, float]) -> None:
    """A round of a job that is under way."""
    counters = {"steps": 1000.0 * tick, "seconds": 9.0}
    body = {"counters": counters, "metrics": {"distance": 1.0, "size": 20.0, **metrics}}
    append(job, {}, [Entry("progressed", body, tick)], tick=tick, metrics=body["metrics"], counters=counters)


def test_a_score_never_gets_the_range_of_another_evaluation(team: Studio, designer: Client) -> None:
    """Of the last evaluation no range is known: the page says why, instead of showing that of the one before."""
    game = {"name": "pong", "settings": {"rewards": ["score", "hit"]}}
    job = actions.submit(team.project, team.designer, study(game=game), title="Two evaluations")
    told(job, 1, {"evaluation_return": 2.5, "evaluation_return_low": 2.0, "evaluation_return_high": 3.0})
    content = designer.get(page(job)).content.decode()
    assert "had a return of 2.5 (range 2 to 3) after 1,000 decisions" in content
    assert "holds only if no episode goes far beyond" in content
    told(job, 2, {"evaluation_return": 9.5})
    content = designer.get(page(job)).content.decode()
    assert "had a return of 9.5 after 2,000 decisions" in content
    assert "2 to 3" not in content
    assert "No range is known: there were fewer than seven episodes, or many gave the very same return" in content


def test_an_average_agent_that_never_moves_on_fresh_episodes_is_said_to_stand_still(
    team: Studio, designer: Client
) -> None:
    said = "In these episodes it never moved: such a return is what standing still brings."
    job = actions.submit(team.project, team.designer, study(), title="Still")
    told(job, 1, {"evaluation_return": -11.0, "evaluation_moved": 0.0})
    assert said in designer.get(page(job)).content.decode()
    told(job, 2, {"evaluation_return": -9.0, "evaluation_moved": 0.02})
    assert said not in designer.get(page(job)).content.decode()
    told(job, 3, {"evaluation_return": -9.0})
    assert said not in designer.get(page(job)).content.decode(), "of this evaluation nobody tells it"
    other = actions.submit(team.project, team.designer, study(game="gym:Pendulum-v1"), title="Another")
    told(other, 1, {"evaluation_return": -900.0, "evaluation_moved": 0.0})
    assert said not in designer.get(page(other)).content.decode(), "this game may mean something else by it"


def test_a_range_is_of_95_percent_where_the_game_says_how_far_returns_go(team: Studio, designer: Client) -> None:
    job = actions.submit(team.project, team.designer, study(game="gym:Pendulum-v1"), title="Declared")
    told(job, 1, {"evaluation_return": -900.0, "evaluation_return_low": -1200.0, "evaluation_return_high": -700.0})
    content = designer.get(page(job)).content.decode()
    assert "had a return of −900 (95\N{NO-BREAK SPACE}% range −1,200 to −700)" in content
    assert "Nobody says how far" not in content


@pytest.mark.parametrize(
    ("game", "longest"),
    [({"game": "gym:CartPole-v1"}, 500), ({"game": "gymnasium", "gymnasium": "Pendulum-v1"}, 200),
     ({"game": "atari", "atari": "breakout"}, 0)],
)  # fmt: skip
def test_in_step_rounds_are_so_long_that_the_longest_episode_of_the_game_can_end(
    team: Studio, game: dict[str, str], longest: int
) -> None:
    typed = {"topology": "ring", "waits": "step", "steps": "1000000"}
    asked = GossipForm({**typed, **game}, project=team.project, kind="gossip")
    assert asked.is_valid(), asked.errors
    config = load(asked.table() | {"kind": "gossip"}, new=True)
    assert isinstance(config, GossipConfig)
    assert config.of_a_battle >= longest
    assert (SideBySide().short(config) == "") == (longest > 0), "27,000 decisions of Atari do not fit in"


def test_before_the_start_the_form_and_the_api_say_that_no_episode_can_end_within_a_round(
    team: Studio, designer: Client
) -> None:
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
    jobs, notes = f"/api/v1/projects/{team.project.slug}/jobs", []
    for more in {}, {"staleness": None}, {"checkpoint_every": 50_000}:
        body = {"kind": "gossip", "config": {"game": "gym:Pendulum-v1", "steps": 100_000, "agents": 2, **more}}
        assert client.post(jobs, body, content_type="application/json").status_code == 201
        notes.append(client.get(f"{jobs}/{Job.objects.latest('pk').pk}").json()["notes"])
    (said,) = [note for note in notes[0] if "episode" in note]
    assert "an episode of this game can last 200" in said
    for way in ("training be longer", "fewer battles", "not wait for each other"):
        assert way in said
    assert not any("episode" in note for note in [*notes[1], *notes[2]]), "battles go on, or rounds are long enough"
    typed = {"game": "gym:CartPole-v1", "topology": "ring", "waits": "step", "steps": "20000"}
    before = designer.post(f"{form(team, 'gossip')}before/", typed).content.decode()
    assert "an episode of this game can last 500" in before


def test_a_page_tells_how_much_was_cut_off_at_the_end_of_a_round_and_what_to_do_where_that_is_much(
    team: Studio, designer: Client
) -> None:
    job = actions.submit(team.project, team.designer, study(), title="Cut off")
    for tick, share, said, advised in (
        (1, 0.04, "4\N{NO-BREAK SPACE}% of the decisions of the last round", False),
        (2, 0.38, "38\N{NO-BREAK SPACE}% of the decisions of the last round", True),
        (3, 0.0, "", False),
    ):
        told(job, tick, {"return": 1.0, "cut_off": share})
        content = designer.get(page(job)).content.decode()
        assert (said or "How well they play") in content
        assert ("its end cut off" in content) == bool(share)
        assert ("fewer battles be played together" in content) == advised


@pytest.mark.parametrize(
    ("rest", "staleness", "ordered"),
    [
        ({"waits": "step"}, 0, True), ({"waits": "some"}, 10, True), ({"waits": "some", "behind": "3"}, 3, True),
        ({"waits": "never"}, None, True), ({"waits": "repeated"}, None, False),
    ],
)  # fmt: skip
def test_every_order_can_be_typed_and_is_typed_again(
    team: Studio, rest: dict[str, str], staleness: int | None, ordered: bool
) -> None:
    typed = GossipForm({"game": "pong", "topology": "ring", **rest}, project=team.project, kind="gossip")
    assert typed.is_valid(), typed.errors
    config = load(typed.table() | {"kind": "gossip"}, new=True)
    assert isinstance(config, GossipConfig)
    assert (config.staleness, config.ordered) == (staleness, ordered)
    again = GossipForm.typed_of(Job(project=team.project, config=config.model_dump(mode="json")))
    assert (again["waits"], again["behind"] or 10) == (rest["waits"], staleness or 10)


def test_run_again_names_every_setting_that_its_form_would_change(team: Studio, designer: Client) -> None:
    """What the API set, and the form has no field for, would be lost without a word."""
    asked = load({"kind": "gossip", "game": "pong", "agents": 2, "steps": 1_000_000, "evaluate_every": 2}, new=True)
    job = actions.submit(team.project, team.designer, asked, title="By the API")
    said = designer.post(reverse("studies:again", args=[team.project.slug, job.pk]), follow=True).content.decode()
    for named in ("which change", "Decisions in a round (was 0, here 125,000)"):
        assert named in said, named
    designer.post(form(team, "gossip"), CHOSEN)
    own = Job.objects.filter(kind="gossip").latest("pk")
    said = designer.post(reverse("studies:again", args=[team.project.slug, own.pk]), follow=True).content.decode()
    assert "which change" not in said


def test_run_again_leaves_empty_what_was_as_usual(team: Studio, designer: Client) -> None:
    """So that it stays as usual for another game."""
    for typed, given in (
        ({}, {}),
        ({"policy": "32 16", "seed": "7"}, {"policy": "32 16", "critic": "32 16", "seed": "7"}),
    ):
        designer.post(form(team, "gossip"), {"game": "pong", "topology": "ring", "waits": "some", **typed})
        job = Job.objects.filter(kind="gossip").latest("pk")
        answer = designer.post(reverse("studies:again", args=[team.project.slug, job.pk]), follow=True)
        shown = {name: value for name, value in answer.context["form"].initial.items() if value}
        assert (
            shown
            == {"title": "Side by side: Pong, numbers", "game": "pong", "topology": "ring", "waits": "some"} | given
        )


def test_a_program_that_starts_more_agents_than_processors_is_told_what_that_costs(team: Studio) -> None:
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
    for agents in (max(2, settings.CPUS), 2 * settings.CPUS):
        body = {"kind": "gossip", "config": {"game": "pong", "agents": agents, "staleness": None}}
        jobs = f"/api/v1/projects/{team.project.slug}/jobs"
        assert client.post(jobs, body, content_type="application/json").status_code == 201
        notes = client.get(f"{jobs}/{Job.objects.latest('pk').pk}").json()["notes"]
        said = crowded(agents, "agent")
        assert notes == ([said] if said else []), notes
    assert "as long as with a processor for each" in said


def test_the_form_shows_what_is_usual_and_names_no_number_that_may_be_another(team: Studio, designer: Client) -> None:
    typed = designer.get(form(team, "gossip")).context["form"]
    empty = [
        typed.fields[name].widget.attrs["placeholder"]
        for name in ("fragment", "trace", "batch", "rate", "policy", "critic")
    ]
    assert empty == ["as usual for the game"] * 6
    assert "10" not in WAITS["some"][0]
    most = min(MOST, checks.most_workers())
    assert typed.fields["agents"].help_text.endswith(
        f"has {settings.CPUS}: beyond that, more agents make it no faster, and it starts {most} at most."
    )
    assert typed.fields["agents"].span.high == most


@pytest.mark.parametrize("staleness", [0, 3, None])
def test_only_where_agents_wait_at_each_update_a_page_explains_a_bound(
    staleness: int | None, team: Studio, designer: Client
) -> None:
    content = designer.get(page(played(team, staleness))).content.decode()
    assert "The distance is ‖X − X̄‖" in content
    assert ("Its bound is ε" in content) == (staleness == 0)


def test_a_page_says_why_there_are_more_decisions_than_were_asked_for(team: Studio, designer: Client) -> None:
    job = played(team)
    said = "decisions were asked for. Each update is learned whole, so there are more."
    free = played(team, None)
    Job.objects.filter(pk=free.pk).update(counters={**free.counters, "steps": free.config["steps"] + 500})
    assert "Agents that nobody waits for go on until each has told" in designer.get(page(free)).content.decode()
    assert said not in designer.get(page(job)).content.decode()
    Job.objects.filter(pk=job.pk).update(counters={**job.counters, "steps": job.config["steps"] + 1})
    assert said in designer.get(page(job)).content.decode()


def test_a_page_that_has_no_round_yet_says_so(team: Studio, designer: Client) -> None:
    job = actions.submit(team.project, team.designer, study(pool={"kind": "ray"}, agents=64, steps=10**6), title="Many")
    content = designer.get(page(job)).content.decode()
    assert content.count("The first round is not complete yet") == 3
    assert "64 agents share" in content
    Job.objects.filter(pk=job.pk).update(status=Status.STOPPED, finished_at=timezone.now())
    content = designer.get(page(job)).content.decode()
    assert "64 agents share" not in content, "what ended has nothing to expect"
    assert content.count("It ended before its first round was complete") == 3
    assert "appear here" not in content


@pytest.mark.parametrize("topology", LINKS)
@pytest.mark.parametrize("agents", [2, 4, 7])
def test_arrows_of_a_two_way_exchange_and_their_ages_lie_beside_each_other(topology: Topology, agents: int) -> None:
    pairs = [(i, j) for i, each in enumerate(neighbours(topology, agents)) for j in each]
    taker, sender = np.array(pairs).T
    arrows = Circle(agents, Bundle({}, {"taker": taker, "sender": sender, "age": taker + 1, "behind": taker})).arrows
    by_ends = {(arrow.sender, arrow.taker): arrow for arrow in arrows}
    for a in arrows:
        if back := by_ends.get((a.taker, a.sender)):
            along = np.array([a.x2 - a.x1, a.y2 - a.y1])
            across = np.array([back.x1 - a.x1, back.y1 - a.y1]) @ [-along[1], along[0]] / np.hypot(*along)
            assert abs(across) > 6, "more than an arrow's width"
            assert np.hypot(a.label[0] - back.label[0], a.label[1] - back.label[1]) > 12, "more than a number's height"


def test_every_topology_has_words_and_arrows_end_at_its_agents() -> None:
    assert TOPOLOGIES.keys() == LINKS.keys()
    pairs = [(i, j) for i, each in enumerate(neighbours("tree", 7)) for j in each]
    taker, sender = np.array(pairs).T
    links = Bundle({}, {"taker": taker, "sender": sender, "age": np.arange(len(pairs)), "behind": taker * 0})
    circle = Circle(7, links)
    assert len(circle.arrows) == 12
    assert len(circle.late) == 11
    assert not circle.drawn[0].late
    for arrow in circle.arrows:
        end = circle.dots[arrow.taker - 1]
        assert np.hypot(arrow.x2 - end.x, arrow.y2 - end.y) < 20


def test_how_old_what_they_take_over_is_is_told_where_they_do_not_wait(team: Studio, designer: Client) -> None:
    job = played(team, staleness=None)
    columns = {"taker": [0, 1, 2, 3], "sender": [3, 0, 1, 2], "age": [0, 2, 0, 0], "behind": [7, 0, 0, -3]}
    links = pack({"topology": "ring"}, {name: np.array(column) for name, column in columns.items()})
    table = store().put(links)
    Job.objects.filter(pk=job.pk).update(artifacts=job.artifacts | {"table": table})
    content = designer.get(page(job)).content.decode()
    assert "What was taken over last was up to 7 updates behind the agent that took it." in content
    assert "Updates behind</th>" in content
    assert "−3</td>" in content
    waiting = designer.get(page(played(team))).content.decode()
    assert "behind the agent that took it" not in waiting
    assert "Updates behind" not in waiting
