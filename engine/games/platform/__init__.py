"""Platform: run, hop and leap over gaps and past enemies."""

from engine.games.platform.game import Platform

__all__ = ["Platform"]
