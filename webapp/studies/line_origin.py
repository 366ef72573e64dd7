"""Where the line of the New job page comes from, said beside it: whoever starts a search knows whose line it is."""

from __future__ import annotations

PROPOSED, PROPOSED_OF_ALL, USUAL, KEPT = "proposed", "all", "usual", "kept"
OWN, CLONED, TYPED, STARTED = "objectives", "cloned", "typed", "started"
ANEW = "anew"
"""What a form sends that asks for a line from random lineups, whatever was accepted before."""

WORDS = {
    PROPOSED: "Proposed from random lineups.",
    PROPOSED_OF_ALL: "Proposed from all lineups that there are.",
    USUAL: "The question’s usual line: too few random lineups could be played to propose one.",
    KEPT: "Kept by the project for this question.",
    OWN: "From your own objectives.",
    STARTED: "From job {job}, the newest search of this question. New game data does not move it.",
    CLONED: "From the search that you began with.",
    TYPED: "Typed by you.",
}
"""By what a form sends as ``line_from``, up to a colon; behind it stands the job. Anything else is of unknown origin,
and nothing is said."""
