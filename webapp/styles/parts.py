"""The pages of searches for styles of play, and of sample episodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.agents.models import Agent
from webapp.lib.words import number
from webapp.studies.job_page import worker_words
from webapp.studies.kinds import BestCandidate, Found, Parts
from webapp.studies.models import TERMINAL, Job, Status
from webapp.studies.setting_fields import is_range, range_text
from webapp.styles import control, course, evidence, map_page, two_counts, typed
from webapp.styles.corner import corner as corner_of
from webapp.styles.learned import learned_by
from webapp.styles.map_agents import SCORE
from webapp.styles.map_words import MeasureAxis, axes
from webapp.styles.starting import StylesIntake, StyleStart
from webapp.styles.stayed import stayed
from webapp.styles.ties import tied
from webapp.training import beginnings, games, hands
from webapp.training.goals import title_of
from webapp.training.learned import leader, whole_batches
from webapp.training.methods import ALGORITHMS
from webapp.training.models import TrainDraft
from webapp.training.parts import SettingsSearches

SELECTED = "NSGA-II: agents stay that no other beats in every goal"
UNSELECTED = "off: parents and survivors are drawn at random, and every agent has new weights"


class StyleSearches(SettingsSearches):
    """Searches for styles of play, whose candidates are agents."""

    start = StyleStart
    intake = StylesIntake()
    files: ClassVar[Mapping[str, str]] = {"policy.zip": "policy"}
    gives = "best agent"
    picks = True
    trial = "Trial of styles"
    draft = TrainDraft.Page.STYLE
    comparing = None

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """How far it is, what it shows, and the map of styles as it grows."""
        own = {**_proved(job), **_went(job), "ended": job.status in TERMINAL,
               "now": course.now(job), "specialist": _specialist(job),
               "whole": whole_batches(job.config["task"], "an agent")}  # fmt: skip
        below = map_page.context(job, request.GET)
        if own["mine"] is not None and below["map"] is not None:
            own["two_counts"] = two_counts.why(own["mine"], own["compared"].fresh, below["map"])
        return render(request, "styles/job.html", context | own | below)

    def typed(self, job: Job) -> dict[str, Any]:
        """As the page of styles has them."""
        return typed.values_of(job, job.project)

    def best(self, job: Job) -> BestCandidate | None:
        """The agent that scored best of those that stayed; earlier versions left the best by the first goal."""
        number, found = leader(job), evidence.best_of(job)
        if number is None:
            return None
        words = f"It is agent {number} of the map: of those that stayed after the last round, it scored best then."
        if found is not None and found.agent != number:
            goal = title_of(job.config["objectives"][0]["measure"])
            words = f"It is agent {number} of the map: nobody is better by the first goal, “{goal}”."
        return BestCandidate(f"Agent {number}", words, learned_by(job, number))

    def found(self, job: Job) -> Found | None:
        """How far apart its agents lie, and how many of them play nearly as well as the best."""
        agents = evidence.compared(job, None).mine if job.status in (Status.FINISHED, Status.STOPPED) else None
        if agents is None or not agents.spreads:
            return None
        first = agents.spreads[0]
        count = f"{evidence.nearly_best(job, agents)} of the {len(agents.score)} that stayed"
        plays = "win a share of episodes" if agents.by == "win" else "score"
        many = f"{count} {plays} within {evidence.SKILLED:g} of the best"
        way = _way(job)
        return Found(f"{way.title}: {way.text(first.low)} to {way.text(first.high)}; {many}")


def _proved(job: Job) -> dict[str, Any]:
    """What says whether the styles differ: the agents that stayed, beside those of the control."""
    run = control.of(job)
    compared, corner = evidence.compared(job, run), corner_of(job, run or _searched(job))
    return {
        "mine": evidence.compared(job, None).mine,
        "best": evidence.best_of(job),
        "weak": evidence.weak(job),
        "run": run,
        "compared": compared,
        "incomparable": evidence.incomparable(job, run),
        "corner": corner,
        "sides": evidence.sides(compared, job, run, corner),
        "stayed": stayed(compared.mine, compared.control, _way(job), axes(job.config)[SCORE]),
        "tied": tied(job),
        "selects": job.config["selection"],
        "chose": control.chose(job),
        "all_stay": control.ALL_STAY,
        "goals": [title_of(goal["measure"]) for goal in job.config["objectives"]],
    }


def _searched(job: Job) -> Job | None:
    """The search whose control a job is."""
    return None if job.config["selection"] or job.parent is None or job.parent.kind != job.kind else job.parent


def _went(job: Job) -> dict[str, Any]:
    """How it went, round by round."""
    rounds = course.rounds(job)
    return {
        "game": games.title_of(job.config["task"]["game"]["name"], job.project),
        "rounds": rounds,
        "scores": course.chart(rounds, "best", "typical"),
        "spread": course.chart(rounds, "high", "low"),
        "way": _way(job),
    }


def _way(job: Job) -> MeasureAxis:
    """What its agents are told apart by first, as its map of styles has it."""
    return axes(job.config)[job.config["behaviour"][0]]


def _specialist(job: Job) -> list[tuple[str, Any]]:
    """Technical words, for the details."""
    config, task = job.config, job.config["task"]
    style, steps = task["style"], task["steps"]
    goals = "; ".join(f"{goal['measure']}: {goal.get('formula') or goal['measure']}" for goal in config["objectives"])
    return [
        ("Game", games.title_of(task["game"]["name"], job.project)),
        ("First agents", _first_agents(job)),
        ("Winning", style["winning"]),
        ("Style", style["style"]),
        ("w1", _weight(style["w1"])),
        ("w2", _weight(style["w2"])),
        ("Goals", goals),
        ("Told apart by", ", ".join(config["behaviour"])),
        ("Algorithm", ALGORITHMS[task["learner"]["kind"]].title),
        ("Selection", SELECTED if config["selection"] else UNSELECTED),
        ("Agents", number(config["algorithm"]["population"])),
        ("Limits of agents", hands.words(task["game"]) or "none"),
        ("Decisions an agent, each round", range_text(steps) if is_range(steps) else number(steps)),
        ("Episodes that measure an agent", number(config["episodes"])),
        ("Seed", config["seed"]),
        ("Workers", worker_words(config["pool"])),
        ("Attempt", job.attempt),
        ("Settings", job.config_hash[:12]),
    ]


def _first_agents(job: Job) -> str:
    """What its first agents begin with."""
    if not job.config["start"]:
        return "new networks"
    agent: Agent | None = beginnings.agent_of(job.config, job.project)
    called = f"“{agent.name}”" if agent else "an agent that is not kept any more"
    deleted = ", which was deleted" if agent and agent.deleted_at else ""
    return f"copies of {called}{deleted}, each changed a little"


def _weight(value: Any) -> str:
    return range_text(value) if is_range(value) else f"{value:g}"


class SampleEpisodes(Parts):
    """Sample episodes, on which formulas are tried before anything is trained."""

    intake = None
    own_page = True
    plays = "episode"
    trial = "Sample episodes"
    trial_words = "played sample episodes, for the form of styles"
