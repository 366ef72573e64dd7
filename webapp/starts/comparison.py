"""Trainings that learn the same hard start, side by side: how well each does, a line for each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from engine.catalog import LEARNERS
from engine.config import parse
from engine.config.agent_games import SETTINGS
from engine.config.starts import LARGEST_VALUE, StartsConfig, StartTask, name_of
from engine.errors import ConfigError
from webapp.lib.figures import share_with_ends
from webapp.lib.first import first
from webapp.lib.words import plural
from webapp.projects.models import Project
from webapp.starts.asking import SCHEDULERS
from webapp.starts.figures import SmallChart
from webapp.starts.reading import ALONG, ROUNDS, SHARES, StartRow, StartsResult, SuccessWords, score_ends, whole
from webapp.studies.compare.differences import Difference
from webapp.studies.compare.names import ABSENT
from webapp.studies.compare.trainings import Beside, Drawn, together
from webapp.studies.lines import Lines
from webapp.studies.models import Job
from webapp.studies.table_rows import latest
from webapp.training import curve

DECISIONS = "decisions"
REWARDS = "rewards"
_ALONG = {"": ("iterations", ALONG), DECISIONS: ("steps", "Decisions → later")}
"""By the word of an address: the column that a chart goes along, and what that is."""
_PAID = "return", LARGEST_VALUE
"""Columns that tell of rewards: where these are not of one kind, they say nothing side by side."""
_FROM_HARD = (
    ("return", "Reward of an episode", "From the hard start, the mean of the episodes that ended in a round."),
    ("length", "Decisions of an episode", "Of the same episodes. Those that fail early are short, too."),
    (LARGEST_VALUE, "Largest reward that they expect", "From the hard start, for what each takes for the best action."),
)  # fmt: skip
"""Column of a start in a round, the title of its chart, and what it is."""


@dataclass(frozen=True, eq=False)
class Side:
    """A training; ``number``: its colour, from 1; ``name``: its line; ``method``: how it learns."""

    job: Job
    number: int
    name: str
    method: str
    reading: StartsResult

    @property
    def hard(self) -> StartRow:
        """How it does from the hard start."""
        return self.reading.row(len(self.reading.names) - 1)

    @property
    def learned(self) -> float:
        """Minibatches so far."""
        return self.job.metrics.get("iterations", 0)


class StartsComparison(Beside):
    """``along``: a word of ``_ALONG``. Where easier ones begin is told start by start."""

    part = "tasks"

    def __init__(self, project: Project, asked: Sequence[int], along: str = "") -> None:
        super().__init__(project, asked)
        self._x, self.along = _ALONG[along]
        self.by_decisions = along == DECISIONS

    @property
    def kinds(self) -> Sequence[str]:
        """Easier starts."""
        return ("starts",)

    def method(self, job: Job) -> str:
        """From which start it learns next, and how it learns."""
        kind, learner = job.config["scheduler"]["kind"], job.config["learner"]["kind"]
        return f"{SCHEDULERS[kind][0]}, {LEARNERS[learner].label}"

    def why_apart(self, job: Job, first: Job) -> str:
        """Why success in one is not what it is in the other."""
        return why_apart(job, first)

    def learned(self, job: Job) -> str:
        """ "4,000 learning steps"; "0 learning steps" before its first round."""
        return plural(int(job.metrics.get("iterations", 0)), "learning step")

    @cached_property
    def sides(self) -> list[Side]:
        """Those that are compared."""
        return [
            Side(job, i, self.names[job.pk], self.method(job), result_of(job)) for i, job in enumerate(self.shown, 1)
        ]

    @property
    def words(self) -> SuccessWords:
        """What success is in their game."""
        return self.sides[0].reading.words

    @cached_property
    def success(self) -> Lines:
        """How well each does from the hard start, by evaluations on fresh episodes, with their ranges."""
        return self._chart({side: len(side.reading.names) - 1 for side in self.sides}, "success", ranged=True)

    @property
    def figures(self) -> list[SmallChart]:
        """What the paper draws of several methods, from the hard start, and the success of each start that several
        have."""
        hard = {side: len(side.reading.names) - 1 for side in self.sides}
        alike = len({_paid(side.reading.config) for side in self.sides}) == 1
        charts = [each for each in _FROM_HARD if alike or each[0] not in _PAID]
        found = [SmallChart(title, text, self._chart(hard, what)) for what, title, text in charts]
        found += [
            SmallChart(f"Success: {name}", f"{self.words.share}. {text}", self._chart(tasks, "success"))
            for name, text, tasks in self._shared()
        ]  # fmt: skip
        return [each for each in found if each.chart.lines]

    def _shared(self) -> list[tuple[str, str, dict[Side, int]]]:
        """(name, who calls it otherwise, place in each that has it) of every easier start that several have."""
        places: dict[str, dict[Side, int]] = {}
        for side in self.sides:
            for i, task in enumerate(side.reading.config.ordered[:-1]):
                places.setdefault(_where(side.reading.config, task), {})[side] = i
        found = []
        for tasks in places.values():
            names = list(dict.fromkeys(side.reading.names[i] for side, i in tasks.items()))
            text = "An easier start" + (f", also called {' and '.join(names[1:])}." if names[1:] else ".")
            found += [(names[0], text, tasks)] * (len(tasks) > 1)
        return found

    def _chart(self, tasks: Mapping[Side, int], what: str, *, ranged: bool = False) -> Lines:
        """A line for each side of what its rounds tell of a start."""
        drawn = [
            Drawn(f"start-{side.number}", side.name, side.reading.columns, f"{name_of(task)}/{what}",
                  side.reading.config.episodes)
            for side, task in tasks.items()
        ]  # fmt: skip
        up, says = (0.0, 1.0) if what == "success" else None, SHARES.get(what)
        ranges = share_with_ends if ranged else None
        return together(drawn, self._x, self.along, words=whole, says=says, ranged=ranges, up=up)

    def own_differences(self) -> list[Difference]:
        """Where episodes begin, start by start."""
        return self._starts

    @cached_property
    def _starts(self) -> list[Difference]:
        """Where episodes begin, start by start: the easier ones by their names, as not all trainings have all of them,
        and the hard one, whatever it is called."""
        try:
            each = [(reading, reading.config.ordered) for reading in map(result_of, self.jobs)]
        except ConfigError:  # the obstacle says so
            return []
        easier = [{task.name: reading.where(task) for task in tasks if not task.hard} for reading, tasks in each]
        rows = [
            Difference(f"Start “{name}”", tuple(found.get(name, ABSENT) for found in easier))
            for name in dict.fromkeys(name for found in easier for name in found)
        ]
        hard = tuple(first(reading.where(task) for task in tasks if task.hard) for reading, tasks in each)
        return [*rows, Difference("The hard start", hard)]


def result_of(job: Job) -> StartsResult:
    """What a job's page tells."""
    return StartsResult(job, curve.columns(job, ROUNDS), latest(job))


def why_apart(job: Job, first: Job) -> str:
    """Why success in one is not what it is in the other; nothing where it is the same."""
    try:
        mine, theirs = (parse(StartsConfig, each.config) for each in (job, first))
    except ConfigError:
        return "the settings of one cannot be read any more"
    if mine.game.name != theirs.game.name:
        return "it learns another game"
    if _where(mine, mine.ordered[-1]) != _where(theirs, theirs.ordered[-1]):
        return "its hard start begins elsewhere, or its game has other settings"
    scores = {score_ends(each.metrics) for each in (job, first) if _examined(each)}
    if len(scores) > 1:
        by = "by wins, that of the other by scores" if None in scores else "between other scores"
        return f"its success is measured {by}"
    return ""


def _examined(job: Job) -> bool:
    """Whether there was an evaluation."""
    return any(name.endswith("/success") for name in job.metrics)


def _where(config: StartsConfig, task: StartTask) -> str:
    """All settings of the game as they are in a start, those too that nobody has set. What a game of ours pays is none
    of them: it changes neither where an episode begins nor what counts as success."""
    found = _settings(config, task)
    if config.game.name.removeprefix("builtin:") in SETTINGS:
        found.pop(REWARDS, None)
    return json.dumps(found, sort_keys=True)


def _paid(config: StartsConfig) -> str:
    """What the game pays for."""
    return json.dumps(_settings(config, config.ordered[-1]).get(REWARDS))


def _settings(config: StartsConfig, task: StartTask) -> dict[str, Any]:
    """All settings of the game in a start."""
    found: dict[str, Any] = {**config.game.settings, **task.settings}
    model = SETTINGS.get(config.game.name.removeprefix("builtin:"))
    if model is not None:
        found |= parse(model, {name: found[name] for name in found.keys() & model.model_fields}).model_dump()
    return found
