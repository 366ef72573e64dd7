"""A game for agents in a program of its own, in a few lines that import nothing of ours: a walk over a frozen lake.

The agent stands at one end of a row of seven places and wants to the other; choice 1 is a step forward, choice 0 a step
back, and where the ice creaks (on every third move, so the seed says) nobody can step back. It gets there (the episode
terminates), or it is night after 40 moves (it is truncated). ``frozen_lake.py nan`` says NaN once, at its tenth step.
"""

import json
import os
import struct
import sys

import zmq

FAR, NIGHT = 6, 40
SEAT = {
    "observations": [{"name": "lake", "shape": [2], "dtype": "float32"}],
    "action": {"kind": "discrete", "n": 2},
    "rewards": ["arrival", "cold"],
    "signals": ["steps"],
}
SPEC = {"name": "frozen-lake", "version": "1", "seats": [SEAT], "max_ticks": NIGHT}


class Walker:
    """One battle."""

    def __init__(self, seed):
        self.seed, self.place, self.moves = seed, 0, 0

    def seen(self):
        return [self.place / FAR, float(self.creaks())]

    def creaks(self):
        return (self.seed + self.moves) % 3 == 0

    def step(self, choice):
        """The reward; ``self.over`` says how the episode ended."""
        self.place, self.moves = max(0, self.place + (1 if choice else -1)), self.moves + 1
        return [float(self.place == FAR), -0.01]

    def over(self):
        return (self.place == FAR, self.place < FAR and self.moves >= NIGHT)


class Lake:
    """All battles, as the arrays of a STATES message: name -> (type, shape, numbers)."""

    def __init__(self, seeds):
        self.walkers = [Walker(seed) for seed in seeds]

    def told(self, rewards, over):
        ended = [(w, o) for w, o in zip(self.walkers, over, strict=True) if any(o)]
        last = [number for w, _ in ended for number in w.seen()]
        m, steps = len(ended), [float(w.moves) for w, _ in ended]
        scores = [float(o[0]) for _, o in ended]
        self.walkers = [Walker(w.seed + 1) if any(o) else w for w, o in zip(self.walkers, over, strict=True)]
        n = len(self.walkers)
        return {
            "seat0.lake": ("float32", [n, 2], [number for w in self.walkers for number in w.seen()]),
            "seat0.mask": ("uint8", [n, 2], [flag for w in self.walkers for flag in (not w.creaks(), True)]),
            "rewards": ("float32", [n, 1, 2], rewards),
            "terminated": ("uint8", [n], [o[0] for o in over]),
            "truncated": ("uint8", [n], [o[1] for o in over]),
            "ended.seat0.lake": ("float32", [m, 2], last),
            "ended.seat0.mask": ("uint8", [m, 2], [True] * 2 * m),
            "ended.seat0.signals": ("float64", [m, 1], steps),
            "ended.win": ("float64", [m, 1], scores),
            "ended.score": ("float64", [m, 1], scores),
        }

    def begun(self):
        return self.told([0.0] * 2 * len(self.walkers), [(False, False)] * len(self.walkers))

    def stepped(self, choices):
        rewards = [number for w, choice in zip(self.walkers, choices, strict=True) for number in w.step(choice)]
        return self.told(rewards, [w.over() for w in self.walkers])


LETTERS = {"uint8": "B", "float32": "f", "float64": "d"}
line = zmq.Context().socket(zmq.DEALER)
line.connect(os.environ["EQUIPOISE_ENDPOINT"])


def say(header, arrays):
    described = [{"name": name, "dtype": dtype, "shape": shape} for name, (dtype, shape, _) in arrays.items()]
    frames = [struct.pack(f"<{len(numbers)}{LETTERS[dtype]}", *numbers) for dtype, _, numbers in arrays.values()]
    line.send_multipart([json.dumps({**header, "arrays": described}).encode(), *frames])


say({"type": "HELLO", "protocol": "equipoise-sim", "versions": [1], "key": os.environ["EQUIPOISE_KEY"]}, {})
asked = 0
while True:
    header, *frames = line.recv_multipart()
    header = json.loads(header)
    if header["type"] == "HELLO":
        say({"type": "GAME", "spec": SPEC}, {})
    elif header["type"] == "PING":
        say({"type": "PONG", "id": header.get("id", 0)}, {})
    elif header["type"] == "RESET":
        lake = Lake([seed for (seed,) in struct.iter_unpack("<Q", frames[0])])
        say({"type": "STATES", "id": header["id"]}, lake.begun())
    elif header["type"] == "ACTIONS":
        asked += 1
        found = lake.stepped([choice for (choice,) in struct.iter_unpack("<q", frames[0])])
        if sys.argv[1:] == ["nan"] and asked == 10:
            found["rewards"][2][0] = float("nan")
        say({"type": "STATES", "id": header["id"]}, found)
    elif header["type"] in ("BYE", "ERROR"):
        break
