"""The tables of everything that can be chosen by name: each kind's label, configuration model and dotted path, which is
imported on first use. Importing this module loads neither torch nor ray nor numba.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from engine.config.aesrl import ACEMRLMethod, AESRLConfig, AESRLMethod, CEMMethod, CEMRLMethod, ERLMethod
from engine.config.agents import MeasureConfig, RecordConfig
from engine.config.algorithms import (
    AGEMOEAConfig,
    CEMConfig,
    CMAESConfig,
    CSOConfig,
    GAConfig,
    MAPElitesConfig,
    NSGA2Config,
    NSGA3Config,
    OpenAIESConfig,
    PBTConfig,
    PSOConfig,
    RandomConfig,
)
from engine.config.arena import ArenaConfig
from engine.config.base import Config, Study
from engine.config.episodes import EpisodesConfig
from engine.config.evaluate import EvaluateConfig
from engine.config.evolve import EvolveConfig
from engine.config.gate import GateConfig
from engine.config.gossip import GossipConfig
from engine.config.hunt import HuntConfig
from engine.config.metagame import MetagameConfig
from engine.config.patch import PatchConfig
from engine.config.removal import RemovalConfig
from engine.config.rl import (
    A3CConfig,
    DQNConfig,
    IMPALAConfig,
    MADDPGConfig,
    MASACConfig,
    MPDQNConfig,
    PADDPGConfig,
    PDQNConfig,
    PPOConfig,
    SACConfig,
    TD3Config,
)
from engine.config.self_play import SelfPlayConfig
from engine.config.sensitivity import SensitivityConfig
from engine.config.starts import StartsConfig
from engine.config.study import ChangeConfig, RecheckConfig, SampleConfig, SearchConfig
from engine.config.styles import StylesConfig
from engine.config.train import TrainConfig
from engine.config.worth import WorthConfig


class Entry(NamedTuple):
    """One choice: its texts for people, its settings, and the dotted path of its class."""

    label: str
    explanation: str
    config: type[Config]
    path: str

    def load(self) -> Any:
        """The class or function, imported now."""
        return imported(self.path)


class StudyKind(NamedTuple):
    """A kind of study. Code outside this row reads these fields and never compares the kind's name.

    ``path``: its runner, called with (config, store, hash of a checkpoint or "", control), which iterates over events.
    ``console``: its output on the command line (``engine.console.Wording``). ``unit``: the field of ``Counters`` that
    counts its work. ``role``: the artifact that holds everything it evaluated; empty: there is none. Words for
    sentences: ``noun``, the study; ``tick``, one of its ticks; ``gained``, a participle for the results that a stop
    keeps; ``hands``, its workers. ``genes``: the part of its settings whose numbers may be ranges; empty: none may.
    ``beside``: says which study the command line runs after one (``engine.accompanied``); empty: none. ``told``: puts
    its results into lines for the command line, called with (config, artifacts, store); empty: nothing does.
    """

    label: str
    noun: str
    config: type[Study]
    path: str
    console: str
    unit: Literal["battles", "steps"]
    role: str
    tick: str = "round"
    gained: str = "found"
    hands: str = "battle workers"
    genes: str = ""
    beside: str = ""
    told: str = ""

    @property
    def called(self) -> str:
        """Its label with an article, for the middle of a sentence."""
        return f"{'an' if self.label[0] in 'AEIOU' else 'a'} {self.label[0].lower()}{self.label[1:]}"

    def load(self) -> Any:
        """The runner, imported now, so that each study and its actors load only what they need."""
        return imported(self.path)


class Signal(NamedTuple):
    """A signal of a game as pages tell it, such as "moves 12 % of the time". ``share``: it is a share, from 0 to 1, of
    what ``unit`` says, or else of an episode's time; otherwise ``unit`` says what it counts."""

    words: str
    share: bool = True
    unit: str = ""

    @property
    def per(self) -> str:
        """What its value is of, or counts."""
        return self.unit or ("of the time" if self.share else "")


class Clock(NamedTuple):
    """How fast a game runs where pages show it: its ``moments`` a second, and the ``setting`` that says how many of
    them a decision lasts, with its ``usual`` value."""

    moments: float
    setting: str
    usual: int

    def decisions(self, settings: Mapping[str, Any]) -> float:
        """Decisions a second, with these settings of the game."""
        return self.moments / float(settings.get(self.setting, self.usual))


class AgentGame(NamedTuple):
    """A built-in game for agents: its texts for people, the path of its factory (of an ``engine.mdp.vector.Game``), and
    what pages need to know before it is made.

    ``sees``: the kind of observation; ``does``: the kind of action (one of ``engine.config.rl.ACTIONS``); ``longest``:
    decisions in its longest episode; ``settings``: those that pages let people set; ``sides``: names of the agents
    where several learn, one on each seat, or on ``squad`` seats each (``MDPSpec.squad``); ``turns``: they act at
    different moments; ``given``: arguments that it is always made with. For agents: ``actions``, its
    choices by name; ``captions``: what a caption tells of its signals. For styles of play: ``signals``, all that its
    setting ``rewards`` can name; ``scripted``: which of ``PLAYERS`` plays it well; ``strangers``: those of ``PLAYERS``
    that nobody learns against in it; ``ends``: lowest and highest values
    of measures of an episode; ``meanings``: what a signal is, of one decision; ``names``: what it calls signals and
    measures that ``engine.config.style_templates`` calls otherwise. ``clock``: how fast it runs, if known; ``alone``:
    nobody else is in it; ``starts``: those of its ``settings`` that say where an episode begins."""

    label: str
    explanation: str
    path: str
    sees: Literal["numbers", "pictures"]
    does: Literal["discrete", "continuous", "hybrid", "parameterised"]
    longest: int
    settings: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()
    squad: int = 1
    turns: bool = False
    given: Mapping[str, Any] = {}
    actions: tuple[str, ...] = ()
    captions: Mapping[str, Signal] = {}
    signals: tuple[str, ...] = ()
    scripted: str = ""
    strangers: tuple[str, ...] = ()
    ends: Mapping[str, tuple[float, float]] = {}
    meanings: Mapping[str, str] = {}
    names: Mapping[str, str] = {}
    clock: Clock | None = None
    alone: bool = False
    starts: tuple[str, ...] = ()

    @property
    def for_two(self) -> bool:
        """Whether two players meet in it, each on the seats of a side."""
        return len(self.sides) == 2

    def load(self) -> Any:
        """The class or function that makes it, imported now."""
        return imported(self.path)


def imported(path: str) -> Any:
    """The object at a path ``package.module:name``, imported now."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


ALGORITHMS: dict[str, Entry] = {
    "nsga2": Entry(
        "NSGA-II",
        "Finds the whole edge between two or three objectives and seldom disappoints. Not the first choice for four "
        "objectives or more.",
        NSGA2Config,
        "engine.evolution.nsga2:NSGA2",
    ),
    "nsga3": Entry(
        "NSGA-III",
        "Spreads lineups evenly along many directions: for four objectives and more. With two or three, NSGA-II gives "
        "as much.",
        NSGA3Config,
        "engine.evolution.nsga3:NSGA3",
    ),
    "agemoea": Entry(
        "AGE-MOEA",
        "Learns the shape of the edge while it searches and spreads lineups evenly over it. Of little use where the "
        "edge has only a few points.",
        AGEMOEAConfig,
        "engine.evolution.agemoea:AGEMOEA",
    ),
    "ga": Entry(
        "Genetic algorithm",
        "The simplest: the best become parents. Good when one number says it all; it shows no trade-offs.",
        GAConfig,
        "engine.evolution.ga:GA",
    ),
    "cmaes": Entry(
        "CMA-ES",
        "Learns which changes go together. Good in the last stretch towards one goal; slow to start where pieces have "
        "nothing to do with each other.",
        CMAESConfig,
        "engine.evolution.cma:CMAES",
    ),
    "cem": Entry(
        "Cross-entropy method",
        "Draws around the best of the last round, ever more narrowly. Quick and sturdy; it settles on one kind of "
        "lineup and does not look back.",
        CEMConfig,
        "engine.evolution.cem:CEM",
    ),
    "openai-es": Entry(
        "OpenAI evolution strategy",
        "Follows the slope that many small changes show. Made for thousands of smooth settings; lineups jump from "
        "piece to piece, so expect little.",
        OpenAIESConfig,
        "engine.evolution.es:OpenAIES",
    ),
    "pso": Entry(
        "Particle swarm",
        "A swarm drawn to the best place it has seen. Good with few lineups in a round; weak when battles are very "
        "noisy.",
        PSOConfig,
        "engine.evolution.pso:PSO",
    ),
    "cso": Entry(
        "Competitive swarm",
        "Lineups meet in pairs and the loser moves towards the winner. Good for large teams with many slots; slow "
        "when there are few.",
        CSOConfig,
        "engine.evolution.cso:CSO",
    ),
    "map-elites": Entry(
        "MAP-Elites",
        "Keeps the best of every kind on a map. Good for seeing how differently a game can break; not for the "
        "sharpest edge, and it needs two objectives.",
        MAPElitesConfig,
        "engine.evolution.map_elites:MAPElites",
    ),
    "random": Entry(
        "Random search",
        "Only draws valid lineups. Shows what searching adds; never the way to find the worst.",
        RandomConfig,
        "engine.evolution.random_search:RandomSearch",
    ),
    "pbt": Entry(
        "Population based training",
        "Players train side by side; those that lag go on from a better one’s network and settings, a little changed. "
        "The usual choice: it ends with a trained player, and settings may change on the way.",
        PBTConfig,
        "engine.evolution.pbt:PBT",
    ),
}
"""In menu order; an explanation says what the algorithm is good for, and when it is not."""
LEARNERS: dict[str, Entry] = {
    "ppo": Entry(
        "PPO",
        "Plays, learns a little from what it just did, and plays again; seldom surprises. The one to begin with.",
        PPOConfig,
        "engine.rl.ppo:PPO",
    ),
    "a3c": Entry(
        "A3C",
        "Learns from a few moments at a time, many workers side by side.",
        A3CConfig,
        "engine.rl.a3c:A3C",
    ),
    "impala": Entry(
        "IMPALA",
        "Learns from what older versions of itself did, and corrects for it: many workers need not wait.",
        IMPALAConfig,
        "engine.rl.impala:IMPALA",
    ),
    "dqn": Entry(
        "DQN",
        "Remembers what it did and learns from it again and again; for games with one choice at a time.",
        DQNConfig,
        "engine.rl.dqn:DQN",
    ),
    "td3": Entry(
        "TD3",
        "Steers with numbers and learns from all it remembers; needs few decisions. For games steered with numbers.",
        TD3Config,
        "engine.rl.td3:TD3",
    ),
    "sac": Entry(
        "SAC",
        "As TD3, and keeps trying different things while it learns. For games steered with numbers.",
        SACConfig,
        "engine.rl.sac:SAC",
    ),
    "masac": Entry(
        "MASAC",
        "A team learns as one and plays apart: one judge sees what all do, each member has a policy of its own. For "
        "teams that are steered with numbers.",
        MASACConfig,
        "engine.rl.masac:MASAC",
    ),
    "maddpg": Entry(
        "MADDPG",
        "As MASAC with a judge for each member, of its own rewards: for teams whose members want different things.",
        MADDPGConfig,
        "engine.rl.maddpg:MADDPG",
    ),
    "pdqn": Entry(
        "P-DQN",
        "Learns what each choice is worth, and the numbers that make it worth most. For games whose choices have "
        "numbers of their own.",
        PDQNConfig,
        "engine.rl.pdqn:PDQN",
    ),
    "mpdqn": Entry(
        "MP-DQN",
        "As P-DQN, and judges each choice by its own numbers alone. The one to begin with where choices have numbers.",
        MPDQNConfig,
        "engine.rl.mpdqn:MPDQN",
    ),
    "paddpg": Entry(
        "PA-DDPG",
        "One network puts out all choices and all numbers, and a judge says what they are worth together. The oldest "
        "for games whose choices have numbers.",
        PADDPGConfig,
        "engine.rl.paddpg:PADDPG",
    ),
}
METHODS: dict[str, Entry] = {
    "aes-rl": Entry(
        "AES-RL",
        "Nobody waits: each individual moves the centre as soon as it is back. The one to begin with.",
        AESRLMethod,
        "engine.evorl.aesrl:AESRL",
    ),
    "cem-rl": Entry(
        "CEM-RL",
        "Rounds of individuals, half of which learn; the better half become the next centre. Steady, but all wait for "
        "the slowest.",
        CEMRLMethod,
        "engine.evorl.cemrl:CEMRL",
    ),
    "acem-rl": Entry(
        "ACEM-RL",
        "CEM-RL’s choice of the better half, without waiting. Shows what AES-RL’s own rules add.",
        ACEMRLMethod,
        "engine.evorl.aesrl:AESRL",
    ),
    "cem": Entry(
        "Cross-entropy method",
        "CEM-RL without learning: good where what a critic teaches leads astray.",
        CEMMethod,
        "engine.evorl.cemrl:CEMRL",
    ),
    "erl": Entry(
        "ERL",
        "A genetic algorithm beside one agent that learns from what all of them play. The oldest of the family.",
        ERLMethod,
        "engine.evorl.erl:ERL",
    ),
}
"""Ways to evolve and to learn around one critic."""
_COMMANDERS = ("every", "rewards", "same_teams")
_PONG_ACTIONS = ("stays", "up", "down")
_PONG_CAPTIONS = {
    "moved": Signal("moves"), "stayed": Signal("is told to stay"),
    "hits": Signal("hits the ball", share=False, unit="times an episode"),
}  # fmt: skip
_PONG = ("points", "max_ticks", "frame_skip", "rewards")
_PONG_SIGNALS = ("score", "moved", "stayed", "hit")
_PONG_MEANINGS = {
    "score": "points that this decision won minus those it lost",
    "moved": "share of the time in which the paddle moved, 0 to 1",
    "stayed": "share of the time in which it was told to stay, 0 to 1", "hit": "times it hit the ball",
}  # fmt: skip
_SHARES = {"score": (0.0, 1.0), "moved": (0.0, 1.0), "stayed": (0.0, 1.0)}
_MAZE_SIGNALS = ("score", "win", "moved", "bumped", "ground")
_MAZE_MEANINGS = {
    "score": "how much nearer the goal came, as a share of the longest way", "win": "1 when the goal is reached",
    "moved": "1 where it moved to another cell", "bumped": "1 where a wall was in its way",
    "ground": "1 in a cell that it enters for the first time",
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
_ORDERS_CAPTIONS = {
    "walked": Signal("walks", unit="of its units’ time"), "idle": Signal("stands idle", unit="of its units’ time"),
    "dealt": Signal("deals", unit="of the other team’s life"), "taken": Signal("loses", unit="of its own team’s life"),
    "first_attack": Signal("strikes first after", unit="of the battle"),
    "explored": Signal("covers", unit="of the field"),
    "forward": Signal("stands forward", unit="of the way to the middle of the field"),
    "paces": Signal("walks", share=False, unit="paces a unit"),
    "first_blow": Signal("strikes first after", share=False, unit="ticks"),
    "ground": Signal("covers", share=False, unit="squares of two paces"),
}  # fmt: skip
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
    "lost": Signal("loses", unit="of its own team’s life"),
    "shots": Signal("shoots", share=False, unit="times a tank"),
}  # fmt: skip
_PLATFORM_CAPTIONS = {
    "run": Signal("runs", unit="of its decisions"), "hop": Signal("hops", unit="of its decisions"),
    "leap": Signal("leaps", unit="of its decisions"), "fell": Signal("falls", unit="in episodes"),
    "hit": Signal("runs into an enemy", unit="in episodes"),
}  # fmt: skip
_GOAL_STARTS = ("x_min", "x_max", "y_min", "y_max")
_GOAL_CAPTIONS = {
    "kicks": Signal("kicks to a point", share=False, unit="times an episode"),
    "caught": Signal("loses the ball to the keeper", unit="in episodes"),
    "out": Signal("misses the goal", unit="in episodes"),
}  # fmt: skip
_HALF_FIELD_STARTS = ("ball_x_min", "ball_x_max", "ball_y_min", "ball_y_max", "apart")
_HALF_FIELD = (*_HALF_FIELD_STARTS, "max_ticks", "untouched", "rewards")
_HALF_FIELD_ACTIONS = ("dash", "turn", "kick")
_HALF_FIELD_CAPTIONS = {
    "out": Signal("kicks the ball out", unit="in episodes"),
    "caught": Signal("loses the ball to the keeper", unit="in episodes"),
    "late": Signal("runs out of time", unit="in episodes"),
    "kicks": Signal("kicks", share=False, unit="times an episode"),
}  # fmt: skip
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
        strangers=("random", "pong-follower"), ends=_SHARES, meanings=_PONG_MEANINGS, clock=Clock(40, "frame_skip", 1),
    ),
    "pong-two-seats": AgentGame(
        "Pong for two", "Two agents, one on each side, learn from the same battles.",
        "engine.games.pong:VectorPong", "numbers", "discrete", 6000, _PONG, ("left", "right"),
        given={"seats": (0, 1)},
        actions=_PONG_ACTIONS, captions=_PONG_CAPTIONS, clock=Clock(40, "frame_skip", 1),
    ),
    "image-pong": AgentGame(
        "Pong, pictures", "The same Pong, seen as a player sees it: far slower to learn.",
        "engine.games.pong:ImagePong", "pictures", "discrete", 1500, _PONG,
        actions=_PONG_ACTIONS, captions=_PONG_CAPTIONS, signals=_PONG_SIGNALS, ends=_SHARES, meanings=_PONG_MEANINGS,
        clock=Clock(40, "frame_skip", 4),
    ),
    "commanders": AgentGame(
        "Herobattle, commander", "Commands a team of the demo game against one that fights by itself: whom to attack, "
        "where to stand, when to use the skill.",
        "engine.games.herobattle.commanders:HeroBattleCommanders", "numbers", "hybrid", 75, _COMMANDERS,
        captions=_ORDERS_CAPTIONS, signals=_ORDERS_SIGNALS, scripted="hero-hunter",
        strangers=("random", "hero-hunter"), ends=_ORDERS_ENDS, meanings=_ORDERS_MEANINGS,
        names={"moved": "walked"}, clock=Clock(12, "every", 4),
    ),
    "commanders-two-seats": AgentGame(
        "Herobattle, two commanders", "Two agents, one in command of each team, learn from the same battles.",
        "engine.games.herobattle.commanders:HeroBattleCommanders", "numbers", "hybrid", 75, _COMMANDERS,
        ("left", "right"), given={"seats": (0, 1)},
        captions=_ORDERS_CAPTIONS, clock=Clock(12, "every", 4),
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
        },
        signals=_MAZE_SIGNALS, ends={name: (0.0, 1.0) for name in ("score", "moved", "bumped")},
        meanings=_MAZE_MEANINGS, alone=True,
    ),
    "navigation": AgentGame(
        "Cover all targets", "Three agents steer on a square and must cover three targets together. All have the same "
        "policy and the same reward, so nobody is told who did what.",
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
        ends={name: (0.0, 1.0) for name in ("score", "out", "caught", "late")}, meanings=_HALF_FIELD_MEANINGS,
        clock=Clock(10, "frame_skip", 1), alone=True, starts=_HALF_FIELD_STARTS,
    ),
    "half-field-keeper": AgentGame(
        "Half field, keeper", "The same against a goalkeeper that the game leads.",
        "engine.games.half_field:HalfFieldGoalkeeper", "numbers", "parameterised", 500, _HALF_FIELD,
        actions=_HALF_FIELD_ACTIONS, captions=_HALF_FIELD_CAPTIONS, scripted="half-field-attacker",
        ends={name: (0.0, 1.0) for name in ("score", "out", "caught", "late")}, meanings=_HALF_FIELD_MEANINGS,
        clock=Clock(10, "frame_skip", 1), starts=_HALF_FIELD_STARTS,
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


def shares_of(game: str) -> tuple[str, ...]:
    """The signals of a game that are shares, from 0 to 1."""
    known = built_in(game)
    return tuple(name for name, signal in known.captions.items() if signal.share) if known else ()


PLAYERS: dict[str, Entry] = {
    "random": Entry(
        "Random", "Does anything that is legal, at random: the least to be beaten.", Config,
        "engine.rl.players:RandomPlayer",
    ),
    "pong-follower": Entry(
        "Follows the ball", "Keeps its paddle at the ball's height, and never looks ahead.", Config,
        "engine.games.pong.follower:Follower",
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
        "and so on. Of no use where targets are shuffled.", Config, "engine.games.navigation.scripts:Numbered",
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
EVALUATORS: dict[str, str] = {
    "individuals": "engine.evorl.individuals:build",
    "lineups": "engine.lineups.evaluator:build",
    "players": "engine.evorl.evaluator:build",
    "hunters": "engine.evorl.hunting:build",
    "self-play": "engine.evorl.self_play_evaluator:build",
    "pairings": "engine.lineups.pairing_evaluator:build",
    "meetings": "engine.lineups.pairing_evaluator:build_meetings",
    "patched": "engine.lineups.pairing_evaluator:build_patched",
    "versions": "engine.lineups.version_evaluator:build",
    "swaps": "engine.lineups.swap_evaluator:build",
    "plantings": "engine.sensitivity.evaluator:build",
}
SAMPLERS: dict[str, str] = {
    "train": "engine.study.sampler_factory:build",
    "gossip": "engine.study.gossip_agents:build",
    "arena": "engine.study.lessons:build",
    "starts": "engine.study.start_actors:build",
}
STUDIES: dict[str, StudyKind] = {
    "search": StudyKind(
        "Search", "search", SearchConfig, "engine.study.lineups:run", "engine.console:Searched", "battles", "archive",
        beside="engine.study.companion:planned",
    ),
    "recheck": StudyKind(
        "Re-check on fresh battles", "re-check", RecheckConfig, "engine.study.lineups:recheck",
        "engine.console:Searched", "battles", "result", tick="part",
    ),
    "sample": StudyKind(
        "Random sample", "sample", SampleConfig, "engine.study.lineups:sample", "engine.console:Searched", "battles",
        "sample", tick="part",
    ),
    "train": StudyKind(
        "Training", "training", TrainConfig, "engine.study.train:train", "engine.console:Trained", "steps", "",
        gained="learned", hands="samplers",
    ),
    "gossip": StudyKind(
        "Training side by side", "training", GossipConfig, "engine.study.gossip:gossip", "engine.console:SideBySide",
        "steps", "", gained="learned", hands="agents",
    ),
    "arena": StudyKind(
        "Lessons for several agents", "course", ArenaConfig, "engine.study.arena:arena", "engine.console:Courses",
        "steps", "", gained="learned", hands="samplers",
    ),
    "starts": StudyKind(
        "Easier starts", "training", StartsConfig, "engine.study.starts:starts", "engine.console:EasierStarts", "steps",
        "", gained="learned", hands="actors",
    ),
    "evolve": StudyKind(
        "Search for training settings", "search", EvolveConfig, "engine.study.evolve:evolve", "engine.console:Evolved",
        "steps", "archive", genes="task",
    ),
    "style": StudyKind(
        "Styles of play", "search", StylesConfig, "engine.study.styles:styles", "engine.console:Evolved", "steps",
        "archive", genes="task",
    ),
    "hunt": StudyKind(
        "Hunt for bugs", "hunt", HuntConfig, "engine.study.hunt:hunt", "engine.study.hunt:Words", "steps", "archive",
        genes="task",
    ),
    "self-play": StudyKind(
        "Self-play", "self-play training", SelfPlayConfig, "engine.study.self_play:self_play", "engine.console:Evolved",
        "steps", "archive", genes="task",
    ),
    "aes-rl": StudyKind(
        "Evolution and learning", "training", AESRLConfig, "engine.study.aesrl:aes_rl", "engine.study.aesrl:Words",
        "steps", "", gained="learned", hands="workers",
    ),
    "episodes": StudyKind(
        "Sample episodes", "sample", EpisodesConfig, "engine.study.episodes:episodes", "engine.study.episodes:Words",
        "steps", "", gained="played",
    ),
    "evaluate": StudyKind(
        "Evaluation", "evaluation", EvaluateConfig, "engine.study.round_robin:evaluate",
        "engine.study.round_robin:Words", "battles", "table", tick="pair", gained="played",
    ),
    "measure": StudyKind(
        "Measurement of an agent", "measurement", MeasureConfig, "engine.study.measure:measure",
        "engine.study.measure:Words", "battles", "table", tick="part", gained="played",
    ),
    "record": StudyKind(
        "Battles to watch", "recording", RecordConfig, "engine.study.record_battles:record_battles",
        "engine.study.record_battles:Words", "battles", "recording", tick="battle", gained="recorded",
    ),
    "worth": StudyKind(
        "What each piece is worth", "experiment", WorthConfig, "engine.study.worth:worth", "engine.study.worth:Words",
        "battles", "table", tick="part", gained="measured", told="engine.study.worth:told",
    ),
    "metagame": StudyKind(
        "Who beats whom", "round robin", MetagameConfig, "engine.study.metagame:metagame",
        "engine.study.metagame:Words", "battles", "table", tick="part", gained="played",
    ),
    "gate": StudyKind(
        "Gate", "gate", GateConfig, "engine.study.gate:gate", "engine.study.gate:Words", "battles", "table",
        tick="part", gained="played",
    ),
    "patch": StudyKind(
        "What is the smallest change?", "search for changes", PatchConfig, "engine.study.patch:patch",
        "engine.study.patch:Words", "battles", "table", tick="part",
    ),
    "change": StudyKind(
        "Try a change", "replay", ChangeConfig, "engine.study.change:change", "engine.study.change:Words", "battles",
        "table", tick="part", gained="measured",
    ),
    "removal": StudyKind(
        "What is left without it", "removal test", RemovalConfig, "engine.study.removal:removal",
        "engine.study.removal:Words", "battles", "table", tick="part", gained="measured",
    ),
    "sensitivity": StudyKind(
        "How hard did we look", "sensitivity", SensitivityConfig, "engine.study.sensitivity:sensitivity",
        "engine.study.sensitivity:Words", "battles", "table", tick="planting", gained="counted",
    ),
}  # fmt: skip
