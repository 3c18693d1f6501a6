/** A label's parts as a bar on both sides of a zero line. */

import { make } from "./dom.js";
import { signed } from "./numbers.js";

/** How a part looks, by its name; parts that nobody has thought of yet look like rules. */
const KINDS = {
  prior: "prior",
  content: "content",
  "predicted labels": "labels",
  "known labels": "labels",
  "other labels": "labels",
  "number of labels": "labels",
};
/** Parts that are named even when they add nothing. */
const ALWAYS = ["prior", "content", "predicted labels"];

const STEPS = [2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50, 100, 1000];
/** The axis is in log-odds and labelled in per cent. */
const TICKS = [0.1, 1, 10, 50, 90, 99, 99.9].map((percent) => ({
  text: `${percent}%`,
  value: Math.log(percent / (100 - percent)),
}));

/** Where each part begins and ends, in log-odds; from the zero line outwards, as they come. */
export function stack(parts) {
  const ends = { below: 0, above: 0 };
  return Object.entries(parts).map(([name, value]) => {
    const side = value < 0 ? "below" : "above";
    const from = ends[side];
    ends[side] += value;
    return { name, value, low: Math.min(from, ends[side]), high: Math.max(from, ends[side]) };
  });
}

/** The class of a part's piece. */
export function kindOf(name) {
  return KINDS[name] ?? "rules";
}

/** The parts worth naming: what adds nothing is left out. */
export function worthNaming(parts) {
  return Object.entries(parts).filter(([name, value]) => ALWAYS.includes(name) || value !== 0);
}

/** The range of log-odds all bars fit in, widened to round steps so that it seldom changes. */
export function scaleOf(suggestions) {
  const pieces = suggestions.flatMap((suggestion) => stack(suggestion.parts));
  return {
    low: -roundUp(Math.max(0, ...pieces.map((piece) => -piece.low))),
    high: roundUp(Math.max(0, ...pieces.map((piece) => piece.high))),
  };
}

/** Make an empty bar. */
export function makeBar() {
  return make("div", { class: "bar", "aria-hidden": "true" }, make("b", { class: "result" }));
}

/** Draw the parts of one label into its bar. */
export function updateBar(bar, { parts, log_odds: logOdds }, scale) {
  const pieces = stack(parts);
  const result = bar.lastElementChild;
  while (bar.children.length <= pieces.length) result.before(make("i"));
  while (bar.children.length > pieces.length + 1) result.previousElementSibling.remove();
  bar.style.setProperty("--zero", `${along(0, scale)}%`);
  pieces.forEach(({ low, high, name, value }, i) => {
    const piece = bar.children[i];
    piece.className = `piece ${kindOf(name)}${value < 0 ? " minus" : ""}`;
    piece.style.left = `${along(low, scale)}%`;
    piece.style.width = `${along(high, scale) - along(low, scale)}%`;
    piece.dataset.part = name;
  });
  result.style.left = `${along(logOdds, scale)}%`;
}

/** Say the parts in words. */
export function describe(parts) {
  return worthNaming(parts).map(([name, value]) => `${name} ${signed(value)}`);
}

/** Make the axis that stands above the bars. */
export function makeAxis() {
  const ticks = TICKS.map(({ text, value }) =>
    make("span", { class: Math.abs(value) > 5 ? "tick far" : "tick" }, text),
  );
  return make("div", { class: "axis", "aria-hidden": "true" }, ticks);
}

/** Put the ticks where the scale has them; those that would not fit are left out. */
export function updateAxis(axis, scale) {
  const room = 0.07 * (scale.high - scale.low);
  TICKS.forEach(({ value }, i) => {
    const tick = axis.children[i];
    tick.style.left = `${along(value, scale)}%`;
    tick.hidden = value < scale.low + room / 2 || value > scale.high - room / 2;
  });
}

/** Where a value stands on the scale, in per cent of its width. */
function along(value, { low, high }) {
  const clipped = Math.min(Math.max(value, low), high);
  return (100 * (clipped - low)) / (high - low);
}

function roundUp(value) {
  return STEPS.find((step) => step >= value) ?? value;
}
