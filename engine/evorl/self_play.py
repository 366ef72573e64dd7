"""Population based training by self-play (Jaderberg et al. 2019, "Human-level performance in 3D multiplayer games with
population-based reinforcement learning", as Lamarckian composes it: PBT whose members train against a pool).

A *version* is a member after a step; its name is the id of that step's request. The pool holds earlier versions. A
request says against whom its member trains, and how often (``engine.evorl.opponents``), as the pool was when the step
was planned; and on whom it is measured: the latest version of each member and the players outside, equally often. So
all members of a round are measured on the same meetings: the same opponents, seeds and seats.

Departures:

1. Fitness is the share of wins in these meetings, not an Elo rating: it needs no fit, and Welch's test can use it.
   Where everybody meets the same opponents equally often, both order members alike.
2. Every version enters the pool; beyond ``capacity`` earlier ones beside the latest of all members the oldest leave.
   The released code appends one when enough steps have passed since the last.
3. In the share of wins against an opponent, results in training count half after each step, for the learner changes;
   for whether it is known at all they count in full. A member that copies another goes on with its results.
4. While there is no version, everybody plays against the players outside, the random script if there are no others.
5. A ``steady`` search measures members on whoever is the latest when their steps are planned, so on different
   opponents.
6. At the end the members as they are then meet one another, too; these meetings count for the ladder alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from engine.arrays import Bundle
from engine.config.self_play import OpponentsConfig
from engine.evolution.algorithm import Individual, Parts
from engine.evolution.pbt import PBT
from engine.evorl.opponents import Faced, remembered, restored, shares
from engine.problem import WEIGHTS, Evaluation, Genome, Request, SelfPlayContext, of_kind

Table = dict[str, list[float]]
Row = TypeVar("Row")


class Version(NamedTuple):
    """A member after a step (from 0), by the id of that step's request, and the store hash of its weights."""

    id: int
    member: int
    step: int
    digest: str

    @property
    def name(self) -> str:
        """Its name as an opponent."""
        return str(self.id)


class SelfPlay(PBT):
    """``pool``: all versions that are kept, the oldest first; ``present``: the latest of each member; ``faced``: by
    version, what it knows of its opponents from training; ``results``: by version and opponent, measured meetings, the
    sum of the shares of wins, and of their squares; ``asked``: by outstanding request, its opponents as
    ``SelfPlayContext`` has them."""

    stream = "self-play"

    def __init__(self, *given: Any, opponents: OpponentsConfig, **settings: Any) -> None:
        self.opponents = opponents
        self.pool: list[Version] = []
        self.present: dict[int, Version] = {}
        self.faced: dict[int, Faced] = {}
        self.results: dict[int, Table] = {}
        self.asked: dict[int, dict[str, tuple[str, float, float]]] = {}
        super().__init__(*given, **settings)

    def _plan(self, member: int, genome: Genome, parent: int, start: str, copied: int = -1) -> None:
        super()._plan(member, genome, parent, start, copied)
        self.asked[self.lineage[-1].id] = self._opponents(self.faced.get(parent, {}))

    def _opponents(self, faced: Faced) -> dict[str, tuple[str, float, float]]:
        """Whom a step plays against, by name: the hash of its weights, its share in training and in measuring."""
        latest = [self.present[member].name for member in sorted(self.present)]
        past = [version.name for version in self.pool if version.name not in latest]
        rule, outside = self.opponents, list(self.opponents.outside)
        drawn = shares(rule.choice, latest, past, faced, rule.past_share)
        theirs = 1.0 if not drawn else rule.others_share if rule.others else 0.0
        measured = [*latest, *(outside if theirs else [])]
        found = {name: ("", theirs / len(outside), 1.0 / len(measured)) for name in outside if theirs}
        for version in self.pool:
            share, panel = drawn.get(version.name, 0.0), (version.name in latest) / len(measured)
            if share or panel:
                found[version.name] = version.digest, (1 - theirs) * share, panel
        return found

    def _request(self, i: int) -> Request:
        request = super()._request(i)
        return request._replace(context=SelfPlayContext(self.starts[i], opponents=self.asked[i]))

    def _collect(self) -> None:
        """Arrived steps also become versions, with the results of their battles."""
        arrived = sorted(self.arrived, key=lambda i: i.evaluation.id)
        super()._collect()
        for individual in arrived:
            self._enter(individual)
        self._leave()

    def _enter(self, individual: Individual) -> None:
        i, step = individual.evaluation.id, self.lineage[individual.evaluation.id]
        del self.asked[i]
        context = of_kind(individual.evaluation.context, SelfPlayContext)
        digest = context.artifacts.get(WEIGHTS, "")
        if not digest:
            return  # it failed, and its member stays what it was
        self.present[step.member] = Version(i, step.member, step.step, digest)
        self.pool.append(self.present[step.member])
        self.faced[i] = remembered(self.faced.get(step.parent, {}), context.faced)
        self.results[i] = {name: list(numbers) for name, numbers in context.met.items()}

    def round_robin(self, first: int, meetings: int) -> list[Request]:
        """Requests that let each of the members as they are now meet each other, and each player outside, about so many
        times on seeds from ``first`` on. Members of a round are measured on those of the round before, so who is
        strongest shows only then. Of a pair the younger version is asked."""
        members = sorted(self.present.values())
        each = [self._meeting(version, members[:k], first, meetings) for k, version in enumerate(members)]
        return [request for request in each if request is not None]

    def _meeting(self, version: Version, others: Sequence[Version], first: int, meetings: int) -> Request | None:
        """None for whose last step failed, and where there is nobody to meet."""
        i, digests = self.latest[version.member], {each.name: each.digest for each in others}
        names = [*digests, *self.opponents.outside]
        if i.evaluation.id != version.id or not names:
            return None
        opponents = {name: (digests.get(name, ""), 0.0, 1 / len(names)) for name in names}
        context = of_kind(i.evaluation.context, SelfPlayContext)
        wanted = msgspec.structs.replace(context, opponents=opponents, faced={}, met={})
        return Request(version.id, i.genome, first, first + meetings * len(names), self.seed, wanted)

    def meet(self, evaluations: Iterable[Evaluation]) -> None:
        """Add the meetings of further evaluations to those of the versions."""
        for evaluation in evaluations:
            table = self.results[evaluation.id]
            for name, more in of_kind(evaluation.context, SelfPlayContext).met.items():
                table[name] = [a + b for a, b in zip(table.get(name, [0.0, 0.0, 0.0]), more, strict=True)]

    def _leave(self) -> None:
        """The oldest leave a pool that is too large; of who is neither in it nor present nothing is kept."""
        present = set(self.present.values())
        past = sorted(set(self.pool) - present)[-self.opponents.capacity :]
        self.pool = sorted([*past, *present])
        here = {version.id for version in self.pool}
        names = {*map(str, here), *self.opponents.outside}
        begun = {self.lineage[i].parent for i in self.outstanding}
        self.results = {i: _only(table, names) for i, table in self.results.items() if i in here}
        self.faced = {i: _only(table, names) for i, table in self.faced.items() if i in here | begun}

    def state(self) -> Parts:
        """The state of population based training, and the pool."""
        meta = {
            "pool": self.pool, "present": list(self.present.values()), "faced": list(self.faced.items()),
            "results": list(self.results.items()), "asked": list(self.asked.items()),
        }  # fmt: skip
        return super().state() | {"pool": Bundle(meta, {})}

    def load(self, parts: Parts) -> None:
        """The inverse of ``state``."""
        super().load(parts)
        meta = parts["pool"].meta
        self.pool = [Version(*each) for each in meta["pool"]]
        self.present = {version.member: version for version in (Version(*each) for each in meta["present"])}
        self.faced = {i: restored(saved) for i, saved in meta["faced"]}
        self.results = dict(map(tuple, meta["results"]))
        self.asked = {i: {name: tuple(each) for name, each in opponents.items()} for i, opponents in meta["asked"]}

    def meetings(self) -> tuple[list[str], np.ndarray, np.ndarray]:
        """Everybody's names, those outside first, and the measured meetings between them: int64[k, 2] places among the
        names, float64[k, 3] of the first one's meetings, sum of shares of wins, sum of their squares."""
        names = [*self.opponents.outside, *(version.name for version in self.pool)]
        place = {name: k for k, name in enumerate(names)}
        rows = [(str(i), name, numbers) for i, table in self.results.items() for name, numbers in table.items()]
        pairs = np.array([(place[a], place[b]) for a, b, _ in rows], np.int64).reshape(-1, 2)
        return names, pairs, np.array([numbers for *_, numbers in rows], np.float64).reshape(-1, 3)


def _only(table: Mapping[str, Row], names: set[str]) -> dict[str, Row]:
    return {name: numbers for name, numbers in table.items() if name in names}
