// The live page of a search or a re-check.
import { showBeam, showFigures, showStatus, showTimes } from "./job/figures.js";
import { follow } from "./job/live.js";
import { drawNow } from "./job/pictures.js";

function figures() {
  showStatus();
  showBeam();
  showTimes();
  showFigures();
}

follow({ figures, pictures: drawNow });
