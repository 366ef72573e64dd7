"""Evaluator of single battles between two teams, many per request, for designed experiments and round robins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.config.metagame import MetagameConfig
from engine.config.patch import PatchConfig
from engine.config.worth import WorthConfig
from engine.errors import ConfigError, SimulatorError
from engine.lineups.pairings import PairingSpace
from engine.lineups.patterns import strangers
from engine.lineups.rules import compile_rules, feasibility
from engine.lineups.schema import OTHER_GAME, check_patch
from engine.problem import Evaluation, Genome, Objective, PatchedContext, Problem, Request, ShouldStop, of_kind
from engine.rng import combine64
from engine.simulators.contract import OK, GameSpec, LineupSimulator, Patch, content_hash
from engine.simulators.conversation import never
from engine.simulators.loaders import heed, load
from engine.text import written

Ints = NDArray[np.int32]
Played = WorthConfig | MetagameConfig | PatchConfig
MOST = 1e300
"""Strength left, at most: of larger numbers no differences and squares can be reckoned."""
OUTCOMES = ("win", "strength")
"""Outcomes of the left team: its win minus one half, and its lead in strength."""


class PairingEvaluator:
    """Plays pairings on one simulator. A request's genome is int32[k, 2, slots], left and right team of each battle;
    row i is battle ``first + i`` of the study, whose seed is a hash of the study's seed, the two teams and that number.
    The answer's ``values`` float64[k, 2] are the OUTCOMES of each battle, NaN where it was not finished."""

    def __init__(self, config: Played, simulator: LineupSimulator) -> None:
        self.config, self.simulator = config, simulator
        spec = simulator.describe().patched(config.game.patch)
        names = [metric.name for metric in spec.side_metrics]
        self.win, self.strength = names.index(spec.win), names.index(spec.strength)
        self.space = PairingSpace(compile_rules(spec, config.pairings))

    def close(self) -> None:
        """Release the simulator."""
        if close := getattr(self.simulator, "close", None):
            close()

    def describe(self) -> Problem:
        return Problem(self.space, tuple(Objective(name, name.title()) for name in OUTCOMES), noun="batch")

    def initialize(self, rng: np.random.Generator) -> Genome:
        return self.space.sample(rng, 1)

    def evaluate(self, requests: Sequence[Request], should_stop: ShouldStop) -> Iterator[Evaluation]:
        """All that are played by the same numbers in one call of the simulator."""
        heed(self.simulator, should_stop)
        alike: dict[tuple[tuple[str, float], ...], list[Request]] = {}
        for request in requests:
            changes = of_kind(request.context, PatchedContext).changes
            alike.setdefault(tuple(sorted(changes.items())), []).append(request)
        for items, own in alike.items():
            if should_stop():
                return
            yield from self._answers(own, dict(items))

    def _answers(self, requests: Sequence[Request], changes: Patch) -> Iterator[Evaluation]:
        rows = np.concatenate([request.genome for request in requests])
        numbers = np.concatenate([np.arange(r.first, r.last, dtype=np.uint64) for r in requests])
        found, at = self._played(rows, numbers, requests[0].seed, changes), 0
        for request in requests:
            values = found[at : at + len(request.genome)]
            at += len(values)
            with np.errstate(invalid="ignore"):
                good = values[~np.isnan(values[:, 0])]
            mean = good.mean(axis=0) if len(good) else np.zeros(len(OUTCOMES))
            yield Evaluation(
                request.id, mean, np.zeros((2, 2)), len(values), np.empty(0), cost=len(values),
                context=request.context, values=values,
            )  # fmt: skip

    def _played(self, rows: Ints, numbers: NDArray[np.uint64], seed: int, changes: Patch) -> NDArray[np.float64]:
        left, right = (np.ascontiguousarray(rows[:, side]) for side in (0, 1))
        keys = combine64(seed & 0xFFFFFFFFFFFFFFFF, self.space.keys(rows))
        game = self.config.game
        patch = {**game.patch, **changes}
        answer = self.simulator.battles(left, right, combine64(keys, numbers), patch, game.fidelity)
        if len(answer.status) != len(rows):
            raise SimulatorError(f"The simulator answered {len(answer.status)} battles of {len(rows)}.")
        side = answer.side
        self._refuse_huge(side[:, :, self.strength], answer.status == OK, numbers)
        ahead = side[:, 0, self.strength] - side[:, 1, self.strength]
        found = np.stack([side[:, 0, self.win] - 0.5, ahead], axis=1)
        found[answer.status != OK] = np.nan
        return np.asarray(found)

    def _refuse_huge(self, strength: NDArray[np.float64], good: NDArray[np.bool_], numbers: NDArray[np.uint64]) -> None:
        """Raise SimulatorError where a finished battle left more than MOST strength [n, 2]."""
        huge = np.argwhere((np.abs(strength) > MOST) & good[:, None])
        if len(huge):
            at, side = huge[0].tolist()
            raise SimulatorError(
                f"Battle {int(numbers[at]):,} ended with {written(strength[at, side], 'g')} strength left on the "
                f"{('left', 'right')[side]} side: the game must report at most {MOST:g}."
            )


def checked(config: Played, simulator: LineupSimulator) -> GameSpec:
    """The game as this study plays it, when it can. Raises ConfigError with all that is wrong."""
    spec = simulator.describe()
    wrong = [(f"game.patch.{path}", text) for path, text in check_patch(spec, config.game.patch)]
    if config.game.spec and config.game.spec != content_hash(spec):
        wrong.append(("game.spec", OTHER_GAME))
    fidelities = [f.name for f in spec.fidelities]
    if config.game.fidelity not in fidelities:
        wrong.append(("game.fidelity", f"the game can be played as {', '.join(fidelities)}"))
    patched = spec.patched(config.game.patch)
    wrong += [(f"lineups.{place}", text) for place, text in feasibility(patched, config.pairings)]
    wrong += strangers(patched, getattr(config, "intended", ()), "intended")
    if wrong:
        raise ConfigError(wrong)
    return patched


def build(payload: bytes, should_stop: ShouldStop = never) -> PairingEvaluator:
    """The evaluator for an experiment given as JSON; loads the simulator. Raises ConfigError, SimulatorError and
    Cancelled."""
    config = WorthConfig.model_validate(msgspec.json.decode(payload))
    return PairingEvaluator(config, heed(load(config.game.simulator), should_stop))


def build_patched(payload: bytes, should_stop: ShouldStop = never) -> PairingEvaluator:
    """The same for a search for changes."""
    config = PatchConfig.model_validate(msgspec.json.decode(payload))
    return PairingEvaluator(config, heed(load(config.game.simulator), should_stop))


def build_meetings(payload: bytes, should_stop: ShouldStop = never) -> PairingEvaluator:
    """The same for a round robin."""
    config = MetagameConfig.model_validate(msgspec.json.decode(payload))
    return PairingEvaluator(config, heed(load(config.game.simulator), should_stop))
