"""Who beats whom among given teams, and what follows from it."""
