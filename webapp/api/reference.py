"""What the page about the API shows: its addresses, from the same description that programs read, and examples."""

from __future__ import annotations

import json
import shlex
from functools import cache
from typing import Any, NamedTuple

from webapp.api.description import description

STATUSES = (
    ("400", "The body cannot be read."),
    ("401", "No token, or one that is wrong, revoked or over."),
    ("403", "Your role in the project does not reach that far."),
    ("404", "There is no such thing, or it is not yours to see."),
    ("409", "The job’s state does not allow that."),
    ("413, 415", "The body is too large, or does not say that it is JSON."),
    ("422", "Settings cannot be used as they are; problems names each place. Or a key was used for another request."),
    ("429", "Too many wrong tokens. Retry-After says how long to wait."),
    ("503", "What was asked for cannot be read just now."),
)
JOB = "$JOB"
_NEXT = " \\\n  "
COURSE = {
    "name": "Grows with the player", "game": "pong-two-seats",
    "roster": {"main": "ppo", "luck": "random", "past": {"kind": "pool", "of": ["main"]}},
    "lessons": [
        {"title": "Beat chance", "matches": [["main", "luck"]], "steps": 200_000,
         "until": {"policy": "main", "reaches": 0.7}, "after": {"pool": ["main"]}},
        {"title": "Beat yourself", "matches": [["main", "past"], ["main", "luck"]], "steps": 200_000, "times": 3,
         "after": {"pool": ["main"]}},
    ],
    "tournament": {"kind": "round-robin", "rungs": True},
}  # fmt: skip
"""A course of lessons that is short, and has what every course has."""


class Address(NamedTuple):
    """An address of the API."""

    method: str
    path: str
    title: str
    text: str
    asks: tuple[str, ...]


class Example(NamedTuple):
    """Something one does with the API, as a command line; ``alone``: the same without the web."""

    title: str
    command: str
    text: str = ""
    alone: str = ""


@cache
def places() -> tuple[Address, ...]:
    """Every address, in the order of the description that programs read."""
    found = description().schema["paths"]
    return tuple(
        Address(method.upper(), path, operation["summary"], operation.get("description", ""), _asks(operation))
        for path, methods in found.items()
        for method, operation in methods.items()
    )


def _asks(operation: dict[str, Any]) -> tuple[str, ...]:
    """Names of what may stand behind the question mark."""
    return tuple(each["name"] for each in operation.get("parameters", ()) if each["in"] == "query")


def examples(site: str, slug: str) -> list[Example]:
    """The usual things, for a project. ``$TOKEN`` and ``$JOB`` are variables of the shell."""
    root = f"{site}/api/v1"
    jobs = f"{root}/projects/{slug}/jobs"
    search = {"kind": "search", "set": {"algorithm.population": 50, "ticks": 20}}
    task = {"game": "cartpole", "learner": {"preset": "cartpole-ppo"}, "steps": 5000}
    study = {"name": "Settings for CartPole", "task": task, "algorithm": {"population": 8}, "ticks": 10}
    ranges = {"task.learner.rate": [0.0001, 0.01, "log"], "task.learner.entropy_weight": [0, 0.03]}
    evolve = {"kind": "evolve", "config": study, "set": ranges}
    return [
        Example("Which projects are open to me?", _curl("GET", f"{root}/projects")),
        Example(
            "Search the newest game data for unfair lineups",
            _curl("POST", jobs, search),
            "Rules, objectives and data come from the project; set replaces single settings. The answer has the "
            "job’s number, which the next commands call $JOB.",
        ),
        Example(
            "Hold lessons for several agents",
            _curl("POST", jobs, {"kind": "arena", "config": COURSE}),
            "The roster says who there is: one that learns, a script, and the first one’s earlier selves. A match of a "
            "lesson names a player for each entity of the game, here one for each side. steps are decisions to learn "
            "from; until ends a lesson early. What goes into the pool after a lesson is met as past in later ones.",
        ),
        Example(
            "What would these lessons amount to?",
            _curl("POST", f"{jobs}/check", {"kind": "arena", "config": COURSE}),
            "Nothing is started: the answer has the whole study and its plan, or all that is wrong with it. For every "
            "kind of study.",
        ),
        Example(
            "Search for good training settings",
            _curl("POST", jobs, evolve),
            "A number of the task that is a range [low, high] is searched; others are fixed. What stands in set here "
            "is given with -m on the command line.",
            _alone({"kind": "evolve", **study}, ranges),
        ),
        Example("How far is it?", _curl("GET", f"{jobs}/{JOB}"), "exit_code is null until it is over."),
        Example("What happened since event 2?", _curl("GET", f"{jobs}/{JOB}/events?after=2")),
        Example("Export what it found", _curl("GET", f"{jobs}/{JOB}/results?of=front&as=csv", save="front.csv")),
        Example("How do reports of this project stand?", _curl("GET", f"{root}/projects/{slug}/reports")),
        Example("Stop it; what was found stays", _curl("POST", f"{jobs}/{JOB}/stop")),
        Example(
            "Once more, with another seed",
            _curl("POST", f"{jobs}/{JOB}/clone", {"set": {"seed": 2}}, key="build-1042"),
            "With an Idempotency-Key, sending it again (because the line broke, say) starts no second job.",
        ),
    ]


def script(site: str, slug: str) -> str:
    """A build's step: start a job, once for each build, wait for its end, take its front away, and end as it ended."""
    return f"""#!/bin/sh -e
api() {{ curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" "$@"; }}
jobs={site}/api/v1/projects/{slug}/jobs
started=$(api --retry 3 -H "Idempotency-Key: $BUILD" \\
  -H "Content-Type: application/json" -d @study.json "$jobs") ||
  {{ code=$?; echo "$started" >&2; [ "$code" = 22 ] && exit 2; exit 1; }}  # 22: refused; else not reached
job=$(echo "$started" | jq .job)
until told=$(api --retry 5 "$jobs/$job") || {{ echo "$told" >&2; exit 1; }}
  code=$(echo "$told" | jq -e .exit_code); do sleep 10; done
[ "$code" != 0 ] || api "$jobs/$job/results?as=csv" -o front.csv  # not for a training: it has no front
exit "$code"
"""


def _alone(study: dict[str, Any], settings: dict[str, Any]) -> str:
    """The command line that runs a study, with single settings as YAML."""
    written = f"echo {shlex.quote(json.dumps(study))} > study.json"
    given = [f"-m {shlex.quote(f'{path}={json.dumps(value)}')}" for path, value in settings.items()]
    return f"{written}\n{_NEXT.join(['python -m engine run study.json', *given])}"


def _curl(method: str, address: str, body: dict[str, Any] | None = None, save: str = "", key: str = "") -> str:
    parts = ['curl -sS -H "Authorization: Bearer $TOKEN"']
    if key:
        parts.append(f'-H "Idempotency-Key: {key}"')
    if body is not None:
        parts += ['-H "Content-Type: application/json"', f"-d {shlex.quote(json.dumps(body))}"]
    elif method == "POST":
        parts.append("-X POST")
    if save:
        parts.append(f"-o {save}")
    return _NEXT.join([*parts, f'"{address}"'])
