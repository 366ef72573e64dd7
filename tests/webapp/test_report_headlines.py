"""The verdict of a report never says more than was proved, whatever jobs come out as."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from webapp.reports.headline import headline
from webapp.reports.lineups import Judged
from webapp.reports.mended import Mended
from webapp.reports.pieces import Pieces
from webapp.suspects.reading import Suspect
from webapp.worth.parts import FINE, OPEN, TOO_GOOD, UNTESTED, WorthLine

FEW = st.integers(0, 2)
LINEUP = {"name": "A · B", "objective": "Resource advantage", "value_words": "2.6×", "range_words": "2.4 to 2.8",
          "line_words": "2.0×", "battles": 768, "holds": ""}  # fmt: skip


def line(verdict: int, pieces: tuple[str, ...] = ("duke",)) -> WorthLine:
    return WorthLine("Marrow Duke", "hero", 310.0, 6.7, 4.1, 9.0, verdict, 4000, pieces)


@st.composite
def found(draw: Any) -> tuple[Pieces, Judged]:
    verdicts = draw(st.lists(st.sampled_from([FINE, OPEN, UNTESTED]), max_size=4))
    pairs = draw(st.lists(st.sampled_from([FINE, OPEN]), max_size=2))
    lines = [*map(line, verdicts), *(line(verdict, ("duke", "horn")) for verdict in pairs)]
    faults, meant = ([Suspect(line(TOO_GOOD))] * draw(FEW) for _ in range(2))
    state = draw(st.sampled_from(["measured", "going", "ended early", "lost", "none"]))
    pieces = Pieces(None, state, faults, meant, {}, lines, 542, 1.5, 3.0, 10.0)
    lost, lined, played = draw(st.sampled_from(["", "It is gone."])), draw(st.booleans()), draw(st.integers(0, 3))
    open_ = [{"name": "A", "words": "Needs more"}] * draw(FEW)
    return pieces, Judged([LINEUP] * draw(FEW), [LINEUP] * draw(FEW), open_, played, lined=lined, lost=lost)


@given(
    found(), st.sampled_from([None, Mended("", "A"), Mended("One small change fixes it.", "A. 6.7 before, 0.2 after.")])
)
def test_what_a_change_does_leads_the_verdict_only_where_something_is_unfair(
    both: tuple[Pieces, Judged], change: Mended | None
) -> None:
    before, said = headline(*both), headline(*both, change)
    if before.kind != "unfair" or change is None or not change.words:
        assert said == before
        return
    assert said.words == "Not fair yet. One small change fixes it."
    assert change.both in said.more
    assert before.words.removeprefix("Not fair yet. ") in " ".join(said.more), "nothing that was said is lost"


@given(found())
def test_unfair_is_said_if_and_only_if_something_is_proved_that_nobody_intends(both: tuple[Pieces, Judged]) -> None:
    pieces, lineups = both
    said = headline(pieces, lineups)
    assert (said.kind == "unfair") == bool(pieces.faults or lineups.confirmed)
    start = {"unfair": "Not fair yet. ", "fair": "Fair as far as we looked", "open": "Cannot tell yet: "}[said.kind]
    assert said.words.startswith(start)
    assert said.words.endswith(".")


@given(found())
def test_fair_needs_everything_to_be_settled(both: tuple[Pieces, Judged]) -> None:
    pieces, lineups = both
    settled = pieces.state == "measured" and not any(
        each.verdict == OPEN and len(each.pieces) == 1 for each in pieces.lines
    )
    settled = settled and any(each.verdict != UNTESTED for each in pieces.lines)
    judged = lineups.lined and lineups.played and not lineups.lost and not lineups.open
    proved = pieces.faults or lineups.confirmed
    assert (headline(pieces, lineups).kind == "fair") == bool(settled and judged and not proved)


@given(found())
def test_a_beam_is_drawn_only_of_what_is_proved_or_bounded(both: tuple[Pieces, Judged]) -> None:
    said = headline(*both)
    assert (said.tilt is not None) == (said.kind == "fair" or bool(both[0].faults))
