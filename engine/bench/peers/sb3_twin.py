"""Stable-Baselines3's TD3 and SAC, in its own virtual environment:

``sb3_twin.py reference FILE``: parameters after 100 scripted minibatches, kept as ``tests/golden/sb3_twin.npz``;
``sb3_twin.py speed KIND SECONDS``: gradient steps per processor second of batches of 256 with layers of (400, 300),
seeing 17 numbers and giving 6, as HalfCheetah; its last line is JSON;
``sb3_twin.py train GAME STEPS WARMUP KEPT SEED``: the mean return of ten fresh episodes after TD3 has trained in a game
of Gymnasium for so many decisions, with layers of (64, 64) and one thread; its last line is JSON.

What both sides are given is drawn here with NumPy alone, so the tests import this file, too.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
KINDS = ("td3", "sac")
LAYERS, SEEN, GIVEN, BATCH, MINIBATCHES, RATE = (32, 24), 3, 2, 32, 100, 1e-3


class Given(NamedTuple):
    """One minibatch: observations, actions, rewards, whether the episode ended by the rules, what followed, and two
    arrays of standard normal numbers in the order in which they are used."""

    s: F32
    a: F32
    r: F32
    over: F32
    after: F32
    noise: tuple[F32, F32]


def scripted(kind: str) -> tuple[list[F32], list[list[F32]], list[Given]]:
    """(the policy's matrices and biases, those of both critics, the minibatches)."""
    rng = np.random.default_rng(KINDS.index(kind) + 1)
    outputs = GIVEN if kind == "td3" else 2 * GIVEN
    policy = _layers(rng, (SEEN, *LAYERS, outputs))
    critics = [_layers(rng, (SEEN + GIVEN, *LAYERS, 1)) for _ in range(2)]
    return policy, critics, [_given(rng) for _ in range(MINIBATCHES)]


def _layers(rng: np.random.Generator, sizes: tuple[int, ...]) -> list[F32]:
    found = []
    for width, units in itertools.pairwise(sizes):
        found.append((rng.standard_normal((units, width)) / np.sqrt(width)).astype(np.float32))
        found.append((0.1 * rng.standard_normal(units)).astype(np.float32))
    return found


def _given(rng: np.random.Generator) -> Given:
    def normal(width: int) -> F32:
        return rng.standard_normal((BATCH, width)).astype(np.float32)

    a = np.tanh(normal(GIVEN))
    over = (rng.random((BATCH, 1)) < 0.1).astype(np.float32)
    return Given(normal(SEEN), a, normal(1), over, normal(SEEN), (normal(GIVEN), normal(GIVEN)))


def flat(arrays: list[F32]) -> F32:
    """All numbers in one vector."""
    return np.concatenate([array.ravel() for array in arrays])


def _model(kind: str, seen: int, given: int, layers: tuple[int, ...], rate: float) -> Any:
    """A model whose environment is never stepped."""
    import gymnasium
    import stable_baselines3  # type: ignore[import-not-found]
    from stable_baselines3.common.logger import Logger  # type: ignore[import-not-found]

    class Still(gymnasium.Env[Any, Any]):
        observation_space = gymnasium.spaces.Box(-10, 10, (seen,), np.float32)
        action_space = gymnasium.spaces.Box(-1, 1, (given,), np.float32)

    made = {"td3": stable_baselines3.TD3, "sac": stable_baselines3.SAC}[kind]
    model = made("MlpPolicy", Still(), learning_rate=rate, device="cpu", policy_kwargs={"net_arch": list(layers)})
    model.set_logger(Logger(None, []))
    return model


def _halves(policy: list[F32]) -> list[F32]:
    """Means and log standard deviations as two layers, as SAC's policy has them there."""
    *below, weight, bias = policy
    return [*below, weight[:GIVEN], bias[:GIVEN], weight[GIVEN:], bias[GIVEN:]]


def _whole(policy: list[F32]) -> list[F32]:
    *below, mean, mean_bias, spread, spread_bias = policy
    return [*below, np.concatenate([mean, spread]), np.concatenate([mean_bias, spread_bias])]


def learned(kind: str) -> dict[str, F32]:
    """Flat parameters after all scripted minibatches."""
    import torch
    from stable_baselines3.common.type_aliases import ReplayBufferSamples  # type: ignore[import-not-found]

    model, (policy, critics, minibatches) = _model(kind, SEEN, GIVEN, LAYERS, RATE), scripted(kind)
    mine = policy if kind == "td3" else _halves(policy)
    both = [array for critic in critics for array in critic]
    pairs = [(model.actor, mine), (model.critic, both), (model.critic_target, both)]
    pairs += [(model.actor_target, mine)] if kind == "td3" else []
    with torch.no_grad():
        for module, arrays in pairs:
            for parameter, array in zip(module.parameters(), arrays, strict=True):
                parameter.copy_(torch.from_numpy(array))
    numbers: list[torch.Tensor] = []
    drawn = iter(minibatches)

    def sample(*_: Any, **__: Any) -> Any:
        each = next(drawn)
        numbers[:] = [torch.from_numpy(noise) for noise in each.noise]
        s, a, r, over, after = (torch.from_numpy(array) for array in each[:5])
        return ReplayBufferSamples(s, a, after, over, r)

    model.replay_buffer.sample = sample
    tensor, normal = cast("Any", torch.Tensor), cast("Any", torch.distributions.normal)
    tensor.normal_ = lambda self, mean, spread: self.copy_(numbers.pop(0) * spread)
    normal._standard_normal = lambda *_, **__: numbers.pop(0)
    model.train(MINIBATCHES, BATCH)

    def found(module: Any) -> list[F32]:
        return [parameter.detach().numpy() for parameter in module.parameters()]

    actor = found(model.actor)
    return {
        "theta": flat(actor if kind == "td3" else _whole(actor)),
        "phi": flat(found(model.critic)),
        "phi_target": flat(found(model.critic_target)),
    } | ({} if kind == "td3" else {"log_alpha": model.log_ent_coef.detach().numpy()})


def speed(kind: str, seconds: float) -> dict[str, Any]:
    """Gradient steps per processor second on one thread, minibatches drawn from a replay of its own."""
    import torch

    torch.set_num_threads(1)
    model, rng = _model(kind, 17, 6, (400, 300), 1e-3), np.random.default_rng(1)
    for _ in range(10_000):
        seen = rng.standard_normal((2, 1, 17)).astype(np.float32)
        model.replay_buffer.add(seen[0], seen[1], rng.uniform(-1, 1, (1, 6)), rng.random(1), np.zeros(1), [{}])
    model.train(50, 256)
    steps, began = 0, time.process_time()
    while (spent := time.process_time() - began) < seconds:
        model.train(50, 256)
        steps += 50
    return {"steps_per_second": steps / spent}


def trained(game: str, steps: int, warmup: int, kept: int, seed: int) -> dict[str, Any]:
    """TD3 with the settings of its paper, but for layers, replay and the first decisions by chance."""
    import gymnasium
    import stable_baselines3
    import torch
    from stable_baselines3.common.evaluation import evaluate_policy  # type: ignore[import-not-found]
    from stable_baselines3.common.noise import NormalActionNoise  # type: ignore[import-not-found]

    torch.set_num_threads(1)
    world: Any = gymnasium.make(game)
    noise = NormalActionNoise(np.zeros(world.action_space.shape), np.full(world.action_space.shape, 0.1))
    model = stable_baselines3.TD3(
        "MlpPolicy", world, learning_rate=1e-3, buffer_size=kept, learning_starts=warmup, batch_size=256, train_freq=1,
        gradient_steps=1, action_noise=noise, policy_kwargs={"net_arch": [64, 64]}, seed=seed, device="cpu",
    )  # fmt: skip
    model.learn(steps)
    mean, _ = evaluate_policy(model, gymnasium.make(game), n_eval_episodes=10, warn=False)
    return {"score": float(mean)}


def main(arguments: list[str]) -> None:
    """Do what the arguments say."""
    if arguments[0] == "reference":
        found = {f"{kind}.{name}": array for kind in KINDS for name, array in learned(kind).items()}
        np.savez_compressed(arguments[1], **found)  # type: ignore[arg-type]
    elif arguments[0] == "train":
        game, *numbers = arguments[1:]
        print(json.dumps(trained(game, *map(int, numbers))))
    else:
        print(json.dumps(speed(arguments[1], float(arguments[2]))))


if __name__ == "__main__":
    main(sys.argv[1:])
