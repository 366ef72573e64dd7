"""Sample Factory's APPO with two workers: ``sample_factory_appo.py pong|navigation ENVIRONMENTS SECONDS``.

Image Pong, or cooperative navigation with three policies, among which it draws one for each entity in each episode.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from itertools import groupby
from pathlib import Path

REPORT = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\].*Total num frames: (\d+)")
COMMON = {
    "algo": "APPO", "experiment": "bench", "device": "cpu", "num_workers": 2, "worker_num_splits": 2, "num_epochs": 1,
    "rollout": 32, "async_rl": True, "serial_mode": False, "use_rnn": False, "save_every_sec": 100_000,
}  # fmt: skip
GAMES = {
    "pong": ("sample_factory_train.py", 4, {"env": "atari_pong", "batch_size": 256, "num_batches_per_epoch": 32}),
    "navigation": (
        "sample_factory_covering.py", 1,
        {"env": "covering", "batch_size": 8192, "num_batches_per_epoch": 1, "num_policies": 3,
         "encoder_mlp_layers": [256, 128], "nonlinearity": "relu", "normalize_input": False,
         "with_pbt": False, "adaptive_stddev": False},
    ),
}  # fmt: skip
"""By game its program, the frames that it counts for a decision, and settings."""


def speed(log: str, frames_each: int) -> dict[str, float]:
    """Decisions/s that were learned from, from the first batch to the last."""
    reports = [(datetime.fromisoformat(at.replace(",", ".")), int(frames)) for at, frames in REPORT.findall(log)]
    counts = [next(same) for frames, same in groupby(reports, key=lambda report: report[1]) if frames]
    if len(counts) < 3:
        last_line = (log.strip().splitlines() or ["it said nothing"])[-1]
        raise SystemExit(f"only {len(counts)} batches were learned from: {last_line}")
    (began, first), (ended, last) = counts[0], counts[-1]
    return {"steps_per_second": (last - first) / frames_each / (ended - began).total_seconds(), "frames": last}


def played(command: list[str], seconds: float) -> str:
    """The log of a training that is ended from here once it learned for so long after its first batch, from three
    batches at least: its own clock may let it go on for a quarter of an hour."""
    log: list[str] = []
    learned: dict[str, float] = {}
    program = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    assert program.stdout is not None
    try:
        for line in program.stdout:
            log.append(line)
            if (report := REPORT.search(line)) and report[2] != "0":
                learned.setdefault(report[2], time.monotonic())
            if len(learned) >= 3 and time.monotonic() - next(iter(learned.values())) >= seconds:
                break
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        program.wait()
    return "".join(log)


def main() -> None:
    """Print the speed as JSON."""
    game, environments, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    program, frames_each, own = GAMES[game]
    with tempfile.TemporaryDirectory(prefix="eqp-bench-", ignore_cleanup_errors=True) as folder:
        options = {**COMMON, **own, "train_dir": folder, "num_envs_per_worker": environments}
        arguments = [
            part
            for name, value in options.items()
            for part in ([f"--{name}", *map(str, value)] if isinstance(value, list) else [f"--{name}={value}"])
        ]
        log = played([sys.executable, str(Path(__file__).with_name(program)), *arguments], seconds)
    print(json.dumps(speed(log, frames_each)))


if __name__ == "__main__":
    main()
