"""Gymnasium's environments as ``VectorMDP``: single ones side by side, and its own vector environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.mdp import spaces
from engine.mdp.checks import Blame, check_array
from engine.mdp.episodes import Episodes
from engine.mdp.interface import Array, MDPSpec, SeatSpec, action_problem
from engine.mdp.vector import Ended, VectorStep

_SEED_MASK = 0x7FFFFFFF  # environments of all ages take 31 bits


class _Single:
    """Base of both kinds: one seat, its arrays, its episode totals. A result's score is the episode's return; ``win``
    is NaN unless the environment reports ``is_success``."""

    def __init__(self, label: str, observation: Any, action: Any, version: str, max_ticks: int) -> None:
        self._label = label
        self._leaves = spaces.observation_leaves(observation, label)
        self._actions = spaces.actions(action, label)
        seat = SeatSpec(tuple(leaf.spec for leaf in self._leaves), self._actions.spec)
        self.spec = MDPSpec(label, version, (seat,), max_ticks)
        self._blame = Blame(label)

    def _room(self, seeds: NDArray[np.uint64]) -> None:
        n = len(seeds)
        self._episodes = Episodes(self.spec, seeds)
        self._seen = {leaf.spec.name: np.zeros((n, *leaf.spec.shape), leaf.spec.dtype) for leaf in self._leaves}
        self._rewards = np.zeros((n, 1, 1), np.float32)
        self._terminated, self._truncated = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        self._alive = np.ones((n, 1), np.bool_)

    def _given(self, actions: Sequence[Array]) -> list[Any]:
        problem = action_problem(self.spec.seats[0].action, actions[0], len(self._alive))
        if problem:
            raise ConfigError([("seat 0", f"the actions {problem}")])
        return self._actions.values(actions[0])

    def _finite(self) -> None:
        """Raise SimulatorError unless the step's numbers are finite, last observations of episodes included."""
        n = len(self._alive)
        check_array(f"{self._label}: rewards", self._rewards, (n, 1, 1), np.dtype(np.float32))
        for leaf in self._leaves:
            where = f"{self._label}: observation {leaf.spec.name!r}"
            check_array(where, self._seen[leaf.spec.name], (n, *leaf.spec.shape), np.dtype(leaf.spec.dtype))

    def _ended(self, over: NDArray[np.int64], last: dict[str, Array], infos: Sequence[Mapping[str, Any]]) -> Ended:
        totals = self._episodes.end(over)
        win = np.array([[float(info.get("is_success", np.nan))] for info in infos])
        nothing = np.zeros((len(over), 0))
        return Ended(over, *totals, win, totals.returns[:, :, 0], (nothing,), (last,), (None,))

    def _step(self, ended: Ended | None) -> VectorStep:
        return VectorStep((self._seen,), (None,), self._rewards, self._terminated, self._truncated, self._alive, ended)


def _unwrapped(env: gymnasium.Env[Any, Any]) -> tuple[Callable[[Any], tuple[Any, ...]], float]:
    """An environment's step without Gymnasium's outermost wrappers, whose work is done here for all battles at once
    (half a microsecond a step), and their time limit in steps."""
    limit = np.inf
    while type(env) in (TimeLimit, OrderEnforcing, PassiveEnvChecker):
        if type(env) is TimeLimit:
            if env.spec is None or env.spec.max_episode_steps is None:
                break
            limit = min(limit, env.spec.max_episode_steps)
        env = env.env  # type: ignore[attr-defined]
    return env.step, limit


class GymVector(_Single):
    """n environments from ``make``, stepped one after the other in this process. Every episode is seeded by its own
    hash. Raises ConfigError for unsupported spaces."""

    def __init__(self, make: Callable[[], gymnasium.Env[Any, Any]], *, label: str = "") -> None:
        self._make, self._envs = make, [make()]
        first = self._envs[0]
        name = label or (first.spec.id if first.spec else type(first.unwrapped).__name__)
        limit = (first.spec.max_episode_steps if first.spec else None) or 0
        super().__init__(name, first.observation_space, first.action_space, gymnasium.__version__, limit)
        self._plain = isinstance(first.observation_space, gymnasium.spaces.Box)

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        while len(self._envs) < len(seeds):
            self._envs.append(self._make())
        self._room(seeds)
        self._steps, limits = zip(*(_unwrapped(env) for env in self._envs[: len(seeds)]), strict=True)
        self._limits = np.array(limits)
        for i in range(len(seeds)):
            self._begin(i)
        self._finite()
        return self._step(None)

    def _begin(self, i: int) -> None:
        self._blame.battle, self._blame.doing = i, "reset"
        with self._blame:
            observation, _ = self._envs[i].reset(seed=int(self._episodes.seeds[i]) & _SEED_MASK)
            self._see(i, observation)
        self._blame.doing = "step"

    def _see(self, i: int, observation: Any) -> None:
        for name, array in spaces.read(self._leaves, observation).items():
            self._seen[name][i] = array

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        given = self._given(actions)
        seen: list[Any] = []
        gained: list[Any] = []
        infos: list[Mapping[str, Any]] = []
        self._terminated[:] = self._truncated[:] = False
        with self._blame:
            try:
                self._step_each(given, seen, gained, infos)
            finally:
                self._blame.battle = len(gained)
            self._see_all(seen)
            self._rewards[:, 0, 0] = gained
        self._finite()
        self._episodes.add(self._rewards)
        self._truncated |= (self._episodes.lengths >= self._limits) & ~self._terminated
        over = np.flatnonzero(self._terminated | self._truncated)
        return self._step(self._restart(over, [infos[i] for i in over]) if len(over) else None)

    def _step_each(
        self, given: list[Any], seen: list[Any], gained: list[Any], infos: list[Mapping[str, Any]]
    ) -> None:  # fmt: skip
        """The inner loop, with minimal overhead per environment; appends one entry to each list."""
        for step, action in zip(self._steps, given, strict=True):
            observation, reward, done, cut, info = step(action)
            seen.append(observation)
            infos.append(info)
            gained.append(reward)
            if done or cut:
                i = len(gained) - 1
                self._terminated[i], self._truncated[i] = done, not done

    def _see_all(self, seen: list[Any]) -> None:
        """Copy plain arrays of the declared shape together (a third of a microsecond less each), others one by one."""
        spec = self._leaves[0].spec
        if self._plain and spec.shape and {getattr(observation, "shape", ()) for observation in seen} == {spec.shape}:
            rows = self._seen[spec.name].reshape(-1, *spec.shape[1:])
            np.concatenate(seen, out=rows, casting="unsafe")
            return
        for i, observation in enumerate(seen):
            self._blame.battle = i
            self._see(i, observation)

    def _restart(self, over: NDArray[np.int64], infos: Sequence[Mapping[str, Any]]) -> Ended:
        ended = self._ended(over, {name: array[over] for name, array in self._seen.items()}, infos)
        for i in over:
            self._begin(int(i))
        self._finite()
        return ended

    def close(self) -> None:
        """Close the environments."""
        for env in self._envs:
            env.close()
        self._envs = []


class GymVectorEnv(_Single):
    """One of Gymnasium's vector environments. It must not skip a step after an episode: autoreset mode DISABLED (each
    episode is then seeded by its own hash) or SAME_STEP (it continues with its own generator). The number of battles is
    fixed at construction. Raises ConfigError for another mode."""

    def __init__(self, env: VectorEnv[Any, Any, Any], *, label: str = "", max_ticks: int = 0) -> None:
        self._env = env
        name = label or (env.spec.id if env.spec else type(env.unwrapped).__name__)
        self._mode = env.metadata.get("autoreset_mode")
        if self._mode not in (AutoresetMode.DISABLED, AutoresetMode.SAME_STEP):
            raise ConfigError(
                [(name, f"autoreset mode {self._mode} cannot be used; make it with DISABLED or SAME_STEP")]
            )
        super().__init__(name, env.single_observation_space, env.single_action_space, gymnasium.__version__, max_ticks)
        if len(self._leaves) > 1 or self._leaves[0].path:
            raise ConfigError([(name, "a vector environment with several inputs cannot be used; use single ones")])
        self._name = self._leaves[0].spec.name

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        if len(seeds) != self._env.num_envs:
            raise ConfigError([("seeds", f"{self._label} was made for {self._env.num_envs} battles, not {len(seeds)}")])
        self._room(seeds)
        self._take(self._env_reset(np.ones(len(seeds), np.bool_)))
        return self._step(None)

    def _env_reset(self, which: NDArray[np.bool_]) -> Any:
        seeds = (self._episodes.seeds & np.uint64(_SEED_MASK)).astype(np.int64)
        self._blame.doing = "reset"
        whole = bool(which.all())
        options = None if whole else {"reset_mask": which}
        with self._blame:
            if type(self._env).__module__.startswith("ale_py"):
                return self._env.reset(seed=seeds[which], options=options)  # type: ignore[arg-type]
            return self._env.reset(seed=seeds.tolist(), options=options)

    def _take(self, answer: tuple[Any, Any]) -> None:
        self._blame.doing = "step"
        self._seen[self._name][:] = answer[0]
        self._finite()

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        given = self._given(actions)
        batch = np.stack([np.asarray(action) for action in given]) if given else np.zeros(0)
        with self._blame:
            observations, rewards, terminated, truncated, info = self._env.step(batch)
        self._rewards[:, 0, 0] = rewards
        self._terminated, self._truncated = terminated.astype(np.bool_), truncated.astype(np.bool_) & ~terminated
        self._seen[self._name][:] = observations
        self._finite()
        self._episodes.add(self._rewards)
        over = np.flatnonzero(self._terminated | self._truncated)
        return self._step(self._restart(over, info) if len(over) else None)

    def _restart(self, over: NDArray[np.int64], info: Mapping[str, Any]) -> Ended:
        same = self._mode == AutoresetMode.SAME_STEP
        if same:
            last = np.stack([np.asarray(info["final_obs"][i]) for i in over]).astype(self._seen[self._name].dtype)
        else:
            last = self._seen[self._name][over]
        ended = self._ended(over, {self._name: last}, [{}] * len(over))
        if not same:
            which = np.zeros(len(self._alive), np.bool_)
            which[over] = True
            self._take(self._env_reset(which))
        return ended

    def close(self) -> None:
        """Close the environment."""
        self._env.close()
