"""Several searches of a project side by side: the same volume for all, their edges in one picture, what differs."""
