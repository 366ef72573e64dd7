"""What several tests of the engine share."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from engine.cli import main
from engine.runtime.redis_server import RedisServer
from engine.simulators.client import ExternalSimulator
from engine.simulators.entry_points import build
from engine.simulators.game_client import ExternalGame
from engine.store import FolderStore

Engine = Callable[..., CompletedProcess[str]]


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Engine]:
    """``python -m engine`` with these words in this test's folder, or in ``folder``: its exit code and what it said. It
    runs in this process, because a new one takes half a processor-second and more to import what it needs."""

    def run(*words: str, folder: Path = tmp_path) -> CompletedProcess[str]:
        monkeypatch.chdir(folder)
        capsys.readouterr()
        code = main(words)
        said = capsys.readouterr()
        return CompletedProcess(words, code, said.out, said.err)

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)}
    yield run
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    """An empty store of this test alone."""
    return FolderStore(tmp_path)


@pytest.fixture
def played_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Games of ``python:module:factory`` are played in this process: a program for each study takes half a
    processor-second to start, longer than a test's battles. A test without this plays in programs."""
    for client in (ExternalSimulator, ExternalGame):
        monkeypatch.setattr(client, "from_entry_point", lambda entry_point, **_: build(entry_point))


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where private folders are made, for this test alone; its path is short, for the sockets in them."""
    tmp_path_factory.getbasetemp()  # made now, or it would be made in here and vanish with this test
    with tempfile.TemporaryDirectory(prefix="eqt-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> list[RedisServer]:
    """The Redis of each study that has one of its own."""
    found: list[RedisServer] = []
    begin = RedisServer.__init__

    def begun(self: RedisServer, megabytes: int = 256) -> None:
        begin(self, megabytes)
        found.append(self)

    monkeypatch.setattr(RedisServer, "__init__", begun)
    return found
