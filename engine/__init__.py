"""Equipoise's engine: evolutionary search and reinforcement learning over games, framework-free.

One loop drives every search (``engine.study``)::

    while not done and not should_stop():
        pool.submit(algorithm.ask(pool.room))
        for evaluation in pool.finished(timeout):
            yield from algorithm.tell(evaluation)

Nouns, each with one meaning everywhere: Space, Objective, Problem, Evaluator, Candidate, Evaluation,
Individual, Population, Algorithm, Archive; Game, Piece, Lineup, Team, Patch; Study.
Importing this package loads nothing heavy; ``engine/README.md`` is the map.
"""
