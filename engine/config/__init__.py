"""Every study, algorithm and hyper-parameter as a frozen pydantic model; importing it loads neither torch nor ray.

Forms, the API's schema and the CLI's help are generated from these models; all problems are reported at once.
"""

from __future__ import annotations

from engine.config.algorithms import AlgorithmConfig, NSGA2Config, RandomConfig
from engine.config.base import Config, Study, parse
from engine.config.evolve import AimConfig, EvolveConfig, TaskConfig
from engine.config.lineups import (
    FAIRNESS,
    DrawnBaselines,
    LineupConfig,
    ObjectiveConfig,
    ObjectiveSetConfig,
    PastedBaselines,
    TeamRow,
)
from engine.config.pool import PoolConfig
from engine.config.study import (
    FURTHER,
    BalanceStudy,
    ChangeConfig,
    GameConfig,
    RecheckConfig,
    ReplayedLineup,
    SampleConfig,
    SearchConfig,
    StudyConfig,
    study_hash,
)
from engine.config.styles import StylesConfig
from engine.config.train import TrainConfig

__all__ = [
    "FAIRNESS",
    "FURTHER",
    "AimConfig",
    "AlgorithmConfig",
    "BalanceStudy",
    "ChangeConfig",
    "Config",
    "DrawnBaselines",
    "EvolveConfig",
    "GameConfig",
    "LineupConfig",
    "NSGA2Config",
    "ObjectiveConfig",
    "ObjectiveSetConfig",
    "PastedBaselines",
    "PoolConfig",
    "RandomConfig",
    "RecheckConfig",
    "ReplayedLineup",
    "SampleConfig",
    "SearchConfig",
    "Study",
    "StudyConfig",
    "StylesConfig",
    "TaskConfig",
    "TeamRow",
    "TrainConfig",
    "parse",
    "study_hash",
]
