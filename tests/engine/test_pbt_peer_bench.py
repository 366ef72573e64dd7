"""What the benchmark of PBT beside RLlib says of its runs."""

from __future__ import annotations

from engine.bench.pbt_peer import _way


def test_a_run_that_is_over_when_every_member_has_reported_once_has_no_speed_to_tell() -> None:
    found = {"score": 0.95, "since_began": 14.3, "steps": 524_288, "seconds": 0.0, "steps_per_second": 0.0}
    assert _way(found) == "0.95 after 14 s and 524,288 decisions when every member had reported once"
    longer = found | {"seconds": 10.0, "steps_per_second": 100.0, "processor_seconds": 20.0, "busy": 1.0}
    assert "at 100 (50 a processor second, 100% busy)" in _way(longer)
