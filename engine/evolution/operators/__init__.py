"""Codings: what a genome may be, each with its own operators. Every coding is a ``Space`` whose genome is one numpy
row, so that columns, checkpoints and artifacts hold any of them.

| coding | genome | crossover | mutation |
|---|---|---|---|
| RealSpace | float64[d] | simulated binary, uniform (pymoo) | polynomial (pymoo), uniform |
| IntegerSpace | int64[d] | those of real vectors, rounded | those of real vectors, rounded |
| BinarySpace | uint8[d] | uniform or one point (pymoo) | bit flips (pymoo) |
| CategoricalSpace | int32[d] | uniform or one point (pymoo) | another option |
| PermutationSpace | int32[n] | order (pymoo), partially mapped, cycle | inversion (pymoo), swap, insertion |
| SubsetSpace | int32[k], ascending | common members kept | members replaced |
| TeamSpace | int32[t, s], canonical | grouping | swap between teams, replacement from the bench |
| BlobSpace | float32[w], layer groups | better parent, single point between layer groups | Gaussian |
| MixtureSpace | float64[sum] | each part's own | each part's own |
"""

from engine.evolution.operators.blob import BlobSpace, LayerGroup
from engine.evolution.operators.coding import Coding
from engine.evolution.operators.discrete import BinarySpace, CategoricalSpace
from engine.evolution.operators.integer import IntegerSpace
from engine.evolution.operators.mixture import MixtureSpace, Part
from engine.evolution.operators.permutation import PermutationSpace
from engine.evolution.operators.real import RealSpace
from engine.evolution.operators.subset import SubsetSpace
from engine.evolution.operators.team import TeamSpace

__all__ = [
    "BinarySpace",
    "BlobSpace",
    "CategoricalSpace",
    "Coding",
    "IntegerSpace",
    "LayerGroup",
    "MixtureSpace",
    "Part",
    "PermutationSpace",
    "RealSpace",
    "SubsetSpace",
    "TeamSpace",
]
