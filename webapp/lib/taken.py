"""Names that somebody else takes between the check of a form and its saving."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django import forms
from django.db import IntegrityError, transaction


@contextmanager
def checked_again(form: forms.BaseForm) -> Iterator[None]:
    """A transaction that saves what a form says. Where the database refuses it, because a name was taken meanwhile, the
    form is checked again and says so at its field: ask it once more whether it is valid."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        form.full_clean()
        if form.is_valid():
            raise
