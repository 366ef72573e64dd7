"""Sample Factory's APPO on image Pong: ``sample_factory_appo.py ENVIRONMENTS SECONDS``, two workers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

REPORT = re.compile(r"Collected \{0: (\d+)\}, FPS: ([\d.]+)")
TRAIN = Path(__file__).with_name("sample_factory_train.py")


def main() -> None:
    """Print decisions/s (Sample Factory counts four frames a decision)."""
    environments, seconds = int(sys.argv[1]), int(float(sys.argv[2]))
    with tempfile.TemporaryDirectory(prefix="eqp-bench-") as folder:
        options = {
            "algo": "APPO", "env": "atari_pong", "experiment": "bench", "train_dir": folder, "device": "cpu",
            "num_workers": 2, "num_envs_per_worker": environments, "worker_num_splits": 2, "batch_size": 8192,
            "num_epochs": 1, "num_batches_per_epoch": 1, "rollout": 32, "train_for_seconds": seconds, "async_rl": True,
            "serial_mode": False, "use_rnn": False, "save_every_sec": 100_000,
        }  # fmt: skip
        arguments = [f"--{name}={value}" for name, value in options.items()]
        done = subprocess.run([sys.executable, str(TRAIN), *arguments], capture_output=True, text=True, check=False)
    found = REPORT.findall(done.stdout + done.stderr)
    if done.returncode or not found:
        raise SystemExit((done.stderr or done.stdout).strip().splitlines()[-1])
    print(json.dumps({"steps_per_second": float(found[-1][1]) / 4, "frames": int(found[-1][0])}))


if __name__ == "__main__":
    main()
