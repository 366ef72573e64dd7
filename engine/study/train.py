"""Training studies: one cast, the same to the end, in the loop of ``engine.study.learning``; now and then the policies
are evaluated on fresh episodes."""

from __future__ import annotations

from collections.abc import Iterator

from engine.arrays import Bundle
from engine.config.train import TrainConfig
from engine.errors import Cancelled, ConfigError, EngineError
from engine.events import AnyEvent, Started
from engine.rl.devices import on_threads
from engine.rl.onnx import exported
from engine.rl.take_home import folders
from engine.store import Store
from engine.study import checkpoint
from engine.study.control import Control
from engine.study.curve import too_short
from engine.study.evaluated_rounds import EvaluatedRounds
from engine.study.evaluation import LAST, MeasuredPolicies, evaluate
from engine.study.failures import not_begun, with_failure
from engine.study.learner_factory import make_learners
from engine.study.learning import long_enough
from engine.study.sampler_pool import open_samplers


def train(config: TrainConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups``, for a training study."""
    return with_failure(_Train(config, store, control).events(resume))


class _Train(EvaluatedRounds):
    def __init__(self, config: TrainConfig, store: Store, control: Control) -> None:
        super().__init__(store, control, waiting=config.sampling == "synchronous")
        self.config = self.task = config

    def events(self, resume: str) -> Iterator[AnyEvent]:
        config = self.config
        try:
            made = make_learners(config, self.store, begun=bool(resume), should_stop=self.stopped)
            self.policies, self.curve, self.longest = made
            self.active = self.policies
            if resume:
                self.restore(resume)
            opened = open_samplers(config, self.store, self.tick, should_stop=self.stopped)
        except Cancelled:
            yield not_begun(self.control, resume)
            return
        with on_threads(config.threads), opened as samplers:
            processes = config.pool.processes(config.samplers)
            yield self.say(Started, workers=processes, pool=config.pool.kind, ticks=config.ticks, battles=0,
                            resumed=bool(resume))  # fmt: skip
            self.saved = self.saved or self.checkpoint()
            try:
                command = yield from self.drive(samplers)
            except EngineError:
                yield from self.troubles(samplers)
                raise
        yield from self.ended(command)

    @property
    def steps(self) -> int:
        return sum(policy.learner.steps for policy in self.policies.values())

    def done(self) -> bool:
        return self.steps >= self.config.steps

    def due(self) -> int:
        return self.steps // self.config.every

    def remember(self) -> None:
        """At the end of a round, make snapshots of the policies available as opponents in the next."""
        for policy in self.policies.values():
            if policy.kept:
                policy.snapshots.append(self.stored(policy.learner.policy())[1])

    @property
    def least(self) -> int:
        """At the end of a round synchronous training restarts all battles. That cuts episodes short, so where no round
        length is configured, a round lasts until each battle has ended a few, or LONGEST ticks."""
        if not self.waiting or self.config.checkpoint_every:
            return 1
        return long_enough(self.curve, self.config.each // next(iter(self.config.learners.values())).fragment)

    def progressed(self, before: int) -> Iterator[AnyEvent]:
        """Also evaluates the policies when that is due."""
        yield from self.short(too_short(self.config, self.curve.steps, self.longest))
        metrics = self.curve.metrics()
        self.curve.restart()
        self.losses = 0
        yield from self.close_round(metrics, self.examines(self.config.evaluate_every, before))

    def artifacts(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, policy in self.policies.items():
            tensors, description = self.stored(policy.learner.policy())
            found |= {self._role("policy", name): tensors, self._role("policy_description", name): description}
        return found

    def _role(self, role: str, policy: str) -> str:
        """The role of a policy's artifact: the plain role where only one policy learns."""
        return role if len(self.policies) == 1 else f"{role}/{policy}"

    def examine(self) -> bool:
        present = {name: policy.learner.policy() for name, policy in self.policies.items()}
        snapshots = {name: policy.snapshots for name, policy in self.policies.items()}
        measured = MeasuredPolicies(self.config, self.store, present, snapshots)
        found = evaluate(measured, LAST if self.over else 0, self.control)
        for name, against in (found or {}).items():
            self.policies[name].curve.examined(against)
        return found is not None

    def checkpoint(self) -> str:
        self.kept = self.steps
        parts = {"round": Bundle(self.curve.state() | {"over": self.over} | self.closing(), {})}
        for policy in self.policies.values():
            parts |= policy.parts()
        return checkpoint.write(self.config, self.tick, parts, self.store)

    def restore(self, digest: str) -> None:
        self.tick, parts = checkpoint.read(self.config, digest, self.store)
        meta = parts.pop("round").meta
        for name, policy in self.policies.items():
            policy.load({key: parts.pop(key) for key in list(parts) if key.endswith(f"/{name}")})
        if parts:
            why = f"this checkpoint has parts that this study does not know: {', '.join(sorted(parts))}; start it anew"
            raise ConfigError([("resume", why)])
        self.curve.load(meta)
        self.load_closing(meta)
        self.over, self.saved, self.kept = meta["over"], digest, self.steps

    def results(self) -> dict[str, str]:
        kept: dict[str, str] = {}
        for name, policy in self.policies.items():
            now = policy.learner.policy()
            tensors, description = self.stored(now)
            found = {"policy": tensors, "policy_description": description, "onnx": self.store.put(exported(now))}
            if len(members := now.members()) > 1:
                found["members"] = self.store.put(folders(members))
            kept |= {self._role(role, name): digest for role, digest in found.items()}
        return kept | {"checkpoint": self.saved}
