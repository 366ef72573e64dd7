"""The questions a designer can ask: each one fills in a whole search that can be changed afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.config import FAIRNESS, LineupConfig, ObjectiveConfig, ObjectiveSetConfig
from engine.simulators.contract import GameSpec
from webapp.studies.verdict_words import DECIDED, LINE, TOO_GOOD, USELESS, VerdictWords, words_of


@dataclass(frozen=True)
class Question:
    """``objectives`` makes what is measured from the game's own names; ``lineups`` changes the project's rules.

    ``counts`` says what a lineup over the line is, in the words of the New job page; ``words`` names its verdicts.
    """

    key: str
    title: str
    text: str
    counts: str
    objectives: Callable[[GameSpec], ObjectiveSetConfig]
    lineups: Callable[[LineupConfig], LineupConfig] = lambda rules: rules
    words: VerdictWords = LINE


def _named(spec: GameSpec, formula: str) -> str:
    """A formula over strength, resources and win with the names this game has for them."""
    for word in ("strength", "resources", "win"):
        formula = formula.replace(f"<{word}>", getattr(spec, word))
    return formula


def _strength(spec: GameSpec, **changes: str) -> ObjectiveConfig:
    unit = next((m.unit for m in spec.side_metrics if m.name == spec.strength), "")
    formula = _named(spec, "weakest(<strength>_vs_baselines)")
    return FAIRNESS.objectives[2].model_copy(update={"formula": formula, "unit": unit, **changes})


def _fairness(spec: GameSpec) -> ObjectiveSetConfig:
    advantage, gap, _ = FAIRNESS.objectives
    ratio = _named(spec, "strongest(<resources>) / max(weakest(<resources>), 0.05 * mean(cost))")
    difference = _named(spec, "strongest(<strength>) - weakest(<strength>)")
    return ObjectiveSetConfig(
        objectives=(
            advantage.model_copy(update={"formula": ratio}),
            gap.model_copy(update={"formula": difference}),
            _strength(spec),
        )
    )


def _fielded(spec: GameSpec) -> ObjectiveSetConfig:
    """Fairness among teams that already win: each wins two of five battles with the baseline teams, or more."""
    holds = _named(spec, "min(<win>_vs_baselines) - 0.4")
    return _fairness(spec).model_copy(update={"constraints": (holds,)})


def _price(spec: GameSpec) -> ObjectiveSetConfig:
    value = ObjectiveConfig(
        name="value",
        title="Strength for the price",
        formula=_named(spec, "1000 * mean(<strength>_vs_baselines) / max(mean(cost), 1)"),
        unit="% per 1,000",
        toward="better for its price",
        low=0.0,
    )
    price = ObjectiveConfig(
        name="price", title="Cost of the team", formula="mean(cost)", direction="min", toward="cheaper"
    )
    return ObjectiveSetConfig(objectives=(value, _strength(spec, title="Strength left"), price))


def _useless(spec: GameSpec) -> ObjectiveSetConfig:
    weak = ObjectiveConfig(
        name="left",
        title="Strength left",
        formula=_named(spec, "mean(<strength>_vs_baselines)"),
        direction="min",
        unit="%",
        toward="more useless",
    )
    price = ObjectiveConfig(name="price", title="Cost of the team", formula="mean(cost)", toward="dearer")
    return ObjectiveSetConfig(objectives=(weak, price))


def _seats(spec: GameSpec) -> ObjectiveSetConfig:
    seat = ObjectiveConfig(
        name="seat",
        title="What going first changes",
        formula=_named(spec, "100 * abs(mean(<win>_first) - mean(<win>_second))"),
        unit="points",
        toward="more decided by going first",
        low=0.0,
        high=100.0,
    )
    return ObjectiveSetConfig(objectives=(seat, _strength(spec)))


def _alone(rules: LineupConfig) -> LineupConfig:
    """One team at a time, at any price the game allows."""
    return rules.model_copy(update={"teams": 1, "cost_tolerance": None})


QUESTIONS = {
    q.key: q
    for q in (
        Question(
            "unfair",
            "Which teams are unfair?",
            "Finds teams of the same cost where one runs away with the battle.",
            "What counts as unfair?",
            _fairness,
        ),
        Question(
            "fielded",
            "Which would players really field?",
            "The same, kept close to teams that already win.",
            "What counts as unfair?",
            _fielded,
        ),
        Question(
            "price",
            "What is too good for its price?",
            "Finds teams that do more than they cost. See which pieces they share.",
            "What counts as too good?",
            _price,
            _alone,
            TOO_GOOD,
        ),
        Question(
            "useless",
            "What is useless?",
            "Finds teams that cost much and still lose. See which pieces they share.",
            "What counts as useless?",
            _useless,
            _alone,
            USELESS,
        ),
        Question(
            "first",
            "Does going first decide?",
            "Plays each pairing from both seats.",
            "What counts as decided?",
            _seats,
            words=DECIDED,
        ),
        Question(
            "own",
            "Your own question",
            "Start from your own objectives.",
            "What counts as over the line?",
            _fairness,
        ),
    )
}


def with_line(
    objectives: ObjectiveSetConfig, name: str, line: float | None, *, keep: bool = False
) -> ObjectiveSetConfig:
    """The objectives with the line of ``name`` at ``line`` (None: no line); the others lose theirs unless ``keep``."""
    chosen = [
        o.model_copy(update={"threshold": line if o.name == name else o.threshold if keep else None})
        for o in objectives.objectives
    ]
    return objectives.model_copy(update={"objectives": tuple(chosen)})


def verdict_words(question: str, objectives: ObjectiveSetConfig) -> VerdictWords:
    """What verdicts are called in a search that asked ``question`` of these objectives."""
    asked = QUESTIONS[question].words if question in QUESTIONS else LINE
    goals = objectives.objectives
    counted = [o for o in goals if o.threshold is not None] or goals[:1]
    below = bool(counted) and all(o.direction == "min" for o in counted)
    return words_of(asked, strength=any(o.strength for o in goals), below=below)


def main_measure(objectives: ObjectiveSetConfig) -> ObjectiveConfig:
    """The objective that has the line, or would have it."""
    found = (o for o in objectives.objectives if o.threshold is not None)
    return next(found, objectives.objectives[0])
