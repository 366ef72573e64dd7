"""Where a run keeps what, and the lock that makes it the only one on its folder.

``var/`` holds everything worth keeping; a short folder under ``/tmp`` holds sockets and Ray's session, because the
path of a unix socket may have no more than 107 bytes.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
FREE_BYTES_NEEDED = 300 * 2**20
FREE_BYTES_WORKABLE = 20 * 2**20
"""Below this, a part that does not start is not to blame, and nothing may depend on what it writes."""


class CannotStart(Exception):
    """A sentence for the person at the terminal: what is in the way, and what to do."""


@dataclass(frozen=True)
class Layout:
    """The folders and files of one instance; all but ``short`` are under ``var``."""

    var: Path

    @property
    def short(self) -> Path:
        digest = hashlib.sha256(str(self.var).encode()).hexdigest()[:8]
        return Path(f"/tmp/eqp-{os.getuid()}-{digest}")

    @property
    def redis_socket(self) -> Path:
        return self.short / "redis.sock"

    @property
    def ray_folder(self) -> Path:
        return self.short / "ray"

    @property
    def run(self) -> Path:
        return self.var / "run"

    @property
    def ray_address(self) -> Path:
        return self.run / "ray_address"

    @property
    def ray_failures(self) -> Path:
        return self.ray_address.with_suffix(".failures")

    @property
    def ray_token(self) -> Path:
        return self.run / "ray_token"

    @property
    def sign_ins(self) -> Path:
        return self.run / "sign_ins.txt"

    @property
    def state(self) -> Path:
        return self.run / "supervisor.json"

    def log(self, part: str) -> Path:
        return self.var / "log" / f"{part}.log"

    def make_folders(self) -> None:
        """Make what is missing; raises ``CannotStart`` where that cannot be done or the disk is full."""
        try:
            for name in ("run", "log", "redis", "store", "jobs", "tmp"):
                (self.var / name).mkdir(mode=0o700, parents=True, exist_ok=True)
            for folder in (self.var, self.short.parent):
                require_space(folder, FREE_BYTES_NEEDED)
            make_private(self.short)
        except OSError as error:
            raise CannotStart(
                f"{error.filename} cannot be written: {error.strerror}. Make room or permit it, or choose another "
                "folder for runtime data: make run VAR=/path/to/folder"
            ) from error

    def remember(self, **state: Any) -> None:
        """Write down what the next start must know to sweep up after this run, should it die. Raises OSError when the
        disk is full; what was written before stays."""
        draft = self.state.with_suffix(".new")
        draft.write_text(json.dumps(state))
        draft.replace(self.state)

    @property
    def roomy(self) -> bool:
        """Whether the disk that holds runtime data has room enough for logs and files of the parts."""
        return shutil.disk_usage(self.var).free > FREE_BYTES_WORKABLE

    def recall(self) -> dict[str, Any]:
        """What the latest run wrote down; empty after an ordered stop."""
        try:
            state = json.loads(self.state.read_text())
        except (OSError, ValueError):
            return {}
        return state if isinstance(state, dict) else {}

    def new_ray_token(self) -> None:
        """Let only processes that can read this file talk to Ray, on a machine with other people on it."""
        self.ray_token.unlink(missing_ok=True)
        descriptor = os.open(self.ray_token, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(32))

    def forget(self) -> None:
        """Remove what belongs to a run rather than to the people who use it."""
        for file in (self.ray_address, self.ray_failures, self.ray_token, self.sign_ins, self.state):
            file.unlink(missing_ok=True)
        shutil.rmtree(self.short, ignore_errors=True)


def make_private(folder: Path) -> None:
    """Make ``folder`` for this user alone; ``/tmp`` is open to all, so what stands there already is not trusted."""
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise CannotStart(f"{folder} is not a private folder of yours. Remove it and start again.") from None


def require_space(folder: Path, needed: int) -> None:
    """Raise ``CannotStart`` when the disk of ``folder`` has less than ``needed`` bytes left."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise CannotStart(
            f"The disk that holds {folder} is full ({free // 2**20} MB free, {needed // 2**20} MB needed). "
            "Make room and start again, or keep runtime data elsewhere: make run VAR=/path/to/folder"
        )


@contextmanager
def only_instance(layout: Layout) -> Iterator[None]:
    """Hold the folder's lock; raises ``CannotStart`` when another supervisor has it. The kernel frees it at death."""
    descriptor = os.open(layout.run / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        other = layout.recall()
        raise CannotStart(
            f"Equipoise runs already on {layout.var}: {other.get('address', 'it is just starting')} "
            f"(process {other.get('pid', 'unknown')}). Use that one, stop it with Ctrl-C, or start another beside it: "
            "make run VAR=/path/to/folder PORT=8001"
        ) from error
    try:
        yield
    finally:
        os.close(descriptor)
