"""Results of a benchmark's seeds, kept in a file as they come: one that was killed goes on where it was.

A file has a line of JSON for each seed. Its name says what was measured and by which code: whatever of that changes
begins anew.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

ENGINE = Path(__file__).parents[1]
FOLDER = ENGINE.parent / "var" / "bench"


class Kept:
    """What seeds gave of a ``case``, measured with these ``settings`` by the code in ``sources``: files and folders
    below ``engine``."""

    def __init__(self, case: str, settings: dict[str, Any], sources: Iterable[str], folder: Path | None = None) -> None:
        told = json.dumps(settings, sort_keys=True) + _code(tuple(sources))
        self.path = (folder or FOLDER) / f"{case}-{hashlib.sha256(told.encode()).hexdigest()[:12]}.jsonl"
        self.case, self.found = case, dict[str, Any]()
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                self._take(line)

    def result(self, seed: int | str, measure: Callable[[], Any]) -> Any:
        """The kept result of a seed, or else what ``measure`` gives (JSON), which is then kept and printed."""
        if str(seed) not in self.found:
            found = json.loads(json.dumps(measure()))
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a") as file:  # what was cut off when it was killed ends with the next line's start
                file.write("\n" + json.dumps({"seed": str(seed), "result": found}))
            self.found[str(seed)] = found
            print(f"{self.case} {seed}: {json.dumps(found)}", file=sys.stderr, flush=True)
        return self.found[str(seed)]

    def _take(self, line: str) -> None:
        try:
            told = json.loads(line)
        except ValueError:  # an empty line, or one that was being written when it was killed
            return
        self.found[told["seed"]] = told["result"]


@cache
def _code(sources: tuple[str, ...]) -> str:
    """A hash of these files, and of all files in these folders."""
    found = hashlib.sha256()
    for source in sources:
        path = ENGINE / source
        for each in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            found.update(each.relative_to(ENGINE).as_posix().encode() + each.read_bytes())
    return found.hexdigest()
