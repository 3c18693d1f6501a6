/** Why a label has its probability: the sum, the words, the other labels. */

import { find, icon, make, setAttribute, setText } from "./dom.js";
import {
  contributionTable,
  diverging,
  neighbourTable,
  sumTable,
  wordCell,
} from "./explanation_tables.js";
import { nameOf, titleOf } from "./names.js";
import { percent, probabilityOf, signed } from "./numbers.js";

const SHOWN = 8;

/** Sends "decide" {label, state}, "explain" {label}, "point" {term}, "close". */
export class ExplanationPanel extends EventTarget {
  #root = find("explanation");
  #title = make("h2", { id: "explanation-title", tabindex: -1, dir: "auto" });
  #probability = make("span", { class: "big" });
  #buttons = {};
  #body = make("div", { class: "explanation-body" });
  #label = null;
  #whole = new Set();
  #last = null;

  constructor() {
    super();
    this.#root.append(this.#head(), this.#body);
  }

  get hasFocus() {
    return this.#root.contains(document.activeElement);
  }

  /** Open the panel for a label whose explanation is still to come. */
  open(label) {
    if (label !== this.#label) {
      this.#whole.clear();
      setText(this.#title, nameOf(label));
      setText(this.#probability, "");
      this.#body.replaceChildren(make("p", { class: "quiet" }, "Asking why …"));
      this.#root.scrollTop = 0;
    }
    this.#label = label;
    this.#root.hidden = false;
  }

  /** Show the explanation; `state` says whether the label is open, accepted or rejected. */
  show(explanation, state) {
    this.#last = explanation;
    setText(this.#title, nameOf(explanation.label));
    this.#title.title = titleOf(explanation.label) ?? "";
    setText(this.#probability, percent(explanation.probability));
    for (const [name, button] of Object.entries(this.#buttons)) {
      setAttribute(button, "aria-pressed", name === state);
    }
    this.#body.replaceChildren(
      storyOf(explanation, state),
      sumTable(explanation),
      ...this.#content(explanation),
      ...this.#otherLabels(explanation),
    );
  }

  close() {
    this.#root.hidden = true;
    this.#label = null;
  }

  focus() {
    this.#title.focus();
  }

  #head() {
    const button = (state, verb) => {
      const act = () => {
        const pressed = this.#buttons[state].getAttribute("aria-pressed") === "true";
        this.#send("decide", { label: this.#label, state: pressed ? "open" : state });
      };
      const attributes = {
        type: "button",
        class: verb.toLowerCase(),
        "aria-pressed": "false",
        onclick: act,
      };
      this.#buttons[state] = make("button", attributes, icon(verb.toLowerCase()), verb);
      return this.#buttons[state];
    };
    const close = make(
      "button",
      {
        type: "button",
        class: "plain icon",
        "aria-label": "Close the explanation",
        onclick: () => this.#send("close", {}),
      },
      icon("reject"),
    );
    return make(
      "div",
      { class: "explanation-head" },
      make("div", { class: "card-head" }, this.#title, this.#probability, close),
      make("div", { class: "verdict" }, button("accepted", "Accept"), button("rejected", "Reject")),
    );
  }

  #content({ terms, terms_rest: rest, content_constant: constant, neighbours }) {
    if (terms) {
      return this.#contributions("Words", "Word", terms, (term) => wordCell(term), {
        "other words": rest,
        "a text without words": constant,
      });
    }
    if (neighbours?.length)
      return [make("h3", {}, "Most similar documents"), neighbourTable(neighbours)];
    return [
      make("h3", {}, "Words"),
      make("p", { class: "quiet" }, "This model's content evidence cannot be split into words."),
    ];
  }

  #otherLabels({ labels, labels_rest: rest, constant }) {
    const name = ({ label, value, known }) => [
      make(
        "button",
        {
          type: "button",
          class: "link",
          dir: "auto",
          onclick: () => this.#send("explain", { label }),
        },
        nameOf(label),
      ),
      " ",
      make("small", {}, known ? (value ? "accepted" : "rejected") : `predicted ${percent(value)}`),
    ];
    return this.#contributions("Other labels", "Label", labels, name, {
      "other labels": rest,
      "all labels at their averages": constant,
    });
  }

  /** A table of contributions: the strongest, the rest in one row, the constant; or all of them. */
  #contributions(heading, column, items, nameOf, others) {
    const whole = this.#whole.has(heading);
    const shown = whole ? items : items.slice(0, SHOWN);
    const [[restName, rest], [constantName, constant]] = Object.entries(others);
    const hidden = items.slice(shown.length).reduce((sum, item) => sum + item.log_odds, rest ?? 0);
    const largest = Math.max(
      0.5,
      ...items.map((item) => Math.abs(item.log_odds)),
      Math.abs(hidden),
      Math.abs(constant ?? 0),
    );
    const rows = [...shown]
      .sort((a, b) => b.log_odds - a.log_odds)
      .map((item) => this.#row(nameOf(item), item, largest));
    if (Math.abs(hidden) >= 0.005)
      rows.push(this.#row([restName], { log_odds: hidden }, largest, "rest"));
    if (Math.abs(constant ?? 0) >= 0.005)
      rows.push(this.#row([constantName], { log_odds: constant }, largest, "rest"));
    const kind = heading === "Words" ? "content" : "labels";
    return [
      make("h3", {}, heading),
      rows.length
        ? contributionTable(heading, column, kind, rows)
        : make("p", { class: "quiet" }, "None speaks for or against it."),
      items.length > SHOWN ? this.#moreButton(heading, items.length, whole) : null,
    ].filter(Boolean);
  }

  #row(name, { log_odds: added, term }, largest, kind = "") {
    const point = (value) => () => this.#send("point", { term: value });
    const listeners =
      term === undefined ? {} : { onpointerenter: point(term), onpointerleave: point(null) };
    return make(
      "tr",
      { class: `${kind} ${added < 0 ? "against" : "for"}`, ...listeners },
      make("th", { scope: "row" }, name),
      make("td", { class: "picture", "aria-hidden": "true" }, diverging(added, largest)),
      make("td", { class: "value" }, signed(added, 2)),
    );
  }

  #moreButton(heading, n, whole) {
    const noun = heading === "Words" ? "words" : "labels";
    const toggle = () => {
      if (whole) this.#whole.delete(heading);
      else this.#whole.add(heading);
      const state = Object.keys(this.#buttons).find(
        (name) => this.#buttons[name].getAttribute("aria-pressed") === "true",
      );
      this.show(this.#last, state ?? "open");
      this.#body.querySelector(`[data-more="${heading}"]`)?.focus();
    };
    const text = whole ? `Show the ${SHOWN} strongest ${noun}` : `Show the ${n} strongest ${noun}`;
    return make(
      "button",
      { type: "button", class: "plain more", "data-more": heading, onclick: toggle },
      text,
    );
  }

  #send(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

/** How the probability grows from part to part, in a sentence. */
function storyOf({ parts, probability, label }, state) {
  const strong = (value) => make("strong", {}, percent(value));
  const decided = state === "open" ? "" : `You have ${state} it. Without that: `;
  return make(
    "p",
    { class: "story" },
    decided,
    "of all documents ",
    strong(probabilityOf(parts.prior)),
    ` have ${nameOf(label)}; with this text it is `,
    strong(probabilityOf(parts.prior + parts.content)),
    ", with the other labels ",
    strong(probability),
    ".",
  );
}
