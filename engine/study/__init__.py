"""A study: one execution in the engine. ``run(config, store, …)`` is an iterator of events."""

from __future__ import annotations

from collections.abc import Iterator

from engine.catalog import STUDIES
from engine.config.base import Study
from engine.events import AnyEvent
from engine.store import Store
from engine.study.control import Control

__all__ = ["Control", "run"]


def run(config: Study, store: Store, resume: str = "", control: Control = lambda: "") -> Iterator[AnyEvent]:
    """Run a study to its end. ``resume``: hash of the checkpoint to continue from; ``control`` is called often and may
    command a stop or a pause. Expected errors end in a Failed event; raises ActorLost, after which another attempt can
    continue."""
    events: Iterator[AnyEvent] = STUDIES[config.kind].load()(config, store, resume, control)
    return events
