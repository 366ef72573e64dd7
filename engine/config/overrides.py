"""Single settings from the command line, put into a study's table: ``algorithm.population=50``, ``stop.0=…``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from engine.errors import ConfigError

_SHORT = {"game": "name", "learner": "preset"}
"""What a text stands for where it is written in place of such a table."""
_PART = re.compile(r'"([^"]+)"|([^."]+)')
_POWER = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$")


class _Loader(yaml.SafeLoader):
    """Takes 1e-4 for the number that it is in YAML 1.2; 1.1 has it as text."""


_Loader.add_implicit_resolver("tag:yaml.org,2002:float", _POWER, list("-+0123456789"))


def read(text: str) -> Any:
    """What a YAML or JSON text says. Raises yaml.YAMLError, also for what holds itself or is nested too deep."""
    try:
        return _copied(yaml.load(text, _Loader))
    except RecursionError as error:
        raise yaml.YAMLError("its tables are nested too deep, or hold themselves") from error


def overridden(data: Mapping[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """The table with each ``path=value`` in it, in a new one. The value is YAML, a range ``[low, high]`` included.
    Raises ConfigError for each that cannot be put anywhere."""
    values: list[tuple[str, Any]] = []
    wrong: list[tuple[str, str]] = []
    for setting in settings:
        path, sign, text = setting.partition("=")
        try:
            if not sign or not path.strip():
                raise ValueError("write it as path=value, such as algorithm.population=50")
            values.append((path.strip(), read(text)))
        except (ValueError, yaml.YAMLError) as error:
            wrong.append((path.strip() or "-m", " ".join(str(error).split())))
    try:
        found = placed(data, values)
    except ConfigError as error:
        raise ConfigError([*wrong, *error.problems]) from error
    if wrong:
        raise ConfigError(wrong)
    return found


def placed(data: Mapping[str, Any], values: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The table with each (path, value) in it, in a new one. Parts of a path are separated by dots, and a part that has
    dots stands in double quotes. Raises ConfigError for each that cannot be put anywhere."""
    found: dict[str, Any] = _copied(data)
    wrong: list[tuple[str, str]] = []
    for path, value in values:
        try:
            _put(found, _parts(path), value)
        except ValueError as error:
            wrong.append((path, str(error)))
    if wrong:
        raise ConfigError(wrong)
    return found


def _parts(path: str) -> list[str]:
    parts = [quoted or plain for quoted, plain in _PART.findall(path)]
    if not parts or ".".join(f'"{p}"' if "." in p else p for p in parts) != path:
        raise ValueError('this is no path: parts are separated by dots, as in game.patch."warhorn.cost"')
    return parts


def _put(at: Any, parts: Sequence[str], value: Any) -> None:
    """Tables that are missing on the way are made; lists have to be there."""
    for depth, part in enumerate(parts):
        key: Any = part
        if isinstance(at, list):
            if not part.isdecimal() or int(part) >= len(at):
                raise ValueError(f"{'.'.join(parts[:depth])} is a list of {len(at)}; there is no {part} in it")
            key = int(part)
        elif not isinstance(at, dict):
            raise ValueError(f"{'.'.join(parts[:depth])} is no table of settings")
        if depth == len(parts) - 1:
            at[key] = value
        else:
            if key in _SHORT and isinstance(at, dict) and isinstance(at.get(key), str):
                at[key] = {_SHORT[key]: at[key]}
            at = at[key] if isinstance(at, list) else at.setdefault(key, {})


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list | tuple) else value
