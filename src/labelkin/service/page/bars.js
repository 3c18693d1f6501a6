/** A label's parts as a bar on both sides of a zero line. */

import { make } from "./dom.js";
import { signed } from "./numbers.js";

/** The parts in the order they are stacked, from the zero line outwards. */
export const PARTS = [
  ["prior", "prior"],
  ["content", "content"],
  ["labels", "labels"],
  ["first_place", "first place"],
  ["rules", "rules"],
];

const STEPS = [2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50, 100, 1000];
/** The axis is in log-odds and labelled in per cent. */
const TICKS = [0.1, 1, 10, 50, 90, 99, 99.9].map((percent) => ({
  text: `${percent}%`,
  value: Math.log(percent / (100 - percent)),
}));

/** Where each part begins and ends, in log-odds. */
export function stack(parts) {
  const ends = { below: 0, above: 0 };
  return PARTS.map(([key, name]) => {
    const value = parts[key] ?? 0;
    const side = value < 0 ? "below" : "above";
    const from = ends[side];
    ends[side] += value;
    return { key, name, value, low: Math.min(from, ends[side]), high: Math.max(from, ends[side]) };
  });
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
  const pieces = PARTS.map(([key]) => make("i", { class: `piece ${key}` }));
  return make(
    "div",
    { class: "bar", "aria-hidden": "true" },
    pieces,
    make("b", { class: "result" }),
  );
}

/** Draw the parts of one label into its bar. */
export function updateBar(bar, { parts, log_odds: logOdds }, scale) {
  bar.style.setProperty("--zero", share(0, scale));
  stack(parts).forEach(({ low, high, key, value }, i) => {
    const piece = bar.children[i];
    piece.style.left = share(low, scale);
    piece.style.width = `${parseFloat(share(high, scale)) - parseFloat(share(low, scale))}%`;
    piece.classList.toggle("minus", value < 0);
    piece.dataset.part = key;
  });
  bar.lastElementChild.style.left = share(logOdds, scale);
}

/** Say the parts in words; what adds nothing is left out. */
export function describe(parts) {
  return stack(parts)
    .filter(({ key, value }) => ["prior", "content", "labels"].includes(key) || value !== 0)
    .map(({ name, value }) => `${name} ${signed(value)}`);
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
    tick.style.left = share(value, scale);
    tick.hidden = value < scale.low + room / 2 || value > scale.high - room / 2;
  });
}

function share(value, { low, high }) {
  const clipped = Math.min(Math.max(value, low), high);
  return `${(100 * (clipped - low)) / (high - low)}%`;
}

function roundUp(value) {
  return STEPS.find((step) => step >= value) ?? value;
}
