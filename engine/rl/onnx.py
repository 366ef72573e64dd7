"""The policy's network as an ONNX graph, built node by node from its description, without tracing.

Inputs: every observation by name [N, …] (uint8 or float32) and, with an LSTM, ``h`` and ``c`` [N, units]. Outputs:
``policy`` [N, K] (the ``numbers`` of its head: logits, then means in units in which the bounds are ±1; for DQN the
values of all choices, for P-DQN these and then the numbers of all choices, for SAC means and log standard deviations
before tanh), ``values`` [N, R] where the policy has
any, and the new ``h`` and ``c`` as ``h_next`` and ``c_next``. Observations are
scaled by the graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from engine.mdp.interface import ArraySpec
from engine.rl.dense import SLOPE
from engine.rl.networks import IMAGE_SCALE, Network
from engine.rl.normalise import CLIP
from engine.rl.numbered import CHOICE, NUMBERS, THROUGH, ChoiceNetwork
from engine.rl.policy import Policy
from engine.rl.teams import TeamNetwork

OPSET, IR = 17, 8
_TYPES = {"float32": TensorProto.FLOAT, "uint8": TensorProto.UINT8}
_ACTIVATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "leaky_relu": ("LeakyRelu", {"alpha": SLOPE}),
    "relu": ("Relu", {}),
    "tanh": ("Tanh", {}),
}


def exported(policy: Policy) -> bytes:
    """The ONNX model of a policy as bytes."""
    graph = Graph(policy)
    graph.build()
    return graph.finished({"version": str(policy.version)})


class Graph:
    """A graph under construction: nodes, constants, inputs and outputs."""

    def __init__(self, policy: Policy) -> None:
        self.model = policy.spec.model()
        self.tensors = self.model.tensors(policy.weights)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._named: set[str] = set()
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def build(self) -> None:
        """Build the whole graph."""
        network = self.model.network
        for spec in network.inputs:
            self.inputs.append(helper.make_tensor_value_info(spec.name, _TYPES[spec.dtype], ["N", *spec.shape]))
        scaled = {spec.name: self._scaled(spec) for spec in network.inputs}
        if isinstance(network, TeamNetwork):
            self._output("policy", self.model.head.graph(self.add, self._team(network, scaled), ""), network.outputs)
            return
        if isinstance(network, ChoiceNetwork):
            made = self._choices(network, scaled)
            self._output("policy", self.model.head.graph(self.add, made, ""), network.outputs)
            return
        entry = self._entry(network, scaled)
        x = self._layers("policy", entry)
        if network.config.lstm:
            x = self._lstm(x, network.config.lstm)
        critic = self._layers("critic", x if network.config.sharing == "top" else entry)
        policy = self._through("", network, scaled, self._linear("action.0", x))
        values = self._linear("value.0", critic) if self.model.head.values else ""
        self._output("policy", self.model.head.graph(self.add, policy, values), network.outputs)
        if values:
            self._output("values", values, self.model.head.values)

    def _team(self, network: TeamNetwork, scaled: Mapping[str, str]) -> str:
        """What all members of a group put out, kind by kind."""
        kinds: list[list[str]] = [[] for _ in range(network.each)]
        for member, names in zip(network.members, network.names, strict=True):
            ahead = next(iter(names)).removesuffix(next(iter(names.values())))
            features = [self.add("Flatten", [scaled[name]], axis=1) for name in member.seen]
            entry = features[0] if len(features) == 1 else self.add("Concat", features, axis=1)
            put = self._linear(f"{ahead}action.0", self._layers(f"{ahead}policy", entry))
            split = self.add("Split", [put], outputs=network.each, axis=1) if network.each > 1 else [put]
            for kind, one in zip(kinds, split, strict=True):
                kind.append(one)
        return str(self.add("Concat", [one for kind in kinds for one in kind], axis=1))

    def _entry(self, network: Network, scaled: Mapping[str, str], ahead: str = "", numbers: Sequence[str] = ()) -> str:
        """What the first layers are given; ``numbers`` of an action stand behind what is seen as numbers."""
        features = [self.add("Flatten", [scaled[s.name]], axis=1) for s in network.plain if s.name in scaled]
        features += [*numbers, *(self._convolved(s.name, scaled[s.name], ahead) for s in network.images)]
        return features[0] if len(features) == 1 else str(self.add("Concat", features, axis=1))

    def _through(self, ahead: str, network: Network, scaled: Mapping[str, str], y: str) -> str:
        """The frozen layer of ``engine.rl.numbered`` added, where there is one."""
        weight, bias = (f"{ahead}{name}" for name in THROUGH)
        if bias not in self.tensors:
            return y
        if weight not in self.tensors:
            return str(self.add("Add", [y, self.constant(bias, self.tensors[bias])]))
        seen = [self.add("Flatten", [scaled[s.name]], axis=1) for s in network.plain]
        s = seen[0] if len(seen) == 1 else self.add("Concat", seen, axis=1)
        names = [self.constant(name, self.tensors[name]) for name in (weight, bias)]
        return str(self.add("Add", [y, self.add("Gemm", [s, *names], transB=1)]))

    def _choices(self, network: ChoiceNetwork, scaled: Mapping[str, str]) -> str:
        """The values of all choices, then their numbers."""
        entry = self._entry(network.x, scaled, NUMBERS)
        x = self._linear(f"{NUMBERS}action.0", self._layers(f"{NUMBERS}policy", entry))
        x = self._through(NUMBERS, network.x, scaled, x)
        if not network.passes:
            return str(self.add("Concat", [self._worth(network, scaled, x, range(network.K)), x], axis=1))
        Q = []
        for k in range(network.K):
            own = self.constant(f"own.{k}", (network.owner == k).astype(np.float32))
            Q.append(self._worth(network, scaled, self.add("Mul", [x, own]), range(k, k + 1)))
        return str(self.add("Concat", [*Q, x], axis=1))

    def _worth(self, network: ChoiceNetwork, scaled: Mapping[str, str], x: str, choices: range) -> str:
        """The values of some choices for numbers x."""
        inner = self._layers(f"{CHOICE}policy", self._entry(network.q, scaled, CHOICE, [x]))
        rows = slice(choices.start, choices.stop)
        names = [
            self.constant(f"{CHOICE}action.0.{part}.{choices.start}", self.tensors[f"{CHOICE}action.0.{part}"][rows])
            for part in ("weight", "bias")
        ]
        return str(self.add("Gemm", [inner, *names], transB=1))

    def finished(self, metadata: Mapping[str, str]) -> bytes:
        """The checked model as bytes, with these texts in its metadata."""
        model = helper.make_model(
            helper.make_graph(self.nodes, "policy", self.inputs, self.outputs, self.constants),
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR,
        )
        for key, value in metadata.items():
            model.metadata_props.add(key=key, value=value)
        onnx.checker.check_model(model)
        return bytes(model.SerializeToString())

    def add(self, kind: str, inputs: list[str], outputs: int = 0, **attributes: Any) -> Any:
        """Add a node; returns the name of its output, or the names if there are several."""
        names = [f"{kind.lower()}_{len(self.nodes)}_{i}" for i in range(max(1, outputs))]
        self.nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names if outputs else names[0]

    def constant(self, name: str, array: NDArray[Any]) -> str:
        """Add a constant, unless it is there; returns its name."""
        if name in self._named:
            return name
        self._named.add(name)
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def _output(self, name: str, made: str, width: int) -> None:
        self.nodes.append(helper.make_node("Identity", [made], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", width]))

    def _scaled(self, spec: ArraySpec) -> str:
        if spec.dtype == "uint8":
            scale = self.constant(f"scale.{spec.name}", np.array(IMAGE_SCALE, np.float32))
            return str(self.add("Mul", [self.add("Cast", [spec.name], to=TensorProto.FLOAT), scale]))
        if f"normaliser.{spec.name}.mean" not in self.tensors:
            return spec.name
        mean, spread = (
            self.constant(f"{part}.{spec.name}", self.tensors[f"normaliser.{spec.name}.{part}"])
            for part in ("mean", "spread")
        )
        low, high = (
            self.constant(f"{k}.{spec.name}", np.array(v, np.float32)) for k, v in (("low", -CLIP), ("high", CLIP))
        )
        return str(self.add("Clip", [self.add("Div", [self.add("Sub", [spec.name, mean]), spread]), low, high]))

    def _activated(self, x: str) -> str:
        kind, attributes = _ACTIVATIONS[self.model.network.config.activation]
        return str(self.add(kind, [x], **attributes))

    def _linear(self, name: str, x: str) -> str:
        weight, bias = (self.constant(f"{name}.{p}", self.tensors[f"{name}.{p}"]) for p in ("weight", "bias"))
        return str(self.add("Gemm", [x, weight, bias], transB=1))

    def _layers(self, name: str, x: str) -> str:
        i = 0
        while f"{name}.{i}.weight" in self.tensors:
            x = self._activated(self._linear(f"{name}.{i}", x))
            i += 1
        return x

    def _convolved(self, name: str, x: str, ahead: str = "") -> str:
        for i, layer in enumerate(self.model.network.config.conv):
            weight, bias = (
                self.constant(f"{ahead}conv.{name}.{i}.{p}", self.tensors[f"{ahead}conv.{name}.{i}.{p}"])
                for p in ("weight", "bias")
            )
            x = self._activated(self.add("Conv", [x, weight, bias], strides=[layer.stride] * 2))
        return str(self.add("Flatten", [x], axis=1))

    def _lstm(self, x: str, units: int) -> str:
        """One step, gate by gate, as in ``networks``."""
        for name in ("h", "c"):
            self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", units]))
        w, u, b = (self.constant(f"lstm.{p}", self.tensors[f"lstm.{p}"]) for p in ("input", "state", "bias"))
        gates = self.add("Add", [self.add("Gemm", [x, w, b], transB=1), self.add("Gemm", ["h", u], transB=1)])
        i, f, g, o = self.add("Split", [gates], outputs=4, axis=1)
        kept = self.add("Mul", [self.add("Sigmoid", [f]), "c"])
        c = self.add("Add", [kept, self.add("Mul", [self.add("Sigmoid", [i]), self.add("Tanh", [g])])])
        h = self.add("Mul", [self.add("Sigmoid", [o]), self.add("Tanh", [c])])
        self._output("h_next", h, units)
        self._output("c_next", c, units)
        return str(h)
