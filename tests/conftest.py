"""What several test folders share."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
import redis
from django.conf import settings
from django.contrib.contenttypes.management import create_contenttypes
from django.db.models.signals import post_migrate
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from pytest_django import DjangoDbBlocker

from deploy.up import valkey
from engine import objects
from tests.migrated import Shared, is_shared
from tests.own_s3 import OwnS3
from tests.processes import environment
from webapp.lib import alive

gc.disable()  # nothing is garbage while thousands of tests are collected; see pytest_collection_finish
# Tests compare bits, and those of a processor are what they were written with.
os.environ["CUDA_VISIBLE_DEVICES"] = ""
# Threads of several test processes that wait for one another on two processors burned ten times what they computed.
os.environ["OMP_NUM_THREADS"] = "1"
# Without byte code on disk each process that a test starts compiles what it imports: half of what Django's take.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# On a busy machine a generated example may take its time: no test fails for that. Tests that need more say so.
hypothesis_settings.register_profile(
    "calm", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("calm")


SLOW_FOLDERS = ("browser", "workers")
SLOW_FILES = {
    "engine": {
        "aesrl", "arena", "arena_mixed", "baselines", "battle_counts", "cast", "change", "channels", "commanded",
        "companion", "confidence", "evolution", "evolution_bench", "evolution_genes", "evolution_lineups",
        "evolution_operators", "evolve", "fair_queue", "game_conformance", "gate", "gate_baselines", "gate_command",
        "gossip_bench", "gossip_study", "groups", "herobattle", "hunt", "intended", "kept_bench", "ladder", "lineups",
        "masac", "match_memory", "mdp_external", "mdp_paths", "metagame", "metagame_study", "new_pieces", "numbered",
        "object_store", "objectives", "pairings", "patch_proof", "patches", "pbt", "piping", "racing", "racing_lineups",
        "removal", "rl_learners", "scarce", "self_play", "sensitivity", "simulator_client", "simulator_conformance",
        "simulator_tcp", "starts", "stops", "study", "study_troubles", "styles", "styles_bench", "supervisor", "td3",
        "termination", "train", "train_policies", "trust_finds_faults", "turns", "verdicts", "wesnoth", "worth",
        "worth_bench", "worth_forecast", "worth_prices", "worth_rare", "worth_unfinished",
    },
    "webapp": {
        "accounts", "agents", "api_access", "api_jobs", "arena", "bodies", "changes", "command_lines", "commanders",
        "compare", "deadline", "demo", "digits", "edge_battles", "environment", "evolve_form", "explore_shortlist",
        "games_limits", "games_simulators", "gates", "home_queries", "jobs_methods", "jobs_new", "metagame", "old_site",
        "pages_access", "rechecked", "redis_away", "report_changes", "report_files", "reports", "row_locks",
        "self_play", "sensitivity", "shared_critic", "simulator_words", "stream", "styles_form", "styles_pages",
        "web_server",
    },
}  # fmt: skip
"""Those that took some four seconds and more, all tests of a file together. Those that start Ray say so themselves."""
RAY = re.compile(r"^\s*(from tests\.contracts\.ray_server import|import ray\b|from ray\b)", re.MULTILINE)
"""How a file says that it starts Ray."""

LONGEST = (
    "engine/test_train_ray", "engine/test_worth", "workers/test_whole_site_kills", "engine/test_verdicts",
    "workers/test_kills", "engine/test_masac", "engine/test_pool_ray", "engine/test_study", "engine/test_gossip_ray",
    "engine/test_arena", "workers/test_full_disk", "engine/test_patches", "engine/test_aesrl_ray", "engine/test_train",
    "workers/test_trainings", "engine/test_lineups", "engine/test_pool_ray_lost", "engine/test_rl_learners",
    "engine/test_styles", "webapp/test_agents", "workers/test_postgresql", "engine/test_aesrl",
    "workers/test_supervisor", "engine/test_starts", "webapp/test_commanders", "webapp/test_old_site",
    "workers/test_evolutions", "webapp/test_home_queries", "engine/test_shared_learner", "engine/test_hunt",
    "engine/test_styles_likeness", "engine/test_td3", "webapp/test_redis_away", "webapp/test_pages_access",
    "workers/test_styles", "webapp/test_stream", "webapp/test_accounts", "engine/test_peers", "engine/test_cast",
    "engine/test_turns", "webapp/test_shared_critic", "engine/test_starts_ray", "engine/test_racing",
    "engine/test_piping", "engine/test_numbered", "engine/test_change", "workers/test_agents", "workers/test_attempts",
    "engine/test_worth_bench", "engine/test_worth_forecast", "workers/test_bootstrap", "workers/test_private",
    "browser/test_frame", "browser/test_data_pages", "browser/test_training", "browser/test_explore",
    "browser/test_explore_hands", "browser/test_job_page", "browser/test_loop", "browser/test_evolving",
    "browser/test_explore_words", "browser/test_new_job", "browser/test_explore_agrees",
)  # fmt: skip
"""Those that took some half a minute and more, the longest first, those that mostly wait for others among those that
mostly compute: of several processes, nobody begins a long one when all others end. Those in a browser come last, right
before all others in a browser: a process keeps its site and its Chromium from one such file to the next, and only to
it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """What ``make quick`` asks for."""
    parser.addoption("--quick", action="store_true", help="leave out what needs Ray, a browser or a site, or long")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what is slow where only the quick tests are asked for."""
    if not config.getoption("--quick"):
        return None
    return True if is_slow(collection_path) else None


def is_slow(path: Path) -> bool:
    """Whether the quick tests leave a file out."""
    folder, name = path.parent.name, path.stem.removeprefix("test_")
    return folder in SLOW_FOLDERS or name in SLOW_FILES.get(folder, ()) or starts_ray(path)


def starts_ray(path: Path) -> bool:
    """Whether a file of tests says that it starts Ray."""
    return path.stem.startswith("test_") and RAY.search(path.read_text(encoding="utf-8")) is not None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first; the order of all else stays."""
    rank = {f"{name}.py": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get("/".join(item.path.parts[-2:]), len(rank)))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Ray reads how to authenticate, and much else, when it is imported: a test file that imports it while it is
    collected takes away from all others what they would set, and they wait for ever. So it fails at once."""
    before = "ray" in sys.modules
    report = yield
    if "ray" in sys.modules and not before:
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} imports Ray when it is collected: use engine.runtime.cluster.load_ray."
    return report


def pytest_collection_finish() -> None:
    """Thousands of tests and their modules stay until the end: nobody need look at them for garbage again and again."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 100)


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Shared | None:
    """What the processes of a run share of the database; None where there is but one."""
    return Shared(tmp_path_factory.getbasetemp().parent) if is_shared() else None


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None, migrated: Shared | None) -> None:
    """Before Django creates the database: begin with what another process has migrated."""
    if migrated:
        migrated.begin()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker, migrated: Shared | None) -> None:
    """The database. What empties it after a test need not write anew, each time, what Django notes about every table
    for its own permissions, which the site does not use."""
    if migrated:
        with django_db_blocker.unblock():
            migrated.offer()
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    post_migrate.disconnect(create_contenttypes)


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    """A real Redis-compatible server at ``settings.REDIS_URL``; gives its URL."""
    data, listener = settings.VAR / "redis", settings.VAR / "redis.sock"
    data.mkdir()
    with subprocess.Popen(valkey.command(data, listener), stdout=subprocess.DEVNULL) as server:
        while not valkey.answers(listener):
            assert server.poll() is None, "the Redis-compatible server ended at once"
            time.sleep(0.01)
        alive.believe_back()  # an earlier test may have asked for it
        yield settings.REDIS_URL
        server.kill()


@pytest.fixture
def redis_client(redis_server: str) -> Iterator[redis.Redis]:
    """A connection to the test server, which is empty."""
    with redis.Redis.from_url(redis_server) as client:
        client.flushall()
        yield client


@pytest.fixture
def process_environment(transactional_db: None, redis_server: str) -> dict[str, str]:
    """Environment variables with which another process sees the database and the Redis server of this test."""
    return environment(redis_server)


@pytest.fixture(scope="module")
def s3() -> Iterator[OwnS3]:
    """A server of S3's protocol for this module, which the environment names."""
    server = OwnS3()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment.items():
            patch.setenv(name, value)
        objects._client.cache_clear()
        yield server
    objects._client.cache_clear()
    server.end()
