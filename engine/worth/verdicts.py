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
PRICED, UNTRIED, UNMOVED, BEYOND, UNFIELDED, HIDDEN, ANYWHERE = range(7)
"""Whether a piece has a fair price and, where it has none, why (``UNPRICED``)."""
UNPRICED = {
    UNTRIED: "no prices were tried",
    UNMOVED: "it is not sure that costs decide who wins",
    BEYOND: "it, or an end of its range, lies beyond the prices that were tried",
    UNFIELDED: "at such a price hardly any team can field it",
    HIDDEN: "the game did not finish enough battles at other prices, or with it",
    ANYWHERE: "no price that the game permits is ruled out",
}
"""Of UNTRIED also where its worth is unknown; of HIDDEN, it would be measured but for what such battles may hide."""
