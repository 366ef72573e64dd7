"""Pong: two paddles, a ball, numbers or pictures as input."""

from engine.games.pong.game import VectorPong
from engine.games.pong.image import ImagePong

__all__ = ["ImagePong", "VectorPong"]
