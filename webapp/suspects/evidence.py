"""In which lineups of its search a suspect stands: in those that are unfair, and in random ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.config import LineupConfig
from engine.config.patterns import Pattern
from engine.errors import ConfigError, StoreError
from engine.indicators import STRONG, wilson
from engine.lineups.patterns import Patterns
from webapp.balance.feasible import counted
from webapp.lib.words import plural
from webapp.studies import explore_source as source
from webapp.studies.explore_build import Explored, explored
from webapp.studies.models import Job
from webapp.suspects.reading import Suspect, fits

Held = NDArray[np.bool_]
FEW = 20
"""Confirmed lineups; of fewer no share tells much."""


@dataclass(frozen=True)
class Share:
    """``count`` of ``total`` teams hold it; they are of ``drawn`` lineups that were drawn independently of one another,
    0 where they descend from one another, or are all that there are."""

    words: str
    count: int
    total: int
    drawn: int
    kind: str

    @property
    def share(self) -> float:
        """In [0, 1]."""
        return self.count / self.total

    @property
    def ends(self) -> tuple[float, float] | None:
        """Of its 95 % range; None for lineups that are relatives, or all there are: of these there is none. Teams of
        one lineup may be alike, so no more of them are counted than there are lineups."""
        return wilson(self.share * self.drawn, self.drawn) if self.drawn else None


class Family(NamedTuple):
    """A suspect by its place in the list (-1: none), and how ``many`` unfair lineups hold it; a lineup that holds
    several counts for each. ``only``: how many hold no other suspect."""

    place: int
    name: str
    many: int
    only: int = 0


class SearchLineups:
    """The lineups of a search as its explorer has them. ``readable``: whether they can be."""

    def __init__(self, search: Job) -> None:
        self.search = search
        self.found: Explored | None = None
        try:
            self.spec, self.found = source.spec(search), explored(search)
        except (StoreError, ConfigError):
            self.found = None
        self.readable = self.found is not None and bool(self.found.core)

    @cached_property
    def unfair(self) -> tuple[NDArray[np.int64], tuple[str, str]]:
        """Rows of the lineups that fresh battles confirmed; where these are few, of all that are over the line and
        strong by the battles of the search or by fresh ones. And what one, and what several of them are called."""
        assert self.found is not None
        confirmed = [lineup for lineup, fresh in self.found.fresh.items() if fresh.finding == "confirmed"]
        strong = self.found.core["verdict"] == STRONG
        if len(confirmed) >= FEW:
            mine = strong & np.isin(self.found.core["id"], confirmed)
            return np.flatnonzero(mine), ("lineup that fresh battles confirmed", "lineups that fresh battles confirmed")
        return np.flatnonzero(strong), (f"lineup that is {self.state}", f"lineups that are {self.state}")

    @property
    def many_unfair(self) -> tuple[int, str]:
        """How many are unfair, as a number and in words: "64 lineups that are over the line and strong"."""
        rows, words = self.unfair
        return len(rows), plural(len(rows), *words)

    @property
    def state(self) -> str:
        """What the unfair lineups are, in the words of the question."""
        return source.words(self.search).state

    @cached_property
    def whole(self) -> bool:
        """Whether the search played every lineup that the rules allow, so that none descends from another."""
        assert self.found is not None
        if not (self.found.core["random"] == 1).all():
            return False
        return counted(self.spec, LineupConfig.model_validate(self.search.config["lineups"])) == len(self.found.genome)

    def shares(self, suspect: Suspect) -> list[Share]:
        """In unfair lineups and in random ones; nothing where the search has none of either, or cannot be read."""
        if not self.readable:
            return []
        assert self.found is not None
        (rows, words), seat = self.unfair, int(not suspect.good)
        anchor = self.found.lineups["anchor"]
        rows = rows[anchor[rows, seat] >= 0]
        drawn = self.found.genome[self.found.core["random"] == 1]
        if not len(rows) or not len(drawn) or not self._known(suspect.pattern):
            return []
        teams, every = self.found.genome[rows, anchor[rows, seat]], drawn.reshape(-1, drawn.shape[-1])
        which = f"the {('strongest', 'weakest')[seat]} team of " if self.found.genome.shape[1] > 1 else ""
        return [
            self._share(f"In {which}{plural(len(rows), *words)}", teams, 0, suspect, "strong"),
            self._share(self._every(len(drawn)), every, 0 if self.whole else len(drawn), suspect, ""),
        ]

    def _every(self, lineups: int) -> str:
        """What the shares of unfair lineups are compared with."""
        assert self.found is not None
        if not self.whole:
            return f"In all teams of {lineups:,} random lineups"
        which = "teams of the " if self.found.genome.shape[1] > 1 else ""
        return f"In all {which}{lineups:,} lineups that the rules allow"

    def unshared(self, suspect: Suspect) -> str:
        """Why there are no shares of a suspect, in a sentence."""
        if not self.readable or not self._known(suspect.pattern):
            return "The lineups of the search cannot be compared: they, or a piece of it, are no longer there."
        assert self.found is not None
        if not len(self.unfair[0]):
            return f"The search found no lineup that is {self.state}, so there is none to look for it in."
        if not (self.found.core["random"] == 1).any():
            return "The search kept no random lineups, so its unfair ones cannot be compared with any."
        return "Which team of its unfair lineups is the strongest is not known, so there is none to look for it in."

    def unswapped(self, suspect: Suspect) -> str:
        """Why a suspect cannot be swapped out of any unfair lineup, in a sentence."""
        nothing = "so there is nothing to swap it out of."
        if not fits(self.search, suspect.pattern):
            over, kind = source.words(self.search).over, "good" if suspect.good else "weak"
            return f"No team is {over} because of what is too {kind}, {nothing}"
        strong = self.state.endswith(" strong")
        if self.single:
            told = f"The search found no team that is {self.state} and holds it, {nothing}"
            return f"{told} (Strong: it beats a typical one.)" if strong else told
        team = "strongest" if suspect.good else "weakest"
        told = f"The search found no lineup that is {self.state} and whose {team} team holds it, {nothing}"
        return f"{told} (Strong: even its weakest team beats a typical one.)" if strong else told

    @property
    def single(self) -> bool:
        """Whether the search plays single teams."""
        return int(self.search.config.get("lineups", {}).get("teams", 2)) == 1

    def families(self, suspects: Sequence[Suspect]) -> list[Family]:
        """In how many unfair lineups each suspect is that can make lineups so, the most first, and last those that hold
        none; nothing where there are no unfair ones."""
        if not self.readable or not len(self.unfair[0]):
            return []
        assert self.found is not None
        rows, _ = self.unfair
        held = Patterns(self.spec, [each.pattern for each in suspects]).explained(
            self.found.genome[rows], self.found.lineups["anchor"][rows]
        )
        fit = [fits(self.search, each.pattern) for each in suspects]
        held &= np.array(fit, np.bool_)
        several = held.sum(axis=1)
        told = [
            Family(i, each.line.name, int(held[:, i].sum()), int((held[:, i] & (several == 1)).sum()))
            for i, each in enumerate(suspects)
            if fit[i]
        ]
        return [*sorted(told, key=lambda family: -family.many), Family(-1, "", int((several == 0).sum()))]

    def holding(self, pattern: Pattern, most: int) -> tuple[list[list[list[int]]], list[tuple[int, int]]]:
        """Genomes and anchors of the unfair lineups that a pattern explains: first those that fresh battles confirmed,
        of each the furthest over the line first."""
        if not self.readable or not self._known(pattern) or not fits(self.search, pattern):
            return [], []
        assert self.found is not None
        core, anchor, rows = self.found.core, self.found.lineups["anchor"], np.flatnonzero(self._strong)
        held = Patterns(self.spec, [pattern]).explained(self.found.genome[rows], anchor[rows])[:, 0]
        rows = rows[held & (anchor[rows] >= 0).all(axis=1)]
        confirmed = {i for i, fresh in self.found.fresh.items() if fresh.finding == "confirmed"}
        sign, j = self._lined
        order = sorted(
            rows.tolist(), key=lambda r: (int(core["id"][r]) not in confirmed, -sign * core["value"][j][r], r)
        )
        chosen = order[:most]
        anchors = [(int(a), int(b)) for a, b in anchor[chosen].tolist()] if chosen else []
        return self.found.genome[chosen].tolist() if chosen else [], anchors

    @property
    def _strong(self) -> Held:
        assert self.found is not None
        return np.asarray(self.found.core["verdict"] == STRONG)

    @property
    def _lined(self) -> tuple[float, int]:
        """In which direction the first objective with a line is pushed, and its place."""
        assert self.found is not None
        pairs = enumerate(self.found.meta["objectives"])
        j, told = next(((j, o) for j, o in pairs if o["threshold"] is not None), (0, {"direction": "max"}))
        return (1.0 if told["direction"] == "max" else -1.0), j

    def _known(self, pattern: Pattern) -> bool:
        """Whether the game has all of its pieces."""
        return set(pattern.pieces) <= self.spec.piece_index().keys()

    def _share(self, words: str, teams: NDArray[np.int32], drawn: int, suspect: Suspect, kind: str) -> Share:
        held = Patterns(self.spec, [suspect.pattern]).held(teams)
        return Share(words, int(held.sum()), len(teams), drawn, kind)
