/** The label map in words: the labels related to one, and all edges as a table. */

import { make } from "./dom.js";
import { nameOf } from "./names.js";
import { count, decimal, signed } from "./numbers.js";
import { t } from "./words.js";

/** Strengths below this are 0.0 when written. */
const WORTH_TELLING = 0.05;

/** What the map shows, before a label is chosen. */
export function introduction({ nodes, edges }) {
  const nFor = edges.filter((edge) => edge.strength > 0).length;
  const text = edges.length
    ? t("map.introduction", {
        attractions: t("map.attractions", { n: nFor }),
        repulsions: t("map.repulsions", { n: edges.length - nFor }),
        labels: t("n-labels", { n: nodes.length }),
      })
    : t("map.empty");
  return make("p", { class: "quiet" }, text);
}

/** The labels related to one: those it attracts and those it repels; `onAround` draws them. */
export function relatedLabels({ label, documents, related }, onSelect, onAround) {
  const side = (sign) =>
    related
      .filter(({ strength }) => sign * strength >= WORTH_TELLING)
      .sort((a, b) => sign * (b.bound - a.bound) || sign * (b.strength - a.strength));
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
  return [
    make("h3", { dir: "auto" }, nameOf(label)),
    make("p", { class: "quiet" }, t("n-documents", { n: documents })),
    make("button", { type: "button", class: "around", onclick: onAround }, t("map.around")),
    ...list(t("map.attracts"), side(1)),
    ...list(t("map.repels"), side(-1)),
    ...(side(1).length + side(-1).length ? [] : [make("p", { class: "quiet" }, t("map.nothing"))]),
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
    make("small", {}, t("map.together", { n: both, chance: decimal(expected, 1) })),
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
  const columns = ["label", "label", "strength", "at-least", "both", "chance"];
  return make(
    "table",
    { class: "plain-table" },
    make("caption", { class: "hidden" }, t("map.caption")),
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        columns.map((column) => make("th", { scope: "col" }, t(`map.column-${column}`))),
      ),
    ),
    make(
      "tbody",
      {},
      edges.map(({ first, second, strength, bound, n_both: both, n_expected: expected }) =>
        make(
          "tr",
          {},
          make("th", { scope: "row" }, name(first)),
          make("td", {}, name(second)),
          make("td", { class: strength > 0 ? "attraction" : "repulsion" }, signed(strength)),
          make("td", {}, signed(bound)),
          make("td", {}, count(both)),
          make("td", {}, decimal(expected, 1)),
        ),
      ),
    ),
  );
}
