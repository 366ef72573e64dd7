"""What every store promises of its leases; each store's test class inherits these tests."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest

from engine.errors import LeaseLost, StoreError
from engine.store import LEASE_S, Lease, Store, held

T = TypeVar("T")


def at_once(many: int, act: Callable[[], T]) -> list[T]:
    """What so many threads get that all act at the same moment."""
    ready = threading.Barrier(many)

    def wait_and_act() -> T:
        ready.wait()
        return act()

    with ThreadPoolExecutor(many) as pool:
        return [asked.result() for asked in [pool.submit(wait_and_act) for _ in range(many)]]


class StoreContract(ABC):
    """Inherit, and say how the store is made and how a lease in it ages."""

    @pytest.fixture(autouse=True)
    def _made(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.folder = tmp_path_factory.mktemp("store")
        self.store = self.make()

    @abstractmethod
    def make(self) -> Store:
        """A fresh store."""

    @abstractmethod
    def age(self, lease: Lease, seconds: float) -> None:
        """Nobody renewed the lease for so long."""

    def held(self, name: str = "study-1") -> Lease:
        """A new lease."""
        lease = self.store.lease(name)
        assert lease is not None
        return lease

    def test_a_lease_has_one_holder_at_a_time(self) -> None:
        lease = self.held()
        assert self.store.lease("study-1") is None
        assert self.store.lease("study-2") is not None
        assert sorted(known.name for known in self.store.leases()) == ["study-1", "study-2"]
        lease.drop()
        assert [known.name for known in self.store.leases()] == ["study-2"]
        assert self.store.lease("study-1") is not None

    def test_one_that_nobody_renews_expires_and_the_next_holder_finds_all_that_was_in_it(self) -> None:
        lease = self.held()
        digest = lease.put(b"weights")
        lease.write("candidates/1", b"half way")
        self.age(lease, LEASE_S / 2)
        assert self.store.lease("study-1") is None
        self.age(lease, 2 * LEASE_S)
        lease.renew()
        assert self.store.lease("study-1") is None
        self.age(lease, 2 * LEASE_S)
        after = self.held()
        assert (after.get(digest), after.read("candidates/1")) == (b"weights", b"half way")
        assert self.store.lease("study-1") is None, "it is held again"

    def test_one_is_renewed_beside_what_its_holder_does_until_that_is_over(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("engine.store.LEASE_S", 0.06)
        lease = self.held()
        with held(lease):
            for _ in range(2):
                self.age(lease, 1000 * LEASE_S)
                while next(iter(self.store.leases())).age > LEASE_S:
                    time.sleep(0.01)
        assert not [each for each in threading.enumerate() if each.name == "lease"]
        lease.drop()

    def test_whoever_renews_one_that_was_taken_leaves_it_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("engine.store.LEASE_S", 0.06)
        lease = self.held()
        with held(lease):
            taken = self.store.take(lease.name)
            while [each for each in threading.enumerate() if each.name == "lease"]:
                time.sleep(0.01)
        self.age(taken, 1000 * LEASE_S)
        assert next(iter(self.store.leases())).age > LEASE_S

    def test_one_that_a_checkpoint_needs_never_becomes_free_and_can_be_taken_by_its_name(self) -> None:
        lease = self.held()
        digest = lease.put(b"weights")
        lease.keep()
        self.age(lease, 1000 * LEASE_S)
        assert self.store.lease("study-1") is None
        assert self.store.take("study-1").get(digest) == b"weights"

    def test_whoever_was_superseded_neither_reads_nor_changes_nor_removes_anything(self) -> None:
        old = self.held()
        digest = old.put(b"weights")
        old.write("candidates/1", b"half way")
        new = self.store.take(old.name)
        for attempt in (
            lambda: old.put(b"later"), lambda: old.get(digest), lambda: old.write("candidates/1", b"behind"),
            lambda: old.read("candidates/1"), old.renew, old.keep, old.drop,
        ):  # fmt: skip
            with pytest.raises(LeaseLost, match="Another attempt"):
                attempt()
        old.discard([digest])
        assert (new.get(digest), new.read("candidates/1")) == (b"weights", b"half way")
        assert new.address != old.address

    def test_of_many_who_take_it_at_once_one_holds_it_with_all_that_was_there(self) -> None:
        digest = self.held().put(b"weights")
        taken = at_once(8, lambda: self.store.take("study-1"))
        found = [self.found(lease, digest) for lease in taken]
        assert sorted(found) == [b""] * 7 + [b"weights"]

    def found(self, lease: Lease, digest: str) -> bytes:
        """What a lease has; nothing where another attempt took it over."""
        try:
            return lease.get(digest)
        except LeaseLost:
            return b""

    def test_of_many_who_ask_for_a_new_one_at_once_one_gets_it(self) -> None:
        given = at_once(8, lambda: self.store.lease("study-1"))
        assert sum(lease is not None for lease in given) == 1

    def test_what_was_used_since_is_not_discarded(self) -> None:
        lease = self.held()
        digest = lease.put(b"weights")
        assert lease.discard([digest], since=0.0) == 0
        assert lease.get(digest) == b"weights"
        assert lease.discard([digest]) == 1
        assert not lease.has(digest)

    def test_there_is_nothing_to_take_where_nothing_is_left(self) -> None:
        with pytest.raises(StoreError, match="any more"):
            self.store.take("study-1")
