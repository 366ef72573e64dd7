"""Evolution of agents that are trained: what is searched, how a candidate is trained and measured, what is kept."""
