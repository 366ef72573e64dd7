"""Sample Factory's own training program for Atari, with the paper's four convolutions as encoder. A file of its own,
because its workers import the program they belong to."""

from __future__ import annotations

import sys
from typing import Any

import ale_py  # noqa: F401 - registers the games, also in its workers
from sample_factory.algo.utils.context import global_model_factory
from sample_factory.model.encoder import Encoder
from sf_examples.atari.train_atari import main
from torch import Tensor, nn


class Paper(Encoder):
    """Four convolutions of kernel 4 and stride 2, 32 channels each, and a layer of 256."""

    def __init__(self, cfg: Any, obs_space: Any) -> None:
        super().__init__(cfg)
        layers: list[nn.Module] = []
        before = obs_space["obs"].shape[0]
        for _ in range(4):
            layers += [nn.Conv2d(before, 32, 4, 2), nn.LeakyReLU()]
            before = 32
        self.net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(32 * 9, 256), nn.LeakyReLU())

    def forward(self, obs_dict: dict[str, Tensor]) -> Tensor:
        found: Tensor = self.net(obs_dict["obs"])
        return found

    def get_out_size(self) -> int:
        return 256


if __name__ == "__main__":
    global_model_factory().register_encoder_factory(Paper)
    sys.exit(main())
