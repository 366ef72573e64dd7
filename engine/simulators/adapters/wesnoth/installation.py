"""The location of the installed Battle for Wesnoth 1.16, or what to do if it is not installed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

INSTALL = "sudo apt-get install --no-install-recommends wesnoth-1.16-core wesnoth-1.16-data"
PROGRAM_VARIABLE = "EQUIPOISE_WESNOTH"
DATA_VARIABLE = "EQUIPOISE_WESNOTH_DATA"
_PROGRAM = "/usr/games/wesnoth-1.16"
_DATA = "/usr/share/games/wesnoth/1.16/data"


def program() -> Path | None:
    """The game's executable, None when it is not installed."""
    named = os.environ.get(PROGRAM_VARIABLE, _PROGRAM)
    found = shutil.which(named) or shutil.which("wesnoth-1.16")
    return Path(found) if found else None


def data_dir() -> Path | None:
    """The game's data directory (``core/units`` and so on), None when it is not installed."""
    path = Path(os.environ.get(DATA_VARIABLE, _DATA))
    return path if (path / "core" / "units").is_dir() else None


def missing() -> str:
    """What is not installed, as a sentence; empty if the game can be played."""
    if program() is None:
        return "Battle for Wesnoth 1.16 is not installed on this machine"
    if data_dir() is None:
        return "the data files of Battle for Wesnoth 1.16 are not installed on this machine"
    return ""
