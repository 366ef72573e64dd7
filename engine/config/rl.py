"""Reinforcement learning as data: networks, algorithms, presets. A number given as a range ``[low, high]`` is left to
evolution (``engine.config.genes``); a learner is made from a configuration without ranges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from engine.config.base import Config, KeyPath, refuse
from engine.config.genes import Evolvable

Share = Annotated[float, Evolvable(0.0, 1.0)]
Rate = Annotated[float, Evolvable(0.0, 1.0, above=True)]
Weight = Annotated[float, Evolvable(0.0, 100.0)]
Clip = Annotated[float, Evolvable(0.0, 1e6, above=True)]
Norm = Annotated[float, Evolvable(0.0, 1e6)]
Decay = Annotated[float, Evolvable(0.0, 0.999999)]
Count = Annotated[int, Evolvable(1, 100_000_000, whole=True)]
Steps = Annotated[int, Evolvable(1, 100_000, whole=True)]
Batch = Annotated[int, Evolvable(1, 10_000_000, whole=True)]
Minibatch = Annotated[int, Evolvable(0, 10_000_000, whole=True)]
Layers = Annotated[tuple[Annotated[int, Evolvable(1, 2048, whole=True)], ...], Field(max_length=16)]
Channels = Annotated[int, Evolvable(1, 1024, whole=True)]
Pixels = Annotated[int, Evolvable(1, 16, whole=True)]
Schedule = Literal["constant", "linear"]
ACTIONS = {
    "discrete": "a single choice", "continuous": "numbers", "hybrid": "choices and numbers together",
    "parameterised": "a choice with numbers of its own",
}  # fmt: skip
"""The kinds of action (``engine.mdp.interface``), in words."""
DRAWING = frozenset({"actor-critic", "squashed", "team-squashed"})
"""The kinds of policy (``engine.rl.heads``) with odds to draw actions by."""


class ConvConfig(Config):
    """One convolution; the paper writes K4S2 for kernel 4, stride 2."""

    channels: Channels = Field(32, title="Channels")
    kernel: Pixels = Field(4, title="Kernel", description="pixels")
    stride: Pixels = Field(2, title="Stride", description="pixels")


K4S2 = ConvConfig()


class NetworkConfig(Config):
    """Hidden layers as Table III of Lamarckian lists them: the critic's from the input on, shared layers included. A
    layer's size may be a range; a shared layer is one gene."""

    conv: tuple[ConvConfig, ...] = Field((), max_length=8, title="Convolutions", description="for image inputs")
    policy: Layers = Field((256, 128), title="Layers of the policy", description="units in each")
    critic: Layers = Field((256, 128), title="Layers of the critic", description="units in each, shared ones included")
    sharing: Literal["top", "separate"] = Field(
        "top",
        title="Critic",
        description="top: built on top of the policy's layers, with which its list begins; separate: nothing shared.",
    )
    lstm: Annotated[int, Evolvable(0, 4096, whole=True)] = Field(
        0, title="LSTM units", description="between the layers and the outputs; 0: none"
    )
    activation: Literal["leaky_relu", "relu", "tanh"] = Field("leaky_relu", title="Activation")
    log_std: Annotated[float, Evolvable(-5.0, 2.0)] = Field(
        0.0, title="First spread of continuous actions", description="its logarithm"
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.sharing == "top" and self.critic[: len(self.policy)] != self.policy:
            raise ValueError(
                "a critic on top of the policy must begin with the policy's layers: write the same there, "
                "or set sharing to separate"
            )
        if self.sharing == "separate" and self.lstm:
            raise ValueError("an LSTM is shared: put the critic on top")
        return self

    def tied(self) -> dict[KeyPath, KeyPath]:
        """The layers that a critic shares with the policy."""
        shared = len(self.policy) if self.sharing == "top" else 0
        return {("critic", i): ("policy", i) for i in range(shared)}


class RewardConfig(Config):
    """One named reward's own terms; omitted ones are the algorithm's."""

    discount: Share | None = Field(None, title="Discount")
    trace: Share | None = Field(None, title="Trace")
    weight: Annotated[float, Evolvable(-1000.0, 1000.0)] = Field(1.0, title="Weight")


class LearnerConfig(Config):
    """Settings of every learner. ``actions``: the kinds of ``ACTIONS`` that its policy supports; ``head``: what its
    policy makes of its network's outputs (``engine.rl.heads.HEADS``). Learners of one head go on from each other.
    ``together``: it steers all seats of its policy as one group (``engine.mdp.groups``); ``apart``: it learns from each
    member's own rewards. ``critic_aside``: its policies are saved without its critic. ``replays``: it learns from old
    decisions again and again."""

    actions: ClassVar[frozenset[str]] = frozenset(ACTIONS)
    head: ClassVar[str] = "actor-critic"
    together: ClassVar[bool] = False
    apart: ClassVar[bool] = False
    critic_aside: ClassVar[bool] = False
    replays: ClassVar[bool] = False

    network: NetworkConfig = Field(default_factory=NetworkConfig)
    discount: Share = Field(0.99, title="Discount", description="γ, a decision")
    rate: Rate = Field(0.002, title="Learning rate")
    schedule: Schedule = Field("constant", title="Learning rate over time", description="linear: to 0 at the end")
    fragment: Steps = Field(50, title="Decisions in a fragment", description="of one environment")
    rewards: dict[str, RewardConfig] = Field(default_factory=dict, title="Named rewards with terms of their own")
    normalise_observations: bool = Field(False, title="Scale observations by their running mean and spread")
    scale_rewards: bool = Field(False, title="Scale rewards by the running spread of their discounted sum")

    @property
    def policy_network(self) -> NetworkConfig:
        """The network that its policies are saved with."""
        return NetworkConfig(**self.network.model_dump() | {"critic": ()}) if self.critic_aside else self.network

    @property
    def least_batch(self) -> int:
        """Fewest decisions in a batch; 0: a fragment of each battle is enough."""
        return 0

    def misfits(self, steps: int, together: int, *, synchronous: bool) -> Iterator[tuple[str, str]]:
        """(place, sentence) of conflicts with a training of ``steps``, of which ``together`` arrive at once."""
        return iter(())


class ActorCriticConfig(LearnerConfig):
    """Settings of all policy-gradient algorithms."""

    batch: Batch = Field(8192, title="Batch", description="decisions")
    trace: Share = Field(0.95, title="Trace", description="λ")
    policy_weight: Weight = Field(1.0, title="Weight of the policy's loss")
    critic_weight: Weight = Field(0.5, title="Weight of the critic's loss", description="mean squared error")
    entropy_weight: Weight = Field(0.01, title="Weight of the entropy")
    max_gradient: Norm = Field(0.0, title="Largest norm of a gradient", description="0: any")

    @property
    def least_batch(self) -> int:
        """The batch."""
        return self.batch


class PPOConfig(ActorCriticConfig):
    """Proximal policy optimisation; ``asynchronous`` is the variant with clipped traces for data of older policies."""

    kind: Literal["ppo"] = "ppo"
    clip: Rate = Field(0.2, title="Clip", description="how far a probability ratio may count from 1")
    clip_schedule: Schedule = Field("constant", title="Clip over time", description="linear: to 0 at the end")
    reuse: Annotated[int, Evolvable(1, 1000, whole=True)] = Field(1, title="Passes over a batch")
    minibatch: Minibatch = Field(0, title="Minibatch", description="decisions; 0: the whole batch")
    normalise_advantages: bool = Field(True, title="Normalise advantages")
    target_kl: Annotated[float, Evolvable(0.0, 10.0)] = Field(
        0.0, title="Stop a batch at this divergence", description="0: never"
    )
    asynchronous: bool = Field(False, title="Clipped traces", description="for sampling that does not wait")
    trace_clip: Clip = Field(1.0, title="Largest trace", description="c̄")


class A3CConfig(ActorCriticConfig):
    """Advantage actor-critic: asynchronous gradients, or one gradient of all environments (A2C)."""

    kind: Literal["a3c"] = "a3c"
    rate: Rate = Field(7e-4, title="Learning rate")
    fragment: Steps = Field(5, title="Decisions in a fragment", description="of one environment")
    batch: Batch = Field(80, title="Batch", description="decisions")
    trace: Share = Field(1.0, title="Trace", description="λ; 1: n-step returns")
    max_gradient: Norm = Field(0.5, title="Largest norm of a gradient", description="0: any")
    decay: Decay = Field(0.99, title="Decay of the squared gradient", description="α of RMSprop")
    epsilon: Rate = Field(1e-5, title="ε of RMSprop")

    def misfits(self, steps: int, together: int, *, synchronous: bool) -> Iterator[tuple[str, str]]:
        """Workers compute gradients without seeing the observations of others, so they cannot be normalised."""
        if not synchronous and self.normalise_observations:
            why = "samplers that learn on the spot (A3C, asynchronous) share no scale; train in step"
            yield "normalise_observations", why


class IMPALAConfig(ActorCriticConfig):
    """Importance-weighted actor-learner with V-trace."""

    kind: Literal["impala"] = "impala"
    rate: Rate = Field(6e-4, title="Learning rate")
    fragment: Steps = Field(20, title="Decisions in a fragment", description="of one environment")
    batch: Batch = Field(640, title="Batch", description="decisions")
    trace: Share = Field(1.0, title="Trace", description="λ")
    rho_clip: Clip = Field(1.0, title="Largest ratio in an error", description="ρ̄")
    trace_clip: Clip = Field(1.0, title="Largest ratio in a trace", description="c̄")
    decay: Decay = Field(0.99, title="Decay of the squared gradient", description="α of RMSprop")
    epsilon: Rate = Field(0.1, title="ε of RMSprop")


class ReplayedConfig(LearnerConfig):
    """Settings of all learners with a replay of transitions."""

    replays: ClassVar[bool] = True

    n_step: Annotated[int, Evolvable(1, 100, whole=True)] = Field(1, title="Decisions before a target's own value")
    capacity: Count = Field(100_000, title="Replay", description="decisions kept")
    warmup: Count = Field(1000, title="Decisions before learning begins")
    minibatch: Annotated[int, Evolvable(1, 1_000_000, whole=True)] = Field(
        64, title="Minibatch", description="decisions"
    )
    updates: Annotated[float, Evolvable(0.0, 100.0, above=True)] = Field(0.5, title="Updates a decision")

    def misfits(self, steps: int, together: int, *, synchronous: bool) -> Iterator[tuple[str, str]]:
        """Conflicts of the replay; ranges are refused elsewhere."""
        if isinstance(self.warmup, int) and self.warmup >= steps:
            few = f"the first {self.warmup:,} decisions are played by chance, and there are {steps:,} in all"
            yield "warmup", f"{few}: let the training last longer, or fewer be played by chance"
        if isinstance(self.capacity, int) and self.capacity < together:
            yield "capacity", f"{together:,} decisions arrive together, and all must be kept: give as many at least"
        if isinstance(self.n_step, int) and isinstance(self.fragment, int) and self.n_step > self.fragment:
            whole = f"a return ends with its fragment, which has {self.fragment:,}"
            yield "n_step", f"{whole}: let fragments be of {self.n_step:,} decisions at least, or take fewer steps"

    @model_validator(mode="after")
    def _learns_one_sum(self) -> Self:
        refuse(self._unused())
        return self

    def _unused(self) -> Iterator[tuple[str, str]]:
        """Settings without effect, because targets are of the weighted sum of rewards, in the game's own units."""
        if self.scale_rewards:
            yield "scale_rewards", f"{self._name} learns from rewards as they are: switch this off"
        why = "learns the weighted sum of all rewards, with one discount and no trace: give each a weight alone"
        for name, terms in self.rewards.items():
            own = [term for term in ("discount", "trace") if getattr(terms, term) is not None]
            yield from ((f"rewards.{name}.{term}", f"{self._name} {why}") for term in own)

    @property
    def _name(self) -> str:
        return type(self).__name__.removesuffix("Config")


class DQNConfig(ReplayedConfig):
    """Deep Q-network with its extensions, each of which can be switched off."""

    actions: ClassVar[frozenset[str]] = frozenset({"discrete"})
    head: ClassVar[str] = "q"

    kind: Literal["dqn"] = "dqn"
    rate: Rate = Field(2.3e-3, title="Learning rate")
    fragment: Steps = Field(32, title="Decisions in a fragment", description="of one environment")
    network: NetworkConfig = Field(default_factory=lambda: NetworkConfig(policy=(256, 256), critic=(256, 256)))
    double: bool = Field(True, title="Double", description="the network chooses, its target values")
    duelling: bool = Field(True, title="Duelling", description="a state's value and actions' advantages apart")
    prioritised: bool = Field(True, title="Prioritised replay")
    target_every: Count = Field(128, title="Updates between copies to the target")
    alpha: Share = Field(0.6, title="Prioritisation", description="α; 0: uniform")
    beta: Share = Field(0.4, title="First correction for prioritisation", description="β; 1 at the end")
    explore: Rate = Field(0.16, title="Share of training over which exploration falls")
    epsilon: Share = Field(0.04, title="Exploration after that", description="chance of a random action")
    max_gradient: Norm = Field(10.0, title="Largest norm of a gradient", description="0: any")


class ApartConfig(NetworkConfig):
    """Layers of a policy and of critics that look at its actions, too, so nothing can be shared."""

    policy: Layers = Field((400, 300), title="Layers of the policy", description="units in each")
    critic: Layers = Field((400, 300), title="Layers of the critics", description="units in each")
    sharing: Literal["separate"] = Field("separate", title="Critic", description="separate: nothing shared.")
    activation: Literal["leaky_relu", "relu", "tanh"] = Field("relu", title="Activation")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.lstm:
            refuse([("lstm", "it learns from single decisions and needs none: write 0, or take an actor-critic")])
        return self


class SteeringConfig(ReplayedConfig):
    """Settings of learners that steer with numbers and have two critics and a replay."""

    actions: ClassVar[frozenset[str]] = frozenset({"continuous"})
    critic_aside: ClassVar[bool] = True

    network: ApartConfig = Field(default_factory=ApartConfig)
    fragment: Steps = Field(1, title="Decisions in a fragment", description="of one environment")
    capacity: Count = Field(200_000, title="Replay", description="decisions kept")
    warmup: Count = Field(10_000, title="Decisions before learning begins", description="played by chance")
    minibatch: Annotated[int, Evolvable(1, 1_000_000, whole=True)] = Field(
        256, title="Minibatch", description="decisions"
    )
    updates: Annotated[float, Evolvable(0.0, 100.0, above=True)] = Field(1.0, title="Updates a decision")
    tau: Rate = Field(0.005, title="Share by which targets follow", description="τ, an update")
    max_gradient: Norm = Field(0.0, title="Largest norm of a gradient", description="0: any")


class TD3Config(SteeringConfig):
    """Twin delayed deep deterministic policy gradient."""

    head: ClassVar[str] = "deterministic"

    kind: Literal["td3"] = "td3"
    rate: Rate = Field(1e-3, title="Learning rate")
    explore: Decay = Field(0.1, title="Noise of exploration", description="spread, as a share of half the range")
    smooth: Weight = Field(0.2, title="Noise of a target's action", description="spread, as a share of half the range")
    smooth_clip: Weight = Field(0.5, title="Largest noise of a target's action", description="of half the range")
    delay: Annotated[int, Evolvable(1, 1000, whole=True)] = Field(
        2, title="Updates of the critics for one of the policy"
    )


class SACConfig(SteeringConfig):
    """Soft actor-critic."""

    head: ClassVar[str] = "squashed"

    kind: Literal["sac"] = "sac"
    rate: Rate = Field(3e-4, title="Learning rate")
    network: ApartConfig = Field(default_factory=lambda: ApartConfig(policy=(256, 256), critic=(256, 256)))
    alpha: Annotated[float, Evolvable(0.0, 100.0, above=True)] = Field(
        1.0, title="Weight of the entropy", description="α; the first one where it is learned"
    )
    automatic: bool = Field(True, title="Learn the weight of the entropy")
    entropy: Annotated[float, Evolvable(-100.0, 100.0)] = Field(
        -1.0, title="Entropy aimed at", description="for each number of an action; −1 as in the paper"
    )


def _two_layers() -> ApartConfig:
    return ApartConfig(policy=(256, 256), critic=(256, 256))


class MASACConfig(SACConfig):
    """Multi-agent soft actor-critic: one pair of critics for a whole group, and an actor for each member."""

    head: ClassVar[str] = "team-squashed"
    together: ClassVar[bool] = True

    kind: Literal["masac"] = "masac"  # type: ignore[assignment]
    rate: Rate = Field(1e-3, title="Learning rate")
    minibatch: Annotated[int, Evolvable(1, 1_000_000, whole=True)] = Field(
        100, title="Minibatch", description="decisions of the whole group"
    )
    capacity: Count = Field(200_000, title="Replay", description="decisions of the whole group kept")
    alpha: Annotated[float, Evolvable(0.0, 100.0, above=True)] = Field(
        0.2, title="Weight of the entropy", description="α; the first one where it is learned"
    )
    automatic: bool = Field(False, title="Learn the weight of the entropy")


class MADDPGConfig(SteeringConfig):
    """Multi-agent deep deterministic policy gradient: a critic of the whole group and an actor for each member."""

    head: ClassVar[str] = "team-deterministic"
    together: ClassVar[bool] = True
    apart: ClassVar[bool] = True

    kind: Literal["maddpg"] = "maddpg"
    rate: Rate = Field(1e-3, title="Learning rate")
    network: ApartConfig = Field(default_factory=_two_layers)
    minibatch: Annotated[int, Evolvable(1, 1_000_000, whole=True)] = Field(
        256, title="Minibatch", description="decisions of the whole group"
    )
    capacity: Count = Field(200_000, title="Replay", description="decisions of the whole group kept")
    tau: Rate = Field(0.01, title="Share by which targets follow", description="τ, an update")
    max_gradient: Norm = Field(0.5, title="Largest norm of a member's gradient", description="0: any")
    explore: Decay = Field(0.5, title="Noise of exploration", description="spread, as a share of half the range")
    penalty: Weight = Field(
        1e-3, title="Weight that keeps actions off their bounds", description="κ, of the square of unbounded outputs"
    )


def _one_layer() -> ApartConfig:
    return ApartConfig(policy=(128,), critic=(128,))


class NumberedConfig(ReplayedConfig):
    """Settings of learners of choices that have numbers of their own, with a replay."""

    actions: ClassVar[frozenset[str]] = frozenset({"parameterised"})

    network: ApartConfig = Field(default_factory=_one_layer)
    rate: Rate = Field(1e-3, title="Learning rate", description="of what choices are worth")
    numbers_rate: Rate = Field(1e-4, title="Learning rate of the numbers")
    fragment: Steps = Field(8, title="Decisions in a fragment", description="of one environment")
    minibatch: Annotated[int, Evolvable(1, 1_000_000, whole=True)] = Field(
        128, title="Minibatch", description="decisions"
    )
    updates: Annotated[float, Evolvable(0.0, 100.0, above=True)] = Field(1.0, title="Updates a decision")
    tau: Rate = Field(0.01, title="Share by which targets follow", description="τ, an update")
    numbers_tau: Rate = Field(0.001, title="Share by which the numbers’ target follows", description="an update")
    beta: Share = Field(
        0.0, title="Share of what was played in a target", description="β; the return up to the end of the fragment"
    )
    start: tuple[float, ...] = Field(
        (), max_length=1000, title="Numbers to begin with",
        description="of all choices, one after the other, as the game has them; empty: the middle of their bounds",
    )  # fmt: skip
    slopes: tuple[tuple[float, ...], ...] = Field(
        (), max_length=1000, title="How these numbers follow what is seen",
        description="W_0: for each number how much it grows with each number seen, as a share of half its range; "
        "empty: not at all",
        exclude_if=lambda slopes: not slopes,  # keeps the hash of studies without them
    )  # fmt: skip
    explore: Rate = Field(0.1, title="Share of training over which exploration falls")
    epsilon: Share = Field(0.02, title="Exploration after that", description="chance of a random action")
    max_gradient: Norm = Field(10.0, title="Largest norm of a gradient", description="0: any")


class PDQNConfig(NumberedConfig):
    """Parametrised deep Q-network: what each choice is worth with the numbers of all."""

    head: ClassVar[str] = "numbered-q"

    kind: Literal["pdqn"] = "pdqn"


class MPDQNConfig(NumberedConfig):
    """Multi-pass deep Q-network: what each choice is worth with its own numbers."""

    head: ClassVar[str] = "numbered-passes"

    kind: Literal["mpdqn"] = "mpdqn"


class PADDPGConfig(NumberedConfig):
    """Deep deterministic policy gradient for choices that have numbers of their own."""

    head: ClassVar[str] = "numbered-actor"
    critic_aside: ClassVar[bool] = True

    kind: Literal["paddpg"] = "paddpg"
    rate: Rate = Field(1e-3, title="Learning rate", description="of the critic")
    numbers_rate: Rate = Field(1e-4, title="Learning rate of the policy")
    tau: Rate = Field(0.001, title="Share by which the critic’s target follows", description="τ, an update")
    numbers_tau: Rate = Field(0.001, title="Share by which the policy’s target follows", description="an update")


AnyLearner = (
    PPOConfig | A3CConfig | IMPALAConfig | DQNConfig | TD3Config | SACConfig | MASACConfig | MADDPGConfig
    | PDQNConfig | MPDQNConfig | PADDPGConfig
)  # fmt: skip


class TrainingConfig(Config):
    """One training run: an algorithm, its length, the number of environments, and the evaluations."""

    algorithm: Annotated[AnyLearner, Field(discriminator="kind")] = Field(default_factory=PPOConfig)
    steps: int = Field(100_000, ge=1, le=10**12, title="Decisions", description="of learning seats")
    environments: int = Field(8, ge=1, le=100_000, title="Environments stepped together")
    seed: int = Field(1, ge=0, lt=2**63, title="Seed")
    examine_every: int = Field(
        0, ge=0, le=10**12, title="Decisions between examinations", description="0: at the end only"
    )
    checkpoint_every: int = Field(0, ge=0, le=10**12, title="Decisions between checkpoints", description="0: none")
    episodes: int = Field(100, ge=0, le=100_000, title="Fresh episodes of an examination")


_IMAGE = NetworkConfig(conv=(K4S2,) * 4, policy=(256,), critic=(256,))
_TABLE_3 = {"trace": 0.95, "fragment": 50, "asynchronous": True}
"""Lamarckian's Table III: PPO with normalised advantages, no KL penalty, LeakyReLU, critics on top. Values missing from
the table are those of the released code: trace 0.95, fragments of 50 steps, clipped traces, 32 channels a convolution.
"""

_PLATFORM = {
    "normalise_observations": True, "discount": 0.9, "capacity": 10_000, "warmup": 500, "explore": 0.05,
    "epsilon": 0.01, "start": (3.0, 10.0, 400.0),
}  # fmt: skip
"""Those of the released code of Bester et al. (2019) for Platform, but that it explores in the first 1,000 of 20,000
episodes, and here in a twentieth of the decisions that are planned. What is
seen is scaled by its mean and spread, there to ±1: in Platform all of it lies between 0 and 1, and all kinks of a new
network in a corner of that, so that one seed of five unlearned what it could."""
_TO_THE_BALL = (
    (*[0.0] * 10, 1.0, 0.0, 0.0, 0.0), (*[0.0] * 11, 5 / 3, 0.0, 0.0), (0.0,) * 14, (0.0,) * 14,
)  # fmt: skip
"""W_0 of Goal: with ``start`` a kick is to 2.5 m to the right of the ball and a sixth nearer to the middle than it."""
_GOAL = {
    "normalise_observations": True, "discount": 0.95, "capacity": 20_000, "warmup": 500, "explore": 0.05,
    "epsilon": 0.01, "numbers_rate": 1e-5, "max_gradient": 1.0, "rewards": {"score": RewardConfig(weight=0.02)},
    "network": ApartConfig(policy=(256,), critic=(256,)), "start": (2.5, -12.5, 6.01, -6.01),
    "slopes": _TO_THE_BALL,
}  # fmt: skip
"""The same for Goal: shots begin a metre inside the posts. The features that the released code adds to the game's are
left out, so a kick does not begin with what the two of the ball add to it."""
_HALF_FIELD = {
    "warmup": 1000, "minibatch": 32, "updates": 0.1, "explore": 0.02, "epsilon": 0.05, "beta": 0.2, "tau": 0.001,
    "numbers_rate": 1e-4, "schedule": "linear", "max_gradient": 1.0, "fragment": 50,
    "network": ApartConfig(policy=(256, 128, 64), critic=(256, 128, 64), activation="leaky_relu"),
}  # fmt: skip
"""The same for half-field offence. Unlike the released code the numbers learn ten times as fast, rates fall to 0,
chance falls to half as much, within a fiftieth of the decisions, and returns of what was played end with a fragment,
after 50 decisions: all for starts that are learned together."""
NAVIGATION: dict[str, Any] = {
    "rate": 1e-3, "minibatch": 100, "capacity": 500_000, "warmup": 10_000, "updates": 0.125, "fragment": 50,
    "network": ApartConfig(policy=(256, 256), critic=(256, 256)),
}  # fmt: skip
"""Settings of AI Arena for cooperative navigation, an update in eight decisions of a group, but that its replay keeps a
million, and that there eight workers add up their gradients: each update has 800 decisions, and here 100."""
_SHORT = NetworkConfig(policy=(64, 64), critic=(64, 64), sharing="separate", activation="tanh")
PRESETS: dict[str, AnyLearner] = {
    "table3-pendulum": PPOConfig(
        discount=0.99, clip=0.2, rate=0.01, batch=8192, reuse=1,
        policy_weight=1, critic_weight=0.5, entropy_weight=0.01,
        network=NetworkConfig(policy=(256, 128), critic=(256, 128, 128, 64)), **_TABLE_3,
    ),
    "table3-image-pong": PPOConfig(
        discount=0.99, clip=0.2, rate=0.01, batch=8192, reuse=1,
        policy_weight=1, critic_weight=0.5, entropy_weight=0.01, network=_IMAGE, **_TABLE_3,
    ),
    "table3-vector-pong": PPOConfig(
        discount=0.99, clip=0.2, rate=(0.0, 0.1), batch=8192, reuse=1,
        policy_weight=1, critic_weight=(0.0, 1.0), entropy_weight=0.01,
        network=NetworkConfig(policy=(256, 128), critic=(256, 128)), **_TABLE_3,
    ),
    "table3-gfootball": PPOConfig(
        discount=0.993, clip=0.2, rate=0.0005, batch=32768, reuse=2,
        policy_weight=1, critic_weight=0.5, entropy_weight=0.01,
        network=NetworkConfig(policy=(512, 256, 128), critic=(512, 256, 128, 128, 64)), **_TABLE_3,
    ),
    "cartpole-ppo": PPOConfig(
        discount=0.98, trace=0.8, fragment=32, batch=256, minibatch=256, reuse=20, rate=1e-3, schedule="linear",
        clip_schedule="linear", entropy_weight=0.0, max_gradient=0.5, network=_SHORT,
    ),
    "cartpole-dqn": DQNConfig(schedule="linear"),
    "pendulum-ppo": PPOConfig(
        discount=0.9, trace=0.95, fragment=256, batch=2048, minibatch=64, reuse=10, rate=1e-3, entropy_weight=0.0,
        max_gradient=0.5, scale_rewards=True, network=_SHORT,
    ),
    "pendulum-td3": TD3Config(discount=0.98, warmup=1000),
    "pendulum-sac": SACConfig(discount=0.98, warmup=1000, rate=1e-3),
    "navigation-masac": MASACConfig(**NAVIGATION),
    "navigation-maddpg": MADDPGConfig(**NAVIGATION),
    "published-maddpg": MADDPGConfig(
        rate=0.01, discount=0.95, minibatch=1024, capacity=1_000_000, warmup=25_600, updates=0.01, fragment=25,
        network=ApartConfig(policy=(64, 64), critic=(64, 64)),
    ),
    "platform-pdqn": PDQNConfig(tau=0.1, **_PLATFORM),
    "platform-mpdqn": MPDQNConfig(tau=0.1, **_PLATFORM),
    "platform-paddpg": PADDPGConfig(**_PLATFORM),
    "goal-pdqn": PDQNConfig(tau=0.1, **_GOAL),
    "goal-mpdqn": MPDQNConfig(tau=0.1, **_GOAL),
    "half-field-mpdqn": MPDQNConfig(**_HALF_FIELD),
    "half-field-pdqn": PDQNConfig(**_HALF_FIELD),
    "half-field-paddpg": PADDPGConfig(**_HALF_FIELD),
    "pong-ppo": PPOConfig(fragment=128, minibatch=1024, reuse=4, rate=1e-3, entropy_weight=0.003, max_gradient=0.5),
    "pong-a3c": A3CConfig(
        batch=512, fragment=16, rate=8.4e-3, trace=0.95, entropy_weight=0.003, max_gradient=0.5,
    ),
    "pong-impala": IMPALAConfig(
        batch=512, fragment=16, rate=3e-3, trace=0.95, entropy_weight=0.003, max_gradient=0.5, epsilon=1e-5,
    ),
}  # fmt: skip
"""Settings that reach their bar (``python -m engine.bench learning``), Table III of Lamarckian with its numbers, those
that ``python -m engine.bench arena-navigation`` measures, and those of MADDPG's released code."""
