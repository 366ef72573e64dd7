"""The commands that a running study takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

Command = Literal["", "stop", "pause"]
Control = Callable[[], Command]
