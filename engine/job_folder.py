"""Running a study in a folder: its table is read and checked, its events are kept and told, signals end it."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TextIO

import msgspec
import yaml

from engine import console
from engine.config.study import study_hash
from engine.errors import ConfigError, DiskFull
from engine.events import AnyEvent, Failed, Finished, Paused, Started, Stopped, encode
from engine.store import FULL, HASH, FolderStore, first_whole
from engine.text import clear

STUDIES = Path("var/studies")
STORE = "EQUIPOISE_STORE"
"""The variable with the address of the store."""
LONGEST_FOLDER = 200
"""Bytes of a folder that is named after its study; file systems take 255."""
_command: dict[str, str] = {"now": ""}


def read(path: Path) -> dict[str, Any]:
    """The table of a YAML or JSON file. Raises ConfigError."""
    from engine.config import overrides

    try:
        data = overrides.read(path.read_text(encoding="utf-8"))
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


def store_of(folder: Path, given: str = "") -> str:
    """The address of the store of a study in a folder: the one given, or what ``EQUIPOISE_STORE`` says, or one in the
    folder itself."""
    return given or os.environ.get(STORE) or str(folder / "store")


def execute(
    config: Any, folder: Path, store: str, events: int | None = None, resume: str = "", job: tuple[int, int] = (0, 0),
    said: TextIO | None = None,
) -> int:  # fmt: skip
    """Run a study in its folder; the exit code of ``run``. ``events``: the descriptor that events go to; none: into the
    folder, and a line each for the person who watches to ``said`` (usually standard output). Raises ConfigError,
    ActorLost."""
    from engine.stores import open_store
    from engine.study import run
    from engine.study.checkpoint import NewestCheckpoints

    kept, own = open_store(store), store == str(folder / "store")
    newest = NewestCheckpoints(kept, [*_checkpoints(folder), resume]) if own else None
    _make(folder)
    _listen_to_signals()
    code = 1
    with _room(folder), _writing(config, folder, events, said) as write, _log_of(config, folder) as log:
        if own and events is None:  # then no other process runs this study: those that did were killed
            FolderStore(store).forget_holders(study_hash(config))
        for event in run(config, kept, resume, control=lambda: _command["now"]):  # type: ignore[arg-type,return-value]
            write(msgspec.structs.replace(event, job=job[0], attempt=job[1]))
            log(event)
            if newest is not None and (saved := _checkpoint(event)):
                newest.saved(saved)
            if isinstance(event, Finished | Stopped | Paused):
                code = 0
                if events is None:
                    for found in console.found(config, event.artifacts, kept):
                        print(found, file=said, flush=True)
            elif isinstance(event, Failed):
                code = 2 if event.permanent else 1
    return code


def _make(folder: Path) -> None:
    """Make the folder, if it is not there. Raises ConfigError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise ConfigError([("--job-dir", f"{error.filename} is a file; name a folder")]) from error
    except OSError as error:
        raise ConfigError([("--job-dir", f"{error.filename} cannot be made: {error.strerror}")]) from error


@contextmanager
def _room(folder: Path) -> Iterator[None]:
    """Turn the system's error into DiskFull, where a folder's disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise DiskFull(f"The disk is full: free some space, then resume. Folder: {folder}") from error


def _writing(
    config: Any, folder: Path, events: int | None, said: TextIO | None
) -> AbstractContextManager[Callable[[AnyEvent], None]]:
    """What takes the study's events: a descriptor, else its folder. Raises ConfigError."""
    if events is not None:
        return nullcontext(_to_descriptor(events))
    return _to_folder(folder, config.model_dump(mode="json"), said)


@contextmanager
def _log_of(config: Any, folder: Path) -> Iterator[Callable[[AnyEvent], None]]:
    """What takes the study's events beside its folder: its TensorBoard log, where it asks for one."""
    if not config.tensorboard:
        yield lambda event: None
        return
    from engine.tensorboard_log import FOLDER, TensorBoardLog

    with closing(TensorBoardLog(folder / FOLDER, config.model_dump(mode="json"))) as log:
        yield log


def with_stored_starts(data: Mapping[str, Any], store: str) -> dict[str, Any]:
    """The table of a study with every trained policy that it begins with in the store: a folder with the two files of
    one (``engine.rl.policy``) is replaced by its hash. Raises ConfigError for one that holds none."""
    found = {**data, **_stored_start(data, "start", store)}
    for table in ("policies", "roster"):
        if isinstance(policies := data.get(table), Mapping):
            found[table] = {
                name: {**one, **_stored_start(one, f"{table}.{name}.start", store)} if isinstance(one, Mapping) else one
                for name, one in policies.items()
            }
    return found


def _stored_start(table: Mapping[str, Any], place: str, store: str) -> dict[str, str]:
    from engine.stores import open_store

    given = table.get("start")
    if not isinstance(given, str) or not given or HASH.fullmatch(given):
        return {}
    if not Path(given).is_dir():
        raise ConfigError([(place, f"there is no folder {given}; name one with a policy.json, or a policy’s hash")])
    try:
        description, tensors = ((Path(given) / name).read_bytes() for name in ("policy.json", "policy.safetensors"))
    except OSError as error:
        raise ConfigError([(place, f"there is no policy in {given}: {error.strerror} ({error.filename})")]) from error
    try:
        described = str(json.loads(description)["sha256"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigError([(place, f"{Path(given) / 'policy.json'} is not the description of a policy")]) from error
    if hashlib.sha256(tensors).hexdigest() != described:
        why = f"policy.safetensors in {given} is not the file that policy.json describes: their check sums differ"
        raise ConfigError([(place, why)])
    kept = open_store(store)
    kept.put(tensors)
    return {"start": kept.put(description)}


def checked(data: Mapping[str, Any], *, new: bool) -> Any:
    """The study, checked; ``new``: somebody wrote it, it is none that was kept. Raises ConfigError with all that is
    wrong, a simulator that cannot be named included."""
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


@contextmanager
def _to_folder(folder: Path, config: dict[str, Any], said: TextIO | None) -> Iterator[Callable[[AnyEvent], None]]:
    """Events into events.jsonl, and one line each for the person who watches. Raises ConfigError while another process
    runs the study of this folder."""
    with open(folder / "events.jsonl", "ab") as log:
        try:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the system lets go of it when this process dies
        except BlockingIOError as error:
            why = f"another process runs the study in {folder}: stop it first, or wait for its end"
            raise ConfigError([("folder", why)]) from error
        (folder / "study.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
        empty = log.tell() == 0
        if _torn(folder / "events.jsonl"):
            log.write(b"\n")

        def write(event: AnyEvent) -> None:
            print(console.line(event, config), file=said, flush=True)
            if isinstance(event, Failed) and event.permanent and empty and log.tell() == 0:
                _forget(folder)  # it never began: mended, it may have the same folder
                return
            log.write(encode(event) + b"\n")
            log.flush()
            if isinstance(event, Finished | Stopped | Paused):
                _keep_results(folder, event)

        yield write


def _torn(path: Path) -> bool:
    """Whether the last line of a file was cut off: what comes next would be lost with it."""
    with open(path, "rb") as log:
        log.seek(-min(1, path.stat().st_size), os.SEEK_END)
        return log.read(1) not in (b"", b"\n")


def _forget(folder: Path) -> None:
    for name in ("events.jsonl", "study.json"):
        (folder / name).unlink()


def _keep_results(folder: Path, event: Finished | Stopped | Paused) -> None:
    (folder / "results.json").write_text(json.dumps(event.artifacts, indent=1), encoding="utf-8")


def events_of(folder: Path) -> Iterator[AnyEvent]:
    """The events that a folder keeps, of all attempts, in their order. Raises ConfigError where it holds no study."""
    from engine.events import decode

    path = folder / "events.jsonl"
    if not path.exists():
        raise ConfigError([("folder", f"{folder} holds no study")])
    for line in path.read_bytes().splitlines():
        try:
            event = decode(line)
        except ValueError:
            continue  # the last line of a killed study may be torn
        yield event


def _checkpoints(folder: Path) -> list[str]:
    """All that a study has saved, the oldest first."""
    kept = events_of(folder) if (folder / "events.jsonl").exists() else ()
    return [saved for event in kept if (saved := _checkpoint(event))]


def _checkpoint(event: AnyEvent) -> str:
    """The one that an event brings; empty for none."""
    return str(getattr(event, "artifacts", {}).get("checkpoint", ""))


def last_events(folder: Path) -> dict[str, AnyEvent]:
    """The last event that matters of each sort: ``saved`` (with a checkpoint), ``end``, ``last``. Raises ConfigError
    where the folder holds no study."""
    from engine.events import TERMINAL

    found = dict[str, AnyEvent]()
    for event in events_of(folder):
        if not isinstance(event, Failed):  # which counts nothing
            found["last"] = event
        if _checkpoint(event):
            found["saved"] = event
        if isinstance(event, (*TERMINAL, Paused)):
            found["end"] = event
        elif isinstance(event, Started):
            found.pop("end", None)
    return found


def folder_name(data: Mapping[str, Any], study: str) -> str:
    """What the folder of a study is called: by its own name, else by its file's. Raises ConfigError."""
    name = str(data.get("name") or Path(study).stem)
    if "/" in name or name.startswith("."):
        raise ConfigError([("name", "becomes a folder's name: no slash in it, no dot in front; or give --job-dir")])
    if clear(name) != name or len(name.encode()) > LONGEST_FOLDER:
        why = f"nothing in it that cannot be seen, and at most {LONGEST_FOLDER} bytes"
        raise ConfigError([("name", f"becomes a folder's name: {why}; or give --job-dir")])
    return name


def kept_checkpoint(folder: Path, store: str, said: TextIO | None = None) -> str:
    """The checkpoint that the study of a folder goes on from: the newest, or the one before where that is missing or
    damaged, which is then told to ``said`` (usually standard output). Empty before the first one. Raises ConfigError
    where the study is finished, and where both are lost."""
    from engine.stores import open_store
    from engine.study.checkpoint import KEPT

    if isinstance(last_events(folder).get("end"), Finished):
        raise ConfigError([("folder", f"{folder} is finished; there is nothing to go on with")])
    newest = [*dict.fromkeys(reversed(_checkpoints(folder)))][:KEPT]
    whole = first_whole(newest, open_store(store))
    if newest and not whole:
        why = "no checkpoint in it can be read: what it had found stays; start the study anew under another name"
        raise ConfigError([("folder", f"{folder}: {why}")])
    if newest and whole != newest[0]:
        text = "The newest checkpoint is missing or damaged, so the study goes on from the one before"
        print(console.at_now(text), file=said, flush=True)
    return whole
