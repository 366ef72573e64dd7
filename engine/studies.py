"""Studies as data: what YAML, the forms, the API and the command line write, read by its kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.catalog import STUDIES
from engine.config.base import Study, parse
from engine.errors import ConfigError

USUAL = "search"
"""The kind of a study that says none."""


def load(data: Mapping[str, Any], *, new: bool = False) -> Study:
    """The study that ``data`` describes; ``new``: somebody writes it now (``parse``), it is none that was kept. Raises
    ConfigError listing every problem, each at its place."""
    if not isinstance(data, Mapping):
        raise ConfigError([("", "a study is a table of settings; see engine/README.md for an example")])
    kind = data.get("kind", USUAL)
    if not isinstance(kind, str) or kind not in STUDIES:
        raise ConfigError([("kind", f"its kind must be one of {', '.join(STUDIES)}, not {str(kind)[:40]!r}")])
    return parse(STUDIES[kind].config, {**data, "kind": kind, **_chosen(STUDIES[kind].config, data)}, new=new)


def _chosen(config: type[Study], data: Mapping[str, Any]) -> dict[str, Any]:
    """The algorithm, of the study's usual kind where its table says none."""
    algorithm, field = data.get("algorithm"), config.model_fields.get("algorithm")
    if not isinstance(algorithm, Mapping) or field is None:
        return {}
    usual: Any = field.get_default(call_default_factory=True)
    return {"algorithm": {**usual.model_dump(include={"kind"}), **algorithm}}
