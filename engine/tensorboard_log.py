"""A study's events as a TensorBoard log: one run in the job's folder, for every kind of study.

Each round that is told is a point of every metric and of the work done so far. Points stand at the decisions learned
from where the kind of study counts those, and at the rounds elsewhere; those of an evaluation where it was asked for,
once. Each attempt writes a file of its own. One that goes
on from a checkpoint begins it with a session that starts behind the checkpoint, at which readers drop what a killed
attempt wrote beyond it, so no point is there twice, but for the evaluation that was the latest one at the checkpoint.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.types_pb2 import DT_STRING
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from engine.catalog import STUDIES
from engine.events import AnyEvent, Finished, Progressed, Started, Stopped
from engine.text import clear

FOLDER = "tensorboard"
"""Its folder in a job's folder."""


class TensorBoardLog:
    """Takes every event of a study in order. A log that can no longer be written ends with a warning on standard error;
    the study goes on."""

    def __init__(self, folder: Path, study: Mapping[str, Any]) -> None:
        """``study``: its settings as JSON. The folder is made at the first event that is written."""
        self.folder, self.study = folder, study
        self.by_steps = STUDIES[study["kind"]].unit == "steps"
        self._writer: EventFileWriter | None = None
        self._over = False
        self._evaluated: float | None = None

    def __call__(self, event: AnyEvent) -> None:
        if self._over:
            return
        try:
            self._write(event)
        except (OSError, UnicodeError) as error:  # the latter of a folder whose name is no text
            self._over = True
            print(f"The TensorBoard log in {clear(str(self.folder))} ends here: {clear(str(error))}.", file=sys.stderr)

    def close(self) -> None:
        """Finish the file of this attempt."""
        if self._writer is not None and not self._over:
            self._writer.close()
            self._writer = None

    def _write(self, event: AnyEvent) -> None:
        match event:
            case Started(resumed=True):
                had = any(self.folder.glob("*tfevents*"))
                session = SessionLog(status=SessionLog.START)
                self._add(Event(wall_time=event.at, step=self._at(event) + 1, session_log=session))
                if not had:  # the log was asked for since
                    self._settings(event)
            case Started():
                self._settings(event)
            case Progressed():
                metrics = dict(event.metrics)
                evaluation = {name: metrics.pop(name) for name in event.metrics if name.startswith("evaluation_")}
                at = evaluation.pop("evaluation_steps", None)
                if evaluation and at is None:
                    metrics |= evaluation
                elif evaluation and at != self._evaluated:  # rounds repeat the latest one, which may be an older one
                    self._evaluated = at
                    self._points(event, evaluation, int(at or 0))
                self._points(event, {**metrics, **self._done(event)}, self._at(event))
            case Finished() | Stopped():
                numbers = {f"summary/{name}": value for name, value in event.summary.items() if _is_number(value)}
                self._points(event, numbers, self._at(event))

    def _settings(self, event: AnyEvent) -> None:
        self._add(Event(wall_time=event.at, step=0, summary=Summary(value=[_text("study", self.study)])))

    def _done(self, event: AnyEvent) -> dict[str, float]:
        """Totals so far, without those that this kind of study does not count."""
        counted = {name: float(total) for name, total in msgspec.structs.asdict(event.counters).items() if total}
        return {f"done/{name}": total for name, total in ({"rounds": float(event.tick)} | counted).items()}

    def _points(self, event: AnyEvent, values: Mapping[str, float], at: int) -> None:
        scalars = [Summary.Value(tag=name, simple_value=value) for name, value in values.items()]
        self._add(Event(wall_time=event.at, step=at, summary=Summary(value=scalars)))

    def _at(self, event: AnyEvent) -> int:
        """Where the event's points stand."""
        return event.counters.steps if self.by_steps else event.tick

    def _add(self, record: Event) -> None:
        if self._writer is None:
            self._writer = EventFileWriter(str(self.folder))
        elif not self.folder.is_dir():  # a file that was removed can still be written into, and nobody finds it
            raise FileNotFoundError("the folder is gone")
        self._writer.add_event(record)
        self._writer.flush()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(tag: str, study: Mapping[str, Any]) -> Summary.Value:
    """Settings as TensorBoard's Text page shows them, as they were given."""
    lines = json.dumps(study, indent=1, ensure_ascii=False).splitlines()
    shown = "\n".join(f"    {line}" for line in lines)  # indented text is code in Markdown
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
    return Summary.Value(tag=tag, metadata=metadata, tensor=TensorProto(dtype=DT_STRING, string_val=[shown.encode()]))
