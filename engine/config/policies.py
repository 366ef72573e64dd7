"""The policies of a training study, by name: which seats they may take, and whether they learn."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, StringConstraints, field_validator

from engine.config.base import Config, refuse
from engine.config.genes import genes
from engine.config.learners import Learner
from engine.config.limits import LimitsConfig, OwnWaysConfig

AGENT = "agent"
"""Name of the policy in a training without named policies."""
ONE_NUMBER = "this is a range, and a training has one number for each setting: a study of kind evolve searches them"
PolicyName = Annotated[str, StringConstraints(max_length=40)]
_NAME = re.compile(r"[a-z][a-z0-9-]*")


def misnamed(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(place, sentence) for each invalid name of a policy."""
    why = "a policy's name is made of small letters, digits and dashes, and begins with a letter"
    return ((f"policies.{name}", why) for name in names if not _NAME.fullmatch(name))


def expected_seats(seats: Sequence[Sequence[tuple[str, float, bool]]], policy: str) -> float:
    """The mean number of seats of a learning policy in an episode; ``seats``: of each the name and share of whoever may
    be drawn for it, and whether it learns. Where nobody learns, a learning policy takes one of the seats that are open
    to one, each equally often (``engine.rl.cast``)."""
    learns = [sum(share for _, share, learns in seat if learns) for seat in seats]
    total = [sum(share for _, share, _ in seat) for seat in seats]
    mine = [sum(share for name, share, learns in seat if learns and name == policy) for seat in seats]
    nobody = math.prod(1 - some / all_ for some, all_ in zip(learns, total, strict=True))
    open_ = [(own, some) for own, some in zip(mine, learns, strict=True) if some]
    drawn = sum(own / all_ for own, all_ in zip(mine, total, strict=True))
    return drawn + nobody * sum(own / some for own, some in open_) / len(open_)


StoredPolicy = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{64})?$", max_length=64)]
"""The store hash of a policy's description (``policy_description`` of a training); empty: none."""


class SeatedConfig(Config):
    """Fields of every policy. ``learns``: whether it is trained."""

    learns: ClassVar[bool] = False
    seats: tuple[Annotated[int, Field(ge=0, le=1000)], ...] = Field(
        (0,), min_length=1, max_length=1000, title="Seats", description="on which it may sit, from 0"
    )
    share: float = Field(
        1.0,
        ge=0,
        le=1_000_000,
        title="Share",
        description="how often it is drawn for a seat, beside the seat's other policies; 0: in evaluations only",
    )

    @field_validator("seats")
    @classmethod
    def _once(cls, seats: tuple[int, ...]) -> tuple[int, ...]:
        refuse((str(i), f"seat {seat} stands here twice") for i, seat in enumerate(seats) if seat in seats[:i])
        return seats

    @property
    def recalls(self) -> str:
        """The learning policy whose snapshots it stands for, if any."""
        return ""

    def misfits(self, policies: Mapping[str, SeatedConfig]) -> Iterator[tuple[str, str]]:
        """(place, sentence) of each conflict with the other policies."""
        return iter(())


Together = Annotated[
    bool,
    Field(
        title="Together",
        description="it steers all its seats as one: it sees what all see and decides for all; learners made for "
        "groups (masac, maddpg) always do",
        exclude_if=lambda together: not together,  # keeps the hash of studies without groups
    ),
]


class LearningConfig(SeatedConfig):
    """A policy that is trained."""

    learns: ClassVar[bool] = True
    kind: Literal["learning"] = "learning"
    learner: Learner | None = Field(None, title="Learner", description="none: the study's")
    together: Together = False
    start: StoredPolicy = Field(
        "", title="Trained policy to begin with", description="its store hash; empty: a new network",
        exclude_if=lambda start: not start,  # keeps the hash of studies without one
    )  # fmt: skip
    against: tuple[PolicyName, ...] = Field(
        (),
        max_length=20,
        title="Opponents of its evaluations",
        description="each sits on all other seats; none: whoever is drawn for them",
    )

    def misfits(self, policies: Mapping[str, SeatedConfig]) -> Iterator[tuple[str, str]]:
        """Undefined opponents, and ranges."""
        if not self.share:
            yield "share", "a policy that learns must be drawn for its seats: give more than 0"
        yield from (("against", f"there is no policy {name!r}") for name in self.against if name not in policies)
        if self.learner is not None:
            yield from ((f"learner.{gene.place}", ONE_NUMBER) for gene in genes(self.learner))


class FrozenConfig(SeatedConfig, OwnWaysConfig):
    """A policy of the store, which stays as it is; that of a group sits on the group's seat."""

    one_by_one: ClassVar[bool] = False
    kind: Literal["frozen"]
    together: Together = False
    policy: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] = Field(
        title="Policy", description="store hash of its description (policy_description of a training)"
    )


class ScriptedConfig(SeatedConfig):
    """A script of the catalogue, such as ``random``, whose hands have no limits."""

    limits: ClassVar[LimitsConfig | None] = None
    kind: Literal["scripted"]
    player: str = Field(min_length=1, max_length=100, title="Script")


class SnapshotsConfig(SeatedConfig):
    """Snapshots of a learning policy at the ends of earlier rounds, drawn uniformly."""

    kind: Literal["snapshots"]
    of: PolicyName = Field(title="Of which policy")

    @property
    def recalls(self) -> str:
        """The policy that it names."""
        return self.of

    def misfits(self, policies: Mapping[str, SeatedConfig]) -> Iterator[tuple[str, str]]:
        """Snapshots of a policy that does not exist or does not learn."""
        if self.of not in policies or not policies[self.of].learns:
            yield "of", f"there is no policy {self.of!r} that learns"


def _learning(given: Any) -> Any:
    """Adds the default kind: a policy learns unless it says otherwise."""
    return {"kind": "learning", **given} if isinstance(given, Mapping) else given


PolicyConfig = Annotated[
    Annotated[LearningConfig | FrozenConfig | ScriptedConfig | SnapshotsConfig, Field(discriminator="kind")],
    BeforeValidator(_learning),
]
