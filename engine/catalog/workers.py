"""What a worker's process builds: dotted paths of evaluators and samplers."""

from __future__ import annotations

EVALUATORS: dict[str, str] = {
    "individuals": "engine.evorl.individuals:build",
    "lineups": "engine.lineups.evaluator:build",
    "players": "engine.evorl.evaluator:build",
    "hunters": "engine.evorl.hunting:build",
    "self-play": "engine.evorl.self_play_evaluator:build",
    "pairings": "engine.lineups.pairing_evaluator:build",
    "meetings": "engine.lineups.pairing_evaluator:build_meetings",
    "patched": "engine.lineups.pairing_evaluator:build_patched",
    "versions": "engine.lineups.version_evaluator:build",
    "swaps": "engine.lineups.swap_evaluator:build",
    "plantings": "engine.sensitivity.evaluator:build",
}
SAMPLERS: dict[str, str] = {
    "train": "engine.study.sampler_factory:build",
    "gossip": "engine.study.gossip_agents:build",
    "arena": "engine.study.lessons:build",
    "starts": "engine.study.start_actor:build",
}
