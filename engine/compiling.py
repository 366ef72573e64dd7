"""Numba's compiler, with a cache on disk that never outlives what it was compiled from.

Numba compiles a function anew when its own file has changed, but not when a function that it calls has, in another
file: after an update the old code would run. So the cache of all of them is thrown away when one has changed.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from numba import njit

__all__ = ["ENGINE", "SOURCES", "forget_outdated", "njit", "stamp"]

ENGINE = Path(__file__).parent
SOURCES = (
    "evolution/archive.py", "evolution/betting.py", "games/chance.py", "games/goal/kernel.py",
    "games/half_field/field.py", "games/half_field/goalkeeper.py", "games/half_field/kernel.py",
    "games/half_field/sight.py", "games/herobattle/check.py", "games/herobattle/commanders/battles.py",
    "games/herobattle/jit.py", "games/herobattle/kernel.py", "games/herobattle/layout.py",
    "games/herobattle/orders.py", "games/herobattle/teams.py", "games/maze/kernel.py", "games/navigation/kernel.py",
    "games/platform/kernel.py", "games/pong/drawing.py", "games/pong/kernel.py", "games/tanks/kernel.py",
    "games/tanks/picture.py", "games/tanks/sight.py", "lineups/counting.py", "lineups/decoding.py",
    "lineups/drawing.py", "lineups/encoding.py", "lineups/groups.py", "lineups/mending.py", "lineups/operators.py",
    "lineups/pairings.py", "lineups/scarce.py", "mdp/choosing.py", "mdp/dense.py", "rl/compiled.py",
    "rl/distributions.py", "rl/impala.py", "rl/replay.py", "rl/returns.py", "rl/seats.py", "rl/small_layers.py",
    "rl/small_passes.py", "splitmix.py", "worth/traits.py",
)  # fmt: skip
"""Every file with functions that are compiled, or with numbers that these hold."""


def stamp(engine: Path) -> Path:
    """The file that says which sources the cached machine code was compiled from."""
    return engine / "__pycache__" / "compiled-from"


def forget_outdated(engine: Path) -> None:
    """Remove the cached machine code of the files below ``engine`` unless all of them are as they were when it was
    compiled. A folder that cannot be written is left alone."""
    digest = hashlib.sha256()
    for name in SOURCES:
        digest.update(b"%b\0%b\0" % (name.encode(), (engine / name).read_bytes()))
    compiled_from = stamp(engine)
    try:
        if compiled_from.is_file() and compiled_from.read_text() == digest.hexdigest():
            return
        for name in SOURCES:
            for cached in (engine / name).parent.glob("__pycache__/*.nb[ic]"):
                cached.unlink(missing_ok=True)
        compiled_from.parent.mkdir(exist_ok=True)
        compiled_from.write_text(digest.hexdigest())
    except OSError:
        return


forget_outdated(ENGINE)
