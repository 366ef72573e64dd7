"""A stored policy that plays without torch, for engines that only play: battles of lineups.

It reads the two files of ``engine.rl.policy`` and computes what that plays with (``engine.rl.networks``,
``engine.rl.heads``), in layers whose numbers do not depend on the batch (``engine.mdp.dense``). Only policies that
choose, of observations that are vectors, are read: no pictures, no continuous parameters, no values of choices.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError

from engine.errors import StoreError
from engine.mdp import dense
from engine.mdp.choosing import choices
from engine.mdp.interface import Array, SeatSpec
from engine.mdp.trajectory import Batch, Decision
from engine.store import Artifacts

F32 = NDArray[np.float32]
SLOPE, CLIP = np.float32(0.01), np.float32(10.0)
"""As ``engine.rl.networks`` and ``engine.rl.normalise`` have them."""


class StoredPolicy:
    """Plays rows of a seat. ``sampled``: it draws its moves by their odds; otherwise it takes the likeliest. A decision
    depends on its own row and key alone."""

    def __init__(self, description: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]], sampled: bool) -> None:
        """Raises StoreError for a policy that it cannot play."""
        self.seat, self.sampled = msgspec.convert(description["seat"], SeatSpec), sampled
        self._network = description["network"]
        self._tensors = {name: np.ascontiguousarray(array, np.float32) for name, array in tensors.items()}
        if why := _obstacle(self.seat, str(description["kind"]), self._network):
            raise StoreError(why)
        if why := _misfit(self._tensors, _shapes(self.seat, self._network)):
            raise StoreError(why)
        self._layers = [self._layer(f"policy.{i}") for i in range(len(self._network["policy"]))]
        self._output = self._layer("action.0")
        self._sizes = np.array(self.seat.action.choices, np.int64)

    @classmethod
    def read(cls, store: Artifacts, description: str, sampled: bool) -> StoredPolicy:
        """The stored policy whose description has this hash. Raises StoreError."""
        try:
            fields = json.loads(store.get(description))
            return cls(fields, safetensors.numpy.load(store.get(str(fields["sha256"]))), sampled)
        except (KeyError, TypeError, ValueError, msgspec.ValidationError, SafetensorError) as error:
            raise StoreError(f"Artifact {description[:12]} is not a policy that can be played: {error}.") from error

    @property
    def memory(self) -> dict[str, tuple[int, ...]]:
        """Shapes of one seat's recurrent state by name, zeros at the beginning of an episode; empty without one."""
        units = int(self._network["lstm"])
        return {"h": (units,), "c": (units,)} if units else {}

    def __call__(self, batch: Batch) -> Decision:
        """The moves, and the new recurrent state."""
        logits, state = self.logits(batch)
        keys = batch.keys if self.sampled else batch.keys[:0]
        rows = choices(logits, keys, self._sizes)
        action = self.seat.action
        return Decision(rows if action.row else rows[:, 0].astype(action.dtype), state=state)

    def logits(self, batch: Batch) -> tuple[F32, dict[str, Array]]:
        """What choices are made by float32[n, K], and the new recurrent state."""
        seen = [self._scaled(spec.name, batch.observations[spec.name]) for spec in self.seat.observations]
        x = np.ascontiguousarray(np.concatenate(seen, axis=1))
        for layer in self._layers:
            x = dense.dense(x, *layer)
            self._activate(x)
        state: dict[str, Array] = {}
        if self.memory:
            state = {name: np.array(batch.state[name], np.float32) for name in self.memory}
            zeros = np.zeros(len(self._tensors["lstm.bias"]), np.float32)
            gates = dense.dense(x, self._turned("lstm.input"), self._tensors["lstm.bias"])
            gates += dense.dense(state["h"], self._turned("lstm.state"), zeros)
            dense.remember(gates, state["h"], state["c"])
            x = state["h"]
        return dense.dense(x, *self._output), state

    def _scaled(self, name: str, seen: Array) -> F32:
        x = np.asarray(seen, np.float32).reshape(len(seen), -1)
        mean = self._tensors.get(f"normaliser.{name}.mean")
        if mean is None:
            return x
        spread = self._tensors[f"normaliser.{name}.spread"]
        return np.asarray(np.clip((x - mean.ravel()) / spread.ravel(), -CLIP, CLIP), np.float32)

    def _activate(self, x: F32) -> None:
        if self._network["activation"] == "tanh":
            dense.tanh(x)
        else:
            dense.leaky(x, SLOPE if self._network["activation"] == "leaky_relu" else np.float32(0.0))

    def _turned(self, name: str) -> F32:
        """Weights with their inputs first."""
        return np.ascontiguousarray(self._tensors[name].T)

    def _layer(self, name: str) -> tuple[F32, F32]:
        return self._turned(f"{name}.weight"), self._tensors[f"{name}.bias"]


def _obstacle(seat: SeatSpec, kind: str, network: Mapping[str, Any]) -> str:
    """Why this policy cannot be played here; empty where it can."""
    if kind != "actor-critic" or len(seat.action.bounds[0]) or not seat.action.choices:
        return "This policy does not draw choices by odds, and only such a one can be played without its trainer."
    if network["conv"] or any(spec.dtype != "float32" for spec in seat.observations):
        return "This policy sees pictures, and cannot be played without its trainer."
    return ""


def _misfit(tensors: Mapping[str, NDArray[Any]], expected: Mapping[str, tuple[int, ...]]) -> str:
    """Why these weights are not the described ones; empty where they are. Compiled layers look at no bounds."""
    normalised = any(name.startswith("normaliser.") for name in tensors)
    for name, shape in expected.items():
        if name not in tensors and (normalised or not name.startswith("normaliser.")):
            return f"Its weights do not fit its description: {name} is missing."
        if name in tensors and tensors[name].shape != shape:
            return f"Its weights do not fit its description: {name} is {list(tensors[name].shape)}, not {list(shape)}."
        if name in tensors and not np.isfinite(tensors[name]).all():
            return f"Its weights are not all numbers: {name} has one that is none, or is endless."
    return ""


def _shapes(seat: SeatSpec, network: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """What a policy of this seat plays with, as ``engine.rl.networks`` lays it out."""
    found: dict[str, tuple[int, ...]] = {}
    for spec in seat.observations:
        found |= {f"normaliser.{spec.name}.{what}": tuple(spec.shape) for what in ("mean", "spread")}
    width = sum(math.prod(spec.shape) for spec in seat.observations)
    for i, units in enumerate(network["policy"]):
        found |= {f"policy.{i}.weight": (units, width), f"policy.{i}.bias": (units,)}
        width = units
    if units := network["lstm"]:
        found |= {"lstm.input": (4 * units, width), "lstm.state": (4 * units, units), "lstm.bias": (4 * units,)}
        width = units
    outputs = sum(seat.action.choices)
    return found | {"action.0.weight": (outputs, width), "action.0.bias": (outputs,)}
