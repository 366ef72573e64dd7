"""Which game, who is there, and lesson by lesson who plays whom: the form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from django import forms
from django.conf import settings

from engine.catalog import GAMES, LEARNERS, PLAYERS
from engine.config import arena_plan
from engine.config.arena import ArenaConfig
from engine.config.courses import PRESETS, Arena
from webapp.accounts.models import User
from webapp.arena import pace, typed
from webapp.balance.forms import sentence
from webapp.games.fields import NumberField
from webapp.lib.words import number
from webapp.studies.models import Job
from webapp.studies.study_form import CardsField, StudyForm
from webapp.training import games
from webapp.training.entrants import script_plays
from webapp.training.games import OFFERS
from webapp.training.learning import crowded

ROWS, HELD = 4, 4
"""Players and lessons that the form has room for; a file or a program may name more."""
OWN = "own"
DECISIONS = 1_000_000
ROUNDING = 25
"""Decisions by which the lessons of a course may be fewer than were asked for."""
LEARN, SCRIPT, PAST, HARDEST = "learn:", "script:", "past", "hardest"
OFFERED = {name: offer.title for name, offer in OFFERS.items() if offer.sides}
"""Games in which several entities play."""
PLANS = {
    **{key: (preset.title, preset.text) for key, preset in PRESETS.items()},
    OWN: ("Lessons of my own", "You say below who is there, and lesson by lesson who plays whom."),
}
PLAYS = [
    ("", "Nobody"),
    *((f"{LEARN}{kind}", f"Learns by {entry.label}") for kind, entry in LEARNERS.items()),
    (PAST, "Earlier selves of all who learn, equally often"),
    (HARDEST, "Earlier selves of all who learn, the hardest most often"),
    *((f"{SCRIPT}{key}", f"Script: {entry.label}") for key, entry in PLAYERS.items()),
]


def _rows() -> dict[str, Any]:
    """The fields of players and of lessons, by name."""
    found: dict[str, Any] = {}
    for i in range(1, ROWS + 1):
        found[f"name{i}"] = forms.CharField(label=f"Name of player {i}", max_length=24, required=False)
        found[f"plays{i}"] = forms.ChoiceField(label=f"What player {i} does", choices=PLAYS, required=False)
    for i in range(1, HELD + 1):
        found[f"who{i}"] = forms.CharField(
            label="Who plays whom", max_length=2000, required=False,
            help_text="Such as: main vs old, main vs random." if i == 1 else "",
        )  # fmt: skip
        found[f"steps{i}"] = NumberField(label="Decisions at most", whole=True, low=1, high=10**12, required=False)
        found[f"until{i}"] = NumberField(
            label="Or until the first one wins", low=0, high=100, unit="%", required=False,
            help_text="Of its last 100 battles." if i == 1 else "",
        )  # fmt: skip
    return found


class ArenaForm(StudyForm):
    """A game, a course to begin with or one's own, and how far."""

    usual: ClassVar[Mapping[str, Any]] = {"game": "pong-two-seats", "plan": "ladder", "learner": "ppo"}
    groups: ClassVar[tuple[tuple[str, tuple[str, ...]], ...]] = (
        ("Which game, and how do they learn?", ("game", "learner", "steps")),
        ("Which course?", ("plan",)),
        ("Lessons of my own: who is there?",
         tuple(f"{name}{i}" for i in range(1, ROWS + 1) for name in ("name", "plays"))),
        *(
            (f"Lessons of my own: lesson {i}", tuple(f"{name}{i}" for name in ("who", "steps", "until")))
            for i in range(1, HELD + 1)
        ),
    )  # fmt: skip
    folded: ClassVar[tuple[str, ...]] = ("copies", "battles", "seed")
    places: ClassVar[Mapping[str, str]] = {
        "game": "game", "copies": "copies", "environments": "battles", "learner": "learner",
        **{f"lessons.{i}.{at}": f"{field}{i + 1}" for i in range(HELD)
           for at, field in (("matches", "who"), ("steps", "steps"), ("until", "until"))},
        **{f"lessons.{i}": f"who{i + 1}" for i in range(HELD)},
    }  # fmt: skip
    game = forms.ChoiceField(label="Game", choices=list(OFFERED.items()))
    learner = forms.ChoiceField(label="Learns by", choices=[(k, e.label) for k, e in LEARNERS.items()], required=False)
    steps: Any = NumberField(
        label="Decisions to learn from", whole=True, low=1, high=10**12, required=False,
        help_text="Of all agents and lessons of a course from the list below.",
    )  # fmt: skip
    plan = CardsField(PLANS, label="Course", initial="ladder")
    copies: Any = NumberField(
        label="Copies of every match", whole=True, low=1, high=4096, required=False,
        help_text="Each plays on a processor of its own.",
    )  # fmt: skip
    battles: Any = NumberField(
        label="Battles of a match that a copy plays together", whole=True, low=1, high=100_000, required=False,
        help_text="8 where nothing is typed.",
    )  # fmt: skip

    def prepare(self) -> None:
        self.fields.update(_rows())
        self.fields["steps"].widget.attrs["placeholder"] = number(DECISIONS)
        self.fields["copies"].widget.attrs["placeholder"] = str(settings.CPUS)

    def clean(self) -> dict[str, Any]:
        """A course needs its game's sides; lessons of one's own need players and matches that can be read."""
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        offer = OFFERS[cleaned["game"]]
        if cleaned["plan"] != OWN:
            preset = PRESETS[cleaned["plan"]]
            if preset.sides > len(offer.sides):
                self.add_error("plan", "This course needs a game with two sides. Choose another game or course.")
            return cleaned
        self._read(offer)
        return cleaned

    def _read(self, offer: games.Offer) -> None:
        """Say what cannot be read, at its field; keep the rest."""
        self.lists: dict[int, list[Any]] = {}
        for i in range(1, HELD + 1):
            if text := self.cleaned_data[f"who{i}"]:
                try:
                    self.lists[i] = typed.matches(text, offer)
                except ValueError as error:
                    self.add_error(f"who{i}", str(error))
        if not self.lists and not self.errors:
            self.add_error("who1", "Say who plays whom in the first lesson.")
        if not any(self.cleaned_data[f"plays{i}"] for i in range(1, ROWS + 1)):
            self.add_error("plays1", "Say who is there: at least one who learns.")

    def table(self) -> dict[str, Any]:
        """The study, as a body of the API would have it."""
        found = self.cleaned_data
        offer = OFFERS[found["game"]]
        chosen = {"kind": found["learner"] or "ppo"}
        if found["plan"] == OWN:
            course = {"roster": dict(self._roster()), "lessons": list(self._lessons())}
        else:
            arena = Arena(len(offer.sides), offer.squad, chosen, script_for(found["game"]), found["steps"] or DECISIONS)
            course = PRESETS[found["plan"]].made(arena)
        return {
            **self.typed(name="title", seed="seed", environments="battles"),
            "game": offer.name, "learner": chosen, "copies": found["copies"] or settings.CPUS, **course,
        }  # fmt: skip

    def _roster(self) -> Iterator[tuple[str, Any]]:
        found = self.cleaned_data
        rows = [(found[f"name{i}"] or f"player-{i}", found[f"plays{i}"]) for i in range(1, ROWS + 1)]
        learning = [name for name, plays in rows if plays.startswith(LEARN)]
        for name, plays in rows:
            if plays in (PAST, HARDEST):
                yield name, {"kind": "pool", "of": learning, "choice": "uniform" if plays == PAST else HARDEST}
            elif plays:
                learner = {"learner": {"kind": plays.removeprefix(LEARN)}}
                yield name, learner if plays.startswith(LEARN) else plays.removeprefix(SCRIPT)

    def _lessons(self) -> Iterator[dict[str, Any]]:
        found = self.cleaned_data
        learning = [name for name, member in self._roster() if isinstance(member, dict) and "learner" in member]
        for i, matches in self.lists.items():
            until = found[f"until{i}"]
            condition = {} if until is None else {"until": {"policy": learning[0], "reaches": until / 100}}
            yield {
                "matches": matches, **self.typed(steps=f"steps{i}"), **condition, "after": {"pool": learning},
            }  # fmt: skip

    def point_at(self, place: str, why: str) -> None:
        """A place of a course from the list is the course's; one of a player, its row's."""
        parts = place.split(".")
        if self.cleaned_data.get("plan") != OWN and parts[0] in ("roster", "lessons"):
            self.add_error("plan", sentence(why))
        elif parts[0] == "roster":
            self.add_error(self._row(parts[1] if len(parts) > 1 else ""), sentence(why))
        else:
            super().point_at(place, why)

    def _row(self, name: str) -> str:
        rows = [i for i in range(1, ROWS + 1) if (self.cleaned_data.get(f"name{i}") or f"player-{i}") == name]
        return f"name{rows[0]}" if rows else "name1"

    @classmethod
    def typed_of(cls, job: Job) -> dict[str, Any]:
        """Its players and lessons, as far as the form has room for them."""
        config = job.config
        offer, _ = games.named(config["game"]["name"], job.project)
        found = {
            "game": offer, "learner": config["learner"]["kind"], "title": job.title, "seed": config["seed"],
            "copies": config["copies"], "battles": config["environments"], "plan": OWN,
        }  # fmt: skip
        if preset := _preset(config, OFFERS[offer]):
            return {**found, "plan": preset[0], "steps": preset[1]}
        players = {f"{field}{i}": value for i, row in enumerate(_players(config)[:ROWS], 1) for field, value in row}
        return found | players | _held(config, OFFERS[offer])

    def before(self, study: Any, user: User, **refers: Any) -> dict[str, Any]:
        """What it amounts to: lessons, processes by the paper's count and here, and how long it takes where an earlier
        course tells."""
        assert isinstance(study, ArenaConfig)
        fast = pace.speed(study, self.project)
        return {
            "time": "" if fast is None else fast.words(study.steps).capitalize(),
            "note": " ".join(pace.whole(study)), "lines": list(pace.plan_lines(study, fast)),
            "crowded": crowded(arena_plan.started(study), "sampler"),
        }  # fmt: skip


def script_for(game: str) -> str:
    """A script that plays a game well, or by chance."""
    known = GAMES[game]
    own = [key for key in PLAYERS if key != "random" and script_plays(key, game)]
    return known.scripted or (own[-1] if own else "random")


def _preset(config: Mapping[str, Any], offer: games.Offer) -> tuple[str, int] | None:
    """The course of the list that a study is, and its decisions; None where it is none."""
    lengths = [(lesson["steps"], lesson["times"]) for lesson in config["lessons"]]
    least = sum(times * (steps or 0) for steps, times in lengths)
    for key, preset in PRESETS.items():
        for whole in range(least, least + ROUNDING) if preset.sides <= len(offer.sides) else ():
            chosen = {"kind": config["learner"]["kind"]}
            made = preset.made(Arena(len(offer.sides), offer.squad, chosen, script_for(offer.key), whole))
            if [(lesson["steps"], lesson.get("times", 1)) for lesson in made["lessons"]] == lengths:
                same = ArenaConfig.model_validate({**config, **made}).model_dump(mode="json")
                if (same["roster"], same["lessons"]) == (config["roster"], config["lessons"]):
                    return key, whole
    return None


def _players(config: Mapping[str, Any]) -> Sequence[tuple[tuple[str, str], tuple[str, str]]]:
    """(field, value) pairs of each player."""
    found = []
    for name, member in config["roster"].items():
        if member["kind"] == "learning":
            plays = f"{LEARN}{(member['learner'] or config['learner'])['kind']}"
        else:
            earlier = HARDEST if member.get("choice") == HARDEST else PAST
            plays = earlier if member["kind"] == "pool" else f"{SCRIPT}{member.get('player', 'random')}"
        found.append((("name", name), ("plays", plays)))
    return found


def _held(config: Mapping[str, Any], offer: games.Offer) -> dict[str, Any]:
    """The fields of lessons."""
    found: dict[str, Any] = {}
    for i, lesson in enumerate(config["lessons"][:HELD], 1):
        until = lesson["until"]
        found |= {
            f"who{i}": typed.match_list(lesson["matches"], offer), f"steps{i}": lesson["steps"],
            f"until{i}": "" if until is None else 100 * until["reaches"],
        }  # fmt: skip
    return found
