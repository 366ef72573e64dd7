"""Whether agents learn from enough decisions to see an episode end."""

from __future__ import annotations

from engine.config.evolve import TaskConfig
from engine.config.whole_updates import learned
from engine.styles.preview import Samples
from webapp.lib.words import number
from webapp.styles import scales


def too_few(task: TaskConfig, samples: Samples | None, longest: int, usual: int) -> str:
    """A warning where agents may see no episode end, by sample episodes that ended, or else by the ``longest`` that the
    game allows (0: nobody knows); empty where there is nothing to warn of. ``usual``: decisions of a battle as the form
    offers them, of which nobody is warned before sample episodes tell."""
    steps, battles = _learned(task), task.environments
    lasts = 0 if samples is None else scales.typical_length(samples)
    most = longest if samples is None else samples.longest or longest
    needed = lasts or min(most, usual)
    if not steps or not isinstance(battles, int) or not needed or steps // battles >= needed:
        return ""
    also = f" and can last {number(most)}" if most > lasts else ""
    last = f"lasts about {number(lasts)}{also}" if lasts else f"can last {number(most)}"
    return (
        f"Each agent would see {number(steps // battles)} decisions of an episode that {last}, so it may never see "
        f"one end. Give each {number(max(most, lasts) * battles)} decisions or more."
    )


def _learned(task: TaskConfig) -> int:
    """The decisions that an agent really learns from, many at a time; those that are asked for where a range decides
    how many these are, and 0 where that is a range itself."""
    try:
        return learned(task)
    except KeyError:
        return task.steps if isinstance(task.steps, int) else 0
