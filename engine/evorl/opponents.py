"""How often each opponent is drawn in self-play, as Lamarckian (Bai et al.) releases it. ``hardest`` weighs as its
prioritised fictitious self-play does, and not as that of Vinyals et al. (2019, "Grandmaster level in StarCraft II using
multi-agent reinforcement learning"): there p ∝ (1 - w)^k for the hardest opponents, or w (1 - w) for those of about
one's own strength, and only one who is always beaten is left out.

``latest``: p = 1 / latest. ``uniform``: p = 1 / all. ``mostly-latest`` (OpenAI Five): the latest share 1 - ``past``
equally, all others ``past``. ``hardest``: p ∝ (max w - w)^3 with w the learner's share of wins against an opponent, and
the largest p for one met less than ``MET`` times. So the opponent that is beaten most often is not drawn at all, until
another is beaten more often.

Departures: where all w are equal, p is uniform; the formula gives 0 / 0. In w, half of what was before is forgotten
with each step, for the learner changes; of the meetings that ``MET`` asks for nothing is, for who was met often is
never unknown again. Otherwise a pool that grows faster than it is met would be drawn uniformly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engine.config.self_play import Choice

MET = 9
Met = Mapping[str, Sequence[float]]
"""By opponent: episodes against it and the wins in them."""
Faced = Mapping[str, tuple[float, float, float]]
"""By opponent: episodes against it and the wins in them, half of them forgotten with each step, and how many episodes
there were ever."""


def remembered(before: Faced, met: Met) -> dict[str, tuple[float, float, float]]:
    """What is known after a step in which opponents were ``met``."""
    faced = {name: (games / 2, wins / 2, ever) for name, (games, wins, ever) in before.items()}
    return together([faced, {name: (games, wins, games) for name, (games, wins) in met.items()}])


def together(several: Iterable[Faced]) -> dict[str, tuple[float, float, float]]:
    """The sums of what several know."""
    found: dict[str, tuple[float, float, float]] = {}
    for faced in several:
        for name, (games, wins, ever) in faced.items():
            old = found.get(name, (0.0, 0.0, 0.0))
            found[name] = old[0] + games, old[1] + wins, old[2] + ever
    return found


def restored(saved: Met) -> dict[str, tuple[float, float, float]]:
    """From a checkpoint. An older one does not tell how many episodes there were ever: at least those it remembers."""
    return {name: (games, wins, ever[0] if ever else games) for name, (games, wins, *ever) in saved.items()}


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
    known = {name: faced[name] for name in names if name in faced}
    met = {name: wins / games for name, (games, wins, ever) in known.items() if ever >= MET and games > 0}
    most = max(met.values(), default=0.0)
    weights = {name: (most - w) ** 3 for name, w in met.items()}
    unknown = max(weights.values(), default=0.0)
    found = {name: weights.get(name, unknown) for name in names}
    total = sum(found.values())
    return {name: weight / total for name, weight in found.items()} if total > 0 else _equal(names, 1.0)
