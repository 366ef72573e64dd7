"""MASAC: soft actor-critic for a group (Staley et al. 2021, "The AI Arena", section 5.2; the algorithm is in its
released code, the idea of central critics from Lowe et al. 2017). SAC is ``engine.rl.sac``.

N entities, each with an actor π_θi(a_i|o_i) of its own; the critics Q_φ1 and Q_φ2 look at all of s = (o_1, …, o_N) and
a = (a_1, …, a_N). r = Σ_i r_i.

y = r + γ (min_k Q_φ'k(s', a') − α Σ_i log π_θi(a'_i|o'_i)), a'_i ~ π_θi(·|o'_i)
J_Q = Σ_k N⁻¹ Σ (y − Q_φk(s, a))²
J_π = Σ_i N⁻¹ Σ α log π_θi(a_i|o_i) − min_k Q_φk(s, a), all a_i drawn anew

φ' follows φ by τ. α is 0.2, unless it is to be learned (as SAC's, with the sum of all log π_θi and of all H̄_i).

How a group is given: ``seat`` is a group's (``engine.mdp.groups``), from which the learner knows its members; which
seats of which game they sit on, and who else is in the battle, has no part in it. A transition of the replay is one row
of all members' observations and actions.

Departures: 1. those of ``engine.rl.sac``; 2. the released code never averages the critics' gradients and weights over
its workers, and never freezes the critics in the actors' step (it uses up an iterator of their parameters): here one
learner has the critics, and they are constants in J_π; 3. its episodes end with the time limit as if the game had ended
(its limit of 1,000 decisions is not the game's of 300): here what is cut short goes on in the target; 4. J_Q has SAC's
factor ½; 5. an entity that is out of its battle counts neither in Σ_i log π_θi nor in J_π's Σ_i nor in H̄, its
observations and actions are 0, and critics are told who is there; 6. the replay keeps 200,000 transitions (the released
code: a million).
"""

from __future__ import annotations

from torch import Tensor

from engine.config.rl import MASACConfig
from engine.rl.networks import Seen
from engine.rl.sac import SAC


class MASAC(SAC):
    """θ = (θ_1, …, θ_N) the actors, φ = (φ_1, φ_2) the critics, φ' their targets (the paper's symbols)."""

    config: MASACConfig

    def actor_loss(self, s: Seen, a: Tensor, log_pi: Tensor, alpha: float) -> Tensor:
        """J_π of actions drawn with ``pi``; φ is a constant."""
        N = self.team.here(s).sum(dim=1)
        return (alpha * log_pi - N * self.critics.least(self.phi, s, a)).mean()
