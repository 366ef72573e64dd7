"""Making a project, and its members."""

from __future__ import annotations

from typing import Any

from django import forms

from webapp.accounts.backends import find_user
from webapp.accounts.models import User
from webapp.lib.text import seen
from webapp.projects.members import invite
from webapp.projects.models import Invitation, Membership, Project, Role

ROLE_HELP = {
    Role.OWNER: "everything, and who is a member",
    Role.DESIGNER: "game data, lineups, objectives, jobs and the shortlist",
    Role.ENGINEER: "what a designer does; whoever may register simulators brings theirs into the project",
    Role.PRODUCER: "reads everything, and accepts reports or sends them back",
}


class ProjectForm(forms.ModelForm):
    class Meta:
        model = Project
        fields = ["name"]
        labels = {"name": "Name"}
        help_texts = {"name": "The game as your team calls it."}

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        if not name:
            raise forms.ValidationError("A project needs a name.")
        seen(name)
        return name


class NewMemberForm(forms.Form):
    """Invites somebody who already has an account."""

    person = forms.CharField(
        label="User name or email",
        max_length=254,
        widget=forms.TextInput(attrs={"autocapitalize": "none", "autocomplete": "off"}),
    )
    role = forms.ChoiceField(label="Role", choices=Role.choices, initial=Role.DESIGNER)

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project

    def clean_person(self) -> User:
        user = find_user(self.cleaned_data["person"].strip())
        if user is None or not user.is_active:
            raise forms.ValidationError(
                "Nobody here goes by this name or address. Check it, or ask a site operator to make the account."
            )
        if Membership.objects.filter(project=self.project, user=user).exists():
            raise forms.ValidationError(f"{user} is a member already. Change the role in the list.")
        return user

    def save(self, by: User) -> Invitation:
        typed = self.cleaned_data
        return invite(self.project, typed["person"], typed["role"], by, self.data["person"].strip())


class RoleForm(forms.Form):
    role = forms.ChoiceField(label="Role", choices=Role.choices)
