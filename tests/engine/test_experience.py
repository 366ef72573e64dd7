"""Experience on its way over Redis and within a process, and what is said of it when Redis fails."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis import Redis

from engine.actor_counts import left, prepare
from engine.errors import ConfigError, StoreError
from engine.experience import ActorEnd, Arrivals, ExperienceHere, LearnerEnd, Lost, Numbering, Parcel, decode, encode
from engine.rl.task_replays import rings
from engine.rng import generator
from engine.runtime import redis_experience
from engine.runtime.redis_check import reachable
from engine.runtime.redis_experience import Place, RedisActor, RedisLearner, RedisLine
from engine.runtime.redis_server import HANGS, RedisServer
from tests.contracts.experience import BOUND, PATIENCE_S, TASKS, ExperienceContract, arrived, columns

MEGABYTES = 64


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    server = RedisServer(megabytes=MEGABYTES)
    yield server
    server.close()


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer is given up because the machine is busy."""
    monkeypatch.setattr(redis_experience, "PATIENCE_S", PATIENCE_S)


@pytest.fixture
def place(server: RedisServer, request: pytest.FixtureRequest) -> Place:
    server.mend()
    return Place(server.url, request.node.name, "a")


class TestExperienceHere(ExperienceContract):
    def learner(self) -> LearnerEnd:
        return ExperienceHere(TASKS, BOUND)

    def actor(self, learner: LearnerEnd, task: int) -> ActorEnd:
        assert isinstance(learner, ExperienceHere)
        return learner.actor(task)


class TestExperienceOverRedis(ExperienceContract):
    @pytest.fixture(autouse=True)
    def at(self, place: Place) -> None:
        self.place = place

    def learner(self) -> LearnerEnd:
        return RedisLearner(self.place, TASKS)

    def actor(self, learner: LearnerEnd, task: int) -> ActorEnd:
        return RedisActor(self.place, task, BOUND)


def until_it_is_there(actor: ActorEnd) -> int:
    """Send single transitions until one is delivered; how many were not."""
    failed, until = 0, time.monotonic() + PATIENCE_S
    while not actor.add(columns(1)):
        assert time.monotonic() < until
        failed += 1
        time.sleep(0.01)
    return failed


def test_when_redis_is_killed_all_goes_on_and_what_was_lost_is_counted(server: RedisServer, place: Place) -> None:
    learner, actor = RedisLearner(place, 1, server.mend), RedisActor(place, 0)
    learner.publish(b"network", 9)
    actor.add(columns(10))
    arrived(learner, 1)
    actor.add(columns(20))
    os.kill(server.pid, signal.SIGKILL)
    os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOWAIT)
    assert not actor.add(columns(5))
    assert actor.newest() is None
    until = time.monotonic() + PATIENCE_S
    while (network := actor.newest()) is None:
        assert learner.take() == []
        assert time.monotonic() < until, "the learner starts its server again, and publishes its network"
        time.sleep(0.01)
    assert network.version == 9
    failed = until_it_is_there(actor)
    arrived(learner, 1)
    assert learner.lost == Lost(unsent=5 + failed, gone=20)
    actor.close()
    learner.close()


def test_a_redis_of_its_own_that_hangs_is_started_again_and_one_that_is_slow_once_is_left_alone(
    server: RedisServer, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_experience, "PATIENCE_S", 0.4)
    monkeypatch.setattr(redis_experience, "_LONGEST_PAUSE_S", 0.05)
    learner, pid = RedisLearner(place, 1, server.mend), server.pid
    learner.publish(b"network", 3)

    def tries(count: int) -> None:
        while learner._line.failed < count:
            assert looked(learner) == []

    for _ in range(2):
        os.kill(pid, signal.SIGSTOP)
        tries(HANGS - 3)
        os.kill(pid, signal.SIGCONT)
        arrives = time.monotonic() + PATIENCE_S
        while learner.silent:
            assert looked(learner) == []
            assert time.monotonic() < arrives
        assert server.pid == pid, "what it did not answer before it did counts no more"
    os.kill(pid, signal.SIGSTOP)
    until = time.monotonic() + PATIENCE_S
    while server.pid == pid or learner.silent:
        assert looked(learner) == []
        assert time.monotonic() < until
    actor = RedisActor(place, 0)
    while actor.newest() is None:
        assert looked(learner) == []
        assert time.monotonic() < until
    actor.close()
    learner.close()


def test_when_redis_is_emptied_the_network_comes_back_and_what_was_lost_is_counted(place: Place) -> None:
    learner, actor = RedisLearner(place, 1), RedisActor(place, 0)
    learner.publish(b"network", 2)
    actor.add(columns(30))
    client = Redis.from_url(place.url)
    client.flushall()
    actor.add(columns(4))
    arrived(learner, 1)
    assert learner.lost == Lost(gone=30)
    assert client.get(place.key("network")) == b"network"
    actor.close()
    learner.close()


def test_when_redis_is_full_what_it_refused_is_counted_and_room_is_used_again(place: Place) -> None:
    learner, actor = RedisLearner(place, 1), RedisActor(place, 0)
    client = Redis.from_url(place.url)
    actor.add(columns(3))
    client.config_set("maxmemory", 1)
    assert not actor.add(columns(7))
    arrived(learner, 1)
    learner.publish(b"network", 1)
    assert learner.full
    assert client.get(place.key("network")) is None
    client.config_set("maxmemory", "64mb")
    actor.add(columns(2))
    arrived(learner, 1)
    assert learner.lost == Lost(refused=7)
    assert str(learner.lost).endswith("7 were refused because Redis had no room.")
    while client.get(place.key("network")) is None:
        learner.take()
    assert not learner.full
    actor.close()
    learner.close()


@pytest.fixture
def user(server: RedisServer) -> Iterator[Callable[[str], str]]:
    """The address for a user of Redis with these rights beside those to all keys."""
    server.mend()
    client = Redis.from_url(server.url)

    def address(rights: str) -> str:
        client.execute_command("ACL", "SETUSER", "poor", "reset", "on", ">word", "~*", *rights.split())
        return server.url.replace("unix://", "unix://poor:word@")

    yield address
    client.execute_command("ACL", "DELUSER", "poor")


def test_a_learner_that_may_not_take_what_waits_says_so_and_takes_it_once_it_may(
    user: Callable[[str], str], request: pytest.FixtureRequest
) -> None:
    place = Place(user("+@all"), request.node.name, "a")
    learner, actor = RedisLearner(place, 1), RedisActor(place, 0)
    learner.publish(b"network", 0)
    user("+@all -lpop")
    for _ in range(3):
        assert actor.add(columns(5))
    assert looked(learner) == []
    assert "what actors sent cannot be taken" in learner.refusal
    assert "lpop" in learner.refusal
    assert (learner.untaken, learner.silent, learner.full) == (3, False, False)
    user("+@all")
    assert sum(parcel.size for parcel in arrived(learner, 3)) == 15
    assert (learner.refusal, learner.untaken, learner.lost) == ("", 0, Lost())
    actor.close()
    learner.close()


def looked(learner: RedisLearner) -> list[Parcel]:
    """What it finds when it looks next."""
    learner._look_at = 0.0
    return learner.take()


def test_what_redis_refuses_though_it_has_room_is_told_in_its_own_words(
    user: Callable[[str], str], request: pytest.FixtureRequest
) -> None:
    place = Place(user("+@all"), request.node.name, "a")
    learner, actor = RedisLearner(place, 1), RedisActor(place, 0)
    user("+@all -@write +lpop")
    assert not actor.add(columns(7))
    learner.publish(b"network", 1)
    assert not learner.full
    assert "the newest network cannot be published (“" in learner.refusal
    assert "mset" in learner.refusal
    user("+@all")
    actor.add(columns(2))
    arrived(learner, 1)
    assert learner.lost._replace(why="") == Lost(refused=7)
    assert "7 Redis refused, and says “" in str(learner.lost)
    assert "rpush" in str(learner.lost)
    assert "no room" not in str(learner.lost)
    learner.publish(b"network", 2)
    assert learner.refusal == ""
    actor.close()
    learner.close()


@pytest.mark.parametrize(
    ("rights", "said"),
    [("+@all -lpop", "LPOP with a count (“"), ("+@all -rpush -del", "RPUSH (“"), ("+@all -rpush -del", "DEL (“"),
     ("+@read +@connection", "MSET (“"), ("+@all -lpop", "it must be 6.2 or newer"), ("+@all -ltrim", "LTRIM (“")],
)  # fmt: skip
def test_a_redis_that_refuses_a_command_is_said_before_anybody_plays(
    user: Callable[[str], str], server: RedisServer, rights: str, said: str
) -> None:
    with pytest.raises(ConfigError, match=r"replay\.address: the Redis there refuses") as wrong:
        reachable(user(rights), "replay.address")
    assert said in str(wrong.value)
    reachable(user("+@all"), "replay.address")
    client = Redis.from_url(server.url)
    left = client.keys("equipoise:tried:*")
    assert all(0 < client.ttl(key) <= 10 for key in left), "what it tried is gone or ends"
    client.flushall()


@pytest.mark.parametrize(
    ("more", "said"),
    [("?db=99", "does not let us in (“DB index is out of range”)"), ("?db=x", "it must be an address"),
     ("?foo=1", "there is no option foo; only db may stand"), ("?db=0&protocol=9", "no option protocol"),
     ("?decode_responses=true", "no option decode_responses"), ("?client_name=a%20b", "no option client_name")],
)  # fmt: skip
def test_what_is_wrong_with_an_address_at_which_a_redis_answers_is_said(
    server: RedisServer, more: str, said: str
) -> None:
    server.mend()
    with pytest.raises(ConfigError) as wrong:
        reachable(server.url.partition("?")[0] + more, "replay.address")
    assert said in str(wrong.value)
    assert [problem.place for problem in wrong.value.problems] == ["replay.address"]


def test_who_is_not_let_in_is_told_so(server: RedisServer, user: Callable[[str], str]) -> None:
    with pytest.raises(ConfigError, match="does not let us in") as wrong:
        reachable(user("+@all").replace(":word@", ":wrong@"), "replay.address")
    assert "invalid username-password pair" in str(wrong.value)
    assert "wrong@" not in str(wrong.value)
    with pytest.raises(ConfigError, match="does not let us in"):
        reachable(server.url.replace("unix://", "unix://nobody:word@"), "replay.address")


@pytest.mark.parametrize("path", ["/abc", "/1/2", "/0x", "/٣"])
def test_what_is_behind_the_host_is_the_number_of_a_database(path: str) -> None:
    with pytest.raises(ConfigError, match="redis: it must be an address such as redis://host:6379/0"):
        RedisLine(f"redis://localhost:1{path}")
    RedisLine("redis://localhost:1/3").close()
    RedisLine("rediss://localhost:1?ssl_cert_reqs=none").close()


def test_what_answers_and_is_no_redis_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        answer = threading.Thread(target=lambda: listening.accept()[0].sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
        answer.start()
        with pytest.raises(ConfigError, match=r"replay\.address: what answers there is no Redis"):
            reachable(f"redis://127.0.0.1:{listening.getsockname()[1]}", "replay.address")
        answer.join()


def test_every_command_that_experience_sends_is_tried_before_anybody_plays(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: set[str] = set()
    together = RedisLine.together

    def heard(line: RedisLine, *commands: tuple[object, ...]) -> list[object] | None:
        sent.update(str(words[0]) for words in commands)
        return together(line, *commands)

    monkeypatch.setattr(RedisLine, "together", heard)
    reachable(place.url, "replay.address")
    tried, sent = sent, set()
    learner, actor = RedisLearner(place, 1), RedisActor(place, 0)
    learner.publish(b"network", 0)
    actor.add(columns(3))
    assert actor.newest() is not None
    arrived(learner, 1)
    learner._waiting()
    actor.close()
    learner.close()
    RedisLearner(place._replace(attempt="b"), 1).close()
    assert sent <= tried
    assert len(sent) > 8


def test_what_an_actor_lost_at_its_end_is_told_when_it_closes(place: Place) -> None:
    learner, actor = RedisLearner(place, 1), RedisActor(place, 0)
    client = Redis.from_url(place.url)
    client.config_set("maxmemory", 1)
    actor.add(columns(6))
    client.config_set("maxmemory", "64mb")
    actor.close()
    until = time.monotonic() + PATIENCE_S
    while learner.lost != Lost(refused=6):
        assert learner.take() == []
        assert time.monotonic() < until
    learner.close()


def test_another_attempt_has_keys_of_its_own_and_none_stays_behind(place: Place) -> None:
    learner, client = RedisLearner(place, 1), Redis.from_url(place.url)
    other = RedisActor(place._replace(attempt="b"), 0)
    other.add(columns(1))
    learner.publish(b"network", 1)
    assert learner.take() == []
    assert all(0 < client.ttl(key) <= 3600 for key in client.keys("*"))
    learner.close()
    assert client.keys(place.key("*")) == []
    RedisLearner(place._replace(attempt="b"), 1).close()
    assert client.keys("*") == []


@pytest.fixture
def counts(tmp_path: Path) -> str:
    """The file of an actor that begins."""
    prepare(tmp_path / "actor")
    return str(tmp_path / "actor")


def test_what_an_actor_sent_before_it_was_killed_is_lost_only_if_it_is_not_there_any_more(
    place: Place, counts: str
) -> None:
    learner, actor = RedisLearner(place, 1), RedisActor(place, 0, counts=counts)
    actor.add(columns(10))
    learner.ended(0, counts)
    assert [parcel.size for parcel in arrived(learner, 1)] == [10]
    assert learner.lost == Lost()
    client = Redis.from_url(place.url)
    actor.add(columns(20))
    client.flushall()
    client.config_set("maxmemory", 1)
    actor.add(columns(3))
    client.config_set("maxmemory", "64mb")
    actor._numbering.parcel(columns(5), (), 0)  # it was about to be sent
    learner.ended(0, counts)
    until = time.monotonic() + PATIENCE_S
    while learner.lost != Lost(refused=3, gone=25):
        assert learner.take() == []
        assert time.monotonic() < until
    learner.close()


def test_what_a_killed_actor_sent_last_is_lost_no_more_once_it_arrives(place: Place, counts: str) -> None:
    learner, actor = RedisLearner(place, 1), RedisActor(place, 0, counts=counts)
    actor._numbering.parcel(columns(5), (), 0)
    late = actor._numbering.parcel(columns(7), (), 0)
    learner.ended(0, counts)
    until = time.monotonic() + PATIENCE_S
    while learner.lost != Lost(gone=12):
        assert learner.take() == []
        assert time.monotonic() < until
    Redis.from_url(place.url).rpush(place.key("task:0"), encode(late))
    assert [parcel.size for parcel in arrived(learner, 1)] == [7]
    assert learner.lost == Lost(gone=5)
    learner.close()


SENDS = """
import sys
import numpy as np
from engine.runtime.redis_experience import Place, RedisActor
actor = RedisActor(Place(*sys.argv[1:4]), 0, 8, sys.argv[4])
print(flush=True)
while True:
    actor.add({"a": np.zeros(7)})
"""


def test_all_that_an_actor_made_until_it_was_killed_has_arrived_or_is_lost(place: Place, counts: str) -> None:
    learner = RedisLearner(place, 1)
    with subprocess.Popen([sys.executable, "-c", SENDS, *place, counts], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        came = sum(parcel.size for parcel in arrived(learner, 20))
        until = time.monotonic() + PATIENCE_S
        while left(counts).made <= came + 2 * 8 * 7:  # more than twice what may wait
            assert time.monotonic() < until
        process.kill()
    learner.ended(0, counts)
    until = time.monotonic() + PATIENCE_S
    while (made := left(counts).made) != came + learner.lost.all:
        came += sum(parcel.size for parcel in learner.take())
        assert time.monotonic() < until
    assert made > came, "8 parcels may wait, so some were given up"
    learner.close()


def test_actors_on_other_machines_have_no_file_here_and_it_is_said_how_many_were_killed(
    place: Place, counts: str
) -> None:
    learner, actor = RedisLearner(place, 1), RedisActor(place, 0, counts="/nowhere/other")
    actor.add(columns(2))
    arrived(learner, 1)
    learner.ended(0, counts)  # of one that was killed before it began, and made nothing
    learner.ended(0, "/nowhere/other")
    until = time.monotonic() + PATIENCE_S
    while learner.lost != Lost(uncounted=1):
        assert learner.take() == []
        assert time.monotonic() < until
    assert str(learner.lost) == "What an actor sent last that ended on another machine is not counted."
    assert learner.lost.exceeds(Lost())
    learner.close()


def test_a_later_attempt_reads_nothing_of_one_that_was_killed_and_removes_what_it_left(place: Place) -> None:
    client = Redis.from_url(place.url)
    killed, survivor = RedisLearner(place, 2), RedisActor(place, 1)
    other = RedisLearner(place._replace(job="another job"), 2)
    for learner in (killed, other):
        learner.publish(b"network", 1)
    survivor.add(columns(3))
    theirs = client.keys("equipoise:another job:*")
    assert len(theirs) == 3
    again, actor = RedisLearner(place._replace(attempt="b"), 2), RedisActor(place._replace(attempt="b"), 1)
    assert sorted(client.keys("*")) == sorted(theirs), "nothing of its own yet, and nothing of the one before"
    survivor.add(columns(3))
    actor.add(columns(2))
    assert [parcel.size for parcel in arrived(again, 1)] == [2]
    assert (again.lost, actor.newest()) == (Lost(), None)
    for end in (survivor, actor, again, other):
        end.close()
    assert client.keys(place._replace(attempt="b").key("*")) == []
    killed.close()
    assert client.keys("*") == []


def test_what_is_no_parcel_is_left_out(place: Place) -> None:
    learner, actor = RedisLearner(place, 1), RedisActor(place, 0)
    Redis.from_url(place.url).rpush(place.key("task:0"), b"", b"EQARR\x00\x00\x01 and more", b"\x80\x04N.")
    actor.add(columns(2))
    assert [parcel.size for parcel in arrived(learner, 1)] == [2]
    with pytest.raises(StoreError, match="parcel"):
        decode(encode(Numbering(0).parcel({"a": np.zeros(2), "b": np.zeros(3)}, (), 0)))
    actor.close()
    learner.close()


def test_nothing_can_be_on_disk_and_an_address_that_is_none_is_said_at_its_field(server: RedisServer) -> None:
    client = Redis.from_url(server.url)
    assert client.config_get("appendonly") == {"appendonly": "no"}
    assert client.config_get("save") == {"save": ""}
    assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    assert client.config_get("maxmemory") == {"maxmemory": str(MEGABYTES * 2**20)}
    with pytest.raises(ConfigError, match="redis: it must be an address"):
        RedisActor(Place("somewhere", "job", "a"), 0)


def test_a_server_ends_with_the_process_that_started_it() -> None:
    code = (
        "import time; from engine.runtime.redis_server import RedisServer; "
        "print(RedisServer(8).pid, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        pid = int(process.stdout.readline())
        process.kill()
    until = time.monotonic() + PATIENCE_S
    while (stat := Path(f"/proc/{pid}/stat")).exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < until
        time.sleep(0.01)


way = st.sampled_from(["arrives", "unsent", "refused", "gone", "twice", "taken for unsent"])


@given(st.lists(st.tuples(st.integers(1, 50), way), max_size=30))
def test_what_is_lost_is_what_was_made_and_did_not_arrive(fates: list[tuple[int, str]]) -> None:
    numbering, arrivals, expected = Numbering(0), Arrivals(Lost(1, 1, 1)), {"unsent": 1, "refused": 1, "gone": 1}
    for n, fate in [*fates, (1, "arrives")]:
        parcel = numbering.parcel(columns(n), (), 0)
        if fate in ("unsent", "taken for unsent"):
            numbering.unanswered(parcel)
        if fate == "refused":
            numbering.refuse(parcel, "")
        if fate in expected:
            expected[fate] += n
            continue
        assert arrivals.admit(parcel)
        assert fate != "twice" or not arrivals.admit(parcel)
    assert arrivals.lost.all == sum(expected.values())
    assert arrivals.arrived == numbering.counts.made + 3 - sum(expected.values())
    if not any(fate == "taken for unsent" for _, fate in fates):
        assert arrivals.lost == Lost(**expected)


def test_each_task_s_replay_has_what_its_actors_sent_and_a_checkpoint_has_all_of_them() -> None:
    experience = ExperienceHere(2)
    replays = rings(2, 8, generator(1))
    actors = [experience.actor(task) for task in range(2)]
    actors[0].add(columns(20), [1.0])
    actors[1].add(columns(3, 100), [2.0])
    replays.fill(experience.take())
    assert replays.sizes.tolist() == [8, 3]
    assert set(replays.of(0).sample(200).columns["action"].tolist()) == set(range(12, 20))
    assert set(replays.of(1).sample(200).columns["action"].tolist()) == {100, 101, 102}
    again = rings(2, 8, generator(1, "again"))
    again.load(replays.state())
    assert again.sizes.tolist() == [8, 3]
    assert set(again.of(1).sample(200).columns["action"].tolist()) == {100, 101, 102}
