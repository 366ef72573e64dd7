"""The store at an address: a folder's path, or ``s3://bucket/prefix``."""

from __future__ import annotations

from engine.object_store import SCHEME, ObjectLease, ObjectStore
from engine.store import FolderLease, FolderStore, Lease, Store


def open_store(address: str) -> Store:
    """The store at this address; with several hosts, all of them must see it. Raises ConfigError for an address of S3
    that cannot be read; whether there is a server, the first request shows."""
    return ObjectStore(address) if address.startswith(SCHEME) else FolderStore(address)


def leased(address: str) -> Lease:
    """The lease at this address, for another process of its holder."""
    return ObjectLease(address) if address.startswith(SCHEME) else FolderLease(address)
