"""The built-in games for agents, and how a study's name for one is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.catalog.agent_game import AgentGame, Clock, Signal

MOMENTS_A_SECOND = 40.0
"""Where a game does not say how fast it is."""
_COMMANDERS = ("every", "rewards", "same_teams")
_PONG_ACTIONS = ("stays", "up", "down")
_PONG_CAPTIONS = {
    "moved": Signal("moves"), "stayed": Signal("is told to stay"),
    "hits": Signal("hits the ball", share=False, unit="times an episode"),
}  # fmt: skip
_PONG_EDGE = "At the edge of the field a paddle cannot go on: there, up or down moves nothing."
_PONG = ("points", "max_ticks", "frame_skip", "rewards")
_PONG_SIGNALS = ("score", "moved", "stayed", "hit")
_PONG_MEANINGS = {
    "score": "points that this decision won minus those it lost",
    "moved": "share of the time in which the paddle moved, 0 to 1",
    "stayed": "share of the time in which it was told to stay, 0 to 1", "hit": "times it hit the ball",
}  # fmt: skip
_SHARES = {"score": (0.0, 1.0), "moved": (0.0, 1.0), "stayed": (0.0, 1.0)}
_ATARI_PONG = ("sticky", "frame_skip", "max_ticks", "rewards")
_ATARI_PONG_SIGNALS = ("score", "moved", "stayed")
_ATARI_PONG_ACTIONS = ("stays", "fires", "up", "down", "up, fires", "down, fires")
_ATARI_PONG_CAPTIONS = {"moved": Signal("moves"), "stayed": Signal("leaves the stick alone")}
_ATARI_PONG_MEANINGS = {
    "score": "points that this decision won minus those it lost",
    "moved": "1 where it pushes the stick up or down", "stayed": "1 where it leaves the stick alone",
}  # fmt: skip
_MAZE_SIGNALS = ("score", "win", "moved", "bumped", "ground", "explored")
_MAZE_MEANINGS = {
    "score": "how much nearer the goal came, as a share of the longest way", "win": "1 when the goal is reached",
    "moved": "1 where it moved to another cell", "bumped": "1 where a wall was in its way",
    "ground": "1 in a cell that it enters for the first time",
    "explored": "the same as a share of the cells that can be entered in an episode",
}  # fmt: skip
_ORDERS_SIGNALS = (
    "score", "win", "dealt", "taken", "walked", "idle", "ground", "waited", "waiting", "explored", "forward",
)  # fmt: skip
_ORDERS_MEANINGS = {
    "score": "what the other team lost of its life minus what the own one lost, −1 to 1",
    "win": "1 at the end of a battle that is won, −1 of one that is lost",
    "dealt": "damage dealt, as a share of the other team’s life", "taken": "damage taken, as a share of the own life",
    "walked": "share of the units’ time in which they walked, 0 to 1",
    "idle": "share of the units’ time in which they did nothing, 0 to 1",
    "ground": "squares of two paces walked on for the first time", "waited": "ticks that passed before the first blow",
    "waiting": "share of the time in which the team had not struck a blow yet, 0 to 1",
    "explored": "squares walked on for the first time, as a share of the field",
    "forward": "how far forward the units stand, from 0 where they began to 1 in the middle of the field",
}  # fmt: skip
_STANCES = ("advance", "hold", "step back", "withdraw", "close ranks")
_ORDERS = {
    "Whom its team strikes at": (
        "whoever is nearest", "the hero", "whoever has least life left", "the most dangerous", "whoever reaches far",
        "the soldiers", "all at one enemy",
    ),
    "What its hero does": ("advances", "holds", "steps back", "withdraws", "closes ranks"),
    "What its first soldiers do": _STANCES, "What its second soldiers do": _STANCES,
    "When it uses the skill": ("as its team would by itself", "not now", "at once"),
}  # fmt: skip
_ORDERS_CAPTIONS = {
    "walked": Signal("walks", unit="of its units’ time"), "idle": Signal("stands idle", unit="of its units’ time"),
    "dealt": Signal("deals", unit="of the other team’s life"), "taken": Signal("spends", unit="of its own team’s life"),
    "first_attack": Signal("strikes first after", unit="of the battle"),
    "explored": Signal("covers", unit="of the field"),
    "forward": Signal("stands forward", unit="of the way to the middle of the field"),
    "paces": Signal("goes", share=False, unit="paces a unit"),
    "first_blow": Signal("strikes its first blow after", share=False, unit="ticks"),
    "ground": Signal("walks over", share=False, unit="squares of two paces"),
}  # fmt: skip
_ORDERS_OBEYED = (
    "An order is not yet a step: units that advance stand while their enemy is within reach, units that close ranks "
    "stand once they have, and units that step back still walk up to an enemy out of reach."
)
_ORDERS_ENDS = {
    name: (0.0, 1.0) for name in ("score", "dealt", "taken", "walked", "idle", "first_attack", "explored", "forward")
}
_NAVIGATION = ("hard", "max_ticks", "rewards")
_NAVIGATION_WAYS = ("stay", "up", "up right", "right", "down right", "down", "down left", "left", "up left")
_NAVIGATION_CAPTIONS = {
    "own": Signal("is in a target"), "shared": Signal("shares its target"),
    "moved": Signal("moves", unit="of the longest way"),
}  # fmt: skip
_TANKS = ("opponent", "penalty", "reward", "obstacles", "max_ticks", "rewards")
_TANKS_CAPTIONS = {
    "dealt": Signal("deals", unit="of the other team’s life"),
    "friendly": Signal("hurts its own team by", unit="of its life"),
    "neutral": Signal("hurts neutral tanks by", unit="of their life"),
    "lost": Signal("spends", unit="of its own team’s life"),
    "shots": Signal("shoots", share=False, unit="times a tank"),
}  # fmt: skip
_PLATFORM_CAPTIONS = {
    "run": Signal("runs", unit="of its decisions"), "hop": Signal("hops", unit="of its decisions"),
    "leap": Signal("leaps", unit="of its decisions"), "fell": Signal("falls", unit="of episodes", link="in"),
    "hit": Signal("runs into an enemy", unit="of episodes", link="in"),
}  # fmt: skip
_GOAL_STARTS = ("x_min", "x_max", "y_min", "y_max")
_GOAL_CAPTIONS = {
    "kicks": Signal("kicks to a point", share=False, unit="times an episode"),
    "caught": Signal("loses the ball to the keeper", unit="of episodes", link="in"),
    "out": Signal("misses the goal", unit="of episodes", link="in"),
}  # fmt: skip
_HALF_FIELD_STARTS = ("ball_x_min", "ball_x_max", "ball_y_min", "ball_y_max", "apart")
_HALF_FIELD = (*_HALF_FIELD_STARTS, "max_ticks", "untouched", "tackle", "rewards")
_HALF_FIELD_ACTIONS = ("dash", "turn", "kick", "tackle")
_HALF_FIELD_CAPTIONS = {
    "out": Signal("kicks the ball out", unit="of episodes", link="in"),
    "late": Signal("runs out of time", unit="of episodes", link="in"),
    "kicks": Signal("kicks", share=False, unit="times an episode"),
}  # fmt: skip
_GUARDED_CAPTIONS = {"caught": _GOAL_CAPTIONS["caught"], **_HALF_FIELD_CAPTIONS}
_HALF_FIELD_MEANINGS = {
    "score": "5 for a goal",
    "shaped": "how much nearer the player gets to the ball, 1 when it gets there, three times how much nearer the ball "
    "gets to the goal, and 5 for a goal",
    "approached": "how much nearer the player gets to the ball, in halves of the field’s longest way",
    "reached": "1 when the player can kick the ball for the first time",
    "advanced": "how much nearer the ball gets to the goal, in halves of the field’s longest way",
}  # fmt: skip
GAMES: dict[str, AgentGame] = {
    "pong": AgentGame(
        "Pong, numbers", "Our Pong against a scripted player. The agent is told where things are.",
        "engine.games.pong:VectorPong", "numbers", "discrete", 6000, _PONG,
        actions=_PONG_ACTIONS, captions=_PONG_CAPTIONS, signals=_PONG_SIGNALS, scripted="pong-follower",
        strangers=("random", "pong-interceptor"), ends=_SHARES, meanings=_PONG_MEANINGS,
        clock=Clock(40, "frame_skip", 1), between=_PONG_EDGE,
    ),
    "pong-two-seats": AgentGame(
        "Pong for two", "Two agents, one on each side, learn from the same battles.",
        "engine.games.pong:VectorPong", "numbers", "discrete", 6000, _PONG, ("left", "right"),
        given={"seats": (0, 1)},
        actions=_PONG_ACTIONS, captions=_PONG_CAPTIONS, clock=Clock(40, "frame_skip", 1), between=_PONG_EDGE,
    ),
    "image-pong": AgentGame(
        "Pong, pictures", "The same Pong, seen as a player sees it: far slower to learn.",
        "engine.games.pong:ImagePong", "pictures", "discrete", 1500, _PONG,
        actions=_PONG_ACTIONS, captions=_PONG_CAPTIONS, signals=_PONG_SIGNALS, ends=_SHARES, meanings=_PONG_MEANINGS,
        clock=Clock(40, "frame_skip", 4), between=_PONG_EDGE,
    ),
    "commanders": AgentGame(
        "Herobattle, commander", "Commands a team of the demo game against one that fights by itself: whom to attack, "
        "where to stand, when to use the skill.",
        "engine.games.herobattle.commanders:HeroBattleCommanders", "numbers", "hybrid", 75, _COMMANDERS,
        orders=_ORDERS, captions=_ORDERS_CAPTIONS, signals=_ORDERS_SIGNALS, scripted="hero-hunter",
        strangers=("random", "hero-hunter"), ends=_ORDERS_ENDS, meanings=_ORDERS_MEANINGS,
        names={"moved": "walked", "skill": "win"}, bred_steps=98_304, weights={"busy-calm": 0.05},
        rewards=("score", "win"), clock=Clock(12, "every", 4), between=_ORDERS_OBEYED,
    ),
    "commanders-two-seats": AgentGame(
        "Herobattle, two commanders", "Two agents, one in command of each team, learn from the same battles.",
        "engine.games.herobattle.commanders:HeroBattleCommanders", "numbers", "hybrid", 75, _COMMANDERS,
        ("left", "right"), given={"seats": (0, 1)},
        orders=_ORDERS, captions=_ORDERS_CAPTIONS, rewards=("score", "win"), clock=Clock(12, "every", 4),
        between=_ORDERS_OBEYED,
    ),
    "rock-paper-scissors": AgentGame(
        "Rock, paper, scissors", "Two agents choose at once. Nobody is best, so learning may run in circles.",
        "engine.games.rock_paper_scissors:RockPaperScissors", "numbers", "discrete", 1, (), ("left", "right"),
        actions=("rock", "paper", "scissors"),
    ),
    "connect-four": AgentGame(
        "Connect Four", "Two agents drop discs in turn; four in a line win. Who begins is drawn.",
        "engine.games.connect_four:connect_four", "numbers", "discrete", 42, ("opening",), ("one", "two"),
        turns=True, actions=tuple(f"column {i}" for i in range(1, 8)),
    ),
    "maze": AgentGame(
        "Maze with planted bugs", "Find the goal of a maze. Twelve bugs are hidden in it, for hunts for bugs.",
        "engine.games.maze:Maze", "numbers", "discrete", 300, ("size", "layout", "max_ticks", "rewards"),
        actions=("up", "right", "down", "left"),
        captions={
            "moved": Signal("moves"), "bumped": Signal("bumps into walls"),
            "ground": Signal("enters", share=False, unit="cells an episode"),
            "explored": Signal("covers", unit="of the ground that it could"),
        },
        signals=_MAZE_SIGNALS, ends={name: (0.0, 1.0) for name in ("score", "moved", "bumped", "explored")},
        meanings=_MAZE_MEANINGS, rewards=("score", "win"), alone=True,
        between="A wall in the way stops it: then it bumps and does not move.",
    ),
    "navigation": AgentGame(
        "Cover all targets", "Three agents steer on a square and must cover three targets together. They are paid "
        "as a team, so nobody is told who did what.",
        "engine.games.navigation:Navigation", "numbers", "continuous", 300, _NAVIGATION, ("team",), 3,
        captions=_NAVIGATION_CAPTIONS, clock=Clock(40, "frame_skip", 1), alone=True,
    ),
    "navigation-choices": AgentGame(
        "Cover all targets, choices", "The same in steps: each agent stays or goes one of eight ways.",
        "engine.games.navigation:NavigationChoices", "numbers", "discrete", 300, _NAVIGATION, ("team",), 3,
        actions=_NAVIGATION_WAYS, captions=_NAVIGATION_CAPTIONS,
        clock=Clock(40, "frame_skip", 1), alone=True,
    ),
    "tanks": AgentGame(
        "Tanks", "A team of five tanks against five that the game leads, with two neutral tanks between them. Whoever "
        "hurts friends or neutral tanks pays a penalty that you set.",
        "engine.games.tanks:Tanks", "numbers", "continuous", 84, _TANKS, ("red",), 5,
        captions=_TANKS_CAPTIONS, clock=Clock(40, "frame_skip", 6), scripted="tanks-aggressive",
        strangers=("random", "tanks-passive"),
    ),
    "tanks-two-teams": AgentGame(
        "Tanks, two teams", "Two agents, one in each team of five tanks, learn from the same battles.",
        "engine.games.tanks:Tanks", "numbers", "continuous", 84, _TANKS[1:], ("red", "blue"), 5,
        given={"sides": (0, 1)}, captions=_TANKS_CAPTIONS, clock=Clock(40, "frame_skip", 6),
    ),
    "image-tanks": AgentGame(
        "Tanks, pictures", "The same against the game’s own team, seen as a map around each tank: far slower to learn.",
        "engine.games.tanks:TanksPictures", "pictures", "continuous", 84, _TANKS, ("red",), 5,
        captions=_TANKS_CAPTIONS, clock=Clock(40, "frame_skip", 6),
    ),
    "image-tanks-two-teams": AgentGame(
        "Tanks, two teams, pictures", "Both teams learn, and every tank sees a map around itself: far slower to learn.",
        "engine.games.tanks:TanksPictures", "pictures", "continuous", 84, _TANKS[1:], ("red", "blue"), 5,
        given={"sides": (0, 1)}, captions=_TANKS_CAPTIONS, clock=Clock(40, "frame_skip", 6),
    ),
    "platform": AgentGame(
        "Platform", "Run, hop and leap over two gaps and past two enemies. Each choice has a number of its own: how "
        "hard to run, how far to hop or to leap.",
        "engine.games.platform:Platform", "numbers", "parameterised", 200, ("first", "max_ticks"),
        actions=("run", "hop", "leap"), captions=_PLATFORM_CAPTIONS, scripted="platform-crosser",
        ends={name: (0.0, 1.0) for name in ("score", "run", "hop", "leap", "fell", "hit")},
        clock=Clock(1, "frame_skip", 1), alone=True, starts=("first",),
    ),
    "goal": AgentGame(
        "Goal", "Kick a ball past a keeper: take it to a point, or shoot at a height of the goal line.",
        "engine.games.goal:Goal", "numbers", "parameterised", 100, _GOAL_STARTS,
        actions=("kick to a point", "shoot left", "shoot right"), captions=_GOAL_CAPTIONS, scripted="goal-striker",
        ends={name: (0.0, 1.0) for name in ("score", "caught", "out")},
        clock=Clock(1, "frame_skip", 1), starts=_GOAL_STARTS,
    ),
    "half-field": AgentGame(
        "Half field", "Soccer on half a field: run to the ball, take it towards an empty goal, and score. Each choice "
        "has numbers of its own: how hard to run or to kick, and which way.",
        "engine.games.half_field:HalfField", "numbers", "parameterised", 500, _HALF_FIELD,
        actions=_HALF_FIELD_ACTIONS, captions=_HALF_FIELD_CAPTIONS, scripted="half-field-attacker",
        ends={name: (0.0, 1.0) for name in ("score", "out", "late")}, meanings=_HALF_FIELD_MEANINGS,
        clock=Clock(10, "frame_skip", 1), alone=True, starts=_HALF_FIELD_STARTS,
    ),
    "half-field-keeper": AgentGame(
        "Half field, keeper", "The same against a goalkeeper that the game leads.",
        "engine.games.half_field:HalfFieldGoalkeeper", "numbers", "parameterised", 500, _HALF_FIELD,
        actions=_HALF_FIELD_ACTIONS, captions=_GUARDED_CAPTIONS, scripted="half-field-attacker",
        ends={name: (0.0, 1.0) for name in ("score", "out", "caught", "late")}, meanings=_HALF_FIELD_MEANINGS,
        clock=Clock(10, "frame_skip", 1), starts=_HALF_FIELD_STARTS,
    ),
    "atari-pong": AgentGame(
        "Atari Pong, memory", "Atari’s Pong against the console’s own player. The agent is told what the console "
        "remembers, 128 numbers. It plays far slower than our own Pong.",
        "engine.games.atari_pong:AtariPong", "numbers", "discrete", 27_000, _ATARI_PONG,
        actions=_ATARI_PONG_ACTIONS, captions=_ATARI_PONG_CAPTIONS, signals=_ATARI_PONG_SIGNALS,
        scripted="atari-pong-follower", ends=_SHARES, meanings=_ATARI_PONG_MEANINGS, clock=Clock(60, "frame_skip", 4),
    ),
    "atari-pong-pictures": AgentGame(
        "Atari Pong, pictures", "The same, seen as a player sees it: far slower to learn.",
        "engine.games.atari_pong:AtariPongPictures", "pictures", "discrete", 27_000, _ATARI_PONG,
        actions=_ATARI_PONG_ACTIONS, captions=_ATARI_PONG_CAPTIONS, signals=_ATARI_PONG_SIGNALS, ends=_SHARES,
        meanings=_ATARI_PONG_MEANINGS, clock=Clock(60, "frame_skip", 4),
    ),
}  # fmt: skip
"""Built-in games for agents: a study calls one by its name here, or ``builtin:NAME``."""


def built_in(name: str) -> AgentGame | None:
    """The built-in game that a study calls so; None for any other game."""
    short = name.strip().removeprefix("builtin:")
    return GAMES.get("pong" if short == "vector-pong" else short)


def of_two(game: str) -> str:
    """The name of the same built-in game with both seats played from outside; empty where there is none."""
    known = built_in(game)
    if known is None:
        return ""
    return next((name for name, each in GAMES.items() if each.path == known.path and each.for_two), "")


def declared_ends(game: str) -> dict[str, tuple[float, float]]:
    """Between what the measures of a game's episodes lie, by name: those that have declared ends on both sides."""
    known = built_in(game)
    shares = [name for name, signal in known.captions.items() if signal.share] if known else []
    return {**dict.fromkeys(("win", *shares), (0.0, 1.0)), **(known.ends if known else {})}


def pace_of(game: str, settings: Mapping[str, Any]) -> float:
    """Decisions a second, as people see a game with these settings."""
    known = built_in(game)
    return known.clock.decisions(settings) if known and known.clock else MOMENTS_A_SECOND
