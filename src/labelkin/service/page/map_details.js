/** The label map in words: the labels related to one, and all edges as a table. */

import { make } from "./dom.js";
import { nameOf } from "./names.js";
import { count, counted, signed } from "./numbers.js";

/** Strengths below this are 0.0 when written. */
const WORTH_TELLING = 0.05;

/** What the map shows, before a label is chosen. */
export function introduction({ nodes, edges }) {
  const nFor = edges.filter((edge) => edge.strength > 0).length;
  const sides = [counted(nFor, "strongest attraction"), counted(edges.length - nFor, "repulsion")];
  const text = edges.length
    ? `The ${sides.join(" and ")} between ${counted(nodes.length, "label")}. ` +
      "Choose a label to see what it does to the others."
    : "The labels of this model neither attract nor repel each other.";
  return make("p", { class: "quiet" }, text);
}

/** The labels related to one: those it attracts and those it repels; `onAround` draws them. */
export function relatedLabels({ label, documents, related }, onSelect, onAround) {
  const side = (sign) =>
    related
      .filter(({ strength }) => sign * strength >= WORTH_TELLING)
      .sort((a, b) => sign * (b.strength - a.strength));
  const list = (title, labels) =>
    labels.length
      ? [
          make("h4", {}, title),
          make(
            "ul",
            { class: "related" },
            labels.map((one) => relatedItem(one, onSelect)),
          ),
        ]
      : [];
  const nothing = "No other label speaks clearly for it or against it.";
  return [
    make("h3", { dir: "auto" }, nameOf(label)),
    make("p", { class: "quiet" }, counted(documents, "document")),
    make("button", { type: "button", class: "around", onclick: onAround }, "Map of its neighbours"),
    ...list("Attracts", side(1)),
    ...list("Repels", side(-1)),
    ...(side(1).length + side(-1).length ? [] : [make("p", { class: "quiet" }, nothing)]),
  ];
}

function relatedItem({ first, strength, n_both: both, n_expected: expected }, onSelect) {
  return make(
    "li",
    {},
    make(
      "button",
      { type: "button", class: "link", dir: "auto", onclick: () => onSelect(first) },
      nameOf(first),
    ),
    make("span", { class: "value" }, signed(strength)),
    make("small", {}, `together in ${counted(both, "document")}, ${expected.toFixed(1)} by chance`),
  );
}

/** All edges of the map, a row each. */
export function edgeTable({ edges }, onSelect) {
  const name = (label) =>
    make(
      "button",
      { type: "button", class: "link", dir: "auto", onclick: () => onSelect(label) },
      nameOf(label),
    );
  const columns = ["Label", "Label", "Strength", "Together", "By chance"];
  return make(
    "table",
    { class: "plain-table" },
    make(
      "caption",
      { class: "hidden" },
      "Strongest attractions and repulsions; strength in log-odds",
    ),
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        columns.map((column) => make("th", { scope: "col" }, column)),
      ),
    ),
    make(
      "tbody",
      {},
      edges.map(({ first, second, strength, n_both: both, n_expected: expected }) =>
        make(
          "tr",
          {},
          make("th", { scope: "row" }, name(first)),
          make("td", {}, name(second)),
          make("td", { class: strength > 0 ? "attraction" : "repulsion" }, signed(strength)),
          make("td", {}, count(both)),
          make("td", {}, expected.toFixed(1)),
        ),
      ),
    ),
  );
}
