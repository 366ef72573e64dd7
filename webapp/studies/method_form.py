"""How a search looks, in the New job form: the method with its settings, measuring again, and when it ends early."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import Any

from django import forms

from engine.config import Config, ObjectiveSetConfig, parse
from engine.config.algorithms import MAPElitesConfig, NSGA3Config, SearchAlgorithm
from engine.config.noise import NoiseConfig
from engine.errors import ConfigError
from webapp.balance.forms import sentence
from webapp.lib.words import number
from webapp.studies.methods import BREEDING, METHODS, NOISE, RACING, STEADY, STOPS, USUAL, Method, every_setting
from webapp.studies.setting_fields import Setting, typed_of, values_typed

# The fields' names hold hyphens, so they cannot be written as attributes of a class.
_SettingFields: Any = type("_SettingFields", (forms.Form,), {s.name: s.field for s in every_setting()})


class MethodForm(_SettingFields):
    """``algorithm_for(population)``, ``noise`` and ``stop`` are the engine's settings once the form is valid."""

    algorithm = forms.ChoiceField(
        label="Method", choices=[(m.kind, m.title) for m in METHODS.values()], initial=USUAL, required=False
    )
    aim = forms.CharField(label="What is the best?", max_length=40, required=False)

    @property
    def method(self) -> Method:
        """The chosen method; the usual one where none was."""
        return METHODS.get(self.cleaned_data.get("algorithm") or USUAL, METHODS[USUAL])

    def aimed(self, objectives: ObjectiveSetConfig) -> ObjectiveSetConfig:
        """The objectives that are searched: all of them, or for a method that looks for one best the chosen one."""
        chosen = [o for o in objectives.objectives if o.name == self.cleaned_data.get("aim")]
        if not self.method.single or not chosen:
            return objectives
        return objectives.model_copy(update={"objectives": tuple(chosen)})

    def check_method(self, objectives: ObjectiveSetConfig) -> None:
        """Say at its field whatever the engine would not take."""
        self.noise, self.stop = NoiseConfig(), self._stop()
        found = self._parsed(self._settings(), self._values(), self.method.model, "algorithm.")
        if isinstance(found, SearchAlgorithm):
            self._check_sizes(found, objectives)
        if self.method.remeasures:
            settings = (*NOISE, *RACING) if self.method.races else NOISE
            self.noise = self._parsed(settings, values_typed(settings, self.cleaned_data), NoiseConfig) or self.noise
        if self.noise.racing != "off" and self.cleaned_data.get("steady"):
            self.add_error("noise-racing", "Racing needs rounds. Choose no racing, or untick steady state.")

    def algorithm_for(self, population: int) -> SearchAlgorithm:
        """The method's settings with so many lineups in a round."""
        found = parse(self.method.model, {**self._values(), "population": population})
        assert isinstance(found, SearchAlgorithm)
        return found

    def _settings(self) -> tuple[Setting, ...]:
        shared = [s for s in (*STEADY, *BREEDING) if s.key in self.method.model.model_fields]
        return (*shared, *self.method.own)

    def _values(self) -> dict[str, Any]:
        population = self.cleaned_data.get("population")
        return values_typed(self._settings(), self.cleaned_data) | ({"population": population} if population else {})

    def _stop(self) -> tuple[Any, ...]:
        """Rules of which the first setting was typed."""
        rules = []
        for model, settings in STOPS.values():
            if self.cleaned_data.get(settings[0].name) is not None:
                rules.append(self._parsed(settings, values_typed(settings, self.cleaned_data), model))
        return tuple(rule for rule in rules if rule is not None)

    def _parsed(
        self, settings: tuple[Setting, ...], values: Mapping[str, Any], model: type[Config], place: str = ""
    ) -> Any:
        """The model, or None after each problem was said at its field."""
        names = {s.key: s.name for s in settings} | {"population": "population"}
        try:
            return parse(model, values)
        except ConfigError as error:
            for where, message in error.problems:
                name = names.get(where.removeprefix(place).partition(".")[0])
                self.add_error(name, _even(sentence(message)) if name == "population" else sentence(message))
            return None

    def _check_sizes(self, algorithm: SearchAlgorithm, objectives: ObjectiveSetConfig) -> None:
        """What depends on how many objectives there are."""
        many = len(objectives.objectives)
        if isinstance(algorithm, MAPElitesConfig):
            self._check_map(algorithm, objectives)
        if isinstance(algorithm, NSGA3Config) and algorithm.partitions:
            directions, size = comb(algorithm.partitions + many - 1, many - 1), self.cleaned_data.get("population")
            if directions > (size or 200):
                why = f"That makes {number(directions)} directions, more than a round has lineups. Type fewer, or 0."
                self.add_error("nsga3-partitions", why)

    def _check_map(self, algorithm: MAPElitesConfig, objectives: ObjectiveSetConfig) -> None:
        names = [o.name for o in objectives.objectives]
        ways = len(names) - 1
        if not ways:
            why = "This question has one objective. MAP-Elites needs a second one to spread lineups along."
            self.add_error("algorithm", why)
        elif len(algorithm.low) not in (0, ways) or len(algorithm.high) != len(algorithm.low):
            self.add_error("map-elites-low", f"Type {ways} lower and {ways} upper bounds, or none at all.")
        if algorithm.quality and algorithm.quality not in names:
            self.add_error("map-elites-quality", "Choose one of the question’s objectives.")


def _even(text: str) -> str:
    return "Type an even number: lineups are combined in twos." if "multiple of 2" in text else text


def typed_of_search(search: Mapping[str, Any]) -> dict[str, Any]:
    """The form's texts that would give the method, the noise and the rules of a search (as JSON)."""
    algorithm = search.get("algorithm", {})
    method = METHODS.get(algorithm.get("kind", USUAL))
    if method is None:
        return {}
    shared = [s for s in (*STEADY, *BREEDING) if s.key in algorithm]
    found = typed_of([*shared, *method.own], algorithm) | typed_of([*NOISE, *RACING], search.get("noise", {}))
    for rule in search.get("stop", []):
        if rule["kind"] in STOPS:
            settings = STOPS[rule["kind"]][1]
            found |= {settings[0].name: f"{rule[settings[0].key]:.12g}", **typed_of(settings[1:], rule)}
    names = [o["name"] for o in search["objectives"]["objectives"]]
    return {"algorithm": method.kind, **found, **({"aim": names[0]} if method.single and len(names) == 1 else {})}
