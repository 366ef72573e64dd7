"""What the ladder and the lineage of a self-play training say, in words and rows for pages."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import numpy as np

from engine.arrays import Bundle, unpack
from engine.catalog import PLAYERS
from engine.errors import StoreError
from engine.text import apart
from webapp.lib.storage import store
from webapp.lib.words import NBSP, number, percent
from webapp.studies.kinds import BestCandidate
from webapp.studies.models import Job
from webapp.studies.table_rows import latest, newest
from webapp.training.learned import learned_step_by_step

HEADS = ("player", "round", "present", "rating", "rating_low", "rating_high", "share", "meetings", "copied_from")
SHOWN = 10
"""Earlier members that the page lists, the most played first."""
MEMBER = re.compile(r"\s*member\s*\d", re.IGNORECASE)
"""What members are called, or hardly differs from it."""
ROOM = 0.08
"""Beyond all that is drawn of strength, as a share of it."""


class LadderPlayer(NamedTuple):
    """A member after a round (from 1), or a player outside (round 0); ``faced``: its share of the next round's battles;
    ``copied``: the member whose network it went on from, "" where it was its own; ``beside``: 1 where it is surely
    stronger than the strongest member, -1 where it is surely weaker; ``version``: its number in the job, -1 outside.
    Ends of its range are infinite where its meetings do not bound it."""

    name: str
    member: int
    round: int
    present: bool
    rating: float
    low: float
    high: float
    share: float
    meetings: int
    faced: float
    copied: str
    beside: int
    version: int

    @property
    def known(self) -> bool:
        """Whether meetings tie it to those who are rated."""
        return not math.isnan(self.rating)

    @property
    def full(self) -> str:
        """ "Member 3 after round 5"."""
        return f"{self.name} after round {self.round}" if self.round else self.name

    @property
    def strength(self) -> str:
        """ "+120"; where everything was won, what is proved: "at least +80"."""
        if not self.known:
            return "not comparable" if self.meetings else "–"
        if math.isfinite(self.low) and math.isfinite(self.high):
            return signed(self.rating)
        if math.isfinite(self.low):
            return f"at least {signed(self.low)}"
        return f"at most {signed(self.high)}" if math.isfinite(self.high) else "–"

    @property
    def range_words(self) -> str:
        """ "+80 to +160"; which end is open, where one is."""
        if math.isfinite(self.low) and math.isfinite(self.high):
            return f"{signed(self.low)} to {signed(self.high)}"
        if math.isfinite(self.low):
            return "no upper end known"
        return "no lower end known" if math.isfinite(self.high) else "range not known"

    @property
    def standing(self) -> str:
        """ "strength +120 (+80 to +160), 61 % of its meetings won"; empty where nobody can be compared."""
        if not self.known:
            return ""
        return f"strength {self.strength} ({self.range_words}), {percent(self.share)} of its meetings won"


class Copy(NamedTuple):
    """In this round a member went on from another one as it was after the round before."""

    round: int
    member: str
    other: str


class SelfPlayResult:
    """``players``: everybody who is kept; ``members``: the latest of each, the strongest first; ``standing``: they
    and the players outside, in that order."""

    def __init__(self, ladder: Bundle, lineage: Bundle, outside: dict[str, str]) -> None:
        nowhere = np.zeros(len(ladder.arrays["id"]), np.int8)  # earlier versions compared nobody
        self.columns, self.whole, self.lineage = {"beside": nowhere, **ladder.arrays}, lineage, lineage.arrays
        names = apart(_unlike_members(outside.get(name, name)) for name in ladder.meta["outside"])
        self.players = [self._player(k, names) for k in range(len(self.columns["id"]))]
        self.members = sorted((p for p in self.players if p.present), key=lambda p: (not p.known, -p.rating, p.member))
        others = [p for p in self.players if not p.round and p.known]
        self.standing = sorted([*self.members, *others], key=lambda p: (not p.known, -p.rating, p.member))

    @classmethod
    def of(cls, job: Job) -> SelfPlayResult | None:
        """What a job's latest round says; None before there is one, and where it was lost."""
        ladder, digest = latest(job), newest(job, "lineage")
        if ladder is None or not digest:
            return None
        others = job.config["opponents"]["others"]
        titles = {name: each["title"] or _script(each) or name for name, each in others.items()}
        try:
            return cls(ladder, unpack(store().get(digest)), {"random": PLAYERS["random"].label, **titles})
        except StoreError:
            return None

    def _player(self, k: int, names: list[str]) -> LadderPlayer:
        columns = {name: column[k].item() for name, column in self.columns.items()}
        version, member = columns["id"], columns["member"]
        rows = np.flatnonzero(self.lineage["id"] == version)
        copied = int(self.lineage["copied"][rows[0]]) if len(rows) else -1
        return LadderPlayer(
            f"Member {member + 1}" if version >= 0 else names[k], member, columns["step"] + 1, bool(columns["present"]),
            columns["rating"], columns["rating_low"], columns["rating_high"], columns["share"], columns["meetings"],
            columns["faced"], f"Member {copied + 1}" if copied >= 0 else "", columns["beside"],
            version,
        )  # fmt: skip

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest known end of what stands on the ladder, with room for arrows."""
        ratings = [each for p in self.standing for each in (p.low, p.rating, p.high) if math.isfinite(each)]
        low, high = min(ratings, default=0.0), max(ratings, default=1.0)
        room = ROOM * (high - low)
        return low - room, high + room

    @property
    def sentence(self) -> str:
        """Who is strongest, and how sure that is: by differences to the strongest member, not by ranges."""
        first, *rest = self.members
        if not first.known:
            return "Nobody can be compared yet: no meetings are kept."
        many = sum(p.beside >= 0 for p in rest)
        others = f"{many} other{'s' if many > 1 else ''} may be as strong" if many else ""
        if above := [p for p in self.standing if not p.round and p.rating > first.rating]:
            sure = "is surely" if above[0].beside > 0 else "seems"
            clause = f"{above[0].name}, who does not learn, {sure} stronger than {first.name}, the best member"
            return f"{clause}. Of the members, {others}." if many else f"{clause}."
        if many and any(p.beside >= 0 and round(p.rating) == round(first.rating) for p in rest):
            return "Nobody leads: the meetings do not tell who is strongest."
        if many:
            return f"{first.name} leads, but {others}: the meetings do not tell."
        return f"{first.name} is the strongest: {percent(first.share)} of its meetings won."

    @property
    def copies(self) -> list[Copy]:
        """Who went on from whom, the latest first; of complete rounds, as everything else that is shown."""
        columns = (self.lineage[name].tolist() for name in ("step", "member", "copied"))
        complete = max((p.round for p in self.players), default=0)
        rows = [(s, member, copied) for s, member, copied in zip(*columns, strict=True) if copied >= 0 and s < complete]
        return [Copy(step + 1, f"Member {m + 1}", f"Member {c + 1}") for step, m, c in sorted(rows, reverse=True)]

    @property
    def copied_words(self) -> str:
        """How often, and what decides it: not strength, which counts the meetings of all rounds."""
        often = len(self.copies)
        if not often:
            return "No member has gone on from another yet."
        times = f"{number(often)}{NBSP}{'time' if often == 1 else 'times'}"
        return (
            f"{times} a member went on from one that had done better in the meetings of the round before. These alone "
            "decide it; strength counts the meetings of all rounds, and may differ."
        )

    @property
    def pool(self) -> list[LadderPlayer]:
        """Earlier members, those that are played against most first."""
        past = [p for p in self.players if p.round and not p.present]
        return sorted(past, key=lambda p: (-p.faced, -p.round, p.member))[:SHOWN]

    @property
    def many(self) -> int:
        """Earlier members that are kept."""
        return sum(bool(p.round) and not p.present for p in self.players)

    def best(self, config: dict[str, Any], version: int) -> BestCandidate | None:
        """The member whose policy was left, which is this version of it; None where it is in no round that is known."""
        row = next(iter(np.flatnonzero(self.lineage["id"] == version)), None)
        if row is None:
            return None
        member, after = int(self.lineage["member"][row]), int(self.lineage["step"][row]) + 1
        name, first = f"Member {member + 1}", self.members[0] if self.members else None
        words = f"It is {name} as it is after round {number(after)}: "
        if first is None or not first.known or first.member == member:
            words += "who stands first on the ladder above."
        else:  # left before the last members met one another
            words += f"the best by that round’s meetings. {first.name} stands first on the ladder."
        return BestCandidate(name, words, learned_step_by_step(config["task"], self.whole, version))

    def rows(self) -> list[dict[str, Any]]:
        """A row for each player, for programs."""
        return [
            {
                "player": p.name, "round": p.round, "present": int(p.present), "rating": _finite(p.rating),
                "rating_low": _finite(p.low), "rating_high": _finite(p.high), "share": _finite(p.share),
                "meetings": p.meetings, "copied_from": p.copied,
            }
            for p in self.players
        ]  # fmt: skip


def _unlike_members(name: str) -> str:
    """The name of a player outside, which nobody takes for a member."""
    return f"{name} (from outside)" if MEMBER.match(name) else name


def signed(rating: float) -> str:
    """ "+1,120", "−80" or "0"."""
    points = round(rating)
    return f"{points:+,}".replace("-", "−") if points else "0"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _script(other: dict[str, Any]) -> str:
    script = PLAYERS.get(other.get("player", ""))
    return script.label if script else ""
