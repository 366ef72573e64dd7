"""Leases in a folder."""

from __future__ import annotations

import os
import time
from pathlib import Path

from engine.store import FolderStore, Lease
from engine.stores import leased
from tests.contracts.store import StoreContract


class TestFolderStore(StoreContract):
    def make(self) -> FolderStore:
        return FolderStore(self.folder)

    def age(self, lease: Lease, seconds: float) -> None:
        past = time.time() - seconds
        os.utime(lease.address, (past, past))

    def test_another_process_of_the_holder_finds_it_by_its_address(self) -> None:
        lease = self.held()
        digest = leased(lease.address).put(b"weights")
        assert lease.get(digest) == b"weights"

    def test_a_store_does_not_list_what_its_leases_hold_and_sweeps_what_killed_writers_left(self) -> None:
        store = self.make()
        self.held().put(b"weights")
        assert list(store) == []
        draft = Path(self.folder) / "leases" / ".draft" / "token"
        draft.mkdir(parents=True)
        store.sweep(time.time() - 60)
        assert draft.exists()
        store.sweep(time.time() + 60)
        assert not draft.parent.exists()

    def test_putting_the_same_again_mends_a_file_that_was_damaged(self) -> None:
        """A study that is started anew makes the same bytes, and would find the damaged ones for ever."""
        store = self.make()
        for harm in (b"", b"weight", b"weighed"):
            digest = store.put(b"weights")
            (Path(self.folder) / digest[:2] / digest[2:]).write_bytes(harm)
            assert store.put(b"weights") == digest
            assert store.get(digest) == b"weights"

    def test_a_study_forgets_its_own_holders_and_no_others(self) -> None:
        """Another study may keep its own here, and be at work."""
        store = self.make()
        mine, other = store.lease("aa11-1"), store.lease("bb22-1")
        assert mine is not None
        assert other is not None
        store.forget_holders("aa11")
        assert [known.name for known in store.leases()] == ["bb22-1"]
        other.renew()
