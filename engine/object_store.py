"""A store of objects by key, as S3 is one: no folders and no renames, but writes on a condition.

Artifacts are objects ``ab/cdef…``, as in a folder. The object ``holders/NAME`` says who holds a lease: its first line
is the holder's token, and what the holder has is below ``leases/NAME/TOKEN/``. Whoever replaces that object while it is
as it was read (If-Match) holds the lease. The other lines name earlier holders, of whom everything is being copied;
once that is done they are taken off the list, and what they had is removed. So a holder that was killed while it copied
leaves everything to the next one, and what an earlier holder still writes is in nobody's list.

Times are the server's, in whole seconds, so what may be younger than it looks is taken for young.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from engine.errors import ArtifactLost, ConfigError, LeaseLost, StoreError
from engine.objects import TOGETHER, Objects, StoredObject
from engine.store import HASH, LEASE_S, Known, Lease

SCHEME = "s3://"
_ADDRESS = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:/[A-Za-z0-9!_.*'()-]+)*)/?")
_ARTIFACT = re.compile(r"[0-9a-f]{2}/[0-9a-f]{62}")
_KEPT = "kept"
_CLOCKS = 2.0
"""Seconds by which an age in whole seconds may be too great."""
_BATCH = 64
"""Objects that are copied between two renewals."""


class _Artifacts:
    """Artifacts below one prefix of keys."""

    def __init__(self, objects: Objects, prefix: str) -> None:
        self.objects, self.prefix = objects, prefix

    def _key(self, digest: str) -> str:
        if not HASH.fullmatch(digest):
            raise StoreError(f"{digest!r} is not an artifact's hash.")
        return f"{self.prefix}{digest[:2]}/{digest[2:]}"

    def put(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        self.objects.put(self._key(digest), data)
        return digest

    def get(self, digest: str) -> bytes:
        found = self.objects.get(self._key(digest))
        if found is None:
            raise ArtifactLost(f"Artifact {digest[:12]} is missing from {SCHEME}{self.objects.bucket}.")
        if hashlib.sha256(found.data).hexdigest() != digest:
            raise ArtifactLost(f"Artifact {digest[:12]} in {SCHEME}{self.objects.bucket} is damaged.")
        return found.data

    def has(self, digest: str) -> bool:
        return self.objects.age(self._key(digest)) is not None

    def use(self, digest: str) -> bool:
        return self.objects.touch(self._key(digest))

    def discard(self, digests: Iterable[str], since: float = math.inf) -> int:
        keys = [self._key(digest) for digest in digests]
        with ThreadPoolExecutor(TOGETHER) as pool:
            return sum(pool.map(lambda key: self._discarded(key, since), keys))

    def _discarded(self, key: str, since: float) -> bool:
        """Each is looked at just before it goes, for somebody may have used it meanwhile."""
        age = self.objects.age(key)
        if age is None or not _older(age, since):
            return False
        self.objects.remove([key])
        return True


class ObjectStore(_Artifacts):
    """The store below one prefix of a bucket."""

    def __init__(self, address: str) -> None:
        named = _ADDRESS.fullmatch(address)
        if named is None:
            why = "write s3://bucket or s3://bucket/prefix, in letters, digits and -_.!*'()"
            raise ConfigError([("store", f"{address} is no address of a store: {why}")])
        bucket, path = named.groups()
        super().__init__(Objects(bucket, f"{path[1:]}/" if path else ""), "")
        self.address = f"{SCHEME}{bucket}{path}"

    def __iter__(self) -> Iterator[str]:
        for one in self.objects.below(""):
            if one.key >= "g":
                return  # behind all that begins like a hash
            if _ARTIFACT.fullmatch(one.key):
                yield one.key.replace("/", "")

    def lease(self, name: str) -> Lease | None:
        found = self.objects.get(_holder(name))
        tokens = _tokens(found)
        if found is not None and tokens:
            kept = any(self.objects.age(_place(name, token) + _KEPT) is not None for token in tokens)
            if kept or found.age <= LEASE_S:
                return None
        return self._moved(name, found)

    def take(self, name: str) -> Lease:
        while (found := self.objects.get(_holder(name))) is not None and found.data:
            if lease := self._moved(name, found):
                return lease
        raise StoreError(f"What the checkpoint needs of its trainings is not in {self.address} any more.")

    def leases(self) -> Iterator[Known]:
        for one in self.objects.below(_holder("")):
            if one.size:
                yield Known(one.key.removeprefix(_holder("")), one.age)

    def sweep(self, since: float) -> None:
        left = [one for one in self.objects.below("leases/") if _older(one.age, since)]
        if left:
            places = {_place(known.name, token) for known in self.leases() for token in self._holders(known.name)}
            self.objects.remove(one.key for one in left if _place_of(one.key) not in places)
        for one in self.objects.below(_holder("")):
            if not one.size and _older(one.age, since):
                self.objects.remove_if(one.key, one.tag)

    def _holders(self, name: str) -> list[str]:
        return _tokens(self.objects.get(_holder(name)))

    def _moved(self, name: str, before: StoredObject | None) -> Lease | None:
        """The lease for a new holder; None where another process was faster."""
        token, earlier = secrets.token_hex(8), _tokens(before)
        data = "\n".join([token, *earlier]).encode()
        if not self.objects.replace(_holder(name), before and before.tag, data):
            return None
        lease = ObjectLease(f"{self.address}/{_place(name, token)}"[:-1])
        with contextlib.suppress(LeaseLost):  # then it is lost, as its holder will find
            lease.take_over(earlier)
        return lease


class ObjectLease(_Artifacts):
    """A lease of an ``ObjectStore``. Whoever writes asks first who holds it, whoever reads asks afterwards."""

    def __init__(self, address: str) -> None:
        store, _, place = address.rpartition("/leases/")
        self.address, self.store = address, ObjectStore(store)
        self.name, _, self.token = place.partition("/")
        super().__init__(self.store.objects, _place(self.name, self.token))

    def put(self, data: bytes) -> str:
        self._held()
        return super().put(data)

    def get(self, digest: str) -> bytes:
        try:
            return super().get(digest)
        finally:
            self._held()

    def discard(self, digests: Iterable[str], since: float = math.inf) -> int:
        with contextlib.suppress(LeaseLost):
            self._held()
            return super().discard(digests, since)
        return 0

    def write(self, key: str, data: bytes) -> None:
        self._held()
        self.objects.put(self.prefix + key, data)

    def read(self, key: str) -> bytes | None:
        found = self.objects.get(self.prefix + key)
        self._held()
        return None if found is None else found.data

    def shared(self, key: str) -> Path:
        folder = _shared(self.address)
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            raise StoreError(f"{folder} is somebody else's.")
        return folder / key

    def renew(self) -> None:
        self._replace(None)

    def keep(self) -> None:
        self.write(_KEPT, b"")

    def drop(self) -> None:
        self._replace(b"")  # which nobody can take, while what is here goes
        self.objects.remove([one.key for one in self.objects.below(self.prefix)])
        found = self.objects.get(_holder(self.name))
        if found is not None and not found.data:
            self.objects.remove_if(_holder(self.name), found.tag)
        shutil.rmtree(_shared(self.address), ignore_errors=True)

    def take_over(self, earlier: Sequence[str]) -> None:
        """Copy what earlier holders had, then remove it there; ``earlier``: the latest first, which has the last
        word. Raises LeaseLost."""
        if not earlier:
            return
        for token in reversed(earlier):
            self._copy(_place(self.name, token))
        self._replace(self.token.encode())
        for token in earlier:
            self.objects.remove([one.key for one in self.objects.below(_place(self.name, token))])
            shutil.rmtree(_shared(f"{self.store.address}/{_place(self.name, token)}"[:-1]), ignore_errors=True)

    def _copy(self, place: str) -> None:
        keys = [one.key for one in self.objects.below(place)]
        with ThreadPoolExecutor(TOGETHER) as pool:
            for at in range(0, len(keys), _BATCH):
                self.renew()
                some = keys[at : at + _BATCH]
                list(pool.map(self.objects.copy, some, [self.prefix + key.removeprefix(place) for key in some]))

    def _held(self) -> StoredObject:
        """The object that says who holds the lease. Raises LeaseLost where it is another one."""
        found = self.objects.get(_holder(self.name))
        if found is None or _tokens(found)[:1] != [self.token]:
            raise LeaseLost("Another attempt at this study has taken over what this one worked with.")
        return found

    def _replace(self, data: bytes | None) -> None:
        """Write that object anew, as long as this one holds the lease; None: as it is. Raises LeaseLost."""
        while True:
            found = self._held()
            if self.objects.replace(_holder(self.name), found.tag, found.data if data is None else data):
                return


def _holder(name: str) -> str:
    return f"holders/{name}"


def _place(name: str, token: str) -> str:
    return f"leases/{name}/{token}/"


def _place_of(key: str) -> str:
    _, name, token, _ = key.split("/", 3)
    return _place(name, token)


def _tokens(found: StoredObject | None) -> list[str]:
    return found.data.decode().split() if found is not None else []


def _older(age: float, since: float) -> bool:
    """Whether what is so old was certainly written before ``since`` (Unix time by this machine's clock)."""
    return age - _CLOCKS > time.time() - since


def _shared(address: str) -> Path:
    """The folder for files of a lease's holder on this machine. Its name cannot be guessed, as the token cannot."""
    return Path(tempfile.gettempdir()) / f"equipoise-{hashlib.sha256(address.encode()).hexdigest()[:32]}"
