"""herobattle: the built-in lineup-battle game, at the scale of the Lamarckian paper (Bai et al., section V-B).

A team is a hero with a skill and two pieces of equipment, leading five to nine soldiers of one or two types. Two
teams fight on an open field until one is gone. ``HeroBattle`` plays batches of battles; the numbers of all pieces
are in ``data/*.csv``.
"""

from __future__ import annotations

from engine.games.herobattle.simulator import HeroBattle

__all__ = ["HeroBattle"]
