"""The pages of trainings in which individuals evolve and learn around one critic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from engine.catalog import METHODS
from engine.config import parse
from engine.config.aes_rules import AbsoluteConfig, OldestConfig, SigmoidConfig
from engine.config.aesrl import LEAST_LESSONS, AESRLConfig
from engine.config.pool import PoolConfig
from webapp.lib.words import number, percent
from webapp.shared_critic import charts, pace
from webapp.shared_critic.asking import NOISELESS, TogetherForm, TogetherIntake
from webapp.studies.kinds import Found
from webapp.studies.lines import shown
from webapp.studies.models import Job
from webapp.studies.rounds import Columns
from webapp.training.curve import EVALUATED
from webapp.training.evaluated import HIGH, LOW, Evaluated, declared
from webapp.training.first_rounds import CHANCE, ROUND, Rehearsed
from webapp.training.learning import Learning, crowded, of_network
from webapp.training.trials import UNSETTLED

ROUNDS = 400
"""Rounds that are drawn, at most about."""
ENOUGH = 0.02
"""The share of all decisions whose pace tells how long the others take."""
LOWEST = -1e12
"""A baseline below anything that can be scored."""
ROLES = {
    "start": "by chance", "es": "of those that only evolve", "rl": "of those that learn first",
    "centre": "of the centre", "measure": "that measure the centre",
}  # fmt: skip
"""Whose decisions are counted, by their role."""
BUSY = {
    "playing": ("busy_start", "busy_es", "busy_rl", "busy_centre", "busy_measure", "busy_examine"),
    "individuals learning": ("busy_learning_rl",),
    "the critic learning": ("busy_learning_critic", "busy_learning_agent", "busy_critic", "busy_agent"),
}
"""What workers do, by the metrics that say so."""


class Together(Rehearsed, Learning):
    """Evolution with a shared critic: how individuals score, who moves the centre, and who waits."""

    template = "shared_critic/job.html"
    intake = TogetherIntake()
    form = TogetherForm
    question = (
        "What do evolution and learning find together?",
        "Individuals evolve or learn around one critic (AES-RL, CEM-RL, ERL), at their own pace or in rounds. For "
        "games steered by numbers.",
    )
    without_data = "let evolution and learning work together"
    about = (
        "Many variants of one agent play side by side. Some only vary, others first learn from a shared critic. New "
        "ones are drawn near those that scored well, at once or round by round. It ends with one agent."
    )
    files: ClassVar[Mapping[str, str]] = {"policy.zip": "policy", "policy.onnx": "onnx"}
    gives = "agent"
    trying = "A few individuals play and learn to see how fast this goes …"
    help_section = "shared-critic"
    one_agent = True

    def shown(self, job: Job) -> dict[str, Any]:
        """The scores as they grow."""
        rounds = charts.after_chance(self.rounds(job, ROUNDS)) if job.tick else {}
        study = parse(AESRLConfig, job.config)
        courses = [course for course in charts.courses(rounds, _bred(job)) if course.lines] if rounds else []
        return {
            "method": METHODS[job.config["method"]["kind"]].label,
            "courses": courses,
            "bred": _bred(job),
            "kept": _kept(job),
            "estimated": "return_estimate" in job.metrics,
            "shaded": any(line.band for course in courses for line in course.lines),
            "declared": declared(job.config),
            "learns": study.method.learns,
            "chance": int(job.metrics.get("steps_start", 0)),
            "movers": charts.drawn(rounds, charts.MOVERS if study.method.learns else charts.MOVERS[:1], nought=True)
            if "p_rl" in rounds
            else None,
            "search": charts.search(rounds, _least(job), study.chunk, _narrowest(study), study.method.learns)
            if rounds
            else [],
            "evaluated": _evaluated(job),
            "moved": _moved(study, job.metrics),
            "ranked": isinstance(getattr(study.method, "mean", None), OldestConfig),
            "busy": _busy(job.metrics, study.method.learns),
            "waits": job.config["method"].get("waiting", True),
            "turns": not job.config["method"].get("parallel", True),
            "least": f"{_least(job):g}" if _least(job) else "",
            "lessons": _lessons(job.metrics),
            "sharing": crowded(study.side_by_side, "worker"),
        }

    def learns_by(self, job: Job) -> str:
        """Its method."""
        return METHODS[job.config["method"]["kind"]].label

    def evaluations(self, job: Job) -> Columns:
        """Of the centre, or the best player, each where it was asked for."""
        return charts.after_chance(self.rounds(job, ROUNDS)) if job.tick else {}

    def made_of(self, job: Job) -> str:
        """Of individuals that a method breeds."""
        return f"the {_kept(job)} of {METHODS[job.config['method']['kind']].label}"

    def work(self, job: Job) -> float:
        """The share of its decisions that are played."""
        return min(1.0, float(job.counters.get("steps", 0) / job.config["steps"]))

    def steady(self, job: Job) -> bool:
        """Not before some decisions have been played while the critic learned."""
        began = pace.settled(job)
        return began is not None and self.work(job) - began[0] >= ENOUGH

    def settled(self, job: Job) -> tuple[float, float]:
        """As ``pace.settled``."""
        return pace.settled(job) or (0.0, 0.0)

    def alone(self, study: AESRLConfig) -> dict[str, Any]:
        """One worker; rules of the usual kind where a method has any. Where nobody learns, chance plays for a fixed
        baseline alone: that is kept, below anything that can be scored."""
        usual = type(study.method)()
        rules = {rule: getattr(usual, rule) for rule in ("mean", "variance") if hasattr(usual, rule)}
        if (fixed := _fixed_baseline(study)) is not None and not study.method.learns:
            rules["mean"] = fixed.model_copy(update={"baseline": LOWEST})
        return {
            "learner": study.learner.model_copy(update={"warmup": min(study.learner.warmup, CHANCE)}),
            "method": study.method.model_copy(update=rules), "spread": 1.0, "steps": UNSETTLED,
            "checkpoint_every": ROUND, "pool": PoolConfig(kind="local", workers=1),
        }  # fmt: skip

    def needs_first_rounds(self, study: AESRLConfig) -> bool:
        """A fixed baseline must lie below what chance scores."""
        return _fixed_baseline(study) is not None

    def refuted(self, study: AESRLConfig, played: Job) -> list[tuple[str, str]]:
        """A fixed baseline above what chance scored there."""
        worst, rule = played.metrics.get("worst_by_chance"), _fixed_baseline(study)
        why = rule.too_high(worst) if rule is not None and worst is not None else ""
        return [("method.mean.baseline", why)] if why else []

    def side_by_side(self, study: AESRLConfig) -> int:
        """Each worker has a process."""
        return study.side_by_side

    def found(self, job: Job) -> Found | None:
        """How the agent plays that it leaves."""
        score = _evaluated(job)
        return Found(f"The {_kept(job)} scored {score.words} on fresh episodes.") if score else None

    def named(self, place: str, text: str) -> str:
        """A method by its name, too."""
        if place.endswith("method.kind") and text in METHODS:
            return METHODS[text].label
        return super().named(place, text)

    def specialist(self, job: Job) -> list[tuple[str, Any]]:
        """Every technical word."""
        config, m = job.config, job.metrics
        learner, method = config["learner"], config["method"]
        layers = learner["network"]
        metrics = {
            "Estimate of f(μ)": "return_estimate", "p_rl": "chance_rl", "Mean σ": "sigma",
            "Minibatches of the critic": "critic_steps",
            "Minibatches for each decision that chance did not play": charts.LESSONS,
            "Loss of the critic": "critic_loss", "Mean Q": "q",
        }  # fmt: skip
        return [
            ("Method", METHODS[method["kind"]].label),
            *((f"{part.title()} rule", _rule(method[part])) for part in ("mean", "variance") if part in method),
            *_switches(method),
            *((name, shown(m[key])) for name, key in metrics.items() if key in m),
            *([("Share of weights whose σ² is at its least", percent(m["floor"]))] if "floor" in m else []),
            *((f"Decisions {words}", number(m[f"steps_{role}"])) for role, words in ROLES.items()
              if f"steps_{role}" in m),
            *([("Decisions of evaluations, counted apart", number(m["examined"]))] if "examined" in m else []),
            *([("Least minibatches a decision", f"{_least(job):g}")] if not method.get("waiting", True) else []),
            ("Replay", number(learner["capacity"])),
            *([("Noise of actions", f"{learner['explore']:g}")] if method["kind"] not in NOISELESS else []),
            *of_network(layers),
        ]  # fmt: skip


def _rule(rule: Mapping[str, Any]) -> str:
    """A rule with what is to be said of it."""
    more = {"reading": "as in the paper" if rule.get("reading") == "paper" else "as in the released code",
            "n": f"n = {rule.get('n')}"}  # fmt: skip
    return ", ".join([rule["kind"], *(words for name, words in more.items() if name in rule)])


def _switches(method: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How individuals play, and how the score of the centre is known, where the method has a choice."""
    switches: dict[str, tuple[str, dict[Any, str]]] = {
        "narrow": ("Variance of the better half", {False: "as the paper prints it"}),
        "parallel": ("Individuals of a round", {True: "side by side (P-CEM-RL)", False: "one after the other"}),
        "centre": ("f(μ)", {"running": "a running estimate", "episodes": "five episodes after each individual"}),
    }  # fmt: skip
    if method.get("waiting"):
        switches["centre"][1]["episodes"] = "five episodes after each round"
    return [(title, words[method[name]]) for name, (title, words) in switches.items() if name in method]


def _fixed_baseline(study: AESRLConfig) -> AbsoluteConfig | None:
    """The rule of the mean where it has one."""
    rule = getattr(study.method, "mean", None)
    return rule if isinstance(rule, AbsoluteConfig) else None


def _bred(job: Job) -> bool:
    """Whether individuals are bred from one another, around no centre."""
    return bool(job.config["method"]["kind"] == "erl")


def _kept(job: Job) -> str:
    """Whom one takes away."""
    return "best player" if _bred(job) else "centre"


def _evaluated(job: Job) -> Evaluated | None:
    """What the last evaluation of the centre found."""
    metrics = job.metrics
    if (mean := metrics.get(EVALUATED)) is None or charts.ASKED not in metrics:
        return None
    low, high = metrics.get(LOW), metrics.get(HIGH)
    ends = f"{number(low, 1)} to {number(high, 1)}" if low is not None and high is not None else ""
    return Evaluated(number(mean, 1), ends, declared(job.config), int(metrics[charts.ASKED]), "score")


def _moved(study: AESRLConfig, metrics: Mapping[str, float]) -> dict[str, Any] | None:
    """Who moved the centre how far; None where the method does not say, or also moves away from what is worse: steps
    back and forth add up to nothing."""
    es, rl = metrics.get("p_es"), metrics.get("p_rl")
    rule: Any = getattr(study.method, "mean", None)
    away = getattr(rule, "backward", False) and not isinstance(rule, SigmoidConfig)
    if es is None or rl is None or not es + rl or away:
        return None
    return {
        "evolving": es / (es + rl), "learning": rl / (es + rl),
        "individuals_es": metrics.get("individuals_es", 0), "individuals_rl": metrics.get("individuals_rl", 0),
    }  # fmt: skip


def _least(job: Job) -> float:
    """Lessons for each decision until the critic has had which nobody begins to play; 0 where nobody waits for it."""
    method = job.config["method"]
    held = method.get("learning_share") and not method.get("waiting", True)
    least: float = method.get("least_lessons", LEAST_LESSONS) if held else 0.0
    return min(least, float(job.config["learner"]["updates"]))


def _narrowest(study: AESRLConfig) -> float:
    """The spread to which that of a weight falls in the end where the centre goes most of the way to who is better; 0
    where its rule has none."""
    variance = getattr(study.method, "variance", None)
    return variance.least_variance(study.method.population) ** 0.5 if variance else 0.0


def _lessons(metrics: Mapping[str, float]) -> str:
    """Lessons that the critic has had for each decision, without those by chance; empty before the first of these."""
    return shown(lessons) if (lessons := metrics.get(charts.LESSONS)) else ""


def _busy(metrics: Mapping[str, float], learns: bool) -> list[tuple[str, float]]:
    """Shares of all workers' time; those of learning only where somebody ``learns``."""
    if not any(name.startswith("busy_") for name in metrics):
        return []
    kinds = [*BUSY.items()] if learns else [*BUSY.items()][:1]
    found = [(words, sum(metrics.get(name, 0.0) for name in names)) for words, names in kinds]
    found += [("waiting for the critic to catch up", metrics["held"])] if metrics.get("held") else []
    return [*found, ("waiting otherwise, or at work on what is not back yet", max(0.0, 1 - sum(x for _, x in found)))]
