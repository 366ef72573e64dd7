"""The problem of a study of players, and the check that its game can be played that way."""

from __future__ import annotations

from engine.config.evolve import EvolveConfig, TaskConfig
from engine.config.genes import express, genes
from engine.errors import ConfigError, below
from engine.evorl.measures import TIMES, Measures, range_names
from engine.evorl.space import PlayerSpace, Start
from engine.mdp.limits import limited
from engine.mdp.vector import VectorMDP, in_turns
from engine.problem import Objective, Problem, ShouldStop
from engine.rl.factory import make_learner, policy_spec
from engine.simulators import references
from engine.simulators.conversation import never
from engine.store import Artifacts
from engine.styles.rewards import Styled, with_signals
from engine.styles.strangers import facing_strangers


def example(task: TaskConfig) -> TaskConfig:
    """The task of an example candidate: integer genes at their lower ends, others a thousandth of the range above them,
    because a field may exclude its lower end. Raises ConfigError where these values do not go together."""
    return express(task, {g.place: g.low if g.whole else g.low + (g.high - g.low) / 1000 for g in genes(task)})


def played(task: TaskConfig, battles: int, should_stop: ShouldStop = never, seats: int = 1) -> VectorMDP:
    """The task's game for so many battles at a time, with the rewards of its style; ``seats``: 1, or 2 for self-play.
    Raises ConfigError, SimulatorError."""
    if seats > 1:
        return references.make_for_two(task.game, battles, should_stop)
    if task.style is None:
        return references.make_for_one(task.game, battles, should_stop)
    game = references.make_for_one(with_signals(task.game), battles, should_stop)
    try:
        return Styled(game, task.style)
    except ConfigError:
        game.close()
        raise


def against_strangers(task: TaskConfig, battles: int, should_stop: ShouldStop = never) -> VectorMDP:
    """The same with the other seat played from outside. Raises as ``played``."""
    assert task.style is not None
    plain = facing_strangers(with_signals(task.game)).model_copy(update={"limits": None})
    game = limited(references.make(plain, battles, should_stop), task.game.limits, (0,))
    assert not in_turns(game)
    return Styled(game, task.style)


def check(config: EvolveConfig, game: VectorMDP) -> None:
    """Raise ConfigError with all reasons why the game does not suit a study, before anything begins: measures that it
    does not report, and a learner that does not fit."""
    task = example(config.task)
    seat = game.spec.seats[0]
    wrong = Measures(seat).unknown(config)
    try:
        with below("task"):
            make_learner(task.learner, seat, config.seed, max(1, task.steps))
    except ConfigError as error:
        wrong += error.problems
    if wrong:
        raise ConfigError(wrong)


def problem_of(
    config: EvolveConfig, game: VectorMDP, store: Artifacts, begin: Start | None = None
) -> tuple[Problem, PlayerSpace]:
    """The problem and its space. ``begin``: where the first networks come from; a process that draws none needs
    none. Raises ConfigError at ``start`` where it does not fit."""
    spec = policy_spec(config.task.learner, game.spec.seats[0])
    measures = Measures(spec.seat)
    objectives = tuple(Objective(aim.measure, aim.measure, aim.direction) for aim in config.objectives)
    names = (*measures.names, *range_names(config), *TIMES)
    space = PlayerSpace(config, spec, store, begin)
    bounded = all(aim.limits is not None for aim in config.objectives)
    return Problem(space, objectives, names, config.behaviour, bounded, config.candidate), space
