"""The pool in this process keeps every pool's promises, and obeys a stop."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.config.pool import PoolConfig
from engine.errors import ConfigError, EngineError
from engine.runtime.pool import LocalPool, Pool, open_pool
from tests.contracts.evaluators import Dangerous, requests
from tests.contracts.pool import PoolContract, check, collect


class TestLocalPool(PoolContract):
    def open(self, marks: Path | str = "", batch_ms: int = 100, pause_s: float = 0.0, succeeded: bool = False) -> Pool:
        payload = json.dumps({"marks": str(marks), "pause_s": pause_s}).encode()
        config = PoolConfig(kind="local", batch_ms=batch_ms)
        factory = "tests.contracts.evaluators:build"
        return open_pool(config, factory, payload, allowed=("tests.",), succeeded=succeeded)


def test_a_stop_leaves_the_rest_outstanding_and_nothing_is_lost() -> None:
    asked = requests(50)
    stopped = False
    with LocalPool(Dangerous(pause_s=0.001), batch_ms=10, should_stop=lambda: stopped) as pool:
        pool.submit(asked)
        told = collect(pool, 1)
        stopped = True
        assert pool.finished(1.0) == []
        stopped = False
        told.update(collect(pool, len(asked) - len(told)))
    check(told, asked)


def test_an_evaluator_outside_the_allowed_packages_is_refused() -> None:
    with pytest.raises(EngineError, match="not an evaluator"):
        open_pool(PoolConfig(kind="local"), "tests.contracts.evaluators:build", b"{}")
    with pytest.raises(EngineError, match="not an evaluator"):
        open_pool(PoolConfig(kind="ray"), "os:system", b"{}")


def test_a_wrong_configuration_is_told_when_the_pool_is_opened() -> None:
    with pytest.raises(ConfigError, match="no hero 99"):
        open_pool(PoolConfig(kind="local"), "tests.contracts.evaluators:build_refused", b"{}", allowed=("tests.",))


def test_a_local_pool_loads_neither_ray_nor_zeromq() -> None:
    code = "import sys; import engine.runtime.pool; sys.exit(any(m in sys.modules for m in ('ray', 'zmq', 'torch')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
