"""What a change of a game's numbers does to given lineups: they are played on both versions, and compared."""
