"""What a search for changes may change, and how long it looks: the form, and what the API takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from django import forms

from engine.config.patch import BESIDE, FEWEST_CHANGES, FIRST, FURTHER, MOST_CHANGES, PatchConfig
from engine.errors import ConfigError
from engine.lineups.named import unknown
from engine.simulators.contract import GameSpec
from webapp.accounts.models import User
from webapp.games.fields import NumberField
from webapp.games.specs import patched_spec
from webapp.games.versions import current
from webapp.lib.first import first
from webapp.studies import checks
from webapp.studies.models import Job
from webapp.studies.pinned_intake import PinnedIntake
from webapp.studies.pins import Pins
from webapp.studies.study_form import StudyForm
from webapp.worth.asking import pace

MATTERS, LARGEST = 3, 50
FEWEST = int(first(m.ge for m in PatchConfig.model_fields["battles"].metadata if hasattr(m, "ge")))
BOTH = "cost,attributes"
MAY = [(BOTH, "Prices and what pieces do"), ("cost", "Prices alone"), ("attributes", "What pieces do alone")]


class PatchIntake(PinnedIntake):
    """How the site starts searches for changes."""

    def unfit(self, study: PatchConfig, pins: Pins) -> Iterator[tuple[str, str]]:
        """What is wrong with its rules, and with the pieces that it names."""
        yield from checks.lineups(study.pairings, pins.spec)
        yield from unknown(study, pins.spec)


class PatchForm(StudyForm):
    """What may change, and how much; what is left empty is as usual."""

    folded: ClassVar[tuple[str, ...]] = (
        "intended", "categories", "fixed", "most", "largest", "matters", "battles", "seed", "title",
    )  # fmt: skip
    tells = True
    suspects = forms.CharField(
        label="What is to be mended", required=False, strip=False,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
        help_text="One a line: a piece, or two with a plus between them. What is found unfair on the way is mended, "
        "too, so this may stay empty.",
    )  # fmt: skip
    intended = forms.CharField(
        label="What is meant to be so", required=False, strip=False,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
        help_text="One a line, as above: left alone, however unfair it is. Where nothing is typed, what was "
        "decided to be intended.",
    )  # fmt: skip
    may = forms.ChoiceField(label="What may change", choices=MAY, initial=BOTH, required=False)
    categories = forms.MultipleChoiceField(
        label="Of which kinds of pieces", required=False,
        widget=forms.CheckboxSelectMultiple(attrs={"class": "form-check-input"}), help_text="None ticked: of all.",
    )  # fmt: skip
    fixed = forms.CharField(
        label="Pieces that stay as they are", required=False, strip=False,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}), help_text="One a line.",
    )  # fmt: skip
    rules = forms.BooleanField(
        label="A rule may keep two pieces apart", required=False, initial=True,
        help_text="Offered where two pieces are unfair only together.",
    )  # fmt: skip
    most: Any = NumberField(
        label="Changes at most",
        whole=True,
        low=1,
        high=MOST_CHANGES,
        required=False,
        usual=f"{BESIDE} more than lines above",
        help_text=f"Others may be found on the way; as a rule {FEWEST_CHANGES} at least.",
    )
    largest: Any = NumberField(
        label="Largest change of a number", low=1, high=100, required=False, unit="%", usual=LARGEST,
        help_text="Of its range, and but for prices also of what it is now.",
    )  # fmt: skip
    matters: Any = NumberField(
        label="Smallest effect that matters (points)", low=0.5, high=40, required=False, usual=MATTERS,
        help_text="Points of the chance to win.",
    )  # fmt: skip
    battles: Any = NumberField(
        label="Battles at most", whole=True, low=FEWEST, high=100_000_000, required=False, usual=f"{FIRST:,} or more",
        help_text=f"As a rule {FIRST:,}, and {FURTHER:,} more for each further suspect and for each piece of a pair: "
        "all of them are measured anew.",
    )  # fmt: skip
    seed: Any = NumberField(
        label="Seed", whole=True, low=0, required=False, usual=1, help_text="The same seed, the same changes."
    )

    def prepare(self) -> None:
        version = current(self.project)
        self.spec: GameSpec | None = None
        try:
            self.spec = patched_spec(version) if version else None
        except ConfigError:
            self.spec = None  # the intake says what is lost
        categories = self.spec.categories if self.spec else ()
        self.offer("categories", ((category.id, category.plural) for category in categories))

    def before(self, study: Any, user: User, **refers: Any) -> dict[str, Any]:
        """How many battles it plays at most, and how long they take here."""
        return {"note": pace(self.project, study.battles)}

    @classmethod
    def typed_of(cls, job: Job) -> dict[str, Any]:
        """Its pieces as people type them; an amount of one cannot be typed."""
        config, version = job.config, job.game_version
        spec = patched_spec(version) if version else None
        names = {piece.id: piece.name for piece in spec.pieces} if spec else {}

        def lines(some: Sequence[Mapping[str, Any]]) -> str:
            typed = (" + ".join(names.get(piece, piece) for piece in each["pieces"]) for each in some)
            return "\n".join(line for line, each in zip(typed, some, strict=True) if each.get("least", 1) == 1)

        numbers = {name: config[name] for name in ("most", "matters", "battles", "seed")}
        return {
            "suspects": lines(config["suspects"]), "intended": lines(config["intended"]),
            "may": ",".join(config["may"]), "categories": config["categories"], "rules": config["rules"],
            "fixed": "\n".join(names.get(piece, piece) for piece in config["fixed"]),
            "largest": 100 * config["largest"], "title": job.title, **numbers,
        }  # fmt: skip

    @classmethod
    def left_out(cls, job: Job) -> bool:
        """Whether it names an amount of a piece."""
        named = [*job.config["suspects"], *job.config["intended"]]
        return any(each.get("least", 1) != 1 for each in named)

    def clean_suspects(self) -> list[dict[str, Any]]:
        """Each as its pieces."""
        return self._several("suspects")

    def clean_intended(self) -> list[dict[str, Any]]:
        """Each as its pieces."""
        return self._several("intended")

    def clean_fixed(self) -> list[str]:
        """Their ids."""
        return [self._pieces([line])[0] for line in _lines(self.cleaned_data["fixed"])]

    def _several(self, field: str) -> list[dict[str, Any]]:
        return [{"pieces": self._pieces(line.split("+"))} for line in _lines(self.cleaned_data[field])]

    def _pieces(self, names: list[str]) -> list[str]:
        known = {name.casefold(): p.id for p in (self.spec.pieces if self.spec else ()) for name in (p.id, p.name)}
        if len(names) > 2:
            raise forms.ValidationError("Two pieces together at most.")
        for name in names:
            if name.strip().casefold() not in known:
                raise forms.ValidationError(f"“{name.strip()[:80]}” is not a piece of this game.")
        return [known[name.strip().casefold()] for name in names]

    def table(self) -> dict[str, Any]:
        """The study, as a body of the API would have it."""
        typed = self.cleaned_data
        values = {"name": typed["title"], **{key: typed[key] for key in ("battles", "matters", "most", "seed")}}
        table = {key: value for key, value in values.items() if value not in (None, "")}
        if typed["largest"] is not None:
            table["largest"] = typed["largest"] / 100
        chosen = {key: typed[key] for key in ("suspects", "intended", "categories", "fixed")}
        return {**table, **chosen, "rules": typed["rules"], "may": (typed["may"] or BOTH).split(",")}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
