"""What a long benchmark has so far, in a folder below ``var/bench``: killed, it goes on there when it is called again.

A folder belongs to one state of the engine's code, so that no figure mixes two. Whoever wants to begin anew deletes it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import engine
from engine.arrays import Bundle, unpack
from engine.bench.processor_time import spent
from engine.config.base import Study
from engine.config.study import study_hash
from engine.errors import EngineError
from engine.events import Finished
from engine.job_folder import execute, kept_checkpoint, last_events
from engine.store import FolderStore

FOLDER = Path("var/bench")


class Records:
    """One JSON object for each thing that was measured, by its key; a case has a file of its own."""

    def __init__(self, bench: str, case: str) -> None:
        self.path = folder(bench) / f"{case}.jsonl"
        self.known = dict(_lines(self.path))

    def of(self, key: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The record of a key, as JSON gives it back; measured and written now if there is none."""
        if key not in self.known:
            line = json.dumps([key, measure()])
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(f"\n{line}\n")  # a torn line before it ends here
                file.flush()
                os.fsync(file.fileno())
            self.known[key] = json.loads(line)[1]
        return self.known[key]


class Ended(NamedTuple):
    """A study that is over: ``found``, the artifact that was asked for; its battles; and the seconds that it took, all
    attempts included. ``processor``: seconds of processor time of the attempt that ended it, its workers included."""

    found: Bundle
    battles: int
    seconds: float
    processor: float


def folder(bench: str) -> Path:
    """Where a benchmark keeps what the code as it is now has measured."""
    return FOLDER / bench / _code()


def ended(bench: str, config: Study, artifact: str) -> Ended:
    """A study, played to its end or on from where it was killed; what it says goes to standard error. Raises
    EngineError if it fails or is stopped."""
    own = folder(bench) / f"{config.kind}-{study_hash(config)[:12]}"
    began = spent()
    if not _over(own):
        if execute(config, own, own / "store", resume=_checkpoint(own), said=sys.stderr) or not _over(own):
            raise EngineError(f"{config.name} is not over; call the benchmark again and it goes on")
        (own / "processor").write_text(f"{spent() - began:.1f}")
    end = last_events(own)["end"]
    assert isinstance(end, Finished)
    found = unpack(FolderStore(own / "store").get(end.artifacts[artifact]))
    took = own / "processor"
    return Ended(found, end.counters.battles, end.counters.seconds, float(took.read_text()) if took.exists() else 0.0)


def _over(own: Path) -> bool:
    return (own / "events.jsonl").exists() and isinstance(last_events(own).get("end"), Finished)


def _checkpoint(own: Path) -> str:
    return kept_checkpoint(own) if (own / "events.jsonl").exists() else ""


def _lines(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """What a file holds; a line that a kill has torn is measured again."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            key, record = json.loads(line)
        except ValueError:
            continue
        found.append((key, record))
    return found


@cache
def _code() -> str:
    """A hash of the engine's modules."""
    root, seen = Path(engine.__file__).parent, hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        seen.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return seen.hexdigest()[:12]
