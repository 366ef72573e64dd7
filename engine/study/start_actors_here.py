"""The actors of a study of tasks in the learner's own process, and what arrives from actors wherever they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from engine.channel import Weights, encode_weights
from engine.config.policies import AGENT
from engine.config.starts import StartsConfig
from engine.errors import Cancelled
from engine.experience import ActorEnd, LearnerEnd, Lost, Parcel
from engine.problem import ShouldStop
from engine.rl.collector import Arrival
from engine.rl.task_actor import TaskActor, episodes_of
from engine.store import Store
from engine.study.pools import LocalWorkers
from engine.study.start_actor import WAIT_S, make_actor


def arrivals(parcels: Sequence[Parcel], epoch: int = 0, number: int = 0) -> list[Arrival]:
    """Parcels as what a training learns from; ``number``: the actor's, by the name in its parcels."""
    return [
        Arrival(number, AGENT, epoch, parcel.version, parcel.first, parcel, episodes_of(parcel.episodes), 0.0)
        for parcel in parcels
    ]


class LocalActors(LocalWorkers):
    """Actors that take turns in this process, one fragment each. The order of turns is fixed, so where nothing is lost
    on the way the same study gives the same numbers."""

    def __init__(
        self, config: StartsConfig, store: Store, end: LearnerEnd, ends: Callable[[int], ActorEnd], beginning: int,
        should_stop: ShouldStop,
    ) -> None:  # fmt: skip
        """``ends``: makes an actor's end for a task. Raises ConfigError, SimulatorError, and Cancelled once
        ``should_stop`` returns True, which is asked before each of what may be thousands."""
        self.end, self.epoch = end, 0
        self._actors: list[TaskActor] = []
        self._turn = 0
        try:
            for number in range(config.samplers):
                if should_stop():
                    raise Cancelled("The study was asked to stop")
                way = ends(config.task_of(number))
                self._actors.append(make_actor(config, store, number, way, beginning, should_stop))
        except BaseException:
            self.close()
            raise

    def publish(self, weights: Weights) -> None:
        """As ``SamplerPool``."""
        self.epoch = weights.epoch
        self.end.publish(encode_weights(weights), weights.version)

    def gather(self, timeout_s: float, most: int) -> list[Arrival]:
        """What has arrived after the next actor's fragment. Not interrupted by ``timeout_s``, but by a stop if an
        external program plays. Raises Cancelled."""
        for _ in self._actors:
            actor, self._turn = self._actors[self._turn], (self._turn + 1) % len(self._actors)
            actor.look()
            if actor.busy:
                actor.play()
                break
        else:
            time.sleep(min(timeout_s, WAIT_S))  # all wait for a network that is on its way
        return arrivals(self.end.take(), self.epoch)

    @property
    def blocked(self) -> bool:
        """Never: what was played is there."""
        return False

    @property
    def missing(self) -> Lost:
        """Decisions that were made and never arrived."""
        return self.end.lost

    def close(self) -> None:
        """Close the games and both ends."""
        for actor in self._actors:
            actor.close()
        self._actors = []
        self.end.close()
