"""Signing in, and the operator's forms about people."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.password_validation import validate_password

from webapp.accounts import throttle
from webapp.accounts.demo import DEMO_NAMES, DEMO_PASSWORD
from webapp.accounts.models import User

GOOD_PASSWORD = "At least 8 characters, not a common password, and nothing like the name."
WAIT = "Too many wrong passwords. Wait {minutes}, then try again; nothing else is locked."
WRONG = "This name and password do not belong together. Check both; in a password, capital letters count."
DEMO_REFUSED = (
    "Demo passwords work only while the site listens to this machine alone. "
    "Use the password that was printed when the site started, or ask its operator for an account."
)


class SignInForm(AuthenticationForm):
    """User name or email, and password."""

    error_messages = {"invalid_login": WRONG, "inactive": "This account is switched off. Ask the site's operator."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].label = "User name or email"
        self.fields["username"].widget.attrs |= {"autocapitalize": "none", "maxlength": 254}

    def clean(self) -> dict[str, Any]:
        name, address = self.cleaned_data.get("username", ""), self._address()
        minutes = throttle.minutes_to_wait(name, address)
        if minutes:
            words = "1 minute" if minutes == 1 else f"{minutes} minutes"
            raise forms.ValidationError(WAIT.format(minutes=words), code="wait")
        try:
            cleaned = super().clean()
        except forms.ValidationError:
            throttle.note_failure(name, address)
            raise
        throttle.forget(name, address)
        return cleaned

    def confirm_login_allowed(self, user: User) -> None:
        super().confirm_login_allowed(user)
        demo = user.get_username() in DEMO_NAMES and self.cleaned_data.get("password") == DEMO_PASSWORD
        if demo and not settings.DEMO_PASSWORDS:
            raise forms.ValidationError(DEMO_REFUSED, code="demo")

    def _address(self) -> str:
        return str(self.request.META.get("REMOTE_ADDR", "")) if self.request else ""


class PersonForm(forms.ModelForm):
    """An account, as an operator makes or changes it. A new one needs its first password, to be handed over."""

    password = forms.CharField(
        label="New password",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}, render_value=False),
        help_text="Empty keeps the password they have.",
        required=False,
    )

    class Meta:
        model = User
        fields = ["first_name", "last_name", "username", "email", "password", "is_staff", "is_active"]
        labels = {
            "first_name": "First name",
            "last_name": "Last name",
            "username": "User name",
            "email": "Email",
            "is_staff": "Site operator",
            "is_active": "May sign in",
        }
        help_texts = {
            "username": "Letters, digits, and . + - _ only.",
            "is_staff": "Registers simulators and manages the people of this site.",
            "is_active": "",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk is None:
            password = self.fields["password"]
            password.label, password.required = "First password", True
            password.help_text = GOOD_PASSWORD

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if "@" in name:
            raise forms.ValidationError("A user name has no @ in it: an email address goes into the field below.")
        if User.objects.filter(username__iexact=name).exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError("Somebody already has this user name. Choose another.")
        return name

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"].strip().lower()
        if User.objects.filter(email__iexact=email).exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError("Somebody already has an account with this address.")
        return email

    def _post_clean(self) -> None:
        kept = self.instance.password
        super()._post_clean()  # type: ignore[misc]  # the validators compare with the names the instance now carries
        typed = self.cleaned_data.get("password")
        self.instance.password = kept
        if not typed:
            return
        try:
            validate_password(typed, self.instance)
        except forms.ValidationError as error:
            self.add_error("password", error)
        else:
            self.instance.set_password(typed)
