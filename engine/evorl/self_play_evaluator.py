"""The evaluator of self-play: a member trains against the opponents that its request names, from either seat, and is
measured by meetings with others of them.

A meeting is two episodes of one seed, one from each seat; its measures are the means of both. Its number gives the seed
and, with the request's weights, the opponent. Members draw moves by their odds: a player that always takes the
likeliest move can be seen through where it pays to be unpredictable. Saved agents play as they are: drawn or likeliest
moves as the study says of each, and as late and as seldom as they learned to.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

from engine.arrays import pack, unpack
from engine.catalog import PLAYERS
from engine.config.evaluate import RivalConfig
from engine.config.evolve import TaskConfig
from engine.config.policies import AGENT
from engine.config.self_play import SelfPlayConfig
from engine.evorl.evaluator import CandidateMeasures, PlayerEvaluator, Setup, Trained
from engine.evorl.trainings import Trainings
from engine.problem import TRAINED, WEIGHTS, Floats, Request, SelfPlayContext, ShouldStop, TrainingContext, of_kind
from engine.rl.examine import examination_seeds, examine
from engine.rl.opposition import Opposition
from engine.rl.policy import Policy, PolicySpec
from engine.rl.seats import Player, Players, slowed
from engine.simulators.conversation import never
from engine.stores import leased
from engine.studies import load

_KEPT = 128
"""Players kept in memory while a step trains or is measured."""


class SelfPlayEvaluator(PlayerEvaluator):
    """Trains and measures against opponents."""

    config: SelfPlayConfig

    def _against(self, context: TrainingContext) -> str:
        return json.dumps(of_kind(context, SelfPlayContext).opponents, sort_keys=True)

    def _opponents(self, context: TrainingContext, spec: PolicySpec) -> tuple[Opposition, Players]:
        shares = {name: share for name, (_, share, _) in of_kind(context, SelfPlayContext).opponents.items()}
        return Opposition(AGENT, shares), self._players(context, spec)

    def _players(self, context: TrainingContext, spec: PolicySpec) -> Players:
        """Versions with the weights that the request names, and the study's own players."""
        opponents = of_kind(context, SelfPlayContext).opponents

        @lru_cache(_KEPT)
        def player(name: str) -> Player:
            digest = opponents[name][0]
            if digest:
                return Policy(spec, self.trainings.weights(digest)).actor(explore=True)
            outside = self.config.opponents.outside[name]
            if isinstance(outside, RivalConfig):
                made = Policy.stored(self.trainings.lease, outside.policy).actor(explore=outside.sampled is not False)
                return slowed(made, outside.limits, self.config.task.game.limits)
            script: Player = PLAYERS[outside.player].load()(spec.seat)
            return script

        return player

    def _measured(
        self, policy: Policy, wanted: TaskConfig, request: Request, should_stop: ShouldStop
    ) -> CandidateMeasures:
        """The measures of meetings; ``met``: the shares of wins in them by opponent. Raises Cancelled."""
        context, count = of_kind(request.context, SelfPlayContext), request.last - request.first
        game = self._own(wanted, self._game("measuring", count, wanted))
        cast = Opposition(AGENT, {name: share for name, (_, _, share) in context.opponents.items()})
        players = self._players(context, policy.spec)
        sides = [
            examine(
                {seat: policy}, game, count, self.config.seed, explore=True, cast=cast, players=players,
                first=request.first, stopped=should_stop,
            )[seat]
            for seat in (0, 1)
        ]  # fmt: skip
        values = np.mean([self.measures.of(side) for side in sides], axis=0)
        seeds = examination_seeds(self.config.seed, request.first, count)
        who = cast.opponents(seeds, np.zeros(count, np.int64))
        moves = sum(int(side.lengths.sum()) for side in sides)
        return CandidateMeasures(
            values, moves, {"met": _tallied(list(cast.weights), who, np.mean([s.win for s in sides], 0))}
        )

    def _made(self, context: TrainingContext, trained: Trained, added: Mapping[str, Any]) -> SelfPlayContext:
        asked, training = of_kind(context, SelfPlayContext), unpack(self.trainings.lease.get(trained.digest))
        weights = self.trainings.lease.put(pack({}, {"weights": training.arrays["weights"]}))
        faced = {name: (games, wins) for name, (games, wins) in training.meta.get("met", {}).items()}
        return SelfPlayContext(
            asked.start, artifacts={TRAINED: trained.digest, WEIGHTS: weights}, opponents=asked.opponents, faced=faced,
            **added,
        )  # fmt: skip


def _tallied(names: list[str], who: Any, shares: Floats) -> dict[str, tuple[float, float, float]]:
    """By opponent: meetings, the sum of the shares of wins, the sum of their squares; without those that nobody won or
    lost."""
    found = {}
    for k, name in enumerate(names):
        won = shares[(who == k) & ~np.isnan(shares)]
        if len(won):
            found[name] = (float(len(won)), float(won.sum()), float((won**2).sum()))
    return found


def build(payload: bytes, should_stop: ShouldStop = never) -> SelfPlayEvaluator:
    """The evaluator of an encoded ``Setup``. Raises ConfigError, SimulatorError, Cancelled."""
    setup = msgspec.json.decode(payload, type=Setup)
    config = load(setup.study)
    assert isinstance(config, SelfPlayConfig)
    return SelfPlayEvaluator(config, Trainings(leased(setup.lease)), should_stop)
