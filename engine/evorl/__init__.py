"""Evolution of trained agents: the search space, training and evaluation of candidates, the record."""
