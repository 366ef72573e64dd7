"""What studies and forms of earlier versions may ask for that no study can do any more: what to put in its place, and
why, in a sentence. Nothing is replaced without a word, and nothing goes on that would have to be another study."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpRequest


class Retired(NamedTuple):
    """One choice that is no more: where it stands in a study (``part``, ``key``) and in a form (``field``), its
    ``value`` and the ``words`` for it, what is there ``instead``, and in sentences what becomes of a ``copy``, and why
    a study that has it cannot go ``on``."""

    part: str
    key: str
    field: str
    value: str
    words: str
    instead: str
    copy: str
    on: str

    @property
    def place(self) -> str:
        """The dotted path of the setting."""
        return f"{self.part}.{self.key}"


COPY_IT = "“Run again with changes” opens a new one with its settings, and says what is different."
_GONE = "Racing by chances is gone, for it put out more who should have stayed than the 5 % that it promised."
CHOICES = (
    Retired(
        part="noise",
        key="racing",
        field="noise-racing",
        value="chance",
        words="By chances, which is not offered any more",
        instead="off",
        copy=f"{_GONE} So racing is off here. Choose another way to race, or leave it off.",
        on=f"{_GONE} So this job, which races that way, cannot go on. What it found stays.",
    ),
)


def renewed(config: Mapping[str, Any]) -> tuple[dict[str, Any], list[Retired]]:
    """A study's settings with what is no more replaced, and all that was."""
    found = [each for each in CHOICES if _has(config, each)]
    plain: dict[str, Any] = deepcopy(dict(config)) if found else dict(config)
    for each in found:
        plain[each.part][each.key] = each.instead
    return plain, found


def typed_anew(typed: Mapping[str, Any]) -> tuple[dict[str, Any], list[Retired]]:
    """The same for what was typed into a form."""
    found = [each for each in CHOICES if typed.get(each.field) == each.value]
    return {**typed, **{each.field: each.instead for each in found}}, found


def obstacle(config: Mapping[str, Any]) -> str:
    """Why a study can neither begin nor go on as it is; empty when nothing of it is gone."""
    found = [each.on for each in CHOICES if _has(config, each)]
    return " ".join([*found, COPY_IT]) if found else ""


def for_form(request: HttpRequest, typed: Mapping[str, Any]) -> dict[str, Any]:
    """What a form begins with, and on the page why that is not what was kept."""
    anew, gone = typed_anew(typed)
    for each in gone:
        messages.warning(request, each.copy)
    return anew


def _has(config: Mapping[str, Any], choice: Retired) -> bool:
    part = config.get(choice.part)
    return isinstance(part, Mapping) and part.get(choice.key) == choice.value
