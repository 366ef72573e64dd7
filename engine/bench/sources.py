"""Which files decide what a training reaches, beside the settings of its study, for figures of many hours: what else
changes in the engine leaves what is kept of them as it is (``engine.bench.kept``)."""

from __future__ import annotations

NETWORKS = (
    "rl/dense.py", "rl/distributions.py", "rl/heads.py", "rl/learner.py", "rl/networks.py", "rl/normalise.py",
    "rl/numbered.py", "rl/optimisers.py", "rl/passes.py", "rl/policy.py", "rl/small_layers.py", "rl/teams.py",
)  # fmt: skip
"""What every learner is made of."""
PLAYED = (
    "confidence.py", "mdp/driver.py", "mdp/groups.py", "mdp/roles.py", "mdp/trajectory.py", "mdp/vector.py", "means.py",
    "rl/cast.py", "rl/examine.py", "rl/players.py", "rl/sampler.py", "rl/seats.py", "rng.py", "splitmix.py",
)  # fmt: skip
"""How battles and episodes are played."""
REPLAYED = ("rl/critics.py", "rl/replay.py", "rl/replayed.py", "rl/training.py", "rl/twin.py")
"""What learners with a replay share."""
SAC_FAMILY = (*NETWORKS, *PLAYED, *REPLAYED, "rl/maddpg.py", "rl/masac.py", "rl/sac.py")
PPO_COURSES = (
    *NETWORKS, *PLAYED, "config/arena_plan.py", "config/lesson_pace.py", "rl/actor_critic.py", "rl/collector.py",
    "rl/compiled.py", "rl/gradient.py", "rl/ppo.py",
    "rl/returns.py", "study/arena.py", "study/casting.py", "study/course.py", "study/learning.py", "study/lessons.py",
    "study/policy_training.py", "study/sampler_factory.py", "study/sampler_pool.py",
)  # fmt: skip
"""Courses in which PPO learns."""
CHOICES_WITH_NUMBERS = (
    *NETWORKS, *PLAYED, *REPLAYED, "rl/mixed.py", "rl/mpdqn.py", "rl/paddpg.py", "rl/pdqn.py", "rl/small_passes.py",
)  # fmt: skip
"""Learners of choices with numbers of their own."""
STARTS = (
    *CHOICES_WITH_NUMBERS, "experience.py", "rl/dpcer.py", "rl/learnable_parcels.py", "rl/task_actor.py",
    "rl/task_learner.py", "rl/task_replays.py", "study/learning.py", "study/policy_training.py",
    "study/sampler_factory.py", "study/start_actor.py", "study/start_actors.py", "study/start_actors_here.py",
    "study/start_tasks.py", "study/starts.py", "study/starts_curve.py",
)  # fmt: skip
"""Studies with easier starts whose actors are in the process of the learner."""
