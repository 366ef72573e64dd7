"""The model card of a measured agent: what it is, where it comes from, and how it was measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from engine.config.agents import MeasureConfig
from engine.rl.onnx import OPSET
from engine.rl.policy import FORMAT, Policy
from engine.rl.take_home import table

GREEDY, SAMPLED = "takes the likeliest move", "draws its moves by their odds"


def card_of(config: MeasureConfig, policy: Policy, told: Mapping[str, Any]) -> dict[str, Any]:
    """The card as JSON; ``told``: what the measurement found."""
    return {
        "name": config.agent.title or config.name,
        "format": FORMAT,
        "onnx_opset": OPSET,
        "game": {
            "name": told["game"],
            "version": told["game_version"],
            "settings": config.game.model_dump()["settings"],
        },
        "seat": msgspec.to_builtins(policy.spec.seat),
        "chooses": SAMPLED if told["sampled"] else GREEDY,
        "opponent": "" if config.opponent is None else config.opponent.title or config.opponent.kind,
        "origin": config.origin.model_dump(mode="json"),
        "network": policy.spec.network.model_dump(mode="json"),
        "measured": {"episodes": told["episodes"], "seed": config.seed, "measures": told["measures"]},
        "processor_milliseconds_per_decision": told["milliseconds"],
        "vectors": told["check"],
    }


def in_words(card: Mapping[str, Any]) -> str:
    """The card as Markdown."""
    origin, measured, check = card["origin"], card["measured"], card["vectors"]
    facts = [
        ("", ""),
        ("Game", f"{card['game']['name']}, version {card['game']['version']}"),
        ("Chooses", f"It {card['chooses']}."),
        ("Measured against", card["opponent"] or "the game itself"),
        ("From", origin["job"] or "unknown"),
        ("Game data", origin["data"] or "the game's own"),
        ("Learned from", f"{origin['steps']:,} moves, {origin['learner'] or 'some learner'}, seed {origin['seed']}"),
        ("Signals", ", ".join(card["seat"]["signals"]) or "none"),
        ("ONNX", f"opset {card['onnx_opset']}; observations are scaled inside, and `legal` forbids moves"),
        ("Processor time", f"{card['processor_milliseconds_per_decision']:.3f} ms for a decision on one thread"),
    ]  # fmt: skip
    rows = [("Measure", "Mean", "95 % range"), *(_measure(each) for each in measured["measures"])]
    return (
        f"# {card['name']}\n\n{table(facts)}\n## What it does\n\n"
        f"{measured['episodes']:,} fresh episodes, seed {measured['seed']}.\n\n{table(rows)}\n## The same agent\n\n"
        f"In {check['situations']:,} situations of fresh episodes agent.onnx acted alike in {check['same']:,}; "
        f"its numbers differed by {check['difference']:.1e} at most. `python check.py` compares them again.\n"
    )


def _measure(each: Mapping[str, Any]) -> tuple[str, str, str]:
    known = each["low"] is not None and each["high"] is not None
    return each["name"], f"{each['mean']:.4g}", f"{each['low']:.4g} to {each['high']:.4g}" if known else "unknown"
