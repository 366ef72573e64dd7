"""Which game individuals evolve and learn in: the form, and what the API takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from django import forms
from django.conf import settings

from engine.catalog import METHODS
from engine.config.aesrl import LEAST_LESSONS, AESRLConfig, SharedTD3Config
from engine.config.chance import all_by_chance
from webapp.accounts.models import User
from webapp.games.fields import NumberField, NumberRange
from webapp.lib.words import number
from webapp.projects.models import Project
from webapp.shared_critic import menus
from webapp.shared_critic.menus import CENTRES, CODE, MEANS, MISFITS, NUMBERS, VARIANCES, WAITING, spread_of
from webapp.studies import checks, estimates, kinds
from webapp.studies.intake import Table
from webapp.studies.models import Job
from webapp.studies.study_form import CardsField
from webapp.training import beginnings, games
from webapp.training.intake import AloneIntake
from webapp.training.learning_form import LayeredForm, as_units

ROUNDS, LONGEST = 40, 1000
"""Rounds of a training; decisions of an episode of MuJoCo's games, for those whose longest one is not known."""
EVERY, EPISODES, CHUNK = (
    int(AESRLConfig.model_fields[name].default) for name in ("evaluate_every", "episodes", "chunk")
)
LEARNER = SharedTD3Config()
"""The usual one."""
STEADY = ("aes-rl", "acem-rl")
"""Methods in which each individual moves the centre by itself."""
WAYS = {
    **dict.fromkeys(STEADY, ("free", "rounds")), **dict.fromkeys(("cem-rl", "cem"), ("rounds", "turns")),
    "erl": ("rounds",),
}  # fmt: skip
"""Who may wait for whom, by method, the usual way first."""
ONLY_STEADY = {
    "mean": "have such a rule", "baseline": "have a rule with such a number", "variance": "have such a rule",
    "share": "keep such a share", "lessons": "wait for the critic",
}  # fmt: skip
"""What only those methods have, by field."""
NOISELESS = ("cem-rl", "cem")
"""Methods whose individuals play without noise."""
LEARNING = ("capacity", "critic", "chance")
"""What only methods have in which somebody learns."""


TOO_HIGH = (
    "Whether the baseline lies below what chance scores shows once its first decisions are played; where not, it ends "
    "there."
)


class TogetherIntake(AloneIntake):
    """How the site starts such a training: in a game for one that may be played here and takes numbers."""

    actions = games.STEERING

    def unfit(self, data: Table, study: Any, project: Project) -> Iterator[tuple[str, str]]:
        """Also so few decisions that all may be played by chance, where the longest episode is known."""
        yield from super().unfit(data, study, project)
        longest = 0 if study is None else games.longest_of(study.game.name, study.game.settings)
        if longest and (why := all_by_chance(study, min(longest, study.longest))):
            yield "steps", why

    def notes(self, study: Any, project: Project) -> Iterator[str]:
        """Also that a baseline may be too high, while nobody knows what chance scores."""
        yield from super().notes(study, project)
        if kinds.parts_of(study.kind).needs_first_rounds(study) and estimates.known(study, project) is None:
            yield TOO_HIGH

    def title(self, game: str, asked: Table) -> str:
        """What it is called where the body says nothing: methods are compared, so with its own."""
        method = asked.get("method", "aes-rl")
        kind = method.get("kind") if isinstance(method, dict) else method
        which = f", {METHODS[kind].label}" if isinstance(kind, str) and kind in METHODS else ""
        return f"Evolution and learning{which}: {game}"


class TogetherForm(LayeredForm):
    """Which game, how, and for how long."""

    offered: ClassVar[Mapping[str, str]] = {
        key: offer.title for key, offer in games.ALONE.items() if offer.does == games.STEERING or key == games.GYMNASIUM
    }
    decisions = 300_000
    layers = (as_units(LEARNER.network.policy), as_units(LEARNER.network.critic))
    usual: ClassVar[Mapping[str, Any]] = {"game": "pendulum"}
    groups: ClassVar[tuple[tuple[str, tuple[str, ...]], ...]] = (
        ("Which game?", ("game", "gymnasium", "spread")),
        ("How do they find better players?", ("method",)),
        ("Who waits for whom?", ("waiting",)),
        ("How far?", ("start", "steps", "chance", "minutes")),
    )
    folded: ClassVar[tuple[str, ...]] = (
        "share", "lessons", "population", "mean", "baseline", "variance", "remembered", "divided", "first", "centre",
        "capacity", "explore", "policy", "critic", "workers", "seed",
    )  # fmt: skip
    places: ClassVar[Mapping[str, str]] = {
        **LayeredForm.places, "method.learning_share": "share", "method.least_lessons": "lessons",
        "method.population": "population",
        "method.mean.baseline": "baseline", "method.mean.range": "baseline", "method.mean.kind": "mean",
        "method.variance.kind": "variance", "method.variance.n": "remembered", "method.variance_at_first": "first",
        "method.narrow": "divided",
        "method.centre": "centre", "method.waiting": "waiting", "method.kind": "method", "method": "method",
        "learner.capacity": "capacity", "learner.warmup": "chance", "learner.explore": "explore",
        "pool.workers": "workers",
    }  # fmt: skip
    method = CardsField(
        {k: (m.label, m.explanation) for k, m in METHODS.items()}, label="Method", initial="aes-rl",
        goes_with=("waiting", WAYS),
    )  # fmt: skip
    waiting = CardsField(WAITING, label="Who waits for whom", initial="free")
    spread: Any = NumberField(
        label="How much better can a score get?", low=0, above=True, unit="points", required=False,
        usual="as known for the game",
        help_text="Points between a player that acts by chance and the best you hope for. A pendulum scores about "
        "−1,200 by chance and almost 0 at best: 1,200. Known for Pendulum, HalfCheetah, Hopper, Walker2d, Ant, Swimmer "
        "and Humanoid; 1,000 elsewhere.",
    )  # fmt: skip
    share: Any = NumberField(
        label="Share that learns", low=0, high=1, required=False, usual=0.5,
        help_text="p_desired; the others only evolve. Less where learning leads astray.",
    )  # fmt: skip
    lessons: Any = NumberField(
        label="Fewest lessons", low=0, high=100, required=False, usual=LEAST_LESSONS,
        help_text="Of the critic for each decision, where no individual waits for another: while it is "
        f"{CHUNK:,} lessons or more short of that, nobody begins to play. 0: nobody ever waits for it.",
    )  # fmt: skip
    population: Any = NumberField(
        label="Individuals in a round", whole=True, low=2, high=1000, required=False, usual=10,
        help_text="n; of rules by rank, the newest that they look at.",
    )  # fmt: skip
    chance: Any = NumberField(
        label="Decisions by chance", whole=True, low=1, high=10**8, required=False, usual=LEARNER.warmup,
        help_text="They come first, so that the critic has something to learn from, and count as all others do.",
    )  # fmt: skip
    mean = forms.ChoiceField(
        label="How the centre moves", choices=list(MEANS.items()), required=False,
        help_text="The rule for μ, with AES-RL and ACEM-RL.",
    )  # fmt: skip
    baseline: Any = NumberField(
        label="Baseline or range of this rule", unit="points", required=False, usual="a sixth of those above",
        help_text="Relative: f_b below the centre’s score. Absolute: f_b, a score below any that chance gets, which "
        "you must type. Linear and sigmoid: r.",
    )  # fmt: skip
    variance = forms.ChoiceField(
        label="How the spread follows", choices=list(VARIANCES.items()), required=False, help_text="The rule for σ²."
    )
    remembered: Any = NumberField(
        label="Individuals remembered", whole=True, low=1, high=100_000, required=False, usual=10,
        help_text="n of the fixed rule.",
    )  # fmt: skip
    divided = forms.ChoiceField(
        label="Variance of the better half", choices=list(menus.DIVIDED.items()), required=False,
        help_text="σ², with CEM-RL and the cross-entropy method: how far the better half lies from the centre before, "
        "squared. Divided by how many they are, it falls faster.",
    )  # fmt: skip
    first: Any = NumberField(
        label="First variance", low=0, high=100, above=True, required=False, usual=0.001,
        help_text="σ² of each weight around the centre. By the constant rule it stays.",
    )  # fmt: skip
    centre = forms.ChoiceField(
        label="Score of the centre", choices=list(CENTRES.items()), required=False,
        help_text="f(μ). Estimated: five episodes of the centre come first, then one individual in five is the centre "
        "itself. By five episodes after each individual, or after each round: up to six times the decisions.",
    )  # fmt: skip
    capacity: Any = NumberField(
        label="Decisions remembered", whole=True, low=1, high=10**8, required=False, usual=LEARNER.capacity,
        help_text="Replay; 200,000 in the paper’s comparison.",
    )  # fmt: skip
    explore: Any = NumberField(
        label="Noise of actions", low=0, high=1, below=True, required=False, usual=LEARNER.explore,
        help_text="σ of what is added to each action.",
    )  # fmt: skip
    workers: Any = NumberField(label="Workers", whole=True, required=False)

    def prepare(self) -> None:
        super().prepare()
        self.fields["game"].help_text = "Games for one player who steers with numbers."
        self.fields["steps"].label = "Decisions in all"
        self.fields["steps"].help_text = (
            "All that are played to learn from, by chance, or to measure the centre. Episodes under way at the end are "
            "played out; evaluations on fresh episodes come on top."
        )
        self.fields["seed"].help_text = "Same seed, same result, but where nobody waits for another."
        self.fields["workers"].help_text = "As a rule as many as there are processors."
        workers: Any = self.fields["workers"]
        workers.span = NumberRange(1, checks.most_workers())
        workers.widget.attrs["placeholder"] = str(settings.CPUS)

    def clean(self) -> dict[str, Any]:
        """A number belongs to a rule that has one; an absolute baseline has no usual one."""
        cleaned = super().clean()
        for why in self._baseline(cleaned.get("mean") or "", cleaned.get("baseline")):
            self.add_error("baseline", why)
        for name, why in self._misfits(cleaned.get("method", ""), cleaned):
            self.add_error(name, why)
        return cleaned

    def _misfits(self, method: str, typed: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """What a method or a rule does not have."""
        given = {name for name, value in typed.items() if value not in (None, "", [])}
        if method in STEADY:
            yield from self._unruled(method, typed, given)
        else:
            yield from ((name, f"Only AES-RL and ACEM-RL {has}.") for name, has in ONLY_STEADY.items() if name in given)
        if typed.get("centre") == "episodes" and method != "aes-rl":
            yield "centre", "Only AES-RL asks for that score. Leave this as it is."
        if "first" in given and method == "erl":
            yield "first", "ERL draws nobody around a centre. Leave this empty."
        if "divided" in given and method not in NOISELESS:
            yield "divided", "Only CEM-RL and the cross-entropy method have that choice. Leave this as it is."
        if (way := typed.get("waiting", "")) in MISFITS and way not in WAYS.get(method, WAITING):
            yield "waiting", f"{MISFITS[way]} Choose another."
        for name in given.intersection(LEARNING) if method == "cem" else ():
            yield name, "With the cross-entropy method nobody learns. Leave this empty."
        if "explore" in given and typed["explore"] != LEARNER.explore and method in NOISELESS:
            yield "explore", "With this method all play without noise. Leave this empty."
        if "remembered" in given and typed.get("variance") != "fixed":
            yield "remembered", "Only the fixed rule has such a number. Leave this empty."

    def _unruled(self, method: str, typed: Mapping[str, Any], given: set[str]) -> Iterator[tuple[str, str]]:
        """What does not go with the rules, or the way of waiting, of a method that has both to choose from."""
        if method == "acem-rl" and "mean" not in given and "baseline" in given:
            yield "baseline", "ACEM-RL’s usual rule, by rank, has no such number. Leave this empty."
        if typed.get("waiting") == "rounds" and "lessons" in given:
            yield "lessons", "Only where nobody waits for another do they wait for the critic. Leave this empty."

    def _baseline(self, rule: str, given: float | None) -> Iterator[str]:
        if "baseline" in self.errors:
            return
        if rule == "absolute" and given is None:
            yield "Type a score below any that a player gets by chance."
        elif given is not None and rule not in ("", *NUMBERS):
            yield f"“{MEANS[rule]}” has no such number. Leave this empty."
        elif given is not None and rule != "absolute" and given <= 0:
            yield "Type a number above 0: so many points count as much better."

    def own(self) -> dict[str, Any]:
        """The method with its settings, the learner, and the workers."""
        learner, pool = (
            self.typed(capacity="capacity", explore="explore", warmup="chance"),
            self.typed(workers="workers"),
        )
        usual = LEARNER.network.model_dump()
        network = self.network(usual | {"policy": beginnings.policy_layers(self.begun) or usual["policy"]})
        learner |= {"network": network} if network != usual else {}
        return {
            "spread": self.cleaned_data["spread"] or spread_of(self.game_name),
            "method": self._method(),
            **self._evaluations(),
            **({"learner": learner} if learner else {}),
            **({"pool": pool} if pool else {}),
        }

    def before(self, study: Any, user: User, **refers: Any) -> dict[str, Any]:
        """Also how much of it chance plays."""
        found, chance = super().before(study, user, **refers), number(study.by_chance)
        whole = "whole rounds" if study.method.in_rounds else "whole episodes"
        counted = f"At least the first {chance} of {number(study.steps)} decisions"
        said = f"{counted} are played by chance, in {whole}, before anybody learns."
        return found | ({"lines": [said]} if study.by_chance else {})

    def _evaluations(self) -> dict[str, int]:
        """Of a short training fewer: they take no more decisions than it has itself, as far as episodes are known."""
        steps = self.cleaned_data["steps"] or self.usual_steps
        longest = games.longest_of(self.game_name, {}) or LONGEST
        every = -(-ROUNDS * EPISODES * longest // steps)
        return {} if every <= EVERY else {"evaluate_every": every if every <= ROUNDS // 2 else 0}

    def _method(self) -> dict[str, Any]:
        typed, kind = self.cleaned_data, self.cleaned_data["method"]
        values = self.typed(learning_share="share", least_lessons="lessons", population="population")
        values |= {"waiting": typed["waiting"] == "rounds", "parallel": typed["waiting"] != "turns"}
        values |= self.typed(variance_at_first="first", centre="centre")
        values |= {"narrow": False} if typed["divided"] == menus.PRINTED else {}
        if rule := typed["mean"] or ("relative" if kind == "aes-rl" and typed["baseline"] is not None else ""):
            values["mean"] = self._rule(rule)
        if typed["variance"]:
            values["variance"] = {"kind": typed["variance"], **self.typed(n="remembered")}
        fields = METHODS[kind].config.model_fields
        return {"kind": kind, **{name: value for name, value in values.items() if name in fields}}

    def _rule(self, rule: str) -> dict[str, Any]:
        """A rule of the mean as the study has it."""
        number = self.typed(**{NUMBERS[rule]: "baseline"}) if rule in NUMBERS else {}
        return {"kind": "sigmoid", "reading": "code", **number} if rule == CODE else {"kind": rule, **number}

    @classmethod
    def typed_of(cls, job: Job) -> dict[str, Any]:
        """Its method and its rules by name."""
        method = job.config["method"]
        rule = method.get("mean", {})
        number = rule.get(NUMBERS.get(rule.get("kind", ""), ""), "")
        idle = {*(LEARNING if method["kind"] == "cem" else ()), *(("lessons",) if method.get("waiting") else ())}
        return {
            **{name: value for name, value in super().typed_of(job).items() if name not in idle},
            "method": method["kind"],
            "waiting": _waiting(method),
            "mean": CODE if rule.get("reading") == "code" else rule.get("kind", ""),
            "variance": method.get("variance", {}).get("kind", ""),
            "divided": "" if method.get("narrow", True) else menus.PRINTED,
            "baseline": "" if number is None else number,
        }


def _waiting(method: Mapping[str, Any]) -> str:
    """Who waits for whom, of a study's method."""
    if not method.get("parallel", True):
        return "turns"
    return "rounds" if method.get("waiting", True) else "free"
