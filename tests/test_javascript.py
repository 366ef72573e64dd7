"""How the checkers of JavaScript come to a machine: ``deploy.up.javascript``."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from deploy.up import javascript


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like ``tests/javascript`` before npm has been there, and a registry that nobody answers for."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(javascript.HOME / name, tmp_path)
    monkeypatch.setattr(javascript, "HOME", tmp_path)
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    return tmp_path


def test_a_registry_out_of_reach_is_a_failure_with_a_sentence(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert not javascript.install()
    assert "npm could not install eslint and tsc" in capfd.readouterr().out
    assert not (home / "node_modules" / "equipoise.sha256").exists()


def test_npm_runs_again_only_when_the_lock_file_has_changed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def installed(arguments: list[str], cwd: Path) -> int:
        runs.append(arguments[0])
        (cwd / "node_modules").mkdir(exist_ok=True)
        return 0

    runs: list[str] = []
    monkeypatch.setattr(javascript, "npm", installed)
    assert [javascript.install(), javascript.install(), len(runs)] == [True, True, 1]
    (home / "package-lock.json").write_text("{}")
    assert [javascript.install(), runs] == [True, ["ci", "ci"]]


def test_the_lock_file_pins_exact_versions_and_names_no_registry() -> None:
    lock = (javascript.HOME / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock
    assert '"integrity": "sha512-' in lock
