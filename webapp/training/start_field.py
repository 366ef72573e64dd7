"""The menu of agents that a training, or a search for styles, can begin with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from webapp.lib.digits import whole
from webapp.projects.models import Project
from webapp.training import games

LARGER = (
    "A saved agent goes on learning, by the settings chosen here. They may give it a larger network: what is added "
    "changes nothing at first."
)
NOT_HERE = "This project does not have the chosen agent. Choose another one, or a new network."


class StartField(forms.ChoiceField):
    """A choice of the project's saved agents. ``new``: what the menu calls beginning without one; ``offers``: whether
    there is anything else on it; ``chosen``: the agent that was chosen; ``gone``: the name of the chosen one where
    somebody has deleted it."""

    def __init__(self, new: str = "A new network", **kwargs: Any) -> None:
        super().__init__(required=False, **{"label": "Begins with", "help_text": LARGER, **kwargs})
        self.new = new
        self.chosen: Any = None
        self.gone = ""
        self.offers = False
        self.choices = [("", new)]

    def offer(self, project: Project, said: str) -> None:
        """Offer what a project has; ``said``: the number that was chosen."""
        kept = {str(agent.pk): agent for agent in project.agents.kept()}
        self.chosen, self.gone = kept.get(said), _deleted(said, project)
        gone = [(said, f"{self.gone} (deleted)")] if self.gone else []
        self.choices = [("", self.new), *gone, *groups_by_game(kept, project).items()]
        self.offers = bool(gone or kept)

    def validate(self, value: Any) -> None:
        """Raises ValidationError with what to do about an agent that is not there."""
        if self.gone:
            instead = f"Choose another agent or “{self.new}”, or put it back on the page of agents."
            raise forms.ValidationError(f"“{self.gone}” was deleted. {instead}")
        if value and self.chosen is None:
            raise forms.ValidationError(NOT_HERE)


def groups_by_game(agents: Mapping[str, Any], project: Project) -> dict[str, list[tuple[str, str]]]:
    """Choices of agents by number, under the titles of their games: an agent begins others of its own game only."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for number, agent in agents.items():
        groups.setdefault(games.title_of(agent.game["name"], project), []).append((number, agent.name))
    return groups


def by_game(agents: Mapping[str, Any], project: Project) -> list[Any]:
    """Choices of agents by number, under the titles of their games where they have learned several: agents of one game
    only play together."""
    groups = groups_by_game(agents, project)
    return list(groups.items()) if len(groups) > 1 else [pair for pairs in groups.values() for pair in pairs]


def _deleted(number: str, project: Project) -> str:
    """The name of the project's agent of this number that somebody has deleted; empty where there is none."""
    pk = whole(number)
    agent = None if pk is None else project.agents.exclude(deleted_at=None).filter(pk=pk).first()
    return "" if agent is None else agent.name
