/** Before there is a text: what a bar says, at a glance, and an example to try. */

import { makeAxis, makeBar, updateBar } from "./bars.js";
import { find, make } from "./dom.js";
import { percent, probabilityOf } from "./numbers.js";
import { exampleIn, t } from "./words.js";

const PARTS = { prior: -3, content: 4.2, "predicted labels": 1.1 };

/** Draw the example of a bar; `onExample(text)` when the person wants an example text. */
export function fillWelcome(language, onExample) {
  const total = Object.values(PARTS).reduce((sum, value) => sum + value);
  const bar = makeBar();
  updateBar(bar, { parts: PARTS, log_odds: total });
  const said = (kind, key) =>
    make("li", {}, make("i", { class: `swatch ${kind}` }), make("span", {}, t(key)));
  find("glance").replaceChildren(
    make("div", { class: "glance-bar" }, makeAxis(), bar),
    make(
      "ul",
      {},
      said("prior", "welcome.prior"),
      said("content", "welcome.content"),
      said("labels", "welcome.labels"),
      make(
        "li",
        {},
        make("i", { class: "swatch result" }),
        make("span", {}, t("welcome.sum", { probability: percent(probabilityOf(total)) })),
      ),
    ),
  );
  find("try-example").addEventListener("click", async () => onExample(await exampleIn(language())));
}
