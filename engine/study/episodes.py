"""Sample episodes of a game, stored by hash: some seconds of play, before anything of a style is trained."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from engine.config.episodes import EpisodesConfig
from engine.config.train import TrainGame
from engine.errors import Cancelled
from engine.events import AnyEvent, Counters, Finished, Started
from engine.problem import ShouldStop
from engine.simulators import references
from engine.store import Store
from engine.study.control import Control
from engine.study.failures import not_begun, with_failure
from engine.styles.preview import Samples
from engine.styles.rewards import with_signals
from engine.styles.samples import EPISODES, sample


def episodes(config: EpisodesConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for sample episodes. Artifact ``samples`` (``engine.styles.preview.Samples``):
    the same game gives the same bytes."""
    return with_failure(_events(config, store, resume, control))


def _events(config: EpisodesConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    if control():
        yield not_begun(control, resume)
        return
    began = time.time()
    yield Started(at=began, workers=1, pool="local", ticks=1, battles=0, resumed=bool(resume))
    try:
        found = played(config.game, config.seed, lambda: bool(control()))
    except Cancelled:
        yield not_begun(control, resume)
        return
    counters = Counters(len(found.measures), 0, 0, len(found.signals), time.time() - began)
    kept = store.put(found.pack())
    yield Finished(tick=1, at=time.time(), counters=counters, artifacts={"samples": kept})


def played(wanted: TrainGame, seed: int, should_stop: ShouldStop) -> Samples:
    """Sample episodes of a game. Raises ConfigError below ``game``, SimulatorError, and Cancelled once
    ``should_stop()``."""
    complete = with_signals(wanted)
    game = references.make_for_one(complete, EPISODES, should_stop)
    try:
        return sample(game, complete, seed, should_stop)
    finally:
        game.close()


class Words:
    """Texts of sample episodes on the command line."""

    def planned(self, event: Started, study: Mapping[str, Any]) -> str:
        """What is played."""
        return f"{EPISODES} episodes a player"

    def done(self, counters: Counters) -> str:
        """Episodes and decisions."""
        return f"{counters.evaluations:,} episodes, {counters.steps:,} decisions"

    def round(self, metrics: Mapping[str, float], study: Mapping[str, Any]) -> str:
        """There is only one."""
        return ""
