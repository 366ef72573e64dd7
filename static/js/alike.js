// Searches are ticked for a comparison: while one is, those that ask something else cannot be, and a line says why.
/** @param {HTMLInputElement[]} boxes @param {HTMLElement | null} line */
export function keepAlike(boxes, line) {
  const first = boxes.find((box) => box.checked);
  for (const box of boxes) box.disabled = first !== undefined && !box.checked && box.dataset.asks !== first.dataset.asks;
  if (line) line.hidden = !boxes.some((box) => box.disabled);
}
