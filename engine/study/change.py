"""What a change, or another commander, does to given lineups, as a study: their battles on both versions of the game
(``engine.change``), and a table of what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import numpy as np

from engine.arrays import Bundle, pack
from engine.change.both_versions import Fitted, baselines, fitted, replaced
from engine.change.replay import AFTER, BEFORE, FIRST, Replay, ReplayPlan
from engine.change.table import FINDINGS, FITS, OPEN, REFITTED, UNFIT, ReplayTable, Version
from engine.config.commander import CommanderConfig, led
from engine.config.study import ChangeConfig
from engine.events import AnyEvent, Counters, Started
from engine.evolution.algorithm import Parts
from engine.lineups.baselines import BaselineTeams, resolve
from engine.lineups.schema import battles_of_replicate, team_name, team_parts
from engine.lineups.version_evaluator import Versions, checked_change
from engine.simulators.commanded import both_opened
from engine.simulators.contract import GameSpec, LineupSimulator, Parameter
from engine.store import Store
from engine.study.checkpoint import Checkpoint
from engine.study.control import Control
from engine.study.failures import with_failure
from engine.study.scheduled import Scheduled
from engine.study.session import Totals


def change(config: ChangeConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for a change."""
    return with_failure(_Change(config, store, control).events(resume))


class _Change(Scheduled):
    evaluator = "versions"

    versions: tuple[Version, Version]
    fitted: Fitted
    table: ReplayTable
    schedule: Replay

    def __init__(self, config: ChangeConfig, store: Store, control: Control) -> None:
        super().__init__(config, config.pool, store, control)
        self.config, self.counts = config, dict[str, float]()

    def prepare(self, saved: Checkpoint | None) -> None:
        config = self.config
        with both_opened(config.game, config.changed, self.store, self.stopped) as simulators:
            specs = checked_change(config, simulators[BEFORE])
            self.fitted = fitted(config, *specs)
            teams = _loaded(saved) if saved else self._resolved(*simulators, *specs)
        before, after = (Version(*each) for each in zip(specs, self.fitted.rows, teams, strict=True))
        self.versions = before, after
        self.table = ReplayTable(config, self.versions, self.fitted.fit)
        self.schedule = Replay(self._asked(), self.table.settled)

    def payload(self) -> bytes:
        before, after = (version.baselines for version in self.versions)
        return msgspec.json.encode(Versions.of(self.config, before, after, self.store.address))

    def note(self) -> str:
        """Of baseline teams whose battles were not all finished, in either version, where they say what is strong."""
        judged = any(objective.strength for objective in self.config.objectives.objectives)
        return " ".join(filter(None, (version.baselines.note for version in self.versions))) if judged else ""

    def plan(self) -> Totals:
        return Totals(self.config.ticks, self._planned)

    def parts(self) -> Parts:
        """The baseline teams of both versions."""
        return {"baselines": Bundle({"teams": [version.baselines.state() for version in self.versions]}, {})}

    @property
    def cached(self) -> int:
        return self.schedule.cached

    def _resolved(
        self, simulator: LineupSimulator, changed: LineupSimulator, before: GameSpec, after: GameSpec
    ) -> tuple[BaselineTeams, BaselineTeams]:
        """The baseline teams as they are without the change, and the same ones with it."""
        c = self.config
        found = resolve(simulator, c.lineups, c.game.patch, c.seed, c.game.fidelity)
        given = baselines(c.lineups, found, before, after)
        again = resolve(changed, given, c.changed.patch, c.seed, c.game.fidelity)
        return found, again._replace(drawn=found.drawn)

    def _asked(self) -> ReplayPlan:
        c, unfit = self.config, self.fitted.fit == UNFIT
        anchors = np.array([each.anchors or (-1, -1) for each in c.replayed], np.int64)
        playable = np.stack([np.ones_like(unfit), ~unfit])
        width = self.table.width
        return ReplayPlan(self.fitted.rows, playable, anchors, c.looks, c.parts, width, c.seed, c.game.fidelity)

    def results(self, last: bool) -> dict[str, str]:
        """The table so far."""
        columns = self.table.columns(self.schedule.outcomes)
        verdicts = [FINDINGS[number] for number in columns["verdict_after"].tolist()]
        self.counts = {name: float(verdicts.count(name)) for name in ("confirmed", "refuted", "weak", "more", "close")}
        self.counts["refitted"] = float((self.fitted.fit == REFITTED).sum())
        return {"table": self.store.put(pack(self._meta(), columns))}

    def metrics(self) -> dict[str, float]:
        return self.counts

    def _meta(self) -> dict[str, Any]:
        """What the rows and columns are."""
        c, (before, after) = self.config, self.versions
        tunables, known = after.spec.tunables(), before.spec.tunables()
        names = {piece.id: piece.name for piece in after.spec.pieces}
        changes = [_said(path, tunables[path], known.get(path), names) for path in sorted(c.change)]
        return {
            "game": after.spec.title,
            "words": {"verdict": FINDINGS, "open": OPEN, "fit": FITS},
            "objectives": [o.model_dump(mode="json") for o in c.objectives.objectives],
            "lineups": [self._lineup(i) for i in range(len(c.replayed))],
            "changes": [each for each in changes if each["before"] != each["after"]],
            "battles_each": self._each,
            "planned": self._planned,
            "fresh": self.schedule.fresh,
            "over": self.schedule.done,
            "commanders": [_title(c.game.commander), _title(c.changed.commander)],
            "baselines": [{"value": v.baselines.median, "error": v.baselines.error} for v in self.versions],
        }

    def _lineup(self, i: int) -> dict[str, Any]:
        before, after = self.versions
        rows = self.fitted.rows
        name = " · ".join(team_name(before.spec, row) for row in before.rows[i])
        return {
            "name": self.config.replayed[i].name or name,
            "teams": [team_parts(before.spec, row) for row in before.rows[i]],
            "anchors": self.schedule.anchors[:, i].tolist(),
            "refitted": replaced(after.spec, rows[BEFORE, i], rows[AFTER, i]) if self.fitted.fit[i] == REFITTED else [],
        }

    @property
    def _each(self) -> int:
        """Battles of one replicate of a lineup on one version."""
        return battles_of_replicate(self.config.lineups.teams, len(self.versions[BEFORE].baselines.rows))

    @property
    def _planned(self) -> int:
        """Battles of all looks, for every lineup."""
        return int(self.schedule.asked.playable.sum()) * (FIRST + self.config.looks[-1]) * self._each


def _loaded(saved: Checkpoint) -> tuple[BaselineTeams, BaselineTeams]:
    """The baseline teams of both versions as a checkpoint has them."""
    before, after = saved.parts["baselines"].meta["teams"]
    return BaselineTeams.load(before), BaselineTeams.load(after)


def _title(commander: CommanderConfig | None) -> str:
    """Who leads both sides, for people; empty: they fight by themselves."""
    return "" if commander is None else commander.title or "an agent"


def _said(path: str, now: Parameter, was: Parameter | None, names: Mapping[str, str]) -> dict[str, Any]:
    """A changed number, for people; ``before`` is None where the change adds its piece."""
    piece = names.get(path.rpartition(".")[0], "")
    title = now.title.removeprefix(f"{piece}: ") if piece else now.title
    before = None if was is None else was.default
    return {"path": path, "piece": piece, "title": title, "unit": now.unit, "before": before, "after": now.default}


class Words:
    """What the command line says of changes."""

    def planned(self, event: Started, study: Mapping[str, Any]) -> str:
        """Lineups and battles, and who leads in them."""
        who = led(study.get("under") or study["game"].get("commander"))
        return f"{len(study['replayed'])} lineups, {event.battles:,} battles at most{who}"

    def done(self, counters: Counters) -> str:
        """Battles."""
        return f"{counters.battles:,} battles"

    def round(self, metrics: Mapping[str, float], study: Mapping[str, Any]) -> str:
        """What is told by now."""
        over, under = int(metrics["confirmed"]), int(metrics["refuted"])
        left = int(metrics["more"] + metrics["close"])
        refitted = f", {int(metrics['refitted'])} refitted" if metrics["refitted"] else ""
        return f"{over} over the line, {under} under it, {left} open{refitted}"
