"""Sample Factory's APPO on image Pong: ``sample_factory_appo.py ENVIRONMENTS SECONDS``, two workers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from datetime import datetime
from itertools import groupby
from pathlib import Path

REPORT = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\].*Total num frames: (\d+)")
TRAIN = Path(__file__).with_name("sample_factory_train.py")
START_S = 30.0
"""Until its environments differ enough for its liking, and the first batch is there."""


def speed(log: str) -> dict[str, float]:
    """Decisions/s that were learned from (Sample Factory counts four frames each), from the first batch to the last."""
    reports = [(datetime.fromisoformat(at.replace(",", ".")), int(frames)) for at, frames in REPORT.findall(log)]
    counts = [next(same) for frames, same in groupby(reports, key=lambda report: report[1]) if frames]
    if len(counts) < 3:
        raise SystemExit(f"only {len(counts)} batches were learned from")
    (began, first), (ended, last) = counts[0], counts[-1]
    return {"steps_per_second": (last - first) / 4 / (ended - began).total_seconds(), "frames": last}


def main() -> None:
    """Print the speed as JSON."""
    environments, seconds = int(sys.argv[1]), int(float(sys.argv[2]) + START_S)
    with tempfile.TemporaryDirectory(prefix="eqp-bench-") as folder:
        options = {
            "algo": "APPO", "env": "atari_pong", "experiment": "bench", "train_dir": folder, "device": "cpu",
            "num_workers": 2, "num_envs_per_worker": environments, "worker_num_splits": 2, "batch_size": 256,
            "num_epochs": 1, "num_batches_per_epoch": 32, "rollout": 32, "train_for_seconds": seconds, "async_rl": True,
            "serial_mode": False, "use_rnn": False, "save_every_sec": 100_000,
        }  # fmt: skip
        arguments = [f"--{name}={value}" for name, value in options.items()]
        done = subprocess.run([sys.executable, str(TRAIN), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit((done.stderr or done.stdout).strip().splitlines()[-1])
    print(json.dumps(speed(done.stdout + done.stderr)))


if __name__ == "__main__":
    main()
