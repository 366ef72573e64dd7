"""Messages of agents to their driver, as one container of arrays each: that an agent is there, and its reports."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from engine.arrays import Bundle, pack, unpack
from engine.channel import Frame
from engine.peers import Member
from engine.rl.gossip_agent import Link, Report
from engine.rl.learner import Arrays, Metrics, State
from engine.rl.sampler import Episode

_EPISODE = {"seed": np.uint64, "length": np.int64, "returns": float, "win": float, "score": float, "signals": float}


def encode_member(member: Member) -> list[Frame]:
    """The message that an agent is there."""
    return [pack({"member": msgspec.to_builtins(member)}, {})]


def encode_report(report: Report) -> list[Frame]:
    """The message with a report."""
    state = report.state or {}
    meta = {
        "epoch": report.epoch, "version": report.version, "steps": report.steps,
        "seconds": report.seconds, "links": report.links, "whole": report.state is not None,
        "parts": {name: part.meta for name, part in state.items()},
    }  # fmt: skip
    arrays: Arrays = {f"{name}:{key}": array for name, part in state.items() for key, array in part.arrays.items()}
    for name in dict.fromkeys(name for metrics in report.metrics for name in metrics):
        arrays[f"metric.{name}"] = np.array([metrics.get(name, math.nan) for metrics in report.metrics])
    arrays["norms"] = np.array(report.norms, np.float64)
    for name, kind in _EPISODE.items():
        arrays[f"episode.{name}"] = np.array([getattr(episode, name) for episode in report.episodes], kind)
    return [pack(meta, arrays)]


def decode(number: int, frames: Sequence[Frame]) -> Member | Report:
    """The message of agent ``number``. Raises StoreError for a malformed one."""
    meta, arrays = unpack(bytes(frames[0]))
    if "member" in meta:
        return msgspec.convert(meta["member"], Member)
    state = _state(meta["parts"], arrays) if meta["whole"] else None
    columns = [arrays[f"episode.{name}"] for name in _EPISODE]
    episodes = [
        Episode(0, int(seed), int(length), returns, float(win), float(score), signals, "")
        for seed, length, returns, win, score, signals in zip(*columns, strict=True)
    ]
    return Report(
        number, meta["epoch"], meta["version"], meta["steps"], arrays["norms"].tolist(), _metrics(arrays), episodes,
        meta["seconds"], [Link(*link) for link in meta["links"]], state,
    )  # fmt: skip


def _metrics(arrays: Arrays) -> list[Metrics]:
    columns = {name.removeprefix("metric."): array.tolist() for name, array in arrays.items() if "metric." in name}
    rows: list[Metrics] = [{} for _ in arrays["norms"]]
    for name, column in columns.items():
        for row, value in zip(rows, column, strict=True):
            row |= {} if math.isnan(value) else {name: value}
    return rows


def _state(metas: dict[str, dict[str, object]], arrays: Arrays) -> State:
    state = {name: Bundle(meta, {}) for name, meta in metas.items()}
    for place, array in arrays.items():
        name, colon, key = place.partition(":")
        if colon:
            state[name].arrays[key] = array
    return state
