"""The demo project: people of each role, a game with pieces broken on purpose, rules, objectives and a search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.config import PoolConfig
from engine.errors import ConfigError
from engine.lineups.companion import beside
from webapp.accounts.demo import DEMO_PEOPLE, SignIn, make_person
from webapp.accounts.models import User
from webapp.balance.saving import ensure_defaults
from webapp.games import handshake, versions
from webapp.games.models import GameVersion, Simulator
from webapp.games.simulators import ensure_builtin_simulators, record
from webapp.games.specs import spec_of
from webapp.projects.models import Membership, Project
from webapp.studies import actions, previews
from webapp.studies.form_values import first_values
from webapp.studies.forms import NewJobForm
from webapp.studies.line_origin import USUAL
from webapp.studies.models import Job

SLUG = "herobattle"
GAME = "builtin:herobattle-planted:1"
GAME_NAME = "Herobattle with hidden breaks"
MEASURED = 150_000
"""Battles that its pieces are measured by: so few that the first visit need not wait."""


@dataclass(frozen=True)
class Demo:
    """What was made or found. ``obstacle``: why there is no game yet, in a sentence."""

    project: Project
    designer: User
    sign_ins: list[SignIn]
    obstacle: str = ""


def make_demo() -> Demo:
    """Everything the demo needs but its first search, made where it is missing; what people changed since is left as it
    is."""
    project, _ = Project.objects.get_or_create(slug=SLUG, defaults={"name": "Herobattle"})
    people = {person.username: make_person(person) for person in DEMO_PEOPLE}
    for person in DEMO_PEOPLE:
        if person.role:
            user = people[person.username][0]
            Membership.objects.get_or_create(project=project, user=user, defaults={"role": person.role})
    sign_ins = [sign_in for _, sign_in in people.values()]
    simulator, designer = _simulator(project), people["designer"][0]
    if spec_of(simulator) is None:
        obstacle = f"The demo game did not pass its handshake test: {simulator.message}"
        return Demo(project, designer, sign_ins, obstacle)
    _version(project, simulator, designer)
    return Demo(project, designer, sign_ins)


def _simulator(project: Project) -> Simulator:
    """The game with five broken pieces, granted to this project alone, after its handshake test."""
    ensure_builtin_simulators()
    simulator, made = Simulator.objects.get_or_create(
        reference=GAME, defaults={"name": GAME_NAME, "kind": Simulator.Kind.BUILTIN}
    )
    if made:
        record(simulator, "registered", None, "for the demo project")
    simulator.projects.add(project)
    if not simulator.spec:
        # Nobody else tests it while the site is prepared: a test that is said to run was killed with an earlier start.
        Simulator.objects.filter(pk=simulator.pk).update(test=Simulator.Test.NONE)
        handshake.ask(simulator)
        handshake.run(simulator.pk)
        simulator.refresh_from_db()
    return simulator


def _version(project: Project, simulator: Simulator, user: User) -> GameVersion:
    """The newest version of the game data; "Spring data, version 1" is the simulator's own."""
    spec = spec_of(simulator)
    assert spec is not None
    return versions.current(project) or versions.save(project, simulator, spec, {}, user=user, label="Spring data")


def first_job(project: Project, user: User, play: Callable[[int], None] | None = None) -> Job:
    """The project's first search, for the real engine: what New job starts before anybody changes a field. ``play``
    runs a job, by its number, to its end: the random lineups that propose a line. Without it the search has the
    question's usual one. The search itself is only made, and asked for by nobody but the site. ``user``: whose form it
    is."""
    earlier = project.jobs.filter(kind="search").first()
    if earlier is not None:
        return earlier
    ensure_defaults(project, user)
    form = NewJobForm(first_values(project), project=project, user=user)
    if not form.is_valid():
        raise ConfigError([(name, str(errors[0])) for name, errors in form.errors.items()])
    if play is not None:
        sample = actions.sample(project, user, form.sample(), **{**form.refers(), "objective_set": None})
        play(sample.pk)
        previews.settle(form, Job.objects.get(pk=sample.pk))
    if form.cleaned_data["line"] is None and form.fallback is not None:
        form.propose(form.fallback, USUAL)
    search = form.search(None)
    # Short and in one process: it is played while the site starts, perhaps before there is a Ray.
    config = search.model_copy(update={"ticks": 30, "pool": PoolConfig(kind="local")})
    worth = beside(config, MEASURED)
    return actions.submit(project, None, config, title=form.asked.title, companion=worth, **form.refers())
