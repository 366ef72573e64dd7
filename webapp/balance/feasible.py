"""Whether lineup rules can be met, told at once: every reason against, or what the rules leave to choose from."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache

from engine.config import LineupConfig
from engine.lineups.rules import compile_rules, feasibility, limits
from engine.lineups.schema import spec_from_json, spec_to_json
from engine.lineups.size import Size, space_size
from engine.simulators.contract import GameSpec
from webapp.balance.forms import LineupForm, sentence
from webapp.games.numbers import shown
from webapp.lib.words import number, power_of_ten

_UNLIMITED = 1e8


@dataclass(frozen=True)
class Verdict:
    """``reasons``: (what it is about, sentence); ``facts``: (name, value) when nothing speaks against the rules."""

    reasons: list[tuple[str, str]] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)

    @property
    def feasible(self) -> bool:
        return not self.reasons


def judge(form: LineupForm) -> Verdict:
    """The verdict on a form as it stands: what is wrong with its fields first, then the rules themselves."""
    if not form.is_valid() or form.config is None:
        reasons = [(str(form[name].label) if name in form.fields else "", text)
                   for name, texts in form.errors.items() for text in map(str, texts)]  # fmt: skip
        return Verdict(reasons=reasons)
    found = feasibility(form.spec, form.config)
    if found:
        return Verdict(reasons=[(_label(form, place), sentence(text)) for place, text in found])
    size = space_size(compile_rules(form.spec, form.config))
    if not size.lineups:
        return Verdict(reasons=[("", "Each rule can be met, but not all of them together: no lineup is left. Widen the "
                                     "costs or how far they may differ.")])  # fmt: skip
    return Verdict(facts=[("Lineups that fit", how_many(size)), *_facts(form.spec, form.config)])


def counted(spec: GameSpec, rules: LineupConfig) -> int | None:
    """How many lineups the rules leave, where they are so few that they can be counted; else None. ``rules`` can be
    met, each by itself."""
    return _counted(json.dumps([spec_to_json(spec), rules.model_dump(mode="json")]))


@lru_cache(maxsize=64)
def _counted(key: str) -> int | None:
    spec, rules = json.loads(key)
    size = space_size(compile_rules(spec_from_json(spec), LineupConfig.model_validate(rules)))
    return int(size.lineups) if size.kind == "counted" else None


def how_many(size: Size) -> str:
    """The size of the search space, and how it is known: "1,536", "about 1.1 × 10²³ (1.0 to 1.2 × 10²³, from random
    draws)"."""
    if size.kind == "bound":
        return f"at most {power_of_ten(size.lineups)}; too few to be met by random draws"
    if size.kind == "counted":
        return number(size.lineups) if size.lineups < 10**6 else power_of_ten(size.lineups)
    low, high = power_of_ten(size.low), power_of_ten(size.high)
    mantissa, _, power = low.partition(" × ")
    low = mantissa if power and high.endswith(power) else low
    return f"about {power_of_ten(size.lineups)} ({low} to {high}, from random draws)"


def _label(form: LineupForm, place: str) -> str:
    name = form.field_of(place)
    return str(form[name].label) if name else ""


def _facts(spec: GameSpec, config: LineupConfig) -> list[tuple[str, str]]:
    banned = {*spec.rules.banned, *config.banned}
    used = {slot.category for slot in spec.slots if slot.kind == "piece"}
    facts = []
    for category in spec.categories:
        if category.id in used:
            pieces = [p.id for p in spec.pieces if p.category == category.id]
            allowed = sum(p not in banned for p in pieces)
            all_of = "" if allowed == len(pieces) else f" of {len(pieces)}"
            facts.append((f"{category.plural} to choose from", f"{allowed}{all_of}"))
    (low, fewest), (high, most) = limits(spec, config)
    facts.append(("Cost of a team", _range(low, high)))
    if any(slot.kind == "count" for slot in spec.slots):
        facts.append(("Units in a team", _range(fewest, most)))
    if config.teams > 1:
        share = config.cost_tolerance
        facts.append(
            ("Costs of the teams", "may differ" if share is None else f"within {shown(round(100 * share, 6))} %")
        )
    return facts


def _range(low: float, high: float) -> str:
    if high >= _UNLIMITED or high >= 10**6:
        return f"at least {number(low)}" if low > 0 else "any"
    return f"{number(low)} to {number(high)}" if low > 0 else f"up to {number(high)}"
