"""Sample Factory's APPO on image Pong: ``sample_factory_appo.py ENVIRONMENTS SECONDS``, two workers."""

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
TRAIN = Path(__file__).with_name("sample_factory_train.py")


def speed(log: str) -> dict[str, float]:
    """Decisions/s that were learned from (Sample Factory counts four frames each), from the first batch to the last."""
    reports = [(datetime.fromisoformat(at.replace(",", ".")), int(frames)) for at, frames in REPORT.findall(log)]
    counts = [next(same) for frames, same in groupby(reports, key=lambda report: report[1]) if frames]
    if len(counts) < 3:
        last_line = (log.strip().splitlines() or ["it said nothing"])[-1]
        raise SystemExit(f"only {len(counts)} batches were learned from: {last_line}")
    (began, first), (ended, last) = counts[0], counts[-1]
    return {"steps_per_second": (last - first) / 4 / (ended - began).total_seconds(), "frames": last}


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
    environments, seconds = int(sys.argv[1]), float(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="eqp-bench-", ignore_cleanup_errors=True) as folder:
        options = {
            "algo": "APPO", "env": "atari_pong", "experiment": "bench", "train_dir": folder, "device": "cpu",
            "num_workers": 2, "num_envs_per_worker": environments, "worker_num_splits": 2, "batch_size": 256,
            "num_epochs": 1, "num_batches_per_epoch": 32, "rollout": 32, "async_rl": True,
            "serial_mode": False, "use_rnn": False, "save_every_sec": 100_000,
        }  # fmt: skip
        arguments = [f"--{name}={value}" for name, value in options.items()]
        log = played([sys.executable, str(TRAIN), *arguments], seconds)
    print(json.dumps(speed(log)))


if __name__ == "__main__":
    main()
