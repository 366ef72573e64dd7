"""From the page of styles, and from the API, to a search: its formulas are tried on sample episodes first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from engine.config import Study, parse
from engine.config.episodes import EpisodesConfig
from engine.config.styles import StylesConfig
from engine.styles.preview import problems
from webapp.balance.forms import sentence
from webapp.projects.models import Project
from webapp.studies import actions, estimates
from webapp.studies.intake import Body, Refers, Table
from webapp.studies.journal import TIME_IS_UP
from webapp.studies.models import Job, Status
from webapp.styles import sample_episodes, scales
from webapp.styles.forms import StyleForm
from webapp.styles.scales import worded
from webapp.training import beginnings
from webapp.training.intake import SettingsIntake, unknown_measures
from webapp.training.starting import TrainingStart

if TYPE_CHECKING:
    from webapp.accounts.models import User

UNSEEN = (
    "What this game tells is not known yet, so what you name is checked once sample episodes have been played, before "
    "any training: {}. If the game lacks one of them, the job fails then, and its message gives the place of each "
    "wrong one."
)
TRYING = "What is paid for is being tried on sample episodes."
ANEW = (
    "Sample episodes took too long last time, so they are played once more. If that takes too long again, the job "
    "begins all the same, and tries what is paid for itself before it trains anybody."
)
WHOLE = "study"
"""Where a job that was not typed into the form keeps the study that it waits with."""


class StyleStart(TrainingStart):
    """The form of styles, filled in, or a whole study: see ``webapp.studies.pending.Start``."""

    form_class = StyleForm
    form: StyleForm

    def __init__(self, project: Project, user: User | None, typed: Mapping[str, Any]) -> None:
        self.whole = parse(StylesConfig, typed[WHOLE]) if WHOLE in typed else None
        self.sentences: list[str] = []
        self.trying = TRYING
        super().__init__(project, user, {k: v for k, v in typed.items() if k != WHOLE})

    @property
    def problems(self) -> list[str]:
        """What is wrong, in sentences."""
        return super().problems if self.whole is None else self.sentences

    @property
    def _study(self) -> StylesConfig | None:
        return self.form.study if self.whole is None else self.whole

    @property
    def _episodes(self) -> EpisodesConfig | None:
        return None if self._study is None else sample_episodes.of(self._study)

    def known(self) -> Job | None:
        """The sample episodes, if they were played, are being played, or cannot be; those that ran out of time are
        played anew."""
        config = self._episodes
        found = None if config is None else sample_episodes.known(self.project, config)
        self.trying = ANEW if _ran_out(found) else TRYING
        lost = found is not None and found.status in (Status.STOPPED, Status.FINISHED)
        return None if lost and sample_episodes.samples_of(found) is None else found

    def study(self, found: Job | None) -> StylesConfig | None:
        """The search; None with ``problems`` or ``waits``."""
        study = self._study
        if study is None or self.problems:
            return None
        if self._episodes is None:  # a game with ranges: the study itself tries its formulas
            return study
        for place, message in wrong_of(study, found):
            self._refuse(place, message)
        going = found is None or not found.terminal
        self.found_out = [self.trying] if going and not self.problems else []
        return None if self.problems or self.found_out else study

    def _refuse(self, place: str, message: str) -> None:
        if self.whole is None:
            self.form.point_at(place, message)
        else:
            self.sentences.append(f"{place}: {sentence(worded(place, message))}")

    def unfinished(self) -> StylesConfig:
        """The search: sample episodes only tell whether it can be done."""
        assert self._study is not None
        return self._study

    def trial(self) -> tuple[EpisodesConfig, Mapping[str, Any]]:
        """The sample episodes, which point at nothing."""
        assert self._episodes is not None
        return self._episodes, {}

    def asked(self) -> tuple[str, Mapping[str, Any]]:
        """Its name, and the preset it begins from."""
        if self.whole is not None:
            return self.whole.name, {}
        return self.form.name, {"template": self.form.shown.key, "game_version": self.form.version}


def _ran_out(found: Job | None) -> bool:
    """Whether playing sample episodes took too long."""
    return found is not None and found.message == TIME_IS_UP and sample_episodes.samples_of(found) is None


def unseen(study: StylesConfig) -> list[str]:
    """In a sentence what a study wants of a game of which nobody knows yet whether it has that; empty where it is
    known."""
    names = scales.unknown_names(study)
    known = scales.known_signals(study.task.game.name, None).known
    return [] if known or not names else [UNSEEN.format(", ".join(names))]


def wrong_of(study: StylesConfig, found: Job | None) -> list[tuple[str, str]]:
    """(place, message) of what sample episodes show to be wrong with a study, or why they could not be played."""
    samples = sample_episodes.samples_of(found)
    if samples is not None and study.task.style is not None:
        game_signals = scales.known_signals(study.task.game.name, samples)
        return [*problems(study.task.style, study.objectives, samples), *_unmeasured(study, game_signals)]
    return [(place if place.startswith("game") else f"game.{place}", why) for place, why in estimates.problems(found)]


class StylesIntake(SettingsIntake):
    """How the API starts searches for styles of play: what their formulas are worth is known first."""

    def title(self, game: str, asked: Table) -> str:
        """What it is called where the body says nothing."""
        return f"Styles of play: {game}"[:120]

    def first(self, body: Body) -> tuple[Study, Refers]:
        """The study; where nobody has played sample episodes of its game, its job waits for them."""
        return self._settled(body, *super().first(body))

    def again(self, body: Body, job: Job) -> tuple[Study, Refers]:
        """The same with the settings of another job."""
        return self._settled(body, *super().again(body, job))

    def _settled(self, body: Body, study: Study, refers: Refers) -> tuple[Study, Refers]:
        assert isinstance(study, StylesConfig)
        config = sample_episodes.of(study)
        if config is None:
            return study, refers
        sample = sample_episodes.known(body.project, config)
        if sample_episodes.samples_of(sample) is None:
            trying = ANEW if _ran_out(sample) else TRYING
            sample = actions.sample(body.project, body.user, config, again=True)
            asked = {"typed": {WHOLE: study.model_dump(mode="json")}, "why": trying}
            return study, {**refers, "awaits": sample, "asked": asked, "notes": unseen(study)}
        return study, refers

    def strange(self, study: Any, project: Project) -> Iterator[tuple[str, str]]:
        """What is measured is looked at where its formulas are."""
        yield from ()

    def tried(self, study: Any, project: Project) -> list[tuple[str, str]]:
        """What sample episodes have shown, or what the game is known not to have."""
        if not isinstance(study, StylesConfig) or study.task.style is None:
            return []
        if study.start and not beginnings.known(study.start, project):
            return [("start", beginnings.UNKNOWN)]
        config = sample_episodes.of(study)
        found = sample_episodes.known(project, config) if config is not None else None
        samples = sample_episodes.samples_of(found)
        game_signals = scales.known_signals(study.task.game.name, samples)
        if samples is not None:
            wrong = wrong_of(study, found)
        else:
            by_name = _unmeasured(study, game_signals) if game_signals.known else unknown_measures(study, project)
            goals = scales.strange_goals(study.objectives, game_signals)
            wrong = [*scales.strange(study.task.style, game_signals), *goals, *by_name]
        return [(place, worded(place, why)) for place, why in wrong]


def _unmeasured(study: StylesConfig, game_signals: scales.KnownSignals) -> list[tuple[str, str]]:
    """(place, message) of behaviour that the game does not measure."""
    strange = scales.unmeasured(study.behaviour, game_signals)
    why = f"this game does not measure it; it measures {', '.join(word.name for word in game_signals.measures)}"
    return [(f"behaviour.{i}", why) for i, name in enumerate(study.behaviour) if name in strange]
