"""The search for the smallest change that works, once an experiment has measured what each piece is worth.

1. *Responses*: each number of the suspects, far up and far down, so what it does to a worth is known roughly (prices
   are known from the experiment). An *adversary* (``adversary``) looks for strong teams in the game as it is.
2. *Candidates*, twice: the patches that are most likely to be the smallest that work, by NSGA-II on the responses
   (``proposals``), are played, the same battles for all; the responses learn from that. Under each of them the
   adversary goes on from the teams it found: a patch under which it finds clearly stronger ones is worse by as much.
3. *Proof* of the few that are best: an independent screen of all pieces, on battles that had no part in anything
   before, and an adversary that begins anew: another algorithm, another seed, more battles. Verdicts are from these.

How many battles each of these has: ``budget``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.config.patch import PatchConfig
from engine.lineups.rules import CompiledRules
from engine.patches.adversary import MET, Adversary, Best, legal, pairings
from engine.patches.budget import AGAIN, FRESH_TEAMS, PRESENT, TEAMS, TURN, Budget, fewest
from engine.patches.candidates import Candidate, finals
from engine.patches.plays import Play
from engine.patches.proof import Proof, Strongest, judged, met_by, share_of
from engine.patches.proposals import proposed, ways
from engine.patches.response import Response
from engine.patches.space import Patch
from engine.patches.suspected import Suspected
from engine.patches.trials import Trials
from engine.rng import combine64
from engine.simulators.contract import GameSpec
from engine.worth.experiment import Experiment
from engine.worth.proof import ERROR
from engine.worth.screen import LEAD, WIN

Floats = NDArray[np.float64]
Steps = Generator[list[Play], list[Floats], None]
OPPONENTS = 256
"""Pairings that opponents are taken from."""
NOTHING = Patch()
RESPOND, TRY, HUNT, SCREEN, LOOK, ANEW, LAST = range(10, 17)
"""What pairings are drawn for: none of the proof was ever drawn before."""


class Course:
    """``stage`` is where it is. What is known by now: ``known`` (what is watched, which numbers may change),
    ``response``, ``candidates``, ``proofs``, the one to be recommended first, ``found`` (strong teams
    of the game as it is) and, by the proof, the strongest of the ``present`` game. ``takes``: battles in all that would
    do, where there are too few to try a change; 0 where there are enough."""

    def __init__(
        self, experiment: Experiment, spec: GameSpec, config: PatchConfig, stopped: Callable[[], bool]
    ) -> None:
        self.experiment, self.spec, self.config, self.stopped = experiment, spec, config, stopped
        self.stage = "experiment"
        self.candidates: list[Candidate] = []
        self.proofs: list[tuple[Candidate, Proof]] = []
        self.known: Suspected | None = None
        self.found: list[Best] = []
        self.present: Strongest | None = None
        self.takes = 0

    def steps(self) -> Steps:
        """Yields what is to be played, and is sent the outcomes of each play. Raises Cancelled, ConfigError."""
        known = self.known = Suspected(self.experiment, self.spec, self.config)
        screen, seed = self.experiment.analysis.screen, self.config.seed
        arguments = known.traits, screen, known.numbers, seed, self.stopped, self.config.battles
        self.trials = Trials(self.experiment.rules, *arguments)
        self.response = Response(known.watched, known.numbers, self.config.matters / 100, known.responses())
        if not known.watched or not (known.numbers or known.pairs):
            return
        self.budget = Budget(self.config.battles, self.experiment.played, len(known.watched))
        if not self.budget.enough:
            self.takes = fewest(len(known.watched))
            return
        yield from self._responses(known)
        none, generations = np.empty((0, 0), np.int32), self.budget.generations(PRESENT, 1)
        present = self._adversary("ga", NOTHING, generations, none, HUNT)
        self.stage = "adversary"
        yield from self._hunted([present], [NOTHING], HUNT)
        self.found = present.strongest(TEAMS)
        for turn in range(len(TURN)):
            yield from self._turn(turn, known)
        yield from self._proof(known)

    def _counted(self, plays: list[Play]) -> list[Play]:
        """What is played next, counted."""
        self.budget.spent += sum(len(play.rows) for play in plays)
        return plays

    def _play(self, patch: Patch, trait: int, many: int, purpose: int) -> Play:
        trials = self.trials
        rows, turned = trials.draw(patch, trait, many, purpose).rows, trials.turned(trait, many, purpose)
        return Play(rows, turned, 0, trials.changed(patch))

    def _responses(self, known: Suspected) -> Steps:
        """The numbers one by one, each on the first that is watched of its piece: the suspect, where it is one."""
        self.stage = "responses"
        order = sorted(range(len(known.watched)), key=lambda i: (known.watched[i].trait not in known.suspects, i))
        asked: list[tuple[int, Patch]] = [(i, NOTHING) for i in order]
        priced = known.responses()
        for place, number in enumerate(known.numbers):
            i = next(i for i in order if number.piece in known.watched[i].pieces)
            ends = () if place in priced else (number.least, number.most)
            asked += [(i, Patch(((place, level),))) for level in ends if level]
        many, played = self.budget.responses(len(asked))
        asked = [(i, p) for i, p in asked[:played] if self.trials.draw(p, known.watched[i].trait, many, RESPOND).whole]
        plays = [self._play(patch, known.watched[i].trait, many, RESPOND) for i, patch in asked]
        ahead = yield self._counted(plays)
        before = {i: own for (i, patch), own in zip(asked, ahead, strict=True) if patch == NOTHING}
        for i, own in before.items():
            self._observe(i, own)
        for (i, patch), own in zip(asked, ahead, strict=True):
            if patch != NOTHING and i in before:
                trait = known.watched[i].trait
                self.response.measured(i, patch, *self.trials.shift(patch, trait, RESPOND, own, before[i], LEAD))

    def _observe(self, i: int, ahead: Floats) -> None:
        """What battles of the game as it is say of the worth of the i-th watched."""
        watched = self.response.watched[i]
        rows = self.trials.draw(NOTHING, watched.trait, len(ahead), RESPOND).rows
        rest = self.trials.screen.left(rows, ahead)[:, WIN]
        rest = rest[np.isfinite(rest)]
        if len(rest) > 1:
            mean, variance = self.trials.expectation(NOTHING, watched.trait)
            base, own = self.trials.base(watched.trait)
            worth = float(rest.mean()) + mean - base
            self.response.observed(i, worth, float(rest.var() / len(rest)) + variance + own)

    def _turn(self, turn: int, known: Suspected) -> Steps:
        """Candidates of every way, played and searched under."""
        self.stage, seed = "candidates", int(combine64(self.config.seed & 0xFFFFFFFFFFFFFFFF, turn))
        chosen: list[Candidate] = []
        for way in ways(self.response, known.pairs):
            met = [c.patch for c in self.candidates if c.way == way.name]
            found = proposed(self.response, way, self.config.most, seed, met, self.stopped)
            chosen += [Candidate(patch, way.name, 0) for patch in found]
        chosen = self._affordable(chosen, TURN[turn])
        if not chosen:
            return
        chosen = yield from self._tried(chosen, turn, known)
        self.stage = "adversary"
        generations = self.budget.generations(TURN[turn], max(len(chosen), 1))
        first = np.stack([best.team for best in self.found])
        hunts = [self._adversary("ga", c.patch, generations, first, HUNT) for c in chosen]
        yield from self._hunted(hunts, [c.patch for c in chosen], HUNT)
        scale = float(self.trials.screen.scale[LEAD])
        for candidate, hunt in zip(chosen, hunts, strict=True):
            (best,) = hunt.strongest(1)
            excess = scale * max(best.ahead - self.found[0].ahead, 0.0)
            self.candidates.append(candidate._replace(excess=excess, strongest=best))

    def _affordable(self, chosen: list[Candidate], step: str) -> list[Candidate]:
        """As many as can be played, those first of whose ways fewest were."""
        rank = [sum(o.way == c.way for o in (*self.candidates, *chosen[:k])) for k, c in enumerate(chosen)]
        order = sorted(range(len(chosen)), key=lambda k: rank[k])
        many = self.budget.affordable(step, [len(self._touched(chosen[k].patch)) for k in order])
        return [chosen[k] for k in sorted(order[:many])]

    def _tried(
        self, chosen: list[Candidate], turn: int, known: Suspected
    ) -> Generator[list[Play], list[Floats], list[Candidate]]:
        """Play candidates on what they touch, and learn from it; those that somebody can still field."""
        purpose = TRY + 100 * (turn + 1)
        pairs = [(c, i) for c in chosen for i in self._touched(c.patch)]
        traits = {i: known.watched[i].trait for _, i in pairs}
        many = self.budget.tried(TURN[turn], len(chosen), len(pairs), len(traits))
        bad = {c.patch for c, i in pairs if not self.trials.draw(c.patch, traits[i], many, purpose).whole}
        pairs = [(c, i) for c, i in pairs if c.patch not in bad]
        plays = [self._play(NOTHING, trait, many, purpose) for trait in traits.values()]
        plays += [self._play(c.patch, traits[i], many, purpose) for c, i in pairs]
        ahead = yield self._counted(plays)
        before = dict(zip(traits, ahead, strict=False))
        for (c, i), own in zip(pairs, ahead[len(traits) :], strict=True):
            shift = self.trials.shift(c.patch, traits[i], purpose, own, before[i], WIN)
            self.response.measured(i, c.patch, *shift)
        counts = {c.patch: many * sum(o.patch == c.patch for o, _ in pairs) for c in chosen}
        return [c._replace(battles=counts[c.patch]) for c in chosen if c.patch not in bad]

    def _touched(self, patch: Patch) -> list[int]:
        """What is watched and changes with a patch, by its place; a pair that it keeps apart is no more."""
        numbers = self.trials.numbers
        pieces = {numbers[p].piece for p, _ in patch.levels} | {p for pair in patch.apart for p in pair}
        watched = enumerate(self.response.watched)
        return [i for i, w in watched if pieces & set(w.pieces) and w.pieces not in patch.apart]

    def _adversary(
        self, kind: str, patch: Patch, generations: int, first: NDArray[np.int32], purpose: int
    ) -> Adversary:
        teams = TEAMS if kind == "ga" else FRESH_TEAMS
        rules = self.trials.ruled(patch)
        opponents = self._opponents(rules, OPPONENTS, purpose)
        seed = int(combine64(self.config.seed & 0xFFFFFFFFFFFFFFFF, purpose))
        return Adversary(kind, rules, opponents, teams, generations, seed, legal(rules, first))

    def _opponents(self, rules: CompiledRules, many: int, purpose: int) -> NDArray[np.int32]:
        """Random teams of the game as it is: those that may be fielded under some rules, too."""
        drawn = self.trials.draw(NOTHING, -1, many, purpose)
        return legal(rules, drawn.rows[drawn.found].reshape(-1, drawn.rows.shape[2]))

    def _hunted(self, hunts: Sequence[Adversary], patches: Sequence[Patch], purpose: int) -> Steps:
        """Several adversaries side by side, a generation of each a step."""
        generation = 0
        while open_ := [k for k, hunt in enumerate(hunts) if not hunt.done]:
            rows = [hunts[k].ask() for k in open_]
            first = MET * generation + 10_000 * purpose
            plays = [
                Play(
                    r.reshape(-1, 2, r.shape[3]),
                    np.arange(r.shape[0] * MET) % 2 == 1,
                    first,
                    self.trials.changed(patches[k]),
                )
                for k, r in zip(open_, rows, strict=True)
            ]
            ahead = yield self._counted(plays)
            for k, own in zip(open_, ahead, strict=True):
                hunts[k].tell(own.reshape(-1, MET, 2))
            generation += 1

    def _proof(self, known: Suspected) -> Steps:
        """The few best, on battles and by adversaries that had no part in finding them."""
        self.stage = "proof"
        chosen = [c for c in finals(self.candidates, self.response) if self._fits(c.patch, known)]
        chosen = chosen[: self.budget.finals()]
        if not chosen:
            return
        many, each = self.budget.screens(len(chosen))
        asked: list[tuple[Candidate, int]] = [(c, i) for c in chosen for i in (-1, *self._fielded(c.patch))]
        plays = [
            self._play(c.patch, known.watched[i].trait, each, LOOK) if i >= 0 else self._play(c.patch, -1, many, SCREEN)
            for c, i in asked
        ]
        ahead = yield self._counted(plays)
        outcomes: dict[Patch, dict[int, Floats]] = {}
        for (c, i), own in zip(asked, ahead, strict=True):
            outcomes.setdefault(c.patch, {})[i] = own
        matters, watched = self.config.matters / 100, known.watched
        proofs = []
        for c in chosen:
            closer = dict(outcomes[c.patch])
            by = closer.pop(-1), closer, SCREEN, LOOK, known.intended, len(chosen)
            proofs.append(judged(c, watched, self.trials, matters, *by))
        yield from self._anew([Candidate(NOTHING, "", 0), *chosen], proofs)

    def _fielded(self, patch: Patch) -> list[int]:
        """What is watched and can still be fielded."""
        return [i for i, w in enumerate(self.response.watched) if w.pieces not in patch.apart]

    def _fits(self, patch: Patch, known: Suspected) -> bool:
        """Whether everything that is watched can be drawn under a patch, as often as the proof needs."""
        many, each = self.budget.screens(1)
        own = [self.trials.draw(patch, known.watched[i].trait, each, LOOK).whole for i in self._fielded(patch)]
        return all(own) and self.trials.draw(patch, -1, many, SCREEN).whole

    def _anew(self, chosen: Sequence[Candidate], proofs: Sequence[Proof]) -> Steps:
        """An adversary that begins anew in the game as it is, the first that is chosen, and under each of the finals;
        what it found is played again, and has its word in verdicts."""
        generations, none = self.budget.generations_anew(len(chosen)), np.empty((0, 0), np.int32)
        hunts = [self._adversary("nsga2", c.patch, generations, none, ANEW) for c in chosen]
        yield from self._hunted(hunts, [c.patch for c in chosen], ANEW)
        best = [hunt.strongest(1)[0] for hunt in hunts]
        plays = []
        for hunt, c, b in zip(hunts, chosen, best, strict=True):
            rows = pairings(hunt.rules, b.team[None], self._opponents(hunt.rules, AGAIN, LAST), AGAIN)[0]
            plays.append(Play(rows, np.arange(AGAIN) % 2 == 1, 10_000 * LAST, self.trials.changed(c.patch)))
        ahead = yield self._counted(plays)
        found = [share_of(b, own[:, WIN], ERROR / len(chosen)) for b, own in zip(best, ahead, strict=True)]
        self.present, matters = found[0], self.config.matters / 100
        for c, proof, strongest in zip(chosen[1:], proofs, found[1:], strict=True):
            self.proofs.append((c, met_by(proof, strongest, self.present, matters)))
