"""A style of play as data: the reward that players learn from, as formulas over what the game tells of every decision.

    r = w1 · winning + w2 · style

Both are formulas (``engine.formula``) over the game's named rewards, called *signals* here. A weight may be a range,
which makes it a gene. Where w2 is below 0, the opposite of the style is paid for.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from engine.config.base import Config
from engine.config.genes import Evolvable
from engine.errors import ConfigError
from engine.formula import LONGEST, Formula, parse

Text = Annotated[str, Field(min_length=1, max_length=LONGEST)]
Importance = Annotated[float, Evolvable(-1000.0, 1000.0)]
WINNING, STYLE = "winning", "style"
"""The formulas of a reward, by name."""
TIME = "time"
"""A signal of every game that has none of this name itself: the share of the longest episode that has passed."""


class StyleReward(Config):
    """What players of a style learn from."""

    winning: Text = Field("score", title="Winning", description="formula over the game's signals of one decision")
    style: Text = Field(title="Style", description="formula over the game's signals of one decision")
    w1: Importance = Field(1.0, title="How much winning matters", description="w1; a range is left to evolution")
    w2: Importance = Field(
        title="How much the style matters", description="w2; below 0: its opposite; a range is left to evolution"
    )

    @model_validator(mode="before")
    @classmethod
    def _pays(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and given.get("w1", 1) == 0 and given.get("w2") == 0:
            raise ValueError("with both weights 0 nothing is paid for: give one of them another number")
        return given

    @property
    def formulas(self) -> dict[str, str]:
        """The formulas by name."""
        return {WINNING: self.winning, STYLE: self.style}


def identifier(name: str) -> str:
    """A name of the game as formulas write it: ``reward.hit`` is ``reward_hit``, and ``pass``, a word of Python that no
    formula may hold, ``pass_``. Letters are those of Unicode's NFKC, in which formulas are read."""
    found = re.sub(r"\W", "_", unicodedata.normalize("NFKC", name))
    found = found if found[:1].isalpha() or found[:1] == "_" else "_" + found
    return found + "_" if keyword.iskeyword(found) else found


def formula_of(text: str, names: Iterable[str], place: str, read: Callable[..., Formula] = parse) -> Formula:
    """The formula ``text`` over numbers with these ``names`` of the game. Raises ConfigError at ``place``, also where
    it holds a name that stands for two of them."""
    meant: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        meant.setdefault(identifier(name), []).append(name)
    try:
        formula = read(text, frozenset(), set(meant))
    except ConfigError as error:
        raise ConfigError([(place, problem.message) for problem in error.problems]) from error
    if double := [used for used in sorted(formula.names) if len(meant[used]) > 1]:
        both = " and ".join(f"“{name}”" for name in meant[double[0]])
        raise ConfigError([(place, f"{double[0]} stands for {both}: the game must name them further apart")])
    return formula


def misread(text: str, names: Iterable[str], place: str, read: Callable[..., Formula] = parse) -> list[tuple[str, str]]:
    """(place, sentence) of what is wrong with a formula over these names."""
    try:
        formula_of(text, names, place, read)
    except ConfigError as error:
        return [(problem.place, problem.message) for problem in error.problems]
    return []
