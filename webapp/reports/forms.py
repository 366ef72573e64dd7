"""What people type into a report, and how long a link lasts."""

from __future__ import annotations

from typing import Any

from django import forms

from webapp.lib.text import seen
from webapp.reports import links, proposals
from webapp.reports.content import ReportText
from webapp.reports.models import Report
from webapp.reports.proposals import Proposal
from webapp.reports.publishing import current, proposed
from webapp.studies.models import Job

FIELDS = ("title", "release", "words", "change", "replaces")
"""What a draft keeps."""


class EditionField(forms.ModelChoiceField):
    """A report by its title and release."""

    def label_from_instance(self, obj: Any) -> str:
        return f"Edition {obj.edition + 1} of “{obj.title}”, {obj.release}"


class ReportForm(forms.Form):
    """The title, the release that it is for, and a few words of one's own."""

    title = forms.CharField(
        label="Title", max_length=120, validators=[seen], widget=forms.TextInput(attrs={"autocomplete": "off"}),
        error_messages={"required": "Give it a title, by which people find it again."},
    )  # fmt: skip
    release = forms.CharField(
        label="For which release", max_length=80, validators=[seen],
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="As your team calls it, such as “spring release”.",
        error_messages={"required": "Say which release it is for."},
    )  # fmt: skip
    words = forms.CharField(
        label="In your own words", max_length=4000, required=False, widget=forms.Textarea(attrs={"rows": 5}),
        help_text="What the producer should know beside the numbers. These write themselves.",
    )  # fmt: skip
    change = forms.ChoiceField(
        label="Proposed change", required=False,
        error_messages={"invalid_choice": "That change is not there any more. Choose again."},
        help_text="Of those that were tried on this search, or found and proved on the same data. One that was only "
        "looked at is proposed where you say so.",
    )  # fmt: skip
    replaces = EditionField(
        Report.objects.none(), label="This is", required=False, empty_label="A new report",
        error_messages={"invalid_choice": "That report has a newer edition by now. Choose again."},
        help_text="A newer edition takes the place of the one before, which stays readable.",
    )  # fmt: skip

    def __init__(self, data: Any = None, *, search: Job, kept: dict[str, Any] | None = None) -> None:
        earlier, offered = proposed(search), proposals.offered(search)
        self.changes = {proposals.key(each): each for each in offered}
        usual = {
            "title": earlier.title if earlier else f"Balance of {search.game_version or search.project}",
            "release": earlier.release if earlier else "",
            "change": proposals.usual(offered),
            "replaces": earlier.pk if earlier else None,
        }
        super().__init__(data, initial={**usual, **(kept or {})})
        offers: Any = self.fields["change"]
        offers.choices = [("", "None"), *((key, proposals.name(each)) for key, each in self.changes.items())]
        chosen: Any = self.fields["replaces"]
        chosen.queryset = current(search.project)

    @property
    def proposes(self) -> Proposal | None:
        """The change that is chosen by now."""
        return self.changes.get(str(self["change"].value() or ""))

    @property
    def typed(self) -> ReportText:
        """What a person wrote, once it is valid."""
        said = self.cleaned_data
        return ReportText(said["title"].strip(), said["release"].strip(), said["words"].strip())


class LinkForm(forms.Form):
    """How long a link opens the report."""

    days = forms.TypedChoiceField(label="It ends after", choices=links.DAYS, coerce=int, initial=links.USUAL_DAYS)
