"""What ``make test``, ``make quick`` and ``make lint`` run once ``.venv`` is ready:
``python -m deploy.up.testing test|quick|lint``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

from deploy.up import javascript
from deploy.up.layout import ROOT
from engine.piping import until_nobody_reads

SYSTEM_PACKAGES = (
    "chromium-headless-shell", "postgresql", "wesnoth-1.16-core", "wesnoth-1.16-data",
    "libpango-1.0-0", "libpangoft2-1.0-0", "libharfbuzz-subset0",
)  # fmt: skip
LINT = (
    ("-m", "ruff", "check", "."),
    ("-m", "ruff", "format", "--check", "."),
    ("-m", "mypy"),
)
# A file stays in one process, so its tests can share a running site. Files come in the order of tests/conftest.py, the
# longest first; xdist by itself would begin with those that hold the most tests.
IN_ORDER = ("--dist", "loadfile", "--no-loadscope-reorder")
# Eight processes for two processors: tests that start Ray, a browser or a site mostly wait for them, and with four a
# processor was idle for a third of the time. The quick ones only compute.
PYTEST = ("-m", "pytest", "-n", "8", *IN_ORDER)
QUICK = ("-m", "pytest", "-n", "2", *IN_ORDER, "--quick", "--durations", "10", "--durations-min", "1")
"""It names what took longest, so that what has become slow is seen."""
COMPILE = ("-m", "tests.compile_first")
ALONE = ("-m", "pytest", "--last-failed", "--last-failed-no-failures", "none")
FAILED, FEW = 1, 3
"""pytest's exit status when tests failed, and so many that a machine too busy for them may explain it."""


def absent() -> list[str]:
    """System packages that the tests need and this machine has not."""
    if shutil.which("dpkg-query") is None:
        return list(SYSTEM_PACKAGES)
    question = ["dpkg-query", "-W", "-f", "${db:Status-Status}"]
    states = {name: subprocess.run([*question, name], capture_output=True, text=True) for name in SYSTEM_PACKAGES}
    return [name for name, state in states.items() if state.stdout != "installed"]


def as_root() -> list[str] | None:
    """What to put before a command to run it as root; None where that would need a password."""
    if os.getuid() == 0:
        return []
    if shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0:
        return ["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive"]
    return None


def install_system_packages() -> None:
    """Install what is absent where we may; elsewhere say how, and let the tests that need it fail."""
    names = absent()
    if not names:
        return
    wanted = f"apt-get install -y --no-install-recommends {' '.join(names)}"
    root = as_root()
    if root is None or shutil.which("apt-get") is None:
        print(f"Tests that need them will fail until you install them: sudo {wanted}", flush=True)
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in ("apt-get update -q", wanted):
        subprocess.run([*root, *command.split()], env=environment, stdin=subprocess.DEVNULL, check=False)
    if absent():
        print(f"apt could not install {', '.join(absent())}; the tests that need them will fail.", flush=True)


def run(command: Sequence[str]) -> int:
    """Run a command of Python's; gives its exit status."""
    started = time.monotonic()
    print(f"$ python {' '.join(command)}", flush=True)
    code = subprocess.run([sys.executable, *command], cwd=ROOT, stdin=subprocess.DEVNULL, check=False).returncode
    print(f"  exit status {code}, {time.monotonic() - started:.0f} s", flush=True)
    return code


def lint() -> int:
    """Run every linter and type checker, also after one failed; 0 when none did."""
    codes = [run(command) for command in LINT]
    codes += [run(command) for command in javascript.LINT] if javascript.install() else [1]
    return int(any(codes))


def suite(arguments: Sequence[str]) -> int:
    """Run the suite; where continuous integration finds a few failures, these once more by themselves. A test that
    passes then depends on what ran beside it: it is named, and to be mended, but says nothing against the change."""
    code = run([*PYTEST, *arguments])
    failed = failures() if code == FAILED and os.environ.get("CI") else []
    if not 0 < len(failed) <= FEW:
        return code
    print(f"Once more, alone: {', '.join(failed)}", flush=True)
    code = run([*ALONE, *arguments])
    if not code:
        print(f"Failed beside others and passed alone, to be mended: {', '.join(failed)}", flush=True)
    return code


def whole(arguments: Sequence[str]) -> int:
    """The suite; where it is all of it, after what most of it needs is compiled, once for all processes."""
    if not arguments:
        run(COMPILE)
    return suite(arguments)


def failures() -> list[str]:
    """The tests that failed last, by their names in pytest."""
    try:
        found = json.loads((ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return sorted(found)


def beside_linters(work: Callable[[], int]) -> int:
    """Do the work while the linters run, and tell afterwards what they said; 0 where neither found anything."""
    with tempfile.TemporaryFile() as said:
        command = [sys.executable, "-m", "deploy.up.testing", "lint"]
        linters = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
        try:
            code = work()
            found = linters.wait()
        finally:
            linters.kill()
        said.seek(0)
        print(said.read().decode(errors="replace"), end="", flush=True)
    return max(found, min(1, code))


def main(which: str, arguments: list[str]) -> int:
    """Lint, or the quick tests, or the whole suite beside lint; further arguments go to pytest."""
    if which == "lint":
        return lint()
    if which == "quick":
        return run([*QUICK, *arguments])
    install_system_packages()
    return beside_linters(lambda: whole(arguments))


if __name__ == "__main__":
    sys.exit(until_nobody_reads(lambda: main(sys.argv[1], sys.argv[2:])))
