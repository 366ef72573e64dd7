"""Console output of a running study: one line of text for each event."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Protocol

from engine.catalog import STUDIES, imported
from engine.config import arena_plan
from engine.config.arena import ArenaConfig
from engine.config.base import Study, parse
from engine.config.commander import led
from engine.config.starts import LARGEST, LEAST, StartsConfig, name_of
from engine.errors import LONGEST_SAID
from engine.events import AnyEvent, Counters, Failed, Incident, Logged, Paused, Progressed, Started
from engine.store import Store
from engine.text import printable, ranged

Settings = Mapping[str, Any]
"""A study, as JSON."""
COUNTED = {"battles": "battle", "steps": "decision"}
"""What people call one of what a kind of study counts."""


class Wording(Protocol):
    """The texts of one kind of study (``StudyKind.console``)."""

    def planned(self, event: Started, study: Settings) -> str:
        """How much there is to do."""
        ...

    def done(self, counters: Counters) -> str:
        """The work done so far, and the results it went into."""
        ...

    def round(self, metrics: Mapping[str, float], study: Settings) -> str:
        """The metrics of one round."""
        ...


def line(event: AnyEvent, study: Settings) -> str:
    """An event of this study as one line of text, with its time."""
    c, words = event.counters, _wording(study)
    match event:
        case Started():
            how = "Resumed" if event.resumed else "Started"
            text = f"{how} on {many(event.workers, 'worker')}, {words.planned(event, study)} planned"
        case Progressed():
            text = f"round {event.tick}: {words.done(c)}, {words.round(event.metrics, study)}"
        case Logged(message=""):
            text = f"round {event.tick + 1}, under way: {words.done(c)}"
        case Logged() | Incident():
            text = event.message
        case Failed():
            text = f"Failed: {event.message}"
        case Paused():
            text = "Paused; go on with `python -m engine resume`"
        case _:
            text = f"{type(event).__name__} after {c.seconds:.1f} s and {work(c, study)}"
    return _timed(event.at, text)


def at_now(text: str) -> str:
    """A text as one line, with the time."""
    return _timed(time.time(), text)


def _timed(at: float, text: str) -> str:
    return f"{time.strftime('%H:%M:%S', time.localtime(at))}  {printable(text, LONGEST_SAID, lines=True)}"


def found(study: Study, artifacts: Mapping[str, str], store: Store) -> list[str]:
    """What a study's results say, in lines; of some kinds of study nothing."""
    path = STUDIES[study.kind].lines
    return [printable(each, LONGEST_SAID) for each in imported(path)(study, artifacts, store)] if path else []


def work(counters: Counters, study: Settings) -> str:
    """The work done so far, in the unit of the study's kind."""
    row = STUDIES[study.get("kind", "search")]
    return many(getattr(counters, row.unit), row.counts or COUNTED[row.unit])


def many(count: int, what: str) -> str:
    """A count with its noun."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _wording(study: Settings) -> Wording:
    words: Wording = imported(STUDIES[study.get("kind", "search")].console)()
    return words


class Searched:
    """Texts of studies that play lineups."""

    def planned(self, event: Started, study: Settings) -> str:
        """Battles, or rounds where the number of battles is not known in advance, and who leads in them."""
        work = many(event.battles, "battle") if event.battles else many(event.ticks, "round")
        return f"{work}{led((study.get('game') or {}).get('commander'))}"

    def done(self, counters: Counters) -> str:
        """Lineups and battles, and how many of these came from the cache."""
        remembered = f" ({counters.cached:,} from memory)" if counters.cached else ""
        return f"{counters.evaluations:,} evaluated, {many(counters.battles, 'battle')}{remembered}"

    def round(self, metrics: Mapping[str, float], study: Settings) -> str:
        """The front."""
        m = metrics
        return f"{m['strong']:.0f} over the line and strong, edge {m['front']:.0f}, volume {m['hypervolume']:.4f}"


class Trained:
    """Texts of trainings."""

    def planned(self, event: Started, study: Settings) -> str:
        """Steps, and how long they may take."""
        limit = f" ({study['minutes']:g} minutes at most)" if study.get("minutes") else ""
        return f"{many(study['steps'], 'decision')}{limit}"

    def done(self, counters: Counters) -> str:
        """Steps."""
        return many(counters.steps, "decision")

    def round(self, metrics: Mapping[str, float], study: Settings) -> str:
        """How good each learning policy is, and how fast it learns."""
        speed = f"{metrics['steps_per_second']:,.0f} a second"
        policies = [name.removesuffix("staleness_mean") for name in metrics if name.endswith("staleness_mean")]
        if policies == [""]:
            return self._learned(metrics, "", speed)
        return "; ".join([speed, *(f"{policy[:-1]}: {self._learned(metrics, policy)}" for policy in policies)])

    def _learned(self, m: Mapping[str, float], policy: str, *speed: str) -> str:
        """How one policy did; ``policy``: prefix of its metrics' names."""
        words = [*speed, *self._age(m, policy)]
        if (mean := f"{policy}return") in m:
            words.insert(0, f"return {m[mean]:.4g}")
        if (mean := f"{policy}evaluation_return") in m:
            words.append(f"on fresh episodes {ranged(m, mean)}")
        return ", ".join(words)

    def _age(self, m: Mapping[str, float], policy: str) -> list[str]:
        """How old the data is that it learns from."""
        return [f"staleness {m[f'{policy}staleness_mean']:.2f}"]


class SideBySide(Trained):
    """Texts of trainings side by side."""

    def _age(self, m: Mapping[str, float], policy: str) -> list[str]:
        """How long an agent went without mixing at most, which τ bounds. It learns from nobody's data but its own."""
        age = round(m["link_age"])
        return [f"{many(age, 'update')} without mixing at most"] if age else []

    def round(self, metrics: Mapping[str, float], study: Settings) -> str:
        """How good the agents are, how fast they learn, and how far apart they are."""
        size = max(metrics["size"], 1e-12) / 100
        bound = f" ({metrics['distance_bound'] / size:.3g}% at most)" if "distance_bound" in metrics else ""
        return f"{super().round(metrics, study)}, apart by {metrics['distance'] / size:.3g}% of the weights{bound}"


class EasierStarts(Trained):
    """Texts of trainings with easier starts."""

    def planned(self, event: Started, study: Settings) -> str:
        """Starts, and minibatches to learn from."""
        limit = f" ({study['minutes']:g} minutes at most)" if study.get("minutes") else ""
        work = "1 minibatch" if study["iterations"] == 1 else f"{study['iterations']:,} minibatches"
        return f"{many(len(study['tasks']), 'start')}, {work}{limit}"

    def round(self, metrics: Mapping[str, float], study: Settings) -> str:
        """How well it does from each start, easiest first, and what it learns from."""
        m = metrics
        starts = [name.removesuffix("/practised") for name in m if name.endswith("/practised")]
        each = [f"{self._success(m, start)}, {m[f'{start}/practised']:.0%} of the minibatches" for start in starts]
        titles = {name_of(i): task.name for i, task in enumerate(parse(StartsConfig, study).ordered)}
        speed, done = f"{m['steps_per_second']:,.0f} a second", f"{m['iterations']:,.0f} minibatches"
        return "; ".join([done, speed, *(f"{titles[start]}: {text}" for start, text in zip(starts, each, strict=True))])

    def _success(self, m: Mapping[str, float], start: str) -> str:
        """That of the last evaluation, where this round made one; otherwise the score while learning."""
        if f"{start}/success_low" in m:
            low, high = m[f"{start}/success_low"], m[f"{start}/success_high"]
            share = f"{m[f'{start}/success']:.0%} ({low:.0%} to {high:.0%})"
            way = f"comes {share} of the way from score {m[LEAST]:g} to {m[LARGEST]:g}" if LEAST in m else ""
            return way or f"succeeds {share}"
        return f"score {m[f'{start}/score']:.3g}" if f"{start}/score" in m else "no episode ended"


class Courses(Trained):
    """Texts of courses."""

    def planned(self, event: Started, study: Settings) -> str:
        """Lessons, decisions, and processes by the paper's count and here."""
        config = parse(ArenaConfig, study)
        plans = arena_plan.plan(config)
        most = max((one.counted for one in plans), key=lambda how: how.processes)
        paper = f"{many(most.environments, 'environment')} and {many(most.workers, 'worker')}"
        here = (
            f"{many(config.copies, 'sampler')} and the learners" if arena_plan.started(config) else "this process alone"
        )
        work = f"{many(config.count, 'lesson')}, {many(config.steps, 'decision')}{'' if config.exact else ' at most'}"
        return f"{work} (AI Arena would start {most.processes} processes: {paper}; here {here})"

    def round(self, metrics: Mapping[str, float], study: Settings) -> str:
        """How each policy learns, or how a pair of the tournament met."""
        if "share" not in metrics:
            return super().round(metrics, study)
        m = metrics
        return f"the first won {100 * m['share']:.0f} % ({100 * m['low']:.0f} to {100 * m['high']:.0f} %)"


class Evolved:
    """Texts of studies that evolve players."""

    def planned(self, event: Started, study: Settings) -> str:
        """Rounds."""
        return many(event.ticks, "round")

    def done(self, counters: Counters) -> str:
        """Trainings and steps."""
        return f"{counters.evaluations:,} trained, {many(counters.steps, 'decision')}"

    def round(self, metrics: Mapping[str, float], study: Settings) -> str:
        """The best value of each objective, and how busy the workers were."""
        m = metrics
        best = [name for name in m if name.startswith("best_") and f"{name}_low" in m]
        words = [f"best {n[5:]} {m[n]:.4g} ({m[f'{n}_low']:.4g} to {m[f'{n}_high']:.4g})" for n in best]
        return ", ".join([*words, f"edge {m['front']:.0f}", f"workers busy {m.get('utilisation', 0.0):.0%}"])
