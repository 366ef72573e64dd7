// What stands in which column, block and place of a battle's arrays, as engine/games/herobattle/layout.py has it.

export const SIDE = 10; // a hero and at most nine soldiers
export const LANES = 16; // places of a side in the arrays
export const UNITS = 2 * LANES;
export const HERO = 0; // the first kind of unit in a team; two kinds of soldiers follow
export const KINDS = 3;

// Columns of the pieces: what they cost, then the attributes of their category in the game's order.
export const [COST, HP, EDGE, GUARD, AGAINST] = [0, 1, 6, 9, 12]; // heroes and soldiers
export const [COOLDOWN, FIRST_USE, TRIGGER, RADIUS, DURATION] = [1, 2, 3, 4, 5]; // skills
export const [STRIKE, SHIELD, WARD, RALLY, STUN, WEAKEN, SLOW] = [6, 7, 8, 9, 10, 11, 12];
export const [E_HERO, E_SOLDIER, E_HASTE, E_SPEED, E_RANGE, E_EDGE, E_GUARD, E_THORNS] = [1, 3, 5, 6, 7, 8, 11, 14]; // equipment

// The game's parameters.
export const [TIME_LIMIT, ROLL_SPREAD, FIELD, BANNER_KINDS, BANNER_GUARD, OPENING, REACH] = [0, 1, 2, 3, 4, 5, 6];

// Columns of the kinds of unit of both sides.
export const [K_HP, K_DAMAGE, K_INTERVAL, K_RANGE, K_SPEED, K_EDGE, K_GUARD, K_AGAINST, K_CLASS, K_COUNT] = [0, 1, 2, 3, 4, 5, 8, 11, 14, 15];
export const K_COLUMNS = 16;
export const NO_CLASS = 3;
/** @param {number} side @param {number} kind where its columns begin */
export const kindAt = (side, kind) => (side * KINDS + kind) * K_COLUMNS;

// Columns of what skill and equipment do for a whole side: those of the skill, then these.
export const [P_THORNS, P_ASSAULT, P_OPENING, P_LAST_STAND, P_GRUDGE] = [13, 14, 15, 16, 17];
export const P_COLUMNS = 18;

// Blocks of UNITS numbers.
export const [X, Y, TARGET_X, TARGET_Y, STEP_X, STEP_Y, LIFE, FULL] = [0, 32, 64, 96, 128, 160, 192, 224];
export const [READY, WAIT, STUNNED, REACH2, STEP, PACE, HURT, BACK, COVER] = [256, 288, 320, 352, 384, 416, 448, 480, 512];
export const LURE = 544; // three blocks, one for each kind of attacker
export const UNIT_CELLS = 640;
export const [TARGET, KIND] = [0, 32];
export const MARK_CELLS = 64;

// An order: whom the team strikes at, a stance for each kind of its units, when the skill is used. All zeros: the team
// fights by itself.
export const [FOCUS, STANCE, SKILL] = [0, 1, 4];
export const ORDERS = 5;
export const [NEAREST, ON_HERO, NEARLY_FALLEN, MOST_DANGEROUS, FAR_REACHING, ON_SOLDIERS, ALL_ON_ONE] = [0, 1, 2, 3, 4, 5, 6];
export const [ADVANCE, HOLD, STEP_BACK, WITHDRAW, CLOSE_RANKS] = [0, 1, 2, 3, 4];
export const [HELD, AT_ONCE] = [1, 2];
