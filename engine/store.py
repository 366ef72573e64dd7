"""Content-addressed artifacts: ``put(bytes) -> sha256``, ``get``. Arrays never go into database rows.

A write is a temporary file, synced, then renamed, so a file that carries a hash's name is whole whatever was killed.

A lease is an area of a store for one holder at a time, with artifacts of its own and records by name. A new holder
moves the whole lease to a fresh address, so an earlier holder that still runs can read, write and remove nothing of it,
however late it wakes up: it gets LeaseLost. In a folder the move is a rename; ``engine.object_store`` copies behind a
conditional write of the new address.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import math
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from engine.errors import ArtifactLost, DiskFull, EngineError, LeaseLost, StoreError

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
"""``errno`` values of a full disk."""
LEASE_S = 60.0
"""Seconds after its last renewal at which a lease expires."""
HASH = re.compile(r"[0-9a-f]{64}")
"""An artifact's address."""
_KEPT = "kept"


class Artifacts(Protocol):
    """Bytes, addressed by their hash."""

    def put(self, data: bytes) -> str:
        """Store ``data`` and return its sha256 in hexadecimal. Putting the same bytes twice is harmless. Raises
        StoreError, or DiskFull when the disk is full."""
        ...

    def get(self, digest: str) -> bytes:
        """The bytes with that hash. Raises ArtifactLost when missing or damaged, StoreError when the store does not
        answer."""
        ...

    def has(self, digest: str) -> bool:
        """Whether the artifact is there (its content is checked by ``get``)."""
        ...

    def use(self, digest: str) -> bool:
        """As ``has``, but an artifact that is there then counts as put just now."""
        ...

    def discard(self, digests: Iterable[str], since: float = math.inf) -> int:
        """Remove those of these artifacts that were neither put nor used ``since`` (Unix time); returns how many."""
        ...


def first_whole(digests: Iterable[str], store: Artifacts) -> str:
    """The first of these artifacts that is neither missing nor damaged; empty where none is. Raises StoreError when the
    store does not answer."""
    for digest in digests:
        with contextlib.suppress(ArtifactLost):
            store.get(digest)
            return digest
    return ""


class Lease(Artifacts, Protocol):
    """The area of one holder. Reading, writing and renewing raise LeaseLost once somebody else has taken it."""

    @property
    def name(self) -> str:
        """Its name in the store."""
        ...

    @property
    def address(self) -> str:
        """For the holder's other processes: ``stores.leased(address)``."""
        ...

    def write(self, key: str, data: bytes) -> None:
        """Replace a record; a reader sees the old one or the new one."""
        ...

    def read(self, key: str) -> bytes | None:
        """The record, or None where nobody wrote it."""
        ...

    def shared(self, key: str) -> Path:
        """The path of a file that the holder's processes on one machine may map into memory, beside the records."""
        ...

    def renew(self) -> None:
        """Postpone its expiry."""
        ...

    def keep(self) -> None:
        """Mark it as needed by a checkpoint: from now on only ``take`` gives it away, expired or not."""
        ...

    def drop(self) -> None:
        """Remove it with all its content."""
        ...


@contextlib.contextmanager
def held(lease: Lease) -> Iterator[None]:
    """Renew a lease beside whatever its holder does, such as wait for workers to start, until the end or until somebody
    else has taken it, which the holder finds when it next uses it."""
    over = threading.Event()

    def renew() -> None:
        while not over.wait(LEASE_S / 6):
            try:
                lease.renew()
            except LeaseLost:
                return
            except EngineError:  # a store that cannot be reached for now
                continue

    beside = threading.Thread(target=renew, name="lease", daemon=True)
    beside.start()
    try:
        yield
    finally:
        over.set()
        beside.join()


class Known(NamedTuple):
    """A lease as its store lists it; ``age``: seconds since it was renewed."""

    name: str
    age: float


class Store(Artifacts, Protocol):
    """Where artifacts live."""

    @property
    def address(self) -> str:
        """For other processes: ``stores.open_store(address)``."""
        ...

    def __iter__(self) -> Iterator[str]:
        """The hashes of all artifacts, without those of leases."""
        ...

    def sweep(self, since: float) -> None:
        """Remove what killed writers and holders left that began before ``since`` (Unix time) and nobody can find."""
        ...

    def lease(self, name: str) -> Lease | None:
        """A new lease of this name, or an existing one that expired and no checkpoint needs; None while it is held or
        needed."""
        ...

    def take(self, name: str) -> Lease:
        """Take over the lease of this name from any holder. Raises StoreError when there is none."""
        ...

    def leases(self) -> Iterator[Known]:
        """All leases."""
        ...


class _Folder:
    """Artifacts as files ``ab/cdef…`` below one folder."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def _path(self, digest: str) -> Path:
        if not HASH.fullmatch(digest):
            raise StoreError(f"{digest!r} is not an artifact's hash.")
        return self.folder / digest[:2] / digest[2:]

    def put(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        if not (self.use(digest) and self._holds(digest, data)):
            self._write(self._path(digest), data)
        return digest

    def _holds(self, digest: str, data: bytes) -> bool:
        """Whether its file is whole: one that a disk has damaged is written anew."""
        with contextlib.suppress(OSError):
            return self._path(digest).read_bytes() == data
        return False

    def get(self, digest: str) -> bytes:
        try:
            data = self._path(digest).read_bytes()
        except FileNotFoundError as error:
            raise ArtifactLost(f"Artifact {digest[:12]} is missing from {self.folder}.") from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise ArtifactLost(f"Artifact {digest[:12]} in {self.folder} is damaged.")
        return data

    def has(self, digest: str) -> bool:
        return self._path(digest).exists()

    def use(self, digest: str) -> bool:
        with contextlib.suppress(FileNotFoundError):
            os.utime(self._path(digest))
            return True
        return False

    def discard(self, digests: Iterable[str], since: float = math.inf) -> int:
        old = [path for path in map(self._path, digests) if path.exists() and path.stat().st_mtime < since]
        for path in old:
            path.unlink(missing_ok=True)
        return len(old)

    def _write(self, path: Path, data: bytes) -> None:
        temporary = path.with_name(f".{secrets.token_hex(8)}")
        try:
            self._make_folder(path.parent)
            with open(temporary, "wb") as file:
                file.write(data)
                file.flush()
                os.fdatasync(file.fileno())
            os.replace(temporary, path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            if error.errno in FULL:
                raise DiskFull(f"The disk is full: free some space, then resume. Folder: {self.folder}") from error
            raise StoreError(f"Could not write ({error}). Folder: {self.folder}") from error

    def _make_folder(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)


class FolderStore(_Folder):
    """A store in one folder. Its leases are folders ``leases/NAME/TOKEN``; a lease is as old as its folder."""

    @property
    def address(self) -> str:
        return str(self.folder.resolve())

    def __iter__(self) -> Iterator[str]:
        for path in sorted(self.folder.glob("??/*")):
            digest = path.parent.name + path.name
            if HASH.fullmatch(digest):
                yield digest

    def lease(self, name: str) -> Lease | None:
        home, token = self._home(name), secrets.token_hex(8)
        held = self._held(home)
        if held is not None:
            free = _age(held) > LEASE_S and not (held / _KEPT).exists()
            return self._moved(held, home / token) if free else None
        draft = home.with_name(f".{token}")
        (draft / token).mkdir(parents=True)
        try:
            os.rename(draft, home)  # fails if another process was faster
        except OSError:
            shutil.rmtree(draft)
            return None
        return FolderLease(home / token)

    def take(self, name: str) -> Lease:
        home = self._home(name)
        while (held := self._held(home)) is not None:
            if lease := self._moved(held, home / secrets.token_hex(8)):
                return lease
        raise StoreError(f"What the checkpoint needs of its trainings is not in {self.folder} any more.")

    def leases(self) -> Iterator[Known]:
        for home in sorted(self.folder.glob("leases/[!.]*")):
            if held := self._held(home):
                yield Known(home.name, _age(held))

    def forget_holders(self, study: str) -> None:
        """Remove every lease of a study, by its hash, that no checkpoint needs, held or not: for whoever knows that no
        holder lives. Other studies that keep theirs here may be at work."""
        for home in self.folder.glob(f"leases/{study}-*"):
            if (held := self._held(home)) and not (held / _KEPT).exists():
                FolderLease(held).drop()

    def sweep(self, since: float) -> None:
        for draft in (*self.folder.glob("??/.*"), *self.folder.glob("leases/.*")):
            if draft.stat().st_mtime < since:
                shutil.rmtree(draft) if draft.is_dir() else draft.unlink(missing_ok=True)

    def _home(self, name: str) -> Path:
        return self.folder / "leases" / name

    def _held(self, home: Path) -> Path | None:
        return next(home.glob("[!.]*"), None)

    def _moved(self, held: Path, to: Path) -> Lease | None:
        try:
            os.utime(held)
            os.rename(held, to)
        except FileNotFoundError:
            return None  # another process was faster
        return FolderLease(to)


class FolderLease(_Folder):
    """A lease of a ``FolderStore``. After a takeover nothing is written at its old path."""

    @property
    def name(self) -> str:
        return self.folder.parent.name

    @property
    def address(self) -> str:
        return str(self.folder)

    def get(self, digest: str) -> bytes:
        with self._while_held():
            return super().get(digest)

    def write(self, key: str, data: bytes) -> None:
        self._write(self.folder / key, data)

    def read(self, key: str) -> bytes | None:
        path = self.folder / key
        with self._while_held():
            return path.read_bytes() if path.exists() or not self.folder.exists() else None

    def shared(self, key: str) -> Path:
        return self.folder / key

    def renew(self) -> None:
        with self._while_held():
            os.utime(self.folder)

    def keep(self) -> None:
        self.write(_KEPT, b"")

    def drop(self) -> None:
        gone = self.folder.parent.with_name(f".{self.folder.name}")
        with self._while_held():
            os.rename(self.folder, gone)
        shutil.rmtree(gone, ignore_errors=True)
        with contextlib.suppress(OSError):
            self.folder.parent.rmdir()

    def _write(self, path: Path, data: bytes) -> None:
        with self._while_held():
            super()._write(path, data)

    def _make_folder(self, folder: Path) -> None:
        if folder != self.folder:
            self._make_folder(folder.parent)
            folder.mkdir(exist_ok=True)

    @contextlib.contextmanager
    def _while_held(self) -> Iterator[None]:
        """Turn errors into LeaseLost when the folder is gone, for then the lease was taken over."""
        try:
            yield
        except (OSError, StoreError) as error:
            if self.folder.exists():
                raise
            raise LeaseLost("Another attempt at this study has taken over what this one worked with.") from error


def _age(folder: Path) -> float:
    with contextlib.suppress(FileNotFoundError):
        return time.time() - folder.stat().st_mtime
    return 0.0
