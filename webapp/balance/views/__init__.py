"""Pages of lineup rules and objectives."""
