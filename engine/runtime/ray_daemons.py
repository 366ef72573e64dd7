"""Which daemons a Ray of ours has: its control service and its raylet with that one's two agents.

Ray would start three Python programs more, each of which takes 0.4 processor-seconds to start: one
that asks a cloud for machines, one that carries what workers print to the driver, and one that answers HTTP. Nothing
here uses them, and ``ray.init`` has no setting that leaves them out.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

LEFT_OUT = ("start_monitor", "start_log_monitor", "start_api_server")
"""Methods of Ray's ``Node``, each of which starts one of them."""


@contextlib.contextmanager
def few() -> Iterator[None]:
    """While this holds, a Ray that this process starts goes without them. Ray must have been loaded before."""
    node: Any = importlib.import_module("ray._private.node").Node
    usual = {name: getattr(node, name) for name in LEFT_OUT}
    for name in LEFT_OUT:
        setattr(node, name, _nothing)
    try:
        yield
    finally:
        for name, method in usual.items():
            setattr(node, name, method)


def _nothing(node: Any, **_how: Any) -> None:
    """Start none."""
