"""The forms of kinds of study without a page of their own: what they have alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from django import forms
from django.utils.datastructures import MultiValueDict

from engine.errors import ConfigError
from webapp.balance.forms import sentence
from webapp.games.fields import NumberField
from webapp.games.numbers import field_text
from webapp.lib.names import NameField
from webapp.projects.models import Project
from webapp.studies import actions, estimates, kinds
from webapp.studies.intake import Body
from webapp.studies.models import Job

if TYPE_CHECKING:
    from engine.config import Study
    from webapp.accounts.models import User
    from webapp.studies.intake import Refers


LEFT_OUT = (
    "It has more than this form has room for, and what you do not see here is left out. The API and the command line "
    "take all of it."
)


class Represented(NamedTuple):
    """What of a ``job`` a form has room for. ``said``: in a sentence which of its parts are left out altogether;
    ``first``: whose settings are named first where settings change."""

    job: Job
    said: str = ""
    first: str = ""


class Gone(NamedTuple):
    """What a job's settings name and its project does not have any more: ``said`` in sentences, with what to do about
    it in the form (empty: nothing is missing); ``fields``: where it is chosen."""

    said: str = ""
    fields: tuple[str, ...] = ()


class CardsField(forms.ChoiceField):
    """A choice of a few, each with a title and a text: a page shows all of them, none of which is cut off.
    ``goes_with``: another such field, and by choice what of it can be chosen beside, the usual first: the page's script
    then chooses that."""

    def __init__(
        self, cards: Mapping[str, tuple[str, str]], *, goes_with: tuple[str, Mapping[str, Sequence[str]]] = ("", {}),
        **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(choices=[(key, title) for key, (title, _) in cards.items()], **kwargs)
        self.beside, able = goes_with
        self.cards = [(key, title, text, " ".join(able.get(key, ()))) for key, (title, text) in cards.items()]


class StudyForm(forms.Form):
    """A kind's own fields come beside a name and a seed. What is left empty is as usual.

    - ``usual``: what it shows at first. ``places``: fields by places of the study, where they are not named alike.
    - ``groups``: questions, each with the fields that answer it; with none, the fields stand below each other.
    - ``drawn``: the template of a question that is not answered by fields below each other, by its title.
    - ``folded``: fields that a fold at the end hides.
    - ``tells``: whether ``before`` says something; with ``groups`` it does.
    - ``acts``: whether it has buttons that change what it shows (``redrawn``), and start nothing.
    - ``names_changes``: settings of another job that it would change can be named one by one.
    - ``leaves_out``: what is said of another job's settings where it cannot show all of them (``left_out``).
    """

    usual: ClassVar[Mapping[str, Any]] = {}
    places: ClassVar[Mapping[str, str]] = {}
    groups: ClassVar[tuple[tuple[str, tuple[str, ...]], ...]] = ()
    drawn: ClassVar[Mapping[str, str]] = {}
    folded: ClassVar[tuple[str, ...]] = ("seed",)
    tells: ClassVar[bool] = False
    acts: ClassVar[bool] = False
    names_changes: ClassVar[bool] = False
    leaves_out: ClassVar[str] = LEFT_OUT
    title = NameField(120, label="Name", required=False)
    seed: Any = NumberField(
        label="Seed", whole=True, low=0, required=False, usual=1, help_text="Same seed, same result."
    )

    def __init__(
        self, data: Any = None, *, project: Project, kind: str, initial: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(data, initial={**self.usual, **(initial or {})})
        self.project, self.kind = project, kind
        self.mended: Set[str] = frozenset()
        """Fields in which something else stands than was sent."""
        self.prepare()
        if self.groups:
            self.order_fields([*self._as_shown(), *self.folded, "title"])

    def _as_shown(self) -> Iterator[str]:
        """The fields of its groups from the top of the page down: in each those with cards come first; a template of a
        question's own shows those that are in no group."""
        grouped = {name for _, names in self.groups for name in names}.union(self.folded, ["title"])
        for question, names in self.groups:
            yield from sorted(names, key=lambda name: not hasattr(self.fields.get(name), "cards"))
            yield from (name for name in self.fields if question in self.drawn and name not in grouped)

    def prepare(self) -> None:
        """Fit its fields to the project: what menus offer, and what stands where nothing is typed."""

    def offer(self, name: str, choices: Iterable[tuple[Any, str]]) -> None:
        """What a menu offers."""
        menu: Any = self.fields[name]
        menu.choices = list(choices)

    def typed(self, **names: str) -> dict[str, Any]:
        """What was typed into fields, by the names that the study has for them; without what was left empty."""
        found = {name: self.cleaned_data.get(field) for name, field in names.items()}
        return {name: value for name, value in found.items() if value not in (None, "")}

    def beside(self) -> dict[str, Any]:
        """What a body of the API says beside the study."""
        return {}

    def table(self) -> dict[str, Any]:
        """The study, as a body of the API would have it."""
        raise NotImplementedError("say which study the typed fields describe")

    def described(self, user: User) -> tuple[Study, Refers] | None:
        """The study that the filled-in form describes, and what its job refers to; None once what is wrong stands at
        its field, or above all of them."""
        intake = kinds.parts_of(self.kind).intake
        assert intake is not None
        try:
            return intake.first(Body(self.kind, self.project, user, self.table(), {}, self.beside()))
        except ConfigError as error:
            for place, message in error.problems:
                self.point_at(place.removeprefix("config."), message)
            return None

    def find_more(self, user: User) -> None:
        """Beside what is wrong in some fields, also say at its field what is wrong with all the others: the same form
        is read without what is wrong."""
        mistaken = (self.errors.keys() & self.data.keys()) - self.mended
        if not mistaken:
            return
        left = MultiValueDict(self.without(mistaken))
        rest = type(self)(left, project=self.project, kind=self.kind, initial=self.initial)
        rest.files, rest.mended = self.files, self.mended | mistaken
        if rest.is_valid():
            rest.described(user)
        else:
            rest.find_more(user)
        for name, errors in rest.errors.as_data().items():
            if name not in self.errors:
                self.add_error(name if name in self.fields else None, errors)

    def without(self, mistaken: Set[str]) -> dict[str, list[Any]]:
        """What was sent without what is wrong in these fields: they are left empty."""
        return {name: values for name, values in self.sent.items() if name not in mistaken}

    @property
    def sent(self) -> dict[str, list[Any]]:
        """What was sent, each field with all of its values."""
        if isinstance(self.data, MultiValueDict):
            return dict(self.data.lists())
        return {name: value if isinstance(value, list) else [value] for name, value in self.data.items()}

    def point_at(self, place: str, why: str) -> None:
        """Say what is wrong at a place of the study at its field: of ``places``, or that of its first part's name."""
        named = (field for path, field in self.places.items() if f"{place}.".startswith(f"{path}."))
        field = next(named, place.partition(".")[0])
        self.add_error(field if field in self.fields else None, sentence(why))

    @classmethod
    def redrawn(cls, sent: Mapping[str, str], project: Project) -> dict[str, Any] | None:
        """What the form shows after a button of its own was pressed that starts nothing; None after any other."""
        return None

    @classmethod
    def typed_of(cls, job: Job) -> dict[str, Any]:
        """What would have to be typed for the study of another job."""
        at = {field: place for place, field in reversed([*cls.places.items()])}
        found = {name: as_typed(job.config, at.get(name, name)) for name in cls.base_fields}
        return {name: value for name, value in found.items() if value != ""} | {"title": job.title}

    @classmethod
    def left_out(cls, job: Job) -> bool:
        """Whether this form has no room for something of a job that cannot be named as a setting that changes."""
        return False

    @classmethod
    def gone(cls, job: Job) -> Gone:
        """What a job's settings name and nobody keeps any more."""
        return Gone()

    @classmethod
    def represented(cls, job: Job) -> Represented:
        """What it has room for where ``names_changes`` holds, to be compared with what it starts."""
        return Represented(job)

    def before(self, study: Any, user: User, **refers: Any) -> dict[str, Any]:
        """What the page says before the start: ``time``; in sentences ``note``, ``long`` and ``crowded``; ``waiting``:
        ask again soon. First rounds are played where nothing else tells how long it takes; ``refers``: what a job of
        the study refers to. Something wrong is put at its field."""
        parts, played = kinds.parts_of(self.kind), estimates.known(study, self.project)
        found, first = estimates.estimate(study, played, self.project), parts.first_rounds(study)
        if first is not None and (found is None or (played is None and parts.needs_first_rounds(study))):
            played = actions.sample(self.project, user, first, **refers)
        for place, why in estimates.wrong(study, played):
            self.point_at(place, why)
        if found is None and played is None:
            return {}
        waiting = played is not None and played.active
        return {**estimates.before_start(found, played, estimates.limit(study)), "waiting": waiting}


def as_typed(config: Mapping[str, Any], place: str) -> str:
    """What a study says at a place, as it would be typed; empty where it says nothing there."""
    found: Any = config
    for part in place.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    if found is None or isinstance(found, Mapping | list):
        return ""
    return field_text(found) if isinstance(found, float) else str(found)
