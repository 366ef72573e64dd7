"""The kinds of study that can be started here, each as JSON Schema made from the engine's models."""

from __future__ import annotations

from functools import cache
from typing import Any

from engine.config import Config, EvolveConfig, SearchConfig, TrainConfig
from engine.config.rl import PRESETS

KINDS: dict[str, type[Config]] = {"search": SearchConfig, "train": TrainConfig, "evolve": EvolveConfig}
RANGE = "x-range"
_RANGES = {
    "search": "No setting of a search for lineups may be a range: it cannot choose its own settings, and it is about "
    "one version of the game.",
    "train": "No setting of one training may be a range: a study of kind evolve searches the settings of its task.",
    "evolve": f"A number marked {RANGE} may be a range [low, high], or [low, high, “log” or “linear”]: a gene. Every "
    "number below task is; no other may be one, for candidates could not be compared.",
}


@cache
def schema(kind: str) -> dict[str, Any]:
    """JSON Schema of a study of this kind."""
    found = KINDS[kind].model_json_schema()
    if kind != "evolve":
        found = _fixed(found)
    holder = found["$defs"]["TaskConfig"] if kind == "evolve" else found
    if learner := holder["properties"].get("learner"):
        learner["x-presets"] = list(PRESETS)
        learner["description"] = "Or the name of a preset, or {“preset”: name} with other settings beside it."
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found, "$comment": _RANGES[kind]}


def _fixed(value: Any) -> Any:
    """The schema with numbers alone where an evolvable setting takes a range as well."""
    if isinstance(value, list):
        return [_fixed(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: _fixed(each) for key, each in value.items() if key != RANGE}
    return {**{k: v for k, v in found.items() if k != "anyOf"}, **found["anyOf"][0]} if RANGE in value else found
