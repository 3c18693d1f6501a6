/** The ranked labels: a grid with one row per label and one tab stop in all. */

import { describe, makeAxis, makeBar, updateBar } from "./bars.js";
import { icon, make, setAttribute, setText } from "./dom.js";
import { glide } from "./motion.js";
import { nameOf, titleOf } from "./names.js";
import { percent } from "./numbers.js";
import { t } from "./words.js";

const COLUMNS = ["label", "accept", "reject"];

/** Sends "decide" {label, state}, "explain" {label}, and "current" {label} when keys move on. */
export class SuggestionGrid extends EventTarget {
  #root;
  #body;
  #rows = new Map();
  #current = null;
  #column = "label";

  constructor(root) {
    super();
    this.#root = root;
    this.#body = make("div", { role: "rowgroup", class: "rows" });
    root.append(makeHead(), this.#body);
    root.addEventListener("keydown", (event) => this.#onKey(event));
    root.addEventListener("click", (event) => this.#onClick(event));
    root.addEventListener("focusin", (event) => this.#onFocus(event));
  }

  /** The label of the current row, or null. */
  get current() {
    return this.#current;
  }

  /** Whether the focus is on a row. */
  get hasFocus() {
    return this.#root.contains(document.activeElement);
  }

  /** Show these suggestions, best first; `changes` says by label how far probabilities moved. */
  show(suggestions, changes = new Map()) {
    setAttribute(this.#root, "aria-rowcount", suggestions.length + 1);
    this.#rearrange(suggestions.map((suggestion) => suggestion.label));
    suggestions.forEach((suggestion, i) => {
      updateRow(this.#rows.get(suggestion.label), suggestion, i, changes);
    });
  }

  /** Let a row go, and move on to the next one; it is gone when the service has answered. */
  drop(label) {
    this.#rows.get(label)?.classList.add("leaving");
    if (label !== this.#current) return;
    const labels = [...this.#rows.keys()];
    const stays = (other) => !this.#rows.get(other).classList.contains("leaving");
    const at = labels.indexOf(label);
    const next = labels.slice(at).find(stays) ?? labels.slice(0, at).findLast(stays);
    if (this.hasFocus) this.focus(next);
    else this.#setCurrent(next);
  }

  /** Make the row `step` rows further the current one, and focus it. */
  move(step) {
    const labels = [...this.#rows.keys()];
    const at = labels.indexOf(this.#current);
    const to = this.hasFocus ? at + step : at;
    this.focus(labels[Math.min(Math.max(to, 0), labels.length - 1)]);
    if (this.#current !== null) this.#send("current", { label: this.#current });
  }

  /** Focus the current row, or that of `label`. */
  focus(label = this.#current) {
    if (!this.#rows.has(label)) return;
    this.#setCurrent(label);
    this.#widget().focus({ preventScroll: true });
    this.reveal(label);
  }

  /** Bring a row into view, beside the explanation and not under it. */
  reveal(label) {
    this.#rows.get(label)?.scrollIntoView({ block: "nearest" });
  }

  /** Mark the row whose explanation is open. */
  markExplained(label) {
    for (const [name, row] of this.#rows) {
      setAttribute(row.querySelector(".label"), "aria-expanded", name === label);
    }
  }

  #rearrange(labels) {
    const focused = this.hasFocus;
    const at = [...this.#rows.keys()].indexOf(this.#current);
    const rows = new Map(labels.map((label) => [label, this.#rows.get(label) ?? makeRow(label)]));
    glide(this.#body, () => arrange(this.#body, [...rows.values()]));
    this.#rows = rows;
    if (!rows.has(this.#current))
      this.#setCurrent(labels[Math.min(Math.max(at, 0), labels.length - 1)]);
    if (focused && labels.length && !this.hasFocus) this.focus();
  }

  #setCurrent(label = null) {
    this.#current = label;
    for (const [name, row] of this.#rows) {
      row.classList.toggle("current", name === label);
      for (const column of COLUMNS) {
        const tabbable = name === label && column === this.#column;
        setAttribute(row.querySelector(`.${column}`), "tabindex", tabbable ? 0 : -1);
      }
    }
  }

  #widget() {
    return this.#rows.get(this.#current).querySelector(`.${this.#column}`);
  }

  #onFocus(event) {
    const row = event.target.closest(".row");
    const column = COLUMNS.find((name) => event.target.classList.contains(name));
    if (!row || !column) return;
    this.#column = column;
    this.#setCurrent(row.dataset.label);
  }

  #onClick(event) {
    const row = event.target.closest(".row");
    if (!row) return;
    const { label } = row.dataset;
    this.#setCurrent(label);
    const button = event.target.closest("button");
    if (button?.classList.contains("accept")) this.#send("decide", { label, state: "accepted" });
    else if (button?.classList.contains("reject"))
      this.#send("decide", { label, state: "rejected" });
    else this.#send("explain", { label });
  }

  #onKey(event) {
    const along = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const steps = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };
    if (event.ctrlKey || event.metaKey || event.altKey || !event.target.closest(".row")) return;
    if (along) this.#turn(along);
    else if (event.key in steps) this.move(steps[event.key]);
    else return;
    event.preventDefault();
  }

  #turn(step) {
    const to = COLUMNS.indexOf(this.#column) + step;
    this.#column = COLUMNS[Math.min(Math.max(to, 0), COLUMNS.length - 1)];
    this.focus();
  }

  #send(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

function makeHead() {
  const header = (name, ...children) =>
    make("div", { role: "columnheader", class: `head-${name}` }, ...children);
  const quiet = (text) => make("span", { class: "hidden" }, text);
  return make(
    "div",
    { role: "row", class: "head", "aria-rowindex": 1 },
    header("label", quiet(t("grid.label"))),
    header("probability", quiet(t("grid.probability"))),
    header("evidence", quiet(t("grid.evidence")), makeAxis()),
    header("decision", quiet(t("grid.decision"))),
  );
}

function makeRow(label) {
  const cell = (name, ...children) => make("div", { role: "gridcell", class: name }, ...children);
  const decision = (verb) =>
    make(
      "button",
      {
        type: "button",
        class: `${verb} icon`,
        "aria-label": t(`${verb}.label`, { label: nameOf(label) }),
        title: t(verb),
      },
      icon(verb),
    );
  const name = make("button", {
    type: "button",
    class: "label",
    dir: "auto",
    "aria-expanded": "false",
    "aria-controls": "explanation",
  });
  name.textContent = nameOf(label);
  return make(
    "div",
    { role: "row", class: "row", "data-label": label },
    cell("name", name, make("span", { class: "change", "aria-hidden": "true" })),
    cell("probability"),
    cell("evidence", makeBar(), make("span", { class: "values" })),
    cell("decision", decision("accept"), decision("reject")),
  );
}

function updateRow(row, suggestion, place, changes) {
  setAttribute(row, "aria-rowindex", place + 2);
  nameRow(row, suggestion.label);
  row.classList.remove("leaving");
  row.classList.toggle("likely", suggestion.probability >= 0.5);
  setText(row.querySelector(".probability"), percent(suggestion.probability));
  updateBar(row.querySelector(".bar"), suggestion);
  const values = row.querySelector(".values");
  const texts = describe(suggestion.parts);
  if (values.textContent !== texts.join(", ")) {
    const isLast = (i) => i === texts.length - 1;
    values.replaceChildren(
      ...texts.flatMap((text, i) => [
        make("span", {}, isLast(i) ? text : `${text},`),
        isLast(i) ? "" : " ",
      ]),
    );
  }
  updateChange(row.querySelector(".change"), changes.get(suggestion.label) ?? 0);
}

/** Call a row by the name of its label, which changes with the language. */
function nameRow(row, label) {
  const name = row.querySelector(".label");
  if (name.textContent === nameOf(label) && name.title === (titleOf(label) ?? "")) return;
  setText(name, nameOf(label));
  name.title = titleOf(label) ?? "";
  for (const verb of ["accept", "reject"]) {
    const button = row.querySelector(`.${verb}`);
    setAttribute(button, "aria-label", t(`${verb}.label`, { label: nameOf(label) }));
  }
}

/** A small ▲ or ▼ with percentage points, for changes one can see. */
function updateChange(badge, change) {
  const points = Math.round(100 * change);
  badge.className = `change ${points > 0 ? "up" : "down"}`;
  setText(badge, points ? `${points > 0 ? "▲" : "▼"} ${Math.abs(points)}` : "");
}

/** Make `rows` the children of `body`, moving as few of them as it takes to keep the focus. */
function arrange(body, rows) {
  const wanted = new Set(rows);
  for (const child of [...body.children]) if (!wanted.has(child)) child.remove();
  const anchor = rows.findIndex((row) => row.contains(document.activeElement));
  if (anchor < 0) {
    body.append(...rows);
    return;
  }
  rows[anchor].before(...rows.slice(0, anchor));
  rows[anchor].after(...rows.slice(anchor + 1));
}
