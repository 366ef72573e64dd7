"""The benchmark of experiments knows what is true, and plants breaks of the size it says."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from engine.bench import kept, worth, worth_weak_spots
from engine.bench.balance_loop import search, study
from engine.bench.kept import Kept
from engine.bench.worth_experiments import Ids, ids, wins
from engine.bench.worth_truth import measured
from engine.bench.worth_weak_spots import KINDS, Break, BrokenGame, planted
from engine.confidence import Range
from engine.config.worth import WorthConfig
from engine.games.herobattle import HeroBattle
from engine.games.herobattle.planted import planted_pieces
from engine.lineups.rules import compile_rules
from engine.worth.analysis import WorthAnalysis
from engine.worth.experiment import Experiment
from engine.worth.prices import cost_bounds
from engine.worth.proof import Finalist, Finding

STEP = 8_000


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    """One that has not begun, with a screen that met every trait."""
    spec = HeroBattle().describe()
    rules = compile_rules(spec, WorthConfig.model_validate({"game": {"simulator": "builtin:herobattle"}}).pairings)
    x = Experiment(rules, 2_000, 3.0, 1, cost_bounds(spec))
    met = SimpleNamespace(many=np.full(len(x.traits.single) + len(x.traits.amounts), 9.0))
    together = SimpleNamespace(many=np.ones((len(x.traits.single),) * 2))
    x.analysis.__dict__["screen"] = SimpleNamespace(rest=[met, met], pairs=[together, together])
    return x


def trait(x: Experiment, of: Ids) -> int:
    return next(i for i in range(len(x.traits.all)) if ids(x, HeroBattle().describe(), i) == tuple(sorted(of)))


def said(x: Experiment, monkeypatch: pytest.MonkeyPatch, of: Ids, worth: float, halves: float = np.nan) -> Finding:
    """A finding that an experiment is made to tell."""
    where = trait(x, of)
    finalist = Finalist(where, worth, 1e-4, 0.0, 0.0, 0.0, halves)
    monkeypatch.setitem(x.analysis.__dict__, "finalists", [finalist])
    return Finding(where, 1_000, worth, 0.25, Range(-1.0, 1.0), 9.0, reported=True)


def test_what_is_planted_is_true_and_its_sign_counts(experiment: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    singles, pair = planted_pieces(3)
    game = HeroBattle(planted_seed=3, edge=0.1)
    for of in ((singles[0],), pair):
        true = measured(game, experiment, said(experiment, monkeypatch, of, 0.1), 200_000, STEP)
        assert true.true
        assert 0.05 < true.effect < 0.2
        assert true.battles == STEP * (2 if len(of) == 1 else 6)
        assert not measured(game, experiment, said(experiment, monkeypatch, of, -0.1), 200_000, STEP).true


def test_an_even_piece_and_halves_that_explain_their_pair_are_false(
    experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    singles, _ = planted_pieces(3)
    even = measured(HeroBattle(), experiment, said(experiment, monkeypatch, (singles[0],), 0.1), 200_000, STEP)
    assert not even.true
    game = HeroBattle(planted_seed=3, edge=0.1)
    both = said(experiment, monkeypatch, (singles[0], singles[2]), 0.1, halves=0.0)
    found = measured(game, experiment, both, 6 * STEP, STEP)
    assert found.effect > 0.1
    assert found.battles <= 6 * STEP


@pytest.mark.parametrize("name", sorted(KINDS))
def test_each_kind_of_break_is_planted_in_the_size_it_says(name: str, experiment: Experiment) -> None:
    kind, one = KINDS[name], planted(KINDS[name], 2)
    assert one == planted(kind, 2)
    assert len(one.pieces) == len(kind.categories)
    pieces = np.full((20_000, 3), -1, np.int32)
    pieces[:, : len(one.pieces)] = one.pieces
    least = np.full_like(pieces, 1)
    least[:, 0] = one.least
    everywhere = one._replace(against=-1)
    more = wins(BrokenGame(everywhere), experiment.rules, pieces, least) - wins(
        HeroBattle(), experiment.rules, pieces, least
    )
    assert 100 * more == pytest.approx(kind.points, abs=2 + kind.points / 4)


def test_a_break_holds_only_for_teams_that_have_it_and_against_those_it_is_for(experiment: Experiment) -> None:
    rows = np.concatenate([request.genome for request in experiment.ask(50)])
    teams, others = rows[:, 0], rows[:, 1]
    soldier = int(teams[0, 4])
    enough = BrokenGame(Break((soldier,), int(teams[0, 5]), -1, 0.1)).has(teams, others)
    assert enough[0]
    assert not BrokenGame(Break((soldier,), 10, -1, 0.1)).has(teams, others).any()
    against = BrokenGame(Break((int(teams[0, 0]),), 1, int(others[0, 1]), 0.1)).has(teams, others)
    expected = (teams[:, 0] == teams[0, 0]) & (others[:, 1] == others[0, 1])
    np.testing.assert_array_equal(against, expected)


def test_a_benchmark_that_was_killed_goes_on_and_other_settings_begin_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured_now: list[int] = []

    def of(seed: int) -> list[int]:
        measured_now.append(seed)
        return [seed, 2]

    first = Kept("case", {"battles": 8}, ["rng.py"], tmp_path)
    assert [first.result(seed, partial(of, seed)) for seed in (1, 2)] == [[1, 2], [2, 2]]
    assert "case 2: [2, 2]" in capsys.readouterr().err
    with first.path.open("a") as file:
        file.write('\n{"seed": "3", "res')  # killed here
    again = Kept("case", {"battles": 8}, ["rng.py"], tmp_path)
    assert [again.result(seed, partial(of, seed)) for seed in (1, 2, 3)] == [[1, 2], [2, 2], [3, 2]]
    assert measured_now == [1, 2, 3]
    once_more = Kept("case", {"battles": 8}, ["rng.py"], tmp_path)
    assert sorted(once_more.found) == ["1", "2", "3"]
    assert not Kept("case", {"battles": 9}, ["rng.py"], tmp_path).found
    assert not Kept("case", {"battles": 8}, ["errors.py"], tmp_path).found


def test_what_the_repository_has_of_a_long_benchmark_is_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Kept("case", {"battles": 8}, ["rng.py"], tmp_path / "measured").result(1, lambda: 0.5)
    monkeypatch.setattr(kept, "MEASURED", tmp_path / "measured")
    here = Kept("case", {"battles": 8}, ["rng.py"], tmp_path / "var")
    assert here.result(1, lambda: pytest.fail("it was measured again")) == 0.5
    assert here.result(2, lambda: 0.25) == 0.25
    assert Kept("case", {"battles": 8}, ["rng.py"], tmp_path / "var").found == {"1": 0.5, "2": 0.25}


def test_words_about_code_begin_no_measurement_anew_and_its_numbers_do() -> None:
    code = '"""What it does."""\n\ndef half(x):\n    """Half."""\n    return x / 2  # of it\n\nHALF = 2\n"""Two."""\n'
    reworded = '"""It halves."""\ndef half(x):\n    return x / 2\n\nHALF = 2\n'
    assert kept.bare(code) == kept.bare(reworded)
    assert kept.bare(code) != kept.bare(code.replace("HALF = 2", "HALF = 3"))
    assert kept.bare(code) != kept.bare(code.replace("return x / 2", "return x"))


def test_recall_is_told_of_screen_search_and_random(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kept, "FOLDER", tmp_path)
    right = {"right": [True, True, True, True, False], "others": ["boar 5.0 points"], "seconds": 2.0}
    monkeypatch.setattr(worth, "_of_seed", lambda *_: right)
    monkeypatch.setattr(worth, "recall", lambda seed, kind, rounds: [kind == "nsga2"] * 4 + [rounds == 7])
    rows = list(worth.run("recall-150k", True))
    assert [(row["case"], row["value"]) for row in rows] == [
        ("recall-150k", 0.8), ("recall-150k search", 1.0), ("recall-150k random", 0.2)
    ]  # fmt: skip
    assert "8 of 8 singles, the pair in 0 of 2; others told: seed 1: boar" in rows[0]["detail"]
    assert not rows[0]["meets"]


def test_the_rows_count_what_was_told_with_a_range(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kept, "FOLDER", tmp_path)
    monkeypatch.setattr(
        worth_weak_spots, "confirmed", lambda kind, seed, battles: ([("anvil",)] * (seed == 1), [("boar",)])
    )
    rows = list(worth.run("weak-spots", True))
    assert [row["case"] for row in rows] == [f"weak-spots {name}" for name in KINDS]
    assert all(row["value"] == 1 and "told: anvil; told beside them: boar" in row["detail"] for row in rows)
    monkeypatch.setattr(worth, "played", lambda *_: None)
    monkeypatch.setattr(worth, "_checked", lambda *_: (1, ["anvil 1.0 points, false", *["boar 5.0 points"] * 3]))
    (row,) = worth.run("false", True)
    assert row["value"] == 0.25
    assert not row["meets"]
    assert row["detail"].startswith("2 of 8 told (0.071 to 0.591)")


def test_where_none_looks_provable_the_nearest_ones_are_proved_first() -> None:
    analysis = object.__new__(WorthAnalysis)
    analysis.matters, analysis.played = 0.015, []
    effects = [-0.013, 0.016, 0.014, -0.0235, 0.021, 0.0125]
    finalists = [Finalist(i, effect, 2.5e-5, 0.0, 0.0, 0.009) for i, effect in enumerate(effects)]
    analysis.__dict__["finalists"] = finalists
    analysis._findings = (0, [Finding(i, 0, np.nan, np.nan, Range(-1, 1), 0.0) for i in range(len(effects))])
    assert analysis._provable(10_000) == (3, 4, 1, 2)


def test_recall_of_a_search_is_read_from_its_last_population() -> None:
    found = search(study(2, pool={"kind": "local"}, algorithm={"kind": "random", "population": 10}, cache=True))
    assert found.population["genome"].shape == (10, *found.archive["genome"].shape[1:])
    assert (found.population["anchor"][:, 0] >= 0).all()
