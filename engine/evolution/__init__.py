"""Evolutionary search. One file per algorithm, in the paper's symbols; built from pymoo's parts where it has them."""
