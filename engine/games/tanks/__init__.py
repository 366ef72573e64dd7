"""Tanks: five against five with two neutral ones between them, numbers or pictures as input."""

from engine.games.tanks.game import Tanks, TanksPictures

__all__ = ["Tanks", "TanksPictures"]
