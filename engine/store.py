"""Content-addressed artifacts: ``put(bytes) -> sha256``, ``get``. Arrays never go into database rows.

A write is a temporary file, synced, then renamed, so a file that carries a hash's name is whole whatever was killed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from engine.errors import StoreError

_SHA256 = re.compile(r"[0-9a-f]{64}")


class Store(Protocol):
    """Where artifacts live."""

    def put(self, data: bytes) -> str:
        """Keep ``data``; its sha256 in hexadecimal. Putting the same bytes twice is harmless."""
        ...

    def get(self, digest: str) -> bytes:
        """The bytes with that hash. Raises StoreError when missing or damaged."""
        ...

    def has(self, digest: str) -> bool:
        """Whether the artifact is there (its content is checked by ``get``)."""
        ...

    def discard(self, digests: Iterable[str]) -> None:
        """Forget these artifacts; unknown ones are no error."""
        ...

    def workshop(self, name: str) -> Path:
        """A folder beside the artifacts for work that is not done yet; whoever asked for it removes it."""
        ...


class FolderStore:
    """Artifacts as files ``ab/cdef…`` below one folder."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def _path(self, digest: str) -> Path:
        if not _SHA256.fullmatch(digest):
            raise StoreError(f"{digest!r} is not an artifact's hash.")
        return self.folder / digest[:2] / digest[2:]

    def put(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        path = self._path(digest)
        if path.exists():
            return digest
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{secrets.token_hex(8)}")
        try:
            with open(temporary, "wb") as file:
                file.write(data)
                file.flush()
                os.fdatasync(file.fileno())
            os.replace(temporary, path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            what = "The disk is full: free some space, then resume" if full else f"Could not write ({error})"
            raise StoreError(f"{what}. Folder: {self.folder}") from error
        return digest

    def get(self, digest: str) -> bytes:
        try:
            data = self._path(digest).read_bytes()
        except FileNotFoundError as error:
            raise StoreError(f"Artifact {digest[:12]} is missing from {self.folder}.") from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise StoreError(f"Artifact {digest[:12]} in {self.folder} is damaged.")
        return data

    def has(self, digest: str) -> bool:
        return self._path(digest).exists()

    def discard(self, digests: Iterable[str]) -> None:
        for digest in digests:
            self._path(digest).unlink(missing_ok=True)

    def workshop(self, name: str) -> Path:
        return self.folder / "workshops" / name

    def __iter__(self) -> Iterator[str]:
        for path in sorted(self.folder.glob("??/*")):
            digest = path.parent.name + path.name
            if _SHA256.fullmatch(digest):
                yield digest
