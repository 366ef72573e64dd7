"""Where the line of the New job page comes from, said beside it: whoever starts a search knows whose line it is."""

from __future__ import annotations

PROPOSED, PROPOSED_OF_ALL, USUAL, KEPT = "proposed", "all", "usual", "kept"
OWN, CLONED, TYPED = "objectives", "cloned", "typed"

WORDS = {
    PROPOSED: "Proposed from random lineups.",
    PROPOSED_OF_ALL: "Proposed from all lineups that there are.",
    USUAL: "The question’s usual line: too few random lineups could be played to propose one.",
    KEPT: "Kept by the project for this question.",
    OWN: "From your own objectives.",
    CLONED: "From the search that you began with.",
    TYPED: "Typed by you.",
}
"""By what a form sends as ``line_from``; anything else is of unknown origin, and nothing is said."""
