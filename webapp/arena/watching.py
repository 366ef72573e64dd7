"""Matches of a course to watch: who plays in one, as they are now, recorded to be watched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from engine.config import parse
from engine.config.agents import RecordConfig
from engine.config.limits import LimitsConfig
from engine.config.matches import MatchConfig, Seated
from engine.config.roster import KeptMemberConfig, ScriptMemberConfig
from engine.errors import ConfigError
from webapp.agents import keeping
from webapp.agents.forms import USUAL_SEED
from webapp.arena.reading import CourseReading, sides_of
from webapp.studies import actions
from webapp.studies.models import Job
from webapp.training.entrants import ROLE

NOT_YET = "Nothing is learned yet: the first round is not complete."
ACROSS = "One player steers entities of both sides together, or in another order: that cannot be drawn here."


class Sitting(NamedTuple):
    """A player of a match and its entities on a side: all that it steers one by one, or those of one group."""

    policy: str
    side: int
    entities: list[int]


def sittings(match: MatchConfig, squad: int) -> list[Sitting]:
    """Everybody who plays, in the order of their first entities; ``squad``: entities of a side."""
    found: dict[tuple[str, int, Seated | None], Sitting] = {}
    for one in sorted(match.seated, key=lambda seated: min(seated.entities)):
        side = min(one.entities) // squad
        sitting = found.setdefault((one.policy, side, one if one.together else None), Sitting(one.policy, side, []))
        sitting.entities.extend(one.entities)
    return list(found.values())


def watchable(course: CourseReading, match: MatchConfig) -> bool:
    """Whether all sides play, and every group is of one side, its entities in the game's order."""
    squad = course.offer.squad
    groups = [one.entities for one in match.seated if one.together]
    ordered = all(list(each) == sorted(each) and each[0] // squad == each[-1] // squad for each in groups)
    return ordered and len(sides_of(match, course.offer)) == max(1, len(course.offer.sides))


def recording(job: Job, place: int) -> RecordConfig:
    """The match at this place of the lesson that is under way, as a battle to watch. Raises Refused, LookupError."""
    course = CourseReading(job)
    match = course.now.matches[place]
    if not watchable(course, match):
        raise actions.Refused(ACROSS)
    game = course.config.game.model_dump(mode="json")
    game["settings"] = {**game["settings"], **course.now.settings, **match.settings}
    if why := keeping.unplayable(game["name"], job.project):
        raise actions.Refused(why)
    try:
        return parse(RecordConfig, {
            "name": "Battles to watch", "game": game, "seed": USUAL_SEED, **_seated(job, course, match),
        })  # fmt: skip
    except ConfigError as error:
        raise actions.Refused(str(error)) from error


def _seated(job: Job, course: CourseReading, match: MatchConfig) -> dict[str, Any]:
    """Who plays: the first of each side under the names of all on it, everybody else beside them."""
    titles = [" and ".join(names) for names in sides_of(match, course.offer)]
    first: list[dict[str, Any]] = []
    beside: list[dict[str, Any]] = []
    for one in sittings(match, course.offer.squad):
        if one.side == len(first):
            first.append(_player(job, course, one.policy) | {"title": titles[one.side]})
        else:
            beside.append({"player": _player(job, course, one.policy), "seats": one.entities})
    return {"agents": first[:1], "opponent": first[1] if len(first) > 1 else None, "beside": beside}


def _player(job: Job, course: CourseReading, name: str) -> dict[str, Any]:
    """One of the roster as it is now; of a pool the latest earlier self of its first policy."""
    member = course.config.roster[name]
    if isinstance(member, ScriptMemberConfig):
        return {"kind": "scripted", "player": member.player, "title": name}
    if isinstance(member, KeptMemberConfig):
        own = member.limits and member.limits.beyond(course.config.game.limits or LimitsConfig())
        limits = None if own is None else own.model_dump()
        return {"kind": "frozen", "policy": member.policy, "title": name, "sampled": bool(member.sampled),
                "limits": limits}  # fmt: skip
    policy = _learned(job.artifacts, name, member.recalls)
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
