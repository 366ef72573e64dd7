"""Strict booleans: true and false are not numbers, and nothing else is true or false.

By default pydantic reads ``true`` as 1, and 1 as true, so a misplaced value would be accepted silently.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pydantic_core import PydanticKnownError, core_schema

_PLAIN = frozenset({"default", "metadata", "ref", "expected"})
"""Keys of a schema that contain no further schemas."""


def told_apart(schema: core_schema.CoreSchema, model: type) -> core_schema.CoreSchema:
    """The schema of ``model``, changed so that only boolean fields accept true and false. Models inside it have been
    changed already."""
    found: core_schema.CoreSchema = _each(schema, partial(_refusing, model))
    return found


def _each(node: Any, change: Callable[[Any], Any]) -> Any:
    """``node`` with each schema in it changed."""
    if isinstance(node, dict):
        return {key: each if key in _PLAIN else change(each) for key, each in node.items()}
    if isinstance(node, list | tuple):
        return type(node)(map(change, node))
    return node


def _refusing(model: type, node: Any) -> Any:
    kind = node.get("type") if isinstance(node, dict) else None
    if kind == "model" and node["cls"] is not model:
        return node
    if kind == "bool":
        return {**node, "strict": True}
    if kind == "int":
        return core_schema.no_info_before_validator_function(_no_int, node)
    if kind == "float":
        return core_schema.no_info_before_validator_function(_no_float, node)
    return _each(node, partial(_refusing, model))


def _no_int(value: Any) -> Any:
    if isinstance(value, bool):
        raise PydanticKnownError("int_type")
    return value


def _no_float(value: Any) -> Any:
    if isinstance(value, bool):
        raise PydanticKnownError("float_type")
    return value
