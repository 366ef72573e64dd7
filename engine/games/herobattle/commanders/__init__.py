"""herobattle with a commander on each side: the same battle as a game for agents."""

from engine.games.herobattle.commanders.game import HeroBattleCommanders

__all__ = ["HeroBattleCommanders"]
