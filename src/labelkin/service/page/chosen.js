/** The labels that are decided: accepted and rejected, each with a way back. */

import { find, icon, make, setText } from "./dom.js";
import { nameOf, titleOf } from "./names.js";
import { t } from "./words.js";

/** Sends "reopen" {label} and "explain" {label}. */
export class ChosenLabels extends EventTarget {
  #lists = { accepted: find("accepted"), rejected: find("rejected") };

  /** Show what the person decided, and what rules add to it (`known` of the last answer). */
  show({ accepted, rejected, added }, known) {
    const ruled = known.filter(({ because }) => because);
    this.#fill("accepted", accepted, ruled, added);
    this.#fill("rejected", rejected, ruled, []);
    const nAccepted = this.#lists.accepted.children.length;
    const nRejected = this.#lists.rejected.children.length;
    setText(find("chosen-count"), nAccepted ? String(nAccepted) : "");
    find("chosen-none").hidden = nAccepted + nRejected > 0;
    find("rejected-part").hidden = nRejected === 0;
  }

  #fill(state, labels, ruled, added) {
    const byRule = ruled.filter((one) => one.state === state && !labels.includes(one.label));
    const list = this.#lists[state];
    const old = new Map([...list.children].map((chip) => [chip.dataset.key, chip]));
    const chips = [
      ...labels.map((label) => [
        `person ${label} ${nameOf(label)}`,
        () => this.#chip(label, state),
      ]),
      ...added.map((label) => [`new ${label}`, () => this.#newChip(label)]),
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
    const name = make(
      "button",
      {
        type: "button",
        class: "chip-name",
        dir: "auto",
        title: titleOf(label) ?? t("chosen.explain"),
        onclick: () => this.#send("explain", label),
      },
      nameOf(label),
    );
    return make("li", { class: "chip" }, name, this.#remove(label, state));
  }

  /** A label that the model does not know: there is nothing to explain yet. */
  #newChip(label) {
    const name = make(
      "span",
      { class: "chip-name", dir: "auto", title: t("chosen.new-title") },
      label,
      make("small", {}, ` ${t("chosen.new")}`),
    );
    return make("li", { class: "chip new" }, name, this.#remove(label, "accepted"));
  }

  #remove(label, state) {
    const onclick = (event) => {
      const next = neighbour(event.currentTarget);
      this.#send("reopen", label);
      next?.focus();
    };
    return make(
      "button",
      {
        type: "button",
        class: "chip-remove",
        "aria-label": t(`chosen.remove-${state}`, { label: nameOf(label) }),
        title: t("chosen.remove"),
        onclick,
      },
      icon("reject"),
    );
  }

  #send(name, label) {
    this.dispatchEvent(new CustomEvent(name, { detail: { label } }));
  }
}

function ruleChip(label, because) {
  const reason = because === "rule" ? t("chosen.by-rule") : because;
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
