"""The kinds of study that can be started here, each as JSON Schema made from the engine's models."""

from __future__ import annotations

from functools import cache
from typing import Any

from engine.catalog import STUDIES
from engine.config.rl import PRESETS

RANGE = "x-range"


@cache
def schema(kind: str) -> dict[str, Any]:
    """JSON Schema of a study of this kind."""
    row = STUDIES[kind]
    found = row.config.model_json_schema()
    if row.genes:
        holder = found["$defs"][found["properties"][row.genes]["$ref"].rpartition("/")[2]]
    else:
        holder = found = _fixed(found)
    if learner := holder["properties"].get("learner"):
        learner["x-presets"] = list(PRESETS)
        learner["description"] = "Or the name of a preset, or {“preset”: name} with other settings beside it."
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found, "$comment": _comment(kind)}


def _comment(kind: str) -> str:
    """Which settings may be ranges."""
    if genes := STUDIES[kind].genes:
        return (
            f"A number marked {RANGE} may be a range [low, high], or [low, high, “log” or “linear”]: a gene. Every "
            f"number below {genes} is; no other may be one, for candidates could not be compared."
        )
    return (
        f"No setting of {STUDIES[kind].called} may be a range: a study of kind evolve searches settings of trainings."
    )


def _fixed(value: Any) -> Any:
    """The schema with numbers alone where an evolvable setting takes a range as well."""
    if isinstance(value, list):
        return [_fixed(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: _fixed(each) for key, each in value.items() if key != RANGE}
    return {**{k: v for k, v in found.items() if k != "anyOf"}, **found["anyOf"][0]} if RANGE in value else found
