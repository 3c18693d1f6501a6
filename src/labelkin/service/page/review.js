/** The review: one issue of an audit after another, three answers, and undo. */

import * as api from "./api.js";
import { worthNaming } from "./bars.js";
import { askForToken, fillHelp, makeClosable } from "./dialogs.js";
import { find, make, setAttribute, setText } from "./dom.js";
import { contributionTable, diverging, sumTable, wordCell } from "./explanation_tables.js";
import { Latest } from "./latest.js";
import { marked, withStrength } from "./marks.js";
import { nameOf } from "./names.js";
import { announce, clearTrouble, showTrouble, startNotices, toast } from "./notices.js";
import { count, percent, signed } from "./numbers.js";
import { key, listen } from "./shortcuts.js";

const SAID = { change: "Change", keep: "Keep", "cannot say": "Cannot say" };
const BUTTONS = { change: "answer-change", keep: "answer-keep", "cannot say": "answer-cannot-say" };

const latest = new Latest();
let state = { total: 0, next: null, last: null };
let issue = null;
let busy = false;

async function start() {
  startNotices();
  api.setTokenPrompt(askForToken);
  connect();
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
  await send(number, said, `${SAID[said]}: ${nameOf(issue.label)}.`, (review) => nextOpen(number, review));
}

async function undo() {
  if (busy) return;
  if (state.last === null) {
    toast("Nothing to undo.");
    return;
  }
  const number = state.last;
  await send(number, null, "Undone.", () => number);
}

/** Send an answer; go on to the issue that `goOn` names once it is in the journal. */
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
  const said = `${count(review.change)} changed, ${count(review.keep)} kept`;
  setText(
    find("progress-text"),
    `${count(answered)} of ${count(review.total)} answered: ${said}, ${count(review.cannot_say)} undecided`,
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
  setText(find("done-title"), some ? "All issues are answered." : "There is nothing to review.");
  setText(
    find("done-text"),
    some
      ? "The answers are in the journal. This writes the corrected corpus:"
      : "Make a list of issues, and start the service with it:",
  );
  setText(
    find("done-command"),
    some
      ? "labelkin audit CORPUS --apply JOURNAL --out CORRECTED"
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
    found.given
      ? `Is the label “${nameOf(found.label)}” wrong here?`
      : `Is the label “${nameOf(found.label)}” missing here?`,
  );
  setText(find("probability"), percent(found.probability));
  setText(find("question-about"), aboutOf(found));
  showAnswers(found);
  setText(find("document-name"), found.document);
  find("labels").replaceChildren(...labelsOf(found));
  const terms = withStrength(found.words);
  find("text").replaceChildren(...marked(found.text || "The corpus has no text of it.", terms));
  find("text").scrollTop = 0;
  find("marks-legend").hidden = !terms.some(({ words }) => words.length);
  find("why-story").replaceChildren(storyOf(found));
  find("why-tables").replaceChildren(...tablesOf(found));
  find("question-title").focus({ preventScroll: true });
  scrollTo({ top: 0 });
}

function aboutOf({ number, kind, reason, answer: said }) {
  const parts = [`Issue ${count(number)} of ${count(state.total)}`, reason || KINDS[kind] || kind];
  if (said) parts.push(`your answer: ${said}`);
  return `${parts.join("; ")}.`;
}

const KINDS = {
  missing: "the label is probably missing",
  wrong: "the label is probably wrong",
  twin: "the same text is labelled otherwise elsewhere",
  rule: "a rule is broken",
};

function showAnswers({ given, label, answer: said }) {
  const verbs = given
    ? { change: `Yes, remove ${nameOf(label)}`, keep: `No, keep ${nameOf(label)}` }
    : { change: `Yes, add ${nameOf(label)}`, keep: "No, leave it as it is" };
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
  if (!given) chips.push(make("li", { class: "chip suspect absent", dir: "auto" }, `${nameOf(label)}?`));
  return chips;
}

function storyOf({ parts, probability, given }) {
  const [strongest] = worthNaming(parts)
    .filter(([name, value]) => name !== "prior" && name !== "noise" && value > 0)
    .sort(([, a], [, b]) => b - a);
  const what = given ? "has the label wrongly" : "lacks the label wrongly";
  const why = { content: "its text", "other labels": "its other labels" }[strongest?.[0]];
  const because = why ? `, most of all because of ${why}` : "";
  return make(
    "span",
    {},
    "The document ",
    what,
    " with a probability of ",
    make("strong", {}, percent(probability)),
    `${because}.`,
  );
}

function tablesOf(found) {
  const sum = Object.values(found.parts).reduce((total, value) => total + value, 0);
  const parts = Object.keys(found.parts).length
    ? [sumTable({ parts: found.parts, log_odds: sum, probability: found.probability })]
    : [];
  const labels = found.because_of.map(({ label, given, log_odds: added }) => ({
    name: [make("bdi", {}, given ? nameOf(label) : `no ${nameOf(label)}`)],
    added,
  }));
  const words = found.words
    .slice(0, 8)
    .map((term) => ({ name: wordCell(term), added: term.log_odds }));
  return [
    ...parts,
    ...table("Other labels", "Label", "labels", labels),
    ...table("Words", "Word", "content", words),
    ...similarOf(found),
  ];
}

function table(heading, column, kind, items) {
  if (!items.length) return [];
  const largest = Math.max(0.5, ...items.map(({ added }) => Math.abs(added)));
  const rows = items.map(({ name, added }) =>
    make(
      "tr",
      { class: added < 0 ? "against" : "for" },
      make("th", { scope: "row" }, name),
      make("td", { class: "picture", "aria-hidden": "true" }, diverging(added, largest)),
      make("td", { class: "value" }, signed(added, 2)),
    ),
  );
  return [make("h3", {}, heading), contributionTable(heading, column, kind, rows)];
}

function similarOf({ similar, label }) {
  if (!similar.length) return [];
  const has = (given) =>
    given === null
      ? make("span", {}, "nobody knows")
      : make("span", { class: given ? "has" : "lacks" }, `${given ? "has" : "lacks"} ${nameOf(label)}`);
  const items = similar.map((one) =>
    make(
      "li",
      {},
      make("strong", {}, make("bdi", {}, one.document)),
      ` (similarity ${one.similarity.toFixed(2)}): `,
      has(one.given),
      one.labels.length ? make("p", { class: "quiet" }, one.labels.map(nameOf).join(", ")) : null,
      one.text ? make("p", { class: "quiet", dir: "auto" }, one.text) : null,
    ),
  );
  return [make("h3", {}, "Similar documents"), make("ul", { class: "similar" }, items)];
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
    key(["c"], ["c"], "change what the corpus says", clicks["answer-change"]),
    key(["n"], ["n"], "keep it: no change", clicks["answer-keep"]),
    key(["x"], ["x"], "cannot say", clicks["answer-cannot-say"]),
    key(["u", "Ctrl+Z"], ["u"], "undo the last answer", undo),
    key(["j", "→"], ["j", "ArrowRight"], "next issue", clicks.after),
    key(["k", "←"], ["k", "ArrowLeft"], "previous issue", clicks.before),
    key(["?"], ["?"], "this help", openHelp),
  ];
  fillHelp(shortcuts);
  listen(shortcuts, () => find("keys-on").checked);
}

function openHelp() {
  find("help").showModal();
}

start();
