// The live page of a training.
import { follow } from "../job/live.js";
import { drawCurve } from "./curve.js";
import { showFigures } from "./figures.js";

follow({ figures: showFigures, pictures: drawCurve });
