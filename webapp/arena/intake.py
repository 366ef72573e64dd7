"""Courses that the API and the form start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.catalog import built_in
from engine.config.arena import ArenaConfig
from engine.config.arena_plan import misfits
from engine.config.evaluate import SavedConfig, ScriptConfig
from engine.config.lessons import NOBODY_WINS, LessonConfig
from engine.config.matches import MatchConfig
from engine.config.roster import KeptMemberConfig, OwnMemberConfig, ScriptMemberConfig
from webapp.projects.models import Project
from webapp.studies.intake import Table
from webapp.training import beginnings, games, methods
from webapp.training.entrants import foreign, game_of, plays
from webapp.training.games import OFFERS, Offer
from webapp.training.intake import GameIntake

OWN = "a player of one’s own runs as a program, so the site does not start it: use the command line"


class ArenaIntake(GameIntake):
    """How the site starts a course: in a game that may be played here, with policies and scripts that are there."""

    def workers(self) -> int:
        """Copies of the matches are the study's own setting."""
        return 0

    def title(self, game: str, asked: Table) -> str:
        """What it is called where the body says nothing."""
        return f"Lessons: {game}"

    def unfit(self, data: Table, study: Any, project: Project) -> Iterator[tuple[str, str]]:
        """Also settings of matches, players that may not play, and entries that do not fit the game."""
        yield from super().unfit(data, study, project)
        if isinstance(study, ArenaConfig):
            yield from misfits(study)
            yield from _roster(study, project)
            yield from beginnings.unfit(study, project)
            yield from _matches(study, project)
            yield from _measures(study, project)


def _roster(study: ArenaConfig, project: Project) -> Iterator[tuple[str, str]]:
    """Who of the roster may not play."""
    players: dict[str, Any] = {}
    for name, member in study.roster.items():
        if isinstance(member, OwnMemberConfig):
            yield f"roster.{name}.factory", OWN
        elif isinstance(member, KeptMemberConfig):
            if not beginnings.known(member.policy, project):
                yield f"roster.{name}.policy", beginnings.UNKNOWN
            elif not plays(home := _home(member.policy, project), study.game.name):
                yield f"roster.{name}.policy", f"it was trained in {games.title_of(home, project)}"
        elif isinstance(member, ScriptMemberConfig):
            players[name] = ScriptConfig(kind="scripted", player=member.player)
    found: dict[str, SavedConfig | ScriptConfig] = players
    for place, why in foreign(found, study.game.name, project):
        yield f"roster.{place.removeprefix('policies.')}", why


def _home(policy: str, project: Project) -> str:
    """The engine's name of the game that one of the project's policies was trained in."""
    if (agent := project.agents.filter(policy=policy).first()) is not None:
        return str(agent.game["name"])
    jobs = project.jobs.exclude(artifacts={})
    return next((game_of(job) for job in jobs if policy in job.artifacts.values()), "")


def _matches(study: ArenaConfig, project: Project) -> Iterator[tuple[str, str]]:
    """What does not fit a game on the menu; of a program only the engine can tell."""
    offer = OFFERS[games.named(study.game.name, project)[0]]
    for i, lesson in enumerate(study.lessons):
        yield from _settings(f"lessons.{i}", lesson, study, project)
        for k, match in enumerate(lesson.matches):
            place = f"lessons.{i}.matches.{k}"
            yield from _settings(place, match, study, project)
            if offer.key != games.SIMULATOR:
                entities = max(1, len(offer.sides) * offer.squad)
                yield from ((f"{place}.{at}", why) for at, why in match.miscounted(entities, offer.title))
                yield from ((f"{place}.{at}", why) for at, why in match.across(offer.squad))
                yield from ((f"{place}.{at}", why) for at, why in _unable(match, study, offer))


def _measures(study: ArenaConfig, project: Project) -> Iterator[tuple[str, str]]:
    """What counts wins where nobody can win, or nobody can meet; of a program only the engine can tell."""
    known = built_in(study.game.name)
    if known is not None and known.without_wins:
        for i, lesson in enumerate(study.lessons):
            yield from ((f"lessons.{i}.{place}", NOBODY_WINS) for place in lesson.counts_wins)
    offer = OFFERS[games.named(study.game.name, project)[0]]
    if study.tournament is not None and offer.key != games.SIMULATOR and not offer.for_two:
        yield "tournament", "a tournament is of players who meet, and this game has no two sides: leave it out"


def _settings(
    place: str, part: LessonConfig | MatchConfig, study: ArenaConfig, project: Project
) -> Iterator[tuple[str, str]]:
    """Settings that the game does not have."""
    found = games.unfit(study.game.name, part.settings, project) if part.settings else []
    return ((f"{place}.{at}", why) for at, why in found if at.startswith("settings."))


def _unable(match: MatchConfig, study: ArenaConfig, offer: Offer) -> Iterator[tuple[str, str]]:
    """Learners that cannot see or act as the game's entities do."""
    does = games.does(offer, study.game.name)
    for one in match.seated:
        learner = study.learners.get(one.policy)
        if learner is not None and (why := methods.unable(learner.kind, does, offer.sees)):
            yield one.place, why
