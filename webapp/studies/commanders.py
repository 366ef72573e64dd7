"""Who commands battles of lineups where it is not the game's own script: an agent that somebody kept. The app that has
agents says which there are (``AppConfig.ready``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from engine.config.commander import CommanderConfig, Leader
from webapp.projects.models import Project
from webapp.studies.models import Job

SCRIPT = "The game’s own script"
BY_NAME = "the script"
"""The same in the middle of a sentence."""
GONE = "This agent was deleted, or cannot lead a team. Choose another one, or the script."
OTHER_GAME = "Only Herobattle can be led by an agent. Choose the script."
NOT_KEPT = "the project keeps no agent with this policy and this way to choose that commands herobattle"
NO_EXPERIMENT = (
    "What pieces are worth is measured in battles that the script fights, so no experiment comes with a search that an "
    "agent leads."
)


LED = "builtin:herobattle"
"""What references to the game that agents can lead begin with."""


BY_SCRIPT: dict[str, Any] = {"config__game__commander__isnull": True}
"""What jobs are filtered by whose battles the game's own script fights."""


class Commander(NamedTuple):
    """An agent that can lead both sides: its number, its name as people gave it, and its page."""

    key: str
    config: CommanderConfig
    address: str

    @property
    def name(self) -> str:
        """What people call it."""
        return self.config.title


class Led(NamedTuple):
    """Who led the battles of a job: the name that the agent had then, and its page; none once it was deleted."""

    name: str
    address: str


Offers = Callable[[Project], list[Commander]]
_offers: list[Offers] = []


def register(offers: Offers) -> None:
    """Where the agents of a project come from that can lead a team."""
    _offers.append(offers)


def offered(project: Project) -> list[Commander]:
    """Agents that can lead a team, the latest first."""
    return [each for offers in _offers for each in offers(project)]


def can_be_led(reference: str) -> bool:
    """Whether an agent can command the battles of a game."""
    return reference.startswith(LED)


def may_be_led(job: Job) -> bool:
    """Whether an agent can command the battles that a job played."""
    return can_be_led(str((job.config.get("game") or {}).get("simulator", "")))


def name_in(config: Mapping[str, Any]) -> str:
    """Who leads the battles that a job's settings describe; empty for the script."""
    return _called((config.get("game") or {}).get("commander"))


def words(config: Mapping[str, Any]) -> str:
    """Who leads both sides, for lists of where numbers come from: the script, or an agent with what it learned."""
    found = (config.get("game") or {}).get("commander")
    return f"{_called(found)} (policy {found['policy'][:12]})" if found else "the game’s own script"


def played_on(job: Job) -> str:
    """What a job plays: "Version 3", or where an agent leads both sides "Version 3, played by Ada"; empty without game
    data."""
    name = name_in(job.config)
    return f"{job.game_version}{f', played by {name}' if name else ''}" if job.game_version else ""


def name_under(config: Mapping[str, Any]) -> str:
    """Who leads the other version of a replay, where that is somebody else; empty where it is not."""
    return _called(config.get("under"))


def led(project: Project, found: Mapping[str, Any]) -> Led:
    """An agent as settings have it, on pages of the project."""
    address = next((each.address for each in offered(project) if _same(each.config, found)), "")
    return Led(_called(found), address)


def problem(project: Project, config: Leader | None) -> str:
    """Why a study that names this commander cannot be one of the project's; empty where it can."""
    if not isinstance(config, CommanderConfig) or any(
        _same(each.config, config.model_dump()) for each in offered(project)
    ):
        return ""
    return NOT_KEPT


def key_of(job: Job) -> str:
    """The number of the agent that leads the battles of a job, as forms have it; empty for the script, and what no form
    takes for one that was deleted since."""
    found = (job.config.get("game") or {}).get("commander")
    if not found:
        return ""
    return next((each.key for each in offered(job.project) if _same(each.config, found)), "deleted")


def alike(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """What jobs are filtered by whose battles are led as these settings have it."""
    found = (config.get("game") or {}).get("commander")
    if not found:
        return BY_SCRIPT
    return {"config__game__commander__policy": found["policy"], "config__game__commander__every": found["every"]}


def _called(found: Mapping[str, Any] | None) -> str:
    if not found:
        return ""
    return BY_NAME if found.get("kind") == "script" else str(found.get("title") or "an agent")


def _same(config: CommanderConfig, found: Mapping[str, Any]) -> bool:
    """Whether they play alike; an agent may have another name by now."""
    mine = config.model_dump(mode="json")
    return all(mine.get(name) == found.get(name) for name in (mine.keys() | found.keys()) - {"title", "kind"})
