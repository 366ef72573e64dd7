"""Objectives as a form: one part an objective, added, removed and moved by buttons, checked field by field."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from django import forms

from engine import formula as formulas
from engine.config import FAIRNESS, ObjectiveSetConfig, parse
from engine.errors import ConfigError
from engine.formula_functions import FUNCTIONS, PICKERS, REDUCERS
from engine.lineups.schema import unreachable_lines, variables
from engine.simulators.contract import GameSpec
from webapp.balance.forms import sentence
from webapp.balance.samples import on_made_up
from webapp.games.fields import NumberField
from webapp.games.numbers import field_text
from webapp.lib.digits import whole
from webapp.lib.names import NameField, wrong_name
from webapp.lib.words import number

MOST = 6
NAME, TITLE, MUST_HOLD = 80, 60, 4000
"""Most characters of a set's name, of an objective's title, and of all that must hold."""
FIELDS = ("title", "formula", "unit", "direction", "toward", "low", "high", "threshold", "name")
NO_NUMBER = (
    "The formula gives no number on any of {count} made-up lineups, such as after a division by zero. "
    "Divide by max(…, a small number) instead."
)
Raw = dict[str, str]
"""One objective as texts, as typed."""


def checked(
    text: str, spec: GameSpec, teams: int, read: Callable[..., formulas.Formula] = formulas.parse
) -> formulas.Formula:
    """The formula over this game's numbers. Raises ConfigError that names the position, or says that the formula
    never gives a number."""
    team, lineup = variables(spec, teams)
    formula = read(text, set(team), set(lineup))
    sample = on_made_up(formula, None, spec, teams)
    if sample.odd == sample.lineups:
        raise ConfigError([("formula", NO_NUMBER.format(count=sample.lineups))])
    return formula


class ObjectiveForm(forms.Form):
    """One objective. ``formula`` is checked against the game's own numbers and kept as ``parsed``."""

    title = NameField(TITLE, label="Title", help_text="Stands at the axis, such as “Resource advantage”.")
    formula = forms.CharField(
        label="Formula",
        max_length=formulas.LONGEST,
        widget=forms.Textarea(
            attrs={"rows": 2, "spellcheck": "false", "class": "formula", "autocapitalize": "none", "data-formula": ""}
        ),
    )
    unit = forms.CharField(label="Unit", max_length=16, required=False, help_text="Such as ×, %, points.")
    direction = forms.ChoiceField(
        label="The search looks for", choices=[("max", "high values"), ("min", "low values")], initial="max"
    )
    toward = forms.CharField(
        label="Further right means", max_length=40, required=False, help_text="Such as “more unfair” or “stronger”."
    )
    low = NumberField(label="Floor", required=False, help_text="Lower values count as this.")
    high = NumberField(label="Cap", required=False, help_text="Higher values count as this.")
    threshold = NumberField(label="The line", required=False, help_text="At it or beyond, a lineup is over the line.")
    name = forms.CharField(
        label="Short name",
        max_length=40,
        required=False,
        help_text="For files and the command line. Empty: made from the title.",
        widget=forms.TextInput(attrs={"class": "code", "autocapitalize": "none", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, spec: GameSpec, teams: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.spec, self.teams = spec, teams
        self.parsed: formulas.Formula | None = None

    def clean_formula(self) -> str:
        text: str = self.cleaned_data["formula"]
        try:
            self.parsed = checked(text, self.spec, self.teams, formulas.goal)
        except ConfigError as error:
            raise forms.ValidationError([p.message for p in error.problems]) from error
        return text

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip() or short_name(self.cleaned_data.get("title", ""))
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name):
            raise forms.ValidationError("A short name is lower-case letters, digits and _, and begins with a letter.")
        return name

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        low, high = cleaned.get("low"), cleaned.get("high")
        if low is not None and high is not None and low >= high:
            self.add_error("low", f"The floor ({number(low)}) must be below the cap ({number(high)}).")
        return cleaned


def short_name(title: str) -> str:
    """``Weakest team’s strength left`` becomes ``weakest_teams_strength_left``."""
    word = re.sub(r"[^a-z0-9]+", "_", title.casefold().replace("'", "").replace("’", "")).strip("_")[:40]
    return word if word[:1].isalpha() and word.isascii() else f"objective_{word}".strip("_")[:40]


class ObjectiveSetForm:
    """A whole set: its name, its objectives in order, what must hold, and which one says how strong a team is."""

    def __init__(
        self, spec: GameSpec, teams: int, name: str, objectives: list[Raw], constraints: str = "", strength: int = -1
    ) -> None:
        self.spec, self.teams = spec, teams
        self.name, self.raw, self.constraints, self.strength = name, objectives, constraints, strength
        self.focus = -1
        self.errors: dict[str, list[str]] = {}
        self.config: ObjectiveSetConfig | None = None
        self.forms = [
            ObjectiveForm(initial=raw, prefix=f"o{i}", spec=spec, teams=teams) for i, raw in enumerate(objectives)
        ]

    @classmethod
    def of(cls, config: ObjectiveSetConfig, spec: GameSpec, teams: int, name: str) -> ObjectiveSetForm:
        """The form of a saved set."""
        raws = [{key: _text(getattr(o, key)) for key in FIELDS} for o in config.objectives]
        strength = next((i for i, o in enumerate(config.objectives) if o.strength), -1)
        return cls(spec, teams, name, raws, "\n".join(config.constraints), strength)

    @classmethod
    def typed(cls, data: Mapping[str, str], spec: GameSpec, teams: int) -> ObjectiveSetForm:
        """The form as it was sent, after the button that adds, removes or moves an objective."""
        count = min(MOST, _index(data.get("count", "0")))
        raws = [{key: data.get(f"o{i}-{key}", "") for key in FIELDS} for i in range(max(0, count))]
        strength = _index(data.get("strength", ""))
        raws, strength, focus = _acted(raws, strength, data.get("action", ""))
        name = data.get("set_name", "").strip()
        form = cls(spec, teams, name, raws, data.get("constraints", ""), strength)
        form.focus = focus
        return form

    def check(self) -> bool:
        """Bind every field and build ``config``; False when something is wrong, said at its field."""
        self.forms = [
            ObjectiveForm(
                {f"o{i}-{key}": text for key, text in raw.items()}, prefix=f"o{i}", spec=self.spec, teams=self.teams
            )
            for i, raw in enumerate(self.raw)
        ]
        if not self.name:
            self._error("set_name", "Give the set a name, such as “Fairness”.")
        elif why := wrong_name(self.name, NAME):
            self._error("set_name", why)
        if not self.forms:
            self._error("", "At least one objective is needed. Add one, or start from fairness.")
        lines = [line.strip() for line in self.constraints.splitlines() if line.strip()]
        self._check_constraints(lines)
        valid = all([form.is_valid() for form in self.forms])
        valid = self._check_names() and valid
        if not valid or self.errors:
            return False
        plain = [{**form.cleaned_data, "strength": i == self.strength} for i, form in enumerate(self.forms)]
        try:
            self.config = parse(ObjectiveSetConfig, {"objectives": plain, "constraints": lines}, new=True)
        except ConfigError as error:
            for place, message in error.problems:
                self._place(place, sentence(message))
            return False
        for place, message in unreachable_lines(self.spec, self.config, self.teams):
            self._place(place.removeprefix("objectives."), sentence(message))
            self.config = None
        return self.config is not None

    def _check_names(self) -> bool:
        """Whether every objective has a short name of its own; said at each that has another's."""
        seen: dict[str, int] = {}
        for i, form in enumerate(self.forms):
            name = form.cleaned_data.get("name")
            if name and name in seen:
                form.add_error(
                    "name", f"Objective {seen[name] + 1} has this short name ({name}) already. Type another."
                )
            elif name:
                seen[name] = i
        return not any("name" in form.errors for form in self.forms)

    def _check_constraints(self, lines: list[str]) -> None:
        if len(self.constraints) > MUST_HOLD:
            self._error(
                "constraints", f"This has {len(self.constraints):,} characters, and {MUST_HOLD:,} are the most."
            )
            return
        for i, line in enumerate(lines, start=1):
            try:
                checked(line, self.spec, self.teams)
            except ConfigError as error:
                for p in error.problems:
                    self._error("constraints", f"Line {i}: {p.message}")

    def _place(self, place: str, message: str) -> None:
        parts = place.split(".")
        at = whole(parts[1]) if len(parts) >= 2 and parts[0] == "objectives" else None
        if at is not None:
            field = parts[2] if len(parts) > 2 and parts[2] in FIELDS else None
            self.forms[at].add_error(field, message)
        else:
            self._error("constraints" if parts[0] == "constraints" else "", message)

    def _error(self, field: str, message: str) -> None:
        self.errors.setdefault(field, []).append(message)

    @property
    def whole(self) -> list[str]:
        """What is wrong with the set as a whole."""
        return self.errors.get("", [])

    @property
    def name_errors(self) -> list[str]:
        return self.errors.get("set_name", [])

    @property
    def constraint_errors(self) -> list[str]:
        return self.errors.get("constraints", [])

    @property
    def full(self) -> bool:
        return len(self.raw) >= MOST

    @property
    def wrong(self) -> int:
        """How many fields need a look."""
        return sum(len(form.errors) for form in self.forms) + len(self.errors)


def _text(value: object) -> str:
    return "" if value is None else field_text(value) if isinstance(value, float | int) else str(value)


def _index(text: str) -> int:
    return -1 if (found := whole(text, 999)) is None else found


def _acted(raws: list[Raw], strength: int, action: str) -> tuple[list[Raw], int, int]:
    """The objectives after a button (``add``, ``remove:1``, ``up:1``, ``down:1``): which is the strength now, and to
    which the eyes and the keyboard should go (-1: none)."""
    verb, _, text = action.partition(":")
    at = _index(text)
    order, focus = list(range(len(raws))), -1
    if verb == "add" and len(raws) < MOST:
        raws, order, focus = [*raws, {"direction": "max"}], [*order, -1], len(raws)
    elif verb == "remove" and 0 <= at < len(raws):
        order.pop(at)
        focus = min(at, len(order) - 1)
    elif verb == "up" and 0 < at < len(raws):
        order[at - 1 : at + 1], focus = [at, at - 1], at - 1
    elif verb == "down" and 0 <= at < len(raws) - 1:
        order[at : at + 2], focus = [at + 1, at], at + 1
    moved = [raws[i] for i in order]
    return moved, order.index(strength) if strength in order else -1, focus


def fairness(spec: GameSpec) -> ObjectiveSetConfig:
    """The preset in the names this game uses for strength and resources."""
    names = {"strength": spec.strength, "resources": spec.resources}

    def renamed(text: str) -> str:
        return re.sub(r"\b(strength|resources)(?=\b|_vs_|_first\b|_second\b)", lambda m: names[m[1]], text)

    objectives = [{**o.model_dump(), "formula": renamed(o.formula)} for o in FAIRNESS.objectives]
    return parse(ObjectiveSetConfig, {"objectives": objectives})


def functions() -> list[tuple[str, str]]:
    """The functions a formula may use, each with what it gives."""
    found = [(f"{name}(…)", words) for name, (_, words) in PICKERS.items()]
    found += [(f"{name}(…)", words) for name, (_, words) in REDUCERS.items()]
    known = {*PICKERS, *REDUCERS}
    return found + [(f"{name}(…)", f[3]) for name, f in FUNCTIONS.items() if name not in known]
