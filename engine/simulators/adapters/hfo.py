"""The original half-field offence, where it is installed: ``python:engine.simulators.adapters.hfo:alone`` and
``…:against_goalkeeper`` play it as ``engine.games.half_field`` is played, by the same features and actions, so that an
agent of either can be tried in the other; ``…:alone_with_tackles`` and ``…:against_goalkeeper_with_tackles`` as with
its ``tackle``.

Needed are the Python module ``hfo`` of LARG/HFO and its folder with ``bin/HFO``, named by HFO_HOME. Each battle has a
server of its own with three ports; it takes seconds to begin. The server's noise has no seed, so nothing can be
repeated. Episodes last as in the paper: 500 cycles, or 100 in which nobody could kick the ball. HFO's own options say
where they begin, so an agent can learn a hard start from easier ones. Once an episode is over, HFO idles for three
cycles of the next one within the same call, so nobody sees how it ended: what was seen last is told instead, which is
what an episode that was cut short is valued by.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Protocol

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from engine.starting import StartRange

HOME = "HFO_HOME"
WAIT_S, GONE_S = 10.0, 5.0
"""How long a server takes to begin, and at most to end."""
FIRST_PORT, LAST_PORT, PORTS = 6000, 60_000, 3
FEATURES, EACH = 58, 8
PAY = 5.0
LONGEST, UNTOUCHED = 500, 100
_TURN, _KICK = 1, 2


class Server(Protocol):
    """A running server: the port that it listens on, and how to end it."""

    port: int
    config: str

    def close(self) -> None:
        """End it."""
        ...


class BallPlace(NamedTuple):
    """Where episodes begin: the ball, along as a share of the way to the goal line and across as a share of half the
    width, and whether the attacker is at it."""

    x_min: float = 0.0
    x_max: float = 0.2
    y_min: float = -0.8
    y_max: float = 0.8
    at_ball: int = 0


Along = Annotated[float, StartRange(0.0, 0.98, "Along")]
Across = Annotated[float, StartRange(-0.98, 0.98, "Across")]
AtBall = Annotated[int, StartRange(0, 1, "Player at the ball")]


class Launched:
    """``bin/HFO`` as a process. Raises RuntimeError where it is not, or does not stay."""

    def __init__(self, defenders: int, start: BallPlace) -> None:
        home = Path(os.environ.get(HOME, ""))
        program = home / "bin" / "HFO"
        if not os.environ.get(HOME) or not program.is_file():
            raise RuntimeError(f"{HOME} must name the folder of half-field offence that has bin/HFO")
        self.port, self.config = free_ports(), str(home / "bin" / "teams" / "base" / "config" / "formations-dt")
        self._process = subprocess.Popen(
            command(str(program), self.port, defenders, start), cwd=home, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        with contextlib.suppress(subprocess.TimeoutExpired):
            raise RuntimeError(f"{program} ended at once, with exit code {self._process.wait(WAIT_S)}")

    def close(self) -> None:
        """Ask it to end, which ends its players; kill it where it does not."""
        self._process.terminate()
        try:
            self._process.wait(GONE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def command(program: str, port: int, defenders: int, start: BallPlace) -> list[str]:
    """The server's command line."""
    return [
        program, "--headless", "--no-logging", "--fullstate", "--offense-agents", "1", "--defense-npcs", str(defenders),
        "--frames-per-trial", str(LONGEST), "--untouched-time", str(UNTOUCHED),
        f"--ball-x-min={start.x_min:g}", f"--ball-x-max={start.x_max:g}", f"--ball-y-min={start.y_min:g}",
        f"--ball-y-max={start.y_max:g}", "--offense-on-ball", str(start.at_ball), "--port", str(port),
    ]  # fmt: skip


def free_ports() -> int:
    """The first of three ports, one after the other, that nobody has. Raises RuntimeError where there are none."""
    begin = FIRST_PORT + PORTS * (os.getpid() * 7 + time.monotonic_ns() // 1000) % (LAST_PORT - FIRST_PORT)
    for port in (*range(begin, LAST_PORT, PORTS), *range(FIRST_PORT, begin, PORTS)):
        with contextlib.ExitStack() as held, contextlib.suppress(OSError):
            for k in range(PORTS):
                held.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)).bind(("127.0.0.1", port + k))
            return int(port)
    raise RuntimeError("half-field offence needs three free ports, one after the other, and there are none")


class HalfFieldServer(gymnasium.Env[dict[str, Any], Any]):
    """One battle on a server of its own. The reward is 5 for a goal; ``is_success`` says who scored. ``tackle``: the
    fourth of its actions is there, too. Raises ImportError without the module, and RuntimeError once the server is
    gone."""

    def __init__(self, server: Server, defenders: int, tackle: bool = False) -> None:
        import hfo

        self._hfo, self._server, self._width = hfo, server, FEATURES + EACH * defenders
        self._env = hfo.HFOEnvironment()
        self._env.connectToServer(
            hfo.LOW_LEVEL_FEATURE_SET, server.config, server.port, "localhost", "base_left", False, ""
        )
        seen = self._env.getStateSize()
        if seen < self._width:
            raise RuntimeError(f"the server tells {seen} features; {self._width} are needed")
        self.observation_space = spaces.Dict({"view": spaces.Box(-1.0, 1.0, (self._width,), np.float32)})
        power, degrees = (0.0, 100.0), (-180.0, 180.0)
        low, high = (np.array(ends, np.float32) for ends in zip(power, degrees, strict=True))
        both = spaces.Box(low, high, dtype=np.float32)
        turn = spaces.Box(*degrees, (1,), np.float32)
        parts = (both, turn, both, turn) if tackle else (both, turn, both)
        self.action_space = spaces.Tuple((spaces.Discrete(len(parts)), *parts))
        self._acts = (hfo.DASH, hfo.TURN, hfo.KICK, hfo.TACKLE)[: len(parts)]
        self._status = hfo.IN_GAME
        self._begun, self._view = False, np.zeros(self._width, np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """As in Gymnasium; an episode under way is idled to its end, for the server knows no other."""
        super().reset(seed=seed, options=options)
        while self._begun and self._status == self._hfo.IN_GAME:
            self._pass(self._hfo.NOOP)
        self._begun, self._view = False, self._seen()
        return {"view": self._view}, {}

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """As in Gymnasium."""
        kind, own = int(action[0]), action[1 + int(action[0])]
        self._begun = True
        self._pass(self._acts[kind], *(float(number) for number in own))
        scored, late = self._status == self._hfo.GOAL, self._status == self._hfo.OUT_OF_TIME
        over = self._status != self._hfo.IN_GAME and not late
        self._view = self._view if over or late else self._seen()
        return {"view": self._view}, PAY * scored, over, late, {"is_success": scored}

    def _pass(self, act: int, *numbers: float) -> None:
        self._env.act(act, *numbers)
        self._status = self._env.step()
        if self._status == self._hfo.SERVER_DOWN:
            raise RuntimeError("the server of half-field offence went down")

    def _seen(self) -> NDArray[np.float32]:
        state = np.asarray(self._env.getState(), np.float32)[: self._width]
        return np.clip(state, np.float32(-1.0), np.float32(1.0))

    def close(self) -> None:
        """Leave the game, and end its server."""
        if self._status != self._hfo.SERVER_DOWN:
            self._env.act(self._hfo.QUIT)
            self._env.step()
        self._server.close()


def alone(
    ball_x_min: Along = 0.0, ball_x_max: Along = 0.2, ball_y_min: Across = -0.8, ball_y_max: Across = 0.8,
    at_ball: AtBall = 0,
) -> HalfFieldServer:  # fmt: skip
    """An attacker before an empty goal."""
    return _played(0, BallPlace(ball_x_min, ball_x_max, ball_y_min, ball_y_max, at_ball))


def against_goalkeeper(
    ball_x_min: Along = 0.0, ball_x_max: Along = 0.2, ball_y_min: Across = -0.8, ball_y_max: Across = 0.8,
    at_ball: AtBall = 0,
) -> HalfFieldServer:  # fmt: skip
    """An attacker against the goalkeeper of the server's own team."""
    return _played(1, BallPlace(ball_x_min, ball_x_max, ball_y_min, ball_y_max, at_ball))


def alone_with_tackles(
    ball_x_min: Along = 0.0, ball_x_max: Along = 0.2, ball_y_min: Across = -0.8, ball_y_max: Across = 0.8,
    at_ball: AtBall = 0,
) -> HalfFieldServer:  # fmt: skip
    """An attacker before an empty goal, which may tackle."""
    return _played(0, BallPlace(ball_x_min, ball_x_max, ball_y_min, ball_y_max, at_ball), tackle=True)


def against_goalkeeper_with_tackles(
    ball_x_min: Along = 0.0, ball_x_max: Along = 0.2, ball_y_min: Across = -0.8, ball_y_max: Across = 0.8,
    at_ball: AtBall = 0,
) -> HalfFieldServer:  # fmt: skip
    """An attacker, which may tackle, against the goalkeeper of the server's own team."""
    return _played(1, BallPlace(ball_x_min, ball_x_max, ball_y_min, ball_y_max, at_ball), tackle=True)


def _played(defenders: int, start: BallPlace, tackle: bool = False) -> HalfFieldServer:
    if start.x_max < start.x_min or start.y_max < start.y_min:
        raise ValueError("the most must not be less than the least of the ball's place, or no episode can begin")
    server = Launched(defenders, start)
    try:
        return HalfFieldServer(server, defenders, tackle)
    except BaseException:
        server.close()
        raise
