"""Attempts at a job with studies that do, and do not, what they should. Each study is a real process."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from engine import events
from tests.workers.conftest import MADE_UP, MakeJob
from webapp.lib.storage import store
from webapp.studies import actions, lineup_parts, progress, wire
from webapp.studies.models import Job, JobEvent, Status
from workers import claims, process, reconcile, runner
from workers.collect import references
from workers.relay import Relay, for_people


def run(job: Job, **more: Any) -> Job:
    runner.run(job.pk, MADE_UP, **more)
    return Job.objects.get(pk=job.pk)


def run_to_the_end(job: Job) -> Job:
    """Attempt after attempt, as the reconciler would."""
    while (job := run(job)).status == Status.QUEUED:
        pass
    return job


def kinds(job: Job) -> list[str]:
    return list(job.events.values_list("kind", flat=True))


def until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def beside(job: Job, act: Callable[[], object], tick: int = 3, **more: Any) -> Job:
    """Run the job here; once it has played ``tick`` rounds, act as another process would."""

    over = threading.Event()

    def wait_and_act() -> None:
        try:
            until(lambda: Job.objects.get(pk=job.pk).tick >= tick or over.is_set())
            act()
        finally:
            connection.close()

    other = threading.Thread(target=wait_and_act)
    other.start()
    try:
        return run(job, **more)
    finally:
        over.set()
        other.join()


def pid_of_study(job: Job, folder: Path) -> int:
    return int((folder / str(job.pk) / "process").read_text().split()[-2])


def test_what_was_played_of_the_round_that_a_stop_cut_off_is_in_the_numbers_of_the_job(make_job: MakeJob) -> None:
    told = {"evaluated": 14_800.0, "strong": 176.0, "front": 40.0}
    job = make_job(row={"metrics": told, "command": "stop"})
    claimed = claims.take(job.pk, "a worker")
    assert claimed is not None
    summary = {"evaluated": 14_995.0, "strong": 179.0, "over": 300.0, "front": 41.0, "battles_per_second": 9.0}
    stopped = events.Stopped(
        job=job.pk, attempt=1, sequence=1, reason="Stopped by request.", artifacts={}, summary=summary
    )
    Relay(claimed).take([events.encode(stopped)])
    job.refresh_from_db()
    assert (job.status, job.metrics) == ("stopped", {"evaluated": 14_995.0, "strong": 179.0, "front": 40.0})
    assert job.events.get(kind="stopped").body["metrics"] == job.metrics


def test_what_was_played_of_the_round_that_a_pause_cut_off_is_in_the_numbers_of_the_job(make_job: MakeJob) -> None:
    job = make_job(row={"metrics": {"evaluated": 14_800.0, "strong": 176.0}, "command": "pause"})
    claimed = claims.take(job.pk, "a worker")
    assert claimed is not None
    summary = {"evaluated": 14_995.0, "strong": 179.0, "over": 300.0}
    paused = events.Paused(job=job.pk, attempt=1, sequence=1, artifacts={}, summary=summary)
    Relay(claimed).take([events.encode(paused)])
    actions.stop(job)
    job.refresh_from_db()
    assert (job.status, job.metrics) == ("stopped", {"evaluated": 14_995.0, "strong": 179.0})


def test_a_study_is_relayed_to_its_end(make_job: MakeJob) -> None:
    job = run(make_job(ticks=10))
    assert (job.status, job.tick, job.ticks, job.stalled_attempts, job.worker) == (
        Status.FINISHED,
        10,
        10,
        0,
        "",
    )
    assert kinds(job) == ["status", "started", *["progressed"] * 10, "finished"]
    assert list(job.events.values_list("sequence", flat=True)) == list(range(1, 14))
    assert job.counters["battles"] == 640
    assert set(job.artifacts) == {"front", "archive"}
    assert job.finished_at is not None
    assert job.metrics == {"evaluated": 8.0, "over": 3.0, "confirmed": 2.0}, (
        "what fresh battles confirm comes with the end"
    )
    assert job.events.get(kind="finished").body["metrics"] == job.metrics


def test_the_last_two_checkpoints_are_kept_and_older_ones_go(make_job: MakeJob) -> None:
    job = run(make_job(ticks=6))
    said = [e.body["artifacts"]["checkpoint"] for e in job.events.filter(kind="progressed")]
    assert said[-2:] == [job.previous_checkpoint, job.checkpoint]
    assert [store().has(digest) for digest in said] == [False] * 4 + [True] * 2


@pytest.mark.parametrize("at", [1, 4, 9])
def test_a_study_that_is_killed_goes_on_and_ends_the_same(make_job: MakeJob, at: int) -> None:
    calm = run(make_job(ticks=10))
    job = make_job(ticks=10, deeds=[{"tick": at, "attempt": 1, "do": "die"}])
    first = run(job)
    assert first.status == Status.QUEUED
    assert first.events.filter(kind="incident").get().body["message"].startswith("The search ended unexpectedly.")
    second = run(job)
    assert (second.status, second.attempt) == (Status.FINISHED, 2)
    assert second.artifacts == calm.artifacts
    assert list(second.events.filter(kind="progressed").values_list("tick", flat=True)) == list(range(1, 11))


def test_a_study_that_always_dies_at_its_start_fails_after_three_attempts(make_job: MakeJob) -> None:
    job = run_to_the_end(make_job(deeds=[{"tick": 0, "do": "die"}]))
    assert (job.status, job.attempt, job.error) == (Status.FAILED, 3, "died")
    assert job.message.startswith("The search ended unexpectedly. It was the third attempt in a row")


def test_a_new_checkpoint_gives_an_attempt_back(make_job: MakeJob) -> None:
    deaths = [{"tick": tick, "attempt": tick, "do": "die"} for tick in range(1, 6)]
    job = run_to_the_end(make_job(ticks=7, deeds=deaths))
    assert (job.status, job.attempt) == (Status.FINISHED, 6)


def test_a_failed_job_can_be_resumed(make_job: MakeJob) -> None:
    deaths = [{"tick": 0, "attempt": attempt, "do": "die"} for attempt in (1, 2, 3)]
    job = run_to_the_end(make_job(deeds=deaths))
    assert job.status == Status.FAILED
    actions.resume(job)
    assert run_to_the_end(job).status == Status.FINISHED


def test_a_permanent_failure_says_why_and_is_not_tried_again(make_job: MakeJob) -> None:
    deed = {"tick": 2, "do": "fail", "message": "The simulator says “no such piece”.", "permanent": True}
    job = run(make_job(deeds=[deed]))
    assert (job.status, job.error) == (Status.FAILED, "SimulatorError")
    assert job.message.startswith(str(deed["message"]))
    assert kinds(job)[-1] == "failed"


def test_a_job_that_fails_keeps_what_was_counted_until_then(make_job: MakeJob) -> None:
    deed = {"tick": 2, "do": "fail", "message": "Enough.", "permanent": True}
    job = run(make_job(deeds=[deed]))
    assert (job.status, job.tick, job.counters["battles"]) == (Status.FAILED, 2, 128)


def test_news_of_the_site_itself_have_the_round_in_which_they_came(make_job: MakeJob) -> None:
    job = run_to_the_end(make_job(ticks=5, deeds=[{"tick": 3, "attempt": 1, "do": "die"}]))
    rounds = list(job.events.filter(kind="status").order_by("sequence").values_list("tick", flat=True))
    assert rounds[0] == 0
    assert 3 in rounds


def test_problems_of_a_configuration_become_sentences() -> None:
    message = "game.spec: the simulator now describes another game; lineups.budget_low: no team costs that much."
    assert for_people(message) == "The simulator now describes another game. No team costs that much."
    message = "game.settings.frame_skip: must be 1 to 100, not -1; game.settings.points: must be 1 to 1,000, not -5"
    assert for_people(message) == "“frame_skip” must be 1 to 100, not -1. “points” must be 1 to 1,000, not -5."
    assert for_people("The game says “no: never”.") == "The game says “no: never”."


def test_names_and_paths_of_candidates_stay_what_they_are(make_job: MakeJob) -> None:
    said = "Candidate Hero in /games/candidates/a.py lost its worker"
    deed = {"tick": 1, "do": "say_words", "message": said}
    job = run(make_job(deeds=[deed]))
    assert said in [event.body.get("message") for event in job.events.filter(kind="logged")]


def test_a_passing_failure_is_tried_again(make_job: MakeJob) -> None:
    deed = {"tick": 2, "attempt": 1, "do": "fail", "message": "The simulator went away.", "permanent": False}
    job = run_to_the_end(make_job(deeds=[deed]))
    assert (job.status, job.attempt) == (Status.FINISHED, 2)
    assert "failed" not in kinds(job)
    assert job.events.get(kind="incident").body["message"].startswith("The simulator went away. The job goes on from")


@pytest.mark.parametrize(
    "line",
    [
        "this is not JSON",
        '{"kind":"progressed"}',
        '{"kind":"unknown","tick":1}',
        '{"kind":"progressed","tick":5,"metrics":{"x":NaN},"artifacts":{}}',
        '{"kind":"logged","schema":7,"message":"from the future"}',
        "[" * 100_000,
        "x" * (1 << 21),
        '{"kind":"progressed","tick":-1,"metrics":{},"artifacts":{"front":"../../etc/passwd"}}',
    ],
    ids=["junk", "incomplete", "unknown", "NaN", "schema", "deep", "huge", "path"],
)
def test_an_unreadable_event_ends_the_attempt_and_loses_nothing(make_job: MakeJob, line: str) -> None:
    job = run(make_job(ticks=6, deeds=[{"tick": 3, "attempt": 1, "do": "write", "line": line}]))
    assert (job.status, job.tick) == (Status.QUEUED, 3)
    incident = job.events.filter(kind="incident").get()
    assert incident.body["message"].startswith("The search said something the site cannot read. The job goes on from")
    assert run(job).status == Status.FINISHED


def test_an_artifact_that_is_not_in_the_store_is_never_pointed_at(make_job: MakeJob) -> None:
    job = run(make_job(ticks=6, deeds=[{"tick": 3, "attempt": 1, "do": "promise"}]))
    assert (job.status, job.tick) == (Status.QUEUED, 3)
    assert job.checkpoint != "0" * 64
    assert run(job).status == Status.FINISHED


def test_a_round_that_is_told_twice_is_recorded_once(make_job: MakeJob) -> None:
    job = run(make_job(ticks=5, again=True))
    assert job.status == Status.FINISHED
    assert list(job.events.filter(kind="progressed").values_list("tick", flat=True)) == [1, 2, 3, 4, 5]


def test_a_flood_of_messages_is_bounded_and_no_round_is_lost(make_job: MakeJob) -> None:
    job = run(make_job(ticks=6, deeds=[{"tick": 3, "do": "talk", "times": 20_000}]))
    assert job.status == Status.FINISHED
    assert list(job.events.filter(kind="progressed").values_list("tick", flat=True)) == [1, 2, 3, 4, 5, 6]
    said = [e.body["message"] for e in job.events.filter(kind="logged")]
    assert len(said) < 1000
    left_out = sum(int(text.split()[0].replace(",", "")) for text in said if text.endswith("were left out."))
    assert left_out + sum(text.startswith("message") for text in said) == 20_000


def test_a_message_that_names_what_the_study_needs_is_kept_in_any_flood_and_so_is_what_it_names(
    make_job: MakeJob,
) -> None:
    claimed = claims.take(make_job().pk, "a worker")
    assert claimed is not None
    needed = store().put(b"who is played against")
    words = [events.Logged(message=f"message {i}") for i in range(200)]
    named = events.Logged(message="The next lesson begins.", artifacts={"policy_description/old": needed})
    Relay(claimed).take([events.encode(event) for event in (*words, named)])
    job = Job.objects.get(pk=claimed.job.pk)
    assert job.events.filter(body__message__startswith="message").count() < 200
    assert job.events.get(body__message="The next lesson begins.").body["artifacts"] == named.artifacts
    assert needed in set(references())
    assert job.artifacts == {}, "nothing is left yet"


def test_a_long_round_moves_the_jobs_counters_and_adds_no_line_to_its_history(make_job: MakeJob) -> None:
    job = make_job(ticks=3, deeds=[{"tick": 2, "do": "beat"}, {"tick": 2, "do": "die", "attempt": 1}])
    run(job)
    died = Job.objects.get(pk=job.pk)
    assert (died.tick, died.counters["evaluations"], died.counters["battles"]) == (2, 19, 152)
    beat = died.events.get(kind="logged")
    assert wire.message(beat)["counters"]["evaluations"] == 19
    assert all(line["words"] for line in progress.history(died))
    ended = run_to_the_end(died)
    assert (ended.status, ended.counters["evaluations"]) == (Status.FINISHED, 24)


def test_what_came_back_in_a_round_is_at_hand_until_the_round_is_complete_and_no_event_holds_on_to_it(
    make_job: MakeJob,
) -> None:
    job = make_job(ticks=3, deeds=[{"tick": 2, "do": "beat", "arrived": True}, {"tick": 2, "do": "die", "attempt": 1}])
    run(job)
    died = Job.objects.get(pk=job.pk)
    assert store().has(died.artifacts["arrived"])
    assert died.artifacts["arrived"] not in str(died.events.get(kind="logged").body)
    assert "arrived" not in run_to_the_end(died).artifacts


def told(job: Job, command: str, event: type[events.Paused | events.Stopped], **left: str) -> Job:
    """The job after an attempt that has obeyed a command."""
    Job.objects.filter(pk=job.pk).update(command=command)
    claimed = claims.take(job.pk, "a worker")
    assert claimed is not None
    more: dict[str, Any] = {"reason": "Stopped by request."} if event is events.Stopped else {}
    Relay(claimed).take([events.encode(event(job=job.pk, attempt=job.attempt + 1, artifacts=left, **more))])
    return Job.objects.get(pk=job.pk)


def test_what_a_pause_cut_off_stays_until_the_job_has_gone_on_and_left_something_new(make_job: MakeJob) -> None:
    first, agents, later = (store().put(text) for text in (b"arrived", b"agents", b"more agents"))
    cut_off = {"arrived": first, "arrived_agents": agents, "policies": later, "policy": later}
    paused = told(make_job(), "pause", events.Paused, **cut_off)
    assert (paused.status, paused.artifacts) == ("paused", cut_off)
    assert agents not in str(paused.events.get(kind="paused").body), "no event holds on to it"
    stopped = told(back_in_the_queue(paused), "stop", events.Stopped)
    assert (stopped.status, stopped.artifacts) == ("stopped", cut_off), "it was stopped before it went on"
    again = told(back_in_the_queue(paused), "stop", events.Stopped, archive=first, arrived_agents=later)
    assert again.artifacts == {"archive": first, "arrived_agents": later}


@pytest.mark.parametrize("command", ["pause", "stop"])
def test_players_of_a_round_whose_networks_an_attempt_died_before_it_wrote_are_not_counted(
    command: str, make_job: MakeJob
) -> None:
    before, agents, back, lineups = (store().put(text) for text in (b"arrived", b"agents", b"back", b"lineups"))
    players = {"config": {"task": {}}, "command": command}
    alone = died(make_job(row=players), back)
    assert (alone.status, alone.artifacts) == ("paused" if command == "pause" else "stopped", {})
    kept = {"arrived": before, "arrived_agents": agents}
    assert died(make_job(row={**players, "artifacts": kept})).artifacts == kept, "it died before it went on"
    assert died(make_job(row={**players, "artifacts": kept}), back).artifacts == {}
    search = make_job(row={"command": command, "artifacts": {"arrived": lineups}})
    assert died(search).artifacts == {"arrived": lineups}, "lineups need no networks"


def died(job: Job, back: str = "") -> Job:
    """The job after an attempt that has died; ``back``: who it said had come back."""
    claimed = claims.take(job.pk, "a worker")
    assert claimed is not None
    if back:
        Relay(claimed).take([events.encode(events.Logged(job=job.pk, attempt=1, message="", arrived=back))])
    runner.record_death(claimed, "It ended.")
    return Job.objects.get(pk=job.pk)


def back_in_the_queue(job: Job) -> Job:
    Job.objects.filter(pk=job.pk).update(status="queued")
    return Job.objects.get(pk=job.pk)


def test_stop_keeps_what_was_found(make_job: MakeJob) -> None:
    job = make_job(ticks=1000, pace=0.02)
    ended = beside(job, lambda: actions.stop(job))
    assert (ended.status, ended.command, ended.message) == (Status.STOPPED, "", "Stopped. What was found stays.")
    assert set(ended.artifacts) == {"front", "archive"}
    assert ended.tick < 1000


def test_pause_and_resume_end_like_an_undisturbed_run(make_job: MakeJob) -> None:
    calm, job = run(make_job(ticks=60)), make_job(ticks=60, pace=0.05)
    paused = beside(job, lambda: actions.pause(job))
    assert (paused.status, paused.command, paused.worker) == (Status.PAUSED, "", "")
    assert 3 <= paused.tick < 60
    actions.resume(paused)
    ended = run(job)
    assert (ended.status, ended.artifacts) == (Status.FINISHED, calm.artifacts)


def test_a_study_that_ignores_a_signal_is_ended_and_its_rounds_stay(make_job: MakeJob) -> None:
    job = make_job(ticks=1000, pace=0.02, deaf=True)
    ended = beside(job, lambda: actions.stop(job), obey=0.5)
    assert ended.status == Status.STOPPED
    assert "front" in ended.artifacts


def test_a_signal_from_outside_is_nobodys_command_to_stop(make_job: MakeJob, settings: Any) -> None:
    job = make_job(ticks=40, pace=0.05)
    beside(job, lambda: os.kill(pid_of_study(job, settings.JOBS_DIR), signal.SIGTERM))
    again = run_to_the_end(job)
    assert (again.status, again.attempt) == (Status.FINISHED, 2)


def test_an_attempt_that_lost_its_job_kills_its_study_and_writes_nothing(make_job: MakeJob, settings: Any) -> None:
    job = make_job(ticks=10_000, pace=0.02)
    seen: dict[str, Any] = {}

    def another_worker_takes_it() -> None:
        seen["study"] = process.label(pid_of_study(job, settings.JOBS_DIR))
        Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
        reconcile.release()
        seen["row"] = Job.objects.filter(pk=job.pk).values().get()
        seen["events"] = JobEvent.objects.count()

    beside(job, another_worker_takes_it)
    assert process.gone(seen["study"])
    assert Job.objects.filter(pk=job.pk).values().get() == seen["row"]
    assert JobEvent.objects.count() == seen["events"]


def test_nothing_of_a_study_outlives_it(make_job: MakeJob, tmp_path: Path) -> None:
    note = tmp_path / "child"
    run(make_job(ticks=2, deeds=[{"tick": 1, "do": "adopt", "note": str(note)}]))
    until(lambda: process.started(int(note.read_text())) is None)


def test_a_study_that_a_killed_worker_left_behind_is_killed_before_the_next_starts(
    make_job: MakeJob, settings: Any
) -> None:
    from workers import launch

    job = make_job(ticks=1000, pace=0.05)
    folder = launch.prepare(job.pk, job.config)
    left = launch.Study([*MADE_UP, *launch.arguments(job.pk, 1, folder, "")], folder)
    launch.prepare(job.pk, job.config)
    until(lambda: process.started(left.child.pid) is None)
    left.close()


@pytest.mark.parametrize("wanted", [True, False])
def test_a_setting_of_the_site_has_every_job_keep_a_tensorboard_log(
    settings: Any, tmp_path: Path, wanted: bool
) -> None:
    from engine.cli import _parser
    from workers import launch

    settings.TENSORBOARD = wanted
    told = _parser().parse_args(launch.arguments(7, 2, tmp_path, ""))
    assert told.settings == (["tensorboard=true"] if wanted else [])


@pytest.mark.parametrize("vanishes", [True, False])
def test_a_checkpoint_that_vanished_or_is_damaged_is_replaced_by_the_one_before(
    make_job: MakeJob, vanishes: bool, settings: Any
) -> None:
    calm = run(make_job(ticks=8))
    job = run(make_job(ticks=8, deeds=[{"tick": 5, "attempt": 1, "do": "die"}]))
    lose(job.checkpoint, vanishes, settings)
    again = run(job)
    assert (again.status, again.artifacts) == (Status.FINISHED, calm.artifacts)
    said = [event.body["message"] for event in again.events.filter(kind="incident")]
    assert said[1:] == ["Its newest checkpoint is missing or damaged. The job goes on from the checkpoint before."]


@pytest.mark.parametrize("vanish", [True, False])
def test_a_job_whose_checkpoints_are_all_lost_starts_again_and_says_so(
    make_job: MakeJob, vanish: bool, settings: Any
) -> None:
    calm = run(make_job(ticks=8))
    job = run(make_job(ticks=8, deeds=[{"tick": 5, "attempt": 1, "do": "die"}]))
    for digest in (job.checkpoint, job.previous_checkpoint):
        lose(digest, vanish, settings)
    again = run(job)
    assert (again.status, again.artifacts) == (Status.FINISHED, calm.artifacts)
    said = [event.body["message"] for event in again.events.filter(kind="incident")]
    assert said[1:] == ["Its newest checkpoint is missing or damaged. The job starts again."]


def lose(digest: str, vanishes: bool, settings: Any) -> None:
    if vanishes:
        store().discard([digest])
    else:
        (Path(settings.STORE) / digest[:2] / digest[2:]).write_bytes(b"something else")


def test_the_log_tells_an_engineer_the_last_words(make_job: MakeJob, caplog: pytest.LogCaptureFixture) -> None:
    run(make_job(deeds=[{"tick": 0, "do": "die"}]))
    assert "the last words of a study" in caplog.text


def test_a_sample_ends_when_its_time_is_up_and_keeps_what_it_played(
    make_job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "SAMPLE_TIME", 0.2)
    monkeypatch.setattr(lineup_parts, "ENOUGH", 1)
    job = run(make_job({"kind": "sample"}, ticks=1000, pace=0.02))
    assert (job.status, job.message) == (Status.STOPPED, "The time for it was up.")
    assert 0 < job.tick < 1000
    assert "archive" in job.artifacts


def test_a_slow_sample_makes_room_for_others_and_goes_on_from_its_place(
    make_job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "SAMPLE_TIME", 0.2)
    monkeypatch.setattr(lineup_parts, "ENOUGH", 100_000)
    job = make_job({"kind": "sample"}, ticks=1000, pace=0.02)
    other = make_job({"kind": "sample"}, ticks=2)
    first = run(job)
    assert (first.status, first.artifacts["front"] != "") == (Status.QUEUED, True)
    assert 0 < first.tick < 1000
    run(other)
    monkeypatch.setattr(runner, "SAMPLE_LONGEST", 0.5)
    second = run(job)
    assert (second.status, second.message) == (Status.STOPPED, "The time for it was up.")
    assert second.tick > first.tick
    assert second.events.filter(kind="progressed").count() == second.tick


def test_a_worker_that_is_asked_to_end_gives_its_job_back_at_once(make_job: MakeJob, settings: Any) -> None:
    before = signal.getsignal(signal.SIGTERM)
    job = make_job(ticks=1000, pace=0.02)
    seen: dict[str, str] = {}

    def the_site_is_shut_down() -> None:
        seen["study"] = process.label(pid_of_study(job, settings.JOBS_DIR))
        os.kill(os.getpid(), signal.SIGTERM)

    left = beside(job, the_site_is_shut_down)
    assert (left.status, left.stalled_attempts, left.worker) == (Status.QUEUED, 0, "")
    assert left.events.get(kind="incident").body["message"].startswith("The site was shut down while the job ran.")
    assert process.gone(seen["study"])
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_job_whose_study_cannot_be_started_says_so(make_job: MakeJob) -> None:
    job = make_job()
    runner.run(job.pk, ("/nowhere/python",))
    job.refresh_from_db()
    assert job.status == Status.QUEUED
    assert "could not be started here (No such file or directory)" in job.events.get(kind="incident").body["message"]


def test_when_ray_goes_the_job_waits_for_it_and_is_not_blamed(make_job: MakeJob, settings: Any, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as ray:
        settings.RAY_ADDRESS_FILE = tmp_path / "ray_address"
        settings.RAY_ADDRESS_FILE.write_text(f"127.0.0.1:{ray.getsockname()[1]}")
        plan = {"ticks": 1000, "pace": 0.02, "deeds": [{"tick": 60, "attempt": 1, "do": "die"}]}
        job = make_job({"config": {"pool": {"kind": "ray"}, "made_up": plan}})
        left = beside(job, ray.close)  # the study dies later, as one does that waits for a Ray that is gone
    assert (left.status, left.stalled_attempts) == (Status.QUEUED, 0)
    assert left.events.get(kind="incident").body["message"].startswith("The battle workers went away.")
    reconcile.reconcile()
    left.refresh_from_db()
    assert (left.status, left.message) == (
        Status.WAITING,
        "Waits for the battle workers to come up. That takes some seconds after a start, and minutes while the machine "
        "is busy.",
    )
    settings.RAY_ADDRESS_FILE.with_suffix(".failures").write_text("3")
    reconcile.reconcile()
    left.refresh_from_db()
    assert left.message == (
        "Waits for the battle workers to come up. This machine is too busy: 3 tries took too long. The next has more "
        "time."
    )
    with socket.create_server(("127.0.0.1", 0)) as again:
        settings.RAY_ADDRESS_FILE.write_text(f"127.0.0.1:{again.getsockname()[1]}")
        reconcile.reconcile()
        left.refresh_from_db()
        assert left.status == Status.QUEUED


def test_what_a_simulator_did_is_told_as_it_was_said_with_the_next_step(make_job: MakeJob) -> None:
    said = "game.py: not one lineup could be evaluated; the last one: /opt/candidate/late.py ended. A simulator"
    ended = run(make_job(deeds=[{"tick": 0, "do": "fail", "message": said, "permanent": True}]))
    assert ended.message.startswith(f"G{said[1:]}.")
    assert ended.message.endswith("“Try again” then goes on.")
