"""What the form of evolution and learning offers, in words, and how far scores go in the games that it knows."""

from __future__ import annotations

SPREAD = 1000.0
"""That of games of which nobody has said it."""
USUAL = {"pendulum": 1200.0, "HalfCheetah": 12_000.0, "Hopper": 3600.0, "Walker2d": 5160.0, "Ant": 5760.0,
         "Swimmer": 288.0, "Humanoid": 5760.0}  # fmt: skip
"""Spreads of scores: six times the ranges of the paper's table 5, and of Pendulum from what chance scores to 0."""
WAITING = {
    "free": (
        "No individual for another",
        "Each counts as soon as it is back. All wait for the critic where it falls behind. Only AES-RL and ACEM-RL can "
        "do that.",
    ),
    "rounds": ("All of a round", "Slower, but the same seed always ends the same."),
    "turns": (
        "Each for the one before it",
        "One at a time: the slowest. Only CEM-RL and the cross-entropy method can do that.",
    ),
}
MISFITS = {
    "free": "Only AES-RL and ACEM-RL let each individual count as soon as it is back.",
    "turns": "Only CEM-RL and the cross-entropy method let one play after the other.",
}
"""What is wrong where a method does not have such a way."""
CODE = "sigmoid-code"
"""The sigmoid rule as the released code has it."""
MEANS = {
    "": "As usual for the method", "relative": "Relative baseline", "absolute": "Absolute baseline", "linear": "Linear",
    "sigmoid": "Sigmoid", CODE: "Sigmoid, as in the released code", "oldest": "By rank", "full-move": "Full move",
}  # fmt: skip
NUMBERS = {"relative": "baseline", "absolute": "baseline", "linear": "range", "sigmoid": "range", CODE: "range"}
"""What the number of a rule of the mean is called in the study."""
VARIANCES = {
    "": "As usual for the method", "adaptive": "Adaptive", "fixed": "Fixed", "success": "One in five successes",
    "constant": "Constant", "elites": "Elites",
}  # fmt: skip
PRINTED = "printed"
"""The variance of CEM-RL as its paper prints it."""
DIVIDED = {"": "Divided by the better half, as in the released code", PRINTED: "As the paper prints it"}
CENTRES = {
    "running": "Estimated",
    "episodes": "By five episodes",
}


def spread_of(game: str) -> float:
    """The spread of scores in a game, as far as anybody has said."""
    name = game.removeprefix("gym:").partition("-")[0]
    return USUAL.get(name.lower() if name == "Pendulum" else name, SPREAD)
