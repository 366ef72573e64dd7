"""Hunts for bugs: what is watched, that every bug shows again, Wuji and its controls, and studies that are killed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from engine import cli
from engine.arrays import unpack
from engine.bench import wuji as wuji_bench
from engine.config.base import parse
from engine.config.hunt import LONGEST, HuntConfig
from engine.config.limits import LimitsConfig
from engine.config.train import TrainGame
from engine.errors import ConfigError
from engine.events import AnyEvent, Failed, Finished, Paused, Progressed, Stopped
from engine.evolution.algorithm import Progress
from engine.evorl.findings import Bug, Findings
from engine.evorl.hunting import HuntEvaluator, watchable
from engine.evorl.replays import Replays, shows_again
from engine.evorl.trainings import key_of, opened
from engine.evorl.watched import Oracles, Watched
from engine.evorl.wuji import WUJI, Unguided
from engine.games.maze import Maze
from engine.games.maze.layout import CRASH, HOLE, PIT
from engine.games.pong import ImagePong, VectorPong
from engine.mdp.interface import ArraySpec, Discrete, SeatSpec
from engine.mdp.places import Look, seen_as
from engine.problem import TRAINED, Evaluation, Request, TrainingContext
from engine.rl.training import Training, Updated
from engine.rng import combine64
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from engine.study.evolve import Evolve
from tests.contracts.algorithm import AlgorithmContract, answer, problem
from tests.engine.coarse_trainings import round_ends
from tests.engine.test_maze import begun, way

GOLDEN = Path(__file__).parents[1] / "golden" / "hunt.json"
ORACLES = Oracles(stuck_after=20)
METHODS = ("wuji", "learning", "evolution", "random")
STAIRS = "python:tests.engine.crashing_game:Stairs"


class TestWuji(AlgorithmContract):
    algorithm = WUJI


class TestSteadyWuji(AlgorithmContract):
    algorithm = WUJI
    steady = True


def settings(**more: Any) -> dict[str, Any]:
    """Three rounds of four agents in a small maze that take a moment."""
    learner = {"kind": "ppo", "batch": 64, "fragment": 8, "network": {"policy": [8], "critic": [8]}}
    maze = {"name": "maze", "settings": {"size": 9, "layout": 22, "max_ticks": 60}}
    task = {"game": maze, "learner": learner, "steps": 256, "environments": 2}
    usual = {"seed": 3, "decisions": 4000, "episodes": 3, "pool": {"kind": "local"}, "algorithm": {"population": 4}}
    return {"kind": "hunt", "task": {**task, **more.pop("task", {})}, **usual, **more}


def study(**more: Any) -> HuntConfig:
    config = load(settings(**more))
    assert isinstance(config, HuntConfig)
    return config


def results(found: list[AnyEvent]) -> dict[str, str]:
    assert isinstance(found[-1], Finished), found[-1]
    return {role: digest for role, digest in found[-1].artifacts.items() if role != "checkpoint"}


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "store")


def watched(game: Maze, found: Findings) -> Watched:
    return Watched(game, ORACLES, found, Replays(lambda battles: Maze(), ORACLES))


def stumbled(cell: tuple[int, int], kind: int) -> Findings:
    """What is found by whoever walks to a planted bug, and does what shows it."""
    game, found = Maze(), Findings()
    moves = way(game.layout, begun(game), cell)
    moves += [int(game.layout.hole[cell])] if kind == HOLE else [0] * 21 if kind == PIT else []
    seen = watched(game, found)
    seen.reset(np.array([1], np.uint64))
    for move in moves:
        seen.step([np.array([move])])
    return found


def test_each_planted_bug_is_reported_once_by_its_oracle_and_shows_again() -> None:
    names = dict(zip(range(1, 5), ("crash", "stuck", "assertion", "imbalance"), strict=True))
    for row, column in np.argwhere(Maze().layout.planted > 0).tolist():
        kind = int(Maze().layout.planted[row, column])
        (bug,) = stumbled((row, column), kind).bugs.values()
        assert bug.kind == names[kind]
        assert (bug.place == row * 31 + column) == (kind != HOLE)
        assert shows_again(bug, lambda battles: Maze(), ORACLES)
        assert not shows_again(bug, lambda battles: Maze(planted=False), ORACLES)


def test_late_players_meet_the_bugs_that_are_planted() -> None:
    """The game still says where they are and what is broken."""
    late = watchable(TrainGame(name="maze", limits=LimitsConfig(delay=1)), 1)
    maze = Maze()
    row, column = np.argwhere(maze.layout.planted == CRASH)[0].tolist()
    found = Findings()
    seen = Watched(late, ORACLES, found)
    seen.reset(np.array([1], np.uint64))
    for move in [*way(maze.layout, begun(maze), (row, column)), 0]:
        seen.step([np.array([move])])
    assert [(bug.kind, bug.place) for bug in found.bugs.values()] == [("crash", row * 31 + column)]


def test_whoever_bumps_into_a_wall_for_ever_is_not_stuck() -> None:
    found = Findings()
    seen = watched(Maze(), found)
    seen.reset(np.arange(4, dtype=np.uint64))
    for _ in range(240):
        seen.step([np.zeros(4, np.int64)])
    assert not found.bugs
    assert not found.unshown
    assert found.checked


def test_a_bug_that_does_not_show_again_is_not_reported() -> None:
    found = Findings()
    game = Maze()
    seen = Watched(game, ORACLES, found, Replays(lambda battles: Maze(planted=False), ORACLES))
    cell = tuple(np.argwhere(game.layout.planted == HOLE)[0].tolist())
    for _ in range(2):
        moves = way(game.layout, begun(game), cell)
        seen.reset(np.array([1], np.uint64))
        for move in [*moves, int(game.layout.hole[cell])]:
            seen.step([np.array([move])])
    assert not found.bugs
    assert found.unshown == 1


def test_a_bug_seen_when_no_decisions_are_left_is_kept_as_not_shown_again_until_another_agent_shows_it() -> None:
    found, game = Findings(), Maze()
    seen = Watched(game, ORACLES, found, Replays(lambda battles: Maze(), ORACLES, most=0))
    cell = tuple(np.argwhere(game.layout.planted == HOLE)[0].tolist())
    moves = way(game.layout, begun(game), cell)
    seen.reset(np.array([1], np.uint64))
    for move in [*moves, int(game.layout.hole[cell])]:
        seen.step([np.array([move])])
    assert (len(found.bugs), len(found.untried), found.checked) == (0, 1, 0)
    together = Findings.unpacked(found.pack())
    assert together.untried == found.untried
    shown = stumbled(cell, HOLE)
    together.add(shown)
    assert (together.bugs.keys(), together.untried) == (shown.bugs.keys(), {})


def test_no_hunt_reports_a_bug_that_takes_more_decisions_than_are_played_again(monkeypatch: pytest.MonkeyPatch) -> None:
    game = Maze()
    cell = tuple(np.argwhere(game.layout.planted == HOLE)[0].tolist())
    long = len(way(game.layout, begun(game), cell)) + 1
    monkeypatch.setattr("engine.evorl.watched.LONGEST", long)
    (bug,) = stumbled(cell, HOLE).bugs.values()
    assert len(bug.moves) == long
    monkeypatch.setattr("engine.evorl.watched.LONGEST", long - 1)
    assert not stumbled(cell, HOLE).bugs


def test_every_decision_counts_at_the_place_where_it_ends_and_episodes_tell_their_places() -> None:
    found, rng = Findings(), np.random.default_rng(1)
    seen = Watched(Maze(max_ticks=30), ORACLES, found)
    seen.reset(np.arange(5, dtype=np.uint64))
    told = np.empty(0)
    for _ in range(100):
        step = seen.step([rng.integers(0, 4, 5)])
        if step.ended is not None:
            told = np.append(told, step.ended.signals[0][:, -1])
            np.testing.assert_array_equal(step.ended.signals[0][:, 2], step.ended.signals[0][:, -1])
    assert seen.spec.seats[0].signals[-1] == "places"
    assert sum(found.visits.values()) == 500
    assert len(told) == 15


def test_findings_are_the_same_from_the_store_and_add_up() -> None:
    one, other = Findings(), Findings()
    one.visit([3, 3, 5])
    one.bugs = {b.key: b for b in [Bug(kind="crash", what="no", place=3, seed=2**64 - 1, moves=[1, 2])]}
    other.add(one)
    other.add(Findings.unpacked(one.pack()))
    assert other.visits == {3: 4, 5: 2}
    assert [(bug.seen, bug.seed, bug.moves) for bug in other.bugs.values()] == [(2, 2**64 - 1, [1, 2])]
    assert next(iter(one.bugs.values())).seen == 1


@pytest.mark.parametrize("kind", [VectorPong, ImagePong])
def test_a_game_without_places_has_those_of_what_is_seen_coarsely(kind: Any) -> None:
    game = kind(points=1, max_ticks=60)
    look, rng, places = Look(game), np.random.default_rng(2), set[int]()
    step = game.reset(combine64(1, np.arange(4, dtype=np.uint64)))
    for _ in range(50):
        places |= set(look.now(step).tolist())
        step = game.step([rng.integers(0, 3, 4)])
    assert 5 < len(places) < 200
    assert min(places) >= 0


@pytest.mark.parametrize("method", METHODS)
def test_a_hunt_that_is_paused_and_resumed_ends_bit_for_bit_the_same(method: str, store: FolderStore) -> None:
    config = study(method=method, decisions=6000)
    whole = results(list(run(config, store)))
    events: list[AnyEvent] = []
    for event in run(config, store, control=lambda: "pause" if len(events) > 1 else ""):
        events.append(event)
    assert isinstance(events[-1], Paused)
    again = results(list(run(config, store, events[-1].artifacts["checkpoint"])))
    assert again == whole


def test_what_was_found_before_a_training_was_interrupted_is_neither_lost_nor_counted_twice(tmp_path: Path) -> None:
    config = study(task={"steps": 768})
    whole = HuntEvaluator(config, opened(FolderStore(tmp_path / "a"), "hunt"))
    parts = opened(FolderStore(tmp_path / "b"), "hunt")
    genome = whole.initialize(np.random.default_rng(1))
    request = Request(7, genome, 0, 3, 3, TrainingContext())
    (answer,) = whole.evaluate([request], lambda: False)
    calls = iter([False] * 9)
    assert not list(HuntEvaluator(config, parts).evaluate([request], lambda: next(calls, True)))
    saved = parts.progress(key_of(genome))
    assert saved
    assert 0 < saved.meta["training"]["learner"]["steps"] < 640
    (again,) = HuntEvaluator(config, parts).evaluate([request], lambda: False)
    assert again.context == answer.context


def test_battles_of_an_agent_that_learns_end_by_themselves_or_at_the_limit_of_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tenth of the training, after which it may be saved, is less than an update, and an update less than an episode
    of every battle: no reason to cut them off."""
    lengths: list[int] = []
    update = Training._update

    def counted(training: Training) -> Updated:
        done = update(training)
        lengths.extend(episode.length for episode in done.episodes)
        return done

    monkeypatch.setattr(Training, "_update", counted)
    agents = HuntEvaluator(study(), opened(FolderStore(tmp_path), "hunt"))
    genome = agents.initialize(np.random.default_rng(1))
    list(agents.evaluate([Request(7, genome, 0, 3, 3, TrainingContext())], lambda: False))
    assert max(lengths) == 60, "some last as long as the game lets them"
    assert sum(lengths) > 256 - 2 * 60, "none was cut off but by the end of the training"


def test_a_hunt_ends_as_its_golden_file_says(store: FolderStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one machine and one set of wheels bit for bit; elsewhere by tolerance, as everything with torch."""
    round_ends(monkeypatch)
    golden, curves = json.loads(GOLDEN.read_text()), {}
    for method in ("wuji", "random"):
        left = results(list(run(study(method=method, decisions=12_000, task={"environments": 8}), store)))
        meta, arrays = unpack(store.get(left["found"]))
        curves[method] = arrays["curve"].tolist()
    assert curves["random"] == golden["random"]
    assert [[bug["kind"], bug["place"], bug["seen"]] for bug in meta["bugs"]] == golden["bugs"]
    np.testing.assert_allclose(curves["wuji"], golden["wuji"], rtol=0.1, atol=3)


FOUR = np.ones(4, np.uint8)


@pytest.mark.parametrize(
    ("spec", "made"),
    [
        (ArraySpec("seen", (2, 84, 84), "uint8", 0, 255), lambda grey: np.stack([0 * grey, grey], axis=1)),
        (ArraySpec("seen", (84, 84, 1), "uint8"), lambda grey: grey[..., None]),
        (ArraySpec("seen", (84, 84, 3), "uint8", 0, 255), lambda grey: np.stack([grey] * 3, axis=3)),
        (ArraySpec("seen", (2, 84, 84, 4), "uint8"), lambda grey: np.stack([0 * grey, grey], 1)[..., None] * FOUR),
        (ArraySpec("seen", (84, 84), "float32", 0, 1), lambda grey: (grey / 255).astype(np.float32)),
        (ArraySpec("seen", (84, 84, 3)), lambda grey: np.stack([grey / 255] * 3, axis=3).astype(np.float32)),
        (ArraySpec("seen", (84, 84), "float32", -1, 1), lambda grey: (grey / 127.5 - 1).astype(np.float32)),
    ],
)  # fmt: skip
def test_a_picture_is_at_the_same_place_whatever_its_numbers_and_its_layout(spec: ArraySpec, made: Any) -> None:
    """Four shades in bars; a pixel that flickers is no new place, a bar that moves by a cell is one."""
    bars = np.repeat(np.repeat(np.array([[20, 84], [184, 236]], np.uint8), 42, axis=0), 42, axis=1)
    flicker, shifted = bars.copy(), np.roll(bars, 8, axis=1)
    flicker[3, 3] += 9
    grey = np.stack([bars, flicker, shifted])
    seat = SeatSpec((spec,), Discrete(2), ("score",), ())
    plain = SeatSpec((ArraySpec("seen", (84, 84), "uint8", 0, 255),), Discrete(2), ("score",), ())
    found = seen_as(seat, {"seen": made(grey)})
    np.testing.assert_array_equal(found, seen_as(plain, {"seen": grey}))
    assert found[0] == found[1] != found[2]


def test_a_hunt_tells_decisions_bugs_and_places_round_by_round_and_stays_within_its_budget(store: FolderStore) -> None:
    config = study(decisions=6000)
    found = list(run(config, store))
    rounds = [event for event in found if isinstance(event, Progressed)]
    assert found[0].ticks == config.buys(60) == 6000 // (4 * (256 + 3 * 60 + 60))  # type: ignore[union-attr]
    _, arrays = unpack(store.get(results(found)["found"]))
    assert arrays["curve"][:, 0].tolist() == [event.counters.steps for event in rounds]
    assert arrays["curve"][:, 2].tolist() == [event.metrics["places_covered"] for event in rounds]
    assert 6000 - config.round(60) < rounds[-1].counters.steps <= 6000
    open_cells = arrays["walls"].ravel()[arrays["place"]] == 0
    assert open_cells.sum() == arrays["curve"][-1, 2]
    assert arrays["visits"].sum() >= 256 * 4 * (len(rounds) - 1)
    assert ((arrays["walls"] == 0).sum()) == rounds[-1].metrics["places_open"]


def test_a_budget_that_buys_no_round_is_refused_before_anything_is_spent_with_what_would_do(store: FolderStore) -> None:
    (failed,) = run(study(decisions=1500), store)
    assert isinstance(failed, Failed)
    assert failed.permanent
    assert "give 1,984 or more, have 3 agents in a round" in failed.message
    assert not list(store.leases())


@pytest.mark.parametrize("method", METHODS)
def test_no_hunt_goes_beyond_its_budget_however_many_bugs_it_has_to_show_again(method: str, store: FolderStore) -> None:
    config = study(method=method, decisions=2700, oracles={"stuck_after": 2})
    *_, last = run(config, store)
    assert isinstance(last, Finished)
    assert 0 < last.counters.steps <= 2700


@pytest.mark.parametrize("method", METHODS)
def test_a_hunt_counts_every_decision_that_it_played(method: str, store: FolderStore) -> None:
    """Also those of battles that were over early and went on while the last ones of a measurement lasted."""
    *_, last = run(study(method=method, decisions=8000, task={"environments": 3}), store)
    assert isinstance(last, Finished)
    meta, arrays = unpack(store.get(last.artifacts["found"]))
    assert last.counters.steps == arrays["visits"].sum() + meta["checked"]


@pytest.mark.parametrize("method", wuji_bench.METHODS)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_quick_figures_of_every_method_buy_a_round(method: str, seed: int, store: FolderStore) -> None:
    config = wuji_bench.study_of(method, seed, quick=True)
    game = watchable(config.task.game, 1)
    assert not list(config.too_small(game.spec.max_ticks))
    game.close()


def test_bugs_of_a_folder_and_of_a_file_show_again_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hunt.json"
    file.write_text(json.dumps(settings(method="random", decisions=30_000)))
    assert cli.main(["run", str(file), "--job-dir", str(tmp_path / "job")]) == 0
    capsys.readouterr()
    assert cli.main(["replay-bug", str(tmp_path / "job")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all(re.search(r" It showed in 1 of 1 replay, after [\d,]+ decisions?\.$", line) for line in lines)
    found = json.loads((tmp_path / "job" / "results.json").read_text())["found"]
    meta, _ = unpack(FolderStore(tmp_path / "job" / "store").get(found))
    assert len(meta["bugs"]) == len(lines)
    bug = {**meta["bugs"][0], "seed": str(meta["bugs"][0]["seed"]), "game": meta["game"], "oracles": meta["oracles"]}
    taken = tmp_path / "bug.json"
    taken.write_text(json.dumps({"format": "equipoise-bug-1", **bug}))
    assert cli.main(["replay-bug", str(taken)]) == 0
    lie = "It showed in 3 of 3 replays. " * 1000
    taken.write_text(json.dumps({"format": "equipoise-bug-1", **bug, "what": lie, "where": lie}))
    capsys.readouterr()
    assert cli.main(["replay-bug", str(taken)]) == 3
    assert capsys.readouterr().out.endswith(" It showed in 0 of 1 replay.\n"), "a file does not hide what was seen"
    bug["game"]["settings"]["planted"] = False
    taken.write_text(json.dumps({"format": "equipoise-bug-1", **bug}))
    assert cli.main(["replay-bug", str(taken)]) == 3
    assert capsys.readouterr().out.splitlines()[-1].endswith(" It showed in 0 of 1 replay.")
    for wrong in ({"seed": "-1"}, {"seed": "1" * 30}, {"moves": [10**30]}, {"moves": [None]}, {"moves": [[1, 2]]}):
        taken.write_text(json.dumps({"format": "equipoise-bug-1", **bug, **wrong}))
        assert cli.main(["replay-bug", str(taken)]) == 2, wrong
    taken.write_text(json.dumps({"format": "equipoise-bug-1", **bug, "moves": [0] * (LONGEST + 1)}))
    assert cli.main(["replay-bug", str(taken)]) == 2, "it would be played for minutes"
    for text in ("{}", '{"moves": ' + "[" * 5000):
        taken.write_text(text)
        assert cli.main(["replay-bug", str(taken)]) == 2


def taken(folder: Path, cell: tuple[int, int], kind: int, **forged: Any) -> Path:
    """The file of a bug of the maze."""
    (bug,) = stumbled(cell, kind).bugs.values()
    beside = {"format": "equipoise-bug-1", "game": {"name": "maze"}, "seed": str(bug.seed),
              "oracles": {"stuck_after": ORACLES.stuck_after}}  # fmt: skip
    (folder / "bug.json").write_text(json.dumps({**msgspec.to_builtins(bug), **beside, **forged}))
    return folder / "bug.json"


def test_where_a_bug_is_is_told_by_the_game_and_not_by_what_its_file_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = tuple(np.argwhere(Maze().layout.planted == CRASH)[0].tolist())
    assert cli.main(["replay-bug", str(taken(tmp_path, cell, CRASH, where="row 99, column 99"))]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"crash at row {cell[0]}, column {cell[1]}: ")
    assert "99" not in said


@pytest.mark.parametrize("kind", [CRASH, PIT])
def test_a_replay_ends_with_its_bug_whatever_its_file_goes_on_with(
    kind: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = tuple(np.argwhere(Maze().layout.planted == kind)[0].tolist())
    (bug,) = stumbled(cell, kind).bugs.values()
    longer = [*bug.moves, *([0] * 900)]
    assert cli.main(["replay-bug", str(taken(tmp_path, cell, kind, moves=longer))]) == 0
    assert capsys.readouterr().out.endswith(f"It showed in 1 of 1 replay, after {len(bug.moves):,} decisions.\n")


def test_a_bug_does_not_show_in_an_episode_after_that_of_its_seed() -> None:
    game = Maze()
    cell, other = (tuple(each.tolist()) for each in np.argwhere(game.layout.planted == CRASH)[:2])
    (bug,) = stumbled(cell, CRASH).bugs.values()
    first = way(game.layout, begun(game), other)
    for move in first:
        game.step([np.array([move])])
    row, column = divmod(int(game.places()[0]), len(game.layout.walls))
    later = msgspec.structs.replace(bug, moves=[*first, *way(game.layout, (row, column), cell)])
    seen = Findings()
    watching = Watched(Maze(), ORACLES, seen)
    watching.reset(np.array([bug.seed], np.uint64))
    for move in later.moves:
        watching.step([np.array([move])])
    assert bug.key in seen.bugs, "it is in the second episode"
    assert not shows_again(later, lambda battles: Maze(), ORACLES)


@pytest.mark.parametrize("move", ["1.7", '"1"', "true", "1.0", "NaN", "1e999", "null", "1" * 30, str(2**63 - 1), "-1"])
def test_a_bug_whose_decision_is_no_move_of_its_game_is_refused_with_its_place(
    move: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bug = {"format": "equipoise-bug-1", "game": {"name": "maze"}, "oracles": {}, "kind": "crash", "what": "",
           "place": 0, "seed": "1"}  # fmt: skip
    taken = tmp_path / "bug.json"
    taken.write_text(f'{json.dumps(bug)[:-1]}, "moves": [0, {move}]}}')
    assert cli.main(["replay-bug", str(taken)]) == 2
    assert re.search(r"moves\.1: |moves\[1\]|\(byte \d+\)", capsys.readouterr().err)


@pytest.mark.parametrize("game", ["command:touch {}", "command+tcp:touch {}", "python:os:getcwd", "gym:os:Maze-v0"])
def test_the_file_of_a_bug_starts_no_program(tmp_path: Path, capsys: pytest.CaptureFixture[str], game: str) -> None:
    mark = tmp_path / "it-ran"
    bug = {"format": "equipoise-bug-1", "game": {"name": game.format(mark)}, "oracles": {}, "kind": "crash", "what": "",
           "place": 0, "seed": "1", "moves": [0]}  # fmt: skip
    (tmp_path / "bug.json").write_text(json.dumps(bug))
    assert cli.main(["replay-bug", str(tmp_path / "bug.json")]) == 2
    assert "name the game yourself, with --game" in capsys.readouterr().err
    assert not mark.exists()


@pytest.mark.parametrize(("command", "last"), [("stop", Stopped), ("pause", Paused)])
def test_what_was_found_in_a_round_that_a_stop_or_a_pause_cuts_off_is_not_lost(
    command: str, last: type[Stopped | Paused], store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt, learn = list[Evaluation](), Evolve.learn

    def noted(self: Evolve, evaluation: Evaluation) -> list[Progress]:
        learnt.append(evaluation)
        return learn(self, evaluation)

    monkeypatch.setattr(Evolve, "learn", noted)
    seen = list(run(study(method="random"), store, control=lambda: command if learnt else ""))  # type: ignore[arg-type,return-value]
    assert not [event for event in seen if isinstance(event, Progressed)], "no round is complete"
    assert isinstance(seen[-1], last)
    assert isinstance(seen[-1], Stopped | Paused)
    assert Findings.unpacked(store.get(seen[-1].artifacts["found"])).visits


def test_a_program_that_crashes_is_a_bug_and_the_hunt_goes_on(store: FolderStore) -> None:
    learner = {"kind": "ppo", "batch": 64, "fragment": 8, "network": {"policy": [8], "critic": [8]}}
    task = {"game": STAIRS, "learner": learner, "environments": 4}
    aims = [{"measure": "return"}, {"measure": "places", "low": 0}]
    left = results(list(run(study(task=task, objectives=aims, method="random", decisions=4000), store)))
    meta, arrays = unpack(store.get(left["found"]))
    crashes = [bug for bug in meta["bugs"] if bug["kind"] == "crash"]
    assert len(crashes) == 1
    assert "the stairs end here" in crashes[0]["what"]
    assert sum(1 if move else -1 for move in crashes[0]["moves"]) == 7
    assert len(arrays["curve"]) > 1
    bug = Bug(kind="crash", **{name: crashes[0][name] for name in ("what", "place", "seed", "moves")})
    game = watchable(parse(TrainGame, {"name": STAIRS}), 1)
    assert shows_again(bug, lambda battles: game, ORACLES)
    game.close()


def chanced(name: str, battles: int, seed: int) -> Findings:
    """What 250 random steps of so many battles of a program show."""
    made, alone = (watchable(parse(TrainGame, {"name": f"python:tests.engine.crashing_game:{name}"}), n)
                   for n in (battles, 1))  # fmt: skip
    found, rng = Findings(), np.random.default_rng(seed)
    seen = Watched(made, Oracles(stuck_after=1000), found, Replays(lambda n: alone, Oracles(stuck_after=1000)))
    seen.reset(np.arange(battles, dtype=np.uint64))
    for _ in range(250):
        seen.step([rng.integers(0, 2, battles)])
    made.close(), alone.close()
    return found


@pytest.mark.parametrize("battles", [1, 16])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_crash_is_found_and_counted_once_however_many_battles_are_played_at_once(battles: int, seed: int) -> None:
    found = chanced("Cloak", battles, seed)
    ((kind, what, _),) = found.bugs
    assert kind == "crash"
    assert "four in a row" in what
    assert next(iter(found.bugs.values())).moves[-4:] == [1, 1, 1, 1]
    assert next(iter(found.bugs.values())).seen <= 250 / 4
    assert not found.unshown


def test_a_program_that_crashes_by_chance_has_no_bug_that_shows_again_and_that_is_counted() -> None:
    found = chanced("Moody", 16, 1)
    assert not found.bugs
    ((message, times),) = found.lost.items()
    assert "in no mood" in message
    assert times > 250 // 10, "each is counted"
    assert [*found.vain.values()] == [times], "everywhere looks alike"
    assert found.partial == {message: (times - 3) // 2}, "after three in vain every second one is looked at"
    assert not found.unshown


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [("Cloak", 0, "It showed in 3 of 3 replays, after 4 decisions."), ("Fickle", 3, "It showed in 1 of 3 replays")],
)
def test_a_bug_that_is_played_again_is_said_to_show_in_so_many_of_its_replays(
    name: str, code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reference = f"python:tests.engine.crashing_game:{name}"
    game, found = watchable(parse(TrainGame, {"name": reference}), 1), Findings()
    seen = Watched(game, ORACLES, found)
    seen.reset(np.array([1], np.uint64))
    for _ in range(4):
        seen.step([np.ones(1, np.int64)])
    game.close()
    (bug,) = found.bugs.values()
    beside = {"format": "equipoise-bug-1", "game": {"name": reference}, "oracles": {}, "seed": str(bug.seed)}
    (tmp_path / "bug.json").write_text(json.dumps({**msgspec.to_builtins(bug), **beside}))
    assert cli.main(["replay-bug", str(tmp_path / "bug.json"), "--game", reference]) == code
    assert said in capsys.readouterr().out


def test_agents_that_are_not_bred_go_on_from_their_own_training() -> None:
    made = Unguided(problem(), 3, 3, 1)
    for tick in range(3):
        requests = made.ask(100)
        starts = [request.context.start for request in requests if isinstance(request.context, TrainingContext)]
        assert starts == ([f"{tick - 1}-{i}" for i in range(3)] if tick else [])
        for request in reversed(requests):
            done = TrainingContext(artifacts={TRAINED: f"{tick}-{request.id % 3}"})
            made.tell(answer(request)._replace(context=done))


@pytest.mark.parametrize(
    ("change", "place", "said"),
    [
        ({"task": {"steps": 32}}, "task.steps", "one update takes 64 decisions"),
        ({"task": {"style": {"style": "moved", "w2": 1}}}, "task.style", "rewards of the game itself"),
        ({"task": {"game": {"name": "maze", "settings": {"max_ticks": [20, 40]}}}}, "task.game.settings", "one game"),
        ({"objectives": [{"measure": "score"}, {"measure": "win"}]}, "", "the second goal of a hunt is places"),
        ({"method": "random", "algorithm": {"population": 4, "steady": True}}, "", "round by round"),
    ],
)
def test_settings_that_make_no_hunt_are_refused_at_their_fields(change: dict[str, Any], place: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        study(**change)
    assert said in {problem.place: problem.message for problem in caught.value.problems}[place]


@pytest.mark.parametrize(
    ("formula", "said"), [("score / 0", "is never a number, whatever is measured"), ("0 * score", "is 0 whatever")]
)
def test_a_hunt_with_a_goal_that_prefers_nobody_ends_before_anybody_plays(
    formula: str, said: str, store: FolderStore
) -> None:
    aims = [{"measure": "x", "formula": formula}, {"measure": "places"}]
    (ended,) = run(study(objectives=aims), store)
    assert isinstance(ended, Failed)
    assert f"objectives.0.formula: {said}" in ended.message


def test_the_batch_may_be_a_range() -> None:
    learner = {**settings()["task"]["learner"], "batch": [16, 64]}
    assert study(task={"learner": learner}).task.learner.batch == (16, 64)


def test_a_game_that_says_no_places_is_hunted_in_too(store: FolderStore) -> None:
    left = results(list(run(study(task={"game": "cartpole"}, decisions=10_000), store)))
    _, arrays = unpack(store.get(left["found"]))
    assert "walls" not in arrays
    assert len(arrays["place"]) > 10
