"""How many battles each step of a search for changes plays, so that all of them together are never more than asked.

Each step has a share of all battles. Some cannot be made smaller: an adversary breeds twice at least, and what is
played at all is played ``LITTLE``. Where a share is less than its step takes, the step gets that, and the other shares
shrink alike; where that leaves too little, there is one turn of candidates less. What a step leaves over goes to later
turns that need more than their share.
"""

from __future__ import annotations

import math

from engine.patches.adversary import MET
from engine.patches.plays import blocks
from engine.worth.experiment import BLOCK

EXPERIMENT = 0.4
"""Of all battles."""
TURNS = 2
RESPONSES, PRESENT, PROOF, FINAL = "responses", "present", "proof", "final"
TURN = tuple(f"turn-{i}" for i in range(TURNS))
SHARES = {RESPONSES: 0.08, PRESENT: 0.04, **dict.fromkeys(TURN, 0.09), PROOF: 0.2, FINAL: 0.1}
"""The steps in order, of all battles: the responses; the adversary in the game as it is; each turn of candidates, with
its adversary; the independent screens together; the independent adversaries together."""
OWN, OF = 5, 9
"""Of a turn, 5 of 9 parts are the candidates' own battles; its adversary has the rest."""
ONE, LITTLE = 4_000, 64
"""Battles of one play, at most and at least."""
GENERATIONS = 2
"""Of an adversary, at least."""
TEAMS, FRESH_TEAMS = 16, 32
"""Of an adversary in a generation: one that goes on, and one that begins anew."""
AGAIN = 1_024
"""Battles of the strongest team that was found, on fresh opponents."""
AT_RANDOM = 0.4
"""Of an independent screen, the share of random pairings; the rest hold what is watched."""
HUNT, ANEW = TEAMS * MET, FRESH_TEAMS * MET
"""Battles of a generation."""
_HALVINGS = 40


class Budget:
    """``planned``: battles of each step, where so many are ``watched`` and so many of all ``battles`` are ``spent``."""

    def __init__(self, battles: int, spent: int, watched: int) -> None:
        self.battles, self.spent, self.watched = battles, spent, watched
        self.planned = _planned(battles, battles - spent, watched)

    @property
    def enough(self) -> bool:
        """Whether there are enough to try a change and to prove it."""
        return self.spent + sum(least(self.watched).values()) <= self.battles

    def room(self, step: str) -> int:
        """How many a step may still play, so that what is planned for the later ones is left."""
        order = list(SHARES)
        later = order[order.index(step) + 1 :]
        return self.battles - self.spent - sum(self.planned[each] for each in later)

    def responses(self, asked: int) -> tuple[int, int]:
        """Battles of each of what is asked for, and how many of these are played."""
        many = blocks(self.planned[RESPONSES] / asked, most=ONE // BLOCK)
        return many, min(asked, self.room(RESPONSES) // many)

    def affordable(self, step: str, touched: list[int]) -> int:
        """How many of the candidates, each of which touches so many of the watched, can be played in a turn."""
        room = self.room(step) - LITTLE * self.watched
        for many, each in enumerate(touched):
            room -= GENERATIONS * HUNT + LITTLE * each
            if room < 0:
                return many
        return len(touched)

    def tried(self, step: str, candidates: int, pairs: int, bare: int) -> int:
        """Battles of each of the ``pairs`` of a candidate and what it touches, and of the ``bare`` plays without a
        change."""
        usual = blocks(OWN * self.planned[step] / OF / max(pairs + self.watched, 1), most=ONE // BLOCK)
        room = self.room(step) - candidates * GENERATIONS * HUNT
        return min(usual, blocks(room / max(pairs + bare, 1)))

    def generations(self, step: str, hunts: int) -> int:
        """Of each of so many adversaries that go on."""
        share = self.planned[step] if step == PRESENT else (OF - OWN) * self.planned[step] / OF
        return min(max(int(share / hunts / HUNT), GENERATIONS), self.room(step) // (hunts * HUNT))

    def finals(self) -> int:
        """How many can be proved."""
        return min(self.planned[PROOF] // (LITTLE * (1 + self.watched)), self.planned[FINAL] // _anew() - 1)

    def screens(self, finals: int) -> tuple[int, int]:
        """Battles of a final's screen: at random, and of each that is watched."""
        own = self.planned[PROOF] / finals
        each = blocks((1 - AT_RANDOM) * own / self.watched)
        return min(blocks(AT_RANDOM * own), blocks(own - each * self.watched)), each

    def generations_anew(self, hunts: int) -> int:
        """Of each of so many adversaries that begin anew."""
        return max(int((self.planned[FINAL] / hunts - AGAIN) / ANEW), GENERATIONS)


def least(watched: int, turns: int = 1) -> dict[str, int]:
    """Battles that the steps take at least, so that a change is tried in each of so many turns, and one is proved."""
    turn = GENERATIONS * HUNT + 2 * LITTLE * watched
    return {
        RESPONSES: LITTLE * (watched + 2), PRESENT: GENERATIONS * HUNT, **dict.fromkeys(TURN[:turns], turn),
        PROOF: LITTLE * (1 + watched), FINAL: 2 * _anew(),
    }  # fmt: skip


def fewest(watched: int) -> int:
    """Battles in all that suffice to try a change where so many are watched."""
    return math.ceil(sum(least(watched).values()) / (1 - EXPERIMENT))


def _anew() -> int:
    return GENERATIONS * ANEW + AGAIN


def _planned(battles: int, left: int, watched: int) -> dict[str, int]:
    """The shares, all but those at the least that their step takes times the largest number up to 1 with which they
    fit; of as many turns as that leaves room for."""
    floors = [least(watched, turns) for turns in range(TURNS, 0, -1)]
    floor = next((each for each in floors if sum(each.values()) <= left), floors[-1])

    def at(part: float) -> dict[str, int]:
        own = {step: max(each, round(part * SHARES[step] * battles)) for step, each in floor.items()}
        return {**dict.fromkeys(SHARES, 0), **own}

    low, high = 0.0, 1.0
    if sum(at(high).values()) <= left:
        return at(high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(at(middle).values()) <= left else (low, middle)
    return at(low)
