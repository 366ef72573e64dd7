"""Courses to begin with: a league with exploiters, a ladder of difficulties, and the best of several that goes on.

Each is a roster and lessons for a game whose entities stand in sides of ``squad``, as a body of a study has them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from engine.config.lesson_pace import NEAR

Table = dict[str, Any]


class Arena(NamedTuple):
    """What a course is made for: how many sides the game has and entities a side has, what policies learn by, a script
    that plays it, and decisions in all."""

    sides: int
    squad: int
    learner: Any
    script: str
    steps: int
    together: bool = False

    def match(self, *sides: str) -> list[Any]:
        """Everybody of each side is steered by one policy; of a game with one side only the first plays."""
        return [entry for policy in sides[: self.sides] for entry in self._side(policy)]

    def _side(self, policy: str) -> list[Any]:
        """As one where its learner steers a team ``together``; a script plays entities one by one."""
        whole = [policy] * self.squad
        return [whole] if self.together and self.squad > 1 and policy != "script" else whole


class Preset(NamedTuple):
    """``title`` and ``text`` for people; ``sides`` that its game must have; ``made``: a roster and lessons."""

    title: str
    text: str
    sides: int
    made: Callable[[Arena], Table]


ROUNDS = 10
"""Lessons of a league and of a ladder."""
GENERATIONS = 20
"""Lessons after each of which the best goes on, as in App. A.1.1 of AI Arena."""
AMONG = ("first", "second", "third")
HUNTER = "league-exploiter"


def league(arena: Arena) -> Table:
    """The main agent meets earlier selves of all, most often those that it does not beat, and its exploiter, which
    meets the main agent alone; the league exploiter meets earlier selves of all, too (after Vinyals et al. 2019; unlike
    there, exploiters never begin anew: a lesson's end can copy a policy as it is, and nobody is still as at the
    start)."""
    matches = [
        arena.match("main", "past"), arena.match("main", "exploiter"), arena.match("exploiter", "main"),
        arena.match(HUNTER, "past"),
    ]  # fmt: skip
    learning = ["main", "exploiter", HUNTER]
    each = {"matches": matches, "steps": arena.steps // ROUNDS, "times": ROUNDS}
    roster = {
        **{name: {"learner": arena.learner} for name in learning},
        "past": {"kind": "pool", "of": learning, "choice": "hardest"},
    }  # fmt: skip
    return {
        "roster": roster, "lessons": [{"title": "League", **each, "after": {"pool": learning}}],
        "tournament": {"kind": "round-robin"},
    }  # fmt: skip


def ladder(arena: Arena) -> Table:
    """An agent that first beats a script and then its earlier selves; it is kept after each lesson."""
    script, past = arena.match("agent", "script"), arena.match("agent", "past")
    first = {"title": "Beat the script", "matches": [script], "steps": 2 * arena.steps // (ROUNDS + 2)}
    until = {"policy": "agent", "measure": "win", "reaches": 0.7, "of": 100}
    later = {"title": "Beat yourself", "matches": [past, script], "steps": arena.steps // (ROUNDS + 2)}
    kept = {"pool": ["agent"]}
    roster = {
        "agent": {"learner": arena.learner}, "script": arena.script, "past": {"kind": "pool", "of": ["agent"]},
    }  # fmt: skip
    return {
        "roster": roster,
        "lessons": [{**first, "until": until, "after": kept}, {**later, "times": ROUNDS, "after": kept}],
        "tournament": {"kind": "swiss", "rungs": True},
    }


def best(arena: Arena) -> Table:
    """Three that learn apart; the best of them replaces the others, again and again (App. A.1.1 of AI Arena)."""
    script = {"script": arena.script} if arena.sides > 1 else {}
    each = {"matches": [arena.match(name, "script") for name in AMONG], "steps": arena.steps // GENERATIONS}
    after = {"best": {"among": list(AMONG), "measure": "return", "of": 100}}
    return {
        "roster": {**{name: {"learner": arena.learner} for name in AMONG}, **script},
        "lessons": [{"title": "The best goes on", **each, "times": GENERATIONS, "after": after}],
    }


def battles_together(course: Table, copies: int, longest: int, usual: int) -> int:
    """Battles of a match that a copy plays together: the ``usual`` ones, or as many as let each battle last as long as
    the ``longest`` (decisions; 0: nobody knows) within every lesson. Of a lesson whole updates are played, which may
    leave a little of it out."""
    learning = {name for name, member in course["roster"].items() if isinstance(member, dict) and "learner" in member}
    each = [
        lesson["steps"] // max(1, sum(_name(entry) in learning for match in lesson["matches"] for entry in match))
        for lesson in course["lessons"]
    ]
    return max(1, min(usual, int(NEAR * min(each)) // (copies * longest))) if longest else usual


def _name(entry: Any) -> str:
    """Whose an entry of a match is; that of a group is one, too."""
    return str(entry[0] if isinstance(entry, list) else entry)


PRESETS: dict[str, Preset] = {
    "league": Preset(
        "League with exploiters",
        "A main agent meets everybody’s earlier selves; one exploiter looks for what beats it, another for what beats "
        "all of these. Exploiters learn on from lesson to lesson, and never begin anew.", 2, league,
    ),
    "ladder": Preset(
        "Ladder of difficulties",
        "An agent beats a script, then itself. What it was after each lesson is kept: opponents that grow.", 2, ladder,
    ),
    "best": Preset(
        "The best of three goes on", "Three agents learn apart. After each lesson the others go on from the best.", 1,
        best,
    ),
}  # fmt: skip
