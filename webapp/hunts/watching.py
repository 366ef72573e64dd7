"""A bug to be watched: its seed and its decisions, played again on the page that draws battles."""

from __future__ import annotations

from engine.catalog import built_in
from engine.config import parse
from engine.config.agents import RecordConfig
from engine.config.hunt import LONGEST
from engine.errors import ConfigError
from webapp.hunts.found import Kept, Shown
from webapp.studies.actions import Refused

SAID = 1000
"""Characters of what a bug says of itself, at most."""


def drawn(kept: Kept) -> bool:
    """Whether bugs of this hunt can be watched: its game is one of those that are drawn here."""
    return built_in(kept.bundle.meta["game"]["name"]) is not None


def recording(kept: Kept, number: int) -> RecordConfig:
    """The battle in which a bug shows, up to there. Raises Refused for one that is too long, or that the game does not
    take."""
    bug, shown = kept.bug(number), kept.line(number)
    if not shown.watchable:
        raise Refused(f"It takes {shown.moves:,} decisions; {LONGEST:,} are the most that can be watched.")
    agent = {
        "kind": "moves", "episode": bug["seed"], "moves": bug["moves"], "title": title(shown), "shows": _shows(shown),
    }  # fmt: skip
    try:
        return parse(RecordConfig, {"name": "A bug to watch", "game": kept.bundle.meta["game"], "agents": [agent]})
    except ConfigError as error:
        raise Refused(f"The game does not take it any more ({error}).") from error


def title(shown: Shown) -> str:
    """ "Bug 3: Crash"."""
    return f"Bug {shown.number}: {shown.kind}"


def _shows(shown: Shown) -> str:
    """ "At row 7, column 1: The game crashes."."""
    return f"At {shown.where}: {shown.what}"[:SAID]
