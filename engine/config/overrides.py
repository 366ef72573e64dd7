"""Single settings from the command line, put into a study's table: ``algorithm.population=50``, ``stop.0=…``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from engine.errors import ConfigError

MOST_VALUES = 1_000_000
"""In one study; a line of aliases in YAML can stand for any number."""
_SHORT = {"game": "name", "learner": "preset"}
"""Tables that may be abbreviated to a text, and the key that the text stands for."""
_PART = re.compile(r'"([^"]+)"|([^."]+)')
_POWER = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$")


class _Loader(yaml.SafeLoader):
    """Reads 1e-4 as a number, as in YAML 1.2; in 1.1 it is text. Refuses a key that stands twice in one table, of which
    the first would be dropped without a word."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """A table as it is written."""
        node = super().compose_mapping_node(anchor)
        seen = set[tuple[str, str]]()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in seen:
                    why = f"{key.value} stands twice in one table: leave one of the two out"
                    raise yaml.MarkedYAMLError(problem=why, problem_mark=key.start_mark)
                seen.add((key.tag, key.value))
        return node


def _whole(loader: _Loader, node: yaml.ScalarNode) -> int:
    """A whole number. In YAML 1.1, and only there, 010 is 8 and 1:30 is 90: whoever writes these may mean something
    else."""
    digits = node.value.lstrip("+-").replace("_", "")
    if ":" in digits or (len(digits) > 1 and digits.isdecimal() and digits.startswith("0")):
        why = f"{node.value} can be read in two ways: write the number without zeros in front, or the text in quotes"
        raise yaml.MarkedYAMLError(problem=why, problem_mark=node.start_mark)
    return int(loader.construct_yaml_int(node))


def _text(loader: _Loader, node: yaml.ScalarNode) -> str:
    """A text. JSON escapes a character beyond the first 65,536, such as an emoji, as two halves; YAML reads each for
    itself."""
    text: str = loader.construct_yaml_str(node)
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError as error:
        why = "half of a character: write the character itself"
        raise yaml.MarkedYAMLError(problem=why, problem_mark=node.start_mark) from error


_Loader.add_constructor("tag:yaml.org,2002:int", _whole)
_Loader.add_constructor("tag:yaml.org,2002:str", _text)
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", _POWER, list("-+0123456789"))


def read(text: str) -> Any:
    """The value of a YAML or JSON text. Raises yaml.YAMLError, also for recursive, too deeply nested or too many
    values."""
    try:
        loaded = yaml.load(text, _Loader)
        if _values(loaded, MOST_VALUES) > MOST_VALUES:
            raise yaml.YAMLError(f"it holds more than {MOST_VALUES:,} values once its aliases are written out")
        return _copied(loaded)
    except RecursionError as error:
        raise yaml.YAMLError("its tables are nested too deep, or hold themselves") from error
    except ValueError as error:  # a date without a day, a number of more digits than Python reads
        raise yaml.YAMLError(f"one of its values is none: {error}") from error


def overridden(data: Mapping[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """A copy of the table with each ``path=value`` set. Values are YAML, such as a range ``[low, high]``. Raises
    ConfigError for every path that cannot be set."""
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
    """A copy of the table with each (path, value) set. Parts of a path are separated by dots; a part that contains dots
    is in double quotes. Raises ConfigError for every path that cannot be set."""
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
    """Set a value at a path; creates missing tables on the way, but not lists."""
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


def _values(value: Any, most: int) -> int:
    """How many values a table holds, aliases written out; some number above ``most`` where there are more."""
    count, parts = 1, value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for part in parts:
        count += _values(part, most - count)
        if count > most:
            break
    return count


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list | tuple) else value
