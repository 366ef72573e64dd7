"""Who may play in a study of a project: policies that its own jobs left, and scripts that play the game."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from engine.catalog import GAMES as BUILT_IN
from engine.catalog import PLAYERS
from engine.config.evaluate import SavedConfig, ScriptConfig
from engine.config.policies import FrozenConfig, ScriptedConfig, SeatedConfig
from webapp.projects.models import Project
from webapp.studies.models import Job
from webapp.training import games

Entrant = SeatedConfig | SavedConfig | ScriptConfig
ROLE = "policy_description"
OWN_SCRIPTS = "engine.games."
"""Where scripts are that play one game of the engine's own."""


def foreign(policies: Mapping[str, Entrant], game: str, project: Project) -> Iterator[tuple[str, str]]:
    """(place, sentence) for scripts that do not exist, policies that no job of the project has left, and who plays
    another game than the one of this engine's name."""
    own = {digest: job for job in project.jobs.all() for role, digest in job.artifacts.items() if role.startswith(ROLE)}
    for name, policy in policies.items():
        if isinstance(policy, ScriptConfig | ScriptedConfig):
            if policy.player not in PLAYERS:
                yield f"policies.{name}.player", f"there is no such script; there are {', '.join(PLAYERS)}"
            elif not script_plays(policy.player, game):
                yield f"policies.{name}.player", f"“{PLAYERS[policy.player].label}” plays another game"
        elif isinstance(policy, SavedConfig | FrozenConfig):
            if policy.policy not in own:
                yield f"policies.{name}.policy", "no job of this project has such a policy"
            elif not plays(trained_in := game_of(own[policy.policy]), game):
                title = getattr(policy, "title", "") or name
                yield f"policies.{name}.policy", f"“{title}” was trained in {games.title_of(trained_in, project)}"


def deleted(players: Iterable[Mapping[str, Any]], project: Project) -> list[str]:
    """The names of the saved agents among these players that somebody has deleted."""
    policies = [player["policy"] for player in players if player.get("policy")]
    kept = project.agents.kept().values("policy")
    gone = project.agents.exclude(deleted_at=None).filter(policy__in=policies).exclude(policy__in=kept)
    return list(dict.fromkeys(agent.name for agent in gone.order_by("pk")))


def deleted_words(names: Sequence[str], instead: str) -> str:
    """That these agents were deleted, and what to do ``instead``, in sentences; empty for none."""
    if not names:
        return ""
    were, them = ("was", "it") if len(names) == 1 else ("were", "them")
    listed = ", ".join(f"“{name}”" for name in names)
    back = f"or put {them} back on the page of agents"
    return f"Of the agents that played, {listed} {were} deleted since. {instead}, {back}."


def maker(game: str) -> str:
    """What makes a game of the engine's own: agents of one that it makes can play all others. Empty for other games."""
    name = game.removeprefix("builtin:").removeprefix("vector-")
    return BUILT_IN[name].path if name in BUILT_IN else ""


def game_of(job: Job) -> str:
    """The engine's name of the game that a job's policies were trained in."""
    return str((job.config.get("task") or job.config).get("game", {}).get("name", ""))


def limits_of(job: Job) -> dict[str, Any]:
    """The limits of those who learned in a job, as a part of a player; nothing where there were none."""
    limits = (job.config.get("task") or job.config).get("game", {}).get("limits")
    return {"limits": limits} if limits else {}


def plays(trained_in: str, game: str) -> bool:
    """Whether an agent of one game may be able to play another; of a program only the engine can tell."""
    return not maker(game) or maker(trained_in) == maker(game)


def script_plays(script: str, game: str) -> bool:
    """The same of a script; one of a game of the engine's own reads numbers, no pictures."""
    module, home = (path.partition(":")[0] for path in (PLAYERS[script].path, maker(game)))
    if not home or not module.startswith(OWN_SCRIPTS):
        return True
    numbers = game not in games.OFFERS or games.OFFERS[game].sees == games.NUMBERS
    return numbers and f"{module}.".startswith(f"{home}.")
