"""The card "Try a change": what can be changed for a suspect or a shortlist, and what was tried last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.http import HttpRequest, QueryDict

from engine.errors import ConfigError, StoreError
from engine.simulators.contract import GameSpec
from webapp.accounts.people import signed_in
from webapp.changes import numbers, picking, starting
from webapp.changes.reading import read
from webapp.changes.standing import standing
from webapp.changes.worked import since
from webapp.games import versions
from webapp.games.edits import PREFIX
from webapp.games.numbers import field_text
from webapp.lib.digits import whole
from webapp.projects.access import allowed, role_in
from webapp.studies import commanders, companion, playable
from webapp.studies import explore_source as source
from webapp.studies.models import Job
from webapp.suspects.reading import Suspect
from webapp.suspects.reading import read as suspects_of

OFFERED = 40
"""Pieces that can be chosen."""
LOST = "The game of this search is no longer described, so nothing can be tried on it."


@dataclass
class TypedChange:
    """What the form says: the suspect that it is about, the pieces and the numbers that are looked at, and a text for
    each number."""

    suspect: str = ""
    pieces: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, data: QueryDict) -> TypedChange:
        """Of a form, or of an address."""
        texts = {name.removeprefix(PREFIX): str(data[name])[:40] for name in data if name.startswith(PREFIX)}
        added = [path for path in (data.get("add", ""),) if path]
        pieces = [piece for piece in data.getlist("piece") if piece]
        return cls(data.get("suspect", ""), pieces, [*data.getlist("number"), *added], texts)

    def asking(self, job: Job) -> TypedChange:
        """The same with the numbers of a change that was tried."""
        change = {path: field_text(value) for path, value in job.config["change"].items()}
        return TypedChange(self.suspect, self.pieces, [*change, *self.paths], {**change, **self.texts})


def about(request: HttpRequest, search: Job, typed: TypedChange, trial: Job | None = None) -> dict[str, Any]:
    """All that the card shows."""
    suspect = suspect_of(search, typed.suspect)
    try:
        spec, replayed = source.spec(search), picking.lineups(search, suspect)
    except (StoreError, ConfigError):
        return {"change_lost": LOST}
    trial = trial or _tried(search, suspect)
    if trial is not None and not typed.texts:
        typed = typed.asking(trial)
    pieces = [*(suspect.line.pieces if suspect else ()), *typed.pieces]
    paths = [*typed.paths, *(numbers.costs(spec, pieces) if not typed.texts or typed.pieces else ())]
    sliders = numbers.sliders(spec, paths, typed.texts, _fair(suspect))
    known = list(dict.fromkeys([*pieces, *(path.rpartition(".")[0] for path in paths)]))
    told = shown(trial) if trial else None
    return {
        "change_over": source.words(search).over,
        "change_key": suspect.key if suspect else "",
        "change_pieces": typed.pieces,
        "sliders": sliders,
        "groups": numbers.groups(spec, known, [each.path for each in sliders]),
        "offered": _offered(spec, replayed, known),
        "replayed": len(replayed),
        "changed": [each for each in sliders if each.changed and not each.problem],
        "trial": told,
        "standing": None if told and told["found"] else standing(search, replayed),
        "may_try": allowed(role_in(signed_in(request), search.project), "write"),
        "change_obstacle": playable.obstacle(search),
    }


def shown(trial: Job) -> dict[str, Any]:
    """What a replay says, for its page and for the card. ``under``: the agent that leads its other version, if any."""
    under = commanders.name_under(trial.config)
    return {"job": trial, "found": read(trial), "under": under, **next_steps(trial)}


def next_steps(trial: Job) -> dict[str, Any]:
    """What can be done with a change: ``saved`` is the version that holds it already, ``newer`` one that was saved
    since it was tried, which is in the way."""
    newest = versions.current(trial.project)
    if newest is None or trial.game_version is None or trial.accompanies_id or not trial.config["change"]:
        return {"saved": None, "newer": None}
    saved = starting.saved_as(trial)
    return {"saved": saved, "newer": newest if newest != trial.game_version and saved is None else None}


def suspect_of(search: Job, key: str) -> Suspect | None:
    """The suspect of this key; None where there is none."""
    experiment = companion.of(search) if key else None
    found = suspects_of(experiment) if experiment else None
    return next((each for each in (*found.named, *found.intended) if each.key == key), None) if found else None


def _fair(suspect: Suspect | None) -> dict[str, tuple[float, float, float]]:
    """The fair price of a suspect that is a single piece, by the path of its price."""
    line = suspect.line if suspect else None
    if line is None or line.fair is None or line.fair_low is None or line.fair_high is None or len(line.pieces) > 1:
        return {}
    return {f"{line.pieces[0]}.cost": (line.fair, line.fair_low, line.fair_high)}


def _tried(search: Job, suspect: Suspect | None) -> Job | None:
    """The last change that somebody tried on a search; with a suspect, one of its own numbers."""
    jobs = Job.objects.filter(
        parent=search, kind="change", accompanies=None, config__under__isnull=True
    ).select_related("project", "game_version__simulator")  # fmt: skip
    own = set(suspect.line.pieces) if suspect else set()
    for job in jobs.order_by("-pk")[:OFFERED]:
        if not own or own & {path.rpartition(".")[0] for path in job.config["change"]}:
            return job
    return None


def _offered(spec: GameSpec, replayed: Sequence[Mapping[str, Any]], known: Sequence[str]) -> list[tuple[str, str]]:
    """Pieces whose numbers can be looked at: those of the lineups, the most frequent first, then all others."""
    places = {piece.id: piece for piece in spec.pieces}
    held: Counter[str] = Counter()
    for lineup in replayed:
        held.update({str(v) for team in lineup["teams"] for v in team["slots"].values() if str(v) in places})
    many = len(replayed)
    first = [(piece, f"{places[piece].name} (in {count} of {many})") for piece, count in held.most_common()]
    rest = [(p.id, p.name) for p in sorted(spec.pieces, key=lambda p: p.name) if p.id not in held]
    return [each for each in [*first, *rest] if each[0] not in known]


def trial_of(request: HttpRequest, search: Job) -> Job | None:
    """The change that an address asks for."""
    number = whole(request.GET.get("trial", ""), 2**31)
    jobs = Job.objects.filter(parent=search, kind="change", config__under__isnull=True)
    jobs = jobs.select_related("project", "game_version__simulator")
    return jobs.filter(pk=number).first() if number else None


def for_suspect(request: HttpRequest, search: Job, suspect: Suspect) -> dict[str, Any]:
    """The card on the page of a suspect."""
    newer = since(search)
    told = {"newer_replay": newer, "newer_found": read(newer) if newer else None}
    typed = replace(TypedChange.of(request.GET), suspect=suspect.key)
    return about(request, search, typed, trial_of(request, search)) | told
