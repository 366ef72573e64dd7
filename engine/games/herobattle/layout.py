"""The arrays of a battle: what stands in which column, block and place, and the words of an order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]

SIDE = 10  # a hero and at most nine soldiers
LANES = 16  # room for a side: loops over all units at once have a fixed length, which compiles to vector code
UNITS = 2 * LANES
HERO, FIRST, SECOND = 0, 1, 2  # the kinds of unit in a team

# Columns of the piece table: cost, then the category's attributes in the order of the spec.
COST = 0
HP, DAMAGE, INTERVAL, RANGE, SPEED, EDGE, GUARD = 1, 2, 3, 4, 5, 6, 9  # heroes and soldiers; EDGE and GUARD are three
AGAINST = 12  # soldiers: pikes, bows, riders
COOLDOWN, FIRST_USE, TRIGGER, RADIUS, DURATION = 1, 2, 3, 4, 5  # skills
STRIKE, SHIELD, WARD, RALLY, STUN, WEAKEN, SLOW = 6, 7, 8, 9, 10, 11, 12
E_HERO_HP, E_HERO_DAMAGE, E_SOLDIER_HP, E_SOLDIER_DAMAGE, E_HASTE, E_SPEED, E_RANGE = 1, 2, 3, 4, 5, 6, 7  # equipment
E_EDGE, E_GUARD, E_THORNS, E_ASSAULT, E_OPENING, E_LAST_STAND, E_GRUDGE = 8, 11, 14, 15, 16, 17, 18
COLUMNS = 19

# Parameters, in the order of the spec.
TIME_LIMIT, ROLL_SPREAD, FIELD, BANNER_KINDS, BANNER_GUARD, OPENING, REACH, SALVAGE = 0, 1, 2, 3, 4, 5, 6, 7

# Columns of the kinds table [2, 3, K_COLUMNS].
K_HP, K_DAMAGE, K_INTERVAL, K_RANGE, K_SPEED, K_EDGE, K_GUARD, K_AGAINST, K_CLASS, K_VALUE, K_COUNT = (
    0, 1, 2, 3, 4, 5, 8, 11, 14, 15, 16,
)  # fmt: skip
K_COLUMNS = 17
NO_CLASS = 3.0
# Columns of the powers table [2, P_COLUMNS]: a skill's columns as above, then what equipment adds for the whole team.
P_THORNS, P_ASSAULT, P_OPENING, P_LAST_STAND, P_GRUDGE, P_CARRIED = 13, 14, 15, 16, 17, 18
P_COLUMNS = 19
# Columns of the state table [2, S_COLUMNS]: what changes for a side as a whole during a battle.
S_UNITS, S_ALIVE, S_START, S_FELL, S_FELL_AT, S_PROVOKED_AT, S_CAST, S_LAST_CAST = 0, 1, 2, 3, 4, 5, 6, 7
S_BLESSED, S_CURSED, S_MIGHT, S_PACE, S_BLOW = 8, 9, 10, 11, 12
S_COLUMNS = 13
# Blocks of UNITS numbers in the flat ``units`` and ``marks`` arrays (one array, so that no loop needs alias checks).
X, Y, TARGET_X, TARGET_Y, STEP_X, STEP_Y, LIFE, FULL = 0, 32, 64, 96, 128, 160, 192, 224
READY, WAIT, STUNNED, REACH2, STEP, PACE, HURT, BACK, COVER = 256, 288, 320, 352, 384, 416, 448, 480, 512
LURE = 544  # three blocks, one for each kind of attacker
UNIT_CELLS = 640
TARGET, KIND = 0, 32
MARK_CELLS = 64

# A commander's order int64[ORDERS]: whom the team attacks, a stance for each kind of its units, when the skill is used.
FOCUS, STANCE, SKILL = 0, 1, 4
ORDERS = 5
NEAREST, ON_HERO, NEARLY_FALLEN, MOST_DANGEROUS, FAR_REACHING, ON_SOLDIERS, ALL_ON_ONE = 0, 1, 2, 3, 4, 5, 6
FOCUSES = 7
ADVANCE, HOLD, STEP_BACK, WITHDRAW, CLOSE_RANKS = 0, 1, 2, 3, 4
STANCES = 5
BY_TRIGGER, HELD, AT_ONCE = 0, 1, 2
SKILL_USES = 3
# Columns of a commanded side's ledger float64[2, LEDGER], sums since the start of the battle.
L_WALKED, L_WAY, L_IDLE, L_UNIT_TICKS, L_FIRST_BLOW, L_GROUND, L_FORWARD = 0, 1, 2, 3, 4, 5, 6
LEDGER = 7
CELL, GRID = 2.0, 24  # ground is counted in squares of so many paces, so many in a row
