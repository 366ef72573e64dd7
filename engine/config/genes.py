"""Settings that evolution may choose: a number is fixed, a range ``[low, high]`` is a gene (Lamarckian's best idea).

``[low, high, log]`` or ``[low, high, linear]`` sets the scale of the search. Without it the field's declaration
decides; otherwise a range above 0 that spans at least two powers of ten is searched on a log scale.

    class Training(Config):
        rate: Annotated[Number, Evolvable(0, 1, above=True, log=True)] = Field(1e-3, title="Learning rate")

Where code reads a field only after ``express`` has replaced ranges, declare ``Annotated[float, Evolvable(0, 1)]``;
``express(config, {})`` raises an error if a range is left.

``genes`` finds every range in a configuration, however deep, and ``express`` puts numbers in their places.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, get_args, get_origin

from pydantic import GetCoreSchemaHandler
from pydantic_core import PydanticCustomError, core_schema

from engine.config.base import SEARCHED, Config, KeyPath, M, parse
from engine.config.field_paths import annotation_of, leaves
from engine.config.kinds_apart import refuse_quoted
from engine.errors import ConfigError
from engine.text import figures

Scale = Literal["linear", "log"]
Number = float | tuple[float, float] | tuple[float, float, Scale]
"""A fixed number, or a range. Write ``Annotated[Number, Evolvable(low, high)]``."""
Whole = int | tuple[int, int] | tuple[int, int, Scale]
"""The same for integers, with ``Evolvable(low, high, whole=True)``."""
_DECADES = 100.0
RANGED = ", or a range [low, high]"


LEAST = 1.2e-38
"""How far a number must be above 0 where it may not be 0: learners have float32."""


class Evolvable(NamedTuple):
    """Bounds of a field that may be a range, ends included; ``above``: a fixed number may not equal the lower bound
    (one drawn from a range never does). ``log``: default scale of a range; None: by its span."""

    low: float
    high: float
    whole: bool = False
    above: bool = False
    log: bool | None = None

    @property
    def ge(self) -> float:
        """The lower bound, under annotated_types' name, so that forms can read every field in the same way."""
        return self.low

    @property
    def le(self) -> float:
        """The upper bound."""
        return self.high

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self.checked)

    def __get_pydantic_json_schema__(self, schema: core_schema.CoreSchema, handler: Any) -> dict[str, Any]:
        number = {"type": "integer" if self.whole else "number", "minimum": self.low, "maximum": self.high}
        if self.above:
            number["exclusiveMinimum"] = number.pop("minimum")
        scale = {"enum": ["linear", "log"]}
        ends = {"type": "array", "prefixItems": [number, number, scale], "minItems": 2, "maxItems": 3}
        return {"anyOf": [number, ends], "x-range": True}

    def checked(self, value: Any) -> Any:
        """The value as a number, or as a tuple if it is a range. Raises PydanticCustomError for an invalid one."""
        if not isinstance(value, list | tuple):
            return self._number(value)
        if len(value) not in (2, 3):
            raise _wrong("a range is a list of a lowest and a highest number")
        low, high = (self._number(v, ranged=True) for v in value[:2])
        if not low < high:
            raise _wrong(f"a range runs from low to high, not from {figures(low)} to {figures(high)}")
        if len(value) == 2:
            return low, high
        if value[2] not in ("linear", "log"):
            raise _wrong("a range is searched linear or log")
        if value[2] == "log" and low <= 0:
            raise _wrong("a range that is searched by its logarithm starts above 0")
        return low, high, value[2]

    def _number(self, value: Any, ranged: bool = False) -> float:
        if isinstance(value, str):
            refuse_quoted(value)
        try:
            found = float("nan") if isinstance(value, bool | str) else float(value)
        except (TypeError, ValueError, OverflowError):
            found = float("nan")
        if found != found or (self.whole and not found.is_integer()):
            raise _wrong(f"must be a {'whole ' if self.whole else ''}number", RANGED)
        if found > self.high or found < self.low or (self.above and not ranged and found == self.low):
            raise _wrong(
                f"must be {'above' if self.above else 'at least'} {figures(self.low)} and at most {figures(self.high)}"
            )
        if self.above and self.low < found < self.low + LEAST:
            raise _wrong("is so near to zero that a learner would take it for zero")
        return int(found) if self.whole else found


class OpenSetting(Evolvable):
    """For a setting that may be any JSON value, such as a game's own: a list of numbers is a range, one of integers if
    both ends are."""

    def __get_pydantic_json_schema__(self, schema: core_schema.CoreSchema, handler: Any) -> dict[str, Any]:
        texts = {"type": "array", "items": {"type": "string"}}
        plain = {"anyOf": [{"type": "boolean"}, {"type": "number"}, {"type": "string"}, texts]}
        ends = {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}, {"enum": ["linear", "log"]}]}
        return {"anyOf": [plain, {**ends, "minItems": 2, "maxItems": 3}], "x-range": True}

    def checked(self, value: Any) -> Any:
        """The value; a range as a tuple of its ends, a list of texts as a tuple."""
        if isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
            return value
        if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
            return tuple(value)
        if isinstance(value, list | tuple):
            whole = all(isinstance(end, int) for end in value[:2])
            return Evolvable(self.low, self.high, whole).checked(value)
        raise _wrong("must be true or false, a number or a range [low, high], text, or a list of texts")


class Gene(NamedTuple):
    """One range: its path, its ends, and the scale of its search; ``tied``: ranges that take the same value."""

    path: KeyPath
    low: float
    high: float
    log: bool = False
    whole: bool = False
    tied: tuple[KeyPath, ...] = ()

    @property
    def place(self) -> str:
        """The dotted path."""
        return ".".join(str(part) for part in self.path)


def genes(config: Config) -> tuple[Gene, ...]:
    """Every range of a configuration, in the order of its fields."""
    return tuple(_genes(config, type(config), ()))


def express(config: M, values: Mapping[str, float]) -> M:
    """The same configuration with a number (``values`` by place) in place of each range. Raises ConfigError for a place
    that is not a range, a range without a number, and a number that its field does not allow."""
    found = {gene.place: gene for gene in genes(config)}
    wrong = [(place, "this is not left open as a range") for place in values.keys() - found.keys()]
    wrong += [(place, "this is a range, and no number was given for it") for place in found.keys() - values.keys()]
    if wrong:
        raise ConfigError(sorted(wrong))
    data = config.model_dump()
    for place, value in values.items():
        gene = found[place]
        for path in (gene.path, *gene.tied):
            _put(data, path, round(value) if gene.whole else float(value))
    return parse(type(config), data)


def _put(at: Any, path: KeyPath, number: float) -> None:
    for part in path[:-1]:
        if isinstance(at[part], tuple):
            at[part] = list(at[part])
        at = at[part]
    at[path[-1]] = number


def _genes(value: Any, annotation: Any, path: KeyPath) -> Iterator[Gene]:
    """Ranges in a value; ``annotation`` says which tuples are ranges and which are lists of something."""
    if isinstance(value, Config):
        tied = {(*path, *one): (*path, *other) for one, other in value.tied().items()}
        for name in type(value).model_fields:
            for gene in _genes(getattr(value, name), annotation_of(type(value), name), (*path, name)):
                if gene.path not in tied:
                    also = tuple(one for one, other in tied.items() if other == gene.path)
                    yield gene._replace(tied=gene.tied + also)
    elif isinstance(value, Mapping):
        inner = [get_args(leaf)[1] for leaf, _ in leaves(annotation) if len(get_args(leaf)) == 2]
        for key, item in value.items():
            yield from _genes(item, inner[0] if inner else Any, (*path, key))
    elif isinstance(value, tuple | list):
        marker = _evolvable(annotation)
        if marker is not None and isinstance(value, tuple) and _is_range(value):
            yield _gene(value, marker, path)
            return
        inner = [get_args(leaf)[0] for leaf, _ in leaves(annotation) if get_args(leaf)]
        for i, item in enumerate(value):
            yield from _genes(item, inner[0] if inner else Any, (*path, i))


def _is_range(value: tuple[Any, ...]) -> bool:
    return bool(value) and isinstance(value[0], int | float)


def _gene(value: tuple[Any, ...], marker: Evolvable, path: KeyPath) -> Gene:
    low, high = value[:2]
    spans = low > 0 and high >= _DECADES * low
    log = value[2] == "log" if len(value) == 3 else spans if marker.log is None else marker.log and low > 0
    return Gene(path, low, high, log, isinstance(low, int) and isinstance(high, int))


def _evolvable(annotation: Any) -> Evolvable | None:
    """The field's declaration of ranges; None for a field that may not be one."""
    found = list(leaves(annotation))
    for _, metadata in found:
        for item in metadata:
            if isinstance(item, Evolvable):
                return item
    kinds = [leaf for leaf, _ in found]
    for number in (float, int):
        if number in kinds and any(get_origin(k) is tuple and get_args(k) == (number, number) for k in kinds):
            return Evolvable(float("-inf"), float("inf"), whole=number is int)
    return None


def _wrong(message: str, or_else: str = "") -> PydanticCustomError:
    """An error; ``or_else``: the alternative in a study that searches the setting."""
    return PydanticCustomError("evolvable", f"{{message}}{{{SEARCHED}}}", {"message": message, SEARCHED: or_else})
