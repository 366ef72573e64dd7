"""The site's rows in PostgreSQL: migrations, constraints, locks, and what only it refuses, on a server of this test.

The tests of other files are run again there; they all pass with SQLite too. deploy/README.md says what else was tried.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.up.layout import ROOT

AGAIN = (
    "tests/webapp/test_migrations.py",
    "tests/webapp/test_row_locks.py",
    "tests/webapp/test_text.py",
    "tests/workers/test_attempts.py::test_a_worker_that_is_asked_to_end_gives_its_job_back_at_once",
)
PATIENCE = 120.0


def binary(name: str) -> str:
    """Debian keeps the server's programs out of the way, by version; others have them on the path."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    path = str(found[-1]) if found else shutil.which(name)
    if not path:
        pytest.fail("PostgreSQL is not installed. Run: sudo apt-get install -y postgresql", pytrace=False)
    return path


def as_somebody() -> list[str]:
    """What to put before a command: the server refuses to run as root."""
    return [] if os.getuid() else ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]


@pytest.fixture
def postgresql() -> Iterator[str]:
    """The ``DATABASE_URL`` of a server that only this test can reach."""
    folder = Path(tempfile.mkdtemp(prefix="eqp-pg-"))
    if not os.getuid():
        shutil.chown(folder, "postgres", "postgres")
    try:
        made = [binary("initdb"), "-D", f"{folder}/data", "-U", "equipoise", "--auth=trust", "--no-sync"]
        subprocess.run([*as_somebody(), *made], check=True, capture_output=True)
        options = ["-k", str(folder), "-c", "listen_addresses=", "-F"]
        with subprocess.Popen(
            [*as_somebody(), binary("postgres"), "-D", f"{folder}/data", *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as server:  # fmt: skip
            deadline = time.monotonic() + PATIENCE
            while subprocess.run([binary("pg_isready"), "-q", "-h", str(folder)], check=False).returncode:
                assert server.poll() is None, "PostgreSQL ended at once"
                assert time.monotonic() < deadline, "PostgreSQL does not answer"
                time.sleep(0.05)
            yield f"postgresql://equipoise@/equipoise?host={folder}"
            server.terminate()
            server.wait(PATIENCE)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_the_site_keeps_its_rows_in_postgresql_as_in_sqlite(postgresql: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "DJANGO_"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *AGAIN],
        cwd=ROOT, env={**environment, "DATABASE_URL": postgresql}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout
