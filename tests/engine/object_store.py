"""A store of objects by key, as S3 is one: no folders and no renames, but conditional writes. It shows that the
contract of stores asks for nothing else; what has to be atomic takes the lock of one operation."""

from __future__ import annotations

import hashlib
import math
import secrets
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.errors import LeaseLost, StoreError
from engine.store import LEASE_S, Known, Lease


class Objects:
    """Keys to (bytes, time of the last write)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.found: dict[str, tuple[bytes, float]] = {}

    def put(self, key: str, data: bytes) -> None:
        with self._lock:
            self.found[key] = data, time.time()

    def replace(self, key: str, before: bytes | None, data: bytes) -> bool:
        """Write where the object is still what it was before (If-Match, If-None-Match)."""
        with self._lock:
            same = self.found.get(key, (None, 0.0))[0] == before
            if same:
                self.found[key] = data, time.time()
            return same

    def below(self, prefix: str) -> list[str]:
        with self._lock:
            return [key for key in self.found if key.startswith(prefix)]


class _Artifacts:
    def __init__(self, objects: Objects, prefix: str) -> None:
        self.objects, self.prefix = objects, prefix

    def put(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        self.objects.put(self.prefix + digest, data)
        return digest

    def get(self, digest: str) -> bytes:
        if not self.has(digest):
            raise StoreError(f"Artifact {digest[:12]} is missing.")
        return self.objects.found[self.prefix + digest][0]

    def has(self, digest: str) -> bool:
        return self.prefix + digest in self.objects.found

    def use(self, digest: str) -> bool:
        there = self.has(digest)
        if there:
            self.put(self.get(digest))
        return there

    def discard(self, digests: Iterable[str], since: float = math.inf) -> int:
        keys = [self.prefix + digest for digest in digests]
        old = [key for key in keys if self.objects.found.get(key, (b"", math.inf))[1] < since]
        for key in old:
            self.objects.found.pop(key)
        return len(old)


class ObjectStore(_Artifacts):
    """The object ``holder/NAME`` says at which address the lease's objects are. Whoever replaces it holds the lease and
    copies what earlier holders had; nothing is removed before the lease is dropped, so nobody can copy too late."""

    def __init__(self) -> None:
        super().__init__(Objects(), "artifacts/")

    def lease(self, name: str) -> Lease | None:
        holder, since = self.objects.found.get(f"holder/{name}", (None, 0.0))
        kept = holder is not None and f"{holder.decode()}kept" in self.objects.found
        if kept or time.time() - since < LEASE_S:
            return None
        return self._moved(name, holder)

    def take(self, name: str) -> Lease:
        while holder := self.objects.found.get(f"holder/{name}"):
            if lease := self._moved(name, holder[0]):
                return lease
        raise StoreError("What the checkpoint needs is not there any more.")

    def leases(self) -> Iterator[Known]:
        for key in self.objects.below("holder/"):
            yield Known(key.removeprefix("holder/"), time.time() - self.objects.found[key][1])

    def _moved(self, name: str, before: bytes | None) -> Lease | None:
        address = f"leases/{name}/{secrets.token_hex(8)}/"
        if not self.objects.replace(f"holder/{name}", before, address.encode()):
            return None
        for key in self.objects.below(f"leases/{name}/"):
            rest = key.split("/", 3)[3]
            if not key.startswith(address):
                self.objects.put(address + rest, self.objects.found[key][0])
        return ObjectLease(self.objects, name, address)


class ObjectLease(_Artifacts):
    def __init__(self, objects: Objects, name: str, address: str) -> None:
        super().__init__(objects, address)
        self.name, self.address = name, address

    def put(self, data: bytes) -> str:
        self.renew()
        return super().put(data)

    def get(self, digest: str) -> bytes:
        self.renew()
        return super().get(digest)

    def write(self, key: str, data: bytes) -> None:
        self.renew()
        self.objects.put(self.address + key, data)

    def read(self, key: str) -> bytes | None:
        self.renew()
        return self.objects.found.get(self.address + key, (None, 0.0))[0]

    def shared(self, key: str) -> Path:
        raise StoreError("An object store has no files to map into memory.")

    def renew(self) -> None:
        if not self.objects.replace(f"holder/{self.name}", self.address.encode(), self.address.encode()):
            raise LeaseLost("Another attempt goes on with this study.")

    def keep(self) -> None:
        self.write("kept", b"")

    def drop(self) -> None:
        self.renew()
        self.objects.found.pop(f"holder/{self.name}")
        for key in self.objects.below(f"leases/{self.name}/"):
            self.objects.found.pop(key)
