/** The tables of an explanation: the sum, the contributions, the neighbours. */

import { kindOf, makeAxis, makeBar, partBar, partName, updateBar, worthNaming } from "./bars.js";
import { make } from "./dom.js";
import { decimal, percent, signed } from "./numbers.js";
import { t } from "./words.js";

/** The parts one under the other as they stand in the label's bar, and that bar as their sum. */
export function sumTable({ parts, log_odds: total, probability }) {
  const whole = makeBar();
  updateBar(whole, { parts, log_odds: total });
  const row = (name, bar, value) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, name),
      make("td", { class: "picture", "aria-hidden": "true" }, bar),
      make("td", { class: "value" }, signed(value, 2)),
    );
  return make(
    "table",
    { class: "contributions sum" },
    make("caption", { class: "hidden" }, t("explanation.sum-caption")),
    columns(),
    make(
      "thead",
      { "aria-hidden": "true" },
      make("tr", {}, make("td"), make("td", { class: "picture" }, makeAxis()), make("td")),
    ),
    make(
      "tbody",
      {},
      worthNaming(parts).map(([name, value]) =>
        row(partName(name), partBar(kindOf(name), value), value),
      ),
    ),
    make(
      "tfoot",
      {},
      row(t("explanation.sum", { probability: percent(probability) }), whole, total),
    ),
  );
}

/** What each word or label adds, a row each; `kind` is "content" or "labels". */
export function contributionTable(kind, rows) {
  const heading = t(kind === "content" ? "explanation.words" : "explanation.other-labels");
  const column = t(kind === "content" ? "explanation.word" : "explanation.label");
  return make(
    "table",
    { class: `contributions ${kind}` },
    make("caption", { class: "hidden" }, t("explanation.caption", { heading })),
    columns(),
    make(
      "thead",
      { class: "hidden" },
      make(
        "tr",
        {},
        make("th", { scope: "col" }, column),
        make("td"),
        make("th", { scope: "col" }, t("explanation.adds")),
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
  const has = (value) => t(value === null ? "neighbour.unknown" : value ? "yes" : "no");
  const heads = ["neighbour.document", "neighbour.similarity", "neighbour.has"];
  return make(
    "table",
    { class: "plain-table" },
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        heads.map((key) => make("th", { scope: "col" }, t(key))),
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
          make("td", {}, decimal(similarity, 2)),
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
