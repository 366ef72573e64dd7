"""Styles of play: rewards from formulas, sample episodes, and the choice of a diverse few."""
