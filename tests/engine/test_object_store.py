"""A store in S3: the contract of stores against a server of its own, and what only a server can do to it."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine import objects
from engine.errors import ConfigError, DiskFull, LeaseLost, StoreError
from engine.events import Progressed
from engine.job_folder import kept_checkpoint, store_of
from engine.object_store import ObjectLease, ObjectStore
from engine.store import FolderStore, Lease
from engine.stores import leased, open_store
from engine.studies import load
from engine.study import run
from tests.contracts.store import StoreContract
from tests.engine import test_evolve as evolve
from tests.engine.test_study import STUDY, results
from tests.own_s3 import OwnS3


@pytest.fixture
def store(s3: OwnS3) -> ObjectStore:
    return ObjectStore(s3.fresh())


def held(store: ObjectStore, name: str = "study-1") -> ObjectLease:
    lease = store.lease(name)
    assert isinstance(lease, ObjectLease)
    return lease


def keys(store: ObjectStore, prefix: str = "") -> list[str]:
    return [one.key for one in store.objects.below(prefix)]


class TestObjectStore(StoreContract):
    @pytest.fixture(autouse=True)
    def _served(self, s3: OwnS3, _made: None) -> None:
        self.s3 = s3
        self.store = open_store(s3.fresh())

    def make(self) -> FolderStore:
        return FolderStore(self.folder)  # until the server is known

    def age(self, lease: Lease, seconds: float) -> None:
        self.s3.age(f"{self.store.address}/holders/{lease.name}", seconds)


def test_artifacts_are_found_by_their_hash_and_a_damaged_one_is_told(store: ObjectStore) -> None:
    digest = store.put(b"weights")
    held(store).put(b"of the lease")
    assert (store.get(digest), store.has(digest), store.use(digest), list(store)) == (b"weights", True, True, [digest])
    store.objects.put(f"{digest[:2]}/{digest[2:]}", b"broken")
    with pytest.raises(StoreError, match="damaged"):
        store.get(digest)
    with pytest.raises(StoreError, match="missing"):
        store.get("ab" * 32)
    with pytest.raises(StoreError, match="is not an artifact's hash"):
        store.get("../../etc/passwd")
    assert not store.use("ab" * 32)
    assert store.discard([digest, "ab" * 32]) == 1


def test_only_what_was_certainly_neither_put_nor_used_since_is_discarded(store: ObjectStore, s3: OwnS3) -> None:
    old, used, young = (store.put(name) for name in (b"old", b"used", b"young"))
    for digest in (old, used):
        s3.age(f"{store.address}/{digest[:2]}/{digest[2:]}", 100)
    assert store.use(used)
    assert store.discard([old, used, young], time.time() - 200) == 0
    assert store.discard([old, used, young], time.time()) == 1
    assert sorted(store) == sorted([used, young])


def test_a_write_whose_answer_was_lost_counts_when_it_is_made_again(store: ObjectStore) -> None:
    assert store.objects.replace("holders/x", None, b"mine")
    assert store.objects.replace("holders/x", None, b"mine"), "as a second try of the same request"
    assert not store.objects.replace("holders/x", None, b"another's")
    found = store.objects.get("holders/x")
    assert found is not None
    assert store.objects.replace("holders/x", found.tag, b"later")
    assert not store.objects.replace("holders/x", found.tag, b"too late")
    store.objects.remove_if("holders/x", found.tag)
    assert keys(store) == ["holders/x"], "it has another tag by now"


def test_a_holder_that_is_killed_while_it_takes_over_leaves_everything_to_the_next(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = held(store)
    digest = first.put(b"weights")
    first.write("candidates/1", b"half way")
    first.keep()

    def killed(self: ObjectLease, place: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ObjectLease, "_copy", killed)
        with pytest.raises(KeyboardInterrupt):
            store.take("study-1")
    assert store.lease("study-1") is None, "what a checkpoint needs stays so"
    with pytest.raises(LeaseLost):
        first.get(digest)
    after = store.take("study-1")
    assert (after.get(digest), after.read("candidates/1")) == (b"weights", b"half way")
    assert {key.split("/")[2] for key in keys(store, "leases/")} == {after.address[-16:]}, "copies are not kept"


def test_of_a_record_that_several_holders_had_the_latest_is_taken(store: ObjectStore) -> None:
    first = held(store)
    first.write("progress", b"old")
    second, third = (ObjectLease(f"{store.address}/leases/study-1/{token}") for token in ("0" * 16, "1" * 16))
    for lease, earlier in ((second, [first.token]), (third, [second.token, first.token])):
        found = store.objects.get("holders/study-1")
        assert found is not None
        assert store.objects.replace("holders/study-1", found.tag, "\n".join([lease.token, *earlier]).encode())
        if lease is second:
            second.write("progress", b"new")
    third.take_over([second.token, first.token])
    assert third.read("progress") == b"new"


def test_a_sweep_removes_what_no_holder_can_find_once_it_is_old(store: ObjectStore, s3: OwnS3) -> None:
    lease = held(store)
    lease.write("candidates/1", b"half way")
    store.objects.put("leases/study-1/late/candidates/1", b"of a superseded attempt")
    store.objects.put("holders/study-2", b"")
    store.sweep(time.time() - 60)
    assert len(keys(store)) == 4
    for key in keys(store):
        s3.age(f"{store.address}/{key}", 100)
    store.sweep(time.time() - 60)
    assert keys(store) == ["holders/study-1", f"leases/study-1/{lease.token}/candidates/1"]


def test_files_that_a_holder_s_processes_map_are_on_their_machine_and_go_with_the_lease(store: ObjectStore) -> None:
    lease = held(store)
    path = lease.shared("replay")
    path.write_bytes(b"transitions")
    assert leased(lease.address).shared("replay") == path
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    after = store.take("study-1")
    assert after.shared("replay") != path, "an attempt that was given up cannot write into it"
    assert not path.exists()
    after.shared("replay").write_bytes(b"more")
    after.drop()
    assert not after.shared("replay").exists()
    after.shared("replay").parent.rmdir()


def test_a_server_that_is_away_or_full_or_has_no_such_bucket_is_told(
    store: ObjectStore, s3: OwnS3, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreError, match=r"s3://nobody-has-it cannot be used: .*bucket"):
        list(open_store("s3://nobody-has-it").leases())
    with monkeypatch.context() as patch:
        patch.setattr(objects, "_FULL", frozenset({"NoSuchBucket"}))
        with pytest.raises(DiskFull, match="make room"):
            open_store("s3://nobody-has-it").put(b"")
    with monkeypatch.context() as patch:
        patch.setattr(objects, "TRIES", 1)
        patch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        objects._client.cache_clear()
        with pytest.raises(StoreError, match=r"s3://equipoise cannot be used: .*127.0.0.1:9"):
            store.get("ab" * 32)
    objects._client.cache_clear()


@pytest.mark.parametrize("address", ["s3://", "s3://A", "s3://bucket//x", "s3://bucket/a b", "s3://bucket/../x?"])
def test_an_address_that_names_no_place_is_refused(address: str) -> None:
    with pytest.raises(ConfigError, match="write s3://bucket"):
        open_store(address)


def test_evolution_that_is_given_up_and_taken_over_there_ends_with_the_same_bytes_as_in_a_folder(
    store: ObjectStore, tmp_path: Path
) -> None:
    config = evolve.study(ticks=2)
    whole = list(run(config, FolderStore(tmp_path)))
    earlier = run(config, store)
    saved = next(event for event in earlier if isinstance(event, Progressed)).artifacts["checkpoint"]
    found = list(run(config, store, saved))
    with pytest.raises(LeaseLost):
        list(earlier)
    assert evolve.results(found) == evolve.results(whole)
    assert all(store.has(digest) for digest in evolve.results(found).values())
    assert keys(store, "leases/") == keys(store, "holders/") == []


def test_a_search_that_was_killed_there_goes_on_and_ends_with_the_same_bytes_as_in_a_folder(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = {**STUDY, "ticks": 6, "fresh": 2, "algorithm": {"kind": "nsga2", "population": 8}}
    folder, config = tmp_path / "job", load(small)
    (tmp_path / "study.json").write_text(json.dumps(small))
    monkeypatch.setenv("EQUIPOISE_STORE", store.address)
    command = [sys.executable, "-m", "engine", "run", str(tmp_path / "study.json"), "--job-dir", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while not (folder / "events.jsonl").exists() or b'"progressed"' not in (folder / "events.jsonl").read_bytes():
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert not (folder / "store").exists()
    saved = kept_checkpoint(folder, store.address)
    assert store.has(saved)
    found = list(run(config, open_store(store_of(folder)), saved))
    assert results(found) == results(list(run(config, FolderStore(tmp_path / "whole"))))
