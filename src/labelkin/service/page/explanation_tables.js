/** The tables of an explanation: the sum, the contributions, the neighbours. */

import { kindOf, worthNaming } from "./bars.js";
import { make } from "./dom.js";
import { percent, signed } from "./numbers.js";

const NAMES = {
  prior: "Prior",
  content: "Content evidence",
  "predicted labels": "Predicted labels",
  "known labels": "Known labels",
  "first place": "First place",
  rules: "Rules",
  // Of an audit: what speaks for an error.
  "other labels": "Other labels",
  "number of labels": "Number of labels",
  noise: "How common such errors are",
  twins: "Same text, labelled otherwise",
};

/** The parts one under the other, each beginning where the last one ended. */
export function sumTable({ parts, log_odds: total, probability }) {
  const steps = [];
  let end = 0;
  for (const [name, value] of worthNaming(parts)) {
    steps.push({ name, value, from: end, to: end + value });
    end += value;
  }
  const ends = [0, ...steps.map((step) => step.to)];
  const low = Math.min(...ends);
  const span = Math.max(...ends) - low || 1;
  const row = (kind, name, value, from, to) =>
    make(
      "tr",
      { class: kind },
      make("th", { scope: "row" }, name),
      make("td", { class: "picture", "aria-hidden": "true" }, waterfall(kind, from, to, low, span)),
      make("td", { class: "value" }, signed(value, 2)),
    );
  return make(
    "table",
    { class: "contributions sum" },
    make("caption", { class: "hidden" }, "Parts in log-odds, and their sum"),
    columns(),
    make(
      "tbody",
      {},
      steps.map(({ name, value, from, to }) =>
        row(kindOf(name), NAMES[name] ?? name, value, from, to),
      ),
    ),
    make("tfoot", {}, row("result", `Sum: ${percent(probability)}`, total, 0, total)),
  );
}

/** What each word or label adds, a row each. */
export function contributionTable(heading, column, kind, rows) {
  return make(
    "table",
    { class: `contributions ${kind}` },
    make("caption", { class: "hidden" }, `${heading}: what each adds, in log-odds`),
    columns(),
    make(
      "thead",
      { class: "hidden" },
      make(
        "tr",
        {},
        make("th", { scope: "col" }, column),
        make("td"),
        make("th", { scope: "col" }, "Adds"),
      ),
    ),
    make("tbody", {}, rows),
  );
}

function columns() {
  return make(
    "colgroup",
    {},
    ["name", "picture", "value"].map((name) => make("col", { class: `column-${name}` })),
  );
}

/** The training documents that are most like the text. */
export function neighbourTable(neighbours) {
  const has = (value) => (value === null ? "not known" : value ? "yes" : "no");
  return make(
    "table",
    { class: "plain-table" },
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        ["Document", "Similarity", "Has the label"].map((name) =>
          make("th", { scope: "col" }, name),
        ),
      ),
    ),
    make(
      "tbody",
      {},
      neighbours.map(({ document, similarity, has_label: label }) =>
        make(
          "tr",
          {},
          make("th", { scope: "row" }, String(document)),
          make("td", {}, similarity.toFixed(2)),
          make("td", {}, has(label)),
        ),
      ),
    ),
  );
}

/** A term as it is written in the document. */
export function wordCell({ term, words }) {
  return [make("span", { dir: "auto" }, words?.length ? words.join(", ") : term)];
}

/** A contribution as a bar left or right of the middle. */
export function diverging(added, largest) {
  const width = (50 * Math.abs(added)) / largest;
  return picture("contribution", added < 0 ? 50 - width : 50, width, 50);
}

function waterfall(kind, from, to, low, span) {
  const left = (100 * (Math.min(from, to) - low)) / span;
  return picture(kind, left, (100 * Math.abs(to - from)) / span, (-100 * low) / span);
}

function picture(kind, left, width, zero) {
  const piece = make("i", { class: `piece ${kind}` });
  piece.style.left = `${left}%`;
  piece.style.width = `${width}%`;
  const bar = make("div", { class: "bar" }, piece);
  bar.style.setProperty("--zero", `${zero}%`);
  return bar;
}
