"""Breeding styles of play: evolution of players by EMOGI, on a reward of formulas that sample episodes have tried, with
every trained agent kept."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from engine.arrays import pack, stacked, unpack
from engine.catalog import PLAYERS
from engine.config.episodes import SAMPLED
from engine.config.styles import StylesConfig
from engine.errors import ConfigError, StoreError, below
from engine.events import AnyEvent
from engine.evolution.algorithm import Individual
from engine.evorl.emogi import EMOGI, Unselected
from engine.evorl.problem import example
from engine.evorl.record import trained
from engine.evorl.space import Start
from engine.problem import Request, TrainingContext, of_kind
from engine.rl.policy import Policy
from engine.runtime.pool import Pool
from engine.store import Store
from engine.study.control import Control
from engine.study.episodes import played
from engine.study.evolve import Evolve
from engine.study.failures import with_failure
from engine.styles.preview import problems
from engine.styles.strangers import strangers_of

POPULATION = "fresh_population"
"""Role of the artifact that tells how the final population does on fresh episodes."""
AGAINST = "against/"
"""How roles of artifacts begin that tell how agents do against a stranger."""


def styles(config: StylesConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for a study that breeds styles of play."""
    return with_failure(_Styles(config, store, control).events(resume))


def met(request: Request, stranger: str) -> TrainingContext:
    """The context of a request, with a stranger on the other seat."""
    return msgspec.structs.replace(of_kind(request.context, TrainingContext), stranger=stranger)


class _Styles(Evolve):
    config: StylesConfig

    def __init__(self, config: StylesConfig, store: Store, control: Control) -> None:
        super().__init__(config, store, control)
        self.kept = 0

    @property
    def method(self) -> Callable[..., Any]:
        return EMOGI if self.config.selection else Unselected

    def inspect(self) -> None:
        """Try the rewards on sample episodes."""
        task = example(self.config.task)
        assert task.style is not None
        with below("task"):
            samples = played(task.game, SAMPLED, self.stopped)
        if wrong := problems(task.style, self.config.objectives, samples):
            raise ConfigError(wrong)

    def start(self) -> Start | None:
        if not self.config.start:
            return None
        try:
            return Start(Policy.stored(self.store, self.config.start), self.config.start_noise)
        except StoreError as error:
            raise ConfigError([("start", str(error))]) from error

    def extras(self, front: Sequence[Individual]) -> tuple[dict[str, float], dict[str, str]]:
        """Adds the population, and the agents that were trained in the round."""
        metrics, artifacts = super().extras(front)
        artifacts |= {"population": self.record.put(self.search.P.individuals)} if self.search.P else {}
        if self.tick > self.kept and self.config.keeps(self.tick):
            artifacts |= self._agents()
        return metrics, artifacts

    def leader(self, front: Sequence[Individual]) -> Individual:
        """Who scored best of those that stayed: one end of a scale is no better than the other."""
        everybody = self.search.P.individuals if self.search.P else front
        stayed = [i for i in everybody if self.trainings.lease.has(trained(i.evaluation))]
        at = self.record.problem.metrics.index("score")
        return max(stayed or front, key=lambda i: float(i.evaluation.metrics[at]))

    def _fresh(self, pool: Pool) -> Generator[AnyEvent, None, dict[str, str]]:
        """Also measures the rest of the population, which is what a control is compared with, and who stayed against
        opponents that nobody learned against; all on the same fresh seeds."""
        found = yield from super()._fresh(pool)
        found |= (yield from self._everybody(pool, found["fresh"])) if found else {}
        for name in strangers_of(self.config.task.game.name) if self.config.fresh and not self.control() else ():
            requests = self._facing(name)
            who = f"“{PLAYERS[name].label}”, against whom nobody learned"
            what = f"Measuring the {len(requests)} agents that stayed against {who}."
            answers = (yield from self._measured(pool, requests, what, last=False)) if requests else []
            found |= {f"{AGAINST}{name}": self.record.put_fresh(answers)} if answers else {}
        return found

    def _everybody(self, pool: Pool, fresh: str) -> Generator[AnyEvent, None, dict[str, str]]:
        """The population on fresh seeds, of whom the edge was measured there already (``fresh``). Nothing if a command
        comes."""
        edge = unpack(self.store.get(fresh))
        stayed = [i for i in (self.search.P.individuals if self.search.P else ()) if trained(i.evaluation)]
        rest = [i for i in stayed if i.evaluation.id not in edge.arrays["id"]]
        what = f"Measuring again, on fresh episodes: the other {len(rest)} agents that stayed."
        answers = (
            (yield from self._measured(pool, self._again(rest, self.config.fresh), what, last=False)) if rest else []
        )
        if len(answers) < len(rest):
            return {}
        more = [unpack(self.store.get(self.record.put_fresh(answers))).arrays] if answers else []
        whole = {name: stacked([column, *(each[name] for each in more)]) for name, column in edge.arrays.items()}
        here = np.isin(whole["id"], [i.evaluation.id for i in stayed])
        return {POPULATION: self.store.put(pack(edge.meta, {name: column[here] for name, column in whole.items()}))}

    def _facing(self, stranger: str) -> list[Request]:
        """Requests that measure everybody on the edge and in the population against a stranger."""
        stayed = [*self.algorithm.front(), *(self.search.P.individuals if self.search.P else ())]
        able = {i.evaluation.id: i for i in stayed if trained(i.evaluation)}
        asked = self._again(list(able.values()), self.config.fresh)
        return [each._replace(context=met(each, stranger)) for each in asked]

    def _agents(self) -> dict[str, str]:
        """The round's agents with their weights."""
        self.kept = self.tick
        arrays = unpack(self.store.get(self.record.chunks[-1])).arrays
        found = self._with_weights({name: column[arrays["tick"] == self.tick] for name, column in arrays.items()})
        return {"agents": found} if found else {}
