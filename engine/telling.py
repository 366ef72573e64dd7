"""What the command line says of a study while it runs: one line for each event, for the person who watches."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from engine.events import AnyEvent, Counters, Failed, Incident, Logged, Paused, Progressed, Started

Study = Mapping[str, Any]
"""A study's settings, as JSON."""


def line(event: AnyEvent, study: Study) -> str:
    """An event of this study in words, with its time."""
    at = time.strftime("%H:%M:%S", time.localtime(event.at))
    c = event.counters
    match event:
        case Started():
            text = _started(event, study)
        case Progressed():
            text = f"round {event.tick}: {_done(c, study)}, {_round(event.metrics, study)}"
        case Logged(message=""):
            text = f"round {event.tick + 1}, under way: {_done(c, study)}"
        case Logged() | Incident():
            text = event.message
        case Failed():
            text = f"Failed: {event.message}"
        case Paused():
            text = "Paused; go on with `python -m engine resume`"
        case _:
            text = f"{type(event).__name__} after {c.seconds:.1f} s and {work(c, study)}"
    return f"{at}  {text}"


def work(counters: Counters, study: Study) -> str:
    """The work done so far: trainings and evolution take steps, searches for lineups play battles."""
    if study.get("kind") in ("train", "evolve"):
        return many(counters.steps, "step")
    return many(counters.battles, "battle")


def many(count: int, what: str) -> str:
    """So many of something."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _started(event: Started, study: Study) -> str:
    if study.get("kind") == "train":
        limit = f" ({study['minutes']:g} minutes at most)" if study.get("minutes") else ""
        planned = f"{many(study['steps'], 'step')}{limit}"
    else:
        planned = many(event.battles, "battle") if event.battles else many(event.ticks, "round")
    how = "Resumed" if event.resumed else "Started"
    return f"{how} on {many(event.workers, 'worker')}, {planned} planned"


def _done(c: Counters, study: Study) -> str:
    """The work with how many candidates it was for, where there are several, and how much of it was remembered."""
    done = work(c, study)
    if study.get("kind") == "train":
        return done
    if study.get("kind") == "evolve":
        return f"{c.evaluations:,} trained, {done}"
    remembered = f" ({c.cached:,} from memory)" if c.cached else ""
    return f"{c.evaluations:,} evaluated, {done}{remembered}"


def _round(m: Mapping[str, float], study: Study) -> str:
    """A round's own numbers in words."""
    if study.get("kind") == "train":
        return _trained(m)
    if study.get("kind") == "evolve":
        return _evolved(m)
    return f"{m['strong']:.0f} over the line and strong, edge {m['front']:.0f}, volume {m['hypervolume']:.4f}"


def _trained(m: Mapping[str, float]) -> str:
    """A round of training in words."""
    words = [f"{m['steps_per_second']:,.0f} a second", f"staleness {m['staleness_mean']:.2f}"]
    if "return" in m:
        words.insert(0, f"return {m['return']:.4g}")
    if "evaluation_return" in m:
        low, high = m["evaluation_return_low"], m["evaluation_return_high"]
        words.append(f"on fresh episodes {m['evaluation_return']:.4g} ({low:.4g} to {high:.4g})")
    return ", ".join(words)


def _evolved(m: Mapping[str, float]) -> str:
    """A round of evolution in words."""
    best = [name for name in m if name.startswith("best_") and f"{name}_low" in m]
    words = [f"best {n[5:]} {m[n]:.4g} ({m[f'{n}_low']:.4g} to {m[f'{n}_high']:.4g})" for n in best]
    return ", ".join([*words, f"edge {m['front']:.0f}", f"workers busy {m.get('utilisation', 0.0):.0%}"])
