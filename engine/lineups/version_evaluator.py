"""Lineups played on two versions of one game: as it is, and with a change of its numbers or under another commander.

Both versions have the study's seed, so the same teams meet in battles of the same seeds on both: what luck does to one,
it does to the other (common random numbers), and what is left of the difference is the change's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from engine.config.study import ChangeConfig
from engine.errors import ConfigError
from engine.lineups.baselines import BaselineTeams
from engine.lineups.encoding import Lineups
from engine.lineups.evaluator import LineupEvaluator, Setup, checked
from engine.lineups.rules import feasibility
from engine.lineups.schema import check_patch
from engine.problem import Evaluation, LineupContext, Problem, Request, ShouldStop, of_kind
from engine.simulators.commanded import load_from
from engine.simulators.contract import GameSpec, LineupSimulator
from engine.simulators.conversation import never

CHANGED = "changed"
"""What ``LineupContext.patch`` says of requests for the changed version; empty: the game as it is."""


class Versions(msgspec.Struct, frozen=True):
    """What an actor builds its evaluator from: the study as JSON, the baselines of either version, and the address of
    the store that a commander's policy is in."""

    study: dict[str, object]
    before: dict[str, object]
    after: dict[str, object]
    store: str = ""

    @classmethod
    def of(cls, config: ChangeConfig, before: BaselineTeams, after: BaselineTeams, store: str = "") -> Versions:
        """Of a study and the baselines as they were resolved."""
        return cls(config.model_dump(mode="json"), before.state(), after.state(), store)


class VersionEvaluator:
    """A ``LineupEvaluator`` for each version; the context of a request says which plays it. One simulator plays both,
    unless the changed version is commanded differently and has one of its own."""

    def __init__(
        self, versions: Versions, simulator: LineupSimulator, changed_simulator: LineupSimulator | None = None
    ) -> None:
        study = ChangeConfig.model_validate(versions.study)
        changed = study.model_copy(update={"game": study.changed})
        self.simulator = simulator
        self.before = LineupEvaluator(Setup(study.model_dump(mode="json"), versions.before), simulator)
        self.after = LineupEvaluator(
            Setup(changed.model_dump(mode="json"), versions.after), changed_simulator or simulator
        )

    def close(self) -> None:
        """Give the simulators back."""
        self.before.close()
        self.after.close()

    def describe(self) -> Problem:
        return self.before.describe()

    def initialize(self, rng: np.random.Generator) -> Lineups:
        return self.before.initialize(rng)

    def evaluate(self, requests: Sequence[Request], should_stop: ShouldStop) -> Iterator[Evaluation]:
        for evaluator, patch in ((self.before, ""), (self.after, CHANGED)):
            own = [r for r in requests if of_kind(r.context, LineupContext).patch == patch]
            if own:
                yield from evaluator.evaluate(own, should_stop)


def checked_change(config: ChangeConfig, simulator: LineupSimulator) -> tuple[GameSpec, GameSpec]:
    """The game as it is and with the change, when the study can run. Raises ConfigError with all that is wrong."""
    wrong: list[tuple[str, str]] = []
    try:
        checked(config, simulator)
    except ConfigError as error:
        wrong += error.problems
    spec, patch = simulator.describe(), config.game.patch
    both = {**patch, **config.change}
    own = {f"game.patch.{path}" for path, _ in check_patch(spec, patch)}
    wrong += [(f"change.{path}", text) for path, text in check_patch(spec, both) if f"game.patch.{path}" not in own]
    before, after = spec.patched(patch), spec.patched(both)
    if before == after and config.changed.commander == config.game.commander and not wrong:
        wrong.append(_nothing(config))
    wrong += [("change", f"{text}, with the change") for _, text in feasibility(after, config.lineups) if not wrong]
    teams = config.lineups.teams
    wrong += [
        (f"replayed.{i}.teams", f"a lineup is {teams} {'team' if teams == 1 else 'teams'} here, not {len(each.teams)}")
        for i, each in enumerate(config.replayed)
        if len(each.teams) != teams
    ]
    if wrong:
        raise ConfigError(wrong)
    return before, after


def _nothing(config: ChangeConfig) -> tuple[str, str]:
    """What is wrong with a study whose two versions are one."""
    if config.under is not None:
        return "under", "leads both sides already: take another commander, or change numbers"
    return "change", "changes nothing: these are the game’s numbers already"


def build(payload: bytes, should_stop: ShouldStop = never) -> VersionEvaluator:
    """The evaluator for encoded ``Versions``; loads the simulator. Raises ConfigError, SimulatorError, Cancelled."""
    versions = msgspec.json.decode(payload, type=Versions)
    study = ChangeConfig.model_validate(versions.study)
    simulator = load_from(study.game, versions.store, should_stop)
    if study.game.commander == study.changed.commander:
        return VersionEvaluator(versions, simulator)
    return VersionEvaluator(versions, simulator, load_from(study.changed, versions.store, should_stop))
