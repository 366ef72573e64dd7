"""Two learners in workers of their own that mix their weights as peers, in small."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import torch

from engine.arrays import Bundle, pack, unpack
from engine.channel import Frame, Subscriber, Weights, decode_weights, encode_weights
from engine.config.rl import NetworkConfig, PPOConfig
from engine.rl.factory import make_learner
from engine.rl.sampler import Sampler
from engine.stores import open_store
from tests.engine.rl_game import Signals

NAMES = ("left", "right")
LEARNER = PPOConfig(network=NetworkConfig(policy=(8,), critic=(8,)), fragment=8, batch=32, rate=1e-3)


class Peer:
    """Plays for itself, learns, and takes a ``share`` of the other's weights after each update. What it streams is its
    weights, and all that is needed to go on from there."""

    def __init__(self, number: int, share: float, store: str, state: str) -> None:
        self.name, self.other, self.share = NAMES[number], NAMES[1 - number], share
        self.learner = make_learner(LEARNER, Signals().spec.seats[0], number + 1, 10**9)
        if state:
            meta, arrays = unpack(open_store(store).get(state))
            self.learner.load({part: Bundle(meta[part], below(part, arrays)) for part in meta})
        self.sampler = Sampler(Signals(), {self.name: self.learner.policy().spec.model()}, 4, LEARNER.fragment, number)
        self.sampler.begin(self.learner.version)

    def stream(self, subscriber: Subscriber, beat: Callable[[bool], None]) -> Iterator[list[Frame]]:
        torch.set_num_threads(1)
        theirs: Weights | None = None
        while True:
            beat(theirs is None)
            while (frame := subscriber.newest(0.0)) is not None:
                weights = decode_weights(frame)
                theirs = weights if weights.policy == self.other else theirs
            self.sampler.load(self.weights())
            self.learner.update(self.sampler.sample()[self.name])
            if theirs is not None:
                self.learner.mix(theirs.vectors, self.share)
            yield [encode_weights(self.weights()), self.packed()]

    def weights(self) -> Weights:
        return Weights(self.name, 0, 0, self.learner.version, self.learner.publish())

    def packed(self) -> bytes:
        state = self.learner.state()
        arrays = {f"{name}:{key}": array for name, part in state.items() for key, array in part.arrays.items()}
        return pack({name: part.meta for name, part in state.items()}, arrays)


def below(part: str, arrays: dict[str, object]) -> dict[str, object]:
    """The arrays of a part."""
    return {key.removeprefix(f"{part}:"): array for key, array in arrays.items() if key.startswith(f"{part}:")}


def build(payload: bytes) -> Peer:
    """What an actor runs."""
    return Peer(**json.loads(payload))
