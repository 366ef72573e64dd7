"""Studies that are paused or stopped within a round."""

from __future__ import annotations

from typing import Any

import pytest

from engine.config.base import Study
from engine.events import AnyEvent
from engine.problem import Evaluation
from engine.runtime.pool import Pool
from engine.store import FolderStore
from engine.study import run
from engine.study.drive import Drive


def cut_off(
    study: Study, store: FolderStore, command: str, after: int, monkeypatch: pytest.MonkeyPatch, resume: str = ""
) -> list[AnyEvent]:
    """What a study says that gets this command once so many candidates have come back, one at a time."""
    waiting: list[Evaluation] = []
    told: list[int] = []
    answered = Drive.finished

    def one_at_a_time(self: Drive, pool: Pool) -> list[Evaluation]:
        waiting.extend(() if waiting else answered(self, pool))
        told.extend([waiting[0].id] if waiting else [])
        return [waiting.pop(0)] if waiting else []

    events: list[AnyEvent] = []

    def control() -> Any:
        return command if events and len(told) >= after else ""

    with monkeypatch.context() as patch:
        patch.setattr(Drive, "finished", one_at_a_time)
        for event in run(study, store, resume, control=control):
            events.append(event)
    return events
