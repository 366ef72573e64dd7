"""The pages of agents that learn side by side, and what is taken away from them."""

from __future__ import annotations

from typing import Any

from engine.config.gossip import GossipConfig
from engine.config.train import TrainPool
from webapp.accounts.models import User
from webapp.gossip.asking import TOPOLOGIES, GossipForm, GossipIntake
from webapp.gossip.drawing import Circle
from webapp.lib.words import number, percent, plural
from webapp.studies.kinds import Found, Rows
from webapp.studies.lines import Column, Lines, from_nought, shown
from webapp.studies.models import Job
from webapp.studies.rounds import Columns
from webapp.studies.table_rows import TableRows, latest
from webapp.training import curve, games
from webapp.training.evaluated import HIGH, LOW, MOVED, Evaluated, declared, still
from webapp.training.first_rounds import ROUND, Rehearsed
from webapp.training.learning import OneAgent, crowded, of_learner
from webapp.training.trials import UNSETTLED

HEADS = ("sender", "taker", "age", "behind")
"""Columns of the links for programs."""
ROUNDS = 200
"""Rounds of a chart, about."""
TAGGED = 8
"""Agents whose curves end with their numbers, at most: there is no room for more."""

REMEDY = (
    "Let the training be longer, as its rounds then are too; let fewer battles be played together; or let agents not "
    "wait for each other."
)
"""What lets more episodes end within a round."""
LARGE = 0.1
"""From this share of its decisions on, what was cut off changes the curve of a round noticeably."""


class SideBySide(Rehearsed, OneAgent):
    """Agents that learn side by side: how well each plays, who takes over from whom, how far apart they are."""

    template = "gossip/job.html"
    intake = GossipIntake()
    form = GossipForm
    question = (
        "Can several agents learn it together?",
        "Agents learn side by side and share what they learned (PALA, GALA).",
    )
    without_data = "let several agents learn side by side"
    about = (
        "Several agents learn the same game at the same time. After each update they take over a part of what their "
        "neighbours have learned. In the end they are averaged into one agent."
    )
    gives = "average agent"
    several = "agent"
    trying = "Two agents learn for a few seconds to see how fast this goes …"
    help_section = "side-by-side"
    one_agent = True

    def shown(self, job: Job) -> dict[str, Any]:
        """The curves and the links as they grow."""
        links, columns = latest(job), _in_shares(curve.columns(job, ROUNDS))
        apart = job.config["pool"]["kind"] != "local"
        return {
            "circle": Circle(job.config["agents"], links) if links else None,
            "lost": links is None and job.tick > 0,
            "curves": _curves(columns),
            "apart": _apart(columns),
            "evaluated": _evaluated(job, columns),
            "now": _now(columns, job.config["staleness"] == 0),
            "cut": _cut(columns),
            "remedy": REMEDY,
            "sharing": crowded(job.config["agents"], "agent") if apart else "",
            "shared": TOPOLOGIES[job.config["topology"]],
            "waits": job.config["staleness"] == 0,
            "explains": "gossip/distance.html",
        }

    def alone(self, study: GossipConfig) -> dict[str, Any]:
        """Two agents in turn."""
        return {
            "steps": UNSETTLED, "agents": 2, "topology": "ring", "staleness": 0, "ordered": True, "seed": 1,
            "checkpoint_every": max(ROUND, 2 * study.update), "pool": TrainPool(kind="local"),
        }  # fmt: skip

    def side_by_side(self, study: GossipConfig) -> int:
        """Each agent has a process."""
        return study.agents

    def short(self, study: GossipConfig) -> str:
        """Where agents wait for each other, a round may be shorter than an episode."""
        longest = games.longest_of(study.game.name, study.game.settings)
        if not study.waits or study.of_a_battle >= longest:
            return ""
        return (
            f"At the end of a round all battles begin afresh. Each has {plural(study.of_a_battle, 'decision')} until "
            f"then, and an episode of this game can last {number(longest)}: one that has not ended counts in no curve. "
            f"{REMEDY}"
        )

    def made_of(self, job: Job) -> str:
        """Of all agents."""
        return f"the average of {plural(job.config['agents'], 'agent')}"

    def found(self, job: Job) -> Found | None:
        """How well the average agent plays."""
        score = job.metrics.get(curve.EVALUATED)
        return None if score is None else Found(f"The average agent has a return of {shown(score)} on fresh episodes")

    def table(self, job: Job, of: str, user: User) -> Rows:
        """A line for each link, agents numbered from 1."""
        links = latest(job)
        rows = Circle(job.config["agents"], links).arrows if links else []
        return TableRows(HEADS, [{head: getattr(row, head) for head in HEADS} for row in rows])

    def learns_by(self, job: Job) -> str:
        """As their paper calls it, and how many learn."""
        tau = job.config["staleness"]
        called = "PALA" if tau == 0 else "GALA" if tau is None else f"Gossip, τ = {number(tau)}"
        ordered = "" if job.config["ordered"] else " without order"
        return f"{called}{ordered}, {plural(job.config['agents'], 'agent')}"

    def evaluations(self, job: Job) -> Columns:
        """Of the average agent."""
        return curve.columns(job, ROUNDS)

    def specialist(self, job: Job) -> list[tuple[str, Any]]:
        """Every technical word."""
        config = job.config
        learner, tau = config["learner"], config["staleness"]
        order = "PALA, τ = 0" if tau == 0 else "GALA, τ = ∞" if tau is None else f"τ = {number(tau)}"
        return [
            ("Algorithm", f"Gossip between A2C agents ({order})"),
            ("Returns", "n-step" if learner["trace"] == 1 else f"generalised, λ = {learner['trace']:g}"),
            ("Messages", "each read once" if config["ordered"] else "the last one, read or not"),
            ("Topology", config["topology"]),
            *([("β of the topology", shown(job.metrics["beta"]))] if "beta" in job.metrics else []),
            ("Agents", f"{number(config['agents'])} × {number(config['environments'])} battles"),
            ("Decisions of a return", number(learner["fragment"])),
            *of_learner(learner),
            ("Decisions", number(config["steps"])),
        ]


def _lines(columns: Columns, lines: list[tuple[str, str, Column]], **more: Any) -> Lines:
    steps = [step or 0.0 for step in columns.get("steps", [])]
    return Lines("Decisions learned from → later", steps, lines, lambda x: number(round(x)), **more)


def _curves(columns: Columns) -> Lines:
    """How well each agent plays while it learns, and all of them on average."""
    each = {name: column for name, column in columns.items() if name.startswith("agent-") and name.endswith("/return")}
    numbers = {name: int(name.removeprefix("agent-").removesuffix("/return")) for name in each}
    mean = columns.get("return", [None] * len(columns.get("steps", [])))
    agents = [("other", f"Agent {numbers[name]}", each[name]) for name in sorted(each, key=numbers.__getitem__)]
    tags = {f"Agent {i}": str(i) for i in numbers.values()} if len(agents) <= TAGGED else {}
    apart = [name for _, name, _ in agents]
    return _lines(columns, [*agents, ("first", "All agents", mean)], tags=tags, apart=apart)


def _in_shares(columns: Columns) -> Columns:
    """Distances in per cent of the size of the weights, rounds by rounds."""
    sizes = columns.get("size", [None] * len(columns.get("steps", [])))

    def share(column: Column) -> list[float | None]:
        return [100 * at / size if at is not None and size else None for at, size in zip(column, sizes, strict=True)]

    return columns | {name: share(columns[name]) for name in ("distance", "distance_bound") if name in columns}


def _apart(columns: Columns) -> Lines:
    """How far apart they are, and how far they can be at most."""
    nothing: Column = [None] * len(columns.get("steps", []))
    found = [("first", "How far apart they are", columns.get("distance", nothing))]
    if "distance_bound" in columns:
        found.insert(0, ("second", "How far they can be at most", columns["distance_bound"]))
    return _lines(columns, found, up=from_nought(column for *_, column in found), says=_per_cent)


def _per_cent(value: float | None) -> str:
    return f"{shown(value)}\N{NO-BREAK SPACE}%"


def _now(columns: Columns, waits: bool) -> dict[str, Any]:
    """The last values that rounds told, as pages have them; those that none told are left out, and how long agents
    waited where they need not. ``alike``: they are never apart."""
    names = ("distance", "distance_bound", "waiting")
    series = {name: [v for v in columns.get(name, []) if v is not None] for name in names}
    waiting = series.pop("waiting")
    found: dict[str, Any] = {name: _per_cent(values[-1]) for name, values in series.items() if values}
    found |= {"waiting": percent(waiting[-1])} if waiting and (waits or waiting[-1]) else {}
    return found | {"alike": bool(series["distance_bound"]) and series["distance_bound"][-1] == 0}


def _evaluated(job: Job, columns: Columns) -> Evaluated | None:
    """What the last evaluation of the average agent found: its score and its range are of the same round."""
    means: Column = columns.get(curve.EVALUATED, [])
    found = [(i, mean) for i, mean in enumerate(means) if mean is not None]
    if not found:
        return None
    i, mean = found[-1]
    names = (LOW, HIGH, "steps", MOVED)
    low, high, steps, moved = (columns[name][i] if name in columns else None for name in names)
    ends = f"{shown(low)} to {shown(high)}" if low is not None and high is not None else ""
    return Evaluated(
        shown(mean), ends, declared(job.config), int(steps or 0), "return", still(job.config, moved)
    )  # fmt: skip


def _cut(columns: Columns) -> dict[str, Any] | None:
    """How much of the last round was of episodes that its end cut off; None where none was, or nobody waits."""
    share = next((each for each in reversed(columns.get("cut_off", [])) if each is not None), 0.0)
    return {"share": percent(share), "large": share >= LARGE} if share > 0 else None
