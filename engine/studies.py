"""Studies as data: what YAML, the forms, the API and the command line write, parsed by its kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.catalog import STUDIES, declared_ends
from engine.config.base import Study, parse
from engine.config.evolve import KNOWN_ENDS, EvolveConfig
from engine.config.sound_goals import out_of_reach
from engine.errors import ConfigError

USUAL = "search"
"""The kind of a study that names none."""


def load(data: Mapping[str, Any], *, new: bool = False) -> Study:
    """The study that ``data`` describes; ``new``: it is being written now and was not saved before (see ``parse``).
    Raises ConfigError that lists every problem with its field path."""
    if not isinstance(data, Mapping):
        raise ConfigError([("", "a study is a table of settings; see engine/README.md for an example")])
    kind = data.get("kind", USUAL)
    if not isinstance(kind, str) or kind not in STUDIES:
        raise ConfigError([("kind", f"its kind must be one of {', '.join(STUDIES)}, not {str(kind)[:40]!r}")])
    study = parse(STUDIES[kind].config, {**data, "kind": kind, **_chosen(STUDIES[kind].config, data)}, new=new)
    if new and isinstance(study, EvolveConfig):
        _check_bounds(study)
    return study


def _check_bounds(study: EvolveConfig) -> None:
    """Raises ConfigError for bounds of goals beyond what the game declares; what holds in any game is checked with the
    settings themselves."""
    declared = declared_ends(study.task.game.name)
    own = {name: ends for name, ends in declared.items() if name not in KNOWN_ENDS}
    if wrong := [(f"objectives.{place}", why) for place, why in out_of_reach(study.objectives, own)]:
        raise ConfigError(wrong)


def _chosen(config: type[Study], data: Mapping[str, Any]) -> dict[str, Any]:
    """The ``algorithm`` table, with the study's default kind where it names none."""
    algorithm, field = data.get("algorithm"), config.model_fields.get("algorithm")
    if not isinstance(algorithm, Mapping) or field is None:
        return {}
    usual: Any = field.get_default(call_default_factory=True)
    return {"algorithm": {**usual.model_dump(include={"kind"}), **algorithm}}
