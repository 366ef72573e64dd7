"""Which daemons a Ray of ours has: its control service and its raylet with that one's two agents.

Ray would start three Python programs more, each of which takes 0.4 processor-seconds to start: one
that asks a cloud for machines, one that carries what workers print to the driver, and one that answers HTTP. Nothing
here uses them, and ``ray.init`` has no setting that leaves them out.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NEEDED = {"gcs_server", "raylet"}
"""Names of the processes without which a Ray is broken."""

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


@contextlib.contextmanager
def awaited(seconds: float) -> Iterator[None]:
    """While this holds, a Ray that this process starts has so long for its daemons, and no longer once one of them has
    died. Ray has a setting for its control service; for its raylet it waits 30 s, whatever anybody says, which is too
    short on a busy machine: so the question that it repeats waits here."""
    services: Any = importlib.import_module("ray._private.services")
    ask, variable = services.get_node, "RAY_gcs_server_port_wait_time_s"
    before = os.environ.get(variable)

    def patiently(*asked: Any) -> Any:
        until = time.monotonic() + seconds
        while True:
            try:
                return ask(*asked)
            except RuntimeError:
                if broken() or time.monotonic() > until:
                    raise
            time.sleep(0.5)

    services.get_node, os.environ[variable] = patiently, str(round(seconds))
    try:
        yield
    finally:
        services.get_node = ask
        if before is None:
            del os.environ[variable]
        else:
            os.environ[variable] = before


def broken() -> bool:
    """One of the two daemons, both children of this process, is gone. Its workers would linger and wait for ever."""
    return not set(_children()) >= NEEDED


def _children() -> Iterator[str]:
    """Names of the children of this process that run."""
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            begin, _, end = file.read_text().rpartition(")")
            state, parent = end.split()[:2]
            if state != "Z" and int(parent) == os.getpid():
                yield begin.partition("(")[2]
