"""Keeping an agent of a job that has ended, and measuring it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.db import transaction

from engine.catalog import LEARNERS, PLAYERS, built_in
from engine.config import parse
from engine.config.agents import MeasureConfig, OriginConfig
from engine.config.roster import in_words
from engine.errors import ConfigError, StoreError
from engine.styles.strangers import strangers_of
from webapp.accounts.models import User
from webapp.agents import data, edits
from webapp.agents.left import LOST, one_left
from webapp.agents.models import NAME, Agent, Measurement
from webapp.games.models import GameVersion
from webapp.games.simulators import obstacle, registration
from webapp.lib.names import wrong_name
from webapp.lib.storage import store
from webapp.lib.text import NOTHING_TO_SEE, as_one_line
from webapp.projects.models import Project
from webapp.studies import actions, kinds
from webapp.studies.models import Job
from webapp.training import cut_off, games
from webapp.training.entrants import ROLE, game_of, limits_of, script_plays

ALONE = ("gym:", "ale:")
"""How the names of games for one begin."""
EPISODES = (200, 500, 1_000, 2_000, 5_000, 10_000)
"""Episodes that a measurement may have; the first is usual."""
ANYTHING = "random"
"""The script that plays every game."""


def keep(job: Job, user: User, of: str, name: str, sampled: bool) -> Agent:
    """The agent, which is measured from now on; the one that was kept before, put back where it was deleted. Raises
    Refused with a sentence, and NameTaken."""
    left = one_left(job, of, sampled)
    best = None if of else kinds.of(job).best(job)
    called = name.strip() or edits.free_name(job.project, edits.numbered(usual_name(job, of, best)))
    origin = _origin(job, of) | ({} if best is None else {"steps": best.learned})
    origin |= {} if left.number is None else {"steps": cut_off.learned_by(job, left.number)}
    return _keep_policy(job, user, left.policy, name=called, seat=_seat(job, of), origin=origin, sampled=sampled)


def keep_one_of(job: Job, user: User, policy: str, name: str, own: dict[str, Any]) -> Agent:
    """As ``keep``, one of all agents that a job has trained, whether or not the job has ended: it takes the likeliest
    action. ``own``: what it has of its own in its origin, such as the decisions that its network has learned from."""
    return _keep_policy(job, user, policy, name=name, seat=0, origin={**_origin(job), **own}, sampled=False)


def _keep_policy(
    job: Job, user: User, policy: str, *, name: str, seat: int, origin: dict[str, Any], sampled: bool
) -> Agent:
    """The agent with this policy of a job; where it was deleted, it is put back. Raises Refused where its numbers are
    lost, or nothing can have its name; NameTaken where another agent has it."""
    name = as_one_line(name).strip()
    if why := wrong_name(name, NAME) or ("" if name else NOTHING_TO_SEE):
        raise actions.Refused(why)
    own = {"job": job, "tensors": _tensors(policy), "game": game(job) | limits_of(job), "seat": seat, "origin": origin,
           "name": name, "created_by": user}  # fmt: skip
    with transaction.atomic():
        edits.lock(job.project)
        agent = Agent.objects.filter(job=job, policy=policy, sampled=sampled).first()
        if agent is not None:
            agent.name = edits.put_back(agent)
            return agent
        edits.judge_name(job.project, name)
        agent = Agent.objects.create(project=job.project, policy=policy, sampled=sampled, **own)
        measure(agent, user)
    return agent


def _tensors(policy: str) -> str:
    try:
        return str(json.loads(store().get(policy))["sha256"])
    except (StoreError, KeyError, TypeError, ValueError) as error:
        raise actions.Refused(LOST) from error


def usual_name(job: Job, of: str, best: kinds.BestCandidate | None) -> str:
    """What an agent of a job is called where nobody says otherwise; ``best``: who it is among many."""
    return name_of(job, in_words(of) or (best.name.lower() if best else ""))


def name_of(job: Job, which: str) -> str:
    """What one of a job's agents is called: by the job, and by what it is called there (empty: nothing)."""
    return f"{job.title[: NAME - len(which) - 2]}: {which}" if which else job.title[:NAME]


def game(job: Job) -> dict[str, Any]:
    """The game that a job's policies were trained in, as studies have it."""
    task = job.config.get("task") or job.config
    settings = {k: v for k, v in task["game"].get("settings", {}).items() if not _is_range(v)}
    return {"name": game_of(job), "settings": settings}


def _is_range(value: Any) -> bool:
    """Of a search for settings; the game's own is taken instead."""
    return isinstance(value, list) and len(value) > 1 and not isinstance(value[0], str)


def _seat(job: Job, of: str) -> int:
    seats = job.config.get("policies", {}).get(of, {}).get("seats") or [0]
    return int(seats[0])


def learned_by(policy: str, project: Project) -> int:
    """Decisions that one of a project's policies has learned from, also before its own job; 0 where nobody knows."""
    if (agent := project.agents.filter(policy=policy).first()) is not None:
        return int(agent.origin.get("steps", 0))
    for pk, artifacts in project.jobs.exclude(artifacts={}).values_list("pk", "artifacts"):
        roles = [role.partition("/") for role, digest in artifacts.items() if digest == policy]
        if named := [of for role, _, of in roles if role == ROLE]:
            job = project.jobs.get(pk=pk)
            best = kinds.of(job).best(job)
            return _learned(job, named[0]) if best is None else best.learned
    return 0


def _origin(job: Job, of: str = "") -> dict[str, Any]:
    task = job.config.get("task") or job.config
    own = job.config.get("roster", {}).get(of.partition("@")[0], {}).get("learner")
    learner = LEARNERS.get((own or task["learner"])["kind"])
    learned = filter(None, (learner.label if learner else "", kinds.of(job).made_of(job)))
    origin = {
        "job": f"Job {job.pk}: {job.title}"[:120], "data": str(job.game_version or "")[:120],
        "steps": _learned(job, of), "seed": int(job.config["seed"]), "learner": ", ".join(learned),
    }  # fmt: skip
    return OriginConfig(**origin).model_dump(mode="json")


def _learned(job: Job, of: str) -> int:
    """Decisions of a training, and of what one of its policies began with; 0 where nobody knows, as in a search, which
    counts those of all its candidates."""
    given = job.config.get("steps")
    own = 0 if "task" in job.config else int(job.counters.get("steps", given if isinstance(given, int) else 0))
    if (record := kinds.of(job).agent_records(job).get(of)) is not None:
        own = record.learned
    start = _start(job.config, of)
    before = learned_by(start, job.project) if start else 0
    return own + before if before or not start else 0


def _start(config: dict[str, Any], of: str) -> str:
    """The policy that one of a job's own began with; empty: none."""
    policies, name = config.get("policies") or config.get("roster") or {}, of.partition("@")[0]
    return str(policies.get(name, {}).get("start") or ("" if policies else config.get("start") or ""))


def measure(agent: Agent, user: User | None, episodes: int = EPISODES[0]) -> Job:
    """A job that measures it on so many fresh episodes, or the one that has begun and not ended. Raises Refused where
    its game cannot be played now."""
    if why := unplayable(agent.game["name"], agent.project):
        raise actions.Refused(why)
    with transaction.atomic():
        edits.lock(agent.project)  # of two clicks at once, the second finds what the first began
        measurements = Measurement.objects.filter(agent=agent).order_by("-pk")
        last = measurements.select_related("job").first()
        if last is not None and not last.job.terminal:
            return last.job
        version = data.version_of(agent.game["name"], agent.project)
        config = _measurement(agent, version, episodes, before=measurements.count())
        job = actions.submit(agent.project, user, config, title=config.name, template="measure", parent=agent.job,
                             game_version=version)  # fmt: skip
        Measurement.objects.create(agent=agent, job=job)
    return job


def _measurement(agent: Agent, version: GameVersion | None, episodes: int, before: int) -> MeasureConfig:
    """Its seed is made of the agent and of how often it was measured ``before``. Raises Refused."""
    seed = int.from_bytes(hashlib.sha256(f"measurement {before} of {agent.policy}".encode()).digest()[:6])
    try:
        return parse(MeasureConfig, {
            "name": f"Measurement: {agent.name}"[:120], "seed": seed, "game": data.on(agent.played, version),
            "seat": agent.seat, "agent": agent.config.model_dump(),
            "opponent": usual_opponent(agent.game["name"]), "origin": agent.origin, "episodes": episodes,
            "data": str(version or "")[:120], **_abroad(agent),
        })  # fmt: skip
    except ConfigError as error:
        raise actions.Refused(str(error)) from error


def _abroad(agent: Agent) -> dict[str, Any]:
    """Opponents that it never learned against, and the style it was bred for, which must hold there."""
    met = strangers_of(agent.game["name"]) if agent.seat == 0 else ()
    strangers = [{"kind": "scripted", "player": name, "title": PLAYERS[name].label} for name in met]
    style = agent.job.config.get("behaviour", ()) if agent.job else agent.origin.get("spans", ())
    return {"strangers": strangers, "style": list(style)}


def unplayable(game: str, project: Project) -> str:
    """Why a game cannot be played now; empty where it can."""
    if games.title_on_menu(game) != games.OWN_GAME:
        return ""
    row = registration(game, project)
    if row is None:
        return "The game of this agent is not among the project’s simulators any more."
    return obstacle(row)


def opponents(game: str) -> dict[str, str]:
    """Scripts that may sit on the other seats of a game, by name; none where it has no other seats."""
    known = built_in(game)
    if game.startswith(ALONE) or (known is not None and not known.for_two):
        return {}
    able = [key for key in PLAYERS if script_plays(key, game)] if known is not None else [ANYTHING]
    return {key: PLAYERS[key].label for key in able}


def usual_opponent(game: str) -> dict[str, str] | None:
    """The strongest script that plays a game: the last one on the list."""
    able = opponents(game)
    if not able:
        return None
    key = list(able)[-1]
    return {"kind": "scripted", "player": key, "title": able[key]}
