"""The simulation of AES-RL's time is right where one can work it out."""

from __future__ import annotations

import pytest

from engine.bench.aesrl_time import method, simulate


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
