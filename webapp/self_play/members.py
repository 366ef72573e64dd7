"""Members of a population, as they are and as they were, to be watched before anybody keeps them."""

from __future__ import annotations

from engine.errors import StoreError
from engine.styles.agents import files_of
from webapp.agents import unkept
from webapp.agents.unkept import Unkept
from webapp.lib.storage import store
from webapp.self_play.reading import SelfPlayResult
from webapp.studies.actions import Refused
from webapp.studies.models import Job

NETWORKS = "pool"
"""What a job calls the networks of everybody on its ladder."""
NOT_YET = "Members can be watched once the job has ended."
NONE_LEFT = "This job has left no networks, so no member can be watched."
LOST = "The networks of the members are not in the store any more, so none can be watched."


def obstacle(job: Job) -> str:
    """Why nobody on a job's ladder can be watched; empty where members can."""
    digest = job.artifacts.get(NETWORKS, "")
    if not digest:
        return NONE_LEFT if job.terminal else NOT_YET
    return "" if store().has(digest) else LOST


def member(job: Job, version: int) -> Unkept:
    """The member with this version on a job's ladder, its policy in the store. Raises Refused, and LookupError where
    the ladder has nobody of this version."""
    reading = SelfPlayResult.of(job)
    named = {} if reading is None else {p.version: p.full for p in reading.players if p.round}
    title = named[version]
    if why := obstacle(job):
        raise Refused(why)
    try:
        found = files_of(store().get(job.artifacts[NETWORKS]), version)
    except StoreError as error:
        raise Refused(str(error)) from error
    if found is None:
        raise Refused(f"The network of {title} was not kept, so it cannot be watched.")
    return Unkept(title, unkept.stored(found))
