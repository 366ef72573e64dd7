"""An imported number reaches the battlefield."""

from __future__ import annotations

import numpy as np
import pytest

from engine.config import TeamRow
from engine.games.herobattle import HeroBattle
from engine.lineups.schema import team_row
from engine.simulators.contract import Battles
from tests.factories import Studio, game_version, signed_in, studio
from webapp.games import versions
from webapp.games.specs import keep, version_spec

DATA = "/p/herobattle/data/"


@pytest.fixture
def team(db: None) -> Studio:
    found = studio()
    keep(HeroBattle().describe())
    game_version(found.project)
    return found


def battles(patch: dict[str, float]) -> Battles:
    game = HeroBattle()
    spec = game.describe()
    pieces = {c.id: [p.id for p in spec.pieces if p.category == c.id] for c in spec.categories}
    rows = []
    for hero in ("frost-captain", "gale-lancer"):
        slots: dict[str, str | int] = {
            s.id: pieces[s.category][i] if s.category != "hero" else hero
            for i, s in enumerate(spec.slots) if s.kind == "piece"
            and not s.optional and len(pieces[s.category]) > i
        }  # fmt: skip
        slots |= {"soldiers_1": pieces["soldier"][0], "count_1": 6}
        rows.append(team_row(spec, TeamRow(slots=slots)))
    left, right = (np.repeat(row[None], 32, axis=0) for row in rows)
    return game.battles(left, right, np.arange(32, dtype=np.uint64), patch)


@pytest.mark.parametrize(("column", "value", "metric"), [("HP", "3000", "strength"), ("Cost", "900", "resources")])
def test_an_imported_hit_point_or_cost_changes_the_battles(team: Studio, column: str, value: str, metric: str) -> None:
    client = signed_in(team.designer)
    answer = client.post(f"{DATA}import/", {"text": f"Hero\t{column}\nFrost Captain\t{value}\n"})
    page = answer["Location"]
    key = "attribute:hit_points" if column == "HP" else "cost"
    client.post(page, {"action": "columns", "column-0": "name", "column-1": key})
    client.post(page, {"action": "save", "base": 14})
    version = versions.current(team.project)
    assert version is not None
    before, after = battles({}), battles(version.patch)
    names = [m.name for m in version_spec(version).side_metrics]
    at = names.index(metric)
    assert not np.array_equal(before.side[:, :, at], after.side[:, :, at])
