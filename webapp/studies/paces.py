"""How fast battles are here: what earlier searches and random lineups tell of a search that is still to come."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

from webapp.studies import progress
from webapp.studies.models import Job, Status
from webapp.studies.sampling import speed

LATEST = 8
"""Earlier searches that are asked."""
SPANS = 24
"""Stretches of about as many rounds each that a search is cut into at most."""
FEWEST_SPANS = 3
"""Fewer tell nothing: of two rounds there is one, and a wait for a processor in it looks like the game's own pace."""
LEAST_S = 2.0
"""Seconds that all of them took at least."""


@dataclass(frozen=True)
class Pace:
    """Battles a second of one worker. ``sampled``: as random lineups tell; ``earlier``: lowest and highest of earlier
    searches. None: not known."""

    sampled: float | None = None
    earlier: tuple[float, float] | None = None

    @property
    def ends(self) -> tuple[float, float] | None:
        """Lowest and highest: one worker of a sample is what there is to go by where no search was played."""
        if self.earlier is None and self.sampled is not None:
            return 0.55 * self.sampled, 1.15 * self.sampled
        return self.earlier


class Span(NamedTuple):
    """Some rounds of a search on its workers."""

    battles: float
    seconds: float
    workers: int

    @property
    def pace(self) -> float:
        return self.battles / self.seconds / self.workers


def known(sample: Job | None) -> Pace:
    """All that is known for the search that ``sample`` was played for."""
    return Pace(pace_of(sample), _earlier(sample)) if sample is not None else Pace()


def pace_of(sample: Job | None) -> float | None:
    """Battles a second of one worker: as a sample found it, or an earlier one of the game while that has not begun."""
    if sample is None:
        return None
    found = speed(sample)
    if found is None and sample.game_version is not None:
        others = Job.objects.filter(kind=Job.Kind.SAMPLE, game_version__spec_hash=sample.game_version.spec_hash)
        paces = (speed(other) for other in others.exclude(pk=sample.pk).order_by("-pk")[:3])
        found = next((pace for pace in paces if pace is not None), None)
    return found


def _earlier(sample: Job) -> tuple[float, float] | None:
    """From the latest searches on the same simulator and with as large lineups: the paces that a quarter of all battles
    were slower, and faster, than. So what was played least counts least."""
    if sample.game_version is None:
        return None
    same = {"game_version__spec_hash": sample.game_version.spec_hash}
    same |= {"config__lineups__teams": sample.config["lineups"]["teams"]}
    done = Job.objects.filter(kind=Job.Kind.SEARCH, status=Status.FINISHED, **same).order_by("-pk")[:LATEST]
    spans = sorted((span for job in done for span in _spans(job)), key=lambda span: span.pace)
    if sum(span.seconds for span in spans) < LEAST_S:
        return None
    return 0.9 * _quantile(spans, 0.25), 1.1 * _quantile(spans, 0.75)


def _spans(job: Job) -> list[Span]:
    """Stretches of a search between its first round and its last, so without the start of its workers; none where there
    are too few to tell an even pace from a wait."""
    found = list(_between(job))
    return found if len(found) >= FEWEST_SPANS else []


def _between(job: Job) -> Iterator[Span]:
    told = progress.rounds(job, SPANS)
    workers = job.config.get("pool", {}).get("workers", 1)
    rounds = [(b, s) for b, s in zip(told["battles"], told["seconds"], strict=True) if b is not None and s is not None]
    for (battles, seconds), (more, later) in pairwise(rounds):
        if more > battles and later > seconds:
            yield Span(more - battles, later - seconds, workers)


def _quantile(spans: Sequence[Span], share: float) -> float:
    """The pace below which this share of the battles was played; ``spans`` from the slowest to the fastest."""
    played = list(accumulate(span.battles for span in spans))
    return spans[bisect_left(played, share * played[-1])].pace
