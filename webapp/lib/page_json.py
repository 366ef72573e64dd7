"""JSON for pages. Browsers read no "Infinity" and no "NaN": what is no finite number is written as null, which the
scripts tell in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

from django.http import JsonResponse
from django.utils.html import json_script
from django.utils.safestring import SafeString


def finite(value: Any) -> Any:
    """The same with None for every number that is not finite."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: finite(each) for name, each in value.items()}
    return [finite(each) for each in value] if isinstance(value, list | tuple) else value


def written(value: Any) -> str:
    """As short as can be."""
    return json.dumps(finite(value), separators=(",", ":"), allow_nan=False)


def embedded(value: Any, element: str) -> SafeString:
    """In an element of a page, by its id."""
    return json_script(finite(value), element)


class PageJson(JsonResponse):
    """An answer to a script of a page."""

    def __init__(self, data: Mapping[str, Any], status: int = 200) -> None:
        super().__init__(finite(data), status=status, json_dumps_params={"allow_nan": False})
