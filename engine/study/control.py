"""What whoever runs a study may wish from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

Wish = Literal["", "stop", "pause"]
Control = Callable[[], Wish]
