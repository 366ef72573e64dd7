"""What games of two seats check alike before they are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.config.base import Config, parse
from engine.errors import ConfigError


def check(game: str, settings: type[Config], seats: Sequence[int], given: Mapping[str, Any]) -> None:
    """Raise ConfigError with all that is wrong: ``seats`` other than some of 0 and 1, once each, and what the model of
    a game's ``settings`` refuses of those that were ``given``."""
    problems = []
    if not seats or not set(seats) <= {0, 1} or len(set(seats)) < len(seats):
        problems.append(("seats", f"{game} has seats 0 and 1; {list(seats)} was asked for"))
    try:
        parse(settings, given)
    except ConfigError as error:
        problems += [(problem.place, problem.message) for problem in error.problems]
    if problems:
        raise ConfigError(problems)
