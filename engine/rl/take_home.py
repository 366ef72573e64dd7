"""What somebody takes home of an agent: one zip file that needs neither this engine nor torch.

``policy.json`` and ``policy.safetensors`` (the format of ``engine.rl.policy``), ``agent.onnx``
(``engine.rl.onnx_acting``), ``vectors.npz`` (situations from fresh episodes, what the agent's numbers are in each, its
action, and the scales of both), ``check.py`` (a program that compares them in onnxruntime), and the model card as
``card.json`` and ``card.md``. That of an agent with limits also has ``hands.py``, which holds actions back as the
engine's hands do, and among the vectors a sequence that it played (``engine.rl.played``), by which ``check.py`` checks
it.
"""

from __future__ import annotations

import io
import json
import math
import time
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from engine.mdp.choosing import uniforms
from engine.mdp.interface import Array
from engine.mdp.trajectory import Batch
from engine.rl.onnx import exported
from engine.rl.policy import JSON, TENSORS, Policy

GRAPH = "policy.onnx"
VECTORS = 1000
"""Situations that go along, where so many were met."""
WITHIN = 1e-5
"""The most by which the exported numbers may differ from the agent's own, as a share of their scale: 1, or the largest
of an output, because numbers near 0 among large ones are rounded as these are. That of an action's parameter is half
its range, or the largest where an agent goes beyond."""
_WARM_UP, _TIMED = 50, 500
Arrays = dict[str, NDArray[Any]]


class Check(NamedTuple):
    """How the exported agent compares in onnxruntime: number of ``situations``, in how many its action is the ``same``
    or the choice not clear, and the largest ``difference`` of a number, as a share of its scale."""

    situations: int
    same: int
    difference: float

    @property
    def good(self) -> bool:
        """Whether it is the same agent."""
        return self.same == self.situations and self.difference <= WITHIN


def inputs(policy: Policy, seen: Batch, sampled: bool) -> Arrays:
    """The inputs of the exported agent in these situations."""
    distribution = policy.spec.model().distribution
    choices, n = len(distribution.acting.choices), len(seen.keys)
    found: Arrays = {**seen.observations, **seen.state}
    if choices:
        found["legal"] = np.ones((n, distribution.K), np.bool_) if seen.masks is None else seen.masks
    if choices and sampled:
        found["mark"] = np.stack([uniforms(seen.keys, i) for i in range(choices)], axis=1)
    if distribution.D and sampled:
        found["noise"] = np.stack([_normals(seen.keys, choices + 2 * d) for d in range(distribution.D)], axis=1)
    return found


def folders(policies: Sequence[Policy]) -> bytes:
    """One zip file with a folder for each of these policies, named by its number: its two files and its graph. Equal
    policies give equal bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for i, policy in enumerate(policies):
            for name, data in zip((JSON, TENSORS, GRAPH), (*policy.pack(), exported(policy)), strict=True):
                archive.writestr(zipfile.ZipInfo(f"{i + 1}/{name}"), data)
    return packed.getvalue()


def _normals(keys: NDArray[np.uint64], i: int) -> NDArray[np.float32]:
    """Standard normal numbers from the i-th uniform number of each key and the next (Box & Muller 1958)."""
    first, second = uniforms(keys, i), uniforms(keys, i + 1)
    return np.asarray(np.sqrt(-2 * np.log(1 - first)) * np.cos(2 * math.pi * second), np.float32)


def vectors(policy: Policy, seen: Batch, sampled: bool) -> Arrays:
    """Inputs, named ``in.…``, what the agent itself makes of them, ``out.…``, and the scales of that, ``scale.…``,
    and ``clear``: which choices rounding cannot turn."""
    actor = policy.actor(explore=sampled)
    decision = actor(seen)
    outputs = {"action": decision.actions, "policy": actor.numbers(seen)}
    outputs |= {f"{name}_next": array for name, array in decision.state.items()}
    found = {f"in.{name}": array for name, array in inputs(policy, seen, sampled).items()}
    found |= {f"out.{name}": array for name, array in outputs.items()}
    scales = {name: np.asarray(_scale(array)) for name, array in outputs.items()}
    scales["action"] = np.maximum(_ranges(policy), _largest(decision.actions.reshape(len(seen.keys), -1)))
    return found | {"clear": clear(policy, seen, sampled)} | {f"scale.{name}": scale for name, scale in scales.items()}


def clear(policy: Policy, seen: Batch, sampled: bool) -> NDArray[np.bool_]:
    """In which situations [n] rounding cannot turn a choice of the agent: it stays the same if its number is lower by
    twice ``WITHIN`` of its scale, by once of which it and another may differ in the exported agent."""
    actor, sizes = policy.actor(explore=sampled), policy.spec.model().distribution.acting.choices.tolist()
    numbers = actor.numbers(seen)
    columns = np.cumsum([0, *sizes], dtype=np.int64)[:-1]

    def chosen(by: NDArray[np.float32]) -> NDArray[np.int64]:
        return actor.decided(by, seen).actions.reshape(len(by), -1)[:, : len(sizes)].astype(np.int64)

    choices = chosen(numbers)
    lower = np.take_along_axis(numbers, choices + columns, axis=1) - 2 * WITHIN * _scale(numbers)
    less = numbers.copy()
    np.put_along_axis(less, choices + columns, lower, axis=1)
    return np.asarray((chosen(less) == choices).all(axis=1))


def _largest(numbers: Array) -> Array:
    """The largest of each column, signs and what is not finite left out."""
    return np.asarray(np.where(np.isfinite(numbers), abs(numbers), 0).max(axis=0, initial=0))


def _scale(numbers: Array) -> float:
    """1, or the largest of all."""
    return float(max(_largest(numbers).max(initial=0.0), 1.0))


def _ranges(policy: Policy) -> Array:
    """1 for each choice of an action, which must be the same; half its range for each parameter."""
    low, high = policy.spec.seat.action.bounds
    half = (high.astype(np.float64) - low) / 2
    return np.concatenate([np.ones(len(policy.spec.seat.action.choices)), np.where(half > 0, half, 1.0)])


def session(model: bytes) -> Any:
    """The exported agent in onnxruntime on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def checked(model: bytes, given: Arrays) -> Check:
    """The exported agent on ``vectors``."""
    wanted = {name.removeprefix("out."): array for name, array in given.items() if name.startswith("out.")}
    made = session(model).run(list(wanted), _fed(given))
    found: dict[str, Array] = dict(zip(wanted, made, strict=True))
    exact = wanted["action"].dtype.kind == "i"
    apart = {name: abs(found[name] - array) for name, array in wanted.items()}
    close = [(each / given[f"scale.{name}"]).max(initial=0.0) for name, each in apart.items() if name != "action"]
    rows = (apart["action"].reshape(len(apart["action"]), -1) / given["scale.action"]).max(axis=1)
    same = int(((rows <= (0 if exact else WITHIN)) | ~given["clear"]).sum())
    return Check(len(rows), same, float(max(close, default=0.0)))


def _fed(given: Arrays) -> Arrays:
    return {name.removeprefix("in."): array for name, array in given.items() if name.startswith("in.")}


def milliseconds(model: bytes, given: Arrays) -> float:
    """Processor milliseconds of one decision of the exported agent on one thread: the median of many."""
    run, fed = session(model), _fed(given)
    rows = [{name: array[i : i + 1] for name, array in fed.items()} for i in range(len(next(iter(fed.values()), ())))]
    spent = []
    for i in range(_WARM_UP + _TIMED):
        began = time.thread_time_ns()
        run.run(["action"], rows[i % len(rows)])
        spent.append(time.thread_time_ns() - began)
    return float(np.median(spent[_WARM_UP:])) / 1e6


def processor(facts: Path = Path("/proc/cpuinfo")) -> str:
    """The model of this machine's processor, without which milliseconds mean little; empty where none is named."""
    try:
        lines = facts.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")[:100]


def zipped(policy: Policy, model: bytes, given: Arrays, card: Mapping[str, Any], words: str) -> bytes:
    """The file; ``hands.py`` where ``given`` has a played sequence."""
    description, tensors = policy.pack()
    arrays = io.BytesIO()
    np.savez_compressed(arrays, allow_pickle=False, **given)
    files = {
        JSON: description,
        TENSORS: tensors,
        "agent.onnx": model,
        "vectors.npz": arrays.getvalue(),
        "check.py": _beside("check_agent.py"),
        **({"hands.py": _beside("agent_hands.py")} if "played.done" in given else {}),
        "card.json": json.dumps(card, indent=1, ensure_ascii=False).encode() + b"\n",
        "card.md": words.encode(),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def _beside(name: str) -> bytes:
    return (Path(__file__).parent / name).read_bytes()


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows as a Markdown table; the first is its head."""
    head, *others = rows
    lines = [head, tuple("---" for _ in head), *others]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines) + "\n"
