"""A learner of a study: the name of a preset, a preset with changed settings, or settings of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from engine.config.rl import PRESETS, A3CConfig, AnyLearner


def merged(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """``base`` overridden by the settings of ``own``, nested tables included."""
    found = dict(base)
    for key, value in own.items():
        inner = found.get(key)
        found[key] = merged(inner, value) if isinstance(inner, Mapping) and isinstance(value, Mapping) else value
    return found


def preset(given: Any, offered: Iterable[str] = PRESETS) -> Any:
    """A validator: expands a preset's name, or settings that name a preset as their base. ``offered``: the presets that
    are named where there is none of this name."""
    name = given if isinstance(given, str) else given.get("preset") if isinstance(given, Mapping) else None
    if name is None:
        return given
    if not isinstance(name, str) or name not in PRESETS:
        raise ValueError(f"there is no preset {name!r}; there are {', '.join(offered)}")
    own = {} if isinstance(given, str) else {key: value for key, value in given.items() if key != "preset"}
    return merged(PRESETS[name].model_dump(), own)


def without_weights(given: Any) -> Any:
    """A learner as it is given, without the weights of rewards that only its preset has."""
    own = given if isinstance(given, Mapping) else {"preset": given}
    name = own.get("preset")
    if not isinstance(name, str) or name not in PRESETS:
        return given
    return {**preset(given), "rewards": own.get("rewards", {})}


Learner = Annotated[AnyLearner, Field(discriminator="kind"), BeforeValidator(preset)]
A3CLearner = Annotated[A3CConfig, BeforeValidator(preset)]
"""For studies whose learners must be A2C."""
