// Marks of the style map that cannot be told apart by eye: rows closer than a mark is wide.

/** The groups of rows at one mark, each in the order of the rows; most have one row. A row joins the nearest group whose
 * first row it lies on, so that a chain of neighbours does not become one group.
 * @param {{ x: number, y: number, size: number }[]} marks in pixels @returns {number[][]} */
export function groupsOf(marks) {
  const cell = marks.reduce((most, { size }) => Math.max(most, size), 1); // of many marks, only those near are compared
  /** @type {Map<string, number[][]>} */
  const firsts = new Map();
  /** @type {number[][]} */
  const groups = [];
  marks.forEach((mark, row) => {
    const [column, line] = [Math.floor(mark.x / cell), Math.floor(mark.y / cell)];
    /** @type {number[] | null} */
    let nearest = null;
    let least = Infinity;
    for (const group of [-1, 0, 1].flatMap((i) => [-1, 0, 1].flatMap((j) => firsts.get(`${column + i} ${line + j}`) ?? []))) {
      const first = marks[group[0]];
      const apart = Math.hypot(first.x - mark.x, first.y - mark.y);
      if (apart < (first.size + mark.size) / 2 && apart < least) [nearest, least] = [group, apart];
    }
    if (nearest) {
      nearest.push(row);
      return;
    }
    const group = [row];
    groups.push(group);
    const key = `${column} ${line}`;
    firsts.set(key, [...(firsts.get(key) ?? []), group]);
  });
  return groups;
}
