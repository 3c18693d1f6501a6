/** A label's parts as a bar on both sides of 50 %, on one scale that never changes. */

import { make } from "./dom.js";
import { decimal, signed } from "./numbers.js";
import { t } from "./words.js";

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
/** What is written as 0.0 is not drawn. */
const LEAST_DRAWN = 0.05;

/** The scale is straight up to here, in log-odds, and bends beyond; its ends are at ±HALF. */
const STRAIGHT = 5;
const BEND = 1.5;
const HALF = 8;
/** Words and other labels add less: they are drawn larger, and always by as much. */
const CLOSER = 2.5;

/** The axis is in log-odds and labelled in per cent. */
const TICKS = [0.1, 1, 10, 50, 90, 99, 99.9].map((percent) => ({
  text: `${decimal(percent, percent % 1 ? 1 : 0)}%`,
  value: Math.log(percent / (100 - percent)),
  size: { 0.1: "far", 10: "middle", 90: "middle", 99.9: "far" }[percent] ?? "",
}));

/** Where log-odds stand, in per cent of the width; 0, a probability of 50 %, is in the middle. */
export function place(logOdds) {
  const size = Math.abs(logOdds);
  const bent = STRAIGHT + BEND * Math.log(1 + (size - STRAIGHT) / BEND);
  const drawn = Math.min(size <= STRAIGHT ? size : bent, HALF);
  return 50 + (50 * Math.sign(logOdds) * drawn) / HALF;
}

/** Where each part begins and ends, in log-odds; from the middle outwards, as they come. */
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

/** What a part is called; one that nobody has thought of yet has its own name. */
export function partName(name) {
  const key = `part.${name}`;
  const found = t(key);
  return found === key ? name : found;
}

/** The parts worth naming: what adds nothing is left out. */
export function worthNaming(parts) {
  return Object.entries(parts).filter(([name, value]) => ALWAYS.includes(name) || value !== 0);
}

/** Make an empty bar. */
export function makeBar() {
  return make("div", { class: "bar", "aria-hidden": "true" }, make("b", { class: "result" }));
}

/** Draw the parts of one label into its bar, from the middle outwards, and a mark at their sum. */
export function updateBar(bar, { parts, log_odds: logOdds }) {
  const pieces = stack(parts).filter(({ value }) => Math.abs(value) >= LEAST_DRAWN);
  const result = bar.lastElementChild;
  while (bar.children.length <= pieces.length) result.before(make("i"));
  while (bar.children.length > pieces.length + 1) result.previousElementSibling.remove();
  pieces.forEach((piece, i) => drawPiece(bar.children[i], piece));
  markBeyond(bar, pieces);
  result.style.left = `${place(logOdds)}%`;
}

/** A part alone, from the middle to its side, as it stands in the bar of its label. */
export function partBar(kind, value) {
  return oneBar(kind, value, 1);
}

/** What a word or another label adds, from the middle to its side. */
export function contributionBar(value) {
  return oneBar("contribution", value, CLOSER);
}

/** Say the parts in words. */
export function describe(parts) {
  return worthNaming(parts).map(([name, value]) => `${partName(name)} ${signed(value)}`);
}

/** Make the axis that stands above the bars. */
export function makeAxis() {
  const ticks = TICKS.map(({ text, value, size }) => {
    const tick = make("span", { class: `tick ${size}` }, text);
    tick.style.left = `${place(value)}%`;
    return tick;
  });
  return make("div", { class: "axis", "aria-hidden": "true" }, ticks);
}

function oneBar(kind, value, times) {
  const bar = make("div", { class: "bar", "aria-hidden": "true" });
  const ends = { low: Math.min(0, value) * times, high: Math.max(0, value) * times };
  if (Math.abs(value) < LEAST_DRAWN / times) return bar;
  bar.append(make("i"));
  drawPiece(bar.firstChild, { name: kind, value, ...ends }, kind);
  markBeyond(bar, [ends]);
  return bar;
}

function drawPiece(piece, { name, value, low, high }, kind = kindOf(name)) {
  piece.className = `piece ${kind}${value < 0 ? " minus" : ""}`;
  piece.style.left = `${place(low)}%`;
  piece.style.width = `${place(high) - place(low)}%`;
  piece.dataset.part = name;
}

/** An arrow where a bar is longer than the scale. */
function markBeyond(bar, pieces) {
  bar.classList.toggle(
    "beyond-low",
    pieces.some(({ low }) => place(low) <= 0),
  );
  bar.classList.toggle(
    "beyond-high",
    pieces.some(({ high }) => place(high) >= 100),
  );
}
