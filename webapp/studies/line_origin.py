"""Where the line of the New job page comes from, said beside it: whoever starts a search knows whose line it is."""

from __future__ import annotations

from webapp.lib.words import percent
from webapp.studies.random_lineups import TYPICAL

PROPOSED, PROPOSED_OF_ALL, USUAL, KEPT = "proposed", "all", "usual", "kept"
NEAREST, NEAREST_OF_ALL = "nearest", "nearest-all"
"""Proposed likewise where lineups are so alike, or so few, that no line has as many beyond it as it should."""
OWN, CLONED, TYPED, STARTED = "objectives", "cloned", "typed", "started"
ANEW = "anew"
"""What a form sends that asks for a line from random lineups, whatever was accepted before."""
_NONE_HAS = f"No line has about {percent(TYPICAL)} of them beyond it; this one comes nearest."

WORDS = {
    PROPOSED: "Proposed from random lineups.",
    PROPOSED_OF_ALL: "Proposed from all lineups that there are.",
    NEAREST: f"Proposed from random lineups. {_NONE_HAS}",
    NEAREST_OF_ALL: f"Proposed from all lineups that there are. {_NONE_HAS}",
    USUAL: "The question’s usual line: too few random lineups could be played to propose one.",
    KEPT: "Kept by the project for this question.",
    OWN: "From your own objectives.",
    STARTED: "From job {job}, the newest search of this question. New game data does not move it.",
    CLONED: "From the search that you began with.",
    TYPED: "Typed by you.",
}
"""By what a form sends as ``line_from``, up to a colon; behind it stands the job. Anything else is of unknown origin,
and nothing is said."""
