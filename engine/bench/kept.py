"""What a long benchmark has so far, in files below ``var/bench``: killed, it goes on there when it is called again.

A name says what was measured and by which code: whatever of that changes begins anew, so that no figure mixes two.
Comments and docstrings are no part of the code here. A benchmark names the code that decides its figure.

Files that are copied to ``engine/bench/measured`` are part of the repository: a figure of many hours goes on on another
machine, and whoever doubts it sees what each seed gave. Those of earlier code stay there, unread, as long as FIGURES.md
has their figure; where one was renamed, so that a figure could go on after a change that it does not depend on,
FIGURES.md says so.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from engine.arrays import Bundle, unpack
from engine.bench.processor_time import spent
from engine.config.base import Study
from engine.config.study import study_hash
from engine.errors import EngineError
from engine.events import Finished
from engine.job_folder import execute, kept_checkpoint, last_events
from engine.store import FolderStore

ENGINE = Path(__file__).parents[1]
FOLDER = ENGINE.parent / "var" / "bench"
MEASURED = ENGINE / "bench" / "measured"
ALL = ("",)
"""The whole engine, as the source of a figure."""


class Kept:
    """What seeds gave of a ``case``, a line of JSON each, measured with these ``settings`` by the code in ``sources``:
    files and folders below ``engine``."""

    def __init__(
        self, case: str, settings: dict[str, Any], sources: Iterable[str] = ALL, folder: Path | None = None
    ) -> None:
        key = json.dumps(settings, sort_keys=True) + _code(tuple(sources))
        self.path = (folder or FOLDER) / f"{case}-{hashlib.sha256(key.encode()).hexdigest()[:12]}.jsonl"
        self.case, self.found = case, dict[str, Any]()
        for path in (MEASURED / self.path.name, self.path):
            for line in path.read_text().splitlines() if path.exists() else ():
                self._take(line)

    def result(self, seed: int | str, measure: Callable[[], Any]) -> Any:
        """The kept result of a seed, or else what ``measure`` gives (JSON), which is then kept and printed."""
        if str(seed) not in self.found:
            found = json.loads(json.dumps(measure()))
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a") as file:  # what was cut off when it was killed ends with the next line's start
                file.write("\n" + json.dumps({"seed": str(seed), "result": found}))
                file.flush()
                os.fsync(file.fileno())
            self.found[str(seed)] = found
            print(f"{self.case} {seed}: {json.dumps(found)}", file=sys.stderr, flush=True)
        return self.found[str(seed)]

    def folder(self, seed: int | str) -> Path:
        """Where a study of this seed can be at work; whoever measures it makes and removes it."""
        return self.path.with_name(f"{self.path.stem}-{seed}")

    def _take(self, line: str) -> None:
        try:
            entry = json.loads(line)
        except ValueError:  # an empty line, or one that was being written when it was killed
            return
        self.found[entry["seed"]] = entry["result"]


class KeptStudy(NamedTuple):
    """A study that is over: ``found``, the artifact that was asked for; its battles; and the seconds that it took, all
    attempts included. ``processor``: seconds of processor time, its workers included; of attempts that were killed, as
    opposed to stopped, none."""

    found: Bundle
    battles: int
    seconds: float
    processor: float


def folder(bench: str) -> Path:
    """Where a benchmark keeps the studies that the engine as it is now has played."""
    return FOLDER / f"{bench}-{_code(ALL)[:12]}"


def ended(bench: str, config: Study, artifact: str) -> KeptStudy:
    """A study, as ``studied``, and what it found."""
    own = folder(bench) / f"{config.kind}-{study_hash(config)[:12]}"
    end, processor = studied(own, config, own / "store")
    found = unpack(FolderStore(own / "store").get(end.artifacts[artifact]))
    return KeptStudy(found, end.counters.battles, end.counters.seconds, processor)


def studied(own: Path, config: Study, store: Path) -> tuple[Finished, float]:
    """A study in a folder of its ``own``, played to its end or on from where it was killed, and the seconds of
    processor time of all attempts that were not killed; what it says goes to standard error. Raises EngineError if it
    fails or is stopped."""
    took, began = own / "processor", spent()
    before = float(took.read_text()) if took.exists() else 0.0
    if not _over(own):
        failed = execute(config, own, str(store), resume=_checkpoint(own, str(store)), said=sys.stderr)
        took.write_text(f"{before + spent() - began:.1f}")
        if failed or not _over(own):
            raise EngineError(f"{config.name} is not over; call the benchmark again and it goes on")
    end = last_events(own)["end"]
    assert isinstance(end, Finished)
    return end, float(took.read_text()) if took.exists() else 0.0


def _over(own: Path) -> bool:
    return (own / "events.jsonl").exists() and isinstance(last_events(own).get("end"), Finished)


def _checkpoint(own: Path, store: str) -> str:
    return kept_checkpoint(own, store, sys.stderr) if (own / "events.jsonl").exists() else ""


@cache
def _code(sources: tuple[str, ...]) -> str:
    """A hash of these files, and of all files in these folders."""
    found = hashlib.sha256()
    for source in sources:
        path = ENGINE / source
        for each in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            found.update(f"{each.relative_to(ENGINE).as_posix()}\n{bare(each.read_text())}\n".encode())
    return found.hexdigest()


def bare(code: str) -> str:
    """Code as its syntax tree, without the docstrings: what it does."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [each for each in body if not _says(each)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _says(statement: ast.stmt) -> bool:
    """Whether a statement is a string alone, which does nothing."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
