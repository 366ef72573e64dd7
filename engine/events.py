"""Events of a running study, the only format in which it reports: one JSON object a line, tagged by ``kind``.

The relay numbers events (``sequence`` 1, 2, 3 … over a job's whole life) in the transaction that stores them; the
study leaves ``sequence`` 0. ``tick`` is the generation number where there are generations.
"""

from __future__ import annotations

from typing import Any

import msgspec

SCHEMA = 1


class Counters(msgspec.Struct, frozen=True):
    """Totals over the study's whole life, resumed attempts included: evaluations, requested battles, battles answered
    from the cache, environment steps, and seconds of running time. ``planned``: battles in all, once a search
    knows all that it plays again at its end, what its first fresh battles leave open included; 0 before, and where
    nobody knows."""

    evaluations: int = 0
    battles: int = 0
    cached: int = 0
    steps: int = 0
    seconds: float = 0.0
    planned: int = 0


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """Fields of every event; ``at`` is Unix time in seconds."""

    schema: int = SCHEMA
    job: int = 0
    attempt: int = 0
    sequence: int = 0
    tick: int = 0
    at: float = 0.0
    counters: Counters = Counters()


class Started(Event, frozen=True, kw_only=True, tag="started"):
    """The study runs; ``resumed``: from a checkpoint. ``ticks`` and ``battles`` are the planned totals."""

    workers: int
    pool: str
    ticks: int
    battles: int
    resumed: bool = False


class Progressed(Event, frozen=True, kw_only=True, tag="progressed"):
    """A tick is complete and checkpointed. ``artifacts``: role to store hash (``front``, ``chunk``, ``checkpoint``)."""

    metrics: dict[str, float]
    artifacts: dict[str, str]


class Logged(Event, frozen=True, kw_only=True, tag="logged"):
    """A line for the job's history. Without a message: progress within a long round, in its counters (how often:
    ``engine.study.progress_throttle``). ``arrived``: store hash of what has come back in this round so far, for who
    does not want to wait for its end; a later one takes its place. ``artifacts``: by role, what the study needs from
    now on, so that the store keeps it."""

    message: str
    arrived: str = ""
    artifacts: dict[str, str] = {}


class Incident(Event, frozen=True, kw_only=True, tag="incident"):
    """Something went wrong and was dealt with: ``what`` is ``lost-worker``, ``slow-simulator``, ``failed-battles``…"""

    what: str
    message: str


class Paused(Event, frozen=True, kw_only=True, tag="paused"):
    """Checkpointed and all resources released; ``resume`` continues from ``artifacts['checkpoint']``. The ``summary``
    counts the round that was cut off, too, as it stays if nobody resumes."""

    artifacts: dict[str, str]
    summary: dict[str, Any] = {}


class Stopped(Event, frozen=True, kw_only=True, tag="stopped"):
    """Ended before its budget; what was found stays."""

    reason: str
    artifacts: dict[str, str]
    summary: dict[str, Any] = {}


class Finished(Event, frozen=True, kw_only=True, tag="finished"):
    """Ended by its own rule. ``artifacts``: ``archive`` (everything evaluated), ``front``, ``checkpoint``."""

    artifacts: dict[str, str]
    summary: dict[str, Any] = {}


class Failed(Event, frozen=True, kw_only=True, tag="failed"):
    """The study failed. ``permanent``: another run cannot help (a bad configuration, a broken simulator)."""

    error: str
    message: str
    permanent: bool


AnyEvent = Started | Progressed | Logged | Incident | Paused | Stopped | Finished | Failed
TERMINAL = (Stopped, Finished, Failed)

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


def encode(event: AnyEvent) -> bytes:
    """One line of JSON, without its newline."""
    return _encoder.encode(event)


def decode(line: bytes | str) -> AnyEvent:
    """The event of one line. Raises msgspec.ValidationError (a ValueError) when it is not one."""
    return _decoder.decode(line)
