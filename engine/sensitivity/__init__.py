"""How often an experiment finds what is broken: breaks of known size are planted, and those that it names counted."""
