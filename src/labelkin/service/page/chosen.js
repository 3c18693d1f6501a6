/** The labels that are decided: accepted and rejected, each with a way back. */

import { find, icon, make, setText } from "./dom.js";
import { nameOf, titleOf } from "./names.js";

/** Sends "reopen" {label} and "explain" {label}. */
export class ChosenLabels extends EventTarget {
  #lists = { accepted: find("accepted"), rejected: find("rejected") };

  /** Show what the person decided, and what rules add to it (`known` of the last answer). */
  show({ accepted, rejected }, known) {
    const ruled = known.filter(({ because }) => because);
    this.#fill("accepted", accepted, ruled);
    this.#fill("rejected", rejected, ruled);
    const nAccepted = this.#lists.accepted.children.length;
    const nRejected = this.#lists.rejected.children.length;
    setText(find("chosen-count"), nAccepted ? String(nAccepted) : "");
    find("chosen-none").hidden = nAccepted + nRejected > 0;
    find("rejected-part").hidden = nRejected === 0;
  }

  #fill(state, labels, ruled) {
    const byRule = ruled.filter((one) => one.state === state && !labels.includes(one.label));
    const list = this.#lists[state];
    const old = new Map([...list.children].map((chip) => [chip.dataset.key, chip]));
    const chips = [
      ...labels.map((label) => [
        `person ${label} ${nameOf(label)}`,
        () => this.#chip(label, state),
      ]),
      ...byRule.map(({ label, because }) => [
        `rule ${label} ${nameOf(label)}`,
        () => ruleChip(label, because),
      ]),
    ];
    const wanted = chips.map(([key, build]) => {
      const chip = old.get(key) ?? build();
      chip.dataset.key = key;
      return chip;
    });
    if (
      wanted.length !== list.children.length ||
      wanted.some((chip, i) => chip !== list.children[i])
    ) {
      list.replaceChildren(...wanted);
    }
  }

  #chip(label, state) {
    const send = (name) => () => this.dispatchEvent(new CustomEvent(name, { detail: { label } }));
    return make(
      "li",
      { class: "chip" },
      make(
        "button",
        {
          type: "button",
          class: "chip-name",
          dir: "auto",
          title: titleOf(label) ?? "Explain",
          onclick: send("explain"),
        },
        nameOf(label),
      ),
      make(
        "button",
        {
          type: "button",
          class: "chip-remove",
          "aria-label": `Remove ${nameOf(label)} from the ${state} labels`,
          title: "Remove",
          onclick: (event) => {
            const next = neighbour(event.currentTarget);
            send("reopen")();
            next?.focus();
          },
        },
        icon("reject"),
      ),
    );
  }
}

function ruleChip(label, because) {
  const reason = because === "rule" ? "by a rule" : `by ${because}`;
  return make(
    "li",
    { class: "chip ruled" },
    make("span", { class: "chip-name" }, nameOf(label), make("small", {}, ` ${reason}`)),
  );
}

/** Where the focus goes when this chip is gone. */
function neighbour(button) {
  const chip = button.closest("li");
  const other = chip.nextElementSibling ?? chip.previousElementSibling;
  return other?.querySelector(".chip-remove") ?? find("search");
}
