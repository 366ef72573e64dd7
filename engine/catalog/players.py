"""The scripted players of games for agents."""

from __future__ import annotations

from engine.catalog.entry import Entry
from engine.config.base import Config

PLAYERS: dict[str, Entry] = {
    "random": Entry(
        "Random", "Does anything that is legal, at random: the least to be beaten.", Config,
        "engine.rl.players:RandomPlayer",
    ),
    "pong-follower": Entry(
        "Follows the ball", "Keeps its paddle at the ball's height, and never looks ahead.", Config,
        "engine.games.pong.scripts:Follower",
    ),
    "pong-interceptor": Entry(
        "Looks ahead", "Goes to where the ball will cross its line, walls left out, and hits it with its edge.",
        Config, "engine.games.pong.scripts:Interceptor",
    ),
    "atari-pong-follower": Entry(
        "Follows the ball, Atari", "Keeps its paddle at the ball’s height while the ball comes.", Config,
        "engine.games.atari_pong.follower:Follower",
    ),
    "herobattle-itself": Entry(
        "Gives no orders", "Its team fights by itself, as in lineups.", Config,
        "engine.games.herobattle.commanders.scripts:Commander",
    ),
    "hero-hunter": Entry(
        "Hunts the hero", "Sends everybody at the enemy’s hero, and uses the skill as soon as it can.", Config,
        "engine.games.herobattle.commanders.scripts:HeroHunter",
    ),
    "tanks-static": Entry(
        "Stands still", "Its tanks do nothing at all.", Config, "engine.games.tanks.scripts:Static",
    ),
    "tanks-passive": Entry(
        "Holds its ground", "Its tanks stay, turn to the nearest enemy, and shoot when nobody else is in the way.",
        Config, "engine.games.tanks.scripts:Passive",
    ),
    "tanks-aggressive": Entry(
        "Attacks", "Its tanks go for the nearest enemy, and shoot whoever is in the way.", Config,
        "engine.games.tanks.scripts:Aggressive",
    ),
    "navigation-still": Entry(
        "Stays", "Covers a target only where it begins in one.", Config, "engine.games.navigation.scripts:Still",
    ),
    "navigation-nearest": Entry(
        "Goes to the nearest target", "Whoever else goes there.", Config, "engine.games.navigation.scripts:Nearest",
    ),
    "navigation-numbered": Entry(
        "Goes to the target of its own number", "A fixed assignment, agreed on before: the first to the first target, "
        "and so on. Where targets are shuffled, two may still go to one.", Config,
        "engine.games.navigation.scripts:Numbered",
    ),
    "navigation-optimal": Entry(
        "Shares out the targets", "Each goes to its own target, so that all ways together are shortest.", Config,
        "engine.games.navigation.scripts:Optimal",
    ),
    "platform-crosser": Entry(
        "Crosses the platforms", "Hops over enemies, then runs, and gets over each gap from its edge.", Config,
        "engine.games.platform.scripts:Crosser",
    ),
    "goal-striker": Entry(
        "Shoots at once", "As hard as can be, beside the post that is farther from the keeper.", Config,
        "engine.games.goal.scripts:Striker",
    ),
    "half-field-attacker": Entry(
        "Attacks on the half field", "Runs to the ball, takes it towards the goal, and shoots when it is near.", Config,
        "engine.games.half_field.scripts:Attacker",
    ),
}  # fmt: skip
"""Scripted players: each is constructed from the description of its seat."""
