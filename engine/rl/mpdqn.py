"""MP-DQN: multi-pass deep Q-networks (Bester, James & Konidaris 2019, "Multi-Pass Q-Networks for Deep Reinforcement
Learning with Parameterised Action Spaces", section 4).

As P-DQN (``engine.rl.pdqn``), but Q_k sees x_k alone: Q(s, k, x_k) is the k-th output of the k-th pass, whose input is
(s, x e_k) = (s, 0, …, x_k, …, 0); all passes are one batch of n K rows (eq. 8–10). So

∂Q_k / ∂x_j = 0 for j ≠ k, and ∂L(θ_X) / ∂x_k = −∂Q_k / ∂x_k,

where P-DQN's "false gradients" of the other choices' values are added.

Departures: those of P-DQN.
"""

from __future__ import annotations

from engine.rl.pdqn import PDQN


class MPDQN(PDQN):
    """P-DQN with a pass for each choice, which its policy makes (``MPDQNConfig.head``)."""
