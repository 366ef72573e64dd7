"""What the API is asked and answers with. Events and a job's state are the event stream's (``studies.wire``), but that
points in time are ISO 8601, UTC, here."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from ninja import Field, Schema
from pydantic import AfterValidator

from engine.catalog import STUDIES


class Problem(Schema):
    """One thing that is wrong."""

    place: str = Field(description="A dotted path into the body, such as config.algorithm.population.")
    message: str


class Error(Schema):
    """Every answer of 400 and above."""

    message: str = Field(description="A sentence: what is wrong, and what to do.")
    problems: list[Problem] = Field(
        description="Each thing that is wrong, where there are several; may be empty. Of more than 50, the last entry "
        "says how many more there are and has no place."
    )


class ProjectShape(Schema):
    """A project of yours."""

    project: str = Field(description="Its name in addresses.")
    name: str
    role: str = Field(description="Yours: owner, designer, engineer or producer.")
    may_start: bool = Field(description="Whether your role starts and stops jobs here.")


class Version(Schema):
    """A version of the game data."""

    number: int
    label: str
    note: str
    simulator: str = Field(description="builtin:NAME, or simulator:NUMBER for a program; a study may name it so.")
    playable: bool = Field(description="Whether a job can be started on it now, by the same rule as on the pages.")
    created: datetime


class SearchInput(Schema):
    """Lineup rules, or objectives."""

    number: int
    name: str


class ProjectDetail(ProjectShape):
    """A project, and what a search can be started with."""

    game_versions: list[Version] = Field(description="The newest first; a search takes the first by default.")
    lineup_rules: list[SearchInput]
    objective_sets: list[SearchInput]
    questions: list[str]
    games: list[str] = Field(
        description="For trainings, own ones that can be played now as simulator:NUMBER; gym:NAME and ale:NAME beside."
    )


class JobShape(Schema):
    """A job as it is now."""

    job: int = Field(description="Its number.")
    project: str
    kind: str = Field(description="The kind of its study: search, recheck, train, evolve …")
    title: str
    link: str = Field(description="Its page.")
    status: str = Field(description="queued, waiting, running, paused, stopped, finished or failed.")
    command: str = Field(description="pause or stop, where one was asked for and has not happened yet.")
    message: str = Field(description="A sentence: why it waits, stopped or failed.")
    sequence: int = Field(description="Number of its last event.")
    tick: int = Field(description="Rounds done.")
    ticks: int = Field(description="Rounds in all.")
    share: float = Field(description="How much is done, from 0 to 1.")
    seconds_left: float | None = Field(description="About; null while nobody can say.")
    attempt: int
    counters: dict[str, Any] = Field(
        description="Totals so far: evaluations, battles, steps, and seconds of the study; planned: battles in all, "
        "once a search knows what it plays again at its end."
    )
    metrics: dict[str, Any] = Field(
        description="Of the last round; of a search that has played lineups again, as its pages have them now: over, "
        "strong, confirmed, replayed, and of the furthest confirmed worst with its range. hypervolume: what the edge "
        "beats, in units of what its first round spans, so it compares no two jobs."
    )
    created: datetime
    created_by: str
    started: datetime | None = Field(description="Null before it first runs.")
    ended: datetime | None = Field(description="Null while it is not over.")
    took: float | None = Field(
        description="Seconds from its start to its end, less those for which it was put aside. Null until it is over."
    )


class CheckedJob(Schema):
    """What a job would be."""

    kind: str = Field(description="The kind of its study.")
    config: dict[str, Any] = Field(description="The study, complete: what may be posted to start it.")
    notes: list[str] = Field(description="Sentences that the job would begin with: processors that are shared, say.")
    plan: list[str] = Field(
        description="What it amounts to, in sentences: of a course its lessons, processes, and how long it takes where "
        "earlier ones tell. Empty where the settings say it all."
    )


class JobDetail(JobShape):
    """A job with all of its settings."""

    config: dict[str, Any] = Field(description="The study, complete: what may be posted again.")
    config_hash: str
    game_version: int | None
    experiment: int | None = Field(description="The job that measures what each piece is worth, for a search with one.")
    summary: dict[str, Any] = Field(description="What the study said when it ended; re-checks change metrics only.")
    results: list[str] = Field(description="What can be fetched: front, archive, policy.zip, policy.onnx, members.zip.")
    notes: list[str] = Field(
        description="Sentences on how it differs from the job that it is a copy of, on what it costs it to share "
        "processors, and on what is checked before it trains anybody because nobody has played its game here yet; "
        "empty as a rule."
    )
    exit_code: int | None = Field(
        description="As on the command line: 0 done or stopped, 1 may be tried again, 2 cannot be done as asked; of a "
        "gate 0 under the line, 3 over it, 4 cannot tell (also where it was stopped); null while it is not over."
    )


class JobPage(Schema):
    """Jobs, the newest first."""

    jobs: list[JobShape]
    count: int = Field(description="On all pages.")
    page: int
    pages: int


class Events(Schema):
    """Events of a job in order."""

    events: list[dict[str, Any]] = Field(description="As the event stream tells them; at is when, in ISO 8601, UTC.")
    next: int = Field(description="Ask with after= this number for what comes next.")
    more: bool = Field(description="Whether there is more already.")


class Results(Schema):
    """Lineups, or players of a search for settings, with their numbers and 95 % ranges."""

    of: str
    rows: list[dict[str, Any]]
    count: int = Field(description="On all pages.")
    offset: int


class ReportShape(Schema):
    """A report, and how it stands."""

    report: int = Field(description="Its number. Each edition has one of its own.")
    project: str
    title: str
    release: str
    edition: int
    search: int | None = Field(description="The job that it is of; null once that is gone.")
    verdict: str = Field(description="Its first sentence.")
    kind: str = Field(description="unfair, fair (as far as one looked) or open (nobody can tell yet).")
    state: str = Field(description="waiting, accept or back: what a producer or an owner said last.")
    reason: str = Field(description="Why it was sent back.")
    replaced_by: int | None = Field(description="The report that took its place.")
    published: datetime
    by: str
    hash: str = Field(description="sha256 of its content, as canonical JSON.")
    link: str = Field(description="Its page.")


class ReportDetail(ReportShape):
    """A report with all that it says."""

    content: dict[str, Any] = Field(description="As it was published; numbers as they are and in words.")


def _kind(kind: str) -> str:
    if kind not in STUDIES:
        raise ValueError(f"must be one of {', '.join(STUDIES)}")
    return kind


class JobsQuery(Schema):
    """Which jobs to list."""

    status: Literal["queued", "waiting", "running", "paused", "stopped", "finished", "failed"] | None = None
    kind: Annotated[str, AfterValidator(_kind)] | None = Field(None, description="As a job says it.")
    page: int = Field(1, ge=1, le=100_000)
    size: int = Field(50, ge=1, le=200, description="Jobs on a page.")


class Keyed(Schema):
    """What makes sending a request again harmless."""

    key: str = Field(
        "", alias="Idempotency-Key", max_length=200,
        description="Such as the number of a build. The same request with the same key, in one project and by one "
        "person, starts one job however often it is sent; the answers after the first have status 200.",
    )  # fmt: skip


class EventsQuery(Schema):
    """Which events of a job."""

    after: int = Field(0, ge=0, lt=2**31, description="The number of the last event that is known.")
    limit: int = Field(200, ge=1, le=1000)


class FormQuery(Schema):
    """As what."""

    form: Literal["json", "csv"] = Field("json", alias="as")


class ResultsQuery(Schema):
    """Which rows, and as what; CSV and JUnit XML are always whole."""

    form: Literal["json", "csv", "junit"] = Field(
        "json", alias="as", description="junit: of a gate, for build servers."
    )
    of: str = Field(
        "", max_length=20, description="front, archive or, of lineups, shortlist: those on the page’s list, with what "
        "fresh battles say of each; by default the first that the kind of job has.",
    )  # fmt: skip
    offset: int = Field(0, ge=0, lt=2**31)
    limit: int = Field(1000, ge=1, le=10_000)


REFUSALS: dict[int, Any] = {401: Error, 404: Error, 429: Error}
"""What every address may answer with."""
WRITING: dict[int, Any] = {**REFUSALS, 400: Error, 403: Error, 409: Error, 413: Error, 415: Error, 422: Error}
"""What an address that changes something may answer with beside."""
