"""Strict booleans and numbers: true, false and texts are not numbers, and nothing else is true or false.

By default pydantic reads ``true`` and ``"1"`` as 1, and 1 as true, so a misplaced value would be accepted silently.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pydantic_core import PydanticCustomError, PydanticKnownError, core_schema

_PLAIN = frozenset({"default", "metadata", "ref", "expected"})
"""Keys of a schema that contain no further schemas."""


def with_strict_kinds(schema: core_schema.CoreSchema, model: type) -> core_schema.CoreSchema:
    """The schema of ``model``, changed so that only boolean fields accept true and false, and fields of numbers no
    texts. Models inside it have been changed already."""
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
    if isinstance(value, str):
        refuse_quoted(value)
        raise PydanticKnownError("int_parsing")
    return value


def _no_float(value: Any) -> Any:
    if isinstance(value, bool):
        raise PydanticKnownError("float_type")
    if isinstance(value, str):
        refuse_quoted(value)
        raise PydanticKnownError("float_parsing")
    return value


def refuse_quoted(text: str) -> None:
    """Raise PydanticCustomError if the text is a number in quotation marks."""
    try:
        float(text)
    except ValueError:
        return
    raise PydanticCustomError(
        "quoted_number", "must be a number, without quotation marks: {text}", {"text": text.strip()[:40]}
    )
