"""Every study, algorithm and hyper-parameter as a frozen pydantic model; importing it loads neither torch nor ray.

Forms, the API's schema and the CLI's help are generated from these models, and ``load`` reports every problem at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from engine.config.algorithms import AlgorithmConfig, NSGA2Config, RandomConfig
from engine.config.base import Config, parse, problems
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
    ANY_STUDY,
    AnyStudy,
    BalanceStudy,
    GameConfig,
    RecheckConfig,
    SampleConfig,
    SearchConfig,
    StudyConfig,
)
from engine.config.train import TrainConfig
from engine.errors import ConfigError

__all__ = [
    "FAIRNESS",
    "AimConfig",
    "AlgorithmConfig",
    "AnyStudy",
    "BalanceStudy",
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
    "SampleConfig",
    "SearchConfig",
    "StudyConfig",
    "TaskConfig",
    "TeamRow",
    "TrainConfig",
    "load",
    "parse",
]


def load(data: Mapping[str, Any]) -> AnyStudy:
    """The study that ``data`` (from YAML, JSON or a form) describes. Raises ConfigError listing every problem."""
    if not isinstance(data, Mapping):
        raise ConfigError([("", "a study is a table of settings; see engine/README.md for an example")])
    data = {"kind": "search", **data}
    if isinstance(data.get("algorithm"), Mapping):
        usual = "pbt" if data["kind"] == "evolve" else "nsga2"
        data["algorithm"] = {"kind": usual, **data["algorithm"]}
    try:
        return ANY_STUDY.validate_python(data)
    except ValidationError as error:
        raise ConfigError(problems(error, data, AnyStudy)) from error
