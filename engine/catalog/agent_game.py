"""What the catalog says of one game for agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from engine.catalog.entry import imported


class Signal(NamedTuple):
    """A signal of a game as pages tell it, such as "moves 12 % of the time". ``share``: it is a share, from 0 to 1, of
    what ``unit`` says, or else of an episode's time; otherwise ``unit`` says what it counts. ``link``: a word between
    the two, as in "falls in 12 % of episodes"."""

    words: str
    share: bool = True
    unit: str = ""
    link: str = ""

    @property
    def does(self) -> str:
        """What stands before its value in a sentence."""
        return f"{self.words} {self.link}".strip()

    @property
    def per(self) -> str:
        """What its value is of, or counts."""
        return self.unit or ("of the time" if self.share else "")


class Clock(NamedTuple):
    """How fast a game runs where pages show it: its ``moments`` a second, and the ``setting`` that says how many of
    them a decision lasts, with its ``usual`` value."""

    moments: float
    setting: str
    usual: int

    def decisions(self, settings: Mapping[str, Any]) -> float:
        """Decisions a second, with these settings of the game."""
        return self.moments / float(settings.get(self.setting, self.usual))


class AgentGame(NamedTuple):
    """A built-in game for agents: its texts for people, the path of its factory (of an ``engine.mdp.vector.Game``), and
    what pages need to know before it is made.

    ``sees``: the kind of observation; ``does``: the kind of action (one of ``engine.config.rl.ACTIONS``);
    ``longest``: decisions in its longest episode; ``settings``: those that pages let people set; ``sides``: names of
    the agents where several learn, one on each seat, or on ``squad`` seats each (``MDPSpec.squad``); ``turns``: they
    act at different moments; ``given``: arguments that it is always made with. For agents: ``actions``, its choices
    by name, or ``orders``, those of each part of an action that has several, by what the part says; ``captions``:
    what a caption tells of its signals. For styles of play: ``signals``, all that its setting ``rewards`` can name;
    ``scripted``: which of ``PLAYERS`` plays it well; ``strangers``: those of ``PLAYERS`` that nobody learns against
    in it; ``ends``: lowest and highest values of measures of an episode; ``meanings``: what a signal is, of one
    decision; ``names``: what it calls signals and measures that ``engine.config.style_templates`` calls otherwise;
    ``bred_steps``: decisions that a bred agent learns from in a round, where the usual few make poor players (0: the
    usual); ``weights``: the most that a style weighs in it, by the template's key, where an episode has so many more or
    fewer decisions than Pong's that the template's own is too much or too little.
    ``between``: what in the game lies between an action and what it does, as sentences;
    ``rewards``: what it pays where its setting of that name says nothing;
    ``clock``: how fast it runs, if known; ``alone``: nobody else is in it; ``starts``: those of its ``settings`` that
    say where an episode begins."""

    label: str
    explanation: str
    path: str
    sees: Literal["numbers", "pictures"]
    does: Literal["discrete", "continuous", "hybrid", "parameterised"]
    longest: int
    settings: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()
    squad: int = 1
    turns: bool = False
    given: Mapping[str, Any] = {}
    actions: tuple[str, ...] = ()
    orders: Mapping[str, tuple[str, ...]] = {}
    captions: Mapping[str, Signal] = {}
    signals: tuple[str, ...] = ()
    scripted: str = ""
    strangers: tuple[str, ...] = ()
    ends: Mapping[str, tuple[float, float]] = {}
    meanings: Mapping[str, str] = {}
    names: Mapping[str, str] = {}
    bred_steps: int = 0
    weights: Mapping[str, float] = {}
    rewards: tuple[str, ...] = ("score",)
    clock: Clock | None = None
    alone: bool = False
    between: str = ""
    starts: tuple[str, ...] = ()

    @property
    def for_two(self) -> bool:
        """Whether two players meet in it, each on the seats of a side."""
        return len(self.sides) == 2

    @property
    def without_wins(self) -> bool:
        """Whether several play on one side against nobody: then they score, and nobody wins."""
        return self.alone and self.squad > 1

    def load(self) -> Any:
        """The class or function that makes it, imported now."""
        return imported(self.path)
