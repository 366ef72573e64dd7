"""What the site's pages have for each kind of study.

``engine.catalog.STUDIES`` says what a kind is. The app that has pages for it puts its ``Parts`` here when the site
starts (``AppConfig.ready``); a kind that brings none has those of ``Parts`` itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Protocol

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from engine.catalog import STUDIES
from engine.config import ObjectiveSetConfig, Study
from webapp.accounts.models import User
from webapp.projects.models import Project
from webapp.studies.comparing import Comparing
from webapp.studies.intake import Intake
from webapp.studies.methods import LINEUPS, Menu
from webapp.studies.models import Job
from webapp.studies.rounds import Columns, columns, evenly
from webapp.studies.setting_fields import Setting

LATEST = 20
"""Rounds that a page without a chart shows."""
PUSHED = {"max": "High values", "min": "Low values"}


class Found(NamedTuple):
    """What was found, in a line, and its verdict mark (empty: none)."""

    words: str
    mark: str = ""


class BestCandidate(NamedTuple):
    """The one out of many candidates whose policy a search has left: its ``name``, why it is that one, in sentences,
    and the decisions that made it (0: nobody knows)."""

    name: str
    words: str
    learned: int


class AgentRecord(NamedTuple):
    """One of several agents that a job left: the decisions that it has learned from, and how strong it is, in words;
    empty where nothing tells."""

    learned: int
    strength: str


class Rows(Protocol):
    """Rows that can be paged through, or taken away whole."""

    count: int

    def page(self, offset: int, limit: int) -> list[dict[str, Any]]:
        """Some of the rows."""
        ...

    def csv(self) -> bytes:
        """All of them, a line each."""
        ...


class Parts:
    """Those of a kind that brings none of its own.

    - ``start`` makes a job of its filled-in form (``webapp.studies.pending.Start``).
    - ``intake`` makes a study of a body of the API; None: it is made from another job only.
    - ``own_page``: it is started from a page of its own. Others have a ``form`` (None: one of its settings) on a page
      that says what it is ``about``, and New job offers the ``question`` that they answer, with a few words on how.
    - ``without_data``: what it does, as in "to hunt for bugs", where it needs no game data; empty: it needs some.
    - ``trains``: what it does, as in "make a league", where pages say how else agents are trained; empty: not there.
    - ``clone``: the name of the address of "Run again with changes".
    - ``plays``: what it plays, one of them; ``decided``: the decisions it counts, as people read them.
    - ``help_section``: where Help tells of it; empty: nowhere in particular.
    - ``explored``: it has lineups to explore. ``comparing``: how two of them are compared; None: they are not.
    - ``one_agent``: its rounds tell how the one agent that it leaves plays on fresh episodes (``evaluations``), so it
      can stand beside others in its game, called by how it ``learns_by``.
    - ``results``: tables of what it found, the usual one first.
    - ``files``: what else can be taken away, by the role of its artifact; ``gives``: what its policy is to people.
      ``picks``: people pick from its map of styles first, and that policy is only one of many.
    - ``course``: its page draws how it went, round by round. ``replayed``: what it found can be played again.
    - ``trial``: what it is called where it is played for a form; ``trial_words``: what such a job did, in a sentence.
    - ``counted``: the counter by which its speed is measured, and the setting that says how many there will be; empty:
      rounds. ``speed_in``: what it is told in; empty: ``decided``, or rounds. ``on_top``: what an estimate of its time
      leaves out, in a sentence. ``concludes``: its last round also works out what it found, so its speed is that of
      those before. ``trying``: what its page says while its first rounds are played.
    - ``beneath``: a template that the page with its form ends with.
    - ``waits``: for how many days its end is told to those who have not looked.
    - ``menu``: its methods. ``settings``: what its form asks for beside those. ``directions``: ways to push a number.
    """

    start: ClassVar[Any] = None
    intake: ClassVar[Intake | None] = Intake()
    own_page: ClassVar[bool] = False
    form: ClassVar[Any] = None
    about: ClassVar[str] = "What is left empty is as usual."
    question: ClassVar[tuple[str, str]] = "", ""
    without_data: ClassVar[str] = ""
    trains: ClassVar[str] = ""
    results: ClassVar[tuple[str, ...]] = ()
    files: ClassVar[Mapping[str, str]] = {}
    gives: ClassVar[str] = ""
    picks: ClassVar[bool] = False
    course: ClassVar[bool] = False
    replayed: ClassVar[bool] = False
    trial: ClassVar[str] = "Trial"
    trial_words: ClassVar[str] = "was played to tell a form something"
    counted: ClassVar[str] = ""
    speed_in: ClassVar[str] = ""
    on_top: ClassVar[str] = ""
    concludes: ClassVar[bool] = False
    trying: ClassVar[str] = "Playing a few rounds to see how fast this goes …"
    beneath: ClassVar[str] = ""
    waits: ClassVar[int] = 30
    clone: ClassVar[str] = ""
    explored: ClassVar[bool] = False
    plays: ClassVar[str] = "battle"
    decided: ClassVar[str] = "decisions"
    help_section: ClassVar[str] = ""
    comparing: ClassVar[Comparing | None] = None
    one_agent: ClassVar[bool] = False
    menu: ClassVar[Menu] = LINEUPS
    settings: ClassVar[tuple[Setting, ...]] = ()
    directions: ClassVar[Mapping[str, str]] = PUSHED

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """The live page of a job; ``context`` has what every job's page has."""
        done = job.counters.get(job.study.unit, 0)
        return render(request, "studies/plain.html", context | {"done": done, "rounds": self.rounds(job, LATEST)})

    def work(self, job: Job) -> float:
        """The share of its work that is done: rounds, the one under way by its evaluations."""
        population = job.config.get("algorithm", {}).get("population", 0)
        evaluated = job.counters.get("evaluations", 0) / population if population else 0.0
        return max(job.tick, min(evaluated, job.tick + 1)) / job.ticks if job.ticks else 0.0

    def steady(self, job: Job) -> bool:
        """Whether the pace of one under way so far tells when it ends."""
        return True

    def settled(self, job: Job) -> tuple[float, float]:
        """The share of its work that was done, and the seconds that it took, from which on its pace is that of the
        rest."""
        return 0.0, 0.0

    def tells_enough(self, job: Job, counters: Mapping[str, float]) -> bool:
        """Whether one that is played for a form has told what the form wants to know."""
        return False

    def first_rounds(self, study: Any) -> Study | None:
        """A study as it is played for its form, in one process, to see how fast it goes; None: none of it is."""
        return None

    def amount(self, study: Any) -> float:
        """How much it does, in what its speed is measured in; 0 where nobody knows."""
        return float(getattr(study, self.counted or "ticks", 0))

    def done(self, study: Any, counters: Mapping[str, float]) -> float:
        """How much of that is done, by its counters and its ``tick``."""
        return counters.get(self.counted or "tick", 0)

    def needs_first_rounds(self, study: Any) -> bool:
        """Whether only they tell if a setting can be as it is."""
        return False

    def refuted(self, study: Any, played: Job) -> list[tuple[str, str]]:
        """(place, sentence) of what its first rounds showed to be wrong."""
        return []

    def side_by_side(self, study: Any) -> int:
        """Processes that share its work."""
        return 1

    def crowded(self, study: Any) -> str:
        """In a sentence that these have to share processors, and what that costs; empty where each has its own."""
        return ""

    def short(self, study: Any) -> str:
        """In sentences that episodes may not end within its rounds, and what to do about it; empty where they can."""
        return ""

    def learns_by(self, job: Job) -> str:
        """The method by which its one agent learns; empty where it has several."""
        return ""

    def evaluations(self, job: Job) -> Columns:
        """Of rounds, with an evaluation or without: ``steps`` and ``seconds`` so far, ``evaluation_return`` and its
        ends."""
        return {}

    def plan(self, study: Any, project: Project) -> list[str]:
        """What it amounts to, in sentences, before it starts; nothing where its settings say it all."""
        return []

    def found(self, job: Job) -> Found | None:
        """What an ended one found, in a line, where jobs are listed."""
        return None

    def best(self, job: Job) -> BestCandidate | None:
        """Which one of its candidates its policy is; None where there is one agent only, or nobody can tell."""
        return None

    def made_of(self, job: Job) -> str:
        """Of which agents its policy is made, as in "the average of 4 agents"; empty where it is one that learned."""
        return ""

    def agent_records(self, job: Job) -> Mapping[str, AgentRecord]:
        """What is known of each of several agents that it left, by their names in it; nothing where all have learned
        from as much as the job."""
        return {}

    def exit_code(self, job: Job) -> int:
        """Of one that ended and did not fail, as the command line gives it."""
        return 0

    def junit(self, job: Job) -> bytes | None:
        """What it found as JUnit XML; None for a kind without."""
        return None

    def counts(self, job: Job) -> dict[str, Any] | None:
        """What it has found by now, in numbers for its page."""
        return None

    def metrics(self, job: Job) -> dict[str, Any]:
        """The numbers of its last round for programs, with what is known better by now."""
        return dict(job.metrics)

    def reckon(self, job: Job) -> None:
        """Work out what pages say of an ended one and what takes seconds, so that no page waits for it."""

    def moments(self, job: Job) -> list[dict[str, Any]]:
        """Lines of its history that no event says, as messages."""
        return []

    def edged(self, job: Job) -> bool:
        """Whether what it found can be drawn as an edge."""
        return False

    def typed(self, job: Job) -> dict[str, Any]:
        """Its settings as they would be typed into its form."""
        return {}

    def rounds(self, job: Job, most: int) -> Columns:
        """Columns of at most about ``most`` rounds: ``tick``, the counters, and what rounds told."""
        return columns(job, evenly(job, most), ("seconds", job.study.unit))

    def table(self, job: Job, of: str, user: User) -> Rows:
        """One of ``results``, as far as the job is. Raises StoreError and ConfigError."""
        raise LookupError(of)

    def objectives(self, job: Job) -> ObjectiveSetConfig:
        """What its candidates are drawn along; none where it has no candidates."""
        return ObjectiveSetConfig.model_construct(objectives=())

    def way(self, name: str) -> dict[str, Any]:
        """A measure that a map is drawn along, by its name: title, unit, and which way is better."""
        return {"title": name, "unit": "", "toward": ""}

    def named(self, place: str, text: str) -> str:
        """The value of a setting in words, where it is the name of something."""
        return text


PARTS: dict[str, Parts] = {}


def register(kind: str, parts: Parts) -> None:
    """Give a kind of study its parts."""
    PARTS[kind] = parts


def parts_of(kind: str) -> Parts:
    """The parts of a kind."""
    return PARTS.get(kind) or Parts()


def begun() -> list[str]:
    """The kinds of study that the API starts."""
    return [kind for kind in STUDIES if parts_of(kind).intake is not None]


def asked() -> list[str]:
    """The kinds of study that are started from the page of all that have none of their own."""
    return [kind for kind in begun() if not parts_of(kind).own_page]


def offered() -> list[tuple[str, str, str]]:
    """Of those the kind, its question and a few words on how it is answered."""
    questions = {kind: parts_of(kind).question for kind in asked()}
    return [(kind, title or f"New {STUDIES[kind].noun}", how) for kind, (title, how) in questions.items()]


def without_data() -> list[tuple[str, str]]:
    """Of those that need no game data the kind, and what it does."""
    return [(kind, does) for kind in asked() if (does := parts_of(kind).without_data)]


def trained() -> list[tuple[str, str]]:
    """Of those that train agents the kind, and what it does."""
    return [(kind, does) for kind in asked() if (does := parts_of(kind).trains)]


def compared() -> list[str]:
    """The kinds of study of which two can be compared."""
    return [kind for kind in STUDIES if parts_of(kind).comparing is not None]


def of(job: Job) -> Parts:
    """The parts of a job's study; a trial of a training has those of trainings."""
    return parts_of(str(job.config.get("kind", "search")))
