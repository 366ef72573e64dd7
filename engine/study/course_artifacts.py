"""What a course leaves: its policies as they are, as they were after each lesson, and as players of a tournament."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.config.arena import ArenaConfig
from engine.mdp.vector import Game
from engine.rl.onnx import exported
from engine.rl.policy import Policy
from engine.rl.seats import Player, slowed
from engine.rl.squads import on_seats
from engine.rl.take_home import folders
from engine.store import Store
from engine.study.casting import MAKERS
from engine.study.course import Rung
from engine.study.policy_training import PolicyTraining


class CourseArtifacts:
    """The artifacts of a course's policies, by role: plain roles where only one policy learns."""

    def __init__(self, policies: Mapping[str, PolicyTraining], store: Store) -> None:
        self._policies, self._store = policies, store

    def stored(self, policy: PolicyTraining) -> tuple[str, str]:
        """The hashes of a policy's weights and of its description, as it is now."""
        description, tensors = policy.learner.policy().pack()
        return self._store.put(tensors), self._store.put(description)

    def present(self, policies: Mapping[str, PolicyTraining]) -> dict[str, str]:
        """Some policies as they are."""
        found: dict[str, str] = {}
        for name, policy in policies.items():
            tensors, description = self.stored(policy)
            found |= {self._role("policy", name): tensors, self._role("policy_description", name): description}
        return found

    def all(self, rungs: Sequence[Rung]) -> dict[str, str]:
        """All of them as they are, with their graphs, and as they were."""
        found = self.present(self._policies)
        for name, policy in self._policies.items():
            now = policy.learner.policy()
            found[self._role("onnx", name)] = self._store.put(exported(now))
            if len(members := now.members()) > 1:
                found[self._role("members", name)] = self._store.put(folders(members))
        for rung in rungs:
            found |= rung.roles
        return found

    def _role(self, role: str, policy: str) -> str:
        return role if len(self._policies) == 1 else f"{role}/{policy}"


def twins(config: ArenaConfig, policies: Mapping[str, PolicyTraining]) -> dict[str, str]:
    """The policies that have the same network as one before them that enters the tournament, as after a copy, with its
    name."""
    first: dict[tuple[bytes, bytes], str] = {}
    there = [name for name in config.roster if name in policies and name not in config.left_out]
    named = [(name, policies[name].learner.policy().pack()) for name in there]
    return {name: first[packed] for name, packed in named if first.setdefault(packed, name) != name}


def entrants(
    config: ArenaConfig, policies: Mapping[str, PolicyTraining], rungs: Sequence[Rung], game: Game, store: Store
) -> dict[str, Player]:
    """All who meet in a tournament, by name, each network once: policies that learned take the likeliest action. One
    that steers a group plays all entities of its side together; where the group is no whole side, it does not enter."""
    found, left_out = dict[str, Player](), config.left_out.union(twins(config, policies))
    member: Any
    for name, member in config.roster.items():
        if name in left_out:
            continue
        if name in policies:
            found[name] = _on_a_side(policies[name].learner.policy())
        elif not member.recalls:
            made = MAKERS[member.kind](member.on_a_side, game.spec.seats[0], store, False)
            found[name] = slowed(made, member.limits, config.game.limits)
    now = {policy.learner.policy().pack() for policy in policies.values()}
    for rung in rungs if config.tournament is not None and config.tournament.rungs else ():
        earlier = Policy.stored(store, rung.description)
        if rung.policy not in config.left_out and earlier.pack() not in now:
            found[f"{rung.policy}@{rung.lesson}"] = _on_a_side(earlier)
    return found


def _on_a_side(policy: Policy) -> Player:
    return on_seats(policy, policy.actor(False))
