"""What the New job form shows before anybody types: what is usual in a project, or what made a job that is cloned."""

from __future__ import annotations

from typing import Any

from engine.errors import ConfigError
from webapp.games.models import GameVersion
from webapp.games.numbers import field_text
from webapp.games.specs import patched_spec
from webapp.projects.models import Project
from webapp.studies import commanders, companion
from webapp.studies.accepted_line import Accepted, accepted
from webapp.studies.line_origin import CLONED
from webapp.studies.method_form import typed_of_method
from webapp.studies.methods import LINEUPS
from webapp.studies.models import Job
from webapp.studies.plans import OWN, Plan, effort_of
from webapp.studies.questions import QUESTIONS


def first_values(project: Project) -> dict[str, Any]:
    """What the form shows to somebody who has not typed anything yet."""
    version = project.versions.first()
    rules = project.lineup_rules.filter(replaced_by=None).first()
    own = project.objective_sets.filter(replaced_by=None).first()
    chosen = {"version": version, "rules": rules, "objectives": own}
    ids = {name: str(row.pk) for name, row in chosen.items() if row is not None}
    chosen_method = {LINEUPS.choice: LINEUPS.usual}
    found = _accepted(project, version)
    # Without a line that the project accepted, random lineups propose one.
    filled = (found.objective, field_text(found.line), found.origin) if found else ("", "", "")
    line = dict(zip(("measure", "line", "line_from"), filled, strict=True))
    return {"question": "unfair", "effort": "usual", **line, **chosen_method, **ids}


def _accepted(project: Project, version: GameVersion | None) -> Accepted | None:
    """The line of the first question in the list; None where the game cannot be read by now, which the form says."""
    if version is None:
        return None
    try:
        return accepted(project, "unfair", QUESTIONS["unfair"].objectives(patched_spec(version)))
    except ConfigError:
        return None


def values_of(job: Job) -> dict[str, Any]:
    """The form that would have made ``job``: what Clone starts from."""
    search = job.config
    measures = search["objectives"]["objectives"]
    main = next((o for o in measures if o["threshold"] is not None), measures[0])
    algorithm = search.get("algorithm", {})
    plan = Plan(algorithm.get("population", 0), search.get("ticks", 0), search.get("replicates", 0))
    effort = effort_of(plan)
    found = {
        "question": job.template if job.template in QUESTIONS else "own",
        "version": job.game_version_id,
        "commander": commanders.key_of(job),
        "rules": job.lineup_rules_id,
        "objectives": job.objective_set_id,
        "measure": main["name"],
        "line": main["threshold"],
        "line_from": CLONED,
        "effort": effort,
        **(plan.numbers if effort == OWN else {}),
        "fresh": search.get("fresh"),
        "seed": search["seed"],
        "workers": search["pool"]["workers"],
        **_experiment(job),
        **typed_of_method(LINEUPS, search),
        **({"aim": main["name"]} if len(measures) == 1 and LINEUPS.of(algorithm.get("kind", "")).single else {}),
    }
    return {name: field_text(v) if isinstance(v, float) else str(v) for name, v in found.items() if v is not None}


def _experiment(job: Job) -> dict[str, Any]:
    """What the form says of the experiment that came with a search."""
    found = companion.of(job)
    return {"experiment": "yes", "experiment_battles": found.config["battles"]} if found else {"experiment": "no"}
