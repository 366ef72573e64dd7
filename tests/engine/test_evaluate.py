"""Evaluations: policies play each other on both seats, and the table does not depend on interruptions."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.arrays import Bundle, unpack
from engine.catalog import STUDIES
from engine.console import line
from engine.errors import ConfigError
from engine.events import AnyEvent, Failed, Finished, Logged, Paused, Progressed, Stopped
from engine.rl.policy import Policy
from engine.store import FolderStore
from engine.studies import load
from engine.study import round_robin
from engine.study.progress_throttle import ProgressThrottle
from tests.engine.test_train import events as trained
from tests.engine.test_train_policies import TWO, pong

ENTRANTS: dict[str, Any] = {
    "random": {"kind": "scripted", "player": "random"},
    "follower": {"kind": "scripted", "player": "pong-follower", "title": "Follows the ball"},
    "again": {"kind": "scripted", "player": "random"},
}


def study(**more: Any) -> Any:
    """Three scripts at short Pong: three pairs."""
    game = {"name": "pong-two-seats", "settings": {"points": 1, "max_ticks": 200}}
    return load({"kind": "evaluate", "game": game, "policies": ENTRANTS, "episodes": 40, **more})


def run(config: Any, store: FolderStore, resume: str = "", control: Any = lambda: "") -> list[AnyEvent]:
    return list(STUDIES["evaluate"].load()(config, store, resume, control))


def table(store: FolderStore, event: Any) -> Bundle:
    return unpack(store.get(event.artifacts["table"]))


def test_who_plays_better_stands_first_and_its_range_says_so(store: FolderStore) -> None:
    *_, end = run(study(), store)
    assert isinstance(end, Finished)
    assert (end.tick, end.counters.battles) == (3, 120)
    found = table(store, end)
    assert found.meta["titles"] == ["random", "Follows the ball", "again"]
    share, low, high = (found.arrays[name] for name in ("share", "low", "high"))
    assert share[1, 0] > 0.6
    assert found.arrays["beats"][1, 0] == 1 == -found.arrays["beats"][0, 1]
    assert found.arrays["overall"][1, 0] == found.arrays["overall"][:, 0].max()
    for i in range(3):
        assert np.isnan(share[i, i])
        for j in {0, 1, 2} - {i}:
            assert 0 <= low[i, j] <= share[i, j] <= high[i, j] <= 1
            assert share[i, j] == pytest.approx(1 - share[j, i])
            assert low[i, j] == pytest.approx(1 - high[j, i], abs=1e-6)


def test_what_a_round_says_has_its_percent_as_pages_do(store: FolderStore) -> None:
    said = [event.message for event in run(study(), store) if isinstance(event, Logged) and " won " in event.message]
    assert len(said) == 3
    assert all(re.search(r" won \d+ % \(\d+ to \d+ %\) of 40 episodes against ", text) for text in said), said


def test_a_round_with_draws_says_how_many_because_half_of_them_look_like_wins(store: FolderStore) -> None:
    """Nobody scores in an episode of so few ticks."""
    endless = {"name": "pong-two-seats", "settings": {"points": 1, "max_ticks": 4, "frame_skip": 1}}
    said = [event.message for event in run(study(game=endless), store) if isinstance(event, Logged) and event.message]
    assert len(said) == 3
    assert all(" won 50 % " in text and text.endswith("; draws, 100 % of them, count half.") for text in said), said


def test_players_that_are_the_same_are_told_as_equal(store: FolderStore) -> None:
    found = table(store, run(study(), store)[-1]).arrays
    assert found["share"][0, 2] == 0.5, "each seed is played with both seatings"
    assert found["beats"][0, 2] == 0


def test_the_same_seed_gives_the_same_table_and_another_seed_another_one(store: FolderStore) -> None:
    ends: list[Any] = [run(study(seed=seed), store)[-1] for seed in (1, 1, 2)]
    first, again, other = (end.artifacts["table"] for end in ends)
    assert first == again != other


def test_batches_do_not_change_it(store: FolderStore, monkeypatch: pytest.MonkeyPatch) -> None:
    whole: Any = run(study(), store)[-1]
    monkeypatch.setattr(round_robin, "BATCH", 7)
    assert run(study(), store)[-1].artifacts["table"] == whole.artifacts["table"]  # type: ignore[union-attr]


def test_a_long_pair_says_how_far_it_is_after_any_decision(store: FolderStore, monkeypatch: pytest.MonkeyPatch) -> None:
    whole: Any = run(study(), store)[-1]
    monkeypatch.setattr(ProgressThrottle, "due", lambda self: True)
    events = run(study(), store)
    told = [(e.tick, e.counters.battles) for e in events if isinstance(e, Logged)]
    assert [battles for _, battles in told] == sorted(battles for _, battles in told)
    assert {0, 120} < {battles for _, battles in told}, "within a batch, too"
    assert all(0 <= battles - 40 * tick <= 40 for tick, battles in told)
    end: Any = events[-1]
    assert end.artifacts["table"] == whole.artifacts["table"]
    assert (end.counters.battles, end.counters.steps) == (whole.counters.battles, whole.counters.steps)


def test_the_command_line_calls_what_it_plays_episodes_and_says_who_won(store: FolderStore) -> None:
    said = [line(event, study().model_dump(mode="json")) for event in run(study(), store)]
    assert "3 pairs, 120 episodes planned" in said[0]
    assert "the first of this pair won" in said[2]
    assert said[-1].endswith("120 episodes")


class Killed(BaseException):
    """As nothing in the study expects it."""


@pytest.mark.parametrize("decisions", [150, 300, 600])
def test_one_that_was_killed_in_the_middle_of_a_pair_ends_bit_for_bit_alike(
    tmp_path: Path, store: FolderStore, decisions: int
) -> None:
    whole: Any = run(study(), store)[-1]
    parts, asked, saved = FolderStore(tmp_path / "parts"), 0, ""

    def kill() -> str:
        nonlocal asked
        asked += 1
        if asked == decisions:
            raise Killed
        return ""

    with contextlib.suppress(Killed):
        for event in STUDIES["evaluate"].load()(study(), parts, "", kill):
            saved = event.artifacts["checkpoint"] if isinstance(event, Progressed) else saved
    assert asked == decisions, "it was killed before it was over"
    end: Any = run(study(), parts, saved)[-1]
    assert end.artifacts["table"] == whole.artifacts["table"]
    assert (end.counters.battles, end.counters.steps) == (whole.counters.battles, whole.counters.steps)
    assert end.counters.seconds >= 0


def test_a_pause_keeps_the_pairs_that_have_played_and_a_stop_tells_them(store: FolderStore) -> None:
    whole: Any = run(study(), store)[-1]
    done: list[AnyEvent] = []

    def after_one(command: str) -> list[AnyEvent]:
        done.clear()
        for event in STUDIES["evaluate"].load()(
            study(), store, "", lambda: command if any(isinstance(e, Progressed) for e in done) else ""
        ):
            done.append(event)
        return [*done]

    paused = after_one("pause")[-1]
    assert isinstance(paused, Paused)
    assert paused.tick == 1
    assert run(study(), store, paused.artifacts["checkpoint"])[-1].artifacts["table"] == whole.artifacts["table"]  # type: ignore[union-attr]
    stopped = after_one("stop")[-1]
    assert isinstance(stopped, Stopped)
    assert np.isfinite(table(store, stopped).arrays["share"]).sum() == 2


def test_saved_policies_of_trainings_play_by_their_hashes(store: FolderStore) -> None:
    end: Any = trained(pong(TWO, steps=512), store)[-1]
    found = {name: end.artifacts[f"policy_description/{name}"] for name in TWO}
    entrants = {name: {"kind": "frozen", "policy": digest} for name, digest in found.items()}
    last: Any = run(study(policies={**entrants, "follower": ENTRANTS["follower"]}), store)[-1]
    assert isinstance(last, Finished)
    assert Policy.stored(store, found["left"])
    assert np.isfinite(table(store, last).arrays["share"]).sum() == 6


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"game": "cartpole"}, "game.name: policies play each other in games for two; this one has one seat"),
        ({"policies": {**ENTRANTS, "x": {"kind": "scripted", "player": "chess"}}},
         "policies.x.player: there is no script 'chess'"),
        ({"policies": {**ENTRANTS, "x": {"kind": "frozen", "policy": "0" * 64}}},
         "policies.x.policy: Artifact 000000000000 is missing"),
    ],
)  # fmt: skip
def test_what_cannot_be_played_is_named_before_anything_starts(
    store: FolderStore, change: dict[str, Any], said: str
) -> None:
    (failed,) = run(study(**change), store)
    assert isinstance(failed, Failed)
    assert failed.permanent
    assert said in failed.message


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"policies": {"random": ENTRANTS["random"]}}, "policies"),
        ({"policies": {**ENTRANTS, "Not so": ENTRANTS["random"]}}, "policies.Not so"),
        ({"policies": {**ENTRANTS, "x": {"kind": "frozen", "policy": "a hash"}}}, "policies.x.policy"),
        ({"episodes": 41}, "episodes"),
        ({"seed": [1, 2]}, "seed"),
    ],
)
def test_what_is_wrong_with_its_settings_is_named(change: dict[str, Any], place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        study(**change)
    assert place in {problem.place for problem in caught.value.problems}
