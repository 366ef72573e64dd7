"""The games an agent can be trained in from the browser: those named here, and the project's own simulators."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from engine.catalog import GAMES
from engine.config.agent_games import SETTINGS
from engine.simulators.game_names import unknown_to_gymnasium
from engine.starting import StartSetting
from webapp.games.simulators import by_moves, obstacle, registration
from webapp.projects.models import Project

NUMBERS, PICTURES = "numbers", "pictures"
CHOICE, STEERING, PARAMETERISED = "discrete", "continuous", "parameterised"
"""How an agent acts, as ``engine.config.rl.ACTIONS`` calls it."""
GYMNASIUM, ATARI, SIMULATOR = "gymnasium", "atari", "simulator"

GYMNASIUM_ID = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9_.-]*/)?[A-Za-z0-9][A-Za-z0-9_.-]*-v\d{1,3}")
"""No colon: what stands before one is a module that Gymnasium would import."""
OWN_GAME = "A game of your own"
"""The title of a program."""
DATA = "changes"
"""A setting that nobody types: the numbers of the project's data, in games that are played on them."""
ATARI_NAME = re.compile(r"[a-z0-9_]{1,60}")
_STEERED = frozenset(
    f"{name}-v{version}"
    for name, versions in {
        "Pendulum": (1,),
        "MountainCarContinuous": (0,),
        "BipedalWalker": (3,),
        "BipedalWalkerHardcore": (3,),
        **dict.fromkeys(("Ant", "HalfCheetah", "Hopper", "Walker2d", "Humanoid", "Reacher", "Swimmer"), (4, 5)),
        **dict.fromkeys(("InvertedPendulum", "InvertedDoublePendulum", "Pusher", "HumanoidStandup"), (4, 5)),
    }.items()
    for version in versions
)
_CHOSEN = frozenset({"CartPole-v0", "CartPole-v1", "Acrobot-v1", "MountainCar-v0", "LunarLander-v3", "Taxi-v3"})


@dataclass(frozen=True)
class Offer:
    """A game on the menu. ``sees`` and ``does``: what the agent is given and how it acts; empty where trying tells.
    ``longest``: decisions in its longest episode, 0 where that is not known. ``settings``: those that may be typed.
    ``sides``: what the agents are called where several learn, one on each seat, or on ``squad`` seats each."""

    key: str
    title: str
    text: str
    name: str = ""
    sees: str = ""
    does: str = ""
    longest: int = 0
    settings: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()
    squad: int = 1

    @property
    def policies(self) -> dict[str, dict[str, list[int]]]:
        """The engine's table of who learns where; empty where one agent learns."""
        first = {side: i * self.squad for i, side in enumerate(self.sides)}
        return {side: {"seats": list(range(seat, seat + self.squad))} for side, seat in first.items()}

    @property
    def alone(self) -> bool:
        """Whether one entity plays: no team that could be steered as one. Of a program only trying tells."""
        return not self.sides and self.key != SIMULATOR

    @property
    def for_two(self) -> bool:
        """Whether two players can meet in it."""
        return len(self.sides) == 2


OFFERS = {
    offer.key: offer
    for offer in (
        *(
            Offer(name, g.label, g.explanation, name, g.sees, g.does, g.longest, g.settings, g.sides, g.squad)
            for name, g in GAMES.items()
        ),
        Offer(
            "cartpole", "CartPole", "Keep a pole upright on a cart. About 100,000 decisions teach it.",
            "gym:CartPole-v1", NUMBERS, CHOICE, 500,
        ),
        Offer(
            "pendulum", "Pendulum", "Swing a pendulum up and hold it there, by steering instead of choosing.",
            "gym:Pendulum-v1", NUMBERS, STEERING, 200,
        ),
        Offer(
            ATARI, "Another Atari game", "Breakout, or any other by its name, from pictures. Takes millions of "
            "decisions.", "", PICTURES, CHOICE, 27_000,
        ),
        Offer(GYMNASIUM, "Another Gymnasium game", "Any game that Gymnasium has here, by its name."),
        Offer(SIMULATOR, "A game of your own", "A simulator of this project that asks for every decision."),
    )
}  # fmt: skip


ALONE = {key: offer for key, offer in OFFERS.items() if not offer.sides}
"""Those in which one agent learns."""


def longest(offer: Offer, settings: Mapping[str, Any]) -> int:
    """Decisions in the longest episode of a game with these settings; 0 where that is not known."""
    most = settings.get("max_ticks", offer.longest)
    return most if isinstance(most, int) else 0


def longest_of(name: str, settings: Mapping[str, Any]) -> int:
    """The same of the game that the engine, or the API, calls ``name``."""
    known = (offer.key for offer in OFFERS.values() if offer.name == full_name(name))
    key = ATARI if name.startswith("ale:") else next(known, GYMNASIUM)
    return longest(OFFERS[key], settings)


def own(project: Project) -> dict[str, str]:
    """The project's simulators in which agents can learn now, by the name that the API takes."""
    return {row.called: str(row) for row in by_moves(project) if not obstacle(row)}


def starts_of(name: str, project: Project) -> list[StartSetting]:
    """The settings by which episodes of a program of the project begin, as it said last."""
    row = by_moves(project).filter(reference=name).first()
    return [] if row is None else msgspec.convert(row.starts, list[StartSetting])


def does(offer: Offer, name: str) -> str:
    """How the agent acts in the game called ``name``; empty where only trying tells."""
    gym_id = name.removeprefix("gym:")
    return offer.does or (STEERING if gym_id in _STEERED else CHOICE if gym_id in _CHOSEN else "")


def named(name: str, project: Project) -> tuple[str, str]:
    """(offer, what is typed or chosen beside it) of an engine's game name; a simulator by its row's number."""
    for offer in OFFERS.values():
        if offer.name == name:
            return offer.key, ""
    kind, _, rest = name.partition(":")
    if kind == "gym":
        return GYMNASIUM, rest
    if kind == "ale":
        return ATARI, rest
    row = by_moves(project).filter(reference=name).values_list("pk", flat=True).first()
    return SIMULATOR, "" if row is None else str(row)


def full_name(name: str) -> str:
    """The engine's name of a game on the menu that was called by its short one, such as cartpole."""
    return OFFERS[name].name or name if name in OFFERS else name


def unfit(name: str, given: Iterable[str], project: Project) -> list[tuple[str, str]]:
    """(place, sentence) of what speaks against training in the game of this engine's name, with settings of the
    ``given`` names: anything but the menu's games and the project's simulators could be a program nobody let in."""
    key, beside = named(name, project)
    if key == GYMNASIUM and not GYMNASIUM_ID.fullmatch(beside):
        return [("name", "write gym: and a name of Gymnasium with its version, such as gym:LunarLander-v3")]
    if key == GYMNASIUM and (why := unknown_to_gymnasium(beside)):
        return [("name", why)]
    if key == ATARI and not ATARI_NAME.fullmatch(beside):
        return [("name", "write ale: and the name of an Atari game in small letters, such as ale:pong")]
    if key == SIMULATOR and not beside:
        known = ", ".join(o.name for o in OFFERS.values() if o.name)
        return [("name", f"the project has no such game; there are {known}, gym:NAME, ale:NAME, and its simulators")]
    if key == SIMULATOR and (why := obstacle(by_moves(project).get(pk=int(beside)))):
        return [("name", why)]
    able = OFFERS[key].settings or tuple(each.name for each in starts_of(name, project))
    there = f"there are {', '.join(able)}" if able else "this game has none that can be set here"
    return [
        (f"settings.{setting}", f"there is no such setting; {there}")
        for setting in given
        if setting not in able and not (setting == DATA and _plays_data(name))
    ]


def _plays_data(name: str) -> bool:
    model = SETTINGS.get(name.removeprefix("builtin:"))
    return model is not None and DATA in model.model_fields


def title_on_menu(name: str) -> str:
    """An engine's game name as people read it; of a program only that it is one."""
    for offer in OFFERS.values():
        if offer.name == name:
            return offer.title
    kind, _, rest = name.partition(":")
    if kind in ("gym", "ale"):
        return rest if kind == "gym" else f"Atari {rest.replace('_', ' ').title()}"
    return OWN_GAME


def title_of(name: str, project: Project) -> str:
    """An engine's game name as people of ``project`` read it."""
    title = title_on_menu(name)
    row = registration(name, project) if title == OWN_GAME else None
    return title if row is None else row.name
