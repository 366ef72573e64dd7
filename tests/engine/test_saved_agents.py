"""Saved agents: measured on fresh episodes, taken home as files that act the same, and recorded to be watched."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.arrays import Bundle, unpack
from engine.catalog import STUDIES
from engine.config.agents import MeasureConfig
from engine.config.limits import LimitsConfig
from engine.config.rl import DRAWING, NetworkConfig
from engine.events import AnyEvent, Failed, Finished, Paused, Progressed
from engine.games.connect_four import SEAT as DISCS
from engine.games.herobattle import layout
from engine.games.herobattle.commanders import HeroBattleCommanders
from engine.games.herobattle.commanders.scripts import Commander, HeroHunter
from engine.games.maze import Maze
from engine.games.pong import VectorPong
from engine.games.pong.scripts import Follower
from engine.mdp.interface import ArraySpec, Continuous, Discrete, SeatSpec
from engine.mdp.limits import limited
from engine.mdp.trajectory import Batch
from engine.means import WHY_NOWHERE
from engine.rl.devices import on_threads
from engine.rl.observed import Observed
from engine.rl.onnx_acting import acting
from engine.rl.players import RandomPlayer
from engine.rl.policy import Policy, PolicySpec
from engine.rl.recording import record
from engine.rl.take_home import checked, processor, vectors
from engine.store import FolderStore
from engine.studies import load
from engine.study.measure import _Measurement
from engine.study.model_card import NOT_RECORDED, card_of, in_words, limits_in_words, own_player
from engine.styles.strangers import Shift, moved
from tests.engine.test_rl_policy import POLICIES, batch
from tests.engine.test_rl_policy import policy as made

PONG = VectorPong(seats=(0,)).spec.seats[0]
WAYS = [(n, sampled) for n in POLICIES for sampled in (False, True) if not sampled or POLICIES[n].kind in DRAWING]
"""Policies and how they choose; values and actions themselves have no odds to draw by."""
SHORT = {"points": 1, "max_ticks": 150}


def untrained(seat: Any = PONG, seed: int = 3, kind: str = "actor-critic") -> Policy:
    """A policy that was never trained, with weights large enough that it does different things."""
    spec = PolicySpec(seat, NetworkConfig(policy=(16,), critic=(16,)), kind, normalise=True)
    weights = spec.model().initial(np.random.default_rng(seed))
    return Policy(spec, weights + 0.5 * np.random.default_rng(seed).standard_normal(len(weights)).astype(np.float32))


def kept(policy: Policy, store: FolderStore) -> str:
    description, tensors = policy.pack()
    store.put(tensors)
    return store.put(description)


def run(config: Any, store: FolderStore, resume: str = "", control: Any = lambda: "") -> list[AnyEvent]:
    return list(STUDIES[config.kind].load()(config, store, resume, control))


def measurement(agent: str, **more: Any) -> Any:
    told = {"kind": "measure", "game": {"name": "pong", "settings": SHORT}, "episodes": 100}
    return load(told | {"agent": {"policy": agent, "title": "Ada", "sampled": more.pop("sampled", False)}} | more)


def measured(store: FolderStore, event: AnyEvent) -> Bundle:
    assert isinstance(event, Finished), event
    return unpack(store.get(event.artifacts["table"]))


@pytest.mark.parametrize(("name", "sampled"), WAYS)
def test_the_exported_agent_takes_the_same_action_as_the_live_one_under_any_mask(name: str, sampled: bool) -> None:
    policy = made(name)
    seen, legal = batch(policy, 1000), policy.spec.seat.action.legal
    if legal:
        seen = seen._replace(masks=np.random.default_rng(1).random((1000, legal)) < 0.5)
        seen.masks[:3] = False
    check = checked(acting(policy, sampled), vectors(policy, seen, sampled))
    assert check.situations == check.same == 1000
    assert check.difference <= 1e-5


@pytest.mark.parametrize("kind", ["q", "actor-critic"])
@pytest.mark.parametrize("seed", range(5))
def test_large_numbers_are_the_same_up_to_rounding_of_their_size_though_some_are_near_0(kind: str, seed: int) -> None:
    """As those of who sees pixels from 0 to 1,080: float32 rounds sums of hundreds."""
    seat = SeatSpec((ArraySpec("o", (8,)),), Discrete(4), ("r",))
    network = NetworkConfig(policy=(256, 256), critic=(256, 256))
    spec = PolicySpec(seat, network, kind, duelling=kind == "q")
    policy = Policy(spec, 4 * spec.model().initial(np.random.default_rng(seed)))
    seen = batch(policy, 1000)
    seen.observations["o"][:] *= 500
    given = vectors(policy, seen, False)
    assert abs(given["out.policy"]).max() > 100
    assert checked(acting(policy, False), given).good
    given["out.policy"][7, 2] += 1e-4 * given["scale.policy"]
    found = checked(acting(policy, False), given)
    assert not found.good
    assert found.difference == pytest.approx(1e-4, rel=0.1)


def test_parameters_of_an_action_are_compared_by_their_range() -> None:
    seat = SeatSpec((ArraySpec("o", (3,)),), Continuous((-2.0, 0.0), (2.0, 1e4), (2,)), ("r",))
    spec = PolicySpec(seat, NetworkConfig(policy=(16,), critic=(16,)), "squashed")
    policy = Policy(spec, 5 * spec.model().initial(np.random.default_rng(1)))
    given = vectors(policy, batch(policy, 2000), False)
    assert given["scale.action"][0] == 2
    assert 5000 <= given["scale.action"][1] <= 10_000
    assert checked(acting(policy, False), given).good
    given["out.action"][3] += np.array([0.0, 1.0], np.float32)
    assert checked(acting(policy, False), given).same == 1999


def test_a_measurement_tells_means_with_ranges_of_fresh_episodes(store: FolderStore) -> None:
    *_, end = run(measurement(kept(untrained(), store)), store)
    told = measured(store, end)
    figures = {each["name"]: each for each in told.meta["measures"]}
    assert told.meta["episodes"] == 100 == len(told.arrays["values"])
    assert {"win", "score", "length", "moved", "stayed", "hits"} <= figures.keys()
    for name in ("win", "score", "moved"):
        assert 0 <= figures[name]["low"] <= figures[name]["mean"] <= figures[name]["high"] <= 1
    assert told.meta["milliseconds"] > 0
    clip = told.meta["clip"]
    assert (clip["drawing"], clip["pace"]) == ("pong", 40.0)
    assert 6 * 40 + 1 >= len(clip["positions"]) > 40, "some seconds"
    assert sum(told.meta["moves"]) == 1000


def test_episodes_are_played_on_one_thread_and_afterwards_torch_has_its_own_again(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads, plays = list[int](), _Measurement._played

    def noted(self: _Measurement, *given: Any) -> Any:
        threads.append(torch.get_num_threads())
        return plays(self, *given)

    monkeypatch.setattr(_Measurement, "_played", noted)
    with on_threads(2):
        run(measurement(kept(untrained(), store)), store)
        assert torch.get_num_threads() == 2
    assert set(threads) == {1}


def test_an_interrupted_measurement_ends_with_the_same_figures(store: FolderStore) -> None:
    study = measurement(kept(untrained(), store))
    *_, whole = run(study, store)
    found: list[AnyEvent] = []
    for event in STUDIES["measure"].load()(
        study, store, "", lambda: "pause" if any(isinstance(e, Progressed) for e in found) else ""
    ):
        found.append(event)
    assert isinstance(found[-1], Paused)
    *_, end = run(study, store, found[-1].artifacts["checkpoint"])
    one, other = measured(store, whole), measured(store, end)
    np.testing.assert_array_equal(one.arrays["values"], other.arrays["values"])
    assert one.meta["moves"] == other.meta["moves"]
    assert one.meta["clip"] == other.meta["clip"]


@pytest.mark.parametrize(
    ("delay", "apart", "said"),
    [
        (1, 1, "what it decides happens 1 decision later; it acts at any decision."),
        (3, 1, "what it decides happens 3 decisions later; it acts at any decision."),
        (0, 2, "it reacts at once; what it does changes at most once in 2 decisions."),
        (0, 1, "none: it reacts at once, and acts whenever it likes"),
    ],
)
def test_the_model_card_says_limits_in_sentences(delay: int, apart: int, said: str) -> None:
    assert limits_in_words({"delay": delay, "apart": apart, "idle": 0}).startswith(said)


@pytest.mark.parametrize(
    ("game", "said"),
    [
        ("pong", "the game's own player"),
        ("maze", "nobody: it plays alone"),
        ("gym:X", "nobody: it plays alone"),
    ],
)
def test_the_model_card_says_against_whom_it_was_measured(game: str, said: str) -> None:
    assert own_player(game) == said


def test_an_agent_meets_strangers_on_the_same_seeds_and_its_card_says_whether_its_style_holds(
    store: FolderStore,
) -> None:
    met = [{"kind": "scripted", "player": name, "title": name} for name in ("random", "pong-follower")]
    study = measurement(kept(untrained(), store), strangers=met, style=["moved"], episodes=50,
                        origin={"spans": {"moved": 0.4}, "spans_episodes": 60})  # fmt: skip
    assert study.ticks == 3
    found: list[AnyEvent] = []
    for event in STUDIES["measure"].load()(
        study, store, "", lambda: "pause" if sum(isinstance(e, Progressed) for e in found) > 1 else ""
    ):
        found.append(event)
    assert isinstance(found[-1], Paused)
    *_, end = run(study, store, found[-1].artifacts["checkpoint"])
    whole, told = measured(store, run(study, store)[-1]).meta, measured(store, end).meta
    assert told["against"] == whole["against"]
    assert (
        told["measures"]
        == measured(store, run(measurement(study.agent.policy, episodes=50), store)[-1]).meta["measures"]
    )
    by = {each["opponent"]: {m["name"]: m["mean"] for m in each["measures"]} for each in told["against"]}
    own = {m["name"]: m["mean"] for m in told["measures"]}
    assert by.keys() == {"random", "pong-follower"}
    assert told["moved"]["by"] in [pytest.approx(abs(each["moved"] - own["moved"]) / 0.4) for each in by.values()], (
        "as a share of what the search's agents span"
    )
    assert told["moved"]["low"] <= told["moved"]["by"] <= told["moved"]["high"]
    assert isinstance(end, Finished)
    with zipfile.ZipFile(io.BytesIO(store.get(end.artifacts["take_home"]))) as taken:
        card, words = json.loads(taken.read("card.json")), taken.read("card.md").decode()
    assert card["against_strangers"]["fragile"] is None, "fifty episodes of a range of 0.4 do not tell"
    assert "## Against opponents it never learned against" in words
    assert (
        f"Its style shifts by {told['moved']['by']:.2f} of its span (moved, against {told['moved']['opponent']},"
        in words
    )


def test_a_style_that_no_agent_of_the_search_differs_in_is_not_judged_by_how_far_episodes_differ(
    store: FolderStore,
) -> None:
    met = [{"kind": "scripted", "player": "random"}]
    agent = kept(untrained(), store)
    for style, spans, judged, why in (
        (["moved", "hits"], {"moved": 0.0, "hits": 0.0}, "", "All agents of its search do the same, so no style can"),
        (["moved", "hits"], {"moved": 0.4, "hits": 0.0}, "moved", "Its style shifts by"),
        (["moved"], {}, "moved", "Its style shifts by"),
        ([], {}, "", "It was not bred for a style"),
        (["unheard"], {}, "", "What its style is judged by was not measured here"),
    ):
        study = measurement(agent, strangers=met, style=style, episodes=50, origin={"spans": spans})
        *_, end = run(study, store)
        moved = measured(store, end).meta["moved"]
        assert (moved or {"measure": ""})["measure"] == judged, spans
        with zipfile.ZipFile(io.BytesIO(store.get(end.artifacts["take_home"]))) as taken:
            words = taken.read("card.md").decode()
        assert why in words
        apart = "the agents of its search" if spans else "the measured episodes"
        assert (f"Its span is how far {apart} lie apart." in words) == bool(judged)


def test_the_card_of_an_agent_that_drew_says_what_a_draw_counts(store: FolderStore) -> None:
    policy = kept(untrained(), store)
    for draws, said in ((0, False), (3, True)):
        found = {
            "game": "pong", "game_version": "1", "sampled": False, "idle": 0, "episodes": 50, "measures": [],
            "milliseconds": 0.1, "processor": "", "against": [], "moved": None, "draws": draws,
            "check": {"situations": 1, "same": 1, "difference": 0.0},
        }  # fmt: skip
        card = card_of(measurement(policy), untrained(), found)
        assert card["measured"]["draws"] == draws
        assert ("A draw counts as half a win." in in_words(card)) == said


def test_the_card_names_measures_in_words_and_says_what_is_not_known_and_why(store: FolderStore) -> None:
    measures = [
        {"name": "moved", "mean": 0.5, "low": 0.4, "high": 0.6},
        {"name": "own", "mean": 7.0, "low": None, "high": None},
        {"name": "return:win", "mean": 0.25, "low": 0.2, "high": 0.3},
    ]  # fmt: skip
    found = {
        "game": "pong", "game_version": "1", "sampled": False, "idle": 0, "episodes": 50, "measures": measures,
        "milliseconds": 0.1, "processor": "Some CPU", "against": [{"opponent": "Random", "measures": measures}],
        "moved": None, "draws": 0, "check": {"situations": 1, "same": 1, "difference": 0.0},
    }  # fmt: skip
    words = in_words(card_of(measurement(kept(untrained(), store)), untrained(), found))
    assert "| moves (`moved`) | 0.5 | 0.4 to 0.6 |" in words
    assert "| `own` | 7 | range unknown |" in words
    assert "| sum of the reward “win” (`return:win`) | 0.25 | 0.2 to 0.3 |" in words
    assert "| `own` | 7 (range unknown) |" in words
    assert f"A range is unknown where {WHY_NOWHERE}." in words
    assert f"| From | {NOT_RECORDED} |" in words
    assert f"| Learner | {NOT_RECORDED} |" in words
    assert "a number of decisions that was not recorded" in words
    assert "0.100 ms for a decision on one thread (Some CPU)" in words
    alone = measurement(kept(untrained(), store), game={"name": "gym:CartPole-v1"})
    by_its_label = in_words(card_of(alone, untrained(), {**found, "game": "CartPole-v1"}))
    assert "| Measured against | nobody: it plays alone |" in by_its_label
    certain = {**found, "measures": measures[:1], "against": []}
    assert "unknown" not in in_words(card_of(measurement(kept(untrained(), store)), untrained(), certain))


@pytest.mark.parametrize(("rests", "said", "verdict"), [
    (2, ", by 2 episodes of each, and is taken as it was measured there. So few do not tell whether", None),
    (60, ", by 60 episodes of each, and is taken as it was measured there.", True),
    (0, "agents of its search lie apart.", True),
])  # fmt: skip
def test_the_card_says_on_how_many_episodes_the_span_rests_and_gives_no_verdict_by_few(
    store: FolderStore, rests: int, said: str, verdict: bool | None
) -> None:
    shift = moved([Shift("moved", "Random", 0.3, 0.2, 0.4, 100)], {"moved": 0.5}, rests)
    assert shift is not None
    found = {
        "game": "pong", "game_version": "1", "sampled": False, "idle": 0, "episodes": 50, "measures": [],
        "milliseconds": 0.1, "processor": "", "against": [{"opponent": "Random", "measures": []}],
        "moved": shift._asdict(), "draws": 0, "check": {"situations": 1, "same": 1, "difference": 0.0},
    }  # fmt: skip
    study = measurement(kept(untrained(), store), origin={"spans": {"moved": 0.5}, "spans_episodes": rests})
    card = card_of(study, untrained(), found)
    assert card["against_strangers"]["fragile"] is verdict
    assert said in in_words(card)
    assert ("**fragile**" in in_words(card)) == bool(verdict)


def test_what_people_have_named_is_no_mark_of_the_card(store: FolderStore) -> None:
    evil = "a | b <img src=x> [c](d) `e` *f*"
    kept_plain = r"a \| b \<img src=x\> \[c\](d) \`e\` \*f\*"
    measures = [{"name": name, "mean": 0.5, "low": 0.4, "high": 0.6} for name in ("moved", evil)]
    found = {
        "game": "pong", "game_version": evil, "sampled": False, "idle": 0, "episodes": 50, "measures": measures,
        "milliseconds": 0.1, "processor": "", "against": [{"opponent": evil, "measures": measures}],
        "moved": {"by": 0.3, "measure": "moved", "opponent": evil, "low": 0.2, "high": 0.4, "episodes": 0,
                  "unseen": False},
        "draws": 0, "check": {"situations": 1, "same": 1, "difference": 0.0},
    }  # fmt: skip
    agent = {"policy": kept(untrained(), store), "title": evil}
    study = load({
        "kind": "measure", "game": {"name": "pong", "settings": SHORT}, "agent": agent, "style": ["moved"],
        "opponent": {"kind": "scripted", "player": "random", "title": evil}, "origin": {"job": evil, "data": evil},
    })  # fmt: skip
    assert isinstance(study, MeasureConfig)
    words = in_words(card_of(study, untrained(), found))
    assert words.startswith(f"# {kept_plain}\n")
    for row in ("Measured against", "From", "Game data"):
        assert f"| {row} | {kept_plain} |" in words
    assert evil not in words
    assert f"| {kept_plain} | 0.5 | 0.4 to 0.6 |" in words


@pytest.mark.parametrize(
    ("learned", "data", "said"),
    [
        ("Spring, version 1", "Spring, version 2", "trained on Spring, version 1, measured on Spring, version 2"),
        ("", "Spring, version 2", "trained on the game's own, measured on Spring, version 2"),
        ("Spring, version 1", "Spring, version 1", "| Spring, version 1 "),
        ("Spring, version 1", "", "| Spring, version 1 "),
        ("", "", "| the game's own "),
    ],
)
def test_the_card_names_the_data_that_it_learned_on_and_the_data_that_it_was_measured_on(
    learned: str, data: str, said: str, store: FolderStore
) -> None:
    found = {
        "game": "pong", "game_version": "1", "idle": 0, "sampled": False, "milliseconds": 0.1, "processor": "",
        "measures": [], "episodes": 50, "against": [], "moved": None, "draws": 0, "declared": [],
        "check": {"situations": 1, "same": 1, "difference": 0.0},
    }  # fmt: skip
    config = measurement(kept(untrained(), store), origin={"data": learned}, data=data)
    (line,) = [row for row in in_words(card_of(config, untrained(), found)).splitlines() if "Game data" in row]
    assert said in line


def test_a_processor_is_called_by_its_model_or_not_at_all(tmp_path: Path) -> None:
    told = tmp_path / "cpuinfo"
    told.write_text("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t: fpu\n")
    assert processor(told) == "Some CPU @ 2 GHz"
    told.write_text("processor\t: 0\n")
    assert processor(told) == processor(tmp_path / "none") == ""


def test_strangers_need_another_seat(store: FolderStore) -> None:
    met = [{"kind": "scripted", "player": "random"}]
    pictures = {"name": "image-pong", "settings": SHORT}
    *_, end = run(measurement(kept(untrained(), store), strangers=met, game=pictures), store)
    assert isinstance(end, Failed)
    assert end.message.startswith("strangers: nobody else can sit down")


def test_what_is_taken_home_checks_itself_without_this_engine(
    store: FolderStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for asked in ("socket.gethostname", "socket.getfqdn", "platform.node"):
        monkeypatch.setattr(asked, lambda *given: "somebodys-desktop")
    origin = {"job": "Job 7", "steps": 250_000, "seed": 5, "learner": "PPO"}
    policy = untrained()
    *_, end = run(measurement(kept(policy, store), sampled=True, origin=origin), store)
    assert isinstance(end, Finished)
    home = tmp_path / "home"
    with zipfile.ZipFile(io.BytesIO(store.get(end.artifacts["take_home"]))) as taken:
        taken.extractall(home)
    assert Policy.load(home).weights.tobytes() == policy.weights.tobytes()
    card = json.loads((home / "card.json").read_text())
    assert card["onnx_opset"] == 17
    assert card["chooses"] == "draws its actions by their odds"
    assert card["origin"]["steps"] == 250_000
    words = (home / "card.md").read_text()
    assert "250,000 decisions" in words
    model = processor()
    assert (f"one thread ({model})" if model else "does not say its model") in words
    for file in home.iterdir():
        assert b"somebodys-desktop" not in file.read_bytes(), "nobody else learns whose machine it was"
    done = subprocess.run([sys.executable, "-I", "check.py"], cwd=home, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("1000 of 1000 actions are the same")


def test_an_agent_of_a_game_in_turns_is_measured_against_a_script_with_its_legal_mask(store: FolderStore) -> None:
    agent = kept(untrained(DISCS), store)
    study = measurement(agent, game="connect-four", opponent={"kind": "scripted", "player": "random"}, episodes=50)
    told = measured(store, run(study, store)[-1])
    assert told.meta["clip"] == {}
    assert told.meta["check"]["situations"] == told.meta["check"]["same"] > 100
    alone = run(measurement(agent, game="connect-four", episodes=50), store)[-1]
    assert isinstance(alone, Failed)
    assert "other seats" in alone.message


def test_an_agent_without_odds_cannot_draw_its_moves(store: FolderStore) -> None:
    *_, end = run(measurement(kept(untrained(kind="q"), store), sampled=True), store)
    assert isinstance(end, Failed)
    assert "no odds" in end.message


def test_an_agent_of_another_game_is_refused_with_words(store: FolderStore) -> None:
    *_, end = run(measurement(kept(untrained(DISCS), store)), store)
    assert isinstance(end, Failed)
    assert "sees or does something else" in end.message


def recording(store: FolderStore, **more: Any) -> Any:
    agents = [
        {"kind": "frozen", "policy": kept(untrained(seed=seed), store), "title": f"No. {seed}"} for seed in (3, 4)
    ]
    return load({"kind": "record", "game": {"name": "pong", "settings": SHORT}, "agents": agents, "seed": 9, **more})


def test_the_same_recording_is_the_same_bytes_also_after_an_interruption(store: FolderStore) -> None:
    *_, end = run(recording(store), store)
    *_, again = run(recording(store), store)
    assert isinstance(end, Finished)
    assert isinstance(again, Finished)
    assert end.artifacts["recording"] == again.artifacts["recording"]
    found: list[AnyEvent] = []
    for event in STUDIES["record"].load()(
        recording(store), store, "", lambda: "pause" if any(isinstance(e, Progressed) for e in found) else ""
    ):
        found.append(event)
    assert isinstance(found[-1], Paused)
    *_, late = run(recording(store), store, found[-1].artifacts["checkpoint"])
    assert isinstance(late, Finished)
    assert late.artifacts["recording"] == end.artifacts["recording"]


@pytest.mark.parametrize("limits", [None, {"delay": 1}])
def test_when_a_commander_first_strikes_has_a_range_although_most_battles_begin_alike(
    store: FolderStore, limits: dict[str, Any] | None
) -> None:
    seat = HeroBattleCommanders().spec.seats[0]
    spec = PolicySpec(seat, NetworkConfig(policy=(8,), critic=(8,)))
    agent = {"policy": kept(Policy(spec, spec.model().initial(np.random.default_rng(1))), store), "title": "Ada"}
    game = {"name": "commanders", "settings": {"same_teams": True}, "limits": limits}
    *_, end = run(load({"kind": "measure", "game": game, "agent": agent, "episodes": 50}), store)
    measures = unpack(store.get(end.artifacts["table"])).meta["measures"]  # type: ignore[union-attr]
    blow = next(m for m in measures if m["name"] == "first_blow")
    assert blow["low"] is not None
    assert 0 < blow["low"] < blow["mean"] < blow["high"] < 300


def test_noted_actions_are_recorded_in_their_own_episode_up_to_the_last_of_them(store: FolderStore) -> None:
    noted = [2, 1, 1, 2]
    agent = {"kind": "moves", "episode": 2**64 - 1, "moves": noted}
    game = {"name": "maze", "settings": {"size": 9, "layout": 22}}
    study = load({"kind": "record", "game": game, "agents": [agent]})
    told = unpack(store.get(run(study, store)[-1].artifacts["recording"]))  # type: ignore[union-attr]
    assert told.arrays["moves/0"].tolist() == noted
    maze = Maze(size=9, layout=22)
    step = maze.reset(np.array([2**64 - 1], np.uint64))
    for i, move in enumerate(noted):
        assert told.arrays["positions/0"][i].tolist() == maze.positions(0).tolist()
        step = maze.step([np.array([move])])
    assert step.ended is None
    assert told.arrays["positions/0"][-1].tolist() == maze.positions(0).tolist()
    assert not told.meta["battles"][0]["over"]


@pytest.mark.parametrize("wrong", [4, -1, [0, 1]])
def test_noted_actions_that_the_game_does_not_have_are_refused(store: FolderStore, wrong: Any) -> None:
    agent = {"kind": "moves", "episode": 1, "moves": [0, wrong]}
    *_, end = run(load({"kind": "record", "game": "maze", "agents": [agent]}), store)
    assert isinstance(end, Failed)
    assert "no move of this game" in end.message


def test_a_recording_follows_the_rules_of_the_game_from_tick_to_tick() -> None:
    game = VectorPong(seats=(0, 1), points=2, max_ticks=3000)
    seat = game.spec.seats[0]
    found = record(game, Follower(seat), Follower(seat), seed=4)
    ball, paddles, points = found.positions[:, :2], found.positions[:, 2:4], found.positions[:, 4:]
    assert len(found.positions) == len(found.moves) + 1
    assert found.over
    assert points[0].tolist() == [0, 0]
    assert max(points[-1]) == 2 or len(found.moves) == 3000
    assert (np.diff(points.sum(axis=1)) >= 0).all()
    scored = np.flatnonzero(np.diff(points.sum(axis=1)) > 0) + 1
    np.testing.assert_array_equal(ball[scored, 0], 0.0)
    ways = np.diff(paddles[:, 0])
    assert np.isclose(np.abs(ways), 0.04, atol=1e-6).sum() + (ways == 0).sum() >= len(ways) - 20
    assert ((ways > 0) <= (found.moves == 1)).all()
    assert found.score == (points[-1, 0] - points[-1, 1] + 2) / 4


def test_a_commanded_battle_is_recorded_as_it_is_fought_with_its_orders_and_whom_each_unit_strikes_at(
    store: FolderStore,
) -> None:
    game = HeroBattleCommanders(seats=(0, 1))
    seat = game.spec.seats[0]
    found = record(game, HeroHunter(seat), Commander(seat), seed=4)
    left, right, units = found.positions[:, 1:8], found.positions[:, 8:15], found.positions[:, 15:].reshape(-1, 20, 5)
    np.testing.assert_array_equal(np.diff(found.positions[:-1, 0]), 4)
    assert found.score == pytest.approx((left[-1, 0] - right[-1, 0]) / 2 + 0.5, abs=1e-6)
    assert (np.diff(left[:, 0]) <= 0).all(), "life only falls"
    assert left[0, 2:].tolist() == [0] * 5, "no order yet"
    assert (left[1:, 2:] == [layout.ON_HERO, 0, 0, 0, layout.AT_ONCE]).all()
    assert not right[:, 2:].any(), "the other side has none"
    there = units[0, :, 0] >= 0
    assert (units[:, there, 3].mean(axis=1)[0], units[:, ~there, 1:4].any()) == (1.0, False)
    for moment in units:
        striking = moment[moment[:, 4] >= 0]
        assert (striking[:, 3] > 0).all()
        assert (moment[striking[:, 4].astype(int), 3] > 0).all()
    at_whom = units[:, :, 4]
    assert (at_whom[:, :10] >= 10)[at_whom[:, :10] >= 0].all(), "the left side strikes at the right one"
    assert (at_whom[:, 10:] < 10).all()
    assert (at_whom >= 0).any()
    assert [bool(name) for name in found.labels[:5]] == [True] * 5
    late = limited(HeroBattleCommanders(seats=(0, 1)), LimitsConfig(delay=2))
    held = record(late, HeroHunter(seat), Commander(seat), seed=4)
    assert held.labels == found.labels
    assert not held.positions[:3, 3:8].any(), "what is drawn is the order in force"


def test_a_maze_is_recorded_with_its_map_and_the_way_of_whoever_is_in_it(store: FolderStore) -> None:
    maze = Maze(size=9, layout=22, max_ticks=20)
    agents = [{"kind": "frozen", "policy": kept(untrained(maze.spec.seats[0]), store), "title": "Ada"}]
    game = {"name": "maze", "settings": {"size": 9, "layout": 22, "max_ticks": 20}, "limits": {"delay": 1}}
    study = load({"kind": "record", "game": game, "agents": agents, "seed": 9})
    told = unpack(store.get(run(study, store)[-1].artifacts["recording"]))  # type: ignore[union-attr]
    assert told.meta["drawing"] == "maze"
    np.testing.assert_array_equal(told.arrays["scenery"], maze.layout.walls)
    rows = told.arrays["positions/0"]
    steps = np.abs(np.diff(rows[:, :2], axis=0)).sum(axis=1)
    assert set(steps.tolist()) <= {0.0, 1.0}
    assert steps.any()
    assert tuple(rows[0, :2].astype(int)) in {tuple(at) for at in maze.layout.entrance.tolist()}
    assert rows[-1, 2] == told.meta["battles"][0]["signals"]["ground"]


def test_all_agents_side_by_side_see_the_same_serve_and_a_game_without_a_drawing_has_moves_only(
    store: FolderStore,
) -> None:
    told = unpack(store.get(run(recording(store), store)[-1].artifacts["recording"]))  # type: ignore[union-attr]
    assert told.meta["drawing"] == "pong"
    np.testing.assert_array_equal(told.arrays["positions/0"][:2, :2], told.arrays["positions/1"][:2, :2])
    assert [sum(battle["counts"]) for battle in told.meta["battles"]] == [b["length"] for b in told.meta["battles"]]
    discs = {"kind": "frozen", "policy": kept(untrained(DISCS), store)}
    other = {"kind": "scripted", "player": "random", "title": "Random"}
    study = load({"kind": "record", "game": "connect-four", "agents": [discs], "opponent": other})
    told = unpack(store.get(run(study, store)[-1].artifacts["recording"]))  # type: ignore[union-attr]
    assert told.meta["drawing"] == ""
    assert told.arrays["positions/0"].shape[1] == 0
    assert len(told.meta["battles"][0]["counts"]) == 7


def test_situations_are_kept_evenly_whatever_the_batches_were() -> None:
    def kept_of(sizes: list[int]) -> list[int]:
        player, at = Observed(RandomPlayer(PONG), 10), 0
        for size in sizes:
            rows = np.arange(at, at + size)
            field = np.zeros((size, 8), np.float32)
            player(Batch({"field": field}, None, rows.astype(np.uint64)))
            at += size
        return player.situations().keys.astype(int).tolist()

    assert len(kept_of([4])) == 4
    one, many = kept_of([1] * 600), kept_of([37] * 10 + [230])
    assert one == many
    assert len(one) == 10
    assert max(one) > 500


@pytest.mark.parametrize("sampled", [False, True])
def test_a_choice_that_rounding_may_turn_is_alike_either_way_and_no_other_is(sampled: bool) -> None:
    seat = SeatSpec((ArraySpec("o", (2,)),), Discrete(3), ("r",))
    spec = PolicySpec(seat, NetworkConfig(policy=(), critic=()), "actor-critic")
    policy = Policy(spec, np.zeros_like(spec.model().initial(np.random.default_rng(1))))
    seen = batch(policy, 3)
    given = vectors(policy, seen, sampled)
    assert sampled == given["clear"].all(), "all choices are worth the same; what is drawn is clear"
    given["out.action"][1] = (given["out.action"][1] + 1) % 3
    assert checked(acting(policy, sampled), given).good != sampled
