"""Members of a population, as they are and as they were: watched before anybody keeps them, and kept as agents."""

from __future__ import annotations

from contextlib import suppress

from engine.errors import StoreError
from engine.styles.agents import files_of
from webapp.accounts.models import User
from webapp.agents import edits, keeping
from webapp.agents.left import stored
from webapp.agents.models import Agent
from webapp.agents.unkept import Unkept
from webapp.lib.storage import store
from webapp.self_play.reading import LadderPlayer, SelfPlayResult
from webapp.studies.actions import Refused
from webapp.studies.models import Job
from webapp.training.learned import leader, learned_step_by_step

NETWORKS = "pool"
"""What a job calls the networks of everybody on its ladder."""
NOT_YET = "Members can be watched and kept once the job has ended."
NONE_LEFT = "This job has left no networks, so no member can be watched or kept."
LOST = "The networks of the members are not in the store any more, so none can be watched or kept."


def obstacle(job: Job) -> str:
    """Why nobody on a job's ladder can be watched or kept; empty where members can."""
    digest = job.artifacts.get(NETWORKS, "")
    if not digest:
        return NONE_LEFT if job.terminal else NOT_YET
    return "" if store().has(digest) else LOST


def member(job: Job, version: int) -> Unkept:
    """The member with this version on a job's ladder, its policy in the store. Raises Refused, and LookupError where
    the ladder has nobody of this version."""
    title = _on_ladder(SelfPlayResult.of(job), version).full
    if why := obstacle(job):
        raise Refused(why)
    try:
        found = files_of(store().get(job.artifacts[NETWORKS]), version)
    except StoreError as error:
        raise Refused(str(error)) from error
    if found is None:
        raise Refused(f"The network of {title} was not kept, so it can be neither watched nor kept.")
    return Unkept(title, stored(found))


def keep(job: Job, user: User, version: int, name: str) -> Agent:
    """The member with this version, kept and measured from now on; the one that was kept before. Raises as ``member``,
    and NameTaken."""
    reading, found = SelfPlayResult.of(job), member(job, version)
    player = _on_ladder(reading, version)
    learned = learned_step_by_step(job.config["task"], reading.whole, version) if reading else 0
    own = {"steps": learned, "member": player.full, "strength": player.standing}
    return keeping.keep_one_of(job, user, found.policy, name or usual_name(job, player), own)


def usual_name(job: Job, player: LadderPlayer) -> str:
    """What a kept member is called where nobody says otherwise: "Self-play of pong: member 3 after round 5"."""
    return edits.free_name(job.project, edits.numbered(keeping.name_of(job, player.full.lower())))


def kept(job: Job) -> dict[str, Agent]:
    """The agents that take the likeliest action and were kept of members of a job's ladder, by whom they are there;
    also the one that the job has left, where that was kept from elsewhere on its page."""
    agents = list(Agent.objects.kept().filter(job=job, sampled=False))
    found = {agent.origin["member"]: agent for agent in agents if "member" in agent.origin}
    left = next((agent for agent in agents if agent.policy == job.artifacts.get("policy_description")), None)
    version = leader(job) if left is not None and "member" not in left.origin else None
    if left is not None and version is not None:
        with suppress(LookupError):
            found[_on_ladder(SelfPlayResult.of(job), version).full] = left
    return found


def _on_ladder(reading: SelfPlayResult | None, version: int) -> LadderPlayer:
    """The member with this version. Raises LookupError."""
    return {p.version: p for p in (reading.players if reading else ()) if p.round}[version]
