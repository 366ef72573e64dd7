"""Two people, or two workers, do the same thing at once: the second waits and sees what the first has done.

``test_postgresql.py`` runs these on PostgreSQL too, where rows are locked one by one and not the whole database.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any, TypeVar

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from engine.config import GameConfig, SampleConfig
from tests.factories import Studio, game_version, search_job
from tests.webapp.agents import ada, measured
from tests.webapp.games_data import SPEC, simulator, with_data
from webapp.accounts import throttle
from webapp.accounts.models import User
from webapp.agents import keeping
from webapp.agents import views as agents_views
from webapp.agents.models import Agent
from webapp.balance import saving
from webapp.games import handshake, versions
from webapp.projects import members
from webapp.projects.models import Membership, Role
from webapp.studies import actions, explore_views, journal
from webapp.studies.explore_build import explored
from webapp.studies.explore_shortlist import decide
from webapp.studies.journal import Entry
from webapp.studies.models import Job, Status
from webapp.training.games import DATA
from workers import claims

pytestmark = pytest.mark.django_db(transaction=True)
T = TypeVar("T")


def in_a_thread(act: Callable[[], T]) -> T | Exception:
    """What ``act`` gives, or raises, with a connection of its own."""
    try:
        return act()
    except Exception as error:
        return error
    finally:
        connection.close()


def at_once(first: Callable[[], T], second: Callable[[], T]) -> tuple[T, T | Exception]:
    """The second begins when the first has written and before that is committed."""
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            done = first()
            waiting = pool.submit(in_a_thread, second)
            time.sleep(0.3)
        return done, waiting.result(30)


def test_of_two_who_ask_for_a_test_of_one_simulator_one_does() -> None:
    row = simulator()
    assert at_once(lambda: handshake.ask(row), lambda: handshake.ask(row)) == (True, False)


def test_of_two_who_save_the_same_rules_the_second_is_told(team: Studio) -> None:
    rules, _ = saving.ensure_defaults(team.project, team.owner)

    def change(budget: int) -> object:
        config = {**rules.config, "budget": budget}
        return saving.save(type(rules), team.project, rules.name, config, team.designer, rules)

    _, second = at_once(lambda: change(1000), lambda: change(2000))
    assert isinstance(second, saving.Replaced), second
    assert team.project.lineup_rules.count() == 2


def test_of_two_who_change_one_version_the_second_is_told(team: Studio) -> None:
    version = with_data(team.project)

    def cost(of_pikes: float) -> object:
        patch = {"pikes.cost": of_pikes}
        return versions.save(team.project, version.simulator, SPEC, patch, user=team.designer, base=version.number)

    _, second = at_once(lambda: cost(90.0), lambda: cost(91.0))
    assert isinstance(second, versions.Stale), second
    assert team.project.versions.count() == 2


def test_of_two_owners_who_leave_one_stays(team: Studio) -> None:
    Membership.objects.create(project=team.project, user=team.stranger, role=Role.OWNER)
    first, second = team.project.memberships.filter(role=Role.OWNER)
    _, left = at_once(lambda: members.remove(first, first.user), lambda: members.remove(second, second.user))
    assert isinstance(left, members.LastOwner), left
    assert team.project.memberships.filter(role=Role.OWNER).count() == 1


def test_of_two_workers_one_takes_a_job(team: Studio) -> None:
    job = search_job(team.project, rows=20, status=Status.QUEUED, finished_at=None)
    Job.objects.update(config={**job.config, "pool": {"kind": "local"}})
    first, second = at_once(lambda: claims.take(job.pk, "one"), lambda: claims.take(job.pk, "two"))
    assert first is not None
    assert second is None


def test_of_two_re_checks_neither_plays_a_battle_of_the_other(team: Studio) -> None:
    job = search_job(team.project, rows=20)

    def again(replicates: int) -> tuple[int, int]:
        config = _again(job, team.designer, replicates).config
        return config["first"], config["first"] + config["replicates"]

    first, second = at_once(lambda: again(10), lambda: again(32))
    assert isinstance(second, tuple), second
    assert second[0] >= first[1]


def test_of_two_who_ask_for_one_re_check_at_once_the_second_is_told_of_the_first_s(team: Studio) -> None:
    job = search_job(team.project, rows=20)
    first, second = at_once(lambda: _again(job, team.owner, 32), lambda: _again(job, team.designer, 32))
    assert isinstance(second, actions.PlayedAlready)
    assert second.job == first


@pytest.mark.parametrize("page", ["measure", "measure-old"])
def test_people_who_press_measure_together_start_one_measurement(
    team: Studio, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    agent = measured_on_old_numbers(team)
    together = Barrier(4)  # each has seen that nobody measures it yet
    monkeypatch.setattr(agents_views.keeping, "measure", _after(together, keeping.measure))
    address = reverse(f"agents:{page}", args=[team.project.slug, *([agent.pk] if page == "measure" else [])])

    def press(user: User) -> int:
        client = Client()
        client.force_login(user)
        return client.post(address).status_code

    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(in_a_thread, lambda user=user: press(user)) for user in (team.owner, team.designer) * 2]
        assert [answer.result(60) for answer in waiting] == [302] * 4
    assert agent.measurements.count() == 2, "the one of before, and one more"
    first, second = agent.measurements.order_by("pk")
    assert first.job.config["seed"] != second.job.config["seed"]


def measured_on_old_numbers(team: Studio) -> Agent:
    game_version(team.project)
    agent = ada(team.project)
    keeping.measure(agent, team.designer)
    job = measured(agent)
    config = {**job.config, "game": {**job.config["game"], "settings": {DATA: ["battle.time_limit=200.0"]}}}
    Job.objects.filter(pk=job.pk).update(config=config)
    return agent


def test_a_reason_that_is_sent_twice_at_once_is_written_down_once(team: Studio) -> None:
    job = search_job(team.project, rows=40)
    at_once(*[lambda: decide(job, explored(job), team.designer, 12, "add", "Too strong")] * 2)
    assert list(job.shortlist.values_list("action", "reason")) == [("add", "Too strong")]


def test_people_who_press_re_check_together_start_one_job(team: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    job = search_job(team.project, rows=40)
    decide(job, explored(job), team.designer, 12, "add", "Too strong")
    together = Barrier(4)  # each has seen that nobody plays it yet
    monkeypatch.setattr(explore_views.actions, "recheck", _after(together, actions.recheck))
    address = reverse("studies:explore-recheck", args=[team.project.slug, job.pk])

    def press(user: User) -> Any:
        client = Client()
        client.force_login(user)
        return client.post(address).json()

    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(in_a_thread, lambda user=user: press(user)) for user in (team.owner, team.designer) * 2]
        told = [answer.result(60) for answer in waiting]
    (started,) = job.children.all()
    assert [answer["started"] for answer in told] == [started.pk] * 4
    assert sum(f"Job {started.pk} plays these lineups again already" in answer["said"] for answer in told) == 3


def _after(together: Barrier, act: Callable[..., T]) -> Callable[..., T]:
    """``act`` once everybody is there."""

    def later(*args: Any) -> T:
        together.wait(30)
        return act(*args)

    return later


def _again(job: Job, user: User, replicates: int) -> Job:
    return actions.recheck(job, user, [[[0] * 8] * 3], [[0, 1]], [replicates])


def test_of_two_who_need_one_sample_at_once_both_get_it(team: Studio) -> None:
    config = SampleConfig(game=GameConfig(simulator="builtin:herobattle"))
    first, second = at_once(*[lambda: actions.sample(team.project, team.designer, config)] * 2)
    assert first == second


def test_what_two_write_into_a_job_s_history_is_numbered_without_gaps(team: Studio) -> None:
    job = search_job(team.project, rows=20)
    with ThreadPoolExecutor(4) as pool:
        lines = [pool.submit(in_a_thread, lambda: journal.append(job, {}, [Entry("logged", {})] * 3)) for _ in range(8)]
    assert [line.result() for line in lines] == [True] * 8
    assert list(job.events.order_by("sequence").values_list("sequence", flat=True)) == list(range(1, 25))


def test_many_who_guess_and_get_it_right_at_once_are_counted_one_by_one() -> None:
    window = timedelta(seconds=0.2)  # rows are removed all the time
    buckets = [throttle.Limit(kind, most, window).of("ines") for kind, most in (("few", 5), ("many", 50))]

    def try_it(number: int) -> str:
        try:
            throttle.attempt(*buckets)
        except throttle.TooMany:
            return "wait"
        if number % 3 == 0:
            throttle.forgive(buckets[1])
            throttle.forget(buckets[0])
        return "judged"

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda number: in_a_thread(lambda: try_it(number)), range(64)))
    assert set(told) <= {"judged", "wait"}, told
