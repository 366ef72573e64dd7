"""Playing against an agent in the page: the engine's rules, the agent's own network, and a battle by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from engine.games.connect_four import ConnectFour
from engine.games.pong import VectorPong
from engine.mdp.trajectory import Batch
from engine.rl.policy import Policy
from tests.browser.conftest import PHONE
from tests.browser.looking import overflow, serious_violations
from tests.engine.test_saved_agents import DISCS, untrained
from tests.factories import Studio, game_version
from tests.webapp.agents import ada, trained_at_pong
from webapp.agents import keeping
from webapp.agents.models import Agent
from webapp.lib.storage import store

Enter = Callable[..., Page]
SEEDS, TICKS = (1, 2, 2**63 + 11), 1500
TRAJECTORY = """async ({ base, seed, left, right }) => {
  const { Battle } = await import(`${base}pong_rules.js`);
  const battle = new Battle(BigInt(seed));
  return left.map((action, i) => {
    battle.moment(action, right[i]);
    return [...battle.row(), ...battle.seen(0), ...battle.seen(1)];
  });
}"""
NUMBERS = """async ({ base, address, activation, situations }) => {
  const { Network, best } = await import(`${base}network.js`);
  const network = new Network(await (await fetch(address)).arrayBuffer(), activation, "field");
  return situations.map((seen) => [...network.numbers(seen), best(network.numbers(seen))]);
}"""

BATTLES = """async ({ base, drops }) => {
  const { Board } = await import(`${base}four_rules.js`);
  return drops.map((columns) => {
    const board = new Board();
    const seen = columns.map((column) => {
      board.drop(column);
      return [...board.seen(0), ...board.free().map(Number), board.winner, Number(board.over())];
    });
    return seen.at(-1);
  });
}"""


def kept_for_real(team: Studio, policy: Policy) -> Agent:
    """An agent whose files are those of a policy."""
    job = trained_at_pong(team.project)
    description, tensors = policy.pack()
    job.artifacts |= {"policy": store().put(tensors), "policy_description": store().put(description)}
    job.save()
    return keeping.keep(job, team.designer, "", "Ada", False)


@pytest.fixture
def agent(team: Studio) -> Agent:
    return kept_for_real(team, untrained())


@pytest.fixture
def opened(enter: Enter, team: Studio, agent: Agent) -> Page:
    return enter(team.producer, f"/p/herobattle/agents/{agent.pk}/play/")


def base(page: Page) -> str:
    """Where the page's modules are."""
    return str(page.locator("script[src*='/watch/play']").get_attribute("src")).rpartition("/")[0] + "/"


def test_a_battle_in_the_page_is_the_engine_s_battle_bit_for_bit(opened: Page) -> None:
    rng = np.random.default_rng(5)
    for seed in SEEDS:
        actions = rng.integers(0, 3, (2, TICKS))
        actions[1] = np.where(rng.random(TICKS) < 0.5, 0, actions[1])
        game = VectorPong(seats=(0, 1), points=1000)
        step = game.reset(np.array([seed], np.uint64))
        wanted = []
        for tick in range(TICKS):
            step = game.step([actions[0, tick : tick + 1], actions[1, tick : tick + 1]])
            wanted.append([*game.positions(0), *(step.observations[s]["field"][0].astype(float) for s in (0, 1))])
        rows = np.array([np.concatenate([row[:6], row[6], row[7]]) for row in wanted])
        told: dict[str, Any] = {"base": base(opened), "seed": str(seed), "left": actions[0].tolist(),
                                "right": actions[1].tolist()}  # fmt: skip
        found = np.array(opened.evaluate(TRAJECTORY, told))
        np.testing.assert_array_equal(found, rows)
        assert rows[-1, 4:6].sum() > 10, "there were points"


def test_the_network_in_the_page_says_what_the_policy_says(opened: Page, agent: Agent) -> None:
    policy = untrained()
    situations = np.random.default_rng(2).uniform(-1, 1, (300, 8)).astype(np.float32)
    batch = Batch({"field": situations}, None, np.arange(300, dtype=np.uint64))
    told = {"base": base(opened), "address": f"/p/herobattle/agents/{agent.pk}/weights/",
            "activation": policy.spec.network.activation, "situations": situations.astype(float).tolist()}  # fmt: skip
    found = np.array(opened.evaluate(NUMBERS, told))
    actor = policy.actor(explore=False)
    np.testing.assert_allclose(found[:, :3], actor.numbers(batch), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(found[:, 3], actor(batch).actions)


def test_somebody_plays_by_keyboard_to_the_end(opened: Page) -> None:
    begin = opened.get_by_role("button", name="Begin")
    expect(begin).to_be_enabled()  # once the agent has arrived
    opened.locator("h1").click()
    opened.keyboard.press("Space")  # wherever the keyboard is
    expect(opened.get_by_role("button", name="Pause")).to_be_visible()
    opened.keyboard.press("Space")
    expect(opened.get_by_role("button", name="Go on")).to_be_visible()
    opened.keyboard.press("Space")
    opened.keyboard.down("ArrowUp")  # it stays at the top and loses
    opened.get_by_role("button", name="Pause").press("Enter")
    opened.get_by_role("button", name="½×").click()
    expect(opened.get_by_role("button", name="Go on")).to_be_focused()  # keys steer the paddle, not the speed
    opened.get_by_role("button", name="1×").click()
    opened.get_by_role("button", name="Go on").press("Enter")
    expect(opened.locator("[data-commentary]")).to_contain_text(" to ", timeout=120_000)
    expect(opened.get_by_role("button", name="Play again")).to_be_visible()
    assert serious_violations(opened) == []
    assert overflow(opened) <= 0


@pytest.fixture
def discs(enter: Enter, team: Studio) -> Page:
    agent = kept_for_real(team, untrained(DISCS))
    Agent.objects.filter(pk=agent.pk).update(game={"name": "connect-four", "settings": {}})
    return enter(team.producer, f"/p/herobattle/agents/{agent.pk}/play/")


def dropped(columns: list[int]) -> list[float]:
    """What the engine says after these discs: what the first side sees, which columns are free, who won, and whether it
    is over."""
    battle = ConnectFour(opening=0)
    battle.begin(seed=1, played=(0, 1))
    battle._mover = 0
    for column in columns:
        battle._drop(column)
    seen, free = battle._boards[0].reshape(-1), [height < 6 for height in battle._heights]
    return [*seen, *free, -1 if battle._winner is None else battle._winner, battle._over]


def test_discs_in_the_page_fall_and_win_as_in_the_engine(discs: Page) -> None:
    rng, drops = np.random.default_rng(3), list[list[int]]()
    for _ in range(150):
        columns: list[int] = []
        while not (columns and dropped(columns)[-1]) and len(columns) < rng.integers(8, 80):
            free = np.flatnonzero(dropped(columns)[84:91])
            columns.append(int(rng.choice(free)))
        drops.append(columns)
    wanted = np.array([dropped(columns) for columns in drops], float)
    found = np.array(discs.evaluate(BATTLES, {"base": base(discs), "drops": drops}))
    np.testing.assert_array_equal(found, wanted)
    assert {-1.0, 0.0, 1.0} == set(wanted[:, 91].tolist()), "both sides win"


def test_somebody_plays_connect_four_by_keyboard_to_the_end(discs: Page) -> None:
    columns, told = discs.locator("[data-column]"), discs.locator("[data-commentary]")
    expect(told).to_have_text("You begin: choose a column.")
    columns.nth(3).press("Enter")
    expect(told).to_contain_text("You chose column 4. Ada chose column ")
    expect(discs.locator("[data-of='0']")).to_have_count(1)
    expect(discs.locator("[data-of='1']")).to_have_count(1)
    assert "yours" in str(columns.nth(3).get_attribute("aria-label"))
    again = discs.get_by_role("button", name="Play again")
    for _ in range(21):
        if again.is_visible():
            break
        discs.locator("[data-column]:enabled").first.press("Enter")
    expect(again).to_be_focused()
    expect(told).to_contain_text("won")
    again.press("Enter")
    expect(told).to_contain_text("Ada chose column ")
    assert serious_violations(discs) == []
    assert overflow(discs) <= 0


@pytest.fixture
def commanded(enter: Enter, team: Studio) -> Page:
    game_version(team.project)
    agent = ada(team.project)
    return enter(team.producer, f"/p/herobattle/agents/{agent.pk}/play/")


def pressed(page: Page, part: int) -> str:
    """What is ordered of a part of an order."""
    return str(page.locator(f"[data-order='{part}'][aria-pressed=true]").inner_text())


def test_somebody_commands_a_team_by_key_and_by_pointer_to_the_end_and_watches_it_again(commanded: Page) -> None:
    page = commanded
    begin, told = page.locator("[data-begin]"), page.locator("[data-commentary]")
    expect(begin).to_be_enabled()
    expect(begin).to_have_text("Begin")
    teams = page.locator("[data-team]").all_inner_texts()
    assert all(re.search(r" with .*; [A-Z][\w ]* ×\d", team) for team in teams), "who is on the field, and how many"
    begin.press("Enter")
    page.keyboard.press("2")
    page.keyboard.press("e")
    assert "the hero" in pressed(page, 0)
    assert "step back" in pressed(page, 1).replace("steps", "step")
    page.locator("[data-order='4'][data-choice='2']").click()
    expect(begin).to_be_focused()  # the pointer leaves the keyboard at the button
    page.keyboard.press("Space")
    expect(begin).to_have_text("Go on")
    standing = page.locator("[data-points]").inner_text()
    page.wait_for_timeout(500)
    assert page.locator("[data-points]").inner_text() == standing, "nothing happens in a pause"
    expect(page.locator("[data-agent-order]").first).not_to_be_empty()
    page.get_by_role("button", name="4×").click()
    page.keyboard.press("Space")
    expect(told).to_contain_text(" of its life left, Ada’s ", timeout=120_000)
    assert "at once" in pressed(page, 4), "it stayed in force"
    assert serious_violations(page) == []
    assert overflow(page) <= 0

    moment = page.locator("[data-moment]")
    last = int(str(moment.get_attribute("max")))
    assert last > 20
    expect(begin).to_have_text("Watch it from the start")
    page.get_by_role("button", name="1×").click()
    begin.press("Enter")
    expect(begin).to_have_text("Pause")
    page.wait_for_function("() => Number(document.querySelector('[data-moment]').value) > 5")
    page.keyboard.press("Space")
    assert int(moment.input_value()) < last
    before = pressed(page, 0)
    page.keyboard.press("5")
    assert pressed(page, 0) == before, "what is over takes no orders"

    page.get_by_role("button", name="Again with the same teams").click()
    expect(begin).to_have_text("Begin")
    expect(moment).to_be_hidden()
    assert page.locator("[data-team]").all_inner_texts() == teams
    assert "nearest" in pressed(page, 0)
    page.get_by_role("button", name="Other teams").click()
    assert page.locator("[data-team]").all_inner_texts() != teams
    page.set_viewport_size(PHONE)
    assert serious_violations(page) == []
    assert overflow(page) <= 0
