"""The smallest change that makes a game fair, found and proved."""
