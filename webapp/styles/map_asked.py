"""What the address of a style map asks for."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from django.http import QueryDict

from webapp.styles.map_form import EVERYBODY, PICKED, WITHIN, MapForm


class MapQuery(NamedTuple):
    """What was asked for, where it is not wrong. ``picks``: whether a diverse few shall be picked; ``wrong``: something
    that was typed cannot be used, so the usual stands for it and nobody is picked."""

    within: float
    show: str
    k: int
    picks: bool
    wrong: bool

    @property
    def within_text(self) -> str:
        """The width of the skill band, as it is typed."""
        return f"{self.within:g}"

    @property
    def query(self) -> str:
        """It as the end of an address."""
        told = {"within": self.within_text, "show": self.show, "k": self.k}
        return urlencode({**told, **({"pick": 1} if self.picks else {})})


def asked(given: QueryDict) -> tuple[MapForm, MapQuery]:
    """The form as it was filled in, with what is usual where nothing, or something wrong, was typed."""
    usual = {"within": f"{WITHIN:g}", "show": EVERYBODY, "k": str(PICKED)}
    form = MapForm({name: given.get(name, each) for name, each in usual.items()})
    wrong = not form.is_valid()
    typed = form.cleaned_data
    within, k = typed.get("within"), typed.get("k")
    return form, MapQuery(
        WITHIN if within is None else float(within), typed.get("show") or EVERYBODY,
        PICKED if k is None else int(k), given.get("pick", "") == "1" and not wrong, wrong,
    )  # fmt: skip
