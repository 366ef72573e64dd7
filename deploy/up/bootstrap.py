"""Makes or repairs ``.venv``, then becomes the command that was asked for. Needs the standard library only.

``python3.11 -m deploy.up.bootstrap run|test|quick|lint|bench ...``, in the project's folder.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from deploy.up.layout import ROOT, CannotStart, Layout, only_instance
from deploy.up.options import read_options
from engine.piping import until_nobody_reads

VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOG = VENV / "install.log"
REQUIREMENTS = ROOT / "deploy" / "requirements"
SETS = {"base": ("base",), "test": ("base", "test")}
MEGABYTES = {"base": 1500, "test": 2200}
NO_NETWORK = (
    "NewConnectionError",
    "NameResolutionError",
    "name resolution",
    "Network is unreachable",
    "ConnectTimeout",
    "ReadTimeout",
    "ProxyError",
    "Connection refused",
)
COMMANDS = {
    "run": ("base", ["-m", "deploy.up"]),
    "test": ("test", ["-m", "deploy.up.testing", "test"]),
    "lint": ("test", ["-m", "deploy.up.testing", "lint"]),
    "quick": ("test", ["-m", "deploy.up.testing", "quick"]),
    "bench": ("test", ["-m", "engine.bench"]),
}


class CannotInstall(Exception):
    """A sentence for the person at the terminal: what is in the way, and what to do."""


def check_machine(which: str) -> None:
    """Linux with the GNU C library 2.28 or newer, and a Python that can make virtual environments."""
    try:
        name, _, number = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
        old = name != "glibc" or tuple(map(int, number.split("."))) < (2, 28)
    except (OSError, ValueError):
        old = True
    if sys.platform != "linux" or old:
        raise CannotInstall("It runs on Linux with glibc 2.28 or newer (Debian 10, Ubuntu 20.04, RHEL 8 and later).")
    if find_spec("ensurepip") is None or find_spec("venv") is None:
        raise CannotInstall(
            "This Python has no venv module. Install it (Debian, Ubuntu: apt install python3.11-venv), then: "
            f"make {which}"
        )


def check_settings() -> None:
    """Say before minutes of installing what would stop ``deploy.up`` after them: a wrong setting, a taken port, a site
    that runs already. Raises ``CannotStart``."""
    options = read_options()
    layout = Layout(options.var)
    if layout.run.exists():
        with only_instance(layout):
            pass
    options.open_socket().close()


def fingerprint(kind: str) -> str:
    """Changes when what is to be installed changes."""
    files = [REQUIREMENTS / f"{name}.txt" for name in (*SETS[kind], "constraints")]
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def stamp(kind: str) -> Path:
    """Written last, so a ``.venv`` without it is a half-made one."""
    return VENV / f"equipoise-{kind}.sha256"


def damaged() -> list[metadata.Distribution]:
    """Packages of the Python that runs this whose records are there but whose modules are not."""

    def whole(package: metadata.Distribution) -> bool:
        modules = [f for f in package.files or () if f.name == "__init__.py" and len(f.parts) == 2]
        return all(Path(str(package.locate_file(module))).exists() for module in modules)

    return [package for package in metadata.distributions() if not whole(package)]


def forget_damaged() -> None:
    """Remove the records of damaged packages, so that pip installs them again."""
    for package in damaged():
        record = next(f for f in package.files or () if f.name == "RECORD")
        shutil.rmtree(Path(str(package.locate_file(record))).parent)


def missing(kind: str) -> list[str]:
    """Packages that the Python which runs this has not whole: pinned ones that are not there or have another version,
    and all that are damaged."""
    lost = [package.name for package in damaged()]
    for name in SETS[kind]:
        for line in (REQUIREMENTS / f"{name}.txt").read_text().splitlines():
            package, _, version = line.partition("==")
            package = package.partition("[")[0]  # without its extras
            try:
                # "2.13.0+cpu" is a build of 2.13.0.
                if version and metadata.version(package).partition("+")[0] != version.strip():
                    lost.append(line)
            except metadata.PackageNotFoundError:
                lost.append(line)
    return lost


def complete(kind: str) -> bool:
    """``.venv`` works and holds what it should."""
    if not stamp(kind).exists() or stamp(kind).read_text() != fingerprint(kind):
        return False
    question = [str(PYTHON), "-m", "deploy.up.bootstrap", "missing", kind]
    return works() and subprocess.run(question, cwd=ROOT, check=False).returncode == 0


def works() -> bool:
    """``.venv`` holds a Python 3.11 with pip."""
    question = "import sys, pip; sys.exit(sys.version_info[:2] != (3, 11) or sys.prefix == sys.base_prefix)"
    try:
        return subprocess.run([PYTHON, "-c", question], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def make(kind: str) -> None:
    """Make ``.venv`` from nothing, or from what an interrupted start left of it."""
    if VENV.exists():
        if not (VENV / "pyvenv.cfg").exists() and any(VENV.iterdir()):
            raise CannotInstall(f"{VENV} is not a virtual environment. Move it away, then: make run")
        print("The virtual environment .venv is broken or half made; making it anew.", flush=True)
        shutil.rmtree(VENV)
    free = shutil.disk_usage(ROOT).free // 2**20
    if free < MEGABYTES[kind]:
        raise CannotInstall(
            f"The disk that holds {ROOT} is full ({free} MB free, {MEGABYTES[kind]} MB needed). Make room, then: "
            "make run"
        )
    made = subprocess.run([sys.executable, "-m", "venv", VENV], capture_output=True, text=True, check=False)
    if made.returncode:
        raise CannotInstall(f"The virtual environment could not be made:\n{(made.stdout + made.stderr).strip()}")


def install(kind: str) -> None:
    """Install the pinned packages; built ones only, for a user's machine need not have a compiler."""
    for old in SETS:
        stamp(old).unlink(missing_ok=True)
    print(f"Installing the packages of deploy/requirements/{kind}.txt into .venv; minutes on a slow line.", flush=True)
    subprocess.run([str(PYTHON), "-m", "deploy.up.bootstrap", "forget-damaged"], cwd=ROOT, check=True)
    # What is imported is compiled then, and kept: that takes seconds, and compiling everything here half a minute.
    command = [str(PYTHON), "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--no-compile"]
    command.append("--only-binary=:all:")
    command += ["-r", f"{REQUIREMENTS}/{kind}.txt", "-c", f"{REQUIREMENTS}/constraints.txt"]
    started = time.monotonic()
    with LOG.open("w") as log:
        pip = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, "PIP_USER": "0"}
        )
        while True:
            try:
                code = pip.wait(15)
                break
            except subprocess.TimeoutExpired:
                print(f"  … {time.monotonic() - started:.0f} s", flush=True)
    if code:
        raise CannotInstall(explain(LOG.read_text(errors="replace")))
    for name in SETS:
        if set(SETS[name]) <= set(SETS[kind]):
            stamp(name).write_text(fingerprint(name))


def explain(log: str) -> str:
    """Why pip gave up, as a sentence that says what to do."""
    if "No space left on device" in log:
        return f"The disk is full: pip could not write to {VENV}. Make room, then start again; it goes on from there."
    if any(sign in log for sign in NO_NETWORK):
        return (
            "The package index could not be reached. Check the network (behind a proxy, set HTTPS_PROXY), then start "
            "again; it goes on from there."
        )
    if "No matching distribution found for" in log:
        package = log.rpartition("No matching distribution found for")[2].split()[0]
        return f"There is no built {package} for this machine ({os.uname().machine}); x86-64 and arm64 are supported."
    end = "\n".join(f"  {line}" for line in log.strip().splitlines()[-8:])
    return f"pip failed; remove .venv and start again. The last lines of {LOG}:\n{end}"


def ensure(kind: str, check: Callable[[], None]) -> None:
    """``.venv`` as it should be, one start at a time: a second one waits for the first. ``check`` comes before work."""
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if not complete(kind):
            check()
            if not works():
                make(kind)
            install(kind)
    finally:
        os.close(folder)


def main(which: str, arguments: list[str]) -> int:
    """Prepare, then become the command."""
    if which == "missing":
        lost = missing(arguments[0])
        if lost:
            print(f"Missing from .venv: {', '.join(lost)}.", flush=True)
        return 1 if lost else 0
    if which == "forget-damaged":
        forget_damaged()
        return 0
    kind, command = COMMANDS[which]
    try:
        check_machine(which)
        ensure(kind, check_settings if which == "run" else lambda: None)
    except (CannotInstall, CannotStart) as reason:
        print(f"Equipoise cannot start. {reason}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"Equipoise cannot start. {error.filename or VENV}: {error.strerror}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; the next start goes on from here.", file=sys.stderr)
        return 130
    os.chdir(ROOT)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what pip has not compiled would be compiled by every process
    os.execv(PYTHON, [str(PYTHON), *command, *arguments])


if __name__ == "__main__":
    sys.exit(until_nobody_reads(lambda: main(sys.argv[1], sys.argv[2:])))
