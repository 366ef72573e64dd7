"""The ranges of lineups on fresh battles, kept under the battles they come from: neither a moved line nor a decision
changes them, and a re-check of one lineup changes those of no other."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable

import numpy as np

from engine.confidence import Range
from engine.formula_terms import Parts
from engine.verdicts import Sample
from webapp.studies.models import Job
from webapp.studies.reckoned import keep, recall, version

NAME = "ranges"


class Ranges:
    """What is known of a job's ranges: ``give`` before they are asked for, ``keep`` after."""

    def __init__(self, job: Job) -> None:
        self._job, self._samples = job, dict[str, Sample]()
        self._kept = recall(job, NAME)

    def give(self, samples: Iterable[Sample]) -> None:
        """Tell samples the ranges that were worked out earlier for the same battles."""
        for sample in samples:
            assert sample.known is not None
            name = _content(sample)
            self._samples[name] = sample
            for j, error, low, high in self._kept.get(name, ()):
                sample.known[j, error] = Range(low, high)

    def keep(self) -> None:
        """Keep what is known by now of these samples, where that is more than was kept."""
        now = {
            name: [[j, error, *ends] for (j, error), ends in (sample.known or {}).items()]
            for name, sample in self._samples.items()
        }
        if any(len(ends) > len(self._kept.get(name, ())) for name, ends in now.items()):
            keep(self._job, NAME, now)


def _content(sample: Sample) -> str:
    """Names everything that the ranges of a sample depend on."""
    digest = hashlib.sha256(version().encode())
    arrays = (sample.mean, sample.error, sample.values, sample.low, sample.high, sample.exact, sample.plain,
              sample.battles)  # fmt: skip
    for array in arrays:
        _add(digest, array)
    digest.update(str(sample.samples).encode())
    for parts in sample.parts:
        _add_parts(digest, parts)
    return digest.hexdigest()[:32]


def _add(digest: hashlib._Hash, array: object) -> None:
    found = None if array is None else np.asarray(array)
    digest.update(b"none" if found is None else f"{found.dtype} {found.shape} ".encode() + found.tobytes())


def _add_parts(digest: hashlib._Hash, parts: Parts | None) -> None:
    if parts is None:
        digest.update(b"none")
        return
    for array in (parts.values, parts.low, parts.high):
        _add(digest, array)
    terms = [f"{term.name} {term.fixed}" for term in parts.apart.terms]
    digest.update("\n".join([ast.dump(parts.apart.whole), *terms]).encode())
