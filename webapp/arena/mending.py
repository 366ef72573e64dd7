"""A course's form with something right in place of what is wrong, so that all else that is wrong can be told, too."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set

from engine.catalog import LEARNERS
from engine.config.courses import PRESETS
from webapp.arena import lesson_fields, player_fields, player_menus, typed
from webapp.arena.player_fields import LEARN
from webapp.lib.first import first
from webapp.training.games import Offer

DECISIONS = "1000000"
"""Of a lesson whose decisions are wrong or missing: enough for whatever else is said of it."""
_NAMING = ("who", "only", "copies")
"""Fields of a lesson that name players."""
_UNFIT = re.compile(r"[^A-Za-z0-9 -]")
_BETWEEN = re.compile(r"\bvs\b|\([^)]*\)|[,\[\]]")


def mended(sent: Mapping[str, str], mistaken: Set[str], offer: Offer) -> dict[str, str]:
    """What was sent, with something right in each ``mistaken`` field; lessons name a player whose name cannot be by the
    one that it has then."""
    able = first(kind for kind in LEARNERS if not player_menus.learns_in(kind, offer))
    usual = {
        "learner": able, "plan": first(key for key, preset in PRESETS.items() if preset.sides <= len(offer.sides)),
        "copies": "1", "battles": "1",
        **{f"plays{i}": f"{LEARN}{able}" for i in range(1, player_fields.ROWS + 1)},
        **{f"steps{i}": DECISIONS for i in range(1, lesson_fields.HELD + 1)},
    }  # fmt: skip
    found = {name: usual.get(name, "") if name in mistaken else text for name, text in sent.items()}
    for i in range(1, player_fields.ROWS + 1):
        if f"name{i}" in mistaken:
            found |= _renamed(found, i, sent[f"name{i}"])
    return found | {field: _everybody(found, offer) for field in mistaken if re.fullmatch(r"who\d+", field)}


def _everybody(found: Mapping[str, str], offer: Offer) -> str:
    """Who plays whom in a lesson of which nothing is known: somebody who learns against each of all who are there, so
    that nobody is left out."""
    texts = {name: typed.name_of(text) if name.startswith("name") else text for name, text in found.items()}
    everybody = [name for name, plays in player_fields.rows(texts) if plays]
    against = player_fields.learning(texts)[:1] if len(offer.sides) > 1 else []
    return ", ".join(typed.VERSUS.join([*against, name]) for name in everybody)


def _meant(found: Mapping[str, str], others: Set[str]) -> str:
    """Whom a lesson names and nobody is called; empty where it is everybody."""
    who = [found.get(f"who{k}", "")[: typed.LONGEST] for k in range(1, lesson_fields.HELD + 1)]
    names = (typed.name_of(part) for text in who for part in _BETWEEN.split(text.lower()))
    return next((name for name in names if name and not _UNFIT.search(name) and name not in others), "")


def _renamed(found: Mapping[str, str], i: int, was: str) -> dict[str, str]:
    """The fields that say the name of player ``i``, with one that it can have: near the one that it ``was`` given where
    lessons have that, else one that only they have. A name that others have, too, is theirs in the lessons."""
    rows = [k for k in range(1, player_fields.ROWS + 1) if k != i]
    others = {typed.name_of(found.get(f"name{k}") or player_fields.name_of_row(k)) for k in rows}
    bare = typed.name_of(_UNFIT.sub("", was).strip(" -"))[:24]
    naming = [f"{field}{k}" for field in _NAMING for k in range(1, lesson_fields.HELD + 1) if f"{field}{k}" in found]
    said = re.compile(re.escape(was), re.IGNORECASE)
    written = bool(was) and any(said.search(found[field]) for field in naming)
    own, meant = "" if bare in others else bare, _meant(found, others)
    now = (own or meant if written else meant or own) or player_fields.name_of_row(i)
    if not was or typed.name_of(was) in others:
        return {f"name{i}": now}
    return {f"name{i}": now} | {field: said.sub(now, found[field]) for field in naming}
