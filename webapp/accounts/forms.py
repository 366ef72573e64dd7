"""Signing in, and the operator's forms about people."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.password_validation import validate_password

from webapp.accounts import devices, throttle
from webapp.accounts.backends import find_user
from webapp.accounts.demo import DEMO_PASSWORD, known_password_works
from webapp.accounts.models import User
from webapp.lib.words import duration

GOOD_PASSWORD = "At least 8 characters, not a common password, and nothing like the name."
WAIT = "Too many wrong passwords. Wait {time}, then try again; nothing else is locked."
WRONG = "This name and password do not belong together. Check both; in a password, capital letters count."
DEMO_REFUSED = (
    "Demo passwords work only at the machine itself, while no other can reach the site. "
    "Use the password that was printed when the site started, or ask its operator for an account."
)


def count_attempt(*buckets: throttle.Bucket) -> None:
    """Make room for one more wrong password before it is looked at. Raises ValidationError while there is none."""
    try:
        throttle.attempt(*buckets)
    except throttle.TooMany as wait:
        raise forms.ValidationError(WAIT.format(time=duration(wait.seconds)), code="wait") from None


class SignInForm(AuthenticationForm):
    """User name or email, and password."""

    error_messages = {"invalid_login": WRONG, "inactive": "This account is switched off. Ask the site's operator."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].label = "User name or email"
        self.fields["username"].widget.attrs |= {"autocapitalize": "none", "maxlength": 254}

    def clean(self) -> dict[str, Any]:
        name, password = self.cleaned_data.get("username", ""), self.cleaned_data.get("password", "")
        if not (name and password):
            return self.cleaned_data
        buckets = self._counted(name)
        try:
            cleaned = super().clean()
        except forms.ValidationError as refusal:
            if refusal.code == "demo":  # it was the right one
                throttle.forgive(*buckets)
            raise
        throttle.forgive(*buckets[1:])
        throttle.forget(buckets[0])
        return cleaned

    def _counted(self, name: str) -> list[throttle.Bucket]:
        """Count the attempt before its password is looked at; the buckets it filled, first what the right one empties.
        In a browser in which this person has signed in before, guesses of others cost them nothing; and however many
        guess elsewhere, the first attempt from a network is judged. Raises ValidationError."""
        user = find_user(name.strip())
        account = f"account {user.pk}" if user else name
        device = devices.known(self.request, user) if self.request and user else ""
        if device:
            buckets = [throttle.NAME_AND_DEVICE.of(account, device)]
            count_attempt(*buckets)
            return buckets
        address = self._address()
        here = [throttle.NAME_AND_ADDRESS.of(account, address), throttle.ADDRESS.of(address)]
        try:
            first = [*here, throttle.NAME_AND_NETWORK.of(account, throttle.network(address))]
            throttle.attempt(*first)
        except throttle.TooMany:
            count_attempt(*here, throttle.NAME.of(account))
            return [*here, throttle.NAME.of(account)]
        return first

    def confirm_login_allowed(self, user: User) -> None:
        super().confirm_login_allowed(user)
        if self.cleaned_data.get("password") == DEMO_PASSWORD and not known_password_works(self.request):
            raise forms.ValidationError(DEMO_REFUSED, code="demo")

    def _address(self) -> str:
        return str(self.request.META.get("REMOTE_ADDR", "")) if self.request else ""


class PasswordForm(PasswordChangeForm):
    """One's own new password. The old one is guessed at as slowly here as when signing in."""

    keeps_tokens = forms.BooleanField(
        label="Keep my API tokens",
        required=False,
        help_text="Scripts that use them go on working. Leave it empty if somebody may have learned the old password.",
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        self.fields["new_password1"].help_text = GOOD_PASSWORD
        self.fields["new_password2"].label = "New password once more"
        self.fields["new_password2"].help_text = ""

    def clean_old_password(self) -> str:
        bucket = throttle.OLD_PASSWORD.of(str(self.user.pk))
        count_attempt(bucket)
        old: str = super().clean_old_password()
        throttle.forget(bucket)
        return old

    def save(self, commit: bool = True) -> User:
        self.user.keeps_tokens = self.cleaned_data["keeps_tokens"]
        return super().save(commit)


class PersonForm(forms.ModelForm):
    """An account, as an operator makes or changes it. A new one needs its first password, to be handed over."""

    password = forms.CharField(
        label="New password",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}, render_value=False),
        help_text="Empty keeps the password they have.",
        required=False,
    )

    keeps_tokens = forms.BooleanField(
        label="Keep their API tokens",
        required=False,
        help_text="A new password ends them otherwise.",
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
            "is_staff": "Manages the people of this site and every simulator.",
            "is_active": "",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk is None:
            password = self.fields["password"]
            password.label, password.required = "First password", True
            password.help_text = GOOD_PASSWORD
            del self.fields["keeps_tokens"]
        else:
            self.fields["is_active"].help_text = (
                "Switched off, they are signed out in every browser and their API tokens end, for good: once switched "
                "on again they sign in anew and make new tokens."
            )

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
            self.instance.keeps_tokens = self.cleaned_data.get("keeps_tokens", False)
