"""The tests of the suspects that an experiment named: what is left without them.

They begin by themselves once the experiment beside a search has ended, behind all that people asked for, and play no
more battles than it did; or when somebody asks for them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from django.utils import timezone

from engine.config import DrawnBaselines, LineupConfig, SearchConfig, parse
from engine.config.removal import MOST_LINEUPS, MOST_SUSPECTS, REPLAYED, SEARCHED, RemovalConfig, SuspectConfig
from engine.errors import ConfigError
from engine.lineups.schema import battles_of_lineup
from webapp.studies import actions, companion, patterns, playable, rounds
from webapp.studies.models import Job, Status
from webapp.suspects.evidence import SearchLineups
from webapp.suspects.reading import Suspect, read

KIND = "removal"
SINCE = timedelta(days=1)
"""Experiments that ended longer ago are tested when somebody asks."""
OTHERS = 5
"""Exchanges of a suspect, at most: two of each half, and both."""
NO_LINE = "The search has no line that a lineup can be over, so nothing tells what is left."
NO_ROOM = "The experiment was so short that its suspects cannot be tested with as many battles."


class Size(NamedTuple):
    """How large the tests are: lineups of a suspect, replicates of each exchange, and of what a search finds; then the
    lineups in a round, and the rounds, of each search."""

    lineups: int
    replicates: int
    fresh: int
    population: int = 24
    rounds: int = 0

    def battles(self, suspects: int, each: int) -> int:
        """At most, of so many suspects; ``each``: of one replicate of a lineup."""
        swaps = suspects * self.lineups * (1 + OTHERS) * self.replicates
        searches = (suspects + 1) * (self.population * self.rounds * SEARCHED + REPLAYED * self.fresh)
        return each * (swaps + (searches if self.rounds else 0))

    def searching(self, lineups: int) -> Size:
        """The same with searches of so many lineups."""
        population = min(max(24, round(lineups**0.5 / 2)), 1000)
        return self._replace(population=population, rounds=min(-(-lineups // population), 1000))


SIZES = (Size(MOST_LINEUPS, 32, 32), Size(MOST_LINEUPS, 16, 16), Size(16, 16, 16), Size(10, 12, 12), Size(6, 12, 8))
"""The largest that fits is taken. From eight replicates a change of a ratio has a range that says nothing."""
FOUND = 2
"""A search without a suspect is as long as the search itself was when it had found so many lineups over the line and
strong: one that is shorter hardly finds any, with everything allowed, and so tells nothing."""


def begin_due() -> None:
    """Begin the tests of every experiment beside a search that has ended since yesterday and named something."""
    over = Job.objects.filter(kind="worth", status=Status.FINISHED, finished_at__gte=timezone.now() - SINCE)
    told = over.filter(accompanies__isnull=False, summary__told__gt=0)
    for experiment in told.exclude(accompanies__companions__kind=KIND).select_related("accompanies__project"):
        search = experiment.accompanies
        assert search is not None
        if not obstacle(search):
            begin(search)


def of(search: Job) -> Job | None:
    """The tests of a search's suspects."""
    return companion.of(search, KIND)


def begin(search: Job, *, longer: bool = False) -> Job | None:
    """Start the tests, or ``longer`` ones that search for long enough; None where nothing is named, or nothing can
    be."""
    config = thorough(search) if longer else planned(search)
    return None if config is None else actions.accompany(search, search.created_by, config, changed_anew=True)


def obstacle(search: Job, *, longer: bool = False) -> str:
    """Why the suspects of a search cannot be tested now, in a sentence; empty where they can. ``longer``: by tests that
    search for long enough."""
    if all(objective["threshold"] is None for objective in search.config["objectives"]["objectives"]):
        return NO_LINE
    if reason := playable.obstacle(search):
        return reason
    able = _asked(search) is not None and enough(search) if longer else planned(search) is not None
    return "" if able else NO_ROOM


def planned(search: Job) -> RemovalConfig | None:
    """The tests of all that the experiment names, as large as its battles allow: the first of them where they do not
    allow all; None where nothing is named or not one fits. They search only where they can search for long enough."""
    asked = _asked(search)
    if asked is None:
        return None
    experiment, config, named = asked
    budget, each = companion.tests(int(experiment.config["battles"])), battles_of_lineup(config.lineups, 1)
    long_ = enough(search)
    for count in range(len(named), 0, -1):
        searching = [size.searching(long_) for size in SIZES] if long_ else []
        if size := next((size for size in (*searching, *SIZES) if size.battles(count, each) <= budget), None):
            return _config(search, config, named[:count], size)
    return None


def thorough(search: Job) -> RemovalConfig | None:
    """The largest tests of all that is named, with searches that are long enough, whatever that takes; None where the
    search itself found too little for any to be."""
    asked, long_ = _asked(search), enough(search)
    if asked is None or not long_:
        return None
    return _config(search, asked[1], asked[2], SIZES[0].searching(long_))


def longer(search: Job) -> int:
    """Battles that these take at most; 0 where there are none."""
    asked, long_ = _asked(search), enough(search)
    if asked is None or not long_:
        return 0
    return SIZES[0].searching(long_).battles(len(asked[2]), battles_of_lineup(asked[1].lineups, 1))


def enough(search: Job) -> int:
    """Lineups that a search has to play before it finds any that are over the line and strong, as the search itself
    did; 0 where it hardly found any."""
    told = rounds.columns(search, rounds.evenly(search, max(search.tick, 1)), (), ("strong", "evaluated"))
    pairs = zip(told["strong"], told["evaluated"], strict=True)
    return next((int(played) for strong, played in pairs if played and (strong or 0) >= FOUND), 0)


def _asked(search: Job) -> tuple[Job, SearchConfig, list[Suspect]] | None:
    """The experiment, the settings of the search and what is named; None where nothing is, or they are of old."""
    experiment = companion.of(search)
    named = read(experiment).named[:MOST_SUSPECTS] if experiment is not None else []
    if experiment is None or not named:
        return None
    try:
        return experiment, parse(SearchConfig, search.config), list(named)
    except ConfigError:
        return None


def _config(search: Job, config: SearchConfig, named: Sequence[Suspect], size: Size) -> RemovalConfig:
    lineups, suspects = SearchLineups(search), list[SuspectConfig]()
    for suspect in named:
        genomes, anchors = lineups.holding(suspect.pattern, size.lineups)
        suspects.append(SuspectConfig(pattern=suspect.pattern, genomes=genomes, anchors=anchors))
    return RemovalConfig(
        seed=seed(config.seed), game=config.game, lineups=_same_teams(config), objectives=config.objectives,
        intended=tuple(patterns.intended(search)), suspects=tuple(suspects), replicates=size.replicates,
        population=size.population, rounds=size.rounds, fresh=size.fresh, pool=config.pool,
    )  # fmt: skip


def _same_teams(config: SearchConfig) -> LineupConfig:
    """The rules, with the baseline teams that the search had."""
    rules = config.lineups
    if isinstance(rules.baselines, DrawnBaselines) and rules.baselines.seed is None:
        return rules.model_copy(update={"baselines": rules.baselines.model_copy(update={"seed": config.seed})})
    return rules


def seed(search: int) -> int:
    """Their seed, made of the search's: all of their battles are fresh."""
    return int.from_bytes(hashlib.sha256(f"removal of {search}".encode()).digest()[:6])
