"""Lineup rules as a form: the engine's LineupConfig in a designer's words."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.html import escape

from engine.config import LineupConfig, parse
from engine.errors import ConfigError
from engine.simulators.contract import GameSpec
from webapp.balance import teams
from webapp.games.fields import NumberField
from webapp.lib.names import NameField
from webapp.lib.words import number

DRAWN, PASTED = "drawn", "pasted"


class LineupForm(forms.Form):
    """What one lineup is. ``config`` holds the engine's rules once the form is valid."""

    name = NameField(80, label="Name", help_text="Such as “Ranked, three teams”.")
    teams = NumberField(label="Teams compared together", whole=True, low=1, high=8, help_text="One lineup is this many "
                        "teams. They all fight each other and the baseline teams.")  # fmt: skip
    budget_low = NumberField(label="Cost of a team, at least", required=False, low=0)
    budget_high = NumberField(label="Cost of a team, at most", required=False, low=0)
    tolerance = NumberField(
        label="Costs of the teams within", required=False, low=0, high=1000, unit="%",
        help_text="How far the dearest team of a lineup may be above the cheapest: unequal prices are not unfairness. "
        "Empty: prices may differ.",
    )  # fmt: skip
    units_low = NumberField(label="Units in a team, at least", required=False, whole=True, low=0, high=1000)
    units_high = NumberField(label="Units in a team, at most", required=False, whole=True, low=0, high=1000)
    required_pieces = forms.MultipleChoiceField(label="Required pieces", required=False)
    banned_pieces = forms.MultipleChoiceField(label="Banned pieces", required=False)
    apart = forms.CharField(
        label="Not together", required=False,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
        help_text="Two pieces that no team has both of, one pair a line, with a plus between them.",
    )  # fmt: skip
    repeat = forms.MultipleChoiceField(
        label="May stand in several teams of a lineup",
        required=False,
        widget=forms.CheckboxSelectMultiple(attrs={"class": "form-check-input"}),
        help_text="The game does not repeat these within a lineup. Tick what your question allows.",
    )
    baselines = forms.ChoiceField(
        label="Baseline teams",
        choices=[(DRAWN, "Draw mid-strength teams for me"), (PASTED, "My own teams, such as the most-played ones")],
        widget=forms.RadioSelect(attrs={"class": "form-check-input"}),
    )
    count = NumberField(label="How many to draw", required=False, whole=True, low=1, high=32, css="form-control")
    pasted = forms.CharField(
        label="Your teams", required=False, strip=False,
        widget=forms.Textarea(attrs={"rows": 6, "wrap": "off", "spellcheck": "false", "class": "form-control code"}),
    )  # fmt: skip

    def __init__(self, *args: Any, spec: GameSpec, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.spec = spec
        self.config: LineupConfig | None = None
        self.read_teams: teams.TypedTeams | None = None
        pieces = [(p.id, p.name) for p in spec.pieces]
        for field in ("required_pieces", "banned_pieces"):
            self.fields[field].choices = pieces  # type: ignore[attr-defined]  # a choice field
        wide = [r.category for r in spec.rules.distinct if r.scope == "lineup"]
        self.fields["repeat"].choices = [(c, spec.category(c).plural) for c in wide]  # type: ignore[attr-defined]
        if not wide:
            del self.fields["repeat"]
        # Help texts are shown as HTML, and the slots' titles were written by the simulator's author.
        columns = escape(teams.header(spec))
        self.fields["pasted"].help_text = f"One row a team, copied from a spreadsheet. Columns: {columns}."

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        baselines, apart = self._baselines(cleaned), self._apart(cleaned.get("apart", ""))
        names = {p.id: p.name for p in self.spec.pieces}
        both = set(cleaned.get("required_pieces", [])) & set(cleaned.get("banned_pieces", []))
        for piece in sorted(names[i] for i in both):
            self.add_error("required_pieces", f"{piece} is both required and banned. Take it out of one list.")
        for low, high, what in (("budget_low", "budget_high", "cost"), ("units_low", "units_high", "number of units")):
            a, b = cleaned.get(low), cleaned.get(high)
            if a is not None and b is not None and a > b:
                self.add_error(low, f"The lowest {what} ({number(a)}) is above the highest ({number(b)}).")
        if self.errors:
            return cleaned
        tolerance = cleaned["tolerance"]
        try:
            self.config = parse(LineupConfig, {
                "teams": cleaned["teams"],
                "budget_low": cleaned["budget_low"],
                "budget_high": cleaned["budget_high"],
                "cost_tolerance": None if tolerance is None else tolerance / 100,
                "units_low": cleaned["units_low"],
                "units_high": cleaned["units_high"],
                "required": cleaned["required_pieces"],
                "banned": cleaned["banned_pieces"],
                "apart": apart,
                "repeat": cleaned.get("repeat", []),
                "baselines": baselines,
            }, new=True)  # fmt: skip
        except ConfigError as error:
            for place, message in error.problems:
                self.add_error(self.field_of(place), sentence(message))
        return cleaned

    def _baselines(self, cleaned: dict[str, Any]) -> dict[str, Any]:
        if cleaned.get("baselines") != PASTED:
            return {"kind": DRAWN, "count": cleaned.get("count") or 3}
        self.read_teams = teams.read(cleaned.get("pasted", ""), self.spec)
        for problem in self.read_teams.problems[:12]:
            self.add_error("pasted", problem)
        return {"kind": PASTED, "teams": [row.model_dump() for row in self.read_teams.rows]}

    def _apart(self, typed: str) -> list[list[str]]:
        """Pairs of pieces by their ids; each line that is none is told."""
        known = {name.casefold(): p.id for p in self.spec.pieces for name in (p.id, p.name)}
        found = []
        for line in filter(None, map(str.strip, typed.splitlines())):
            pair = [known.get(part.strip().casefold(), "") for part in line.split("+")]
            if len(pair) != 2:
                self.add_error("apart", f"“{line[:80]}” is not two pieces with a plus between them.")
            elif not all(pair):
                part = line.split("+")[pair.index("")].strip()
                self.add_error("apart", f"“{part[:80]}” is not a piece of this game.")
            else:
                found.append(pair)
        return found

    def field_of(self, place: str) -> str | None:
        """The form field of a place in the engine's rules; None for the form as a whole."""
        first = place.removeprefix("lineups.").split(".")[0]
        renamed = {"required": "required_pieces", "banned": "banned_pieces", "cost_tolerance": "tolerance"}
        name = "pasted" if place.startswith("baselines.teams") else renamed.get(first, first)
        return name if name in self.fields else None


def sentence(message: str) -> str:
    """A capital letter in front, a full stop behind."""
    text = message[:1].upper() + message[1:]
    return text if text.endswith((".", "?")) else f"{text}."


def initial(config: LineupConfig, spec: GameSpec, name: str) -> dict[str, Any]:
    """The form's values for rules that exist already."""
    names = {p.id: p.name for p in spec.pieces}
    return {
        "name": name,
        "teams": config.teams,
        "budget_low": config.budget_low,
        "budget_high": config.budget_high,
        "tolerance": None if config.cost_tolerance is None else round(100 * config.cost_tolerance, 10),
        "units_low": config.units_low,
        "units_high": config.units_high,
        "required_pieces": list(config.required),
        "banned_pieces": list(config.banned),
        "apart": "\n".join(" + ".join(names.get(piece, piece) for piece in pair) for pair in config.apart),
        "repeat": list(config.repeat),
        "baselines": config.baselines.kind,
        "count": None if config.baselines.kind == "pasted" else config.baselines.count,
        "pasted": teams.as_text(config.baselines.teams, spec) if config.baselines.kind == "pasted" else "",
    }  # fmt: skip
