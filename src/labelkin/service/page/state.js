/** What the person has written and decided: kept over a reload, with undo and redo. */

import { nameOf } from "./names.js";
import { t } from "./words.js";

const KEPT = "labelkin.state";
const HISTORY = 200;
const FRESH = {
  model: null,
  text: "",
  accepted: [],
  rejected: [],
  added: [],
  explained: null,
  saved: null,
  record: null, // the saved text that this document is, if any: {id, text}
  format: "text",
  numbers: false,
  keys: true,
};

/** Sends a "change" event; its detail names the keys that changed, and why. */
export class Store extends EventTarget {
  #past = [];
  #future = [];
  #timer = 0;
  #storage;

  constructor(storage) {
    super();
    this.#storage = storage;
    const kept = readKept(storage);
    this.now = { ...FRESH, ...kept.now };
    this.#past = kept.past ?? [];
    this.#future = kept.future ?? [];
    addEventListener("pagehide", () => this.#keep());
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  /** Change some values; with a name for it (`what`) the change can be undone. */
  change(patch, what = null) {
    const before = pick(this.now, Object.keys(patch));
    if (what) {
      this.#past = [...this.#past.slice(1 - HISTORY), { what, before, after: patch }];
      this.#future = [];
    }
    this.#apply(patch, what ? "decision" : "edit");
  }

  /** Take the last step back; return what it was, or null. */
  undo() {
    const step = this.#past.pop();
    if (!step) return null;
    this.#future.push(step);
    this.#apply(step.before, "undo");
    return step.what;
  }

  /** Do the step again that was taken back last; return what it was, or null. */
  redo() {
    const step = this.#future.pop();
    if (!step) return null;
    this.#past.push(step);
    this.#apply(step.after, "redo");
    return step.what;
  }

  /** Label → "accepted", "rejected" or "open". */
  stateOf(label) {
    if (this.now.accepted.includes(label) || this.now.added.includes(label)) return "accepted";
    return this.now.rejected.includes(label) ? "rejected" : "open";
  }

  /** Accept, reject or reopen a label. */
  decide(label, state) {
    if (this.stateOf(label) === state) return;
    const without = (labels) => labels.filter((other) => other !== label);
    const patch = {
      accepted: without(this.now.accepted),
      rejected: without(this.now.rejected),
      added: without(this.now.added),
    };
    if (state !== "open") patch[state].push(label);
    const step = state === "open" ? "reopened" : state;
    this.change(patch, t(`step.${step}`, { label: nameOf(label) }));
  }

  /** Add a label that the model does not know. */
  add(label) {
    if (this.stateOf(label) === "accepted") return;
    this.change({ added: [...this.now.added, label] }, t("step.accepted", { label }));
  }

  #apply(patch, cause) {
    const result = ["text", "accepted", "rejected", "added", "model"].some((key) => key in patch);
    this.now = { ...this.now, ...(result ? { saved: null } : {}), ...patch };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#keep(), 150);
    const keys = new Set(Object.keys(patch));
    this.dispatchEvent(new CustomEvent("change", { detail: { keys, cause } }));
  }

  #keep() {
    const kept = JSON.stringify({ now: this.now, past: this.#past, future: this.#future });
    try {
      this.#storage.setItem(KEPT, kept);
    } catch {
      // A text beyond the browser's quota is only lost on a reload; say so, go on.
      this.dispatchEvent(new CustomEvent("unkept"));
    }
  }
}

function readKept(storage) {
  try {
    return JSON.parse(storage.getItem(KEPT)) ?? {};
  } catch {
    return {};
  }
}

function pick(values, keys) {
  return Object.fromEntries(keys.map((key) => [key, values[key]]));
}
