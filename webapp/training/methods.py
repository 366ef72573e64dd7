"""The learning algorithms and the presets to begin from, in a designer's words; and which fit which game."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from engine.catalog import GAMES, LEARNERS
from engine.config.genes import genes
from engine.config.rl import K4S2, PRESETS, AnyLearner, LearnerConfig, NetworkConfig
from webapp.training.games import NUMBERS, PARAMETERISED, PICTURES, STEERING, Offer

_PONGS = ("pong", "pong-two-seats")
USUAL, SEEN = "usual", "pictures"
_FEW_PASSES = {"reuse": 4, "minibatch": 1024, "max_gradient": 0.5}
"""With PPO's own settings, one step for each batch as in Lamarckian, a course of a million decisions of Pong leaves
agents that never win a point; with these the last one beats the script."""
_PICTURES = NetworkConfig(conv=(K4S2,) * 4, policy=(256,), critic=(256,))


@dataclass(frozen=True)
class Preset:
    """Settings to begin from. ``games``: the offers it was tried on; empty: any that the agent sees as ``sees``.
    ``battles``: played together, by all samplers; ``steps``: decisions that are enough as a rule."""

    key: str
    title: str
    text: str
    learner: AnyLearner
    sees: str = NUMBERS
    games: tuple[str, ...] = ()
    battles: int = 32
    steps: int = 1_000_000

    @property
    def kind(self) -> str:
        return self.learner.kind

    def suits(self, offer: str, sees: str) -> bool:
        """Whether it can be begun from in a game; one whose input is not known may take any."""
        return offer in self.games if self.games else sees in ("", self.sees)


@dataclass(frozen=True)
class Algorithm:
    kind: str
    text: str
    settings: type[LearnerConfig] = field(repr=False)

    @property
    def title(self) -> str:
        return LEARNERS[self.kind].label


ALGORITHMS = {kind: Algorithm(kind, entry.explanation, entry.config) for kind, entry in LEARNERS.items()}  # type: ignore[arg-type]


def misfit(kind: str, does: str, offer: Offer | None = None) -> str:
    """Why an algorithm cannot play a game; empty when it can, or when only trying tells. ``offer``: the game, where an
    agent learns alone."""
    algorithm = ALGORITHMS.get(kind)
    if algorithm is not None and algorithm.settings.together and offer is not None and offer.alone:
        return f"{algorithm.title} steers a team as one, and in this game one plays alone."
    return unable(kind, does, "" if offer is None else offer.sees)


def first(offer: Offer, does: str) -> str:
    """The algorithm to begin with in a game: that of the first preset made for it. Where there is none, MP-DQN if
    choices have numbers of their own, else PPO."""
    made = [preset.kind for preset in PRESET_LIST.values() if offer.key in preset.games]
    usual = "mpdqn" if does == PARAMETERISED else "ppo"
    return [*(kind for kind in made if not misfit(kind, does, offer)), usual][0]


def unable(kind: str, does: str, sees: str) -> str:
    """Why an algorithm cannot see what is seen in a game, or do what is done there, also on one seat of several."""
    algorithm = ALGORITHMS.get(kind)
    if algorithm is not None and algorithm.settings.together and sees == PICTURES:
        return f"{algorithm.title} looks at numbers, and this game shows pictures."
    if algorithm is None or does in ("", *algorithm.settings.actions):
        return ""
    if algorithm.settings.actions == {PARAMETERISED}:
        return f"{algorithm.title} needs choices with numbers of their own, and this game has none."
    if does == PARAMETERISED:
        return f"{algorithm.title} cannot choose an action and its numbers together, and this game needs both."
    if does == STEERING:
        return f"{algorithm.title} chooses one of several actions, and this game is steered with numbers."
    return f"{algorithm.title} steers with numbers, and in this game one of several actions is chosen."


def _settled(learner: AnyLearner) -> AnyLearner:
    """The same learner with its algorithm's own numbers where a preset leaves a range to evolution."""
    usual = type(learner)()
    return learner.model_copy(update={gene.place: getattr(usual, gene.place) for gene in genes(learner)})


def _engine(key: str, title: str, text: str, **more: Any) -> Preset:
    return Preset(key, title, text, _settled(PRESETS[key]), **more)


def _own(kind: str) -> tuple[Preset, Preset]:
    """An algorithm's own settings, for games of numbers and of pictures."""
    label, plain = ALGORITHMS[kind].title, cast("AnyLearner", ALGORITHMS[kind].settings())
    learner = plain.model_copy(update=dict(_FEW_PASSES)) if kind == "ppo" else plain
    layers = {"sharing": learner.network.sharing, "activation": learner.network.activation}
    seeing = learner.model_copy(update={"network": learner.network.model_copy(update=dict(_PICTURES) | layers)})
    usual = Preset(
        f"{kind}-{USUAL}", "Usual settings", f"{label} with its usual numbers: for a game nobody has tuned.", learner
    )
    picture = Preset(
        f"{kind}-{SEEN}",
        "Usual settings, pictures",
        f"{label} with four convolutions in front, which look at pictures.",
        seeing,
        PICTURES,
    )
    return usual, picture


# Lamarckian's Table III, number for number.
_PAPER = "As a published study had them"
PRESET_LIST = {
    preset.key: preset
    for preset in (
        _engine(
            "cartpole-ppo", "Tuned for CartPole", "Small batches, each used often. Masters it in 100,000 decisions.",
            games=("cartpole",), battles=8, steps=100_000,
        ),
        _engine(
            "cartpole-dqn", "Tuned for CartPole", "Remembers every decision. Masters it in 50,000 decisions.",
            games=("cartpole",), battles=8, steps=50_000,
        ),
        _engine(
            "pendulum-ppo", "Tuned for Pendulum", "Scales rewards and looks a short way ahead. 100,000 decisions.",
            games=("pendulum",), battles=8, steps=100_000,
        ),
        _engine(
            "pendulum-td3", "Tuned for Pendulum", "Remembers every decision. 20,000 decisions.",
            games=("pendulum",), battles=8, steps=20_000,
        ),
        _engine(
            "pendulum-sac", "Tuned for Pendulum", "Remembers every decision. 20,000 decisions.",
            games=("pendulum",), battles=8, steps=20_000,
        ),
        _engine(
            "pong-ppo", "Tuned for Pong", "The one to begin with. 5,000,000 decisions.",
            games=_PONGS, battles=64, steps=5_000_000,
        ),
        _engine(
            "pong-a3c", "Tuned for Pong", "Learns from small batches, very often. 5,000,000 decisions.",
            games=_PONGS, battles=32, steps=5_000_000,
        ),
        _engine(
            "pong-impala", "Tuned for Pong", "As A3C, corrected for older data: the one for many samplers.",
            games=_PONGS, battles=32, steps=10_000_000,
        ),
        _engine(
            "table3-vector-pong", "Published for Pong, numbers",
            f"{_PAPER}; what it left to a search begins as usual.",
            games=_PONGS, battles=64, steps=5_000_000,
        ),
        _engine(
            "table3-image-pong", "Published for Pong, pictures", f"{_PAPER}: four convolutions and large batches.",
            sees=PICTURES, steps=5_000_000,
        ),
        _engine(
            "table3-pendulum", "Published for Pendulum", f"{_PAPER}: learns from 8,192 decisions at a time.",
            games=("pendulum",), battles=64, steps=2_000_000,
        ),
        _engine(
            "table3-gfootball", "Published for football", f"{_PAPER}: a deep network, 32,768 decisions at a time.",
            battles=64, steps=20_000_000,
        ),
        *(
            _engine(
                f"{game}-{kind}", f"Published for {GAMES[game].label}", f"{_PAPER}. 200,000 decisions.", games=(game,),
                battles=8, steps=200_000,
            )
            for game, kinds in (("platform", ("mpdqn", "pdqn", "paddpg")), ("goal", ("mpdqn", "pdqn")))
            for kind in kinds
        ),
        *(
            _engine(
                f"half-field-{kind}", f"For {GAMES['half-field'].label.lower()}",
                "After a published study, with numbers that learn ten times as fast and rates that fall to 0. "
                "4,000,000 decisions.",
                games=("half-field", "half-field-keeper"), battles=8, steps=4_000_000,
            )
            for kind in ("mpdqn", "pdqn", "paddpg")
        ),
        *(
            _engine(
                f"navigation-{kind}", "For covering targets", "An update in eight decisions of the team, as published.",
                games=("navigation",), battles=8, steps=2_400_000,
            )
            for kind in ("masac", "maddpg")
        ),
        _engine(
            "published-maddpg", "Published for teams", "As its authors had it: small networks, few and large updates.",
            games=("navigation",), battles=8, steps=2_400_000,
        ),
        *(
            preset
            for kind, each in ALGORITHMS.items()
            for preset in _own(kind)
            if preset.sees == NUMBERS or not each.settings.together
        ),
    )
}  # fmt: skip


def presets_for(kind: str, offer: str, sees: str) -> list[Preset]:
    """The presets of an algorithm for a game, the most fitting first."""
    suitable = [p for p in PRESET_LIST.values() if p.kind == kind and p.suits(offer, sees)]
    return sorted(suitable, key=lambda p: (not p.games, p.key not in (f"{kind}-{USUAL}", f"{kind}-{SEEN}")))
