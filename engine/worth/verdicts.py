"""Verdicts of an experiment, as numbers in its table."""

from __future__ import annotations

UNTESTED, FINE, OPEN, TOO_GOOD, TOO_WEAK = range(5)
"""Untested; differs from the average by less than what matters; undecided; stands out above or below."""
NEEDED = 30
"""Fewest teams with a trait for a verdict on it."""
RARE, UNFINISHED, ALWAYS, TOGETHER, ALONE = range(1, 6)
"""Why something is untested; 0 where it is not, and in tables from before that was kept."""
REASONS = {
    RARE: "too rare for this many battles",
    UNFINISHED: "in too few battles that the game finished",
    ALWAYS: "in every team, or with a piece that is",
    TOGETHER: "not to be told from a piece that is always there too",
    ALONE: "with nothing of the same kind to compare with",
}
