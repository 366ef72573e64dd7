"""Atari's Pong, seen by the console's memory or by its pictures, with signals for styles of play."""

from engine.games.atari_pong.game import AtariPong, AtariPongPictures

__all__ = ["AtariPong", "AtariPongPictures"]
