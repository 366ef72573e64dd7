"""The engine's errors, one tree.

EngineError
├── ConfigError        a study, rule or formula that cannot be run; all problems at once, each with its field path
├── SimulatorError     a game simulator broke its contract (``permanent``: trying again cannot help)
├── EvaluationError    one candidate could not be evaluated (AllFailed: not one of a whole population)
├── ActorLost          a worker process died or stopped answering (LeaseLost: another attempt has taken the study over)
├── StoreError         an artifact could not be read or written (ArtifactLost: it is missing or damaged; DiskFull:
│                      the disk is full)
└── Cancelled          the work was asked to stop

Every message says what was wrong, where, and what to do next, in words a game designer reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from engine.text import clear, printable


class EngineError(Exception):
    """Base of everything the engine raises on purpose."""


class Fault(NamedTuple):
    """One problem of a configuration: ``place`` is a dotted path such as ``lineups.teams``."""

    place: str
    message: str


MOST_FAULTS, LONGEST_PLACE, LONGEST_FAULT = 50, 200, 1000
"""Problems that a person is told at once, and characters of a place and of a message."""


def shown_faults(problems: Iterable[tuple[str, str]]) -> list[Fault]:
    """What a person is told of the problems: the first ``MOST_FAULTS``, ``clear``, long texts cut; of more, the last
    entry, which has no place, says how many are left out."""
    every = [*problems]
    first = [Fault(_cut(place, LONGEST_PLACE), _cut(text, LONGEST_FAULT)) for place, text in every[:MOST_FAULTS]]
    more = len(every) - len(first)
    return [*first, Fault("", f"and {more:,} more")] if more else first


def _cut(text: str, most: int) -> str:
    text = clear(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


class ConfigError(EngineError):
    """A configuration that cannot be run; ``problems`` lists every problem, the message ``shown_faults``. Both
    repeat what somebody sent, so they are ``clear``."""

    def __init__(self, problems: Iterable[tuple[str, str]]) -> None:
        self.problems = [Fault(clear(place), clear(message)) for place, message in problems]
        super().__init__(
            "; ".join(f"{p.place}: {p.message}" if p.place else p.message for p in shown_faults(self.problems))
        )


@contextmanager
def below(place: str) -> Iterator[None]:
    """Prefix the places of a ConfigError raised inside with ``place``; for callers that validate a part of a whole."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError((f"{place}.{p.place}".rstrip("."), p.message) for p in error.problems) from error


LONGEST_SAID = 4000
"""Characters of a SimulatorError's message: some of it may be a program's own words."""


class SimulatorError(EngineError):
    """A simulator hung, died, misdeclared its shapes or gave an invalid answer. The message is ``printable``."""

    def __init__(self, message: str, *, permanent: bool = False) -> None:
        super().__init__(printable(message, LONGEST_SAID, lines=True))
        self.permanent = permanent


class EvaluationError(EngineError):
    """One candidate could not be evaluated; the reason is the message."""


class AllFailed(EvaluationError):
    """Not one candidate of a whole population could be evaluated; the message has the reason of the first one."""


class ActorLost(EngineError):
    """A worker process died or stopped answering; other workers take over its work."""


class LeaseLost(ActorLost):
    """Another attempt at the same study has taken over this one's lease."""


class StoreError(EngineError):
    """An artifact is missing, damaged, or could not be read or written."""


class ArtifactLost(StoreError):
    """An artifact is missing or damaged: reading it again cannot help."""


class DiskFull(StoreError):
    """The disk is full. The writer is not at fault, and writing works again once there is free space."""


class Cancelled(EngineError):
    """The work was asked to stop."""
