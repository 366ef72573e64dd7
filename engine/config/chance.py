"""How much of evolution with a shared critic may be played by chance before anybody learns."""

from __future__ import annotations

from engine.config.aesrl import AESRLConfig


def all_by_chance(config: AESRLConfig, longest: int) -> str:
    """What is wrong where decisions by chance may be all that are played, with episodes of so many: whole rounds of
    them where individuals wait for one another, else all that have begun; empty where some are left."""
    rounds, least = config.method.in_rounds, config.by_chance
    n = config.method.population if rounds else config.pool.processes
    episodes = n * -(-least // (n * longest)) if rounds else -(-least // longest) + n - 1
    if not least or episodes * longest < config.steps:
        return ""
    fewer = "individuals in a round" if rounds else "workers"
    return (
        f"episodes by chance come first, and {episodes:,} of up to {longest:,} decisions leave none to learn with: "
        f"give more than {episodes * longest:,}, or fewer {fewer}"
    )
