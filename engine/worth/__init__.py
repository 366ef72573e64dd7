"""What each piece of a game is worth: a designed experiment of random battles."""
