/** Why a label has its probability: the sum, the words, the other labels. */

import { contributionBar } from "./bars.js";
import { find, icon, make, setAttribute, setText } from "./dom.js";
import { contributionTable, neighbourTable, sumTable, wordCell } from "./explanation_tables.js";
import { nameOf, titleOf } from "./names.js";
import { percent, probabilityOf, signed } from "./numbers.js";
import { t, tParts } from "./words.js";

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
      this.#body.replaceChildren(make("p", { class: "quiet" }, t("explanation.asking")));
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
      ...this.#members(explanation),
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
    const button = (state, name) => {
      const act = () => {
        const pressed = this.#buttons[state].getAttribute("aria-pressed") === "true";
        this.#send("decide", { label: this.#label, state: pressed ? "open" : state });
      };
      const attributes = {
        type: "button",
        class: name,
        "aria-pressed": "false",
        onclick: act,
      };
      this.#buttons[state] = make("button", attributes, icon(name), t(name));
      return this.#buttons[state];
    };
    const close = make(
      "button",
      {
        type: "button",
        class: "plain icon",
        "aria-label": t("explanation.close"),
        onclick: () => this.#send("close", {}),
      },
      icon("reject"),
    );
    return make(
      "div",
      { class: "explanation-head" },
      make("div", { class: "card-head" }, this.#title, this.#probability, close),
      make("div", { class: "verdict" }, button("accepted", "accept"), button("rejected", "reject")),
    );
  }

  #content({ terms, terms_rest: rest, content_constant: constant, neighbours }) {
    if (terms) {
      const others = [
        [t("explanation.other-words"), rest],
        [t("explanation.no-words"), constant],
      ];
      return this.#contributions("content", terms, (term) => wordCell(term), others);
    }
    if (neighbours?.length)
      return [make("h3", {}, t("explanation.neighbours")), neighbourTable(neighbours)];
    return [
      make("h3", {}, t("explanation.words")),
      make("p", { class: "quiet" }, t("explanation.unsplit")),
    ];
  }

  /** What each of several content classifiers, or views of the text, adds. */
  #members({ members }) {
    const { "all members": together, ...each } = members ?? {};
    const items = Object.entries(each).map(([name, added]) => ({ name, log_odds: added }));
    if (!items.length) return [];
    const rows = items.map((item) => this.#row([item.name], item));
    if (Math.abs(together ?? 0) >= 0.005)
      rows.push(this.#row([t("explanation.together")], { log_odds: together }, "rest"));
    return [make("h3", {}, t("explanation.members")), contributionTable("content", rows)];
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
      make(
        "small",
        {},
        known
          ? t(value ? "accepted" : "rejected")
          : t("explanation.predicted", { probability: percent(value) }),
      ),
    ];
    return this.#contributions("labels", labels, name, [
      [t("explanation.rest"), rest],
      [t("explanation.averages"), constant],
    ]);
  }

  /** A table of contributions: the strongest, the rest in one row, the constant; or all of them. */
  #contributions(kind, items, nameOfItem, [[restName, rest], [constantName, constant]]) {
    const whole = this.#whole.has(kind);
    const shown = whole ? items : items.slice(0, SHOWN);
    const hidden = items.slice(shown.length).reduce((sum, item) => sum + item.log_odds, rest ?? 0);
    const rows = [...shown]
      .sort((a, b) => b.log_odds - a.log_odds)
      .map((item) => this.#row(nameOfItem(item), item));
    if (Math.abs(hidden) >= 0.005) rows.push(this.#row([restName], { log_odds: hidden }, "rest"));
    if (Math.abs(constant ?? 0) >= 0.005)
      rows.push(this.#row([constantName], { log_odds: constant }, "rest"));
    const heading = t(kind === "content" ? "explanation.words" : "explanation.other-labels");
    return [
      make("h3", {}, heading),
      rows.length
        ? contributionTable(kind, rows)
        : make("p", { class: "quiet" }, t("explanation.none")),
      items.length > SHOWN ? this.#moreButton(kind, items.length, whole) : null,
    ].filter(Boolean);
  }

  #row(name, { log_odds: added, term }, kind = "") {
    const point = (value) => () => this.#send("point", { term: value });
    const listeners =
      term === undefined ? {} : { onpointerenter: point(term), onpointerleave: point(null) };
    return make(
      "tr",
      { class: `${kind} ${added < 0 ? "against" : "for"}`, ...listeners },
      make("th", { scope: "row" }, name),
      make("td", { class: "picture", "aria-hidden": "true" }, contributionBar(added)),
      make("td", { class: "value" }, signed(added, 2)),
    );
  }

  #moreButton(kind, n, whole) {
    const toggle = () => {
      if (whole) this.#whole.delete(kind);
      else this.#whole.add(kind);
      const state = Object.keys(this.#buttons).find(
        (name) => this.#buttons[name].getAttribute("aria-pressed") === "true",
      );
      this.show(this.#last, state ?? "open");
      this.#body.querySelector(`[data-more="${kind}"]`)?.focus();
    };
    const key = kind === "content" ? "explanation.more-words" : "explanation.more-labels";
    return make(
      "button",
      { type: "button", class: "plain more", "data-more": kind, onclick: toggle },
      t(key, { n: whole ? SHOWN : n }),
    );
  }

  #send(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

/** How the probability grows from part to part, in a sentence. */
function storyOf({ parts, probability, label }, state) {
  const strong = (value) => make("strong", {}, percent(value));
  const decided = { accepted: "explanation.you-accepted", rejected: "explanation.you-rejected" };
  return make(
    "p",
    { class: "story" },
    state in decided ? `${t(decided[state])} ` : "",
    tParts("explanation.story", {
      prior: strong(probabilityOf(parts.prior)),
      label: make("bdi", {}, nameOf(label)),
      content: strong(probabilityOf(parts.prior + parts.content)),
      probability: strong(probability),
    }),
  );
}
