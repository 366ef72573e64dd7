"""Analysis of the match-ups among given teams: counters, rings, dominance, tiers, ratings, equilibrium."""
