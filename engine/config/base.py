"""The base of every configuration model, and the reporting of invalid configurations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
    ValidationInfo,
)
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

from engine.config.field_paths import written
from engine.config.kinds_apart import with_strict_kinds
from engine.errors import ConfigError
from engine.text import figures, shown

M = TypeVar("M", bound="Config")
KeyPath = tuple[str | int, ...]
_BELOW, _BESIDE = "below", "beside"
SEARCHED = "searched"
_NEW = "new"


def newly_written(info: ValidationInfo) -> bool:
    """Whether what is validated is newly written (``parse``): what was saved earlier is accepted as it is."""
    return bool((info.context or {}).get(_NEW))


def _seen(text: str, info: ValidationInfo) -> str:
    return shown(text) if newly_written(info) else text


Shown = Annotated[str, AfterValidator(_seen)]
"""A title or a name, which must be visible. Configurations saved earlier are accepted as they are; only newly written
ones are refused (``parse``)."""


FARTHEST = 1e15
"""Numbers beyond this are taken for typing errors; formulas do not accept them either."""


def _ordinary(value: float, info: ValidationInfo) -> float:
    if newly_written(info) and abs(value) > FARTHEST:
        raise ValueError(f"must be between {figures(-FARTHEST)} and {figures(FARTHEST)}")
    return value


Ordinary = Annotated[float, AfterValidator(_ordinary)]
"""A number that formulas can handle. As with ``Shown``, only newly written ones are refused."""


class Config(BaseModel):
    """Frozen and closed (an unknown key is an error); converts to and from JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return with_strict_kinds(handler(source), cls)

    def tied(self) -> Mapping[KeyPath, KeyPath]:
        """Ranges that always take the value of another range (``engine.config.genes``): path to path, relative to this
        model."""
        return {}


class Study(Config):
    """Fields of every kind of study (``engine.catalog.STUDIES``). ``no_ranges``: why none of its settings may be a
    range, if so. ``asks_what_is_meant``: where its ``intended`` says nothing, it is what people mean to be so when it
    starts. ``of_a_build``: its game has numbers of its own, not those of a version."""

    no_ranges: ClassVar[str] = ""
    asks_what_is_meant: ClassVar[bool] = False
    of_a_build: ClassVar[bool] = False
    kind: str
    name: Shown
    seed: int
    tensorboard: bool = Field(
        False, title="TensorBoard log", description="curves of the study in the folder tensorboard of its own folder",
        exclude_if=lambda wanted: not wanted,
    )  # fmt: skip

    @property
    def repeats(self) -> bool:
        """Whether the same seed gives the same end, whoever is faster and wherever it was interrupted."""
        return not getattr(self, "minutes", 0)

    def wrong_if_new(self) -> Iterator[tuple[str, str]]:
        """(place, sentence) of what is refused where it is newly written, and accepted where it was saved. Asked once
        nothing else is wrong: what is left out for being wrong may look so."""
        yield from ()

    def without_places(self, data: dict[str, Any]) -> dict[str, Any]:
        """The study as JSON, without where its processes meet: whoever goes on elsewhere goes on with the same one."""
        return data

    def meant(self, patterns: Sequence[Any]) -> tuple[Any, ...]:
        """Of the patterns that people mean to be so, those that this study takes for that, as its ``intended`` has
        them."""
        return tuple(patterns)


UNKNOWN = "there is no such setting"
_WORDS = {
    "extra_forbidden": UNKNOWN,
    "missing": "this is needed",
    "finite_number": "must be an ordinary number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must have fewer digits",
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
    "greater_than_equal": "must be {ge} or more",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be {le} or less",
    "less_than": "must be less than {lt}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "too_short": "must have at least {min_length}",
    "too_long": "must have {max_length} entries at most",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be a table of settings",
    "model_type": "must be a table of settings",
    "model_attributes_type": "must be a table of settings",
    "union_tag_invalid": "its kind must be one of {expected_tags}",
    "union_tag_not_found": "its kind must be said",
}
"""Messages for people in place of pydantic's own, by type of error."""
_HASH = "must be the 64 letters and digits of a store hash"
_LOOKS = {"^[0-9a-f]{64}$": _HASH, "^([0-9a-f]{64})?$": _HASH}
"""Likewise, by pattern."""
_ONE_NUMBER = {
    "a search cannot choose its own settings; start one for each number and compare them": (
        "algorithm", "ticks", "noise", "stop", "networks", "network_noise",
    ),
    "candidates can only be compared where all are measured alike": (
        "seed", "episodes", "fresh", "replicates", "objectives", "first", "count",
    ),
    "a search for lineups is about one version of the game and one set of rules": ("game", "lineups"),
    "where the work is done changes no result": ("pool",),
}  # fmt: skip
"""Reasons why a setting may not be a range, with the settings of a study that each applies to."""


def parse(model: type[M], data: Mapping[str, Any], *, new: bool = False) -> M:
    """Validate ``data`` as a ``model``; ``new``: it is newly written, so names must be ``Shown``. Raises ConfigError
    with all problems at once, each with its place."""
    try:
        return model.model_validate(data, context={_NEW: new})
    except ValidationError as error:
        raise ConfigError(problems(error, data, model)) from error


def problems(error: ValidationError, data: Any, annotation: Any) -> list[tuple[str, str]]:
    """(dotted place, sentence) for each of pydantic's errors in ``data``, which is validated as ``annotation``."""
    found: list[tuple[str, str]] = []
    settled = getattr(annotation, "no_ranges", "")
    for item in error.errors(include_url=False):
        if _follows(item):
            continue
        place, reading = _place(item, annotation)
        place = place or ("kind" if item["type"].startswith("union_tag") else "")
        message = words(item, settled or _why_one(place))
        if settled:  # its settings may be those that other studies search
            message = message.removesuffix(item.get("ctx", {}).get(SEARCHED, ""))
        if reading and found and found[-1][0] == place:
            found[-1] = place, f"{found[-1][1]}, or {message}"
        else:
            found.append((place, message))
    return found


MOST_REFUSED = 100
"""Problems that one validator reports; whoever mends so many asks again."""


def refuse(wrong: Iterable[tuple[str, str]], *, beside: bool = False) -> None:
    """In a validator: report the (place, sentence) problems in ``wrong``, together with those of other validators.
    Places are relative to the validated value or, if ``beside``, to the model whose field it is."""
    where = _BESIDE if beside else _BELOW
    details = [
        InitErrorDetails(
            type=PydanticCustomError("refused", "{message}", {"message": message, where: place}), input=None
        )
        for place, message in islice(wrong, MOST_REFUSED)
    ]
    if details:
        raise ValidationError.from_exception_data("refused", details)


def words(item: Mapping[str, Any], why_one: str = "") -> str:
    """The message for people of one of pydantic's errors; ``why_one``: why a number there may not be a range."""
    given = item.get("input")
    single = item["type"].startswith(("float_", "int_")) or (why_one and item["type"] == "evolvable")
    if single and _like_a_range(given):
        return f"must be one number: {why_one}" if why_one else "must be one number"
    said = _LOOKS.get(item.get("ctx", {}).get("pattern", ""), _WORDS.get(item["type"]))
    if said is None:
        return str(item["msg"]).removeprefix("Value error, ")
    bounds = {
        key: figures(each) if isinstance(each, int | float) else each for key, each in item.get("ctx", {}).items()
    }
    text = said.format(**bounds).replace("'", "")
    shown = (
        isinstance(given, str | int | float) and "{" not in said and item["type"] not in ("missing", "extra_forbidden")
    )
    return f"{text}, not {_as_written(given)[:40]!r}" if shown and str(given) else text


def _as_written(given: Any) -> str:
    return str(given).lower() if isinstance(given, bool) else str(given)


def _like_a_range(given: Any) -> bool:
    ends = list(given[:2]) if isinstance(given, list | tuple) and len(given) in (2, 3) else []
    return len(ends) == 2 and all(isinstance(end, int | float) for end in ends)


def _why_one(place: str) -> str:
    first = place.partition(".")[0]
    return next((why for why, settings in _ONE_NUMBER.items() if first in settings), "")


def _follows(item: Mapping[str, Any]) -> bool:
    """Whether it is a consequence of other errors: a list is too short because some of its items are invalid."""
    given = item.get("input")
    return (
        item["type"] == "too_short"
        and isinstance(given, list | tuple)
        and len(given) >= item.get("ctx", {}).get("min_length", 0)
    )


def _place(item: Mapping[str, Any], annotation: Any) -> tuple[str, bool]:
    """The dotted path of an error, and whether it concerns one of several alternatives of a union."""
    context = item.get("ctx", {})
    location = item["loc"][:-1] if _BESIDE in context else item["loc"]
    place, reading = written(location, annotation)
    return ".".join(filter(None, (place, context.get(_BELOW) or context.get(_BESIDE)))), reading
