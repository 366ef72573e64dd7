"""The battlefield: 12 x 8 hexes, grass with a few hills and woods, symmetric for the two sides."""

from __future__ import annotations

WIDTH, HEIGHT = 12, 8
GRASS, HILL, WOOD = "Gg", "Hh", "Gs^Fds"
_FEATURES = {(5, 3): HILL, (5, 7): HILL, (6, 2): WOOD, (4, 6): WOOD, (6, 5): WOOD}

HERO_HEX = (2, 4)
SOLDIER_HEXES = ((3, 4), (3, 5), (3, 3), (3, 6), (2, 5), (2, 3), (3, 2), (3, 7), (2, 6), (2, 2), (1, 4), (1, 5))


def turned(x: int, y: int) -> tuple[int, int]:
    """The opposite hex: half a turn, which is exact on a hex map of even width."""
    return WIDTH + 1 - x, HEIGHT + 1 - y


def map_data() -> str:
    """The map in the game's format, with its border of one hex."""
    terrain = dict(_FEATURES) | {turned(*place): kind for place, kind in _FEATURES.items()}
    rows = ([terrain.get((x, y), GRASS) for x in range(WIDTH + 2)] for y in range(HEIGHT + 2))
    return "\n".join(", ".join(row) for row in rows) + "\n"


def hexes(side: int, soldiers: int) -> list[tuple[int, int]]:
    """The initial hexes of a side's hero and soldiers, hero first; side 2 is exactly opposite side 1."""
    places = [HERO_HEX, *SOLDIER_HEXES[:soldiers]]
    return places if side == 1 else [turned(*place) for place in places]
