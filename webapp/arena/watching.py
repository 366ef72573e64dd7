"""Matches of a course to watch: who plays in one, as they are now, recorded to be watched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.config import parse
from engine.config.agents import RecordConfig
from engine.config.matches import MatchConfig
from engine.config.roster import KeptMemberConfig, ScriptMemberConfig
from engine.errors import ConfigError
from webapp.agents import keeping
from webapp.agents.forms import USUAL_SEED
from webapp.arena.reading import CourseReading, sides_of
from webapp.studies import actions
from webapp.studies.models import Job
from webapp.training.entrants import ROLE

NOT_YET = "Nothing is learned yet: the first round is not complete."
TOGETHER = "Several players share a side of this match, or one steers a part of it: it cannot be drawn here."


def watchable(course: CourseReading, match: MatchConfig) -> bool:
    """Whether each side of a match has one player, which plays its entities one by one or all of them together."""
    sides = sides_of(match, course.offer)
    whole = all(not one.together or len(one.entities) == course.offer.squad for one in match.seated)
    return whole and len(sides) == max(1, len(course.offer.sides)) and all(len(names) == 1 for names in sides)


def recording(job: Job, place: int) -> RecordConfig:
    """The match at this place of the lesson that is under way, as a battle to watch. Raises Refused, LookupError."""
    course = CourseReading(job)
    match = course.now.matches[place]
    if not watchable(course, match):
        raise actions.Refused(TOGETHER)
    game = course.config.game.model_dump(mode="json")
    game["settings"] = {**game["settings"], **course.now.settings, **match.settings}
    if why := keeping.unplayable(game["name"], job.project):
        raise actions.Refused(why)
    first, *others = (_player(job, course, names[0]) for names in sides_of(match, course.offer))
    try:
        return parse(RecordConfig, {
            "name": "Battles to watch", "game": game, "seed": USUAL_SEED, "agents": [first],
            "opponent": others[0] if others else None,
        })  # fmt: skip
    except ConfigError as error:
        raise actions.Refused(str(error)) from error


def _player(job: Job, course: CourseReading, name: str) -> dict[str, Any]:
    """One of the roster as it is now; of a pool the latest earlier self of its first policy."""
    member = course.config.roster[name]
    if isinstance(member, ScriptMemberConfig):
        return {"kind": "scripted", "player": member.player, "title": name}
    policy = member.policy if isinstance(member, KeptMemberConfig) else _learned(job.artifacts, name, member.recalls)
    if not policy:
        raise actions.Refused(NOT_YET)
    return {"kind": "frozen", "policy": policy, "title": name}


def _learned(artifacts: Mapping[str, str], name: str, recalls: tuple[str, ...]) -> str:
    """The description of a policy as it is, or of the latest earlier self; empty where there is none yet."""
    of = recalls[0] if recalls else name
    earlier = [role for role in artifacts if recalls and role.startswith(f"{ROLE}/{of}@")]
    if earlier:
        return artifacts[max(earlier, key=lambda role: int(role.rpartition("@")[2]))]
    return artifacts.get(f"{ROLE}/{of}", artifacts.get(ROLE, ""))
