"""What people do to jobs. These functions are the only ones on the site's side that write a job's row or history."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from engine.catalog import STUDIES
from engine.config import FURTHER, RecheckConfig, Study, parse, study_hash
from engine.config.removal import RemovalConfig
from engine.config.worth import WorthConfig
from webapp.lib.disk import require_room
from webapp.projects.models import Project
from webapp.studies import companion, journal, kinds, patterns, playable, queue, retired
from webapp.studies.journal import TIME_IS_UP, Entry, status_entry
from webapp.studies.models import ACTIVE, FOR_A_FORM, Job, Status

if TYPE_CHECKING:
    from webapp.accounts.models import User


class Refused(Exception):
    """The job's state does not allow that; the message says so in a sentence."""


class PlayedAlready(Refused):
    """``job`` plays the same lineups, and has not ended."""

    def __init__(self, job: Job) -> None:
        self.job = job
        super().__init__(f"Job {job.pk} plays these lineups again already. Its battles will be told with the others.")


def submit(
    project: Project, user: User | None, config: Study, *, title: str, notes: Sequence[str] = (), **refers: Any
) -> Job:
    """A new job, on its way to a worker once the transaction is committed. ``notes``: sentences its history begins
    with. ``refers``: template, game_version, lineup_rules, objective_set, parent, request_key, request_hash, asked,
    awaits, accompanies; ``companion``: the experiment that comes with a search, if one does. Redis being away loses
    nothing: the reconciler sends the job later."""
    beside: WorthConfig | None = refers.pop("companion", None)
    if "accompanies" not in refers:  # what comes with a search takes for meant what the search does
        config = patterns.pinned(config, project, refers.get("game_version"))
    job = Job(
        project=project,
        kind=refers.pop("kind", config.kind),
        title=title,
        config=config.model_dump(mode="json"),
        config_hash=study_hash(config),
        ticks=0 if refers.get("asked") else getattr(config, "ticks", 0),
        created_by=user,
        **refers,
    )
    if not job.for_form:  # a sample belongs to a form, and waits for room where the form is
        require_room()
    with transaction.atomic():
        obstacle = queue.room_obstacle(job)
        job.status, job.message = (Status.WAITING, obstacle) if obstacle else (Status.QUEUED, "")
        job.save()
        journal.append(job, {}, [status_entry(job.status, obstacle), *map(journal.note, notes)])
        if not obstacle:
            transaction.on_commit(lambda: queue.send(job), robust=True)
        if beside is not None:
            accompany(job, user, beside)
    return job


def accompany(
    search: Job, user: User | None, config: WorthConfig | RemovalConfig, *, changed_anew: bool = False
) -> Job:
    """The experiment that comes with a search, on the same game data and rules, or the tests of the suspects that it
    named: it waits until the search has ended. One that has not failed and was not stopped is the search's one, whoever
    asks again; with ``changed_anew`` only where nothing has changed in it, such as the suspects."""
    with transaction.atomic():
        # Of two at once, the second finds what the first began.
        Project.objects.select_for_update(no_key=True).get(pk=search.project_id)
        found = companion.of(search, config.kind)
        config = config.model_copy(update={"intended": tuple(patterns.intended(search))})
        other = changed_anew and found is not None and found.config_hash != study_hash(config)
        if found is not None and not other and found.status not in (Status.STOPPED, Status.FAILED):
            return found
        return submit(
            search.project,
            user,
            config,
            title=f"{STUDIES[config.kind].label}, for “{search.title[:80]}”"[:120],
            template=config.kind,
            game_version=search.game_version,
            lineup_rules=search.lineup_rules,
            accompanies=search,
        )


def sample(project: Project, user: User | None, config: Study, *, again: bool = False, **refers: Any) -> Job:
    """The random sample for a search that is being composed, the trial for a training, or battles to watch: one that
    was played before, or a new one.

    A person composes one search at a time, so their earlier samples that still play and that no started job waits for
    are put aside, and go on from their place when they are wanted again; battles to watch are short, and go on.
    ``again`` plays anew what failed before.
    """
    with transaction.atomic():
        # Of two at once, the second finds what the first began.
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        return _sample(project, user, config, again=again, **refers)


def _sample(project: Project, user: User | None, config: Study, *, again: bool, **refers: Any) -> Job:
    mine = Job.objects.for_forms().filter(project=project)
    known = mine.filter(config_hash=study_hash(config), parent=refers.get("parent")).order_by("-pk").first()
    if known is not None and known.active:
        return known
    aside = known is not None and known.status == Status.PAUSED
    if known is not None and not aside and not _worthless(known, again):
        return known
    awaited = Q(awaited_by__status__in=(Status.QUEUED, Status.WAITING))
    for earlier in mine.filter(created_by=user, status__in=ACTIVE).exclude(awaited).exclude(config__kind="record"):
        with contextlib.suppress(Refused):  # it ended meanwhile
            pause(earlier)
    if known is not None and aside:
        with contextlib.suppress(Refused):  # somebody else let it go on
            resume(known)
        return Job.objects.get(pk=known.pk)
    title = f"{kinds.parts_of(config.kind).trial}: {config.name}"[:120]
    return submit(project, user, config, title=title, kind=FOR_A_FORM, **refers)


def _worthless(sample: Job, again: bool) -> bool:
    """Whether a sample tells nothing: it was cut short, or it failed and somebody wants it played again."""
    cut_short = sample.status == Status.STOPPED and sample.message != TIME_IS_UP
    return cut_short or (again and sample.terminal and not {"sample", "samples", "policy"} & sample.artifacts.keys())


def stop(job: Job) -> None:
    """End the job and keep what it found; an experiment that waits for it does not begin any more. Raises Refused when
    it has ended already."""
    _stop(job)
    for each in job.companions.filter(status__in=(Status.QUEUED, Status.WAITING, Status.PAUSED)):
        with contextlib.suppress(Refused):  # it ended meanwhile
            _stop(each)


def _stop(job: Job) -> None:
    where = {"status__in": (Status.QUEUED, Status.WAITING, Status.PAUSED)}
    message = job.stopped_words(job.tick)
    ended = Entry("stopped", {"reason": message, "artifacts": {}, "summary": {}}, job.tick)
    if journal.append(
        job,
        where,
        [ended],
        status=Status.STOPPED,
        message=message,
        command="",
        stalled_attempts=0,
        finished_at=timezone.now(),
    ):
        return
    if not _command(job, Job.Command.STOP):
        raise Refused("This job has ended already.")


def pause(job: Job) -> None:
    """Put the job aside: its place is free for others, and Resume goes on where it was. Raises Refused."""
    where = {"status__in": (Status.QUEUED, Status.WAITING)}
    entry = Entry("paused", {"artifacts": {}}, job.tick)
    if journal.append(job, where, [entry], status=Status.PAUSED, message="", command="", enqueued_at=None):
        return
    if not _command(job, Job.Command.PAUSE):
        raise Refused("Only a job that runs or waits can be paused.")


def _command(job: Job, command: Job.Command) -> bool:
    """Tell the worker of a running job what is wanted; it looks every second."""
    entry = status_entry(Status.RUNNING, command=command.value)
    where = {"status": Status.RUNNING}
    if Job.objects.filter(pk=job.pk, command=command, **where).exists():
        return True  # said already, perhaps in another browser
    return journal.append(job, where, [entry], command=command)


def resume(job: Job) -> None:
    """Let a paused job go on, or a failed one try again; takes back a pause that has not happened yet. Raises Refused,
    also where its game cannot be played now, or where it asks for what no study does any more."""
    where = {"status__in": (Status.PAUSED, Status.FAILED)}
    changes = {"status": Status.QUEUED, "message": "", "error": "", "command": "", "stalled_attempts": 0}
    if job.status == Status.FAILED:
        changes["awaits"] = None  # what failed to be found out is tried again as well
    with transaction.atomic():
        if journal.append(job, where, [status_entry(Status.QUEUED)], **changes, enqueued_at=None, finished_at=None):
            fresh = Job.objects.select_related("project").get(pk=job.pk)
            if reason := retired.obstacle(fresh.config) or playable.obstacle(fresh):
                raise Refused(reason)  # and nothing of this is written
            if obstacle := queue.room_obstacle(fresh):
                queue.hold(fresh, obstacle)
            else:
                transaction.on_commit(lambda: queue.send(fresh), robust=True)
            return
    waiting = {"status": Status.RUNNING, "command": Job.Command.PAUSE}
    if not journal.append(job, waiting, [status_entry(Status.RUNNING, command="")], command=""):
        raise Refused("Only a paused job, or one that failed, can be resumed.")


def recheck(
    job: Job,
    user: User,
    genomes: Sequence[Sequence[Sequence[int]]],
    anchors: Sequence[Sequence[int]],
    times: Sequence[int],
    **kept: str,
) -> Job:
    """Play chosen lineups of a finished search again on fresh battles, none of which any earlier re-check played;
    ``kept``: of the request that asks for it.

    ``genomes`` is [n][teams][slots] and ``anchors`` [n][2] (strongest and weakest team), as in the job's archive;
    ``times`` [n]: how often each lineup's pairings are played.
    Raises Refused where the game cannot be played now, and PlayedAlready while another one plays them as often."""
    if reason := playable.obstacle(job):
        raise Refused(reason)
    shared = {name: job.config[name] for name in ("seed", "game", "lineups", "objectives", "pool")}
    shared["intended"] = job.config.get("intended", ())
    uneven = times if len(set(times)) > 1 else ()
    chosen = {"genomes": genomes, "anchors": anchors, "replicates": max(times), "times": uneven}
    with transaction.atomic():
        # Of two at once, the second plays after the first's battles. It is the row at which the journal queues.
        Project.objects.select_for_update(no_key=True).get(pk=job.project_id)
        if playing := _playing(job, genomes, times):
            raise PlayedAlready(playing)
        named = {"name": f"Re-check of {job.title}"[:120], "first": _unplayed(job)}
        return submit(
            job.project,
            user,
            parse(RecheckConfig, {**named, **chosen, **shared}),
            title=f"Re-check: {job.title}"[:120],
            template=job.template,
            game_version=job.game_version,
            lineup_rules=job.lineup_rules,
            objective_set=job.objective_set,
            parent=job,
            **kept,
        )


def _playing(job: Job, genomes: Sequence[Sequence[Sequence[int]]], times: Sequence[int]) -> Job | None:
    """The re-check on its way that plays these lineups and no others, each at least as often."""
    asked = {tuple(map(tuple, genome)): count for genome, count in zip(genomes, times, strict=True)}
    for each in _rechecks(job).filter(status__in=ACTIVE):
        config = parse(RecheckConfig, each.config)
        its = dict(zip(config.genomes, config.times or repeat(config.replicates), strict=False))
        if its.keys() == asked.keys() and all(its[genome] >= count for genome, count in asked.items()):
            return each
    return None


def _unplayed(job: Job) -> int:
    """The first of the fresh replicates of a search that neither its end nor any re-check has played."""
    played = [(c["first"] + c["replicates"]) for c in _rechecks(job).values_list("config", flat=True)]
    # The end of the search replays its front on the first of the fresh replicates.
    by_search = FURTHER * job.config.get("fresh", 0)
    return max([int(RecheckConfig.model_fields["first"].default) + by_search, *played])


def _rechecks(job: Job) -> Any:
    return Job.objects.filter(parent=job, kind="recheck")
