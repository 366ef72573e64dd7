"""Compares agent.onnx with vectors.npz beside it, in onnxruntime: python check.py. Needs numpy and onnxruntime."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

WITHIN = 1e-5


def apart(found: Any, wanted: Any) -> Any:
    """By how much they differ; beyond 1 in shares."""
    return abs(found - wanted) / np.maximum(1.0, abs(wanted))


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
    rows = apart(found["action"], wanted["action"]).reshape(count, -1).max(axis=1)
    same = int((rows <= (0 if wanted["action"].dtype.kind == "i" else WITHIN)).sum())
    largest = max(float(apart(found[name], array).max()) for name, array in wanted.items() if name != "action")
    print(f"{same} of {count} actions are the same; the numbers differ by {largest:.1e} at most.")
    return 0 if same == count and largest <= WITHIN else 1


if __name__ == "__main__":
    sys.exit(main())
