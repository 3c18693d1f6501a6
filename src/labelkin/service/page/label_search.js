/** A combobox that finds any label of the model. */

import { find, make, setText } from "./dom.js";
import { Latest } from "./latest.js";
import { nameOf } from "./names.js";
import { counted } from "./numbers.js";

const PAUSE = 120;

/**
 * Sends "choose" {label}; `search(q, signal)` and `stateOf(label)` come from outside. The field
 * has the id `name`, its list and its note `name-results` and `name-none`.
 */
export class LabelSearch extends EventTarget {
  #name;
  #input;
  #list;
  #none;
  #latest = new Latest();
  #active = -1;
  #shown = null; // what the list is an answer to
  #hasty = false; // Enter came before the answer

  constructor({ name, search, stateOf, onTrouble }) {
    super();
    this.#name = name;
    this.#input = find(name);
    this.#list = find(`${name}-results`);
    this.#none = find(`${name}-none`);
    this.search = search;
    this.stateOf = stateOf;
    this.onTrouble = onTrouble;
    this.#input.addEventListener("input", () => {
      this.#hasty = false;
      this.#ask(PAUSE);
    });
    this.#input.addEventListener("focus", () => this.#ask(0));
    this.#input.addEventListener("blur", () => this.#close());
    this.#input.addEventListener("keydown", (event) => this.#onKey(event));
    // A press must not take the focus away from the field: that would close the list.
    this.#list.addEventListener("mousedown", (event) => event.preventDefault());
    this.#list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.#choose(option);
    });
  }

  focus() {
    this.#input.focus();
    this.#input.select();
  }

  async #ask(delay) {
    const q = this.#input.value.trim();
    try {
      const answer = await this.#latest.run((signal) => this.search(q, signal), delay);
      if (answer && document.activeElement === this.#input) this.#show(answer, q);
    } catch (problem) {
      this.onTrouble(problem);
    }
  }

  #show({ labels, total }, q) {
    const options = labels.map((label, i) => this.#option(label, i));
    if (total > labels.length) options.push(moreNote(total - labels.length));
    this.#list.replaceChildren(...options);
    this.#list.hidden = labels.length === 0;
    this.#none.hidden = labels.length > 0;
    setText(this.#none, labels.length ? "" : `No label contains “${q}”.`);
    this.#input.setAttribute("aria-expanded", String(labels.length > 0));
    this.#activate(q && labels.length ? 0 : -1);
    this.#shown = q;
    if (this.#hasty) this.#enter();
  }

  /** Choose the active label; if the list is not yet that of the text, when it comes. */
  #enter() {
    const q = this.#input.value.trim();
    this.#hasty = q !== "" && this.#shown !== q;
    if (this.#hasty) {
      this.#ask(0);
      return;
    }
    const option = this.#list.querySelectorAll("[role=option]")[this.#active];
    if (option) this.#choose(option);
  }

  #option({ label, documents, matched }, i) {
    const state = this.stateOf(label);
    const count = state === "open" ? counted(documents, "document") : state;
    const note = matched ? `${matched} · ${count}` : count;
    return make(
      "li",
      {
        role: "option",
        id: `${this.#name}-option-${i}`,
        "data-label": label,
        "aria-selected": "false",
        "aria-disabled": state === "accepted" ? "true" : null,
      },
      make("span", { dir: "auto" }, nameOf(label)),
      make("small", {}, note),
    );
  }

  #activate(at) {
    const options = [...this.#list.querySelectorAll("[role=option]")];
    this.#active = options.length ? Math.min(Math.max(at, -1), options.length - 1) : -1;
    options.forEach((option, i) =>
      option.setAttribute("aria-selected", String(i === this.#active)),
    );
    const active = options[this.#active];
    if (active) {
      this.#input.setAttribute("aria-activedescendant", active.id);
      active.scrollIntoView({ block: "nearest" });
    } else this.#input.removeAttribute("aria-activedescendant");
  }

  #onKey(event) {
    if (event.key === "ArrowDown") this.#activate(this.#active + 1);
    else if (event.key === "ArrowUp") this.#activate(Math.max(this.#active - 1, 0));
    else if (event.key === "Enter") this.#enter();
    else if (event.key === "Escape") this.#leave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #leave() {
    if (!this.#list.hidden || !this.#none.hidden) {
      this.#close();
      return;
    }
    this.#input.value = "";
    this.#input.blur();
  }

  #choose(option) {
    if (option.getAttribute("aria-disabled") === "true") return;
    this.#input.value = "";
    this.#close();
    this.dispatchEvent(new CustomEvent("choose", { detail: { label: option.dataset.label } }));
  }

  #close() {
    this.#latest.stop();
    this.#shown = null;
    this.#hasty = false;
    this.#list.hidden = true;
    this.#none.hidden = true;
    this.#input.setAttribute("aria-expanded", "false");
    this.#input.removeAttribute("aria-activedescendant");
  }
}

function moreNote(nMore) {
  return make("li", { role: "presentation", class: "note" }, `and ${counted(nMore, "label")} more`);
}
