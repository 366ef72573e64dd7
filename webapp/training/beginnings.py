"""Saved agents that a training, or a search for styles, can begin with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol, get_args

from django.db.models import F

from engine.catalog import LEARNERS
from engine.config import parse
from engine.config.genes import genes
from engine.config.larger import not_larger
from engine.config.rl import AnyLearner, NetworkConfig
from engine.config.train import TrainConfig
from engine.errors import ConfigError, StoreError
from webapp.lib.storage import store
from webapp.lib.words import one_of
from webapp.projects.models import Project
from webapp.training.entrants import ROLE, maker
from webapp.training.methods import Preset


class Begins(Protocol):
    """A study whose policies may begin with trained ones: (place, store hash) by name. ``learner``: of those that have
    none of their own."""

    @property
    def starts(self) -> dict[str, tuple[str, str]]: ...
    @property
    def learner(self) -> Any: ...


CHOOSE = "Choose another agent where the form asks what it begins with, or a new network"
UNKNOWN = "no saved agent and no job of this project has such a policy"


def agent_of(config: Mapping[str, Any], project: Project) -> Any:
    """The saved agent that a job began with, of several agents the first that did, also where somebody has deleted it;
    None where there is none."""
    policy = _begun(config)
    newest = F("deleted_at").desc(nulls_first=True)
    return project.agents.filter(policy=policy).order_by(newest, "-pk").first() if policy else None


def number_of(agent: Any) -> str:
    """The number by which forms name a saved agent; empty for none."""
    return "" if agent is None else str(agent.pk)


def gone(config: Mapping[str, Any], project: Project) -> str:
    """Who a job began with that its project does not have any more, and what to do about it in its form, in sentences;
    empty where nobody is missing."""
    agent, policy = agent_of(config, project), _begun(config)
    if agent is not None and agent.deleted_at is not None:
        back = f"or put “{agent.name}” back on the page of agents"
        return f"It began with “{agent.name}”, which was deleted since. {CHOOSE}, {back}."
    if policy and not known(policy, project):
        return f"It began with an agent that is not there any more. {CHOOSE}."
    return ""


def without(config: Mapping[str, Any]) -> dict[str, Any]:
    """A job's settings, but that it begins with a new network."""
    found = {**config, "start": ""} if "start" in config else dict(config)
    if policies := config.get("policies"):
        found["policies"] = {name: {**one, "start": ""} if "start" in one else one for name, one in policies.items()}
    return found


def _begun(config: Mapping[str, Any]) -> str:
    """The policy that a job began with, of several agents the first one's; empty: none."""
    begun = (one["start"] for one in (config, *config.get("policies", {}).values()) if one.get("start"))
    return str(next(begun, ""))


def known(policy: str, project: Project) -> bool:
    """Whether a policy is the project's own."""
    if project.agents.kept().filter(policy=policy).exists():
        return True
    left = project.jobs.values_list("artifacts", flat=True)
    return any(policy == digest and role.startswith(ROLE) for found in left for role, digest in found.items())


def foreign(trained: Begins, project: Project) -> Iterator[tuple[str, str]]:
    """(place, sentence) of each policy that a training would begin with and that is not the project's own."""
    for place, policy in trained.starts.values():
        if not known(policy, project):
            yield place, UNKNOWN


def unfit(trained: Begins, project: Project) -> Iterator[tuple[str, str]]:
    """The same, and where one does not fit its learner."""
    strangers = dict(foreign(trained, project))
    yield from strangers.items()
    for name, (place, policy) in trained.starts.items():
        if place not in strangers:
            learner = getattr(trained, "learners", {}).get(name) or trained.learner
            for why in _unlike(_description(policy), learner, chosen=isinstance(trained, TrainConfig)):
                yield place, why


def seen_at_start(trained: Begins, game: str) -> Iterator[str]:
    """A sentence where nobody knows before the start whether what a training begins with fits its game."""
    if trained.starts and not maker(game):
        yield "Whether the agent that it begins with fits this game shows when it starts; where not, it ends there."


def policy_layers(agent: Any) -> tuple[int, ...]:
    """The layers of an agent's policy; none where there is no agent, or it cannot be read."""
    network = None if agent is None else _network(_description(agent.policy))
    return () if network is None else network.policy


def going_on(preset: Preset, agent: Any) -> Preset:
    """A preset with the network of the agent that it is to begin with, so that nobody has to type it; as it is without
    an agent. A critic that is not saved with an agent stays as it is."""
    description = {} if agent is None else _description(agent.policy)
    network, learner = _network(description), preset.learner
    if network is None or description.get("kind", learner.head) != learner.head:
        return preset
    aside = {"critic"} if learner.critic_aside else set()
    network = learner.network.model_copy(update={name: part for name, part in network if name not in aside})
    scaled = bool(description.get("normalise", learner.normalise_observations))
    return replace(preset, learner=learner.model_copy(update={"network": network, "normalise_observations": scaled}))


def misfits(agent: Any, game: str, learner: AnyLearner | None) -> Iterator[str]:
    """Why an agent cannot begin an agent of this game, as far as its description tells; the rest the engine tells.
    ``learner``: None while that is not settled."""
    if game and maker(agent.game["name"]) != maker(game):
        yield f"“{agent.name}” plays another game. Choose another agent, or a new network."
    elif learner is not None:
        yield from (f"“{agent.name}” does not fit: {why}." for why in _unlike(_description(agent.policy), learner))


def _description(policy: str) -> Mapping[str, Any]:
    """A policy's description; an empty one where it cannot be read."""
    try:
        return dict(json.loads(store().get(policy)))
    except (StoreError, ValueError):
        return {}


def _network(description: Mapping[str, Any]) -> NetworkConfig | None:
    try:
        return parse(NetworkConfig, description["network"])
    except (KeyError, ConfigError):
        return None


def _kinds(head: str) -> list[str]:
    """The learners whose policies have a head."""
    return [one.model_fields["kind"].default for one in get_args(AnyLearner) if one.head == head]


def _unlike(description: Mapping[str, Any], learner: AnyLearner, *, chosen: bool = True) -> Iterator[str]:
    """``chosen``: whether another learner could be chosen."""
    network = _network(description)
    if description.get("kind", learner.head) != learner.head:
        able, mine = (
            one_of([LEARNERS[kind].label for kind in _kinds(head)]) for head in (description["kind"], learner.head)
        )
        rest = f"; choose {able}" if chosen else f", and here only what {mine} trained goes on learning"
        yield f"{able}{' ' if able else 'another algorithm '}trained it{rest if able else ''}"
    elif network is not None and not genes(learner.network):
        if description.get("normalise", learner.normalise_observations) != learner.normalise_observations:
            yield "it was trained with another choice of scaling observations; choose that here, too"
        yield from not_larger(network, learner.policy_network)
