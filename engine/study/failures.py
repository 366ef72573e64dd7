"""Turns errors that the engine raises on purpose into a study's last event."""

from __future__ import annotations

import time
from collections.abc import Iterator
from inspect import isgenerator

from engine.errors import ActorLost, EngineError, StoreError
from engine.events import AnyEvent, Event, Failed, Paused, Stopped
from engine.study.control import Control


def with_failure(events: Iterator[AnyEvent]) -> Iterator[AnyEvent]:
    """The events of a study. An error of the engine becomes a Failed event, the last one, with the tick and the
    counters of the one before it; errors of the store are not permanent. Raises ActorLost, after which another attempt
    can continue."""
    last = Event()
    try:
        for event in events:
            last = event
            yield event
    except ActorLost:
        raise
    except EngineError as error:
        permanent = not isinstance(error, StoreError) and getattr(error, "permanent", True)
        yield Failed(at=time.time(), tick=last.tick, counters=last.counters, error=type(error).__name__,
                     message=str(error), permanent=permanent)  # fmt: skip
    finally:
        if isgenerator(events):
            events.close()


def not_begun(control: Control, resume: str) -> AnyEvent:
    """The last event of a study that was commanded to end before it began or resumed; ``resume``: the checkpoint that
    it was to continue from."""
    now, kept = time.time(), {"checkpoint": resume} if resume else {}
    if control() == "pause":
        return Paused(tick=0, at=now, artifacts=kept)
    return Stopped(tick=0, at=now, reason="Stopped by request.", artifacts=kept)
