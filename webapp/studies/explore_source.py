"""What a job has evaluated so far, read from the store: the archive once it has ended, every tick's chunk before and
what a pause left of the tick that it cut off."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle, stacked, unpack
from engine.config.lineups import ObjectiveConfig, ObjectiveSetConfig
from engine.errors import ConfigError, StoreError
from engine.formula import parse
from engine.indicators import UNDER, half_width, verdicts
from engine.lineups.schema import exact, spans, spec_from_json, variables
from engine.simulators.contract import GameSpec
from webapp.lib.storage import store
from webapp.studies import patterns
from webapp.studies.methods import METHODS
from webapp.studies.models import Job
from webapp.studies.questions import verdict_words
from webapp.studies.verdict_words import VerdictWords

BUILD = 13
"""Raise it when what is built from the same artifacts changes: browsers and the cache keep a build for good."""

ROLES = ("archive", "result", "sample")
CUT_OFF = "arrived"
"""What was played of the round that a pause cut off."""


class Evaluated(NamedTuple):
    """Every lineup a job evaluated, one row each, by rising id. ``best``: rows of the present front.
    ``left_out``: evaluated, but failed or against the project's "must hold" formulas. ``meant``: rows that somebody
    means to be so, which nothing ranks or counts."""

    columns: dict[str, NDArray[Any]]
    meta: dict[str, Any]
    best: NDArray[np.bool_]
    left_out: int
    meant: NDArray[np.bool_]


def objectives(job: Job) -> ObjectiveSetConfig:
    """What the job was told "imbalanced" means."""
    return ObjectiveSetConfig.model_validate(job.config["objectives"])


def words(job: Job) -> VerdictWords:
    """What the job's verdicts are called."""
    return verdict_words(job.template, objectives(job))


def signs(objectives: tuple[ObjectiveConfig, ...]) -> list[float]:
    """+1 for objectives to push up, -1 for those to push down."""
    return [1.0 if o.direction == "max" else -1.0 for o in objectives]


def strength_index(objectives: tuple[ObjectiveConfig, ...]) -> int | None:
    """Which objective says how strong the weakest team is."""
    return next((j for j, o in enumerate(objectives) if o.strength), None)


class Median(NamedTuple):
    """Strength of the median baseline team, and half of its 95 % range."""

    value: float | None
    half: float = 0.0


def median(meta: dict[str, Any]) -> Median:
    """What an artifact says of the median baseline team; infinitely wide where its error is not known."""
    baseline = meta.get("median_baseline")
    if baseline is None:
        return Median(None)
    error = np.array([np.nan if baseline.get("error") is None else baseline["error"]])
    return Median(
        float(baseline["value"]), float(half_width(error, int(baseline.get("samples", 0)), exact=error == 0)[0])
    )


Ends = tuple[float | None, float | None]


def ends(job: Job, columns: Mapping[str, NDArray[Any]]) -> list[Ends]:
    """How far down and up each objective can go in an artifact's lineups: its own floor and cap, else what the game's
    numbers set where luck has a part; None where nothing ends it, and for players."""
    goals = objectives(job).objectives if "cost" in columns else ()
    if not goals or not len(columns["cost"]):
        return [(o.low, o.high) for o in goals] or [(None, None)] * columns["objective"].shape[1]
    low, high, sure, _ = spans(spec(job), goals, columns["cost"].astype(float))
    found = []
    for j, o in enumerate(goals):
        furthest = (float(low[:, j].min()), float(high[:, j].max()))
        game = [None if sure[j] or not np.isfinite(end) else end for end in furthest]
        found.append((game[0] if o.low is None else o.low, game[1] if o.high is None else o.high))
    return found


def halves(job: Job, columns: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
    """Half of the 95 % ranges [n, m] of an artifact's lineups or players: see ``half_of``."""
    if "cost" not in columns:  # what is measured of players always has chance in it
        return half_of(columns)
    return half_of(columns, exact(spec(job), objectives(job).objectives, columns["cost"].shape[1]))


def half_of(columns: Mapping[str, NDArray[Any]], exact: NDArray[np.bool_] | bool = False) -> NDArray[np.float64]:
    """The longer side of the ranges that fresh battles gave, where an artifact holds them, else Student's t; infinite
    where nothing is known, as of players of which an earlier version left no ranges."""
    if "low" not in columns and "cost" not in columns:
        return np.full(columns["objective"].shape, np.inf)
    if "low" not in columns:
        return half_width(columns["error"], columns["samples"], exact=exact)
    value = columns["objective"]
    return np.asarray(np.maximum(np.maximum(columns["high"] - value, value - columns["low"]), 0.0))


def verdicts_of(job: Job, columns: dict[str, NDArray[Any]], meta: dict[str, Any]) -> NDArray[np.uint8]:
    """Verdicts [n] on lineups by the numbers of one artifact; players have none."""
    if "cost" not in columns:
        return np.zeros(len(columns["objective"]), dtype=np.uint8)
    goals = objectives(job).objectives
    lines, strength = [o.threshold for o in goals], strength_index(goals)
    found = verdicts(columns["objective"], halves(job, columns), signs(goals), lines, strength, *median(meta))
    return np.where(meant_of(job, columns), UNDER, found).astype(np.uint8)


def spec(job: Job) -> GameSpec:
    """The game the job's genomes index, with the job's changes to its data. Raises StoreError when the simulator's
    description has changed since and the old one was not kept, and where an objective's formula is no longer taken."""
    version = job.game_version
    if version is None or not version.simulator.spec:
        raise StoreError("The game of this job is no longer described. Test its simulator's handshake again.")
    found = spec_from_json(version.simulator.spec).patched(job.config["game"].get("patch", {}))
    if "objectives" in job.config and "lineups" in job.config:
        _check_formulas(objectives(job), found, int(job.config["lineups"]["teams"]))
    return found


def _check_formulas(objective_set: ObjectiveSetConfig, spec: GameSpec, teams: int) -> None:
    """Earlier versions took some that nothing can be reckoned by. Raises StoreError."""
    team, lineup = (set(names) for names in variables(spec, teams))
    for objective in objective_set.objectives:
        try:
            parse(objective.formula, team, lineup)
        except ConfigError as error:
            sentences = " ".join(problem.message for problem in error.problems)
            raise StoreError(
                f"The objective “{objective.title}” of this job cannot be worked out: {sentences}"
            ) from error


def slots(spec: GameSpec) -> list[dict[str, Any]]:
    """A team's slots for scripts: ``count`` is the place of the slot that says how many, ``of`` what a count counts."""
    at = {slot.id: s for s, slot in enumerate(spec.slots)}
    counted_by = {slot.of: s for s, slot in enumerate(spec.slots) if slot.kind == "count"}
    return [
        {"title": slot.title, "kind": slot.kind, "count": counted_by.get(slot.id, -1), "of": at.get(slot.of, -1)}
        for slot in spec.slots
    ]


def rechecks(job: Job) -> list[Job]:
    """The re-checks of a search, oldest first."""
    return sorted((child for child in job.children.all() if child.kind == "recheck"), key=lambda child: child.pk)


def searched_again(job: Job) -> list[str]:
    """Hashes of what the search itself played on fresh battles at its end: its edge, and the other elites of a map."""
    return [job.artifacts[role] for role in ("fresh", "fresh_elites") if job.artifacts.get(role)]


def replayed(job: Job) -> list[str]:
    """Hashes of everything that was played on fresh battles: by the search at its end, and by re-checks."""
    found = [child.artifacts.get("result", "") for child in rechecks(job)]
    return [*searched_again(job), *(digest for digest in found if digest)]


def key(job: Job) -> str:
    """Names the present state of what was evaluated: equal key, equal rows and equal numbers."""
    so_far = f"tick {job.tick} {job.artifacts.get(CUT_OFF, '')}"
    artifact = next((job.artifacts[role] for role in ROLES if role in job.artifacts), so_far)
    version = job.game_version.content_hash if job.game_version else ""
    parts = [
        BUILD,
        job.pk,
        job.template,
        artifact,
        job.artifacts.get("front", ""),
        replayed(job),
        version,
        job.config["objectives"],
        patterns.state(job),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def evaluated(job: Job) -> Evaluated | None:
    """Everything the job evaluated; None while there is nothing yet. Raises StoreError."""
    bundles = _bundles(job)
    if not bundles:
        return None
    meta = bundles[-1].meta
    names = bundles[0].arrays.keys()
    columns = {name: stacked([bundle.arrays[name] for bundle in bundles]) for name in names}
    columns = last_of_each(columns)
    meant = meant_of(job, columns)
    usable = (columns["status"] == 0) & np.isfinite(columns["objective"]).all(axis=1) & ~(columns["violation"] > meant)
    kept = {name: column[usable] for name, column in columns.items()}
    return Evaluated(kept, meta, np.isin(kept["id"], _front_ids(job)), int((~usable).sum()), meant[usable])


def meant_of(job: Job, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
    """Which rows of an artifact somebody means to be so."""
    known = patterns.meant_by_now(job)
    return patterns.meant(job, spec(job), columns) if known else np.zeros(len(columns["id"]), np.bool_)


BRED_FROM_RANDOM = {kind for kind, method in METHODS.items() if "breed" in method.model.needs}
"""Algorithms whose first round is drawn at random from what the rules leave; random search draws every round."""


def draws_all(job: Job) -> bool:
    """Whether a search draws every lineup at random, and breeds none."""
    return _method(job) == "random"


def draws_first(job: Job) -> bool:
    """Whether the first round of a search is drawn at random, and all others are bred."""
    return _method(job) in BRED_FROM_RANDOM


def _method(job: Job) -> str:
    return str(job.config.get("algorithm", {}).get("kind", ""))


def drawn_at_random(job: Job, columns: dict[str, NDArray[Any]]) -> NDArray[np.bool_]:
    """Which lineups [n] were drawn at random, not bred: they say how usual it is to be over the line."""
    if draws_all(job):
        return np.ones(len(columns["id"]), dtype=bool)
    return np.asarray((columns["tick"] == 1) & draws_first(job))


def _bundles(job: Job) -> list[Bundle]:
    for role in ROLES:
        if role in job.artifacts:
            return [unpack(store().get(job.artifacts[role]))]
    chunks = job.events.filter(kind="progressed").order_by("tick").values_list("body__artifacts__chunk", flat=True)
    return [unpack(store().get(chunk)) for chunk in (*chunks, job.artifacts.get(CUT_OFF)) if chunk]


def last_of_each(columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """One row for each id: a lineup that was played again later is known better by then."""
    ids = columns["id"]
    _, last = np.unique(ids[::-1], return_index=True)
    return {name: column[len(ids) - 1 - last] for name, column in columns.items()}


def _front_ids(job: Job) -> NDArray[np.int64]:
    digest = job.artifacts.get("front")
    if digest is None:
        latest = job.events.filter(kind="progressed").order_by("-tick").values_list("body", flat=True).first()
        digest = latest["artifacts"].get("front") if latest else None
    if digest is None:
        return np.zeros(0, dtype=np.int64)
    return np.asarray(unpack(store().get(digest)).arrays["id"], dtype=np.int64)


def baselines(job: Job) -> list[tuple[str, list[int]]]:
    """Names and rows of the baseline teams that a job's lineups met; none where what it found was lost."""
    digest = next((job.artifacts[role] for role in ("fresh", "front", "archive") if job.artifacts.get(role)), "")
    try:
        teams = unpack(store().get(digest)).meta.get("baselines", ()) if digest else ()
    except StoreError:
        teams = ()
    return [(each["name"], each["row"]) for each in teams]
