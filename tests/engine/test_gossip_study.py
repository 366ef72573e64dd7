"""Agents that learn side by side, in one process: what they mix, in which order, how far apart they stay; rounds, stop,
pause, kill and resume; errors that name the field."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.arrays import unpack
from engine.channel import Frame, Streamed, Weights, decode_weights, encode_weights
from engine.config.gossip import GossipConfig
from engine.errors import ConfigError, EngineError
from engine.events import AnyEvent, Failed, Finished, Logged, Paused, Progressed, Started, Stopped
from engine.peers import Member, PeersHere, View
from engine.rl.devices import on_threads
from engine.rl.gossip import LINKS, Ball, beta, distance, mixing
from engine.rl.gossip_agent import Agent, Link, Report
from engine.rl.policy import Policy
from engine.store import FolderStore, first_whole
from engine.studies import load
from engine.study import checkpoint, run
from engine.study.agent_pool import Direction, LocalAgents, RemoteAgents
from engine.study.agent_wire import decode, encode_member, encode_report
from engine.study.gossip import _Gossip
from engine.study.gossip_agents import Mixing, learner_of, make_agent
from engine.study.gossip_rounds import slowdown
from tests.engine.rounds_told import curve

GOLDEN = Path(__file__).parent.parent / "golden" / "gossip.json"


def settings(**more: Any) -> dict[str, Any]:
    """Four agents, four rounds of four updates: well under a second."""
    small = {"policy": [16], "critic": [16]}
    learner = {"kind": "a3c", "fragment": 8, "batch": 32, "network": small}
    game = {"name": "pong", "settings": {"points": 1, "max_ticks": 60}}
    return {
        "kind": "gossip", "game": game, "learner": learner | more.pop("learner", {}), "agents": 4, "environments": 4,
        "steps": 2048, "checkpoint_every": 512, "evaluate_every": 2, "episodes": 4, "pool": {"kind": "local"}, **more,
    }  # fmt: skip


def study(**more: Any) -> GossipConfig:
    config = load(settings(**more))
    assert isinstance(config, GossipConfig)
    return config


def after(ticks: int, command: str) -> Any:
    """A control that gives a command once a study has said so many rounds, and the list in which to put its events."""
    seen: list[AnyEvent] = []
    return lambda: command if sum(isinstance(e, Progressed) for e in seen) >= ticks else "", seen


class Running:
    """The agents of a study in this process, seen at each iteration."""

    def __init__(self, config: GossipConfig, store: FolderStore) -> None:
        self.config, self.pool = config, LocalAgents(config, store)
        learner = self.pool.agents[0].learner
        states = {f"{part}/agent-{i + 1}": s for i in range(config.agents) for part, s in learner.state().items()}
        self.pool.direct(
            Direction(0, 0, config.every if config.waits else 0, checkpoint.write(config, 0, states, store))
        )

    @property
    def X(self) -> np.ndarray[Any, Any]:
        return np.stack([agent.learner.weights() for agent in self.pool.agents]).astype(np.float64)

    def iterations(self, many: int) -> Iterator[list[Report]]:
        with on_threads(1), self.pool:
            for _ in range(many):
                yield self.pool.gather(0.0)


def test_a_preset_of_another_learner_is_one_mistake() -> None:
    with pytest.raises(ConfigError) as refused:
        load({"kind": "gossip", "game": "pong", "learner": "pong-ppo", "agents": 1})
    assert [place for place, _ in refused.value.problems] == ["learner.kind", "agents"]


def test_a_study_tells_its_rounds_and_leaves_the_mean_of_its_agents(store: FolderStore) -> None:
    found = list(run(study(), store))
    assert isinstance(found[0], Started)
    assert (found[0].ticks, found[0].workers) == (4, 1)
    rounds = [event for event in found if isinstance(event, Progressed)]
    assert [(event.tick, event.counters.steps) for event in rounds] == [(1, 512), (2, 1024), (3, 1536), (4, 2048)]
    end = found[-1]
    assert isinstance(end, Finished)
    parts = checkpoint.read(study(), end.artifacts["checkpoint"], store).parts
    agents = [parts[f"learner/agent-{i}"] for i in range(1, 5)]
    assert {part.meta["version"] for part in agents} == {16}
    mean = np.mean([part.arrays["weights"] for part in agents], axis=0, dtype=np.float64)
    policy = Policy.stored(store, end.artifacts["policy_description"])
    assert np.abs(policy.weights - mean).max() < 1e-6
    assert {"onnx", "table"} < end.artifacts.keys()


def test_a_round_tells_how_each_agent_did_and_how_they_mixed(store: FolderStore) -> None:
    rounds = [event for event in run(study(), store) if isinstance(event, Progressed)]
    for event in rounds:
        assert 0 < event.metrics["distance"] <= event.metrics["distance_bound"]
        assert event.metrics["link_age"] == 0
        policy = Policy.stored(store, event.artifacts["policy_description"])
        assert event.metrics["size"] == pytest.approx(2 * np.linalg.norm(policy.weights), rel=1e-5), "of four agents"
        links = unpack(store.get(event.artifacts["table"])).arrays
        assert list(zip(links["taker"], links["sender"], strict=True)) == [(0, 3), (1, 0), (2, 1), (3, 2)]
        assert not links["behind"].any()
    told = {name for event in rounds for name in event.metrics}
    assert {f"agent-{i}/{name}" for i in range(1, 5) for name in ("return", "score", "win")} < told
    evaluated = ["evaluation_return" in event.metrics for event in rounds]
    assert evaluated == [False, True, False, True]
    assert [event.metrics["updates"] for event in rounds] == [16, 32, 48, 64]


def test_agents_that_wait_give_the_same_numbers_as_ever(store: FolderStore) -> None:
    found = {}
    for topology in LINKS:
        end = list(run(study(topology=topology, steps=512), store))[-1]
        assert isinstance(end, Finished)
        weights = Policy.stored(store, end.artifacts["policy_description"]).weights
        found[topology] = [hashlib.sha256(weights.tobytes()).hexdigest()[:16], *weights[:4].tolist()]
    expected = json.loads(GOLDEN.read_text())
    assert found.keys() == expected.keys()
    for topology, (digest, *first) in found.items():
        assert first == pytest.approx(expected[topology][1:], rel=1e-4), topology
        if expected["ring"][0] == found["ring"][0]:  # another processor may round otherwise, but then everywhere
            assert digest == expected[topology][0]


@pytest.mark.parametrize("staleness", [0, 1, None])
def test_the_same_study_gives_the_same_rounds(staleness: int | None, store: FolderStore) -> None:
    one, two = (curve(list(run(study(staleness=staleness), store))) for _ in range(2))
    assert one == two


@pytest.mark.parametrize("topology", LINKS)
def test_agents_that_wait_stay_within_their_ball_at_every_step(topology: str, store: FolderStore) -> None:
    config = study(topology=topology, agents=5, learner={"rate": 0.02})
    running, ball = Running(config, store), Ball(beta(mixing(topology, 5)))
    assert distance(running.X) == 0
    before, apart = running.X, []
    for reports in running.iterations(12):
        mixed = running.X
        G = np.linalg.solve(mixing(topology, 5), mixed) - before if topology == "tree" else None
        norms = [report.norms[-1] for report in reports]
        if G is not None:  # the steps that the agents report are those they made
            np.testing.assert_allclose(np.linalg.norm(G, axis=1), norms, rtol=1e-2)
        apart.append((distance(mixed), ball.step(norms)))
        before = mixed
    assert all(found <= bound for found, bound in apart), apart
    if topology == "full":
        assert not any(found for found, _ in apart), "everybody has the mean"
    else:
        assert all(found > bound / 50 for found, bound in apart), "they do learn apart"


def test_only_parameters_are_mixed_and_all_begin_with_the_same(store: FolderStore) -> None:
    running = Running(study(topology="full"), store)
    assert all((x == running.X[0]).all() for x in running.X)
    for _ in running.iterations(3):
        pass
    assert distance(running.X) < 1e-5
    averages = [agent.learner.state()["learner"].arrays["optimiser.g"] for agent in running.pool.agents]
    assert not np.allclose(averages[0], averages[1], rtol=1e-2)


def test_agents_that_never_hear_from_each_other_drift_further_apart_than_those_that_mix(store: FolderStore) -> None:
    class Deaf(PeersHere):
        def post(self, to: int, frame: Frame) -> bool:
            return True

    apart = []
    for deaf in (False, True):
        running = Running(study(staleness=None), store)
        if deaf:
            for agent in running.pool.agents:
                agent.peers.__class__ = Deaf
        for _ in running.iterations(30):
            pass
        apart.append(distance(running.X))
    assert apart[0] < apart[1] / 2


@pytest.mark.parametrize(("command", "last"), [("stop", Stopped), ("pause", Paused)])
def test_what_is_stopped_or_paused_goes_on_as_if_it_had_never_been_interrupted(
    command: str, last: type[AnyEvent], store: FolderStore
) -> None:
    whole = curve(list(run(study(), store)))
    control, begun = after(2, command)
    for event in run(study(), store, control=control):
        begun.append(event)
    assert isinstance(begun[-1], last)
    rest = list(run(study(), store, resume=begun[-1].artifacts["checkpoint"]))
    assert isinstance(rest[0], Started)
    assert rest[0].resumed
    assert curve(begun) + curve(rest) == whole


def test_a_study_that_is_killed_after_any_round_ends_with_the_same_parameters(store: FolderStore) -> None:
    found = list(run(study(), store))
    whole = curve(found)
    saved = [event.artifacts["checkpoint"] for event in found if isinstance(event, Progressed)]
    for k, digest in enumerate(saved, 1):
        assert curve(list(run(study(), store, resume=digest))) == whole[k:]


def test_an_evaluation_that_is_broken_off_is_made_up_for(store: FolderStore, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = curve(list(run(study(), store)))
    monkeypatch.setattr("engine.study.gossip.evaluate", lambda *_: None)
    begun = list(run(study(), store, control=lambda: "pause" if len(heard) > 3 else heard.append(1) or ""))
    monkeypatch.undo()
    assert isinstance(begun[-1], Paused)
    rest = list(run(study(), store, resume=begun[-1].artifacts["checkpoint"]))
    assert curve(begun) + curve(rest) == whole


heard: list[int] = []


@pytest.mark.parametrize("command", ["stop", "pause"])
def test_a_command_within_an_evaluation_leaves_a_study_after_the_last_round_that_it_told(
    command: str, store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    monkeypatch.setattr("engine.study.gossip.evaluate", lambda *_: begun.append(1))
    found = list(run(study(), store, control=lambda: command if begun else ""))  # type: ignore[arg-type,return-value]
    assert isinstance(found[-1], Stopped | Paused)
    assert [event.tick for event in found if isinstance(event, Progressed)] == [1]
    assert found[-1].tick == 1, "the second is evaluated"
    again = list(run(study(), store, found[-1].artifacts["checkpoint"], control=lambda: command))  # type: ignore[arg-type,return-value]
    assert [again[0].tick, again[-1].tick] == [1, 1]
    monkeypatch.undo()
    rest = list(run(study(), store, found[-1].artifacts["checkpoint"]))
    assert [event.tick for event in rest if isinstance(event, Progressed)] == [2, 3, 4]


def test_agents_that_do_not_wait_go_on_from_a_checkpoint(store: FolderStore) -> None:
    control, begun = after(2, "pause")
    for event in run(study(staleness=None), store, control=control):
        begun.append(event)
    rest = list(run(study(staleness=None), store, resume=begun[-1].artifacts["checkpoint"]))
    assert isinstance(rest[-1], Finished)
    assert rest[-1].counters.steps == 2048
    assert "distance_bound" not in curve(rest)[-1][-1], "no bound is known where nobody waits"


@pytest.mark.parametrize("staleness", [0, None])
def test_they_begin_with_a_trained_policy_and_end_when_their_minutes_are_over(
    staleness: int | None, store: FolderStore
) -> None:
    *_, first = run(study(), store)
    assert isinstance(first, Finished)
    start = first.artifacts["policy_description"]
    *_, said, last = run(study(start=start, minutes=1e-6, staleness=staleness, seed=9), store)
    assert isinstance(last, Finished)
    assert last.tick == 1, "no round is counted that never was"
    assert 0 < last.counters.steps < 2048
    assert isinstance(said, Logged)
    assert said.message == f"Time is up: {last.counters.steps:,} of 2,048 decisions were played."
    left = Policy.stored(store, last.artifacts["policy_description"])
    assert left.version > 0, "it has learned"
    assert not np.array_equal(left.weights, Policy.stored(store, start).weights)
    begun = agents_of(study(start=start, staleness=staleness), store)
    assert all(np.array_equal(each, Policy.stored(store, start).weights) for each in begun)


@pytest.mark.parametrize("staleness", [0, None])
def test_when_time_is_up_a_long_round_is_cut_short(staleness: int | None, store: FolderStore) -> None:
    long = study(staleness=staleness, steps=10**9, checkpoint_every=10**8, minutes=1e-6, evaluate_every=0)
    found = list(run(long, store))
    assert isinstance(found[-1], Finished)
    assert 0 < found[-1].counters.steps < 10**6
    assert Policy.stored(store, found[-1].artifacts["policy_description"]).version > 0
    again = list(run(long, store, resume=found[-1].artifacts["checkpoint"]))
    assert isinstance(again[-1], Finished), "its time is over"


@pytest.mark.parametrize("staleness", [0, None])
def test_a_stop_keeps_what_was_learned_since_the_last_round(staleness: int | None, store: FolderStore) -> None:
    long = study(staleness=staleness, steps=10**9, checkpoint_every=10**8, evaluate_every=0)
    looks = iter([""] * 5)
    found = list(run(long, store, control=lambda: next(looks, "stop")))
    assert isinstance(found[-1], Stopped)
    left = Policy.stored(store, found[-1].artifacts["policy_description"])
    assert left.version >= 5, "each look lets agents make an update"
    said = [event.message for event in found if isinstance(event, Logged) and event.message]
    kept = [each for each in said if "since the last round, too; whoever goes on from here begins before them" in each]
    assert len(kept) == (staleness == 0), said
    rest = run(long, store, resume=found[-1].artifacts["checkpoint"], control=lambda: "stop")
    first = next(rest)
    assert isinstance(first, Started)
    assert (first.counters.steps > 0) == (staleness is None), "who does not wait goes on from there"
    rest.close()


@pytest.mark.parametrize("staleness", [0, None])
def test_a_store_keeps_no_checkpoint_that_no_event_names(
    staleness: int | None, store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, write = [], checkpoint.write
    monkeypatch.setattr(checkpoint, "write", lambda *given: written.append(write(*given)) or written[-1])
    found = list(run(study(staleness=staleness, evaluate_every=1), store))
    named = {event.artifacts["checkpoint"] for event in found if isinstance(event, Progressed | Finished)}
    assert len(written) > len(named)
    assert {digest for digest in written if first_whole([digest], store)} == named


def agents_of(config: GossipConfig, store: FolderStore) -> list[np.ndarray]:
    """The weights of its agents as they begin."""
    made = _Gossip(config, store, lambda: "")
    made._prepare(begun=False)
    return [state["learner"].arrays["weights"] for state in made.states]


def test_a_network_too_large_to_be_sent_is_refused_at_its_field_before_anything_starts(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.study.gossip_agents.MAX_FRAME_BYTES", 2**20)
    large = study(pool={"kind": "ray"})
    (end,) = run(large, store)
    assert isinstance(end, Failed)
    assert end.permanent
    assert "learner.network: an agent has 1 MiB to send, and 1 can be" in end.message


def test_more_agents_than_processors_are_told_with_how_long_they_take(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})
    said = [e.message for e in run(study(), store) if isinstance(e, Logged) and e.message]
    assert said == [slowdown(4, 1)]
    assert "about 4 times as long" in said[0]
    assert slowdown(4, 4) == ""


@pytest.mark.parametrize(
    ("more", "place", "why"),
    [
        ({"agents": 1}, "agents", "nobody to mix with"),
        ({"agents": 65}, "agents", "64 or less"),
        ({"topology": "star"}, "topology", "must be one of"),
        ({"staleness": -1}, "staleness", "0 or more"),
        ({"ordered": False}, "staleness", "never wait"),
        ({"steps": 100}, "steps", "128 decisions in their first update"),
        ({"learner": {"normalise_observations": True}}, "learner.normalise_observations", "could not be mixed"),
        ({"learner": {"scale_rewards": True}}, "learner.scale_rewards", "units of its own"),
        ({"learner": {"rate": [0.1, 0.2]}}, "learner.rate", "one number"),
        ({"learner": {"kind": "ppo"}}, "learner.kind", "must be one of"),
    ],
)
def test_what_is_wrong_is_told_at_its_field(more: dict[str, Any], place: str, why: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        load(settings(**more))
    assert place in {problem.place for problem in wrong.value.problems}
    assert why in str(wrong.value)


@pytest.mark.parametrize(
    ("game", "place"), [("connect-four", "game.name"), ("pong-two-seats", "game.name"), ("nothing", "game.name")]
)
def test_a_game_that_does_not_fit_is_told_before_anything_starts(game: str, place: str, store: FolderStore) -> None:
    (only,) = run(study(game=game), store)
    assert isinstance(only, Failed)
    assert only.message.startswith(place)


def test_a_learner_may_be_a_preset_of_its_kind() -> None:
    learner = {"preset": "pong-a3c", "rate": 1e-4}
    config = load({"kind": "gossip", "game": "pong", "learner": learner})
    assert isinstance(config, GossipConfig)
    assert (config.learner.batch, config.learner.rate) == (512, 1e-4)
    with pytest.raises(ConfigError, match=r"learner\.kind"):
        load({"kind": "gossip", "game": "pong", "learner": "pong-ppo"})


class Board:
    """The links of one agent to neighbours that a test plays."""

    def __init__(self) -> None:
        self.room, self.sent, self.inbox = True, [], {}  # type: ignore[var-annotated]

    def member(self, agents: int) -> Member:
        return Member(0)

    def link(self, view: View, takes: Collection[int], sends: Collection[int]) -> None:
        self.takes, self.sends = tuple(takes), tuple(sends)

    def post(self, to: int, frame: Frame) -> bool:
        if self.room:
            self.sent.append((to, decode_weights(frame).version))
        return self.room

    def unread(self) -> Collection[int]:
        return self.inbox.keys()

    def read(self, sender: int) -> Frame:
        return self.inbox.pop(sender)

    def wait(self, timeout_s: float) -> None: ...

    def close(self) -> None: ...


def alone(store: FolderStore, **more: Any) -> tuple[Agent, Board]:
    """The first agent of a study, without the others."""
    board, config = Board(), study(**more)
    agent = make_agent(config, store, 0, board)
    agent.follow(View(1, 0, 0, 0, "", tuple(Member(i) for i in range(config.agents))), None, 0)
    return agent, board


def message(agent: Agent) -> Frame:
    return agent._message


def test_an_agent_ends_no_more_iterations_without_mixing_than_it_may(store: FolderStore) -> None:
    agent, board = alone(store, staleness=2)
    for _ in range(2):
        agent.act()
        assert agent.mixed()
    agent.act()
    assert not agent.mixed()
    assert not agent.mixed(), "asking again makes no difference"
    board.inbox[3] = message(agent)
    assert agent.mixed()
    assert agent.report(whole=False).links[0].age == 0
    agent.act()
    assert agent.mixed()
    assert agent.report(whole=False).links[0].age == 1


def test_an_agent_that_keeps_order_waits_for_its_message_to_be_read_and_for_the_others(store: FolderStore) -> None:
    agent, board = alone(store)
    agent.act()
    assert board.sent == []
    assert not agent.mixed()
    assert board.sent == [(1, 1)]
    board.inbox[3] = message(agent)
    assert agent.mixed()
    board.room = False
    agent.act()
    board.inbox[3] = message(agent)
    assert not agent.mixed(), "what it sent last is not read"
    board.room = True
    assert agent.mixed()
    assert board.sent == [(1, 1), (1, 2)]
    agent.act()
    board.inbox[3] = first_message(store)
    with pytest.raises(EngineError, match="was sent update 1 by 4 and needs 3"):
        agent.mixed()


def first_message(store: FolderStore) -> Frame:
    """The first message of an agent."""
    other, _ = alone(store)
    other.act()
    return message(other)


def test_an_agent_that_never_waits_skips_who_has_no_room_and_goes_on(store: FolderStore) -> None:
    agent, board = alone(store, staleness=None)
    board.room = False
    for _ in range(5):
        agent.act()
        assert agent.mixed()
    assert board.sent == []
    board.room = True
    agent.act()
    assert agent.mixed()
    assert board.sent == [(1, 6)], "the newest, and no older ones"
    assert agent.report(whole=False).links[0].age == 6


def test_without_order_an_agent_mixes_the_same_message_again_and_again(store: FolderStore) -> None:
    agent, board = alone(store, staleness=None, ordered=False)
    far = agent.learner.weights() + 1
    agent.act()
    board.inbox[3] = encode_weights(Weights("agent", 0, 0, 1, {"actor": far}))
    gaps = [np.abs(agent.learner.weights() - far).mean()]
    for _ in range(3):
        assert agent.mixed()
        gaps.append(np.abs(agent.learner.weights() - far).mean())
        agent.act()
    assert all(later < 0.6 * earlier for earlier, later in pairwise(gaps))


def test_a_ring_that_closes_keeps_what_was_not_sent_yet(store: FolderStore) -> None:
    agent, board = alone(store, staleness=0)
    members = tuple(Member(i) for i in range(4))
    board.room = False
    agent.act()
    assert not agent.mixed()
    agent.follow(View(2, 0, 0, 0, "", members[:1] + members[2:]))
    assert (board.takes, board.sends) == ((3,), (2,))
    board.room = True
    agent.mixed()
    assert board.sent == [(2, 1)]


def test_links_stay_as_their_agent_told_them_last_when_it_tells_nothing_in_a_round(store: FolderStore) -> None:
    made = _Gossip(study(agents=2, staleness=None), store, lambda: "")
    made._prepare(begun=False)
    agent, _ = alone(store, agents=2, staleness=None)
    agent.act()
    assert agent.mixed()
    report = agent.report(whole=False)
    for told in (report, report._replace(number=1, links=[Link(0, 3, 0)])):
        made.curve.reported(told, 0)
    made.curve.restart()
    made.curve.reported(report, 0)
    links = made.curve.table()
    assert list(zip(links["taker"], links["sender"], links["age"], strict=True)) == [(0, 1, 1), (1, 0, 3)]
    made.curve.without_lost({0})
    assert made.curve.table()["taker"].tolist() == [0], "whoever was lost takes nothing"


def test_the_share_of_waiting_is_of_the_time_by_the_clock(store: FolderStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A game that sleeps or shares its processor takes hardly any processor time: beside that, a wait looked long."""
    made = _Gossip(study(agents=2, staleness=None), store, lambda: "")
    made._prepare(begun=False)
    agent, _ = alone(store, agents=2, staleness=None)
    agent.act(lambda: time.sleep(0.01))
    agent.wait(0.0)
    report = agent.report(whole=False)
    assert report.seconds["acting_seconds"] >= 0.08
    made.curve.reported(report._replace(seconds={**report.seconds, "acting_seconds": 3.0, "waiting_seconds": 1.0}), 0)
    assert made.curve.metrics()["waiting"] == pytest.approx(0.25)


class _Shown:
    """Shows views one after the other."""

    def __init__(self, views: list[View | None]) -> None:
        self.views = views

    def newest(self, timeout_s: float) -> Frame | None:
        view = self.views.pop(0)
        return None if view is None else view.encode()


def test_an_agent_that_nobody_waits_for_tells_its_state_when_a_round_ends(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The policy of the study is the mean of all states, and that of a slow agent was as it began."""
    agent, _ = alone(store, agents=2, staleness=None, steps=100_000, checkpoint_every=50_000)
    views = [None, View(2, 0, 1, 0, "", agent.view.members), None]  # type: ignore[union-attr]
    mixing = Mixing(agent, store, 0)
    mixing.me = agent.view.members[0]  # type: ignore[union-attr]
    mixing._subscriber = _Shown(views)  # type: ignore[assignment]
    mixing._beat = lambda busy: None
    monkeypatch.setattr(Agent, "mixed", lambda self: True)
    monkeypatch.setattr("engine.study.gossip_agents.REPORT_S", 0.0)
    found = [decode(0, frames) for _ in range(3) for frames in mixing._iterate()]
    assert [isinstance(report, Report) and report.state is not None for report in found] == [False, True, False]


def test_an_agent_that_is_beyond_the_end_of_its_round_says_so_while_it_waits_for_those_that_stopped_there(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knew of it: it waited for its neighbours, they for the study, and the study for all of them."""
    agent, _ = alone(store, agents=2, staleness=0, steps=100_000, checkpoint_every=50_000)
    mixing = Mixing(agent, store, 0)
    mixing.me = agent.view.members[0]  # type: ignore[union-attr]
    cut, later = (View(number, 0, 0, until, "", agent.view.members) for number, until in ((2, 1), (3, 2)))  # type: ignore[union-attr]
    waits: list[bool] = []
    monkeypatch.setattr(Agent, "mixed", lambda self: waits.pop(0))
    mixing._beat = lambda busy: None

    def reports(views: list[View | None], mixed: list[bool]) -> list[tuple[int, bool]]:
        mixing._subscriber, waits[:] = _Shown(views), mixed  # type: ignore[assignment]
        found = [decode(0, frames) for frames in mixing._iterate()]
        return [(report.version, report.state is not None) for report in found if isinstance(report, Report)]

    assert reports([None], [True]) == [(1, False)]
    monkeypatch.setattr("engine.study.gossip_agents.REPORT_S", 1e9)
    late = [None, cut, None, None, later]
    assert reports(late, [False] * 4 + [True]) == [(2, False), (2, True)], "once, and then how it is at the new end"


def test_a_round_without_waiting_ends_with_states_of_its_end(store: FolderStore) -> None:
    made = _Gossip(study(agents=2, staleness=None, steps=2048, checkpoint_every=512), store, lambda: "")
    made._prepare(begun=False)
    asked: list[int] = []
    pool: Any = SimpleNamespace(direct=lambda direction: asked.append(direction.tick), present={0, 1})
    agent, _ = alone(store, agents=2, staleness=None)
    agent.act()
    report = agent.report(whole=True)
    due = made.config.updates_after(1)
    fast = report._replace(version=2 * due)
    made._take(fast._replace(state=None))
    assert not made._round_is_over(pool)
    assert asked == [1]
    made._take(fast)
    assert not made._round_is_over(pool), "the slow one has not told yet"
    made.rounds.deadline, made.late = 0.0, True
    assert not made._round_is_over(pool), "after the last round nobody is cut off"
    made.late = False
    assert made._round_is_over(pool), "after another one it may tell in the next"
    made.rounds.deadline = math.inf
    made._take(report._replace(number=1))
    assert made._round_is_over(pool)
    assert asked == [1], "they are asked once"


def test_a_round_without_waiting_ends_without_an_agent_that_is_away_and_counts_all_that_were_made(
    store: FolderStore,
) -> None:
    made = _Gossip(study(agents=3, staleness=None, steps=30_720, checkpoint_every=3072), store, lambda: "")
    made._prepare(begun=False)
    pool: Any = SimpleNamespace(direct=lambda direction: None, present={0, 1, 2})
    agent, _ = alone(store, agents=3, staleness=None)
    agent.act()
    report = agent.report(whole=True)
    far = report._replace(version=5 * made.config.updates_after(1), state=None)
    made._take(report._replace(number=2, version=1, state=None))
    for i in (0, 1):
        made._take(far._replace(number=i))
    assert not made._round_is_over(pool)
    for i in (0, 1):
        state = agent.learner.state()
        state["learner"].meta["version"] = far.version
        made._take(far._replace(number=i, state=state))
    assert not made._round_is_over(pool), "the third has not told yet"
    pool.present = {0, 1}
    assert made._round_is_over(pool), "the third is gone, and another one takes its place"
    pool.present = {0, 1, 2}
    assert made._round_is_over(pool), "that one was not asked"
    assert made._rounds() == 3, "ten fifteenths of five rounds are made by two of three"


def test_what_an_agent_loses_is_told_when_it_goes_on_from_a_checkpoint(store: FolderStore) -> None:
    made = _Gossip(study(agents=2, staleness=None), store, lambda: "")
    made._prepare(begun=False)
    agent, _ = alone(store, agents=2, staleness=None)
    agent.act()
    report = agent.report(whole=True)
    assert made._take(report._replace(steps=5120)) == ""
    assert "Agent 1 goes on from the last round: 4,096 decisions" in made._take(report._replace(steps=1024))
    assert made.steps == 1024


class Workers:
    """What a driver sees of workers; ``working``: the agents that are ready."""

    def __init__(self) -> None:
        self.working: set[int] = set()
        self.arrived: list[Streamed] = []
        self.views: list[tuple[int, ...]] = []

    def gather(self, timeout_s: float) -> list[Streamed]:
        arrived, self.arrived = self.arrived, []
        return arrived

    def publish(self, frame: Frame) -> None:
        self.views.append(View.decode(frame).numbers)


@pytest.mark.parametrize(("staleness", "meanwhile"), [(0, []), (5, [(0, 2)]), (None, [(0, 2)])])
def test_agents_close_their_ranks_round_one_that_is_lost_unless_they_wait_for_all(
    staleness: int | None, meanwhile: list[tuple[int, ...]]
) -> None:
    workers = Workers()
    pool = RemoteAgents(workers, study(agents=3, staleness=staleness))  # type: ignore[arg-type]
    pool.direct(Direction(0, 0, 4, ""))

    def comes(number: int, endpoint: str = "") -> None:
        workers.working.add(number)
        workers.arrived.append(Streamed(encode_member(Member(number, endpoint)), worker=number))
        pool.gather(0.0)

    comes(0), comes(2)
    assert workers.views == [], "all begin together"
    comes(1)
    assert workers.views == [(0, 1, 2)]
    workers.working.remove(1)
    pool.gather(0.0)
    pool.direct(Direction(1, 0, 4, ""))
    assert set(workers.views[1:]) == set(meanwhile)
    comes(1, "elsewhere")
    assert workers.views[-1] == (0, 1, 2)
    before = len(workers.views)
    pool.gather(0.0)
    assert len(workers.views) == before, "nothing has changed"


def test_reports_and_members_come_through_whole(store: FolderStore) -> None:
    agent, _ = alone(store, staleness=None)
    for _ in range(8):
        agent.act()
        agent.mixed()
    report = agent.report(whole=True)
    assert report.episodes
    found = decode(0, encode_report(report))
    assert isinstance(found, Report)
    assert found.state is not None
    assert report.state is not None
    for name, part in report.state.items():
        assert found.state[name].meta == json.loads(json.dumps(part.meta))
        assert all((found.state[name].arrays[key] == array).all() for key, array in part.arrays.items())
    assert found._replace(state=None, episodes=[]) == report._replace(state=None, episodes=[])
    for one, two in zip(found.episodes, report.episodes, strict=True):
        assert (one.seed, one.length, one.score) == (two.seed, two.length, two.score)
        np.testing.assert_array_equal(one.returns, two.returns)
    assert decode(2, encode_member(Member(2, "ipc://x", "k", ("a",)))) == Member(2, "ipc://x", "k", ("a",))


def test_learning_rates_fall_over_an_agent_s_own_share_of_the_decisions(store: FolderStore) -> None:
    agent, _ = alone(store, staleness=None, learner={"schedule": "linear"})
    assert agent.learner.total == learner_of(agent.config, agent.learner.spec.seat).total == 512  # type: ignore[attr-defined]


@pytest.mark.parametrize("staleness", [0, None])
def test_the_last_round_has_what_is_left_over_and_is_never_a_short_one(
    staleness: int | None, store: FolderStore
) -> None:
    """Of 23 updates an agent, in rounds of 5: alone the last 3 would end no episode, and most of them be waiting."""
    usual = study()
    config = study(staleness=staleness, steps=23 * usual.together, checkpoint_every=5 * usual.together)
    assert (config.updates, config.every, config.ticks) == (23, 5, 4)
    assert [config.updates_after(tick) for tick in (1, 3, 4)] == [5, 15, 23]
    found = list(run(config, store))
    assert isinstance(found[-1], Finished), found[-1]
    rounds = [event for event in found if isinstance(event, Progressed)]
    assert [event.tick for event in rounds] == [1, 2, 3, 4]
    least = 8 if staleness == 0 else 5
    assert rounds[-1].counters.steps - rounds[-2].counters.steps >= least * config.together
    assert rounds[-1].counters.steps >= config.steps
    assert study(steps=2 * usual.together, checkpoint_every=5 * usual.together).ticks == 1


@pytest.mark.parametrize("staleness", [0, None])
def test_rounds_too_short_for_an_episode_are_said_to_be_where_agents_wait(
    staleness: int | None, store: FolderStore
) -> None:
    """Where they do not, battles go on."""
    game = {"name": "pong", "settings": {"points": 21, "max_ticks": 600}}
    found = list(run(study(game=game, staleness=staleness, steps=1024, evaluate_every=0), store))
    said = [e.message for e in found if isinstance(e, Logged) and "No episode ended" in e.message]
    if staleness is None:
        assert not said
        return
    (message,) = said
    assert "32 decisions of each were too few" in message
    assert "9,600 decisions or more" in message
    assert "let agents not wait" in message


def test_where_a_game_declares_how_far_returns_go_the_range_of_an_evaluation_rests_on_it(store: FolderStore) -> None:
    """Seven episodes would have no range otherwise that holds for whatever Pendulum can pay in 200 decisions."""
    (end,) = (e for e in run(study(game="gym:Pendulum-v1", steps=512, episodes=2), store) if isinstance(e, Finished))
    low, high = (end.summary[f"evaluation_return_{side}"] for side in ("low", "high"))
    assert -16.28 * 200 <= low < end.summary["evaluation_return"] < high <= 0


def test_a_round_tells_how_much_of_it_was_cut_off_where_battles_begin_afresh(store: FolderStore) -> None:
    """Rounds of 48 decisions a battle: 60 do not fit in, and of episodes of 25 decisions at most one is cut off."""
    for longest, staleness in ((60, 0), (25, 0), (25, None)):
        game = {"name": "pong", "settings": {"points": 21, "max_ticks": longest}}
        config = study(game=game, staleness=staleness, steps=1536, checkpoint_every=768, evaluate_every=0)
        rounds = [e.metrics for e in run(config, store) if isinstance(e, Progressed)]
        found = {each.get("cut_off") for each in rounds}
        assert found == {(60, 0): {1.0}, (25, 0): {1 - 25 / 48}, (25, None): {None}}[longest, staleness]


@pytest.mark.parametrize("asked", [500, 512, 513])
def test_a_round_has_as_many_decisions_as_were_asked_for_at_least(asked: int) -> None:
    config = study(checkpoint_every=asked)
    assert asked <= config.every * config.together < asked + config.together
    assert config.of_a_battle * config.environments * config.agents == config.every * config.together
