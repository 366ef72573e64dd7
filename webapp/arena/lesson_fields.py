"""Lesson by lesson, who plays whom: the rows of a course's form for its lessons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

from django import forms

from engine.catalog import built_in
from engine.config.lessons import Measure
from webapp.arena import typed
from webapp.games.fields import NumberField
from webapp.lib.digits import whole
from webapp.lib.names import NameField
from webapp.lib.words import number
from webapp.training.games import Offer

HELD = 40
"""Lessons that the form has room for; a file or a program may name more."""
POOL, KEEP, BEST = "pool", "keep", "best"
THEN = [
    (POOL, "All who learn join the earlier selves, to be played against later"),
    (KEEP, "All are kept as they are"),
    (BEST, "The best of all who learn in it goes on in place of the others"),
]
FIELDS = ("title", "who", "settings", "steps", "until", "only", "times", "then", "copies")
PLACES = {
    "matches": "who", "settings": "settings", "steps": "steps", "until": "until", "frozen": "only", "times": "times",
    "after.best": "then", "after.pool": "then", "after.fork": "copies", "title": "title",
}  # fmt: skip
"""Fields by places of a lesson."""


class DecisionsField(NumberField):
    """So many decisions: the box shows 1,000,000 and not 1000000."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(whole=True, low=1, high=10**12, required=False, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        many = value if isinstance(value, int) else whole(str(value or ""))
        return value if many is None else number(many)


def fields(many: int, offer: Offer | None) -> dict[str, Any]:
    """The fields of so many lessons in a game."""
    return {name: field for i in range(1, many + 1) for name, field in _of(i, offer).items()}


def rows_sent(sent: Mapping[str, Any]) -> int:
    """Lessons that were sent, or that a form begins with, also empty ones; at least one."""
    return max((i for i in range(1, HELD + 1) if any(name_of(field, i) in sent for field in FIELDS)), default=1)


def rows_filled(sent: Mapping[str, Any]) -> int:
    """The same without empty ones at the end."""
    rows = ((i, {field: sent.get(name_of(field, i)) for field in FIELDS}) for i in range(1, HELD + 1))
    return max((i for i, texts in rows if filled(texts)), default=1)


def filled(texts: Mapping[str, Any]) -> bool:
    """Whether anything of a lesson is typed; what happens after it is always chosen."""
    return any(text for field, text in texts.items() if field != "then")


def measure(offer: Offer | None) -> Measure:
    """What the condition of a lesson is about: wins or, in a game that nobody wins, the score."""
    known = built_in(offer.name) if offer else None
    return "score" if known is not None and known.without_wins else "win"


def _until(i: int, offer: Offer | None) -> NumberField:
    label, said = f"Lesson {i} ends once the first who learns", "of its last 100 battles."
    if measure(offer) == "win":
        return NumberField(
            label=f"{label} wins", low=0, high=100, unit="%", required=False, help_text=f"{said[0].upper()}{said[1:]}"
        )
    return NumberField(label=f"{label} scores", required=False, help_text=f"The mean {said} In this game nobody wins.")


def _of(i: int, offer: Offer | None) -> dict[str, Any]:
    def text(label: str, said: str = "") -> forms.CharField:
        return forms.CharField(label=label, max_length=typed.LONGEST, required=False, help_text=said)

    found: dict[str, Any] = {
        "title": NameField(120, label=f"What lesson {i} is called", required=False),
        "who": text(f"Who plays whom in lesson {i}", "Such as: main vs old, main vs random."),
        "settings": text(
            f"Settings of the game in lesson {i}", "Names with values. For one match in parentheses: main vs old (…)."
        ),
        "steps": DecisionsField(label=f"Decisions of lesson {i} at most"),
        "until": _until(i, offer),
        "only": text(f"Who only plays in lesson {i}, and learns nothing", "Names, separated by commas."),
        "times": NumberField(label=f"How often lesson {i} is held", whole=True, low=1, high=1000, required=False),
        "then": forms.ChoiceField(label=f"After lesson {i}", choices=THEN, required=False),
        "copies": text(f"Copies after lesson {i}", "Such as: rival from main. Then rival goes on from there."),
    }  # fmt: skip
    return {f"lesson_title{i}" if name == "title" else f"{name}{i}": field for name, field in found.items()}


def set_in(names: Sequence[str]) -> str:
    """What may be typed as settings of a game that has these."""
    if not names:
        return "This game has no settings."
    one = f"main vs old ({names[0]} …)"
    there = ", ".join(names)
    return f"Names with values, separated by commas. This game has {there}. For one match in parentheses: {one}."


def name_of(field: str, i: int) -> str:
    """The name of a field of the ``i``-th lesson, from 1; a study's own title is another field."""
    return f"lesson_title{i}" if field == "title" else f"{field}{i}"


def best_of_one(
    lists: Mapping[int, Mapping[str, Any]], found: Mapping[str, Any], learning: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """(field, sentence) where the best of several is to go on and there are no several in the lesson."""
    for i in (i for i in lists if found.get(f"then{i}") == BEST and "who" in lists[i]):
        there = learns(i, lists[i], found, learning)
        if len(there) < 2:
            who = f"Only {there[0]} learns" if there else "Nobody learns"
            where = " in this lesson" if len(learning) > 1 else ""
            yield (
                f"then{i}",
                f"{who}{where}, so there is no best of several. Let another player learn, too, or choose something "
                "else to happen.",
            )


def learns(i: int, entries: Mapping[str, Any], found: Mapping[str, Any], learning: Sequence[str]) -> list[str]:
    """Those of ``learning`` who play in the ``i``-th lesson and do not only play."""
    only, playing = typed.names(found.get(f"only{i}") or ""), set(_named(entries["who"]))
    return [name for name in learning if name in playing and name not in only]


Wrong = Callable[[str, str], None]


def read(found: Mapping[str, Any], offer: Offer, wrong: Wrong) -> dict[int, dict[str, Any]]:
    """By number of a lesson that says who plays, what is written in it; ``wrong`` is told of what cannot be read."""
    lists: dict[int, dict[str, Any]] = {}
    for i in range(1, rows_filled(found) + 1):
        filled = [field for field in FIELDS if field not in ("who", "then") and found.get(name_of(field, i))]
        if filled and not found.get(f"who{i}", "wrong already"):
            wrong(f"who{i}", f"Say who plays whom in lesson {i}, or leave all of it empty.")
        if text := found.get(f"who{i}"):
            readers = (("who", lambda text: typed.matches(text, offer)), ("settings", typed.settings),
                       ("copies", typed.copies))  # fmt: skip
            texts = {"who": text, "settings": found[f"settings{i}"], "copies": found[f"copies{i}"]}
            lists[i] = {}
            for field, reader in readers:
                try:
                    lists[i][field] = reader(texts[field])
                except ValueError as error:
                    wrong(f"{field}{i}", str(error))
    return lists


def lesson(
    i: int, entries: Mapping[str, Any], found: Mapping[str, Any], learning: Sequence[str], as_one: Set[str],
    offer: Offer,
) -> dict[str, Any]:  # fmt: skip
    """A lesson as a body of the API has it; ``entries``: what was read of it, ``learning``: all who learn, ``as_one``:
    who steers whole sides as one where no list says otherwise."""
    listed = str(found[f"who{i}"]).lstrip().startswith("[")
    matches = entries["who"] if listed else [_by_teams(match, as_one, offer.squad) for match in entries["who"]]
    only = typed.names(found[f"only{i}"])
    values = {
        "title": found[f"lesson_title{i}"], "matches": matches, "settings": entries["settings"],
        "steps": found[f"steps{i}"], "times": found[f"times{i}"], "frozen": only,
    }  # fmt: skip
    then = found[f"then{i}"] or POOL
    ends: dict[str, dict[str, Any]] = {
        POOL: {"pool": learning},
        BEST: {"best": {"among": learns(i, entries, found, learning)}},
        KEEP: {},
    }
    after = {**ends[then], "fork": entries["copies"]}
    first = _first(entries["who"], [name for name in learning if name not in only])
    condition = _condition(found[f"until{i}"], first, measure(offer))
    return {name: value for name, value in values.items() if value} | condition | {"after": after}


def _condition(until: float | None, policy: str, what: Measure) -> dict[str, Any]:
    """The condition of a lesson, where there is one: wins in per cent, or a score."""
    if until is None or not policy:
        return {}
    reached = {"reaches": until / 100} if what == "win" else {"measure": what, "reaches": until}
    return {"until": {"policy": policy, **reached}}


def _by_teams(match: Any, as_one: Set[str], squad: int) -> Any:
    """A match that was typed side by side, with those sides in brackets that are steered as one."""
    if isinstance(match, dict):
        return {**match, "who": _by_teams(match["who"], as_one, squad)}
    sides = [match[at : at + squad] for at in range(0, len(match), squad)]
    return [entry for side in sides for entry in ([side] if squad > 1 and side[0] in as_one else side)]


def _named(matches: Sequence[Any]) -> Iterator[str]:
    """All names in matches, in order."""
    for match in matches:
        for entry in match["who"] if isinstance(match, dict) else match:
            yield from (str(name) for name in (entry if isinstance(entry, list) else [entry]))


def _first(matches: Sequence[Any], learning: Sequence[str]) -> str:
    """Who is named first of those that learn; the first of these where none is."""
    named = (name for name in _named(matches) if name in learning)
    return [*named, *learning, ""][0]


def typed_of(config: Mapping[str, Any], offer: Offer, as_one: Set[str]) -> dict[str, Any]:
    """What would have to be typed for the lessons of a study, as far as there is room; ``as_one``: as for
    ``lesson``."""
    found: dict[str, Any] = {}
    for i, each in enumerate(config["lessons"][:HELD], 1):
        until, after = each["until"], each["after"]
        values = {
            "title": each["title"], "who": _who(each["matches"], offer, as_one),
            "settings": typed.settings_words(each["settings"]), "steps": each["steps"],
            "until": "" if until is None else _reached(until), "only": ", ".join(each["frozen"]),
            "times": "" if each["times"] == 1 else each["times"],
            "then": BEST if after["best"] else POOL if after["pool"] else KEEP,
            "copies": typed.copies_words(after["fork"]),
        }  # fmt: skip
        found |= {name_of(field, i): value for field, value in values.items()}
    return found


def _who(matches: Sequence[Mapping[str, Any]], offer: Offer, as_one: Set[str]) -> str:
    """A match list as it would be typed: side by side where that says the same."""
    apart = [{**match, "who": _apart(match["who"], as_one)} for match in matches]
    text = typed.match_list(apart, offer)
    if text.startswith("["):
        return typed.in_brackets(matches)
    again = [_by_teams(match, as_one, offer.squad) for match in typed.matches(text, offer)]
    same = [match["who"] if isinstance(match, dict) else match for match in again] == [one["who"] for one in matches]
    return text if same else typed.in_brackets(matches)


def _apart(who: Sequence[Any], as_one: Set[str]) -> list[Any]:
    """Entries without the brackets of those who are steered as one anyway."""
    found: list[Any] = []
    for entry in who:
        found += entry if isinstance(entry, list) and as_one >= {*map(str, entry)} else [entry]
    return found


def _reached(until: Mapping[str, Any]) -> float:
    """Wins in per cent, or a score."""
    return round((100 if until["measure"] == "win" else 1) * until["reaches"], 9)
