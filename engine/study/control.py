"""What whoever runs a study may command from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

Command = Literal["", "stop", "pause"]
Control = Callable[[], Command]
