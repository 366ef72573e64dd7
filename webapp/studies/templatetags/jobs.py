"""Jobs on pages: how far one is, how long it took, what it asks, what data it plays. ``{% load jobs %}``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from webapp.games.models import GameVersion
from webapp.lib import words
from webapp.lib.words import number, plural
from webapp.projects.frame import Frame
from webapp.studies import commanders, kinds, warned
from webapp.studies.commanders import Led
from webapp.studies.compare.measures import asks, effort
from webapp.studies.kind_words import kind_and_game
from webapp.studies.models import Job
from webapp.studies.overview import pace
from webapp.studies.took import took_words

_HEAD = re.compile(r".*?[.:](?=\s|$)", re.DOTALL)

register = template.Library()
register.filter("asks", asks)
register.filter("effort", effort)
register.filter("parts", kinds.of)
register.filter("pace", pace)
register.filter("kind_and_game", kind_and_game)
register.filter("took", took_words)
register.filter("warned", warned.of)
register.filter("data", commanders.played_on)
register.filter("may_be_led", commanders.may_be_led)


@register.filter
def has_policy(job: Job) -> bool:
    """Whether a job has left a policy that can be downloaded, or several, and that has learned from something."""
    return job.counters.get("steps") != 0 and any(role.partition("/")[0] == "policy" for role in job.artifacts)


@register.filter
def learns_by(job: Job) -> str:
    """The method by which its one agent learns; empty for a job of several, or of none."""
    parts = kinds.of(job)
    return parts.learns_by(job) if parts.one_agent else ""


@register.simple_tag
def other_trainings() -> list[tuple[str, str]]:
    """Kinds of study that train agents in other ways than a training does, each with what it does."""
    return kinds.trained()


@register.filter
def amounts(job: Job) -> str:
    """What it has played, in words: "1,200 episodes · 36,418 decisions, measuring included"; empty before it has."""
    of = kinds.of(job)
    battles, steps = (int(job.counters.get(unit, 0)) for unit in ("battles", "steps"))
    said = ([plural(battles, of.plays)] if battles else []) + ([f"{number(steps)} {of.decided}"] if steps else [])
    return " · ".join(said)


@register.simple_tag
def led(job: Job) -> Led | None:
    """Who led its battles; None: the game's own script."""
    found = (job.config.get("game") or {}).get("commander")
    return commanders.led(job.project, found) if found else None


class HistoryLine(NamedTuple):
    """Lines of a job's history that say the same, as one. ``at`` and ``first``: seconds since 1970 of the newest and
    of the oldest; ``head``: how something serious begins."""

    at: float
    head: str
    words: str
    serious: bool
    waits: bool
    many: int
    first: float


@register.filter
def lines(history: Sequence[Mapping[str, Any]]) -> list[HistoryLine]:
    """What happened, newest first, as ``static/js/job/history.js`` tells it."""
    found = []
    for text, group in groupby(history, key=itemgetter("words")):
        same = list(group)
        newest, serious = same[0], bool(same[0].get("serious"))
        began = _HEAD.match(text)
        head = "" if not serious else began[0] if began else text
        waits, first = bool(newest.get("waits")), same[-1]["at"]
        found.append(HistoryLine(newest["at"], head, text.removeprefix(head), serious, waits, len(same), first))
    return found


@register.simple_tag
def exactly(seconds: float) -> SafeString:
    """A time since 1970 to the second; ``static/js/time.js`` rewrites it in the reader's own time zone."""
    at = datetime.fromtimestamp(seconds, UTC)
    return format_html('<time datetime="{}" data-exactly>{}</time>', at.isoformat(), words.exactly(at))


class Shown(NamedTuple):
    """``older``: the project has newer data."""

    version: GameVersion | None
    older: bool


@register.simple_tag(takes_context=True)
def data_version(context: template.Context) -> Shown:
    """The game data that a page is about: what its job pinned (none where a player is trained), what compared searches
    share, the version that is shown; on any other page the project's newest."""
    frame: Frame = context["frame"]
    newest = None if frame.project is None else frame.project.versions.first()
    version = _version(context, newest)
    return Shown(version, older=version != newest)


def _version(context: template.Context, newest: GameVersion | None) -> GameVersion | None:
    job, version = context.get("job"), context.get("version")
    if isinstance(job, Job):
        return job.game_version
    if compared := getattr(context.get("found"), "jobs", ()):
        pinned = {each.game_version for each in compared}
        return pinned.pop() if len(pinned) == 1 else None
    return version if isinstance(version, GameVersion) else newest
