"""The command line: what the web does, without the web, because the web runs it.

    python -m engine run STUDY.yaml          run a study; its folder is var/studies/NAME unless --job-dir says otherwise
                                             (-m algorithm.population=50 and the like replace single settings)
    python -m engine resume FOLDER           go on with a stopped, paused or killed study (--store as of its run)
    python -m engine gate STUDY.yaml         may this build go out? (--data FILE: its changed numbers)
    python -m engine plan COURSE.yaml        what a course amounts to, and how long it will take here
    python -m engine replay-bug FILE         does a bug that a hunt found show again? (a folder: all bugs of a hunt)
    python -m engine list [FOLDER]           the studies there, with their state
    python -m engine check-simulator REF     the conformance check, line by line
    python -m engine serve-simulator REF     serve a Python simulator over ZeroMQ

Exit codes: 0 done (also: stopped or paused on request), 1 not done but may be tried again, 2 cannot be done as asked.
Of ``replay-bug`` 3: a replay does not show its bug. Of ``gate`` 0 under the line, 3 over the line, 4 cannot tell (also:
stopped on request). 1 and 2 as above.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from engine import accompanied, bug_command, console, gate_command, plan_command
from engine.errors import LONGEST_SAID, ActorLost, ConfigError, DiskFull, EngineError, Fault, shown_faults
from engine.events import Counters
from engine.job_folder import (
    STUDIES,
    checked,
    execute,
    folder_name,
    last_events,
    read,
    store_of,
    with_stored_starts,
)
from engine.text import clear, printable

_STORE = "where artifacts go: a folder or s3://bucket/prefix (default: $EQUIPOISE_STORE, or the study's folder)"


def main(argv: Sequence[str]) -> int:
    """Run one command; its exit code."""
    parser = _parser()
    known, rest = parser.parse_known_args(argv)
    if known.do is None:
        return _simulator(known.command, rest)
    args = parser.parse_args(argv)
    try:
        do: Callable[[argparse.Namespace], int] = args.do
        return do(args)
    except (ActorLost, DiskFull) as error:
        print(f"Interrupted: {error}", file=sys.stderr)
        return 1
    except EngineError as error:
        return _complain(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m engine", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a study")
    run.add_argument("study", nargs="?", help="a YAML or JSON file; without it, study.json of --job-dir")
    run.add_argument(
        "-m", dest="settings", action="append", default=[], metavar="PATH=VALUE",
        help="a setting that replaces the file's, such as -m algorithm.population=50; ranges as [low, high]",
    )  # fmt: skip
    run.add_argument("--job-dir", type=Path, help="folder for checkpoints, events and results")
    run.add_argument("--store", default="", metavar="ADDRESS", help=_STORE)
    run.add_argument("--events", type=int, metavar="FD", help="where events go, one JSON a line")
    run.add_argument("--resume", default="", metavar="HASH", help="checkpoint to go on from")
    run.add_argument("--job", type=int, default=0, help="job number to put into events")
    run.add_argument("--attempt", type=int, default=0, help="attempt number to put into events")
    run.set_defaults(do=_run)
    resume = commands.add_parser("resume", help="go on with a study")
    resume.add_argument("folder", type=Path)
    resume.add_argument("--store", default="", metavar="ADDRESS", help=_STORE)
    resume.set_defaults(do=_resume)
    gate_command.add(commands)
    plan_command.add(commands)
    bug_command.add(commands)
    listing = commands.add_parser("list", help="list studies")
    listing.add_argument("folder", type=Path, nargs="?", default=STUDIES)
    listing.set_defaults(do=_list)
    for name, what in (("check-simulator", "check a simulator"), ("serve-simulator", "serve a simulator")):
        passed = commands.add_parser(name, help=what, add_help=False)
        passed.set_defaults(do=None)
    return parser


def _complain(error: EngineError) -> int:
    faults = shown_faults(error.problems) if isinstance(error, ConfigError) else [Fault("", str(error))]
    lines = [f"{p.place}: {p.message}" if p.place else p.message for p in faults]
    shown = [f"  {printable(line, LONGEST_SAID, lines=True)}" for line in lines]
    print("This cannot be run:", *shown, sep="\n", file=sys.stderr)
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

    data = overridden(read(Path(args.study) if args.study else args.job_dir / "study.json"), args.settings)
    folder = args.job_dir or STUDIES / folder_name(data, args.study)
    if args.events is None and not args.resume and (folder / "events.jsonl").exists():
        raise ConfigError([("study", f"{folder} already holds a study; resume it or choose another name")])
    store = store_of(folder, args.store)
    data = with_stored_starts(data, store) if args.study else data
    config = checked(data, new=bool(args.study))  # that of a job's folder was asked for before
    job = args.job, args.attempt
    if args.events is not None:  # whoever takes the events starts what comes with it
        return execute(config, folder, store, args.events, args.resume, job)
    return accompanied.begin(config, folder, store, args.resume, job)


def _resume(args: argparse.Namespace) -> int:
    return accompanied.go_on(args.folder, store_of(args.folder, args.store))


def _list(args: argparse.Namespace) -> int:
    beside = f"*/{accompanied.FOLDER}/events.jsonl"
    folders = sorted(p.parent for pattern in ("*/events.jsonl", beside) for p in args.folder.glob(pattern))
    if not folders:
        print(f"No studies in {args.folder}.")
    for folder in folders:
        found = last_events(folder)
        end, saved = found.get("end"), found.get("saved")
        state = type(end).__name__.lower() if end else "unfinished"
        tick = saved.tick if saved else 0
        counters = found["last"].counters if "last" in found else Counters()
        work = console.work(counters, read(folder / "study.json"))
        name = clear(folder.relative_to(args.folder).as_posix())
        print(f"{name:<30} {state:<11} round {tick:<6} {work:>22}   {clear(str(folder))}")
    return 0
