"""Where torch computes: on a GPU if there is one, or on some of the CPU's threads."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import torch


def device() -> torch.device:
    """The GPU if there is one, set to deterministic algorithms and to convolutions in full float32, as on samplers'
    CPUs, because the log-probabilities of samplers and learner are compared."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # otherwise cuBLAS may vary the order of summation
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.allow_tf32 = False
    return torch.device("cuda")


@contextlib.contextmanager
def on_threads(threads: int) -> Iterator[None]:
    """Context in which torch uses this many CPU threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
