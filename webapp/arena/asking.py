"""Which game, who is there, and lesson by lesson who plays whom: the form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from functools import partial
from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.forms.boundfield import BoundField

from engine.catalog import LEARNERS
from engine.config import parse
from engine.config.arena import ArenaConfig
from engine.config.courses import PRESETS
from engine.config.first_rounds import rehearsal
from engine.errors import ConfigError
from webapp.accounts.models import User
from webapp.arena import entities, lesson_fields, mending, pace, player_fields, player_menus, timeline
from webapp.arena.field_at import OWN, TypedMatches, field_at
from webapp.arena.known_courses import BATTLES, as_held, learner_for, own_typed, preset_in, preset_of
from webapp.games.fields import NumberField
from webapp.lib.words import number
from webapp.projects.models import Project
from webapp.studies import actions, estimates, kinds
from webapp.studies.intake import Refers
from webapp.studies.models import Job
from webapp.studies.study_form import CardsField, Gone, StudyForm
from webapp.training import games
from webapp.training.entrants import deleted, deleted_words
from webapp.training.games import OFFERS

EDIT, PLAYER = "edit", "player"
DECISIONS = 3_000_000
OFFERED = {name: offer.title for name, offer in OFFERS.items() if offer.sides}
"""Games in which several entities play."""
PLANS = {
    **{key: (preset.title, preset.text) for key, preset in PRESETS.items()},
    OWN: ("Lessons of my own", "You say below who is there, and lesson by lesson who plays whom."),
}
MEETINGS = [
    ("", "Nobody"), ("round-robin", "Everybody meets everybody"), ("swiss", "Those meet who stand alike"),
    ("round-robin+rungs", "Everybody meets everybody, earlier selves too"),
    ("swiss+rungs", "Those meet who stand alike, earlier selves too"),
]  # fmt: skip
COURSE = "Which course?"
LESSONS = "Lessons of my own: who is there, and who plays whom?"


class ArenaForm(StudyForm):
    """A game, a course to begin with or one's own, and how far."""

    usual: ClassVar[Mapping[str, Any]] = {"game": "pong-two-seats", "plan": "ladder", "learner": "ppo"}
    groups: ClassVar[tuple[tuple[str, tuple[str, ...]], ...]] = (
        ("Which game, and how do they learn?", ("game", "learner", "steps")),
        (COURSE, ("plan",)),
        (LESSONS, ()),
        ("Lessons of my own: who meets whom at the end?", ("meetings",)),
    )  # fmt: skip
    drawn: ClassVar[Mapping[str, str]] = {COURSE: "arena/edit.html", LESSONS: "arena/lessons.html"}
    acts: ClassVar[bool] = True
    folded: ClassVar[tuple[str, ...]] = ("copies", "battles", "seed", *player_fields.STEPS)
    places: ClassVar[Mapping[str, str]] = {
        "game": "game", "copies": "copies", "environments": "battles", "learner": "learner",
        "tournament": "meetings",
    }  # fmt: skip
    game = forms.ChoiceField(label="Game", choices=list(OFFERED.items()))
    learner = forms.ChoiceField(
        label="Learns by", choices=[(kind, player_menus.learner_words(kind)) for kind in LEARNERS], required=False,
        widget=player_menus.LearnerMenu, help_text="In lessons of your own each player says how it learns.",
    )  # fmt: skip
    steps: Any = lesson_fields.DecisionsField(
        label="Decisions to learn from", help_text="Of all agents and lessons of a course from the list below."
    )
    plan = CardsField(PLANS, label="Course", initial="ladder")
    copies: Any = NumberField(
        label="Copies of every match", whole=True, low=1, high=4096, required=False,
        help_text="Each plays on a processor of its own.",
    )  # fmt: skip
    battles: Any = NumberField(
        label="Battles of a match that a copy plays together", whole=True, low=1, high=100_000, required=False,
        usual=f"{BATTLES}, fewer where lessons are short",
    )  # fmt: skip
    meetings = forms.ChoiceField(label="Tournament", choices=MEETINGS, required=False)

    def prepare(self) -> None:
        self.rows = lesson_fields.rows_filled(self.data) if self.is_bound else lesson_fields.rows_sent(self.initial)
        own, sent = player_fields, self.data if self.is_bound else self.initial
        self.present = own.rows_filled(sent) if self.is_bound else own.rows_sent(sent)
        self.fields.update({
            **own.fields(self.project, self.present), **lesson_fields.fields(self.rows, self.offered),
            **own.step_fields(),
        })  # fmt: skip
        if (game := self.offered) is not None:
            for i, menu in enumerate(player_menus.menus(self.present, sent, game, self.project), 1):
                player_menus.offer(self[f"plays{i}"], menu)
            for i in range(1, self.rows + 1):
                self.fields[f"settings{i}"].help_text = lesson_fields.set_in(game.settings)
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
            if why := player_menus.learns_in(cleaned["learner"] or player_fields.PPO, offer):
                self.add_error("learner", f"{why} Choose another one.")
            return cleaned
        self._read(offer)
        return cleaned

    def _read(self, offer: games.Offer) -> None:
        """Say what cannot be read, at its field; keep the rest."""
        self.lists = lesson_fields.read(self.cleaned_data, offer, self.add_error)
        if not self.lists and not self.errors:
            self.add_error("who1", "Say who plays whom in the first lesson.")
        if not any(plays for _, plays in player_fields.rows(self.cleaned_data)):
            self.add_error("plays1", "Say who is there: at least one who learns.")
        learning = player_fields.learning(self.cleaned_data)
        unfit = [
            *player_menus.wrong(self.cleaned_data, offer),
            *lesson_fields.best_of_one(self.lists, self.cleaned_data, learning),
        ]
        for field, why in unfit:
            self.add_error(field, why)
        first: dict[str, int] = {}
        for i in range(1, player_fields.ROWS + 1):
            name = self.cleaned_data.get(f"name{i}") if self.cleaned_data.get(f"plays{i}") else ""
            if name and first.setdefault(name, i) != i:
                self.add_error(f"name{i}", f"Player {first[name]} has this name, too: choose another.")

    @property
    def lessons(self) -> Iterator[timeline.LessonRow]:
        """The lessons as the page shows them."""
        return timeline.lines(self, self.rows, self.offered)

    @property
    def removed(self) -> tuple[int, str]:
        """The number of the lesson that was removed just now, and what brings it back; 0 for none."""
        text = str(self.initial.get(timeline.REMOVED, ""))
        found = timeline.removed(text)
        return (found[0], text) if found else (0, "")

    @property
    def players(self) -> Iterator[tuple[BoundField, BoundField]]:
        """Who is there as the page shows it: names, and what they do."""
        return ((self[f"name{i}"], self[f"plays{i}"]) for i in range(1, self.present + 1))

    @property
    def crowded(self) -> bool:
        """Whether there is room for no more players."""
        return self.present >= player_fields.ROWS

    @property
    def offered(self) -> games.Offer | None:
        """The game that is chosen so far."""
        key = str(self["game"].value())
        return OFFERS[key] if key in OFFERED else None

    @property
    def counted(self) -> str:
        """How many entities it has."""
        return entities.counted(self.offered) if self.offered else ""

    @property
    def full(self) -> bool:
        """Whether there is room for no more lessons."""
        return self.rows >= lesson_fields.HELD

    @classmethod
    def redrawn(cls, sent: Mapping[str, str], project: Project) -> dict[str, Any] | None:
        """After a button of the timeline, or the one that fills in the lessons of a course from the list."""
        if not (action := sent.get("action")):
            return None
        if action == PLAYER:
            return timeline.redrawn(player_fields.grown(sent), action)
        if action == EDIT and sent.get("plan") != OWN:
            return cls._edited(sent, project)
        return timeline.redrawn(sent, action)

    @classmethod
    def _edited(cls, sent: Mapping[str, str], project: Project) -> dict[str, Any] | None:
        """The players and lessons of the course that is chosen; None where the game cannot have it."""
        form = cls(sent, project=project, kind="arena")
        if not form.is_valid():
            return None
        try:
            study = parse(ArenaConfig, form.table())
        except ConfigError:  # no lesson has a decision
            form.cleaned_data["steps"] = None
            study = parse(ArenaConfig, form.table())
        beside = {name: text for name, text in sent.items() if name in cls.base_fields or name in player_fields.STEPS}
        own = own_typed(study.model_dump(mode="json"), OFFERS[form.cleaned_data["game"]], project)
        battles = sent.get("battles") or str(study.environments)
        return {**beside, **own, "plan": OWN, "battles": battles, timeline.FOCUS: (1, timeline.HEAD)}

    def table(self) -> dict[str, Any]:
        """The study, as a body of the API would have it."""
        found = self.cleaned_data
        offer = OFFERS[found["game"]]
        chosen, copies = self._learner(found["learner"] or player_fields.PPO, offer), found["copies"] or settings.CPUS
        if found["plan"] == OWN:
            course = self._own(offer)
        else:
            course = preset_in(offer, found["plan"], chosen, found["steps"] or DECISIONS, copies)
        return {
            "game": offer.name, "learner": chosen, "copies": copies, **course,
            **self.typed(name="title", seed="seed", environments="battles"),
        }  # fmt: skip

    def _learner(self, kind: str, offer: games.Offer) -> dict[str, Any]:
        typed = {name: self.cleaned_data[name] for name in player_fields.STEPS}
        return learner_for(kind, offer, {name: value for name, value in typed.items() if value is not None})

    def _own(self, offer: games.Offer) -> dict[str, Any]:
        """A course of one's own."""
        found = self.cleaned_data
        learning, as_one = player_fields.learning(found), player_fields.as_one(found)
        kind, _, rungs = found["meetings"].partition("+")
        return {
            "roster": dict(player_fields.roster(found, self.project, partial(self._learner, offer=offer))),
            "lessons": [
                lesson_fields.lesson(i, entries, found, learning, as_one, offer) for i, entries in self.lists.items()
            ],
            **({"tournament": {"kind": kind, "rungs": bool(rungs)}} if kind else {}),
        }

    def described(self, user: User) -> tuple[Any, Refers] | None:
        """Also nothing once first rounds have found what is wrong. What some mistakes hide is told, too."""
        found = super().described(user)
        if found is None:
            self.find_more(user)
            return None
        study = found[0]
        assert isinstance(study, ArenaConfig)
        for place, why in estimates.misfits(estimates.latest(rehearsal(study), self.project)):
            self.point_at(place, why)
        return None if self.errors else found

    def without(self, mistaken: Set[str]) -> dict[str, list[Any]]:
        """Something right stands in these fields: without one of them a lesson would be another one."""
        if self.offered is None:
            return super().without(mistaken)
        sent = {name: str(values[-1]) for name, values in self.sent.items() if values}
        return {name: [text] for name, text in mending.mended(sent, mistaken, self.offered).items()}

    def point_at(self, place: str, why: str) -> None:
        """A place of a course from the list is the course's; one of a player, its row's."""
        lists: dict[int, Any] = getattr(self, "lists", {})
        matches = {
            i: TypedMatches(len(entries.get("who", ())), str(self[f"who{i}"].value()).lstrip().startswith("["))
            for i, entries in lists.items()
        }
        field, words = field_at(place, why, self.cleaned_data, matches)
        if not field:
            super().point_at(place, words)
        elif words not in self.errors.get(field, ()):  # who has all of a side is typed once
            self.add_error(field, words)

    @classmethod
    def typed_of(cls, job: Job) -> dict[str, Any]:
        """Its players and lessons, as far as the form has room for them."""
        config = job.config
        offer, _ = games.named(config["game"]["name"], job.project)
        usual = learner_for(config["learner"]["kind"], OFFERS[offer])
        steps = player_fields.steps_of(config).items()
        found = {
            "game": offer, "learner": config["learner"]["kind"], "title": job.title, "seed": config["seed"],
            "copies": "" if config["copies"] == settings.CPUS else config["copies"], "plan": OWN,
            **{name: value for name, value in steps if usual.get(name) != value},
        }  # fmt: skip
        if preset := preset_of(config, OFFERS[offer]):
            key, whole = preset
            battles = preset_in(OFFERS[offer], key, config["learner"], whole, config["copies"])["environments"]
            found |= {"plan": key, "steps": whole}
        else:
            battles = BATTLES
            found |= own_typed(config, OFFERS[offer], job.project)
        return found | {"battles": "" if config["environments"] == battles else config["environments"]}

    @classmethod
    def gone(cls, job: Job) -> Gone:
        """Saved agents that played, and that somebody has deleted."""
        names = deleted(job.config["roster"].values(), job.project)
        return Gone(deleted_words(names, "Choose who plays instead"))

    @classmethod
    def left_out(cls, job: Job) -> bool:
        """Whether the form would start another course than that of a job; where somebody is ``gone``, nothing is
        compared."""
        if cls.gone(job).said:
            return False
        texts = {name: str(value) for name, value in cls.typed_of(job).items() if value is not None}
        form = cls(texts, project=job.project, kind=job.kind)
        if not form.is_valid():
            return True
        beside = {name: job.config[name] for name in ("kind", "name", "pool")}
        try:
            again = parse(ArenaConfig, {**form.table(), **beside})
        except ConfigError:
            return True
        return as_held(again.model_dump(mode="json")) != as_held(job.config)

    def _longest(self, study: ArenaConfig) -> int:
        offer, _ = games.named(study.game.name, self.project)
        return games.longest(OFFERS[offer], study.game.settings)

    def before(self, study: Any, user: User, **refers: Any) -> dict[str, Any]:
        """What it amounts to: lessons, how long it takes by an earlier course or by first rounds, and processes."""
        assert isinstance(study, ArenaConfig)
        fast, played = pace.earlier(study, self.project), None
        if fast is None:
            played = actions.sample(self.project, user, rehearsal(study), **refers)
            fast = pace.measured(study, played)
        for place, why in estimates.problems(played):
            self.point_at(place, why)
        waiting = played is not None and played.active
        sentences = [
            "" if fast is None or waiting else fast.note,
            kinds.parts_of(self.kind).trying if waiting else "",
            *pace.whole(study),
        ]
        return {
            "time": "…" if fast is None or waiting else pace.words(fast.speed.whole(study)).capitalize(),
            "waiting": waiting,
            "note": " ".join(filter(None, sentences)),
            "lines": list(pace.plan_lines(study, None if waiting else fast)),
            "details": list(pace.process_lines(study)),
            "crowded": kinds.parts_of(self.kind).crowded(study),
            "short": pace.too_short(study, self._longest(study)),
        }  # fmt: skip
