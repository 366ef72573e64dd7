"""Studies as data: what YAML, the forms, the API and the command line write, parsed by its kind.

Where something is wrong, the rest is read as if that had been left out, again and again: what is wrong with several
settings together shows only once each of them can be read. So everybody is told of all mistakes at once. Of a range
both ends are left out, for one alone might not go with the usual other. Where something is missing then, its place
stands in for it, which does for a name; only what cannot be read with that either is left out with what is around it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from operator import is_
from typing import Any, NamedTuple

from engine.catalog import STUDIES, declared_ends
from engine.config.base import UNKNOWN, Study, parse
from engine.config.evolve import KNOWN_ENDS, EvolveConfig
from engine.config.sound_goals import equal, out_of_reach
from engine.errors import ConfigError

Wrong = list[tuple[str, str]]
USUAL = "search"
"""The kind of a study that names none."""
LAYERS = 20
"""How often the rest is read again, at most."""
MANY = 1000
"""Mistakes after which it is not: who sends so many mends these first."""


class Reading(NamedTuple):
    """What was read: the study, and what is wrong with it. Where something is, the study has usual settings in these
    places, and is only good for finding more that is wrong; None where it cannot do without them."""

    study: Study | None
    wrong: Wrong


def load(data: Mapping[str, Any], *, new: bool = False) -> Study:
    """The study that ``data`` describes; ``new``: it is being written now and was not saved before (see ``parse``).
    Raises ConfigError that lists every problem with its field path."""
    study, wrong = reading(data, new=new)
    if wrong or study is None:
        raise ConfigError(wrong)
    return study


def reading(data: Mapping[str, Any], *, new: bool = False) -> Reading:
    """The study that ``data`` describes, and everything that is wrong with it, each with its field path."""
    # gone: places that were left out; named: those of them that then stood in for what was missing
    rest, wrong, gone, named = data, Wrong(), set[str](), set[str]()
    for _ in range(LAYERS):
        try:
            study = _parsed(rest, new=new)
            return Reading(study, wrong or [*(study.wrong_if_new() if new else ())])
        except ConfigError as error:
            problems = [*_of_the_kind(error.problems)]
        news = elsewhere([*wrong, *((place, "") for place in gone)], problems)
        wrong += [(place, why) for place, why in news if not _names_any(why, gone)]
        if len(wrong) > MANY or any(_is_wrong_kind(*problem) for problem in problems):
            break  # of another kind: the rest would be judged as if it were meant for that
        again = {place for place, _ in problems} & gone - named
        places = {end for place, _ in problems if place not in again for end in _ends(_around(place, gone))}
        less = _without_all(_with_names(rest, again), places)
        if less is rest:
            break
        rest, gone, named = less, gone | places, named | again
    return Reading(None, wrong)


def elsewhere(wrong: Iterable[tuple[str, str]], more: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Those of ``more`` that are not about a place where something is wrong already, or about what is in it or around
    it."""
    places = {place for place, _ in wrong}
    around = {part for place in places for part in _onto(place)}
    for place, why in more:
        if place not in around and places.isdisjoint(_onto(place)):
            yield place, why


def _onto(place: str) -> Iterator[str]:
    """The parts that a place is in, the outermost first, and itself."""
    yield from accumulate(place.split("."), "{}.{}".format)


def _of_the_kind(problems: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Without settings that are unknown because the ``kind`` beside them is wrong: they may be another kind's."""
    tables = {place.removesuffix("kind").removesuffix(".") for place, why in problems if _is_wrong_kind(place, why)}
    for place, why in problems:
        if why != UNKNOWN or tables.isdisjoint(("", *_onto(place))):
            yield place, why


def _is_wrong_kind(place: str, why: str) -> bool:
    """Whether a part is of no such kind, which decides what else it may say; in a part that has no kinds, a ``kind`` is
    a setting like any other that it does not have."""
    return why != UNKNOWN and f".{place}".endswith(".kind")


def _names_any(why: str, gone: Collection[str]) -> bool:
    """Whether a sentence names something that was left out: it may only be missing because of that."""
    return any(repr(place.rpartition(".")[2]) in why for place in gone)


def _around(place: str, gone: Collection[str]) -> str:
    """The smallest part around a place that was not left out yet: something else may be missing without it."""
    while place and place in gone:
        place = place.rpartition(".")[0]
    return place


def _ends(place: str) -> Iterator[str]:
    """A place, and the other end where it is one end of a range."""
    yield place
    for mine, other in (("_min", "_max"), ("_max", "_min")):
        if place.endswith(mine):
            yield place.removesuffix(mine) + other


def _with_names(data: Mapping[str, Any], places: Iterable[str]) -> Mapping[str, Any]:
    """The settings with each of these places, which are missing, as what is there."""
    for place in sorted(places):
        data = _placed(data, place.split("."), place)
    return data


def _placed(part: Any, path: Sequence[str], value: str) -> Any:
    """A part of the settings with a value at a path; itself where there is no room for it."""
    first, *rest = path
    if isinstance(part, list | tuple) and first.isdecimal() and int(first) < len(part):
        at = int(first)
        return [*part[:at], _placed(part[at], rest, value) if rest else value, *part[at + 1 :]]
    if not isinstance(part, Mapping) or (rest and first not in part):
        return part
    return {**part, first: _placed(part[first], rest, value) if rest else value}


class _Gone(dict[str, "_Gone"]):
    """Places by their first parts; ``whole``: all that is here."""

    whole = False


def _without_all(data: Mapping[str, Any], places: Iterable[str]) -> Mapping[str, Any]:
    """The settings without what is at these places; themselves where nothing is there. With an item its list goes."""
    gone = _Gone()
    for place in places:
        at = gone
        for part in place.split("."):
            at = at.setdefault(part, _Gone())
        at.whole = True
    found: Mapping[str, Any] = _without(data, gone)
    return found


def _without(part: Any, gone: _Gone) -> Any:
    if not gone:
        return part
    if isinstance(part, list | tuple):
        less = [_without(item, gone.get(str(i), _Gone())) for i, item in enumerate(part)]
        return part if all(map(is_, less, part)) else less
    if not isinstance(part, Mapping):
        return part
    found = {}
    for key, inner in part.items():
        below = gone.get(key, _Gone())
        of_list = isinstance(inner, list | tuple) and any(each.whole for each in below.values())
        if not below.whole and not of_list:
            found[key] = _without(inner, below)
    return part if len(found) == len(part) and all(map(is_, found.values(), part.values())) else found


def _parsed(data: Mapping[str, Any], *, new: bool) -> Study:
    """The study. Raises ConfigError for what the models find first."""
    if not isinstance(data, Mapping):
        raise ConfigError([("", "a study is a table of settings; see engine/README.md for an example")])
    kind = data.get("kind", USUAL)
    if not isinstance(kind, str) or kind not in STUDIES:
        raise ConfigError([("kind", f"its kind must be one of {', '.join(STUDIES)}, not {str(kind)[:40]!r}")])
    study = parse(STUDIES[kind].config, {**data, "kind": kind, **_chosen(STUDIES[kind].config, data)}, new=new)
    if new and isinstance(study, EvolveConfig):
        _check_goals(study)
    return study


def _check_goals(study: EvolveConfig) -> None:
    """Raises ConfigError for bounds of goals beyond what the game declares, and for goals that prefer the same within
    it; what holds in any game is checked with the settings themselves."""
    declared = declared_ends(study.task.game.name)
    own = {name: ends for name, ends in declared.items() if name not in KNOWN_ENDS}
    found = [*out_of_reach(study.objectives, own), *equal(study.objectives, {**KNOWN_ENDS, **declared})]
    if wrong := [(f"objectives.{place}", why) for place, why in found]:
        raise ConfigError(wrong)


def _chosen(config: type[Study], data: Mapping[str, Any]) -> dict[str, Any]:
    """The ``algorithm`` table, with the study's default kind where it names none."""
    algorithm, field = data.get("algorithm"), config.model_fields.get("algorithm")
    if not isinstance(algorithm, Mapping) or field is None:
        return {}
    usual: Any = field.get_default(call_default_factory=True)
    return {"algorithm": {**usual.model_dump(include={"kind"}), **algorithm}}
