"""What the menus of players offer in a game, and what cannot be chosen there, with what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.forms.boundfield import BoundField

from engine.catalog import LEARNERS, PLAYERS
from webapp.arena.player_fields import LEARN, OFTEN, ROWS, SAVED, SCRIPT, kept, learning, name_of_row
from webapp.projects.models import Project
from webapp.training import games, methods
from webapp.training.entrants import plays, script_plays

FITS = {
    "ppo": "the one to begin with", "a3c": "learns from a few moments at a time",
    "impala": "for many copies of every match", "dqn": "remembers what it did, for one choice at a time",
    "td3": "needs few decisions", "sac": "needs few decisions, and keeps trying different things",
    "masac": "a team learns as one", "maddpg": "a team whose members want different things",
    "pdqn": "for choices with numbers", "mpdqn": "for choices with numbers, the one to begin with there",
    "paddpg": "for choices with numbers, the oldest",
}  # fmt: skip
"""Which learner fits, in a few words."""
NOBODY_LEARNS = "Nobody learns, so there are no earlier selves. Choose somebody who learns first, such as for player 1."


def learner_words(kind: str) -> str:
    """A learner, and which it fits."""
    return f"{LEARNERS[kind].label}: {FITS[kind]}" if kind in FITS else LEARNERS[kind].label


def learns_in(kind: str, offer: games.Offer) -> str:
    """Why a learner cannot play a game; empty where it can."""
    return methods.unable(kind, games.does(offer, offer.name), offer.sees)


class LearnerMenu(forms.Select):
    """Learners, each with the games that it can play: the page's script offers those of the chosen game."""

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """An option with its games."""
        option: dict[str, Any] = super().create_option(name, value, *args, **kwargs)
        able = (key for key, offer in games.OFFERS.items() if offer.sides and not learns_in(str(value), offer))
        option["attrs"]["data-games"] = " ".join(able)
        return option


def menus(many: int, shown: Mapping[str, Any], offer: games.Offer, project: Project) -> Iterator[list[tuple[str, str]]]:
    """What each of so many players may be: who plays the game, and earlier selves of the others that learn."""
    learners = [
        (f"{LEARN}{kind}", f"Learns by {learner_words(kind)}") for kind in LEARNERS if not learns_in(kind, offer)
    ]
    of_all = [(way, f"Earlier selves of all who learn, {often}") for way, often in OFTEN.items()]
    scripts = [
        (f"{SCRIPT}{key}", f"Script: {one.label}") for key, one in PLAYERS.items() if script_plays(key, offer.key)
    ]
    saved = [
        (f"{SAVED}{agent.pk}", f"Saved agent, which stays as it is: {agent.name}")
        for agent in kept(project)
        if plays(str(agent.game["name"]), offer.name)
    ]
    for i in range(1, many + 1):
        yield [("", "Nobody"), *learners, *of_all, *_selves(i, shown), *scripts, *saved]


def _selves(i: int, shown: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Earlier selves of everybody who learns but the ``i``-th player."""
    for j in range(1, ROWS + 1):
        if j != i and str(shown.get(f"plays{j}") or "").startswith(LEARN):
            named = shown.get(f"name{j}") or name_of_row(j)
            yield from ((f"{way}:{j}", f"Earlier selves of {named}, {often}") for way, often in OFTEN.items())


def offer(bound: BoundField, offered: Sequence[tuple[str, str]]) -> None:
    """The page’s menu of what a player does, with what is chosen already. The field takes all: what is wrong with it is
    said there."""
    field: Any = bound.field
    chosen, known = bound.value(), dict(offered)
    field.widget.choices = [*offered, *((key, text) for key, text in field.choices if key == chosen not in known)]


def wrong(found: Mapping[str, Any], offer: games.Offer) -> Iterator[tuple[str, str]]:
    """(field, sentence) of what a player cannot be."""
    for i in range(1, ROWS + 1):
        chosen = found.get(f"plays{i}") or ""
        kind, _, which = chosen.partition(":")
        if why := _why(kind, which, found, offer):
            yield f"plays{i}", why


def _why(kind: str, which: str, found: Mapping[str, Any], offer: games.Offer) -> str:
    if kind in OFTEN:
        return _unlearned(which, found)
    if f"{kind}:" == LEARN and (why := learns_in(which, offer)):
        return f"{why} Choose another way to learn."
    if f"{kind}:" == SCRIPT and not script_plays(which, offer.key):
        return f"“{PLAYERS[which].label}” plays another game. Choose another script."
    return ""


def _unlearned(which: str, found: Mapping[str, Any]) -> str:
    """Why somebody, or everybody, has no earlier selves."""
    if not learning(found):
        return NOBODY_LEARNS
    if not which or str(found.get(f"plays{which}") or "").startswith(LEARN):
        return ""
    if not found.get(f"plays{which}"):
        return f"Player {which} is nobody yet. Choose whose earlier selves play, such as those of {learning(found)[0]}."
    named = found.get(f"name{which}") or name_of_row(int(which))
    return f"{named} does not learn, so it has no earlier selves. Choose those of {learning(found)[0]}."
