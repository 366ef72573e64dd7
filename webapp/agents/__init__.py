"""Saved agents of a project, and battles of them to watch."""
