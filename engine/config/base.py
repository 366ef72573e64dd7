"""The base of every configuration model, and the one way a bad one is reported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticCustomError

from engine.errors import ConfigError

M = TypeVar("M", bound="Config")
KeyPath = tuple[str | int, ...]
_BELOW = "below"


class Config(BaseModel):
    """Frozen, closed (an unknown key is an error), JSON both ways."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def tied(self) -> Mapping[KeyPath, KeyPath]:
        """Ranges that always take the number of another range (``engine.config.genes``): path to path, from here."""
        return {}


_WORDS = {
    "extra_forbidden": "there is no such setting",
    "missing": "this is needed",
    "finite_number": "must be an ordinary number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "string_too_short": "must not be empty",
    "string_too_long": "must have {max_length} characters at most",
    "string_pattern_mismatch": "must look like {pattern}",
    "literal_error": "must be one of {expected}",
    "enum": "must be one of {expected}",
    "greater_than_equal": "must be {ge:g} or more",
    "greater_than": "must be more than {gt:g}",
    "less_than_equal": "must be {le:g} or less",
    "less_than": "must be less than {lt:g}",
    "multiple_of": "must be a multiple of {multiple_of:g}",
    "too_short": "must have at least {min_length}",
    "too_long": "must have {max_length} at most",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be a table of settings",
    "model_type": "must be a table of settings",
    "model_attributes_type": "must be a table of settings",
    "union_tag_invalid": "its kind must be one of {expected_tags}",
    "union_tag_not_found": "its kind must be said",
}
"""What people read in place of pydantic's own words, by the type of the error."""


def parse(model: type[M], data: Mapping[str, Any]) -> M:
    """Check ``data`` against ``model``. Raises ConfigError with every problem at once, each with its place."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ConfigError(problems(error, data)) from error


def problems(error: ValidationError, data: Any) -> list[tuple[str, str]]:
    """(dotted place, sentence) for each thing pydantic found wrong with ``data``."""
    found = []
    for item in error.errors(include_url=False):
        below = item.get("ctx", {}).get(_BELOW, "")
        found.append((".".join(filter(None, (_place(item["loc"], data), below))), words(item)))
    return found


def misplaced(place: str, message: str) -> PydanticCustomError:
    """What a validator of a whole model raises when one setting, at a place below it, is to blame."""
    return PydanticCustomError("misplaced", "{message}", {"message": message, _BELOW: place})


def words(item: Mapping[str, Any]) -> str:
    """What is wrong, for people, of one of pydantic's errors."""
    given = item.get("input")
    if item["type"].startswith(("float_", "int_")) and _like_a_range(given):
        return "must be one number: only settings of task.learner, in a study of kind evolve, may be ranges"
    said = _WORDS.get(item["type"])
    if said is None:
        return str(item["msg"]).removeprefix("Value error, ")
    text = said.format(**item.get("ctx", {})).replace("'", "")
    shown = (
        isinstance(given, str | int | float) and "{" not in said and item["type"] not in ("missing", "extra_forbidden")
    )
    return f"{text}, not {str(given)[:40]!r}" if shown and str(given) else text


def _like_a_range(given: Any) -> bool:
    ends = list(given[:2]) if isinstance(given, list | tuple) and len(given) in (2, 3) else []
    return bool(ends) and all(isinstance(end, int | float) for end in ends)


def _place(loc: tuple[int | str, ...], data: Any) -> str:
    """The location without the tags that pydantic puts in for a model chosen by its ``kind``."""
    parts: list[str] = []
    for part in loc:
        if isinstance(data, Mapping) and part not in data and part == data.get("kind"):
            continue
        parts.append(str(part))
        if isinstance(data, Mapping):
            data = data.get(part)
        elif isinstance(data, list | tuple) and isinstance(part, int) and part < len(data):
            data = data[part]
    return ".".join(parts)
