"""Sensitivity: how often experiments find breaks of known size."""
