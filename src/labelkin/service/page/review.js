/** The review: one issue of an audit after another, three answers, and undo. */

import "./frame.js";
import * as api from "./api.js";
import { contributionBar, worthNaming } from "./bars.js";
import { askForToken, fillHelp, makeClosable } from "./dialogs.js";
import { find, make, setAttribute, setText } from "./dom.js";
import { contributionTable, sumTable, wordCell } from "./explanation_tables.js";
import { Latest } from "./latest.js";
import { marked, withStrength } from "./marks.js";
import { nameOf } from "./names.js";
import { announce, clearTrouble, showTrouble, startNotices, toast } from "./notices.js";
import { decimal, percent, signed } from "./numbers.js";
import { key, listen } from "./shortcuts.js";
import { markReady, offerLanguages, t, tParts, translate } from "./words.js";

translate();

const SAID = {
  change: t("review.change"),
  keep: t("review.keep"),
  "cannot say": t("review.cannot-say"),
};
const BUTTONS = { change: "answer-change", keep: "answer-keep", "cannot say": "answer-cannot-say" };

const latest = new Latest();
let state = { total: 0, next: null, last: null };
let issue = null;
let busy = false;

async function start() {
  startNotices();
  offerLanguages(find("interface"));
  api.setTokenPrompt(askForToken);
  connect();
  markReady();
  try {
    const [review, { models }] = await Promise.all([api.reviewState(), api.listModels()]);
    find("to-suggestions").hidden = !models.length;
    showProgress(review);
    await show(review.next);
  } catch (problem) {
    showTrouble(problem, () => location.reload());
  }
}

// What the person does

async function answer(said) {
  if (!issue || busy) return;
  const { number } = issue;
  const message = `${SAID[said]}: ${nameOf(issue.label)}.`;
  await send(number, said, message, (review) => nextOpen(number, review));
}

async function undo() {
  if (busy) return;
  if (state.last === null) {
    toast(t("said.nothing-to-undo"));
    return;
  }
  const number = state.last;
  await send(number, null, t("review.undone"), () => number);
}

/** Send an answer; go on to the issue that `goOn` names once it is saved. */
async function send(number, said, words, goOn) {
  busy = true;
  try {
    const review = await api.answerIssue(number, said);
    clearTrouble();
    showProgress(review);
    announce(words);
    await show(goOn(review));
  } catch (problem) {
    showTrouble(problem, () => send(number, said, words, goOn));
  } finally {
    busy = false;
  }
}

/** The next issue without an answer, after this one where there is any. */
function nextOpen(number, review) {
  if (review.next === null) return null;
  return review.next > number || number === review.total ? review.next : number + 1;
}

function move(step) {
  const here = issue?.number ?? state.total + 1;
  const there = here + step;
  if (there >= 1 && there <= state.total) show(there);
  else if (there > state.total && state.next === null) show(null);
}

// What is shown

async function show(number) {
  if (number === null) {
    showDone();
    return;
  }
  try {
    const found = await latest.run((signal) => api.reviewIssue(number, signal));
    if (found) showIssue(found);
  } catch (problem) {
    showTrouble(problem, () => show(number));
  }
}

function showProgress(review) {
  state = review;
  const answered = review.change + review.keep + review.cannot_say;
  setText(find("review-name"), review.name);
  const { total, change, keep, cannot_say: undecided } = review;
  setText(
    find("progress-text"),
    t("review.answered", { answered, total, change, keep, undecided }),
  );
  find("progress").max = Math.max(1, review.total);
  find("progress").value = answered;
  setAttribute(find("undo"), "aria-disabled", review.last === null);
}

function showDone() {
  issue = null;
  const some = state.total > 0;
  for (const id of ["question", "reasons"]) find(id).hidden = true;
  find("done").hidden = false;
  setText(find("done-title"), t(some ? "review.done" : "review.empty"));
  setText(find("done-text"), t(some ? "review.done-text" : "review.empty-text"));
  setText(
    find("done-command"),
    some
      ? "labelkin correct CORPUS ISSUES.saved.sqlite --out CORRECTED"
      : "labelkin audit CORPUS --out issues.jsonl; labelkin serve --review issues.jsonl",
  );
  find("done-title").focus();
}

function showIssue(found) {
  issue = found;
  find("done").hidden = true;
  for (const id of ["question", "reasons"]) find(id).hidden = false;
  setText(
    find("question-title"),
    t(found.given ? "review.is-wrong" : "review.is-missing", { label: nameOf(found.label) }),
  );
  setText(find("probability"), percent(found.probability));
  setText(find("question-about"), aboutOf(found));
  showAnswers(found);
  setText(find("document-name"), found.document);
  find("labels").replaceChildren(...labelsOf(found));
  const terms = withStrength(found.words);
  find("text").replaceChildren(...marked(found.text || t("review.no-text"), terms));
  find("text").scrollTop = 0;
  find("marks-legend").hidden = !terms.some(({ words }) => words.length);
  find("why-story").replaceChildren(storyOf(found));
  find("why-tables").replaceChildren(...tablesOf(found));
  find("question-title").focus({ preventScroll: true });
  scrollTo({ top: 0 });
}

function aboutOf({ number, kind, reason, answer: said }) {
  const why = KINDS.includes(kind) ? t(`review.kind-${kind}`) : kind;
  const parts = [t("review.issue", { number, total: state.total }), reason || why];
  if (said) parts.push(t("review.answer", { answer: SAID[said].toLowerCase() }));
  return `${parts.join("; ")}.`;
}

const KINDS = ["missing", "wrong", "near-duplicate", "rule"];

function showAnswers({ given, label, answer: said }) {
  const named = { label: nameOf(label) };
  const verbs = given
    ? { change: t("review.remove", named), keep: t("review.keep-it", named) }
    : { change: t("review.add", named), keep: t("review.leave") };
  const keys = { change: "c", keep: "n" };
  for (const [name, verb] of Object.entries(verbs)) {
    find(BUTTONS[name]).replaceChildren(
      make("span", { dir: "auto" }, verb),
      " ",
      make("kbd", {}, keys[name]),
    );
  }
  for (const [name, id] of Object.entries(BUTTONS)) {
    setAttribute(find(id), "aria-pressed", name === said);
  }
}

function labelsOf({ labels, label, given }) {
  const chips = labels.map((name) =>
    make("li", { class: name === label ? "chip suspect" : "chip", dir: "auto" }, nameOf(name)),
  );
  const absent = { class: "chip suspect absent", dir: "auto" };
  if (!given) chips.push(make("li", absent, `${nameOf(label)}?`));
  return chips;
}

function storyOf({ parts, probability, given }) {
  const [strongest] = worthNaming(parts)
    .filter(([name, value]) => name !== "prior" && name !== "noise" && value > 0)
    .sort(([, a], [, b]) => b - a);
  const why = { content: "review.by-text", "other labels": "review.by-labels" }[strongest?.[0]];
  return make(
    "span",
    {},
    tParts(given ? "review.story-wrong" : "review.story-missing", {
      probability: make("strong", {}, percent(probability)),
      because: why ? t(why) : "",
    }),
  );
}

function tablesOf(found) {
  const sum = Object.values(found.parts).reduce((total, value) => total + value, 0);
  const parts = Object.keys(found.parts).length
    ? [sumTable({ parts: found.parts, log_odds: sum, probability: found.probability })]
    : [];
  const labels = found.because_of.map(({ label, given, log_odds: added }) => ({
    name: [make("bdi", {}, given ? nameOf(label) : t("review.without", { label: nameOf(label) }))],
    added,
  }));
  const words = found.words
    .slice(0, 8)
    .map((term) => ({ name: wordCell(term), added: term.log_odds }));
  return [...parts, ...table("labels", labels), ...table("content", words), ...similarOf(found)];
}

function table(kind, items) {
  if (!items.length) return [];
  const rows = items.map(({ name, added }) =>
    make(
      "tr",
      { class: added < 0 ? "against" : "for" },
      make("th", { scope: "row" }, name),
      make("td", { class: "picture", "aria-hidden": "true" }, contributionBar(added)),
      make("td", { class: "value" }, signed(added, 2)),
    ),
  );
  const heading = t(kind === "content" ? "explanation.words" : "explanation.other-labels");
  return [make("h3", {}, heading), contributionTable(kind, rows)];
}

function similarOf({ similar, label }) {
  if (!similar.length) return [];
  const has = (given) =>
    given === null
      ? make("span", {}, t("review.nobody-knows"))
      : make(
          "span",
          { class: given ? "has" : "lacks" },
          t(given ? "review.has" : "review.lacks", { label: nameOf(label) }),
        );
  const items = similar.map((one) =>
    make(
      "li",
      {},
      make("strong", {}, make("bdi", {}, one.document)),
      ` (${t("review.similarity", { value: decimal(one.similarity, 2) })}): `,
      has(one.given),
      one.labels.length ? make("p", { class: "quiet" }, one.labels.map(nameOf).join(", ")) : null,
      one.text ? make("p", { class: "quiet", dir: "auto" }, one.text) : null,
    ),
  );
  return [make("h3", {}, t("review.similar")), make("ul", { class: "similar" }, items)];
}

// Wires

function connect() {
  const clicks = {
    "answer-change": () => answer("change"),
    "answer-keep": () => answer("keep"),
    "answer-cannot-say": () => answer("cannot say"),
    undo,
    before: () => move(-1),
    after: () => move(1),
    "open-help": openHelp,
  };
  for (const [id, run] of Object.entries(clicks)) find(id).addEventListener("click", run);
  makeClosable(find("help"));
  const shortcuts = [
    key(["c"], ["c"], t("review.key-change"), clicks["answer-change"]),
    key(["n"], ["n"], t("review.key-keep"), clicks["answer-keep"]),
    key(["x"], ["x"], t("review.key-cannot-say"), clicks["answer-cannot-say"]),
    key(["u", "Ctrl+Z"], ["u"], t("review.key-undo"), undo),
    key(["j", "→"], ["j", "ArrowRight"], t("review.key-next"), clicks.after),
    key(["k", "←"], ["k", "ArrowLeft"], t("review.key-previous"), clicks.before),
    key(["?"], ["?"], t("key.help"), openHelp),
  ];
  fillHelp(shortcuts);
  listen(shortcuts, () => find("keys-on").checked);
}

function openHelp() {
  find("help").showModal();
}

start();
