"""The process that owns the local Ray: when it ends, Ray ends; when Ray breaks, it ends and is started again.

``python -m deploy.up.ray_owner FOLDER ADDRESS_FILE CPUS`` writes Ray's address to the file once Ray takes work.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from pathlib import Path

import ray

from deploy.up import processes

DAEMONS = {"gcs_server", "raylet"}
OBJECT_STORE_BYTES = 80 * 2**20  # nothing but control messages; the minimum is 75 MB


def broken() -> bool:
    """One of Ray's two daemons, both children of this process, is gone. Its workers would linger and wait for ever."""
    alive = {child.name for child in processes.children(os.getpid()) if child.state != "Z"}
    return not alive >= DAEMONS


def main(folder: Path, address_file: Path, cpus: int) -> int:
    """Run Ray until a signal (0) or until it breaks (1)."""
    address_file.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)  # sessions of dead clusters; nothing of them can be used again
    # "local" starts a cluster even where a file of a dead one invites to join it.
    ray.init(
        address="local",
        num_cpus=cpus,
        include_dashboard=False,
        object_store_memory=OBJECT_STORE_BYTES,
        _temp_dir=str(folder),
        log_to_driver=False,
    )
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    draft = address_file.with_suffix(".new")
    draft.write_text(ray.get_runtime_context().gcs_address)
    draft.replace(address_file)
    while not stopped.wait(0.5):
        if broken():
            print("A Ray daemon died; starting over.", flush=True)
            address_file.unlink(missing_ok=True)
            os._exit(1)  # an orderly shutdown would wait for the daemon that is gone
    address_file.unlink(missing_ok=True)
    ray.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
