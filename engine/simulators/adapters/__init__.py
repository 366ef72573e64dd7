"""Adapters: programs of ours that make an installed game speak ``equipoise-sim/1``."""
