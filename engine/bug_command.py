"""``python -m engine replay-bug``: a bug that a hunt found, played again from its seed and its decisions."""

from __future__ import annotations

import argparse
import contextlib
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from engine.arrays import unpack
from engine.config.base import parse
from engine.config.hunt import BUG_FORMAT, LONGEST, OraclesConfig, lost_crashes, many, place_words
from engine.config.train import TrainGame
from engine.errors import LONGEST_SAID, ConfigError, EngineError
from engine.job_folder import last_events, store_of
from engine.mdp.vector import VectorMDP
from engine.stores import open_store
from engine.text import printable

GONE = 3
LONGEST_PART = LONGEST_SAID // 4
"""Characters of what a file says, so that it does not hide what the replay has shown."""
_SEED = re.compile(r"[0-9]{1,20}")


class BugFile(msgspec.Struct, forbid_unknown_fields=True):
    """One bug, and the game that it is in. ``where``: for people who read the file, nothing is told by it; ``seed`` is
    text, because not everything that reads JSON has whole numbers of 64 bits."""

    format: str
    game: dict[str, Any]
    oracles: dict[str, Any]
    kind: str
    what: str
    place: int
    seed: str
    moves: list[Any]
    seen: int = 1
    where: str = ""


class Replayed(NamedTuple):
    """A bug after its replays: its place, as the game that was played has it, and after how many decisions each replay
    showed it (0: it did not)."""

    where: str
    shown: list[int]


def add(commands: Any) -> None:
    """The command and what it takes."""
    command = commands.add_parser(
        "replay-bug",
        help="does a bug that a hunt found show again?",
        description="Plays bugs again, a crash of a program three times, and says in how many replays each showed. "
        "Exit codes: 0 every replay shows its bug, 3 one of them does not, 1 not done but may be tried again, 2 cannot "
        "be done as asked.",
    )
    command.add_argument("bug", type=Path, help="the file of a bug, or the folder of a hunt: all of its bugs")
    command.add_argument("--game", help="another build of the game to play it in, such as command:./server")
    command.set_defaults(do=run)


def run(args: argparse.Namespace) -> int:
    """Play each bug again; a line for each says in how many of its replays it showed. Of a hunt, more lines say which
    crashes no replay showed. Raises ConfigError, SimulatorError, StoreError."""
    results, whole = list[bool](), args.bug.is_dir()
    bugs, lost = _of_study(args.bug) if whole else ([_of_file(args.bug)], [])
    for bug in bugs:
        if args.game:
            bug.game |= {"name": args.game}
        elif not whole:
            _starts_no_program(bug)
        found = replayed(bug)
        results += map(bool, found.shown)
        print(printable(_line(bug, found), LONGEST_SAID), flush=True)
    if not bugs:
        print("This hunt has found no bug yet.")
    for said in lost:
        print(printable(said, LONGEST_SAID))
    return 0 if all(results) else GONE


def _line(bug: BugFile, found: Replayed) -> str:
    times = sum(map(bool, found.shown))
    how = f"It showed in {times} of {many(len(found.shown), 'replay')}{_after(found.shown)}."
    return f"{bug.kind} at {found.where}: {printable(bug.what, LONGEST_PART)} {how}"


def _after(shown: list[int]) -> str:
    """ ", after 4 decisions"; ", after 4 to 9 decisions" where replays differ."""
    counts = sorted({decisions for decisions in shown if decisions})
    if not counts:
        return ""
    first = f"{counts[0]:,} to " if len(counts) > 1 else ""
    return f", after {first}{many(counts[-1], 'decision')}"


def _starts_no_program(bug: BugFile) -> None:
    """Files of bugs are passed from hand to hand, and must not run what they name. Raises ConfigError."""
    name = parse(TrainGame, bug.game).name
    if ":" in name:
        why = "which is not built in, and a file starts no program: name the game yourself, with --game"
        raise ConfigError([("game", f"this bug was found in {name}, {why}")])


def replayed(file: BugFile) -> Replayed:
    """A bug, played again. Raises ConfigError, SimulatorError."""
    from engine.evorl.findings import Bug
    from engine.evorl.hunting import oracles_of, watchable
    from engine.evorl.replays import replays
    from engine.mdp.places import walls_of

    fields = {"kind": file.kind, "what": file.what, "place": file.place, "seed": int(file.seed), "moves": file.moves}
    try:
        bug = msgspec.convert(fields, Bug)
    except msgspec.ValidationError as error:
        raise ConfigError([("bug", str(error))]) from error
    with contextlib.ExitStack() as made:

        def games(battles: int) -> VectorMDP:
            return made.enter_context(contextlib.closing(watchable(parse(TrainGame, file.game), battles)))

        alone, oracles = games(1), oracles_of(parse(OraclesConfig, file.oracles))
        shown = [*replays(bug, lambda battles: alone if battles == 1 else games(battles), oracles)]
        walls = walls_of(alone)
        return Replayed(place_words(bug.place, 0 if walls is None else walls.shape[1]), shown)


def _of_file(path: Path) -> BugFile:
    try:
        bug = msgspec.json.decode(path.read_bytes(), type=BugFile)
        if not _SEED.fullmatch(bug.seed) or int(bug.seed) >= 2**64:
            raise ValueError("its seed is not a whole number between 0 and 2 to the power of 64")
        if len(bug.moves) > LONGEST:
            raise ValueError(f"it has {len(bug.moves):,} decisions; {LONGEST:,} are the most that are played again")
    except RecursionError as error:
        raise ConfigError([("bug", f"{path} cannot be read as a bug: it is nested too deep")]) from error
    except (OSError, ValueError, msgspec.DecodeError) as error:
        raise ConfigError([("bug", f"{path} cannot be read as a bug: {error}")]) from error
    if bug.format != BUG_FORMAT:
        raise ConfigError([("bug", f"its format is {bug.format[:40]!r}; this version reads {BUG_FORMAT}")])
    return bug


def _of_study(folder: Path) -> tuple[list[BugFile], list[str]]:
    """The bugs of a hunt, and sentences on crashes that no replay showed."""
    events = last_events(folder)
    kept = [getattr(events.get(which), "artifacts", {}).get("found") for which in ("end", "saved")]
    digest = next(filter(None, kept), "")
    if not digest:
        raise EngineError(f"{folder} holds no hunt that has come through its first round.")
    meta, _ = unpack(open_store(store_of(folder)).get(digest))
    beside = {"game": meta["game"], "oracles": meta["oracles"], "format": BUG_FORMAT}
    tables = [{**bug, "seed": str(bug["seed"]), **beside} for bug in meta["bugs"]]
    bugs = [msgspec.convert(json.loads(json.dumps(table)), BugFile) for table in tables]
    return bugs, lost_crashes(meta.get("lost", {}), meta.get("partial", {}))
