"""What the Train-an-agent form shows where a training is run again with changes."""

from __future__ import annotations

from webapp.games.numbers import field_text
from webapp.projects.models import Project
from webapp.studies.models import Job
from webapp.training import beginnings, games, hands, methods, settings
from webapp.training.games import OFFERS
from webapp.training.methods import PRESET_LIST


def values_of(job: Job, project: Project) -> dict[str, str]:
    """The form that would have made ``job``: what "Run again with changes" starts from."""
    config = job.config
    learner, game = config["learner"], config["game"]["name"]
    offer, beside = games.named(game, project)
    preset = PRESET_LIST.get(job.template)
    fits = preset is not None and preset.kind == learner["kind"]
    usual = preset if preset is not None and fits else PRESET_LIST[f"{learner['kind']}-{methods.USUAL}"]
    begun = beginnings.agent_of(config, project)
    chosen = beginnings.going_on(usual, begun if begun is not None and begun.deleted_at is None else None)
    found = {
        "game": offer,
        offer: beside,
        "algorithm": learner["kind"],
        "preset": chosen.key,
        "steps": config["steps"],
        "minutes": field_text(config["minutes"]) if config.get("minutes") else "",
        "sampling": config["sampling"],
        "max_staleness": config["max_staleness"],
        "episodes": config["episodes"],
        "seed": config["seed"],
        "start": beginnings.number_of(begun),
        "title": job.title,
        **hands.typed(config["game"]),
        **settings.texts(settings.groups(OFFERS[offer], chosen, config["samplers"]), config),
        "samplers": config["samplers"],
        "environments": config["environments"],
    }
    return {name: str(value) for name, value in found.items() if str(value)}
