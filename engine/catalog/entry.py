"""One choice of a table, and how what it names is imported."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

from engine.config.base import Config


class Entry(NamedTuple):
    """One choice: its texts for people, its settings, and the dotted path of its class."""

    label: str
    explanation: str
    config: type[Config]
    path: str

    def load(self) -> Any:
        """The class or function, imported now."""
        return imported(self.path)


def imported(path: str) -> Any:
    """The object at a path ``package.module:name``, imported now."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)
