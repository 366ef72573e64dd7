"""Verdicts of an experiment, as numbers in its table."""

from __future__ import annotations

UNTESTED, FINE, OPEN, TOO_GOOD, TOO_WEAK = range(5)
"""Untested; differs from the average by less than what matters; undecided; stands out above or below."""
NEEDED = 30
"""Fewest teams with a trait for a verdict on it."""
