// The stand-alone page: charts and a table from the data that lies in the same file. Text is only ever set as text.
(() => {
  "use strict";
  /** What the file holds (webapp/studies/explore_offline.py): packed columns of each objective, and the table's cells. `digits`:
   * decimals of a column; `finer`: more of them, by row and column; `ranges`: the column of the first objective's mean;
   * `confirmed`: rows that fresh battles confirm.
   * @typedef {object} Payload
   * @property {{ title: string, unit: string, toward: string, direction: string, threshold: number | null, strength: boolean }[]} objectives
   * @property {{ value: number } | null} median
   * @property {string[]} header
   * @property {(string | number)[][]} rows
   * @property {string[]} verdicts
   * @property {(string | null)[]} lines
   * @property {(number | null)[]} digits
   * @property {Record<number, Record<number, number>>} finer
   * @property {number} ranges
   * @property {number[]} confirmed
   * @property {string[]} value
   * @property {string[]} half
   * @property {string[]} behind
   * @property {string} verdict
   * @property {number} evaluated */

  /** What the page has under this id.
   * @param {string} id */
  const at = (id) => {
    const found = document.getElementById(id);
    if (!found) throw new Error(`The page has no #${id}.`);
    return found;
  };

  /** @type {Payload} */
  const data = JSON.parse(at("payload").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  document.documentElement.dataset.bsTheme = dark.matches ? "dark" : "light";
  const PAGE = 100;
  const MOST_WHISKERS = 300;
  const SVG = "http://www.w3.org/2000/svg";
  // Mark, symbol and colour of each verdict: under, over but weak or unsure, over and strong.
  const MARKS = [
    { path: "M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6Z", symbol: "circle", colour: "muted" },
    { path: "M8 2.2 13.8 8 8 13.8 2.2 8Z", symbol: "diamond-open", colour: "unsure-mark", open: true },
    { path: "M8 1.2 14.8 8 8 14.8 1.2 8Z", symbol: "diamond", colour: "over" },
  ];
  /** @param {string} text */
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  /** @param {string} text */
  const floats = (text) => new Float32Array(bytes(text).buffer);
  const value = data.value.map(floats);
  const half = data.half.map(floats);
  const behind = data.behind.map(floats);
  const verdict = bytes(data.verdict);
  /** @param {string} name */
  const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  /** @param {Payload["objectives"][number]} objective */
  const title = ({ title: words, unit, toward, direction }) =>
    `${words}${unit ? ` (${unit})` : ""}${toward ? `  ${direction === "max" ? "→" : "←"} ${toward}` : ""}`;

  /** Two objectives, the upright one last. @typedef {[x: number, y: number]} Pair */

  function pairs() {
    const count = data.objectives.length;
    const weight = (/** @type {number} */ j) => (data.objectives[j].threshold !== null ? 2 : data.objectives[j].strength ? 1 : 0);
    /** @type {Pair[]} */
    const found = [];
    for (let a = 0; a < count; a += 1) {
      for (let b = a + 1; b < count; b += 1) found.push(weight(a) > weight(b) ? [b, a] : [a, b]);
    }
    return found.sort((p, q) => weight(q[0]) + weight(q[1]) - weight(p[0]) - weight(p[1]));
  }

  /** @param {Pair} pair @returns {Plotly.Trace[]} */
  function traces([x, y]) {
    const rows = (/** @type {number} */ wanted) => [...verdict.keys()].filter((i) => verdict[i] === wanted);
    /** @param {Float32Array[]} columns @param {number} j @param {number[]} list */
    const of = (columns, j, list) => Array.from(list, (i) => columns[j][i]);
    const crowded = verdict.length > 400;
    const sizes = crowded ? [4, 5, 7] : [4, 8, 9];
    const few = (/** @type {number[]} */ list) => list.length <= MOST_WHISKERS;
    /** @param {number} j @param {number[]} list @returns {Plotly.ErrorBar} */
    const bar = (j, list) => (few(list) ? { type: "data", array: of(half, j, list).map((length) => (Number.isNaN(length) ? null : length)), thickness: 1, width: 0, color: `${token("over")}59` } : { visible: false });
    /** @param {number[]} list @param {string} name @returns {Plotly.Trace} */
    const points = (list, name) => ({
      type: "scattergl", mode: "markers", x: of(value, x, list), y: of(value, y, list), name,
      text: list.map((i) => [plain(String(data.rows[i][1])), measured(i, y), measured(i, x)].join("<br>")), hovertemplate: "%{text}<extra></extra>",
    });
    return [
      { type: "scattergl", mode: "markers", x: behind[x], y: behind[y], hoverinfo: "skip", marker: { size: 3.6, color: token("context-mark"), opacity: 0.42 } },
      // All on one canvas, for Plotly lays that over what it draws as SVG: the worst are to lie on top.
      ...MARKS.map(({ symbol, colour }, kind) => {
        const list = rows(kind);
        return {
          ...points(list, data.verdicts[kind]),
          marker: { symbol, size: sizes[kind], color: token(colour), line: kind === 2 ? { color: token("surface"), width: crowded ? 0 : 1 } : { width: crowded ? 1.1 : 1.6 } },
          ...(kind === 2 ? { error_x: bar(x, list), error_y: bar(y, list) } : {}),
        };
      }),
      // What fresh battles confirm stands on top, at full size, with a dot inside.
      { ...points(data.confirmed, "Confirmed"), marker: { symbol: "diamond", size: 9, color: token("over"), line: { color: token("surface"), width: 1 } } },
      { ...points(data.confirmed, "Confirmed"), text: "", hovertemplate: "", hoverinfo: "skip", marker: { symbol: "circle", size: 3, color: token("surface") } },
    ];
  }

  /** What objective `j` of a lineup came to, with its range.
   * @param {number} i @param {number} j */
  function measured(i, j) {
    const first = data.ranges + 3 * j;
    const [mean, low, high] = [0, 1, 2].map((k) => words(data.rows[i][first + k], first + k, i));
    return `${plain(data.header[first])}: ${mean}${low === "" ? "" : ` (${low} to ${high})`}`;
  }

  // Plotly reads a little markup in its texts.
  /** @param {string} text */
  const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

  /** @param {Pair} pair */
  function lines([x, y]) {
    /** @type {Plotly.Shape[]} */
    const found = [];
    for (const [axis, j] of /** @type {const} */ ([["x", x], ["y", y]])) {
      const objective = data.objectives[j];
      /** @param {number} place @param {string} dash */
      const draw = (place, dash) => found.push(axis === "x"
        ? { type: "line", x0: place, x1: place, yref: "paper", y0: 0, y1: 1, line: { color: token("ink"), width: 1.4, dash } }
        : { type: "line", y0: place, y1: place, xref: "paper", x0: 0, x1: 1, line: { color: token("ink"), width: 1.4, dash } });
      if (objective.threshold !== null) draw(objective.threshold, "5px,4px");
      if (objective.strength && data.median) draw(data.median.value, "2px,3px");
    }
    return found;
  }

  /** Where `place` lies between the least and the largest value of an objective, from 0 to 1.
   * @param {number} j @param {number} place */
  function along(j, place) {
    let [low, high] = [place, place];
    for (const column of [value[j], behind[j]]) for (const n of column) if (Number.isFinite(n)) [low, high] = [Math.min(low, n), Math.max(high, n)];
    return (place - low) / (high - low || 1);
  }

  /** Names of the lines across axis `j`, by rising place; each with the side of its line on which it stands, so that they
   * stay on the page and leave each other room.
   * @param {number} j */
  function named(j) {
    const { threshold, strength } = data.objectives[j];
    const found = [
      ...(threshold === null ? [] : [{ place: threshold, text: ["The line:", plain(data.lines[j] ?? "")] }]),
      ...(strength && data.median ? [{ place: data.median.value, text: ["Median", "baseline", "team"] }] : []),
    ].sort((a, b) => a.place - b.place);
    const own = (/** @type {number} */ at) => (at < 0.25 ? "after" : at > 0.75 ? "before" : "middle");
    return found.map((one, i) => ({ ...one, side: found.length > 1 ? ["before", "after"][i] : own(along(j, one.place)) }));
  }

  /** Names of the lines that `lines` draws: above the picture and at its right, where they cover no mark.
   * @param {Pair} pair @returns {Plotly.Annotation[]} */
  function lineNames([x, y]) {
    const look = { font: { size: 12, color: token("ink") }, showarrow: false };
    /** @type {Record<string, string>} */
    const across = { before: "right", middle: "center", after: "left" };
    /** @type {Record<string, string>} */
    const up = { before: "top", middle: "middle", after: "bottom" };
    return [
      ...named(x).map(({ place, text, side }) => ({ ...look, text: text.join(" "), x: place, yref: "paper", y: 1, xanchor: across[side], yanchor: "bottom", yshift: 1 })),
      ...named(y).map(({ place, text, side }) => ({ ...look, text: text.join("<br>"), y: place, xref: "paper", x: 1, xanchor: "left", yanchor: up[side], align: "left", xshift: 3 })),
    ];
  }

  function placeFor() {
    const element = document.createElement("div");
    element.className = "chart";
    at("charts-here").append(element);
    return element;
  }

  /** @param {Pair} pair @param {HTMLElement} element */
  function chart(pair, element) {
    /** @param {number} j @returns {Plotly.Axis} */
    const axis = (j) => ({ title: { text: plain(title(data.objectives[j])), font: { size: 12 } }, gridcolor: token("grid"), linecolor: token("control-edge"),
      zeroline: false, showline: true, tickfont: { size: 12, color: token("muted") } });
    /** @type {Plotly.Layout} */
    const layout = { margin: { l: 60, r: named(pair[1]).length ? 58 : 12, t: named(pair[0]).length ? 22 : 12, b: 48 }, showlegend: false, hovermode: "closest", dragmode: "zoom",
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: "Inter, system-ui, sans-serif", color: token("ink") },
      xaxis: axis(pair[0]), yaxis: axis(pair[1]), shapes: lines(pair), annotations: lineNames(pair) };
    window.Plotly?.newPlot(element, traces(pair), layout, { displayModeBar: false, responsive: true });
  }

  /** The mark of a verdict as an element, in its colour; with a dot inside where fresh battles confirm it.
   * @param {number} kind @param {boolean} [confirmed] */
  function mark(kind, confirmed = false) {
    const { path, colour, open } = MARKS[kind];
    const drawing = document.createElementNS(SVG, "svg");
    for (const [name, set] of [["viewBox", "0 0 16 16"], ["width", "14"], ["height", "14"], ["aria-hidden", "true"]]) drawing.setAttribute(name, set);
    const shape = document.createElementNS(SVG, "path");
    shape.setAttribute("d", path);
    shape.setAttribute("fill", open ? "none" : token(colour));
    if (open) [["stroke", token(colour)], ["stroke-width", "2"]].forEach(([name, set]) => shape.setAttribute(name, set));
    drawing.append(shape);
    if (!confirmed) return drawing;
    const dot = document.createElementNS(SVG, "circle");
    for (const [name, set] of [["cx", "8"], ["cy", "8"], ["r", "2.3"], ["fill", token("surface")]]) dot.setAttribute(name, set);
    drawing.append(dot);
    return drawing;
  }

  const SURE = 2; // the column that says how sure
  const hasLine = data.objectives.some((o) => o.threshold !== null);
  const every = [...data.rows.keys()];
  const confirmed = new Set(data.confirmed);
  const [back, on] = [at("back"), at("on")];
  let place = 0;
  let found = every;

  /** What stands in a cell of the table, in words.
   * @param {string | number} cell @param {number} column @param {number} row @returns {string} */
  function words(cell, column, row) {
    if (typeof cell !== "number") return cell;
    const digits = data.finer[row]?.[column] ?? data.digits[column] ?? 0;
    const exact = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: column > 0 };
    return cell.toLocaleString("en-GB", exact).replace("-", "−");
  }

  /** @param {string | number} cell @param {number} column @param {number} row */
  function cellOf(cell, column, row) {
    const made = document.createElement("td");
    made.textContent = words(cell, column, row);
    if (typeof cell === "number") made.className = "number";
    if (column === SURE && hasLine) made.prepend(mark(verdict[row], confirmed.has(row)), " ");
    return made;
  }

  function table() {
    const body = at("body");
    body.replaceChildren(...found.slice(place, place + PAGE).map((row) => {
      const line = document.createElement("tr");
      line.append(...data.rows[row].map((cell, column) => cellOf(cell, column, row)));
      return line;
    }));
    const end = Math.min(found.length, place + PAGE);
    const numbers = [place + 1, end, found.length].map((n) => n.toLocaleString("en-GB"));
    at("place").textContent = found.length ? `${numbers[0]} to ${numbers[1]} of ${numbers[2]}` : "None";
    back.toggleAttribute("disabled", place === 0);
    on.toggleAttribute("disabled", end >= found.length);
  }

  function legend() {
    const counts = [0, 1, 2].map((kind) => verdict.filter((other) => other === kind).length);
    /** @param {SVGElement} drawing @param {string} words @param {number} count */
    const entry = (drawing, words, count) => {
      const made = document.createElement("span");
      made.append(drawing, ` ${words} `, Object.assign(document.createElement("b"), { textContent: count.toLocaleString("en-GB") }));
      return made;
    };
    const entries = hasLine ? [2, 1, 0].filter((kind) => counts[kind]).map((kind) => entry(mark(kind), data.verdicts[kind], counts[kind])) : [];
    if (confirmed.size) entries.push(entry(mark(2, true), "Confirmed", confirmed.size));
    const note = document.createElement("span");
    note.textContent = hasLine && counts[2] && counts[2] <= MOST_WHISKERS ? "Whiskers are the 95 % range." : "";
    at("legend").replaceChildren(...entries, note);
  }

  at("heads").append(...data.header.map((words, column) => {
    const made = document.createElement("th");
    made.scope = "col";
    made.textContent = words;
    made.className = data.rows.length && typeof data.rows[0][column] === "number" ? "number" : "";
    return made;
  }));
  back.addEventListener("click", () => { place = Math.max(0, place - PAGE); table(); });
  on.addEventListener("click", () => { place += PAGE; table(); });
  at("find").addEventListener("input", ({ target }) => {
    const wanted = target instanceof HTMLInputElement ? target.value.trim().toLowerCase() : "";
    found = wanted ? every.filter((row) => data.rows[row].some((cell) => String(cell).toLowerCase().includes(wanted))) : every;
    place = 0;
    table();
  });
  legend();
  const dots = behind.length ? behind[0].length : 0;
  at("chart-note").textContent = `Grey dots: ${dots.toLocaleString("en-GB")} of the ${(data.evaluated - verdict.length).toLocaleString("en-GB")} other evaluated lineups.`;
  // All places first: each chart takes the width it will keep.
  for (const { pair, element } of pairs().map((each) => ({ pair: each, element: placeFor() }))) chart(pair, element);
  table();
})();
