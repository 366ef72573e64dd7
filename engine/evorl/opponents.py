"""How often each opponent is drawn in self-play, as Lamarckian (Bai et al.) releases it. ``hardest`` weighs as its
prioritised fictitious self-play does, and not as that of Vinyals et al. (2019, "Grandmaster level in StarCraft II using
multi-agent reinforcement learning"): there p ∝ (1 - w)^k for the hardest opponents, or w (1 - w) for those of about
one's own strength, and only one who is always beaten is left out.

``latest``: p = 1 / latest. ``uniform``: p = 1 / all. ``mostly-latest`` (OpenAI Five): the latest share 1 - ``past``
equally, all others ``past``. ``hardest``: p ∝ (max w - w)^3 with w the learner's share of wins against an opponent, and
the largest p for one met less than ``MET`` times. So the opponent that is beaten most often is not drawn at all.

Departure: where all w are equal, p is uniform; the formula gives 0 / 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.config.self_play import Choice

MET = 9
Faced = Mapping[str, Sequence[float]]
"""By opponent: episodes against it and the wins in them."""


def shares(
    choice: Choice, latest: Sequence[str], past: Sequence[str], faced: Faced, past_share: float = 0.2
) -> dict[str, float]:
    """The share of each opponent by name, of sum 1; empty where there is nobody. ``past``: those of the pool who are
    not among the ``latest``."""
    if choice == "latest" or (choice == "mostly-latest" and not past):
        return _equal(latest, 1.0)
    if choice == "mostly-latest":
        return _equal(latest, 1 - past_share) | _equal(past, past_share)
    everybody = [*latest, *past]
    return _hardest(everybody, faced) if choice == "hardest" else _equal(everybody, 1.0)


def _equal(names: Sequence[str], total: float) -> dict[str, float]:
    return {name: total / len(names) for name in names}


def _hardest(names: Sequence[str], faced: Faced) -> dict[str, float]:
    met = {name: faced[name][1] / faced[name][0] for name in names if name in faced and faced[name][0] >= MET}
    most = max(met.values(), default=0.0)
    weights = {name: (most - w) ** 3 for name, w in met.items()}
    unknown = max(weights.values(), default=0.0)
    found = {name: weights.get(name, unknown) for name in names}
    total = sum(found.values())
    return {name: weight / total for name, weight in found.items()} if total > 0 else _equal(names, 1.0)
