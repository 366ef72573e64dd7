"""The process that owns the local Ray: when it ends, Ray ends; when Ray breaks, it ends and is started again.

``python -m deploy.up.ray_owner FOLDER ADDRESS_FILE CPUS`` writes Ray's address to the file once Ray takes work. On a
busy machine Ray can take minutes to come up, and whatever is thrown away half-way makes the machine busier. So each try
is given twice as long as the one before, and how many were too slow is noted beside the address, for people to be told.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

from engine.runtime import ray_daemons
from engine.runtime.cluster import START_S, load_ray

OBJECT_STORE_BYTES = 80 * 2**20  # nothing but control messages; the minimum is 75 MB
FIRST_WAIT, LONGEST_WAIT = 60.0, START_S
"""Seconds that Ray has to come up, at the first try and at most."""


def failures_beside(address_file: Path) -> Path:
    """Where it stands how many tries were too slow since Ray last came up."""
    return address_file.with_suffix(".failures")


def failed(address_file: Path) -> int:
    """How many were."""
    try:
        return int(failures_beside(address_file).read_text())
    except (OSError, ValueError):
        return 0


def patience(failed_before: int) -> float:
    """Seconds for a try after so many that were too slow."""
    return min(FIRST_WAIT * 2.0 ** min(failed_before, 16), LONGEST_WAIT)


def start(folder: Path, address_file: Path, cpus: int) -> None:
    """Bring Ray up. Raises what Ray does where it does not come up; noted where that was for want of time."""
    before = failed(address_file)
    seconds, began = patience(before), time.monotonic()
    ray = load_ray()
    try:
        with ray_daemons.few(), ray_daemons.awaited(seconds):
            # "local" starts a cluster even where a file of a dead one invites to join it.
            ray.init(
                address="local",
                num_cpus=cpus,
                object_store_memory=OBJECT_STORE_BYTES,
                _temp_dir=str(folder),
                log_to_driver=False,
            )
    except Exception:
        if time.monotonic() - began >= seconds:
            failures_beside(address_file).write_text(str(before + 1))
            print(f"Ray did not come up within {seconds:.0f} s; the next try has longer.", flush=True)
        raise
    failures_beside(address_file).unlink(missing_ok=True)


def main(folder: Path, address_file: Path, cpus: int) -> int:
    """Run Ray until a signal (0) or until it breaks (1)."""
    address_file.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)  # sessions of dead clusters; nothing of them can be used again
    start(folder, address_file, cpus)
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    draft = address_file.with_suffix(".new")
    draft.write_text(load_ray().get_runtime_context().gcs_address)
    draft.replace(address_file)
    while not stopped.wait(0.5):
        if ray_daemons.broken():
            print("A Ray daemon died; starting over.", flush=True)
            address_file.unlink(missing_ok=True)
            os._exit(1)  # an orderly shutdown would wait for the daemon that is gone
    address_file.unlink(missing_ok=True)
    load_ray().shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
