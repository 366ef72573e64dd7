"""Forms of imports and simulators."""

from __future__ import annotations

import re
import shlex
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from engine.text import folded
from webapp.accounts.models import User
from webapp.games import reading
from webapp.games.errors import SheetError
from webapp.games.limits import MOST_BYTES, MOST_CELLS, MOST_COLUMNS, MOST_ROWS
from webapp.games.models import Simulator
from webapp.games.reading import Progress
from webapp.games.simulators import served
from webapp.games.uploads import TOO_LARGE
from webapp.lib.text import seen
from webapp.projects.models import Project

ENTRY_POINT = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


def _notes(name: str) -> str:
    """What describes a field of an import, also when its error is found by the page's script."""
    return f"id_{name}_error id_{name}_helptext"


class ImportForm(forms.Form):
    """A sheet as a file or as pasted text; which of the two is whichever is filled in."""

    file = forms.FileField(
        label="A file",
        required=False,
        help_text=f"CSV or Excel (.xlsx), up to {MOST_BYTES // 2**20} MB, {MOST_ROWS:,} rows, {MOST_COLUMNS} columns "
        f"and {MOST_CELLS:,} cells. Any columns in any order: the next step asks what they mean.",
        error_messages={"empty": "This file is empty. Choose another one, or paste cells below."},
        widget=forms.FileInput(
            attrs={"accept": ".csv,.tsv,.txt,.xlsx", "class": "form-control", "aria-describedby": _notes("file")}
        ),
    )
    text = forms.CharField(
        label="Or cells copied from a spreadsheet",
        required=False,
        strip=False,
        help_text="Copy the cells with their column names and paste them here.",
        widget=forms.Textarea(
            attrs={
                "rows": 8,
                "spellcheck": "false",
                "wrap": "off",
                "class": "form-control code",
                "aria-describedby": _notes("text"),
            }
        ),
    )

    def __init__(self, *args: Any, dropped: bool = False, progress: Progress | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dropped, self.progress = dropped, progress

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        file, text = cleaned.get("file"), cleaned.get("text", "")
        if self.dropped:
            self.add_error("file", TOO_LARGE)
        elif self.errors:
            return cleaned
        elif file and text.strip():
            self.add_error("text", "There is a file and pasted text. Take one of the two.")
        elif file:
            self._sheet("file", file.read(), _file_name(file))
        elif text.strip():
            self._sheet("text", text.encode("utf-8", errors="replace"), "Pasted cells")
        else:
            self.add_error("file", "Choose a file, or paste cells below.")
        return cleaned

    def _sheet(self, field: str, data: bytes, name: str) -> None:
        try:
            sheet = reading.read(data, under=self.progress)
        except SheetError as error:
            self.add_error(field, str(error))
        else:
            self.cleaned_data |= {"data": data, "sheet": sheet, "name": name, "pasted": field == "text"}


def _file_name(file: UploadedFile) -> str:
    return (file.name or "sheet").replace("\\", "/").rpartition("/")[2][-120:]


class SimulatorForm(forms.Form):
    """Registers a program, or changes its registration."""

    name = forms.CharField(
        label="Name", max_length=80, validators=[seen], help_text="What designers see when they choose a game."
    )
    kind = forms.ChoiceField(
        label="What it is",
        choices=[(Simulator.Kind.PYTHON, "Python entry point"), (Simulator.Kind.COMMAND, "Command")],
        initial=Simulator.Kind.COMMAND,
        widget=forms.RadioSelect(attrs={"class": "form-check-input"}),
    )
    target = forms.CharField(
        label="Entry point or command",
        max_length=480,
        help_text="A Python entry point is package.module:factory, of a package installed in the site’s .venv. A "
        "command is the program and its arguments, as in a shell; it speaks equipoise-sim/1. Each runs in a "
        "process of its own.",
        widget=forms.TextInput(attrs={"class": "code", "autocapitalize": "none", "spellcheck": "false"}),
    )
    transport = forms.ChoiceField(
        label="What the program dials",
        choices=[("ipc", "An ipc:// address, which only the site’s own user can reach"), ("tcp", "A tcp:// address")],
        initial="ipc",
        required=False,
        help_text="Choose tcp:// for a program whose ZeroMQ library cannot dial ipc://: JeroMQ (Java, Kotlin), NetMQ "
        "(C#, Unity). It is a port of this machine alone, and a key that is used once keeps other users of the machine "
        "out.",
        widget=forms.RadioSelect(attrs={"class": "form-check-input"}),
    )
    everybody = forms.BooleanField(label="Every project may use it", required=False)
    projects = forms.ModelMultipleChoiceField(
        label="Projects that may use it",
        queryset=Project.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple(attrs={"class": "form-check-input"}),
    )

    def __init__(self, *args: Any, user: User, simulator: Simulator | None = None, **kwargs: Any) -> None:
        if simulator is not None:
            kwargs.setdefault("initial", _initial(simulator))
        super().__init__(*args, **kwargs)
        self.others = Simulator.objects.exclude(pk=simulator.pk) if simulator else Simulator.objects.all()
        # To name a program that somebody else registered would confirm a guess at their command line.
        self.known = self.others if user.is_staff else self.others.filter(created_by=user)
        self.fields["projects"].queryset = served(user)  # type: ignore[attr-defined]  # a model choice field
        if not user.is_staff:
            del self.fields["everybody"]
        if simulator is not None and simulator.kind == Simulator.Kind.BUILTIN:
            del self.fields["kind"], self.fields["target"], self.fields["transport"]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        if folded(name) in map(folded, self.others.values_list("name", flat=True)):
            raise forms.ValidationError("Another simulator has this name. Choose one that tells them apart.")
        return name

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        kind, target = cleaned.get("kind"), cleaned.get("target", "").strip()
        written = re.match(rf"{kind}(\+tcp)?:", target)  # as a reference is written on the command line
        target = target[written.end() :].strip() if written else target
        if not kind or not target:
            return cleaned
        over_tcp = cleaned.get("transport") == "tcp" or (written is not None and written[1] is not None)
        problem = entry_point_problem(target) if kind == Simulator.Kind.PYTHON else command_problem(target)
        both = {"ipc": f"{kind}:{target}", "tcp": f"{kind}+tcp:{target}"}
        cleaned["reference"] = both["tcp" if over_tcp else "ipc"]
        if problem:
            self.add_error("target", problem)
        elif names := [f"“{row.name}”" for row in self.known.filter(reference__in=both.values())]:
            self.add_error("target", f"This program is registered already, as {', '.join(names)}.")
        return cleaned


def _initial(simulator: Simulator) -> dict[str, Any]:
    return {
        "name": simulator.name,
        "kind": simulator.kind,
        "target": simulator.reference.partition(":")[2],
        "transport": simulator.transport,
        "everybody": simulator.everybody,
        "projects": simulator.projects.all(),
    }


def entry_point_problem(target: str) -> str:
    """What is wrong with the text of a Python entry point; "" when nothing is."""
    if ENTRY_POINT.fullmatch(target):
        return ""
    return "An entry point is package.module:factory, such as mygame.balance:simulator."


def command_problem(target: str) -> str:
    """What is wrong with the text of a command; "" when nothing is."""
    try:
        words = shlex.split(target)
    except ValueError:
        return "A quotation mark in the command never closes."
    if any(ord(c) < 32 for c in target):
        return "A command is one line without control characters."
    return "" if words else "Type the program and its arguments."
