"""Matches of a course to watch: who plays in one, as they are now or were in a lesson, recorded to be watched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from engine.config import parse
from engine.config.agents import RecordConfig
from engine.config.lessons import LessonConfig
from engine.config.limits import LimitsConfig
from engine.config.matches import MatchConfig, Seated
from engine.config.roster import KeptMemberConfig, ScriptMemberConfig
from engine.errors import ConfigError
from webapp.agents import keeping
from webapp.agents.forms import USUAL_SEED
from webapp.arena.reading import CourseReading, sides_of, watchable
from webapp.arena.selves import Selves
from webapp.studies import actions
from webapp.studies.models import Job
from webapp.training.entrants import ROLE

LONGEST = 120
"""Characters of the title of a battle."""
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


def recording(job: Job, place: int) -> RecordConfig:
    """The match at this place of the lesson that is under way, with everybody as they are now. Raises Refused,
    LookupError."""
    course = CourseReading(job)
    selves = Selves(course.config, job.artifacts)

    def now(name: str) -> dict[str, Any]:
        recalled = course.config.roster[name].recalls
        if recalled and (one := selves.stands_for(name, course.number_now)).policy:
            return _learned(f"{name} ({one.words})", one.policy, "")
        of = recalled[0] if recalled else name
        policy = job.artifacts.get(f"{ROLE}/{of}", job.artifacts.get(ROLE, "")) or selves.at_end(of, 0).policy
        return _learned(f"{name} ({of} as it is now)" if recalled else name, policy, NOT_YET)

    return _recording(job, course, course.now, course.now.matches[place], now)


def past_recording(job: Job, number: int, place: int) -> RecordConfig:
    """The match at this place of a lesson that is over, with everybody as they were at its end. Raises Refused,
    LookupError."""
    course = CourseReading(job)
    if not 1 <= number <= course.complete:
        raise LookupError(number)
    lesson, selves = course.config.lesson(number - 1)[1], Selves(course.config, job.artifacts)

    def then(name: str) -> dict[str, Any]:
        recalled = course.config.roster[name].recalls
        was = selves.stands_for(name, number) if recalled else selves.at_end(name, number)
        why = f"The network with which {name} played in lesson {number} was not kept, so this match cannot be watched."
        return _learned(was.words if was.name == name else f"{name} ({was.words})", was.policy, why)

    return _recording(job, course, lesson, lesson.matches[place], then)


def _learned(title: str, policy: str, why: str) -> dict[str, Any]:
    """A player with this policy. Raises Refused where there is none, and says why."""
    if not policy:
        raise actions.Refused(why)
    return {"kind": "frozen", "policy": policy, "title": title}


Known = Callable[[str], dict[str, Any]]
"""Finds a player that learns, or that stands for earlier selves, by its name. Raises Refused."""


def _recording(
    job: Job, course: CourseReading, lesson: LessonConfig, match: MatchConfig, known: Known
) -> RecordConfig:  # fmt: skip
    if not watchable(match, course.offer):
        raise actions.Refused(ACROSS)
    game = course.config.game.model_dump(mode="json")
    game["settings"] = {**game["settings"], **lesson.settings, **match.settings}
    if why := keeping.unplayable(game["name"], job.project):
        raise actions.Refused(why)
    try:
        return parse(RecordConfig, {
            "name": "Battles to watch", "game": game, "seed": USUAL_SEED, **_seated(course, match, known),
        })  # fmt: skip
    except ConfigError as error:
        raise actions.Refused(str(error)) from error


def _seated(course: CourseReading, match: MatchConfig, known: Known) -> dict[str, Any]:
    """Who plays: the first of each side under the names of all on it, everybody else beside them."""
    players = {name: _player(course, name, known) for name in match.policies}
    titles = [_together([players[name]["title"] for name in names]) for names in sides_of(match, course.offer)]
    first: list[dict[str, Any]] = []
    beside: list[dict[str, Any]] = []
    for one in sittings(match, course.offer.squad):
        if one.side == len(first):
            first.append(players[one.policy] | {"title": titles[one.side]})
        else:
            beside.append({"player": players[one.policy], "seats": one.entities})
    return {"agents": first[:1], "opponent": first[1] if len(first) > 1 else None, "beside": beside}


def _together(titles: list[str]) -> str:
    """All of a side, as far as a title has room for them."""
    whole = " and ".join(titles)
    return whole if len(whole) <= LONGEST else f"{whole[: LONGEST - 1].rstrip()}…"


def _player(course: CourseReading, name: str, known: Known) -> dict[str, Any]:
    """One of the roster. Raises Refused."""
    member = course.config.roster[name]
    if isinstance(member, ScriptMemberConfig):
        return {"kind": "scripted", "player": member.player, "title": name}
    if isinstance(member, KeptMemberConfig):
        own = member.limits and member.limits.beyond(course.config.game.limits or LimitsConfig())
        limits = None if own is None else own.model_dump()
        return {"kind": "frozen", "policy": member.policy, "title": name, "sampled": bool(member.sampled),
                "limits": limits}  # fmt: skip
    return known(name)
