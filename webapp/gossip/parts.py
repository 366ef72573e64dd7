"""The pages of agents that learn side by side, and what is taken away from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.accounts.models import User
from webapp.gossip.asking import TOPOLOGIES, GossipForm, GossipIntake
from webapp.gossip.drawing import Chart, Circle, short
from webapp.lib.words import number, percent
from webapp.studies.kinds import Found, Parts, Rows
from webapp.studies.models import Job
from webapp.studies.rounds import Columns
from webapp.studies.table_rows import TableRows, latest
from webapp.training import curve
from webapp.training.games import title_of, title_on_menu

HEADS = ("sender", "taker", "age", "behind")
"""Columns of the links for programs."""
SHOWN = 200
"""Rounds of a chart, about."""


class SideBySide(Parts):
    """Agents that learn side by side: how well each plays, who takes over from whom, how far apart they are."""

    intake = GossipIntake()
    form = GossipForm
    question = "Can several agents learn it together?", "Agents learn side by side and share what they learned."
    about = (
        "Several agents learn the same game, each on a processor of its own. After each update they take over a part "
        "of what their neighbours have learned. In the end they are averaged into one agent."
    )
    results: ClassVar[tuple[str, ...]] = ("table",)
    files: ClassVar[Mapping[str, str]] = {"policy.zip": "policy", "policy.onnx": "onnx"}
    gives = "average agent"
    help_section = "side-by-side"

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """The curves and the links as they grow."""
        links, columns = latest(job), curve.columns(job, SHOWN)
        circle = Circle(job.config["agents"], links) if links else None
        own = {
            "game": title_of(job.config["game"]["name"], job.project),
            "circle": circle,
            "lost": links is None and job.tick > 0,
            "curves": _curves(columns),
            "apart": _apart(columns),
            "now": _now(columns),
            "sharing": _sharing(job),
            "shared": TOPOLOGIES[job.config["topology"]],
            "waits": job.config["staleness"] == 0,
            "specialist": _specialist(job),
        }
        return render(request, "gossip/job.html", context | own)

    def found(self, job: Job) -> Found | None:
        """How well the average agent plays."""
        score = job.metrics.get(curve.EVALUATED)
        return None if score is None else Found(f"The average agent has a return of {short(score)} on fresh episodes")

    def rounds(self, job: Job, most: int) -> Columns:
        """Every number of rounds, evaluations among them."""
        return curve.columns(job, most)

    def table(self, job: Job, of: str, user: User) -> Rows:
        """A line for each link, agents numbered from 1."""
        links = latest(job)
        rows = Circle(job.config["agents"], links).arrows if links else []
        return TableRows(HEADS, [{head: getattr(row, head) for head in HEADS} for row in rows])

    def named(self, place: str, text: str) -> str:
        """A game by its title."""
        return title_on_menu(text) if place.endswith("game.name") else text


def _curves(columns: Columns) -> Chart:
    """How well each agent plays while it learns, and all of them on average."""
    steps = [step or 0.0 for step in columns.get("steps", [])]
    each = {name: column for name, column in columns.items() if name.startswith("agent-") and name.endswith("/return")}
    titles = {name: f"Agent {name.removeprefix('agent-').removesuffix('/return')}" for name in each}
    mean = columns.get("return", [None] * len(steps))
    return Chart(steps, [("All agents", True, mean), *((titles[name], False, each[name]) for name in each)])


def _apart(columns: Columns) -> Chart:
    """How far apart they are, and how far they can be at most."""
    steps = [step or 0.0 for step in columns.get("steps", [])]
    found = [("How far apart they are", True, columns.get("distance", [None] * len(steps)))]
    if "distance_bound" in columns:
        found.append(("How far they can be apart at most", False, columns["distance_bound"]))
    return Chart(steps, found)


def _now(columns: Columns) -> dict[str, str]:
    """The last values that rounds told, as pages have them; those that none told are left out."""
    names = ("distance", "distance_bound", "waiting", *(f"{curve.EVALUATED}{end}" for end in ("", "_low", "_high")))
    told = {name: [v for v in columns.get(name, []) if v is not None] for name in names}
    found = {name: short(values[-1]) for name, values in told.items() if values}
    return found | ({"waiting": percent(told["waiting"][-1])} if told["waiting"] else {})


def _sharing(job: Job) -> str:
    """What to tell where agents share processors; empty where they do not."""
    agents, processors = job.config["agents"], int(settings.CPUS)
    if agents <= processors or job.config["pool"]["kind"] == "local":
        return ""
    those = f"{number(processors)} processor{'s' * (processors > 1)}"
    return (
        f"{number(agents)} agents share {those}: this takes about {agents / processors:.1f} times as long as with a "
        "processor for each."
    )


def _specialist(job: Job) -> list[tuple[str, Any]]:
    """Every technical word."""
    config = job.config
    learner, tau = config["learner"], config["staleness"]
    order = "PALA, τ = 0" if tau == 0 else "GALA, τ = ∞" if tau is None else f"τ = {number(tau)}"
    return [
        ("Algorithm", f"Gossip between n-step A2C agents ({order})"),
        ("Messages", "each read once" if config["ordered"] else "the last one, read or not"),
        ("Topology", config["topology"]),
        ("Agents", f"{number(config['agents'])} × {number(config['environments'])} battles"),
        ("Steps of a return", number(learner["fragment"])),
        ("Learning rate", f"{learner['rate']:g}, {learner['schedule']}"),
        ("Discount", f"{learner['discount']:g}"),
        ("Policy network", " ".join(map(str, learner["network"]["policy"]))),
        ("Critic network", " ".join(map(str, learner["network"]["critic"]))),
        ("Decisions", number(config["steps"])),
        ("Seed", config["seed"]),
        ("Attempt", job.attempt),
        ("Settings", job.config_hash[:12]),
    ]
