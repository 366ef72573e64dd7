"""The rules by which AES-RL's centre and its spread move (Lee et al. 2020, section 3 and appendix B), as data."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field

from engine.config.base import Config
from engine.text import figures

SMALLEST = 1e-9
"""Points of score, above which those lie that scores are divided by: with smaller ones a share may be no number."""
Backward = Annotated[
    float,
    Field(ge=0, le=1, title="Steps away from what is worse", description="p_negative; 0: the centre never goes back"),
]
Range = Annotated[
    float | None,
    Field(
        gt=SMALLEST, le=1e12, title="Range", description="r, in points of score; none: a sixth of the spread of scores"
    ),
]


class FullMoveConfig(Config):
    """The centre jumps to whatever is better: the (1+1) evolution strategy."""

    kind: Literal["full-move"] = "full-move"


class OldestConfig(Config):
    """The centre follows the better half of the newest individuals."""

    kind: Literal["oldest"] = "oldest"


class LinearConfig(Config):
    """The centre moves in proportion to how much better an individual is."""

    kind: Literal["linear"] = "linear"
    range: Range = None
    backward: Backward = 0.0


class SigmoidConfig(Config):
    """As linear, but smoothly. ``reading``: in the released code worse individuals pull the centre, too."""

    kind: Literal["sigmoid"] = "sigmoid"
    range: Range = None
    backward: float = Field(
        0.0, ge=0, le=1, title="Steps to what is worse",
        description="p_negative, in the paper’s reading: equation 8 has no steps away from it; 0: none at all",
    )  # fmt: skip
    reading: Literal["paper", "code"] = Field("paper", title="Reading", description="of equation 8")


class AbsoluteConfig(Config):
    """The centre moves by an individual's share of what both score above a fixed baseline."""

    kind: Literal["absolute"] = "absolute"
    baseline: float = Field(
        ge=-1e12, le=1e12, title="Baseline", description="f_b, a score below any that random actions reach"
    )

    def too_high(self, worst: float) -> str:
        """What is wrong where chance alone scored ``worst`` at worst; empty where the baseline lies below."""
        if self.baseline < worst:
            return ""
        step = 10.0 ** (math.floor(math.log10(abs(worst) or 1.0)) - 3)  # four digits, and never above what was scored
        said = figures(math.floor(worst / step) * step)
        return f"chance alone scored about {said} at worst, and the baseline must lie below that"


class RelativeConfig(Config):
    """The same above a baseline that lies so much below the centre's score."""

    kind: Literal["relative"] = "relative"
    baseline: float | None = Field(
        None, gt=SMALLEST, le=1e12, title="Baseline",
        description="f_b, points of score below the centre's; none: a sixth of the spread of scores",
    )  # fmt: skip
    backward: Backward = 0.0


MeanRule = Annotated[
    FullMoveConfig | OldestConfig | LinearConfig | SigmoidConfig | AbsoluteConfig | RelativeConfig,
    Field(discriminator="kind"),
]


class _Spread(Config):
    floor: float = Field(1e-5, gt=0, le=1, title="Least variance", description="of a weight")

    def least_variance(self, population: int) -> float:
        """What a variance falls to in the end where the centre goes most of the way to who is better, and so many
        individuals are kept."""
        return self.floor


class _Averaged(_Spread):
    epsilon: float = Field(
        1e-5, ge=0, le=1, title="Variance added at each update",
        description="ε; 0: as released, most of it is lost. With n individuals remembered, no less than n ε is left; "
        "where individuals move the centre a little, it widens the variance",
    )  # fmt: skip


class AdaptiveConfig(_Averaged):
    """An individual counts for the more the more the centre moves to it, for one of ``least`` at most."""

    kind: Literal["adaptive"] = "adaptive"
    least: float = Field(
        2.0, ge=1, le=100_000, title="Individuals remembered at least",
        description="n; 1: as in the paper, where after a full move nothing is left but what is added",
    )  # fmt: skip

    def least_variance(self, population: int) -> float:
        """Its floor, or what ε keeps."""
        return max(self.floor, self.least * self.epsilon)


class FixedConfig(_Averaged):
    """Every individual counts for one of n."""

    kind: Literal["fixed"] = "fixed"
    n: int = Field(10, ge=1, le=100_000, title="Individuals remembered", description="n")

    def least_variance(self, population: int) -> float:
        """Its floor, or what ε keeps."""
        return max(self.floor, self.n * self.epsilon)


class SuccessConfig(_Spread):
    """Wider while more than a share of the individuals are better than the centre, else narrower."""

    kind: Literal["success"] = "success"
    share: float = Field(0.2, gt=0, lt=1, title="Share of successes", description="p_th: one in five")
    history: int = Field(10, ge=1, le=10_000, title="Individuals that are counted")
    factor: float = Field(0.99, gt=0, lt=1, title="Factor", description="of the variance, down; up: its inverse")


class ElitesConfig(_Averaged):
    """Follows the better half of the newest individuals; with the centre's rule oldest."""

    kind: Literal["elites"] = "elites"

    def least_variance(self, population: int) -> float:
        """Its floor, or what ε keeps."""
        return max(self.floor, population * self.epsilon)


class ConstantConfig(Config):
    """Stays as it begins."""

    kind: Literal["constant"] = "constant"

    def least_variance(self, population: int) -> float:
        """None: it falls to nothing."""
        return 0.0


VarianceRule = Annotated[
    AdaptiveConfig | FixedConfig | SuccessConfig | ElitesConfig | ConstantConfig, Field(discriminator="kind")
]


def compared(mean: MeanRule, variance: VarianceRule) -> bool:
    """Whether individuals are compared with the centre, whose score must then be known; ranks are among themselves."""
    return not isinstance(mean, OldestConfig) or isinstance(variance, SuccessConfig)
