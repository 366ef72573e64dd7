"""What the address of a style map asks for."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from django.http import QueryDict

from webapp.lib.digits import whole
from webapp.styles.map_form import EVERYBODY, PICKED, WITHIN, MapForm


class MapQuery(NamedTuple):
    """What was asked for, where it is not wrong. ``sort``: the measure by which the table is sorted, the most first;
    ``page`` of the table, from 1; ``ticked``: agents that are. ``picks``: whether a diverse few shall be
    picked; ``wrong``: what was typed that cannot be used, and what can, in sentences that name the fields; the usual
    stands for it then, and nobody is picked."""

    within: float
    show: str
    k: int
    picks: bool
    wrong: str
    sort: str = "score"
    page: int = 1
    ticked: tuple[int, ...] = ()

    @property
    def within_text(self) -> str:
        """The width of the skill band, as it is typed."""
        return f"{self.within:g}"

    @property
    def query(self) -> str:
        """It as the end of an address."""
        return f"{self.unsorted}&{urlencode({'sort': self.sort, 'page': self.page})}"

    @property
    def before(self) -> str:
        """The page before, in the same order, as a part of an address."""
        return urlencode({"sort": self.sort, "page": self.page - 1})

    @property
    def after(self) -> str:
        """The next page."""
        return urlencode({"sort": self.sort, "page": self.page + 1})

    @property
    def unsorted(self) -> str:
        """It without the order of the table and the page of it."""
        values = {"within": self.within_text, "show": self.show, "k": self.k}
        return urlencode({**values, **({"pick": 1} if self.picks else {})})


def asked(given: QueryDict) -> tuple[MapForm, MapQuery]:
    """The form as it was filled in, with what is usual where nothing, or something wrong, was typed."""
    usual = {"within": f"{WITHIN:g}", "show": EVERYBODY, "k": str(PICKED)}
    form = MapForm({name: given.get(name, each) for name, each in usual.items()})
    wrong = " ".join(f"“{form[name].label}”: {error}" for name, found in form.errors.items() for error in found)
    typed = form.cleaned_data
    within, k = typed.get("within"), typed.get("k")
    return form, MapQuery(
        WITHIN if within is None else float(within), typed.get("show") or EVERYBODY,
        PICKED if k is None else int(k), given.get("pick", "") == "1" and not wrong, wrong,
        given.get("sort", "score"), max(1, whole(given.get("page", "1")) or 1),
        tuple(n for text in given.getlist("ticked") + given.getlist("agent") if (n := whole(text)) is not None),
    )  # fmt: skip
