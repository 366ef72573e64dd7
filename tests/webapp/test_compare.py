"""Searches side by side: one measure for all, differences only, and a clear word where they cannot be compared."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from engine.arrays import pack, unpack
from tests.factories import Studio, archive, bundle, search_job, signed_in, studio
from tests.webapp.evolutions import config, evolved
from tests.webapp.rounds import played
from webapp.games.models import GameVersion
from webapp.lib.storage import store
from webapp.studies.compare import measures
from webapp.studies.compare.best import BEST, UNSURE, WORSE, Best, standing, verdict
from webapp.studies.compare.differences import differences, same
from webapp.studies.compare.side import MOST, Comparison, Side
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(team: Studio) -> Client:
    return signed_in(team.producer)


def another(job: Job, path: str = "", value: Any = None, **changes: Any) -> Job:
    """A copy of a job as another row, with one setting at a dotted place changed."""
    job = Job.objects.get(pk=job.pk)
    at = job.config
    *folders, last = path.split(".")
    for name in folders:
        at = at[int(name)] if name.isdecimal() else at[name]
    if path:
        at[last] = value
    for name, each in changes.items():
        setattr(job, name, each)
    job.pk = None
    job.save()
    return job


def address(*jobs: Job, name: str = "compare", more: str = "") -> str:
    query = "&".join(f"job={job.pk}" for job in jobs)
    return f"{reverse(f'studies:{name}', args=['herobattle'])}?{query}{more}"


def fronts(seed: int, rows: int = 300) -> dict[str, str]:
    return {"front": store().put(bundle(archive(rows, seed))), "archive": store().put(bundle(archive(rows, seed)))}


def test_searches_are_shown_with_what_each_found(client: Client, team: Studio) -> None:
    job = search_job(team.project)
    other = another(job, "algorithm.population", 100, artifacts=fronts(2))
    page = client.get(address(job, other)).content.decode()
    assert page.count('<th scope="row"><span class="with-mark">') == 2
    assert "Method: Lineups in a round" in page
    assert "One job" not in page
    found = Comparison(team.project, [job.pk, other.pk])
    assert [side.place for side in found.sides] == [1, 2]
    for side in found.sides:
        assert side.verdicts is not None
        assert 0 <= side.verdicts.strong + side.verdicts.unsure <= side.verdicts.lineups
        assert side.volume is not None
        assert side.volume.half > 0


def test_lines_of_the_chart_are_named_by_what_tells_the_searches_apart(team: Studio) -> None:
    job = search_job(team.project)
    other = another(job, artifacts=fronts(2), title="After the patch")
    names = [each["name"] for each in Comparison(team.project, [job.pk, other.pk]).chart_data()["jobs"]]
    assert names == [f"{job.pk}: {job.title}", f"{other.pk}: After the patch"]
    random = another(job, "algorithm", {"kind": "random", "population": 100}, artifacts=fronts(2))
    names = [each["name"] for each in Comparison(team.project, [job.pk, random.pk]).chart_data()["jobs"]]
    assert names == [f"{job.pk}: NSGA-II", f"{random.pk}: Random search"]


def test_the_measure_stays_as_it_is_whatever_is_compared(team: Studio) -> None:
    oldest = search_job(team.project)
    a, b = another(oldest, "seed", 2, artifacts=fronts(2)), another(oldest, "seed", 3, artifacts=fronts(3))
    alone, both = Comparison(team.project, [a.pk, b.pk]), Comparison(team.project, [b.pk, a.pk, oldest.pk])
    volumes = {side.job.pk: side.volume for side in both.sides}
    assert {side.job.pk: side.volume for side in alone.sides}.items() <= volumes.items()
    assert alone.box is not None
    assert alone.box.job == oldest.pk


def test_an_edge_further_out_has_the_larger_volume(team: Studio) -> None:
    job = search_job(team.project)
    further = archive(300, 1)
    further["objective"] = further["objective"] + np.array([0.5, 5.0, 5.0])
    far = another(job, artifacts={"front": store().put(bundle(further))})
    near = another(job, artifacts={"front": store().put(bundle(archive(300, 1)))})
    volumes = [side.volume for side in Comparison(team.project, [near.pk, far.pk]).sides]
    assert volumes[0] is not None
    assert volumes[1] is not None
    assert volumes[1].value > volumes[0].value


def test_failed_lineups_and_those_that_break_a_rule_have_no_volume(team: Studio) -> None:
    job = search_job(team.project)
    columns = archive(50, 1)
    columns["status"][:20], columns["violation"][20:49] = 1, 1.0
    bad = another(job, artifacts={"front": store().put(bundle(columns))})
    verdicts = Comparison(team.project, [job.pk, bad.pk]).sides[1].verdicts
    assert verdicts is not None
    assert verdicts.lineups == 1


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("objectives.objectives.0.formula", "mean(cost)", "pushes other objectives"),
        ("objectives.objectives.1.direction", "min", "pushes other objectives"),
        ("game.simulator", "builtin:wesnoth", "played in another game"),
    ],
)
def test_searches_that_cannot_be_compared_say_why(
    client: Client, team: Studio, path: str, value: str, says: str
) -> None:
    job = search_job(team.project)
    page = client.get(address(job, another(job, path, value))).content.decode()
    assert says in page
    assert "What was set differently" in page
    assert "data-edges" not in page


def test_another_line_does_not_keep_searches_apart(client: Client, team: Studio) -> None:
    job = search_job(team.project)
    page = client.get(address(job, another(job, "objectives.objectives.0.threshold", 2.5))).content.decode()
    assert "Resource advantage: The line" in page
    assert "data-edges" in page


def test_only_what_differs_is_listed(team: Studio) -> None:
    job = search_job(team.project)
    assert differences([job, another(job)]) == []
    rows = differences([job, another(job, "game.patch", {"warhorn.cost": 120.0}), another(job, "ticks", 7)])
    assert [row.title for row in rows] == ["Rounds", "Game data: Warhorn: cost"]
    assert rows[1].values == ("90, the game’s own", "120", "90, the game’s own")
    assert same([job, another(job, "ticks", 7)]) == same([job, another(job)]) - 1


def test_one_setting_under_two_titles_is_one_row(team: Studio) -> None:
    job = search_job(team.project)
    cma = another(job, "algorithm", {"kind": "cmaes", "population": 200})
    titles = [row.title for row in differences([job, cma])]
    assert titles[0] == "Method"
    assert not any("in a round" in title for title in titles)


def test_what_else_differs_is_a_caution(team: Studio) -> None:
    job = search_job(team.project)
    later = GameVersion.objects.create(
        project=team.project, simulator=job.game_version.simulator, number=15, label="Summer data",
        spec_hash=job.game_version.spec_hash, content_hash="other",
    )  # fmt: skip
    assert Comparison(team.project, [job.pk, another(job).pk]).cautions == []
    for changed, says in (
        (another(job, "seed", 9), "may only mean weaker baselines"),
        (another(job, game_version=later), "different game data"),
        (another(job, "lineups.teams", 2), "different lineup rules"),
    ):
        cautions = Comparison(team.project, [job.pk, changed.pk]).cautions
        assert len(cautions) == 1
        assert says in cautions[0]


def test_one_seed_of_the_draw_is_no_caution_whatever_the_searches_own_seeds_are(team: Studio) -> None:
    drawn = {"kind": "drawn", "count": 3, "seed": 5}
    job = another(search_job(team.project), "lineups.baselines", drawn)
    other = another(job, "seed", 9)
    assert Comparison(team.project, [job.pk, other.pk]).cautions == []
    third = another(job, "lineups.baselines", {**drawn, "seed": 6})
    assert "weaker baselines" in Comparison(team.project, [job.pk, third.pk]).cautions[0]


def test_of_one_search_the_page_asks_for_a_second_and_offers_those_that_ask_the_same_first(
    client: Client, team: Studio
) -> None:
    job = search_job(team.project, title="The chosen one")
    alike = another(job, title="Asks the same")
    another(job, "game.simulator", "builtin:wesnoth", title="In another game")
    page = client.get(address(job)).content.decode()
    assert "Choose a second search" in page
    assert "data-edges" not in page
    assert "What each found" not in page
    order = [page.index(f": {title}</b>") for title in ("The chosen one", "Asks the same", "In another game")]
    assert order == sorted(order)
    assert page.count("it was played in another game") == 1
    assert page.count('type="checkbox" name="job"') == 2
    alike.delete()
    Job.objects.exclude(pk=job.pk).delete()
    assert "No other search has finished a round yet." in client.get(address(job)).content.decode()


def test_fresh_battles_are_compared_where_all_have_them(team: Studio) -> None:
    job = search_job(team.project)
    fresh = another(job, artifacts={**job.artifacts, "fresh": store().put(bundle(archive(9, 4)))})
    assert not Comparison(team.project, [job.pk, fresh.pk]).fresh
    both = Comparison(team.project, [fresh.pk, another(fresh).pk])
    assert both.fresh
    assert [side.verdicts.lineups for side in both.sides if side.verdicts] == [9, 9]


def test_rounds_carry_the_volume_of_their_edge(team: Studio) -> None:
    job = played(team.project, 5)
    box = measures.box_of(job)
    assert box is not None
    side = Side(1, job, "", box)
    columns = measures.rounds_of(job, side.at)
    assert columns["tick"] == [1, 2, 3, 4, 5]
    assert columns["lineups"] == [30, 60, 90, 120, 150]
    assert all(volume and volume > 0 for volume in columns["value"])
    store().discard([job.events.get(tick=3).body["artifacts"]["front"]])
    measures._volume.cache_clear()
    assert measures.rounds_of(job, side.at)["tick"] == [1, 2, 4, 5]


def test_a_search_that_still_runs_is_compared_by_its_latest_round(client: Client, team: Studio) -> None:
    job = played(team.project, 3)
    page = client.get(address(job, another(job, artifacts=fronts(2))))
    assert "round 3" in page.content.decode()


def test_searches_of_other_projects_and_junk_are_no_searches(client: Client, team: Studio) -> None:
    job = search_job(team.project)
    theirs = search_job(studio("elsewhere").project, title="A secret search")
    sample = another(job, kind="sample", title="A sample")
    page = client.get(address(job, theirs, sample, more="&job=x&job=99999999999&job=-1")).content.decode()
    assert "A secret search" not in page
    assert "A sample" not in page
    assert "Choose a second search" in page


def test_as_many_as_there_are_shapes(team: Studio) -> None:
    job = search_job(team.project)
    jobs = [another(job) for _ in range(MOST + 2)]
    assert len(Comparison(team.project, [each.pk for each in jobs]).jobs) == MOST


def test_a_lost_edge_leaves_the_others(client: Client, team: Studio) -> None:
    job = search_job(team.project)
    lost = another(job, artifacts={"front": "0" * 64})
    answer = client.get(address(job, lost))
    assert answer.status_code == 200
    assert "lost" in answer.content.decode()


def test_the_comparison_as_a_file(client: Client, team: Studio) -> None:
    job = played(team.project, 2, title="=cmd()")
    other = another(job, "replicates", 8)
    answer = client.get(address(job, other, name="compare-csv"))
    assert answer["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert [row["Job"] for row in rows] == [str(job.pk), str(other.pk)]
    assert rows[0]["Title"] == "'=cmd()"
    assert [row["Times each pairing is played"] for row in rows] == ["4", "8"]
    assert float(rows[0]["Hypervolume"]) > 0
    text = client.get(address(job, other, name="compare-csv", more="&of=rounds")).content.decode("utf-8-sig")
    assert len(list(csv.DictReader(io.StringIO(text)))) == 2


def test_a_file_of_nothing_has_its_heads_only(client: Client, team: Studio) -> None:
    for more in ("", "?of=rounds"):
        answer = client.get(reverse("studies:compare-csv", args=[team.project.slug]) + more)
        assert len(answer.content.decode("utf-8-sig").splitlines()) == 1


def test_a_job_names_every_setting_of_its_method(client: Client, team: Studio) -> None:
    changes = {"kind": "cmaes", "population": 40, "sigma": 0.7}
    job = another(search_job(team.project), "algorithm", changes)
    job.config["stop"] = [{"kind": "minutes", "most": 5.0}]
    job.config["noise"] = {**job.config["noise"], "reevaluate": 3}
    job.save()
    page = client.get(reverse("studies:job", args=[team.project.slug, job.pk])).content.decode()
    for title, value in (
        ("Method", "CMA-ES"),
        ("First step size", "0.7"),
        ("Best ones measured again each round", "3"),
        ("Ends early", "after 5 min, not reproducible"),
    ):
        assert f"<dt>{title}</dt><dd>{value}</dd>" in page


ONE_GOAL = [{"measure": "return"}]


def players(team: Studio, **more: Any) -> Job:
    return evolved(team.project, config("nsga2", ticks=2, **more))


def test_searches_of_players_are_compared_by_the_same_measures(client: Client, team: Studio) -> None:
    one = players(team)
    other = another(one, "algorithm.mutation", 0.5, title="More change")
    found = Comparison(team.project, [one.pk, other.pk])
    assert (found.obstacle, found.fresh, found.cautions) == ("", True, [])
    for side in found.sides:
        assert side.volume is not None
        assert side.volume.half > 0
    page = client.get(address(one, other)).content.decode()
    assert "Return (sum of rewards)" in page
    assert "Chance that a player is changed" in page
    assert not re.search(r"\b(lineup|battle)s?\b", page[page.index("What each found") : page.index("Compare others")])
    drawn = client.get(found.chart_data()["jobs"][0]["front"])
    assert drawn.json()["x"]
    rows = list(csv.DictReader(io.StringIO(
        client.get(address(one, other, name="compare-csv")).content.decode("utf-8-sig"))))  # fmt: skip
    assert float(rows[0]["Hypervolume"]) >= 0
    assert f'value="{one.pk}"' in client.get(reverse("studies:jobs", args=["herobattle"])).content.decode()


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("objectives.1.direction", "max", "pushes other goals"),
        ("task.game.settings.points", 2, "in another game, or with other settings of it"),
    ],
)
def test_players_that_cannot_be_compared_say_why(team: Studio, path: str, value: Any, says: str) -> None:
    one = players(team)
    found = Comparison(team.project, [one.pk, another(one, path, value).pk])
    assert says in found.obstacle
    assert found.sides == []


def test_lineups_and_players_are_not_compared(client: Client, team: Studio) -> None:
    lineups, one = search_job(team.project), players(team, objectives=ONE_GOAL)
    for jobs, says in (
        ((lineups, one), "searches training settings, not lineups"),
        ((one, lineups), "searches lineups, not"),
    ):
        assert says in Comparison(team.project, [job.pk for job in jobs]).obstacle
        assert client.get(address(*jobs)).status_code == 200


def test_searches_with_one_goal_are_compared_by_the_best_of_each(client: Client, team: Studio) -> None:
    one = players(team, objectives=ONE_GOAL)
    other = another(one, "algorithm.settings_mutation", "uniform", title="Drawn anew")
    found = Comparison(team.project, [one.pk, other.pk])
    assert (found.obstacle, found.box) == ("", None)
    for side, stands in found.standings:
        fresh = unpack(store().get(one.artifacts["fresh"])).arrays
        assert side.again
        assert side.own
        assert side.again.id == side.own.id
        assert side.again.value == fresh["objective"][fresh["id"] == side.own.id][0, 0]
        assert stands == BEST
    page = client.get(address(one, other)).content.decode()
    assert f"Searches {one.pk} and {other.pk} did equally well." in page
    assert "data-edges" not in page
    assert "How the best changed" in page
    assert "<td>By a small step (polynomial)</td><td>Drawn anew (uniform)</td>" in page
    chart = found.chart_data()
    assert chart["course"]["title"] == "Return (sum of rewards)"
    assert "x" not in chart


@pytest.mark.parametrize("goal", ["max", "min"])
def test_of_lineups_with_one_objective_the_clearly_better_is_told_on_fresh_battles(
    client: Client, team: Studio, goal: str
) -> None:
    job = search_job(team.project)
    asked = [{**job.config["objectives"]["objectives"][1], "direction": goal}]
    jobs = [
        another(job, "objectives.objectives", asked, artifacts=alone(mean, fresh))
        for mean, fresh in ((20.0, 30.0), (40.0, 20.0), (25.0, 29.5), (90.0, None))
    ]
    found = Comparison(team.project, [each.pk for each in jobs])
    first, second, third, unmeasured = (side.job.pk for side in found.sides)
    stands = [stands for _, stands in found.standings]
    if goal == "max":
        assert stands == [BEST, WORSE, UNSURE, ""]
        assert found.verdict == (
            f"Search {first} did best and is clearly better than {second}; that it is ahead of {third} may be luck."
        )
    else:
        assert stands == [WORSE, BEST, WORSE, ""]
        assert found.verdict == f"Search {second} did best and is clearly better than {first} and {third}."
    assert "can be said once two" in Comparison(team.project, [first, unmeasured]).verdict
    rows = list(csv.DictReader(io.StringIO(
        client.get(address(*jobs, name="compare-csv")).content.decode("utf-8-sig"))))  # fmt: skip
    assert [row["Best on fresh"] for row in rows] == ["30.0", "20.0", "29.5", ""]
    assert [row["Stands"] for row in rows] == stands


def test_equal_values_are_both_the_best() -> None:
    full, less = Best(500.0, 0.0, 1), Best(480.0, 5.0, 2)
    stands = standing([full, less, full, None], 1.0)
    assert stands == [BEST, WORSE, BEST, ""]
    assert verdict("1234", stands) == "Searches 1 and 3 did equally well and are clearly better than 2."
    assert verdict("12", standing([full, full], 1.0)) == "Searches 1 and 2 did equally well."
    unknown = standing([full, full, Best(400.0, None, 1)], 1.0)
    assert verdict("123", unknown).endswith("; that they are ahead of 3 may be luck.")


def alone(mean: float, fresh: float | None) -> dict[str, str]:
    """The artifacts of a search with one objective: its best, and what that was worth on fresh battles."""
    found = {}
    for role, value in (("front", mean), ("fresh", fresh)):
        if value is not None:
            columns = archive(1, 1)
            columns |= {"objective": np.array([[value]]), "error": np.array([[0.5]])}
            found[role] = store().put(bundle(columns | {"covariance": np.array([[[0.25]]])}))
    return found


def test_a_search_that_still_runs_tells_how_its_best_changed(client: Client, team: Studio) -> None:
    job = played(team.project, 3)
    one = [job.config["objectives"]["objectives"][1]]
    for tick in (1, 2, 3):
        event = job.events.get(tick=tick)
        event.body["artifacts"] = alone(10.0 * tick, None)
        event.save()
    job.config["objectives"]["objectives"] = one
    job.save()
    other = another(job, "seed", 2, artifacts=alone(20.0, 19.0))
    found = Comparison(team.project, [job.pk, other.pk])
    assert found.chart_data()["jobs"][0]["rounds"]["value"] == [10.0, 20.0, 30.0]
    page = client.get(address(job, other)).content.decode()
    assert "not measured" in page
    assert "a better value may only mean weaker baselines" in page
    text = client.get(address(job, other, name="compare-csv", more="&of=rounds")).content.decode("utf-8-sig")
    assert [row["Best"] for row in csv.DictReader(io.StringIO(text))] == ["10.0", "20.0", "30.0"]


def test_settings_that_mean_nothing_to_a_search_are_not_compared(team: Studio) -> None:
    for job, never in ((players(team), "teams"), (search_job(team.project), "settings are combined")):
        drawn = another(job, "algorithm", {"kind": "random", "population": 4})
        titles = [row.title for row in differences([job, drawn])]
        assert any(title.startswith("Method: Chance that two") for title in titles)
        assert not any(never in title for title in titles)


@pytest.mark.parametrize(
    ("path", "value", "row"),
    [
        ("algorithm.swapping", 0.7, ("Method: Share of changes that swap between teams", ("0.2", "0.7"))),
        (
            "noise.racing",
            "halving",
            ("Luck: Racing", ("No racing", "By halves, with no stated error")),
        ),
    ],
)
def test_choices_are_told_in_words(team: Studio, path: str, value: Any, row: Any) -> None:
    job = search_job(team.project)
    rows = differences([job, another(job, path, value)])
    assert [tuple(each) for each in rows] == [row]


def test_what_the_game_calls_its_things_is_told_in_place_of_ids(team: Studio) -> None:
    job = search_job(team.project)
    changed = another(job, "game.patch", {"marrow-duke.cost": 700.0, "battle.time_limit": 390.0})
    changed.config["lineups"] |= {
        "banned": ["coil-bow"], "required": ["warhorn"], "cost_tolerance": 0.1,
        "baselines": {"kind": "pasted", "teams": [{"name": "Ours", "slots": {"hero": "frost-captain"}}]},
    }  # fmt: skip
    changed.save()
    told = {row.title: row.values for row in differences([job, changed])}
    assert told["Game data: Marrow Duke: cost"] == ("310, the game’s own", "700")
    assert told["Game data: Time limit"] == ("300\u00a0ticks, the game’s own", "390\u00a0ticks")
    assert told["Lineup rules: Banned pieces"] == ("–", "Coil Bow")
    assert told["Lineup rules: Required pieces"] == ("–", "Warhorn")
    assert told["Lineup rules: Costs within"] == ("5\u00a0%", "10\u00a0%")
    assert told["Ours: Hero"] == ("–", "Frost Captain")
    words = " ".join(f"{title} {' '.join(values)}" for title, values in told.items())
    assert not re.search(r"[a-z]+-[a-z]+|_|builtin:", words)


def test_a_line_is_told_with_its_unit(team: Studio) -> None:
    job = search_job(team.project)
    other = another(job, "objectives.objectives.0.threshold", 2.5)
    told = {row.title: row.values for row in differences([job, other])}
    assert told == {"Resource advantage: The line": ("2.0×", "2.5×")}


def test_a_game_that_is_no_longer_described_leaves_its_ids(team: Studio) -> None:
    job = search_job(team.project)
    changed = another(job, "game.patch", {"battle.time_limit": 390.0})
    job.game_version = changed.game_version = None
    told = {row.title: row.values for row in differences([job, changed])}
    assert told["Game data: battle.time_limit"] == ("–", "390")


def test_choices_of_a_method_that_the_form_does_not_offer_are_told_in_words(team: Studio) -> None:
    job = search_job(team.project)
    rows = differences([job, another(job, "algorithm", {"kind": "pbt", "population": 20})])
    assert ("Method: When to copy another", ("–", "Worst copy best, else by test")) in [tuple(each) for each in rows]


def test_a_training_is_left_out_and_the_page_says_so(client: Client, team: Studio) -> None:
    job = search_job(team.project)
    training = another(job, "kind", "train", kind="train")
    page = client.get(address(job, training)).content.decode()
    assert f">job {training.pk}</a> (training). Only searches are compared here" in page
    assert "A single training’s curve is on its own page" in page


def test_the_list_of_jobs_marks_which_ask_the_same(client: Client, team: Studio) -> None:
    job = search_job(team.project)
    another(job, "seed", 2)
    another(job, "game.simulator", "builtin:wesnoth")
    page = client.get(reverse("studies:jobs", args=["herobattle"])).content.decode()
    marks = re.findall(r'data-asks="(\w+)"', page)
    assert sorted(marks.count(mark) for mark in set(marks)) == [1, 2]


def test_players_that_learned_longer_are_a_caution(team: Studio) -> None:
    one = players(team)
    assert (
        "different numbers of decisions"
        in Comparison(team.project, [one.pk, another(one, "task.steps", 128).pk]).cautions[0]
    )


def test_a_volume_has_no_range_where_a_lineup_s_battles_all_ended_alike() -> None:
    """What luck may have moved is not known of it; an objective that no battle changes has none for anybody."""
    means = np.array([[2.0, 300.0], [3.0, 200.0]])
    covariance = np.array([np.diag([0.1, 0.0]), np.diag([0.2, 0.0])])
    assert measures.spread_is_known(covariance, means)
    covariance[1, 0, 0] = 0.0
    assert not measures.spread_is_known(covariance, means)
    assert not measures.spread_is_known(np.zeros((2, 2, 2)), means)


def test_the_range_of_a_volume_is_the_luck_of_its_own_lineups_and_stops_at_floor_and_cap(
    client: Client, team: Studio
) -> None:
    job, found = search_job(team.project), unpack(bundle(archive(100)))
    box = measures.box_of(job)
    assert box is not None

    def edge(error: float) -> str:
        covariance = np.broadcast_to(error**2 * np.eye(3), (100, 3, 3))
        return store().put(pack(found.meta, {**found.arrays, "covariance": covariance.astype(np.float32)}))

    signs, free = measures.signs(job), ((None, None),) * 3
    narrow, wide = (measures.volume_with_range(edge(error), box, signs, free).half for error in (0.01, 0.5))
    assert 0 < 10 * narrow < wide, "the same lineups, measured 50 times worse"
    best = found.arrays["objective"].max(axis=0)
    capped = measures.volume_with_range(edge(0.5), box, signs, tuple((None, float(top)) for top in best)).half
    assert capped < wide
    assert measures.stops(job)[0][1] == 4.0
    page = client.get(address(job, another(job))).content.decode()
    assert "± is how far luck in the battles of the edge itself may have moved its volume" in page


def test_a_search_that_others_are_apart_from_is_named_with_its_job(client: Client, team: Studio) -> None:
    job = search_job(team.project)
    another(job, "objectives.objectives.0.formula", "mean(cost)")
    page = client.get(address(job)).content.decode()
    assert f"cannot be measured like “{job.title}” (job {job.pk})" in page
