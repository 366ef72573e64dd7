"""Pages of game data, imports, versions and simulators."""
