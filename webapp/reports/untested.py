"""What was not tested: each sentence follows from what the jobs say, none is written by hand for one report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from webapp.lib.words import lower_first, number, plural
from webapp.reports.headline import STATES
from webapp.reports.lineups import Judged
from webapp.reports.pieces import Pieces
from webapp.sensitivity.figures import measured, sentences
from webapp.studies.explore_recheck import checking
from webapp.studies.models import Job, Status
from webapp.worth.parts import WorthLine

NOTHING = "Nothing found; sensitivity not measured. "
NAMED = 6
"""Pieces that a sentence names before it counts the rest."""


def untested(search: Job, pieces: Pieces, lineups: Judged) -> list[str]:
    """In sentences, what the verdict does not speak of."""
    return [*_of_pieces(pieces), *_of_lineups(search, lineups), *_of_data(search)]


def _of_pieces(pieces: Pieces) -> Iterator[str]:
    if pieces.state in STATES:
        yield STATES[pieces.state]
    if pieces.experiment is None or pieces.state == "lost":
        return
    if pieces.unfinished:
        yield pieces.unfinished
    yield from _of_reasons(pieces.untested)
    if pieces.open_pieces:
        yield f"Not settled: {_waiting(pieces.open_pieces)}."
    if pieces.pairs_looked_at:
        yield f"Of pairs, {number(pieces.pairs_looked_at)} were looked at. Rarer ones were not."
    else:
        yield "Pairs were not tested."
    if pieces.open_pairs:
        yield f"Pairs that are not settled: {_waiting(pieces.open_pairs)}."
    yield "What only three pieces or more do together is not measured by the experiment."
    yield f"Effects of less than {number(pieces.matters)} points were not looked for."
    found = pieces.faults or pieces.intended or measured(pieces.experiment)
    yield ("" if found else NOTHING) + " ".join(sentences(pieces.experiment))


def _of_reasons(lines: Sequence[WorthLine]) -> Iterator[str]:
    """Those that were not tested by why; tables from before reasons were kept have none."""
    for why in sorted({line.untested for line in lines}):
        alike = [line for line in lines if line.untested == why]
        yield f"Not tested{f', {why}' if why else ''}: {_names(alike)}."


def _of_lineups(search: Job, lineups: Judged) -> Iterator[str]:
    if lineups.lost:
        yield f"The lineups of the search cannot be read: {lineups.lost}"
        return
    if not lineups.lined:
        yield "The search has no line, so no lineup is judged."
    if search.status != Status.FINISHED:
        yield f"The search ended after {number(search.tick)} of {plural(search.ticks, 'round')}."
    if lineups.searched:
        yield of_searched(lineups.searched, lineups.tried)
    if lineups.weak:
        yield f"{plural(lineups.weak, 'lineup is', 'lineups are')} near or over the line but weak, and not counted."
    if playing := len(checking(search)):
        yield f"{plural(playing, 'lineup was', 'lineups were')} still being played again."
    yield f"The search played {plural(lineups.evaluated, 'lineup')}; others may be further over the line."


def of_searched(searched: int, tried: int) -> str:
    """Of lineups that the search alone puts over the line; ``tried``: so many met fresh battles with a change."""
    said = f"{plural(searched, 'lineup is', 'lineups are')} over the line by the search’s own battles, which flatter; "
    if not tried:
        return f"{said}no fresh battles judged that."
    some = f"{number(tried)} of them" if tried < searched else "them" if searched > 1 else "it"
    rest = f", and the {'other' if tried == searched - 1 else 'others'} nowhere" if tried < searched else ""
    return f"{said}fresh battles judged {some} only where a change was tried{rest}."


def _of_data(search: Job) -> Iterator[str]:
    newest = search.project.versions.first()
    if search.game_version and newest and newest != search.game_version:
        yield f"{newest} is newer than the data that was tested."


def _names(lines: Sequence[WorthLine]) -> str:
    return _listed(lines, [line.name for line in lines[:NAMED]])


def _waiting(lines: Sequence[WorthLine]) -> str:
    """With what would settle each."""
    return _listed(
        lines, [f"{each.name} ({lower_first(each.needs)})" if each.needs else each.name for each in lines[:NAMED]]
    )


def _listed(lines: Sequence[WorthLine], names: Sequence[str]) -> str:
    """Amounts have a comma in their names."""
    named = ("; " if any("," in name for name in names) else ", ").join(names)
    rest = len(lines) - NAMED
    return f"{named}{';' if ';' in named else ''} and {plural(rest, 'other')}" if rest > 0 else named
