// What an order does to a side's units, as engine/games/herobattle/orders.py: how they walk, and how far away an enemy
// seems to them. The engine computes these in 32 bits, and so does `f` here.
import * as at from "./layout.js";
/** @import { Battle } from "./battle.js" */

const f = Math.fround;
const PULL = 1 / 16; // on squared distance: an enemy of the named kind seems at a quarter of its distance
const LEAST = 1 / 256;
const ARCHER = 3; // paces: what reaches further is far-reaching
const BESIDE = f(2.25); // squared paces: ranks are closed
const SHORTEST = f(1e-6);
const CLOSEST = f(1e-3);

/** @param {number} x @param {number} y */
const square = (x, y) => f(f(x * x) + f(y * y));

/** Of the nearest living enemy of a unit its place (-1: there is none) and its squared distance.
 * @param {Battle} battle @param {number} i @param {number} foe */
function nearest({ units }, i, foe) {
  let best = -1;
  let least = 0;
  for (let j = foe * at.LANES; j < (foe + 1) * at.LANES; j += 1) {
    if (units[at.LIFE + j] <= 0) continue;
    const away = square(f(units[at.X + j] - units[at.X + i]), f(units[at.Y + j] - units[at.Y + i]));
    if (best >= 0 && away >= least) continue;
    best = j;
    least = away;
  }
  return { best, least };
}

/** The middle of a side's living units from number `first` on, and how many these are.
 * @param {Battle} battle @param {number} side @param {number} first */
function centre({ units, sides }, side, first) {
  let [x, y, living] = [0, 0, 0];
  for (let i = side * at.LANES + first; i < side * at.LANES + sides[side].units; i += 1) {
    if (units[at.LIFE + i] <= 0) continue;
    x = f(x + units[at.X + i]);
    y = f(y + units[at.Y + i]);
    living += 1;
  }
  const of = Math.max(living, 1);
  return { x: f(x / of), y: f(y / of), living };
}

/** A step along (dx, dy), not longer than that nor than `most`, and not out of the field.
 * @param {Battle} battle @param {number} i @param {number} dx @param {number} dy @param {number} most */
function walk({ units, field }, i, dx, dy, most) {
  const share = Math.min(f(most / Math.max(f(Math.sqrt(square(dx, dy))), SHORTEST)), 1);
  const x = f(units[at.X + i] + f(dx * share));
  const y = f(units[at.Y + i] + f(dy * share));
  units[at.STEP_X + i] = Math.min(Math.max(x, -field), field) - units[at.X + i];
  units[at.STEP_Y + i] = Math.min(Math.max(y, -field), field) - units[at.Y + i];
}

/** A step away from the nearest enemy if it is nearer than `within` (squared).
 * @param {Battle} battle @param {number} i @param {number} side @param {number} within */
function backOff(battle, i, side, within) {
  const { units } = battle;
  const { best, least } = nearest(battle, i, 1 - side);
  if (best < 0 || least >= within) return;
  const scale = f(units[at.STEP + i] / Math.max(f(Math.sqrt(least)), CLOSEST));
  const dx = f(units[at.X + i] - units[at.X + best]);
  const dy = f(units[at.Y + i] - units[at.Y + best]);
  walk(battle, i, f(dx * scale), f(dy * scale), units[at.STEP + i]);
}

/** Soldiers walk to their hero, the hero to the middle of the soldiers; beside each other they stand.
 * @param {Battle} battle @param {number} i @param {number} side */
function closeRanks(battle, i, side) {
  const { units } = battle;
  const hero = side * at.LANES;
  const to = i === hero ? centre(battle, side, 1) : { x: units[at.X + hero], y: units[at.Y + hero], living: units[at.LIFE + hero] };
  const dx = f(to.x - units[at.X + i]);
  const dy = f(to.y - units[at.Y + i]);
  stand(units, i);
  if (to.living > 0 && square(dx, dy) > BESIDE) walk(battle, i, dx, dy, units[at.STEP + i]);
}

/** @param {Float32Array} units @param {number} i */
function stand(units, i) {
  units[at.STEP_X + i] = 0;
  units[at.STEP_Y + i] = 0;
}

/** Replace the steps of a side's units towards their targets by what their stances say; `due`: the units that strike at
 * this tick, as bits.
 * @param {Battle} battle @param {number} side @param {number} due */
export function march(battle, side, due) {
  const { units, marks, sides: { [side]: own }, tick } = battle;
  for (let i = side * at.LANES; i < side * at.LANES + own.units; i += 1) {
    const stance = own.order[at.STANCE + marks[at.KIND + i]];
    if (stance === at.ADVANCE || units[at.LIFE + i] <= 0 || tick <= units[at.STUNNED + i]) continue;
    if (stance === at.HOLD) stand(units, i);
    else if (stance === at.WITHDRAW) backOff(battle, i, side, Infinity);
    else if (stance === at.CLOSE_RANKS) closeRanks(battle, i, side);
    else if (((due >>> i) & 1) === 0) backOff(battle, i, side, units[at.REACH2 + i]);
  }
}

/** Damage that an enemy deals in a tick, for each hit point it has left.
 * @param {Battle} battle @param {number} j @param {number} side */
function danger({ kinds, units, marks }, j, side) {
  const kind = at.kindAt(side, marks[at.KIND + j]);
  return kinds[kind + at.K_DAMAGE] / kinds[kind + at.K_INTERVAL] / Math.max(units[at.LIFE + j], 1);
}

/** Factor on the squared distance to enemy j. `most`: the largest danger or number of hit points of any.
 * @param {Battle} battle @param {number} j @param {number} foe @param {number} focus @param {number} most @param {number} chosen */
function pull(battle, j, foe, focus, most, chosen) {
  const { kinds, units, marks } = battle;
  const kind = marks[at.KIND + j];
  if (focus === at.NEARLY_FALLEN || focus === at.MOST_DANGEROUS) {
    const share = focus === at.NEARLY_FALLEN ? units[at.LIFE + j] / most : 1 - danger(battle, j, foe) / most;
    return Math.max(share * share, LEAST);
  }
  if (focus === at.ALL_ON_ONE) return j === chosen ? LEAST : 1;
  const named =
    (focus === at.ON_HERO && kind === at.HERO) ||
    (focus === at.ON_SOLDIERS && kind !== at.HERO) ||
    (focus === at.FAR_REACHING && kinds[at.kindAt(foe, kind) + at.K_RANGE] > ARCHER);
  return named ? PULL : 1;
}

/** Set how far away each enemy seems to a side's units, as the side is told whom to strike at.
 * @param {Battle} battle @param {number} side */
export function attract(battle, side) {
  const { units, marks, sides, lure } = battle;
  const foe = 1 - side;
  const focus = sides[side].order[at.FOCUS];
  const { x, y } = centre(battle, side, 0);
  const [first, end] = [foe * at.LANES, foe * at.LANES + sides[foe].units];
  let [most, chosen, least] = [1e-9, -1, 0];
  for (let j = first; j < end; j += 1) {
    if (units[at.LIFE + j] <= 0) continue;
    most = Math.max(most, focus === at.MOST_DANGEROUS ? danger(battle, j, foe) : units[at.LIFE + j]);
    const away = square(f(units[at.X + j] - x), f(units[at.Y + j] - y));
    if (chosen >= 0 && away >= least) continue;
    chosen = j;
    least = away;
  }
  for (let j = first; j < end; j += 1) {
    const factor = focus === at.NEAREST ? 1 : pull(battle, j, foe, focus, most, chosen);
    for (let kind = 0; kind < at.KINDS; kind += 1) {
      units[at.LURE + kind * at.UNITS + j] = lure[side * 9 + kind * 3 + marks[at.KIND + j]] * factor;
    }
  }
}
