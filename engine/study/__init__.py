"""A study: one execution in the engine. ``run(config, store, …)`` is an iterator of events."""

from __future__ import annotations

from collections.abc import Iterator

from engine.config.evolve import EvolveConfig
from engine.config.study import AnyStudy
from engine.config.train import TrainConfig
from engine.events import AnyEvent
from engine.store import Store
from engine.study.control import Control

__all__ = ["Control", "run"]


def run(config: AnyStudy, store: Store, resume: str = "", control: Control = lambda: "") -> Iterator[AnyEvent]:
    """Run a study to its end. ``resume``: hash of the checkpoint to go on from; ``control`` is asked often and may wish
    to stop or pause. Expected errors end in a Failed event; ActorLost is raised: another attempt can go on."""
    if isinstance(config, TrainConfig):
        from engine.study.train import train  # each kind of study loads only what it needs, and so do its actors

        return train(config, store, resume, control)
    if isinstance(config, EvolveConfig):
        from engine.study.evolve import evolve

        return evolve(config, store, resume, control)
    from engine.study.lineups import run as run_lineups

    return run_lineups(config, store, resume, control)
