"""How many decisions a training takes. A learner learns from whole updates: as many fragments of all battles as fill
its batch. So a training takes as many updates as its decisions need, the last one as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.config.evolve import TaskConfig
from engine.config.genes import genes
from engine.text import figures


def fragments(batch: int, together: int) -> int:
    """Fragments of an update; ``batch``: the fewest decisions in it, ``together``: decisions in one fragment of all
    battles."""
    return max(1, -(-batch // together))


def learned(task: TaskConfig, values: Mapping[str, float] | None = None) -> int:
    """Decisions that a candidate learns from in one training; ``values``: its numbers in place of ranges, by place.
    Raises KeyError where one is missing that matters."""

    def number(place: str, given: Any) -> int:
        return round((values or {})[place]) if isinstance(given, tuple) else int(given)

    steps, batch = number("steps", task.steps), number("learner.batch", task.learner.least_batch)
    fragment = number("learner.fragment", task.learner.fragment)
    return _in_whole_updates(steps, batch, number("environments", task.environments) * fragment)


def update_of(task: TaskConfig) -> int:
    """Decisions of one update, of a task whose numbers are none of them ranges. Raises KeyError for one that is."""
    return learned(task.model_copy(update={"steps": 1}))


def most_learned(task: TaskConfig) -> int:
    """The same of a task whose numbers may be ranges: what nobody exceeds."""
    steps, together = _highest(task, "steps", task.steps), _together(task)
    batch = _highest(task, "learner.batch", task.learner.least_batch)
    if {"learner.batch", "environments", "learner.fragment"} & {gene.place for gene in genes(task)}:
        return steps + batch + together  # a smaller update may end anywhere below
    return _in_whole_updates(steps, batch, together)


def highest_battles(task: TaskConfig) -> int:
    """The most battles that a candidate plays together."""
    return _highest(task, "environments", task.environments)


def that_fit(battles: int, steps: int, fragment: int) -> int:
    """How many of these battles can be played together without a fragment of all of them having more decisions than
    the training: a power of two where that is fewer, which fills batches evenly."""
    return battles if battles * fragment <= steps else 1 << max(0, (steps // fragment).bit_length() - 1)


def too_many_together(task: TaskConfig) -> Iterator[tuple[str, str]]:
    """(place, sentence) where one fragment of all battles has more decisions than the whole training is to have."""
    found = {gene.place: gene for gene in genes(task)}
    least = int(found["steps"].low) if "steps" in found else task.steps
    battles, together = highest_battles(task), _together(task)
    if not least or together <= least:
        return
    fragment = together // battles
    fewer = f"at most {figures(least // fragment)} battles (environments)"
    fit = fewer if least >= fragment else f"fragments of at most {figures(max(1, least // battles))} decisions"
    yield (
        "steps",
        f"{figures(battles)} battles that are played together give {figures(together)} decisions at once, "
        f"{figures(fragment)} each, so nobody can learn from only {figures(least)}: give {figures(together)} or more, "
        f"or {fit}",
    )


def _in_whole_updates(steps: int, batch: int, together: int) -> int:
    update = fragments(batch, together) * together
    return -(-steps // update) * update


def _together(task: TaskConfig) -> int:
    """The most decisions in one fragment of all battles."""
    return highest_battles(task) * _highest(task, "learner.fragment", task.learner.fragment)


def _highest(task: TaskConfig, place: str, value: Any) -> int:
    """The number in a place of the task, the highest one of a range."""
    return int({gene.place: gene.high for gene in genes(task)}.get(place, value))
