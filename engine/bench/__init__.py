"""Benchmarks: speed and quality as ratios against a peer or a physical limit measured in the same run. Never tests."""
