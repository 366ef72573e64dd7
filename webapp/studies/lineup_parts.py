"""The pages of studies that play lineups: searches, re-checks and random samples."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from engine.config import LineupConfig, ObjectiveSetConfig
from engine.config.noise import NoiseConfig
from engine.errors import ConfigError, StoreError
from engine.lineups.schema import OTHER_GAME, battles_of_lineup
from webapp.accounts.models import User
from webapp.lib.words import number, plural
from webapp.studies import explore_build, explore_source, front, patterns, plans, rechecked, throughput, wire
from webapp.studies.compare.differences import method_title, settings_shown
from webapp.studies.compare.lineups import LineupsCompared
from webapp.studies.comparing import Comparing
from webapp.studies.form_values import values_of
from webapp.studies.found_counts import found_by, metrics_now, plain_counts
from webapp.studies.intake import Intake
from webapp.studies.job_page import links, live, worker_words
from webapp.studies.kinds import Found, Parts, Rows
from webapp.studies.methods import LINEUPS, Method, ends_when
from webapp.studies.models import Job
from webapp.studies.questions import verdict_words
from webapp.studies.rechecked import Checked
from webapp.studies.result_rows import LineupRows
from webapp.studies.rounds import Columns, columns, evenly
from webapp.studies.search_intake import SearchIntake
from webapp.studies.starting import SearchStart
from webapp.studies.verdict_words import false_alarms

COUNTERS = ("seconds", "battles", "cached", "evaluations")
ENOUGH = 60
"""Random lineups that are enough for a form."""
METRICS = ("over", "strong", "worst", "hypervolume")


class Samples(Parts):
    """Random lineups, played for a form: their page is that form."""

    intake: ClassVar[Intake | None] = None
    menu = LINEUPS
    explored = True
    results = ("front", "archive", "shortlist")
    trial = "Random sample"
    trial_words = "played random lineups, to show on the New job page where the line falls"

    def tells_enough(self, job: Job, counters: Mapping[str, float]) -> bool:
        """Lineups enough for a line to be proposed."""
        return counters.get("evaluations", 0) >= ENOUGH

    def edged(self, job: Job) -> bool:
        """Always: lineups differ in what they cost, if in nothing else."""
        return True

    def rounds(self, job: Job, most: int) -> Columns:
        """The counters, and what is over the line."""
        return columns(job, evenly(job, most), COUNTERS, METRICS)

    def table(self, job: Job, of: str, user: User) -> Rows:
        """The lineups of the front, all of the archive, or those on the shortlist."""
        return LineupRows(job, of, user)

    def objectives(self, job: Job) -> ObjectiveSetConfig:
        """What the job was told "imbalanced" means."""
        return ObjectiveSetConfig.model_validate(job.config["objectives"])


class Searches(Samples):
    """Searches for lineups."""

    start: ClassVar[Any] = SearchStart
    own_page = True
    intake: ClassVar[Intake | None] = SearchIntake()
    clone = "studies:clone"
    comparing: ClassVar[Comparing | None] = LineupsCompared()
    course = True
    replayed = True
    template = "studies/job.html"

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """The edge as it grows, and how the search went."""
        return render(request, self.template, context | self.context(job))

    def work(self, job: Job) -> float:
        """By battles, those that play the edge again at the end included: as planned until that is known."""
        if planned := job.counters.get("planned", 0):
            return min(1.0, float(job.counters.get("battles", 0) / planned))
        played, edge = super().work(job), throughput.edge(job)
        if not edge:
            return played
        rounds = _battles_of_rounds(job)
        if self._ends(job):
            return min(0.99, max(rounds, job.counters.get("battles", 0)) / (rounds + edge))
        return played * rounds / (rounds + edge)

    def steady(self, job: Job) -> bool:
        """Not while the edge is played again: how often, is known once its first fresh battles are over."""
        return bool(job.counters.get("planned", 0)) or not self._ends(job)

    def _ends(self, job: Job) -> bool:
        return job.ticks > 0 and job.tick >= job.ticks

    def found(self, job: Job) -> Found | None:
        """ "Lineups: 11 confirmed on fresh battles, 30 found by the search": the latter by its own battles alone, which
        flatter."""
        if all(objective.threshold is None for objective in self.objectives(job).objectives):
            return Found("no line was set")
        found = found_by(job)
        meant = patterns.also(found.meant, " of all that were played")
        by_search = f"{number(found.by_search)} found by the search{meant}"
        if found.confirmed is None:
            return Found(f"Lineups: {by_search}", "strong" if found.by_search else "")
        mark = "strong" if found.confirmed else "unsure" if found.by_search else ""
        return Found(f"Lineups: {number(found.confirmed)} confirmed on fresh battles, {by_search}", mark)

    def counts(self, job: Job) -> dict[str, Any] | None:
        """Lineups that are over the line and strong."""
        return plain_counts(job)

    def metrics(self, job: Job) -> dict[str, Any]:
        """As its pages have them: fresh battles stand in the place of the search's own."""
        return metrics_now(job)

    def reckon(self, job: Job) -> None:
        """The ranges of what was played on fresh battles, and the files of its explorer."""
        with contextlib.suppress(StoreError, ConfigError):  # its pages say so
            metrics_now(job)
            explore_build.file(job, explore_source.key(job), explore_build.PARTS[0])

    def moments(self, job: Job) -> list[dict[str, Any]]:
        """The round of the first lineup that is over the line and strong."""
        any_strong = job.events.filter(kind="progressed", body__metrics__strong__gt=0)
        first = any_strong.order_by("tick").first() if job.metrics.get("strong") else None
        if first is None:
            return []
        what = verdict_words(job.template, self.objectives(job)).strong.lower()
        return [{**wire.message(first), "words": f"First lineup {what}, in round {number(first.tick)}."}]

    def typed(self, job: Job) -> dict[str, Any]:
        """As the New job page has them."""
        return values_of(job)

    def effort(self, job: Job) -> str:
        """How hard it looks."""
        algorithm = job.config.get("algorithm", {})
        plan = plans.Plan(algorithm.get("population", 0), job.ticks, job.config.get("replicates", 0))
        effort = plans.EFFORTS.get(plans.effort_of(plan))
        if effort is None:
            return f"{number(plan.lineups)} lineups"
        return effort.title if effort.title.endswith("look") else f"{effort.title} look"

    def context(self, job: Job) -> dict[str, Any]:
        """What the template is given."""
        return {
            "effort": "" if job.asked else self.effort(job),  # nothing while that is still being found out
            "page": live(job, "front", "around") | _page_data(job) | {"found": self.counts(job), "course": self.course},
            "specialist": _specialist(job),
            "leaves": Method(job.config["algorithm"]["kind"]).leaves if "algorithm" in job.config else "",
            "main": front.axes(self.objectives(job).objectives)[1],
        }


class Rechecks(Searches):
    """Lineups that are played again on fresh battles."""

    start = None
    intake = None
    clone = ""
    comparing = None
    course = False
    replayed = False
    template = "studies/recheck.html"

    def found(self, job: Job) -> Found | None:
        """What fresh battles say of its lineups."""
        return rechecked.found(job)

    def counts(self, job: Job) -> dict[str, Any] | None:
        """Its page tells of each lineup by itself."""
        return None

    def metrics(self, job: Job) -> dict[str, Any]:
        """Of its own battles."""
        return dict(job.metrics)

    def reckon(self, job: Job) -> None:
        """Nothing where its search is there, which judges its lineups: that is reckoned anew as well."""
        if job.parent is None:
            super().reckon(job)

    def moments(self, job: Job) -> list[dict[str, Any]]:
        """Its lineups were found before."""
        return []

    def effort(self, job: Job) -> str:
        """How many lineups it plays again."""
        return f"{plural(len(job.config.get('genomes', [])), 'lineup')}, fresh battles"

    def context(self, job: Job) -> dict[str, Any]:
        """With what fresh battles say by now."""
        told, shared = checked(job), super().context(job)
        page = shared["page"] | {"checked": marks(told), "links": shared["page"]["links"] | links(job, "checked")}
        return shared | {"page": page, "checked": told}


def checked(job: Job) -> list[Checked]:
    """What a re-check says by now of each of its lineups; nothing where its game is no longer described."""
    try:
        return rechecked.checked(job)
    except (StoreError, ConfigError):
        return []


def marks(told: Sequence[Checked]) -> list[dict[str, Any]]:
    """The same for its chart."""
    return [{"verdict": each.verdict, "mark": each.mark, "short": each.short} for each in told]


def _page_data(job: Job) -> dict[str, Any]:
    """What the script of a search's page starts from."""
    x, y = front.axes(front.of_job(job).objectives)
    drawn = sum(axis.column >= 0 for axis in (x, y))
    return {
        "x": x._asdict(),
        "y": y._asdict(),
        "battles": _planned(job),
        "edge": throughput.edge(job),
        "other_game": OTHER_GAME,
        "population": job.config.get("algorithm", {}).get("population", 0),
        "undrawn": len(front.of_job(job).objectives) > drawn,
        "strength": any(o.strength for o in front.of_job(job).objectives),
        "words": verdict_words(job.template, front.of_job(job)).plain(),
        "false_alarms": false_alarms("lineups"),
        "fresh": "fresh" in job.artifacts,
    }


def _planned(job: Job) -> int:
    """Battles that the rounds of a job will take, as its study announced them; 0 before it did."""
    started = job.events.filter(kind="started").order_by("sequence").values_list("body", flat=True).first()
    return int((started or {}).get("battles", 0))


def _battles_of_rounds(job: Job) -> int:
    config = job.config
    each = battles_of_lineup(LineupConfig.model_validate(config["lineups"]), int(config["replicates"]))
    return each * int(config["algorithm"]["population"]) * int(config["ticks"])


def _specialist(job: Job) -> list[tuple[str, Any]]:
    config = job.config
    found = [
        ("Method", method_title(job)),
        *settings_shown(config, "algorithm"),
        ("Generations", config.get("ticks", "")),
        ("Replicates", _replicates(config)),
        ("Fresh replicates", config.get("fresh", "")),
        *(settings_shown(config, "noise") if config.get("noise", {}) != NoiseConfig().model_dump() else ()),
        *(("Ends early", ends_when(rule)) for rule in config.get("stop", ())),
        ("Seed", config.get("seed", "")),
        ("Workers", worker_words(config["pool"])),
        ("Attempt", job.attempt),
        ("Settings", job.config_hash[:12]),
        ("Game version", job.game_version.content_hash[:12] if job.game_version else ""),
    ]
    return [(name, value) for name, value in found if value != ""]


def _replicates(config: Mapping[str, Any]) -> str:
    """Of a re-check from the lineup that is played least to the one that is played most."""
    times = config.get("times") or [config.get("replicates", "")]
    return f"{min(times)} to {max(times)}" if len(set(times)) > 1 else str(times[0])
