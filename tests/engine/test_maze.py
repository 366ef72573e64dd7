"""The maze with planted bugs: what is planted can be reached, shows when it is, and lies off the way to the goal."""

from __future__ import annotations

import numpy as np
import pytest

from engine.catalog import GAMES
from engine.config.style_templates import offered
from engine.errors import ConfigError
from engine.games.maze import Maze
from engine.games.maze.layout import CRASH, HOLE, JACKPOT, PIT, WAYS, Layout, distances, laid_out
from engine.mdp.vector import VectorMDP
from tests.contracts.mdp import VectorContract

SEEDS = np.arange(1, 5, dtype=np.uint64)


class TestMaze(VectorContract):
    def make(self) -> VectorMDP:
        return Maze(size=9, max_ticks=40, rewards=("score", "win", "moved", "bumped", "ground", "explored"))


def way(layout: Layout, start: tuple[int, int], end: tuple[int, int]) -> list[int]:
    """The shortest way, move by move, around everything that ends an episode."""
    barred = (layout.planted > 0) & (layout.planted != HOLE)
    barred[-2, -2] = True
    barred[end] = False
    steps = distances(layout.walls | barred, end)
    at, found = start, list[int]()
    while at != end:
        there = [(at[0] + down, at[1] + right) for down, right in WAYS]
        move = next(i for i, cell in enumerate(there) if steps[cell] == steps[at] - 1 >= 0)
        found.append(move)
        at = there[move]
    return found


def begun(game: Maze) -> tuple[int, int]:
    game.reset(SEEDS[:1])
    row, column = divmod(int(game.places()[0]), len(game.layout.walls))
    return row, column


@pytest.mark.parametrize(("size", "layout"), [(9, 0), (21, 1), (21, 7), (31, 3)])
def test_every_open_cell_can_be_reached_and_bugs_are_off_the_shortest_ways(size: int, layout: int) -> None:
    found = laid_out(size, layout)
    assert ((found.distance >= 0) == ~found.walls).all()
    assert (found.planted[found.walls] == 0).all()
    detours = distances(found.walls, (1, 1)) + found.distance - found.distance[1, 1]
    assert (detours[found.planted > 0] > 0).all()
    if size > 9:
        assert [int((found.planted == kind).sum()) for kind in (CRASH, PIT, HOLE, JACKPOT)] == [3, 3, 3, 3]


def test_the_layout_alone_says_what_a_maze_looks_like() -> None:
    assert (laid_out(21, 1).walls == laid_out(21, 1).walls).all()
    assert (laid_out(21, 1).walls != laid_out(21, 2).walls).any()


@pytest.mark.parametrize("kind", [CRASH, PIT, HOLE, JACKPOT])
def test_each_planted_bug_shows_to_whoever_gets_there(kind: int) -> None:
    game = Maze()
    for row, column in np.argwhere(game.layout.planted == kind).tolist():
        *moves, last = way(game.layout, begun(game), (row, column))
        for move in [*moves, last] if kind == HOLE else moves:
            game.step([np.array([move])])
            assert game.broken()[0] == -1
        step = game.step([np.array([int(game.layout.hole[row, column]) if kind == HOLE else last])])
        here = game.places()[0]
        if kind == CRASH:
            assert game.faults[game.broken()[0]].kind == "crash"
            assert step.terminated[0]
        elif kind == HOLE:
            assert game.faults[game.broken()[0]].kind == "assertion"
            assert game.layout.walls.ravel()[here]
        elif kind == JACKPOT:
            assert step.ended is not None
            assert (step.ended.win[0, 0], step.ended.score[0, 0]) == (1, 2 * game.most)
        else:
            for other in range(4):
                game.step([np.array([other])])
            assert game.places()[0] == here == row * 31 + column


def test_whoever_walks_to_the_goal_wins_and_has_the_whole_score() -> None:
    game = Maze()
    moves = way(game.layout, begun(game), (29, 29))
    paid = 0.0
    for move in moves:
        step = game.step([np.array([move])])
        paid += float(step.rewards[0, 0, 0])
    assert step.ended is not None
    assert (step.ended.win[0, 0], step.ended.score[0, 0]) == (1, 1)
    assert step.ended.signals[0][0].tolist() == [1.0, 0.0, len(moves) + 1, (len(moves) + 1) / 301]
    assert paid == pytest.approx(game.layout.distance[begun(game)] / game.layout.distance.max())


def test_a_maze_without_its_bugs_has_none() -> None:
    game, rng = Maze(planted=False), np.random.default_rng(1)
    game.reset(np.arange(64, dtype=np.uint64))
    for _ in range(250):
        step = game.step([rng.integers(0, 4, 64)])
        assert (game.broken() == -1).all()
        assert step.ended is None or (step.ended.win[step.terminated[step.ended.battles], 0] == 1).all()


@pytest.mark.parametrize(("given", "said"), [({"size": 20}, "must be odd"), ({"size": 7}, "must be 9 to 101")])
def test_a_maze_that_cannot_be_is_refused(given: dict[str, int], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Maze(**given)  # type: ignore[arg-type]


def test_ground_is_told_as_a_share_of_what_can_be_covered_too() -> None:
    game = Maze(size=9, max_ticks=20, rewards=("ground", "explored"))
    game.reset(SEEDS)
    rng = np.random.default_rng(1)
    for _ in range(20):
        step = game.step([rng.integers(0, 4, len(SEEDS))])
        np.testing.assert_allclose(step.rewards[..., 0], step.rewards[..., 1] * 21, atol=1e-6)
    assert step.ended is not None
    np.testing.assert_allclose(step.ended.signals[0][:, 2], step.ended.signals[0][:, 3] * 21)
    assert GAMES["maze"].ends["explored"] == (0.0, 1.0)
    told = GAMES["maze"].signals, (*GAMES["maze"].captions, *GAMES["maze"].ends)
    assert [template.key for template in offered(*told)] == ["busy-calm", "explorer-camper"]
