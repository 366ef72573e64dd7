"""What a sensitivity shows: how many breaks of each kind and size were found, and how often innocents were confirmed.

Found: a break of a piece where the experiment confirms that piece, or an amount of it; of a pair, where it confirms
that pair; of a triple, where it confirms any part of it, as experiments look at no triples. Always in the right
direction.
Innocent: see ``engine.sensitivity.course``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.columns import Arrays
from engine.indicators import wilson
from engine.sensitivity.course import DONE, FAILED, Named, PlantingCourse, found
from engine.sensitivity.plan import ALONG, Planting
from engine.simulators.contract import GameSpec

UNKNOWN = -1


def tabled(course: PlantingCourse, spec: GameSpec) -> tuple[dict[str, Any], Arrays]:
    """Meta and columns. Meta: ``cells``, one for each kind and size: ``planted``, ``found`` and their ``share`` with
    its 95 % range ``low`` to ``high``, the same of ``innocent`` (None: not known yet), the mean ``effect`` that was
    planted with its range; ``pieces``, ``paths``: the changed number of each planting; ``beside``: what else was
    confirmed, with its effect in the game as it is; of the battles that ``measured`` effects the game left
    ``unfinished``. Columns, by planting: ``piece`` int32[n, 3] (-1: none), ``size``,
    ``sign``, ``status`` (0: to come, 1: done, 2: could not be planted), ``effect`` with ``low`` and ``high``,
    ``chance``, ``value``, and ``found`` and ``innocent`` int8[n] (-1: not known)."""
    plantings, metrics = course.plantings, course.metrics
    hits = np.array([_found(course, p) for p in plantings], np.int8)
    innocents = np.array([_innocent(course, p) for p in plantings], np.int8)
    columns: Arrays = {
        "piece": np.array([(*p.pieces, -1, -1, -1)[:ALONG] for p in plantings], np.int32).reshape(-1, ALONG),
        "size": np.array([p.size for p in plantings]),
        "sign": np.array([p.sign for p in plantings], np.int8),
        "status": course.status.copy(),
        "found": hits,
        "innocent": innocents,
        **{name: metrics[:, k].copy() for k, name in enumerate(("effect", "low", "high", "chance"))},
        "value": metrics[:, 5].copy(),
    }
    tunables = [*spec.tunables()]
    places = metrics[:, 4].tolist()
    meta = {
        "game": spec.title,
        "pieces": [{"id": p.id, "name": p.name, "category": p.category} for p in spec.pieces],
        "paths": [tunables[int(place)] if math.isfinite(place) and place >= 0 else "" for place in places],
        "cells": [_cell(course, columns, k) for k in range(len(course.config.cells))],
        "beside": [_beside(course, named) for named in course.beside],
        "unfinished": course.unfinished, "measured": course.measured,
        "side": course.config.side, "battles": course.config.battles, "matters": course.config.matters,
    }  # fmt: skip
    return meta, columns


def innocent(course: PlantingCourse, named: Named) -> bool | None:
    """Whether what was confirmed beside a break is fair in the game as it is; None before that is measured."""
    if named not in course.effects:
        return None
    effect = course.effects[named][0]
    return not named.sign * effect >= course.config.matters / 100


def _found(course: PlantingCourse, planting: Planting) -> int:
    confirmed = course.confirmed.get(planting.number)
    return UNKNOWN if confirmed is None else int(found(planting, confirmed))


def _innocent(course: PlantingCourse, planting: Planting) -> int:
    """Whether an experiment confirmed an innocent."""
    confirmed = course.confirmed.get(planting.number)
    if confirmed is None:
        return UNKNOWN
    judged = [innocent(course, named) for named in confirmed if not set(named.pieces) & set(planting.pieces)]
    return 1 if True in judged else UNKNOWN if None in judged else 0


def _cell(course: PlantingCourse, columns: Arrays, k: int) -> dict[str, Any]:
    kind, size = course.config.cells[k]
    own = slice(k * course.config.plantings, (k + 1) * course.config.plantings)
    status, hits = columns["status"][own], columns["found"][own]
    done, many = status == DONE, int((status == DONE).sum())
    count = int((hits == 1).sum())
    low, high = wilson(count, many)
    judged = columns["innocent"][own][done]
    cell = {
        "kind": kind, "size": size, "planted": many, "found": count, "share": count / many if many else None,
        "low": low, "high": high, "lost": int((status == FAILED).sum()),
        "by_numbers": int(np.isfinite(columns["value"][own]).sum()),
    }  # fmt: skip
    return cell | _innocents(judged) | _effect(columns, own)


def _innocents(judged: np.ndarray) -> dict[str, Any]:
    if not len(judged) or (judged == UNKNOWN).any():
        return {"innocent": None, "innocent_low": 0.0, "innocent_high": 1.0}
    count = int((judged == 1).sum())
    low, high = wilson(count, len(judged))
    return {"innocent": count, "innocent_low": low, "innocent_high": high}


def _effect(columns: Arrays, own: slice) -> dict[str, Any]:
    """The mean of the effects that were planted, in the wanted direction, with its range."""
    known = np.isfinite(columns["effect"][own])
    size = (columns["sign"][own] * columns["effect"][own])[known]
    half = ((columns["high"][own] - columns["low"][own]) / 2)[known]
    if not len(size):
        return {"effect": None, "effect_low": None, "effect_high": None}
    mean, reach = float(size.mean()), float(np.sqrt((half**2).sum()) / len(size))
    return {"effect": mean, "effect_low": mean - reach, "effect_high": mean + reach}


def _beside(course: PlantingCourse, named: Named) -> dict[str, Any]:
    effect = course.effects.get(named)
    size, low, high = effect or (None, None, None)
    times = sum(named in confirmed for confirmed in course.confirmed.values())
    return {
        "pieces": list(named.pieces), "least": named.least, "sign": named.sign, "times": times, "effect": size,
        "low": low, "high": high, "innocent": innocent(course, named),
    }  # fmt: skip
