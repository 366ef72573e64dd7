"""The roster of a course: policies by name, each of which learns or plays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import BeforeValidator, Field, StringConstraints

from engine.config.base import Config
from engine.config.evaluate import RivalConfig
from engine.config.genes import genes
from engine.config.learners import Learner
from engine.config.limits import LimitsConfig, OwnWaysConfig
from engine.config.policies import ONE_NUMBER, StoredPolicy
from engine.config.rl import PRESETS, AnyLearner

LONGEST_NAME = 24
MemberName = Annotated[str, StringConstraints(max_length=LONGEST_NAME), BeforeValidator(lambda given: _written(given))]
"""A number is a name, too: the paper writes ``{1: ppo, 2: static}``."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_KINDS = frozenset(learner.model_fields["kind"].default for learner in get_args(AnyLearner))


def _written(given: Any) -> Any:
    return str(given) if type(given) is int else given


def misnamed(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(name, sentence) for each name that none can have."""
    why = "a policy's name is made of small letters, digits and dashes"
    return ((name, why) for name in names if not _NAME.fullmatch(name))


def in_words(name: str) -> str:
    """What people call a policy of a course; one with @ and a number is what it was after that lesson."""
    policy, _, lesson = name.partition("@")
    return f"{policy} after lesson {lesson}" if lesson else policy


class MemberConfig(Config):
    """Fields of every policy. ``learns``: whether it is trained; ``own_code``: whether what plays is somebody's own
    code."""

    learns: ClassVar[bool] = False
    own_code: ClassVar[bool] = False

    @property
    def alone(self) -> bool:
        """Whether it plays single entities only."""
        return False

    def misfits(self, roster: Mapping[str, MemberConfig]) -> Iterator[tuple[str, str]]:
        """(place, sentence) of each conflict with the rest of the roster."""
        return iter(())

    @property
    def recalls(self) -> tuple[str, ...]:
        """The learning policies whose earlier selves it stands for."""
        return ()

    @property
    def on_a_side(self) -> Config:
        """It as it sits on all seats of a side."""
        return self


class PupilConfig(MemberConfig):
    """A policy that learns."""

    learns: ClassVar[bool] = True
    kind: Literal["learning"] = "learning"
    learner: Learner | None = Field(None, title="Learner", description="none: the course's")
    start: StoredPolicy = Field(
        "", title="Trained policy to begin with", description="its store hash, or on the command line a folder with "
        "its two files; empty: a new network",
    )  # fmt: skip

    def misfits(self, roster: Mapping[str, MemberConfig]) -> Iterator[tuple[str, str]]:
        """Ranges."""
        if self.learner is not None:
            yield from ((f"learner.{gene.place}", ONE_NUMBER) for gene in genes(self.learner))


class ScriptMemberConfig(MemberConfig):
    """A script of the catalogue, such as ``random``, whose hands have no limits."""

    limits: ClassVar[LimitsConfig | None] = None
    kind: Literal["scripted"]
    player: str = Field(min_length=1, max_length=100, title="Script")

    @property
    def alone(self) -> bool:
        """A script knows the entities of its game, and no group of them."""
        return self.player != "random"


class KeptMemberConfig(MemberConfig, OwnWaysConfig):
    """A policy of the store, which stays as it is; that of a group needs inner brackets."""

    one_by_one: ClassVar[bool] = False
    kind: Literal["frozen"]
    policy: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] = Field(
        title="Policy", description="store hash of its description (policy_description of a training)"
    )

    @property
    def on_a_side(self) -> RivalConfig:
        """One of a group steers them together."""
        return RivalConfig(kind=self.kind, policy=self.policy, limits=self.limits, sampled=self.sampled)


class OwnMemberConfig(MemberConfig):
    """A player of one's own: a Python function that makes it for a seat, loaded where battles are played."""

    own_code: ClassVar[bool] = True
    limits: ClassVar[LimitsConfig | None] = None
    kind: Literal["own"]
    factory: str = Field(
        pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$", max_length=300, title="Factory",
        description="package.module:function, called with the description of the seat",
    )  # fmt: skip


class PoolMemberConfig(MemberConfig):
    """Earlier selves of learning policies, drawn anew for each episode; while there are none, they as they were when
    the lesson began."""

    kind: Literal["pool"]
    of: tuple[MemberName, ...] = Field(min_length=1, max_length=50, title="Of which policies")
    choice: Literal["uniform", "hardest"] = Field(
        "uniform", title="Which of them",
        description="uniform: equally often; hardest: the more often the less those who learn in the match have beaten "
        "them in earlier lessons (prioritised fictitious self-play)",
        exclude_if=lambda choice: choice == "uniform",  # keeps the hash of studies without it
    )  # fmt: skip

    def misfits(self, roster: Mapping[str, MemberConfig]) -> Iterator[tuple[str, str]]:
        """Policies that do not exist or do not learn."""
        for i, name in enumerate(self.of):
            if name not in roster or not roster[name].learns:
                yield f"of.{i}", f"there is no policy {name!r} that learns"

    @property
    def recalls(self) -> tuple[str, ...]:
        """Those whose earlier selves it draws from."""
        return self.of


def _spelt_out(given: Any) -> Any:
    """A name alone: a learner, a preset of one, or a script. A policy learns unless it says otherwise."""
    if isinstance(given, str):
        if given in _KINDS:
            return {"kind": "learning", "learner": {"kind": given}}
        return {"kind": "learning", "learner": given} if given in PRESETS else {"kind": "scripted", "player": given}
    return {"kind": "learning", **given} if isinstance(given, Mapping) else given


Member = Annotated[
    Annotated[
        PupilConfig | ScriptMemberConfig | KeptMemberConfig | OwnMemberConfig | PoolMemberConfig,
        Field(discriminator="kind"),
    ],
    BeforeValidator(_spelt_out),
]
