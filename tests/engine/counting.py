"""A kind of study that exists in tests only: it counts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import Field

from engine.catalog import StudyKind
from engine.config.base import Study
from engine.events import AnyEvent, Counters, Finished, Progressed, Started
from engine.store import Store


class CountConfig(Study):
    """Count so far."""

    kind: Literal["count"] = "count"
    name: str = "counting"
    seed: int = 1
    ticks: int = Field(3, ge=1, le=100)


class Told:
    """What the command line says of it."""

    def planned(self, event: Started, study: Mapping[str, Any]) -> str:
        return f"{event.ticks} numbers"

    def done(self, counters: Counters) -> str:
        return f"counted {counters.steps}"

    def round(self, metrics: Mapping[str, float], study: Mapping[str, Any]) -> str:
        return f"square {metrics['square']:.0f}"


def run(config: CountConfig, store: Store, resume: str, control: Any) -> Iterator[AnyEvent]:
    """Count; a round a number."""

    def common(tick: int) -> dict[str, Any]:
        return {"tick": tick, "at": time.time(), "counters": Counters(steps=tick, seconds=float(tick))}

    yield Started(workers=1, pool="local", resumed=False, ticks=config.ticks, battles=0, **common(0))
    for tick in range(1, config.ticks + 1):
        yield Progressed(metrics={"square": float(tick**2)}, artifacts={}, **common(tick))
    yield Finished(artifacts={"numbers": store.put(b"1 2 3")}, summary={}, **common(config.ticks))


KIND = StudyKind(
    "Counting", "count", CountConfig, "tests.engine.counting:run", "tests.engine.counting:Told", "steps", "",
    tick="number", gained="counted", hands="fingers",
)  # fmt: skip
