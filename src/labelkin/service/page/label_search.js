/** A combobox that finds any label of the model. */

import { find, make, setText } from "./dom.js";
import { Latest } from "./latest.js";
import { nameOf } from "./names.js";
import { t } from "./words.js";

const PAUSE = 120;

/**
 * Sends "choose" {label} and, where `mayAdd(q)` lets a label in that the model does not know, "add"
 * {label}; `search(q, signal)` and `stateOf(label)` come from outside. The field has the id `name`,
 * its list and its note `name-results` and `name-none`.
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

  constructor({ name, search, stateOf, onTrouble, mayAdd = () => false }) {
    super();
    this.#name = name;
    this.#input = find(name);
    this.#list = find(`${name}-results`);
    this.#none = find(`${name}-none`);
    this.search = search;
    this.stateOf = stateOf;
    this.mayAdd = mayAdd;
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

  /** Forget what was looked for. */
  clear() {
    this.#input.value = "";
    this.#close();
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

  #show({ labels, total, similar = false }, q) {
    const isFound = labels.length > 0 && !similar;
    const items = labels.map((label, i) => this.#option(label, i));
    if (total > labels.length) items.push(noteItem(t("search.more", { n: total - labels.length })));
    const isExact = labels.some(({ label }) => nameOf(label).toLowerCase() === q.toLowerCase());
    if (q && !isExact && this.mayAdd(q)) items.push(this.#newOption(q, labels.length));
    const none = isFound ? "" : t("search.none", { q });
    if (none && items.length)
      items.unshift(noteItem(similar ? `${none} ${t("search.similar")}` : none));
    this.#list.replaceChildren(...items);
    this.#list.hidden = items.length === 0;
    this.#none.hidden = items.length > 0;
    setText(this.#none, items.length ? "" : none);
    this.#input.setAttribute("aria-expanded", String(items.length > 0));
    // Only what was looked for is taken by Enter alone; anything else must be pointed at.
    this.#activate(q && isFound ? 0 : -1);
    this.#shown = q;
    if (this.#hasty) this.#enter();
    else if (q) (items.length ? this.#list : this.#none).scrollIntoView({ block: "nearest" });
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
    const count = state === "open" ? t("n-documents", { n: documents }) : t(state);
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

  /** What adds a label that the model does not know. */
  #newOption(q, i) {
    return make(
      "li",
      {
        role: "option",
        class: "add",
        id: `${this.#name}-option-${i}`,
        "data-label": q,
        "data-new": true,
        "aria-selected": "false",
      },
      make("span", { dir: "auto" }, t("search.add", { label: q })),
      make("small", {}, t("search.add-note")),
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
    const name = "new" in option.dataset ? "add" : "choose";
    this.dispatchEvent(new CustomEvent(name, { detail: { label: option.dataset.label } }));
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

function noteItem(text) {
  return make("li", { role: "presentation", class: "note" }, text);
}
