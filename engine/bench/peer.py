"""Virtual environments for peers, one each: what they pin does not fit together, nor with ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(__file__).parent / "peers"


def peer_python(name: str) -> Path:
    """The interpreter of ``bench-NAME.txt``'s environment, made on first use and whenever that file asks for something
    else. Raises CalledProcessError with what the installer said when it cannot be made."""
    folder = ROOT / "var" / "bench" / name
    python, done = folder / "bin" / "python", folder / "complete"
    wanted = ROOT / "deploy" / "requirements" / f"bench-{name}.txt"
    if not done.exists() or done.read_text() != wanted.read_text():
        venv.create(folder, with_pip=True, clear=True)
        command = [str(python), "-m", "pip", "install", "--quiet", "-r", str(wanted)]
        subprocess.run(command, check=True, stdout=sys.stderr, stderr=subprocess.PIPE, text=True)
        done.write_text(wanted.read_text())
    return python


def measured(python: Path | str, script: str, arguments: Sequence[str], seconds: float) -> dict[str, Any]:
    """What ``peers/SCRIPT`` prints as its last line, as JSON; {"error": …} when it fails or takes over ``seconds``."""
    command = [str(python), str(SCRIPTS / script), *arguments]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "RAY_USAGE_STATS_ENABLED": "0"}
    variables.pop("PYTHONPATH", None)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=variables, check=True)
        found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
        return found
    except subprocess.TimeoutExpired:
        return {"error": f"not done within {seconds:.0f} s"}
    except subprocess.CalledProcessError as error:
        return {"error": (str(error.stderr).strip().splitlines() or [str(error)])[-1][:300]}
    except (ValueError, IndexError) as error:
        return {"error": f"its output cannot be read: {error}"}
