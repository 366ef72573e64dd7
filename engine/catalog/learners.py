"""The learners, and the methods that evolve and learn around one critic."""

from __future__ import annotations

from engine.catalog.entry import Entry
from engine.config.aesrl import ACEMRLMethod, AESRLMethod, CEMMethod, CEMRLMethod, ERLMethod
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
        "Each individual moves the centre: the better it scored, the further. None has to wait for another. The one to "
        "begin with.",
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
