"""What putting searches side by side needs to know of their kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from webapp.lib.words import number
from webapp.studies.models import Job


class Comparing(ABC):
    """How searches of one kind are compared.

    - ``searched``: what they search. ``all_aims``, ``other_game``, ``other_aims``: words for sentences about them.
    - ``words``: what is compared, as the page calls it.
    - ``work``: columns of the work done, each with its counter.
    - ``judged``: candidates are over a line or not, and strong or not, on a version of the game data.
    """

    searched: ClassVar[str]
    all_aims: ClassVar[str]
    other_game: ClassVar[str]
    other_aims: ClassVar[str]
    words: ClassVar[dict[str, str]]
    work: ClassVar[tuple[tuple[str, str], ...]]
    judged: ClassVar[bool] = False

    @abstractmethod
    def game(self, job: Job) -> tuple[Any, ...]:
        """What must be the same of the game that was played."""

    @abstractmethod
    def cautions(self, jobs: Sequence[Job], better: str) -> list[str]:
        """What makes a difference besides how the searches looked; ``better`` is what a better one has."""

    def effort(self, job: Job) -> str:
        """How much it did, where one chooses it."""
        title, counter = self.work[0]
        return f"{number(job.counters.get(counter, 0))} {title.lower()}"
