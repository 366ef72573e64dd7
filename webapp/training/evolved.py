"""The live page of a search for training settings: what its template and its script start from, and its players."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.arrays import Bundle, stacked, unpack
from engine.catalog import ALGORITHMS as METHODS
from engine.catalog import LEARNERS
from engine.config import parse
from engine.config.evolve import TaskConfig
from engine.config.genes import genes
from engine.config.noise import NoiseConfig
from engine.config.rl import NetworkConfig
from engine.config.style_reward import StyleReward
from engine.errors import ConfigError
from engine.means import range_ends
from webapp.lib.storage import store
from webapp.lib.words import number
from webapp.studies import front
from webapp.studies.compare.differences import settings_shown, text_of
from webapp.studies.compare.names import ABSENT
from webapp.studies.explore_source import last_of_each
from webapp.studies.job_page import worker_words
from webapp.studies.method_menu import CHOICES
from webapp.studies.methods import ends_when
from webapp.studies.models import Job
from webapp.studies.setting_fields import is_range, range_text
from webapp.training import games
from webapp.training.curve import COUNTERS
from webapp.training.goals import title_of
from webapp.training.learned import whole_batches
from webapp.training.methods import ALGORITHMS
from webapp.training.ranges import ranges_in
from webapp.training.searching import PLAYERS, in_players

MOST, MOST_BEST, LATEST_ROUNDS = 200, 20, 30
"""Players that are drawn, evenly from the best to the worst; players of the edge; rounds of a search under way."""


def context(job: Job) -> dict[str, Any]:
    """What the template needs beside what every job's page has."""
    config, task = job.config, job.config["task"]
    steps = task["steps"]
    specialist = [
        ("Game", games.title_of(task["game"]["name"], job.project)),
        *_searching(config),
        ("Decisions a player, each round", range_text(steps) if is_range(steps) else number(steps)),
        ("Episodes that measure a player", number(config["episodes"])),
        *((setting_title(task["learner"]["kind"], place), text) for place, text in _ranges(task).items()),
        ("Seed", config["seed"]),
        ("Workers", worker_words(config["pool"])),
        ("Attempt", job.attempt),
        ("Settings", job.config_hash[:12]),
    ]
    return {
        "game": games.title_of(task["game"]["name"], job.project),
        "algorithm": ALGORITHMS[task["learner"]["kind"]].title,
        "method": METHODS[config["algorithm"]["kind"]].label,
        "leaves": PLAYERS.of(config["algorithm"]["kind"]).leaves,
        "specialist": specialist,
        "whole": whole_batches(task, "a player"),
    }


def _ranges(task: dict[str, Any]) -> dict[str, str]:
    """The texts of a task's ranges but for its decisions, by place."""
    game = {f"game.settings.{name}": value for name, value in task["game"]["settings"].items()}
    others = {"environments": task["environments"], **game}
    found = {place: range_text(value) for place, value in others.items() if is_range(value)}
    return ranges_in(task["learner"], "learner.") | found


def _searching(config: dict[str, Any]) -> list[tuple[str, str]]:
    """How it is searched, and for what; what is as usual is left out."""
    noisy = config["noise"] != NoiseConfig().model_dump()
    behaviour = ", ".join(map(title_of, config["behaviour"]))
    networks = "" if config["networks"] == "fresh" else config["networks"].replace("_", " ")
    found = [
        ("Search method", METHODS[config["algorithm"]["kind"]].label),
        ("Players", number(config["algorithm"]["population"])),
        *_method(config["algorithm"]),
        *(settings_shown(config, "noise") if noisy else ()),
        ("Goals", "; ".join(_aim(aim) for aim in config["objectives"])),
        ("Kinds of play", behaviour),
        ("Networks of new players", networks),
        *(("Ends early", ends_when(rule)) for rule in config["stop"]),
    ]
    return [(name, value) for name, value in found if value not in ("", ABSENT)]


def _method(algorithm: dict[str, Any]) -> list[tuple[str, str]]:
    """The settings of a method, in the words of its form; what is switched off is left out."""
    settings = PLAYERS.belonging(PLAYERS.of(algorithm["kind"]))
    found = [(s, algorithm[s.key]) for s in settings if algorithm.get(s.key, False) is not False]
    plain = [(s, tuple(value) if isinstance(value, list) else value) for s, value in found]
    return [(str(s.field.label), CHOICES.get(s.name, {}).get(str(v)) or text_of(v)) for s, v in plain]


def _aim(aim: dict[str, Any]) -> str:
    return f"{title_of(aim['measure'])}, {'more' if aim['direction'] == 'max' else 'less'} is better"


def page_data(job: Job) -> dict[str, Any]:
    """What the page's script knows beside every job's own."""
    config, objectives = job.config, front.of_job(job).objectives
    return {
        "columns": {"counters": list(COUNTERS), "metrics": []},
        "population": config["algorithm"]["population"],
        "goals": [{"name": o.name, "title": o.title, "direction": o.direction} for o in objectives],
        "axes": [front.axis(objectives, i)._asdict() for i in range(len(objectives))],
        "method": config["algorithm"]["kind"],
        "fresh": "fresh" in job.artifacts,
        "fresh_coverage": job.summary.get("fresh_coverage"),
        "genes": _searched(config["task"]),
    }


def _searched(task: dict[str, Any]) -> bool:
    """Whether any setting is; else networks alone are bred."""
    try:
        return bool(genes(parse(TaskConfig, task)))
    except ConfigError:  # of an earlier version of the engine
        return False


def setting_title(kind: str, place: str) -> str:
    """A setting of a task as its form calls it; ``kind``: that of its learner."""
    match place.split("."):
        case ["learner", "network", ("policy" | "critic") as part, layer]:
            return f"Layer {int(layer) + 1} of the {part}"
        case ["learner", "network", "conv", layer, part]:
            return f"Convolution {int(layer) + 1}: {part}"
        case ["learner", "rewards", name, part]:
            return f"Reward {name}: {part}"
        case ["style", key]:
            field = StyleReward.model_fields.get(key)
        case ["game", "settings", name]:
            return f"The game’s {name.replace('_', ' ')}"
        case ["learner", "network", key]:
            field = NetworkConfig.model_fields.get(key)
        case ["learner", key]:
            field = LEARNERS[kind].config.model_fields.get(key)
        case [key, *_]:
            field = TaskConfig.model_fields.get(key)
    return in_players((field.title if field is not None else None) or place)


def players(job: Job, tick: int) -> dict[str, Any]:
    """The players that were measured by a round, and the best of then: those of the edge, measured on fresh episodes
    where the search has ended. Raises StoreError."""
    best = job.artifacts.get("fresh") or job.artifacts.get("front", "") or front.artifact(job, "front", tick)
    found: dict[str, Any] = {"tick": tick, "genes": [], "players": [], "best": [], "fresh": "fresh" in job.artifacts}
    everybody = _everybody(job, tick)
    if everybody is None or not best:
        return found
    kind = job.config["task"]["learner"]["kind"]
    for gene in everybody.meta["genes"]:
        text = range_text((gene["low"], gene["high"], *(["log"] if gene["log"] else [])))
        found["genes"].append({**{k: gene[k] for k in ("low", "high", "log")}, "range": text,
                               "title": setting_title(kind, gene["path"])})  # fmt: skip
    signs = [1.0 if goal["direction"] == "max" else -1.0 for goal in job.config["objectives"]]
    rows = players_of(everybody, signs)
    drawn = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MOST)).astype(int)).tolist() if rows else []
    best_rows = players_of(unpack(store().get(best)), signs)
    shown = {"players": [rows[i] for i in drawn], "count": len(rows), "best": best_rows[:MOST_BEST],
             "furthest": [furthest(best_rows, rows, i, sign) for i, sign in enumerate(signs)]}  # fmt: skip
    return found | shown | {"policy": "policy" in job.artifacts}


def furthest(best: list[dict[str, Any]], rows: list[dict[str, Any]], i: int, sign: float) -> dict[str, Any] | None:
    """Of the best players as they are told, the one that was furthest in goal i when the search chose: on episodes that
    choose, the furthest of several looks better than it is."""
    chosen = {row["id"]: sign * row["goals"][i] for row in rows}
    return max(best, key=lambda row: chosen.get(row["id"], -math.inf), default=None)


def _everybody(job: Job, tick: int) -> Bundle | None:
    """Everybody measured, once each: of a search under way those of its latest rounds."""
    digest = str(job.artifacts.get("archive", ""))
    if digest:
        return unpack(store().get(digest))
    events = job.events.filter(kind="progressed", tick__gt=tick - LATEST_ROUNDS, tick__lte=tick).order_by("tick")
    cut_off = job.artifacts.get("arrived") if tick == job.tick else ""
    digests = [*events.values_list("body__artifacts__chunk", flat=True), cut_off]
    bundles = [unpack(store().get(digest)) for digest in digests if digest]
    if not bundles:
        return None
    names = [name for name in bundles[0].arrays if all(name in bundle.arrays for bundle in bundles)]
    columns = {name: stacked([bundle.arrays[name] for bundle in bundles]) for name in names}
    return Bundle(bundles[-1].meta, last_of_each(columns))


def players_of(bundle: Bundle, signs: list[float]) -> list[dict[str, Any]]:
    """Players by their first goal, the best first: settings, goals and of each goal's 95 % range the longer side, or
    None where there is none."""
    arrays = bundle.arrays
    low, high = range_ends(arrays)
    half = np.fmax(high - arrays["objective"], arrays["objective"] - low)
    good = (arrays["status"] == 0) & np.isfinite(arrays["objective"]).all(axis=1)
    order = np.argsort(-signs[0] * arrays["objective"][:, 0], kind="stable")
    return [
        {
            "id": int(arrays["id"][i]),
            "genes": [float(f"{v:.4g}") for v in arrays["genome"][i].tolist()],
            "goals": [float(f"{v:.5g}") for v in arrays["objective"][i].tolist()],
            "half": [float(f"{v:.3g}") if np.isfinite(v) else None for v in half[i].tolist()],
        }
        for i in order.tolist()
        if good[i]
    ]
