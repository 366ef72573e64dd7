"""How a search looks, as a form: the method with its settings, measuring again, and when it ends early."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django import forms

from engine.config import Config, parse
from engine.config.algorithms import SearchAlgorithm
from engine.config.noise import NoiseConfig
from engine.errors import ConfigError
from webapp.balance.forms import sentence
from webapp.games.numbers import field_text
from webapp.studies import checks
from webapp.studies.methods import Menu, Method
from webapp.studies.setting_fields import Setting, typed_of, values_typed


def fields_of(menu: Menu) -> Any:
    """A form of a menu's choice and of every setting on it, for a ``MethodForm`` to be made of. (Their names hold
    hyphens, so they cannot be written as attributes of a class.)"""
    titles = [(m.kind, m.title) for m in menu.methods.values()]
    choice = forms.ChoiceField(label="Method", choices=titles, initial=menu.usual, required=False)
    fields = {menu.choice: choice, **{s.name: s.field for s in menu.settings}}
    return type("_MethodFields", (forms.Form,), fields)


class MethodForm(forms.Form):
    """``method_settings`` (None where one of them is wrong), ``noise`` and ``stop`` are the engine's settings once
    ``check_method`` has looked. ``usual_population``: a round's size while nobody typed one."""

    menu: ClassVar[Menu]
    usual_population: ClassVar[int]
    method_settings: SearchAlgorithm | None = None

    @property
    def method(self) -> Method:
        """The chosen method; the usual one where none was."""
        return self.menu.of(self.cleaned_data.get(self.menu.choice) or "")

    def check_method(self, aims: Sequence[str], ways: int, unbounded: str) -> None:
        """Say at its field whatever the engine would not take. ``aims``: names of what is searched for; ``ways``: in
        how many numbers a map tells candidates apart; ``unbounded``: why no race by bounds is possible, if so."""
        menu, self.noise, self.stop = self.menu, NoiseConfig(), self._stop()
        found = self._parsed(menu.belonging(self.method), self._values(), self.method.model, "algorithm.")
        if self.method.model.remeasures:
            settings = (*menu.noise, *menu.racing) if self.method.model.races else menu.noise
            self.noise = self._parsed(settings, values_typed(settings, self.cleaned_data), NoiseConfig) or self.noise
        self.method_settings = found
        if found is not None:
            for place, message in checks.method(menu, found, self.noise, aims, ways, unbounded):
                self.add_error(self.field_of(place), message)

    def field_of(self, place: str) -> str | None:
        """The field of a method's setting, or of one of measuring again, by its place in a study; None for others."""
        part, _, rest = place.partition(".")
        key, menu = rest.partition(".")[0], self.menu
        if part == "algorithm":
            own = {s.key: s.name for s in menu.belonging(self.method)}
            return "population" if key == "population" else own.get(key, menu.choice)
        if part == "noise":
            return next((s.name for s in (*menu.noise, *menu.racing) if s.key == key), menu.noise[0].name)
        return None

    def algorithm_for(self, population: int) -> SearchAlgorithm:
        """The method's settings with so many candidates in a round."""
        found = parse(self.method.model, {**self._values(), "population": population})
        assert isinstance(found, SearchAlgorithm)
        return found

    def _values(self) -> dict[str, Any]:
        typed = values_typed(self.menu.belonging(self.method), self.cleaned_data)
        return typed | {"population": self.cleaned_data.get("population") or self.usual_population}

    def _stop(self) -> tuple[Any, ...]:
        """Rules of which the first setting was typed."""
        rules = []
        for model, settings in self.menu.stops.values():
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
                self.add_error(name, self._even(sentence(message)) if name == "population" else sentence(message))
            return None

    def _even(self, text: str) -> str:
        even = self.menu.worded("Type an even number: here lineups compete in twos.")
        return even if "multiple of 2" in text else text


def typed_of_method(menu: Menu, study: Mapping[str, Any]) -> dict[str, Any]:
    """The form's texts that would give the method, the noise and the rules of a study (as JSON)."""
    algorithm = study.get("algorithm", {})
    method = menu.methods.get(algorithm.get("kind", menu.usual))
    if method is None:
        return {}
    settings = [s for s in menu.belonging(method) if s.key in algorithm]
    found = typed_of(settings, algorithm) | typed_of([*menu.noise, *menu.racing], study.get("noise", {}))
    for rule in study.get("stop", []):
        if rule["kind"] in menu.stops:
            first, *others = menu.stops[rule["kind"]][1]
            found |= {first.name: field_text(rule[first.key]), **typed_of(others, rule)}
    return {menu.choice: method.kind, **found}
