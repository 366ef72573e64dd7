"""An agent as an ONNX graph that chooses its own action: ``engine.rl.onnx``, then the legal mask and the choice.

Further inputs: ``legal`` bool [N, K], where choices can be made (all true where the game forbids nothing; a row that
forbids everything counts as one that forbids nothing), and for an agent that draws its actions ``mark`` float64
[N, choices], uniform in [0, 1), and ``noise`` float32 [N, D], standard normal, where there are parameters. Further
output: ``action``, int64 [N] for one choice, else float32 [N, choices + D], as ``engine.mdp.interface`` has it.

The choice is that of ``engine.rl.distributions``: the likeliest legal one (the first of equals), or the one whose share
of the cumulative probability contains the mark, computed in double precision as there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper

from engine.config.limits import LimitsConfig
from engine.config.rl import DRAWING
from engine.errors import ConfigError
from engine.rl.heads import SPREADS
from engine.rl.onnx import OPSET, Graph
from engine.rl.policy import Policy

ONLY_BEST = "this agent was taught the best action, and has no odds to draw others by: measure it without chance"


def acting(policy: Policy, sampled: bool, limits: LimitsConfig | None = None) -> bytes:
    """The model as bytes. ``limits``: those of the agent, which its metadata declare, because the graph knows one
    decision only. Raises ConfigError for an agent that cannot draw its actions and shall."""
    if sampled and policy.spec.kind not in DRAWING:
        raise ConfigError([("agent.sampled", ONLY_BEST)])
    graph = _Acting(policy, sampled)
    graph.build()
    graph.act(policy)
    chooses = "draws its actions" if sampled else "takes the likeliest action"
    limits = limits or LimitsConfig()
    held = {"reaction_delay_decisions": str(limits.delay), "decisions_between_actions": str(limits.apart)}
    return graph.finished({"version": str(policy.version), "opset": str(OPSET), "plays": chooses, **held})


class _Acting(Graph):
    """The graph with its choice."""

    def __init__(self, policy: Policy, sampled: bool) -> None:
        super().__init__(policy)
        self.sampled = sampled
        self.inner = policy.spec.model().distribution

    def act(self, policy: Policy) -> None:
        """Add the choice behind the network."""
        choices, row = self.inner.acting.choices.tolist(), self.inner.spec.row
        if choices:
            self._input("legal", TensorProto.BOOL, sum(choices))
        if choices and self.sampled:
            self._input("mark", TensorProto.DOUBLE, len(choices))
        parts, at = [], 0
        for i, count in enumerate(choices):
            parts.append(self._choice(i, at, at + count))
            at += count
        if row:
            parts = [self.add("Cast", [part], to=TensorProto.FLOAT) for part in parts]
            parts += [self._parameters(policy, at)] if self.inner.D else []
            made = parts[0] if len(parts) == 1 else self.add("Concat", parts, axis=1)
            self._tell(made, TensorProto.FLOAT, len(choices) + self.inner.D)
        else:
            flat = self.add("Reshape", [parts[0], self.constant("flat", np.array([-1], np.int64))])
            self._tell(flat, TensorProto.INT64)

    def _input(self, name: str, kind: int, width: int) -> None:
        self.inputs.append(helper.make_tensor_value_info(name, kind, ["N", width]))

    def _tell(self, made: str, kind: int, *width: int) -> None:
        self.nodes.append(helper.make_node("Identity", [made], ["action"]))
        self.outputs.append(helper.make_tensor_value_info("action", kind, ["N", *width]))

    def _columns(self, name: str, first: int, last: int) -> str:
        """Columns first to last, the last left out."""
        ends = [self.constant(f"{name}.{first}.{key}", np.array([value], np.int64))
                for key, value in (("from", first), ("to", last), ("axis", 1))]  # fmt: skip
        return str(self.add("Slice", [name, *ends]))

    def _choice(self, part: int, first: int, last: int) -> str:
        """One discrete part's choice, int64 [N, 1]."""
        legal = self._columns("legal", first, last)
        any_ = self.add("ReduceMax", [self.add("Cast", [legal], to=TensorProto.FLOAT)], axes=[1], keepdims=1)
        nothing = self.add("Less", [any_, self.constant(f"half.{part}", np.array(0.5, np.float32))])
        never = self.constant(f"never.{part}", np.array(-np.inf, np.float32))
        logits = self.add("Where", [self.add("Or", [legal, nothing]), self._columns("policy", first, last), never])
        if not self.sampled:
            return str(self.add("ArgMax", [logits], axis=1, keepdims=1))
        largest = self.add("ReduceMax", [logits], axes=[1], keepdims=1)
        gap = self.add("Cast", [self.add("Sub", [logits, largest])], to=TensorProto.DOUBLE)
        weights = self.add("Exp", [gap])
        total = self.add("CumSum", [weights, self.constant(f"along.{part}", np.array(1, np.int64))])
        whole = self._last(total, part, last - first)
        mark = self.add("Mul", [self._columns("mark", part, part + 1), whole])
        beyond = self.add("Cast", [self.add("Greater", [total, mark])], to=TensorProto.FLOAT)
        return str(self.add("ArgMax", [beyond], axis=1, keepdims=1))

    def _last(self, name: str, part: int, width: int) -> str:
        ends = [self.constant(f"last.{part}.{key}", np.array([value], np.int64))
                for key, value in (("from", width - 1), ("to", width), ("axis", 1))]  # fmt: skip
        return str(self.add("Slice", [name, *ends]))

    def _parameters(self, policy: Policy, first: int) -> Any:
        """The parameters, float32 [N, D]."""
        unit, squashed = self._columns("policy", first, first + self.inner.D), policy.spec.kind == "squashed"
        if self.sampled:
            self._input("noise", TensorProto.FLOAT, self.inner.D)
            spread = self._spread(first + self.inner.D) if squashed else self._learned_spread()
            unit = self.add("Add", [unit, self.add("Mul", ["noise", spread])])
        unit = self.add("Tanh", [unit]) if squashed else unit
        scaled = self.add("Mul", [unit, self.constant("half", self.inner.acting.half)])
        return self.add("Add", [scaled, self.constant("centre", self.inner.acting.centre)])

    def _learned_spread(self) -> str:
        """The spread of each parameter [D], the same in every state."""
        return self.constant("spread", np.exp(np.clip(self.tensors["log_std"], -5.0, 2.0)).astype(np.float32))

    def _spread(self, first: int) -> str:
        """The spread of each parameter [N, D] in this state."""
        bounds = [self.constant(f"spread.{i}", np.array(bound, np.float32)) for i, bound in enumerate(SPREADS)]
        log_std = self._columns("policy", first, first + self.inner.D)
        return str(self.add("Exp", [self.add("Clip", [log_std, *bounds])]))
