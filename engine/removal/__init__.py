"""What is left of what is unfair once a suspect is taken away."""
