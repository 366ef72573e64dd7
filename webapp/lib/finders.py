"""Static files that live in an installed package rather than in ``static/``."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage, Storage

NAME = "plotly.min.js"
_BEGINS, _ENDS = '"use strict";var Plotly=(()=>{', "return Plotly;\n}));"


def unwrapped(script: str) -> str:
    """plotly.js without the function around it that serves other module systems; its licence stays on top.

    Browsers read what is inside that function twice, the second time on the page's own thread: without it, charts
    are ready in half the time. A build that is wrapped in another way is left as it is.
    """
    start, end = script.find(_BEGINS), script.rfind(_ENDS)
    if start < 0 or end < 0:
        return script
    return f"{script[: script.index('*/') + 2]}\n{script[start:end]}"


def _prepared(package: Path) -> Path:
    """The folder with the unwrapped file, written once for each version of the package."""
    folder = Path(settings.VAR, "cache", "plotly", version("plotly"))
    if not (folder / NAME).exists():
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f".{secrets.token_hex(8)}"
        draft.write_text(unwrapped((package / NAME).read_text(encoding="utf-8")), encoding="utf-8")
        os.replace(draft, folder / NAME)
    return folder


class PlotlyFinder(BaseFinder):
    """Serves ``plotly/plotly.min.js`` from the Python package, so pages and exports draw with one and the same build.

    Only this file: the package's folder also holds data sets and a notebook bundle.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        spec = find_spec("plotly")
        if spec is None or not spec.submodule_search_locations:
            raise ModuleNotFoundError("plotly is not installed; run: make run")
        self.storage = FileSystemStorage(_prepared(Path(spec.submodule_search_locations[0], "package_data")))
        self.storage.prefix = "plotly"  # type: ignore[attr-defined]  # where staticfiles looks for the URL's folder

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        found = [self.storage.path(NAME)] if path == f"plotly/{NAME}" else []
        if find_all:
            return found
        return found[0] if found else None

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, Storage]]:
        yield NAME, self.storage
