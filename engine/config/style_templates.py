"""Styles in plain words, as data: from one end of a scale to the other. A game can offer those whose signals it has.

``needs`` names what a game tells of each decision, ``measures`` what it tells of an episode, both from 0 to 1:

- ``moved``: the share of moments in which the player moved;
- ``dealt``, ``taken``: damage dealt and taken, as shares of everything that can be dealt and taken in an episode;
- ``waiting``: the share of moments before the first attack; of an episode ``first_attack``: the share that passed
  before;
- ``forward``: how far forward a player stands: 0 where he began, 1 where he meets the enemy halfway or beyond;
- ``explored``: the share of the ground that was seen for the first time.

``skill`` in an objective is what says how well an episode went, from 0 to 1: the game's normalised ``score``, or what a
game names instead of it where scores of good and bad players lie close together. ``busy-calm`` is the active and lazy
style of Lamarckian (equations 2 to 4) with laziness normalised: the paper's 1 − move(a) is summed over the T actions
of an episode although move(a) is 1/T at most, so its laziness is T − move; here it is 1 − move, from 0 to 1. In
Pong with numbers a moment counts as moved if the paddle moved, not if the action would move it (the paper's move(a)):
who presses against the wall is calm. Atari's Pong counts the action.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from engine.config.style_reward import identifier

Names = Mapping[str, str]
"""What a game calls signals and measures that templates call otherwise."""
SCORE = {"skill": "score"}
"""What tells skill where a game says nothing else."""


class Template(NamedTuple):
    """A scale of styles. ``one`` and ``other``: its ends; ``pays``: what is paid for, in words; ``style``: the formula
    of the reward, ``w2`` the range of its weight; ``objectives``: (name, formula over an episode) for each end;
    ``behaviour``: measures by which agents differ."""

    key: str
    one: str
    other: str
    about: str
    pays: str
    needs: tuple[str, ...]
    measures: tuple[str, ...]
    style: str
    w2: tuple[float, float]
    objectives: tuple[tuple[str, str], tuple[str, str]]
    behaviour: tuple[str, ...]

    def settings(
        self, names: Names = MappingProxyType({}), weights: Mapping[str, float] = MappingProxyType({})
    ) -> dict[str, Any]:
        """The parts ``task.style``, ``objectives`` and ``behaviour`` of a study of kind ``style``, as data, in a game
        that calls some of what is needed by other ``names``, and where this style weighs at most as much as ``weights``
        has under its key instead of ``w2``."""
        most = weights.get(self.key)
        goals = [{"measure": name, "formula": text, "low": 0.0, "high": 2.0} for name, text in self.goals(names)]
        style = {
            "winning": "score",
            "style": renamed(self.style, names),
            "w1": 1.0,
            "w2": list(self.w2) if most is None else [-most, most],
        }
        return {
            "task": {"style": style},
            "objectives": goals,
            "behaviour": [names.get(name, name) for name in self.behaviour],
        }

    def goals(self, names: Names) -> list[tuple[str, str]]:
        """The objectives in a game that calls things by these ``names``."""
        return [(goal, renamed(text, {**SCORE, **names})) for goal, text in self.objectives]

    def lacks(self, signals: Iterable[str], measures: Iterable[str], names: Names = MappingProxyType({})) -> bool:
        """Whether a game with these signals and measures of an episode does not tell what is needed."""
        signal_names, of_episodes = ({identifier(name) for name in given} for given in (signals, measures))
        needed, measured = ({names.get(name, name) for name in given} for given in (self.needs, self.measures))
        return not (needed <= signal_names and measured <= of_episodes)


TEMPLATES: dict[str, Template] = {
    template.key: template
    for template in (
        Template(
            "busy-calm", "Busy", "Calm", "Moves all the time, or only when it must.",
            "Every moment in which it moves; for the calm, every moment in which it does not.",
            ("score", "moved"), ("moved",), "2 * moved - 1", (-0.01, 0.01),
            (("busy", "skill + moved"), ("calm", "skill + (1 - moved)")), ("moved",),
        ),
        Template(
            "aggressive-cautious", "Aggressive", "Cautious", "Goes to meet the enemy, or lets the enemy come.",
            "Every moment in which it stands far forward; for the cautious, every moment in which it stands back.",
            ("score", "forward"), ("forward",), "2 * forward - 1", (-0.05, 0.05),
            (("aggressive", "skill + forward"), ("cautious", "skill + (1 - forward)")), ("forward",),
        ),
        Template(
            "brawler-dodger", "Brawler", "Dodger", "Trades blows, or keeps out of harm’s way.",
            "Damage dealt and damage taken; for the dodger it costs.",
            ("score", "dealt", "taken"), ("dealt", "taken"), "dealt + taken", (-1.0, 1.0),
            (("brawler", "skill + (dealt + taken) / 2"), ("dodger", "skill + 1 - (dealt + taken) / 2")),
            ("dealt", "taken"),
        ),
        Template(
            "rusher-builder", "Rusher", "Builder", "Attacks at once, or late.",
            "Time before its first attack costs; for the builder it pays.",
            ("score", "waiting"), ("first_attack",), "0 - waiting", (-0.05, 0.05),
            (("rusher", "skill + 1 - first_attack"), ("builder", "skill + first_attack")), ("first_attack",),
        ),
        Template(
            "explorer-camper", "Explorer", "Camper", "Covers much ground, or stays where it is.",
            "Ground that it covers for the first time; for the camper it costs.",
            ("score", "explored"), ("explored",), "explored", (-3.0, 3.0),
            (("explorer", "skill + explored"), ("camper", "skill + 1 - explored")), ("explored",),
        ),
    )
}  # fmt: skip
"""By key, in the order in which pages list them."""


def offered(signals: Iterable[str], measures: Iterable[str], names: Names = MappingProxyType({})) -> Iterator[Template]:
    """Templates that a game with these signals and measures of an episode can offer; ``names`` as in ``settings``."""
    signal_names, of_episodes = tuple(signals), tuple(measures)
    yield from (template for template in TEMPLATES.values() if not template.lacks(signal_names, of_episodes, names))


def renamed(formula: str, names: Names) -> str:
    """A formula with other names for some of its variables."""
    return re.sub(r"[A-Za-z_]\w*", lambda found: names.get(found[0], found[0]), formula)
