"""Experience over Redis: a list a task, onto which actors push parcels, and the newest network with its version.

What is sent at once travels as one batch of commands: a parcel, the list's bound, and the question for the version
cost an actor one round trip, and all lists together cost the learner one. Keys begin with the job and its attempt, so
neither another job's actors nor an older attempt's reach a learner. An attempt removes its keys at its end, and what
earlier ones of its job left that were killed; keys that nobody removes end by themselves an hour after the last use.

Redis may be killed, emptied or full at any time. Who cannot reach it goes on without: an actor counts what it could not
deliver, the learner starts its own server again if that has ended or hangs, and publishes its network again where it is
missing. Nothing is sent twice, for a push may have arrived although nobody said so. What Redis refuses is told in its
own words, unless that is for want of room; what it would refuse from the beginning ``engine.runtime.redis_check`` says
before anybody plays.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import OutOfMemoryError, RedisError
from redis.retry import Retry

from engine.channel import Frame
from engine.errors import ConfigError, StoreError
from engine.experience import (
    BOUND,
    NO_EPISODES,
    NOTHING,
    SAID,
    Arrivals,
    Columns,
    Fits,
    Floats,
    Lost,
    Network,
    Numbering,
    Parcel,
    anything,
    decode,
    encode,
)
from engine.text import printable

PERIOD_S = 0.02
"""How often the learner looks at most: a round trip then costs about a hundredth of its time."""
_MOST = 256  # parcels of a task at once
PATIENCE_S = 2.0
"""For an answer."""
_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 10.0
_KEPT_S = 3600
_OPTIONS = {"rediss": {"db", "ssl_ca_certs", "ssl_cert_reqs"}}
"""Of an address, by its beginning; of others only the database."""
Command = tuple[Any, ...]


NO_ANSWERS = (ValueError, TypeError, AttributeError, RecursionError)
"""What redis-py raises of bytes that are no answers in Redis' protocol."""


class Place(NamedTuple):
    """Where the experience of an attempt at a job is: Redis' address, and what its keys begin with."""

    url: str
    job: str
    attempt: str

    def key(self, name: str) -> str:
        """The key of a list or a value."""
        return f"equipoise:{self.job}:{self.attempt}:{name}"

    def queues(self, tasks: int) -> list[str]:
        """The keys of the lists of so many tasks."""
        return [self.key(f"task:{task}") for task in range(tasks)]

    def keys(self, tasks: int) -> list[str]:
        """All keys of the attempt."""
        return [*self.queues(tasks), self.key("version"), self.key("network")]

    @property
    def attempts(self) -> str:
        """The key of the attempts at the job that have keys: a set."""
        return f"equipoise:{self.job}:attempts"


class RedisLine:
    """A connection that waits for the next bytes of an answer for ``PATIENCE_S`` at most; after a failure it tries
    again at growing intervals only."""

    def __init__(self, url: str) -> None:
        """Raises ConfigError where ``url`` is no address, or says more than where a Redis is and how to get in."""
        try:
            _check_address(url)
            self._redis = Redis.from_url(
                url, socket_timeout=PATIENCE_S, socket_connect_timeout=PATIENCE_S, retry=Retry(NoBackoff(), 0)
            )
        except ValueError as error:
            said = "it must be an address such as redis://host:6379/0, rediss://… or unix:///path"
            raise ConfigError([("redis", said)]) from error
        self._pause_s, self._again_at = 0.0, 0.0
        self.failed = 0
        """Tries that failed, one after the other."""
        self.failure: Exception | None = None
        """Why the last try failed, if it did."""

    @property
    def silent(self) -> bool:
        """Whether the last try failed."""
        return self._pause_s > 0

    def together(self, *commands: Command) -> list[Any] | None:
        """The answers to commands sent as one batch, an error in the place of its answer; None if nobody answers."""
        if time.monotonic() < self._again_at:
            return None
        batch: Any = self._redis.pipeline(transaction=False)
        for words in commands:
            batch.execute_command(*words)
        try:
            answers = batch.execute(raise_on_error=False)
        except (RedisError, OSError, *NO_ANSWERS) as error:
            if isinstance(error, NO_ANSWERS):
                self._redis.connection_pool.disconnect()  # the rest of it would be taken for answers
            self.failure, self.failed = error, self.failed + 1
            self._pause_s = min(max(_PAUSE_S, 2 * self._pause_s), _LONGEST_PAUSE_S)
            self._again_at = time.monotonic() + self._pause_s
            return None
        self.failure = None
        self.at_once()
        return list(answers)

    def at_once(self) -> None:
        """Try again without a pause."""
        self._pause_s, self._again_at, self.failed = 0.0, 0.0, 0

    def close(self) -> None:
        """Close. Safe to call twice."""
        self._redis.close()


def _check_address(url: str) -> None:
    """Raises ValueError where what is behind the host is no number of a database; redis-py would take 0. Raises
    ConfigError for options: of redis-py's own some change what is answered, and others break it."""
    parts = urlsplit(url)
    if parts.scheme != "unix" and not re.fullmatch("(/[0-9]*)?", parts.path):
        raise ValueError("the database must be a number")
    known = _OPTIONS.get(parts.scheme, {"db"})
    if strange := [name for name in parse_qs(parts.query, keep_blank_values=True) if name not in known]:
        options = f"only {' and '.join(sorted(known))} may stand behind the question mark"
        raise ConfigError([("redis", f"there is no option {printable(strange[0], 40)}; {options}")])


class RedisActor:
    """An actor's end."""

    def __init__(self, place: Place, task: int, bound: int = BOUND, counts: str = "") -> None:
        """``counts``: the file in which it counts (``engine.actor_counts``)."""
        self._place, self._bound, self._line = place, bound, RedisLine(place.url)
        self._numbering = Numbering(task, counts)
        self._version, self._there = -1, -1
        self._open = True

    def add(
        self, columns: Columns, returns: Sequence[float] = (), version: int = 0, episodes: Floats = NO_EPISODES
    ) -> bool:
        """Send transitions of the actor's task; False if they are lost."""
        parcel = self._numbering.parcel(columns, returns, version, episodes)
        key = self._place.key(f"task:{self._numbering.task}")
        answers = self._line.together(
            ("RPUSH", key, encode(parcel)),
            ("LTRIM", key, -self._bound, -1),
            ("EXPIRE", key, _KEPT_S),
            ("GET", self._place.key("version")),
        )
        if answers is None:
            self._numbering.unanswered(parcel)
            return False
        self._there = _number(answers[3])
        if isinstance(answers[0], Exception):
            self._numbering.refuse(parcel, _words(answers[0]))
            return False
        self._numbering.delivered(parcel)
        return True

    def newest(self, *, ask: bool = False) -> Network | None:
        """The newest network, unless it was returned before; what ``add`` saw of its version spares a question."""
        if self._there == self._version and self._version >= 0 and not ask:
            return None
        answers = self._line.together(("MGET", self._place.key("version"), self._place.key("network")))
        version, frame = answers[0] if answers and isinstance(answers[0], list) else (None, None)
        self._there = _number(version)
        if frame is None or self._there in (self._version, -1):
            return None
        self._version = self._there
        return Network(self._version, frame)

    @property
    def silent(self) -> bool:
        """Whether Redis did not answer when it was asked last."""
        return self._line.silent

    def close(self) -> None:
        """Say what was lost since the last parcel, and close."""
        if self._open and self._numbering.owes:
            self.add({})
        self._open = False
        self._line.close()


Mend = Callable[[int], bool]


def leave_alone(failed: int) -> bool:
    """A server that is not the learner's to start again."""
    return False


class RedisLearner:
    """The learner's end, of so many ``tasks``. ``mend`` starts its own server again if it has ended or hangs, by how
    many tries failed one after the other, and tells whether it did; ``fits``: whether the learner can learn from a
    parcel."""

    def __init__(
        self, place: Place, tasks: int, mend: Mend = leave_alone, before: Lost = NOTHING, fits: Fits = anything
    ) -> None:
        self._fits = fits
        self._place, self._mend, self._line, self._arrivals = place, mend, RedisLine(place.url), Arrivals(before)
        self._tasks, self._queues = tasks, place.queues(tasks)
        self._network: Network | None = None
        self._look_at, self._open, self._mended_at = 0.0, True, 0
        self.full = False
        """Whether Redis had no room for the newest network when it was sent last."""
        self._refused = {"take": "", "network": ""}
        self.untaken = 0
        """Parcels that wait though the learner looked, as Redis does not let it take them."""
        self._remove_earlier()

    def take(self) -> list[Parcel]:
        """What has arrived, looked for every ``PERIOD_S`` at most."""
        if time.monotonic() < self._look_at:
            return []
        asked = [("LPOP", queue, _MOST) for queue in self._queues]
        answers = self._line.together(*asked, ("GET", self._place.key("version")))
        self._look_at = time.monotonic() + PERIOD_S
        if answers is None:
            if self._line.failed != self._mended_at:
                self._mended_at = self._line.failed  # where that does not help, not before the line tries again
                if self._mend(self._line.failed):
                    self._line.at_once()
                    self._mended_at = 0
            return []
        *queues, version = answers
        self._refused["take"] = next((_words(queue) for queue in queues if isinstance(queue, Exception)), "")
        self.untaken = self._waiting() if self._refused["take"] else 0
        if self._network is not None and _number(version) != self._network.version:
            self._send_network()
        found = [parcel for task, queue in enumerate(queues) for parcel in self._read(task, queue)]
        self._arrivals.taken([task for task, queue in enumerate(queues) if _emptied(queue)])
        return found

    def ended(self, task: int, counts: str) -> None:
        """An actor of a task was killed; ``counts``: the file in which it counted."""
        self._arrivals.ended(task, counts)

    def publish(self, frame: Frame, version: int) -> None:
        """Replace the network, now or as soon as Redis takes it."""
        self._network = Network(version, frame)
        self._send_network()

    @property
    def lost(self) -> Lost:
        """What is missing by now."""
        return self._arrivals.lost

    @property
    def silent(self) -> bool:
        """Whether Redis did not answer when it was asked last."""
        return self._line.silent

    @property
    def refusal(self) -> str:
        """What Redis says where it lets the learner not take what actors sent, or not publish its network though it
        has room; empty where it does."""
        what = {"take": "what actors sent cannot be taken", "network": "the newest network cannot be published"}
        return "; ".join(f"{what[part]} (“{words}”)" for part, words in self._refused.items() if words)

    def close(self) -> None:
        """Remove all keys of the attempt, and close. Nobody takes what actors sent that were killed."""
        self._arrivals.taken(range(self._tasks))
        if self._open:
            self._remove(self._place.attempt)
        self._open = False
        self._line.close()

    def _remove_earlier(self) -> None:
        """Remove what attempts left that were killed."""
        answers = self._line.together(("SMEMBERS", self._place.attempts))
        earlier = answers[0] if answers and not isinstance(answers[0], Exception) else ()
        self._remove(*(attempt.decode(errors="replace") for attempt in earlier))

    def _remove(self, *attempts: str) -> None:
        """Remove all keys of attempts at the job."""
        keys = [key for attempt in attempts for key in self._place._replace(attempt=attempt).keys(self._tasks)]
        if keys:
            self._line.together(("DEL", *keys), ("SREM", self._place.attempts, *attempts))

    def _waiting(self) -> int:
        """Parcels of all tasks that nobody has taken, as far as Redis says."""
        answers = self._line.together(*(("LLEN", queue) for queue in self._queues)) or []
        return sum(int(answer) for answer in answers if isinstance(answer, int))

    def _send_network(self) -> None:
        assert self._network is not None
        version, network = self._place.key("version"), self._place.key("network")
        answers = self._line.together(
            ("MSET", version, self._network.version, network, bytes(self._network.frame)),
            ("EXPIRE", version, _KEPT_S),
            ("EXPIRE", network, _KEPT_S),
            ("SADD", self._place.attempts, self._place.attempt),
            ("EXPIRE", self._place.attempts, _KEPT_S),
        )
        error = answers[0] if answers is not None and isinstance(answers[0], Exception) else None
        self.full = isinstance(error, OutOfMemoryError)
        self._refused["network"] = "" if error is None else _words(error)

    def _read(self, task: int, queue: Any) -> list[Parcel]:
        """The parcels of a list that the learner can learn from, and that were not here before; of others it is counted
        that they are left out."""
        found = []
        for data in queue if isinstance(queue, list) else ():
            try:
                parcel = decode(data)
            except StoreError:
                self._arrivals.leave_out()
                continue
            if parcel.task != task or not self._fits(parcel):
                self._arrivals.leave_out()
            elif self._arrivals.admit(parcel):
                found.append(parcel)
        return found


def _words(error: Exception) -> str:
    """Redis's own words for why it refuses something; empty where it only has no room."""
    return "" if isinstance(error, OutOfMemoryError) else printable(str(error), SAID) or "an error"


def _emptied(queue: Any) -> bool:
    """Whether all parcels of a list were taken."""
    return queue is None or (isinstance(queue, list) and len(queue) < _MOST)


def _number(answer: Any) -> int:
    """The version in an answer; -1 for none."""
    try:
        return int(answer)
    except (TypeError, ValueError):
        return -1
