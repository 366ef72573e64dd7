"""What a re-check says of its lineups: the very sentences of the explorer, on its own page and in lists of jobs.

They follow from all fresh battles of the search, not from one re-check's alone, so a later one may change them.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from engine.errors import ConfigError, StoreError
from engine.indicators import STRONG, UNDER, UNSURE
from engine.lineups import schema
from engine.verdicts import Finding
from webapp.lib.words import lower_first, number
from webapp.studies import explore_source as source
from webapp.studies.explore_recheck import findings
from webapp.studies.fresh import Fresh
from webapp.studies.fresh_battles import genome_key
from webapp.studies.kinds import Found
from webapp.studies.models import Job
from webapp.studies.verdict_words import VerdictWords

PLAYING, NOT_YET, LOST = "Being played again on fresh battles", "Not re-checked yet", "not known any more"
MARKS: dict[Finding, str] = {"confirmed": "strong", "refuted": "fair", "measured": ""}
"""The verdict marks of findings; any other is ``unsure``."""
VERDICTS = {"strong": STRONG, "unsure": UNSURE, "fair": UNDER}
NEEDS: dict[Finding, str] = {"more": "left open", "close": "too close to tell"}
"""What is not told yet, behind a number of lineups."""


class Checked(NamedTuple):
    """A lineup of a re-check: its name, what is said of it, the same in a word or two, and its verdict mark (empty:
    none). ``verdict``: that mark in charts, by the engine's number; None where nothing is said yet. ``why``: how it can
    be confirmed while its range says less."""

    name: str
    words: str
    short: str
    mark: str = ""
    verdict: int | None = None
    why: str = ""


def checked(job: Job) -> list[Checked]:
    """The lineups of a re-check in its own order. Raises StoreError and ConfigError where its game is no longer
    described."""
    spec = source.spec(job)
    names = [" · ".join(schema.team_name(spec, row) for row in lineup) for lineup in job.config["genomes"]]
    return [each._replace(name=name) for name, each in zip(names, _findings(job), strict=True)]


def _findings(job: Job) -> list[Checked]:
    """The same without the names."""
    said, words = findings(job.parent or job), source.words(job)
    return [_checked(job, said.get(genome_key(lineup)), words) for lineup in job.config["genomes"]]


def _checked(job: Job, fresh: Fresh | None, words: VerdictWords) -> Checked:
    if fresh is None or not job.terminal:
        text = NOT_YET if job.terminal else PLAYING
        return Checked("", text, lower_first(text))
    mark = MARKS.get(fresh.finding, "unsure")
    short = (
        lower_first(fresh.short(words))
        if fresh.endless
        else NEEDS.get(fresh.finding) or lower_first(fresh.short(words))
    )
    return Checked("", fresh.sentence(words), short, mark, VERDICTS.get(mark), fresh.why)


def found(job: Job) -> Found:
    """What an ended re-check says: of one lineup its sentence, of several how many are what."""
    try:
        lineups = _findings(job)
    except (StoreError, ConfigError):
        return Found(LOST)
    also = _with_others(job)
    if len(lineups) == 1:
        return Found(lineups[0].words + also, lineups[0].mark)
    counts = Counter(each.short for each in lineups)
    marks = {each.mark for each in lineups}
    words = ", ".join(f"{number(count)} {short}" for short, count in counts.items())
    worst = next((mark for mark in VERDICTS if mark in marks), "")
    return Found(words + also, worst)


def _with_others(job: Job) -> str:
    """That battles of other re-checks are in what is said, where they are: this one alone may have found less."""
    mine = {genome_key(lineup) for lineup in job.config["genomes"]}
    others = source.rechecks(job.parent) if job.parent else []
    played = [each.config["genomes"] for each in others if each.pk != job.pk and each.artifacts.get("result")]
    shared = any(genome_key(lineup) in mine for genomes in played for lineup in genomes)
    return ", by all their re-checks together" if shared else ""
