"""What one step costs a plain loop on one thread: the environment's own, its inference at the best batch, its share of
learning. Imports nothing of the engine; run as a program: ``plain_loop.py pendulum|pong|spread SECONDS``.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

BATCHES = tuple(2**i for i in range(11))
TURN_S = 0.3
"""A turn's calls are averaged, as a round's are of the training beside it: a busy machine slows both alike."""


def per_call(what: Callable[[], Any], seconds: float) -> float:
    """Seconds a call, the median of turns, after warming up."""
    for _ in range(2):
        what()
    found: list[float] = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until or len(found) < 3:
        began, calls = time.perf_counter(), 0
        while calls == 0 or time.perf_counter() - began < TURN_S:
            what()
            calls += 1
        found.append((time.perf_counter() - began) / calls)
    return float(np.median(found))


def pendulum() -> Iterator[tuple[str, Any]]:
    """(name, value): step, network, observation, action width, batch."""
    import gymnasium

    envs = [gymnasium.make("Pendulum-v1") for _ in range(16)]
    for i, env in enumerate(envs):
        env.reset(seed=i)
    action = np.zeros(1, np.float32)

    def step() -> None:
        for env in envs:
            if env.step(action)[3]:
                env.reset()

    yield "step", (step, len(envs))
    trunk = nn.Sequential(nn.Linear(3, 256), nn.LeakyReLU(), nn.Linear(256, 128), nn.LeakyReLU())
    yield "network", (trunk, 128)
    yield "observe", lambda n: torch.randn(n, 3)
    yield "continuous", True
    yield "batch", 8192


def spread() -> Iterator[tuple[str, Any]]:
    """The same for PettingZoo's simple_spread, whose three entities decide at once; a step is one entity's."""
    from mpe2 import simple_spread_v3

    envs = [simple_spread_v3.parallel_env(N=3, max_cycles=25) for _ in range(16)]
    for i, env in enumerate(envs):
        env.reset(seed=i)
    stay = {agent: 0 for agent in envs[0].agents}

    def step() -> None:
        for env in envs:
            env.step(stay)
            if not env.agents:
                env.reset()

    yield "step", (step, 3 * len(envs))
    trunk = nn.Sequential(nn.Linear(18, 256), nn.LeakyReLU(), nn.Linear(256, 128), nn.LeakyReLU())
    yield "network", (trunk, 128)
    yield "observe", lambda n: torch.randn(n, 18)
    yield "continuous", False
    yield "batch", 8192


def pong() -> Iterator[tuple[str, Any]]:
    """The same for image Pong, with the paper's four convolutions and FC256."""
    from ale_py.vector_env import AtariVectorEnv

    envs = AtariVectorEnv("pong", 16, num_threads=1, stack_num=4, frameskip=4)
    envs.reset(seed=np.arange(16))
    actions = np.zeros(16, np.int64)
    yield "step", (lambda: envs.step(actions), 16)
    layers: list[nn.Module] = []
    for before, after in ((4, 32), (32, 32), (32, 32), (32, 32)):
        layers += [nn.Conv2d(before, after, 4, 2), nn.LeakyReLU()]
    yield "network", (nn.Sequential(*layers, nn.Flatten(), nn.Linear(32 * 3 * 3, 256), nn.LeakyReLU()), 256)
    yield "observe", lambda n: torch.randint(0, 255, (n, 4, 84, 84), dtype=torch.uint8)
    yield "continuous", False
    yield "batch", 8192


class Costs:
    """Times the parts; ``learn_rows`` at a time go through the network while learning."""

    def __init__(self, parts: dict[str, Any], seconds: float) -> None:
        torch.set_num_threads(1)
        self.parts, self.seconds = parts, seconds
        trunk, width = parts["network"]
        self.trunk, self.continuous = trunk, parts["continuous"]
        self.head = nn.Linear(width, 1 if self.continuous else 6)
        self.critic = nn.Linear(width, 1)
        self.log_std = nn.Parameter(torch.zeros(1))
        self.learn_rows = 256 if len(parts["observe"](1).shape) > 2 else parts["batch"]

    def _scaled(self, seen: torch.Tensor) -> torch.Tensor:
        return seen.float() / 255 if seen.dtype == torch.uint8 else seen

    def _distribution(self, x: torch.Tensor) -> torch.distributions.Distribution:
        if self.continuous:
            return torch.distributions.Normal(self.head(x)[:, 0], self.log_std.exp(), validate_args=False)
        return torch.distributions.Categorical(logits=self.head(x), validate_args=False)

    def environment(self) -> float:
        """Seconds a step."""
        step, n = self.parts["step"]
        return per_call(step, self.seconds) / n

    def inference(self, n: int) -> float:
        """Seconds a decision in batches of n: forward, draw, log-probability."""
        seen = self.parts["observe"](n)

        def infer() -> None:
            with torch.inference_mode():
                found = self._distribution(self.trunk(self._scaled(seen)))
                action = found.sample()
                found.log_prob(action).numpy()

        return per_call(infer, self.seconds / len(BATCHES)) / n

    def learning(self) -> float:
        """Seconds a sample of one pass of PPO over the batch: forward, loss, backward, Adam."""
        rows = self.learn_rows
        parameters = [*self.trunk.parameters(), *self.head.parameters(), *self.critic.parameters(), self.log_std]
        optimiser = torch.optim.Adam(parameters, 1e-4, foreach=True)
        seen = self.parts["observe"](rows)
        action = torch.randn(rows) if self.continuous else torch.randint(0, 6, (rows,))
        advantage, target, old = torch.randn(rows), torch.randn(rows), torch.zeros(rows)

        def learn() -> None:
            x = self.trunk(self._scaled(seen))
            found = self._distribution(x)
            ratio = (found.log_prob(action) - old).clamp(-1, 1).exp()
            gain = torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            loss = -gain + 0.5 * ((self.critic(x)[:, 0] - target) ** 2).mean() - 0.01 * found.entropy().mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()

        return per_call(learn, self.seconds) / rows


def main() -> None:
    """Print the costs as JSON."""
    costs = Costs(dict({"pendulum": pendulum, "pong": pong, "spread": spread}[sys.argv[1]]()), float(sys.argv[2]))
    batches = {n: costs.inference(n) for n in BATCHES}
    best = min(batches, key=lambda n: batches[n])
    found = {
        "environment": costs.environment(),
        "inference": batches[best],
        "batch": best,
        "learning": costs.learning(),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
