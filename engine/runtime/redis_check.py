"""Whether a Redis can carry experience: every command that is needed is tried before anybody plays."""

from __future__ import annotations

import secrets

from redis.exceptions import AuthenticationError, InvalidResponse, ResponseError

from engine.errors import ConfigError
from engine.experience import SAID
from engine.runtime.redis_experience import NO_ANSWERS, Command, RedisLine
from engine.text import printable


def reachable(url: str, field: str) -> None:
    """Raises ConfigError at ``field`` where ``url`` is no address of a Redis, nobody answers there, or it refuses any
    command that experience needs: all are tried on keys that nobody has."""
    try:
        line = RedisLine(url)
    except ConfigError as error:
        raise ConfigError([(field, error.problems[0].message)]) from error
    tried = _tried(f"equipoise:tried:{secrets.token_hex(8)}")
    answers = line.together(*tried)
    line.close()
    if answers is None:
        raise ConfigError([(field, _why_silent(line.failure))])
    refused = {
        _NAMES.get(words[0], words[0]): f"(“{printable(str(answer), SAID)}”)"
        for words, answer in zip(tried, answers, strict=True)
        if isinstance(answer, Exception)
    }
    if refused:
        each = ", ".join(f"{name} {why}" for name, why in refused.items())
        old = "; it must be 6.2 or newer" if _NAMES["LPOP"] in refused else ""
        raise ConfigError([(field, f"the Redis there refuses {each}{old}")])


def _why_silent(failure: Exception | None) -> str:
    """Why no command got an answer."""
    own = "or leave this empty for one of its own"
    if isinstance(failure, ResponseError | AuthenticationError):
        return f"the Redis there does not let us in (“{printable(str(failure), SAID)}”); correct this, {own}"
    if isinstance(failure, (InvalidResponse, *NO_ANSWERS)):
        return f"what answers there is no Redis; correct this, {own}"
    return f"no Redis answers there; start one, {own}"


_NAMES = {"LPOP": "LPOP with a count"}


def _tried(key: str) -> list[Command]:
    """Each command that actors and learner send, on keys that begin so, and that end by themselves."""
    tasks, version, attempts = f"{key}:task", f"{key}:version", f"{key}:attempts"
    return [
        ("RPUSH", tasks, b"1", b"2"), ("LTRIM", tasks, -2, -1), ("EXPIRE", tasks, 10), ("LLEN", tasks),
        ("LPOP", tasks, 1), ("MSET", version, 1), ("EXPIRE", version, 10), ("GET", version), ("MGET", version),
        ("SADD", attempts, "1", "2"), ("EXPIRE", attempts, 10), ("SMEMBERS", attempts), ("SREM", attempts, "1"),
        ("DEL", tasks, version, attempts),
    ]  # fmt: skip
