"""The command line: what the web does, without the web, because the web runs it.

    python -m engine run STUDY.yaml          run a study; its folder is var/studies/NAME unless --job-dir says otherwise
                                             (-m algorithm.population=50 and the like replace single settings)
    python -m engine resume FOLDER           go on with a stopped, paused or killed study
    python -m engine list [FOLDER]           the studies there, with their state
    python -m engine check-simulator REF     the conformance check, line by line
    python -m engine serve-simulator REF     serve a Python simulator over ZeroMQ

Exit codes: 0 done (also: stopped or paused on request), 1 not done but may be tried again, 2 cannot be done as asked.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import yaml

from engine import console
from engine.errors import ActorLost, ConfigError, EngineError
from engine.events import AnyEvent, Counters, Failed, Finished, Paused, Progressed, Started, Stopped, encode

STUDIES = Path("var/studies")
_command: dict[str, str] = {"now": ""}


def main(argv: Sequence[str]) -> int:
    """Run one command; its exit code."""
    parser = argparse.ArgumentParser(prog="python -m engine", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a study")
    run.add_argument("study", nargs="?", help="a YAML or JSON file; without it, study.json of --job-dir")
    run.add_argument(
        "-m", dest="settings", action="append", default=[], metavar="PATH=VALUE",
        help="a setting that replaces the file's, such as -m algorithm.population=50; ranges as [low, high]",
    )  # fmt: skip
    run.add_argument("--job-dir", type=Path, help="folder for checkpoints, events and results")
    run.add_argument("--store", type=Path, help="folder for artifacts (default: store below the job's folder)")
    run.add_argument("--events", type=int, metavar="FD", help="where events go, one JSON a line")
    run.add_argument("--resume", default="", metavar="HASH", help="checkpoint to go on from")
    run.add_argument("--job", type=int, default=0, help="job number to put into events")
    run.add_argument("--attempt", type=int, default=0, help="attempt number to put into events")
    run.set_defaults(do=_run)
    resume = commands.add_parser("resume", help="go on with a study")
    resume.add_argument("folder", type=Path)
    resume.set_defaults(do=_resume)
    listing = commands.add_parser("list", help="list studies")
    listing.add_argument("folder", type=Path, nargs="?", default=STUDIES)
    listing.set_defaults(do=_list)
    for name, what in (("check-simulator", "check a simulator"), ("serve-simulator", "serve a simulator")):
        passed = commands.add_parser(name, help=what, add_help=False)
        passed.set_defaults(do=None)
    known, rest = parser.parse_known_args(argv)
    if known.do is None:
        return _simulator(known.command, rest)
    args = parser.parse_args(argv)
    try:
        do: Callable[[argparse.Namespace], int] = args.do
        return do(args)
    except ActorLost as error:
        print(f"Interrupted: {error}", file=sys.stderr)
        return 1
    except EngineError as error:
        return _complain(error)


def _complain(error: EngineError) -> int:
    lines = [f"  {p.place}: {p.message}" for p in error.problems] if isinstance(error, ConfigError) else [f"  {error}"]
    print("This cannot be run:\n" + "\n".join(lines), file=sys.stderr)
    return 2


def _simulator(command: str, rest: Sequence[str]) -> int:
    if command == "check-simulator":
        from engine.simulators.check_command import main_check

        return main_check(list(rest))
    from engine.simulators.serve import main_serve

    return main_serve(list(rest))


def _run(args: argparse.Namespace) -> int:
    if not args.study and not args.job_dir:
        raise ConfigError([("study", "name a YAML file, or a folder that holds study.json with --job-dir")])
    from engine.config.overrides import overridden

    data = overridden(_read(Path(args.study) if args.study else args.job_dir / "study.json"), args.settings)
    folder = args.job_dir or STUDIES / _folder_name(data, args.study)
    if args.events is None and not args.resume and (folder / "events.jsonl").exists():
        raise ConfigError([("study", f"{folder} already holds a study; resume it or choose another name")])
    config = _config(data, new=bool(args.study))  # a job folder's study was validated as new when it was first run
    return _execute(config, folder, args.store or folder / "store", args.events, args.resume, (args.job, args.attempt))


def _folder_name(data: Mapping[str, Any], study: str) -> str:
    name = str(data.get("name") or Path(study).stem)
    if "/" in name or name.startswith("."):
        raise ConfigError([("name", "becomes a folder's name: no slash in it, no dot in front; or give --job-dir")])
    return name


def _resume(args: argparse.Namespace) -> int:
    last = _last_events(args.folder)
    if isinstance(last.get("end"), Finished):
        raise ConfigError([("folder", f"{args.folder} is finished; there is nothing to go on with")])
    saved = last.get("saved")
    digest = saved.artifacts["checkpoint"] if isinstance(saved, Progressed | Paused | Stopped) else ""
    config = _config(_read(args.folder / "study.json"), new=False)
    return _execute(config, args.folder, args.folder / "store", None, digest, (0, 0))


def _read(path: Path) -> dict[str, Any]:
    from engine.config.overrides import read

    try:
        data = read(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError([("study", f"there is no file {path}")]) from error
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigError([("study", f"{path}{line} is not YAML: {error.problem}")]) from error
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError([("study", f"{path} cannot be read: {error}")]) from error
    if not isinstance(data, dict):
        raise ConfigError([("study", f"{path} holds no table of settings")])
    return data


def _execute(config: Any, folder: Path, store: Path, events: int | None, resume: str, job: tuple[int, int]) -> int:
    from engine.store import FolderStore
    from engine.study import run

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise ConfigError([("--job-dir", f"{error.filename} is a file; name a folder")]) from error
    _listen_to_signals()
    write = _to_descriptor(events) if events is not None else _to_folder(folder, config.model_dump(mode="json"))
    code = 1
    for event in run(config, FolderStore(store), resume, control=lambda: _command["now"]):  # type: ignore[arg-type,return-value]
        write(msgspec.structs.replace(event, job=job[0], attempt=job[1]))
        if isinstance(event, Finished | Stopped | Paused):
            code = 0
        elif isinstance(event, Failed):
            code = 2 if event.permanent else 1
    return code


def _config(data: Mapping[str, Any], *, new: bool) -> Any:
    """The validated study; ``new``: it is being written now and was not saved before. Raises ConfigError with every
    problem, including a simulator reference that cannot be resolved."""
    from engine.simulators.loaders import describe_reference
    from engine.studies import load

    game, wrong = data.get("game"), list[tuple[str, str]]()
    reference = game.get("simulator") if isinstance(game, Mapping) else None
    if isinstance(reference, str) and reference:
        try:
            describe_reference(reference)
        except ConfigError as error:
            wrong = [("game.simulator", problem.message) for problem in error.problems]
    try:
        config = load(data, new=new)
    except ConfigError as error:
        raise ConfigError([*error.problems, *wrong]) from error
    if wrong:
        raise ConfigError(wrong)
    return config


def _listen_to_signals() -> None:
    """SIGTERM and SIGINT stop and keep results, SIGUSR1 pauses; a second SIGINT ends at once."""

    def command(word: str) -> Callable[[int, Any], None]:
        def note(number: int, frame: Any) -> None:
            if number == signal.SIGINT:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
            _command["now"] = word

        return note

    for number, word in ((signal.SIGTERM, "stop"), (signal.SIGINT, "stop"), (signal.SIGUSR1, "pause")):
        signal.signal(number, command(word))


def _to_descriptor(descriptor: int) -> Callable[[AnyEvent], None]:
    stream = os.fdopen(descriptor, "wb", buffering=0)

    def write(event: AnyEvent) -> None:
        data = encode(event) + b"\n"
        while data:
            data = data[stream.write(data) or 0 :]

    return write


def _to_folder(folder: Path, config: dict[str, Any]) -> Callable[[AnyEvent], None]:
    """A sink that appends events to events.jsonl and prints one line for each."""
    (folder / "study.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    log = open(folder / "events.jsonl", "ab")  # noqa: SIM115 - open as long as the study runs
    empty = log.tell() == 0

    def write(event: AnyEvent) -> None:
        print(console.line(event, config), flush=True)
        if isinstance(event, Failed) and event.permanent and empty and log.tell() == 0:
            _forget(folder)  # it never began: once fixed, it may use the same folder
            return
        log.write(encode(event) + b"\n")
        log.flush()
        if isinstance(event, Finished | Stopped | Paused):
            _keep_results(folder, event)

    return write


def _forget(folder: Path) -> None:
    for name in ("events.jsonl", "study.json"):
        (folder / name).unlink()


def _keep_results(folder: Path, event: Finished | Stopped | Paused) -> None:
    (folder / "results.json").write_text(json.dumps(event.artifacts, indent=1), encoding="utf-8")


def _last_events(folder: Path) -> dict[str, AnyEvent]:
    """The last event of each sort: ``saved`` (with a checkpoint), ``end``, ``last``."""
    from engine.events import TERMINAL, decode

    path, found = folder / "events.jsonl", dict[str, AnyEvent]()
    if not path.exists():
        raise ConfigError([("folder", f"{folder} holds no study")])
    for line in path.read_bytes().splitlines():
        try:
            event = decode(line)
        except ValueError:
            continue  # the last line of a killed study may be torn
        if not isinstance(event, Failed):  # its counters are empty
            found["last"] = event
        if getattr(event, "artifacts", {}).get("checkpoint"):
            found["saved"] = event
        if isinstance(event, (*TERMINAL, Paused)):
            found["end"] = event
        elif isinstance(event, Started):
            found.pop("end", None)
    return found


def _list(args: argparse.Namespace) -> int:
    folders = sorted(p.parent for p in args.folder.glob("*/events.jsonl"))
    if not folders:
        print(f"No studies in {args.folder}.")
    for folder in folders:
        found = _last_events(folder)
        end, saved = found.get("end"), found.get("saved")
        state = type(end).__name__.lower() if end else "unfinished"
        tick = saved.tick if saved else 0
        counters = found["last"].counters if "last" in found else Counters()
        work = console.work(counters, _read(folder / "study.json"))
        print(f"{folder.name:<30} {state:<11} round {tick:<6} {work:>22}   {folder}")
    return 0
