"""What a search takes from its project: a version of the game data, lineup rules, objectives. A job pins all of them,
so what a body says of them must be the project's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from engine.config import BalanceStudy, LineupConfig, ObjectiveSetConfig
from engine.config.study import GameConfig
from engine.errors import ConfigError
from engine.lineups.patterns import strangers
from engine.simulators.contract import GameSpec
from webapp.accounts.models import User
from webapp.balance.models import LineupRules, ObjectiveSet
from webapp.balance.saving import ensure_defaults, lineup_config, objective_config
from webapp.games.called import asked_for
from webapp.games.models import GameVersion
from webapp.games.specs import patched_spec
from webapp.games.versions import obstacle
from webapp.studies import commanders
from webapp.studies.accepted_line import accepted
from webapp.studies.intake import Body
from webapp.studies.models import Job
from webapp.studies.questions import QUESTIONS, Question, with_line

BESIDE = frozenset({"game_version", "lineup_rules", "objective_set", "question"})
"""What the body of a search may say beside its settings."""
USUAL_QUESTION, OWN = "unfair", "own"
NO_GAME = "this project has no game data yet: choose its game under Game data first"
NOT_THIS = "the project has no such game data; GET the project lists its versions"
GAME_DATA = "leave it out, and save changes as a new version under Game data"


class OfGame(Protocol):
    """A study of a game."""

    @property
    def game(self) -> GameConfig:
        """Which one, with which numbers."""
        ...


@dataclass(frozen=True)
class Pins:
    """The rows that a search rests on, and the question it asks."""

    version: GameVersion
    rules: LineupRules
    objectives: ObjectiveSet
    asked: Question

    @cached_property
    def spec(self) -> GameSpec:
        """The game as the version has it. Raises ConfigError."""
        return patched_spec(self.version)

    def filled(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """``config`` with the project's own where it says nothing. What it says of lineups and objectives counts."""
        game = {"simulator": self.version.simulator.called, "patch": self.version.patch,
                "spec": self.version.spec_hash}  # fmt: skip
        said = config.get("game", {})
        usual = {
            "name": self.asked.title,
            "lineups": self._lineups.model_dump(mode="json"),
            "objectives": (self._own if self.asked.key == OWN else self._asked).model_dump(mode="json"),
        }
        return {**usual, **config, "game": _with(game, said) if isinstance(said, Mapping) else said}

    def named(self, game: Any, body: Body) -> None:
        """Put the engine's reference in place of what the body calls its simulator."""
        if isinstance(game, dict) and isinstance(wanted := game.get("simulator"), str):
            own = self.version.simulator
            game["simulator"] = own.reference if wanted == own.called else asked_for(wanted, body.project, body.user)

    @cached_property
    def _lineups(self) -> LineupConfig:
        return self.asked.lineups(lineup_config(self.rules))

    @cached_property
    def _own(self) -> ObjectiveSetConfig:
        objectives = objective_config(self.objectives)
        found = accepted(self.version.project, OWN, objectives, self.objectives.created_at)
        return with_line(objectives, found.objective, found.line, keep=True) if found else objectives

    @cached_property
    def _asked(self) -> ObjectiveSetConfig:
        """With the line that the project accepted for the question, as the New job page has it; a script does not wait
        for random lineups."""
        objectives = self.asked.objectives(self.spec)
        found = accepted(self.version.project, self.asked.key, objectives)
        return with_line(objectives, found.objective, found.line) if found else objectives

    def changed(
        self,
        config: OfGame,
        patch: Mapping[str, float] | None = None,
    ) -> list[tuple[str, str]]:
        """Where a study plays another game or other numbers than the version's (or than those of ``patch``, which was
        sent with it), in a way that the game has not, or calls pieces intended that it has not."""
        game, version, found = config.game, self.version, list[tuple[str, str]]()
        if game.simulator != version.simulator.reference:
            found.append(("game.simulator", f"{version} is data of {version.simulator}; {GAME_DATA}"))
        elif game.patch != (version.patch if patch is None else patch) or game.spec != version.spec_hash:
            found.append(("game.patch", f"the numbers are those of {version}; {GAME_DATA}"))
        ways = [fidelity.name for fidelity in self.spec.fidelities]
        if game.fidelity not in ways:
            found.append(("game.fidelity", f"this game is played as {', '.join(ways)}"))
        if why := commanders.problem(version.project, game.commander):
            found.append(("game.commander", why))
        return [*found, *strangers(self.spec.extended(patch or {}), getattr(config, "intended", ()), "intended")]

    def refers(self, config: BalanceStudy) -> dict[str, Any]:
        """The rows that the job points at: only those it really plays by. Where the line lies may differ."""
        objectives = _without_lines(config.objectives)
        asks = self.asked.key != OWN and objectives == _without_lines(self._asked)
        return {
            "template": self.asked.key if asks else OWN,
            "game_version": self.version,
            "lineup_rules": self.rules if config.lineups == self._lineups else None,
            "objective_set": self.objectives if objectives == _without_lines(self._own) and not asks else None,
        }


def _with(game: dict[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """``game`` with what was said of it; no hash of its description means any, and so this one."""
    return {**game, **{name: value for name, value in said.items() if (name, value) != ("spec", "")}}


def _without_lines(objectives: ObjectiveSetConfig) -> ObjectiveSetConfig:
    plain = tuple(o.model_copy(update={"threshold": None}) for o in objectives.objectives)
    return objectives.model_copy(update={"objectives": plain})


def pins_of(body: Body) -> Pins:
    """What a body asks for by number, or what the project has now. Raises ConfigError with every problem at once."""
    wrong: list[tuple[str, str]] = []
    project, beside = body.project, body.beside
    rules, objectives = ensure_defaults(project, body.user)
    version = _version(body, wrong)
    if "lineup_rules" in beside:
        rules = _row(project.lineup_rules, body, "lineup_rules", "lineups", wrong) or rules
    if "objective_set" in beside:
        objectives = _row(project.objective_sets, body, "objective_set", "objectives", wrong) or objectives
    own = "objective_set" in beside or "objectives" in body.config
    question = beside.get("question") or (OWN if own else USUAL_QUESTION)
    if question not in QUESTIONS:
        wrong.append(("question", f"must be one of {', '.join(QUESTIONS)}"))
    elif own and question != OWN:
        wrong.append(("question", "a question has objectives of its own: leave it out, or the objectives"))
    if wrong or version is None:
        raise ConfigError(wrong)
    return Pins(version, rules, objectives, QUESTIONS[question])


def pins_of_job(job: Job, user: User, version: GameVersion | None = None) -> Pins:
    """What a search rested on, for another like it, on its own game data or on another ``version``. Raises ConfigError
    where that game cannot be played any more."""
    version = version or job.game_version
    assert version is not None
    if reason := obstacle(version):
        raise ConfigError([("game_version", reason)])
    rules, objectives = ensure_defaults(job.project, user)
    asked = QUESTIONS.get(job.template, QUESTIONS[OWN])
    return Pins(version, job.lineup_rules or rules, job.objective_set or objectives, asked)


def _row(rows: Any, body: Body, name: str, inline: str, wrong: list[tuple[str, str]]) -> Any:
    if inline in body.config:
        wrong.append((name, f"config has {inline} already: leave one of the two out"))
    found = rows.filter(pk=body.beside[name]).first()
    if found is None:
        wrong.append((name, "the project has none of this number; GET the project lists them"))
    return found


def _version(body: Body, wrong: list[tuple[str, str]]) -> GameVersion | None:
    """The version by its number, by the game that the config names, or the newest."""
    rows, place = body.project.versions.select_related("simulator"), "game_version"
    game = body.config.get("game")
    if number := body.beside.get("game_version"):
        rows = rows.filter(number=number)
    if isinstance(game, Mapping) and "simulator" in game:
        reference, place = asked_for(str(game["simulator"]), body.project, body.user), "config.game.simulator"
        rows = rows.filter(simulator__reference=reference)
    found = list(rows)
    if isinstance(game, Mapping) and "patch" in game:
        found, place = [row for row in found if row.patch == game["patch"]], "config.game.patch"
    if not found:
        wrong.append((place, NOT_THIS if body.project.versions.exists() else NO_GAME))
        return None
    if reason := obstacle(found[0]):
        wrong.append(("game_version", reason))
    return found[0]
