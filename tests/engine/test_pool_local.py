"""The pool in this process keeps every pool's promises, and obeys a stop."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.config.pool import PoolConfig
from engine.errors import ConfigError, EngineError, EvaluationError
from engine.runtime.pool import LocalPool, Pool, open_pool
from tests.contracts import evaluators
from tests.contracts.evaluators import Dangerous, dangerous, requests
from tests.contracts.pool import PoolContract, check, collect


class TestLocalPool(PoolContract):
    def open(self, marks: Path | str = "", batch_ms: int = 100, pause_s: float = 0.0) -> Pool:
        payload = json.dumps({"marks": str(marks), "pause_s": pause_s}).encode()
        config = PoolConfig(kind="local", batch_ms=batch_ms)
        return open_pool(config, "tests.contracts.evaluators:build", payload, allowed=("tests.",))


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


def test_when_every_candidate_ends_its_process_the_work_ends(tmp_path: Path) -> None:
    asked = [dangerous(request, evaluators.SIMULATOR_DIES, 1000) for request in requests(20)]
    with LocalPool(Dangerous(str(tmp_path))) as pool:
        pool.submit(asked)
        with pytest.raises(EvaluationError, match="Not one candidate"):
            collect(pool, len(asked))


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
