"""How searches for lineups are compared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from webapp.studies.commanders import alike
from webapp.studies.comparing import Comparing
from webapp.studies.models import Job


class LineupsCompared(Comparing):
    """Their lineups are judged by the same line and the same median baseline team."""

    searched = "lineups"
    all_aims = "every objective"
    other_game = "it was played in another game"
    other_aims = "it pushes other objectives"
    words = {"many": "Lineups", "one": "lineup", "played": "battles", "objectives": "objectives"}
    work = (("Battles", "battles"),)
    judged = True

    def game(self, job: Job) -> tuple[Any, ...]:
        """Its simulator; versions of its data may differ."""
        return (job.config["game"]["simulator"],)

    def cautions(self, jobs: Sequence[Job], better: str) -> list[str]:
        """Baseline teams, game data and lineup rules that are not the same."""
        found = []
        if len({_baselines(job) for job in jobs}) > 1:
            found.append(
                f"Each met baseline teams of its own, and strength is told by those: a {better} may only mean weaker "
                "baselines. Compare searches with the same seed, the same seed of the draw, or baselines of your own."
            )
        if len({job.game_version_id for job in jobs}) > 1:
            found.append("They were played on different game data.")
        if len({str(alike(job.config)) for job in jobs}) > 1:
            found.append("They were not all played by the same commander, so they may differ for that alone.")
        rules = [{**job.config["lineups"], "baselines": None} for job in jobs]
        if any(each != rules[0] for each in rules):
            found.append("They follow different lineup rules.")
        return found


def _baselines(job: Job) -> str:
    """What decides which baseline teams a search met; a draw without a seed of its own takes the search's."""
    found = dict(job.config["lineups"]["baselines"])
    if found["kind"] == "drawn" and found.get("seed") is None:
        found["seed"] = job.config["seed"]
    return json.dumps(found, sort_keys=True)
