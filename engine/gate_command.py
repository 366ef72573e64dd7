"""``python -m engine gate``: whether a build may go out, as an exit code, a sentence, and files for a build server."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from engine.errors import ActorLost, ConfigError, EngineError
from engine.events import AnyEvent, Failed, Finished, Paused
from engine.gate.junit import broken, to_junit
from engine.gate.report import Gate, Report, decoded, judged, to_csv
from engine.job_folder import STUDIES, checked, execute, folder_name, kept_checkpoint, last_events, read, store_of


def add(commands: Any) -> None:
    """The command and what it takes."""
    gate = commands.add_parser(
        "gate",
        help="may this build go out? 0 under the line, 3 over, 4 cannot tell",
        description="Plays earlier exploits again, screens the pieces and searches, each for a short while. Exit "
        "codes: 0 under the line in everything that was looked at, 3 over the line, 4 cannot tell, 1 not done but may "
        "be tried again, 2 cannot be done as asked. The same gate in the same folder goes on where it was.",
    )
    gate.add_argument("study", help="a YAML or JSON file")
    gate.add_argument(
        "-m", dest="settings", action="append", default=[], metavar="PATH=VALUE",
        help="a setting that replaces the file's, such as -m screen.battles=50000",
    )  # fmt: skip
    gate.add_argument("--job-dir", type=Path, help="its folder (default: var/studies/NAME and the hash of the study)")
    gate.add_argument("--data", type=Path, help="the build's changed numbers: CSV (path,value; or a table) or JSON")
    gate.add_argument("--junit", type=Path, help="file for the build server: JUnit XML")
    gate.add_argument("--csv", type=Path, help="file for all findings: CSV, whose first row are machine names")
    gate.set_defaults(do=run)


def run(args: argparse.Namespace) -> int:
    """The gate, once more or further; its exit code. Raises ConfigError, SimulatorError, ActorLost."""
    name = Path(args.study).stem
    try:
        _check_files(args)
        return _run(args)
    except EngineError as error:
        if args.junit and (isinstance(error, ActorLost) or args.junit.parent.is_dir()):
            _write(args.junit, broken(name, str(error), _stamp(time.time())))
        raise


def _run(args: argparse.Namespace) -> int:
    config = checked(_data(args), new=True)
    folder = args.job_dir or STUDIES / f"{folder_name({'name': config.name}, args.study)}-{_hash(config)[:8]}"
    code, last = _played(config, folder)
    if code or isinstance(last, Paused):
        message = last.message if isinstance(last, Failed) else "It was paused; the same command goes on with it."
        print(message, file=sys.stderr)
        if args.junit:
            _write(args.junit, broken(config.name, message, _stamp(time.time())))
        return code or 1
    report = _report(folder, config)
    if args.junit:
        _write(args.junit, to_junit(report, last.counters.seconds, _stamp(last.at)))
    if args.csv:
        _write(args.csv, to_csv(report))
    print("\n".join([report.sentence, *report.lines]), flush=True)
    return report.exit_code


def _data(args: argparse.Namespace) -> dict[str, Any]:
    """The study's table, with single settings and the build's numbers in their places."""
    from engine.config.overrides import overridden

    data = overridden(read(Path(args.study)), args.settings)
    if data.setdefault("kind", "gate") != "gate":
        raise ConfigError([("kind", f"must be gate, not {str(data['kind'])[:40]!r}; other studies are for run")])
    if args.data is None:
        return data
    from engine.config.base import parse
    from engine.config.study import GameConfig
    from engine.errors import below
    from engine.gate.numbers import read_numbers
    from engine.lineups.schema import merged_patch
    from engine.simulators.loaders import opened

    said = data.get("game")
    with below("game"):
        game = parse(GameConfig, said if isinstance(said, dict) else {})
    with opened(game.simulator) as simulator:
        spec = simulator.describe()
    try:
        content = args.data.read_bytes()
    except OSError as error:
        raise ConfigError([("--data", f"{args.data} cannot be read: {error.strerror}")]) from error
    patch = merged_patch(spec, game.patch, read_numbers(content, spec))
    return {**data, "game": {**data["game"], "patch": patch}}


def _played(config: Any, folder: Path) -> tuple[int, AnyEvent]:
    """Play it, or what is left of it; the exit code of ``run``, and the last event."""
    resume, store = "", store_of(folder)
    if (folder / "events.jsonl").exists():
        if _hash(checked(read(folder / "study.json"), new=False)) != _hash(config):
            raise ConfigError([("--job-dir", f"{folder} holds another gate, or another build: name another folder")])
        end = last_events(folder).get("end")
        if isinstance(end, Finished):
            return 0, end
        resume = kept_checkpoint(folder, store, said=sys.stderr)
    code = execute(config, folder, store, resume=resume, said=sys.stderr)
    return code, _end(folder, code)


def _end(folder: Path, code: int) -> AnyEvent:
    """How it ended; a gate that never began leaves no events."""
    if not (folder / "events.jsonl").exists():
        return Failed(
            error="ConfigError", message="It could not begin; what is wrong stands above.", permanent=code == 2
        )
    found = last_events(folder)
    return found.get("end") or found["last"]


def _report(folder: Path, config: Any) -> Report:
    """What it says; of one that was stopped before it began, that nothing is known."""
    from engine.arrays import unpack
    from engine.stores import open_store

    left = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    if "table" not in left:
        return judged([], Gate(config.name, "", 0, {}, config.parts))
    return decoded(unpack(open_store(store_of(folder)).get(left["table"])).meta)


def _hash(config: Any) -> str:
    from engine.config.study import study_hash

    return study_hash(config)


def _check_files(args: argparse.Namespace) -> None:
    """What is to be written must be writable before anything is played."""
    wrong = []
    for option in ("junit", "csv"):
        path = getattr(args, option)
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            wrong.append(
                (
                    f"--{option}",
                    f"{path} cannot be written: {'it is a folder' if path.is_dir() else 'there is no such folder'}",
                )
            )
    if wrong:
        raise ConfigError(wrong)


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        print(f"{path} cannot be written: {error.strerror}.", file=sys.stderr)


def _stamp(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))
