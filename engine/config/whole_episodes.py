"""How much of a training lets episodes end. A restart of all battles cuts off those under way, uncounted, and whoever
never sees an end does not learn what is won by it."""

from __future__ import annotations

EPISODES = 3
"""Episodes of each battle, on average, between two restarts of all battles whose times nobody chose."""


def enough_ended(episodes: int, battles: int) -> bool:
    """Whether all battles may restart, after so many episodes of all of them."""
    return episodes >= EPISODES * battles


def battles_that_end(steps: int, longest: int, most: int) -> int:
    """How many battles, ``most`` at most, share so many decisions if each is to end ``EPISODES`` episodes however long
    they are: a power of two, which fills batches evenly. ``longest``: decisions in the longest episode, 0 where that is
    not known."""
    able = steps // (EPISODES * longest) if longest else most
    return most if able >= most else 1 << max(0, able.bit_length() - 1)
