"""Compares agent.onnx, and hands.py where there is one, with vectors.npz beside it: python check.py. Needs numpy and
onnxruntime."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

WITHIN = 1e-5


def same_rows(found: Any, wanted: Any, scale: Any, clear: Any) -> int:
    """In how many rows two lists of actions are the same, parameters by shares of their ``scale``, or a choice is not
    ``clear``: another is worth the same up to rounding."""
    rows = (abs(found - wanted).reshape(len(wanted), -1) / scale).max(axis=1)
    return int(((rows <= (0 if wanted.dtype.kind == "i" else WITHIN)) | ~clear).sum())


def hold_back(here: Path, agent: Any, vectors: dict[str, Any]) -> bool:
    """Whether hands.py holds the agent's decisions back as the engine did in the episodes that it played there; true
    where nothing is held back."""
    if "played.done" not in vectors:
        return True
    decided, done, begins = (vectors[f"played.{name}"] for name in ("decision", "done", "begins"))
    fed = {name[10:]: array for name, array in vectors.items() if name.startswith("played.in.")}
    good = True
    if fed:
        made = agent.run(["action"], fed)[0]
        same = same_rows(made, decided, vectors["scale.action"], vectors["played.clear"])
        print(f"{same} of {len(decided)} decisions of played episodes are the same.")
        good = same == len(decided)
    limits = json.loads((here / "card.json").read_text(encoding="utf-8"))["limits"]
    spec = importlib.util.spec_from_file_location("hands", here / "hands.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    hands, found = module.Hands(np.array(limits["idle"], decided.dtype), limits["delay"], limits["apart"]), []
    for action, first in zip(decided, begins, strict=True):
        if first:
            hands.restart()
        found.append(hands.do(action))
    same = int((np.array(found) == done).reshape(len(done), -1).all(axis=1).sum())
    print(f"{same} of {len(done)} actions of the hands are the same.")
    return good and same == len(done)


def main() -> int:
    """0 where the exported agent acts as the one in the engine did."""
    here = Path(__file__).resolve().parent
    agent = onnxruntime.InferenceSession(str(here / "agent.onnx"), providers=["CPUExecutionProvider"])
    with np.load(here / "vectors.npz", allow_pickle=False) as file:
        vectors = {name: file[name] for name in file.files}
    wanted = {name[4:]: array for name, array in vectors.items() if name.startswith("out.")}
    fed = {name[3:]: array for name, array in vectors.items() if name.startswith("in.")}
    found = dict(zip(wanted, agent.run(list(wanted), fed), strict=True))
    count = len(wanted["action"])
    same = same_rows(found["action"], wanted["action"], vectors["scale.action"], vectors["clear"])
    apart = {name: abs(found[name] - array) / vectors[f"scale.{name}"] for name, array in wanted.items()}
    largest = max(float(each.max()) for name, each in apart.items() if name != "action")
    print(f"{same} of {count} actions are the same; the numbers differ by {largest:.1e} of their scale at most.")
    good = same == count and largest <= WITHIN
    return 0 if hold_back(here, agent, vectors) and good else 1


if __name__ == "__main__":
    sys.exit(main())
