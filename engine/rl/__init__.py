"""Reinforcement learning: networks, policies, samplers and learners; one algorithm a file, in paper symbols."""
