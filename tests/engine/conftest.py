"""What several tests of the engine share."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where private folders are made, for this test alone; its path is short, for the sockets in them."""
    tmp_path_factory.getbasetemp()  # made now, or it would be made in here and vanish with this test
    with tempfile.TemporaryDirectory(prefix="eqt-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)
