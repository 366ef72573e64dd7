"""Gates: what was found before, a short screen and a short search of a build, and one verdict on all of it."""
