"""Menus of search methods: every algorithm that can search lineups, what a designer is told about it, and what else a
form with such a menu asks. The words are about lineups; a page that searches something else has a menu that tells them
in its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from engine.catalog import ALGORITHMS
from engine.config import Config
from engine.config.algorithms import OPERATORS, SETTING_OPERATORS, Breeding, SearchAlgorithm, Steady
from engine.config.noise import BattlesRule, EvaluationsRule, MinutesRule, NoiseConfig, PlateauRule
from webapp.lib.words import number
from webapp.studies.setting_fields import Setting, settings_of

TOGETHER, SINGLE, OTHER = "front", "best", "variety"
"""What an algorithm ``finds``, as its settings say."""
GROUPS = {
    TOGETHER: "Best trade-offs between several objectives",
    SINGLE: "The best in one objective",
    OTHER: "Many different lineups, and the control",
}
_STEADY = ("steady", "fair")


@dataclass(frozen=True)
class Method:
    """An algorithm on the menu; what it finds and can do, its settings say. ``words``: a page's own for what it is good
    for, and when not; ``also``: parts of the form that a page adds for it."""

    kind: str
    words: str = ""
    also: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return ALGORITHMS[self.kind].label

    @property
    def text(self) -> str:
        return self.words or ALGORITHMS[self.kind].explanation

    @property
    def group(self) -> str:
        return self.model.finds

    @property
    def model(self) -> type[SearchAlgorithm]:
        found = ALGORITHMS[self.kind].config
        assert issubclass(found, SearchAlgorithm)
        return found

    @property
    def leaves(self) -> str:
        """The role of what it keeps beside its members; empty: nothing."""
        return self.model.leaves

    @property
    def single(self) -> bool:
        """Whether it looks for one best lineup, so that somebody must say what is best."""
        return self.group == SINGLE

    @property
    def parts(self) -> str:
        """The parts of the form that belong to it, as the page's script reads them."""
        model = self.model
        found = {
            "aim": self.single,
            "steady": issubclass(model, Steady),
            "breeding": issubclass(model, Breeding),
            "numbers": "numbers" in model.needs,
            f"own-{self.kind}": True,
            "noise": model.remeasures,
            "racing": model.races,
            "no-noise": not model.remeasures,
        }
        return " ".join((*(name for name, has in found.items() if has), *self.also))


METHODS = {kind: method for kind in ALGORITHMS if "perturb" not in (method := Method(kind)).model.needs}
"""By kind, in the menu's order. Those that need evaluations which train are not here."""


@dataclass(frozen=True)
class Menu:
    """What one page offers. ``choice``: the name of the field that chooses. ``rules`` may end a search early.
    ``worded``: how a text about lineups reads here; ``instead``: label and help of settings, by name, for which that is
    not enough; ``leave``: settings that mean nothing here."""

    choice: str
    usual: str
    methods: Mapping[str, Method]
    groups: Mapping[str, str]
    rules: tuple[type[Config], ...]
    worded: Callable[[str], str] = str
    instead: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    leave: frozenset[str] = frozenset()

    def of(self, kind: str) -> Method:
        """The method of that kind; the usual one where there is none."""
        return self.methods.get(kind, self.methods[self.usual])

    @cached_property
    def own(self) -> dict[str, tuple[Setting, ...]]:
        """Settings that no other method has, by the method's kind."""
        shared = ("population", *_STEADY, *OPERATORS)
        return {kind: self._settings(m.model, f"{kind}-", shared) for kind, m in self.methods.items()}

    @cached_property
    def steady(self) -> tuple[Setting, ...]:
        """Of methods that can do without rounds."""
        return self._settings(Steady, leave=("population",))

    @cached_property
    def breeding(self) -> tuple[Setting, ...]:
        """Of methods whose candidates have parents."""
        return self._settings(Breeding, leave=("population", *_STEADY))

    @cached_property
    def noise(self) -> tuple[Setting, ...]:
        """Of measuring again."""
        return self._settings(NoiseConfig, "noise-", _RACING)

    @cached_property
    def racing(self) -> tuple[Setting, ...]:
        """Of races."""
        return self._settings(NoiseConfig, "noise-", ("reevaluate", "again"))

    @cached_property
    def stops(self) -> dict[str, tuple[type[Config], tuple[Setting, ...]]]:
        """The rules' settings, by the rule's kind. A rule holds when its first setting is typed."""
        kinds = {model.model_fields["kind"].default: model for model in self.rules}
        return {kind: (model, self._settings(model, f"stop-{kind}-")) for kind, model in kinds.items()}

    @property
    def settings(self) -> list[Setting]:
        """All of them, each once."""
        own = [setting for settings in self.own.values() for setting in settings]
        stops = [setting for _, settings in self.stops.values() for setting in settings]
        return [*self.steady, *self.breeding, *own, *self.noise, *self.racing, *stops]

    def belonging(self, method: Method) -> tuple[Setting, ...]:
        """The settings of an algorithm: those it shares with others, and its own."""
        shared = [s for s in (*self.steady, *self.breeding) if s.key in method.model.model_fields]
        return (*shared, *self.own[method.kind])

    def _settings(self, model: type[Config], prefix: str = "", leave: Iterable[str] = ()) -> tuple[Setting, ...]:
        found = settings_of(model, prefix, (*leave, *self.leave))
        for name, _, shown, _ in found:
            usual = self.worded(str(shown.label)), self.worded(str(shown.help_text))
            shown.label, shown.help_text = self.instead.get(name, usual)
        return found


_RACING = ("racing", "most", "error")
LINEUPS = Menu(
    "algorithm",
    "nsga2",
    METHODS,
    GROUPS,
    (PlateauRule, EvaluationsRule, BattlesRule, MinutesRule),
    leave=frozenset(SETTING_OPERATORS),
)


def ends_when(rule: Mapping[str, Any]) -> str:
    """A rule that ends a search, in words."""
    if rule["kind"] == "plateau":
        return f"no growth for {number(rule['window'])} rounds"
    if rule["kind"] == "minutes":
        return f"after {rule['most']:g} min, not reproducible"
    return f"after {number(rule['most'])} {rule['kind']}"
