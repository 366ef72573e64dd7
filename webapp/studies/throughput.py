"""How fast battles are here: what earlier searches and random lineups tell of a search that is still to come."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import NamedTuple

from engine.config import LineupConfig
from webapp.studies import commanders, plans, progress
from webapp.studies.models import Job, Status
from webapp.studies.random_lineups import speed
from webapp.studies.took import took

LATEST = 8
"""Earlier searches that are asked."""
SPANS = 24
"""Stretches of about as many rounds each that a search is cut into at most."""
FEWEST_SPANS = 3
"""Fewer tell nothing: of two rounds there is one, and a wait for a processor in it looks like the game's own pace."""
LAST = 3
"""Of them so many tell what a search takes beside its battles: the machine may be busier than it was."""
START = 6.0
"""Seconds that a search takes beside its battles, where none was played."""
LEAST_S = 2.0
"""Seconds that all of them took at least."""


@dataclass(frozen=True)
class Throughput:
    """Battles a second of one worker. ``sampled``: as random lineups tell; ``earlier``: lowest and highest of earlier
    searches. None: not known. ``beside``: seconds, least and most, that a search takes beside its battles: its program
    and its workers start, and at its end what it found is put together. ``runs``: earlier searches of the game that
    those are from; 0: they are a guess."""

    sampled: float | None = None
    earlier: tuple[float, float] | None = None
    beside: tuple[float, float] = (START, START)
    runs: int = 0

    @property
    def ends(self) -> tuple[float, float] | None:
        """Lowest and highest: one worker of a sample is what there is to go by where no search was played."""
        if self.earlier is None and self.sampled is not None:
            return 0.55 * self.sampled, 1.15 * self.sampled
        return self.earlier


class MeasuredRounds(NamedTuple):
    """Some rounds of a search on its workers."""

    battles: float
    seconds: float
    workers: int

    @property
    def pace(self) -> float:
        return self.battles / self.seconds / self.workers


def known(sample: Job | None) -> Throughput:
    """All that is known for the search that ``sample`` was played for."""
    if sample is None:
        return Throughput()
    done = _done(sample)
    found = Throughput(pace_of(sample), _earlier(done))
    if found.ends is None:
        return found
    spent = sorted([_beside(job, found.ends) for job in done if took(job) is not None][:LAST])
    return replace(found, beside=(spent[0], spent[-1]), runs=len(spent)) if spent else found


def seconds(battles: int, workers: int, pace: Throughput) -> tuple[float, float] | None:
    """(shortest, longest) a search of so many battles may take, its start and its end included. None: nobody knows."""
    if pace.ends is None:
        return None
    (low, high), (least, most) = pace.ends, pace.beside
    return least + battles / (high * workers), most + 1.08 * battles / (low * workers)


def _beside(job: Job, ends: tuple[float, float]) -> float:
    """Seconds that a search took before its rounds and after them, less the battles that are planned there: by its own
    pace, or where it has too few rounds for one by the middle of ``ends``."""
    spans = _spans(job)
    pace = _quantile(sorted(spans, key=lambda span: span.pace), 0.5) if spans else sum(ends) / 2
    columns = progress.rounds(job, SPANS)
    seconds, battles = ([each or 0.0 for each in columns[name]] for name in ("seconds", "battles"))
    between = seconds[-1] - seconds[0] if seconds else 0.0  # the first round told and the last: waits are no start
    rest = sum(battles[:1]) + edge(job)
    workers = int(job.config.get("pool", {}).get("workers", 1))
    return max(0.0, (took(job) or 0.0) - between - rest / pace / workers)


def edge(job: Job) -> int:
    """Battles that were planned for the edge of a search; what it leaves open not counted."""
    if not job.config.get("fresh"):
        return 0
    algorithm = job.config.get("algorithm", {})
    size = plans.Plan(
        int(algorithm.get("population", 0)), int(job.config.get("ticks", 1)), int(job.config.get("replicates", 1))
    )
    rules, objectives = LineupConfig.model_validate(job.config["lineups"]), job.config["objectives"]["objectives"]
    size_of_edge = plans.edge_of(job.template, len(objectives), int(algorithm.get("bins", 0)))
    return plans.edge_battles(size, rules, int(job.config["fresh"]), size_of_edge)


def pace_of(sample: Job | None) -> float | None:
    """Battles a second of one worker: as a sample found it, or an earlier one of the game while that has not begun."""
    if sample is None:
        return None
    found = speed(sample)
    if found is None and sample.game_version is not None:
        same = {"game_version__spec_hash": sample.game_version.spec_hash, **commanders.alike(sample.config)}
        others = Job.objects.for_forms().filter(**same)
        speeds = (speed(other) for other in others.exclude(pk=sample.pk).order_by("-pk")[:3])
        found = next((pace for pace in speeds if pace is not None), None)
    return found


def _done(sample: Job) -> list[Job]:
    """The latest searches on the same simulator, under the same commander and with as large lineups, newest first."""
    if sample.game_version is None:
        return []
    same = {"game_version__spec_hash": sample.game_version.spec_hash}
    same |= {"config__lineups__teams": sample.config["lineups"]["teams"], **commanders.alike(sample.config)}
    return list(Job.objects.filter(kind="search", status=Status.FINISHED, **same).order_by("-pk")[:LATEST])


def _earlier(done: Sequence[Job]) -> tuple[float, float] | None:
    """The paces that a quarter of all battles of these searches were slower, and faster, than. So what was played least
    counts least."""
    spans = sorted((span for job in done for span in _spans(job)), key=lambda span: span.pace)
    if sum(span.seconds for span in spans) < LEAST_S:
        return None
    return 0.9 * _quantile(spans, 0.25), 1.1 * _quantile(spans, 0.75)


def _spans(job: Job) -> list[MeasuredRounds]:
    """Stretches of a search between its first round and its last, so without the start of its workers; none where there
    are too few to tell an even pace from a wait."""
    found = list(_between(job))
    return found if len(found) >= FEWEST_SPANS else []


def _between(job: Job) -> Iterator[MeasuredRounds]:
    columns = progress.rounds(job, SPANS)
    workers = job.config.get("pool", {}).get("workers", 1)
    rounds = [
        (b, s) for b, s in zip(columns["battles"], columns["seconds"], strict=True) if b is not None and s is not None
    ]
    for (battles, seconds), (more, later) in pairwise(rounds):
        if more > battles and later > seconds:
            yield MeasuredRounds(more - battles, later - seconds, workers)


def _quantile(spans: Sequence[MeasuredRounds], share: float) -> float:
    """The pace below which this share of the battles was played; ``spans`` from the slowest to the fastest."""
    played = list(accumulate(span.battles for span in spans))
    return spans[bisect_left(played, share * played[-1])].pace
