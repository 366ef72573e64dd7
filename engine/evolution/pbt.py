"""Population based training (Jaderberg et al. 2017, algorithm 1; composed as in Lamarckian): members train step by
step, each with its own weights and hyper-parameters; a member that lags copies the weights and hyper-parameters of a
better one (exploit) and then changes the hyper-parameters (explore).

A genome is the hyper-parameters. A request names the stored training to continue from (``TrainingContext.start``) and
unused replicates; the evaluation returns the store hash of the new training (Lamarckian inheritance). The same step of
two members uses the same replicates: common random numbers.

Exploit: ``truncation`` (the lowest ``share`` copy a member drawn from the highest), ``welch`` (copy a random rival that
Welch's t-test finds better) or ``both`` (the paper's two, one after the other). Explore: each number is multiplied by
0.8 or 1.2 or, with probability ``resample``, drawn again; other genes change only by being drawn again.

Departures:

1. The default is synchronous (all members step, then all that are ready exploit in order), so that a study can be
   repeated bit for bit; ``steady`` is the paper's: each member continues by itself, compared with the others' current
   state.
2. Welch's test uses the replicates of each member's latest evaluation (mean, covariance, samples) instead of the last
   ten episodes. With several objectives a rival is better when the test finds it better in at least one and worse in
   none; truncation ranks by NSGA-II's order.
3. A member whose step failed keeps its weights, ranks last, and copies at the next exploit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from engine.arrays import Bundle
from engine.columns import Arrays
from engine.config.algorithms import PBTConfig
from engine.evolution.algorithm import Individual, Parts, Population, Progress
from engine.evolution.nsga2 import best_first
from engine.evolution.search import PopulationSearch, View
from engine.problem import TRAINED, Evaluation, Genome, Problem, Request, TrainingContext

FACTORS = (0.8, 1.2)
LINEAGE = ("id", "member", "step", "parent", "copied")


class Step(NamedTuple):
    """One row of the lineage: request ``id`` is step ``step`` of ``member`` (from 0) and continues from the weights of
    request ``parent`` (-1: none). ``copied``: the member that the weights were copied from, -1: its own weights."""

    id: int
    member: int
    step: int
    parent: int
    copied: int


class PBT(PopulationSearch):
    """``ready``: steps between exploits; ``share``: share of the population that truncation replaces; ``level``:
    Welch's p below which a rival is better; ``resample``: probability that a gene is drawn again instead of perturbed.
    ``trained``: hash of each member's training; ``starts``: hash of the training that an outstanding request continues.
    """

    Settings = PBTConfig
    settings: PBTConfig
    stream = "pbt"
    kept = ("trained", "begun")

    def _begin(self) -> None:
        self.latest: dict[int, Individual] = {}
        self.trained = [""] * self.N
        self.starts: dict[int, str] = {}
        self.begun = [0] * self.N
        self.lineage: list[Step] = []
        self.genes: list[Genome] = []

    def _initial(self) -> Genome:
        genomes = self.problem.space.sample(self.rng, self.N)
        for member, genome in enumerate(genomes):
            self._plan(member, genome, -1, "")
        return genomes

    def _offspring(self, n: int) -> Genome:
        """The next step of each member."""
        return np.stack([self._next(member) for member in range(self.N)])

    def _survivors(self, R: Population, n: int) -> NDArray[np.int64]:
        return best_first(R)[:n]

    def ask(self, room: int) -> list[Request]:
        """The next step of each idle member; ``room`` is ignored, because a member has one step at a time."""
        asked, self.unasked = self.unasked, []
        return [self._request(i) for i in asked]

    def tell(self, evaluation: Evaluation) -> list[Progress]:
        """Take a trained and measured step. Synchronous: members continue when all have finished their step."""
        genome = self.outstanding.pop(evaluation.id)
        self.arrived.append(Individual(genome, evaluation, self.tick + 1))
        self.evaluated += 1
        whole = self.evaluated % self.N == 0
        if self.steady or whole:
            self._collect()
        if len(self.latest) == self.N:
            self._gathered(list(self.latest.values()))
        if whole:
            self.tick += 1
            self.done = self.tick >= self.T
        if self.steady and self.next_id < self.N * self.T:
            self._propose(self._next(self.lineage[evaluation.id].member)[None])
        elif whole and not self.steady and not self.done:
            self._propose(self._offspring(self.N))
        return [Progress(self.tick)] if whole else []

    def alive(self) -> set[int]:
        """Ids of the steps whose weights are still built upon."""
        return {step.parent for step in self.lineage}

    def history(self) -> Arrays:
        """The lineage as columns (``Step``), with each step's hyper-parameters ``genome`` [rows, ...]: all copies
        between members, and each member's schedule of hyper-parameters."""
        rows = np.array(self.lineage, dtype=np.int64).reshape(-1, len(LINEAGE))
        return {name: rows[:, k] for k, name in enumerate(LINEAGE)} | {"genome": np.stack(self.genes)}

    def views(self, genes: Callable[[Genome], Genome]) -> list[View]:
        """The lineage: each step of each member, with its settings as ``genes`` shows them."""
        rows = self.history()
        rows["genome"] = np.stack([genes(genome) for genome in rows["genome"]])
        copied = float(sum(step.copied >= 0 for step in self.lineage))
        return [View({"copied": copied}, "lineage", {}, rows)]

    def _collect(self) -> None:
        """Arrived steps become their members' latest."""
        for individual in sorted(self.arrived, key=lambda i: i.evaluation.id):
            step = self.lineage[individual.evaluation.id]
            self.latest[step.member] = individual
            began = self.starts.pop(individual.evaluation.id)
            self.trained[step.member] = individual.evaluation.context.artifacts.get(TRAINED, began)
        self.arrived = []
        self.P = Population(self.problem, [self.latest[m] for m in sorted(self.latest)])

    def _next(self, member: int) -> Genome:
        """Hyper-parameters of a member's next step, after exploit and explore if it is ready."""
        mine = self.latest[member]
        source = self._better_one(member) if self.begun[member] % self.settings.ready == 0 else member
        theirs = self.latest[source]
        genome = mine.genome if source == member else self._explored(theirs.genome)
        copied = -1 if source == member else source
        self._plan(member, genome, theirs.evaluation.id, self.trained[source], copied)
        return genome

    def _plan(self, member: int, genome: Genome, parent: int, start: str, copied: int = -1) -> None:
        """Add a row of the lineage; rows are planned in the order of their ids."""
        step = Step(len(self.lineage), member, self.begun[member], parent, copied)
        self.lineage.append(step)
        self.genes.append(genome)
        self.starts[step.id] = start
        self.begun[member] += 1

    def _request(self, i: int) -> Request:
        step = self.lineage[i]
        first = step.step * self.replicates
        context = TrainingContext(self.starts[i]) if self.starts[i] else self.context
        return Request(i, self.outstanding[i], first, first + self.replicates, self.seed, context)

    def _better_one(self, member: int) -> int:
        """The member to copy, or itself."""
        known = sorted(self.latest)
        if len(known) < 2:
            return member
        exploit = self.settings.exploit
        if exploit in ("truncation", "both"):
            order = [known[k] for k in best_first(Population(self.problem, [self.latest[m] for m in known]))]
            k = max(1, int(self.settings.share * len(order)))
            if member in order[-k:] and member not in order[:k]:
                return int(self.rng.choice(order[:k]))
        if exploit in ("welch", "both"):
            rival = int(self.rng.choice([m for m in known if m != member]))
            theirs, mine = self.latest[rival].evaluation, self.latest[member].evaluation
            if better(self.problem, theirs, mine, self.settings.level):
                return rival
        return member

    def _explored(self, genome: Genome) -> Genome:
        assert self.can.perturb is not None
        fresh = self.problem.space.sample(self.rng, 1)[0]
        return self.can.perturb(self.rng, genome, fresh, FACTORS, self.settings.resample)

    def state(self) -> Parts:
        """The search's state, the trainings that outstanding requests continue, and the lineage."""
        meta = {"members": sorted(self.latest), "starts": list(self.starts.items())}
        return super().state() | {"lineage": Bundle(meta, self.history())}

    def load(self, parts: Parts) -> None:
        """The inverse of ``state``."""
        super().load(parts)
        meta, history = parts["lineage"]
        self.lineage = [Step(*row) for row in zip(*(history[name].tolist() for name in LINEAGE), strict=True)]
        self.genes = list(history["genome"])
        self.starts = {i: start for i, start in meta["starts"]}
        self.latest = dict(zip(meta["members"], self.P.individuals if self.P else [], strict=True))


def better(problem: Problem, a: Evaluation, b: Evaluation, level: float) -> bool:
    """Whether Welch's two-sided t-test finds ``a`` better than ``b`` in some objective and worse in none. A failed
    evaluation is worse than any other; of two without spread the one with the better mean is better."""
    if a.status == "failed" or b.status == "failed":
        return a.status != "failed"
    signs = np.array([1.0 if o.direction == "max" else -1.0 for o in problem.objectives])
    gap = signs * (a.objectives - b.objectives)
    va, vb = np.diagonal(a.covariance), np.diagonal(b.covariance)
    spread = va + vb
    na, nb = max(a.samples - 1, 1), max(b.samples - 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = spread**2 / (va**2 / na + vb**2 / nb)
        p = np.where(spread > 0, 2 * stdtr(freedom, -np.abs(gap) / np.sqrt(spread)), np.where(gap == 0, 1.0, 0.0))
    sure = p < level
    return bool((sure & (gap > 0)).any() and not (sure & (gap < 0)).any())
