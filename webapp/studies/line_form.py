"""What a search looks for, as a form: the question, its objectives, and the line that is too much."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from engine.config import LineupConfig, ObjectiveConfig, ObjectiveSetConfig
from engine.simulators.contract import GameSpec
from webapp.balance.forms import sentence
from webapp.balance.models import ObjectiveSet
from webapp.games.fields import NumberField
from webapp.lib.first import first
from webapp.projects.models import Project
from webapp.studies import checks
from webapp.studies.accepted_line import accepted
from webapp.studies.line_origin import ANEW
from webapp.studies.line_origin import OWN as OWN_OBJECTIVES
from webapp.studies.method_form import MethodForm
from webapp.studies.questions import QUESTIONS, Question, main_measure, with_line


class LineForm(MethodForm):
    """Once ``check_objectives`` has looked: ``offered``, the objectives of the question; ``measured``, those that are
    searched, with the line. ``proposes``: nobody chose a line; ``origin``: where it comes from (``line_origin``)."""

    aim = forms.CharField(label="What is the best?", max_length=40, required=False)
    question = forms.ChoiceField(choices=[(q.key, q.title) for q in QUESTIONS.values()], initial="unfair")
    objectives = forms.ModelChoiceField(ObjectiveSet.objects.none(), label="Objectives", empty_label=None)
    measure = forms.CharField(label="A lineup is over the line when its", max_length=40, required=False)
    line = NumberField(label="The line", required=False)
    line_from = forms.CharField(max_length=20, required=False)

    def __init__(self, data: Mapping[str, Any] | None, *, project: Project) -> None:
        super().__init__(data)
        self.project = project
        self.lineups = LineupConfig()
        self.offered: ObjectiveSetConfig | None = None
        self.measured: ObjectiveSetConfig | None = None
        self.proposes = False
        self.fallback: float | None = None
        self.origin = ""

    @property
    def asked(self) -> Question:
        return QUESTIONS[self.cleaned_data["question"]]

    def check_objectives(self, cleaned: dict[str, Any], spec: GameSpec) -> None:
        """Find out what is searched for and where the line is; say at its field what is wrong."""
        own = cleaned["question"] == "own"
        found = ObjectiveSetConfig.model_validate(cleaned["objectives"].config) if own else self.asked.objectives(spec)
        for problem in checks.formulas(found, spec, self.lineups):
            self.add_error("objectives" if own else None, problem.message)
        self.offered = found
        found = self._aimed(found)
        # Nothing chosen yet, or what was chosen belongs to another question: the question's own measure and line.
        if not cleaned.get("measure") and cleaned.get("line") is not None:  # typed before a measure was shown
            cleaned["measure"] = main_measure(found).name
        self.proposes = cleaned.get("measure") not in [o.name for o in found.objectives]
        self.origin = str(cleaned.get("line_from", ""))
        if self.proposes:
            cleaned["measure"], cleaned["line"] = self._usual_line(found)
        self.measured = with_line(found, cleaned["measure"], cleaned.get("line"), keep=own)
        for problem in checks.lines(self.measured, spec, self.lineups):
            theirs = self.measured.objectives[int(problem.place.split(".")[2])].name == cleaned["measure"]
            self.add_error("line" if theirs else "objectives", sentence(problem.message))

    def _usual_line(self, objectives: ObjectiveSetConfig) -> tuple[str, float | None]:
        """The measure and line of the question where nobody typed one: as the project accepted it, or of its own
        objectives. Else random lineups are to say where the line is; ``fallback`` is for games too slow for that."""
        main, asked = main_measure(objectives), self.cleaned_data["question"]
        if self.origin != ANEW:
            own: ObjectiveSet | None = self.cleaned_data.get("objectives") if asked == "own" else None
            if found := accepted(self.project, asked, objectives, own.created_at if own else None):
                self.origin = found.origin
                return found.objective, found.line
            if asked == "own":
                self.origin = OWN_OBJECTIVES
                return main.name, main.threshold
        self.fallback = main.threshold
        return main.name, None

    def _aimed(self, objectives: ObjectiveSetConfig) -> ObjectiveSetConfig:
        """The objectives that are searched: all of them, or for a method that looks for one best the chosen one."""
        chosen = [o for o in objectives.objectives if o.name == self.cleaned_data.get("aim")]
        if not self.method.single or not chosen:
            return objectives
        return objectives.model_copy(update={"objectives": tuple(chosen)})

    def propose(self, line: float, origin: str) -> None:
        """Put the line where the sample says it tells most, or at the question's usual place; only when nobody chose
        one. ``origin``: see ``line_origin``."""
        assert self.measured is not None
        self.origin = origin
        self.cleaned_data["line"] = line
        self.measured = with_line(self.measured, self.cleaned_data["measure"], line, keep=True)

    @property
    def main(self) -> ObjectiveConfig:
        """The measure that the line is about."""
        assert self.measured is not None
        return first(o for o in self.measured.objectives if o.name == self.cleaned_data["measure"])
