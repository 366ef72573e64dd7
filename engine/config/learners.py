"""A learner of a study: a preset by its name, settings that differ from one, or settings of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from engine.config.rl import PRESETS, AnyLearner


def merged(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """``base`` with the settings of ``own`` in their places, tables in tables included."""
    found = dict(base)
    for key, value in own.items():
        inner = found.get(key)
        found[key] = merged(inner, value) if isinstance(inner, Mapping) and isinstance(value, Mapping) else value
    return found


def _preset(given: Any) -> Any:
    """A preset's name, or settings with a preset to begin from."""
    name = given if isinstance(given, str) else given.get("preset") if isinstance(given, Mapping) else None
    if name is None:
        return given
    if not isinstance(name, str) or name not in PRESETS:
        raise ValueError(f"there is no preset {name!r}; there are {', '.join(PRESETS)}")
    own = {} if isinstance(given, str) else {key: value for key, value in given.items() if key != "preset"}
    return merged(PRESETS[name].model_dump(), own)


Learner = Annotated[AnyLearner, Field(discriminator="kind"), BeforeValidator(_preset)]
