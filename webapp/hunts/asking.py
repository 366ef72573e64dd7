"""What a hunt for bugs is asked for: the form, and what the API takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from django import forms

from engine.catalog import GAMES
from engine.config.base import parse
from engine.config.hunt import COVERED, HuntConfig
from engine.config.whole_episodes import battles_that_end
from webapp.accounts.models import User
from webapp.balance.forms import sentence
from webapp.games.fields import NumberField
from webapp.lib.words import plural
from webapp.projects.models import Project
from webapp.studies.intake import Table
from webapp.studies.study_form import StudyForm
from webapp.training import games
from webapp.training.intake import SettingsIntake, unknown_measures
from webapp.training.learned import whole_batches

USUAL = "maze"
PAID, GROUND = ("score", "win"), "ground"
"""What games with a reward for new ground pay as a rule, and that reward."""
PAID_FOR_GROUND: Mapping[str, Any] = {"wuji": [0.0, 0.1], "learning": 0.05}
"""By method, the weight of that reward for who learns: a range is a gene. As in ``engine.bench.wuji``."""
OFFERED = {name: game.label for name, game in GAMES.items() if not game.sides and game.sees == games.NUMBERS}
METHODS = {
    "wuji": "Breed agents that learn", "learning": "Agents that learn, without breeding",
    "evolution": "Breed agents that do not learn", "random": "Random actions",
}  # fmt: skip
LEARNER = {"kind": "ppo", "batch": 1024, "fragment": 64, "minibatch": 256, "reuse": 4}
NOBODY_BRED = (
    "Breeding begins with the second round, so nobody is bred. Give more decisions, or have fewer agents in a round."
)
DECISIONS, AGENTS, FEWEST, ROUNDS, STEPS, BATTLES = 5_000_000, 30, 4, 3, 8192, 16
"""Usual numbers: of agents so many that the decisions buy ``ROUNDS``, but no fewer than ``FEWEST``; of battles at most
so many."""


class HuntIntake(SettingsIntake):
    """How the site starts hunts: in a game that may be played here."""

    def title(self, game: str, asked: Table) -> str:
        """What it is called where the body says nothing."""
        return f"Bugs in {game}"

    def strange(self, study: Any, project: Project) -> Iterator[tuple[str, str]]:
        """A budget that buys no round, and measures that the game is known not to tell."""
        if isinstance(study, HuntConfig):
            yield from unknown_measures(study, project, (COVERED.measure,))
            game = study.task.game
            longest = game.settings.get("max_ticks", _longest(game.name))
            yield from study.too_small(longest if isinstance(longest, int) else 0)


class HuntForm(StudyForm):
    """Which game, by what method, and for how long."""

    groups: ClassVar[tuple[tuple[str, tuple[str, ...]], ...]] = (
        ("Which game, and how?", ("game", "method")),
        ("How far?", ("decisions",)),
    )
    folded: ClassVar[tuple[str, ...]] = ("population", "steps", "episodes", "stuck_after", "soonest", "most", "seed")
    usual: ClassVar[Mapping[str, Any]] = {"game": USUAL, "method": "wuji"}
    places: ClassVar[Mapping[str, str]] = {
        "task.game.name": "game", "task.game": "game", "task.steps": "steps", "algorithm.population": "population",
        **{f"oracles.{name}": name for name in ("stuck_after", "soonest", "most")},
    }  # fmt: skip
    game = forms.ChoiceField(label="Game")
    method = forms.ChoiceField(
        label="Method", choices=list(METHODS.items()),
        help_text="The first one is made for finding bugs. The others are here to compare it with.",
    )  # fmt: skip
    decisions: Any = NumberField(
        label="Decisions in all", whole=True, low=1, high=10**12, required=False, usual=DECISIONS,
        help_text="At most, of all agents together.",
    )  # fmt: skip
    population: Any = NumberField(
        label="Agents in a round", whole=True, low=1, high=10_000, required=False, usual=AGENTS,
        help_text=f"As a rule fewer where the decisions would not be enough for {ROUNDS} rounds.",
    )  # fmt: skip
    steps: Any = NumberField(
        label="Decisions that an agent learns from, each round", whole=True, low=1024, high=10**9, required=False,
        usual=STEPS,
    )  # fmt: skip
    episodes: Any = NumberField(
        label="Episodes that measure an agent", whole=True, low=2, high=10_000, required=False, usual=4,
    )  # fmt: skip
    stuck_after: Any = NumberField(
        label="Stuck after so many decisions in one place", whole=True, low=2, high=10_000, required=False, usual=30,
        help_text="It counts only where random actions do not lead away either.",
    )  # fmt: skip
    soonest: Any = NumberField(
        label="Decisions that a win takes at least", whole=True, low=0, high=10**9, required=False,
        usual="as the game says", help_text="A faster win is an imbalance; 0: any win is fine.",
    )  # fmt: skip
    most: Any = NumberField(
        label="Highest score", required=False, usual="as the game says",
        help_text="A higher one is an imbalance.",
    )  # fmt: skip

    def prepare(self) -> None:
        self.offer("game", [*OFFERED.items(), *games.own(self.project).items()])

    def before(self, study: Any, user: User, **refers: Any) -> dict[str, Any]:
        """Also what the decisions buy."""
        found = super().before(study, user, **refers)
        whole = whole_batches(study.task, "an agent") if study.learns else ""
        return {**found, "note": " ".join(filter(None, (self._buys(study), whole, found.get("note", ""))))}

    def _buys(self, study: HuntConfig) -> str:
        longest = _longest(self.cleaned_data["game"])
        alone = f" {NOBODY_BRED}" if study.bred and study.buys(longest) == 1 else ""
        what = f"{plural(study.buys(longest), 'round')} of {plural(study.algorithm.population, 'agent')}"
        decisions = plural(study.decisions, "decision")
        if not longest:
            return f"{decisions} buy about {what} if episodes are short.{alone}"
        rest = "" if alone else ", fewer where many bugs must be shown again"
        return f"{decisions} buy up to {what}{rest}.{alone}"

    def study(self) -> HuntConfig:
        """The study itself."""
        return parse(HuntConfig, {"kind": "hunt", **self.table()})

    def clean(self) -> dict[str, Any]:
        """The decisions must buy a round."""
        cleaned = super().clean() or {}
        if not self.errors:
            for place, why in self.study().too_small(_longest(cleaned["game"])):
                self.add_error(place, sentence(why))
        return cleaned

    def table(self) -> dict[str, Any]:
        """The study, as a body of the API would have it."""
        typed = self.cleaned_data
        steps, longest = typed["steps"] or STEPS, _longest(typed["game"])
        task = {**_played(typed["game"], typed["method"]), "steps": steps}
        task["environments"] = battles_that_end(steps, longest, BATTLES)
        table = {
            **self.typed(name="title", decisions="decisions", episodes="episodes", seed="seed"),
            "task": task,
            "method": typed["method"],
            "oracles": self.typed(stuck_after="stuck_after", soonest="soonest", most="most"),
        }
        return {**table, "algorithm": {"population": typed["population"] or _usual_agents(table, longest)}}


def _longest(game: str) -> int:
    """Decisions in the longest episode of a game, 0 where that is not known."""
    return GAMES[game].longest if game in GAMES else 0


def _usual_agents(table: dict[str, Any], longest: int) -> int:
    """Agents in a round where nobody says how many."""
    one = parse(HuntConfig, {**table, "algorithm": {"population": 1}, "decisions": 10**12}).round(longest)
    return max(FEWEST, min(AGENTS, table.get("decisions", DECISIONS) // (ROUNDS * one)))


def _played(game: str, method: str) -> dict[str, Any]:
    """The game and the learner. Who learns is paid for new ground where a game does so; for bred agents its weight is a
    gene."""
    known = GAMES.get(game)
    if method not in PAID_FOR_GROUND or known is None or GROUND not in known.signals:
        return {"game": game, "learner": LEARNER}
    rewards = {GROUND: {"weight": PAID_FOR_GROUND[method]}}
    return {
        "game": {"name": game, "settings": {"rewards": [*PAID, GROUND]}},
        "learner": {**LEARNER, "rewards": rewards},
    }
