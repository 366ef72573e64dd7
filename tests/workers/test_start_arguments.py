"""What is written behind ``python -m deploy.up``: it has no arguments, and starts nothing where some are given."""

from __future__ import annotations

import os
import sys

import pytest

from deploy.up import __main__ as start


@pytest.fixture(autouse=True)
def _nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise AssertionError("the site would start")

    monkeypatch.setattr(start, "read_options", refuse)
    monkeypatch.setattr(os, "chdir", lambda folder: None)
    monkeypatch.setattr(os, "umask", lambda mask: mask)


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_is_printed_and_no_site_starts(
    flag: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["deploy.up", flag])
    with pytest.raises(SystemExit) as ended:
        start.main()
    assert ended.value.code == 0
    told = capsys.readouterr().out
    assert all(name in told for name in ("PORT", "LISTEN", "VAR", "EQUIPOISE_CPUS", "EQUIPOISE_JOB_SLOTS"))


@pytest.mark.parametrize("argument", ["--port=9000", "stop"])
def test_any_other_argument_is_refused_and_no_site_starts(
    argument: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["deploy.up", argument])
    with pytest.raises(SystemExit) as ended:
        start.main()
    assert ended.value.code == 2
    assert f"unrecognized arguments: {argument}" in capsys.readouterr().err


def test_without_arguments_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["deploy.up"])
    with pytest.raises(AssertionError, match="would start"):
        start.main()
