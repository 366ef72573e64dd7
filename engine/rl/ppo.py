"""PPO (Schulman et al. 2017), eq 7 and 9; ``asynchronous``: Lamarckian's variant for data of older policies.

With the ratio ρ(θ) = π_θ(a|s) / μ(a|s) of the policy to the one that acted:

    L(θ) = −c_π E[min(ρ A, clip(ρ, 1 − ε, 1 + ε) A)] + c_V E[(v − V_θ)²] − c_H E[H(π_θ)].

Synchronous: A and v by GAE. Asynchronous: by traces clipped at c̄ (``returns.clipped_traces``), the ratios taken once
before the first pass. Several passes over a batch in shuffled minibatches, or whole.

Departures: 1. advantages are normalised per minibatch (37 details, core 7), each named reward for itself, then added
(Lamarckian's code); 2. no value clipping (no evidence that it helps); 3. truncated episodes are bootstrapped from what
they saw last (the reference treats them as terminated); 4. μ is what the sampler computed, not recomputed;
5. observation statistics move after an update, so that the first ratio is 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from engine.config.rl import PPOConfig
from engine.mdp.trajectory import Trajectory
from engine.rl import returns
from engine.rl.actor_critic import ActorCritic, Pass, Tensors, forward_all, maximum_rows, scaled, through_time
from engine.rl.learner import Metrics, averaged
from engine.rl.networks import Outputs, Parts, Recurrent
from engine.rl.optimisers import Adam

_NORMAL_EPSILON = 1e-8
_REPORTED = ("policy_loss", "critic_loss", "entropy", "kl", "clipped", "ratio")


class Piece(NamedTuple):
    """Some rows of a batch, the layers that answered, their outputs [n, K] and values [n, R]."""

    rows: Tensor
    parts: Parts
    policy: Tensor
    V: Tensor


class PPO(ActorCritic):
    """ε the clip, ρ the ratio, A advantages, v value targets, V values (the paper's symbols)."""

    config: PPOConfig

    def make_optimiser(self, theta: Tensor) -> Adam:
        """Adam as PPO is usually run."""
        return Adam(theta)

    @property
    def epsilon(self) -> float:
        """The current clip."""
        clip = self.config.clip
        return clip * self.left if self.config.clip_schedule == "linear" else clip

    def _learn(self, trajectory: Trajectory) -> Metrics:
        """``reuse`` passes over one batch."""
        batch = self.batch(trajectory)
        n = batch.T * batch.B
        at_once = len(batch.observations[self.model.network.inputs[0].name]) <= maximum_rows(batch)
        steps = self._in_whole_batches if at_once and not 0 < self.config.minibatch < n else self._in_minibatches
        return self.finish(trajectory, averaged(list(steps(trajectory, batch))))

    def _in_whole_batches(self, trajectory: Trajectory, batch: Tensors) -> Iterator[Metrics]:
        """Passes over the whole batch; the first one also gives the values for A and v."""
        rows = torch.arange(batch.T * batch.B, device=self.device)
        for k in range(self.config.reuse):
            parts = self.model.network.parts(self.theta)
            found = forward_all(self.model, parts, batch)
            if k == 0:
                A, v = self._targets(trajectory, batch, parts, found)
            V = found.values[:-1].flatten(0, 1)
            metrics = self._step(batch, rows, A, v, [Piece(rows, parts, found.policy, V)])
            yield metrics
            if self._too_far(metrics):
                return

    def _in_minibatches(self, trajectory: Trajectory, batch: Tensors) -> Iterator[Metrics]:
        """Passes in shuffled minibatches that cover all decisions; with an LSTM, minibatches of whole streams."""
        with torch.no_grad():
            parts = self.model.network.parts(self.theta)
            A, v = self._targets(trajectory, batch, parts, forward_all(self.model, parts, batch))
        units, size = batch.T * batch.B, self.config.minibatch
        if batch.state is not None:
            units, size = batch.B, max(1, size // batch.T)
        for _ in range(self.config.reuse):
            order = torch.from_numpy(self.rng.permutation(units)).to(self.device)
            for chosen in torch.split(order, size or units):
                rows = self._rows(batch, chosen)
                if batch.valid is not None and not batch.valid[rows].any():
                    continue  # nothing to learn from: take no step, which would change the optimiser's averages
                metrics = self._step(batch, rows, A, v, self._pieces(batch, chosen))
                yield metrics
            if self._too_far(metrics):
                return

    def _targets(self, trajectory: Trajectory, batch: Tensors, parts: Parts, found: Pass) -> tuple[Tensor, Tensor]:
        """(A, v) [T · B, R]."""
        r, V, after = self.rewards(trajectory, found)
        gamma, lam = self.terms.gamma, self.terms.lam
        if self.config.asynchronous:
            with torch.no_grad():
                c = self._ratio(batch, slice(None), parts, found.policy).clamp(max=self.config.trace_clip)
            c_t = c.view(batch.T, batch.B).cpu().numpy()
            targets = returns.clipped_traces(r, V, after, trajectory.ended, gamma, lam, c_t)
        else:
            targets = returns.gae(r, V, after, trajectory.ended, gamma, lam)
        A, v = (torch.from_numpy(x).to(self.device).flatten(0, 1) for x in (targets.advantages, targets.values))
        return A, v

    def _ratio(self, batch: Tensors, rows: Tensor | slice, parts: Parts, policy: Tensor) -> Tensor:
        """ρ = π_θ / μ of rows whose outputs are ``policy``."""
        masks = None if batch.masks is None else batch.masks[rows]
        log_pi = self.model.distribution.log_prob(policy, self.model.log_std(parts), batch.actions[rows], masks)
        return torch.exp(self.log_ratio(batch, rows, log_pi))

    def _step(self, batch: Tensors, rows: Tensor, A: Tensor, v: Tensor, pieces: Iterable[Piece]) -> Metrics:
        """One step of gradient descent on L over ``rows``, of which some count; the gradient is summed over pieces."""
        c, valid = self.config, None if batch.valid is None else batch.valid[rows]
        count = len(rows) if valid is None else int(valid.sum())
        normal = A.new_zeros(len(A))
        normal[rows] = self._advantage(A[rows], valid)
        g, sums = torch.zeros_like(self.theta), A.new_zeros(len(_REPORTED))
        for piece in pieces:
            found = self._sums(batch, piece, normal[piece.rows], v[piece.rows])
            policy, critic, H = found[:3]
            g += self.descend((c.policy_weight * policy + c.critic_weight * critic - c.entropy_weight * H) / count)
            sums += found.detach()
        norm = self.clip(g)
        self.optimiser.step(g, self.eta)
        return dict(zip(_REPORTED, (sums / count).tolist(), strict=True)) | {"gradient": norm}

    def _advantage(self, A: Tensor, valid: Tensor | None) -> Tensor:
        """The weighted sum [N] of the named advantages [N, R], each normalised over the decisions that count; there
        must be at least one."""
        if self.config.normalise_advantages:
            std, mean = torch.std_mean(A if valid is None else A[valid], dim=0, correction=0)
            A = (A - mean) / (std + _NORMAL_EPSILON)
        return self.weighed(A, valid)

    def _sums(self, batch: Tensors, piece: Piece, A: Tensor, v: Tensor) -> Tensor:
        """Sums over the counting decisions of a piece, in the order of ``_REPORTED``."""
        rows, parts, policy, V = piece
        masks = None if batch.masks is None else batch.masks[rows]
        rho, epsilon = self._ratio(batch, rows, parts, policy), self.epsilon
        gain = torch.minimum(rho * A, rho.clamp(1 - epsilon, 1 + epsilon) * A)
        H = self.model.distribution.entropy(policy, self.model.log_std(parts), masks)
        with torch.no_grad():
            # Schulman's estimator of KL(μ ‖ π), never negative: E[(ρ − 1) − log ρ].
            kl, clipped = rho - 1 - rho.log(), ((rho - 1).abs() > epsilon).float()
        found = torch.stack([-gain, ((v - V) ** 2).sum(dim=1), H, kl, clipped, rho.detach()])
        return found.sum(dim=1) if batch.valid is None else found[:, batch.valid[rows]].sum(dim=1)

    def _pieces(self, batch: Tensors, chosen: Tensor) -> Iterator[Piece]:
        """The network's outputs on a minibatch, in parts where it is too large for one pass."""
        for part in torch.split(chosen, maximum_rows(batch)):
            parts = self.model.network.parts(self.theta)
            outputs = self._forward_rows(batch, parts, part)
            yield Piece(self._rows(batch, part), parts, outputs.policy, outputs.values)

    def _rows(self, batch: Tensors, chosen: Tensor) -> Tensor:
        """The rows of a minibatch: the chosen decisions or, with an LSTM, all decisions of the chosen streams, in order
        of time."""
        if batch.state is None:
            return chosen
        return (torch.arange(batch.T, device=chosen.device)[:, None] * batch.B + chosen).flatten()

    def _forward_rows(self, batch: Tensors, parts: Parts, chosen: Tensor) -> Outputs:
        """The network's outputs on a minibatch, with an LSTM through its streams."""
        if batch.state is None:
            return self.model.network(parts, scaled(self.model, batch, chosen))
        T, B = batch.T, batch.B
        seen = scaled(self.model, batch, slice(0, T * B))
        through = {name: through_time(rows, B)[:, chosen] for name, rows in seen.items()}
        state = Recurrent(batch.state.h[chosen], batch.state.c[chosen])
        return self.model.network.unroll(parts, through, state, batch.ended[:, chosen])[0]

    def _too_far(self, metrics: Metrics) -> bool:
        return bool(self.config.target_kl) and metrics["kl"] > self.config.target_kl
