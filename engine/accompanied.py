"""Running a study together with the one that comes with it: of a search, the experiment on what each piece is worth.

The second study runs when the first is finished, in the folder ``experiment`` of the first one's folder, with the same
store. It is a study like any other, so a kill loses nothing: ``go_on`` continues whichever of the two is unfinished.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from engine import console
from engine.catalog import STUDIES, imported
from engine.events import Finished
from engine.job_folder import checked, execute, kept_checkpoint, last_events, read

FOLDER = "experiment"


class _Plan(NamedTuple):
    """The study that comes after another one (None: none does), or why there is none."""

    study: Any = None
    why: str = ""


def begin(config: Any, folder: Path, store: str, resume: str = "", job: tuple[int, int] = (0, 0)) -> int:
    """Run a study, and then what comes with it; the exit code of ``run``. Raises as ``execute``."""
    plan = _planned(config, folder)
    _say(config, plan)
    code = execute(config, folder, store, resume=resume, job=job)
    return code or _after(folder, store, plan)


def go_on(folder: Path, store: str) -> int:
    """The same, for studies that were stopped, paused or killed. Raises as ``execute``, and ConfigError where both are
    finished."""
    last_events(folder)  # which says where there is no study
    config = checked(read(folder / "study.json"), new=False)
    if not _finished(folder):
        return begin(config, folder, store, kept_checkpoint(folder, store))
    plan = _planned(config, folder)
    if plan.study is None or _finished(folder / FOLDER):
        kept_checkpoint(folder, store)  # which says that nothing is left
    return _after(folder, store, plan)


def _planned(config: Any, folder: Path) -> _Plan:
    """What comes after a study: as it was begun, if it was."""
    begun = folder / FOLDER / "study.json"
    if begun.exists():
        return _Plan(checked(read(begun), new=False))
    kind = STUDIES[config.kind]
    return _Plan(*imported(kind.beside)(config)) if kind.beside else _Plan()


def _say(config: Any, plan: _Plan) -> None:
    """What comes after a study, before it starts."""
    noun = STUDIES[config.kind].noun
    if plan.study is not None:
        battles = console.many(plan.study.battles, "battle")
        print(console.at_now(f"After the {noun}: {battles} to measure what each piece is worth"), flush=True)
    elif plan.why:
        print(console.at_now(f"What each piece is worth is not measured: {plan.why}"), flush=True)


def _after(folder: Path, store: str, plan: _Plan) -> int:
    """Run what comes after the study of a folder, if that is finished."""
    own = folder / FOLDER
    if plan.study is None or not _finished(folder):
        return 0
    resume = kept_checkpoint(own, store) if (own / "events.jsonl").exists() else ""
    return execute(plan.study, own, store, resume=resume)


def _finished(folder: Path) -> bool:
    return (folder / "events.jsonl").exists() and isinstance(last_events(folder).get("end"), Finished)
