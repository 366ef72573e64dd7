"""Where a game accepts pieces, a patch may add some: they are priced, checked, searched and played like its own."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from engine.arrays import unpack
from engine.config import GameConfig, LineupConfig, NSGA2Config, PoolConfig, SearchConfig
from engine.errors import SimulatorError
from engine.events import Finished
from engine.lineups.schema import check_patch, presence
from engine.simulators.checks import spec_problems
from engine.simulators.conformance import check
from engine.simulators.contract import content_hash
from engine.simulators.loaders import opened
from engine.store import FolderStore
from engine.study import run
from tests.engine.sample_simulators import SPEC, RecruitingTugOfWar

RECRUITING = "python:tests.engine.sample_simulators:RecruitingTugOfWar"
PATCH = {"hero/frost-duke.cost": 12.0, "hero/frost-duke.power": 90.0, "charm/old-coin.cost": 1.0}
GAME = RecruitingTugOfWar.spec


def test_new_pieces_follow_the_games_own_in_the_order_of_their_ids() -> None:
    game = GAME.patched(PATCH)
    assert [(p.id, p.name, p.category, p.cost) for p in game.pieces[len(GAME.pieces) :]] == [
        ("charm/old-coin", "Old Coin", "charm", 1.0),
        ("hero/frost-duke", "Frost Duke", "hero", 12.0),
    ]
    assert game.pieces[-1].attributes == {"power": 90.0}
    assert game.own() == GAME
    assert content_hash(game.own()) == content_hash(GAME)


def test_a_game_that_keeps_to_its_own_pieces_refuses_them() -> None:
    assert SPEC.extended(PATCH) is SPEC
    assert [path for path, _ in check_patch(SPEC, PATCH)] == list(PATCH)


def test_a_new_piece_is_checked_like_any_other() -> None:
    assert check_patch(GAME, PATCH) == []
    found = dict(check_patch(GAME, {"hero/duke.power": 900.0, "wizard/x.cost": 1.0, "hero/y.luck": 1.0}))
    assert found["hero/duke.cost"] == "Duke is new and needs a cost"
    assert "outside 0 to 100" in found["hero/duke.power"]
    assert "no such number" in found["wizard/x.cost"]
    assert "no such number" in found["hero/y.luck"]


def test_a_simulator_in_its_own_process_plays_them_and_knows_the_strong_one() -> None:
    duke = len(GAME.pieces) + 1
    mine, theirs = np.array([[duke, 6, 1, -1, -1]] * 200, np.int32), np.array([[0, 6, 1, -1, -1]] * 200, np.int32)
    seeds = np.arange(200, dtype=np.uint64)
    with opened(RECRUITING) as simulator:
        assert simulator.battles(mine, theirs, seeds, PATCH).side[:, 0, 2].mean() == 1.0
        with pytest.raises(SimulatorError, match="does not fit"):
            simulator.battles(mine, theirs, seeds, {})


def test_a_search_finds_an_overpowered_new_piece(tmp_path: object) -> None:
    config = SearchConfig(
        game=GameConfig(simulator=RECRUITING, patch=PATCH), lineups=LineupConfig(teams=2),
        algorithm=NSGA2Config(population=12), ticks=6, replicates=2, fresh=0, pool=PoolConfig(kind="local", workers=1),
    )  # fmt: skip
    store = FolderStore(tmp_path)  # type: ignore[arg-type]
    *_, last = run(config, store)
    assert isinstance(last, Finished)
    genomes = unpack(store.get(last.artifacts["front"])).arrays["genome"]
    there = presence(GAME.patched(PATCH), genomes.reshape(-1, genomes.shape[-1]))
    assert there[:, len(GAME.pieces) + 1].any()


@pytest.mark.parametrize("accepts", [True, False])
def test_the_conformance_check_tries_a_new_piece(accepts: bool) -> None:
    findings = check(RECRUITING if accepts else "python:tests.engine.sample_simulators:TugOfWar")
    said = [finding.message for finding in findings if finding.check == "new pieces"]
    assert said == ["a piece that a patch adds can be played" if accepts else "the game keeps to its own pieces"]


def test_a_piece_of_the_games_own_cannot_look_like_a_new_one() -> None:
    clash = msgspec.structs.replace(GAME.pieces[0], id="hero/duke")
    found = spec_problems(msgspec.structs.replace(GAME, pieces=(clash, *GAME.pieces[1:])))
    assert any("leave the stroke out" in problem for problem in found)
