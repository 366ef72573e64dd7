"""Evolutionary search. One file an algorithm, in the paper's symbols; pymoo's parts where it has them."""
