"""The record of a study beside its algorithm: everything evaluated, its Pareto front, and totals.

Columns go to the store tick by tick (chunks); the ``Archive`` of their objectives stays in memory. A candidate that is
measured further appears again in the chunk of that tick, as one row with its merged estimate: the last row of each id
counts, and a study's final ``archive`` has one row for each candidate.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from engine import columns
from engine.arrays import Bundle, pack, stacked, unpack
from engine.columns import Arrays
from engine.errors import StoreError
from engine.events import Counters
from engine.evolution.algorithm import Individual, Parts, of_part, to_part
from engine.evolution.archive import Archive
from engine.evolution.estimates import merged
from engine.evolution.termination import Termination
from engine.indicators import hypervolume, standard_errors
from engine.problem import GIVEN_UP, Evaluation, Genome, Problem, Request
from engine.store import Store

_NOTHING = np.empty(0)
SHORT = 0.02
"""Smallest difference between candidates that matters for the short list, as a share of the first tick's range."""
SHOWN = ("id", "objective", "covariance", "samples", "violation", "status", "metrics", "descriptor")
"""Columns of evaluations in artifacts."""
MOST_MEASURED = 3
"""Largest number of objectives for a hypervolume: with more it takes too long at every tick."""


class Record:
    """Grows with every evaluation; ``state`` and ``load`` are plain JSON and travel in the checkpoint. ``given_up``:
    how many of those that failed were, because processes ended that evaluated them."""

    unit: ClassVar[str] = "battles"
    """The unit of an evaluation's cost: the name of its counter."""

    def __init__(self, problem: Problem, store: Store) -> None:
        self.problem, self.store = problem, store
        self.signs = [1.0 if o.direction == "max" else -1.0 for o in problem.objectives]
        self.everything = Archive(self.signs, _NOTHING)
        self.rows: dict[int, int] = {}
        self.where: dict[int, int] = {}
        self.chunks: list[str] = []
        self.totals = {"evaluations": 0, self.unit: 0, "cached": 0, "failed": 0}
        self.given_up = 0
        self.reference: list[list[float]] = []
        self.each = 0
        self.planned = 0
        self.before, self.began = 0.0, time.monotonic()
        self.waiting: list[Individual] = []
        self.further: list[tuple[int, Evaluation]] = []
        self.termination = Termination()

    def add(self, request: Request, evaluation: Evaluation, tick: int) -> None:
        """Record the answer to a request."""
        self.totals[self.unit] += evaluation.cost
        self.totals["cached"] += evaluation.cached
        if request.candidate >= 0:
            self.further.append((request.candidate, evaluation))
            return
        self._wait(self.reported(Individual(request.genome, evaluation, tick)))
        self.each = self.each or evaluation.cost

    def add_reported(self, i: Individual) -> None:
        """Record an individual as an earlier attempt reported it."""
        self.totals[self.unit] += i.evaluation.cost
        self._wait(i)

    def _wait(self, i: Individual) -> None:
        self.totals["evaluations"] += 1
        self.totals["failed"] += i.evaluation.status != "ok"
        self.given_up += i.evaluation.reason.startswith(GIVEN_UP)
        self.waiting.append(i)

    def close_chunk(self) -> str:
        """Store the arrivals since the last chunk (in order of birth) and revised estimates of older candidates;
        returns the chunk's hash."""
        found = {i.evaluation.id: i for i in self.waiting}
        self._merge(found)
        self.waiting, self.further = [], []
        arrays = self.arrays([found[i] for i in sorted(found)])
        self._take_in(arrays, len(self.chunks))
        digest = self.store.put(pack(self.meta(), arrays))
        self.chunks.append(digest)
        return digest

    def arrived(self) -> str:
        """Store what has come back since the last chunk, in order of birth; its hash, empty where there is nothing."""
        found = sorted(self.waiting, key=lambda i: i.evaluation.id)
        return self.store.put(pack(self.meta(), self.arrays(found))) if found else ""

    def under_way(self) -> Parts:
        """What waits for its chunk, as parts of a checkpoint within a round; none at the end of a round."""
        found = {"arrived": to_part(self.waiting)} if self.waiting else {}
        if self.further:
            candidates, answers = zip(*self.further, strict=True)
            found["further"] = columns.encode(answers)
            found["further"].arrays["candidate"] = np.array(candidates, np.int64)
        return found

    def load_under_way(self, parts: Parts) -> None:
        """The inverse of ``under_way``, after ``load``."""
        self.waiting = of_part(parts["arrived"]) if "arrived" in parts else []
        if further := parts.get("further"):
            self.further = list(zip(further.arrays["candidate"].tolist(), columns.decode(further), strict=True))

    @property
    def succeeded(self) -> bool:
        """Whether anything could be evaluated so far."""
        return self.totals["evaluations"] > self.totals["failed"]

    def put(self, members: Sequence[Individual]) -> str:
        """Store some individuals as an artifact and return its hash."""
        return self.store.put(pack(self.meta(), self.arrays([self.reported(i) for i in members])))

    def put_fresh(self, members: Sequence[Individual]) -> str:
        """Store individuals that were measured again on fresh seeds and return the hash."""
        return self.put(members)

    def archive(self) -> str:
        """Store everything evaluated as one artifact, by id, and return its hash. ``edge`` is 1 for members of the
        front and 2 for those of them on the short list."""
        if self.waiting or self.further:
            self.close_chunk()
        parts = [unpack(self.store.get(digest)).arrays for digest in self.chunks]
        parts = [part for part in parts if len(part["id"])] or [self.arrays([])]
        whole = {name: stacked([part[name] for part in parts]) for name in parts[0]}
        _, last = np.unique(whole["id"][::-1], return_index=True)
        whole = {name: column[len(column) - 1 - last] for name, column in whole.items()}
        edge = np.zeros(len(self.rows), dtype=np.uint8)
        edge[self.everything.front] = 1
        edge[self.short()] = 2
        whole["edge"] = edge[[self.rows[i] for i in whole["id"].tolist()]]
        return self.store.put(pack(self.meta(), whole))

    def short(self) -> NDArray[np.int64]:
        """Rows of the short list: members of the front thinned out to differences that matter."""
        epsilon = self.epsilon()
        return self.everything.epsilon_view(epsilon) if epsilon else self.everything.front.copy()

    def epsilon(self) -> list[float]:
        """The smallest differences that matter, in the objectives' units; empty before anything was evaluated."""
        if not self.reference:
            return []
        low, high = self.reference
        return [SHORT * (b - a if b > a else 1.0) for a, b in zip(low, high, strict=True)]

    def genes(self, genome: Genome) -> Genome:
        """A genome as artifacts show it."""
        return genome

    def shown(self, evaluation: Evaluation) -> Evaluation:
        """An evaluation as artifacts show it."""
        return evaluation

    def reported(self, i: Individual) -> Individual:
        """An individual as artifacts show it."""
        return i._replace(genome=self.genes(i.genome), evaluation=self.shown(i.evaluation))

    def arrays(self, members: Sequence[Individual]) -> Arrays:
        """The columns of reported individuals: ``SHOWN``, ``genome``, ``tick`` and the standard ``error`` of each
        objective. ``descriptor`` only when the problem names descriptors (NaN for a candidate that has none)."""
        n, m, k = len(members), len(self.problem.objectives), len(self.problem.metrics)
        found = columns.encode([i.evaluation for i in members]).arrays
        arrays = {name: found[name] for name in SHOWN if name in found}
        arrays |= {"objective": found["objective"].reshape(n, m), "metrics": found["metrics"].reshape(n, k)}
        arrays["covariance"] = covariance = found["covariance"].reshape(n, m, m)
        arrays["error"] = standard_errors(covariance, arrays["objective"])
        arrays["genome"] = np.array([i.genome for i in members])
        arrays["tick"] = np.array([i.tick for i in members], np.int32)
        if self.problem.descriptors:
            arrays.setdefault("descriptor", np.full((n, len(self.problem.descriptors)), np.nan))
        return arrays

    def restored(self, arrays: Arrays) -> list[Individual]:
        """The inverse of ``arrays`` (costs, contexts and reasons of failures are not kept)."""
        shown = {name: arrays[name] for name in SHOWN if name in arrays}
        rows = zip(arrays["genome"], columns.decode(Bundle({}, shown)), arrays["tick"].tolist(), strict=True)
        return [Individual(*row) for row in rows]

    def meta(self) -> dict[str, Any]:
        """Metadata of the columns."""
        return {"objectives": [o.name for o in self.problem.objectives]}

    @property
    def goes_on(self) -> bool:
        """Whether fresh seeds may leave some of the final front ``undecided``, so that nobody knows yet how much is
        played of it."""
        return False

    def undecided(self, fresh: Sequence[Individual], times: int) -> list[int]:
        """Indices of the final front that are undecided by fresh seeds, and that ``times`` as many would settle."""
        return []

    def settle(self, fresh: Sequence[Individual]) -> None:
        """Replace the search's findings on the final front by those from fresh seeds."""

    def judge(self, arrays: Arrays) -> None:
        """Update findings from the rows of a chunk; candidates measured further appear again."""

    def _merge(self, found: dict[int, Individual]) -> None:
        """Merge further replicates into the estimates of their candidates, read from earlier chunks where necessary."""
        # By candidate, then by request: nothing may depend on the order of arrival.
        self.further.sort(key=lambda pair: (pair[0], pair[1].id))
        older = {self.where[c] for c, _ in self.further if c not in found}
        for number in older:
            wanted = {c for c, _ in self.further if self.where.get(c) == number and c not in found}
            arrays = unpack(self.store.get(self.chunks[number])).arrays
            keep = np.isin(arrays["id"], list(wanted))
            found |= {i.evaluation.id: i for i in self.restored({k: v[keep] for k, v in arrays.items()})}
        for c, evaluation in self.further:
            found[c] = found[c]._replace(evaluation=merged(found[c].evaluation, self.shown(evaluation)))

    def _take_in(self, arrays: Arrays, chunk: int) -> None:
        good = (arrays["status"] == 0) & ~(arrays["violation"] > 0)
        for k, i in enumerate(arrays["id"].tolist()):
            self.where[i] = chunk
            if i in self.rows:
                self.everything.revise(self.rows[i], arrays["objective"][k], bool(good[k]))
            else:
                self.rows[i] = self.everything.insert(_NOTHING, arrays["objective"][k], bool(good[k]))
        known = arrays["objective"][arrays["status"] == 0]
        if not self.reference and len(known):
            self.reference = [known.min(axis=0).tolist(), known.max(axis=0).tolist()]
        self.judge(arrays)

    def metrics(self, front: Sequence[Individual]) -> dict[str, float]:
        """The tick's numbers, for charts and key figures."""
        found: dict[str, float] = {key: float(value) for key, value in self.totals.items()}
        found |= {"evaluated": found.pop("evaluations"), "front": float(len(front))}
        found |= {"hypervolume": self.hypervolume(front), "edge": float(len(self.everything.front))}
        found["short_list"] = float(len(self.short()))
        if len(self.signs) <= MOST_MEASURED:
            found["edge_hypervolume"] = self._volume(self.everything.front_objectives)
        return found

    def hypervolume(self, front: Sequence[Individual]) -> float:
        """The front's hypervolume from the worst corner of the box of the first tick's evaluations, in that box's
        units."""
        return self._volume(np.array([i.evaluation.objectives for i in front]).reshape(-1, len(self.signs)))

    def _volume(self, objectives: NDArray[np.float64]) -> float:
        if not len(objectives) or not self.reference:
            return 0.0
        low, high = (np.asarray(corner) for corner in self.reference)
        points = (objectives - low) / np.where(high > low, high - low, 1.0)
        return hypervolume(points, self.signs, [0.0 if sign > 0 else 1.0 for sign in self.signs])

    def counters(self) -> Counters:
        """Totals over the study's whole life."""
        t = self.totals
        seconds = self.before + time.monotonic() - self.began
        return Counters(t["evaluations"], t.get("battles", 0), t["cached"], t.get("steps", 0), seconds, self.planned)

    def state(self) -> dict[str, Any]:
        """As JSON, without what is ``under_way``."""
        return {
            "chunks": self.chunks,
            "totals": self.totals,
            "reference": self.reference,
            "each": self.each,
            "seconds": self.counters().seconds,
            "termination": self.termination.state(),
            **({"given_up": self.given_up} if self.given_up else {}),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Continue from ``state``. Raises StoreError when a chunk is missing."""
        missing = [chunk for chunk in state["chunks"] if not self.store.has(chunk)]
        if missing:
            first = missing[0][:12]
            raise StoreError(f"{len(missing)} parts of the checkpoint's archive are missing, the first is {first}.")
        self.reference, self.each = state["reference"], state["each"]
        for number, digest in enumerate(state["chunks"]):
            self._take_in(unpack(self.store.get(digest)).arrays, number)
        self.chunks, self.totals = list(state["chunks"]), dict(state["totals"])
        self.before, self.began = state["seconds"], time.monotonic()
        self.termination.load(state["termination"])
        self.given_up = state.get("given_up", 0)
