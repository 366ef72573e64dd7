"""A policy for one kind of seat. On disk it is ``policy.json`` (observations, actions, network, normaliser, recurrent
state) and ``policy.safetensors`` (the numbers); ONNX is derived from these.

In memory its numbers are one float32 vector: θ, then the means and spreads of observations, then the exploration rate
ε, if its head has one. Learners publish that vector and samplers load it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import safetensors.numpy
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from torch import Tensor

from engine.config.base import parse
from engine.config.rl import NetworkConfig
from engine.errors import ConfigError, StoreError
from engine.mdp.interface import Array, GroupSpec, SeatSpec
from engine.mdp.trajectory import Batch, Decision
from engine.rl.heads import HEADS
from engine.rl.networks import Network, Parts, Recurrent, Scaling
from engine.rl.numbered import ChoiceNetwork, NumbersNetwork
from engine.rl.teams import TeamNetwork
from engine.store import Artifacts
from engine.text import shown

F32 = NDArray[np.float32]
FORMAT = "equipoise-policy/1"
TEAM = "team-"
"""Before the name of a head whose group's members have networks of their own."""
JSON, TENSORS = "policy.json", "policy.safetensors"
UNREADABLE = (KeyError, TypeError, ValueError, ArithmeticError, RecursionError, ConfigError)
"""What a description raises that is none of a policy."""
LARGEST = 1e18
"""Of a weight; the square of a larger one may be beyond float32, and no training gets there."""


class PolicySpec(NamedTuple):
    """The fixed specification of a policy. ``kind``: the name of its head in ``engine.rl.heads.HEADS``."""

    seat: SeatSpec
    network: NetworkConfig
    kind: str = "actor-critic"
    normalise: bool = False
    duelling: bool = False

    def model(self) -> Model:
        """The model. Raises ConfigError when it does not fit the seat."""
        return Model(self)


class Model:
    """The parts of a policy that do not change while it learns, and the layout of its numbers."""

    def __init__(self, spec: PolicySpec) -> None:
        self.spec = spec
        self.head = HEADS[spec.kind](spec.seat, spec.duelling)
        self.distribution = self.head.distribution
        self.network = self._network(spec)
        self.scaling = Scaling(spec.seat, spec.normalise)
        self.extra = int(self.head.explores)
        self.size = self.network.size + self.scaling.size + self.extra

    def _network(self, spec: PolicySpec) -> Network:
        if self.head.apart:
            return TeamNetwork(spec.seat, spec.network, self.head.outputs)
        if self.head.numbered == "beside":
            return NumbersNetwork(spec.seat, spec.network, self.distribution.K)
        if self.head.numbered:
            return ChoiceNetwork(spec.seat, spec.network, passes=self.head.numbered == "passes")
        return Network(spec.seat, spec.network, self.head.outputs, self.head.values, self.head.spreads)

    def initial(self, rng: np.random.Generator) -> F32:
        """Initial weights float32[size]."""
        return np.concatenate([self.network.initial(rng), self.scaling.initial(), np.ones(self.extra, np.float32)])

    def log_std(self, parts: Parts) -> Tensor | None:
        """The learned log standard deviations of continuous parameters, clamped to [−5, 2]."""
        return parts["log_std"].clamp(-5.0, 2.0) if self.head.spreads else None

    def tensors(self, weights: F32) -> dict[str, F32]:
        """The numbers by name, as they are stored; copies."""
        theta = torch.from_numpy(np.array(weights[: self.network.size]))
        found = {name: part.numpy().copy() for name, part in self.network.parts(theta).items()}
        scales = torch.from_numpy(np.array(weights[self.network.size : self.network.size + self.scaling.size]))
        for name, (mean, spread) in self.scaling.parts(scales).items():
            found |= {
                f"normaliser.{name}.mean": mean.numpy().copy(),
                f"normaliser.{name}.spread": spread.numpy().copy(),
            }
        if self.extra:
            found["epsilon"] = weights[-1:].copy()
        return found

    def weights(self, tensors: Mapping[str, NDArray[Any]]) -> F32:
        """The inverse of ``tensors``. Raises StoreError for missing, unknown or misshapen ones."""
        found = {name: part.shape for name, part in tensors.items()}
        if sum(part.size for part in tensors.values()) != self.size:  # before allocating anything of that size
            raise StoreError(f"These weights do not fit the policy's description, which has {self.size:,} numbers.")
        expected = self.layout()
        if found != expected:
            wrong = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
            raise StoreError(f"These weights do not fit the policy's description: {', '.join(wrong[:5])}.")
        return np.concatenate([np.asarray(tensors[name], dtype=np.float32).ravel() for name in expected])

    def layout(self) -> dict[str, tuple[int, ...]]:
        """The shapes of ``tensors`` by name, in the order in which they stand in the vector."""
        shapes = {name: part.shape for name, part in self.tensors(np.zeros(self.size, np.float32)).items()}
        names = [name for name in shapes if name.startswith("normaliser.")]
        order = [*self.network.shapes, *(n for n in names if n.endswith(".mean")),
                 *(n for n in names if n.endswith(".spread")), *(["epsilon"] if self.extra else [])]  # fmt: skip
        return {name: shapes[name] for name in order}


class Actor:
    """Plays rows of seats with one policy: batched inference without gradients. Its noise comes from the given keys, so
    a decision depends neither on the rest of the batch nor on earlier decisions."""

    def __init__(self, model: Model, explore: bool = True) -> None:
        """``explore``: draw from the distribution; otherwise take the likeliest action."""
        self.model, self.explore = model, explore
        self.version = -1

    def load(self, weights: F32, version: int) -> None:
        """Play with these weights from now on; they are copied."""
        n = self.model.network.size
        theta = torch.from_numpy(np.array(weights, dtype=np.float32))
        self._parts = self.model.network.parts(theta[:n])
        self._scales = self.model.scaling.parts(theta[n : n + self.model.scaling.size])
        log_std = self.model.log_std(self._parts)
        self._log_std = np.empty(0, np.float32) if log_std is None else log_std.numpy()
        self._epsilon = float(weights[-1]) if self.model.extra else 0.0
        self.version = version

    @property
    def memory(self) -> dict[str, tuple[int, ...]]:
        """Shapes of one seat's recurrent state by name, zeros at the beginning of an episode; empty without one."""
        return self.model.network.memory

    def __call__(self, batch: Batch) -> Decision:
        """Actions (parameters are not clipped), their log-probabilities, and the new recurrent state."""
        numbers, kept = self._forward(batch)
        return self.decided(numbers, batch)._replace(state=kept)

    def decided(self, numbers: F32, batch: Batch) -> Decision:
        """What it does where the numbers of its head are these."""
        if self.explore:
            return self.model.head.decide(numbers, self._log_std, self._epsilon, batch)
        return self.model.head.best(numbers, batch)

    def numbers(self, batch: Batch) -> F32:
        """The numbers of its head that decide, [n, K]."""
        return self._forward(batch)[0]

    def _forward(self, batch: Batch) -> tuple[F32, dict[str, Array]]:
        """These numbers, and the new recurrent state."""
        with torch.inference_mode():
            seen = {name: torch.from_numpy(array) for name, array in batch.observations.items()}
            state = batch.state
            before = Recurrent(torch.from_numpy(state["h"]), torch.from_numpy(state["c"])) if state else None
            scaled, head = self.model.scaling(self._scales, seen), self.model.head
            outputs = self.model.network(self._parts, scaled, before, critic=head.valued)
            after = outputs.state
            kept: dict[str, Array] = {} if after is None else {"h": after.h.numpy(), "c": after.c.numpy()}
            return head.numbers(outputs).numpy(), kept


class Policy(NamedTuple):
    """A policy with its numbers; ``version``: number of updates so far."""

    spec: PolicySpec
    weights: F32
    version: int = 0

    def actor(self, explore: bool = True) -> Actor:
        """An actor that plays it."""
        actor = Actor(self.spec.model(), explore)
        actor.load(self.weights, self.version)
        return actor

    def members(self) -> tuple[Policy, ...]:
        """The policy of each entity of its group, to be played apart; itself where its network is one."""
        model = self.spec.model()
        if not isinstance(model.network, TeamNetwork):
            return (self,)
        tensors, kind = model.tensors(self.weights), self.spec.kind.removeprefix(TEAM)
        found = []
        for i, member in enumerate(model.network.members):
            spec = self.spec._replace(seat=member.seat, kind=kind)
            own = {local: tensors[name] for name, local in model.network.own(i, tensors).items()}
            found.append(Policy(spec, spec.model().weights(own), self.version))
        return tuple(found)

    def pack(self) -> tuple[bytes, bytes]:
        """The JSON and the safetensors file; equal policies give equal bytes."""
        model = self.spec.model()
        tensors = safetensors.numpy.save(model.tensors(self.weights))
        description = {
            "format": FORMAT,
            "kind": self.spec.kind,
            "seat": msgspec.to_builtins(self.spec.seat),
            "network": self.spec.network.model_dump(mode="json"),
            "normalise": self.spec.normalise,
            "duelling": self.spec.duelling,
            "recurrent": {name: list(shape) for name, shape in model.network.memory.items()},
            "version": self.version,
            "sha256": hashlib.sha256(tensors).hexdigest(),
        }
        return json.dumps(description, indent=1, sort_keys=True).encode() + b"\n", tensors

    def save(self, folder: Path) -> None:
        """Write both files into a folder, which is created."""
        folder.mkdir(parents=True, exist_ok=True)
        description, tensors = self.pack()
        (folder / TENSORS).write_bytes(tensors)
        (folder / JSON).write_bytes(description)

    @classmethod
    def unpack(cls, description: bytes, tensors: bytes) -> Policy:
        """The policy from the bytes of its two files. Raises StoreError when they are damaged, do not match, or hold a
        weight that is not finite."""
        try:
            found = json.loads(description)
            if found["format"] != FORMAT:
                raise StoreError(f"This policy has format {found['format']!r}; this version reads {FORMAT}.")
            if hashlib.sha256(tensors).hexdigest() != found["sha256"]:
                raise StoreError(f"{TENSORS} is not the file that {JSON} describes: their check sums differ.")
            spec = _spec_of(found)
            weights = spec.model().weights(safetensors.numpy.load(tensors))
            if not (np.abs(weights) < LARGEST).all():
                why = "are not finite, or too large to compute with"
                raise StoreError(f"Some of the numbers in {TENSORS} {why}, so it cannot play or learn.")
            return cls(spec, weights, int(found["version"]))
        except (*UNREADABLE, SafetensorError) as error:
            raise StoreError(f"This is not a readable policy: {error}.") from error

    @classmethod
    def described(cls, description: bytes, weights: F32) -> Policy:
        """The policy with this description and the numbers float32[size] of its vector. Raises StoreError."""
        try:
            found = json.loads(description)
            spec = _spec_of(found)
            if len(weights) != spec.model().size:
                raise StoreError(f"This policy has {spec.model().size:,} numbers, and {len(weights):,} were given.")
            return cls(spec, weights, int(found["version"]))
        except UNREADABLE as error:
            raise StoreError(f"This is not a readable policy: {error}.") from error

    @classmethod
    def stored(cls, store: Artifacts, description: str) -> Policy:
        """The stored policy whose description has this hash. Raises StoreError."""
        data = store.get(description)
        try:
            tensors = str(json.loads(data)["sha256"])
        except UNREADABLE as error:
            raise StoreError(f"Artifact {description[:12]} is not the description of a policy.") from error
        return cls.unpack(data, store.get(tensors))

    @classmethod
    def load(cls, folder: Path) -> Policy:
        """The policy that was saved there. Raises StoreError."""
        try:
            return cls.unpack((folder / JSON).read_bytes(), (folder / TENSORS).read_bytes())
        except OSError as error:
            raise StoreError(f"There is no policy in {folder}: {error}.") from error


def _spec_of(description: Mapping[str, Any]) -> PolicySpec:
    """The specification in a policy's description. Raises KeyError, TypeError, ValueError, ConfigError."""
    fields = description["seat"]
    seat = msgspec.convert(fields, GroupSpec if "members" in fields else SeatSpec)
    if len({seen.name for seen in seat.observations}) < len(seat.observations):
        raise ValueError("two of its observations have the same name")
    for seen in seat.observations:
        shown(seen.name)
    if any(length < 1 for seen in seat.observations for length in seen.shape):
        raise ValueError("one of its observations has no numbers")
    network = parse(NetworkConfig, description["network"])
    kind, normalise, duelling = (description[name] for name in ("kind", "normalise", "duelling"))
    return PolicySpec(seat, network, kind, bool(normalise), bool(duelling))
