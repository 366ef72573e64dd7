"""Kept agents, measured and recorded without an engine that runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from django.utils import timezone

from engine.arrays import pack, unpack
from engine.config.agents import OriginConfig, RecordConfig
from engine.config.rl import NetworkConfig
from engine.games.herobattle.commanders import HeroBattleCommanders
from engine.games.herobattle.commanders.scripts import Commander, HeroHunter
from engine.rl.policy import Policy, PolicySpec
from engine.rl.recording import record, tally
from tests.factories import copies
from tests.webapp.trainings import config, training
from webapp.agents import keeping
from webapp.agents.models import Agent, Measurement
from webapp.lib.storage import store
from webapp.projects.models import Project
from webapp.studies import actions
from webapp.studies.models import Job, Status


def trained_at_pong(project: Project, title: str = "Pong, first try", kind: str = "actor-critic", **row: Any) -> Job:
    """A training of Pong that has ended and left a policy."""
    plain = config(game={"name": "pong", "settings": {"points": 3}}, learner={"preset": "pong-ppo"})
    tensors = store().put(f"numbers of {title}".encode())
    network = {"activation": "tanh", "lstm": 0, "conv": []}
    seat = {"observations": [{"name": "field"}]}
    told = json.dumps({"kind": kind, "sha256": tensors, "network": network, "seat": seat}).encode()
    artifacts = {"policy": tensors, "policy_description": store().put(told)}
    row = {"status": Status.FINISHED, "finished_at": timezone.now(), "counters": {"steps": 100_000}, **row}
    return training(project, config=plain, title=title, template="pong-ppo", artifacts=artifacts, **row)


def measured(agent: Agent, moved: float = 0.123, clip: bool = True, by: float | None = None) -> Job:
    """Its measurement, ended, with figures that are made up."""
    job = agent.measuring
    assert job is not None
    rows = [[-0.5 + 0.03 * i, 0.02 * i, 0.1, -0.2, 1.0, 2.0] for i in range(25)]
    figures = {"win": (0.88, 0.84, 0.91), "score": (0.8, 0.7, 0.9), "length": (812.4, None, None),
               "moved": (moved, 0.1, 0.14), "hits": (4.25, 3.9, 4.6)}  # fmt: skip
    told = {
        "measures": _measures(figures),
        "episodes": 200, "game": "pong", "game_version": "1", "milliseconds": 0.0213, "sampled": agent.sampled,
        "check": {"situations": 1000, "same": 1000, "difference": 2e-6}, "moves": [880, 70, 50],
        "against": [{"opponent": who, "measures": _measures({**figures, "moved": (moved + more, 0.1, 0.4)})}
                    for who, more in (("Random", by or 0.0), ("Follows the ball", 0.01))],
        "moved": None if by is None else {"by": by, "measure": "moved", "opponent": "Random", "low": by - 0.03,
                                          "high": by + 0.03, "episodes": 0, "end": by + 0.03},
        "clip": {"drawing": "pong", "pace": 40.0, "positions": rows} if clip else {},
    }  # fmt: skip
    artifacts = {"table": store().put(pack(told, {})), "take_home": store().put(b"PK a zip")}
    Job.objects.filter(pk=job.pk).update(
        status=Status.FINISHED, artifacts=artifacts, finished_at=timezone.now(), tick=4, counters={"battles": 200}
    )
    return Job.objects.get(pk=job.pk)


def _measures(figures: dict[str, tuple[float, float | None, float | None]]) -> list[dict[str, Any]]:
    return [{"name": name, "mean": m, "low": low, "high": high} for name, (m, low, high) in figures.items()]


def kept(project: Project, title: str = "Pong, first try", sampled: bool = False, **more: Any) -> Agent:
    """An agent that was kept and measured."""
    user = project.members.first()
    assert user is not None
    agent = keeping.keep(trained_at_pong(project, title), user, "", title, sampled)
    measured(agent, **more)
    return Agent.objects.get(pk=agent.pk)


def copied(agent: Agent, count: int) -> list[Agent]:
    """So many more agents like this one, each with a policy and a measurement of its own."""
    job = agent.measured
    assert job is not None
    jobs = copies(job, [{}] * count)
    plain = {"project": agent.project, "game": agent.game, "job": agent.job, "origin": agent.origin}
    more = Agent.objects.bulk_create(
        Agent(policy=f"{agent.pk:032x}{i:032x}", name=f"{agent.name} {i}", **plain) for i in range(1, count + 1)
    )
    Measurement.objects.bulk_create(Measurement(agent=each, job=its) for each, its in zip(more, jobs, strict=True))
    return more


def recorded(job: Job, drawing: str = "pong") -> Job:
    """A recording, ended: the ball flies from the left to the right once, and the left side scores."""
    count = len(job.config["agents"])
    rows = np.array([[-0.8 + 0.04 * i, 0.01 * i, 0.02 * i % 0.8, -0.01 * i % 0.8, 0, 0] for i in range(45)])
    rows = np.concatenate([rows, [[0.0, 0.3, 0.1, -0.2, 1, 0]]]).astype(np.float32)
    moves = np.arange(45) % 3
    battle = {"length": 45, "score": 0.75, "win": 1.0, "over": True, "signals": {}, "counts": [15, 15, 15]}
    meta = {"drawing": drawing, "battles": [battle] * count, "titles": [a["title"] for a in job.config["agents"]],
            "opponent": ""}  # fmt: skip
    arrays: dict[str, Any] = {}
    for i in range(count):
        arrays |= {f"positions/{i}": rows if drawing else rows[:, :0], f"moves/{i}": moves}
    artifacts = {"recording": store().put(pack(meta, arrays))}
    Job.objects.filter(pk=job.pk).update(status=Status.FINISHED, artifacts=artifacts, finished_at=timezone.now())
    return Job.objects.get(pk=job.pk)


def watched(project: Project, agents: list[Agent], seed: int = 3, drawing: str = "pong") -> Job:
    """Battles of these agents, recorded."""
    study = RecordConfig(
        name="Battles to watch", seed=seed, game=agents[0].game, agents=tuple(agent.config for agent in agents)
    )
    return recorded(actions.sample(project, project.members.first(), study), drawing)


def ada(project: Project, name: str = "Ada", *, seed: int = 5, **game: Any) -> Agent:
    """A kept agent that commands herobattle, with numbers that nobody trained."""
    spec = PolicySpec(HeroBattleCommanders().spec.seats[0], NetworkConfig(policy=(8,), critic=(8,)))
    description, tensors = Policy(spec, spec.model().initial(np.random.default_rng(seed))).pack()
    settings = {"same_teams": True, **game}
    return Agent.objects.create(
        project=project, name=name, policy=store().put(description), tensors=store().put(tensors),
        game={"name": "commanders", "settings": settings, "limits": None}, origin=OriginConfig().model_dump(),
    )  # fmt: skip


def watched_commanders(project: Project, names: Sequence[str] = ("Ada",)) -> Job:
    """Battles of herobattle that a commander leads who hunts the hero, recorded."""
    agents = [ada(project, name, seed=i) for i, name in enumerate(names, 5)]
    job = watched(project, agents, drawing="commanders")
    seat = HeroBattleCommanders(seats=(0, 1)).spec.seats[0]
    found = record(HeroBattleCommanders(seats=(0, 1)), HeroHunter(seat), Commander(seat), seed=4)
    told = {"length": len(found.moves), "score": found.score, "win": found.win, "over": True, "signals": {},
            "counts": tally(seat.action, found.moves), "labels": found.labels}  # fmt: skip
    bundle = unpack(store().get(job.artifacts["recording"]))
    arrays: dict[str, Any] = {}
    for i in range(len(agents)):
        arrays |= {f"positions/{i}": found.positions, f"moves/{i}": found.moves}
    digest = store().put(pack(bundle.meta | {"battles": [told] * len(agents)}, arrays))
    Job.objects.filter(pk=job.pk).update(artifacts={"recording": digest})
    return Job.objects.get(pk=job.pk)


def watched_in_a_maze(project: Project) -> Job:
    """The way of an agent in a small maze, recorded."""
    walls = np.ones((9, 9), np.uint8)
    walls[1, 1:8] = walls[1:8, 7] = 0
    way = [*((1, column) for column in range(1, 8)), *((row, 7) for row in range(2, 8))]
    rows = np.array([(*at, i) for i, at in enumerate(way, 1)], np.float32)
    ada, game = kept(project, "Ada"), {"name": "maze", "settings": {"size": 9}}
    job = watched(project, [ada], drawing="maze")
    Agent.objects.filter(pk=ada.pk).update(game=game)
    bundle = unpack(store().get(job.artifacts["recording"]))
    arrays = bundle.arrays | {"positions/0": rows, "scenery": walls}
    config = job.config | {"game": game}
    artifacts = {"recording": store().put(pack(bundle.meta, arrays))}
    Job.objects.filter(pk=job.pk).update(artifacts=artifacts, config=config)
    return Job.objects.get(pk=job.pk)
