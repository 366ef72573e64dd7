"""The simulation of AES-RL's time is right where one can work it out, and a run that was killed goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bench import aesrl_score
from engine.bench.aesrl_rules import order
from engine.bench.aesrl_time import method, simulate
from engine.config.aesrl import AESRLConfig
from engine.config.chance import all_by_chance
from engine.job_folder import execute
from engine.studies import load
from tests.engine.test_aesrl import METHODS, settings


@pytest.mark.parametrize("driven", [0.0, 0.5])
def test_one_after_the_other_takes_what_each_takes_and_what_the_study_takes_between(driven: float) -> None:
    asked: list[str] = []

    def second(request: object, role: str) -> tuple[float, float]:
        asked.append(role)
        return 1.0, 0.0

    alone = method(1, 20_000, {"kind": "cem", "parallel": False, "population": 4})
    found = simulate(alone, 1, second, driven=driven)
    assert len(asked) > 20
    assert found.seconds == pytest.approx(len(asked) * (1.0 + driven))


def test_what_all_share_serves_one_after_the_other() -> None:
    free = {"kind": "aes-rl", "learning_share": 0}
    times = [simulate(method(n, 100_000, free), n, lambda request, role: (0.0, 1.0)).seconds for n in (1, 4)]
    assert times[1] == pytest.approx(times[0], rel=0.1), "more workers do not help"
    own = [simulate(method(n, 100_000, free), n, lambda request, role: (1.0, 0.0)).seconds for n in (1, 4)]
    assert own[1] < own[0] / 3


def test_a_run_that_was_killed_goes_on_and_gives_the_curve_of_one_that_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.job_folder._listen_to_signals", lambda: None)
    monkeypatch.setattr("engine.study.checkpoint.KEPT", 9)
    given, own = settings(method=METHODS["cem-rl"], evaluate_every=1), tmp_path / "killed"
    execute(load(given), own, str(own / "store"))
    events = (own / "events.jsonl").read_bytes().splitlines(keepends=True)
    middle = next(n for n, line in enumerate(events) if b"evaluation_return" in line) + 1
    (own / "events.jsonl").write_bytes(b"".join(events[:middle]))
    (own / "results.json").unlink()
    found = aesrl_score.reached(given, 5, own)
    whole = aesrl_score.reached(given, 5, tmp_path / "peace")
    assert len(whole["curve"]) >= 3
    assert found["curve"] == whole["curve"]
    assert found["score"] == whole["score"] == whole["curve"][-1][1]
    assert not own.exists()


@pytest.mark.parametrize("game", aesrl_score.GAMES)
def test_the_quick_form_asks_for_more_decisions_than_chance_takes_first(game: str) -> None:
    name, spread, _ = aesrl_score.GAMES[game]
    asked = [load(each) for each in aesrl_score.arms(name, spread, aesrl_score.QUICK, aesrl_score.SMALL, 0).values()]
    together = [config for config in asked if isinstance(config, AESRLConfig)]
    assert len(together) == 3
    assert [all_by_chance(config, longest=1000) for config in together] == [""] * 3


def test_an_order_that_seeds_agree_on_is_no_luck_and_one_they_do_not_is() -> None:
    apart = [[10.0 * rule + seed for seed in range(5)] for rule in range(4)]
    assert order(apart, [1, 2, 3, 4]) == (1, 1, 1)
    assert order(apart, [4, 3, 2, 1]) == (-1, -1, -1)
    alike = [[0.0, 9.0, 1.0, 8.0, 5.0 + rule / 10] for rule in range(4)]
    tau, low, high = order(alike, [1, 2, 3, 4])
    assert tau == 1
    assert low < 0 < high
    assert order([[1.0, 1.0]] * 4, [1, 2, 3, 4]) == (0, 0, 0)
