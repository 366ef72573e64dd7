"""Kill -9 any part of the whole site in the middle of a search on the Ray pool: the job goes on by itself and ends
with exactly the artifacts of the undisturbed run.

One real site under its real supervisor, which starts again what dies; the tests only kill. (``test_kills`` kills the
Celery worker and the study process.)
"""

from __future__ import annotations

import functools
import json
import os
import random
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, NamedTuple

import pytest

from deploy.up import processes
from engine.config import GameConfig, LineupConfig, NSGA2Config, PoolConfig, SearchConfig
from engine.events import Finished
from engine.store import FolderStore
from engine.study import run
from tests.workers.submitter import Submitter
from tests.workers.whole_site import WholeSite, until
from workers import process

TRIES = 5
RESULTS = ("front", "archive", "fresh")
TUG_OF_WAR = "tests.engine.sample_simulators:TugOfWar"
HEROBATTLE = SearchConfig(
    game=GameConfig(simulator="builtin:herobattle"),
    lineups=LineupConfig(teams=2),
    algorithm=NSGA2Config(population=20),
    ticks=120,
    replicates=4,
    fresh=4,
    pool=PoolConfig(kind="ray", workers=2),
)
EXTERNAL = HEROBATTLE.model_copy(update={"game": GameConfig(simulator=f"python:{TUG_OF_WAR}")})
SHORT = HEROBATTLE.model_copy(update={"ticks": 2, "pool": PoolConfig(kind="local")})


class Row(NamedTuple):
    """What a job's row says."""

    status: str
    message: str
    attempt: int
    tick: int
    artifacts: dict[str, str]


class Watched:
    """A job of the site, seen through the site's own database file from outside."""

    def __init__(self, site: KilledSite, config: SearchConfig) -> None:
        """Submit ``config`` as the pages do."""
        self.layout = site.layout
        self.pk, self.ticks, self.at = site.submitter.submit(config), config.ticks, 0

    def _ask(self, question: str) -> list[tuple[Any, ...]]:
        database = sqlite3.connect(f"file:{self.layout.var / 'db.sqlite3'}?mode=ro", uri=True, timeout=60)
        with closing(database):
            return database.execute(question, (self.pk,)).fetchall()

    @property
    def row(self) -> Row:
        asked = "SELECT status, message, attempt, tick, artifacts FROM studies_job WHERE id = ?"
        status, message, attempt, tick, artifacts = self._ask(asked)[0]
        return Row(status, message, attempt, tick, json.loads(artifacts))

    @property
    def terminal(self) -> bool:
        return self.row.status in ("finished", "failed", "stopped")

    @property
    def events(self) -> list[tuple[int, str, int, dict[str, Any]]]:
        """(sequence, kind, tick, body) of each, in the order of the sequence."""
        asked = "SELECT sequence, kind, tick, body FROM studies_jobevent WHERE job_id = ? ORDER BY sequence"
        return [(sequence, kind, tick, json.loads(body)) for sequence, kind, tick, body in self._ask(asked)]

    def incidents(self, what: str) -> list[str]:
        return [body["message"] for _, kind, _, body in self.events if kind == "incident" and body["what"] == what]

    def wait(self, tick: int) -> None:
        """Until it has reached a round, or has ended before."""
        until(lambda: self.row.tick >= tick or self.terminal, f"round {tick} of job {self.pk}")

    def end(self) -> Row:
        """Wait for its end."""
        until(lambda: self.terminal, f"job {self.pk} to end")
        return self.row

    def note(self) -> None:
        """Remember in ``at`` the round it has reached now that something is dead: work must follow."""
        self.at = self.row.tick
        assert not self.terminal

    def study(self) -> int:
        """The study process; 0 when it does not run."""
        return process.find((self.layout.var / "jobs" / str(self.pk) / "process").read_text()) or 0


class KilledSite(WholeSite):
    """The site, and who submits jobs to it."""

    @functools.cached_property
    def submitter(self) -> Submitter:
        """Started once the site is up."""
        return Submitter(self)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KilledSite]:
    site = KilledSite(tmp_path_factory.mktemp("kills") / "var")
    site.start()
    yield site
    site.submitter.end()
    if site.process is not None and site.process.poll() is None:
        site.stop()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[SearchConfig], dict[str, str]]:
    """The results of a search that nothing disturbs, in this one process: a seed gives the same front on any pool."""

    @functools.cache
    def results(simulator: str) -> dict[str, str]:
        config = HEROBATTLE.model_copy(
            update={"game": GameConfig(simulator=simulator), "pool": PoolConfig(kind="local")}
        )
        *_, last = run(config, FolderStore(tmp_path_factory.mktemp("undisturbed")))
        assert isinstance(last, Finished), last
        return {role: last.artifacts[role] for role in RESULTS}

    return lambda config: results(config.game.simulator)


def in_its_middle(site: KilledSite, config: SearchConfig, seed: str) -> Watched:
    """A job that has reached a seeded tick and is not beyond 70 %; where this process was too slow to see it there,
    the same once more."""
    tick = random.Random(seed).randint(config.ticks // 5, config.ticks * 2 // 5)
    for _ in range(TRIES):
        job = Watched(site, config)
        job.wait(tick)
        if job.row.tick <= config.ticks * 7 // 10 and not job.terminal:
            return job
        job.end()
    raise AssertionError(f"{TRIES} jobs ended before they were seen in their middle: {job.row}")


def gone(pid: int) -> bool:
    found = processes.stat(pid)
    return found is None or found.state == "Z"


def kill(pid: int, job: Watched) -> None:
    """Kill -9 while the job runs, and see that it died."""
    os.kill(pid, signal.SIGKILL)
    until(lambda: gone(pid), f"process {pid} to die")
    job.note()


def below(site: KilledSite, *beginning: str) -> list[int]:
    """Processes of the site whose title begins so, or whose command line does behind the name of the Python."""
    assert site.process is not None
    found = []
    for pid in sorted(processes.descendants(site.process.pid)):
        try:
            words = (processes.PROC / str(pid) / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:  # it ended meanwhile
            continue
        if words[1 : len(beginning) + 1] == [*beginning] or words[0].startswith(" ".join(beginning)):
            found.append(pid)
    return found


def one_each(find: Callable[[], list[int]]) -> list[int]:
    """The processes of the job's workers; those of an earlier job may take a moment to be gone."""
    found: list[int] = until(lambda: len(pids := find()) == HEROBATTLE.pool.workers and pids, "as many as workers")
    return found


def kill_web_server(site: KilledSite, job: Watched) -> None:
    killed = site.pid("web")
    kill(killed, job)
    until(lambda: site.pid("web") != killed and site.health(), "the web server to answer again")


def kill_actor(site: KilledSite, job: Watched) -> None:
    kill(random.Random(job.pk).choice(one_each(lambda: below(site, "ray::WorkerActor"))), job)
    until(lambda: job.incidents("lost-worker"), "the job to say that it lost a worker")


def kill_raylet(site: KilledSite, job: Watched) -> None:
    def raylets() -> list[int]:
        assert site.process is not None
        named = map(processes.stat, processes.descendants(site.process.pid))
        return [each.pid for each in named if each and each.name == "raylet" and each.state != "Z"]

    (killed,) = raylets()
    kill(killed, job)
    until(lambda: raylets() and killed not in raylets(), "another raylet")
    until(lambda: job.row.attempt >= 2, "another attempt")


def kill_redis_and_its_data(site: KilledSite, job: Watched) -> None:
    """The supervisor is held meanwhile, so that the data are gone for certain before the next server looks for them;
    and one more job is submitted while there is no server."""
    assert site.process is not None
    killed, data = site.pid("redis"), site.layout.var / "redis"
    site.process.send_signal(signal.SIGSTOP)
    try:
        kill(killed, job)
        assert list(data.rglob("*.aof"))
        shutil.rmtree(data)
        data.mkdir(mode=0o700)
        other = Watched(site, SHORT)
        assert not other.terminal
    finally:
        site.process.send_signal(signal.SIGCONT)
    until(lambda: site.pid("redis") != killed, "another Redis")
    site.until_healthy()
    assert other.end().status == "finished"


def kill_supervisor(site: KilledSite, job: Watched) -> None:
    study, first = job.study(), site.run
    assert study
    site.kill()
    until(lambda: gone(study), "the study to follow the supervisor")
    job.note()
    site.start()
    assert site.run != first
    assert processes.marked(first) == []
    until(lambda: job.row.attempt >= 2, "another attempt")


def kill_simulator(site: KilledSite, job: Watched) -> None:
    simulators = one_each(lambda: below(site, "-m", "engine.simulators.serve", TUG_OF_WAR))
    # By its mark the start after a power cut finds a simulator.
    assert set(simulators) <= set(site.processes())
    kill(random.Random(job.pk).choice(simulators), job)
    until(lambda: job.incidents("lost-simulator"), "the job to say that it lost a simulator")


@pytest.mark.parametrize(
    ("config", "disturb"),
    [
        (HEROBATTLE, kill_web_server),
        (HEROBATTLE, kill_actor),
        (HEROBATTLE, kill_raylet),
        (HEROBATTLE, kill_redis_and_its_data),
        (EXTERNAL, kill_simulator),
        (HEROBATTLE, kill_supervisor),
    ],
    ids=["web", "actor", "raylet", "redis", "simulator", "supervisor"],
)
def test_a_job_ends_with_the_front_of_the_undisturbed_run(
    site: KilledSite,
    undisturbed: Callable[[SearchConfig], dict[str, str]],
    config: SearchConfig,
    disturb: Callable[[KilledSite, Watched], None],
) -> None:
    expected = undisturbed(config)
    site.until_healthy()
    job = in_its_middle(site, config, disturb.__name__)
    disturb(site, job)
    until(lambda: job.row.tick > job.at, "work to follow")
    ended = job.end()
    assert (ended.status, ended.message) == ("finished", ""), site.said
    assert {role: ended.artifacts[role] for role in RESULTS} == expected
    events = job.events
    assert [tick for _, kind, tick, _ in events if kind == "progressed"] == list(range(1, config.ticks + 1))
    assert [sequence for sequence, *_ in events] == list(range(1, len(events) + 1))
