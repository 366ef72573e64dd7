"""Intended: later searches and experiments know of it, until the piece changes."""

from __future__ import annotations

import re
from html import unescape
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from django.urls import reverse

from engine.config import SearchConfig, parse
from engine.config.gate import GateConfig
from engine.config.patch import PatchConfig
from engine.config.patterns import Pattern
from engine.lineups.companion import beside
from tests.factories import Studio, search_job, signed_in, studio
from tests.webapp.experiments import CAPTAIN, DUKE, HORN, experiment
from tests.webapp.published import OVER, played_again
from webapp.accounts.models import User
from webapp.games.models import GameVersion
from webapp.reports.content import content
from webapp.studies import actions, companion, kinds, patterns
from webapp.studies.explore_build import explored
from webapp.studies.found_counts import found_by
from webapp.studies.models import Job
from webapp.studies.templatetags import verdicts
from webapp.suspects import decisions
from webapp.suspects.intended import lapsed, standing
from webapp.suspects.reading import read

pytestmark = pytest.mark.django_db

PAIR = f"{CAPTAIN}+{HORN}"


@pytest.fixture
def team() -> Studio:
    return studio()


@pytest.fixture
def search(team: Studio) -> Job:
    found = search_job(team.project)
    experiment(found)
    return found


def meant(search: Job, key: str = DUKE, side: str = "strongest") -> None:
    decisions.decide(search, key, key, search.project.members.first(), "intended", "the theme", None, side)


def version(search: Job) -> GameVersion:
    assert search.game_version is not None
    return search.game_version


def changed(search: Job, **numbers: float) -> GameVersion:
    """A later version of the game's data, with other numbers."""
    old = version(search)
    patch = {path.replace("__", "."): value for path, value in numbers.items()}
    return GameVersion.objects.create(
        project=old.project, simulator=old.simulator, number=old.number + 1, label="Summer data",
        patch={**old.patch, **patch}, spec_hash=old.spec_hash, content_hash="other",
    )  # fmt: skip


def again(search: Job, **more: Any) -> Job:
    config = parse(SearchConfig, {k: v for k, v in search.config.items() if k != "intended"})
    return actions.submit(search.project, None, config, title="Again", template="unfair",
                          game_version=more.pop("game_version", version(search)), **more)  # fmt: skip


def test_the_next_search_and_its_experiment_pin_what_is_intended(team: Studio, search: Job) -> None:
    assert "intended" not in again(search).config
    meant(search)
    config = parse(SearchConfig, {k: v for k, v in search.config.items()})
    later = again(search, companion=beside(config, 20_000))
    pinned = {"pieces": [DUKE], "least": 1, "side": "strongest"}
    assert later.config["intended"] == [pinned]
    found = companion.of(later)
    assert found is not None
    assert found.config["intended"] == [pinned]
    decisions.decide(search, DUKE, DUKE, team.owner, "fix")
    assert "intended" not in again(search).config
    later.refresh_from_db()
    assert later.config["intended"] == [pinned], "what a job rests on never changes"


def test_a_gate_and_a_search_for_changes_pin_it_by_the_numbers_that_they_play(team: Studio, search: Job) -> None:
    meant(search)
    meant(search, PAIR)
    patch = dict(version(search).patch)

    def asked(kind: type[GateConfig] | type[PatchConfig], **more: Any) -> list[list[str]]:
        game = {"simulator": search.config["game"]["simulator"], "patch": {**patch, **more.pop("numbers", {})}}
        config = parse(kind, {"game": game, **more})
        job = actions.submit(search.project, None, config, title="Job", template="own", game_version=version(search))
        return [each["pieces"] for each in job.config.get("intended", ())]

    assert asked(GateConfig) == [[CAPTAIN, HORN], [DUKE]]
    assert asked(GateConfig, numbers={"marrow-duke.cost": 333.0}) == [[CAPTAIN, HORN]], "the build changes the other"
    assert asked(GateConfig, intended=[{"pieces": [HORN]}]) == [[HORN]]
    assert asked(PatchConfig) == [[CAPTAIN, HORN], [DUKE]]
    assert asked(PatchConfig, suspects=[{"pieces": [DUKE]}]) == [[CAPTAIN, HORN]], "somebody wants it mended"


def test_a_search_for_changes_leaves_amounts_alone_but_for_those_that_somebody_wants_mended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    amount, piece = Pattern(pieces=(DUKE,), least=3), Pattern(pieces=(DUKE,))
    source = SimpleNamespace(intended=lambda *_: (amount, piece))
    monkeypatch.setattr(patterns, "SOURCES", [source])
    for mended, left in (((), [3, 1]), (({"pieces": [DUKE]},), [3]), (({"pieces": [DUKE], "least": 3},), [1])):
        config = parse(PatchConfig, {"game": {"simulator": "builtin:herobattle"}, "suspects": mended})
        pinned = patterns.pinned(config, cast(Any, None), cast(Any, object()))
        assert [each.least for each in cast(PatchConfig, pinned).intended] == left


def test_the_last_decision_counts_whichever_search_it_was_made_on(team: Studio, search: Job) -> None:
    meant(search)
    other = again(search)
    decisions.decide(other, DUKE, DUKE, team.owner, "ask", asked=team.producer)
    assert standing(search.project, version(search)) == ()


def test_it_lapses_when_the_cost_or_an_attribute_changes_and_says_why(team: Studio, search: Job) -> None:
    meant(search)
    meant(search, PAIR)
    dearer = changed(search, **{"marrow-duke__cost": 333.0})
    assert [each.key for each in standing(search.project, dearer)] == [PAIR]
    found = lapsed(search.project, dearer)
    assert list(found) == [DUKE]
    assert re.search(r"Marrow Duke: cost went from 310 to 333", found[DUKE].why)
    later = again(search, game_version=dearer)
    assert [each["pieces"] for each in later.config["intended"]] == [[CAPTAIN, HORN]]
    experiment(later)
    page = signed_in(team.producer).get(reverse("suspects:page", args=["herobattle", later.pk]), {"suspect": DUKE})
    text = " ".join(unescape(re.sub(r"<[^>]+>", " ", page.content.decode())).split())
    assert "Asked again. It was called intended, “the theme”" in text
    assert "cost went from 310 to 333" in text


def test_a_change_of_another_piece_leaves_it(search: Job) -> None:
    meant(search)
    assert len(standing(search.project, changed(search, **{"warhorn__cost": 99.0}))) == 1


def test_a_decision_whose_numbers_were_not_kept_is_asked_again(search: Job) -> None:
    meant(search)
    search.decisions.update(numbers={})
    assert standing(search.project, version(search)) == ()
    assert "not written down" in lapsed(search.project, version(search))[DUKE].why


def test_an_experiment_lists_it_apart_and_does_not_count_it(team: Studio, search: Job) -> None:
    meant(search)
    later = again(search)
    found = read(experiment(later))
    assert DUKE not in [each.key for each in found.named]
    assert [each.key for each in found.intended] == [DUKE]
    page = signed_in(team.producer).get(reverse("suspects:page", args=["herobattle", later.pk]), {"suspect": DUKE})
    text = " ".join(unescape(re.sub(r"<[^>]+>", " ", page.content.decode())).split())
    assert "Three suspects" in text
    assert "Intended, so not counted" in text
    assert "Marrow Duke is meant to be so. Teams that hold it win" in text


def words(person: User, name: str, search: Job, **query: str) -> str:
    """What a page of the search says."""
    page = signed_in(person).get(reverse(name, args=["herobattle", search.pk]), query).content.decode()
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_a_decision_is_told_alike_by_every_page_of_the_search_on_which_it_was_made(team: Studio) -> None:
    search = search_job(team.project, rows=200)
    experiment(search)
    meant(search, PAIR)
    explained = np.flatnonzero(explored(search).core["meant"] == 1).tolist()
    decisions.decide(search, PAIR, PAIR, team.owner, "none")
    played_again(search, [*explained[:4], *(row for row in range(12) if row not in explained)], OVER)
    before = found_by(search)
    meant(search, PAIR)
    found = found_by(search)
    assert found.meant > 0
    assert (found.confirmed or 0) < (before.confirmed or 0)
    rows = int((explored(search).core["meant"] == 1).sum())
    assert rows == found.meant
    told = kinds.of(search).found(search)
    assert told is not None
    experiment_ = companion.of(search)
    assert experiment_ is not None
    experiment_.summary = {"told": float(len(read(experiment_).named) + 1)}
    experiment_.save()
    row = verdicts.found(search)
    assert row["found"].words.endswith(f", {found.meant:,} of all that were played meant to be so"), "of Home, and jobs"
    assert row["suspects"] == len(read(experiment_).named), "what is intended is none of the suspects"
    assert kinds.of(search).counts(search)["meant_words"] == f", {found.meant:,} of them meant to be so"  # type: ignore[index]
    explorer = words(team.producer, "studies:explore", search)
    assert f"{found.meant:,} of them meant to be so" in explorer
    suspects = words(team.producer, "suspects:page", search, suspect=PAIR)
    assert "Frost Captain + Warhorn is meant to be so." in suspects
    assert "Frost Captain + Warhorn are too good together." not in suspects
    assert "Frost Captain + Warhorn" not in suspects.partition("What explains them")[2].partition("How hard")[0]
    kept = content(search)
    assert [each["claim"] for each in kept["intended"]] == ["Frost Captain + Warhorn is meant to be so."]
    assert kept["meant_count"] == found.meant
    held = f"{found.meant:,} lineups of the search hold what is intended, and are not counted either."
    assert held in words(team.designer, "reports:compose", search), "most of them are under the line anyway"
    assert len(kept["meant"]) == (before.confirmed or 0) - (found.confirmed or 0)
    decisions.decide(search, PAIR, PAIR, team.owner, "none")
    assert found_by(search) == before


def test_lineups_that_it_explains_are_marked_and_counted_nowhere(search: Job) -> None:
    before, counted = explored(search), found_by(search)
    pair = {"pieces": [CAPTAIN, HORN], "least": 1, "side": "strongest"}
    Job.objects.filter(pk=search.pk).update(config={**search.config, "intended": [pair]}, title="Another")
    marked = Job.objects.get(pk=search.pk)
    marked.template += "-intended"  # another state of the same job, as a build is kept for each
    found = explored(marked)
    rows = found.core["meant"] == 1
    assert rows.any()
    assert (found.core["verdict"][rows] == 0).all()
    assert found.how_sure(int(np.flatnonzero(rows)[0])) == patterns.MEANT
    assert (found.core["verdict"] == 2).sum() < (before.core["verdict"] == 2).sum()
    assert found.meta["meant"] == int(rows.sum())
    assert counted.strong >= 0
